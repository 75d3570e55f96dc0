"""The page of a study."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from orrery.report import study_charts, study_findings
from orrery.report.charts import Chart
from orrery.report.page import Section, Tile, page, table
from orrery.report.study_charts import unit_of
from orrery.report.study_findings import Unit
from orrery.report.titles import words_of
from orrery.report.words import count, number, with_unit
from orrery.study import Metric, Study

FINDINGS_MAX = 8  # metrics with a finding at the top of the page; each section has one of its own
ARMS_MAX = 2  # arms in the finding of a metric at the top of the page
BADGES = {  # what a badge says about each kind of remark
    "few_seeds": "few seeds", "not_shown": "no difference shown", "coverage": "interval too narrow",
    "nothing_random": "nothing random", "other_jobs": "other jobs",
}


def badges(study: Study, metric: Metric, cell: int) -> str:
    """The remarks on a cell's metric as badges: two or three words are visible, the whole text on demand."""
    rows = study.doubts
    rows = rows[(rows["metric"] == metric.name) & (rows["cell"] == cell)]
    return " ".join(
        f'<details class="badge"><summary>{escape(BADGES.get(str(row.kind), str(row.kind)))}'
        f"</summary>{escape(row.text)}</details>"
        for row in rows.itertuples()
    )


def _ends(unit: Unit, low: float, high: float, scale: float | None = None) -> str:
    if pd.isna(low) or pd.isna(high):
        return "–"
    return f"{number(low / (scale or unit.length))} to {number(high / (scale or unit.length))}"


def rows_table(study: Study, metric: Metric, unit: Unit) -> str:
    """A table with a row for each cell: its mean, its difference from the baseline, and remarks as badges."""
    means = study.means(metric.name)
    gaps = study.differences(metric.name) if study.compared else pd.DataFrame()
    shown = f" ({unit.name})" if unit.name else ""
    apart = f" ({unit.of_differences})" if unit.of_differences else ""
    level = f"{100 * study.confidence:g} % interval"
    heads = ["cell", f"mean{shown}", level, "seeds"]
    if study.permutes_ties:
        heads.append(f"range over seeds{shown}")
    if study.compared:
        heads += [f"difference{apart}", level, "in percent", level]
    rows = []
    for cell, row in means.iterrows():
        if pd.isna(row["mean"]):
            continue
        cells = [escape(study.labels[cell]), number(row["mean"] / unit.length),
                 _ends(unit, row["low"], row["high"]), number(row["seeds"])]
        if study.permutes_ties:
            cells.append(_ends(unit, row["min"], row["max"]))
        if study.compared and cell in gaps.index:
            gap = gaps.loc[cell]
            sign = "+" if gap["difference"] > 0 else ""
            cells += [sign + number(gap["difference"] / unit.length),
                      _ends(unit, gap["low"], gap["high"]),
                      "–" if pd.isna(gap["percent"]) else f"{gap['percent']:+.3g} %",
                      _ends(unit, gap["percent_low"], gap["percent_high"], 1.0)]
        elif study.compared:
            cells += ["baseline", "", "", ""]
        rows.append([*cells, badges(study, metric, int(cell))])
    return table([*heads, "remarks"], rows, numeric=range(1, len(heads)), is_html=True)


def _link(study: Study, cell: int, seed: int, beside: Path) -> str:
    """The seed as a link to the page of the run, or else to its file; as plain text without both."""
    path = study.run_path(cell, seed)
    for target in (path.with_suffix(".html"), path):
        if target.exists():
            where = quote(os.path.relpath(target, beside))
            return f'<a href="{where}">{seed}</a>'
    return str(seed)


def grid(study: Study, beside: Path) -> str:
    """A table with a row for each cell, and links to its runs."""
    rows = []
    for cell, runs in study.runs.groupby("cell"):
        done = runs[runs["is_ok"]]
        failed = runs.loc[~runs["is_ok"], "seed"]
        links = " ".join(_link(study, int(cell), int(seed), beside) for seed in done["seed"])
        rows.append([escape(study.labels[cell]), str(len(done)), " ".join(map(str, failed)) or "–",
                     links])
    return table(["cell", "runs", "failed seeds", "seeds, each a link to its run"], rows,
                 numeric=[1], is_html=True)


def _section(study: Study, metric: Metric, left_out: list[str]) -> Section:
    words, unit = words_of(metric.name, metric.unit), unit_of(study, metric)
    found = [study_charts.over_arms(study, metric, words, unit),
             study_charts.means(study, metric, words, unit),
             study_charts.differences(study, metric, words, unit) if study.compared else None]
    left_out.extend(one for one in found if isinstance(one, str))
    finding = " ".join(text for text in (
        study_findings.differences(study, metric, words, unit),
        study_findings.extremes(study, metric, words, unit)) if text)
    note = f'<p class="note">{escape(words.title)}: {escape(metric.doc)}.</p>' if metric.doc else ""
    return Section(metric.name, words.title, [one for one in found if isinstance(one, Chart)],
                   note + rows_table(study, metric, unit), finding=finding, aside=metric.name)


def _headline(study: Study, metric: Metric) -> str:
    words, unit = words_of(metric.name, metric.unit), unit_of(study, metric)
    if study.compared:
        return study_findings.differences(study, metric, words, unit, ARMS_MAX)
    return study_findings.extremes(study, metric, words, unit)


def study_page(folder: Path, beside: Path) -> str:
    """The page of the study as one file of HTML. Links are relative to the folder `beside`."""
    study = Study(folder)
    left_out: list[str] = []
    sections = [_section(study, metric, left_out) for metric in study.metrics]
    findings = [_headline(study, metric) for metric in study.metrics]
    if not study.metrics:
        left_out.append("Metrics: no figure differs between the runs")
    if not study.compared:
        left_out.append("Differences: the study compares nothing")
    text = f"<pre tabindex=0>{escape(study.text)}</pre>"
    sections.append(Section("grid", "The grid", html=grid(study, beside)))
    sections.append(Section("about", "The study as written", html=text, link="As written"))
    done, failed = int(study.runs["is_ok"].sum()), int((~study.runs["is_ok"]).sum())
    remarks = study.doubts[study.doubts["metric"].isin([one.name for one in study.metrics])]
    tiles = [
        Tile("Runs", number(done), f"{failed} failed" if failed else "none failed"),
        Tile("Cells", number(len(study.labels)), "combinations of arms"),
        Tile("Seeds", number(study.runs["seed"].nunique())),
        Tile("Remarks", number(len(remarks)), "on rows of the tables below"),
        Tile("Host time", with_unit(study.runs["wall_seconds"].sum(), "s"), "of all runs together"),
    ]
    state = "" if study.is_complete else "Not complete: some runs are missing. "
    first = study.text.lstrip().splitlines()[0]
    question = first.lstrip("# ") if first.startswith("#") and "$schema" not in first else ""
    shown = [one for one in findings if one]
    if len(shown) > FINDINGS_MAX:
        shown = [*shown[:FINDINGS_MAX], f"{count(len(shown) - FINDINGS_MAX, 'metrics')} more below."]
    return page(folder.resolve().name, state + question, tiles, sections, left_out, shown)
