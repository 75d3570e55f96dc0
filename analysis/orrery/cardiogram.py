"""/timeline/cardiogram as arrays: the activity of ranks of chosen jobs, interval by interval."""

from __future__ import annotations

import numpy as np
import pandas as pd

from orrery.mistakes import RunError
from orrery.run import Run

# Okabe and Ito's palette, which is distinguishable with any kind of colour vision.
PHASES = {
    "idle": "#FFFFFF",
    "init": "#DDDDDD",
    "restore": "#56B4E9",
    "compute": "#009E73",
    "exchange": "#0072B2",
    "wait": "#F0E442",
    "checkpoint": "#E69F00",
    "hung": "#CC79A7",
    "dead": "#000000",
}


def cardiogram(run: Run, job: str) -> pd.DataFrame:
    """Rows of the job named `job`, with the begin and end of their intervals in seconds."""
    jobs = run.table("/jobs")
    serial = jobs.loc[jobs["name"] == job, "job"]
    if serial.empty:
        raise RunError(f"{run.path}: no job is called {job}")
    rows = run.table("/timeline/cardiogram")
    times = np.sort(rows["time"].unique())
    rows = rows[rows["job"] == serial.iloc[0]].copy()
    if rows.empty:
        raise RunError(f"{run.path}: no cardiogram of {job} was recorded")
    before = np.concatenate([[2 * times[0] - times[min(1, len(times) - 1)]], times[:-1]])
    rows["end"] = rows["time"]
    rows["begin"] = rows["time"].map(dict(zip(times, before)))
    return rows


def by_rank(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The values of `column`: a column for each rank, a row for the end of each interval in seconds."""
    return rows.pivot(index="end", columns="rank", values=column)


def phase_codes(rows: pd.DataFrame) -> pd.DataFrame:
    """The phases as by_rank() returns them, each as its index in PHASES."""
    codes = {phase: i for i, phase in enumerate(PHASES)}
    return by_rank(rows.assign(code=rows["phase"].astype(str).map(codes)), "code")


def means(rows: pd.DataFrame) -> pd.Series:
    """Means over all intervals and ranks, weighted by the lengths of the intervals."""
    columns = ["reported", "power_watts", "network_bps", "computing", "exchange", "checkpoint"]
    span = rows["end"] - rows["begin"]
    return rows[columns].mul(span, axis=0).sum() / span.sum()
