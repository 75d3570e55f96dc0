"""Decisions of the job queue about one job, and the reasons why the job waited."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from orrery.attempt_story import holders_text
from orrery.history import History
from orrery.telling import SHOWN_MAX, clock, columns, count, span


class QueueStory:
    def __init__(self, history: History, job: int) -> None:
        self.history, self.job = history, job
        self.row = history.jobs.loc[job]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The decisions of the job queue about this job. `for` is how long each decision lasted, in
        seconds."""
        rows = self.history.decisions
        rows = rows[rows["job"] == self.job].reset_index(drop=True)
        rows["decision"] = rows["decision"].astype(str)
        over = self.history.run.end if pd.isna(self.row["ended"]) else self.row["ended"]
        rows["for"] = rows["at"].shift(-1).fillna(over) - rows["at"]
        return rows

    def reason(self) -> str:
        if why := self.history.missing("/events/job_queue"):
            return f"why is not in the file ({why})"
        waits = self.rows[self.rows["decision"] != "started"]
        if not len(waits):
            return "the queue had not looked at it"
        lengths = waits.groupby(["decision", "policy"], sort=False)["for"].sum()
        reported = lengths[lengths >= lengths.max() / 10].head(SHOWN_MAX)
        parts = []
        for (decision, policy), length in reported.items():
            kind = (waits["decision"] == decision) & (waits["policy"] == policy)
            part = self._decision_held(waits[kind].iloc[0])
            parts.append(f"for {span(length)} {part}" if len(reported) > 1 else part)
        return "; then ".join(parts)

    def _decision_held(self, row: pd.Series) -> str:
        """A decision in words, with the holders of the missing resources."""
        text = self._decision(row)
        if row["decision"] == "lacks_room":
            held = self.history.held_at(row["at"])
            holders = self.history.holders(held[held["job"] != self.job])
            if len(holders):
                text += f", as {holders_text(self.history, holders)}"
        return text

    def _decision(self, row: pd.Series) -> str:
        unit, decision = self.history.queue_unit, row["decision"]
        room = f"it asks for {count(row['asked'], unit)} and {row['free']:,} were free"
        head = "" if row["head"] in (-1, self.job) else self.history.title(row["head"])
        reserved = f", reserved for {clock(row['reserved'])}" if row["reserved"] >= 0 else ""
        if decision == "lacks_room":
            return room + (f", behind {head}" if head else "") + reserved
        if decision == "passed_over":
            text = f"it would have fitted ({room})"
            if row["head_reserved"] >= 0 and head:
                kept = f"{row['policy']} kept that for {head}, to start at"
                return f"{text}, and {kept} {clock(row['head_reserved'])}{reserved}"
            return f"{text}, and {row['policy']} let it wait" + (f" behind {head}" if head else "")
        if decision == "held":
            return f"{row['policy']} held it back{self._quota(row['policy'])}"
        if decision == "infeasible":
            return f"it asks for {count(row['asked'], unit)}, more than the cluster has"
        if decision == "cancelled":
            return "its user cancelled it while it waited"
        if decision == "stopped":
            return f"{row['policy']} stopped it, and it waits again"
        return f"{row['policy']} let it start"

    def _quota(self, policy: str) -> str:
        limit = self.limit(policy)
        if limit is None:
            return ""
        owner, name, most = limit
        return f": {owner} {name} may hold {count(most, self.history.queue_unit)}"

    def limit(self, policy: str) -> tuple[str, str, float] | None:
        """The limit that `policy` sets for the job's team or user: "team" or "user", its name, and the
        amount. None without such a limit; only the policy Quota has limits."""
        queue = self.history.parameters["policy"]["job_queue"]
        for entry in queue["policies"]:
            arguments = entry.get("args") or {}
            owner = str(arguments.get("of", "team"))
            if entry["name"] != policy or policy != "Quota" or owner not in ("team", "user"):
                continue
            name = str(self.row[owner])
            limit = (arguments.get("limits") or {}).get(name, arguments.get("others"))
            if limit is not None:
                return owner, name or "(none)", float(limit)
        return None

    def text(self, lines: int) -> str:
        queue = self.rows
        if not len(queue):
            return ""
        rows = [
            [clock(r["at"]), f"for {span(r['for'])}" if r["decision"] != "started" else "",
             r["decision"].replace("_", " "), self._decision(r)]
            for _, r in queue.head(lines).iterrows()
        ]
        more = [f"  and {len(queue) - lines:,} more"] if len(queue) > lines else []
        return "\n".join(["Job queue", *("  " + line for line in columns(rows)), *more])
