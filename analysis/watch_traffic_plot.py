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
    told.index = told.index / 60
    return told


def rate(bytes_per_s: float) -> str:
    size, unit = next((s, u) for s, u in UNITS if bytes_per_s >= s or s == 1)
    return f"{bytes_per_s / size:.3g} {unit}"


def by_minute(told: pd.Series) -> pd.Series:
    """Means over the minutes, by their ends."""
    return told.groupby(np.ceil(told.index)).mean()


def draw(runs: Sequence[Run]) -> plt.Figure:
    """Lines are means over minutes, dots single intervals in which something was told."""
    figure, axis = plt.subplots(figsize=(11, 5.6), constrained_layout=True)
    means = []
    for number, run in enumerate(runs):
        told = traffic(run)
        colour = COLOURS[number % len(COLOURS)]
        means.append(told.mean())
        minutes = by_minute(told)
        some = minutes.where(minutes > 0)
        label = f"{run.path.stem}: {rate(told.mean())} in the mean, {rate(told.max())} at most"
        axis.stairs(some, [0, *minutes.index], baseline=None, color=colour, lw=1.8, label=label)
        single = told[told > 0]
        axis.plot(single.index, single, ls="", color=colour, marker=".", ms=4, mew=0, alpha=0.4)
        axis.set_xlim(0, told.index.max())
    if max(means) > 0:
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(plt.LogLocator(numticks=20))
        axis.minorticks_off()
    axis.yaxis.set_major_formatter(plt.FuncFormatter(lambda value, _: rate(value)))
    axis.set_xlabel("simulated time (min)")
    axis.set_ylabel("told to watchers by all API servers")
    head = "Changes of addresses, told to all who watch"
    if len(means) > 1 and min(means) > 0:
        head += f": {float(f'{max(means) / min(means):.2g}'):,.0f} times apart in the mean"
    axis.set_title(head, loc="left")
    tidy(axis)
    axis.legend(loc="upper left", bbox_to_anchor=(0, -0.12), frameon=False)
    return figure


if __name__ == "__main__":
    main(__doc__, draw, several=True)
