"""The client of the policy `Remote`: a process that decides for the job queue of a run.

    class Largest:
        def plan(self, board):
            for job in sorted(board.waiting, key=lambda job: -job.asks[0]):
                if board.fits(job):
                    board.start(job)

    orrery.remote.serve("unix:/tmp/orrery.sock", Largest)

and in the scenario, with `policy.job_queue`:

    policies: [{name: Remote, args: {address: "unix:/tmp/orrery.sock"}}]

Either side may be started first. The policies FIFO and EASY below decide as the built-in `Strict` and
`EASY` do; `python3 -m orrery.remote --policy easy --address unix:/tmp/orrery.sock` serves them.
policies/jobs/remote/README.md has the protocol.
"""

from __future__ import annotations

import argparse
import bisect
import contextlib
import json
import os
import socket
import stat
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

VERSION = 1
# Sort key of a job: its expected end (0 while it waits), its submission, its number.
Place = tuple[int, int, int]


@dataclass(eq=False)
class Job:
    """A job of the run, as its messages describe it. Times are in ns, amounts in units of the resource: 1000
    for a GPU or CPU, 1 for a byte."""

    number: int
    submitted: int
    user: str
    team: str
    application: str
    priority: int
    asks: list[int]  # amount of each counted resource; Easy reserves only the first
    estimate: int       # expected run time after the setup
    setup: int          # time before the run, if the job starts now
    state: str = "waiting"  # waiting, held (a policy such as Quota rejects it), running or stopping
    expected_end: int = -1  # in ns, while the job runs

    @property
    def place(self) -> Place:
        """The sort key of a waiting job: its submission."""
        return (0, self.submitted, self.number)

    @property
    def end_place(self) -> Place:
        """The sort key of a running job: its expected end."""
        return (self.expected_end, self.submitted, self.number)


class JobList:
    """Jobs sorted by a key, which must not change while a job is in the list."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._places: list[Place] = []
        self._jobs: list[Job] = []

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self):  # noqa: ANN204: of Job, in order
        return iter(self._jobs)

    def __getitem__(self, index: int) -> Job:
        return self._jobs[index]

    def add(self, job: Job) -> None:
        place = getattr(job, self._key)
        at = bisect.bisect_left(self._places, place)
        self._places.insert(at, place)
        self._jobs.insert(at, job)

    def remove(self, job: Job) -> None:
        at = bisect.bisect_left(self._places, getattr(job, self._key))
        if at < len(self._jobs) and self._jobs[at] is job:
            del self._places[at], self._jobs[at]


@dataclass
class Board:
    """The state that a policy sees, and its commands. A command changes the board at once, as it will change
    the run. If the run rejects a command, the change is undone before the next call of the policy."""

    hello: dict[str, Any]  # first message of the run: the resources that count, the nodes, the seed
    now: int = 0
    free: list[int] = field(default_factory=list)  # free amount of each counted resource; may be below 0
    waiting: JobList = field(default_factory=lambda: JobList("place"))
    running: JobList = field(default_factory=lambda: JobList("end_place"))
    jobs: dict[int, Job] = field(default_factory=dict)
    # ---- since the last call of the policy
    arrived: list[Job] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    has_room: bool = False    # a job ended, stopped or was cancelled, a node joined or left, or a wake is due
    has_longer: bool = False  # jobs exceeded their estimates
    decisions: list[dict[str, Any]] = field(default_factory=list)

    def fits(self, job: Job) -> bool:
        return all(ask <= free for ask, free in zip(job.asks, self.free, strict=True))

    # ---- commands
    def start(self, job: Job, nodes: Sequence[str] | None = None) -> None:
        """Starts the job; with `nodes`, only on these nodes."""
        self.decisions.append({"start": job.number} | ({"nodes": list(nodes)} if nodes else {}))
        self._runs(job, self.now + job.setup + job.estimate)
        self.free = [free - ask for free, ask in zip(self.free, job.asks, strict=True)]

    def stop(self, job: Job) -> None:
        self.decisions.append({"stop": job.number})
        job.state = "stopping"

    def cancel(self, job: Job) -> None:
        """Cancels a job that waits, or whose pods wait."""
        self.decisions.append({"cancel": job.number})

    def wake_at(self, when: int) -> None:
        """Asks for a call at this time at the latest. `when` must be later than `now`."""
        self.decisions.append({"wake_at": when})

    # ---- news
    def take_in(self, message: dict[str, Any]) -> None:
        self.now, self.free = message["now"], message["free"]
        self.has_room, self.has_longer = message["room"], message["longer"]
        self.events, self.decisions, self.arrived = message["events"], [], []
        for event in self.events:
            handler = getattr(self, "_" + event["event"], None)
            if handler is not None:
                handler(event)
        self.arrived = sorted((job for job in self.arrived if job.state == "waiting"),
                              key=lambda job: job.place)

    def _leave(self, job: Job) -> None:
        self.waiting.remove(job)
        self.running.remove(job)

    def _runs(self, job: Job, expected_end: int) -> None:
        self._leave(job)
        job.state, job.expected_end = "running", expected_end
        self.running.add(job)

    def _submitted(self, event: dict[str, Any]) -> None:
        job = Job(event["job"], event["submitted"], event["user"], event["team"],
                  event["application"], event["priority"], event["asks"], event["estimate"],
                  event["setup"])
        self.jobs[job.number] = job
        self.waiting.add(job)
        self.arrived.append(job)

    def _waits(self, event: dict[str, Any]) -> None:
        job = self.jobs[event["job"]]
        self._leave(job)
        job.state, job.estimate, job.setup = "waiting", event["estimate"], event["setup"]
        self.waiting.add(job)

    def _started(self, event: dict[str, Any]) -> None:
        self._runs(self.jobs[event["job"]], event["expected_end"])

    def _expected_end(self, event: dict[str, Any]) -> None:
        job = self.jobs[event["job"]]
        self.running.remove(job)
        job.expected_end = event["expected_end"]
        self.running.add(job)

    def _held(self, event: dict[str, Any]) -> None:
        job = self.jobs[event["job"]]
        self._leave(job)
        job.state = "held"

    def _stopped(self, event: dict[str, Any]) -> None:
        self._leave(self.jobs[event["job"]])  # an event `waits` follows if the job waits again

    def _ended(self, event: dict[str, Any]) -> None:
        self._leave(self.jobs.pop(event["job"]))

    _cancelled = _ended

    def _refused(self, event: dict[str, Any]) -> None:
        job = self.jobs.get(event["job"])
        if job is None:
            return
        if event["decision"] == "stop":
            job.state = "running"
        if event["decision"] == "start" and job.state == "running":
            self._leave(job)
            job.state = "waiting"
            self.waiting.add(job)


class Policy(Protocol):
    """What serve() needs of a policy. serve() makes one policy for each run, and calls its plan() to
    decide."""

    def plan(self, board: Board) -> None: ...


class Fifo:
    """Starts jobs in the order of submission, up to the first that does not fit, as the built-in plan
    `Strict` does."""

    def plan(self, board: Board) -> None:
        while len(board.waiting) and board.fits(board.waiting[0]):
            board.start(board.waiting[0])


@dataclass
class Limits:
    """What a backfilled job may use, while the first job has a reservation."""

    window: float  # longest expected run time, in ns, of a job that will end before the first job starts
    extra: int  # amount for longer jobs, which leaves enough for the first job


class Easy:
    """EASY backfilling, as the built-in plan `EASY` with `backfill: queue`. The first job that does not fit
    gets a reservation at its shadow time: the first expected end of a running job at which enough is free.
    Another job may start if it fits now, and either ends by the shadow time or leaves enough for the reserved
    job then."""

    def __init__(self) -> None:
        self._head: Job | None = None
        self._runs_longer = False

    def plan(self, board: Board) -> None:
        self._runs_longer |= board.has_longer
        if not board.has_room and not any(board.fits(job) for job in board.arrived):
            return
        must_try_all = board.has_room
        if not must_try_all:
            must_try_all, self._runs_longer = self._runs_longer, False
        head = board.waiting[0] if len(board.waiting) else None
        must_try_all |= head is not self._head
        while head is not None and board.fits(head):
            board.start(head)
            head = board.waiting[0] if len(board.waiting) else None
            must_try_all = True
        self._head = head
        if head is None or len(board.waiting) == 1:
            return
        limits = self._reserve(board, head)
        # If no resources were freed, only new jobs need a try: all other jobs failed the last try, and since
        # then the time until the head's reservation has become shorter.
        for job in list(board.waiting if must_try_all else board.arrived):
            self._try_to_start(board, job, limits)

    @staticmethod
    def _reserve(board: Board, head: Job) -> Limits:
        free, needed = board.free[0], head.asks[0]
        available = free
        shadow = None
        for job in board.running:
            if shadow is not None and job.expected_end > shadow:
                break
            available += job.asks[0]
            if shadow is None and available >= needed:
                shadow = max(board.now, job.expected_end)
        if shadow is None:  # nodes are down, so it is unknown when the first job will fit
            return Limits(float("inf"), free)
        return Limits(shadow - board.now, available - needed)

    def _try_to_start(self, board: Board, job: Job, limits: Limits) -> None:
        if job is self._head or job.state != "waiting" or not board.fits(job):
            return
        is_short = job.estimate <= limits.window
        if not is_short and job.asks[0] > limits.extra:
            return
        board.start(job)
        if not is_short:
            limits.extra -= job.asks[0]


POLICIES: dict[str, Callable[[], Policy]] = {"fifo": Fifo, "easy": Easy}


# ---- the connection

class RunFailed(Exception):
    """Orrery ended the run with an error, or closed the connection without `bye`."""


def talk(connection: socket.socket, policy: Callable[[], Policy], took: int = 0) -> None:
    """Serves one run on this connection, until the run ends."""
    with connection, connection.makefile("rb") as lines:
        board: Board | None = None
        decider = policy()
        for line in lines:
            message = json.loads(line)
            kind = message["type"]
            if kind == "bye":
                return
            if kind == "error":
                raise RunFailed(message["why"])
            if kind == "hello":
                board = Board(message)
                answer: dict[str, Any] = {"version": VERSION}
            else:
                assert board is not None
                board.take_in(message)
                decider.plan(board)
                answer = {"decisions": board.decisions, "took": took}
            connection.sendall(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
    raise RunFailed("the connection was closed before the run was over")


def listen(address: str) -> socket.socket:
    """A socket at `unix:PATH` or `tcp:127.0.0.1:PORT`. An old socket at PATH is replaced."""
    kind, _, rest = address.partition(":")
    if kind == "unix" and rest:
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.stat(rest).st_mode):
                os.unlink(rest)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(rest)
    elif kind == "tcp" and rest.startswith("127.0.0.1:") and rest.rpartition(":")[2].isdigit():
        listening = socket.socket(socket.AF_INET)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", int(rest.rpartition(":")[2])))
    else:
        raise ValueError(f"the address must be unix:PATH or tcp:127.0.0.1:PORT, got {address!r}")
    listening.listen(64)
    return listening


def serve(address: str, policy: Callable[[], Policy], *, runs: int | None = None,
          took: int = 0) -> None:
    """Serves this number of runs and returns; if `runs` is None, serves runs until it is interrupted. Several
    runs at a time, as in a study, have a policy each. Each answer takes `took` ns of simulated time. After
    the last run, raises RunFailed if any run failed."""
    failures: list[Exception] = []

    def decide(connection: socket.socket) -> None:
        try:
            talk(connection, policy, took)
        except (RunFailed, OSError) as failure:
            failures.append(failure)
            print(f"orrery.remote: {failure}", file=sys.stderr)

    threads = []
    with listen(address) as listening:
        try:
            while runs is None or len(threads) < runs:
                connection, _ = listening.accept()
                if connection.family == socket.AF_INET:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threads.append(threading.Thread(target=decide, args=(connection,), daemon=True))
                threads[-1].start()
            for thread in threads:
                thread.join()
        finally:
            if address.startswith("unix:"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(address.removeprefix("unix:"))
    if failures:
        raise RunFailed(f"{len(failures)} of {len(threads)} runs failed: {failures[0]}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m orrery.remote", description="Decides for the "
                                     "job queue of runs with the policy Remote.")
    parser.add_argument("--policy", choices=sorted(POLICIES), default="easy")
    parser.add_argument("--address", required=True, help="unix:PATH or tcp:127.0.0.1:PORT")
    parser.add_argument("--runs", type=int, help="end after this many runs; default: never end")
    parser.add_argument("--took", type=int, default=0,
                        help="simulated time that each answer takes, in ns")
    given = parser.parse_args(arguments)
    try:
        serve(given.address, POLICIES[given.policy], runs=given.runs, took=given.took)
    except (RunFailed, OSError, ValueError) as failure:
        print(f"orrery.remote: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
