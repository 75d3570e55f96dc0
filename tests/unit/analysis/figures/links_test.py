"""Figures of the shipped scenarios of links and CPU cores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orrery
import pytest
from orrery import figures
from orrery.figures.leaf_scaling import leaf_size

Made = Callable[..., orrery.Run]


def test_the_job_behind_a_bent_cable_has_the_longest_bar(made: Made, saved) -> None:
    run = made("bent-cable")
    each = figures.bent_cable_data(run)
    assert list(each["job"]) == [f"train {i}" for i in range(4)]
    assert each["exchanging"].idxmax() == 1
    assert each["computing"].min() == pytest.approx(20, abs=1e-3)
    saved(figures.bent_cable(run))


@pytest.mark.parametrize("until", [(), ("--until", "1s")])
def test_a_cursed_route_can_be_drawn_whole_and_before_anything_happened(
    made: Made, saved, until: tuple[str, ...]
) -> None:
    saved(figures.cursed_route(made("cursed-route", *until)))


def test_each_routing_engine_has_a_curve(made: Made, saved, tmp_path: Path) -> None:
    runs = [made("leaf-scaling", "--set", f"network.routing.engine={engine}")
            for engine in ("dmodk", "minhop")]
    curve = figures.leaf_scaling_data(runs[0])
    assert leaf_size(runs[0]) == 8
    assert list(curve["nodes"]) == [1, 2, 4, 8, 16, 32, 64]
    assert (curve["speed"] <= curve["nodes"]).all()
    figure = figures.leaf_scaling(runs)
    assert len(figure.axes[1].lines) == 2
    saved(figure)


def test_too_few_cores_have_a_bar_for_each_job(made: Made, saved) -> None:
    run = made("too-few-cpus")
    assert len(figures.too_few_cpus_data(run)) == 6
    saved(figures.too_few_cpus(run))
