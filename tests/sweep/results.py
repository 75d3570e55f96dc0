"""Finds values that no result of a run may have: negative amounts."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import numpy as np

# Matches the description of a column in which -1 is not an amount, for example "-1: never".
NEVER = re.compile(r"-1: ")
# Columns that are no amounts, and may be negative.
SIGNED = {"priority", "by_priority"}


def negative_amounts(path: Path) -> list[str]:
    """Each table and column with a negative amount, and the first such value."""
    found: list[str] = []

    def look(name: str, item: h5py.Dataset | h5py.Group) -> None:
        if not isinstance(item, h5py.Dataset) or name.startswith("meta/") or item.shape == (0,):
            return
        rows = np.empty(item.shape, item.dtype)
        # mtype avoids a conversion of types, which takes HDF5 a millisecond.
        item.id.read(h5py.h5s.ALL, h5py.h5s.ALL, rows, mtype=item.id.get_type())
        if rows.dtype.names is None:
            if rows.dtype.kind in "if" and rows < 0:
                found.append(f"/{name} is {rows}")
            return
        for i, column in enumerate(rows.dtype.names):
            values = rows[column]
            if values.dtype.kind not in "if" or column in SIGNED or not (values < 0).any():
                continue
            wrong = values < 0
            if NEVER.search(item.attrs["docs"][i].decode()):
                wrong &= values != -1
            if wrong.any():
                found.append(f"/{name}.{column} is {values[np.argmax(wrong)]}")

    with h5py.File(path) as file:
        file.visititems(look)
    return found
