#!/usr/bin/python3
"""The power of a cluster's GPUs, as a distribution, beside the one that Acme published for Kalos.

    /usr/bin/python3 analysis/gpu_power_plot.py gpu-power.h5 gpu-power.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
from orrery.plots import main  # noqa: E402
from orrery.run import Run  # noqa: E402

# Watts by percent: A100 in August 2023, cluster Kalos.
KALOS = {10: 63, 20: 65, 30: 73, 40: 94, 50: 101.5, 60: 149.5, 70: 326, 75: 372, 80: 389, 90: 404,
         95: 413, 99: 442}
OURS, PUBLISHED = "#0072B2", "#D55E00"


def draw(run: Run) -> plt.Figure:
    """Both distributions, and what nvidia-smi would say of ours."""
    rows = run.table("/timeline/cardiogram")
    figure, axis = plt.subplots(figsize=(9, 5), constrained_layout=True)
    percent = 100 * (np.arange(len(rows)) + 1) / len(rows)
    axis.plot(np.sort(rows["power_watts"]), percent, color=OURS, label="this run")
    axis.plot(list(KALOS.values()), list(KALOS), "o", color=PUBLISHED, label="Acme, Kalos")
    below = {q: 100 * float((rows["power_watts"] <= watts).mean()) for q, watts in KALOS.items()}
    distance = max(abs(found - q) for q, found in below.items())
    axis.set_title(
        f"Power of GPUs: at most {distance:.0f} points apart at the quantiles published", loc="left"
    )
    full = 100 * float((rows["reported"] > 99).mean())
    axis.text(0.98, 0.06, f"{full:.0f} % of GPUs report a utilisation of 100 %",
              transform=axis.transAxes, ha="right", color="#555555")
    axis.set_xlabel("power of a GPU, mean over an interval (W)")
    axis.set_ylabel("samples below (%)")
    axis.set_xlim(0, 480)
    axis.set_ylim(0, 101)
    axis.grid(color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(loc="upper left", frameon=False)
    return figure


if __name__ == "__main__":
    main(__doc__, lambda runs: draw(runs[0]))
