"""Jobs that overtook a waiting job, and the smallest change that would have let that job start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from orrery.history import History
from orrery.printable import printable
from orrery.queue_story import QueueStory
from orrery.telling import SHOWN_MAX, clock, count, gpu_time, listed, unnumbered

# Seconds. Shorter waits, and shorter times in which GPUs are free, are ignored, because a
# scheduling cycle may take as long.
LEAST = 1.0
EXCLUSIVE = ("TopologyPlacement", "SlurmTopologyTree", "SlurmTopologyBlock", "KueueTopology",
             "VolcanoHyperNode", "HeliosConsolidate")  # plugins that keep a gang together


@dataclass(frozen=True)
class Room:
    """The instant of a job's wait at which the most pods of this job would have fitted on the nodes."""

    at: float
    pods: int
    """The number that would have fitted on all nodes that were up; the job's own pods take no room."""
    in_leaf: int
    """The number under the leaf switch with most room."""
    with_down: int
    """The number if no node had been down."""


class Starvation:
    def __init__(self, history: History, job: int) -> None:
        self.history, self.job = history, job
        self.row = history.jobs.loc[job]

    def text(self) -> str:
        """What delayed the job, in one line; empty if nothing did."""
        if self.row["wait"] < LEAST:
            return ""
        return " ".join(part for part in (self._overtaken(), self._cure()) if part)

    @property
    def _until(self) -> float:
        return self.row["submitted"] + self.row["wait"] if pd.isna(self.row["bound"]) \
            else self.row["bound"]

    # ---- jobs that overtook

    @cached_property
    def overtakers(self) -> pd.DataFrame:
        """Jobs that were submitted later but got their nodes earlier, in the order in which they got
        nodes."""
        jobs, row = self.history.jobs, self.row
        jobs = jobs.reset_index(drop=True)
        later = (jobs["submitted"] > row["submitted"]) & (jobs["bound"] < self._until)
        columns = ["job", "name", "team", "user", "pods", "gpus", "priority", "submitted", "bound"]
        found = jobs.loc[later, columns]
        left = jobs.loc[later, "ended"].fillna(np.inf).clip(upper=self._until) - found["bound"]
        found["gpu_s"] = found["gpus"] * left  # each overtaker's GPU seconds while `self.job` waited
        return found.sort_values(["bound", "job"], ignore_index=True)

    def _overtaken(self) -> str:
        found = self.overtakers
        if not len(found):
            return ""
        above = int((found["priority"] > self.row["priority"]).sum())
        text = f"{count(len(found), 'job')} submitted later got nodes before it"
        text += f" ({above:,} of higher priority)" if above else ""
        return f"{text}: {self._whose(found)}."

    @staticmethod
    def _whose(found: pd.DataFrame) -> str:
        kind = next((k for k in ("team", "user") if (found[k] != "").any()), None)
        if kind is None:
            return Starvation._with_what(found)
        groups = sorted(found.groupby(kind), key=lambda group: (-len(group[1]), group[0]))
        parts = [f"{len(rows):,} of {kind} {printable(name) or '(none)'} with "
                 + Starvation._with_what(rows) for name, rows in groups[:SHOWN_MAX]]
        left = sum(len(rows) for _, rows in groups[SHOWN_MAX:])
        return listed(parts + ([f"{left:,} of others"] if left else []))

    @staticmethod
    def _with_what(rows: pd.DataFrame) -> str:
        least, most = rows["gpus"].min(), rows["gpus"].max()
        size = f"{least:,g} to {most:,g} GPUs" if least < most else count(most, "GPU")
        each = " each" if len(rows) > 1 else ""
        used = f" ({gpu_time(rows['gpu_s'].sum())} while it waited)" if most else ""
        return size + each + used

    # ---- changes that would have helped

    def _cure(self) -> str:
        queue = self._queue_cure()
        if queue or pd.isna(self.row["created"]):
            return queue
        room = self.room
        if room is None:
            return ""
        lacks = int(self.row["pods"]) - room.pods
        if lacks <= 0:
            return self._despite_room(room)
        if room.with_down >= self.row["pods"]:
            down = self.history.down_at(room.at)
            return (f"It would have started at {clock(room.at)} if {self.history.names.few(down)} "
                    "had not been down.")
        pods = int(self.row["pods"])
        had = "" if pods == 1 else (f", when {room.pods or 'none'} of its {count(pods, 'pod')} had "
                                    "room")
        return f"{self._more_nodes(lacks)} would have let it start at {clock(room.at)}{had}."

    def _more_nodes(self, pods: int) -> str:
        sizes = self.history.nodes["gpus"]
        largest = int(sizes[sizes > 0].mode().iloc[-1])
        each = max(largest // self._gpus_per_pod, 1)
        nodes = -(-pods // each)
        return f"{count(nodes, 'more node')} of {count(largest, 'GPU')}"

    def _despite_room(self, room: Room) -> str:
        """Why the job did not start at an instant when all of its pods would have fitted on the nodes."""
        pods = count(self.row["pods"], "pod")
        plugins = {p["name"] for p in self.history.parameters["policy"].get("plugins") or ()}
        keeps = next((name for name in EXCLUSIVE if name in plugins), None)
        if keeps and room.in_leaf < self.row["pods"]:
            lacks = int(self.row["pods"]) - room.in_leaf
            return (f"At {clock(room.at)} its {pods} had room under several leaf switches, and "
                    f"{room.in_leaf:,} under one: without {keeps}, or with {self._more_nodes(lacks)} "
                    "there, it would have started.")
        why = self.history.missing("/events/attempts")
        hint = ("; what kept it off them is not recorded (--set record.attempts=true)" if why else
                ": fewer nodes ruled out by filters, or an earlier turn, would have let it start")
        return f"At {clock(room.at)} the nodes had room for all of its {pods}{hint}."

    def _queue_cure(self) -> str:
        """The smallest change that would have let the job out of the job queue, as a sentence; empty if the
        queue did not delay the job."""
        if self.history.missing("/events/job_queue"):
            return ""
        rows = QueueStory(self.history, self.job).rows
        rows = rows[(rows["decision"] != "started") & (rows["for"] >= LEAST)]
        if not len(rows):
            return ""
        ways = [self._held(rows[rows["decision"] == "held"]),
                self._lacking(rows[rows["decision"] == "lacks_room"]),
                self._passed(rows[rows["decision"] == "passed_over"])]
        return min((way for way in ways if way), default=(0, ""), key=lambda way: way[0])[1]

    def _lacking(self, rows: pd.DataFrame) -> tuple[float, str] | None:
        """How much more of the counted resource would have let the job start, as a number and as a sentence.
        None if nothing was missing."""
        lack = (rows["asked"] - rows["free"])
        lack = lack[lack > 0]
        if not len(lack):
            return None
        best, unit = lack.idxmin(), self.history.queue_unit
        more = f"{count(lack[best], f'more {unit}')}{self._as_nodes(lack[best], unit)}"
        return lack[best], f"{more} would have let it start at {clock(rows.at[best, 'at'])}."

    def _passed(self, rows: pd.DataFrame) -> tuple[float, str] | None:
        if not len(rows):
            return None
        first = rows.iloc[0]
        head = "" if first["head"] in (-1, self.job) else self.history.title(first["head"])
        ahead = f" if {first['policy']} had not put {head} first" if head else ""
        return 0, f"It would have fitted at {clock(first['at'])}{ahead}."

    def _as_nodes(self, lacks: float, unit: str) -> str:
        sizes = self.history.nodes["gpus"] if len(self.history.nodes) else pd.Series(dtype=float)
        if unit != "GPU" or self.history.is_counting or not (sizes > 0).any():
            return ""
        size = int(sizes[sizes > 0].mode().iloc[-1])
        return f" ({count(-(-int(lacks) // size), 'node')} of {count(size, 'GPU')})"

    def _held(self, rows: pd.DataFrame) -> tuple[float, str] | None:
        """How many fewer GPUs the job's team or user would have had to hold for the job to fit its quota, as a
        number and as a sentence. If the job asks for more than the quota, the number is how much larger the
        quota would have to be. If no quota of GPUs is the reason, the number is infinite. None if the queue
        never held the job back."""
        if not len(rows):
            return None
        policy, unit = rows["policy"].iloc[0], self.history.queue_unit
        unknown = np.inf, f"It would have started if {policy} had not held it back."
        limit = QueueStory(self.history, self.job).limit(policy)
        if limit is None or unit != "GPU":
            return unknown
        owner, name, most = limit
        asked = float(rows["asked"].iloc[0])
        if asked > most:
            return asked - most, (f"A quota of {count(asked, unit)} for {owner} {name} would let it "
                                  f"start: it has {count(most, unit)}.")
        same = self.history.jobs.index[self.history.jobs[owner] == self.row[owner]]
        used = np.inf
        for at in rows["at"]:
            here = self.history.held_at(at)
            here = here[here["job"].isin(same) & (here["job"] != self.job)]
            used = min(used, float(here["gpus"].sum()))
        less = asked + used - most
        if less <= 0:
            return unknown
        return less, (f"{count(less, unit)} less used by {owner} {name}, which held {used:,g} of its "
                      f"quota of {most:,g}, would have let it start.")

    # ---- room on the nodes

    def _ruled_out(self) -> set[int]:
        """Nodes that rejected the job's pods for reasons that no eviction removes, such as labels or taints.
        A node that was rejected only because it was down is left out."""
        attempts = self.history.attempts
        own = attempts.loc[attempts["job"] == self.job, "attempt"]
        rows = self.history.rejections
        rows = rows[rows["attempt"].isin(own) & (rows["is_unresolvable"] == 1)
                    & (rows["plugin"] != "NodeReady")]
        last = rows[rows["attempt"] == rows["attempt"].max()]
        return set().union(*map(unnumbered, last["which"]))

    @property
    def _gpus_per_pod(self) -> int:
        return max(-(-int(self.row["gpus"]) // max(int(self.row["pods"]), 1)), 1)

    @cached_property
    def room(self) -> Room | None:
        """The instant of the wait at which the most pods of the job would have fitted; None if the job needs
        no GPUs, or if the file does not say where pods ran."""
        nodes = self.history.nodes
        if not len(nodes) or self.history.missing("/pods") or self.row["gpus"] == 0 \
                or self.history.is_counting:
            return None
        begin = self.row["created"] if self.row["created"] >= 0 else self.row["submitted"]
        steps = self._steps(begin, self._until)
        size = nodes["gpus"].to_numpy(float) * ~nodes["node"].isin(self._ruled_out())
        leaf = nodes["leaf"].to_numpy(int) if "leaf" in nodes else np.zeros(len(nodes), int)
        each, free, down = self._gpus_per_pod, size.copy(), np.zeros(len(nodes), int)
        best: Room | None = None
        at, has_gained = begin, True  # whether GPUs became free since the last comparison with `best`
        none = np.empty(0, int)
        for time, place, gpus, falls in [*steps, (self._until, none, none, none)]:
            if has_gained and time - at >= LEAST:
                best, has_gained = self._most(best, at, free, down, each, leaf), False
            np.add.at(free, place, gpus)
            np.add.at(down, place, falls)
            has_gained |= bool((gpus > 0).any() or (falls < 0).any())
            at = time
        return best or self._most(None, begin, free, down, each, leaf)

    @staticmethod
    def _most(best: Room | None, at: float, free: np.ndarray, down: np.ndarray, each: int,
              leaf: np.ndarray) -> Room:
        """`best`, or the instant `at` if more pods of `each` GPUs fit then. `free` and `down` are the free
        GPUs and the number of faults of each node at that instant, `leaf` its leaf switch."""
        here = np.floor((free + 1e-9) / each)
        up = here * (down == 0)
        pods = int(up.sum())
        if best is not None and pods <= best.pods:
            return best
        return Room(at, pods, int(np.bincount(leaf, up).max()), int(here.sum()))

    def _steps(self, begin: float, end: float) -> Iterator[tuple]:
        """Changes of nodes by instant: the time, the positions of the nodes, changes of their free GPUs, and
        changes of their number of faults."""
        held = self.history.holdings
        held = held[(held["job"] != self.job) & (held["since"] < end) & (held["until"] > begin)]
        place = pd.Series(range(len(self.history.nodes)), self.history.nodes["node"])
        at = place.reindex(held["node"]).fillna(-1).to_numpy(int)
        taken = pd.DataFrame({"time": held["since"].clip(lower=begin).to_numpy(), "node": at,
                              "gpus": -held["gpus"].to_numpy(), "falls": 0})
        given = pd.DataFrame({"time": held["until"].to_numpy(), "node": at,
                              "gpus": held["gpus"].to_numpy(), "falls": 0})
        faults = self.history.faults
        faults = faults[(faults["at"] < end) & ~(faults["repaired_at"] <= begin)]
        node = place.reindex(faults["node"]).fillna(-1).to_numpy(int)
        fell = pd.DataFrame({"time": faults["at"].clip(lower=begin).to_numpy(), "node": node,
                             "gpus": 0.0, "falls": 1})
        rose = pd.DataFrame({"time": faults["repaired_at"].fillna(np.inf).to_numpy(), "node": node,
                             "gpus": 0.0, "falls": -1})
        steps = pd.concat([taken, given, fell, rose], ignore_index=True)
        steps = steps[(steps["time"] < end) & (steps["node"] >= 0)]
        steps = steps.sort_values("time", kind="stable")
        if not len(steps):
            return
        columns = [steps[name].to_numpy() for name in ("time", "node", "gpus", "falls")]
        ends = np.flatnonzero(np.diff(columns[0])) + 1
        for part in zip(*(np.split(column, ends) for column in columns)):
            yield float(part[0][0]), *part[1:]
