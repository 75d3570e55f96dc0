"""The starts of elastic gangs: with how many members they started, and which members came late.

An elastic gang has a min_available below its number of pods. Once that many pods are up, they wait for the
other pods during the last call (workload.controller.last_call), and then start.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import pandas as pd

from orrery.history import History
from orrery.telling import count, numbered, span


class GangStory:
    """The starts of one job's gangs. All texts are empty if its gangs are not elastic."""

    def __init__(self, history: History, job: int) -> None:
        self.history, self.job = history, job

    @cached_property
    def starts(self) -> pd.DataFrame:
        """One row for each start: called, started, stopped, members, pods, gpus, and `late`, the ranks that
        joined while the others ran, from `late_from` to `late_to`. `called` is when the last call to join
        began."""
        rows = self.history.gang_starts
        rows = rows[rows["job"] == self.job].sort_values("started", ignore_index=True)
        frame = rows.drop(columns="job")
        frame["stopped"] = [self._stopped(at) for at in rows["started"]]
        late = [self._late(at, end) for at, end in zip(rows["started"], frame["stopped"])]
        frame["late"] = [sorted(set(lives["rank"].astype(int))) for lives in late]
        frame["late_from"] = [lives["started"].min() for lives in late]
        frame["late_to"] = [lives["started"].max() for lives in late]
        return frame

    def _stopped(self, started: float) -> float:
        """When the gang that started at this time stopped: at the next failure, preemption or membership
        change of the job, when the first of its pods ended, or at the end of the run, whichever came
        first."""
        stops = self.history.recoveries
        stops = stops.loc[(stops["job"] == self.job) & (stops["failed"] > started), "failed"]
        pods = self._pods
        left = pods.loc[(pods["started"] <= started) & (pods["ended"] > started), "ended"]
        ends = [*stops, *left, self.history.run.end]
        return float(min(ends))

    def _late(self, started: float, stopped: float) -> pd.DataFrame:
        up = self._pods["started"]
        return self._pods[(up > started) & (up <= stopped)]

    @cached_property
    def _pods(self) -> pd.DataFrame:
        pods = self.history.pods
        return pods[pods["job"] == self.job]

    def head(self) -> str:
        """The starts in one sentence; empty if the gangs are not elastic, or never started."""
        if not len(self.starts):
            return ""
        first, last = self.starts.iloc[0], self.starts.iloc[-1]
        text = f"With {self._members(first)}{self._waited(first)}"
        if len(self.starts) > 1:
            text += f"; the last of {len(self.starts)} starts with {self._members(last)}"
        late = sorted({rank for ranks in self.starts["late"] for rank in ranks})
        return text + (f"; {_ranks(late)} came late" if late else "")

    def called_for(self) -> float:
        """How long the last call to join lasted before the first start, in seconds."""
        if not len(self.starts):
            return 0.0
        return float(self.starts.at[0, "started"] - self.starts.at[0, "called"])

    @staticmethod
    def _members(start: pd.Series) -> str:
        if start["members"] == start["pods"]:
            return f"all {count(start['pods'], 'pod')}"
        return f"{start['members']:,} of {count(start['pods'], 'pod')}"

    @staticmethod
    def _waited(start: pd.Series) -> str:
        waited = start["started"] - start["called"]
        return f", {span(waited)} after the last call" if waited > 0 else ", without a wait"

    def gpus_at(self, at: float) -> float:
        """GPUs of the last start before `at`; NaN if there was no start, or the gangs are not elastic."""
        begun = self.starts[self.starts["started"] < at]
        return float(begun.iloc[-1]["gpus"]) if len(begun) else float("nan")

    def of_start(self, at: float) -> str:
        """The members of the start at `at`; empty if no elastic gang started then."""
        here = self.starts[self.starts["started"] == at]
        return self._members(here.iloc[0]) + self._waited(here.iloc[0]) if len(here) else ""

    def events(self) -> Iterator[tuple[float, str, str]]:
        """Events around the starts: last calls, and members that came late."""
        for _, start in self.starts.iterrows():
            if start["started"] > start["called"]:
                yield start["called"], "last call", "enough pods are up, and wait for the others"
            if len(start["late"]):
                times = (start["late_from"], start["late_to"])
                after = " to ".join(dict.fromkeys(span(at - start["started"]) for at in times))
                yield start["late_from"], "came late", f"{_ranks(start['late'])}, {after} after that"


def _ranks(ranks: list[int]) -> str:
    return f"rank{'s' * (len(ranks) > 1)} {numbered(ranks)}"
