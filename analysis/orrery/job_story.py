"""One job in a run: its times, why it waited, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import pandas as pd

from orrery.attempt_story import AttemptStory
from orrery.gang_story import GangStory
from orrery.history import History
from orrery.queue_story import QueueStory
from orrery.starvation import Starvation
from orrery.telling import clock, columns, count, gpu_time, indented, listed, numbered, span

ENDS = {
    "completed": "completed",
    "node_failed": "node failed",
    "gang_stopped": "stopped with its gang",
    "job_failed": "stopped, as the job failed",
    "run_ended": "until the run ended",
    "rank_died": "process died",
    "scaled_down": "taken away",
    "preempted": "made room for another",
}
BESIDE = len("  Asked for  ")  # column at which texts begin, to the right of their heads
ENDLESS = 100 * 365 * 86_400.0  # seconds; a job with more work never ends
ACCOUNTS = {
    "useful_gpu_s": "useful",
    "lost_gpu_s": "lost when it stopped",
    "exchange_gpu_s": "exchanges and slower ranks",
    "checkpoint_gpu_s": "checkpoints",
    "restore_gpu_s": "loading checkpoints",
    "scheduling_held_gpu_s": "held before it computed",
    "hung_gpu_s": "held after failures",
    "idle_gpu_s": "without load",
}
STEPS = {
    "detected": "noticed",
    "recreated": "pods created again",
    "scheduled": "enough pods had nodes",
    "started": "all ranks met",
    "resumed": "checkpoint loaded, computes again",
    "caught_up": "as far as before",
}


def _beside(head: str, text: str) -> list[list[str]]:
    """A sentence beside its head, broken into lines; no line if the sentence is empty."""
    lines = indented(text, BESIDE)
    return [["" if place else head, line.strip()] for place, line in enumerate(lines)]


class JobStory:
    """The text and the tables that explain one job of a run."""

    def __init__(self, history: History, job: int) -> None:
        self.history, self.job = history, job
        self.row = history.jobs.loc[job]
        self.title = history.title(job)
        self.end = history.run.end

    def text(self, lines: int) -> str:
        parts = [self._head(), self._way_text(lines), self.queue.text(lines)]
        parts += [self.attempts.text(lines), self._pods_text(lines), self._accounts()]
        return "\n\n".join(part for part in parts if part) + "\n"

    def tables(self) -> dict[str, pd.DataFrame]:
        return {
            "way": self.way,
            "overtakers": self.starvation.overtakers,
            "queue": self.queue.rows,
            "attempts": self.attempts.lines,
            "rejections": self.attempts.rejections,
            "holders": self.attempts.holders,
            "pods": self.pods,
            "starts": self.gang.starts,
            "recoveries": self.recoveries,
        }

    @cached_property
    def attempts(self) -> AttemptStory:
        return AttemptStory(self.history, self.job)

    @cached_property
    def pods(self) -> pd.DataFrame:
        pods = self.history.pods
        return pods[pods["job"] == self.job].sort_values(["created", "rank"], ignore_index=True)

    @cached_property
    def recoveries(self) -> pd.DataFrame:
        rows = self.history.recoveries
        return rows[rows["job"] == self.job].sort_values("failed", ignore_index=True)

    @cached_property
    def queue(self) -> QueueStory:
        return QueueStory(self.history, self.job)

    @cached_property
    def starvation(self) -> Starvation:
        return Starvation(self.history, self.job)

    @cached_property
    def gang(self) -> GangStory:
        return GangStory(self.history, self.job)

    # ---- head

    def _head(self) -> str:
        row = self.row
        owner = [f"{kind} {row[kind]}" for kind in ("user", "team") if row[kind]]
        kind = "one communicator" if row["kind"] == "mpi_gang" else "independent pods"
        asked = f"{count(row['pods'], 'pod')} ({kind})"
        asked += f" with {count(row['gpus'], 'GPU')}" if row["gpus"] else ""
        work = f"{span(row['work'])} of work" if row["work"] < ENDLESS else "endless work"
        rows = _beside("In short", self.starvation.text())
        rows.append(["Asked for", f"{asked}, {work}, priority {row['priority']}"])
        if owner:
            rows.append(["Owner", ", ".join(owner)])
        rows.append(["Waited", self._waited()])
        rows += _beside("Started", self.gang.head())
        if row["running"] >= 0:
            restarts = count(row["restarts"], "restart")
            rows.append(["Ran", f"{span(row['run'])} for {work}, {restarts}"])
        rows += _beside("Blocked", self.blocked())
        head = f"{self.title[0].upper()}{self.title[1:]}: {row['outcome']}"
        return "\n".join([head, *("  " + line for line in columns(rows))])

    def _stages(self) -> list[tuple[str, float]]:
        """The parts of the wait in their order, each with its length in seconds."""
        row, until = self.row, self.row["submitted"] + self.row["wait"]
        stages, begun = [], row["submitted"]
        for what, end in (
            ("in the job queue", row["created"]),
            ("for nodes", row["bound"]),
            ("to start", row["running"]),
        ):
            stages.append((what, (until if pd.isna(end) else end) - begun))
            if pd.isna(end):
                break
            begun = end
        has_queue = bool(self.history.parameters["policy"].get("job_queue"))
        is_created = "in the job queue" if has_queue else "until it had pods"
        return [(is_created if i == 0 else what, s) for i, (what, s) in enumerate(stages)]

    def _waited(self) -> str:
        least = self.row["wait"] / 1_000  # a part shorter than this is not worth a line
        parts = [f"{span(length)} {what}" for what, length in self._stages() if length > least]
        return f"{span(self.row['wait'])}" + (f": {listed(parts)}" if len(parts) > 1 else "")

    # ---- what blocked the job

    def blocked(self) -> str:
        """What blocks or blocked the job, and its failures, in a few sentences."""
        row, outcome = self.row, str(self.row["outcome"])
        stuck = self._deadlock()
        if outcome == "pending":
            return stuck or self._still_waits()
        if outcome == "hung":
            failed = self.recoveries.iloc[-1] if len(self.recoveries) else None
            if failed is None:
                return "It hangs."
            return f"It hangs since {clock(failed['failed'])}: {self._cause(failed)}."
        if outcome == "restarting" and len(self.recoveries):
            return self._still_restarts(self.recoveries.iloc[-1])
        text = self._waited_for()
        if len(self.recoveries):
            text += self._failures()
        if outcome == "failed":
            failures = self.recoveries[~self._are("is_membership_change")]
            last = failures.iloc[-1] if len(failures) else None
            why = f": {self._cause(last)}" if last is not None else ""
            text += f" It failed at {clock(row['ended'])}{why}."
        return text

    def _deadlock(self) -> str:
        members = self.history.members
        members = members[members["left"].isna()]
        here = members[members["job"] == self.job]
        if not len(here):
            return ""
        own = here.iloc[-1]
        others = members[(members["deadlock"] == own["deadlock"]) & (members["job"] != self.job)]
        names = [self.history.title(job) for job in others["job"].unique()[:3]]
        assigned, needed = here["assigned"].sum(), here["needed"].sum()
        since = clock(own["joined"])
        return (
            f"It is in deadlock {own['deadlock']} with {listed(names)} since {since},"
            f" holds {count(here['gpus_held'].sum(), 'GPU')} for {assigned} of its"
            f" {count(needed, 'pod')} and gets no more (--deadlock {own['deadlock']})."
        )

    def _still_waits(self) -> str:
        since = clock(self.row["submitted"])
        if pd.isna(self.row["created"]):
            if not self.history.parameters["policy"].get("job_queue"):
                return f"It has no pods yet; submitted at {since}."
            return f"It waits in the job queue since {since}: {self.queue.reason()}."
        return f"It waits for nodes since {clock(self.row['created'])}: {self._nodes_reason(-1)}."

    def _still_restarts(self, failed: pd.Series) -> str:
        begun = f"It failed at {clock(failed['failed'])} ({self._cause(failed)})"
        if pd.isna(failed["recreated"]) or failed["scheduled"] >= 0:
            return f"{begun} and had not restarted when the run ended."
        return f"{begun} and waits for nodes since {clock(failed['recreated'])}: " + (
            f"{self._nodes_reason(-1)}."
        )

    def _waited_for(self) -> str:
        """The longest part of the wait and its reason, in one sentence."""
        stages = self._stages()
        what, length = max(stages, key=lambda stage: stage[1])
        if length < 1:
            return "Nothing held it up before it ran."
        text = f"It waited {span(length)} {what}"
        if what == "for nodes":
            return f"{text}: {self._nodes_reason(0)}."
        if what == "in the job queue":
            return f"{text}: {self.queue.reason()}."
        if what == "to start":
            bound = clock(self.row["bound"])
            called = self.gang.called_for()
            of_it = f", {span(called)} of it for the last call" if called else ""
            return f"It had its nodes at {bound} and took {span(length)} to start{of_it}."
        return f"{text}."

    def _failures(self) -> str:
        lost = gpu_time(self.row["lost_gpu_s"])
        made_room = int(self._are("is_preemption").sum())
        changes = int(self._are("is_membership_change").sum())
        stops = {
            "failure": len(self.recoveries) - made_room - changes,
            "preemption": made_room,
            "membership change": changes,
        }
        text = f" {listed([count(n, what) for what, n in stops.items() if n])} cost it"
        text += f" {lost} of compute."
        waits = (self.recoveries["scheduled"] - self.recoveries["recreated"]).fillna(0)
        longest = waits.idxmax()
        if waits[longest] < 1:
            return text
        rank = self.recoveries.at[longest, "rank"]
        again = self.recoveries.loc[self.recoveries["rank"] == rank, "recreated"]
        life = int((again <= again[longest]).sum())
        return text + (
            f" After that of {clock(self.recoveries.at[longest, 'failed'])} it waited"
            f" {span(waits[longest])} for nodes: {self._nodes_reason(life, rank)}."
        )

    def _are(self, kind: str) -> pd.Series:
        """Whether each recovery is of this kind; False in older files, which have no kinds."""
        rows = self.recoveries
        return rows[kind].astype(bool) if kind in rows else pd.Series(False, rows.index)

    def _nodes_reason(self, life: int, rank: int = -1) -> str:
        if why := self.history.missing("/events/attempts"):
            return f"why is not in the file ({why})"
        return self.attempts.reason(life, rank)

    def _cause(self, failed: pd.Series) -> str:
        if failed.get("is_preemption", False):
            return self._preempted(failed["failed"], int(failed.get("rank", -1)))
        if failed.get("is_membership_change", False):
            return "its gang gathers again with members that came late"
        if failed["node"] < 0:
            cause = "a process died, or gave up"
        else:
            faults = self.history.faults
            here = faults[(faults["node"] == failed["node"]) & (faults["at"] == failed["failed"])]
            kind = f" ({here.iloc[0]['cause']})" if len(here) else ""
            cause = f"node {self.history.names.one(failed['node'])} failed{kind}"
        return cause + (", which was not detected" if pd.isna(failed["detected"]) else "")

    def _preempted(self, at: float, rank: int) -> str:
        """Names the job for which this one made room. Takes the last preemption at or before `at`: pods that
        terminate slowly end later than the preemption."""
        rows = self.history.preemptions
        rows = rows[(rows["job"] == self.job) & (rows["at"] <= at)]
        if rank >= 0:
            rows = rows[rows["rank"] == rank]
        if not len(rows):
            return "it made room for another job"
        job, priority = (int(rows.iloc[-1][column]) for column in ("by_job", "by_priority"))
        return f"it made room for {self.history.title(job)}, priority {priority}"

    # ---- the events of the job

    @cached_property
    def way(self) -> pd.DataFrame:
        events = sorted(self._events(), key=lambda event: event[0])
        return pd.DataFrame(events, columns=["at", "what", "detail"])

    def _events(self) -> Iterator[tuple[float, str, str]]:
        """Events of the job as (time, event, detail). Events of one instant are in the order in which they
        happened."""
        row, outcome = self.row, str(self.row["outcome"])
        yield row["submitted"], "submitted", ""
        for place, decided in self.queue.rows.iterrows():
            if decided["decision"] == "stopped":
                yield decided["at"], "stopped", f"by {decided['policy']}, and waits again"
            elif decided["decision"] == "started" and place > 0:
                yield decided["at"], "let start", f"by {decided['policy']}"
        if row["created"] >= 0:
            yield row["created"], "pods created", ""
        yield from self._places()
        again = set(self.recoveries["started"]) if len(self.recoveries) else set()
        for at in self.gang.starts["started"]:
            if at not in again:
                yield at, "gang starts", self.gang.of_start(at)
        if row["running"] >= 0:
            yield row["running"], "running", "computes for the first time"
        for _, failed in self.recoveries.iterrows():
            yield from self._recovery(failed)
        yield from self.gang.events()
        what = "ended" if row["ended"] >= 0 else "run ended"
        yield (row["ended"] if row["ended"] >= 0 else self.end), what, outcome

    def _places(self) -> Iterator[tuple[float, str, str]]:
        """Events of placement: enough pods got nodes and started, or too few did."""
        bound, pods = self.row["bound"], self.pods
        if self.history.is_counting:
            if bound >= 0:
                yield bound, "bound", "has what it asked for"
            return
        placed = pods[pods["bound"] <= (self.end if pd.isna(bound) else bound)]
        nodes = self.history.names.few(placed["node"])
        if pd.isna(bound) and len(placed):
            few = f"{count(len(placed), 'pod')}, too few, on {nodes}"
            yield placed["bound"].max(), "pods bound", few
        elif bound >= 0:
            yield bound, "bound", "enough pods" + (f", on {nodes}" if nodes else "")
        started = pods.loc[pods["created"] <= bound, "started"].dropna()
        if len(started):
            yield started.max(), "pods started", f"{count(len(started), 'pod')}, the last one"

    def _recovery(self, failed: pd.Series) -> Iterator[tuple[float, str, str]]:
        rank = f"rank {failed['rank']}: " if failed["rank"] >= 0 else ""
        members = self.gang.gpus_at(failed["failed"])
        gpus = failed["gpus"] if pd.isna(members) else members
        lost = failed["lost_gpu_s"] / gpus if gpus else 0
        since = f"; {span(lost)} of compute since its last checkpoint lost" if lost > 0 else ""
        event, what = "failure", "failed"
        if failed.get("is_preemption", False):
            event, what = "preemption", "preempted"
        elif failed.get("is_membership_change", False):
            event, what = "change", "stopped"
        yield failed["failed"], what, f"{rank}{self._cause(failed)}{since}"
        for column, what in STEPS.items():
            if failed[column] >= 0:
                detail = f"{rank}{span(failed[column] - failed['failed'])} after the {event}"
                who = self.gang.of_start(failed[column]) if column == "started" else ""
                yield failed[column], what, detail + (f"; {who}" if who else "")

    def _way_text(self, lines: int) -> str:
        rows = [[clock(at), what, detail] for at, what, detail in self.way.itertuples(index=False)]
        most = 6 + 7 * lines
        more = [f"  and {len(rows) - most:,} more"] if len(rows) > most else []
        return "\n".join(["History", *("  " + line for line in columns(rows[:most])), *more])

    # ---- pods and accounts

    def _pods_text(self, lines: int) -> str:
        if why := self.history.missing("/pods"):
            return f"Pods are not in the file: {why}."
        pods = self.pods.assign(end=self.pods["end"].astype(str), node_=self.pods["node"] >= 0)
        if not len(pods):
            return ""
        rows = []
        pods["life"] = pods.groupby("rank").cumcount()
        for (_, end, has_node), lives in pods.groupby(["life", "end", "node_"], sort=False):
            where = self.history.names.few(lives["node"]) if has_node else "no node"
            when = f"bound {clock(lives['bound'].min())} to {clock(lives['ended'].max())}"
            rows.append(
                [
                    f"rank{'s' * (len(lives) > 1)} {numbered(lives['rank'])}",
                    f"created {clock(lives['created'].min())}",
                    where,
                    when if has_node else "never bound",
                    ENDS[end],
                    count(lives["attempts"].max(), "attempt"),
                ]
            )
        more = [f"  and {len(rows) - lines:,} more"] if len(rows) > lines else []
        return "\n".join(["Pods", *("  " + line for line in columns(rows[:lines])), *more])

    def _accounts(self) -> str:
        used = {name: self.row.get(column, 0.0) for column, name in ACCOUNTS.items()}
        total = sum(used.values())
        rows = [
            [name, gpu_time(s), f"{100 * s / total:.1f} %"]
            for name, s in used.items()
            if s > total / 2_000  # a smaller share would be shown as 0.0 %
        ]
        if not rows:
            return ""
        return "\n".join(["GPU time", *("  " + line for line in columns(rows, "lrr"))])
