"""The frames behind the page of a study, for a made-up study."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import orrery
import pandas as pd
import pytest
from orrery.comparison import bootstrap_interval, t_interval
from orrery.report import study_findings
from orrery.report.study_charts import over_arms, unit_of
from orrery.report.titles import words_of
from orrery.study import Study

TEXT = """
axes:
  - {name: rate, values: [1, 2]}
  - {name: policy, arms: [{name: fifo}, {name: easy = back}]}
compare: {axis: policy, against: fifo}
"""
LABELS = ["rate=1 policy=fifo", "rate=1 policy=easy = back", "rate=2 policy=fifo",
          "rate=2 policy=easy = back"]


def written(name: str, rows: list[tuple], kind: list[tuple], file: h5py.File) -> None:
    data = file.create_dataset(name, data=np.array(rows, dtype=kind))
    data.attrs["doc"] = b""
    for text in ("units", "docs"):
        data.attrs[text] = np.array([b""] * len(kind))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Wait is 10 * cell + seed, and cost always 1; seed 3 of cell 1 is missing."""
    with h5py.File(tmp_path / "study.h5", "w") as file:
        file.attrs.update(format=b"orrery", format_version=1, complete=True)
        file["meta/study"] = TEXT.encode()
        file["meta/doubts"] = b"wait, rate=1: only 2 seeds\n"
        arms = [("rate", "1", False), ("policy", "fifo", True), ("rate", "2", False),
                ("policy", "easy = back", False)]
        grid = [(c, *arms[i]) for c, pair in enumerate([(0, 1), (0, 3), (2, 1), (2, 3)])
                for i in pair]
        written("cells", [(c, a.encode(), b.encode(), base) for c, a, b, base in grid],
                [("cell", "u4"), ("axis", "S16"), ("arm", "S16"), ("is_baseline", "?")], file)
        cells = [(cell, seed) for cell in range(4) for seed in (1, 2, 3)]
        cells.remove((1, 3))
        written("runs", [(c, s, True, 1.0, LABELS[c].encode()) for c, s in cells],
                [("cell", "u4"), ("seed", "u8"), ("is_ok", "?"), ("wall_seconds", "f8"),
                 ("label", "S64")], file)
        values = [(c, s, name, value, b"s") for c, s in cells
                  for name, value in ((b"wait", 10.0 * c + s * s), (b"cost", 1.0))]
        written("values", values, [("cell", "u4"), ("seed", "u8"), ("name", "S16"),
                                             ("value", "f8"), ("unit", "S8")], file)
    return Study(tmp_path)


def test_cells_know_their_arms_and_baselines(study: Study) -> None:
    assert study.arms(1) == {"rate": "1", "policy": "easy = back"}
    assert [study.baseline(cell) for cell in range(4)] == [None, 0, None, 2]


def test_metrics_are_those_that_differ(study: Study) -> None:
    assert [(one.name, one.unit) for one in study.metrics] == [("wait", "s")]


def test_means_and_differences_count_the_seeds_at_hand(study: Study) -> None:
    means = study.means("wait")
    assert means["seeds"].to_list() == [3, 2, 3, 3]
    assert means["mean"].to_list() == pytest.approx([14 / 3, 12.5, 20 + 14 / 3, 30 + 14 / 3])
    differences = study.differences("wait")
    assert differences.index.to_list() == [1, 3]
    assert differences["difference"].to_list() == [10, 10]
    assert differences["pairs"].to_list() == [2, 3]
    assert differences["baseline"].to_list() == [0, 2]
    assert differences[["low", "bootstrap_high"]].to_numpy().tolist() == [[10, 10], [10, 10]]


def asked(study: Study) -> tuple:
    """What functions of charts and findings take."""
    metric = study.metrics[0]
    return study, metric, words_of(metric.name, metric.unit), unit_of(study, metric)


def test_findings_are_sentences(study: Study) -> None:
    assert study_findings.differences(*asked(study)).startswith("easy = back had a ")
    assert study.doubts.empty or study.doubts["metric"].to_list() == ["wait"]


def test_means_are_drawn_over_the_axis_that_is_not_compared(study: Study) -> None:
    chart = over_arms(*asked(study))
    assert chart.title == "Wait against rate, by policy" and chart.spec["kind"] == "arms"
    assert [(arm["value"], arm["text"]) for arm in chart.spec["x"]["arms"]] == [(1, "1"), (2, "2")]
    fifo, easy = chart.spec["series"]
    assert (fifo["name"], easy["name"]) == ("fifo", "easy = back")
    assert fifo["dash"] != easy["dash"] and fifo["colour"] != easy["colour"]
    assert fifo["mean"] == pytest.approx([14 / 3, 74 / 3], rel=1e-5)
    assert easy["mean"] == pytest.approx([12.5, 104 / 3], rel=1e-5)
    low, high = t_interval(np.array([21.0, 24, 29]), 0.95)
    assert (fifo["low"][1], fifo["high"][1]) == pytest.approx((low, high), rel=1e-5)
    study.axes["third"] = ["a", "b"]
    assert over_arms(*asked(study)) is None


def test_bootstrap_intervals_are_seeded_and_lean_with_the_values() -> None:
    values = np.random.default_rng(5).exponential(size=40)
    ends = bootstrap_interval(values, 0.95, seed=1)
    assert ends == bootstrap_interval(values, 0.95, seed=1) != bootstrap_interval(values, 0.95, 2)
    low, high = t_interval(values, 0.95)
    assert ends[1] - values.mean() > values.mean() - ends[0]  # the long tail is above
    normal = np.random.default_rng(6).normal(size=400)
    assert bootstrap_interval(normal, 0.9, seed=1) == pytest.approx(t_interval(normal, 0.9),
                                                                    abs=0.01)
    assert high - values.mean() == pytest.approx(values.mean() - low)
    assert bootstrap_interval(np.full(4, 2.5), 0.95, seed=1) == (2.5, 2.5)


def test_bootstrap_intervals_cover_a_skewed_mean() -> None:
    random = np.random.default_rng(7)
    held = 0
    for seed in range(400):
        low, high = bootstrap_interval(random.exponential(size=15), 0.95, seed, resamples=400)
        held += low <= 1.0 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_paired_tells_both_intervals() -> None:
    values = pd.DataFrame({"a": [1.0, 2, 3, 4, 5], "b": [2.0, 4, 3, 6, 7]})
    row = orrery.paired(values, level=0.9).loc["b"]
    assert (row["bootstrap_low"], row["bootstrap_high"]) == bootstrap_interval(
        np.array([1.0, 2, 0, 2, 2]), 0.9, seed=1)
    assert row["bootstrap_low"] < row["difference"] < row["bootstrap_high"]
