"""The overview of a run, and the data frames that its panels draw."""

from __future__ import annotations

from collections.abc import Callable

import orrery
import pytest
from orrery import figures
from orrery.style import time_unit

Made = Callable[..., orrery.Run]

WITH_FAULTS = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 8}]}
workload:
  training: {checkpoint_interval: 1h, checkpoint_write: 1min, restore: 5min}
  sources:
    - kind: jobs
      jobs: [{name: long, work: 2d, pods: 4, pod: {gpus: 8}}]
faults:
  nodes: [{name: node, rate: 500, repair: {kind: fixed, duration: 1h}}]
policy: {base: strict_gang}
run: {seed: 1, until: 3d}
"""


@pytest.fixture
def with_faults(made: Made) -> orrery.Run:
    return made("with-faults", text=WITH_FAULTS)


def labels_of_bars(run: orrery.Run, saved) -> list[str]:
    """Draws the overview of the run, and returns the labels of the bars and lines in its lowest panel."""
    figure = figures.overview(run)
    saved(figure)
    end = run.timeline("cluster").index.max()
    assert figure.axes[2].get_xlim()[1] == pytest.approx(end / time_unit(end)[0])
    return figure.axes[2].get_legend_handles_labels()[1]


def test_deadlocked_gpus_are_allocated_and_not_useful(made: Made, saved) -> None:
    run = made("two-experiments-default")
    use = figures.utilisation_data(run)
    assert use["allocated"].iloc[1:].min() > 99.9
    assert use["useful"].max() == 0
    assert "node failures an hour" in labels_of_bars(run, saved)


def test_every_failure_and_recovery_is_in_a_bar(with_faults: orrery.Run, saved) -> None:
    assert len(with_faults.table("/events/faults")) > 0
    assert len(with_faults.table("/events/recoveries")) > 0
    assert "node failures a day" in labels_of_bars(with_faults, saved)
    cluster = with_faults.table("/timeline/cluster")
    counted = figures.failures_data(with_faults)
    assert counted["failures"].sum() == cluster["failures"].iloc[-1]
    assert counted["recoveries"].sum() == cluster["recoveries"].iloc[-1]


def test_useful_and_power_never_exceed_allocated(with_faults: orrery.Run) -> None:
    use = figures.utilisation_data(with_faults)
    for way in ("power", "useful"):
        assert (use[way] - use["allocated"]).max() <= 1e-9


def test_columns_carry_their_units(with_faults: orrery.Run) -> None:
    frame = with_faults.table("/timeline/cluster")
    assert frame.attrs["units"]["time"] == "s"
    assert set(frame.attrs["units"]) == set(frame.columns)
