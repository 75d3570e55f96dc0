"""What a study found: cells of its grid, means, and paired differences, as frames."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from orrery.comparison import bootstrap_interval, paired, t_interval
from orrery.run import Run, RunError

CONFIDENCE = 0.95  # of a study that compares nothing


@dataclass(frozen=True)
class Metric:
    """One figure of the summaries."""

    name: str
    unit: str
    doc: str


class Study:
    """The folder of `orrery study run`, read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with Run(folder / "study.h5") as file:
            if "/values" not in file or "/runs" not in file:
                raise RunError(f"{file.path}: is not what `orrery study` writes")
            self.runs = file.table("/runs")
            self.values = file.table("/values")
            self.is_complete = file.complete
            self.text = file.text("meta/study")
        self.file: dict[str, Any] = yaml.safe_load(self.text)

    @cached_property
    def labels(self) -> pd.Series:
        """axis=arm of each cell."""
        return self.runs.groupby("cell")["label"].first()

    @property
    def confidence(self) -> float:
        return float((self.file.get("compare") or {}).get("confidence", CONFIDENCE))

    def arms(self, cell: int) -> dict[str, str]:
        """The arm on each axis."""
        axes = [re.escape(axis["name"]) for axis in self.file.get("axes") or ()]
        parts = re.split(rf"(?:^|\s)({'|'.join(axes)})=", self.labels[cell]) if axes else [""]
        return dict(zip(parts[1::2], parts[2::2]))

    def baseline(self, cell: int) -> int | None:
        """The cell that it is compared with, if it is another one."""
        compare = self.file.get("compare")
        if not compare:
            return None
        wanted = self.arms(cell) | {compare["axis"]: str(compare["against"])}
        return next(
            (int(one) for one in self.labels.index if one != cell and self.arms(one) == wanted),
            None,
        )

    def run_path(self, cell: int, seed: int) -> Path:
        return self.folder / "runs" / f"{cell:05d}-s{seed}.h5"

    @cached_property
    def metrics(self) -> list[Metric]:
        """Those that the study names; without any, all whose values differ."""
        spread = self.values.groupby("name")["value"].agg(["min", "max"])
        named = self.file.get("metrics") or list(spread.index[spread["min"] != spread["max"]])
        units = self.values.drop_duplicates("name").set_index("name")["unit"]
        docs = self._docs()
        return [Metric(one, units[one], docs.get(one, "")) for one in named if one in units]

    def _docs(self) -> dict[str, str]:
        done = self.runs[self.runs["is_ok"]]
        for cell, seed in done[["cell", "seed"]].itertuples(index=False):
            told = self.run_path(cell, seed).with_suffix(".json")
            if told.exists():
                summary = json.loads(told.read_text(encoding="utf-8"))["summary"]
                return {one["name"]: one["doc"] for one in summary}
        return {}

    def by_seed(self, metric: str) -> pd.DataFrame:
        """A row for each seed, a column for each cell."""
        rows = self.values[self.values["name"] == metric]
        return rows.pivot(index="seed", columns="cell", values="value")

    def means(self, metric: str) -> pd.DataFrame:
        """A row for each cell: mean, seeds, and the ends of its intervals, NaN with one seed."""
        found = {}
        for cell, column in self.by_seed(metric).items():
            known = column.dropna().to_numpy(float)
            row = {"mean": known.mean() if len(known) else float("nan"), "seeds": len(known)}
            if len(known) > 1:
                row["low"], row["high"] = t_interval(known, self.confidence)
                ends = bootstrap_interval(known, self.confidence, seed=1)
                row["bootstrap_low"], row["bootstrap_high"] = ends
            found[cell] = row
        columns = ["mean", "seeds", "low", "high", "bootstrap_low", "bootstrap_high"]
        return pd.DataFrame.from_dict(found, orient="index").reindex(columns=columns)

    def differences(self, metric: str) -> pd.DataFrame:
        """`orrery.paired` of each cell with its baseline, with the number of that; cells with fewer
        than two pairs are left out."""
        values = self.by_seed(metric)
        found = {}
        for cell in values:
            base = self.baseline(cell)
            if base is None or base not in values or len(values[[base, cell]].dropna()) < 2:
                continue
            row = paired(values[[base, cell]], base, self.confidence).iloc[0]
            found[cell] = row.to_dict() | {"baseline": base}
        return pd.DataFrame.from_dict(found, orient="index")
