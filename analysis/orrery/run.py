"""Opens the HDF5 file of a run, complete, still growing or left behind by a killed run."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pandas as pd

from orrery.mistakes import RunError

if TYPE_CHECKING:
    import xarray

FORMAT_VERSION = 1
NO_ID = 4_294_967_295
SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True)
class Meta:
    """Metadata of the run: enough to repeat it."""

    scenario: str
    """The scenario as written."""
    resolved: dict[str, Any]
    """Every parameter as used, defaults included."""
    seed: int
    version: str
    """Version of the program that made the run."""
    digest: str | None
    """Hash over all events; None if the run is not complete."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns errors that a damaged or unexpected file can cause inside this context into a RunError that
    calls the file damaged."""
    try:
        yield
    except (RunError, BrokenPipeError):  # these are no errors in the file
        raise
    except (OSError, ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError,
            TypeError, ValueError) as error:
        raise RunError(f"{path}: damaged: {type(error).__name__}: {error}") from error


def _names(group: h5py.Group) -> list[str]:
    """Names in a group. `keys`, `items` and `visititems` make HDF5 1.10 build a sorted table of links first;
    if the group is damaged, HDF5 frees parts of that table that were never set, and the process crashes. HDF5
    builds no such table for links in the order of the file."""
    names: list[bytes] = []
    group.id.links.iterate(names.append, order=h5py.h5.ITER_NATIVE)
    return sorted(_text(name) for name in names)


def _text(value: object) -> str:
    """Decodes a text. Bytes that are not UTF-8, as in names from traces, become escapes."""
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _column(values: np.ndarray, kind: np.dtype, unit: str) -> tuple[object, str]:
    """Converts a column of the file for a data frame. Returns the values, and their unit in the data
    frame."""
    enum = h5py.check_enum_dtype(kind)
    if values.dtype.kind == "S":
        return np.array([_text(v) for v in values], dtype=object), unit
    if enum is not None and values.dtype.kind != "b":
        return pd.Categorical.from_codes(values.astype(int), sorted(enum, key=enum.get)), unit
    if unit == "ns":
        return np.where(values < 0, np.nan, values / 1e9), "s"
    if unit == "id":
        ids = values.astype(np.int64)
        return np.where(ids == NO_ID, -1, ids), unit
    return values, unit


class Run:
    """The output file of one run.

    Tables become data frames in which times are float64 seconds since the start of the run (exact to the
    nanosecond for 50 days), NaN for never; ids are integers, -1 for none; enums are Categorical by name.
    `frame.attrs` has "doc" of the table, and "units" and "docs" of its columns.
"""

    def __init__(self, path: str | Path) -> None:
        self._kept: dict[str, pd.DataFrame] | None = None
        self.path = self._existing(Path(path))
        try:
            self._file = self._opened()
        except FileNotFoundError:  # the run ended just now, and its file was renamed
            self.path = self._existing(Path(path))
            self._file = self._opened()

    @staticmethod
    def _existing(path: Path) -> Path:
        """The path that exists: the file of a run under way ends in `.part`."""
        part = path.with_name(path.name + ".part")
        if path.exists() or not part.exists():
            return path
        return part

    def _opened(self) -> h5py.File:
        if not self.path.is_file():
            raise FileNotFoundError(f"{self.path}: no such file")
        # A .part file is still growing, or its writer was killed; in both cases SWMR is needed to open it. A
        # file without .part is never opened with SWMR: if it is damaged, HDF5 would wait for hours for a writer
        # to repair it.
        ways = [{}] + [{"libver": "latest", "swmr": True}] * (self.path.suffix == ".part")
        errors = []
        for way in ways:
            try:
                file = h5py.File(self.path, "r", **way)
                break
            except OSError as error:
                errors.append(error)
        else:
            raise RunError(f"{self.path}: not an HDF5 file, or damaged: {errors[-1]}")
        with reading(self.path):
            is_ours = _text(file.attrs.get("format", b"")) == "orrery"
            version = int(file.attrs.get("format_version", 0))
        if not is_ours:
            file.close()
            raise RunError(f"{self.path}: not an output file of orrery")
        if version != FORMAT_VERSION:
            file.close()
            raise RunError(
                f"{self.path}: written in format {version}, and this package reads {FORMAT_VERSION}"
            )
        return file

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        return f"Run({str(self.path)!r}): seed {self.meta.seed}, {state}, {len(self.tables)} tables"

    def close(self) -> None:
        self._file.close()

    @property
    def attributes(self) -> dict[str, object]:
        """Seed, digest, version, complete, simulated and wall time, as stored."""
        with reading(self.path):
            stored = dict(self._file.attrs.items())
        return {k: _text(v) if isinstance(v, bytes) else v for k, v in stored.items()}

    @property
    def complete(self) -> bool:
        """False while the run is under way, and for ever if it was stopped or killed."""
        with reading(self.path):
            return bool(self._file.attrs.get("complete", False))

    @property
    def name(self) -> str:
        """The name of the file, without its endings."""
        return self.path.name.removesuffix(".part").removesuffix(".h5")

    @property
    def meta(self) -> Meta:
        attributes = self.attributes
        with reading(self.path):
            return Meta(
                scenario=self.text("meta/scenario"),
                resolved=json.loads(self.text("meta/resolved")),
                seed=int(attributes["seed"]),
                version=str(attributes["version"]),
                digest=str(attributes.get("digest", "")) or None,
            )

    @property
    def end(self) -> float:
        """Simulated seconds of the whole run; of a run under way, up to the last row of /timeline/cluster."""
        if self.complete:
            with reading(self.path):
                return float(self._file.attrs["simulated_ns"]) / 1e9
        cluster = self.table("/timeline/cluster") if "/timeline/cluster" in self.tables else ()
        return float(cluster["time"].max()) if len(cluster) else 0.0

    @property
    def summary(self) -> pd.Series:
        """The headline figures by name. `attrs["units"]` and `attrs["docs"]` have the same names as keys."""
        with reading(self.path):
            group = self._file["summary"] if "summary" in self._file else None
            figures = {name: group[name] for name in _names(group)} if group is not None else {}
            if not figures:
                raise RunError(f"{self.path}: has no summary, as the run is not complete")
            values = {name: value[()].item() for name, value in figures.items()}
            series = pd.Series(values, name=self.name)
            series.attrs["units"] = {n: _text(v.attrs["unit"]) for n, v in figures.items()}
            series.attrs["docs"] = {n: _text(v.attrs["doc"]) for n, v in figures.items()}
            return series

    @property
    def tables(self) -> list[str]:
        """The paths of all tables, such as "/jobs" and "/timeline/cluster"."""
        found: list[str] = []

        def visit(group: h5py.Group, path: str) -> None:
            for name in _names(group):
                item = group[name]
                if isinstance(item, h5py.Group):
                    visit(item, f"{path}/{name}")
                elif isinstance(item, h5py.Dataset) and item.dtype.names is not None:
                    found.append(f"{path}/{name}")

        with reading(self.path):
            visit(self._file, "")
        return found

    def __contains__(self, path: str) -> bool:
        return f"/{path.strip('/')}" in self.tables

    def text(self, path: str) -> str:
        """A text of /meta, such as "meta/scenario"."""
        with reading(self.path):
            if path not in self._file:
                raise RunError(f"{self.path}: has no {path}")
            return _text(self._file[path][()])

    def raw(self, path: str) -> np.ndarray:
        """All rows as stored: times are int64 nanoseconds, -1 for never."""
        dataset = self._dataset(path)
        with reading(self.path):
            return self._rows(dataset)

    def table(self, path: str) -> pd.DataFrame:
        """All rows of a table; of a growing table, the rows so far. The docstring of Run describes the types
        of columns."""
        if self._kept is not None and path in self._kept:
            return self._kept[path].copy()
        dataset = self._dataset(path)
        with reading(self.path):
            frame = self._frame(dataset)
        if self._kept is not None:
            self._kept[path] = frame.copy()
        return frame

    @contextmanager
    def reading_once(self) -> Iterator[None]:
        """Inside of this context each table is read only once, for callers that need the same tables
        repeatedly."""
        self._kept = {}
        try:
            yield
        finally:
            self._kept = None

    def _frame(self, dataset: h5py.Dataset) -> pd.DataFrame:
        rows = self._rows(dataset)
        units = [_text(unit) for unit in dataset.attrs["units"]]
        columns: dict[str, object] = {}
        for index, name in enumerate(rows.dtype.names):
            columns[name], units[index] = _column(rows[name], dataset.dtype[name], units[index])
        frame = pd.DataFrame(columns)
        frame.attrs["doc"] = _text(dataset.attrs["doc"])
        frame.attrs["units"] = dict(zip(rows.dtype.names, units))
        frame.attrs["docs"] = dict(zip(rows.dtype.names, map(_text, dataset.attrs["docs"])))
        return frame

    def timeline(self, name: str) -> pd.DataFrame:
        """The table /timeline/<name> with time in seconds as its index."""
        return self.table(f"/timeline/{name}").set_index("time")

    def dataset(self) -> xarray.Dataset:
        """All timelines as one xarray.Dataset; needs xarray. Dimensions are `time`, in seconds, and the other
        keys of rows, such as `team`; units and explanations are attributes. If several timelines have a
        column of the same name, each of these columns gets the name of its timeline as prefix, except the
        column of `cluster`. Timelines whose rows cannot be distinguished are left out."""
        from orrery.dataset import dataset

        return dataset(self)

    def _rows(self, dataset: h5py.Dataset) -> np.ndarray:
        # If a dataset is open twice, HDF5 1.10 returns wrong chunks after a refresh. So no dataset is kept
        # open, and the datasets of a complete file, which no longer change, are not refreshed.
        if not self.complete:
            dataset.refresh()
        return dataset[:]

    def _dataset(self, path: str) -> h5py.Dataset:
        if path not in self:
            raise RunError(f"{self.path}: no table {path}; it has {', '.join(self.tables)}")
        return self._file[path]

    def refresh(self) -> bool:
        """Opens the complete file if the run has ended. Returns whether the run is complete; tables read
        after that have all rows. For new rows of a run under way no refresh is needed."""
        if not self.complete and self.path.suffix == ".part" and not self.path.exists():
            final = self.path.with_suffix("")
            if final.exists():
                self._file.close()
                self.path = final
                self._file = self._opened()
        return self.complete

    def follow(self, every: float = 1.0, patience: float = 60.0) -> Iterator[Run]:
        """Yields the run every `every` seconds until it is complete, and then once more. Raises a
        TimeoutError when nothing was written for `patience` seconds."""
        rows, changed = -1, time.monotonic()
        while not self.refresh():
            yield self
            time.sleep(every)
            found = sum(len(self.raw(path)) for path in self.tables) if self.path.exists() else rows
            if found != rows:
                rows, changed = found, time.monotonic()
            elif time.monotonic() - changed > patience:
                raise TimeoutError(f"{self.path}: no new rows for {patience:g} s; was it killed?")
        yield self


def open_run(path: str | Path) -> Run:
    """Opens the run at `path`. If only `path`.part exists, as while the run is under way, opens that."""
    if Path(path).is_dir():
        raise RunError(f"{path}: a folder, where the output of `orrery run` is a file")
    run = Run(path)
    if "/cells" in run and "/values" in run:
        run.close()
        raise RunError(f"{path}: of a study, not of a run; `orrery report` and orrery.Study take "
                       "its folder")
    return run
