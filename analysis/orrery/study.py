"""Opens the folder of a study: its grid, the results of each run, means and paired differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from orrery.run import Run, RunError, reading

TABLES = ("axes", "cells", "runs", "values", "metrics", "means", "differences", "doubts")


@dataclass(frozen=True)
class Metric:
    """One figure of the summaries."""

    name: str
    unit: str
    doc: str


class Study:
    """The files of `orrery study run` in a folder, read once.

    `axes`: the arms of each axis, in their order. `parameters`: for each axis, the path and the unit of the
    parameter that the arms set, or two empty texts if the arms do not set one and the same parameter.
    `cells`: a row for each cell of the grid, a column for each axis. `runs`: a row for each run (cell, seed,
    is_ok, wall_seconds, cpu_seconds, label). `values`: a row for each figure of each run (cell, seed, name,
    value, unit). `compared`: axis and arm that the other arms are compared with, or None. `doubts`: what the
    seeds cannot support, a row for each remark (metric, cell, kind, text). `confidence` and `estimator`:
    those by which all intervals are computed. `permutes_ties`: jobs with equal submit times are permuted.
    `is_complete`: no run is missing.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not (self.folder / "study.h5").is_file():
            raise RunError(f"{self.folder}: has no study.h5; `orrery study run` writes it at the end")
        with reading(self.folder / "study.h5"):
            self._read()

    def _read(self) -> None:
        with Run(self.folder / "study.h5") as file:
            if lacking := [name for name in TABLES if f"/{name}" not in file]:
                raise RunError(f"{file.path}: has no table /{lacking[0]}: it is not what `orrery "
                               "study` writes; `orrery study run` writes it again from kept runs")
            cells = file.table("/cells")
            self.parameters = {str(row.axis): (str(row.parameter), str(row.unit))
                               for row in file.table("/axes").itertuples()}
            self.runs = file.table("/runs")
            self.values = file.table("/values")
            self._metrics = file.table("/metrics").set_index("name")
            self._means = file.table("/means")
            self._differences = file.table("/differences")
            self.doubts = file.table("/doubts")
            attributes = file.attributes
            self.is_complete = int(attributes.get("runs_missing", 0)) == 0
            self.confidence = float(attributes["confidence"])
            self.estimator = str(attributes["estimator"])
            self.permutes_ties = bool(attributes["permute_ties"])
            self.text = file.text("meta/study")
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

    @cached_property
    def file(self) -> dict[str, Any]:
        """The study file as a dict."""
        import yaml

        try:
            return dict(yaml.safe_load(self.text))
        except (yaml.YAMLError, TypeError, ValueError) as error:
            raise RunError(f"{self.folder / 'study.h5'}: damaged: /meta/study: {error}") from None

    @cached_property
    def labels(self) -> pd.Series:
        """The label of each cell, such as "policy=easy load=2"."""
        return self.runs.groupby("cell")["label"].first()

    def arms(self, cell: int) -> dict[str, str]:
        """The arm of a cell on each axis."""
        return {axis: str(arm) for axis, arm in self.cells.loc[cell].items()}

    def baseline(self, cell: int) -> int | None:
        """The cell with which this one is compared. None if there is no such cell, or if this cell is itself
        the baseline."""
        if self.compared is None:
            return None
        wanted = self.arms(cell) | dict([self.compared])
        found = (int(one) for one in self.cells.index if one != cell and self.arms(one) == wanted)
        return next(found, None)

    def run_path(self, cell: int, seed: int) -> Path:
        """The path of a run's HDF5 file. The file exists only if the study keeps files."""
        return self.folder / "runs" / f"{cell:05d}-s{seed}.h5"

    @cached_property
    def metrics(self) -> list[Metric]:
        """The reported metrics: those that the study names or, without any, those whose values differ."""
        rows = self._metrics[self._metrics["is_reported"].astype(bool)]
        return [Metric(str(name), str(row["unit"]), str(row["doc"])) for name, row in rows.iterrows()]

    def _check(self, name: str) -> None:
        if name not in self._metrics.index:
            known = ", ".join(self._metrics.index)
            raise RunError(f"{self.folder}: no figure is called '{name}'; there are {known}")

    def metric(self, name: str) -> pd.DataFrame:
        """Values of a figure: a row for each successful run with cell, seed, `value` and the arm on each
        axis. `attrs["unit"]` is the unit of the value."""
        self._check(name)
        rows = self.values[self.values["name"] == name]
        good = self.runs.loc[self.runs["is_ok"].astype(bool), ["cell", "seed"]]
        frame = rows[["cell", "seed", "value"]].merge(good, on=["cell", "seed"])
        frame = frame.join(self.cells, on="cell")
        frame.attrs = {"unit": rows["unit"].iloc[0]}
        return frame

    def by_seed(self, name: str) -> pd.DataFrame:
        """Values of a figure, with a row for each seed and a column for each cell."""
        return self.metric(name).pivot(index="seed", columns="cell", values="value")

    def pairs(self, name: str, **arms: str) -> pd.DataFrame:
        """Values of a figure for `orrery.paired`, with a row for each seed and a column for each arm of the
        compared axis. `arms` chooses an arm on each other axis, as in `load="8"`."""
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
        """A row for each cell: `mean`, the ends `low` and `high` of its confidence interval (NaN with too few
        seeds), `min` and `max` over the seeds, and the number of `seeds`."""
        self._check(name)
        return self._of(self._means, name)

    def differences(self, name: str) -> pd.DataFrame:
        """A row for each compared cell. `baseline` is the cell that it is compared with, `pairs` the number of
        pairs. `difference` is the mean difference of the pairs, with the ends `low` and `high` of its
        interval. `percent` is the geometric mean of the pairs' ratios, minus 1, with `percent_low` and
        `percent_high`. `verdict` is unclear, less, more or equal; `scale`, the scale of the verdict, is
        difference or log_ratio."""
        self._check(name)
        return self._of(self._differences, name)

    @staticmethod
    def _of(table: pd.DataFrame, metric: str) -> pd.DataFrame:
        return table[table["metric"] == metric].drop(columns="metric").set_index("cell")

    def open(self, cell: int, seed: int) -> Run:
        """Opens the output of one run, if the study kept its file."""
        return Run(self.run_path(cell, seed))
