"""Speed of training against the number of nodes, a curve for each run with other routing:

    for engine in dmodk ecmp minhop; do
      orrery run leaf-scaling.yaml --set network.routing.engine=$engine -o $engine.h5
    done
    orrery plot leaf-scaling dmodk.h5 ecmp.h5 minhop.h5
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from orrery.run import Run
from orrery.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION, tidy

LOOKS = ((BLUE, "o"), (ORANGE, "s"), (VERMILION, "^"), (GREEN, "D"), (PURPLE, "v"))


def leaf_scaling_data(run: Run) -> pd.DataFrame:
    """A row for each job: its number of nodes, and the number of nodes that would be as fast if they computed
    all the time."""
    jobs = run.table("/jobs").sort_values("pods", ignore_index=True)
    return pd.DataFrame({"nodes": jobs["pods"], "speed": jobs["pods"] * jobs["work"] / jobs["run"]})


def leaf_size(run: Run) -> int:
    """The largest number of nodes under one leaf switch."""
    return int(run.table("/nodes")["leaf"].value_counts().max())


def leaf_scaling(runs: Sequence[Run]) -> Figure:
    """Draws on the left the speed; on the right the share of time in which GPUs compute."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.5), constrained_layout=True)
    curves = [leaf_scaling_data(run) for run in runs]
    most = max(curve["nodes"].max() for curve in curves)
    left.plot([1, most], [1, most], color=BLACK, lw=0.8, ls=":", label="no exchanges at all")
    for number, (run, curve) in enumerate(zip(runs, curves)):
        colour, marker = LOOKS[number % len(LOOKS)]
        look = {"color": colour, "marker": marker, "label": run.path.stem}
        left.plot(curve["nodes"], curve["speed"], **look)
        right.plot(curve["nodes"], 100 * curve["speed"] / curve["nodes"], **look)
    left.set_xlabel("nodes of the job")
    left.set_ylabel("speed (nodes that compute all the time)")
    left.legend(loc="upper left", frameon=False)
    left.set_title("Speed grows with the nodes as far as routes allow", loc="left")
    right.axvspan(1, leaf_size(runs[0]), color="#eeeeee", zorder=0)
    right.text(1.1, 4, "under one leaf: no route is chosen")
    right.set_xscale("log", base=2)
    right.xaxis.set_major_formatter(plt.FuncFormatter(lambda value, _: f"{value:g}"))
    right.set_ylim(0, 100)
    right.set_xlabel("nodes of the job")
    right.set_ylabel("time in which GPUs compute (%)")
    right.set_title("What each node keeps", loc="left")
    for axis in (left, right):
        tidy(axis)
    return figure
