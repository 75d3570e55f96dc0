"""Opens the folder of a study: what each run found, by the arms of each axis."""

from __future__ import annotations

from pathlib import Path

import h5py
import pandas as pd

from orrery.run import FORMAT_VERSION, Run, RunError


def _frame(file: h5py.File, table: str) -> pd.DataFrame:
    rows = file[table][:]
    columns = {}
    for name in rows.dtype.names:
        values = rows[name]
        is_text = values.dtype.kind == "S"
        columns[name] = [v.decode() for v in values] if is_text else values
    return pd.DataFrame(columns)


class Study:
    """What `orrery study run` left in a folder.

    `axes`: the arms of each axis by name, in their order. `cells`: a row for each cell, a column
    for each axis. `runs`: a row for each run: cell, seed, is_ok, wall_seconds, cpu_seconds.
    `values`: a row for each run that went well, by (cell, seed), a column for each figure of
    /summary; `attrs` has "units". `baseline` is (axis, arm) of what others are compared with.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        path = self.folder / "study.h5" if self.folder.is_dir() else self.folder
        self.folder = path.parent
        if not path.is_file():
            raise RunError(f"{path}: no such file; is the study still running?")
        with h5py.File(path, "r") as file:
            if int(file.attrs.get("format_version", 0)) != FORMAT_VERSION or "/cells" not in file:
                raise RunError(f"{path}: not a study of orrery, or of another version")
            self.is_complete = bool(file.attrs["complete"])
            self.text: str = file["/meta/study"][()].decode()
            cells, runs, values = (_frame(file, name) for name in ("/cells", "/runs", "/values"))
        self.axes: dict[str, list[str]] = {
            str(axis): list(dict.fromkeys(rows["arm"]))
            for axis, rows in cells.groupby("axis", sort=False)
        }
        self.cells = (
            cells.pivot(index="cell", columns="axis", values="arm")[list(self.axes)]
            if self.axes else pd.DataFrame(index=pd.Index([0], name="cell"))
        )
        against = cells[cells["is_baseline"]]
        self.baseline: tuple[str, str] | None = (
            None if against.empty else (against["axis"].iloc[0], against["arm"].iloc[0])
        )
        self.runs = runs.drop(columns="label")
        good = values.merge(runs.loc[runs["is_ok"], ["cell", "seed"]], on=["cell", "seed"])
        names = list(dict.fromkeys(values["name"]))
        self.values = good.pivot(index=["cell", "seed"], columns="name", values="value")[names]
        self.values.attrs["units"] = dict(zip(values["name"], values["unit"]))

    def __repr__(self) -> str:
        axes = " x ".join(f"{name} ({len(arms)})" for name, arms in self.axes.items())
        return f"<Study {self.folder}: {axes or 'one cell'}, {len(self.runs)} runs>"

    def metric(self, name: str) -> pd.DataFrame:
        """A row for each run: cell, seed, the arm of each axis, and the `value` of a figure."""
        if name not in self.values:
            known = ", ".join(self.values)
            raise RunError(f"{self.folder}: no figure is called '{name}'; there are {known}")
        frame = self.values[name].rename("value").reset_index()
        frame = frame.join(self.cells, on="cell")
        frame.attrs["unit"] = self.values.attrs["units"][name]
        return frame

    def pairs(self, name: str, **arms: str) -> pd.DataFrame:
        """What `orrery.paired` takes: a row for each seed, a column for each arm of the axis that
        is compared, where the other axes have the arms given, as in `load="8"`."""
        if self.baseline is None:
            raise RunError(f"{self.folder}: this study compares nothing")
        axis, against = self.baseline
        frame = self.metric(name)
        for other in self.axes:
            if other != axis and other not in arms:
                raise RunError(f"{self.folder}: say which arm of '{other}', as {other}='...'")
        for other, arm in arms.items():
            frame = frame[frame[other] == str(arm)]
        order = [against, *(arm for arm in self.axes[axis] if arm != against)]
        return frame.pivot(index="seed", columns=axis, values="value")[order]

    def open(self, cell: int, seed: int) -> Run:
        """The file of one run, if the study kept it."""
        return Run(self.folder / "runs" / f"{cell:05d}-s{seed}.h5")
