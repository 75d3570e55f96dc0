"""The charts of a run, from the data of its figures. Each function returns a chart, or the reason why the run
has none."""

from __future__ import annotations

import numpy as np
import pandas as pd

from orrery import figures
from orrery.figures.cluster import WAYS
from orrery.figures.control_plane import COLOURS as LEVEL_COLOURS
from orrery.figures.losses import LOSSES, MEANING
from orrery.figures.recoveries import STAGES
from orrery.report.charts import Chart, Series, curves, heat, lanes, numbers, time_axis, timeline
from orrery.report.downsample import spans_joined
from orrery.report.jobs import Jobs
from orrery.report.run_findings import quantiles
from orrery.report.words import job_title, number, span
from orrery.run import SECONDS_PER_DAY, Run
from orrery.style import BLACK, BLUE, CYCLE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

HEAT_COLUMNS = 360
JOBS_MAX = 25  # most lanes of jobs that held GPUs without progress
TEAMS_MAX = 7
CAUSES_MAX = 6
PARTS_MAX = 16  # most lanes of failed nodes and links
GAP = 1 / 2_000  # spans with a smaller gap, as a fraction of the run, are drawn as one


def losses(run: Run) -> Chart | str:
    shares = figures.losses_data(run)
    if shares.empty:
        return "Losses of GPU time: nothing was sampled"
    paints = LOSSES | {"idle": "idle"}
    series = {name: Series(name, paint, "area", MEANING[name]) for name, paint in paints.items()
              if name in shares and shares[name].max() > 0}
    return timeline("losses", "GPU time: useful work and losses", shares, series, run.end,
                    {"label": "share of all GPUs (%)", "unit": "%", "low": 0, "high": 100},
                    stack=True,
                    note="From the bottom: useful work, losses on allocated GPUs, idle GPUs, nodes "
                    "that are down.")


def utilisation(run: Run) -> Chart | str:
    use = figures.utilisation_data(run)
    if use.empty:
        return "GPU use: nothing was sampled"
    series = {way: Series(way, paint, "area" if way == "allocated" else "line")
              for way, paint in WAYS.items() if way in use}
    return timeline("utilisation", "GPU use in four ways", use, series, run.end,
                    {"label": "share of all GPUs (%)", "unit": "%", "low": 0, "high": 100},
                    note="Reported: as nvidia-smi shows it; power: above idle.")


def gantt(jobs: Jobs | str) -> Chart | str:
    if isinstance(jobs, str):
        return jobs
    if isinstance(jobs.gantt, str):
        return jobs.gantt
    left_out = jobs.gantt["leftOut"]
    note = (f"The {number(left_out)} smallest of the bars are left out. " if left_out else "")
    return Chart("gantt", "Jobs on the GPUs of the nodes", jobs.gantt,
                 f"{note}Drag a box to zoom into nodes as well, or press ] and [; click a job to "
                 "keep it highlighted. The chart also highlights the jobs that the table below lists.")


def queue_length(run: Run, what: str) -> Chart | str:
    waiting = figures.queue_length_data(run)[[what]]
    if waiting.empty:
        return f"Waiting {what}: nothing was sampled"
    series = {what: Series(what, SKY if what == "jobs" else BLUE, "area")}
    return timeline(f"queue-{what}", f"Waiting {what}", waiting, series, run.end,
                    {"label": f"pending {what}"}, peaks=True)


def cdf(run: Run, what: str) -> Chart | str:
    """The distribution of waits or completion times, of the same jobs as in /summary, so medians agree."""
    rows = figures.cdf_data(run, what)
    name = {"wait": "Wait until a job first computes", "jct": "From submission to the end"}[what]
    if rows.empty:
        return f"{name}: of no job is it known"
    median, most, ran = quantiles(run, what)
    percent = 100 * (np.arange(len(rows)) + 1) / len(rows)
    points = {what: (rows["seconds"].to_numpy(), percent)}
    chart = curves(f"cdf-{what}", name, points, {what: Series("jobs", BLUE)}, "time (logarithmic)",
                   {"label": "jobs (%)", "unit": "%", "low": 0, "high": 100})
    arrived = len(run.table("/jobs"))
    those = {"wait": "ran", "jct": "completed, or came to the end that a trace has"}[what]
    note = f"Of the {number(ran)} jobs that {those}; {number(arrived)} arrived."
    reported = f"half within {span(median)}, 99 % within {span(most)}"
    return Chart(chart.id, chart.title, chart.spec | {"notes": {"jobs": reported}}, note)


def heat_map(run: Run) -> Chart | str:
    grid = figures.heat_map_data(run, "allocation", bins=HEAT_COLUMNS)
    return heat("heat-allocation", "Allocation of each node", grid, run.end, "allocated")


def _fault_spans(run: Run) -> pd.DataFrame:
    """Failures of nodes and links, a row each: label of the lane, cause, begin, end, gpus, and whether it is
    over."""
    faults = run.table("/events/faults")
    nodes = run.table("/nodes").set_index("node")
    parts = [pd.DataFrame({
        "label": faults["node"].map(nodes["name"]).fillna("a node").astype(object),
        "what": faults["cause"].astype(object), "begin": faults["at"],
        "end": faults["repaired_at"], "gpus": faults["node"].map(nodes["gpus"]).fillna(0)})]
    if "/events/link_faults" in run:
        links = run.table("/events/link_faults")
        parts.append(pd.DataFrame({
            "label": links["name"].astype(object), "what": links["kind"].astype(object),
            "begin": links["from"], "end": links["to"], "gpus": 0.0}))
    rows = pd.concat(parts, ignore_index=True)
    rows["over"] = rows["end"].notna()
    rows["end"] = rows["end"].fillna(run.end)
    return rows


def failed(run: Run) -> Chart | str:
    """A lane for each node or link that failed, beginning with the one that was down longest."""
    rows = _fault_spans(run)
    if rows.empty:
        return "What failed: nothing did"
    common = rows["what"].value_counts()
    few = common.index[:CAUSES_MAX].tolist()
    rows["what"] = rows["what"].where(rows["what"].isin(few), "others")
    length = (rows["end"] - rows["begin"]).groupby(rows["label"]).sum()
    order = length.sort_values(ascending=False, kind="stable").index
    found = []
    for label in order[:PARTS_MAX]:
        part = rows[rows["label"] == label].sort_values("begin", kind="stable")
        spans = [{"what": one.what, "begin": one.begin, "end": one.end, "count": 1,
                  "gpus": one.gpus, "over": bool(one.over)} for one in part.itertuples()]
        found.append({"label": str(label), "spans": spans})
    names = few + (["others"] if len(common) > len(few) else [])
    paints = (VERMILION, BLUE, ORANGE, PURPLE, SKY, GREEN, GREY)
    series = [Series(str(name), paint) for name, paint in zip(names, paints)]
    more = (f"The {PARTS_MAX} of {len(order):,} that were down longest. "
            if len(order) > PARTS_MAX else "")
    chart = lanes("spans", "failed", "What failed, and for how long", found, series,
                  time_axis(run.end), f"{more}Arrows: not repaired in this run.")
    return Chart(chart.id, chart.title, chart.spec | {"counts": True, "partly": bool(more)},
                 chart.note)


def stuck(run: Run) -> Chart | str:
    rows = figures.stuck_data(run)
    if rows.empty:
        return "Stuck jobs: none held GPUs in vain"
    rows["lost"] = rows["gpus"] * (rows["end"] - rows["begin"])
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
                    "lost": part["lost"].iloc[first : last + 1].sum(),
                    "over": bool(part["over"].iloc[first : last + 1].all()),
                })
        name = rows.loc[rows["job"] == job, "name"].iloc[0]
        found.append({"label": job_title(name, job), "spans": spans})
    seen = set(rows["what"])
    series = [Series(what, paint) for what, paint in
              (("deadlocked", VERMILION), ("hung", PURPLE)) if what in seen]
    more = f"The worst {JOBS_MAX} of {len(lost):,} jobs. " if len(lost) > JOBS_MAX else ""
    note = f"{more}Arrows: never ended. Spans too close to tell apart are joined."
    chart = lanes("spans", "stuck", "GPUs held in vain", found, series, time_axis(run.end), note)
    return Chart(chart.id, chart.title, chart.spec | {"partly": bool(more)}, chart.note)


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
    return lanes("bars", "recoveries", "From a failure back to where the job was", rows, series, axis,
                 f"The mean of all recoveries, and the longest {len(worst)}, stage by stage.")


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
        ("429", VERMILION, "429, rejected"), ("lost", BLACK, "lost with a server"),
    ):
        if rates[column].any():
            series[column] = Series(name, paint)
    return timeline("control-plane", "Requests to the API servers", rates, series, run.end,
                    {"label": "requests (1/s)", "unit": "/s"}, stack=True)


def fragmentation(run: Run) -> Chart | str:
    free = figures.fragmentation_data(run)
    places = np.linspace(0, 1, len(free.columns)).round(3)
    series = {k: Series(f"{k} free", f"ramp:{place}", "area")
              for k, place in zip(free.columns, places) if free[k].any()}
    if not series:
        return "Fragmentation: no GPU was ever free"
    title = "Free GPUs by how many are free on their node"
    note = f"Sampled at {len(free):,} instants. A pod for k GPUs finds room on a node with k or more free."
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
    return timeline("teams", "GPUs that teams hold", frame, series, run.end, {"label": "GPUs allocated"}, stack=True)


def nodes_down(run: Run) -> Chart | str:
    down = run.timeline("cluster")[["nodes_down"]]
    if not len(down) or not down["nodes_down"].any():
        return "Failures: no node was down"
    series = {"nodes_down": Series("nodes down", VERMILION, "area")}
    return timeline("nodes-down", "Nodes down", down, series, run.end, {"label": "nodes"},
                    peaks=True)


def failures(run: Run) -> Chart | str:
    counted = figures.failures_data(run)
    if not counted["failures"].any() and not counted["recoveries"].any():
        return "Failures over time: there were none"
    period = "day" if counted.attrs["width"] == SECONDS_PER_DAY else "hour"
    series = {"failures": Series("node failures", VERMILION, "area"),
              "recoveries": Series("jobs recovered", GREEN)}
    title = f"Nodes that failed and jobs that recovered each {period}"
    return timeline("failures", title, counted, series, run.end, {"label": f"count a {period}"})


def fairness_rows(run: Run) -> pd.DataFrame | None:
    """GPU time and waits of each team; None without jobs."""
    return figures.fairness_data(run) if len(run.table("/jobs")) else None
