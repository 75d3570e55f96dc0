"""The timelines of a run as one xarray.Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from orrery.run import Run

if TYPE_CHECKING:
    import xarray

TIMELINES = "/timeline/"


def _keys(frame: pd.DataFrame) -> list[str]:
    """The columns that distinguish rows of the same time: columns of names, enums and ids, from the left, as
    few as suffice. Returns no columns if no two rows have the same time, or if even all such columns do not
    distinguish the rows."""
    if not frame["time"].duplicated().any():
        return []
    is_key = [c for c in frame.columns if frame.attrs["units"][c] == "id"
              or frame[c].dtype == object or isinstance(frame[c].dtype, pd.CategoricalDtype)]
    for length in range(1, len(is_key) + 1):
        if not frame.duplicated(["time", *is_key[:length]]).any():
            return is_key[:length]
    return []


def _array(frame: pd.DataFrame, name: str) -> xarray.Dataset | None:
    """One timeline, whose dimensions are the time and the columns of _keys(). Returns None if these columns
    do not distinguish all rows."""
    keys = _keys(frame)
    if frame.duplicated(["time", *keys]).any():
        return None
    plain = frame.astype({c: str for c in frame.columns
                          if isinstance(frame[c].dtype, pd.CategoricalDtype)})
    whole = plain.set_index(["time", *keys]).to_xarray()
    for column in whole.data_vars:
        whole[column].attrs = {"units": frame.attrs["units"][column],
                               "long_name": frame.attrs["docs"][column], "table": name}
    return whole


def dataset(run: Run) -> xarray.Dataset:
    """See Run.dataset."""
    try:
        import xarray
    except ModuleNotFoundError as error:
        if error.name != "xarray":
            raise
        raise ImportError("run.dataset() needs xarray: apt-get install python3-xarray, or "
                          "pip install xarray; run.table() and run.timeline() do without") from None
    parts = {}
    for path in run.tables:
        frame = run.table(path) if path.startswith(TIMELINES) else pd.DataFrame()
        if "time" not in frame:
            continue
        name = path.removeprefix(TIMELINES)
        part = _array(frame, name)
        if part is not None:
            parts[name] = part
    columns = [column for part in parts.values() for column in part.data_vars]
    for name, part in parts.items():
        twice = [column for column in part.data_vars if columns.count(column) > 1
                 and name != "cluster"]
        parts[name] = part.rename({column: f"{name}_{column}" for column in twice})
    merged = xarray.merge(parts.values(), join="outer", combine_attrs="drop_conflicts")
    if "time" in merged.coords:
        merged["time"].attrs = {"units": "s", "long_name": "simulated time since the start"}
    about = run.attributes
    merged.attrs = {key: about[key] for key in ("seed", "version", "digest") if key in about}
    merged.attrs["run"] = run.name
    return merged
