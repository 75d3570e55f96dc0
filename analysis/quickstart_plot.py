#!/usr/bin/python3
"""One picture of a run: GPU use four ways, pending gangs, failures and recoveries over time.

    /usr/bin/python3 analysis/quickstart_plot.py quickstart.h5 quickstart.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
from orrery.plots import main  # noqa: E402
from orrery.run import Run, days  # noqa: E402

# Okabe and Ito's palette: told apart with any kind of colour vision.
COLOURS = {
    "allocated": "#0072B2",
    "reported": "#E69F00",
    "power": "#CC79A7",
    "useful": "#009E73",
}
POINTS_MAX = 1_000


def utilisation(run: Run) -> pd.DataFrame:
    """Share of all GPUs, in percent, by time in days; one column for each way to tell it."""
    cluster = run.table("/timeline/cluster")
    frame = pd.DataFrame({"day": days(cluster["time"])})
    for way in ("allocated", "reported", "power"):
        frame[way] = 100 * cluster[f"gpus_{way}"] / cluster["gpus_total"]
    useful = run.table("/timeline/useful")
    if len(useful) == len(cluster):  # written at the end of the run: a killed run lacks it
        frame["useful"] = 100 * useful["gpus_useful"] / cluster["gpus_total"]
    return frame


def thinned(frame: pd.DataFrame) -> pd.DataFrame:
    """Means over equal groups of rows, so that no more points are drawn than the eye can use."""
    step = max(1, int(np.ceil(len(frame) / POINTS_MAX)))
    return frame.groupby(np.arange(len(frame)) // step).mean()


def last_day(run: Run) -> float:
    """The last sample, in days."""
    time = run.table("/timeline/cluster")["time"]
    return float(days(time).max()) if len(time) else 1.0


def failures(run: Run) -> pd.DataFrame:
    """Failures of nodes and recoveries of jobs by day, or by hour if the run is shorter than two
    days; `frame.attrs["days"]` is the width of a bar."""
    width = 1.0 if last_day(run) >= 2 else 1 / 24
    # Rounded, because hours are not exact in days; whole runs must not gain an empty bar.
    bars = max(1, int(np.ceil(round(last_day(run) / width, 6))))
    edges = np.arange(bars + 1) * width
    recoveries = run.table("/events/recoveries")
    caught_up = recoveries.loc[recoveries["caught_up"] >= 0, "caught_up"]
    frame = pd.DataFrame(
        {
            "day": edges[:-1],
            "failures": np.histogram(days(run.table("/events/faults")["at"]), edges)[0],
            "recoveries": np.histogram(days(caught_up), edges)[0],
        }
    )
    frame.attrs["days"] = width
    return frame


def draw(run: Run) -> plt.Figure:
    """Three panels over one time axis."""
    cluster = run.table("/timeline/cluster")
    use = thinned(utilisation(run))
    figure, (top, middle, bottom) = plt.subplots(
        3, 1, figsize=(11, 8.5), sharex=True, height_ratios=[3, 2, 2], constrained_layout=True
    )
    # An area and ever thinner lines: on a busy cluster the four lie close to one another.
    widths = {"reported": 2.2, "power": 1.4, "useful": 0.9}
    for way, colour in COLOURS.items():
        if way not in use:
            continue
        label = f"{way} {use[way].mean():.1f} %"
        if way == "allocated":
            top.fill_between(use["day"], use[way], color=colour, alpha=0.3, lw=0, label=label)
        else:
            top.plot(use["day"], use[way], color=colour, label=label, linewidth=widths[way])
    top.set_ylabel("share of all GPUs (%)")
    top.set_ylim(0, 103)
    legend = top.legend(ncols=4, loc="lower right", frameon=True, framealpha=0.9, edgecolor="none")
    for handle in legend.get_lines():
        handle.set_linewidth(2.5)
    top.set_title("GPU use told four ways, with means", loc="left")

    pending = pd.DataFrame(
        {
            "day": days(cluster["time"]),
            "gangs": cluster["gangs_pending"],
            "pods": cluster["pods_pending"],
        }
    )
    step = max(1, int(np.ceil(len(pending) / POINTS_MAX)))
    pending = pending.groupby(np.arange(len(pending)) // step).max()  # peaks must stay visible
    middle.fill_between(pending["day"], pending["gangs"], color="#56B4E9", step="pre", label="gangs")
    middle.set_ylabel("pending gangs")
    middle.set_ylim(0, max(1, 1.25 * pending["gangs"].max()))
    pods = middle.twinx()
    pods.plot(pending["day"], pending["pods"], color="#555555", linewidth=0.8, label="pods")
    pods.set_ylabel("pending pods")
    pods.set_ylim(0, max(1, 1.25 * pending["pods"].max()))
    lines = [*middle.get_legend_handles_labels()[0], *pods.get_legend_handles_labels()[0]]
    pods.legend(lines, ["gangs (left)", "pods (right)"], loc="upper right", frameon=False, ncols=2)
    middle.set_title("Waiting for room (peaks)", loc="left")

    counted = failures(run)
    width = counted.attrs["days"]
    unit = "a day" if width == 1 else "an hour"
    for number, (what, label, colour) in enumerate(
        (("failures", "node failures", "#D55E00"), ("recoveries", "recoveries", "#009E73"))
    ):
        left = counted["day"] + (0.1 + 0.4 * number) * width
        bottom.bar(
            left, counted[what], 0.4 * width, align="edge", color=colour, label=f"{label} {unit}"
        )
    down = thinned(pd.DataFrame({"day": days(cluster["time"]), "down": cluster["nodes_down"]}))
    bottom.plot(down["day"], down["down"], color="black", linewidth=1, label="nodes down")
    bottom.set_ylabel("count")
    tallest = max(counted["failures"].max(), counted["recoveries"].max(), down["down"].max())
    bottom.set_ylim(0, max(1, 1.25 * tallest))
    bottom.set_xlabel("simulated time (days)")
    bottom.set_xlim(0, last_day(run))
    bottom.legend(ncols=3, loc="upper right", frameon=False)
    bottom.set_title("Failures and recoveries", loc="left")
    for axis in (top, middle, bottom):
        axis.grid(axis="y", color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.spines[["top"]].set_visible(False)
    attributes = run.attributes
    state = "" if attributes["complete"] else ", incomplete"
    gpus = f"{cluster['gpus_total'].max():,.0f} GPUs, " if len(cluster) else ""
    figure.suptitle(f"{run.path.name}: {gpus}seed {attributes['seed']}{state}")
    return figure


if __name__ == "__main__":
    main(__doc__, lambda runs: draw(runs[0]))
