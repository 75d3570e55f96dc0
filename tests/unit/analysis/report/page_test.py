"""What the page of a run holds: the numbers of its figures, and nothing from elsewhere."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import h5py
import numpy as np
import orrery
import pandas as pd
import pytest
from conftest import TINY
from orrery import figures
from orrery.report.charts import Series, numbers, timeline
from orrery.report.of_run import run_page
from orrery.report.words import with_unit

CHARTS = [
    "utilisation", "fragmentation", "queue-jobs", "queue-pods", "cdf-wait", "cdf-jct", "stuck",
    "heat-allocation", "heat-health", "nodes-down", "failures", "recoveries", "teams",
]


def charts(html: str) -> dict[str, dict[str, Any]]:
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    return {chart["id"]: chart for chart in json.loads(text.group(1))["charts"]}


@pytest.fixture(scope="module")
def html(made) -> str:
    return run_page(made("tiny", text=TINY))


def test_a_run_with_everything_has_all_charts(html: str) -> None:
    assert list(charts(html)) == CHARTS
    assert "Not shown. Control-plane traffic: recorded only with control_plane.level: full." in html


def test_what_a_run_has_no_data_for_is_told_in_a_line(made) -> None:
    page = run_page(made("two-experiments-default"))
    line = re.search(r"Not shown\. (.*?)</p>", page).group(1)
    for text in ("From submission to completion: of no job is it known",
                 "Recoveries: no job failed", "Failures: no node was down",
                 "Health of nodes: none failed"):
        assert text in line
    assert {"recoveries", "heat-health", "cdf-jct"}.isdisjoint(charts(page))
    assert 'href="#recovery"' not in page and "Deadlocks</dt><dd>1" in page


def test_titles_say_what_is_seen(html: str) -> None:
    found = {name: chart["title"] for name, chart in charts(html).items()}
    assert re.fullmatch(r"GPU use told four ways: \d+\.\d % allocated, \d+\.\d % useful",
                        found["utilisation"])
    assert found["cdf-wait"].endswith("half of the jobs within 30 s")
    assert found["queue-pods"] == "Waiting pods: 0.833 in the mean, 3 at most"
    assert found["stuck"] == "GPUs held in vain: 0.03333 GPU h hung"


def test_numbers_are_those_of_the_figures(html: str, tiny: orrery.Run) -> None:
    found = charts(html)
    use = figures.utilisation_data(tiny)
    assert found["utilisation"]["ends"] == use.index.to_list()
    for series in found["utilisation"]["series"]:
        assert series["mean"] == pytest.approx(use[series["name"]].to_list(), rel=1e-5)
        assert "low" not in series
    waits = figures.cdf_data(tiny, "wait")
    assert found["cdf-wait"]["series"][0]["y"] == waits["percent"].to_list()
    grid = figures.heat_map_data(tiny, "health", bins=360)
    layer = base64.b64decode(found["heat-health"]["layers"]["mean"])
    shown = np.frombuffer(layer, np.uint8).reshape(4, 360) / 2
    assert np.abs(shown - grid.to_numpy()).max() <= 0.25
    mean, worst = found["recoveries"]["lanes"]
    assert mean["values"] == worst["values"] and worst["label"] == "wide, 24 GPUs"
    (span,) = found["stuck"]["lanes"][0]["spans"]
    assert (span["begin"], span["end"], span["gpus"]) == (720, 725, 24)


def test_long_series_have_bands(made) -> None:
    run = made("tiny", "--set", "record.timeline.interval=1s", text=TINY)
    jobs = run.timeline("cluster")["jobs_pending"]
    chart = charts(run_page(run))["queue-jobs"]
    (series,) = chart["series"]
    assert len(chart["ends"]) == 1800 and len(jobs) == 3600
    assert max(series["high"]) == jobs.max() and min(series["low"]) == jobs.min()
    pairs = jobs.to_numpy().reshape(1800, 2)
    assert series["low"] == pairs.min(axis=1).tolist()
    assert series["high"] == pairs.max(axis=1).tolist()


def test_the_page_asks_for_nothing_outside(html: str) -> None:
    assert not re.search(r'(?:src|href)="(?!#|data:)', html)
    assert "default-src 'none'" in html and "http://" not in html.replace(
        "http://www.w3.org/2000/svg", "")
    assert "https://" not in html


def test_how_to_run_it_again_is_told(html: str, tiny: orrery.Run) -> None:
    assert f"<td>{tiny.meta.digest}</td>" in html and "<td>3</td>" in html
    assert "{name: wide, team: a, work: 20min, pods: 3, pod: {gpus: 8}}" in html
    for name in tiny.summary.index:
        assert f'<th scope="row">{name}</th>' in html


def test_names_are_never_markup(made) -> None:
    text = TINY.replace("name: wide", "name: '</script><b>'") + 'description: "<i>&"\n'
    page = run_page(made("markup", text=text))
    assert "<i>&" not in page and "&lt;i&gt;&amp;" in page
    assert charts(page)["recoveries"]["lanes"][1]["label"] == "</script><b>, 24 GPUs"


def test_a_run_that_goes_on_has_a_page_without_headline_figures(tiny, tmp_path) -> None:
    path = tmp_path / "run.h5"
    path.write_bytes(tiny.path.read_bytes())
    with h5py.File(path, "a") as file:
        file.attrs["complete"] = False
        del file["summary"]
    with orrery.open(path) as run:
        page = run_page(run)
    assert "Headline figures: the run is not complete" in page and "All figures" not in page


def test_numbers_are_told_in_units_that_suit_them() -> None:
    assert with_unit(9623.1, "s") == "2.673 h" and with_unit(12, "jobs") == "12 jobs"
    assert with_unit(float("nan"), "s") == "–" and with_unit(132102517337.06, "GPU s") == \
        "132,102,517,337 GPU s"
    assert numbers([1.0, float("nan"), 1 / 3, 2e6 + 1]) == [1, None, 0.333333, 2000000]


def test_a_series_without_rows_makes_a_chart() -> None:
    frame = pd.DataFrame({"a": []}, index=[])
    chart = timeline("a", "A", frame, {"a": Series("a", "#123456")}, 1.0, {"label": "y"})
    assert chart.spec["ends"] == [] and chart.spec["series"][0]["colour"] == "#123456"
