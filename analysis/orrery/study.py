"""Opens the folder of a study: its grid, what each run found, means and paired differences."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from orrery.comparison import bootstrap_interval, paired, t_interval
from orrery.run import Run, RunError, reading

CONFIDENCE = 0.95  # of a study that compares nothing


@dataclass(frozen=True)
class Metric:
    """One figure of the summaries."""

    name: str
    unit: str
    doc: str


class Study:
    """What `orrery study run` left in a folder, read once.

    `axes`: the arms of each axis, in their order. `cells`: a row for each cell of the grid, a
    column for each axis. `runs`: a row for each run (cell, seed, is_ok, wall_seconds, cpu_seconds,
    label). `values`: a row for each figure of each run (cell, seed, name, value, unit).
    `compared`: axis and arm that the other arms are compared with, or None. `doubts`: what the
    seeds cannot support, a row for each remark (metric, cell, text). `is_complete`: no run is missing.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not (self.folder / "study.h5").is_file():
            raise RunError(f"{self.folder}: has no study.h5; `orrery study run` writes it at the end")
        with reading(self.folder / "study.h5"):
            self._read()

    def _read(self) -> None:
        with Run(self.folder / "study.h5") as file:
            if any(name not in file for name in ("/cells", "/runs", "/values")):
                raise RunError(f"{file.path}: is not what `orrery study` writes")
            cells = file.table("/cells")
            self.runs = file.table("/runs")
            self.values = file.table("/values")
            self.is_complete = int(file.attributes.get("runs_missing", 0)) == 0
            self.text = file.text("meta/study")
            self.doubts = self._doubts(file.text("meta/doubts"))
        self.axes: dict[str, list[str]] = {
            str(axis): list(dict.fromkeys(rows["arm"]))
            for axis, rows in cells.groupby("axis", sort=False)
        }
        names = sorted(set(self.runs["cell"]) | set(cells["cell"]))
        self.cells = pd.DataFrame(index=pd.Index(names, name="cell"))
        for axis, rows in cells.groupby("axis", sort=False):
            self.cells[str(axis)] = rows.set_index("cell")["arm"]
        against = cells[cells["is_baseline"].astype(bool)]
        self.compared: tuple[str, str] | None = (
            None if against.empty else (str(against["axis"].iloc[0]), str(against["arm"].iloc[0]))
        )

    def __repr__(self) -> str:
        axes = " x ".join(f"{name} ({len(arms)})" for name, arms in self.axes.items())
        return f"<Study {self.folder}: {axes or 'one cell'}, {len(self.runs)} runs>"

    def _doubts(self, text: str) -> pd.DataFrame:
        """Of lines such as `jct_mean, load=4 policy=fifo: few seeds`."""
        cells = self.runs.drop_duplicates("label").set_index("label")["cell"]
        rows = []
        for line in text.splitlines():
            metric, rest = (line.split(", ", 1) + [""])[:2]
            label = next((one for one in cells.index if rest.startswith(f"{one}: ")), None)
            if label is not None:
                rows.append([metric, int(cells[label]), rest[len(label) + 2 :]])
        return pd.DataFrame(rows, columns=["metric", "cell", "text"])

    @cached_property
    def file(self) -> dict[str, Any]:
        """The study as its YAML says."""
        import yaml

        try:
            return dict(yaml.safe_load(self.text))
        except (yaml.YAMLError, TypeError, ValueError) as error:
            raise RunError(f"{self.folder / 'study.h5'}: damaged: /meta/study: {error}") from None

    @cached_property
    def labels(self) -> pd.Series:
        """axis=arm of each cell."""
        return self.runs.groupby("cell")["label"].first()

    @property
    def confidence(self) -> float:
        return float((self.file.get("compare") or {}).get("confidence", CONFIDENCE))

    def arms(self, cell: int) -> dict[str, str]:
        """The arm on each axis."""
        return {axis: str(arm) for axis, arm in self.cells.loc[cell].items()}

    def baseline(self, cell: int) -> int | None:
        """The cell that it is compared with, if it is another one."""
        if self.compared is None:
            return None
        wanted = self.arms(cell) | dict([self.compared])
        found = (int(one) for one in self.cells.index if one != cell and self.arms(one) == wanted)
        return next(found, None)

    def run_path(self, cell: int, seed: int) -> Path:
        """The file of a run, if the study keeps them."""
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
                with reading(told):
                    summary = json.loads(told.read_text(encoding="utf-8"))["summary"]
                    return {one["name"]: one["doc"] for one in summary}
        return {}

    def metric(self, name: str) -> pd.DataFrame:
        """A row for each run that went well: cell, seed, the `value` of a figure, the arm of each
        axis. `attrs["unit"]` is of the value."""
        rows = self.values[self.values["name"] == name]
        if rows.empty:
            known = ", ".join(dict.fromkeys(self.values["name"]))
            raise RunError(f"{self.folder}: no figure is called '{name}'; there are {known}")
        good = self.runs.loc[self.runs["is_ok"].astype(bool), ["cell", "seed"]]
        frame = rows[["cell", "seed", "value"]].merge(good, on=["cell", "seed"])
        frame = frame.join(self.cells, on="cell")
        frame.attrs = {"unit": rows["unit"].iloc[0]}
        return frame

    def by_seed(self, name: str) -> pd.DataFrame:
        """A row for each seed, a column for each cell."""
        return self.metric(name).pivot(index="seed", columns="cell", values="value")

    def pairs(self, name: str, **arms: str) -> pd.DataFrame:
        """What `orrery.paired` takes: a row for each seed, a column for each arm of the axis that
        is compared, where the other axes have the arms given, as in `load="8"`."""
        if self.compared is None:
            raise RunError(f"{self.folder}: this study compares nothing")
        axis, against = self.compared
        for other in self.axes:
            if other != axis and other not in arms:
                raise RunError(f"{self.folder}: say which arm of '{other}', as {other}='...'")
        frame = self.metric(name)
        for other, arm in arms.items():
            frame = frame[frame[other] == str(arm)]
        order = [against, *(arm for arm in self.axes[axis] if arm != against)]
        return frame.pivot(index="seed", columns=axis, values="value").reindex(columns=order)

    def means(self, name: str) -> pd.DataFrame:
        """A row for each cell: mean, seeds, and the ends of its intervals, NaN with one seed."""
        found = {}
        for cell, column in self.by_seed(name).items():
            known = column.dropna().to_numpy(float)
            row = {"mean": known.mean() if len(known) else float("nan"), "seeds": len(known)}
            if len(known) > 1:
                row["low"], row["high"] = t_interval(known, self.confidence)
                ends = bootstrap_interval(known, self.confidence, seed=1)
                row["bootstrap_low"], row["bootstrap_high"] = ends
            found[cell] = row
        columns = ["mean", "seeds", "low", "high", "bootstrap_low", "bootstrap_high"]
        return pd.DataFrame.from_dict(found, orient="index").reindex(columns=columns)

    def differences(self, name: str) -> pd.DataFrame:
        """`orrery.paired` of each cell with its baseline, with the number of that, and the verdict:
        less, more, equal (in each seed) or unclear (the interval by t holds 0). Cells with fewer
        than two pairs are left out."""
        values = self.by_seed(name)
        found = {}
        for cell in values:
            base = self.baseline(cell)
            if base is None or base not in values or len(values[[base, cell]].dropna()) < 2:
                continue
            row = paired(values[[base, cell]], base, self.confidence).iloc[0]
            both = values[[base, cell]].dropna()
            verdict = ("equal" if (both[base] == both[cell]).all() else "more" if row["low"] > 0
                       else "less" if row["high"] < 0 else "unclear")
            found[cell] = row.to_dict() | {"baseline": base, "verdict": verdict}
        return pd.DataFrame.from_dict(found, orient="index")

    def open(self, cell: int, seed: int) -> Run:
        """One run, if the study kept its file."""
        return Run(self.run_path(cell, seed))
