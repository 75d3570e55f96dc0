"""Requests to the API servers over time."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from orrery.figures.cluster import legend_below, time_axis
from orrery.run import Run
from orrery.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, axes_for, drawing
from orrery.style import thinned, time_unit

COLOURS = (BLUE, SKY, GREEN, ORANGE, PURPLE)
LEVELS_MAX = len(COLOURS)  # with more priority levels, all but the busiest four are summed as "other"


def control_plane_data(run: Run) -> pd.DataFrame:
    """Requests a second, by time. Requests that succeeded have a column for each priority level, the busiest
    level first. Rejected requests are in "429"; requests lost with their server are in "lost"; refused and
    timed-out ones are left out. Intervals without requests have a row of zeros."""
    rows = run.table("/timeline/control_plane")
    times = run.timeline("cluster").index
    done = rows.pivot_table(index="time", columns="level", values="done", aggfunc="sum")
    done = done[done.sum().sort_values(ascending=False, kind="stable").index]
    if len(done.columns) > LEVELS_MAX:
        rest = done.iloc[:, LEVELS_MAX - 1 :].sum(axis=1)
        done = done.iloc[:, : LEVELS_MAX - 1].assign(other=rest)
    done.columns.name = None
    refused = rows.groupby("time")[["too_many", "lost"]].sum()
    frame = done.join(refused.rename(columns={"too_many": "429"}))
    return frame.reindex(times.union(frame.index)).fillna(0.0)


@drawing
def control_plane(run: Run, axis: Axes | None = None) -> Axes:
    """Draws requests that succeeded as areas, rejected and lost ones as lines."""
    axis = axes_for(axis)
    rates = thinned(control_plane_data(run), "mean")
    scale, _ = time_unit(run.end)
    levels = [column for column in rates.columns if column not in ("429", "lost")]
    axis.stackplot(
        rates.index / scale, rates[levels].T.to_numpy(), labels=levels, colors=COLOURS, lw=0,
        step="pre",
    )
    for column, colour, label in (
        ("429", VERMILION, "429, rejected"),
        ("lost", BLACK, "lost with a server"),
    ):
        if rates[column].any():
            axis.plot(
                rates.index / scale, rates[column], color=colour, lw=1.2, drawstyle="steps-pre",
                label=label,
            )
    axis.set_ylabel("requests (1/s)")
    axis.set_ylim(0, None)
    axis.set_title("Requests to the API servers, by priority level", loc="left")
    time_axis(axis, run.end)
    legend_below(axis, columns=3)
    return axis
