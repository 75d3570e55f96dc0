#!/usr/bin/python3
"""What each job's step is made of: computing, and exchanging with as many CPU cores as it has.

    /usr/bin/python3 analysis/too_few_cpus_plot.py too-few-cpus.h5 too-few-cpus.png
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent))
from orrery.plots import BLUE, ORANGE, main, plt, tidy, title_of  # noqa: E402
from orrery.run import Run  # noqa: E402


def shares(run: Run) -> pd.DataFrame:
    """Time of a GPU for each second of computing, job by job."""
    jobs = run.table("/jobs").sort_values("external_id", ignore_index=True)
    return pd.DataFrame(
        {
            "job": [name.replace("-", " ") for name in jobs["name"]],
            "exchanging": jobs["exchange_gpu_s"] / jobs["useful_gpu_s"],
        }
    )


def draw(runs: Sequence[Run]) -> plt.Figure:
    each = shares(runs[0])
    figure, axis = plt.subplots(figsize=(9, 4.5), constrained_layout=True)
    axis.barh(each["job"], [1.0] * len(each), color=BLUE, label="computing")
    axis.barh(each["job"], each["exchanging"], left=1, color=ORANGE, label="exchanging")
    for row, exchanging in enumerate(each["exchanging"]):
        axis.text(1 + exchanging, row, f" {1 + exchanging:.2f}", va="center")
    axis.set_xlim(0, 1.15 * (1 + each["exchanging"].max()))
    axis.set_xlabel("time of a step, in times of its computing")
    axis.invert_yaxis()
    axis.legend(loc="upper right", frameon=False)
    axis.set_title("Too few CPU cores for 8 GPUs: unseen on one node, slow on four", loc="left")
    tidy(axis, grid="x")
    figure.suptitle(title_of(runs[0]))
    return figure


if __name__ == "__main__":
    main(__doc__, draw)
