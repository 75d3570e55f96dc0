"""The whole cluster over time: use of its GPUs, waiting jobs and pods, and GPUs of each team."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from orrery.run import Run, RunError
from orrery.style import (
    BLACK,
    BLUE,
    CYCLE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    axes_for,
    drawing,
    thinned,
    tidy,
    time_unit,
)

WAYS = {"allocated": BLUE, "reported": ORANGE, "power": PURPLE, "useful": GREEN}


def utilisation_data(run: Run) -> pd.DataFrame:
    """Shares of all GPUs in percent, by time. "allocated": GPUs reserved for pods. "reported": used as
    nvidia-smi reports it. "power": how many computing GPUs would draw the same power above idle. "useful":
    GPUs that do compute that no failure undid; a run under way has no such column."""
    cluster = run.timeline("cluster")
    frame = pd.DataFrame(index=cluster.index)
    for way in ("allocated", "reported", "power"):
        frame[way] = 100 * cluster[f"gpus_{way}"] / cluster["gpus_total"]
    useful = run.timeline("useful")
    if len(useful) == len(cluster):
        frame["useful"] = 100 * useful["gpus_useful"] / cluster["gpus_total"]
    return frame


@drawing
def utilisation(run: Run, axis: Axes | None = None) -> Axes:
    """Draws GPU use in four ways: an area for allocated, and thinner and thinner lines for the others,
    because on a busy cluster the four lie close together."""
    axis = axes_for(axis)
    use = utilisation_data(run)
    means, use = use.mean(), thinned(use)
    scale, _ = time_unit(run.end)
    times = use.index / scale
    widths = {"reported": 2.2, "power": 1.4, "useful": 0.9}
    for way, colour in WAYS.items():
        if way not in use:
            continue
        label = f"{way} {means[way]:.1f} %"
        if way == "allocated":
            axis.fill_between(times, use[way], color=colour, alpha=0.3, lw=0, label=label)
        else:
            axis.plot(times, use[way], color=colour, lw=widths[way], label=label)
    axis.set_ylabel("share of all GPUs (%)")
    axis.set_ylim(0, 103)
    axis.set_title("GPU use in four ways, with means", loc="left")
    time_axis(axis, run.end)
    legend_below(axis)
    return axis


def queue_length_data(run: Run) -> pd.DataFrame:
    """Numbers of pending jobs, gangs and pods, by time."""
    columns = ["jobs_pending", "gangs_pending", "pods_pending"]
    frame = run.timeline("cluster")[columns]
    return frame.rename(columns=lambda name: name.removesuffix("_pending"))


@drawing
def queue_length(run: Run, axis: Axes | None = None) -> Axes:
    """Draws pending jobs and pods. Peaks of a long run remain visible."""
    axis = axes_for(axis)
    waiting = thinned(queue_length_data(run), "max")
    scale, _ = time_unit(run.end)
    axis.fill_between(
        waiting.index / scale, waiting["jobs"], color=SKY, step="pre", lw=0, label="jobs (left)"
    )
    axis.set_ylabel("pending jobs")
    axis.set_ylim(0, max(1.0, 1.15 * waiting["jobs"].max()))
    pods = axis.twinx()
    pods.plot(
        waiting.index / scale, waiting["pods"], color=BLACK, lw=0.9, drawstyle="steps-pre",
        label="pods (right)",
    )
    pods.set_ylabel("pending pods")
    pods.set_ylim(0, max(1.0, 1.15 * waiting["pods"].max()))
    pods.spines["top"].set_visible(False)
    axis.set_title("Waiting for room", loc="left")
    time_axis(axis, run.end)
    axis.spines["right"].set_visible(True)
    legend_below(axis, pods)
    return axis


def fairness_data(run: Run) -> pd.DataFrame:
    """One row for each team: GPU hours of useful work, the team's share of these in percent, and its number
    of jobs. Also the mean wait in seconds and the mean slowdown of the jobs that ran; a slowdown is (wait +
    run time) / run time. `attrs["jain"]` is Jain's index of the slowdowns: 1 if all teams are equal, near 1 /
    teams if one team has almost all of the delay."""
    jobs = run.table("/jobs")
    if jobs.empty:
        raise RunError(f"{run.path}: no job has arrived")
    ran = jobs[jobs["running"].notna() & (jobs["run"] > 0)]
    slowdown = (ran["wait"] + ran["run"]) / ran["run"]
    frame = pd.DataFrame({"gpu_hours": jobs.groupby("team")["useful_gpu_s"].sum() / 3600})
    frame["share"] = 100 * frame["gpu_hours"] / frame["gpu_hours"].sum()
    frame["jobs"] = jobs.groupby("team").size()
    frame["wait"] = ran.groupby("team")["wait"].mean()
    frame["slowdown"] = slowdown.groupby(ran["team"]).mean()
    frame.index = [team or "(none)" for team in frame.index]
    known = frame["slowdown"].dropna()
    squares = len(known) * (known**2).sum()
    frame.attrs["jain"] = known.sum() ** 2 / squares if len(known) else np.nan
    return frame


@drawing
def fairness(run: Run, axis: Axes | None = None) -> Axes:
    """Draws the GPUs of each team over time. The legend has the team's share of useful GPU time, and its
    slowdown."""
    axis = axes_for(axis)
    each = fairness_data(run)
    use = run.table("/timeline/teams")
    use["team"] = use["team"].where(use["team"] != "", "(none)")
    held = use.pivot_table(index="time", columns="team", values="gpus_allocated", fill_value=0)
    held = held.reindex(columns=each.index, fill_value=0)
    scale, _ = time_unit(run.end)
    labels = [
        f"{team}: {row['share']:.0f} %, slowdown {row['slowdown']:.3g}"
        for team, row in each.iterrows()
    ]
    colours = [CYCLE[i % len(CYCLE)] for i in range(len(each))]
    axis.stackplot(
        held.index / scale, held.T.to_numpy(), labels=labels, colors=colours, lw=0, step="pre"
    )
    axis.set_ylabel("GPUs allocated")
    axis.set_ylim(0, None)
    axis.set_title(f"GPUs of teams, shares of useful time; "
                   f"Jain's index of slowdowns {each.attrs['jain']:.3f}", loc="left")
    time_axis(axis, run.end)
    legend_below(axis, columns=2)
    return axis


def time_axis(axis: Axes, end: float) -> None:
    """Sets up the horizontal axis of a figure over a whole run."""
    scale, unit = time_unit(end)
    axis.set_xlim(0, end / scale)
    axis.set_xlabel(f"simulated time ({unit})")
    tidy(axis)


def legend_below(axis: Axes, *others: Axes, columns: int = 4) -> None:
    """Draws a legend below the axis, where it covers nothing. All its lines are 2.2 points wide, so that thin
    ones show their colours."""
    found = [a.get_legend_handles_labels() for a in (axis, *others)]
    handles, labels = ([x for part in found for x in part[i]] for i in (0, 1))
    # An offset in points that places the legend below the label of the axis.
    below = ScaledTranslation(-8 / 72, -28 / 72, axis.figure.dpi_scale_trans)
    legend = axis.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(0, 0), ncols=columns, frameon=False,
        bbox_transform=axis.transAxes + below, borderaxespad=0,
    )
    for line in legend.get_lines():
        line.set_linewidth(2.2)
