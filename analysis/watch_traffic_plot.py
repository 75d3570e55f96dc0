#!/usr/bin/python3
"""What API servers tell those who watch services, over time, a curve for each run.

    orrery run scenarios/watch-endpoints.yaml -o endpoints.h5
    orrery run scenarios/watch-endpointslices.yaml -o endpointslices.h5
    /usr/bin/python3 analysis/watch_traffic_plot.py endpoints.h5 endpointslices.h5 watch-traffic.png
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent))
from orrery.plots import BLUE, GREEN, ORANGE, PURPLE, VERMILION  # noqa: E402
from orrery.plots import main, plt, tidy  # noqa: E402
from orrery.run import Run  # noqa: E402

COLOURS = (VERMILION, BLUE, GREEN, ORANGE, PURPLE)
UNITS = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1, "B/s"))


def traffic(run: Run) -> pd.Series:
    """Bytes a second by the end of each interval in minutes, all services together."""
    rows = run.table("/timeline/watch")
    told = rows.groupby("time")["bytes"].sum()
    told.index = told.index / 60e9
    return told


def rate(bytes_per_s: float) -> str:
    size, unit = next((s, u) for s, u in UNITS if bytes_per_s >= s or s == 1)
    return f"{bytes_per_s / size:.3g} {unit}"


def draw(runs: Sequence[Run]) -> plt.Figure:
    """Intervals in which nothing was told are gaps: a logarithm has no zero."""
    figure, axis = plt.subplots(figsize=(11, 5.2), constrained_layout=True)
    means = []
    for number, run in enumerate(runs):
        told = traffic(run)
        colour = COLOURS[number % len(COLOURS)]
        means.append(told.mean())
        some = told.where(told > 0) / 1e9
        axis.plot(some.index, some, color=colour, lw=0.9, marker=".", ms=3, alpha=0.9)
        label = f"{run.path.stem}: {rate(told.mean())} in the mean, {rate(told.max())} at most"
        axis.axhline(told.mean() / 1e9, color=colour, lw=1.2, ls="--", label=label)
    axis.set_yscale("log")
    axis.set_xlabel("simulated time (min)")
    axis.set_ylabel("told to watchers by all API servers (GB/s)")
    axis.set_xlim(0, None)
    head = "Changes of addresses, told to all who watch"
    if len(means) > 1 and min(means) > 0:
        times = max(means) / min(means)
        head += f": {float(np.format_float_positional(times, 2, fractional=False)):,.0f} times apart"
    axis.set_title(head, loc="left")
    tidy(axis)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False)
    return figure


if __name__ == "__main__":
    main(__doc__, draw, several=True)
