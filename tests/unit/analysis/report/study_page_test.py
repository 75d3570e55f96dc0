"""The frames behind the page of a study, on one that is made up."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from orrery.report.of_study import over_arms
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
        file.attrs.update(format=b"orrery", format_version=1, complete=True, confidence=0.95,
                          estimator=b"t", permute_ties=False)
        file["meta/study"] = TEXT.encode()
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
        found(file)
    return Study(tmp_path)


def found(file: h5py.File) -> None:
    """What the program says of those values, as far as the tests ask."""
    written("metrics", [(b"wait", b"s", b"waits", True), (b"cost", b"s", b"costs", False)],
            [("name", "S16"), ("unit", "S8"), ("doc", "S16"), ("is_reported", "?")], file)
    written("means", [(b"wait", c, s, m, m - 1, m + 1, m - 2, m + 2) for c, s, m in
                      ((0, 3, 14 / 3), (1, 2, 12.5), (2, 3, 74 / 3), (3, 3, 104 / 3))],
            [("metric", "S16"), ("cell", "u4"), ("seeds", "u4")]
            + [(name, "f8") for name in ("mean", "low", "high", "min", "max")], file)
    written("differences", [(b"wait", c, b, n, 10.0, 9.0, 11.0, 50.0, 40.0, 60.0, b"more")
                            for c, b, n in ((1, 0, 2), (3, 2, 3))],
            [("metric", "S16"), ("cell", "u4"), ("baseline", "u4"), ("pairs", "u4")]
            + [(name, "f8") for name in ("difference", "low", "high", "percent", "percent_low",
                                         "percent_high")] + [("verdict", "S8")], file)
    written("doubts", [(b"wait", 1, b"few_seeds", b"only 2 seeds")],
            [("metric", "S16"), ("cell", "u4"), ("kind", "S16"), ("text", "S32")], file)


def test_cells_know_their_arms_and_baselines(study: Study) -> None:
    assert study.arms(1) == {"rate": "1", "policy": "easy = back"}
    assert [study.baseline(cell) for cell in range(4)] == [None, 0, None, 2]


def test_metrics_are_those_that_differ(study: Study) -> None:
    assert [(one.name, one.unit) for one in study.metrics] == [("wait", "s")]


def test_means_and_differences_are_read(study: Study) -> None:
    assert study.means("wait")["seeds"].to_list() == [3, 2, 3, 3]
    differences = study.differences("wait")
    assert differences.index.to_list() == [1, 3]
    assert differences["baseline"].to_list() == [0, 2]
    assert differences["verdict"].to_list() == ["more", "more"]


def test_means_are_drawn_over_the_axis_that_is_not_compared(study: Study) -> None:
    chart = over_arms(study, study.metrics[0])
    assert chart.title == "wait against rate, by policy" and chart.spec["kind"] == "arms"
    assert [(arm["value"], arm["text"]) for arm in chart.spec["x"]["arms"]] == [(1, "1"), (2, "2")]
    fifo, easy = chart.spec["series"]
    assert (fifo["name"], easy["name"]) == ("fifo", "easy = back")
    assert fifo["dash"] != easy["dash"] and fifo["colour"] != easy["colour"]
    assert fifo["mean"] == pytest.approx([14 / 3, 74 / 3], rel=1e-5)
    assert easy["mean"] == pytest.approx([12.5, 104 / 3], rel=1e-5)
    assert (fifo["low"][1], fifo["high"][1]) == pytest.approx((71 / 3, 77 / 3), rel=1e-5)
    study.axes["third"] = ["a", "b"]
    assert over_arms(study, study.metrics[0]) is None
