"""Downsampled series keep the lowest and the highest value of each bucket. Checked on random series."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from orrery.report.downsample import buckets, groups_of, rows_joined, spans_joined, steps

SEEDS = range(60)


def series(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Random times, random values of which some are missing, and the number of allowed buckets."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 400))
    times = np.cumsum(random.exponential(size=count))
    values = random.normal(size=count) * 10.0 ** random.integers(-3, 9)
    values[random.random(count) < random.choice([0, 0.3, 0.95])] = np.nan
    return times, values, int(random.integers(1, 60))


@pytest.mark.parametrize("seed", SEEDS)
def test_each_bucket_has_the_extremes_and_the_mean_of_its_rows(seed: int) -> None:
    times, values, most = series(seed)
    found = buckets(times, values, most=most)
    assert len(found.ends) <= most and found.ends[-1] == times[-1]
    before, lengths = -np.inf, np.diff(times, prepend=0.0)
    for end, low, mean, high in zip(found.ends, found.low, found.mean, found.high):
        inside = (times > before) & (times <= end) & ~np.isnan(values)
        before = end
        if not inside.any():
            assert np.isnan([low, mean, high]).all()
            continue
        assert (low, high) == (values[inside].min(), values[inside].max())
        expected = np.average(values[inside], weights=lengths[inside])
        assert mean == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(abs(low), abs(high)))
        assert low <= mean <= high


def test_nothing_is_joined_that_is_short_enough() -> None:
    found = buckets(np.array([1.0, 2.0, 4.0]), np.array([5.0, 1.0, 2.0]), most=3)
    assert found.rows == 1 and found.ends.tolist() == [1, 2, 4]
    assert found.low.tolist() == found.mean.tolist() == found.high.tolist() == [5, 1, 2]
    assert len(buckets(np.empty(0), np.empty(0)).ends) == 0


def test_an_instant_without_length_counts() -> None:
    found = buckets(np.array([0.0, 2.0]), np.array([9.0, 1.0]), most=1)
    assert (found.low[0], found.high[0]) == (1, 9) and found.mean[0] == pytest.approx(1)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_curve_keeps_both_ends_of_each_part(seed: int) -> None:
    random = np.random.default_rng(seed)
    count, most = int(random.integers(1, 3_000)), int(random.integers(4, 200))
    x, y = np.sort(random.random(count)), np.sort(random.random(count))
    kept_x, kept_y = steps(x, y, most)
    assert len(kept_x) <= max(most, 2) + 2
    assert (kept_y[0], kept_y[-1]) == (y[0], y[-1])
    assert set(zip(kept_x, kept_y)) <= set(zip(x, y))
    # Each point is kept, or comes fewer than `rows` points after a kept point.
    rows = max(1, -(-2 * count // most))
    at = np.searchsorted(kept_x, x, side="right") - 1
    places = np.searchsorted(x, kept_x[at])
    assert (np.arange(count) - places).max() < max(2, rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_a_heat_map_keep_their_extremes(seed: int) -> None:
    random = np.random.default_rng(seed)
    count, most = int(random.integers(1, 300)), int(random.integers(1, 80))
    grid = pd.DataFrame(random.random((count, 7)), index=[f"n{i}" for i in range(count)])
    names, layers = rows_joined(grid, most)
    firsts = [*groups_of(count, most), count]
    assert len(names) == len(firsts) - 1 == min(count, most)
    for row, (first, last) in enumerate(zip(firsts, firsts[1:])):
        part = grid.iloc[first:last]
        assert (layers["lowest"][row] == part.min()).all()
        assert (layers["highest"][row] == part.max()).all()
        assert layers["mean"][row] == pytest.approx(part.mean().to_numpy())
    assert names[0].startswith("n0") and names[-1].endswith(f"n{count - 1}")


@pytest.mark.parametrize("seed", SEEDS)
def test_joined_spans_cover_what_the_spans_did(seed: int) -> None:
    random = np.random.default_rng(seed)
    begin = np.sort(random.random(int(random.integers(1, 50))) * 100)
    end, gap = begin + random.exponential(size=len(begin)), float(random.choice([0.0, 0.5, 5.0]))
    joined = spans_joined(begin, end, gap)
    assert [first for first, _ in joined] == [0, *(last + 1 for _, last in joined[:-1])]
    reaches = [(begin[first], end[first : last + 1].max()) for first, last in joined]
    for (_, before), (after, _) in zip(reaches, reaches[1:]):
        assert after - before > gap
    for first, last in joined:
        inner = np.maximum.accumulate(end[first:last])
        assert (begin[first + 1 : last + 1] - inner <= gap).all()
    assert spans_joined(np.empty(0), np.empty(0), 1.0) == []
