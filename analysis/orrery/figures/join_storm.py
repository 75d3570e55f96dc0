"""Nodes that join together: API servers, requests, latency and jobs, a column for each run."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orrery.run import Run
from orrery.style import BLUE, GREEN, ORANGE, VERMILION, tidy

BEFORE, AFTER = 10, 80  # seconds shown before and after the first request to join


def table(run: Run, path: str, begin: float) -> pd.DataFrame:
    """Rows of a table around the joins; `t` is the time in seconds since `begin`, the first request to
    join."""
    rows = run.table(path)
    rows["t"] = rows["time"] - begin
    return rows[(rows["t"] >= -BEFORE) & (rows["t"] <= AFTER)]


def draw_run(run: Run, axes: Sequence[Axes]) -> None:
    """Draws one run, from top to bottom: nodes and servers; responses and rejections; latency; waits of
    jobs."""
    boots, jobs = run.table("/events/boots"), run.table("/jobs")
    begin = boots["asked"].min()
    nodes = table(run, "/timeline/nodes", begin)
    servers = table(run, "/timeline/api_servers", begin)
    asked = table(run, "/timeline/control_plane", begin)
    joined = nodes["ready"] - nodes["ready"].min()
    up = servers.groupby("t")["is_up"].sum()
    took = boots["ready"].max() - begin
    axes[0].step(nodes["t"], joined, where="post", color=BLUE)
    axes[0].set_title(f"{run.path.stem}: the last node is ready after {took:.1f} s", loc="left")
    axes[0].set_ylabel("nodes that joined", color=BLUE)
    right = axes[0].twinx()
    right.step(up.index, up, where="post", color=GREEN, lw=1.2)
    right.set_ylim(0, up.max() + 0.3)
    right.set_ylabel("API servers up", color=GREEN)
    rates = asked.groupby("t")[["done", "too_many", "lost"]].sum()
    rates = rates.reindex(nodes["t"], fill_value=0)
    for column, name, colour in (
        ("done", "answered", BLUE),
        ("too_many", "429: too many", ORANGE),
        ("lost", "lost with a server, or none there", VERMILION),
    ):
        axes[1].plot(rates.index, rates[column], color=colour, lw=1.2, label=name)
    axes[1].set_ylabel("requests (1/s)")
    answered = asked[asked["done"] > 0]
    p99 = answered.groupby("t")["p99"].max() * 1e3
    axes[2].plot(p99.index, p99, ".", ms=4, color=BLUE)
    axes[2].set_yscale("log")
    axes[2].set_ylabel("latency, p99 of the\nslowest verb (ms)")
    submitted = jobs["submitted"] - begin
    axes[3].plot(submitted, jobs["wait"], ".", ms=2, color=BLUE)
    axes[3].set_yscale("log")
    axes[3].set_ylabel("wait of jobs\nsubmitted then (s)")
    axes[3].set_xlabel("time since the nodes ask to join (s)")
    axes[3].set_xlim(-BEFORE, AFTER)
    for axis in axes:
        tidy(axis)


def join_storm(runs: Sequence[Run]) -> Figure:
    """Draws a column for each run. The panels of a row have the same scale."""
    figure, axes = plt.subplots(
        4, len(runs), figsize=(6.2 * len(runs), 10), sharex="col", sharey="row",
        squeeze=False, constrained_layout=True,
    )
    for run, column in zip(runs, axes.T):
        draw_run(run, column)
    axes[1][0].legend(frameon=False, loc="upper right")
    return figure
