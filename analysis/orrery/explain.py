"""Why a job waited, failed or is stuck, from the file of a run.

    python3 -m orrery explain run.h5                 # what is worth explaining
    python3 -m orrery explain run.h5 --job second    # a job by name or number
    python3 -m orrery explain run.h5 --deadlock 0
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from orrery import job_story
from orrery.history import History
from orrery.printable import say
from orrery.run import Run, RunError, open_run, reading
from orrery.telling import clock, columns, count, gpu_time, indented, listed, span

RESOLUTIONS = {
    "unresolved": "It lasted until the run ended.",
    "timeout": "It ended when reservations were given up: Permit timed out, or refused.",
    "pods_deleted": "It ended when members lost pods: deleted, or on a node that failed.",
    "capacity_added": "It ended when nodes became available.",
    "member_completed": "It ended because a member placed enough pods to start.",
    "merged": "Its members went over into an older deadlock.",
}


@dataclass(frozen=True)
class Explanation:
    """Explains one job, one deadlock, or the whole run."""

    subject: str
    text: str
    """The explanation as the command prints it."""
    blocked: str
    """What blocked the job, or what each job of the deadlock holds and lacks; empty for a whole run."""
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    """The rows behind the text, by a name such as "attempts"; times are in seconds."""

    def __str__(self) -> str:
        return self.text

    def as_json(self) -> dict[str, Any]:
        """The explanation as JSON; times that never came are null."""
        tables = {
            name: json.loads(frame.to_json(orient="records", double_precision=15))
            for name, frame in self.tables.items()
        }
        return {"subject": self.subject, "blocked": self.blocked, "text": self.text, **tables}


def explain_job(run: Run, job: str | int, lines: int = 10) -> Explanation:
    """Explains one job, given by number or name: its times, its attempts, the nodes that each filter
    rejected, the holders of these nodes, and the reason why the job was blocked. The text shows at most
    `lines` attempts and failures; the tables have all."""
    history = History(run)
    story = job_story.JobStory(history, history.find_job(job))
    return Explanation(
        subject=story.title, text=story.text(lines), blocked=story.blocked(), tables=story.tables()
    )


# ---- deadlocks


def _fullest(history: History, jobs: Sequence[int], onset: float, end: float) -> float:
    """The first instant from `onset` to `end` at which these jobs together held the most GPUs."""
    held = history.holdings
    held = held[held["job"].isin(jobs) & (held["since"] < end) & (held["until"] > onset)]
    starts = sorted({onset, *held.loc[held["since"] > onset, "since"]})
    steps = pd.concat(
        [
            pd.Series(held["gpus"].to_numpy(), index=held["since"].clip(lower=onset)),
            pd.Series(-held["gpus"].to_numpy(), index=held["until"]),
        ]
    )
    totals = steps.groupby(level=0).sum().sort_index().cumsum()
    totals = totals[totals.index.isin(starts)].round(9)
    return float(totals.idxmax()) if len(totals) else onset


def _members(history: History, deadlock: pd.Series) -> pd.DataFrame:
    """The gangs of a deadlock, with the GPUs that each job held when all of them together held the most."""
    rows = history.members[history.members["deadlock"] == deadlock["id"]]
    rows = rows.sort_values(["joined", "job", "gang"], ignore_index=True)
    onset, end = deadlock["onset"], deadlock["resolved_at"]
    at = _fullest(history, list(rows["job"]), onset, history.run.end if pd.isna(end) else end)
    holders = history.holders(history.held_at(at)).set_index("job")
    frame = rows.drop(columns="deadlock")
    frame["name"] = [history.title(job) for job in rows["job"]]
    frame["lacks"] = (rows["needed"] - rows["assigned"]).clip(lower=0)
    frame["gpus_per_pod"] = history.gpus_per_pod(rows["job"])
    frame["seen_at"] = at
    frame["job_gpus_seen"] = [float(holders["gpus"].get(job, 0)) for job in rows["job"]]
    frame["job_nodes_seen"] = [list(holders["which"].get(job, [])) for job in rows["job"]]
    return frame


def _cycle(members: pd.DataFrame) -> str:
    """What each job of a deadlock holds and lacks, in one sentence."""
    jobs = members.groupby("job", sort=False).agg(
        name=("name", "first"), gpus=("gpus_held", "sum"), lacks=("lacks", "sum"),
        is_infeasible=("is_infeasible", "first"),
    )
    parts = [
        f"{row.name_} holds {count(row.gpus, 'GPU')} and lacks {count(row.lacks, 'pod')}"
        for row in jobs.rename(columns={"name": "name_"}).itertuples()
    ]
    text = "; ".join(parts)
    whose = "the other holds" if len(jobs) == 2 else "others of them hold"
    return f"{text}: each waits for nodes that {whose}, and none lets go before it has all its pods"


def explain_deadlock(run: Run, k: int) -> Explanation:
    """Explains deadlock number k: what each job held, what it waited for, and how the deadlock ended."""
    history = History(run)
    deadlocks = history.deadlocks
    for table in ("/events/deadlocks", "/events/deadlock_members"):
        if missing := history.missing(table):
            raise RunError(f"{run.path}: deadlocks are not recorded: {missing}")
    found = deadlocks[deadlocks["id"] == k]
    if not len(found):
        known = ", ".join(map(str, sorted(deadlocks["id"])[:20])) or "it had none"
        raise RunError(f"{run.path}: no deadlock {k}; those of this run: {known}")
    deadlock = found.iloc[0]
    members = _members(history, deadlock)
    end = history.run.end if pd.isna(deadlock["resolved_at"]) else deadlock["resolved_at"]
    cycle = _cycle(members) + "."
    by_job = members.groupby("job", sort=False)
    at, seen = members["seen_at"].iloc[0], by_job["job_gpus_seen"].first().sum()
    lines = [
        f"Deadlock {k}: {count(members['job'].nunique(), 'job')}, from {clock(deadlock['onset'])}"
        f" to {clock(end)} ({span(end - deadlock['onset'])})",
        "",
        *(line for _, gangs in by_job for line in _member_lines(history, gangs)),
        "",
        *indented(f"Cycle:  {cycle[0].upper()}{cycle[1:]}", 0, 8),
        f"End:    {RESOLUTIONS[str(deadlock['resolution'])]}",
        f"Cost:   {gpu_time(deadlock['gpu_s_lost'])} held in vain, at most"
        f" {count(deadlock['gpus_held'], 'GPU')} at a time",
    ]
    infeasible = sorted(set(members.loc[members["is_infeasible"], "name"]))
    if infeasible:
        lines.append(f"Note:   {listed(infeasible)} would not fit even if all others let go.")
    total = history.nodes["gpus"].sum() if len(history.nodes) else 0
    if total:
        held = history.held_at(at)["gpus"].sum()
        lines.append(f"        All jobs together held {held:,g} of {total:,g} GPUs at {clock(at)}.")
    why = history.missing("/pods") or history.missing("/events/attempts")
    if seen < deadlock["gpus_held"] and why:
        lines.append(f"        Nodes of reserved pods are not all known: {why}.")
    return Explanation(f"deadlock {k}", "\n".join(lines) + "\n", cycle, {"members": members})


def _member_lines(history: History, gangs: pd.DataFrame) -> Iterator[str]:
    """Lines about one job of a deadlock: the GPUs that it held, and how many pods each of its gangs had."""
    first, most = gangs.iloc[0], gangs["gpus_held"].sum()
    text = f"  {first['name']} holds {count(most, 'GPU')}"
    seen, nodes = first["job_gpus_seen"], first["job_nodes_seen"]
    if seen < most and nodes:
        text += f" at most; {count(seen, 'GPU')} at {clock(first['seen_at'])}"
    yield text + (f" on {history.names.few(nodes)}" if nodes else "")
    for gang in gangs.itertuples():
        name = f"gang {gang.gang}" if len(gangs) > 1 else "its gang"
        has = f"    {name} has {gang.assigned} of {count(gang.needed, 'pod')}"
        size = f" of {count(gang.gpus_per_pod, 'GPU')}" if gang.gpus_per_pod else ""
        lacks = f", waits for {count(gang.lacks, 'more pod')}{size} since {clock(gang.joined)}"
        yield has + (lacks if gang.lacks else "")


# ---- what is worth explaining


def explain_run(run: Run, lines: int = 10) -> Explanation:
    """What is worth explaining in a run: the jobs that waited longest, the deadlocks, and the jobs for which
    failures cost most."""
    history = History(run)
    jobs = history.jobs.reset_index(drop=True)
    jobs = jobs.sort_values(["wait", "job"], ascending=[False, True], ignore_index=True)
    waits = jobs[jobs["wait"] >= 1]  # even a job that starts at once waits for a scheduling cycle
    failed = jobs[(jobs["restarts"] > 0) | jobs["outcome"].isin(["failed", "hung"])]
    failed = failed.sort_values(["lost_gpu_s", "restarts", "job"], ascending=[False, False, True])
    text = [f"{run.path.name}: {count(len(jobs), 'job')} in {span(run.end)}"]

    def part(title: str, heads: list[str], rows: list[list[object]], right: str, all_: int) -> None:
        more = f", {len(rows)} of {all_:,}" if all_ > len(rows) else ""
        text.extend(["", f"{title}{more}"])
        text.extend("  " + line for line in columns([heads, *rows], right))

    if len(waits):
        rows = [
            [r.job, r.name, r.pods, r.gpus, span(r.wait), r.outcome, clock(r.submitted)]
            for r in waits.head(lines).itertuples()
        ]
        heads = ["job", "name", "pods", "gpus", "wait", "outcome", "submitted"]
        part("Longest waits (--job JOB)", heads, rows, "rlrrrl", len(waits))
    if len(history.deadlocks):
        rows = [
            [r.id, r.members, f"{r.gpus_held:g}", clock(r.onset), clock(r.resolved_at)]
            + [r.resolution]
            for r in history.deadlocks.head(lines).itertuples()
        ]
        heads = ["deadlock", "jobs", "gpus", "onset", "end", "resolution"]
        part("Deadlocks (--deadlock K)", heads, rows, "rrrll", len(history.deadlocks))
    if len(failed):
        rows = [
            [r.job, r.name, r.restarts, gpu_time(r.lost_gpu_s), r.outcome]
            for r in failed.head(lines).itertuples()
        ]
        heads = ["job", "name", "restarts", "lost", "outcome"]
        part("Failures that cost most (--job JOB)", heads, rows, "rlrr", len(failed))
    if len(text) == 1:
        text.append("No job waited, failed or was stuck.")
    if why := history.missing("/events/attempts"):
        text.extend(["", f"Why pods got no node is not in the file: {why}."])
    tables = {"waits": waits, "deadlocks": history.deadlocks, "failures": failed}
    return Explanation(run.name, "\n".join(text) + "\n", "", tables)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `orrery explain` and returns 0. Raises RunError if the file is not what the command needs."""
    parser = argparse.ArgumentParser(
        prog="orrery explain",
        description="Explains why a job waited or failed, or what each job held in a deadlock. "
        "Without --job and --deadlock: what is worth explaining.",
    )
    parser.add_argument("run", metavar="RUN.h5", help="the output of a run")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--job", metavar="NAME|ID", help="a job, by name or serial number")
    what.add_argument("--deadlock", metavar="K", type=int, help="a deadlock, by number")
    parser.add_argument(
        "--attempts", metavar="N", type=int, default=10, help="lines of each list (10)"
    )
    parser.add_argument("--json", action="store_true", help="the rows behind the text, too")
    options = parser.parse_args(argv)
    if options.attempts < 1:
        parser.error(f"argument --attempts: must be at least 1, not {options.attempts}")
    with open_run(options.run) as run, reading(run.path):
        if options.job is not None:
            reported = explain_job(run, options.job, options.attempts)
        elif options.deadlock is not None:
            reported = explain_deadlock(run, options.deadlock)
        else:
            reported = explain_run(run, options.attempts)
    say(json.dumps(reported.as_json(), indent=1) if options.json else reported.text, end="")
    return 0
