"""The page of a run has the numbers of its figures, and loads nothing from elsewhere."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import orrery
import pandas as pd
import pytest
from conftest import TINY
from orrery import figures
from orrery.report.charts import PALETTE, Series, numbers, time_axis, timeline
from orrery.report.of_run import run_page
from orrery.report.jobs import jobs_of
from orrery.report.words import span, with_unit

PRESET = """    - kind: generator
      arrival_rate: 60
      shape: {kind: preset, preset: helios, gpus_max: 8, ends: published}
"""
CHARTS = [
    "losses", "utilisation", "fragmentation", "gantt", "queue-jobs", "queue-pods", "cdf-wait",
    "cdf-jct", "stuck", "heat-allocation", "failed", "nodes-down", "failures", "recoveries", "teams",
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
    for text in ("From submission to the end: of no job is it known",
                 "Recoveries: no job failed", "Failures: no node was down",
                 "What failed: nothing did"):
        assert text in line
    assert {"recoveries", "failed", "cdf-jct"}.isdisjoint(charts(page))
    assert 'href="#recovery"' not in page and "Deadlocks</dt><dd>1" in page


def findings(html: str) -> dict[str, str]:
    """The findings on the page, by section."""
    found = re.findall(r'<section id="([^"]*)"><h2>[^<]*</h2><p class="finding">(.*?)</p>', html)
    return {name: unescape(text) for name, text in found}


def test_each_section_begins_with_what_it_shows(html: str) -> None:
    found = findings(html)
    assert list(found) == ["use", "jobs", "waiting", "stuck", "nodes", "recovery", "teams", "about"]
    assert re.fullmatch(r"\d+\.\d % of all GPU time was useful: compute that no failure undid\. "
                        r"The rest was idle .* and .*\.", found["use"])
    assert found["jobs"] == "4 of 4 jobs completed."
    assert found["waiting"] == ("Half of the 4 jobs that ran waited at most 30 s, 1 % longer than "
                                "10.6 min. Up to 1 job waited at a time, 0.333 on average.")
    assert found["stuck"] == "1 job held GPUs in vain: 0.03333 GPU h hung."
    assert found["nodes"].startswith("1 fault took 1 node down. 1 of the faults hit jobs.")
    assert found["recovery"].startswith("After 1 stop jobs took 13.6 min on average until")


def test_a_headline_figure_has_one_value(html: str, tiny: orrery.Run) -> None:
    chart = charts(html)
    for what in ("wait", "jct"):
        reported = span(tiny.summary[f"{what}_p50"]), span(tiny.summary[f"{what}_p99"])
        assert chart[f"cdf-{what}"]["notes"]["jobs"] == "half within {}, 99 % within {}".format(*reported)
        x, y = (chart[f"cdf-{what}"]["series"][0][axis] for axis in "xy")
        assert x[next(k for k, percent in enumerate(y) if percent >= 50)] == pytest.approx(
            tiny.summary[f"{what}_p50"], rel=1e-5)
        assert f"<dd>{reported[0]}<small>" in html


def test_jobs_that_end_as_a_trace_says_count_for_its_median(made) -> None:
    run = made("preset", text=re.sub(r"    - kind: jobs.*?(?=faults:)", PRESET, TINY, flags=re.S))
    assert (run.table("/jobs")["outcome"] == "failed").sum() > 0
    for what in ("wait", "jct"):
        seconds = figures.cdf_data(run, what)["seconds"]
        assert seconds.iloc[-(-len(seconds) // 2) - 1] == pytest.approx(
            run.summary[f"{what}_p50"], rel=1e-6)


def test_losses_and_useful_work_are_all_gpu_time(tiny: orrery.Run) -> None:
    shares = figures.losses_data(tiny)
    assert shares.sum(axis=1).to_list() == pytest.approx([100] * len(shares))
    jobs = tiny.table("/jobs")
    whole = tiny.summary["gpus"] * tiny.end / 100
    for loss, accounts in (("useful", ["useful_gpu_s"]), ("hung", ["hung_gpu_s"]),
                           ("lost", ["lost_gpu_s"]),
                           ("starting", ["scheduling_held_gpu_s", "restore_gpu_s"])):
        assert shares[loss].mean() == pytest.approx(jobs[accounts].sum().sum() / whole, abs=0.05)


def test_a_deadlock_is_a_loss_of_its_own(made) -> None:
    shares = figures.losses_data(made("two-experiments-default")).mean()
    assert shares["deadlocked"] > 99 and shares["starting"] < 1


def test_numbers_are_those_of_the_figures(html: str, tiny: orrery.Run) -> None:
    found = charts(html)
    use = figures.utilisation_data(tiny)
    assert found["utilisation"]["ends"] == use.index.to_list()
    for series in found["utilisation"]["series"]:
        assert series["mean"] == pytest.approx(use[series["name"]].to_list(), rel=1e-5)
        assert "low" not in series
    waits = figures.cdf_data(tiny, "wait")
    assert found["cdf-wait"]["series"][0]["y"] == waits["percent"].to_list()
    grid = figures.heat_map_data(tiny, "allocation", bins=360)
    layer = base64.b64decode(found["heat-allocation"]["layers"]["mean"])
    shown = np.frombuffer(layer, np.uint8).reshape(4, 360) / 2
    assert np.abs(shown - grid.to_numpy()).max() <= 0.25
    mean, worst = found["recoveries"]["lanes"]
    assert mean["values"] == worst["values"] and worst["label"] == "wide, 24 GPUs"
    (span,) = found["stuck"]["lanes"][0]["spans"]
    assert (span["begin"], span["end"], span["gpus"]) == (720, 725, 24)
    (node,) = found["failed"]["lanes"]
    assert node["label"] == "gpu-0" and node["spans"][0]["end"] == 1320


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
        assert f'<span class="id">{name}</span></th>' in html


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
    assert with_unit(9623.1, "s") == "2.67 h" and with_unit(12, "jobs") == "12 jobs"
    assert with_unit(float("nan"), "s") == "–" and with_unit(132102517337.06, "GPU s") == \
        "36,695,144 GPU h"
    assert with_unit(1.5e9, "B") == "1.5 GB" and with_unit(999, "B/s") == "999 B/s"
    assert with_unit(3e-7, "share") == "3.00e-7 share"
    assert numbers([1.0, float("nan"), 1 / 3, 2e6 + 1]) == [1, None, 0.333333, 2000000]


def test_a_series_without_rows_makes_a_chart() -> None:
    frame = pd.DataFrame({"a": []}, index=[])
    chart = timeline("a", "A", frame, {"a": Series("a", "#123456")}, 1.0, {"label": "y"})
    assert chart.spec["ends"] == [] and chart.spec["series"][0]["colour"] == "#123456"


def test_the_copied_command_gives_the_same_run(
    html: str, tiny: orrery.Run, program: str, tmp_path: Path
) -> None:
    command = unescape(re.search(r'<pre id="again" tabindex=0>(.*?)</pre>', html, re.S).group(1))
    (tmp_path / "orrery").symlink_to(program)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", command], check=True, cwd=tmp_path, env=os.environ | path,
                   capture_output=True)
    with orrery.open(tmp_path / "tiny-again.h5") as again:
        assert again.meta.digest == tiny.meta.digest


def test_overrides_and_seeds_are_part_of_the_command(made) -> None:
    page = run_page(made("tiny", "--set", "run.until=2h", "--seed", "9", text=TINY))
    assert "orrery run ./tiny---set-run.until=2h---seed-9.yaml --seed 9 --set run.until=2h" in page


class Many:
    """A run of many jobs with two pods each. It has only the tables that lists of jobs and Gantt charts
    need."""

    end = 2_592_000.0

    def __init__(self, count: int) -> None:
        random = np.random.default_rng(4)
        job = np.arange(count)
        submitted = np.sort(random.uniform(0, 0.9 * self.end, count))
        wait, run = random.exponential(600, count), random.lognormal(8, 1, count)
        texts = {name: [f"{name}-{k}" for k in random.integers(0, most, count)]
                 for name, most in (("name", count), ("user", 500), ("team", 20))}
        self.jobs = pd.DataFrame({
            "job": job, **texts, "outcome": "completed", "cause": "none", "pods": 2,
            "gpus": 2 ** random.integers(1, 5, count), "restarts": 0, "submitted": submitted,
            "running": submitted + wait, "ended": submitted + wait + run, "wait": wait, "run": run,
        } | {f"{what}_gpu_s": random.exponential(1e5, count) for what in (
            "useful", "lost", "exchange", "checkpoint", "restore", "scheduling_held", "hung",
            "idle")})
        twice = np.repeat(job, 2)
        self.pods = pd.DataFrame({
            "job": twice, "node": random.integers(0, 512, 2 * count), "gpus": 15, "end": "completed",
            "bound": (submitted + wait)[twice], "ended": (submitted + wait + run)[twice]})
        node = np.arange(512)
        self.nodes = pd.DataFrame({"node": node, "name": [f"gpu-{k}" for k in node], "gpus": 8,
                                   "leaf": node // 32})

    def table(self, path: str) -> pd.DataFrame:
        return {"/jobs": self.jobs, "/pods": self.pods, "/nodes": self.nodes}[path].copy()


def test_a_page_of_many_jobs_stays_small(html: str) -> None:
    run = Many(50_000)
    jobs = jobs_of(run, time_axis(run.end))
    size = len(jobs.data) + len(json.dumps([jobs.table, jobs.gantt]))
    assert len(html) < 500_000 and len(html) + size < 6_000_000


def simulated(rgb: list[float], kind: str) -> np.ndarray:
    """The colour in OKLab (Ottosson 2020) as a person with this kind of colour vision sees it (Machado,
    Oliveira and Fernandes 2009, at full severity)."""
    seen = {
        "usual": np.eye(3),
        "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
        "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
        "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                    [0.004733, 0.691367, 0.303900]],
    }[kind]
    to_cones = [[0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005]]
    to_lab = [[0.2104542553, 0.7936177850, -0.0040720468],
              [1.9779984951, -2.4285922050, 0.4505937099],
              [0.0259040371, 0.7827717662, -0.8086757660]]
    cones = np.array(to_cones) @ np.clip(np.array(seen) @ np.array(rgb), 0, 1)
    return np.array(to_lab) @ np.cbrt(cones)


@pytest.mark.parametrize("theme, card, ink", [(0, "#f6f7f9", "#15181d"), (1, "#1d2127", "#e8eaed")])
def test_colours_are_told_apart_by_all_kinds_of_colour_vision(theme, card, ink) -> None:
    def linear(text: str) -> list[float]:
        parts = [int(text[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]

    colours = [linear(pair[theme]) for pair in PALETTE.values()] + [linear(ink)]
    for kind in ("usual", "no red", "no green", "no blue"):
        seen = [simulated(colour, kind) for colour in colours]
        gaps = [np.linalg.norm(a - b) for k, a in enumerate(seen) for b in seen[:k]]
        assert min(gaps) > (0.095 if theme else 0.07), kind
    if theme:
        light = [float(np.dot([0.2126, 0.7152, 0.0722], one)) for one in (*colours, linear(card))]
        assert all((one + 0.05) / (light[-1] + 0.05) >= 2.99 for one in light[:-1])
