"""The cardiogram: the activity of each GPU of a job, interval by interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import Patch

from orrery.cardiogram import PHASES, by_rank, phase_codes
from orrery.cardiogram import cardiogram as rows_of
from orrery.run import Run
from orrery.style import axes_for, drawing, time_unit


def cardiogram_data(run: Run, job: str) -> pd.DataFrame:
    """The phases of a job: a column for each rank, a row for the end of each interval in seconds."""
    return by_rank(rows_of(run, job), "phase")


def draw_phases(rows: pd.DataFrame, axis: Axes, scale: float) -> None:
    """Draws a line of phases for each rank. `rows` come from orrery.cardiogram; a unit of the time axis is
    `scale` seconds."""
    codes = phase_codes(rows)
    edges = [rows["begin"].min() / scale, *codes.index / scale]
    norm = BoundaryNorm(np.arange(len(PHASES) + 1) - 0.5, len(PHASES))
    colours = ListedColormap(PHASES.values())
    axis.pcolormesh(
        edges, range(len(codes.columns) + 1), codes.T, cmap=colours, norm=norm, rasterized=True
    )
    if len(codes.columns) <= 32:
        axis.set_yticks([i + 0.5 for i in range(len(codes.columns))], map(str, codes.columns))
    axis.set_ylabel("GPU")
    axis.invert_yaxis()


def phase_patches(seen: set[str]) -> list[Patch]:
    """A legend patch for each phase in `seen`, in the order of PHASES."""
    return [
        Patch(facecolor=colour, edgecolor="#888888", label=phase)
        for phase, colour in PHASES.items()
        if phase in seen
    ]


@drawing
def cardiogram(run: Run, job: str, axis: Axes | None = None) -> Axes:
    """Draws the phases of each GPU of the named job, for the time that record.cardiogram recorded."""
    axis = axes_for(axis, 2.6)
    rows = rows_of(run, job)
    scale, unit = time_unit(rows["end"].max() - rows["begin"].min())
    draw_phases(rows, axis, scale)
    patches = phase_patches(set(rows["phase"].astype(str)))
    axis.set_xlabel(f"simulated time ({unit})")
    axis.set_title(f"What the GPUs of {job} do", loc="left")
    axis.legend(
        handles=patches, loc="upper left", bbox_to_anchor=(-0.02, -0.24), ncols=len(patches),
        frameon=False, handlelength=1.2, columnspacing=1.2,
    )
    return axis
