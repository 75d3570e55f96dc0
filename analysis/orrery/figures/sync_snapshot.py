"""The cost of snapshots: GPU power and network bandwidth of jobs over the time of a few snapshots."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from orrery.cardiogram import PHASES, by_rank, cardiogram, means, phase_codes
from orrery.run import Run
from orrery.style import BLACK, BLUE

POWER, NETWORK = BLACK, BLUE
TITLES = {
    "sync": "synchronous, 8 nodes, shared store",
    "async": "asynchronous and sharded, 8 nodes, shared store",
    "one-node": "synchronous, one node, its own NVMe drives",
}


def sync_snapshot(run: Run, jobs: tuple[str, ...] = tuple(TITLES)) -> Figure:
    """Draws a panel for each job: power and bandwidth, in front of the phases of its first rank."""
    figure, axes = plt.subplots(
        len(jobs), 1, figsize=(11, 2.9 * len(jobs)), sharex=True, squeeze=False, constrained_layout=True
    )
    axes = axes[:, 0]
    phases = list(PHASES)
    seen: set[str] = set()
    for axis, job in zip(axes, jobs):
        rows = cardiogram(run, job)
        codes, power = phase_codes(rows), by_rank(rows, "power_watts")
        network = by_rank(rows, "network_bps")
        begin = rows["begin"].min()
        first = codes.columns[0]
        edges = [begin, *codes.index]
        for i, code in enumerate(codes[first]):
            seen.add(phases[code])
            axis.axvspan(edges[i], edges[i + 1], color=PHASES[phases[code]], alpha=0.35, lw=0)
        axis.stairs(power.mean(axis=1), edges, color=POWER, lw=1.2, baseline=None)
        axis.set_ylim(0, 460)
        axis.set_ylabel("power of a GPU (W)")
        right = axis.twinx()
        right.stairs(network.mean(axis=1) / 1e9, edges, color=NETWORK, lw=1.0, baseline=None)
        right.set_ylim(0, 230)
        right.set_ylabel("out of its NIC (Gb/s)", color=NETWORK)
        share = means(rows)["computing"]
        axis.set_title(
            f"{TITLES.get(job, job)}: {100 * (1 - share):.1f} % of the time no GPU computes",
            loc="left",
        )
        axis.set_xlim(edges[0], edges[-1])
    axes[-1].set_xlabel("simulated time (s)")
    patches = [
        Patch(facecolor=PHASES[p], alpha=0.35, edgecolor="#888888", label=p)
        for p in phases
        if p in seen
    ]
    lines = [
        plt.Line2D([], [], color=POWER, label="power, mean of GPUs (left)"),
        plt.Line2D([], [], color=NETWORK, label="network, mean of GPUs (right)"),
    ]
    figure.legend(
        handles=[*patches, *lines], loc="upper center", bbox_to_anchor=(0.5, 0),
        ncols=len(patches) + 2, frameon=False,
    )
    return figure
