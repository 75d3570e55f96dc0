"""Runs a study on a Dask cluster: its shards side by side on the workers, those of lost workers
again, and at the end the report on what is in the folder.

    python3 -m orrery.cluster STUDY.yaml -o DIR                       # a worker for each core here
    python3 -m orrery.cluster STUDY.yaml -o DIR --scheduler tcp://head:8786

Workers need Dask, the program under the same path, and a file system that shares the study and DIR
under the same paths. Each run that is over is kept in DIR, so whatever is killed, the same command
goes on from there. Exit statuses are the program's: 0; 2 for mistakes of the user, such as a run
that fails; 74 if DIR cannot be written; 130 when stopped; and 1 if the program broke down in a
shard, or Dask was lost. Seeds that a study's `until` adds are run here, once the shards are through.
"""

from __future__ import annotations

import argparse
import csv
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from asyncio import CancelledError as TaskCancelled
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from orrery import cluster_worker, program
from orrery.cluster_worker import LEASE, PATIENCE, Outcome, Place

if TYPE_CHECKING:
    from distributed import Client, Future

OK, BROKEN, MISTAKE, NOT_WRITTEN, STOPPED = 0, 1, 2, 74, 130
SHARDS_PER_THREAD = 8  # so that all are busy until shortly before the end
RENEWAL = 10.0  # seconds between signs of life


class ClusterError(Exception):
    """Ends the command with a message and a status."""

    def __init__(self, text: str, status: int = MISTAKE) -> None:
        super().__init__(text)
        self.status = status


class Log:
    """Lines as the program's own; on a terminal the last one is rewritten."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._width = 0
        self._told = (0.0, "")

    def say(self, text: str, level: str = "info") -> None:
        self.clear()
        print(f"{time.strftime('%H:%M:%S')} {level}: {text}", file=sys.stderr, flush=True)

    def progress(self, text: str) -> None:
        """At most twice a second on a terminal, else every ten seconds, and only what is new."""
        pause = 0.5 if self._is_terminal else 10.0
        now = time.monotonic()
        if text == self._told[1] or now < self._told[0] + pause:
            return
        self._told = (now, text)
        if not self._is_terminal:
            return self.say(text)
        self.clear()
        print(text, end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def clear(self) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
        self._width = 0


class Lease:
    """A file in the folder that says who runs the study. Workers stop once it is gone or no longer
    renewed, and there is one at a time, so that no two run the same shard for long."""

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
        """Shards that still run are ended by their workers."""
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
        else:  # by the clock of the file system
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
        """Of a call of the program."""
        plugins = [word for plugin in self.plugins for word in ("--plugin", plugin)]
        folder = [] if action == "plan" else ["-o", str(self.folder)]
        return ["study", action, str(self.path), *rest, *folder, *plugins]

    def runs(self) -> list[Path]:
        """What is in the folder of each run once it is over, in the order of shards."""
        command = [str(self.program), *self.arguments("plan")]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != OK:
            raise ClusterError(done.stderr.strip(), done.returncode)
        return [
            self.folder / "runs" / f"{int(row['cell']):05d}-s{row['seed']}.json"
            for row in csv.DictReader(done.stdout.splitlines())
        ]

    def call(self, action: str) -> int:
        """The status of the program, which speaks for itself."""
        process = subprocess.Popen([str(self.program), *self.arguments(action)])
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.terminate()
            return process.wait()


@dataclass
class Shard:
    """Every n-th run from the i-th on."""

    part: str  # "2/5", as the program has it
    runs: list[Path]
    tries: int = 0  # in a row that brought no run
    before: set[tuple[str, int]] = field(default_factory=set)  # of the last try

    def found(self) -> set[tuple[str, int]]:
        """Its runs in the folder, and when they were written."""
        seen = set()
        for path in self.runs:
            try:
                seen.add((path.name, path.stat().st_mtime_ns))
            except OSError:
                pass
        return seen


class Grid:
    """The shards of a study on a cluster, until each is through or given up."""

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
        """Tries that brought a run do not count: machines that are taken away now and then."""
        shard.tries = 1 if shard.found() != shard.before else shard.tries + 1
        if shard.tries > self._retries:
            self._give_up(shard, f"{why}; given up after {shard.tries} tries", status)
            return False
        self._log.say(f"shard {shard.part}: {why}; it is tried again", "warning")
        return True

    def _give_up(self, shard: Shard, why: str, status: int) -> None:
        self._log.say(f"shard {shard.part}: {why}", "error")
        self.lost.append(shard)
        self.status = max(self.status, status)

    def _tell_failed(self, shard: Shard, outcome: Outcome) -> None:
        for line in outcome["text"].splitlines():
            self._log.clear()
            print(line, file=sys.stderr, flush=True)
        if outcome["text"]:
            return
        deadline = time.monotonic() + 60  # a network file system may show what was written late
        while len(shard.found()) < len(shard.runs):
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"what a worker on {outcome['host']} wrote to {self._study.folder} is not "
                    "seen here: the folder must be on a file system that all workers share"
                )
            self._lease.renew()
            time.sleep(0.5)


@contextmanager
def _cluster(scheduler: str | None, workers: int | None) -> Iterator[Client]:
    """A client of that scheduler, or of workers of our own on this machine."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ClusterError(
            "Dask is missing: install Debian's python3-distributed, or `distributed` from PyPI"
        ) from None
    import cloudpickle

    for name in ("distributed", "distributed.client", "asyncio"):  # what matters of their news is told by us
        logging.getLogger(name).setLevel(logging.CRITICAL)
    cloudpickle.register_pickle_by_value(cluster_worker)
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=30)
        except (OSError, ValueError) as error:
            raise ClusterError(f"no Dask scheduler at {scheduler}: {error}") from None
        with client:
            yield client
        return
    with tempfile.TemporaryDirectory() as scratch, LocalCluster(
        n_workers=workers or os.cpu_count(), threads_per_worker=1, dashboard_address=None,
        memory_limit=0, local_directory=scratch, silence_logs="CRITICAL",
        scheduler_kwargs={"allowed_failures": 0},  # the shards' own count of tries tells more
    ) as cluster, Client(cluster) as client:
        client.register_worker_plugin(cluster_worker.Undisturbed())
        yield client


def _check_workers(client: Client, study: Study, place: Place) -> None:
    """Each sees the folder and runs the same program, and what it writes is seen here."""
    from distributed import TimeoutError

    try:
        client.wait_for_workers(1, timeout=60)
    except TimeoutError:
        raise ClusterError("the scheduler has had no worker for a minute") from None
    answers = client.run(cluster_worker.leave_mark, place, on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            raise ClusterError(f"the worker {worker} cannot run Python of here: {answer}")
        reason, name = answer
        deadline = time.monotonic() + 60
        while not reason and not (study.folder / name).exists():
            if time.monotonic() > deadline:
                reason = f"writes to another {study.folder} than the one here"
            time.sleep(0.1)
        if reason:
            raise ClusterError(f"the worker {worker} {reason}")
        (study.folder / name).unlink()


def _run_shards(
    study: Study, runs: list[Path], options: argparse.Namespace, log: Log
) -> Grid:
    with Lease(study.folder) as lease, _cluster(options.scheduler, options.workers) as client:
        place: Place = {
            "program": str(study.program), "folder": str(study.folder), "token": lease.token,
            "version": cluster_worker.version_of(str(study.program)),
        }
        try:
            _check_workers(client, study, place)
            threads = sum(client.nthreads().values())
            count = min(len(runs), options.shards or SHARDS_PER_THREAD * threads)
            count = max(count, 2)  # one shard is the whole study, with its report
            shards = [Shard(f"{i + 1}/{count}", runs[i::count]) for i in range(count)]
            log.say(
                f"{study.path}: {len(runs)} runs in {count} shards, {threads} at once on "
                f"{client.scheduler.address}, output {study.folder}"
            )
            grid = Grid(client, study, place, lease, options.retries, log)
            grid.run([shard for shard in shards if shard.runs])
        except (CancelledError, TaskCancelled, OSError) as error:
            raise ClusterError(
                f"the Dask scheduler is lost ({type(error).__name__}); runs that are over are kept, "
                "and the same command goes on with another one", BROKEN
            ) from None
        finally:
            lease.end()  # before the cluster's end, which waits for shards that still run
            log.clear()
    return grid


def _run(study: Study, options: argparse.Namespace) -> int:
    runs = study.runs()
    log = Log()
    grid = _run_shards(study, runs, options, log)
    if not grid.lost:
        return study.call("run")  # finds all runs but those that failed, and tells why they do
    missing = sum(len(shard.runs) - len(shard.found()) for shard in grid.lost)
    if missing < len(runs):
        study.call("report")
    log.say(f"{missing} runs are missing; the same command tries them again", "error")
    return grid.status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="orrery.cluster", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )

    def count(text: str) -> int:
        if not text.isdecimal():
            raise ValueError
        return int(text)

    count.__name__ = "whole number"  # of the message
    parser.add_argument("study", type=Path, metavar="STUDY.yaml")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", required=True,
                        help="folder of the runs; workers must share it")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="of Dask, such as tcp://head:8786")
    where.add_argument("--workers", type=count, metavar="N",
                       help="start N workers on this machine; left out: one a core")
    parser.add_argument("--shards", type=count, metavar="N",
                        help=f"parts of the study; left out: {SHARDS_PER_THREAD} a thread")
    parser.add_argument("--retries", type=count, metavar="N", default=3,
                        help="how often a shard may be lost in a row without a new run (3)")
    parser.add_argument("--plugin", action="append", default=[], metavar="LIB",
                        help="a library of policies, as for orrery study")
    return parser


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main(argv: Sequence[str] | None = None) -> int:
    """The command; gives its exit status."""
    options = _parser().parse_args(argv)
    former: Any = signal.signal(signal.SIGTERM, _stop)
    try:
        study = Study(
            program.find(), options.study.absolute(), options.output.absolute(),
            tuple(str(Path(plugin).absolute()) for plugin in options.plugin),
        )
        return _run(study, options)
    except (ClusterError, program.ProgramError) as error:
        print(f"orrery.cluster: {error}", file=sys.stderr)
        return error.status if isinstance(error, ClusterError) else MISTAKE
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return STOPPED
    finally:
        signal.signal(signal.SIGTERM, former)


if __name__ == "__main__":
    sys.exit(main())
