"""Rules by which the output of a run adds up. Each rule takes the output and yields the violations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.void]

NEVER = -1
NO_NODE = 4_294_967_295
# Tolerances for sums of the same numbers in another order.
RELATIVE, ABSOLUTE = 1e-9, 1e-5
# Columns that may have any negative value. In other columns -1 is the only negative value, for "never" or "none".
# `free` of the job queue is negative if started jobs hold more than the capacity of the nodes that are up.
SIGNED = {"priority", "by_priority", "external_id", "free"}
HASHES = {"digest"}
STAGES_OF_JOBS = ["submitted", "created", "bound", "running", "ended"]
STAGES_OF_PODS = ["created", "bound", "started", "ended"]
STAGES_OF_RECOVERIES = ["failed", "detected", "recreated", "scheduled", "started", "resumed",
                        "caught_up"]
KINDS_OF_GPU_TIME = ["useful", "lost", "exchange", "checkpoint", "restore", "scheduling_held",
                     "hung", "idle"]


class Books:
    """All tables and summary figures of a run, as stored: times are int64 nanoseconds."""

    def __init__(self, path: Path) -> None:
        self.tables: dict[str, Rows] = {}
        self.units: dict[str, dict[str, str]] = {}
        with h5py.File(path, "r") as file:
            self.complete = bool(file.attrs["complete"])
            self.end = int(file.attrs["simulated_ns"])
            self.scenario = str(file["meta/scenario"].asstr()[()])
            self.resolved = str(file["meta/resolved"].asstr()[()])
            self.summary = {name: value[()].item() for name, value in file["summary"].items()}
            file.visititems(self._take)

    def _take(self, name: str, item: object) -> None:
        if not isinstance(item, h5py.Dataset) or item.dtype.names is None:
            return
        self.tables[f"/{name}"] = item[:]
        units = [unit.decode() if isinstance(unit, bytes) else unit for unit in item.attrs["units"]]
        self.units[f"/{name}"] = dict(zip(item.dtype.names, units))

    def has(self, *paths: str) -> bool:
        return all(path in self.tables for path in paths)

    @property
    def services(self) -> set[str]:
        sources = json.loads(self.resolved)["workload"]["sources"]
        return {source["name"] for source in sources if source["kind"] == "service"}

    @property
    def ends_early(self) -> set[str]:
        """Names of jobs that may complete before all of their pods have done their work."""
        sources = json.loads(self.resolved)["workload"]["sources"]
        return {job["name"] for source in sources for job in source.get("jobs", [])
                if job.get("gangs") and "endings" in json.dumps(job["gangs"])} | {"roles"}

    @property
    def draws_success(self) -> bool:
        return '"exit_code": 0' in self.resolved or '"exit_code":0' in self.resolved

    @property
    def has_grace(self) -> bool:
        """Whether a deleted pod may run on for a while, and so end for another reason."""
        return json.loads(self.resolved)["workload"]["controller"]["termination"] != "0s"

    @property
    def has_shares(self) -> bool:
        """Whether a pod may have a share of a GPU."""
        return "gpu_milli" in self.scenario or "format: openb" in self.scenario

    @property
    def is_counting(self) -> bool:
        """Whether jobs hold amounts of a pool instead of having pods."""
        jobs = self.tables["/jobs"]
        return self.has("/pods") and len(self.tables["/pods"]) == 0 and np.any(jobs["bound"] >= 0)


def differs(a: float, b: float) -> bool:
    return abs(a - b) > ABSOLUTE + RELATIVE * max(abs(a), abs(b))


def amounts(books: Books) -> Iterator[str]:
    """No amount is negative, infinite or has wrapped around. No share of GPU time in the summary is above 1,
    but the share of power may be."""
    for path, rows in books.tables.items():
        for name in rows.dtype.names or ():
            values = rows[name]
            if values.dtype.kind == "f":
                if np.any(values < -ABSOLUTE):
                    yield f"{path}: {name} is negative: {values.min()}"
                if np.any(np.isinf(values)):
                    yield f"{path}: {name} is infinite"
            elif values.dtype.kind == "i" and name not in SIGNED and np.any(values < NEVER):
                yield f"{path}: {name} is negative: {values.min()}"
            elif values.dtype == np.uint64 and name not in HASHES and np.any(values >> 62):
                yield f"{path}: {name} has wrapped around: {values.max()}"
            elif values.dtype == np.uint32 and np.any((values >> 31 > 0) & (values != NO_NODE)):
                yield f"{path}: {name} has wrapped around: {values.max()}"
    for name, value in books.summary.items():
        if value < -ABSOLUTE:
            yield f"/summary/{name} is negative: {value}"
        # The share of power is relative to the nominal power of a computing GPU. A GPU may draw more if the
        # scenario sets cluster.power.
        if name.startswith("gpu_share_") and name != "gpu_share_power" and value > 1 + 1e-9:
            yield f"/summary/{name} is above 1: {value}"


def in_order(rows: Rows, stages: list[str], what: str) -> Iterator[str]:
    """The stages that a row has reached follow one another in time."""
    last = np.full(len(rows), NEVER, np.int64)
    names = np.array([""] * len(rows), object)
    for stage in stages:
        times = rows[stage].astype(np.int64)
        wrong = np.flatnonzero((times != NEVER) & (times < last))
        if len(wrong):
            row = rows[wrong[0]]
            yield (f"{what}: {stage} {times[wrong[0]]} is before {names[wrong[0]]} "
                   f"{last[wrong[0]]} of job {row['job']}")
        names[times != NEVER] = stage
        last = np.where(times != NEVER, times, last)


def times(books: Books) -> Iterator[str]:
    """Times never decrease within a job, a pod, a recovery and a timeline. Within /timeline/cluster
    and /timeline/useful all times differ. No timeline has rows after the end of the run. The cardiogram is left
    out."""
    yield from in_order(books.tables["/jobs"], STAGES_OF_JOBS, "/jobs")
    if books.has("/pods"):
        yield from in_order(books.tables["/pods"], STAGES_OF_PODS, "/pods")
    yield from in_order(books.tables["/events/recoveries"], STAGES_OF_RECOVERIES,
                        "/events/recoveries")
    for path, rows in books.tables.items():
        if path.startswith("/timeline/") and path != "/timeline/cardiogram":
            if np.any(np.diff(rows["time"].astype(np.int64)) < 0):
                yield f"{path}: time goes back"
            if len(rows) and rows["time"].max() > books.end:
                yield f"{path}: has rows after the end"
    for path in ("/timeline/cluster", "/timeline/useful"):
        if len(books.tables[path]) and np.any(np.diff(books.tables[path]["time"]) <= 0):
            yield f"{path}: two rows at one time"


def waits(books: Books) -> Iterator[str]:
    """`wait` and `run` of a job agree with its other times."""
    jobs = books.tables["/jobs"]
    ended = np.where(jobs["ended"] == NEVER, books.end, jobs["ended"])
    running = np.where(jobs["running"] == NEVER, ended, jobs["running"])
    if np.any(jobs["wait"] != running - jobs["submitted"]):
        yield "/jobs: wait is not the time until a job ran"
    if np.any(jobs["run"] != ended - running):
        yield "/jobs: run is not the time from its first computing to its end"


def counts(books: Books) -> Iterator[str]:
    """Figures of the summary equal the numbers of rows, or the sums of columns, in the tables. A job has an
    end if and only if its outcome is final."""
    jobs, summary = books.tables["/jobs"], books.summary
    outcomes = h5py.check_enum_dtype(jobs.dtype["outcome"]) or {}
    failed = int(np.sum(jobs["outcome"] == outcomes["failed"]))
    completed = int(np.sum(jobs["outcome"] == outcomes["completed"]))
    cancelled = int(np.sum(jobs["outcome"] == outcomes["cancelled"]))
    found = {"jobs_submitted": len(jobs), "jobs_completed": completed, "jobs_failed": failed,
             "jobs_cancelled": cancelled,
             "jobs_unfinished": len(jobs) - completed - failed - cancelled,
             "pods_preempted": int(jobs["preemptions"].sum()),
             "restarts": int(jobs["restarts"].sum()),
             "membership_changes": int(jobs["membership_changes"].sum()),
             "nodes": len(books.tables["/nodes"]), "gpus": int(books.tables["/nodes"]["gpus"].sum()),
             "nodes_failed": int(books.tables["/nodes"]["failures"].sum())}
    for name, count in found.items():
        if summary[name] != count:
            yield f"/summary/{name} is {summary[name]}, and the tables have {count}"
    over = np.isin(jobs["outcome"], [outcomes[name] for name in ("failed", "completed", "cancelled")])
    if np.any(over != (jobs["ended"] != NEVER)):
        yield "/jobs: a job ended without an outcome, or the other way round"


def gpu_time(books: Books) -> Iterator[str]:
    """The allocated GPU time is the same in the sums by job, by node and over time, and in the summary."""
    jobs, summary = books.tables["/jobs"], books.summary
    of_jobs = {kind: float(jobs[f"{kind}_gpu_s"].sum()) for kind in KINDS_OF_GPU_TIME}
    allocated = summary["gpu_s_allocated"]
    if differs(sum(of_jobs.values()), allocated):
        yield f"/jobs have {sum(of_jobs.values())} GPU s, and {allocated} were allocated"
    for kind in ("useful", "lost", "exchange"):
        if differs(of_jobs[kind], summary[f"gpu_s_{kind}"]):
            yield f"/jobs: {kind} is {of_jobs[kind]}, in /summary {summary[f'gpu_s_{kind}']}"
    if differs(summary["gpu_s_useful"] + summary["gpu_s_lost"], summary["gpu_s_computing"]):
        yield "/summary: useful and lost are not what was computed"
    of_nodes = float(books.tables["/nodes"]["allocated_gpu_s"].sum())
    if not books.is_counting and differs(of_nodes, allocated):
        yield f"/nodes have {of_nodes} GPU s, and {allocated} were allocated"
    yield from integrals(books)


def integrals(books: Books) -> Iterator[str]:
    """The means of /timeline/cluster integrate to the figures of /summary. In each interval, the computing GPUs
    are at most the reported GPUs, these at most the allocated GPUs, and so on up to all GPUs."""
    cluster, summary = books.tables["/timeline/cluster"], books.summary
    spans = np.diff(cluster["time"].astype(np.int64), prepend=0) / 1e9
    for column, name in (("gpus_allocated", "gpu_s_allocated"), ("gpus_up", "gpu_s_up"),
                         ("gpus_reported", "gpu_s_reported"), ("gpus_power", "gpu_s_power")):
        whole = float((cluster[column] * spans).sum())
        if differs(whole, summary[name]):
            yield f"/timeline/cluster: {column} adds up to {whole}, /summary/{name} {summary[name]}"
    energy = float((cluster["gpu_power_watts"] * spans).sum()) / 3.6e6
    if differs(energy, summary["gpu_energy_kwh"]):
        yield f"/timeline/cluster: {energy} kWh, /summary {summary['gpu_energy_kwh']}"
    # Counted jobs keep their GPUs while nodes are down, so more GPUs may be allocated than are up.
    most = "gpus_total" if books.is_counting else "gpus_up"
    for less, more in (("gpus_computing", "gpus_reported"), ("gpus_reported", "gpus_allocated"),
                       ("gpus_allocated", most), ("gpus_up", "gpus_total")):
        if np.any(cluster[less] > cluster[more] + 1e-6):
            yield f"/timeline/cluster: {less} is above {more}"
    useful = books.tables["/timeline/useful"]
    spans = np.diff(useful["time"].astype(np.int64), prepend=0) / 1e9
    whole = float((useful["gpus_useful"] * spans).sum())
    if abs(whole - summary["gpu_s_useful"]) > 1e-6 * max(1.0, whole):
        yield f"/timeline/useful adds up to {whole}, /summary {summary['gpu_s_useful']}"


def nodes(books: Books) -> Iterator[str]:
    """No node had more GPUs allocated than it has, or was down for longer than the run."""
    rows = books.tables["/nodes"]
    most = rows["gpus"] * (books.end / 1e9)
    if np.any(rows["allocated_gpu_s"] > most * (1 + 1e-9) + ABSOLUTE):
        yield "/nodes: a node held more than its GPUs"
    if np.any(rows["downtime"] > books.end):
        yield "/nodes: a node was down for longer than the run"


def overlaps(keys: Rows, begins: Rows, ends: Rows) -> int | None:
    """Index of the first row that begins before another row with the same key has ended; None without such
    a row."""
    order = np.lexsort((ends, begins, keys))
    same = np.diff(keys[order]) == 0
    wrong = np.flatnonzero(same & (begins[order][1:] < ends[order][:-1]))
    return int(order[wrong[0] + 1]) if len(wrong) else None


def pods(books: Books) -> Iterator[str]:
    """A job never has two pods of one rank at a time. In runs without GPU shares, a GPU never has two pods at a
    time. Pods agree with their jobs and nodes."""
    if not books.has("/pods") or len(books.tables["/pods"]) == 0:
        return
    rows, jobs = books.tables["/pods"], books.tables["/jobs"]
    number = rows["job"].astype(np.int64)
    lives = number * 1_000_000 + rows["rank"]
    wrong = overlaps(lives, rows["created"], rows["ended"])
    if wrong is not None:
        yield f"/pods: rank {rows['rank'][wrong]} of job {number[wrong]} lives twice at a time"
    if set(number) - set(jobs["job"].astype(np.int64)):
        yield "/pods: a pod of a job that is not in /jobs"
    if np.any((rows["bound"] != NEVER) != (rows["node"] != NO_NODE)):
        yield "/pods: bound without a node, or a node without being bound"
    if not books.has_shares:
        yield from gpus_of_pods(books)
    outcomes = h5py.check_enum_dtype(jobs.dtype["outcome"]) or {}
    ends = h5py.check_enum_dtype(rows.dtype["end"]) or {}
    services = [name.encode() for name in books.services | books.ends_early]
    whole = (jobs["outcome"] == outcomes["completed"]) & ~np.isin(jobs["name"], services)
    for job in jobs[whole]:
        own = rows[number == int(job["job"])]
        done = int(np.sum(own["end"] == ends["completed"]))
        is_gang = job["members"] > 0
        if done > job["pods"] or (done < job["pods"] and not is_gang and job["work"] > 0):
            yield f"/pods: job {job['job']} has {job['pods']} pods, of which {done} completed"


def gpus_of_pods(books: Books) -> Iterator[str]:
    bound = books.tables["/pods"][books.tables["/pods"]["bound"] != NEVER]
    masks = bound["gpus"].astype(np.uint64)
    for gpu in range(16):
        mine = bound[masks >> np.uint64(gpu) & np.uint64(1) == 1]
        wrong = overlaps(mine["node"].astype(np.int64), mine["bound"], mine["ended"])
        if wrong is not None:
            yield f"/pods: GPU {gpu} of node {mine['node'][wrong]} has two pods at a time"


def recoveries(books: Books) -> Iterator[str]:
    """The losses of all recoveries are at most the losses of all jobs."""
    jobs, rows = books.tables["/jobs"], books.tables["/events/recoveries"]
    lost = float(rows["lost_gpu_s"].sum())
    if lost > float(jobs["lost_gpu_s"].sum()) * (1 + 1e-9) + ABSOLUTE:
        yield f"/events/recoveries lost {lost} GPU s, and /jobs {jobs['lost_gpu_s'].sum()}"


def work(books: Books) -> Iterator[str]:
    """A completed job has computed its work on each of its GPUs."""
    jobs = books.tables["/jobs"]
    outcomes = h5py.check_enum_dtype(jobs.dtype["outcome"]) or {}
    services = [name.encode() for name in books.services | books.ends_early]
    # Not checked: services, jobs that may end early, elastic gangs (they may compute with fewer GPUs), pods with
    # a share of a GPU, and jobs of the counting driver (they may share GPUs or run on faster GPUs).
    is_plain = ~np.isin(jobs["name"], services) & (jobs["members"] <= jobs["pods"])
    if books.has_shares or books.is_counting or "min_available" in books.scenario:
        return
    if books.draws_success:
        return
    # Dedicated parameter servers compute nothing. The work of jobs with a model is given for a reference GPU.
    # Runs with either of these are not checked.
    if "placement: dedicated" in books.scenario or "model:" in books.scenario:
        return
    most = 1e-8  # relative tolerance: steps are rounded to ns, and last 200 ms or longer
    for job in jobs[(jobs["outcome"] == outcomes["completed"]) & is_plain]:
        asked = float(job["gpus"]) * float(job["work"]) / 1e9
        if abs(asked - float(job["useful_gpu_s"])) > ABSOLUTE + most * asked:
            yield (f"/jobs: job {job['job']} asked for {asked} GPU s and has {job['useful_gpu_s']} "
                   "useful")


def events(books: Books) -> Iterator[str]:
    """Preemptions, deadlocks and bound pods have as many rows as the summary counts. With has_grace, further
    rows of preemptions are allowed."""
    tables, summary = books.tables, books.summary
    for path, name in (("/events/preemptions", "pods_preempted"), ("/events/deadlocks", "deadlocks")):
        count = len(tables[path]) if books.has(path) else summary[name]
        if path == "/events/preemptions" and books.has_grace:
            count = min(count, summary[name])
        if count != summary[name]:
            yield f"{path} are {count}, and /summary/{name} {summary[name]}"
    if books.has("/pods") and not books.is_counting:
        bound = int(np.sum(tables["/pods"]["bound"] != NEVER))
        if bound != summary["pods_scheduled"]:
            yield f"/pods: {bound} were bound, and /summary/pods_scheduled {summary['pods_scheduled']}"


def priorities(books: Books) -> Iterator[str]:
    """Figures by priority sum to those of the summary. The pods preempted, counted by their own priority or by
    that of their preemptors, sum to the same figure."""
    if not books.has("/priorities"):
        return
    table, summary = books.tables["/priorities"], books.summary
    for column, name in (
        ("jobs", "jobs_submitted"),
        ("pods_preempted", "pods_preempted"),
        ("pods_preempted_by", "pods_preempted"),
        ("lost_preempted_gpu_s", "lost_preempted_gpu_s"),
        ("lost_gpu_s", "gpu_s_lost"),
        ("useful_gpu_s", "gpu_s_useful"),
    ):
        whole = float(table[column].sum())
        if differs(whole, summary[name]):
            yield f"/priorities: {column} adds up to {whole}, /summary/{name} is {summary[name]}"


def held_by_pods(books: Books) -> Iterator[str]:
    """The allocated time of a node is at least that of its bound pods. It also includes reservations."""
    if not books.has("/pods") or books.has_shares or books.is_counting:
        return
    rows = books.tables["/pods"][books.tables["/pods"]["bound"] != NEVER]
    gpus = np.array([bin(int(mask)).count("1") for mask in rows["gpus"]], np.int64)
    held = np.zeros(len(books.tables["/nodes"]))
    np.add.at(held, rows["node"].astype(np.int64), gpus * (rows["ended"] - rows["bound"]) / 1e9)
    allocated = books.tables["/nodes"]["allocated_gpu_s"]
    wrong = np.flatnonzero(held > allocated * (1 + RELATIVE) + ABSOLUTE)
    if len(wrong):
        node = wrong[0]
        yield f"/pods held {held[node]} GPU s of node {node}, /nodes {allocated[node]}"


RULES = [amounts, times, waits, counts, gpu_time, nodes, pods, recoveries, work, events,
         priorities, held_by_pods]


def mistakes(path: Path) -> list[str]:
    """All violations in the output of a run, each with the name of its rule first."""
    books = Books(path)
    if not books.complete:
        return ["complete: the file says that it is not"]
    found = []
    for rule in RULES:
        for sentence in rule(books):
            found.append(f"{rule.__name__}: {sentence}")
    return found
