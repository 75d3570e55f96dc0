"""Nodes over time: allocation, health and power of each, and how free GPUs are spread."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes

from orrery.figures.cluster import legend_below, time_axis
from orrery.run import Run, RunError
from orrery.style import axes_for, drawing, time_unit

WHAT = {
    "allocation": "GPUs of the node that are allocated (%)",
    "health": "time that the node is up (%)",
    "power": "power of a GPU (W)",
}


def coverage(
    rows: np.ndarray, begin: np.ndarray, end: np.ndarray, weight: np.ndarray, count: int,
    edges: np.ndarray,
) -> np.ndarray:
    """For each of `count` rows and each bin, the mean over time of the summed weights of the open
    intervals. Interval i is from begin[i] to end[i], has weight[i] and belongs to rows[i]. The bins between
    `edges` have equal widths. The begin of an interval adds two steps to a running sum over the bins; its end
    subtracts two. Example: with bins of 10 s, weight 1 from 4 to 22 s gives the steps 0.6, 0.4, -0.8 and
    -0.2, and the means 0.6, 1 and 0.2."""
    bins = len(edges) - 1
    steps = np.zeros((count, bins + 2))
    for instants, sign in ((begin, 1.0), (end, -1.0)):
        at = np.clip((instants - edges[0]) / (edges[1] - edges[0]), 0, bins)
        first = np.floor(at).astype(int)
        part = at - first
        np.add.at(steps, (rows, first), sign * weight * (1 - part))
        np.add.at(steps, (rows, first + 1), sign * weight * part)
    return steps.cumsum(axis=1)[:, :bins]


def heat_map_data(
    run: Run, what: str = "allocation", by: str = "node", bins: int = 240
) -> pd.DataFrame:
    """A row for each node by name, or with `by="leaf"` for each leaf switch (the mean of its nodes); a column
    for the end of each interval in seconds. "power" needs a cardiogram, and has only its nodes and its time.
    It is NaN where a node has no recorded rank in an interval. The file of a run under way lacks pods and
    faults that have not ended."""
    if what not in WHAT:
        raise ValueError(f"'{what}' is none of {', '.join(WHAT)}")
    nodes = run.table("/nodes").set_index("node")
    if what == "power":
        if "/timeline/cardiogram" not in run:
            raise RunError(f"{run.path}: power of nodes takes record.cardiogram")
        rows = run.table("/timeline/cardiogram")
        rows = rows[rows["node"] >= 0]
        grid = rows.pivot_table(index="node", columns="time", values="power_watts")
    else:
        edges = np.linspace(0, run.end, bins + 1)
        places = nodes.index.get_indexer
        if what == "allocation":
            pods = run.table("/pods")
            pods = pods[pods["bound"].notna() & (pods["node"] >= 0)]
            held = np.array([bin(mask).count("1") for mask in pods["gpus"]], float)
            span = pods["bound"].to_numpy(), pods["ended"].fillna(run.end).to_numpy()
            sums = coverage(places(pods["node"]), *span, held, len(nodes), edges)
            values = 100 * sums / nodes["gpus"].to_numpy()[:, None]
        else:
            down = run.table("/events/faults")
            span = down["at"].to_numpy(), down["repaired_at"].fillna(run.end).to_numpy()
            rows = places(down["node"])
            values = 100 - 100 * coverage(rows, *span, np.ones(len(down)), len(nodes), edges)
        # Sums over 100 % are clipped: a node that is down may have further faults, and a GPU may have several
        # pods.
        rounded = np.clip(values, 0, 100).round(9)
        grid = pd.DataFrame(rounded, index=nodes.index, columns=edges[1:])
    grid.columns.name = "time"
    if by == "leaf":
        return grid.groupby(nodes["leaf"].reindex(grid.index)).mean()
    if by != "node":
        raise ValueError(f"'{by}' is neither 'node' nor 'leaf'")
    return grid.set_axis(pd.Index(nodes["name"].reindex(grid.index), name="node"))


@drawing
def heat_map(
    run: Run, what: str = "allocation", by: str = "node", axis: Axes | None = None
) -> Axes:
    """Draws a coloured line for each node or leaf."""
    axis = axes_for(axis, 3.6)
    grid = heat_map_data(run, what, by)
    times = grid.columns.to_numpy()
    begin = times[0] - (times[1] - times[0]) if len(times) > 1 else 0.0
    scale, unit = time_unit(times[-1])
    top = None if what == "power" else 100
    mesh = axis.pcolormesh(
        np.concatenate([[begin], times]) / scale, np.arange(len(grid) + 1), grid, cmap="cividis",
        vmin=0, vmax=top, rasterized=True,
    )
    axis.invert_yaxis()
    if len(grid) <= 40:
        axis.set_yticks(np.arange(len(grid)) + 0.5, [str(name) for name in grid.index])
    axis.set_ylabel("leaf switch" if by == "leaf" else "nodes" if len(grid) > 40 else "")
    axis.set_xlabel(f"simulated time ({unit})")
    axis.set_title(f"{what.capitalize()} by {by}", loc="left")
    bar = axis.figure.colorbar(mesh, ax=axis, pad=0.015, aspect=30)
    bar.set_label(WHAT[what])
    bar.outline.set_visible(False)
    return axis


def fragmentation_data(run: Run, samples: int = 400) -> pd.DataFrame:
    """Free GPUs on nodes that are up, by time in seconds. Column k counts those on nodes with exactly k free
    GPUs. A pod for k GPUs fits only on nodes of the columns from k on."""
    nodes = run.table("/nodes").set_index("node")
    gpus_max = int(nodes["gpus"].max())
    times = np.linspace(0, run.end, samples + 1)[1:]
    pods = run.table("/pods")
    pods = pods[pods["bound"].notna() & (pods["node"] >= 0)]
    bits = (pods["gpus"].to_numpy()[:, None] >> np.arange(gpus_max)) & 1
    pod, gpu = bits.nonzero()
    place = nodes.index.get_indexer(pods["node"])[pod]
    owners = np.zeros((len(nodes), gpus_max, samples + 1), np.int16)
    # A pod no longer holds its GPUs at the instant of its end. Exception: a pod that was alive when the run
    # ended still holds its GPUs in the last sample.
    begin = np.searchsorted(times, pods["bound"].to_numpy())[pod]
    ended = pods["ended"].where(pods["end"] != "run_ended", np.inf).fillna(np.inf)
    np.add.at(owners, (place, gpu, begin), 1)
    np.add.at(owners, (place, gpu, np.searchsorted(times, ended.to_numpy())[pod]), -1)
    np.cumsum(owners, axis=2, out=owners)
    taken = (owners[:, :, :-1] > 0).sum(axis=1)
    free = nodes["gpus"].to_numpy(int)[:, None] - taken
    faults = run.table("/events/faults")
    for fault in faults.itertuples():
        up_again = fault.repaired_at if fault.repaired_at == fault.repaired_at else np.inf
        span = slice(*np.searchsorted(times, (fault.at, up_again)))
        free[nodes.index.get_loc(fault.node), span] = 0
    columns = {k: k * (free == k).sum(axis=0) for k in range(1, gpus_max + 1)}
    return pd.DataFrame(columns, index=pd.Index(times, name="time"))


@drawing
def fragmentation(run: Run, axis: Axes | None = None) -> Axes:
    """Draws free GPUs as areas: the fewer GPUs are free on a node, the darker the area."""
    axis = axes_for(axis)
    free = fragmentation_data(run)
    scale, _ = time_unit(run.end)
    shades = colormaps["cividis"](np.linspace(0, 1, len(free.columns)))
    labels = [f"{k} free" for k in free.columns]
    axis.stackplot(
        free.index / scale, free.T.to_numpy(), labels=labels, colors=shades, lw=0, step="pre"
    )
    whole = free[free.columns[-1]].sum() / max(1, free.to_numpy().sum())
    axis.set_ylabel("free GPUs")
    axis.set_ylim(0, None)
    head = f"Free GPUs by how many are free on their node; {100 * whole:.0f} % on free nodes"
    axis.set_title(head, loc="left")
    time_axis(axis, run.end)
    legend_below(axis)
    return axis
