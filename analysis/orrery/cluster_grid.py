"""The parts of orrery.cluster: its messages, the lease on a study's folder, the study, its shards, and the
grid that submits shards to Dask and tries lost shards again."""

from __future__ import annotations

import csv
import json
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from orrery import cluster_worker
from orrery.cluster_worker import LEASE, NOT_WRITTEN, PATIENCE, Outcome, Place
from orrery.printable import printable, say

if TYPE_CHECKING:
    from distributed import Client, Future

OK, BROKEN, MISTAKE, STOPPED = 0, 1, 2, 130
RENEWAL = 10.0  # seconds between renewals of the lease


class ClusterError(Exception):
    """The command must end, with this message and exit status."""

    def __init__(self, text: str, status: int = MISTAKE) -> None:
        super().__init__(text)
        self.status = status


class Log:
    """Prints lines in the format of the program. On a terminal, lines of progress are rewritten in place."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._width = 0
        self._told = (0.0, "")

    def say(self, text: str, level: str = "info") -> None:
        self.clear()
        say(f"{time.strftime('%H:%M:%S')} {level}: {printable(text)}", sys.stderr)

    def progress(self, text: str) -> None:
        """Prints progress if it has changed: at most twice a second on a terminal, else at most every ten
        seconds."""
        pause = 0.5 if self._is_terminal else 10.0
        now = time.monotonic()
        if text == self._told[1] or now < self._told[0] + pause:
            return
        self._told = (now, text)
        if not self._is_terminal:
            return self.say(text)
        self.clear()
        say(printable(text), sys.stderr, end="")
        self._width = len(text)

    def clear(self) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
        self._width = 0


class Lease:
    """A file in the study's folder that names the process which runs the study. Workers end their shards when
    the file is gone or no longer renewed. A folder has one lease at a time, so that no two processes run the
    same shard for long."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LEASE
        self._renewed = 0.0
        self.token = uuid.uuid4().hex

    def __enter__(self) -> Lease:
        mine = {"token": self.token, "host": socket.gethostname(), "pid": os.getpid()}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._refuse_others()
            self._path.write_text(json.dumps(mine))
        except OSError as error:
            raise ClusterError(f"{self._path.parent}: {error.strerror}", NOT_WRITTEN) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """Ends the lease; workers then end their shards."""
        self._path.unlink(missing_ok=True)

    def renew(self) -> None:
        if time.monotonic() > self._renewed + RENEWAL:
            self._renewed = time.monotonic()
            try:
                os.utime(self._path)
            except OSError as error:
                raise ClusterError(f"{self._path}: {error.strerror}", NOT_WRITTEN) from None

    def _refuse_others(self) -> None:
        try:
            found = json.loads(self._path.read_text())
            host, pid = found["host"], int(found["pid"])
            renewed = self._path.stat().st_mtime
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return
        if host == socket.gethostname():
            is_held = _is_alive(pid)
        else:  # compares times of files, because the clocks of two hosts may differ
            clock = self._path.with_name(f"{LEASE}.{self.token}")
            clock.touch()
            is_held = clock.stat().st_mtime < renewed + PATIENCE
            clock.unlink()
        if is_held:
            raise ClusterError(
                f"{self._path.parent}: process {pid} on {host} runs a study in this folder; if it "
                f"was killed, wait {PATIENCE / 60:.0f} minutes, or remove {self._path}"
            )


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


@dataclass(frozen=True)
class Study:
    """A study file, the folder of its runs, and the program."""

    program: Path
    path: Path
    folder: Path
    plugins: tuple[str, ...] = ()

    def arguments(self, action: str, *rest: str) -> list[str]:
        """The arguments with which the program does `action` for this study."""
        plugins = [word for plugin in self.plugins for word in ("--plugin", plugin)]
        folder = [] if action == "plan" else ["-o", str(self.folder)]
        return ["study", action, str(self.path), *rest, *folder, *plugins]

    def runs(self) -> list[Path]:
        """The file that each run will have when it is finished, in the order of `orrery study plan`."""
        command = [str(self.program), *self.arguments("plan")]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != OK:
            raise ClusterError(done.stderr.strip(), done.returncode)
        return [
            self.folder / "runs" / f"{int(row['cell']):05d}-s{row['seed']}.json"
            for row in csv.DictReader(done.stdout.splitlines())
        ]

    def call(self, action: str) -> int:
        """Runs the program and returns its status; the program prints its own messages. The program has a
        session of its own, so it gets only one signal to stop, from here. A second signal, from the terminal,
        would end it at once."""
        command = [str(self.program), *self.arguments(action)]
        process = subprocess.Popen(command, start_new_session=True)
        try:
            status = process.wait()
        except KeyboardInterrupt:
            process.terminate()
            status = process.wait()
        if status < 0:
            raise ClusterError(f"{' '.join(command)}: ended by signal {-status}", BROKEN)
        return status


@dataclass
class Shard:
    """Every n-th run of the study from the i-th on; `part` is "i/n"."""

    part: str
    runs: list[Path]
    tries: int = 0  # lost tries in a row; only the first of them may have finished a run
    before: set[tuple[str, int]] = field(default_factory=set)  # result of found() before the last try

    def found(self) -> set[tuple[str, int]]:
        """The finished runs of the shard, and when their files were written."""
        seen = set()
        for path in self.runs:
            try:
                seen.add((path.name, path.stat().st_mtime_ns))
            except OSError:
                pass
        return seen


class Grid:
    """The shards of a study on a cluster. Runs each shard until the shard is done or given up."""

    def __init__(
        self, client: Client, study: Study, place: Place, lease: Lease, retries: int, log: Log
    ) -> None:
        self._client, self._study, self._place = client, study, place
        self._lease, self._retries, self._log = lease, retries, log
        self.status = OK
        self.lost: list[Shard] = []

    def run(self, shards: Sequence[Shard]) -> None:
        from distributed import TimeoutError, wait

        runs = sum(len(shard.runs) for shard in shards)
        waiting = {self._submit(shard): shard for shard in shards}
        through = 0
        while waiting:
            self._lease.renew()
            try:
                ready = wait(list(waiting), timeout=0.5, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                ready = set()
            for future in ready:
                shard = waiting.pop(future)
                if self._is_to_try_again(shard, future):
                    waiting[self._submit(shard)] = shard
                else:
                    through += len(shard.runs)
            workers = len(self._client.scheduler_info()["workers"])
            self._log.progress(
                f"{through} of {runs} runs through, {len(waiting)} of {len(shards)} shards to go, "
                f"{workers} worker{'' if workers == 1 else 's'}"
            )

    def _submit(self, shard: Shard) -> Future:
        shard.before = shard.found()
        arguments = self._study.arguments("shard", shard.part, "--jobs", "1", "--quiet")
        return self._client.submit(
            cluster_worker.run_shard, self._place, arguments, pure=False, retries=0
        )

    def _is_to_try_again(self, shard: Shard, future: Future) -> bool:
        from distributed import KilledWorker

        if future.status == "error":
            error = future.exception()
            if not isinstance(error, KilledWorker):
                raise ClusterError(f"shard {shard.part}: {error}", BROKEN)
            return self._is_lost(shard, "its worker was lost", BROKEN)
        outcome: Outcome = future.result()
        if outcome["how"] == "refused":
            raise ClusterError(f"a worker on {outcome['host']} {outcome['text']}")
        status, where = outcome["status"], f"on {outcome['host']}"
        if outcome["how"] == "stopped":
            return self._is_lost(shard, f"its process {where} was stopped", BROKEN)
        if status < 0 or status > 128:
            number = -status if status < 0 else status - 128
            return self._is_lost(shard, f"its process {where} ended by signal {number}", BROKEN)
        if status == NOT_WRITTEN:
            return self._is_lost(shard, f"{where}: {outcome['text']}", NOT_WRITTEN)
        if status == BROKEN:
            self._give_up(shard, f"{where}: {outcome['text']}", BROKEN)
        elif status != OK:
            raise ClusterError(f"shard {shard.part} {where}: {outcome['text']}", status)
        else:
            self._tell_failed(shard, outcome)
        return False

    def _is_lost(self, shard: Shard, why: str, status: int) -> bool:
        """Counts a lost try of the shard. Returns whether the shard must be tried again; after too many tries
        it is given up. A try that finished a run starts the count anew, because machines may be lost now and
        then."""
        shard.tries = 1 if shard.found() != shard.before else shard.tries + 1
        if shard.tries > self._retries:
            self._give_up(shard, f"{why}; given up after {shard.tries} tries", status)
            return False
        self._log.say(f"shard {shard.part}: {why}; it is tried again", "warning")
        return True

    def _give_up(self, shard: Shard, why: str, status: int) -> None:
        if status == NOT_WRITTEN:  # every other shard would fail in the same way
            raise ClusterError(f"shard {shard.part} {why}", status)
        self._log.say(f"shard {shard.part}: {why}", "error")
        self.lost.append(shard)
        self.status = status

    def _tell_failed(self, shard: Shard, outcome: Outcome) -> None:
        for line in outcome["text"].splitlines():
            self._log.clear()
            say(line, sys.stderr)
        if outcome["text"]:
            return
        deadline = time.monotonic() + 60  # a network file system may show new files late
        while len(shard.found()) < len(shard.runs):
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"what a worker on {outcome['host']} wrote to {self._study.folder} is not "
                    "seen here: the folder must be on a file system that all workers share"
                )
            self._lease.renew()
            time.sleep(0.5)
