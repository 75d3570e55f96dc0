"""Failures of jobs and their recoveries, stage by stage."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from orrery.run import Run
from orrery.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from orrery.style import axes_for, drawing, tidy, time_unit

# For each stage: the column of /events/recoveries that says when the stage ended, and the stage's colour.
STAGES = {
    "until noticed": ("detected", PURPLE),
    "pods created": ("recreated", SKY),
    "waiting for nodes": ("scheduled", VERMILION),
    "starting": ("started", BLUE),
    "restoring": ("resumed", ORANGE),
    "work done again": ("caught_up", GREEN),
}


def recoveries_data(run: Run) -> pd.DataFrame:
    """One row for each stop of a gang or an independent pod (stops by preemption included): job, name,
    attempt, gpus, failed, the seconds of each stage, and `total`, their sum. Stages are NaN from the first
    one that was not reached."""
    rows = run.table("/events/recoveries")
    names = run.table("/jobs").set_index("job")["name"]
    frame = rows[["job", "attempt", "gpus", "failed"]].copy()
    frame.insert(1, "name", frame["job"].map(names))
    before = rows["failed"]
    for stage, (column, _) in STAGES.items():
        frame[stage] = rows[column] - before
        before = rows[column]
    frame["total"] = frame[list(STAGES)].sum(axis=1)
    return frame


@drawing
def recoveries(run: Run, axis: Axes | None = None, rows_max: int = 12) -> Axes:
    """Draws a bar for each of the longest recoveries, and above them one for the mean of all, divided into
    stages."""
    frame = recoveries_data(run)
    longest = frame.sort_values("total", ascending=False, kind="stable").head(rows_max)
    stages = list(STAGES)
    bars = longest[stages].reset_index(drop=True)
    labels = [f"{name}, {gpus:,} GPUs" for name, gpus in zip(longest["name"], longest["gpus"])]
    if len(frame):
        bars = pd.concat([frame[stages].mean().to_frame().T, bars], ignore_index=True)
        labels.insert(0, f"mean of {len(frame):,}")
    axis = axes_for(axis, 1.5 + 0.21 * len(bars))
    scale, unit = time_unit(bars.sum(axis=1).max() if len(bars) else 0)
    left = pd.Series(0.0, index=bars.index)
    for stage, (_, colour) in STAGES.items():
        length = bars[stage].fillna(0) / scale
        axis.barh(bars.index, length, left=left, height=0.72, color=colour, label=stage)
        left = left + length
    axis.set_yticks(range(len(bars)), labels)
    axis.set_ylim(max(1, len(bars)) - 0.4, -0.6)
    axis.set_xlabel(f"time since the failure ({unit})")
    axis.set_xlim(0, None if len(frame) else 1)
    title = "From a failure back to where the job was"
    axis.set_title(title if len(frame) else "No job failed", loc="left")
    if len(frame):
        axis.get_yticklabels()[0].set_fontweight("bold")
        axis.legend(loc="lower right", frameon=True, framealpha=0.9, edgecolor="none")
    tidy(axis, "x")
    return axis
