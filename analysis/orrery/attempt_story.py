"""The scheduling attempts of one job: the reasons of rejections, and the holders of the missing resources."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from orrery.history import NO_HOLDINGS, History
from orrery.telling import SHOWN_MAX, clock, count, indented, numbered, span, unnumbered

OUTCOMES = {
    "scheduled": "scheduled",
    "waiting_in_permit": "waiting in Permit, its node reserved",
    "unschedulable": "unschedulable",
    "rejected": "rejected",
    "permit_timed_out": "timed out waiting in Permit",
    "error": "error",
}
GOOD = ("scheduled", "waiting_in_permit")


def holders_text(history: History, holders: pd.DataFrame, own: int = -1) -> str:
    """The SHOWN_MAX jobs that held most, as text: the amount that each held in History.unit (if that is 0, its
    number of pods), on how many nodes, and until when. Nodes are left out if History.is_counting. Then follow
    the number of further jobs, and what they held. `holders` are rows of History.holders(); `own` is the job
    that the text is about."""
    end = history.run.end
    parts = []
    for row in holders.head(SHOWN_MAX).itertuples():
        name = "the explained job's pods" if row.job == own else history.title(row.job)
        where = f" on {count(row.nodes, 'node')}" if not history.is_counting else ""
        until = "the run ended" if row.until >= end else clock(row.until)
        held = count(row.gpus, history.unit) if row.gpus else count(row.pods, "pod")
        kept = f" ({row.gpus_reserved:g} by pods in Permit)" if row.gpus_reserved else ""
        parts.append(f"{name} held {held}{where}{kept} until {until}")
    left = holders.iloc[SHOWN_MAX:]
    if len(left):
        gpus, pods = left["gpus"].sum(), left["pods"].sum()
        held = count(gpus, history.unit) if gpus else count(pods, "pod")
        parts.append(f"{count(len(left), 'more job')} held {held}")
    return "; ".join(parts)


class AttemptStory:
    def __init__(self, history: History, job: int) -> None:
        self.history, self.job = history, job

    @cached_property
    def lines(self) -> pd.DataFrame:
        """Attempts of the job. Equal attempts share a row; rows are ordered by their first attempt."""
        return self.history.attempts_of(self.job)

    @cached_property
    def rejections(self) -> pd.DataFrame:
        """Reasons of the rejections in the last attempt of each row of `lines`; `line` is the index of the
        row."""
        parts = [
            self.history.rejections_of(attempt).assign(line=line)
            for line, attempt in enumerate(self.lines["attempt"])
        ]
        return pd.concat(parts, ignore_index=True) if parts else self.history.rejections.head(0)

    @cached_property
    def holders(self) -> pd.DataFrame:
        """Jobs that held GPUs on nodes without enough free resources, at the last attempt of each row of
        `lines`."""
        parts = []
        for line, row in self.lines.iterrows():
            rejections = self.rejections[self.rejections["line"] == line]
            nodes, is_exact = self.history.short_of(rejections)
            if nodes:
                held = self.history.held_at(row["last"], row["attempt"], nodes)
                parts.append(self.history.holders(held).assign(line=line, is_exact=is_exact))
        if not parts:
            return self.history.holders(NO_HOLDINGS).assign(line=0, is_exact=True)
        return pd.concat(parts, ignore_index=True)

    def _in_vain(self) -> pd.DataFrame:
        return self.lines[~self.lines["outcome"].isin(GOOD)]

    def reason(self, life: int, rank: int = -1) -> str:
        """The reason that kept the job's pods, or the pod `rank`, without nodes for longest. Only the
        attempts of `life` matter: `life` is how often the pods had been created again. -1 means the life of
        the last attempt that failed."""
        lines = self._in_vain()
        if rank >= 0:
            lines = lines[lines["ranks"].map(lambda ranks: rank in ranks)]
        if not len(lines):
            return "no attempt failed"
        lines = lines[lines["life"] == (lines["life"].max() if life < 0 else life)]
        if not len(lines):
            return "no attempt failed before it first ran"
        # Attempts in which filters rejected nodes are preferred: the message of a plugin that keeps a gang
        # together does not say why the gang lacks nodes.
        by_filters = self.rejections.loc[self.rejections["nodes"] > 0, "line"]
        if lines.index.isin(by_filters).any():
            lines = lines[lines.index.isin(by_filters)]
        lasted = (lines["last"] - lines["first"]).round(3)
        best = max(lines.index, key=lambda line: (lasted[line], lines.at[line, "count"], line))
        row = self.lines.loc[best]
        rejections = self.rejections[self.rejections["line"] == best]
        removed = rejections[(rejections["nodes"] > 0) & (rejections["is_noted"] == 0)]
        by_reason = removed.groupby("reason", sort=False)["nodes"].sum()
        parts = [f"{self._of_all(nodes)}: {reason}" for reason, nodes in by_reason.items()]
        text = "; ".join(parts) or row["message"] or OUTCOMES[row["outcome"]]
        holders = self.holders[self.holders["line"] == best]
        others = holders[holders["job"] != self.job]
        if len(others):
            among = "of which" if others["is_exact"].all() else "and among these and more"
            text += f", {among} {holders_text(self.history, others.head(1))}"
        room = self._room(row)
        return f"{room}; {text}" if room else text

    @staticmethod
    def _room(row: pd.Series) -> str:
        if row["pods"] < 2 or row["placeable"] < 0:
            return ""
        domains = f" on any of {row['domains']} sets of nodes" if row["domains"] > 1 else ""
        return f"there was room for {row['placeable']} of {count(row['pods'], 'pod')}{domains}"

    def _of_all(self, nodes: int) -> str:
        total = len(self.history.nodes)
        return f"{nodes:,} of {count(total, 'node')}" if total else count(nodes, "node")

    def _rejection(self, row: pd.Series) -> str:
        if row["nodes"] == 0:
            return f"{row['plugin']}: {row['reason']}"
        nodes = unnumbered(row["which"])
        which = f" ({self.history.names.few(nodes)})" if len(nodes) == row["nodes"] else ""
        forever = "; no pod that leaves would help" if row["is_unresolvable"] else ""
        took = f"{row['plugin']} rejected {self._of_all(row['nodes'])}{which}"
        return f"{took}: {row['reason']}{forever}"

    def _line(self, line: int) -> list[str]:
        row = self.lines.loc[line]
        when = clock(row["first"])
        if clock(row["last"]) != when:
            when += f" to {clock(row['last'])}"
        when += f"  {row['count']:,} times" if row["count"] > 1 else ""
        ranks = "ranks" if len(row["ranks"]) > 1 else "rank"
        text = f"{when}  {OUTCOMES[row['outcome']]}, {ranks} {numbered(row['ranks'])}"
        if row["nodes"] and row["outcome"] in GOOD:
            text += f" on {self.history.names.few(row['nodes'])}"
        rejections = self.rejections[self.rejections["line"] == line]
        noted = rejections["is_noted"] == 1
        reported = [self._rejection(r) for _, r in rejections[~noted].iterrows()]
        if noted.any():
            also = [f"{r.nodes:,} {r.reason}" for r in rejections[noted].itertuples()]
            reported.append(f"of these nodes also: {', '.join(also)}")
        if room := self._room(row):
            reported.insert(0, room) if row["outcome"] not in GOOD else None
        if not reported and row["message"]:
            reported.append(row["message"])
        holders = self.holders[self.holders["line"] == line]
        if len(holders):
            among = "" if holders["is_exact"].all() else "on these nodes and some between them "
            reported.append(among + holders_text(self.history, holders, self.job))
        down = self.history.down_at(row["last"])
        if down and (rejections["plugin"] == "NodeReady").any():
            reported.append(f"down: {self.history.names.few(down)}")
        return [*indented(text, 2, 6), *(line for t in reported for line in indented(t, 6, 8))]

    def text(self, lines: int) -> str:
        if self.history.is_counting:
            return ""  # jobs have no pods on nodes
        if why := self.history.missing("/events/attempts"):
            return f"Attempts are not in the file: {why}."
        if not len(self.lines):
            return ""
        total = int(self.lines["count"].sum())
        shown = self._shown(lines)
        text = [f"Attempts: {total:,}, of {count(len(self.lines), 'kind')}"]
        for line in shown:
            text += self._line(line)
        left = self.lines.drop(index=shown)
        if len(left):
            first, last = left["first"].min(), left["last"].max()
            text.append(
                f"  and {count(left['count'].sum(), 'attempt')} of"
                f" {count(len(left), 'more kind')} between"
                f" {clock(first)} and {clock(last)} ({span(last - first)})"
            )
        return "\n".join(text)

    def _shown(self, lines: int) -> list[int]:
        """Indices of the rows of `lines` that lasted longest, in order of time."""
        by_length = (self.lines["last"] - self.lines["first"]).round(3)
        order = sorted(
            self.lines.index, key=lambda i: (-by_length[i], -self.lines.at[i, "count"], i)
        )
        return sorted(order[:lines])
