"""Finds values that no result may have: negative amounts."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import numpy as np

# A time that never came or a rank that is none, documented at the column as "-1: ...".
NEVER = re.compile(r"-1: ")
# Numbers that are no amounts.
SIGNED = {"priority", "by_priority"}


def negative_amounts(path: Path) -> list[str]:
    """Tables, columns and the first of their values below zero."""
    found: list[str] = []

    def look(name: str, item: h5py.Dataset | h5py.Group) -> None:
        if not isinstance(item, h5py.Dataset) or name.startswith("meta/") or item.size == 0:
            return
        if item.dtype.names is None:
            if item.dtype.kind in "if" and item[()] < 0:
                found.append(f"/{name} is {item[()]}")
            return
        rows = item[()]
        for i, column in enumerate(item.dtype.names):
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
