"""Data frames written as traces, which the program reads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import orrery
import pandas as pd
import pytest
from orrery.trace import COLUMNS, TraceError, from_frame

SCENARIO = """
cluster: {{pools: [{{name: gpu, machine: dgx-a100, count: 2}}]}}
workload: {{sources: [{{kind: trace, file: {file}}}]}}
policy: {{base: strict_gang}}
"""


def test_a_frame_is_replayed(made, tmp_path: Path) -> None:
    frame = pd.DataFrame({
        "When": pd.to_datetime(["2024-03-01 10:00", "2024-03-01 10:01"]).tz_localize("UTC"),
        "Took": pd.to_timedelta(["1h", "90s"]), "n": [8.0, np.nan], "user": ["ann", None],
        "name": ["big, one", "small"], "mood": ["good", "bad"]})
    frame["n"] = frame["n"].fillna(0.25)
    path = from_frame(frame, tmp_path / "jobs.csv",
                      columns={"submit": "When", "duration": "Took", "gpus": "n"})
    assert path == tmp_path / "jobs.csv"
    assert path.read_text().splitlines()[0] == "submit,duration,gpus,name,user"
    run = made("frame", text=SCENARIO.format(file=path))
    jobs = run.table("/jobs").set_index("name").sort_values("submitted")
    assert list(jobs.index) == ["big, one", "small"]
    assert jobs["submitted"].to_list() == [36_000, 36_060]  # seconds since midnight
    assert jobs["run"].to_list() == pytest.approx([3600, 90])
    assert jobs["user"].to_list() == ["ann", ""]


def test_numbers_keep_their_value(program: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"submit": [1e9 + 0.5, 1e9 + 1], "duration": [0.1, np.nan],
                          "gpus": [16, 1], "pods": [2, np.nan], "status": ["FAILED", None]})
    path = from_frame(frame, tmp_path / "jobs.csv")
    assert path.read_text() == ("submit,duration,gpus,pods,status\n1000000000.5,0.1,16,2,FAILED\n"
                                "1000000001,,1,,\n")
    done = subprocess.run([program, "trace", "info", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "guessed from" in done.stdout and "submit, duration, gpus, pods, status" in done.stdout


@pytest.mark.parametrize(("columns", "change", "says"), [
    ({"sumbit": "t"}, {}, "no column of a trace is called 'sumbit'"),
    ({"gpus": "GPU"}, {}, "the frame has no column 'GPU' for gpus; it has submit, duration, gpus"),
    ({}, {"gpus": [1.5, 1]}, "column 'gpus', row 0: found 1.5, expected a whole number"),
    ({}, {"submit": [0, -1]}, "column 'submit', row 1: found -1, expected a number >= 0"),
    ({}, {"status": ["failed", "done"]}, "column 'status', row 1: found 'done', expected one of"),
    ({}, {"priority": [1, 2]}, "column 'priority', row 0: found 1, expected low, normal or high"),
    ({}, {"name": ["a\nb", "c"]}, "column 'name', row 0: found 'a\\\\nb', expected a text of one"),
])
def test_mistakes_name_column_and_row(tmp_path: Path, columns, change, says: str) -> None:
    frame = pd.DataFrame({"submit": [0, 1], "duration": [1, 2], "gpus": [1, 1]} | change)
    with pytest.raises(TraceError, match=says):
        from_frame(frame, tmp_path / "jobs.csv", columns)
    assert not list(tmp_path.iterdir())


def test_the_program_has_the_same_columns(program: str) -> None:
    said = subprocess.run([program, "describe", "workload.sources.trace.columns"],
                          capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert all(column in said.stdout for column in COLUMNS)
    assert orrery.trace.from_frame is from_frame
