"""Failures of nodes and recoveries of jobs, counted over time."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from orrery.figures.cluster import time_axis
from orrery.run import SECONDS_PER_DAY, Run
from orrery.style import BLACK, GREEN, VERMILION, axes_for, drawing, thinned, time_unit


def failures_data(run: Run) -> pd.DataFrame:
    """Failures of nodes and recoveries of jobs, counted by day, or by hour if the run is shorter than two
    days. A recovery counts when the job has caught up. The index is the end of the day or hour in seconds;
    `attrs["width"]` is its length."""
    last = max(run.end, 1.0)
    width = SECONDS_PER_DAY if last >= 2 * SECONDS_PER_DAY else 3_600.0
    edges = np.arange(int(np.ceil(last / width)) + 1) * width
    recoveries = run.table("/events/recoveries")["caught_up"].dropna()
    counts = {
        "failures": np.histogram(run.table("/events/faults")["at"], edges)[0],
        "recoveries": np.histogram(recoveries, edges)[0],
    }
    frame = pd.DataFrame(counts, index=pd.Index(edges[1:], name="end"))
    frame.attrs["width"] = width
    return frame


@drawing
def failures(run: Run, axis: Axes | None = None) -> Axes:
    """Draws bars of failures and recoveries, and a line of the number of nodes that are down or have yet to
    join."""
    axis = axes_for(axis)
    counted = failures_data(run)
    scale, _ = time_unit(run.end)
    width = counted.attrs["width"]
    unit = "a day" if width == SECONDS_PER_DAY else "an hour"
    for number, (what, label, colour) in enumerate(
        (("failures", "node failures", VERMILION), ("recoveries", "recoveries", GREEN))
    ):
        left = counted.index - width + (0.1 + 0.4 * number) * width
        axis.bar(left / scale, counted[what], 0.4 * width / scale, align="edge", color=colour,
                 label=f"{label} {unit}")
    down = thinned(run.timeline("cluster")[["nodes_down"]])["nodes_down"]
    axis.plot(down.index / scale, down, color=BLACK, linewidth=1, label="nodes down")
    axis.set_ylabel("count")
    tallest = max(counted.to_numpy().max(), down.max() if len(down) else 0)
    axis.set_ylim(0, max(1, 1.25 * tallest))
    axis.set_title("Failures and recoveries", loc="left")
    time_axis(axis, max(run.end, 1.0))
    axis.legend(ncols=3, loc="upper right", frameon=False)
    return axis
