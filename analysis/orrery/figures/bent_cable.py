"""Figure of the scenario bent-cable: the time that a bent cable costs each job, and its symbol errors."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from orrery.run import Run
from orrery.style import BLACK, BLUE, ORANGE, VERMILION, tidy, title_of


def bent_cable_data(run: Run) -> pd.DataFrame:
    """Minutes in which a GPU of each job computed and exchanged, on average; jobs are sorted by external
    id."""
    jobs = run.table("/jobs").sort_values("external_id", ignore_index=True)
    minutes = 60 * jobs["gpus"]
    return pd.DataFrame(
        {
            "job": [f"{name} {i}" for i, name in enumerate(jobs["name"])],
            "computing": jobs["useful_gpu_s"] / minutes,
            "exchanging": jobs["exchange_gpu_s"] / minutes,
        }
    )


def bent_cable(run: Run) -> Figure:
    """Above, the time of each job; below, GPUs and symbol errors over time."""
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 7), constrained_layout=True)
    each = bent_cable_data(run)
    top.barh(each["job"], each["computing"], color=BLUE, label="computing")
    top.barh(
        each["job"], each["exchanging"], left=each["computing"], color=ORANGE, label="exchanging"
    )
    for row, (computing, exchanging) in enumerate(zip(each["computing"], each["exchanging"])):
        factor = (computing + exchanging) / each["computing"].min()
        top.text(computing + exchanging, row, f" {factor:.1f} times its work", va="center")
    top.set_xlim(0, 1.25 * (each["computing"] + each["exchanging"]).max())
    top.invert_yaxis()
    top.set_xlabel("minutes of each GPU")
    top.legend(loc="lower right", frameon=False)
    top.set_title("One job pays for the cable", loc="left")

    cluster = run.table("/timeline/cluster")
    network = run.table("/timeline/network")
    minute = cluster["time"] / 60
    bottom.plot(minute, cluster["gpus_reported"], color=BLACK, ls="--", label="GPUs reported busy")
    bottom.plot(minute, cluster["gpus_computing"], color=BLUE, label="GPUs computing")
    bottom.set_ylabel("GPUs")
    bottom.set_xlabel("simulated time (min)")
    bottom.set_ylim(0, 1.15 * cluster["gpus_reported"].max())
    bottom.set_xlim(0, minute.max())
    errors = bottom.twinx()
    errors.plot(minute, network["symbol_errors"].cumsum() / 1e6, color=VERMILION)
    errors.set_ylabel("symbol errors so far (millions)", color=VERMILION)
    errors.set_ylim(bottom=0)
    errors.spines[["top"]].set_visible(False)
    bottom.legend(loc="upper center", frameon=False)
    bottom.set_title("Busy is not computing", loc="left")
    tidy(top, grid="x")
    tidy(bottom)
    figure.suptitle(title_of(run))
    return figure
