"""GPU time as useful work and the losses beside it, over time."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from orrery.figures.cluster import legend_below, time_axis
from orrery.run import Run
from orrery.style import (
    BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW, axes_for, drawing, thinned,
    time_unit,
)

LOSSES = {  # from the bottom of the stack to its top
    "useful": GREEN, "computing": GREEN, "exchange": BLUE, "checkpoint": SKY, "starting": YELLOW,
    "lost": ORANGE, "hung": PURPLE, "deadlocked": VERMILION, "idle": GREY, "down": BLACK,
}
MEANING = {
    "useful": "compute that no failure undid", "computing": "compute; how much of it is kept is known "
    "at the end of the run", "exchange": "waits within steps: exchanges, slower ranks, data",
    "checkpoint": "writes checkpoints", "starting": "held, and not computing yet: partial gangs, "
    "start-up, loading a checkpoint", "lost": "compute that a failure undid",
    "hung": "held after an undetected failure", "deadlocked": "held by gangs in a "
    "deadlock", "idle": "not allocated, or of a service without load", "down": "on nodes that "
    "are down",
}


def spread(begin: pd.Series, end: pd.Series, weight: pd.Series, times: np.ndarray) -> np.ndarray:
    """The mean of a sum of weights in each interval. Each weight counts from its begin to its end. An
    interval ends at one of `times` and begins at the previous one; the first interval begins at 0. Example:
    weight 8 from 0 to 5 gives means 4 and 0 for times 10 and 20."""
    known = (begin.notna() & end.notna() & (end > begin)).to_numpy()
    begin, end, weight = (one.to_numpy(float)[known] for one in (begin, end, weight))
    instants = np.concatenate([begin, end])
    order = np.argsort(instants, kind="stable")
    at = np.append(instants[order], np.inf)
    rate = np.concatenate([weight, -weight])[order].cumsum()
    edges = np.concatenate([[0.0], times])
    if not len(rate):
        return np.zeros(len(times))
    sums = np.concatenate([[0.0], (rate[:-1] * np.diff(at[:-1])).cumsum()])
    place = np.searchsorted(at[:-1], edges, side="right") - 1
    since = np.where(place >= 0, edges - at[np.maximum(place, 0)], 0.0)
    total = np.where(place >= 0, sums[place] + rate[place] * since, 0.0)
    return np.diff(total) / np.maximum(np.diff(edges), 1e-12)


def _of_jobs(run: Run, column: str, times: np.ndarray) -> np.ndarray:
    """A column of GPU seconds in /jobs as GPUs in each interval. Each job's value is spread evenly over the
    time from its first compute to its end."""
    jobs = run.table("/jobs")
    end = jobs["ended"].fillna(run.end)
    return spread(jobs["running"], end, jobs[column] / (end - jobs["running"]), times)


def losses_data(run: Run) -> pd.DataFrame:
    """Percent of all GPUs: a row for each row of /timeline/cluster, columns in the order of `LOSSES`; each
    row sums to 100. Compute, allocated GPUs, hangs and deadlocks are as recorded. Other GPUs that nvidia-smi
    reports as used are divided into exchange and checkpoint. Their proportion is that of the jobs running in
    the interval, and each job counts with its means over its whole run. The remaining allocated GPUs are idle
    (of services without load) or starting."""
    cluster = run.timeline("cluster")
    times, total = cluster.index.to_numpy(float), cluster["gpus_total"].to_numpy(float)
    if not len(times):
        return pd.DataFrame()
    computing, allocated = cluster["gpus_computing"].to_numpy(), cluster["gpus_allocated"].to_numpy()
    useful = run.timeline("useful")["gpus_useful"].to_numpy() if "/timeline/useful" in run else []
    is_known = len(useful) == len(times)
    useful = np.minimum(useful, allocated) if is_known else computing
    lost = np.clip(computing - useful, 0, allocated - useful)
    stops = run.table("/events/recoveries")
    stops = stops[stops["rank"] < 0]  # a row with a rank stopped only one pod
    members = run.table("/events/deadlock_members")
    left = allocated - useful - lost
    found: dict[str, np.ndarray] = {"useful" if is_known else "computing": useful, "lost": lost}

    def take(name: str, gpus: np.ndarray) -> None:
        nonlocal left
        found[name] = found.get(name, 0.0) + np.clip(gpus, 0, left)
        left = left - np.clip(gpus, 0, left)

    take("hung", spread(stops["failed"], stops["detected"].fillna(run.end), stops["gpus"], times))
    take("deadlocked", spread(members["joined"], members["left"].fillna(run.end),
                              members["gpus_held"], times))
    spins = cluster["gpus_reported"].to_numpy() - useful - lost - found["hung"]
    waits, writes = (_of_jobs(run, f"{what}_gpu_s", times) for what in ("exchange", "checkpoint"))
    share = np.divide(waits, waits + writes, out=np.ones_like(waits), where=waits + writes > 0)
    take("exchange", np.clip(spins, 0, None) * share)
    take("checkpoint", np.clip(spins, 0, None) * (1 - share))
    take("idle", _of_jobs(run, "idle_gpu_s", times))
    found["starting"] = left
    free = np.clip(cluster["gpus_up"].to_numpy() - allocated, 0, None)
    found["idle"] = found["idle"] + np.minimum(free, total - allocated)
    found["down"] = np.clip(total - allocated - free, 0, None)
    frame = pd.DataFrame({name: 100 * found[name] / total for name in LOSSES if name in found},
                         index=cluster.index)
    frame.attrs["gpus"] = float(total.mean())
    return frame


@drawing
def losses(run: Run, axis: Axes | None = None) -> Axes:
    """Draws useful work at the bottom, and the losses stacked on it."""
    axis = axes_for(axis)
    frame = losses_data(run)
    means, shown = frame.mean(), thinned(frame)
    scale, _ = time_unit(run.end)
    names = [name for name in shown if means[name] > 0]
    axis.stackplot(shown.index / scale, shown[names].T.to_numpy(), lw=0, step="pre",
                   labels=[f"{name} {means[name]:.1f} %" for name in names],
                   colors=[LOSSES[name] for name in names])
    axis.set_ylabel("share of all GPUs (%)")
    axis.set_ylim(0, 100)
    axis.set_title("GPU time: useful work and losses, with means", loc="left")
    time_axis(axis, run.end)
    legend_below(axis)
    return axis
