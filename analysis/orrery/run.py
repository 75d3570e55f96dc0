"""Opens the HDF5 file of a run, complete, still growing or left behind by a killed run."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pandas as pd

NS_PER_DAY = 86_400e9


def _text(values: np.ndarray) -> list[str]:
    return [v.decode() if isinstance(v, bytes) else str(v) for v in values]


class Run:
    """One output file. Times stay int64 nanoseconds since the start of the run; -1 means never."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._file = h5py.File(self.path, "r", libver="latest", swmr=True)
        if _text([self._file.attrs.get("format", b"")]) != ["orrery"]:
            raise ValueError(f"{self.path}: not an output file of orrery")

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def attributes(self) -> dict[str, object]:
        """Seed, digest, version, complete, simulated and wall time."""
        return {k: v.decode() if isinstance(v, bytes) else v for k, v in self._file.attrs.items()}

    @property
    def summary(self) -> dict[str, float]:
        """The headline figures by name."""
        return {name: value[()].item() for name, value in self._file["summary"].items()}

    def table(self, path: str) -> pd.DataFrame:
        """All rows of a table. `frame.attrs["units"]` has the unit of each column; enums become
        categories under their names."""
        dataset = self._file[path]
        dataset.refresh()
        rows = dataset[:]
        columns: dict[str, object] = {}
        for name in rows.dtype.names:
            enum = h5py.check_enum_dtype(dataset.dtype[name])
            if rows.dtype[name].kind == "S":
                columns[name] = _text(rows[name])
            elif enum is not None and rows.dtype[name].kind != "b":
                names = sorted(enum, key=enum.get)
                columns[name] = pd.Categorical.from_codes(rows[name].astype(int), names)
            else:
                columns[name] = rows[name]
        frame = pd.DataFrame(columns)
        frame.attrs["doc"] = _text([dataset.attrs["doc"]])[0]
        frame.attrs["units"] = dict(zip(rows.dtype.names, _text(dataset.attrs["units"])))
        return frame


def days(nanoseconds: pd.Series) -> pd.Series:
    """Simulated time in days, for an axis."""
    return nanoseconds / NS_PER_DAY
