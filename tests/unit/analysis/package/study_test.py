"""The folder of a real study, and the figure drawn from it."""

from __future__ import annotations

import io
import math
import subprocess
from pathlib import Path

import orrery
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from orrery import figures

STUDY = """
base: tiny.yaml
set: {run.until: 2h, 'faults': '{nodes: [{name: node, rate: 5000, repair: {kind: exponential, mean: 5min}}]}'}
axes:
  - {name: nodes, parameter: 'cluster.pools[0].count', values: [4, 6, 8]}
  - {name: policy, arms: [{name: strict}, {name: one by one, set: {policy.base: default}}]}
seeds: {first: 3, count: 3}
compare: {axis: policy, against: strict}
"""


@pytest.fixture(scope="module")
def study(program: str, tiny_text: str, tmp_path_factory: pytest.TempPathFactory) -> orrery.Study:
    folder = tmp_path_factory.mktemp("study")
    (folder / "tiny.yaml").write_text(tiny_text)
    (folder / "study.yaml").write_text(STUDY)
    subprocess.run([program, "study", "run", "study.yaml", "-o", "out", "-q"], cwd=folder,
                   check=True)
    return orrery.Study(folder / "out")


def test_the_grid_and_the_values_are_those_of_the_runs(study: orrery.Study) -> None:
    assert study.is_complete
    assert study.axes == {"nodes": ["4", "6", "8"], "policy": ["strict", "one by one"]}
    assert study.compared == ("policy", "strict")
    assert study.cells.loc[3].to_dict() == {"nodes": "6", "policy": "one by one"}
    assert [study.baseline(cell) for cell in range(6)] == [None, 0, None, 2, None, 4]
    frame = study.metric("gpu_share_allocated")
    assert len(frame) == 18
    for row in frame.itertuples():
        with study.open(row.cell, row.seed) as run:
            assert run.summary["gpu_share_allocated"] == row.value
            assert run.meta.resolved["cluster"]["pools"][0]["count"] == int(row.nodes)
    pairs = study.pairs("gpu_share_allocated", nodes="6")
    assert list(pairs) == ["strict", "one by one"] and list(pairs.index) == [3, 4, 5]
    with pytest.raises(orrery.RunError, match="no figure is called 'jct'"):
        study.metric("jct")
    with pytest.raises(orrery.RunError, match="say which arm of 'nodes'"):
        study.pairs("jct_mean")


def test_intervals_are_those_of_the_program(study: orrery.Study, program: str) -> None:
    reported = subprocess.run([program, "study", "report", "study.yaml", "-o", "out", "--format", "csv"],
                          cwd=study.folder.parent, check=True, capture_output=True, text=True).stdout
    rows = pd.read_csv(io.StringIO(reported)).set_index(["metric", "cell"])
    assert list(dict.fromkeys(rows.index.get_level_values("metric"))) == [m.name for m in study.metrics]
    compared = 0
    for metric in study.metrics:
        for cell, row in study.differences(metric.name).iterrows():
            own = rows.loc[metric.name, study.labels[cell]]
            for name in ("difference", "low", "high", "percent", "percent_low", "percent_high",
                         "correlation"):
                assert row[name] == pytest.approx(own[name], rel=1e-12, abs=1e-12, nan_ok=True)
            assert (row["verdict"], row["scale"]) == (own["verdict"], own["scale"])
            compared += 1
    assert compared > 20
    assert set(study.doubts["metric"]) <= set(study.values["name"])
    assert (study.doubts["kind"] == "few_seeds").any()


def test_pairs_of_a_frame_are_those_of_the_study(study: orrery.Study) -> None:
    for cell, row in study.differences("jct_mean").iterrows():
        frame = orrery.paired(study.by_seed("jct_mean")[[row["baseline"], cell]], row["baseline"])
        for name in ("difference", "low", "high", "percent", "percent_low", "percent_high"):
            assert frame.loc[cell, name] == pytest.approx(row[name], rel=1e-9)


def test_a_study_is_no_run(study: orrery.Study) -> None:
    with pytest.raises(orrery.RunError, match="study.h5: of a study, not of a run"):
        orrery.open(study.folder / "study.h5")
    with pytest.raises(orrery.RunError, match="out: a folder, where the output"):
        orrery.open(study.folder)


def test_study_curves_draw_means_and_their_intervals(study: orrery.Study, tmp_path: Path) -> None:
    data = figures.study_curves_data(study, "gpu_share_allocated")
    assert list(data["policy"]) == ["strict"] * 3 + ["one by one"] * 3
    assert list(data["nodes"]) == ["4", "6", "8"] * 2
    frame = study.metric("gpu_share_allocated")
    for row in data.itertuples():
        own = frame[(frame["nodes"] == row.nodes) & (frame["policy"] == row.policy)]["value"]
        half = 4.302652729911275 * own.std() / math.sqrt(3)  # 4.3027 is Student's t of two degrees
        assert (row.mean, row.seeds) == (pytest.approx(own.mean()), 3)
        assert row.high - row.mean == pytest.approx(half, rel=1e-6) == row.mean - row.low
    axis = figures.study_curves(study, "gpu_share_allocated")
    figures.save(axis.figure, tmp_path / "a.png")
    assert axis.get_title(loc="left") == "Means and 95 % intervals of 3 runs"
    assert [line.get_text() for line in axis.get_legend().get_texts()] == study.axes["policy"]
    swapped = figures.study_curves_data(study, "gpu_share_allocated", x="policy", by="nodes")
    assert sorted(swapped["mean"]) == sorted(data["mean"])
    with pytest.raises(orrery.RunError, match="no axis is called 'load'"):
        figures.study_curves(study, "gpu_share_allocated", x="load")
    plt.close("all")
