#!/usr/bin/python3
"""What becomes of eight GPUs when one of their processes dies: without a time-out, and with one.

    /usr/bin/python3 analysis/dead_rank_plot.py dead-rank.h5 dead-rank-timeout.h5 dead-rank.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
from orrery.cardiogram import by_rank, cardiogram, phase_codes  # noqa: E402
from orrery.figures.ranks import draw_phases, phase_patches  # noqa: E402
from orrery.plots import main  # noqa: E402
from orrery.run import Run  # noqa: E402

REPORTED, POWER = "#0072B2", "#D55E00"


def draw_run(rows, top, bottom) -> None:
    """Phases of each rank above; utilisation and power of the dead one and of another below."""
    draw_phases(rows, top, 60)
    codes = phase_codes(rows)
    minutes = codes.index / 60
    has_gpu = by_rank(rows, "phase").astype(str) != "idle"
    reported, power = (by_rank(rows, c).where(has_gpu) for c in ("reported", "power_watts"))
    dead = rows.loc[rows["phase"] == "dead", "rank"].min()
    other = next(r for r in codes.columns if r != dead)
    right = bottom.twinx()
    for rank, style, who in ((other, "-", "the seven others"), (dead, "--", f"GPU {dead}")):
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


def draw(runs: list[Run], job: str = "train") -> plt.Figure:
    """Two rows of panels for each run."""
    figure, axes = plt.subplots(
        2 * len(runs), 1, figsize=(11, 4.6 * len(runs)), sharex=True, constrained_layout=True
    )
    seen: set[str] = set()
    for i, run in enumerate(runs):
        rows = cardiogram(run, job)
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


if __name__ == "__main__":
    main(__doc__, draw, several=True)
