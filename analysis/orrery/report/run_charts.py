"""The charts of a run, from the data of its figures. Each function gives a chart, or the reason why
the run has none."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex

from orrery import figures
from orrery.figures.cluster import WAYS
from orrery.figures.control_plane import COLOURS as LEVEL_COLOURS
from orrery.figures.recoveries import STAGES
from orrery.report.charts import Chart, Series, curves, heat, lanes, numbers, time_axis, timeline
from orrery.report.downsample import spans_joined
from orrery.report.words import number, with_unit
from orrery.run import SECONDS_PER_DAY, Run
from orrery.style import BLACK, BLUE, CYCLE, GREEN, GREY, PURPLE, SKY, VERMILION

HEAT_COLUMNS = 360
JOBS_MAX = 25  # of those that held GPUs in vain
TEAMS_MAX = 7
GAP = 1 / 2_000  # of the run: spans that are closer look like one


def utilisation(run: Run) -> Chart | str:
    use = figures.utilisation_data(run)
    if use.empty:
        return "GPU use: nothing was sampled"
    series = {
        way: Series(way, paint, "area" if way == "allocated" else "line",
                    f"{use[way].mean():.1f} %")
        for way, paint in WAYS.items() if way in use
    }
    told = ["allocated", "useful"] if "useful" in use else ["allocated", "reported"]
    means = ", ".join(f"{use[way].mean():.1f} % {way}" for way in told)
    return timeline("utilisation", f"GPU use told four ways: {means}", use, series, run.end,
                    {"label": "share of all GPUs (%)", "unit": "%", "low": 0, "high": 100})


def queue_length(run: Run, what: str) -> Chart | str:
    waiting = figures.queue_length_data(run)[[what]]
    if waiting.empty:
        return f"Waiting {what}: nothing was sampled"
    most, mean = waiting[what].max(), waiting[what].mean()
    title = f"Waiting {what}: {mean:,.3g} in the mean, {most:,.0f} at most"
    series = {what: Series(what, SKY if what == "jobs" else BLUE, "area")}
    return timeline(f"queue-{what}", title, waiting, series, run.end, {"label": f"pending {what}"})


def cdf(run: Run, what: str) -> Chart | str:
    rows = figures.cdf_data(run, what)
    name = {"wait": "Wait until a job first computes", "jct": "From submission to completion"}[what]
    if rows.empty:
        return f"{name}: of no job is it known"
    half = rows.loc[rows["percent"] >= 50, "seconds"]
    median = "fewer than half of the jobs ever did"
    if len(half):
        median = f"half of the jobs within {with_unit(half.iloc[0], 's')}"
    points = {what: (rows["seconds"].to_numpy(), rows["percent"].to_numpy())}
    return curves(f"cdf-{what}", f"{name}: {median}", points, {what: Series("jobs", BLUE)},
                  "time (logarithmic)", {"label": "jobs (%)", "unit": "%", "low": 0, "high": 100},
                  "Of all jobs that arrived; those that never did keep the curve below 100 %.")


def heat_map(run: Run, what: str) -> Chart | str:
    if what == "health" and not len(run.table("/events/faults")):
        return "Health of nodes: none failed"
    grid = figures.heat_map_data(run, what, bins=HEAT_COLUMNS)
    mean = grid.to_numpy().mean()
    title, label, shown = {
        "allocation": (f"Allocation of each node: {mean:.1f} % of GPU time", "allocated", "mean"),
        "health": (f"Health of each node: no fault for {mean:.2f} % of the time", "healthy",
                   "lowest"),
    }[what]
    return heat(f"heat-{what}", title, grid, run.end, label, shown)


def stuck(run: Run) -> Chart | str:
    rows = figures.stuck_data(run)
    if rows.empty:
        return "Stuck jobs: none held GPUs in vain"
    rows["lost"] = rows["gpus"] * (rows["end"] - rows["begin"]) / 3600
    lost = rows.groupby("job")["lost"].sum().sort_values(ascending=False, kind="stable")
    found = []
    for job in lost.index[:JOBS_MAX]:
        spans = []
        for what, part in rows[rows["job"] == job].groupby("what"):
            part = part.sort_values("begin", kind="stable")
            begin, end = part["begin"].to_numpy(), part["end"].to_numpy()
            for first, last in spans_joined(begin, end, GAP * run.end):
                spans.append({
                    "what": what, "begin": begin[first], "end": end[first : last + 1].max(),
                    "count": last - first + 1, "gpus": part["gpus"].iloc[first : last + 1].max(),
                    "over": bool(part["over"].iloc[first : last + 1].all()),
                })
        name = rows.loc[rows["job"] == job, "name"].iloc[0]
        found.append({"label": f"{name} (job {job})", "spans": spans})
    hours = rows.groupby("what")["lost"].sum()
    series = [Series(what, paint, note=f"{number(hours[what])} GPU h")
              for what, paint in (("deadlocked", VERMILION), ("hung", PURPLE)) if what in hours]
    told = " and ".join(f"{number(hours[one.name])} GPU h {one.name}" for one in series)
    more = f"The worst {JOBS_MAX} of {len(lost):,} jobs. " if len(lost) > JOBS_MAX else ""
    note = f"{more}Arrows: it never ended. Neighbours too close to tell apart are one."
    return lanes("spans", "stuck", f"GPUs held in vain: {told}", found, series, time_axis(run.end),
                 note)


def recoveries(run: Run) -> Chart | str:
    frame = figures.recoveries_data(run)
    if frame.empty:
        return "Recoveries: no job failed"
    stages = list(STAGES)
    mean = frame[stages].mean()
    worst = frame.sort_values("total", ascending=False, kind="stable").head(12)
    rows = [{"label": f"mean of {len(frame):,}", "values": numbers(mean.fillna(0))}]
    rows += [
        {"label": f"{row['name']}, {row['gpus']:,} GPUs", "values": numbers(row[stages].fillna(0))}
        for _, row in worst.iterrows()
    ]
    axis = {"label": "time since the failure", "scale": "time", "own": True, "low": 0,
            "high": max(1.0, 1.03 * worst["total"].max())}
    series = [Series(stage, paint) for stage, (_, paint) in STAGES.items()]
    title = f"From a failure back to where the job was: {with_unit(mean.sum(), 's')} in the mean"
    return lanes("bars", "recoveries", title, rows, series, axis,
                 f"The mean, and the longest {len(worst)}, stage by stage.")


def control_plane(run: Run) -> Chart | str:
    if "/timeline/control_plane" not in run:
        return "Control-plane traffic: recorded only with control_plane.level: full"
    rates = figures.control_plane_data(run)
    levels = [column for column in rates.columns if column not in ("429", "lost")]
    series = {
        level: Series(str(level), paint, "area") for level, paint in zip(levels, LEVEL_COLOURS)
    }
    rates["all answered"] = rates[levels].sum(axis=1)
    series["all answered"] = Series("all answered", GREY)
    for column, paint, name in (
        ("429", VERMILION, "429, turned away"), ("lost", BLACK, "lost with a server"),
    ):
        if rates[column].any():
            series[column] = Series(name, paint)
    peak = rates["all answered"].max()
    return timeline("control-plane", f"Requests to the API servers: up to {peak:,.0f} a second",
                    rates, series, run.end, {"label": "requests (1/s)", "unit": "/s"}, stack=True)


def fragmentation(run: Run) -> Chart | str:
    free = figures.fragmentation_data(run)
    whole = 100 * free[free.columns[-1]].sum() / max(1, free.to_numpy().sum())
    shades = colormaps["cividis"](np.linspace(0, 1, len(free.columns)))
    series = {
        k: Series(f"{k} free", to_hex(shade), "area")
        for k, shade in zip(free.columns, shades) if free[k].any()
    }
    if not series:
        return "Fragmentation: no GPU was ever free"
    title = f"Free GPUs by how many are free on their node: {whole:.0f} % on free nodes"
    note = f"At {len(free):,} instants. Pods for k GPUs find room where k or more are free."
    return timeline("fragmentation", title, free, series, run.end, {"label": "free GPUs"},
                    stack=True, note=note)


def teams(run: Run) -> Chart | str:
    if "/timeline/teams" not in run or not len(run.table("/timeline/teams")):
        return "Teams over time: nothing was sampled"
    each = figures.fairness_data(run)
    use = run.table("/timeline/teams")
    use["team"] = use["team"].where(use["team"] != "", "(none)")
    held = use.pivot_table(index="time", columns="team", values="gpus_allocated", fill_value=0)
    most = each["gpu_hours"].sort_values(ascending=False, kind="stable").index
    few = [team for team in most[:TEAMS_MAX] if team in held]
    frame = held[few].copy()
    if len(most) > TEAMS_MAX:
        frame["others"] = held.drop(columns=few).sum(axis=1)
    series = {
        team: Series(str(team), BLACK if team == "others" else CYCLE[place], "area")
        for place, team in enumerate(frame.columns)
    }
    jain = each.attrs["jain"]
    title = f"GPUs that teams hold; Jain's index of their slowdowns is {jain:.3f}"
    return timeline("teams", title, frame, series, run.end, {"label": "GPUs allocated"}, stack=True)


def nodes_down(run: Run) -> Chart | str:
    down = run.timeline("cluster")[["nodes_down"]]
    if not len(down) or not down["nodes_down"].any():
        return "Failures: no node was down"
    title = f"Nodes down: {down['nodes_down'].mean():,.3g} in the mean, " \
            f"{down['nodes_down'].max():,.0f} at most"
    series = {"nodes_down": Series("nodes down", VERMILION, "area")}
    return timeline("nodes-down", title, down, series, run.end, {"label": "nodes"})


def failures(run: Run) -> Chart | str:
    counted = figures.failures_data(run)
    if not counted["failures"].any() and not counted["recoveries"].any():
        return "Failures over time: there were none"
    period = "day" if counted.attrs["width"] == SECONDS_PER_DAY else "hour"
    series = {"failures": Series("node failures", VERMILION, "area"),
              "recoveries": Series("jobs recovered", GREEN)}
    failed, recovered = counted["failures"].mean(), counted["recoveries"].mean()
    means = f"{failed:.3g} failures, {recovered:.3g} recoveries"
    title = f"Nodes that failed and jobs that recovered each {period}; means: {means}"
    return timeline("failures", title, counted, series, run.end, {"label": f"count a {period}"})


def fairness_rows(run: Run) -> pd.DataFrame | None:
    """What each team got; None without jobs."""
    return figures.fairness_data(run) if len(run.table("/jobs")) else None
