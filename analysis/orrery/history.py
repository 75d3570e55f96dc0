"""Jobs in a run's file: who held nodes over time, the attempts to place pods, and the decisions of the
queue."""

from __future__ import annotations

import difflib
from functools import cached_property

import numpy as np
import pandas as pd

from orrery.printable import printable
from orrery.run import Run, RunError
from orrery.telling import NodeNames, unnumbered

WHICH = ["plugin", "reason", "nodes", "is_noted", "is_unresolvable", "which"]
UNITS = {"gpus": "GPU", "cpus": "core", "memory": "byte", "nics": "NIC", "pods": "pod"}
KEEPS = ("scheduled", "waiting_in_permit")  # outcomes of an attempt that leave the pod with a reserved node
NO_HOLDINGS = pd.DataFrame(
    {
        name: pd.Series(dtype=float)
        for name in "job rank node gpus since until released is_reserved".split()
    }
)


def _bits(masks: pd.Series) -> np.ndarray:
    return np.array([int(mask).bit_count() for mask in masks], dtype=np.int64)


class History:
    """The tables of one run that explain its jobs, each read at its first use."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.names = NodeNames(self._table("/nodes", ["node", "name", "gpus"]))
        self.nodes = self._table("/nodes", ["node", "name", "gpus"])

    def _table(self, path: str, columns: list[str]) -> pd.DataFrame:
        if path in self.run:
            return self.run.table(path)
        return pd.DataFrame({name: pd.Series(dtype=float) for name in columns})

    @cached_property
    def parameters(self) -> dict:
        return self.run.meta.resolved

    @property
    def is_counting(self) -> bool:
        """Whether jobs take amounts out of one pool instead of having pods on nodes (driver: counting)."""
        return self.parameters["policy"].get("driver") == "counting"

    @property
    def queue_unit(self) -> str:
        """The unit of the first resource that the job queue counts."""
        return UNITS[self.parameters["policy"]["job_queue"]["counts"][0]]

    @property
    def unit(self) -> str:
        """The unit in which the text says how much a job holds."""
        return self.queue_unit if self.is_counting else "GPU"

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """The table /jobs, indexed by serial number."""
        if "/jobs" not in self.run:
            raise RunError(f"{self.run.path}: record.off leaves /jobs out")
        return self.run.table("/jobs").set_index("job", drop=False).sort_index()

    def missing(self, path: str) -> str | None:
        """Why a table is absent, with the parameter that records the table; None if the table exists."""
        if path in self.run:
            return None
        record = self.parameters["record"]
        if path == "/pods" and not record["pods"]:
            return "record.pods is false"
        if path in ("/events/attempts", "/events/rejections", "/events/job_queue"):
            if not record["attempts"]:
                return "record.attempts is false; --set record.attempts=true records them"
            if path == "/events/job_queue" and not self.parameters["policy"].get("job_queue"):
                return "policy.job_queue is not set: jobs wait for nodes only"
        return f"record.off leaves {path} out"

    def find_job(self, wanted: str | int) -> int:
        """The serial number of the job with that number or name."""
        jobs, text = self.jobs, str(wanted)
        if text.isdigit() and int(text) in jobs.index:
            return int(text)
        named = jobs.index[jobs["name"] == text]
        if len(named) == 1:
            return int(named[0])
        if len(named) > 1:
            few = ", ".join(map(str, named[:8])) + (", ..." if len(named) > 8 else "")
            raise RunError(f"{len(named)} jobs are named '{text}': take a number of {few}")
        near = difflib.get_close_matches(text, sorted(set(jobs["name"])), 3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        if not near and len(jobs):
            hint = f"; its {len(jobs)} jobs have the numbers {jobs.index[0]} to {jobs.index[-1]}"
        state = "" if self.run.complete else " (jobs that go on are not in the file yet)"
        raise RunError(f"{self.run.path}: no job '{text}'{state}{hint}")

    def title(self, job: int) -> str:
        """`job 1 (second)`, or `job 1` for a job without a name, as in some traces."""
        name = str(self.jobs.at[job, "name"]) if job in self.jobs.index else ""
        return f"job {job} ({printable(name)})" if name else f"job {job}"

    @cached_property
    def pods(self) -> pd.DataFrame:
        return self._table(
            "/pods",
            "job rank node gpus created bound started ended attempts end".split(),
        )

    @cached_property
    def preemptions(self) -> pd.DataFrame:
        return self._table("/events/preemptions", ["at", "job", "rank", "by_job", "by_priority"])

    @cached_property
    def recoveries(self) -> pd.DataFrame:
        return self._table("/events/recoveries", ["job", "failed", "recreated"])

    @cached_property
    def gang_starts(self) -> pd.DataFrame:
        names = "job called started members pods gpus"
        return self._table("/events/gang_starts", names.split())

    @cached_property
    def faults(self) -> pd.DataFrame:
        return self._table("/events/faults", ["node", "at", "cause", "repaired_at"])

    @cached_property
    def deadlocks(self) -> pd.DataFrame:
        return self._table("/events/deadlocks", ["id"])

    @cached_property
    def members(self) -> pd.DataFrame:
        return self._table("/events/deadlock_members", ["deadlock", "job"])

    @cached_property
    def attempts(self) -> pd.DataFrame:
        names = "attempt at job rank outcome node feasible pods placeable domains message"
        table = self._table("/events/attempts", names.split())
        if not set(names.split()) <= set(table.columns):
            raise RunError(f"{self.run.path}: written by an older orrery; run it again")
        return table

    @cached_property
    def rejections(self) -> pd.DataFrame:
        return self._table("/events/rejections", ["attempt", *WHICH])

    @cached_property
    def decisions(self) -> pd.DataFrame:
        return self._table("/events/job_queue", ["at", "job", "decision"])

    # ---- holders

    def gpus_per_pod(self, jobs: pd.Series) -> np.ndarray:
        """GPUs of a pod of each job, on average."""
        rows = self.jobs.reindex(jobs)
        return (rows["gpus"] / rows["pods"]).to_numpy()

    @cached_property
    def holdings(self) -> pd.DataFrame:
        """One row for each time that a pod held GPUs of a node, bound or only reserved, from `since` to
        `until`. `since_attempt` and `until_attempt` are the ids of the attempts with which the holding began and
        ended, or 0. They give the order within one instant. A bound pod has two rows, its reservation (if
        attempts are in the file) and the time after binding; `released` of both rows is when the pod's GPUs
        became free. `is_reserved` means that the pod waits in Permit. With is_counting, rows of _counted()
        are added, which have no node."""
        reserved = self._reserved()
        parts = [self._bound(reserved), reserved]
        if self.is_counting:
            parts.append(self._counted())
        frame = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
        frame["until"] = frame["until"].fillna(np.inf)
        frame["released"] = frame["released"].fillna(frame["until"])
        return frame

    def _bound(self, reserved: pd.DataFrame) -> pd.DataFrame:
        pods = self.pods[(self.pods["node"] >= 0) & self.pods["bound"].notna()]
        frame = pd.DataFrame(
            {
                "job": pods["job"].astype(np.int64),
                "rank": pods["rank"],
                "node": pods["node"].astype(np.int64),
                "gpus": _bits(pods["gpus"]).astype(float),
                "since": pods["bound"],
                "until": self._let_go().loc[pods.index],
                "until_attempt": 0,
                "is_reserved": False,
                "released": np.nan,
            }
        )
        # A pod may be bound in the same instant as its attempt. Then it holds its GPUs from this attempt on.
        attempts = reserved[["job", "rank", "until", "since_attempt"]]
        attempts = attempts.rename(columns={"until": "since"})
        attempts = attempts.drop_duplicates(["job", "rank", "since"], keep="last")
        frame = frame.merge(attempts, "left", on=["job", "rank", "since"])
        return frame.fillna({"since_attempt": 0})

    def _let_go(self) -> pd.Series:
        """When each pod released its GPUs. The end of the run does not count as a release: all pods are still
        there for the last attempts."""
        return self.pods["ended"].mask(self.pods["end"] == "run_ended", np.inf)

    def _reserved(self) -> pd.DataFrame:
        """Reservations. Each begins with the attempt that found a node, and ends when the pod is bound,
        deleted or tried again."""
        attempts = self.attempts[["attempt", "at", "job", "rank", "outcome", "node"]]
        attempts = attempts.sort_values(["job", "rank", "at", "attempt"], kind="stable")
        pods = attempts.groupby(["job", "rank"], sort=False)
        following = pods[["at", "attempt"]].shift(-1)
        kept = attempts["outcome"].isin(KEEPS).to_numpy()
        frame = pd.DataFrame(
            {
                "job": attempts["job"].astype(np.int64),
                "rank": attempts["rank"],
                "node": attempts["node"].astype(np.int64),
                "since": attempts["at"],
                "since_attempt": attempts["attempt"].astype(np.int64),
                "until": following["at"].fillna(np.inf),
                "until_attempt": following["attempt"].fillna(0).astype(np.int64),
                "is_reserved": attempts["outcome"] == "waiting_in_permit",
                "released": np.nan,
            }
        )[kept]
        frame["gpus"] = self.gpus_per_pod(frame["job"])
        return self._ended_by_pods(frame)

    def _ended_by_pods(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Ends reservations whose pod was bound or deleted before its next attempt."""
        if not len(frame) or not len(self.pods):
            return frame
        lives = self.pods[["job", "rank", "created", "bound", "ended"]].copy()
        lives["job"] = lives["job"].astype(np.int64)
        lives["ended"] = self._let_go()
        lives = lives.sort_values("created")
        frame = frame.sort_values("since")
        merged = pd.merge_asof(
            frame, lives, left_on="since", right_on="created", by=["job", "rank"]
        ).set_index(frame.index)
        end = merged["bound"].fillna(merged["ended"]).fillna(np.inf)
        is_earlier = (end >= frame["since"]) & (end < frame["until"])
        frame.loc[is_earlier, "until"] = end[is_earlier]
        frame.loc[is_earlier, "until_attempt"] = 0
        is_bound = is_earlier & merged["bound"].notna()
        frame.loc[is_bound, "released"] = merged.loc[is_bound, "ended"]
        return frame

    def _counted(self) -> pd.DataFrame:
        """Holdings of jobs without pods on nodes: from each start to the next stop, if the queue's decisions
        are recorded; else, if the queue counts GPUs, from the first start to the end. `gpus` is the amount of
        the resource that the queue counts."""
        changes = self.decisions[self.decisions["decision"].isin(["started", "stopped"])]
        if len(changes):
            following = changes.groupby("job", sort=False)["at"].shift(-1)
            starts = changes.assign(until=following)[changes["decision"] == "started"]
            jobs = self.jobs.loc[starts["job"]]
            since, held = starts["at"].to_numpy(), starts["asked"].to_numpy(float)
            until = starts["until"].fillna(pd.Series(jobs["ended"].to_numpy(), starts.index))
        else:
            jobs = self.jobs[self.jobs["bound"].notna() & (self.queue_unit == "GPU")]
            since, until = jobs["bound"].to_numpy(), jobs["ended"]
            held = jobs["gpus"].to_numpy(float)
        return pd.DataFrame(
            {
                "job": jobs["job"].to_numpy(np.int64),
                "rank": 0,
                "node": -1,
                "gpus": held,
                "since": since,
                "since_attempt": 0,
                "until": until.to_numpy(),
                "until_attempt": 0,
                "is_reserved": False,
                "released": np.nan,
            }
        )

    def held_at(
        self, at: float, attempt: int | None = None, nodes: set[int] | None = None
    ) -> pd.DataFrame:
        """The holdings at this instant, as the attempt with this number found them; without a number, those
        at the end of the instant. With `nodes`, only holdings on these nodes."""
        held = self.holdings
        number = np.inf if attempt is None else attempt
        has_begun = (held["since"] < at) | (
            (held["since"] == at) & (held["since_attempt"] < number)
        )
        goes_on = (held["until"] > at) | (
            (held["until"] == at) & (held["until_attempt"] >= number)
        )
        here = has_begun & goes_on
        if nodes is not None:
            here &= held["node"].isin(nodes)
        return held[here]

    def holders(self, held: pd.DataFrame) -> pd.DataFrame:
        """Sums of holdings by job, the largest first: GPUs, nodes, and the last time of release.
        `gpus_reserved` are the GPUs of pods that wait in Permit."""
        grouped = held.groupby("job")
        frame = pd.DataFrame(
            {
                "gpus": grouped["gpus"].sum(),
                "pods": grouped["rank"].count(),
                "nodes": grouped["node"].nunique(),
                "which": grouped["node"].agg(lambda nodes: sorted(set(nodes))),
                "since": grouped["since"].min(),
                "until": grouped["released"].max().clip(upper=self.run.end),
                "gpus_reserved": (held["gpus"] * held["is_reserved"].astype(float))
                .groupby(held["job"])
                .sum(),
            }
        ).reset_index()
        return frame.sort_values(
            ["gpus", "pods", "job"], ascending=[False, False, True], ignore_index=True
        )

    def down_at(self, at: float) -> list[int]:
        """Nodes that were down at that time."""
        faults = self.faults
        here = (faults["at"] <= at) & ~(faults["repaired_at"] <= at)
        return sorted(set(faults.loc[here, "node"].astype(int)))

    # ---- attempts

    def attempts_of(self, job: int) -> pd.DataFrame:
        """Attempts of one job. Equal attempts share a row, with their count, first and last time, ranks and
        nodes. `attempt` is the id of the row's last attempt. `life` counts how often the pods had been
        created again by then, from 0."""
        attempts = self.attempts[self.attempts["job"] == job].copy()
        attempts["life"] = 0
        again = self.recoveries[self.recoveries["job"] == job].dropna(subset=["recreated"])
        for rank, times in again.groupby("rank")["recreated"] if len(again) else ():
            lives = np.searchsorted(np.sort(times), attempts["at"], side="right")
            attempts["life"] += np.where((rank < 0) | (attempts["rank"] == rank), lives, 0)
        reasons = self.rejections[self.rejections["attempt"].isin(attempts["attempt"])]
        attempts["why"] = ""
        if len(reasons):
            reported = reasons[WHICH].astype(str).agg("|".join, axis=1)
            joined = reported.groupby(reasons["attempt"]).agg("\n".join)
            attempts["why"] = attempts["attempt"].map(joined).fillna("")
        attempts["outcome"] = attempts["outcome"].astype(str)
        kinds = ["life", "outcome", "message", "pods", "placeable", "domains", "why"]
        grouped = attempts.groupby(kinds, sort=False)
        frame = pd.DataFrame(
            {
                "first": grouped["at"].min(),
                "last": grouped["at"].max(),
                "count": grouped["attempt"].count(),
                "attempt": grouped["attempt"].max(),
                "ranks": grouped["rank"].agg(lambda ranks: sorted(set(ranks))),
                "nodes": grouped["node"].agg(lambda nodes: sorted({n for n in nodes if n >= 0})),
            }
        ).reset_index()
        return frame.drop(columns="why").sort_values(["first", "attempt"], ignore_index=True)

    def rejections_of(self, attempt: int) -> pd.DataFrame:
        return self.rejections[self.rejections["attempt"] == attempt].reset_index(drop=True)

    def short_of(self, rejections: pd.DataFrame) -> tuple[set[int], bool]:
        """The nodes that were rejected for lack of free resources, and whether this set is exact. The set is
        not exact if the file has a shortened list of these nodes, which includes nodes between them."""
        nodes: set[int] = set()
        lacking = rejections["reason"].astype(str).str.startswith(("Insufficient", "Too many pods"))
        full = rejections[lacking & (rejections["is_unresolvable"] == 0)]
        for which in full["which"]:
            nodes |= unnumbered(which)
        return nodes, len(nodes) == full.loc[full["is_noted"] == 0, "nodes"].sum()
