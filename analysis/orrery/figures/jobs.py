"""Jobs: their waits and times to completion, the nodes of their pods, and when they were stuck."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from orrery.run import Run
from orrery.style import BLACK, CYCLE, PURPLE, VERMILION, axes_for, drawing, tidy, time_unit

TITLES = {"wait": "Wait until a job first computes", "jct": "From submission to completion"}
NAMES_MAX = 40  # with more lanes, none is named
SPANS = {  # ticks of a logarithmic axis of seconds
    0.001: "1 ms", 0.01: "10 ms", 0.1: "0.1 s", 1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min",
    3_600: "1 h", 36_000: "10 h", 86_400: "1 d", 864_000: "10 d",
}


def cdf_data(runs: Run | Sequence[Run], what: str = "wait") -> pd.DataFrame:
    """Rows (run, seconds, percent): `percent` of all arrived jobs waited at most `seconds` until they ran
    ("wait"), or reached their end within this time ("jct"). As in /summary, a job reaches its end when it
    completes, or comes to the end that its trace or its shape gives. Jobs that never ran, or did not reach
    their end, keep the curve below 100."""
    if what not in TITLES:
        raise ValueError(f"'{what}' is neither 'wait' nor 'jct'")
    parts = []
    for run in [runs] if isinstance(runs, Run) else runs:
        jobs = run.table("/jobs")
        values = jobs["wait"].where(jobs["running"].notna())
        if what == "jct":
            values = (jobs["ended"] - jobs["submitted"]).where(_came_to_its_end(run, jobs))
        seconds = np.sort(values.dropna().to_numpy())
        percent = 100 * (np.arange(len(seconds)) + 1) / max(1, len(jobs))
        parts.append(pd.DataFrame({"run": run.name, "seconds": seconds, "percent": percent}))
    return pd.concat(parts, ignore_index=True)


def _came_to_its_end(run: Run, jobs: pd.DataFrame) -> pd.Series:
    """Whether the job completed, or reached the failure or cancellation that its trace or its shape gives."""
    is_done = jobs["outcome"] == "completed"
    sources = (run.meta.resolved.get("workload") or {}).get("sources") or []
    if not any(one.get("kind") == "trace" or (one.get("shape") or {}).get("kind") == "preset"
               for one in sources):
        return is_done
    recorded = jobs["cause"].isin(["error", "cancelled", "time_limit", "node_failed"])
    return is_done | (recorded & jobs["outcome"].isin(["failed", "cancelled"]))


@drawing
def cdf(runs: Run | Sequence[Run], what: str = "wait", axis: Axes | None = None) -> Axes:
    """Draws a step curve for each run over a logarithmic time axis."""
    axis = axes_for(axis)
    runs = [runs] if isinstance(runs, Run) else list(runs)
    curves = [cdf_data(run, what) for run in runs]
    rows = pd.concat(curves, ignore_index=True)
    positive = rows.loc[rows["seconds"] > 0, "seconds"]
    left = max(1e-3, positive.min()) if len(positive) else 1.0
    right = max(10 * left, 1.3 * rows["seconds"].max()) if len(rows) else 10.0
    for number, (run, curve) in enumerate(zip(runs, curves)):
        name = run.name
        seconds = np.concatenate([[left], curve["seconds"].clip(lower=left), [right]])
        percent = np.concatenate([[0], curve["percent"], [curve["percent"].max()]])
        percent = np.nan_to_num(percent)  # NaN comes from a run without such jobs
        half = curve.loc[curve["percent"] >= 50, "seconds"]
        label = f"{name}: half within {_span(half.iloc[0])}" if len(half) else f"{name}: fewer than half"
        axis.step(seconds, percent, where="post", color=CYCLE[number % len(CYCLE)], label=label)
    axis.set_xscale("log")
    axis.set_xticks(list(SPANS), list(SPANS.values()))
    axis.minorticks_off()
    axis.set_xlim(left, right)
    axis.set_ylim(0, 102)
    axis.set_xlabel("time")
    axis.set_ylabel("jobs (%)")
    axis.set_title(TITLES[what], loc="left")
    axis.legend(frameon=False, loc="best")
    tidy(axis, "both")
    return axis


def _span(seconds: float) -> str:
    length, unit = time_unit(seconds)
    return f"{seconds / length:.3g} {unit}"


def _runs_of_bits(mask: int) -> list[tuple[int, int]]:
    """(first bit, number of bits) of each sequence of ones in the mask."""
    found, first = [], None
    for bit in range(mask.bit_length() + 1):
        if mask >> bit & 1:
            first = bit if first is None else first
        elif first is not None:
            found.append((first, bit - first))
            first = None
    return found


def gantt_data(run: Run, by: str = "node") -> pd.DataFrame:
    """One row for each block of adjacent GPUs that a pod held: job, name, team, node, leaf, gpu (the first
    one), gpus, begin and end in seconds, and lane. The lane is the position of the node from the top: in the
    order of the table /nodes, or sorted by leaf with `by="leaf"`."""
    if by not in ("node", "leaf"):
        raise ValueError(f"'{by}' is neither 'node' nor 'leaf'")
    pods = run.table("/pods").drop(columns="end")
    pods = pods.rename(columns={"gpus": "mask", "bound": "begin", "ended": "end"})
    pods = pods[pods["begin"].notna() & (pods["node"] >= 0)]
    blocks = [
        (mask, first, count)
        for mask in sorted(pods["mask"].unique())
        for first, count in _runs_of_bits(int(mask))
    ]
    pods = pods.merge(pd.DataFrame(blocks, columns=["mask", "gpu", "gpus"]), on="mask")
    jobs = run.table("/jobs").set_index("job")
    pods = pods.join(jobs[["name", "team"]], on="job")
    nodes = run.table("/nodes")
    order = nodes.sort_values("leaf", kind="stable") if by == "leaf" else nodes
    lanes = order.set_index("node")[["leaf"]].assign(lane=range(len(order)))
    pods = pods.join(lanes, on="node")
    columns = ["job", "name", "team", "node", "leaf", "lane", "gpu", "gpus", "begin", "end"]
    return pods.sort_values(["begin", "lane", "gpu"], kind="stable", ignore_index=True)[columns]


@drawing
def gantt(run: Run, by: str = "node", axis: Axes | None = None) -> Axes:
    """Draws a band for each node, with its GPUs from top to bottom, and the jobs in colours."""
    axis = axes_for(axis, 4.2)
    bars = gantt_data(run, by)
    nodes = run.table("/nodes")
    scale, unit = time_unit(run.end)
    tall = 0.86 / max(1, nodes["gpus"].max())
    top = bars["lane"] + 0.07 + bars["gpu"] * tall
    low = top + bars["gpus"] * tall
    begin, end = bars["begin"] / scale, bars["end"].fillna(run.end) / scale
    corners = np.stack([[begin, end, end, begin], [top, top, low, low]]).transpose(2, 1, 0)
    codes = pd.factorize(bars["job"])[0]
    many = len(bars) > 5_000
    axis.add_collection(PolyCollection(
        corners, facecolors=[CYCLE[c % len(CYCLE)] for c in codes], edgecolors="white",
        linewidths=0 if many else 0.4, rasterized=many,
    ))
    axis.set_xlim(0, run.end / scale)
    axis.set_ylim(len(nodes), 0)
    _name_lanes(axis, nodes, by)
    axis.set_xlabel(f"simulated time ({unit})")
    axis.set_title("Jobs on their GPUs; colours come again", loc="left")
    tidy(axis, "x")
    return axis


def _name_lanes(axis: Axes, nodes: pd.DataFrame, by: str) -> None:
    if by == "leaf":
        sizes = nodes.groupby("leaf").size()
        ends = sizes.cumsum()
        axis.hlines(ends, 0, 1, transform=axis.get_yaxis_transform(), color=BLACK, lw=0.7)
        if len(sizes) <= NAMES_MAX:
            axis.set_yticks(ends - sizes / 2, [f"leaf {leaf}" for leaf in sizes.index])
            axis.tick_params("y", length=0)
        axis.set_ylabel("nodes by leaf switch")
    elif len(nodes) <= NAMES_MAX:
        axis.set_yticks(np.arange(len(nodes)) + 0.5, nodes["name"])
    else:
        axis.set_ylabel("nodes")


def stuck_data(run: Run) -> pd.DataFrame:
    """One row for each time that a job held GPUs without progress: what ("deadlocked" or "hung"), job, name,
    begin, end, gpus and over. A time that never ended has the end of the run as `end`, and False as
    `over`."""
    jobs = run.table("/jobs").set_index("job")["name"]
    members = run.table("/events/deadlock_members")
    failures = run.table("/events/recoveries")
    failures = failures[failures["rank"] < 0]  # a row with a rank stopped only one pod
    # A hang ends when the failure is detected, because the pods end then.
    parts = [
        pd.DataFrame({"what": "deadlocked", "job": members["job"], "begin": members["joined"],
                      "end": members["left"], "gpus": members["gpus_held"]}),
        pd.DataFrame({"what": "hung", "job": failures["job"], "begin": failures["failed"],
                      "end": failures["detected"], "gpus": failures["gpus"].astype(float)}),
    ]
    frame = pd.concat(parts, ignore_index=True)
    frame["over"] = frame["end"].notna()
    frame["end"] = frame["end"].fillna(run.end)
    frame["name"] = frame["job"].map(jobs)
    frame = frame[frame["end"] > frame["begin"]]
    return frame.sort_values(["begin", "job"], kind="stable", ignore_index=True)


@drawing
def stuck(run: Run, axis: Axes | None = None, jobs_max: int = 30) -> Axes:
    """Draws a lane for each job, beginning with the job that lost most GPU time. Arrows mark times that never
    ended."""
    spans = stuck_data(run)
    spans["lost"] = spans["gpus"] * (spans["end"] - spans["begin"]) / 3600
    lost = spans.groupby("job")["lost"].sum().sort_values(ascending=False, kind="stable")
    lanes = {job: lane for lane, job in enumerate(lost.index[:jobs_max])}
    axis = axes_for(axis, max(1.8, 1.2 + 0.22 * len(lanes)))
    scale, unit = time_unit(run.end)
    for what, colour in (("deadlocked", VERMILION), ("hung", PURPLE)):
        rows = spans[(spans["what"] == what) & spans["job"].isin(list(lanes))]
        if rows.empty:
            continue
        at = rows["job"].map(lanes)
        hours = spans.loc[spans["what"] == what, "lost"].sum()
        axis.barh(at, (rows["end"] - rows["begin"]) / scale, left=rows["begin"] / scale, height=0.7,
                  color=colour, edgecolor=colour, lw=1.2, label=f"{what}: {hours:,.1f} GPU h")
        going = ~rows["over"]
        axis.plot(rows.loc[going, "end"] / scale, at[going], ls="", marker=">", color=colour,
                  clip_on=False, ms=9)
    names = spans.drop_duplicates("job").set_index("job")["name"]
    axis.set_yticks(list(lanes.values()), [f"{names[job]} (job {job})" for job in lanes])
    axis.set_ylim(max(1, len(lanes)) - 0.4, -0.6)
    axis.set_xlim(0, run.end / scale)
    axis.set_xlabel(f"simulated time ({unit})")
    more = f", the worst {jobs_max} of {len(lost)} jobs" if len(lost) > jobs_max else ""
    axis.set_title(f"GPUs held in vain{more}" if len(lost) else "No job was stuck", loc="left")
    if len(lost):
        axis.legend(loc="upper right", bbox_to_anchor=(1, 1.16 if len(lanes) < 4 else 1.1), ncols=2,
                    frameon=False, borderaxespad=0)
    tidy(axis, "x")
    return axis
