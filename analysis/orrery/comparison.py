"""Summaries of several runs side by side, and paired differences between policies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from orrery.run import Run, RunError, open_run


def compare(runs: Sequence[Run | str | Path], names: Sequence[str] | None = None) -> pd.DataFrame:
    """One row for each figure of the summaries, one column ("value", name) for each run, and for
    each but the first its difference to the first: ("difference", name), and in percent of it,
    ("percent", name). `attrs["units"]` and `attrs["docs"]` are by row."""
    summaries = []
    for run in runs:
        if isinstance(run, Run):
            summaries.append(run.summary)
        else:
            with open_run(run) as opened:
                summaries.append(opened.summary)
    names = list(names) if names is not None else [str(s.name) for s in summaries]
    if len(names) != len(summaries):
        raise RunError(f"{len(names)} names for {len(summaries)} runs")
    if len(set(names)) != len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    values = pd.DataFrame({n: s.astype(float) for n, s in zip(names, summaries)})
    parts = {"value": values}
    if len(names) > 1:
        first = values[names[0]]
        parts["difference"] = values[names[1:]].sub(first, axis=0)
        parts["percent"] = 100 * parts["difference"].div(first.where(first != 0), axis=0)
    frame = pd.concat(parts, axis=1)
    for key in ("units", "docs"):
        frame.attrs[key] = {n: text for s in summaries for n, text in s.attrs[key].items()}
    return frame


def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t distribution, for probabilities of at least a half. With
    t = sqrt(freedom) tan(a) its density is a power of a cosine, integrated by Simpson's rule."""
    angles = np.linspace(0, math.pi / 2, 20_001)
    density = np.cos(angles) ** (freedom - 1)
    pairs = (density[:-2:2] + 4 * density[1:-1:2] + density[2::2]) * (angles[1] / 3)
    mass = np.concatenate([[0.0], np.cumsum(pairs)])
    angle = np.interp((2 * probability - 1) * mass[-1], mass, angles[::2])
    return math.sqrt(freedom) * math.tan(angle)


def t_interval(values: np.ndarray, level: float) -> tuple[float, float]:
    """The mean lies in it with this confidence, if values are normal or there are many."""
    half = t_quantile(0.5 + level / 2, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    return values.mean() - half, values.mean() + half


@lru_cache(maxsize=64)
def _draws(seed: int, resamples: int, count: int) -> np.ndarray:
    """Which values each resample takes: SplitMix64, as `orrery study` draws them."""
    numbers = np.arange(1, resamples * count + 1, dtype=np.uint64)
    mixed = np.uint64(seed) + numbers * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    drawn = ((mixed >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)
    return drawn.astype(np.int64).reshape(resamples, count)


def bootstrap_interval(
    values: np.ndarray, level: float, seed: int, resamples: int = 4_000
) -> tuple[float, float]:
    """Bootstrap-t, with the ends that `orrery study` finds: resampled means in units of their own standard errors,
    which holds for skewed values too. With fewer than five values
    that differ the ends are NaN, and with fewer than eight it is no better than the t."""
    mean, error = values.mean(), values.std(ddof=1) / len(values) ** 0.5
    if error > 0 and len(values) < 5:
        return math.nan, math.nan
    samples = values[_draws(seed, resamples, len(values))]
    errors = samples.std(axis=1, ddof=1) / len(values) ** 0.5
    told = (samples != samples[:, :1]).any(axis=1)  # else their standard error says nothing
    if error == 0 or not told.any():
        return mean, mean
    scores = np.sort((samples.mean(axis=1)[told] - mean) / errors[told])
    tail = (1 - level) / 2
    low, high = (scores[int(part * (len(scores) - 1) + 0.5)] for part in (tail, 1 - tail))
    return mean - high * error, mean - low * error


def paired(
    values: pd.DataFrame, baseline: str | None = None, level: float = 0.95, seed: int = 1
) -> pd.DataFrame:
    """Differences of a figure between policies on equal seeds. `values` has a row for each seed and
    a column for each policy. One row comes back for each policy but the baseline (the first column
    unless named): its mean difference, the ends of the confidence interval by Student's t, the
    number of pairs, all three in percent of the baseline's mean, and the ends by bootstrap, whose
    resampling the seed decides. Pairs in which either value is missing do not count."""
    baseline = str(values.columns[0]) if baseline is None else baseline
    rows = {}
    for policy in values.columns:
        if policy == baseline:
            continue
        both = values[[baseline, policy]].dropna()
        if len(both) < 2:
            raise ValueError(f"{policy}: {len(both)} pairs with {baseline}, and it takes two")
        gaps = (both[policy] - both[baseline]).to_numpy(float)
        low, high = t_interval(gaps, level)
        bootstrap_low, bootstrap_high = bootstrap_interval(gaps, level, seed)
        mean, scale = gaps.mean(), 100 / abs(both[baseline].mean() or math.nan)
        rows[policy] = {
            "difference": mean,
            "low": low,
            "high": high,
            "percent": scale * mean,
            "percent_low": scale * low,
            "percent_high": scale * high,
            "bootstrap_low": bootstrap_low,
            "bootstrap_high": bootstrap_high,
            "pairs": len(gaps),
        }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.attrs.update(baseline=baseline, level=level)
    return frame
