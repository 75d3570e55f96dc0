"""Figure of the scenario cursed-route: training stalls and resumes as its routes change."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from orrery.run import Run
from orrery.style import BLACK, BLUE, GREEN, VERMILION, tidy, title_of


def cursed_route(run: Run) -> Figure:
    """Above, GPUs that nvidia-smi reports as busy and GPUs that compute; below, the rate at which all
    NICs together send."""
    cluster = run.table("/timeline/cluster")
    network = run.table("/timeline/network")
    hour = cluster["time"] / 3600
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(10, 6.5), sharex=True, constrained_layout=True
    )
    top.plot(hour, cluster["gpus_reported"], color=BLACK, ls="--", label="reported busy")
    top.fill_between(
        hour, cluster["gpus_computing"], color=BLUE, alpha=0.6, lw=0, step="pre", label="computing"
    )
    top.set_ylabel("GPUs")
    top.set_ylim(0, 1.3 * cluster["gpus_reported"].max())
    top.set_title("Training freezes and revives with its routes", loc="left")
    bottom.plot(hour, network["nic_rate"] / 1e12, color=GREEN, drawstyle="steps-pre")
    bottom.set_ylabel("NICs send, together (Tb/s)")
    bottom.set_ylim(0, 1.3 * network["nic_rate"].max() / 1e12)
    bottom.set_xlim(0, hour.max())
    bottom.set_xlabel("simulated time (h)")
    slow = network["cables_slow"] > 0
    top.fill_between(
        hour, 0.86, 0.9, where=slow, color=VERMILION, lw=0, step="pre",
        transform=top.get_xaxis_transform(), label="a cable is slow",
    )
    top.legend(loc="upper right", ncols=3, frameon=False, borderaxespad=0.1)
    for axis in (top, bottom):
        tidy(axis)
    figure.suptitle(title_of(run))
    return figure
