"""Traces out of data frames, for sources of `kind: trace`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

NEEDED = ("submit", "gpus")
SPANS = ("duration", "requested_time")
TIMES = ("submit", "start", "end")
STATUSES = ("completed", "cancelled", "canceled", "failed", "timeout", "node_fail", "running",
            "pending", "unknown")
COLUMNS = ("submit", "duration", "gpus", "pods", "name", "user", "team", "application", "priority",
           "status", "start", "end", "requested_time", "cpus", "memory", "gpu_model", "node")
"""Columns of format csv; `orrery describe workload.sources.trace` explains each, with its unit."""


class TraceError(ValueError):
    """The frame is no table of jobs. The text names the column and the row, and what is expected there."""


def from_frame(frame: pd.DataFrame, path: str | Path,
               columns: Mapping[str, str] | None = None) -> Path:
    """Writes a frame with a row for each job as a trace of format csv, and returns the path of the trace. A
    scenario names the path as `kind: trace`, `file: PATH`.

    `columns` maps a column of COLUMNS to its name in the frame, as in {"submit": "SubmitTime"}. A column that
    is not mapped has its own name in the frame. Further columns of the frame are ignored. Required are submit,
    gpus, and either duration or start and end. Times are seconds or datetimes, spans are seconds or timedeltas.
    gpus, cpus and memory (GiB) are of the whole job. NaN, NaT and None mean that a value is unknown."""
    names = {column: column for column in COLUMNS} | dict(columns or {})
    unknown = sorted(set(names) - set(COLUMNS))
    if unknown:
        raise TraceError(f"columns: no column of a trace is called {unknown[0]!r}; there are "
                         f"{', '.join(COLUMNS)}")
    for column in {*NEEDED, *(columns or {})} - {c for c in COLUMNS if names[c] in frame}:
        raise TraceError(f"the frame has no column {names[column]!r} for {column}; it has "
                         f"{', '.join(map(str, frame.columns))}")
    found = {column: frame[names[column]] for column in COLUMNS if names[column] in frame}
    if "duration" not in found and not {"start", "end"} <= set(found):
        raise TraceError("the frame does not say how long jobs ran: expected duration, or start "
                         "and end")
    table = pd.DataFrame({c: _cells(c, names[c], cells) for c, cells in found.items()})
    path = Path(path)
    table.to_csv(path, index=False, lineterminator="\n")
    return path


def _cells(column: str, name: str, cells: pd.Series) -> pd.Series:
    if column in TIMES:
        return _times(name, cells)
    if column in SPANS and pd.api.types.is_timedelta64_dtype(cells):
        return cells.dt.total_seconds()
    if column in SPANS or column in ("gpus", "pods", "cpus", "memory"):
        return _numbers(column, name, cells)
    if column == "status":
        reported = cells.astype(str).str.lower()
        _check(name, cells, cells.isna() | reported.isin(STATUSES), f"one of {' '.join(STATUSES)}")
    if column == "priority":
        reported = cells.astype(str).str.lower()
        _check(name, cells, cells.isna() | reported.isin(("low", "normal", "high")),
               "low, normal or high")
    has_break = cells.astype(str).str.contains("[\r\n\0]", regex=True)
    _check(name, cells, ~has_break, "a text of one line")
    return cells


def _times(name: str, cells: pd.Series) -> pd.Series:
    """Converts datetimes to texts with the local wall-clock time of their zone."""
    if isinstance(cells.dtype, pd.DatetimeTZDtype):
        cells = cells.dt.tz_localize(None)
    if pd.api.types.is_datetime64_any_dtype(cells):
        return cells.dt.strftime("%Y-%m-%d %H:%M:%S.%f")
    if pd.api.types.is_timedelta64_dtype(cells):
        return cells.dt.total_seconds()
    return cells if cells.dtype == object else _numbers("time", name, cells)


def _numbers(column: str, name: str, cells: pd.Series) -> pd.Series:
    """Checks numbers and returns them as texts. A column of texts, such as 90min, is returned as it is: the
    program checks it."""
    if cells.dtype == object:
        return cells
    is_whole = column in ("gpus", "pods")
    values = pd.to_numeric(cells, errors="coerce").astype(float)
    fits = values.isna() | ((values >= 0) & np.isfinite(values))
    if is_whole:
        fits &= values.isna() | (values == values.round()) | ((column == "gpus") & (values < 1))
    _check(name, cells, fits, "a whole number" if is_whole else "a number >= 0")
    # A column with NaN has floats; its whole numbers are written without `.0`.
    return values.map(lambda v: "" if np.isnan(v) else f"{v:.0f}" if v == round(v) else repr(v))


def _check(name: str, cells: pd.Series, fits: pd.Series, expected: str) -> None:
    wrong = np.flatnonzero(~fits.to_numpy(dtype=bool))
    if len(wrong):
        row = int(wrong[0])
        raise TraceError(f"column {name!r}, row {cells.index[row]!r}: found {cells.iloc[row]!r}, "
                         f"expected {expected}")
