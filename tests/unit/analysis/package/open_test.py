"""Opening runs, following runs that go on, and comparing runs."""

from __future__ import annotations

import math
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import orrery
import pytest
from conftest import ROOT, TINY


def test_times_are_seconds_and_never_is_nan(tiny: orrery.Run) -> None:
    jobs = tiny.table("/jobs").set_index("job")
    assert jobs.loc[0, "name"] == "wide"
    assert jobs.loc[3, "submitted"] == 120.0
    assert jobs.attrs["units"]["wait"] == "s" and jobs.attrs["units"]["useful_gpu_s"] == "GPU s"
    assert jobs.attrs["docs"]["name"] == "name of the job" and jobs.attrs["doc"].startswith("Jobs:")
    raw = tiny.raw("/jobs")
    assert raw["wait"].dtype == np.int64
    assert (raw["wait"] / 1e9 == tiny.table("/jobs")["wait"]).all()


def test_a_deadlock_that_never_ends_has_no_time_of_its_end(made) -> None:
    deadlocks = made("two-experiments-default").table("/events/deadlocks")
    assert math.isnan(deadlocks["resolved_at"].iloc[0])
    assert deadlocks["resolution"].iloc[0] == "unresolved"
    assert "timeout" in deadlocks["resolution"].cat.categories


def test_an_id_of_nothing_is_minus_one(made) -> None:
    pods = made("two-experiments-default").table("/pods")
    assert (pods["node"] == -1).sum() == 16 and pods["node"].max() == 15


def test_tables_longer_than_a_chunk_come_whole(made) -> None:
    run = made("openai-7500", "--until", "2d", "--set", "cluster.pools[0].count=64", "--set",
               "workload.sources[0].arrival_rate=4")
    assert len(run.timeline("cluster")) == 2880
    for _ in range(2):
        assert run.timeline("cluster").index.is_monotonic_increasing
        assert run.timeline("cluster").index.is_unique


def test_meta_tells_how_to_run_it_again(tiny: orrery.Run) -> None:
    meta = tiny.meta
    assert meta.scenario == TINY and meta.seed == 3 and meta.resolved["run"]["until"] == "1h"
    assert len(meta.digest) == 16 and tiny.complete and tiny.end == 3600.0


def test_the_summary_has_units(tiny: orrery.Run) -> None:
    assert tiny.summary["jobs_completed"] == 4 and tiny.summary["gpus"] == 32
    assert tiny.summary.attrs["units"]["jct_mean"] == "s"


def test_two_runs_are_compared_figure_by_figure(tiny: orrery.Run, made) -> None:
    other = made("two-experiments-default")
    frame = orrery.compare([tiny, other.path], names=["tiny", "dead"])
    assert frame.loc["gpus"].to_list() == [32.0, 128.0, 96.0, 300.0]
    assert frame.columns.to_list() == [
        ("value", "tiny"), ("value", "dead"), ("difference", "dead"), ("percent", "dead")
    ]
    assert math.isnan(frame.loc["deadlocks", ("percent", "dead")])
    with pytest.raises(orrery.RunError, match="1 names for 2 runs"):
        orrery.compare([tiny, other], names=["one"])


def test_what_is_no_run_is_told(tiny: orrery.Run, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing.h5: no such file"):
        orrery.open(tmp_path / "nothing.h5")
    (tmp_path / "text.h5").write_text("text")
    with pytest.raises(orrery.RunError, match="text.h5: not an HDF5 file, or damaged"):
        orrery.open(tmp_path / "text.h5")
    h5py.File(tmp_path / "other.h5", "w").close()
    with pytest.raises(orrery.RunError, match="other.h5: not an output file of orrery"):
        orrery.open(tmp_path / "other.h5")
    (tmp_path / "later.h5").write_bytes(tiny.path.read_bytes())
    with h5py.File(tmp_path / "later.h5", "a") as file:
        file.attrs["format_version"] = 2
    with pytest.raises(orrery.RunError, match="written in format 2, and this package reads 1"):
        orrery.open(tmp_path / "later.h5")
    with pytest.raises(orrery.RunError, match="no table /job; it has .*/jobs"):
        tiny.table("/job")


def started(program: str, output: Path, until: str) -> subprocess.Popen:
    """Starts a run that takes seconds, and returns when its file can be read."""
    command = [program, "run", ROOT / "scenarios" / "openai-7500.yaml", "-q", "-o", output]
    process = subprocess.Popen([*command, "--until", until], stdout=subprocess.DEVNULL)
    part = output.with_name(output.name + ".part")
    while not part.exists() and process.poll() is None:
        time.sleep(0.02)
    return process


def test_a_growing_run_is_followed_to_its_end(program: str, tmp_path: Path) -> None:
    process = started(program, tmp_path / "run.h5", "10d")
    rows = []
    for run in orrery.open(tmp_path / "run.h5").follow(every=0.2):
        times = run.timeline("cluster").index
        assert times.is_unique and times.is_monotonic_increasing
        rows.append(len(times))
    assert process.wait() == 0
    assert run.complete and run.path == tmp_path / "run.h5"
    assert rows[-1] == 10 * 24 * 60 and rows == sorted(rows) and len(rows) >= 2
    assert run.summary["nodes"] == 7500


def test_a_killed_run_says_that_it_is_not_complete(program: str, tmp_path: Path) -> None:
    process = started(program, tmp_path / "run.h5", "30d")
    process.kill()
    process.wait()
    run = orrery.open(tmp_path / "run.h5")
    assert run.path.name == "run.h5.part" and run.name == "run"
    assert not run.complete and not run.refresh() and run.meta.digest is None
    with pytest.raises(orrery.RunError, match="no summary, as the run is not complete"):
        run.summary
    with pytest.raises(TimeoutError, match="was it killed"):
        for _ in run.follow(every=0.01, patience=0.05):
            pass
