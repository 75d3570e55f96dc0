"""The distribution of GPU power in a run, beside the one that Acme published for Kalos."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from orrery.run import Run
from orrery.style import BLUE, VERMILION, tidy

# Power of the A100s of cluster Kalos in August 2023: watts by percentile.
KALOS = {10: 63, 20: 65, 30: 73, 40: 94, 50: 101.5, 60: 149.5, 70: 326, 75: 372, 80: 389, 90: 404,
         95: 413, 99: 442}


def gpu_power_data(run: Run) -> pd.DataFrame:
    """Watts of each GPU in each interval, in rising order, and the percent of samples up to each value."""
    watts = np.sort(run.table("/timeline/cardiogram")["power_watts"])
    return pd.DataFrame({"watts": watts, "percent": 100 * (np.arange(len(watts)) + 1) / len(watts)})


def gpu_power(run: Run) -> Figure:
    """Draws the distributions of the run and of Kalos, and names the share of GPUs that report a utilisation
    of 100 %."""
    samples = gpu_power_data(run)
    figure, axis = plt.subplots(figsize=(9, 5), constrained_layout=True)
    axis.plot(samples["watts"], samples["percent"], color=BLUE, label="this run")
    axis.plot(list(KALOS.values()), list(KALOS), "o", color=VERMILION, label="Acme, Kalos")
    below = {q: 100 * float((samples["watts"] <= watts).mean()) for q, watts in KALOS.items()}
    distance = max(abs(found - q) for q, found in below.items())
    axis.set_title(
        f"Power of GPUs: at most {distance:.0f} points apart at the quantiles published", loc="left"
    )
    reported = run.table("/timeline/cardiogram")["reported"]
    full = 100 * float((reported > 99).mean())
    axis.text(0.98, 0.06, f"{full:.0f} % of GPUs report a utilisation of 100 %",
              transform=axis.transAxes, ha="right", color="#555555")
    axis.set_xlabel("power of a GPU, mean over an interval (W)")
    axis.set_ylabel("samples below (%)")
    axis.set_xlim(0, 480)
    axis.set_ylim(0, 101)
    tidy(axis, grid="both")
    axis.legend(loc="upper left", frameon=False)
    return figure
