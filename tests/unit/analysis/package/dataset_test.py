"""Timelines as xarray datasets, and the types of the columns of each table."""

from __future__ import annotations

import sys

import numpy as np
import orrery
import pandas as pd
import pytest


def test_timelines_are_one_dataset_with_units(tiny: orrery.Run) -> None:
    pytest.importorskip("xarray")
    whole = tiny.dataset()
    assert whole.sizes["time"] == 6 and whole["time"].attrs["units"] == "s"
    cluster = tiny.timeline("cluster")
    used = whole["gpus_allocated"]
    assert used.dims == ("time",) and used.attrs["units"] == "GPU" and used.attrs["long_name"]
    assert used.to_numpy().tolist() == cluster["gpus_allocated"].to_list()
    # The name has the prefix `teams_` because /timeline/cluster also has a column gpus_allocated.
    teams = whole["teams_gpus_allocated"]
    assert teams.dims == ("time", "team") and teams["team"].to_numpy().tolist() == ["a", "b"]
    rows = tiny.table("/timeline/teams").set_index(["team", "time"])["gpus_allocated"]
    assert float(teams.sel(team="b", time=600.0)) == rows["b", 600.0]
    assert whole.attrs["seed"] == 3


def test_without_xarray_the_package_is_named(
    tiny: orrery.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match="apt-get install python3-xarray"):
        tiny.dataset()


@pytest.mark.parametrize("scenario", ["two-experiments-default", "preemption"])
def test_texts_are_texts_and_never_is_nan_in_every_table(made, scenario: str) -> None:
    run = made(scenario)
    for path in run.tables:
        frame, stored = run.table(path), run.raw(path)
        for column in frame:
            reported = frame[column]
            if stored[column].dtype.kind == "S":  # a column of an empty table has this type, too
                assert reported.dtype == object and all(isinstance(text, str) for text in reported), column
            if frame.attrs["units"][column] == "s":
                assert not (reported < 0).any(), f"{path} {column}"
                is_time = stored[column].dtype.kind == "i"
                if is_time:
                    assert (np.isnan(reported) == (stored[column] < 0)).all(), f"{path} {column}"
    never = run.table("/jobs")["ended"].isna()
    assert isinstance(never, pd.Series)
