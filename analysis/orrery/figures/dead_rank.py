"""The GPUs of a job after one of its processes dies, with a time-out of the job and without."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orrery.cardiogram import by_rank, cardiogram, phase_codes
from orrery.figures.ranks import draw_phases, phase_patches
from orrery.mistakes import RunError
from orrery.run import Run
from orrery.style import BLUE, VERMILION

REPORTED, POWER = BLUE, VERMILION


def draw_run(rows: pd.DataFrame, top: Axes, bottom: Axes) -> None:
    """Draws one run. Above, the phases of each rank; below, utilisation and power of the dead rank and of
    another one."""
    draw_phases(rows, top, 60)
    codes = phase_codes(rows)
    minutes = codes.index / 60
    has_gpu = by_rank(rows, "phase").astype(str) != "idle"
    reported, power = (by_rank(rows, c).where(has_gpu) for c in ("reported", "power_watts"))
    dead = rows.loc[rows["phase"] == "dead", "rank"].min()
    others = codes.columns[codes.columns != dead]
    right = bottom.twinx()
    for rank, style, who in (
        (others[0], "-", f"the {len(others)} others"), (dead, "--", f"GPU {dead}")
    ):
        for axis, what, name, colour in (
            (bottom, reported, "reported", REPORTED), (right, power, "power", POWER)
        ):
            axis.plot(minutes, what[rank], style, color=colour, lw=1.5, label=f"{name}, {who}")
    bottom.set_ylim(-5, 135)
    right.set_ylim(-20, 540)
    bottom.set_yticks(range(0, 101, 20))
    bottom.set_ylabel("reported utilisation (%)", color=REPORTED)
    right.set_ylabel("power (W)", color=POWER)
    bottom.grid(axis="y", color="#dddddd", linewidth=0.6)
    bottom.set_axisbelow(True)


def dead_rank(runs: Sequence[Run], job: str = "train") -> Figure:
    """Draws two panels for each run: the phases of its GPUs, and utilisation and power of two of the GPUs."""
    figure, axes = plt.subplots(
        2 * len(runs), 1, figsize=(11, 4.6 * len(runs)), sharex=True, constrained_layout=True
    )
    seen: set[str] = set()
    for i, run in enumerate(runs):
        rows = cardiogram(run, job)
        if not (rows["phase"] == "dead").any():
            raise RunError(f"{run.path}: no process of {job} dies")
        seen |= set(rows["phase"].astype(str))
        top, bottom = axes[2 * i], axes[2 * i + 1]
        draw_run(rows, top, bottom)
        jobs = run.table("/jobs")
        ours = jobs[jobs["name"] == job].iloc[0]
        hours = run.end / 3600
        fate = f"{ours['outcome']} when the run ends after {hours:.0f} h"
        if ours["ended"] >= 0:
            fate = f"{ours['outcome']} after {ours['ended'] / 60:.0f} min"
        top.set_title(
            f"{run.path.stem}: {fate}, {ours['hung_gpu_s'] / 3600:.1f} GPU hours hung", loc="left"
        )
        lines = [bottom, bottom.figure.axes[-1]]
        handles = [h for axis in lines for h in axis.get_legend_handles_labels()[0]]
        labels = [n for axis in lines for n in axis.get_legend_handles_labels()[1]]
        bottom.legend(handles, labels, ncols=4, loc="upper center", frameon=True, framealpha=0.9,
                      edgecolor="none", fontsize=9)
    patches = phase_patches(seen)
    axes[-1].set_xlabel("simulated time (min)")
    figure.legend(
        handles=patches, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=len(patches),
        frameon=False,
    )
    return figure
