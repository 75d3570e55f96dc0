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

sys.path.insert(0, str(Path(__file__).resolve().parent))
from orrery.figures import failures, queue_length, utilisation  # noqa: E402
from orrery.plots import main, title_of  # noqa: E402
from orrery.run import Run  # noqa: E402


def draw(run: Run) -> plt.Figure:
    """Three panels over one time axis."""
    cluster = run.timeline("cluster")
    figure, (top, middle, bottom) = plt.subplots(
        3, 1, figsize=(11, 9), sharex=True, height_ratios=[3, 2, 2], constrained_layout=True
    )
    utilisation(run, top)
    queue_length(run, middle)
    failures(run, bottom)
    for axis in (top, middle):
        axis.set_xlabel("")
    gpus = f", {cluster['gpus_total'].max():,.0f} GPUs" if len(cluster) else ""
    figure.suptitle(title_of(run) + gpus)
    return figure


if __name__ == "__main__":
    main(__doc__, lambda runs: draw(runs[0]))
