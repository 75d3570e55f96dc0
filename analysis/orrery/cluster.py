"""Runs a study on a Dask cluster. The workers run the shards of the study in parallel; shards of lost workers
are run again. At the end the report of the folder is written.

    python3 -m orrery.cluster STUDY.yaml -o DIR               # with a worker for each core here
    python3 -m orrery.cluster STUDY.yaml -o DIR --scheduler tcp://head:8786

Workers need Dask, the program under the same path, and a file system that shares the study and DIR under the
same paths. Each finished run is kept in DIR. So if the command is killed, the same command continues from
there. Exit statuses are the program's: 0; 2 for mistakes of the user, such as a run that fails; 74 if DIR
cannot be written; 130 when stopped; and 1 if the program crashed in a shard, or Dask was lost. Seeds that a
study's `until` adds run on this machine, after the shards.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import tempfile
import time
from asyncio import CancelledError as TaskCancelled
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from orrery import cluster_worker, program
from orrery.cluster_grid import (
    BROKEN, MISTAKE, STOPPED, ClusterError, Grid, Lease, Log, Shard, Study,
)
from orrery.cluster_worker import Place
from orrery.printable import say

if TYPE_CHECKING:
    from distributed import Client

SHARDS_PER_THREAD = 8  # small shards keep all workers busy until shortly before the end


@contextmanager
def _cluster(scheduler: str | None, workers: int | None) -> Iterator[Client]:
    """A client of the scheduler at this address or, without one, of workers started on this machine."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ClusterError(
            "Dask is missing: install Debian's python3-distributed, or `distributed` from PyPI"
        ) from None
    import cloudpickle

    # Dask's messages are not shown: this command prints the relevant events itself.
    for name in ("distributed", "distributed.client", "asyncio"):
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
        # Dask does not retry lost shards; Grid does, see Grid._is_lost().
        scheduler_kwargs={"allowed_failures": 0},
    ) as cluster, Client(cluster) as client:
        client.register_worker_plugin(cluster_worker.Undisturbed())
        yield client


def _check_workers(client: Client, study: Study, place: Place) -> None:
    """Checks that each worker sees the folder and runs the same program, and that a file which the worker
    writes is visible here."""
    from distributed import TimeoutError

    try:
        client.wait_for_workers(1, timeout=60)
    except TimeoutError:
        raise ClusterError("the scheduler has had no worker for a minute") from None
    answers = client.run(cluster_worker.leave_mark, place, on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            raise ClusterError(f"the worker {worker} cannot run the Python code of this machine: {answer}")
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
            count = max(count, 2)  # a single shard would be the whole study, with its report
            shards = [Shard(f"{i + 1}/{count}", runs[i::count]) for i in range(count)]
            log.say(
                f"{study.path}: {len(runs)} runs in {count} shards, {threads} at once on "
                f"{client.scheduler.address}, output {study.folder}"
            )
            grid = Grid(client, study, place, lease, options.retries, log)
            grid.run([shard for shard in shards if shard.runs])
        except (CancelledError, TaskCancelled, OSError) as error:
            raise ClusterError(
                f"the Dask scheduler is lost ({type(error).__name__}); runs that are over are "
                "kept, and the same command continues with another scheduler", BROKEN
            ) from None
        finally:
            lease.end()  # must come before the cluster ends, which waits for running shards
            log.clear()
    return grid


def _run(study: Study, options: argparse.Namespace) -> int:
    runs = study.runs()
    log = Log()
    grid = _run_shards(study, runs, options, log)
    if not grid.lost:
        return study.call("run")  # runs failed runs again, prints their errors, and writes the report
    missing = sum(len(shard.runs) - len(shard.found()) for shard in grid.lost)
    if missing < len(runs):
        study.call("report")
    log.say(f"{missing} runs are missing; the same command tries them again", "error")
    return grid.status


def _library(name: str) -> str:
    """The absolute path of a plug-in, because workers run in other folders. A bare name is
    returned unchanged if there is no such file here: the program looks for such a library itself."""
    return str(Path(name).absolute()) if Path(name).exists() or "/" in name else name


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="orrery.cluster", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )

    def count(text: str) -> int:
        if not text.isdecimal():
            raise ValueError
        return int(text)

    count.__name__ = "whole number"  # the name in the parser's error messages
    parser.add_argument("study", type=Path, metavar="STUDY.yaml")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", required=True,
                        help="folder of the runs; workers must share it")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", help="of Dask, such as tcp://head:8786")
    where.add_argument("--workers", type=count, metavar="N",
                       help="start N workers on this machine; default: one for each core")
    parser.add_argument("--shards", type=count, metavar="N",
                        help=f"parts of the study; default: {SHARDS_PER_THREAD} for each thread")
    parser.add_argument("--retries", type=count, metavar="N", default=3,
                        help="how often a shard may be lost in a row without a new run (3)")
    parser.add_argument("--plugin", action="append", default=[], metavar="LIB",
                        help="a library of policies, as for orrery study")
    return parser


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    options = _parser().parse_args(argv)
    former: Any = signal.signal(signal.SIGTERM, _stop)
    try:
        study = Study(
            program.find(), options.study.absolute(), options.output.absolute(),
            tuple(map(_library, options.plugin)),
        )
        return _run(study, options)
    except (ClusterError, program.ProgramError) as error:
        say(f"orrery.cluster: {error}", sys.stderr)
        return error.status if isinstance(error, ClusterError) else MISTAKE
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return STOPPED
    finally:
        signal.signal(signal.SIGTERM, former)


if __name__ == "__main__":
    sys.exit(main())
