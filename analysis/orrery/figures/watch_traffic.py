"""Bytes that API servers send to the watchers of services, over time, a curve for each run:

    orrery run watch-endpoints.yaml -o endpoints.h5
    orrery run watch-endpointslices.yaml -o endpointslices.h5
    orrery plot watch-traffic endpoints.h5 endpointslices.h5
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from orrery.run import Run
from orrery.style import BLUE, GREEN, ORANGE, PURPLE, VERMILION, tidy

COLOURS = (VERMILION, BLUE, GREEN, ORANGE, PURPLE)
UNITS = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1, "B/s"))


def watch_traffic_data(run: Run) -> pd.Series:
    """Bytes a second of all services together; the index is the end of each interval in minutes."""
    rows = run.table("/timeline/watch")
    sent = rows.groupby("time")["bytes"].sum()
    sent.index = sent.index / 60
    return sent


def rate(bytes_per_s: float) -> str:
    size, unit = next((s, u) for s, u in UNITS if bytes_per_s >= s or s == 1)
    return f"{bytes_per_s / size:.3g} {unit}"


def by_minute(sent: pd.Series) -> pd.Series:
    """Means by minute; the index is the end of the minute."""
    return sent.groupby(np.ceil(sent.index)).mean()


def watch_traffic(runs: Sequence[Run]) -> Figure:
    """Draws a line of means by minute for each run, and a dot for each interval in which something was
    sent."""
    figure, axis = plt.subplots(figsize=(11, 5.6), constrained_layout=True)
    means = []
    for number, run in enumerate(runs):
        sent = watch_traffic_data(run)
        colour = COLOURS[number % len(COLOURS)]
        means.append(sent.mean())
        minutes = by_minute(sent)
        some = minutes.where(minutes > 0)
        label = f"{run.path.stem}: {rate(sent.mean())} in the mean, {rate(sent.max())} at most"
        axis.stairs(some, [0, *minutes.index], baseline=None, color=colour, lw=1.8, label=label)
        single = sent[sent > 0]
        axis.plot(single.index, single, ls="", color=colour, marker=".", ms=4, mew=0, alpha=0.4)
        axis.set_xlim(0, sent.index.max())
    if max(means) > 0:
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(plt.LogLocator(numticks=20))
        axis.minorticks_off()
    axis.yaxis.set_major_formatter(plt.FuncFormatter(lambda value, _: rate(value)))
    axis.set_xlabel("simulated time (min)")
    axis.set_ylabel("sent to watchers by all API servers")
    head = "Changes of addresses, sent to all watchers"
    if len(means) > 1 and min(means) > 0:
        head += f": {float(f'{max(means) / min(means):.2g}'):,.0f} times apart in the mean"
    axis.set_title(head, loc="left")
    tidy(axis)
    axis.legend(loc="upper left", bbox_to_anchor=(0, -0.12), frameon=False)
    return figure
