"""Means of a study over the arms of its axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from orrery.run import RunError
from orrery.study import Study
from orrery.style import DASHES, axes_for, drawing, tidy, time_unit

# An axis of values is logarithmic if the ratio of the largest value to the smallest exceeds this limit. An axis
# of arms is logarithmic if the ratio is at least half the limit.
LOGARITHMIC_FROM = 20.0
FLAT_FROM = 0.7  # an axis need not begin at 0 if the smallest value is at least this share of the largest


def quantity(text: str) -> float:
    """The number in the name of an arm, with times in seconds; NaN if the name is no number."""
    units = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        value = float(number) * units.get(text[len(number):], math.nan if text != number else 1.0)
        return value if math.isfinite(value) else math.nan
    except ValueError:
        return math.nan


def study_curves_data(
    study: Study, metric: str, x: str | None = None, by: str | None = None
) -> pd.DataFrame:
    """A row for each pair of an arm of the axis `by` (a line each) and an arm of the axis `x`: the mean of a
    metric over all seeds, the ends `low` and `high` of its confidence interval (NaN with too few seeds), and
    the number of `seeds`. By default, `by` is the axis that the study compares, or else the first axis
    with several arms, and `x` is the other axis. Any further axis must have only one arm."""
    several = [axis for axis, arms in study.axes.items() if len(arms) > 1] or list(study.axes)
    if by is None:
        by = study.compared[0] if study.compared else next((one for one in several if one != x), None)
    if x is None:
        x = next((axis for axis in several if axis != by), None)
    axes = [axis for axis in (by, x) if axis is not None]
    for axis in axes:
        if axis not in study.axes:
            raise RunError(f"no axis is called '{axis}'; there are {', '.join(study.axes)}")
    rest = [axis for axis, arms in study.axes.items() if axis not in axes and len(arms) > 1]
    if rest:
        raise RunError(f"the axis '{rest[0]}' is neither x nor by, and has several arms")
    means = study.means(metric)[["mean", "low", "high", "seeds"]]
    data = study.cells[axes].join(means, how="inner").reset_index(drop=True)
    data = data[data["seeds"] > 0]
    for axis in axes:
        data[axis] = pd.Categorical(data[axis], study.axes[axis], ordered=True)
    if axes:
        data = data.sort_values(axes, kind="stable", ignore_index=True)
    data.attrs.update(by=by, x=x, metric=metric, unit=study.metric(metric).attrs["unit"])
    return data


@drawing
def study_curves(
    study: Study, metric: str, x: str | None = None, by: str | None = None,
    axis: Axes | None = None,
) -> Axes:
    """Draws a metric over the arms of axis `x`, with a line for each arm of axis `by` and the
    confidence intervals of the means. Arms that are numbers or times are placed on a scale."""
    data = study_curves_data(study, metric, x, by)
    by, x = data.attrs["by"], data.attrs["x"]
    scale, unit = _scale(data["mean"], data.attrs["unit"])
    data[["mean", "low", "high"]] /= scale
    axis = axes_for(axis)
    places = _places(study, x, axis)
    lines = [(None, data)] if by is None or x is None else data.groupby(by, observed=True)
    for number, (name, line) in enumerate(lines):
        at = places[line[x or by].to_list()].to_numpy() if x or by else np.zeros(1)
        errors = (line[["low", "high"]].sub(line["mean"], axis=0).abs()).T.fillna(0).to_numpy()
        axis.errorbar(at, line["mean"], errors, marker="osD^v"[number % 5], ms=4, capsize=2.5,
                      lw=1.4, ls=(0, DASHES[number % len(DASHES)] or None) if x else "none",
                      label=name)
    if by is not None and x is not None:
        axis.legend(title=by)
    axis.set_xlabel(x or by or "")
    axis.set_ylabel(metric + (f" ({unit})" if unit not in ("", "1") else ""))
    known = data["mean"].dropna()
    if (known > 0).all() and known.max() > LOGARITHMIC_FROM * known.min():
        axis.set_yscale("log")
    elif not is_flat(known):
        axis.set_ylim(bottom=min(0, axis.get_ylim()[0]) if (known >= 0).all() else None)
    seeds = int(data["seeds"].min())
    axis.set_title(
        f"Means and {100 * study.confidence:.0f} % intervals of {seeds} runs" if seeds > 1 else "One run each",
        loc="left",
    )
    tidy(axis)
    return axis


def _scale(values: pd.Series, unit: str) -> tuple[float, str]:
    """The length and the name of the unit that suits the largest value; only seconds are converted."""
    return time_unit(float(values.max())) if unit == "s" else (1.0, unit)


def arm_places(arms: Sequence[str], may_be_numbers: bool = True) -> tuple[pd.Series, bool]:
    """Positions of arms on an axis, and whether the axis is logarithmic. Arms that are numbers or times are
    placed at their values, others at equal distances."""
    places = [quantity(arm) for arm in arms]
    if not may_be_numbers or any(math.isnan(place) for place in places):
        return pd.Series(range(len(arms)), index=list(arms), dtype=float), False
    is_log = min(places) > 0 and max(places) >= LOGARITHMIC_FROM / 2 * min(places)
    return pd.Series(places, index=list(arms), dtype=float), is_log


def is_flat(values: pd.Series) -> bool:
    """Whether the values are so similar that an axis from 0 would hide their differences."""
    known = values.dropna()
    return bool((known > 0).all() and known.min() >= FLAT_FROM * known.max())


def _places(study: Study, x: str | None, axis: Axes) -> pd.Series:
    """Positions of the arms on the horizontal axis. Sets its scale and ticks."""
    name = x or next(iter(study.axes), None)
    places, is_log = arm_places(study.axes[name] if name is not None else [], x is not None)
    if is_log:
        axis.set_xscale("log")
    axis.set_xticks(list(places), list(places.index))
    axis.set_xticks([], minor=True)
    return places
