"""The array script on a Slurm of one node, started on this machine for the test."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import pytest
from conftest import ROOT

psutil = pytest.importorskip("psutil", reason="Debian's python3-psutil")

SCRIPT = ROOT / "scenarios" / "studies" / "slurm_array.sh"
PATH = f"{os.environ['PATH']}:/usr/sbin"
PROGRAMS = ("slurmctld", "slurmd", "sbatch")
IS_INSTALLED = all(shutil.which(name, path=PATH) for name in PROGRAMS)
pytestmark = [
    pytest.mark.skipif(not IS_INSTALLED, reason="Slurm is not installed (Debian's slurm-wlm)"),
    pytest.mark.skipif(os.geteuid() != 0, reason="slurmd starts jobs of users as root only"),
]
DEADLINE = 120.0  # seconds
CONF = """
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
KillWait=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def wait_for(what: Callable[[], object], why: str) -> object:
    began = time.monotonic()
    while not (found := what()):
        assert time.monotonic() < began + DEADLINE, why
        time.sleep(0.05)
    return found


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def words_of(process: psutil.Process) -> set[str]:
    return set(process.info["cmdline"] or [])


class Slurm:
    """Calls the commands of Slurm."""

    def __init__(self, folder: Path) -> None:
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": PATH}

    def __call__(self, *command: object) -> str:
        words = [str(word) for word in command]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout.strip()

    def state(self, job: str) -> str:
        """The state of a job, or of a task of an array, such as "12_3"."""
        return self("squeue", "--noheader", "--states=all", "-o", "%T", "-j", job)

    def all_about(self, job: str) -> str:
        """The controller's state and the logs of both daemons, for the message of a failed test."""
        folder = Path(self.environment["SLURM_CONF"]).parent
        logs = (f"\n{name}:\n{(folder / f'{name}.log').read_text()}" for name in PROGRAMS[:2])
        return self("scontrol", "show", "job", job) + "".join(logs)


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[Slurm]:
    folder = tmp_path / "slurm"
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    host = socket.gethostname().split(".")[0]
    conf = CONF.format(folder=folder, host=host, controller=free_port(), node=free_port())
    (folder / "slurm.conf").write_text(conf)
    calls = Slurm(folder)
    daemons = []
    try:
        for command in (["slurmctld", "-D", "-c"], ["slurmd", "-D"]):
            with open(folder / f"{command[0]}.out", "w") as out:
                daemons.append(subprocess.Popen(
                    command, env=calls.environment, stdout=out, stderr=out, start_new_session=True
                ))
        wait_for(lambda: calls("sinfo", "-h", "-o", "%t") == "idle", "no node is idle")
        yield calls
    finally:
        subprocess.run(["scancel", "--state=RUNNING"], env=calls.environment, capture_output=True)
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(timeout=30)


def test_an_array_whose_task_is_requeued_loses_nothing(
    slurm: Slurm, study, at_once, values_of, tmp_path: Path
) -> None:
    path, folder, log = study("100d"), tmp_path / "array", tmp_path / "%x-%j.log"
    sbatch = ("sbatch", "--parsable", "--output", log, "--export=ALL")
    array = slurm(*sbatch, "--array=1-4", SCRIPT, path, folder)
    merge = slurm(*sbatch, f"--dependency=afterany:{array}", SCRIPT, path, folder)
    # Task 1 of 4 has runs 1, 5 and 9 of twelve. The task is requeued when run 1 is over and run 9 is not.
    own = [f"{run % 2:05d}-s{run // 2 + 1}" for run in range(0, 12, 4)]
    first, last = (folder / "runs" / f"{own[run]}.json" for run in (0, 2))
    wait_for(first.exists, "no run is over")
    task = next(p for p in psutil.process_iter(["cmdline"]) if {"1/4", str(folder)} <= words_of(p))
    task.suspend()  # the suspended process is still there when Slurm requeues the task
    written = first.stat().st_mtime_ns
    assert not last.exists()
    slurm("scontrol", "requeue", f"{array}_1")
    wait_for(lambda: slurm.state(f"{array}_1") == "PENDING", "the task is not requeued")
    wait_for(lambda: not task.is_running(), "the task goes on")
    assert not last.exists()
    # By default Slurm would start the task 2 minutes after the requeue; 3 s are enough. A launch at once would be
    # rejected by the node, which compares times of credentials and revocations in whole seconds.
    slurm("scontrol", "update", f"JobId={array}_1", "StartTime=now+3")
    wait_for(lambda: slurm.state(merge) == "COMPLETED", "the last job is not over")
    states = slurm("squeue", "--noheader", "--states=all", "-r", "-o", "%T", "-j", array)
    assert set(states.split()) == {"COMPLETED"}, slurm.all_about(array) + "".join(
        f"\n{path.name}:\n{path.read_text()}" for path in sorted(tmp_path.glob("*.log"))
    )
    assert first.stat().st_mtime_ns == written
    said = (tmp_path / f"orrery-study-{merge}.log").read_text()
    assert "12 of 12 runs (12 kept)" in said and "jct_mean" in said
    with h5py.File(folder / "study.h5") as file:
        rows = file["/runs"][:][["cell", "seed"]].tolist()
    assert len(rows) == len(set(rows)) == 12
    assert values_of(folder) == values_of(at_once(path, tmp_path / "plain"))


def test_an_array_that_is_not_the_whole_study_is_refused(study, tmp_path: Path) -> None:
    path = study("1d")
    for first, last, count in ((0, 3, 4), (1, 4, 3), (1, 1, 1)):
        environment = {
            **os.environ, "SLURM_ARRAY_TASK_ID": str(last), "SLURM_ARRAY_TASK_MIN": str(first),
            "SLURM_ARRAY_TASK_MAX": str(last), "SLURM_ARRAY_TASK_COUNT": str(count),
        }
        command = ["bash", SCRIPT, path, tmp_path / "array"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 2 and "the array must be 1-N" in done.stderr
