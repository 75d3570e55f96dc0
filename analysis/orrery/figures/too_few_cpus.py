"""Figure of the scenario too-few-cpus: the time of a step, divided into compute and exchange, by job."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from orrery.run import Run
from orrery.style import BLUE, ORANGE, tidy, title_of


def too_few_cpus_data(run: Run) -> pd.DataFrame:
    """Seconds of exchange for each second of compute of a GPU, by job."""
    jobs = run.table("/jobs").sort_values("external_id", ignore_index=True)
    return pd.DataFrame(
        {
            "job": [name.replace("-", " ") for name in jobs["name"]],
            "exchanging": jobs["exchange_gpu_s"] / jobs["useful_gpu_s"],
        }
    )


def too_few_cpus(run: Run) -> Figure:
    """Draws a bar for each job."""
    each = too_few_cpus_data(run)
    figure, axis = plt.subplots(figsize=(9, 4.5), constrained_layout=True)
    axis.barh(each["job"], [1.0] * len(each), color=BLUE, label="computing")
    axis.barh(each["job"], each["exchanging"], left=1, color=ORANGE, label="exchanging")
    for row, exchanging in enumerate(each["exchanging"]):
        axis.text(1 + exchanging, row, f" {1 + exchanging:.2f}", va="center")
    axis.set_xlim(0, 1.15 * (1 + each["exchanging"].max()))
    axis.set_xlabel("time of a step, in times of its computing")
    axis.invert_yaxis()
    axis.legend(loc="upper right", frameon=False)
    axis.set_title("Too few CPU cores for 8 GPUs: harmless on one node, slow on four", loc="left")
    tidy(axis, grid="x")
    figure.suptitle(title_of(run))
    return figure
