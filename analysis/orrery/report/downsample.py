"""Long series shortened for a page; each part keeps its lowest and highest value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

BUCKETS_MAX = 2_000  # points of a series; a wide screen can show half as many


@dataclass(frozen=True)
class Buckets:
    """Adjacent rows joined into buckets. Each bucket reaches from the end of the previous one to its own
    end."""

    ends: np.ndarray
    low: np.ndarray
    mean: np.ndarray
    """Mean, weighted by the time for which each row stands."""
    high: np.ndarray
    rows: int
    """Number of rows in each bucket; the last may have fewer."""


def buckets(
    times: np.ndarray, values: np.ndarray, begin: float = 0.0, most: int = BUCKETS_MAX
) -> Buckets:
    """Joins rows into at most `most` buckets. A row counts for the time since the previous row, the first row
    for the time since `begin`. NaN is not counted; a bucket of NaN only is NaN."""
    rows = max(1, -(-len(times) // most))
    firsts = np.arange(0, len(times), rows)
    if not len(times):
        return Buckets(*(np.empty(0) for _ in range(4)), rows)
    lasts = np.append(firsts[1:], len(times)) - 1
    known = ~np.isnan(values)
    lengths = np.diff(times, prepend=begin)
    # A row of length 0, such as a row at the start of the run, gets a small weight.
    weights = np.where(known, np.maximum(lengths, 1e-12), 0.0)
    total = np.add.reduceat(weights, firsts)
    sums = np.add.reduceat(np.where(known, values, 0.0) * weights, firsts)
    mean = np.divide(sums, total, out=np.full(len(firsts), np.nan), where=total > 0)
    low, high = np.fmin.reduceat(values, firsts), np.fmax.reduceat(values, firsts)
    return Buckets(times[lasts], low, np.clip(mean, low, high), high, rows)


def steps(x: np.ndarray, y: np.ndarray, most: int = BUCKETS_MAX) -> tuple[np.ndarray, np.ndarray]:
    """Thins a curve that never falls, such as a CDF. Of each group of adjacent points, the first
    and the last remain: the lowest and the highest of the group."""
    rows = max(1, -(-2 * len(x) // most))
    if rows <= 2:
        return x, y
    firsts = np.arange(0, len(x), rows)
    kept = np.union1d(firsts, np.append(firsts[1:], len(x)) - 1)
    return x[kept], y[kept]


def groups_of(count: int, most: int) -> np.ndarray:
    """The first rows of at most `most` groups of adjacent rows, all of about the same size."""
    return np.unique(np.arange(min(count, most)) * count // max(1, min(count, most)))


def rows_joined(grid: pd.DataFrame, most: int) -> tuple[list[str], dict[str, np.ndarray]]:
    """A heat map with at most `most` rows, each a group of adjacent rows. Returns the names of the groups,
    and their values by "lowest", "mean" and "highest"."""
    firsts = groups_of(len(grid), most)
    lasts = np.append(firsts[1:], len(grid)) - 1
    names = [str(name) for name in grid.index]
    heads = [names[a] if a == b else f"{names[a]} – {names[b]}" for a, b in zip(firsts, lasts)]
    values = grid.to_numpy(float)
    sizes = np.diff(np.append(firsts, len(grid)))[:, None]
    lowest = np.minimum.reduceat(values, firsts, axis=0)
    highest = np.maximum.reduceat(values, firsts, axis=0)
    mean = np.clip(np.add.reduceat(values, firsts, axis=0) / sizes, lowest, highest)
    return heads, {"lowest": lowest, "mean": mean, "highest": highest}


def spans_joined(begin: np.ndarray, end: np.ndarray, gap: float) -> list[tuple[int, int]]:
    """Joins spans, sorted by begin, if the gap between them is at most `gap`. Returns (first, last) indices
    of each group. A gap is counted from the latest end of all earlier spans."""
    if not len(begin):
        return []
    reach = np.maximum.accumulate(end)
    apart = np.flatnonzero(begin[1:] - reach[:-1] > gap) + 1
    firsts = np.concatenate([[0], apart])
    return list(zip(firsts.tolist(), (np.append(apart, len(begin)) - 1).tolist()))
