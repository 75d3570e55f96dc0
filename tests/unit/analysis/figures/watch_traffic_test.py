"""The figure of bytes sent to watchers."""

from __future__ import annotations

from collections.abc import Callable

import orrery
import pytest
from orrery import figures
from orrery.figures.watch_traffic import by_minute, rate

Made = Callable[..., orrery.Run]


def test_both_scenarios_are_drawn_and_all_bytes_are_in_the_curve(made: Made, saved) -> None:
    runs = [made(s, "--until", "10min") for s in ("watch-endpoints", "watch-endpointslices")]
    sent = figures.watch_traffic_data(runs[0])
    assert 10 * sent.sum() / runs[0].summary["watch_bytes"] == pytest.approx(1, abs=1e-9)
    assert by_minute(sent).size == 10
    saved(figures.watch_traffic(runs))


def test_a_run_in_which_nothing_was_sent_can_be_drawn(made: Made, saved) -> None:
    saved(figures.watch_traffic([made("watch-endpoints", "--until", "10s")]))


def test_rates_have_the_unit_that_keeps_them_short() -> None:
    assert rate(2.09e9) == "2.09 GB/s"
    assert rate(7524) == "7.52 kB/s"
    assert rate(0) == "0 B/s"
