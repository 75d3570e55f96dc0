"""The figure of nodes that join."""

from __future__ import annotations

import re
from collections.abc import Callable

import orrery
from orrery import figures


def test_a_storm_and_a_smoothed_one_stand_side_by_side(
    made: Callable[..., orrery.Run], saved
) -> None:
    figure = figures.join_storm([made("join-storm"), made("join-smoothed")])
    titles = [axis.get_title(loc="left") for axis in figure.axes]
    assert re.match(r"join-storm: the last node is ready after [3-9]\d\.\d s$", titles[0])
    assert re.match(r"join-smoothed: the last node is ready after 5\.\d s$", titles[1])
    saved(figure)
