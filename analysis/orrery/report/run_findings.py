"""Findings of a run, in sentences: one text for each section of its page."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from orrery import figures
from orrery.report.words import count, job_title, listed, number, sentence, span, with_unit
from orrery.run import Run

OVER = ("completed", "failed", "cancelled")
SHARE_LEAST = 0.05  # percent; smaller losses are not named


def mean_over_time(frame: pd.DataFrame) -> pd.Series:
    """The mean over time. Each row counts for the time since the previous row."""
    lengths = np.diff(frame.index.to_numpy(float), prepend=0.0)
    total = lengths.sum()
    return frame.mul(lengths, axis=0).sum() / total if total else frame.mean()


def joined(*sentences: str) -> str:
    return " ".join(sentence(one) for one in sentences if one)


def use(run: Run) -> str:
    shares = figures.losses_data(run)
    if shares.empty:
        return ""
    mean = mean_over_time(shares)
    main = mean.index[0]
    rest = mean.iloc[1:].sort_values(ascending=False, kind="stable")
    parts = [f"{name} {share:.1f} %" for name, share in rest.items() if share >= SHARE_LEAST]
    reported = {"useful": "was useful: compute that no failure undid",
            "computing": "was compute so far"}[main]
    return joined(f"{mean.iloc[0]:.1f} % of all GPU time {reported}",
                  f"the rest was {listed(parts)}" if parts else "")


def jobs(run: Run) -> str:
    table = run.table("/jobs")
    ends = table["outcome"].astype(str).value_counts()
    parts = [f"{number(ends[end])} {end}" for end in OVER[1:] if ends.get(end, 0)]
    left = len(table) - sum(ends.get(end, 0) for end in OVER)
    if left:
        parts.append(f"{number(left)} {'was' if left == 1 else 'were'} not over at the end")
    done = f"{number(ends.get('completed', 0))} of {count(len(table), 'jobs')} completed"
    useful = table["useful_gpu_s"].sort_values(ascending=False)
    few = max(1, math.ceil(0.01 * len(useful)))
    share = 100 * useful.iloc[:few].sum() / useful.sum() if useful.sum() > 0 else 0.0
    largest = (f"the largest {few} of them, 1 %, did {share:.0f} % of the useful work"
               if len(table) >= 100 and share >= 10 else "")
    return joined(", ".join([done, *parts]), largest)


def _half(run: Run, what: str) -> tuple[float, float, int]:
    """Median and 99th percentile of "wait" or "jct", and the number of jobs that have a value."""
    seconds = figures.cdf_data(run, what)["seconds"].to_numpy()
    if not len(seconds):
        return math.nan, math.nan, 0
    ranks = [max(0, -(-len(seconds) * percent // 100) - 1) for percent in (50, 99)]
    return float(seconds[ranks[0]]), float(seconds[ranks[1]]), len(seconds)


def quantiles(run: Run, what: str) -> tuple[float, float, int]:
    """As _half(), but a complete run has the quantiles of `/summary`, which are also at the top of the
    page."""
    median, most, ran = _half(run, what)
    if run.complete:
        summary, name = run.summary, {"wait": "wait", "jct": "jct"}[what]
        median = summary.get(f"{name}_p50", median)
        most = summary.get(f"{name}_p99", most)
    return float(median), float(most), ran


def waiting(run: Run) -> str:
    median, most, ran = quantiles(run, "wait")
    arrived = len(run.table("/jobs"))
    if not ran:
        return joined(f"none of {count(arrived, 'jobs')} ever ran") if arrived else ""
    never = arrived - ran
    queue = figures.queue_length_data(run)["jobs"]
    peak = (f"up to {count(queue.max(), 'jobs')} waited at a time, "
            f"{number(mean_over_time(queue.to_frame()).iloc[0], 3)} on average"
            if len(queue) and queue.max() else "")
    rest = f"{number(never)} of all {number(arrived)} never ran" if never else ""
    return joined(f"half of the {count(ran, 'jobs')} that ran waited at most {span(median)}, 1 % "
                  f"longer than {span(most)}", rest, peak)


def stuck(run: Run) -> str:
    rows = figures.stuck_data(run)
    rows["lost"] = rows["gpus"] * (rows["end"] - rows["begin"])
    if rows.empty:
        return ""
    parts = [f"{with_unit(hours, 'GPU s')} {what}"
             for what, hours in rows.groupby("what")["lost"].sum().items()]
    each = rows.groupby("job")["lost"].sum()
    worst = each.idxmax()
    name = rows.loc[rows["job"] == worst, "name"].iloc[0]
    going = int((~rows["over"]).groupby(rows["job"]).any().sum())
    return joined(
        f"{count(len(each), 'jobs')} held GPUs in vain: {listed(parts)}",
        f"the largest part, {with_unit(each.max(), 'GPU s')}, is of {job_title(name, worst)}"
        if len(each) > 1 else "",
        f"{count(going, 'jobs')} {'was' if going == 1 else 'were'} stuck to the end" if going else "")


def health(run: Run) -> str:
    faults = run.table("/events/faults")
    links = run.table("/events/link_faults") if "/events/link_faults" in run else []
    cables = f"{count(len(links), 'faults')} of cables and switches" if len(links) else ""
    if faults.empty:
        return joined(f"no node failed{', but there were ' + cables if cables else ''}")
    nodes = run.table("/nodes").set_index("node")
    causes = faults["cause"].where(faults["cause"] != "list", "listed in the scenario")
    common = causes.value_counts()
    often = faults["node"].value_counts()
    down = 100 * nodes["downtime"].sum() / (run.end * len(nodes)) if run.complete else math.nan
    worst = (f"node {nodes['name'].get(often.index[0], '')} failed most often, "
             f"{number(often.iloc[0])} times" if often.iloc[0] > 1 else "")
    kinds = f", {number(common.iloc[0])} of them as {common.index[0]}" if len(common) > 1 else ""
    hit = int((faults["jobs_hit"] > 0).sum())
    return joined(
        f"{count(len(faults), 'faults')} took {count(len(often), 'nodes')} down{kinds}",
        f"{number(hit)} of the faults hit jobs", worst,
        f"nodes were down for {number(down, 2)} % of their time" if math.isfinite(down) else "",
        cables and f"there were {cables}")


def recovery(run: Run) -> str:
    frame = figures.recoveries_data(run)
    if frame.empty:
        return ""
    stages = [name for name in frame.columns if name not in (
        "job", "name", "attempt", "gpus", "failed", "total")]
    mean = frame[stages].fillna(0).mean()
    never = int(frame[stages[-1]].isna().sum())
    return joined(
        f"after {count(len(frame), 'stops')} jobs took {span(mean.sum())} on average until they "
        f"were where they had been",
        f"the longest stage was \"{mean.idxmax()}\", {span(mean.max())}",
        f"{number(never)} never got there in this run" if never else "")


def teams(run: Run) -> str:
    if run.table("/jobs").empty:
        return ""
    each = figures.fairness_data(run)
    if len(each) < 2:
        return ""
    most = each["gpu_hours"].idxmax()
    slow, fast = each["slowdown"].idxmax(), each["slowdown"].idxmin()
    jain = each.attrs["jain"]
    spread = (f"slowdowns reach from {each['slowdown'].min():.3g} ({fast}) to "
              f"{each['slowdown'].max():.3g} ({slow}); Jain's index of them is {jain:.3f}, where 1 "
              "is even" if each["slowdown"].notna().sum() > 1 else "")
    return joined(f"team {most} did {each['share'].max():.0f} % of the useful work of {len(each)} teams",
                  spread)


def control(run: Run) -> str:
    if "/timeline/control_plane" not in run:
        return ""
    rates = figures.control_plane_data(run)
    levels = [column for column in rates.columns if column not in ("429", "lost")]
    peak = rates[levels].sum(axis=1).max()
    text = [f"API servers answered up to {number(peak, 3)} requests a second"]
    if run.complete:
        summary = run.summary
        if math.isfinite(summary.get("api_latency_p99", math.nan)):
            text.append(f"99 % of all answers came within {span(summary['api_latency_p99'])}")
        refused = int(summary.get("api_too_many", 0))
        if refused:
            text.append(f"{count(refused, 'requests')} got 429")
    return joined(*text)
