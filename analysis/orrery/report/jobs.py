"""The jobs of a run for its page: columns of the table, and GPUs of each job for the Gantt chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from orrery import figures
from orrery.report.packing import packed, short
from orrery.report.words import number
from orrery.run import Run

LEVELS = 2**24 - 1  # times in the packed data are integers from 0 (start of the run) to this (its end)
BARS_MAX = 300_000
TEAMS_MAX = 6  # teams with a colour of their own
OUTCOME_COLOURS = {
    "completed": "blue", "failed": "vermilion", "cancelled": "orange", "running": "green",
    "pending": "sky", "starting": "yellow", "restarting": "purple", "hung": "ink",
}
TEAM_COLOURS = ("blue", "orange", "green", "vermilion", "sky", "purple")
HELD = ("lost_gpu_s", "exchange_gpu_s", "checkpoint_gpu_s", "restore_gpu_s",
        "scheduling_held_gpu_s", "hung_gpu_s", "idle_gpu_s")


@dataclass(frozen=True)
class Jobs:
    """The jobs of a page: the spec of the table; the spec of the Gantt chart, or the reason why there is
    none; and the packed columns of both."""

    table: dict[str, Any]
    gantt: dict[str, Any] | str
    data: str


def _coded(values: pd.Series) -> tuple[np.ndarray, list[str]]:
    """For each value the index of its name, and the sorted names. So indices sort as names do."""
    names, codes = np.unique(values.astype(str).to_numpy(object), return_inverse=True)
    return codes.astype(np.uint32), names.tolist()


def _levels(seconds: pd.Series | np.ndarray, end: float) -> np.ndarray:
    part = np.nan_to_num(np.asarray(seconds, float) / (end or 1.0), nan=1.0)
    return np.round(np.clip(part, 0, 1) * LEVELS).astype(np.uint32)


def _column(name: str, title: str, unit: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "title": title, "unit": unit} | more


def _table(jobs: pd.DataFrame, end: float) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The specs of the table's columns, and the values of all columns by name."""
    kept: dict[str, Any] = {"job": jobs["job"].to_numpy().astype(np.uint32)}
    shown = [_column("name", "job", text=True)]
    for name in ("name", "team", "user", "outcome", "cause"):
        codes, names = _coded(jobs[name])
        if name not in ("name", "outcome") and len(names) < 2:
            continue  # a column with one value only is of no use
        kept |= {name: codes, f"{name}_names": names}
        if name != "name":
            shown.append(_column(name, name, text=True))
    over = (jobs["ended"] - jobs["submitted"]).where(jobs["ended"].notna())
    ran = jobs["run"].where(jobs["running"].notna())
    numbers = {
        "gpus": (_column("gpus", "GPUs"), jobs["gpus"]),
        "pods": (_column("pods", "pods"), jobs["pods"]),
        "submitted": (_column("submitted", "submitted", "moment"), jobs["submitted"]),
        "wait": (_column("wait", "waited", "s"), jobs["wait"]),
        "ran": (_column("ran", "ran", "s"), ran),
        "over": (_column("over", "submitted to end", "s"), over),
        "restarts": (_column("restarts", "restarts"), jobs["restarts"]),
        "useful": (_column("useful", "useful", "GPU s"), jobs["useful_gpu_s"]),
        "wasted": (_column("wasted", "not useful", "GPU s"), jobs[list(HELD)].sum(axis=1)),
    }
    for name, (column, values) in numbers.items():
        shown.append(column)
        kept[name] = short(values.to_numpy(float))
    kept["submitted"] = jobs["submitted"].to_numpy(np.float32)
    kept["from"] = _levels(jobs["submitted"], end)
    kept["to"] = _levels(jobs["ended"], end)
    return shown, kept


def _bars(run: Run, jobs: pd.DataFrame) -> tuple[dict[str, Any], int]:
    """A bar for each block of GPUs that a pod held, and how many bars with the fewest GPU seconds are left
    out."""
    held = figures.gantt_data(run)
    held["end"] = held["end"].fillna(run.end)
    area = (held["end"] - held["begin"]) * held["gpus"]
    left_out = max(0, len(held) - BARS_MAX)
    if left_out:
        held = held.loc[area.sort_values(kind="stable").index[left_out:]]
    rows = pd.Series(np.arange(len(jobs)), index=jobs["job"].to_numpy())
    held = held.assign(row=held["job"].map(rows))
    held = held[held["row"].notna()].sort_values(["row", "begin", "lane"], kind="stable")
    return {
        "bar_row": held["row"].to_numpy().astype(np.uint32),
        "bar_lane": held["lane"].to_numpy().astype(np.uint32),
        "bar_gpu": held["gpu"].to_numpy().astype(np.uint8),
        "bar_gpus": held["gpus"].to_numpy().astype(np.uint8),
        "bar_begin": _levels(held["begin"], run.end),
        "bar_end": _levels(held["end"], run.end),
    }, left_out


def _sizes(gpus: pd.Series) -> list[dict[str, Any]]:
    """Classes of jobs by size. Their bounds are powers of two, four or sixteen, so that there are at most
    eight classes. Classes without jobs are left out."""
    most = max(1, int(gpus.max()))
    step = 2 if most <= 128 else 4 if most <= 8_192 else 16
    bounds = [1]
    while bounds[-1] < most and len(bounds) < 8:
        bounds.append(bounds[-1] * step)
    bounds[-1] = max(bounds[-1], most)
    found = []
    for low, high in zip([0, *bounds], bounds):
        if not ((gpus > low) & (gpus <= high)).any() and not (low == 0 and (gpus <= 0).any()):
            continue
        name = number(high) if high == low + 1 else f"{number(low + 1)} to {number(high)}"
        found.append({"name": f"{name} GPU{'s' if high > 1 else ''}", "most": high})
    return found


def _colours(jobs: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The ways to colour jobs: by team, size or end. Each way has classes, with their colours."""
    ways: dict[str, list[dict[str, Any]]] = {}
    use = jobs.groupby("team")[["useful_gpu_s"]].sum()["useful_gpu_s"]
    teams = use.sort_values(ascending=False, kind="stable").index.tolist()
    if len(teams) > 1:
        few = teams[:TEAMS_MAX]
        ways["team"] = [{"name": team or "(none)", "value": team, "colour": paint}
                        for team, paint in zip(few, TEAM_COLOURS)]
        if len(teams) > len(few):
            ways["team"].append({"name": "others", "value": None, "colour": "muted"})
    ways["size"] = _sizes(jobs["gpus"])
    seen = set(jobs["outcome"].astype(str))
    ways["outcome"] = [{"name": outcome, "value": outcome, "colour": paint}
                       for outcome, paint in OUTCOME_COLOURS.items() if outcome in seen]
    return ways


def _rows(run: Run) -> dict[str, Any]:
    """The nodes in the order of the file, and the position of each when they are sorted by leaf."""
    nodes = run.table("/nodes")
    order = nodes.sort_values("leaf", kind="stable").index.to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return {
        "rows": nodes["name"].tolist(), "gpus": nodes["gpus"].tolist(),
        "leaf": nodes["leaf"].tolist(), "byLeaf": place.tolist(),
    }


def jobs_of(run: Run, x: dict[str, Any]) -> Jobs | str:
    """Data for showing the jobs of a run on the time axis `x`; or the reason why there are none."""
    jobs = run.table("/jobs").sort_values("job", kind="stable", ignore_index=True)
    if jobs.empty:
        return "Jobs: none has arrived"
    columns, kept = _table(jobs, run.end)
    bars, left_out = _bars(run, jobs)
    table = {"columns": columns, "end": run.end, "levels": LEVELS}
    gantt: dict[str, Any] | str = "Gantt chart: no pod held a GPU of a node"
    if len(bars["bar_row"]):
        gantt = {"kind": "gantt", "x": x, "y": {}, "ways": _colours(jobs), "leftOut": left_out,
                 "series": []} | _rows(run)
        kept |= bars
    deltas = ["job", "from", *(name for name in bars if name in (
        "bar_row", "bar_lane", "bar_begin", "bar_end"))]
    return Jobs(table, gantt, packed(kept, deltas))
