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
from orrery.figures import queue_length, utilisation  # noqa: E402
from orrery.plots import main, title_of  # noqa: E402
from orrery.run import SECONDS_PER_DAY, Run, days  # noqa: E402
from orrery.style import BLACK, GREEN, VERMILION, thinned, tidy, time_unit  # noqa: E402

def failures(run: Run) -> pd.DataFrame:
    """Failures of nodes and recoveries of jobs by day, or by hour if the run is shorter than two
    days; `frame.attrs["days"]` is the width of a bar."""
    last = max(run.end, 1) / SECONDS_PER_DAY
    width = 1.0 if last >= 2 else 1 / 24
    # Rounded, because hours are not exact in days; whole runs must not gain an empty bar.
    bars = max(1, int(np.ceil(round(last / width, 6))))
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
    cluster = run.timeline("cluster")
    figure, (top, middle, bottom) = plt.subplots(
        3, 1, figsize=(11, 9), sharex=True, height_ratios=[3, 2, 2], constrained_layout=True
    )
    utilisation(run, top)
    queue_length(run, middle)
    scale, unit_of_time = time_unit(run.end)
    counted = failures(run)
    width = counted.attrs["days"]
    unit = "a day" if width == 1 else "an hour"
    for number, (what, label, colour) in enumerate(
        (("failures", "node failures", VERMILION), ("recoveries", "recoveries", GREEN))
    ):
        left = (counted["day"] + (0.1 + 0.4 * number) * width) * SECONDS_PER_DAY / scale
        bar = 0.4 * width * SECONDS_PER_DAY / scale
        bottom.bar(left, counted[what], bar, align="edge", color=colour, label=f"{label} {unit}")
    down = thinned(cluster[["nodes_down"]])["nodes_down"]
    bottom.plot(down.index / scale, down, color=BLACK, linewidth=1, label="nodes down")
    bottom.set_ylabel("count")
    tallest = max(counted["failures"].max(), counted["recoveries"].max(), down.max())
    bottom.set_ylim(0, max(1, 1.25 * tallest))
    for axis in (top, middle):
        axis.set_xlabel("")
    bottom.set_xlabel(f"simulated time ({unit_of_time})")
    bottom.set_xlim(0, max(run.end, 1) / scale)
    bottom.legend(ncols=3, loc="upper right", frameon=False)
    bottom.set_title("Failures and recoveries", loc="left")
    tidy(bottom)
    gpus = f", {cluster['gpus_total'].max():,.0f} GPUs" if len(cluster) else ""
    figure.suptitle(title_of(run) + gpus)
    return figure


if __name__ == "__main__":
    main(__doc__, lambda runs: draw(runs[0]))
