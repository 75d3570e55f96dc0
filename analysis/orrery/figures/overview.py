"""One picture of a run: GPU use four ways, pending jobs and pods, failures and recoveries over time."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from orrery.figures.cluster import queue_length, utilisation
from orrery.figures.faults import failures
from orrery.run import Run
from orrery.style import title_of


def overview(run: Run) -> Figure:
    """Draws three panels over one time axis."""
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
