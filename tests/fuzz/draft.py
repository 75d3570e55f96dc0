"""A scenario that the fuzzer draws: its tree, the files beside it, and the random draws of one feature."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
Tree = dict[str, Any]


class Draw:
    """Random draws for one feature. They depend only on the seed and the feature's name. So a feature that
    is switched off does not change the draws of other features."""

    def __init__(self, seed: int, feature: str) -> None:
        self._random = random.Random(f"{seed}/{feature}")

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def pick(self, choices: Sequence[T]) -> T:
        return self._random.choice(choices)

    def some(self, choices: Sequence[T], most: int | None = None) -> list[T]:
        """One or more of the choices, in their given order."""
        count = self.count(1, min(most or len(choices), len(choices)))
        chosen = sorted(self._random.sample(range(len(choices)), count))
        return [choices[i] for i in chosen]

    def count(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def number(self, low: float, high: float) -> float:
        return round(self._random.uniform(low, high), 3)

    def span(self, low: float, high: float) -> str:
        """A duration between `low` and `high` seconds; above 5 s mostly in whole seconds. If `low` is above
        0, its logarithm is uniform: 1 to 10 s is as likely as 10 to 100 s."""
        seconds = low * (high / low) ** self._random.random() if low > 0 else self.number(low, high)
        if seconds > 5 and self.chance(0.8):
            return f"{round(seconds)}s"
        return f"{max(0, round(seconds * 1000))}ms"

    def size(self, low: float, high: float) -> str:
        return f"{round(low * (high / low) ** self._random.random())}B"

    def rate(self, low: float, high: float) -> str:
        """A bandwidth between `low` and `high` bits a second."""
        return f"{round(low * (high / low) ** self._random.random())}bps"

    def maybe(self, tree: Tree, probability: float, **fields: Any) -> None:
        """Adds each field to the tree with this probability. A value may be a function, which draws the
        field."""
        for name, value in fields.items():
            if self.chance(probability):
                tree[name] = value() if callable(value) else value

    def duration(self, low: float, high: float) -> Tree:
        """A random distribution of durations, typically between `low` and `high` seconds."""
        kind = self.pick(["fixed", "exponential", "lognormal", "uniform"])
        if kind == "fixed":
            return {"kind": kind, "value": self.span(low, high)}
        if kind == "exponential":
            return {"kind": kind, "mean": self.span(low, high)}
        if kind == "uniform":
            return {"kind": kind, "low": f"{low}s", "high": self.span(low + 1, high + 1)}
        return {"kind": kind, "median": self.span(low, high), "sigma": self.number(0, 1.5),
                "max": f"{high * 3}s"}

    def repair(self, low: float, high: float) -> Tree:
        kind = self.pick(["fixed", "exponential", "lognormal"])
        if kind == "fixed":
            return {"kind": kind, "duration": self.span(low, high)}
        if kind == "exponential":
            return {"kind": kind, "mean": self.span(low, high)}
        return {"kind": kind, "median": self.span(low, high), "sigma": self.number(0, 2)}


@dataclass
class Draft:
    seed: int
    tree: Tree = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """The texts of the files that the scenario reads, by name."""
    until: int | None = None
    """End of the run in seconds; None: when all jobs are over."""

    def put(self, path: str, value: Any) -> None:
        *sections, last = path.split(".")
        node = self.tree
        for section in sections:
            node = node.setdefault(section, {})
        node[last] = value

    def get(self, path: str, default: Any = None) -> Any:
        node: Any = self.tree
        for part in path.split("."):
            if not isinstance(node, dict) or part not in node:
                return default
            node = node[part]
        return node

    def section(self, path: str) -> Tree:
        """The mapping at the path; created if it does not exist."""
        if not isinstance(self.get(path), dict):
            self.put(path, {})
        return self.get(path)

    def list_at(self, path: str) -> list[Any]:
        if not isinstance(self.get(path), list):
            self.put(path, [])
        return self.get(path)

    @property
    def sources(self) -> list[Tree]:
        return self.list_at("workload.sources")

    @property
    def jobs(self) -> list[Tree]:
        """All jobs of sources that list their jobs one by one."""
        listed = [source["jobs"] for source in self.sources if source["kind"] == "jobs"]
        return [job for jobs in listed for job in jobs]

    @property
    def pods(self) -> list[Tree]:
        """The requests of pods in all sources, created where absent."""
        found = []
        for source in self.sources:
            if source["kind"] == "service":
                found.append(source.setdefault("pod", {}))
            elif source["kind"] != "jobs":
                found.append(source.setdefault("pods", {}))
        for job in self.jobs:
            if "gangs" in job:
                found += [role["pod"] for gang in job["gangs"] for role in gang["roles"]]
            else:
                found.append(job.setdefault("pod", {}))
        return found

    @property
    def pools(self) -> list[str]:
        return [pool["name"] for pool in self.get("cluster.pools", [])]

    @property
    def is_counting(self) -> bool:
        return self.get("policy.driver") == "counting"

    @property
    def span(self) -> int:
        """Seconds from the start within which features draw the times of events."""
        return self.until or 3600


@dataclass(frozen=True)
class Feature:
    """An optional property of a scenario. `add` draws it, or does nothing if the scenario cannot have it."""

    name: str
    chance: float
    add: Callable[[Draft, Draw], None]
