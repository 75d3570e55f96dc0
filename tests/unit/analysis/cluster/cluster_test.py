"""Studies on Dask: results, and the files that remain when a process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import pytest
from conftest import STUDY

distributed = pytest.importorskip("distributed", reason="Debian's python3-distributed")
import psutil  # noqa: E402
from orrery import cluster, cluster_worker  # noqa: E402

DEADLINE = 120.0  # seconds, enough for a busy machine


def local_cluster() -> distributed.LocalCluster:
    """A cluster of two workers in threads of this process. Other processes can connect to it."""
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None
    )


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster that runs throughout the tests."""
    with local_cluster() as running:
        yield running.scheduler_address


def wait_for(what: Callable[[], object], why: str) -> object:
    began = time.monotonic()
    while not (found := what()):
        assert time.monotonic() < began + DEADLINE, why
        time.sleep(0.02)
    return found


def kept(folder: Path) -> dict[str, int]:
    """Names of the finished runs in the folder, and when their files were written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("runs/*.json")}


def started(path: Path, folder: Path, *options: str) -> subprocess.Popen:
    command = [sys.executable, "-B", "-m", "orrery.cluster", path, "-o", folder, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def shard_below(process: subprocess.Popen) -> psutil.Process | None:
    """The process of `orrery` that runs a shard for this coordinator; None if there is none."""
    try:
        below = psutil.Process(process.pid).children(recursive=True)
        return next((p for p in below if p.name() == "orrery"), None)
    except psutil.NoSuchProcess:
        return None


def has_ended(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def shards_of(folder: Path) -> list[int]:
    """Ids of the processes of the program that write to this folder."""
    processes = psutil.process_iter(["name", "cmdline"])
    return [
        p.pid for p in processes
        if p.info["name"] == "orrery" and str(folder) in (p.info["cmdline"] or [])
    ]


def test_a_killed_worker_loses_nothing_and_no_run_counts_twice(
    study, at_once, values_of, tmp_path: Path
) -> None:
    path, folder = study("100d"), tmp_path / "cluster"
    process = started(path, folder, "--workers", "2")
    wait_for(lambda: len(kept(folder)) >= 2, "no run is over")
    shard = wait_for(lambda: shard_below(process), "no shard runs")
    before = kept(folder)
    worker = shard.parent()
    worker.send_signal(signal.SIGKILL)
    said, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, said
    assert has_ended(shard)
    assert "its worker was lost; it is tried again" in said
    assert "12 of 12 runs (12 kept)" in said  # the shards ran all 12 runs, so `study run` ran no run
    after = kept(folder)
    assert len(before) < 12 == len(after)
    assert before.items() <= after.items()
    with h5py.File(folder / "study.h5") as file:
        rows = file["/runs"][:][["cell", "seed"]].tolist()
    assert len(rows) == len(set(rows)) == 12
    assert values_of(folder) == values_of(at_once(path, tmp_path / "plain"))


def test_a_stopped_coordinator_goes_on_where_it_was(
    study, scheduler: str, at_once, values_of, tmp_path: Path, capfd
) -> None:
    path, folder = study("100d"), tmp_path / "cluster"
    process = started(path, folder, "--scheduler", scheduler)
    wait_for(lambda: len(kept(folder)) >= 2, "no run is over")
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130 and "goes on from here" in said
    assert not (folder / "study.h5").exists()
    # The workers of the scheduler detect that no client waits, and end their shards.
    wait_for(lambda: not shards_of(folder), "a shard runs on")
    before = kept(folder)
    assert 2 <= len(before) < 12
    assert cluster.main([str(path), "-o", str(folder), "--scheduler", scheduler]) == 0
    assert "12 of 12 runs (12 kept)" in capfd.readouterr().err
    assert before.items() <= kept(folder).items()
    assert values_of(folder) == values_of(at_once(path, tmp_path / "plain"))


def test_a_lost_scheduler_is_told(study, tmp_path: Path) -> None:
    path, folder = study("100d"), tmp_path / "cluster"
    with local_cluster() as running:
        process = started(path, folder, "--scheduler", running.scheduler_address)
        wait_for(lambda: len(kept(folder)) >= 2, "no run is over")
    said, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 1 and "the Dask scheduler is lost" in said
    assert "Traceback" not in said


def test_a_run_that_fails_is_told_and_the_rest_goes_on(
    study, scheduler: str, tmp_path: Path, capfd
) -> None:
    (tmp_path / "bad.csv").write_text("job_id,nonsense\n1,2\n")
    trace = f"{{kind: trace, file: {tmp_path / 'bad.csv'}}}"
    path = study("1d", f"""
base: base.yaml
axes:
  - name: source
    arms:
      - {{name: good}}
      - {{name: bad, set: {{'workload.sources[0]': '{trace}'}}}}
seeds: {{count: 3}}
""")
    folder = tmp_path / "cluster"
    assert cluster.main([str(path), "-o", str(folder), "--scheduler", scheduler]) == 2
    said = capfd.readouterr().err
    for seed in (1, 2, 3):
        assert f"source=bad seed {seed}: " in said
    assert "tried again" not in said
    with h5py.File(folder / "study.h5") as file:
        runs = file["/runs"][:]
    assert sorted(zip(runs["cell"], runs["is_ok"])) == [(0, True)] * 3 + [(1, False)] * 3


@pytest.fixture
def fragile(program: str, monkeypatch, tmp_path: Path) -> Callable[[str], Path]:
    """Makes a program that runs the command `instead` before shard 1/4. If the command ends the shell, the shard
    does not run. Each try adds a line to the returned file."""

    def make(instead: str) -> Path:
        path, tries = tmp_path / "fragile", tmp_path / "tries"
        path.write_text(f"""#!/bin/sh
case "$2 $4" in "shard 1/4") echo try >>{tries}; {instead} ;; esac
exec {program} "$@"
""")
        path.chmod(0o755)
        monkeypatch.setenv("ORRERY", str(path))
        return tries

    return make


def test_a_shard_that_dies_each_time_is_given_up(
    study, scheduler: str, fragile, tmp_path: Path, capfd
) -> None:
    tries = fragile("kill -KILL $$")
    path, folder = study("1d"), tmp_path / "cluster"
    arguments = ["--scheduler", scheduler, "--shards", "4", "--retries", "2"]
    assert cluster.main([str(path), "-o", str(folder), *arguments]) == 1
    assert tries.read_text() == "try\n" * 3
    said = capfd.readouterr()
    assert "ended by signal 9; given up after 3 tries" in said.err
    assert "3 runs are missing" in said.err
    assert "jct_mean" in said.out  # the report shows the results that exist
    assert len(kept(folder)) == 9 and not (folder / "study.h5").exists()


def test_tries_that_bring_a_run_are_not_counted(
    study, scheduler: str, fragile, program: str, tmp_path: Path
) -> None:
    """The machine is lost after one new run, three times in a row. One retry allows only one loss without
    a new run."""
    path, folder = study("1d"), tmp_path / "cluster"
    one = f'{program} study shard "$3" $part/12 -o {folder} -q'  # shard 1 of 4 has runs 1, 5 and 9 of 12
    tries = fragile(f"""
  part=$(($(wc -l <{tmp_path}/tries) * 4 - 3))
  [ $part -gt 12 ] || {{ {one}; kill -KILL $$; }}""")
    arguments = ["--scheduler", scheduler, "--shards", "4", "--retries", "1"]
    assert cluster.main([str(path), "-o", str(folder), *arguments]) == 0
    assert tries.read_text() == "try\n" * 4
    assert len(kept(folder)) == 12


def test_a_folder_that_cannot_be_written_ends_all(
    study, scheduler: str, fragile, monkeypatch, tmp_path: Path, capfd
) -> None:
    monkeypatch.setattr(cluster_worker, "PAUSE", 0.0)
    tries = fragile("echo no space left >&2; exit 74")
    arguments = ["--scheduler", scheduler, "--shards", "4", "--retries", "1"]
    assert cluster.main([str(study("1d")), "-o", str(tmp_path / "cluster"), *arguments]) == 74
    assert tries.read_text() == "try\n" * 2
    assert "no space left; given up after 2 tries" in capfd.readouterr().err


def test_mistakes_have_their_status_and_say_what_to_do(
    study, program: str, monkeypatch, tmp_path: Path, capsys
) -> None:
    folder = tmp_path / "cluster"
    path = study("1d", STUDY.replace("seeds:", "seed:"))
    assert cluster.main([str(path), "-o", str(folder)]) == 2
    assert "study.yaml:7:1: " in capsys.readouterr().err
    path = study("1d")
    (tmp_path / "file").touch()
    assert cluster.main([str(path), "-o", str(tmp_path / "file")]) == 74
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "distributed", None)
        assert cluster.main([str(path), "-o", str(folder)]) == 2
    assert "python3-distributed" in capsys.readouterr().err
    monkeypatch.setenv("ORRERY", str(tmp_path / "nowhere"))
    assert cluster.main([str(path), "-o", str(folder)]) == 2
    assert f"ORRERY is '{tmp_path / 'nowhere'}'" in capsys.readouterr().err


def test_one_coordinator_at_a_time_and_a_dead_one_does_not_count(tmp_path: Path) -> None:
    with cluster.Lease(tmp_path) as lease:
        with pytest.raises(cluster.ClusterError, match=f"process {os.getpid()} on .* runs a study"):
            cluster.Lease(tmp_path).__enter__()
        text = (tmp_path / cluster_worker.LEASE).read_text()
        assert lease.token in text
    dead = subprocess.Popen(["true"])
    dead.wait()
    (tmp_path / cluster_worker.LEASE).write_text(text.replace(str(os.getpid()), str(dead.pid)))
    with cluster.Lease(tmp_path):
        pass


def test_a_worker_that_sees_another_folder_or_program_refuses(
    program: str, scheduler: str, tmp_path: Path
) -> None:
    version = cluster_worker.version_of(program)
    assert version.startswith("orrery")
    with cluster.Lease(tmp_path) as lease:
        place: cluster_worker.Place = {
            "program": program, "version": version, "folder": str(tmp_path), "token": lease.token
        }
        assert cluster_worker.refusal(place, patience=0) == ""
        for change, why in (
            ({"folder": str(tmp_path / "elsewhere")}, "all workers share"),
            ({"token": "of another"}, "all workers share"),
            ({"program": "/nowhere"}, "cannot run /nowhere"),
            ({"version": "orrery 0"}, f"has {version}"),
        ):
            assert why in cluster_worker.refusal({**place, **change}, patience=0)


def test_a_shard_ends_when_its_lease_is_gone_or_grows_old(monkeypatch, tmp_path: Path) -> None:
    with cluster.Lease(tmp_path) as lease:
        place: cluster_worker.Place = {
            "program": "", "version": "", "folder": str(tmp_path), "token": lease.token
        }
        monkeypatch.setattr(cluster_worker, "PATIENCE", 0.6)
        assert not cluster_worker.wait_while_wanted(subprocess.Popen(["sleep", "60"]), place)
        assert cluster_worker.wait_while_wanted(subprocess.Popen(["true"]), place)
        monkeypatch.setattr(cluster_worker, "PATIENCE", 60)
        lease.end()
        assert not cluster_worker.wait_while_wanted(subprocess.Popen(["sleep", "60"]), place)
