"""The page of a study."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from orrery import figures
from orrery.figures.studies import arm_places, is_flat, quantity
from orrery.report.charts import Chart, Series, arms, lanes
from orrery.report.page import Section, Tile, page, table
from orrery.report.words import number, with_unit
from orrery.run import RunError
from orrery.study import Metric, Study
from orrery.style import CYCLE, time_unit


def _axis(label: str, unit: str, rows: Sequence[dict[str, Any]], zero: bool) -> dict[str, Any]:
    ends = [end for row in rows for end in row["interval"] or ()] + [row["value"] for row in rows]
    low, high = min([*ends, 0.0] if zero else ends), max([*ends, 0.0] if zero else ends)
    room = (high - low) or abs(high) or 1.0
    low, high = low - 0.05 * room, high + 0.05 * room
    is_time = unit == "s"
    shown = label if is_time or not unit else f"{label} ({unit})"
    return {"label": shown, "unit": unit, "scale": "time" if is_time else "linear", "own": True,
            "low": low, "high": high, "zero": zero}


def _lane(label: str, value: float, row: Any, colour: str, more: Sequence = ()) -> dict[str, Any]:
    def ends(low: str, high: str) -> list[float] | None:
        return None if pd.isna(row[low]) else [float(row[low]), float(row[high])]

    return {"label": label, "value": float(value), "colour": colour,
            "interval": ends("low", "high"), "second": None,
            "more": [list(one) for one in more]}


def means(study: Study, metric: Metric) -> Chart | str:
    frame = study.means(metric.name)
    frame = frame[frame["mean"].notna()]
    if frame.empty:
        return f"{metric.name}: no run has it"
    rows = [
        _lane(study.labels[cell], row["mean"], row, "blue", [["seeds", number(row["seeds"])]])
        for cell, row in frame.iterrows()
    ]
    best, worst = frame["mean"].min(), frame["mean"].max()
    told = f"{with_unit(best, metric.unit)} to {with_unit(worst, metric.unit)}"
    title = f"{metric.name} of each cell: {told}"
    level = f"{100 * study.confidence:g} % intervals."
    return lanes("intervals", f"means-{metric.name}", title, rows, [],
                 _axis(metric.name, metric.unit, rows, zero=False), level)


def over_arms(study: Study, metric: Metric) -> Chart | None:
    """Means over the axis that is not compared, a line for each arm that is; over the only axis if
    its arms are numbers. None: there is no such axis, or there are more."""
    try:
        data = figures.study_curves_data(study, metric.name)
    except RunError:
        return None  # a third axis
    by, x = data.attrs["by"], data.attrs["x"]
    if x is None:
        by, x = None, by
    if x is None or len(study.axes[x]) < 2 or data["mean"].isna().all():
        return None
    places, is_log = arm_places(study.axes[x])
    if by is None and any(math.isnan(quantity(arm)) for arm in study.axes[x]):
        return None
    length, unit = (time_unit(float(data["mean"].max())) if metric.unit == "s"
                    else (1.0, metric.unit))
    data[["mean", "low", "high"]] /= length
    parts = {arm: rows.set_index(x) for arm, rows in data.groupby(by, observed=True)} if by else {
        metric.name: data.set_index(x)}
    series = {str(arm): Series(str(arm), CYCLE[number % len(CYCLE)])
              for number, arm in enumerate(parts)}
    ends = data[["mean", "low", "high"]].stack()
    room = 0.05 * (ends.max() - ends.min() or abs(ends.max()) or 1.0)
    low = ends.min() - room if is_flat(data["mean"]) or ends.min() < 0 else 0.0
    label = f"{metric.name} ({unit})" if unit not in ("", "1") else metric.name
    y = {"label": label, "unit": "" if unit == "1" else unit, "low": float(low),
         "high": float(ends.max() + room)}
    title = f"{metric.name} against {x}" + (f", by {by}" if by else "")
    level = f"{100 * study.confidence:g} % intervals."
    return arms(f"arms-{metric.name}", title, places.to_dict(), is_log, x, series,
                {str(arm): rows for arm, rows in parts.items()}, y, level)


def differences(study: Study, metric: Metric) -> Chart | str:
    frame = study.differences(metric.name)
    if frame.empty:
        return f"{metric.name} compared: there are no pairs"
    rows, clear = [], 0
    for cell, row in frame.iterrows():
        is_clear = row["verdict"] in ("less", "more")
        clear += is_clear
        ends = f"{row['percent']:+.1f} % [{row['percent_low']:+.1f}, {row['percent_high']:+.1f}]"
        more = [*([] if pd.isna(row["percent"]) else [["in percent", ends]]),
                ["pairs", number(row["pairs"])]]
        rows.append(_lane(study.labels[cell], row["difference"], row,
                          "vermilion" if is_clear else "muted", more))
    against = study.file["compare"]["against"]
    title = f"Against {against}: {clear} of {len(rows)} differ clearly in {metric.name}"
    note = "Seed by seed, value minus the baseline's. Grey: no difference is shown."
    axis = _axis(f"difference in {metric.name}", metric.unit, rows, zero=True)
    return lanes("intervals", f"differences-{metric.name}", title, rows, [], axis, note)


def _link(study: Study, cell: int, seed: int, beside: Path) -> str:
    """To the page of the run if it has one, else to its file; else nothing but the seed."""
    path = study.run_path(cell, seed)
    for target in (path.with_suffix(".html"), path):
        if target.exists():
            where = quote(os.path.relpath(target, beside))
            return f'<a href="{where}">{seed}</a>'
    return str(seed)


def grid(study: Study, beside: Path) -> str:
    """A row for each cell, with links to its runs."""
    rows = []
    for cell, runs in study.runs.groupby("cell"):
        done = runs[runs["is_ok"]]
        failed = runs.loc[~runs["is_ok"], "seed"]
        links = " ".join(_link(study, int(cell), int(seed), beside) for seed in done["seed"])
        rows.append([escape(study.labels[cell]), str(len(done)), " ".join(map(str, failed)) or "–",
                     links])
    return table(["cell", "runs", "failed seeds", "seeds, each a link to its run"], rows,
                 numeric=[1], is_html=True)


def study_page(folder: Path, beside: Path) -> str:
    """One file of HTML that tells of the study; links are relative to the folder `beside`."""
    study = Study(folder)
    left_out: list[str] = []
    sections = []
    for metric in study.metrics:
        curve = over_arms(study, metric)
        found: list[Chart | str] = [*([curve] if curve else []), means(study, metric)]
        if study.file.get("compare"):
            found.append(differences(study, metric))
        left_out.extend(one for one in found if isinstance(one, str))
        charts = [one for one in found if isinstance(one, Chart)]
        title = f"{metric.name}: {metric.doc}" if metric.doc else metric.name
        sections.append(Section(metric.name, title, charts, link=metric.name))
    if not study.metrics:
        left_out.append("Metrics: no figure differs between the runs")
    if not study.file.get("compare"):
        left_out.append("Differences: the study compares nothing")
    shown = [metric.name for metric in study.metrics]
    doubts = study.doubts[study.doubts["metric"].isin(shown)]
    if len(doubts):
        told = "".join(f"<li>{escape(f'{one.metric}, {study.labels[one.cell]}: {one.text}')}</li>"
                       for one in doubts.itertuples())
        sections.append(Section("doubts", "What these runs do not show", html=f"<ul>{told}</ul>"))
    text = f"<pre tabindex=0>{escape(study.text)}</pre>"
    sections.append(Section("grid", "The grid", html=grid(study, beside)))
    sections.append(Section("about", "The study as written", html=text))
    done, failed = int(study.runs["is_ok"].sum()), int((~study.runs["is_ok"]).sum())
    tiles = [
        Tile("Runs", number(done), f"{failed} failed" if failed else "none failed"),
        Tile("Cells", number(len(study.labels)), "combinations of arms"),
        Tile("Seeds", number(study.runs["seed"].nunique())),
        Tile("Host time", with_unit(study.runs["wall_seconds"].sum(), "s"), "of all runs together"),
    ]
    state = "" if study.is_complete else "Not complete: some runs are missing. "
    first = study.text.lstrip().splitlines()[0]
    question = first.lstrip("# ") if first.startswith("#") else ""
    return page(folder.resolve().name, state + question, tiles, sections, left_out)
