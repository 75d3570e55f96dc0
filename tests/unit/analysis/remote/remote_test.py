"""A client in another process decides for the job queue. The same decisions give the same run, and every
mistake of a client ends the run with a message."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from orrery import remote

ROOT = Path(__file__).resolve().parents[4]
KTH = ROOT / "scenarios/kth-sp2-easy.yaml"
CLUSTER = """
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 4}]
"""
# Jobs that wait, overtake one another, exceed their estimates, and arrive at the same instant.
MIXED = CLUSTER + """
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: a, count: 12, every: 7min, pods: 2, pod: {gpus: 3}, work: 31min, requested: 45min}
    - {name: b, submit: 1min, count: 9, every: 10min, pods: 4, pod: {gpus: 4}, work: 12min, requested: 10min}
    - {name: c, submit: 2min, count: 40, every: 2min, pods: 1, pod: {gpus: 1}, work: 9min, requested: 20min}
    - {name: d, submit: 3min, count: 20, every: 5min, pods: 1, pod: {gpus: 2}, work: 26min, requested: 15min}
faults: {list: [{node: n-1, at: 50min, repair: 20min}]}
"""
ONE_JOB = CLUSTER + """
workload: {sources: [{kind: jobs, jobs: [{pods: 2, pod: {gpus: 4}, work: 10min, count: 2}]}]}
"""


def policy(name: str, rest: str = "driver: counting") -> str:
    return f"policy: {{{rest}, job_queue: {{policies: [{name}]}}}}\nrecord: {{timeline: {{interval: 10min}}}}\n"


class Bench:
    """Runs scenarios in a temporary folder, in which clients listen at a socket."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = program, folder
        self.address = f"unix:{folder}/s"

    def named(self, timeout: str = "20s", address: str | None = None) -> str:
        return f'{{name: Remote, args: {{address: "{address or self.address}", timeout: {timeout}}}}}'

    def run(self, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "s.yaml").write_text(text)
        return self.run_file(self.folder / "s.yaml", *arguments)

    def run_file(self, path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [self.program, "run", str(path), "-q", "-o", "out.h5", *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300,
                              check=False)

    def tables(self) -> dict[str, np.ndarray]:
        tables: dict[str, np.ndarray] = {}

        def keep(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset) and name.split("/")[0] in ("jobs", "pods", "timeline"):
                tables[name] = item[()]
        with h5py.File(self.folder / "out.h5") as file:
            file.visititems(keep)
        return tables

    def built_in(self, text: str, *arguments: str) -> dict[str, np.ndarray]:
        done = self.run(text, *arguments)
        assert done.returncode == 0, done.stderr
        return self.tables()

    def served(self, text: str, of: Callable[[], remote.Policy], *arguments: str, took: int = 0,
               address: str | None = None) -> dict[str, np.ndarray]:
        failed: list[Exception] = []

        def decide() -> None:
            try:
                remote.serve(address or self.address, of, runs=1, took=took)
            except Exception as failure:  # noqa: BLE001: reported by the test
                failed.append(failure)
        thread = threading.Thread(target=decide, daemon=True)
        thread.start()
        tables = self.built_in(text, *arguments)
        thread.join(20)
        assert not thread.is_alive() and not failed, failed
        return tables

    def against(self, client: Callable[[socket.socket], None], text: str = ONE_JOB,
                timeout: str = "20s", rest: str = "driver: counting"):
        """Runs a scenario against a client. The client is a function, called with its connection."""
        with remote.listen(self.address) as listening:
            def decide() -> None:
                connection, _ = listening.accept()
                with connection:
                    client(connection)
            thread = threading.Thread(target=decide, daemon=True)
            thread.start()
            done = self.run(text + policy(self.named(timeout), rest))
            thread.join(20)
        return done


@pytest.fixture
def bench(program: str, tmp_path: Path) -> Bench:
    return Bench(program, tmp_path)


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys() and len(one) > 2
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


# ---- equal decisions give equal runs

@pytest.mark.parametrize("react", ["each_instant", "each_event"])
@pytest.mark.parametrize("driver", ["driver: counting", "base: strict_gang"])
@pytest.mark.parametrize(("built_in", "of"), [("{name: Strict}", remote.Fifo), ("{name: EASY}", remote.Easy)])
def test_decisions_alike_give_runs_alike(bench: Bench, built_in: str, of: type, driver: str, react: str):
    def text(name: str) -> str:
        return MIXED + policy(name, driver).replace("job_queue: {", f"job_queue: {{react: {react}, ")
    expected = bench.built_in(text(built_in))
    same(expected, bench.served(text(bench.named()), of))
    assert (expected["jobs"]["running"] > expected["jobs"]["submitted"]).sum() > 20, "jobs wait"


def test_easy_is_not_fifo(bench: Bench):
    fifo = bench.served(MIXED + policy(bench.named()), remote.Fifo)
    easy = bench.served(MIXED + policy(bench.named()), remote.Easy)
    assert easy["jobs"]["wait"].mean() < fifo["jobs"]["wait"].mean()


def test_a_release_delay_and_costs_of_starts_are_seen_alike(bench: Bench):
    def text(name: str) -> str:
        return MIXED + policy(name).replace("job_queue: {", "job_queue: {costs: {release_delay: 40s, batch_start: 3s}, ")
    same(bench.built_in(text("{name: EASY}")), bench.served(text(bench.named()), remote.Easy))


def test_tcp_on_the_loopback(bench: Bench):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp:127.0.0.1:{probe.getsockname()[1]}"
    same(bench.built_in(MIXED + policy("{name: EASY}")),
         bench.served(MIXED + policy(bench.named(address=address)), remote.Easy, address=address))


@pytest.mark.parametrize(("built_in", "of"), [("Strict", remote.Fifo), ("EASY", remote.Easy)])
def test_kth_sp2_is_replayed_alike(bench: Bench, built_in: str, of: type):
    folder = Path(os.environ.get("ORRERY_TRACES", ROOT.parent / "shared/traces"))
    trace = folder / "swf/KTH-SP2-1996-2_28481.swf.gz"
    if not trace.exists():
        pytest.skip(f"NOT COMPARED: there is no real trace at {trace}; ORRERY_TRACES names its folder")
    text = KTH.read_text().replace("../../shared/traces/swf/KTH-SP2-1996-2_28481.swf.gz", str(trace))
    text = text.replace("- name: EASY\n        args:\n          backfill: queue", "- NAMED")
    expected = bench.built_in(text.replace("- NAMED", f"- {{name: {built_in}}}"))
    began = time.monotonic()
    same(expected, bench.served(text.replace("- NAMED", "- " + bench.named()), of))
    seconds = time.monotonic() - began
    print(f"{built_in} over a socket: {seconds:.1f} s")
    assert seconds < 60


# ---- allowed decisions of a client

class Scripted:
    """A client that calls one function for each decision. After the last function it starts every job that
    fits."""

    def __init__(self, *steps: Callable[[remote.Board], None]) -> None:
        self.steps, self.events, self.hello = list(steps), [], {}

    def __call__(self) -> Scripted:
        return self

    def plan(self, board: remote.Board) -> None:
        self.hello = board.hello
        self.events += [event | {"at": board.now // 10**9} for event in board.events]
        if self.steps:
            return self.steps.pop(0)(board)
        for job in list(board.waiting):
            if board.fits(job):
                board.start(job)
        return None

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == kind]


def test_hello_has_the_cluster(bench: Bench):
    client = Scripted()
    bench.served(ONE_JOB + policy(bench.named()), client, "--seed", "7")
    hello = client.hello
    assert (hello["version"], hello["seed"], hello["counts"], hello["unit"]) == (1, 7, ["gpus"], 1000)
    assert [node["name"] for node in hello["nodes"]] == ["n-0", "n-1", "n-2", "n-3"]
    assert hello["nodes"][0]["gpus"] == 4000 and hello["nodes"][0]["is_up"]


def test_a_client_wakes_itself_and_starts_later(bench: Bench):
    client = Scripted(lambda board: board.wake_at(30 * 60 * 10**9))
    jobs = bench.served(ONE_JOB + policy(bench.named()), client)["jobs"]
    assert set(jobs["running"]) == {30 * 60 * 10**9}
    assert [event["at"] for event in client.of_kind("wake")] == [1800]


def test_what_an_answer_took_passes_before_it_takes_effect(bench: Bench):
    jobs = bench.served(ONE_JOB + policy(bench.named()), remote.Fifo, took=5 * 10**9)["jobs"]
    assert set(jobs["running"]) == {5 * 10**9}


def test_a_job_that_is_gone_when_the_answer_takes_effect_is_refused(bench: Bench):
    text = ONE_JOB.replace("jobs: [{", "jobs: [{pods: 1, pod: {gpus: 1}, work: 1min, cancel_after: 2s}, {")
    client = Scripted()
    jobs = bench.served(text + policy(bench.named()), client, took=5 * 10**9)["jobs"]
    assert sorted(jobs["running"] // 10**9) == [-1, 5, 10]
    assert [(e["decision"], e["job"], e["why"]) for e in client.of_kind("refused")] == \
        [("start", 0, "the job is over")]


def test_a_stopped_job_gives_its_place_to_another_and_goes_on_later(bench: Bench):
    text = ONE_JOB.replace("count: 2", "count: 2, every: 1min").replace("pods: 2", "pods: 4")

    def swap(board: remote.Board) -> None:
        board.stop(board.running[0])
        board.start(board.waiting[0])
    client = Scripted(lambda board: board.start(board.waiting[0]), swap)
    jobs = bench.served(text + policy(bench.named()), client)["jobs"]
    ended = {int(job["job"]): int(job["ended"]) // 10**9 for job in jobs}
    assert ended == {1: 660, 0: 660 + 540}
    assert len(client.of_kind("stopped")) == 1


def test_a_cancelled_job_never_runs(bench: Bench):
    client = Scripted(lambda board: board.cancel(board.waiting[0]))
    jobs = bench.served(ONE_JOB + policy(bench.named()), client)["jobs"]
    assert sorted(jobs["running"]) == [-1, 0]
    assert [event["job"] for event in client.of_kind("cancelled")] == [0]


def test_a_start_that_does_not_fit_is_refused_and_the_client_asked_again(bench: Bench):
    text = ONE_JOB.replace("pods: 2", "pods: 3")

    def both(board: remote.Board) -> None:
        for job in list(board.waiting):
            board.start(job)
    client = Scripted(both)
    jobs = bench.served(text + policy(bench.named()), client)["jobs"]
    assert sorted(jobs["running"] // 10**9) == [0, 600]
    assert [(e["at"], e["why"]) for e in client.of_kind("refused")] == [(0, "it does not fit")]


def test_a_held_job_is_told_and_waits_again_when_there_is_room(bench: Bench):
    text = ONE_JOB.replace("pods: 2,", "pods: 2, user: ann,")
    client = Scripted()
    both = bench.named() + ", {name: Quota, args: {of: user, limits: {ann: 8}}}"
    jobs = bench.served(text + policy(both), client)["jobs"]
    assert sorted(jobs["running"] // 10**9) == [0, 600]
    assert [event["job"] for event in client.of_kind("held")] == [1]
    assert [(event["job"], event["at"]) for event in client.of_kind("waits")] == [(1, 600)]


def test_nodes_that_go_and_come_are_told(bench: Bench):
    client = Scripted()
    text = ONE_JOB + "faults: {list: [{node: n-3, at: 1min, repair: 2min}]}\n"
    bench.served(text + policy(bench.named()), client)
    assert [(e["event"], e["node"], e["at"]) for e in client.events if "node" in e] == \
        [("node_down", "n-3", 60), ("node_up", "n-3", 180)]


@pytest.mark.parametrize("base", ["strict_gang", "default"])
def test_the_pods_of_a_job_go_to_the_nodes_that_the_client_chose(bench: Bench, base: str):
    client = Scripted(lambda board: (board.start(board.waiting[0], nodes=["n-3", "n-1"]),
                                     board.start(board.waiting[0])) and None)
    tables = bench.served(ONE_JOB + policy(bench.named(), f"base: {base}"), client)
    nodes = {job: set(tables["pods"]["node"][tables["pods"]["job"] == job]) for job in (0, 1)}
    assert nodes == {0: {1, 3}, 1: {0, 2}}


def test_a_job_whose_pods_wait_for_the_chosen_nodes_can_be_cancelled_but_not_one_that_runs(bench: Bench):
    def both_on_two_nodes(board: remote.Board) -> None:
        for job in list(board.waiting):
            board.start(job, nodes=["n-0", "n-1"])
        board.wake_at(60 * 10**9)

    def cancel_both(board: remote.Board) -> None:
        for job in list(board.jobs.values()):
            board.cancel(job)
    client = Scripted(both_on_two_nodes, cancel_both)
    jobs = bench.served(ONE_JOB + policy(bench.named(), "base: strict_gang"), client)["jobs"]
    jobs = {int(job["job"]): job for job in jobs}
    assert jobs[0]["running"] >= 0 and jobs[0]["ended"] >= 600 * 10**9
    assert jobs[1]["running"] == -1 and jobs[1]["ended"] == 60 * 10**9
    assert [(e["job"], e["why"], e["at"]) for e in client.of_kind("refused")] == [(0, "it has started", 60)]
    assert [(e["job"], e["at"]) for e in client.of_kind("ended")][:1] == [(1, 60)]


def test_either_side_may_be_first(bench: Bench):
    threading.Timer(1, lambda: remote.serve(bench.address, remote.Fifo, runs=1)).start()
    assert bench.run(ONE_JOB + policy(bench.named())).returncode == 0


def test_runs_of_a_study_are_served_at_a_time(bench: Bench):
    (bench.folder / "s.yaml").write_text(MIXED + policy(bench.named()))
    (bench.folder / "study.yaml").write_text("base: s.yaml\nseeds: {count: 6}\n")
    thread = threading.Thread(target=remote.serve, args=(bench.address, remote.Easy), kwargs={"runs": 6}, daemon=True)
    thread.start()
    done = subprocess.run([bench.program, "study", "run", "study.yaml", "-o", "out"], cwd=bench.folder, timeout=100,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    thread.join(20)
    assert not thread.is_alive()


def test_the_client_is_a_command(bench: Bench):
    command = [sys.executable, "-m", "orrery.remote", "--policy", "fifo", "--address", bench.address, "--runs", "1"]
    with subprocess.Popen(command, cwd=ROOT / "analysis") as client:
        assert bench.run(ONE_JOB + policy(bench.named())).returncode == 0
        assert client.wait(20) == 0


def test_the_client_is_told_when_the_run_fails(bench: Bench):
    class Careless:
        def plan(self, board: remote.Board) -> None:
            board.decisions.append({"start": 99})

    reported: list[Exception] = []

    def decide() -> None:
        try:
            remote.serve(bench.address, Careless, runs=1)
        except remote.RunFailed as failure:
            reported.append(failure)
    thread = threading.Thread(target=decide, daemon=True)
    thread.start()
    wrong(bench, bench.run(ONE_JOB + policy(bench.named())), "job 99 was not submitted, or is over")
    thread.join(20)
    assert "job 99 was not submitted, or is over" in str(reported[0])


def test_validate_needs_no_client(bench: Bench):
    (bench.folder / "s.yaml").write_text(ONE_JOB + policy(bench.named()))
    subprocess.run([bench.program, "validate", "s.yaml"], cwd=bench.folder, check=True, timeout=20,
                   stdout=subprocess.DEVNULL)


# ---- mistakes of a client

def answering(*answers: str | bytes) -> Callable[[socket.socket], None]:
    """A client that greets, answers the next lines with `answers`, one each, and then only reads to the
    end."""
    def client(connection: socket.socket) -> None:
        lines = connection.makefile("rb")
        for answer in ('{"version":1}', *answers):
            lines.readline()
            connection.sendall((answer if isinstance(answer, bytes) else answer.encode()) + b"\n")
        while lines.readline():
            pass
    return client


def decided(*decisions: dict[str, Any], **more: Any) -> str:
    return json.dumps({"decisions": list(decisions)} | more)


def greeting(line: str) -> Callable[[socket.socket], None]:
    def client(connection: socket.socket) -> None:
        lines = connection.makefile("rb")
        lines.readline()
        connection.sendall(line.encode() + b"\n")
        lines.readline()
    return client


def closes(connection: socket.socket) -> None:
    connection.recv(10)


def closes_within_a_line(connection: socket.socket) -> None:
    connection.makefile("rb").readline()
    connection.sendall(b'{"vers')


def is_silent(connection: socket.socket) -> None:
    lines = connection.makefile("rb")
    while lines.readline():
        pass


def dribbles(connection: socket.socket) -> None:
    try:
        while True:
            connection.sendall(b"x")
            time.sleep(0.05)
    except OSError:
        pass


def floods(connection: socket.socket) -> None:
    try:
        while True:
            connection.sendall(b"x" * (1 << 20))
    except OSError:
        pass


MISTAKES = {
    "no JSON": (answering("start 3 please"), "the line is no JSON", "start 3 please"),
    "bytes": (answering(b"\xff\x00\x1b[2J"), "the line is no JSON", "latest line: ???[2J"),
    "deep": (answering("[" * 100_000), "the line is no JSON", "..."),
    "a list": (answering("[]"), "expected an object, got []"),
    "no decisions": (answering("{}"), 'an answer has a list of "decisions"'),
    "unknown key": (answering('{"decisions":[],"start":0}'), 'unknown key "start"'),
    "unknown decision": (answering(decided({"begin": 0})), 'unknown key "begin"'),
    "empty decision": (answering(decided({})), 'a decision has one of "start"'),
    "two in one": (answering(decided({"start": 0, "stop": 1})), 'a decision has one of "start"'),
    "nodes of a stop": (answering(decided({"stop": 0, "nodes": ["n-0"]})), 'a decision has one of "start"'),
    "job is text": (answering(decided({"start": "0"})), '"start" must be a whole number from 0 to', 'got "0"'),
    "job is a fraction": (answering(decided({"start": 0.5})), '"start" must be a whole number', "got 0.5"),
    "job below 0": (answering(decided({"start": -1})), '"start" must be a whole number', "got -1"),
    "huge number": (answering(decided({"start": 2**64 - 1})), '"start" must be a whole number'),
    "unknown job": (answering(decided({"start": 9})), "job 9 was not submitted, or is over"),
    "two starts": (answering(decided({"start": 0}, {"start": 0})), "two decisions about job 0"),
    "started already": (answering(decided({"start": 0}), decided({"start": 0})), "job 0 has been started"),
    "stop of a waiting job": (answering(decided({"stop": 0})), "job 0 does not run"),
    "nodes without pods": (answering(decided({"start": 0, "nodes": ["n-0"]})), '"nodes" need jobs with pods'),
    "wake in the past": (answering(decided({"wake_at": 0})), '"wake_at" must be a whole number from 1 to', "got 0"),
    "took below 0": (answering(decided(took=-5)), '"took" must be a whole number from 0 to', "got -5"),
    "took for ever": (answering(decided(took=2**62)), '"took" must be a whole number'),
    "wrong version": (greeting('{"version":2}'), 'must answer hello with {"version": 1}', '{"version":2}'),
    "no version": (greeting("{}"), 'must answer hello with {"version": 1}'),
    "closed": (closes, "the client closed the connection"),
    "closed within a line": (closes_within_a_line, "the client closed the connection within a line", '{"vers'),
    "too long a line": (floods, "the client sent a line of more than 16777216 bytes", "xxxx"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_of_the_client_ends_the_run_with_its_message(bench: Bench, name: str):
    client, *says = MISTAKES[name]
    # "started already" needs a second decision, so the second job arrives a minute later.
    done = bench.against(client, ONE_JOB.replace("count: 2", "count: 2, every: 1min"))
    wrong(bench, done, *says)


@pytest.mark.parametrize("client", [is_silent, dribbles])
def test_silence_ends_the_run_after_the_timeout(bench: Bench, client: Callable[[socket.socket], None]):
    wrong(bench, bench.against(client, timeout="500ms"), "the client did not answer within 500ms")


def test_nodes_are_those_of_the_cluster(bench: Bench):
    done = bench.against(answering(decided({"start": 0, "nodes": ["n-9"]})), rest="base: strict_gang")
    wrong(bench, done, "no node is called 'n-9'")
    done = bench.against(answering(decided({"start": 0, "nodes": []})), rest="base: strict_gang")
    wrong(bench, done, '"nodes" must be a list of one or more names of nodes, got []')


def test_a_client_that_is_refused_for_ever_is_no_hang(bench: Bench):
    def stubborn(connection: socket.socket) -> None:
        for line in connection.makefile("rb"):
            if json.loads(line)["type"] == "error":
                return
            hello = json.loads(line)["type"] == "hello"
            connection.sendall(b'{"version":1}\n' if hello else decided({"start": 0}).encode() + b"\n")
    text = ONE_JOB.replace("pods: 2", "pods: 5").replace("count: 2", "count: 1")
    queue = f"policy: {{driver: counting, job_queue: {{infeasible: block, policies: [{bench.named()}]}}}}\n"
    with remote.listen(bench.address) as listening:
        def decide() -> None:
            with contextlib.suppress(ConnectionError):
                stubborn(listening.accept()[0])
        threading.Thread(target=decide, daemon=True).start()
        wrong(bench, bench.run(text + queue), "the client's decisions were refused 1,000 times in a row")


def test_nobody_listens(bench: Bench):
    wrong(bench, bench.run(ONE_JOB + policy(bench.named("300ms"))), "no client listens there after 300ms")


def wrong(bench: Bench, done: subprocess.CompletedProcess[str], *says: str) -> None:
    assert done.returncode == 2, done.stderr
    for text in (f"policy 'Remote', client at {bench.address}: ", "at simulated time ",
                 "what was recorded so far is in out.h5.part", *says):
        assert text in done.stderr
    assert "internal error" not in done.stderr
    assert (bench.folder / "out.h5.part").exists()
