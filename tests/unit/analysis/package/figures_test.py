"""The exact data of each figure for a run that can be computed by hand. Each figure must draw its data."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import orrery
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from orrery import figures
from orrery.figures.losses import spread
from orrery.figures.nodes import coverage

CONTROLLED = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}
control_plane: {level: full}
workload: {sources: [{kind: jobs, jobs: [{name: j, work: 1min, pods: 4, pod: {gpus: 8}}]}]}
policy: {base: strict_gang}
record: {timeline: {interval: 10s}}
run: {until: 2min}
"""


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def drawn(axis: plt.Axes, path: Path) -> str:
    """Draws the figure into a file, and returns its title."""
    figures.save(axis.figure, path / "a.png")
    assert (path / "a.png").read_bytes().startswith(b"\x89PNG")
    return axis.get_title(loc="left")


def test_utilisation_four_ways(tiny: orrery.Run, tmp_path: Path) -> None:
    use = figures.utilisation_data(tiny)
    assert use.index.to_list() == [600.0, 1200.0, 1800.0, 2400.0, 3000.0, 3600.0]
    # Job `wide` holds 24 GPUs throughout the first 600 s. Two small jobs hold 3 GPUs each from 60 s. Each job
    # begins to compute 30 s after it gets its GPUs.
    held, busy = 24 * 600 + 6 * 540, 24 * 570 + 6 * 510
    assert use["allocated"].iloc[0] == pytest.approx(100 * held / 32 / 600, abs=1e-3)
    assert use["reported"].iloc[0] == pytest.approx(100 * busy / 32 / 600, abs=1e-3)
    # After 600 s, `wide` computes until 720 s, the small jobs until 690 s, and `late` from 755 s. `wide` loses
    # its last 90 s of compute.
    computing = 24 * 120 + 6 * 90 + 16 * 445
    useful = computing - 24 * 90
    assert use["useful"].iloc[1] == pytest.approx(100 * useful / 32 / 600, abs=0.01)
    assert use.iloc[-1].to_list() == [0.0] * 4
    axis = figures.utilisation(tiny)
    assert drawn(axis, tmp_path) == "GPU use in four ways, with means"
    assert axis.get_xlim() == (0.0, 60.0) and axis.get_xlabel() == "simulated time (min)"


def test_spans_are_spread_over_intervals_to_the_part() -> None:
    begin, end = pd.Series([0.0, 5.0, 8.0, np.nan]), pd.Series([10.0, 15.0, 8.0, 3.0])
    found = spread(begin, end, pd.Series([2.0, 4.0, 9.0, 9.0]), np.array([10.0, 20.0]))
    assert found.tolist() == [2 + 4 * 0.5, 4 * 0.5]
    assert spread(begin[:0], end[:0], begin[:0], np.array([10.0])).tolist() == [0]


def test_losses(tiny: orrery.Run, tmp_path: Path) -> None:
    shares = figures.losses_data(tiny)
    # The job `wide` fails at 720 s with 24 GPUs. The failure is detected 5 s later, and 90 s of compute are
    # lost. One node is down for 10 min, but for the first 5 s its GPUs count as hung.
    assert shares["hung"].iloc[1] == pytest.approx(100 * 24 * 5 / 32 / 600, abs=1e-3)
    assert shares["lost"].sum() == pytest.approx(100 * 24 * 90 / 32 / 600, abs=0.05)
    assert shares["down"].sum() == pytest.approx(100 * 8 * 595 / 32 / 600, abs=0.3)
    assert drawn(figures.losses(tiny), tmp_path) == "GPU time: useful work and losses, with means"


def test_queue_length(tiny: orrery.Run, tmp_path: Path) -> None:
    waiting = figures.queue_length_data(tiny)
    assert waiting["jobs"].to_list() == [1, 1, 0, 0, 0, 0]
    assert waiting["pods"].to_list() == [2, 3, 0, 0, 0, 0]
    drawn(figures.queue_length(tiny), tmp_path)


def test_waits_and_completion_times(tiny: orrery.Run, made, tmp_path: Path) -> None:
    waits = figures.cdf_data(tiny, "wait")
    assert waits["percent"].to_list() == [25.0, 50.0, 75.0, 100.0]
    assert waits["seconds"].round(2).to_list() == [30.0, 30.0, 30.0, 635.0]
    times = figures.cdf_data(tiny, "jct")["seconds"].round(2).to_list()
    assert times == [630.0, 630.0, 1235.0, 2045.0]
    dead = made("two-experiments-default")
    assert figures.cdf_data([tiny, dead])["run"].unique().tolist() == ["tiny"]
    drawn(figures.cdf([tiny, dead], "jct"), tmp_path)
    with pytest.raises(ValueError, match="'jtc' is neither"):
        figures.cdf_data(tiny, "jtc")


def test_gantt_has_a_block_for_each_pod(tiny: orrery.Run, tmp_path: Path) -> None:
    bars = figures.gantt_data(tiny, "leaf").round(2)
    small = bars[bars["name"] == "small"]
    places = small[["lane", "leaf", "gpu", "gpus"]].to_numpy().tolist()
    assert places == [[3, 1, 0, 3], [3, 1, 3, 3]]
    assert small[["begin", "end"]].to_numpy().tolist() == [[60.0, 690.0], [60.0, 690.0]]
    wide = bars[bars["name"] == "wide"]
    assert wide["end"].to_list() == [720.0, 725.0, 725.0, 2045.0, 2045.0, 2045.0]
    assert len(bars) == 10 and bars["team"].value_counts().to_dict() == {"a": 6, "b": 4}
    drawn(figures.gantt(tiny, "leaf"), tmp_path)
    drawn(figures.gantt(tiny), tmp_path)


def test_heat_maps_of_nodes_and_leaves(tiny: orrery.Run, tmp_path: Path) -> None:
    allocated = figures.heat_map_data(tiny, "allocation", bins=6)
    assert allocated.columns.to_list() == [600.0, 1200.0, 1800.0, 2400.0, 3000.0, 3600.0]
    assert allocated.loc["gpu-0"].round(2).to_list() == [100.0, 20.0, 74.17, 40.83, 0.0, 0.0]
    assert allocated.loc["gpu-3"].round(2).to_list() == [67.5, 11.25, 0.0, 0.0, 0.0, 0.0]
    health = figures.heat_map_data(tiny, "health", bins=6)
    assert health.loc["gpu-0"].to_list() == [100.0, 20.0, 80.0, 100.0, 100.0, 100.0]
    assert (health.loc["gpu-1":] == 100).all(axis=None)
    leaves = figures.heat_map_data(tiny, "health", by="leaf", bins=6)
    assert leaves.loc[0].to_list() == [100.0, 60.0, 90.0, 100.0, 100.0, 100.0]
    drawn(figures.heat_map(tiny), tmp_path)
    with pytest.raises(orrery.RunError, match="takes record.cardiogram"):
        figures.heat_map_data(tiny, "power")


def test_intervals_cover_their_parts_of_bins() -> None:
    edges = np.linspace(0, 40, 5)
    begin, end = np.array([5.0, 0.0, 12.0]), np.array([25.0, 40.0, 14.0])
    found = coverage(np.array([0, 1, 0]), begin, end, np.array([2.0, 1.0, 1.0]), 2, edges)
    assert found.round(12).tolist() == [[1.0, 2.2, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]]


def test_free_gpus_by_how_many_are_free_together(tiny: orrery.Run, tmp_path: Path) -> None:
    free = figures.fragmentation_data(tiny, samples=6)
    # At 600 s the small jobs leave 2 GPUs of their node free. At 1200 s gpu-0 is down, and of the other nodes
    # only gpu-3 is free. At 1800 s only gpu-3 is free. From 2400 s on all jobs have ended.
    assert free[2].to_list() == [2, 0, 0, 0, 0, 0]
    assert free[8].to_list() == [0, 8, 8, 32, 32, 32]
    assert free.drop(columns=[2, 8]).to_numpy().sum() == 0
    assert drawn(figures.fragmentation(tiny), tmp_path).startswith("Free GPUs by how many")


def test_fairness_of_teams(tiny: orrery.Run, tmp_path: Path) -> None:
    each = figures.fairness_data(tiny)
    assert each["gpu_hours"].round(4).to_list() == [8.0, 3.6667]
    assert each["jobs"].to_list() == [1, 3]
    assert each["wait"].round(1).to_list() == [30.0, 231.7]
    slow_a, slow_b = 2045 / 2015, (1.05 + 1.05 + 1235 / 600) / 3
    assert each["slowdown"].to_list() == pytest.approx([slow_a, slow_b], abs=1e-4)
    jain = (slow_a + slow_b) ** 2 / (2 * (slow_a**2 + slow_b**2))
    assert each.attrs["jain"] == pytest.approx(jain, abs=1e-4)
    drawn(figures.fairness(tiny), tmp_path)


def test_stages_of_a_recovery(tiny: orrery.Run, made, tmp_path: Path) -> None:
    (row,) = figures.recoveries_data(tiny).itertuples(index=False)
    assert row[:4] == (0, "wide", 1, 24) and row[4] == 720.0
    # 5 s until detection, 10 s until new pods exist, 620 s until job `late` ends at 1355 s, 0 s until pods
    # run, 90 s to initialise (30 s) and restore (60 s), 90 s to redo the lost compute.
    assert [round(s) for s in row[5:]] == [5, 10, 620, 0, 90, 90, 815]
    drawn(figures.recoveries(tiny), tmp_path)
    assert drawn(figures.recoveries(made("two-experiments-default")), tmp_path) == "No job failed"


def test_spans_of_deadlocks_and_hangs(tiny: orrery.Run, made, tmp_path: Path) -> None:
    (hung,) = figures.stuck_data(tiny).to_dict("records")
    assert hung == {"what": "hung", "job": 0, "begin": 720.0, "end": 725.0, "gpus": 24.0,
                    "over": True, "name": "wide"}
    dead = made("two-experiments-default")
    spans = figures.stuck_data(dead)
    assert spans["name"].to_list() == ["first", "second"] and not spans["over"].any()
    assert spans["end"].to_list() == [3600.0, 3600.0] and spans["gpus"].sum() == 128
    drawn(figures.stuck(dead), tmp_path)


def test_what_each_gpu_does(made, tmp_path: Path) -> None:
    run = made("dead-rank")
    phases = figures.cardiogram_data(run, "train")
    assert phases.shape[1] == 8 and phases.index[0] == 331.0
    assert set(phases.loc[340.0]) == {"compute"}
    assert sorted(phases.loc[600.0]) == ["dead"] + ["hung"] * 7
    drawn(figures.cardiogram(run, "train"), tmp_path)
    power = figures.heat_map_data(run, "power")
    assert power.index.to_list() == ["gpu-0"]
    assert power[340.0].iloc[0] > 3 * power[600.0].iloc[0]
    drawn(figures.heat_map(run, "power"), tmp_path)


def test_requests_by_level(made, tmp_path: Path) -> None:
    run = made("controlled", text=CONTROLLED)
    rates = figures.control_plane_data(run)
    stored = run.table("/timeline/control_plane")
    assert len(rates) == 12 and rates.columns[-2:].to_list() == ["429", "lost"]
    levels = rates.drop(columns=["429", "lost"])
    assert set(levels.columns) == set(stored["level"])
    assert levels.to_numpy().sum() == pytest.approx(stored["done"].sum())
    assert levels.sum().is_monotonic_decreasing
    drawn(figures.control_plane(run), tmp_path)


def test_paired_differences(tmp_path: Path) -> None:
    values = pd.DataFrame(
        {"fifo": [10.0, 12.0, 14.0], "sjf": [9.0, 10.0, 11.0], "gang": [10.0, math.nan, 15.0]},
        index=pd.Index([1, 2, 3], name="seed"),
    )
    frame = figures.paired_differences_data(values)
    assert frame.index.to_list() == ["sjf", "gang"] and frame["pairs"].to_list() == [3, 2]
    # The differences are -1, -2 and -3. Their mean is -2, with a standard error of 1 / sqrt(3). The 97.5 %
    # quantile of Student's t with two degrees of freedom is 4.30265.
    half = 4.30265 / math.sqrt(3)
    sjf = frame.loc["sjf"]
    assert [sjf["difference"], sjf["low"], sjf["high"]] == pytest.approx(
        [-2, -2 - half, -2 + half], abs=1e-4
    )
    ratio = (9 / 10 * 10 / 12 * 11 / 14) ** (1 / 3)  # geometric mean of the ratios of the pairs
    assert sjf["percent"] == pytest.approx(100 * (ratio - 1)) and sjf["clear"]
    assert sjf["percent_low"] > -100 and sjf["scale"] == "log_ratio"
    assert "95 % intervals" in drawn(figures.paired_differences(values, what="wait"), tmp_path)
    with pytest.raises(ValueError, match="gang: 1 pairs with fifo, and it takes two"):
        figures.paired_differences_data(values.iloc[:2])


def test_a_given_axis_is_drawn_into_and_keeps_its_style(tiny: orrery.Run) -> None:
    figure, axis = plt.subplots()
    assert figures.utilisation(tiny, axis) is axis and figures.gantt(tiny, axis=axis) is axis
    assert len(plt.get_fignums()) == 1


def test_equal_figures_are_equal_files(tiny: orrery.Run, tmp_path: Path) -> None:
    endings = ("pdf", "png", "svg")
    for name in ("a", "b"):
        paths = [tmp_path / f"{name}.{ending}" for ending in endings]
        figures.save(figures.utilisation(tiny).figure, *paths)
    for ending in endings:
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
