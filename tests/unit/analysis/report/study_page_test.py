"""The data frames behind the page of a study, for a study that the test writes itself."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from orrery.report import study_findings
from orrery.report.of_study import rows_table, study_page
from orrery.report.study_charts import axis_label, differences, means, over_arms, unit_of
from orrery.report.study_findings import Unit
from orrery.report.titles import humanized, parameter_title, words_of
from orrery.study import Metric, Study

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
    """A study of four cells. Wait is 10 * cell + seed^2, cost is 1. Seed 3 of cell 1 is missing."""
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
    """Writes what the program finds about these values, as far as the tests need it."""
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
    written("axes", [(b"rate", b"workload.sources[0].arrival_rate", b"jobs/h", b"jobs that arrive"),
                     (b"policy", b"", b"", b"")],
            [("axis", "S16"), ("parameter", "S48"), ("unit", "S8"), ("doc", "S32")], file)
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


WAIT = Metric("wait_mean", "s", "mean wait")


def asked(study: Study, metric: Metric | None = None) -> tuple:
    """The arguments of functions that make charts and findings."""
    metric = metric or study.metrics[0]
    return study, metric, words_of(metric.name, metric.unit), unit_of(study, metric)


def with_verdicts(study: Study, *rows: tuple[float, float, str]) -> None:
    """Sets the difference, the percentage and the verdict of each compared cell."""
    for cell, (difference, percent, verdict) in zip((1, 3), rows):
        here = study._differences["cell"] == cell
        study._differences.loc[here, ["difference", "percent", "verdict"]] = (
            difference, percent, verdict)


def test_means_are_drawn_over_the_axis_that_is_not_compared(study: Study) -> None:
    chart = over_arms(*asked(study))
    assert chart.title == "Wait against rate, by policy" and chart.spec["kind"] == "arms"
    assert [(arm["value"], arm["text"]) for arm in chart.spec["x"]["arms"]] == [(1, "1"), (2, "2")]
    fifo, easy = chart.spec["series"]
    assert (fifo["name"], easy["name"]) == ("fifo", "easy = back")
    assert fifo["dash"] != easy["dash"] and fifo["colour"] != easy["colour"]
    assert fifo["mean"] == pytest.approx([14 / 3, 74 / 3], rel=1e-5)
    assert easy["mean"] == pytest.approx([12.5, 104 / 3], rel=1e-5)
    assert (fifo["low"][1], fifo["high"][1]) == pytest.approx((71 / 3, 77 / 3), rel=1e-5)
    assert "coincide" not in chart.note
    study.axes["third"] = ["a", "b"]
    assert over_arms(*asked(study)) is None


def test_axes_are_named_after_their_parameter_with_its_unit(study: Study) -> None:
    assert over_arms(*asked(study)).spec["x"]["label"] == "arrival rate (jobs/h)"
    assert axis_label(study, "policy") == "policy"
    assert parameter_title("cluster.pools[0].count", "nodes") == "count of pools"
    assert parameter_title("", "gpu_share") == humanized("gpu_share") == "GPU share"


def test_lines_that_look_like_one_are_named(study: Study) -> None:
    study._means.loc[study._means["cell"] == 1, "mean"] = 14 / 3 + 0.01
    study._means.loc[study._means["cell"] == 3, "mean"] = 74 / 3
    assert over_arms(*asked(study)).note.endswith("The lines of fifo and easy = back coincide.")


def test_a_metric_has_one_unit(study: Study) -> None:
    study._means[["mean", "low", "high"]] *= 60  # the means become 4.7 to 34.7 minutes
    chart = means(*asked(study))
    assert chart.spec["x"]["unit"] == "min" and chart.spec["x"]["label"] == "Wait (min)"
    assert [row["value"] for row in chart.spec["lanes"]] == pytest.approx(
        [14 / 3, 12.5, 74 / 3, 104 / 3])
    assert over_arms(*asked(study)).spec["y"]["label"] == "Wait (min)"
    html = rows_table(study, study.metrics[0], unit_of(study, study.metrics[0]))
    assert "mean (min)" in html and "<td class=\"number\">24.67</td>" in html
    share = Metric("gpu_share_useful", "", "")
    study._means["metric"] = "gpu_share_useful"
    study._metrics.loc["gpu_share_useful"] = ["", "", True]
    assert unit_of(study, share) == Unit(0.01, "%") and unit_of(study, share).of_differences == \
        "points"


def test_dots_have_the_colour_of_their_arm(study: Study) -> None:
    chart = means(*asked(study))
    assert [row["arm"] for row in chart.spec["lanes"]] == ["fifo", "easy = back"] * 2
    paint = {one["name"]: one["colour"] for one in chart.spec["series"]}
    assert [row["colour"] for row in chart.spec["lanes"]] == [
        paint[row["arm"]] for row in chart.spec["lanes"]]
    assert len(set(paint.values())) == 2


def test_differences_are_in_percent_and_in_the_unit(study: Study) -> None:
    chart = differences(*asked(study))
    assert list(chart.spec["ways"]) == ["percent", "s"]
    assert [row["value"] for row in chart.spec["ways"]["percent"]["lanes"]] == [50, 50]
    assert [row["value"] for row in chart.spec["ways"]["s"]["lanes"]] == [10, 10]
    assert chart.spec["lanes"] == chart.spec["ways"]["percent"]["lanes"]
    with_verdicts(study, (10, np.nan, "more"), (10, np.nan, "unclear"))
    chart = differences(*asked(study))
    assert list(chart.spec["ways"]) == ["s"]
    assert [row["clear"] for row in chart.spec["lanes"]] == [True, False]
    assert chart.title == "Against fifo: 1 of 2 differ clearly"


def test_remarks_are_badges_on_their_rows(study: Study) -> None:
    html = rows_table(study, study.metrics[0], unit_of(study, study.metrics[0]))
    rows = [row for row in html.split("<tr>") if "policy=easy" in row]
    badge = '<details class="badge"><summary>few seeds</summary>only 2 seeds</details>'
    assert badge in rows[0] and badge not in rows[1] and html.count("badge") == 1
    assert [row["remarks"] for row in means(*asked(study)).spec["lanes"]] == [0, 1, 0, 0]


@pytest.mark.parametrize("rows, text", [
    (((10, 71, "more"), (20, 95, "more")), "easy = back had a 71 to 95 % longer wait than fifo."),
    (((-3, -8.25, "less"), (-3, -8.25, "less")),
     "easy = back had an 8.2 % shorter wait than fifo."),
    (((10, 20, "more"), (1, 1, "unclear")),
     "easy = back had a 20 % longer wait at rate 1 than fifo; no clear difference at rate 2."),
    (((1, 1, "unclear"), (1, 1, "equal")), "easy = back does not differ clearly from fifo in wait."),
    (((0, 0, "equal"), (0, 0, "equal")), "easy = back and fifo are equal in each seed in wait."),
    (((10, np.nan, "more"), (20, np.nan, "more")),
     "easy = back had a 10 to 20 s longer wait than fifo."),
])
def test_findings_are_sentences(study: Study, rows: tuple, text: str) -> None:
    with_verdicts(study, *rows)
    assert study_findings.differences(*asked(study)) == text


def test_metrics_are_spoken_of_by_their_kind() -> None:
    assert words_of("jobs_completed", "jobs").differs("71 to 95 %", False) == \
        "completed 71 to 95 % fewer jobs"
    assert words_of("gpu_share_useful", "").differs("8 %", False) == \
        "had an 8 % lower useful share of GPU time"
    assert words_of("gpu_hours_deadlocked", "GPU h").differs("31 GPU h", True) == \
        "had 31 GPU h more GPU time held in deadlocks"
    assert words_of("restarts", "").differs("3 %", True) == "had 3 % more restarts of jobs"
    assert words_of("my_own_figure", "W").title == "My own figure"


def test_the_page_leads_with_findings_and_human_titles(study: Study) -> None:
    page = study_page(study.folder, study.folder)
    first = page.index('<ul class="findings"><li>easy = back had a 50 % longer wait than fifo.')
    assert first < page.index('<dl class="tiles">') < page.index("<section")
    assert '<h2>Wait <span class="id">wait</span></h2>' in page
