"""Code that runs on a Dask worker for orrery.cluster. Its source is sent to the worker, so it uses only the
standard library: a worker needs Dask and the program, but not this package."""

from __future__ import annotations

import ctypes
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import Literal, TypedDict

LEASE = ".cluster.json"  # this file is in the study's folder while a command runs the study
# Seconds without a renewal after which the lease is lost. Network file systems may show a renewal late.
PATIENCE = 180.0
PAUSE = 3.0  # seconds after a shard could not write, before it may be tried again
NOT_WRITTEN = 74  # exit status of the program if it cannot write
PR_SET_PDEATHSIG = 1


class Place(TypedDict):
    """What must be the same for all workers."""

    program: str
    version: str  # output of --version
    folder: str
    token: str  # token in the lease


class Outcome(TypedDict):
    """The end of a shard. `ended`: the program ended with `status`. `stopped`: the command that wanted the
    shard is gone. `refused`: the worker cannot run the shard; `text` says why."""

    how: Literal["ended", "stopped", "refused"]
    status: int
    text: str  # standard error of the program
    host: str


class Undisturbed:
    """A plug-in for workers started by the command: they ignore Ctrl-C, which the terminal sends to them,
    too."""

    name = "orrery-undisturbed"

    def setup(self, worker: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def version_of(program: str) -> str:
    """The output of the program's --version; empty if the program does not run."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def lease_seen(place: Place) -> int | None:
    """The time of the last renewal of the lease, by the clock of the file system; None if the lease is
    gone."""
    path = Path(place["folder"]) / LEASE
    try:
        return path.stat().st_mtime_ns if place["token"] in path.read_text() else None
    except OSError:
        return None


def refusal(place: Place, patience: float = 10.0) -> str:
    """The reason why this worker cannot run shards; empty if it can. A new folder may become visible late, so
    the function waits up to `patience` seconds for the lease."""
    began = time.monotonic()
    while lease_seen(place) is None:
        if time.monotonic() - began > patience:
            return (
                f"does not see {place['folder']} as it is here: it must be on a file system that "
                "all workers share, under the same path"
            )
        time.sleep(0.5)
    version = version_of(place["program"])
    if not version:
        return f"cannot run {place['program']}: the program must be at the same path on all workers"
    if version != place["version"]:
        return f"has {version} as {place['program']}, and here it is {place['version']}"
    return ""


def leave_mark(place: Place) -> tuple[str, str]:
    """Tries to write a file into the folder. Returns the reason of a failure, or an empty text, and the name
    of the file."""
    reason, name = refusal(place), f".seen-{uuid.uuid4().hex}"
    if not reason:
        try:
            (Path(place["folder"]) / name).touch()
        except OSError as error:
            reason = f"cannot write to {place['folder']}: {error.strerror}"
    return reason, name


def run_shard(place: Place, arguments: list[str]) -> Outcome:
    """Runs the program with these arguments. The program is ended when this worker dies. It is also ended
    when the lease is gone or no longer renewed: then no client waits for the shard, and another client may
    soon run it."""
    host = socket.gethostname()
    reason = refusal(place)
    if reason:
        return {"how": "refused", "status": 2, "text": reason, "host": host}
    prctl = getattr(ctypes.CDLL(None), "prctl", None)  # Linux only

    def die_with_worker() -> None:
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [place["program"], *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=said, start_new_session=True, preexec_fn=die_with_worker,
        )
        is_wanted = wait_while_wanted(process, place)
        # An earlier process of the shard may still hold a file. The pause gives that process time to end.
        if process.returncode == NOT_WRITTEN:
            time.sleep(PAUSE)
        said.seek(0)
        return {
            "how": "ended" if is_wanted else "stopped",
            "status": process.returncode,
            "text": said.read().strip(),
            "host": host,
        }


def wait_while_wanted(process: subprocess.Popen, place: Place) -> bool:
    """Waits until the program ends, and returns True. If the lease is lost before that, ends the program and
    returns False."""
    renewed, noticed, misses = lease_seen(place), time.monotonic(), 0
    while True:
        try:
            process.wait(timeout=0.5)
            return True
        except subprocess.TimeoutExpired:
            seen = lease_seen(place)
        misses = misses + 1 if seen is None else 0
        if seen is not None and seen != renewed:
            renewed, noticed = seen, time.monotonic()
        if misses > 1 or time.monotonic() - noticed > PATIENCE:
            break
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return False
