"""The charts of a study: means over the arms of an axis, means and differences of cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from orrery import figures
from orrery.figures.studies import arm_places, is_flat, quantity
from orrery.report.charts import COLOURS, Chart, Series, arms, lanes
from orrery.report.study_findings import CLEAR, Unit
from orrery.report.titles import Words, humanized, parameter_title
from orrery.report.words import listed, number, scale_of, sentence
from orrery.run import RunError
from orrery.study import Metric, Study
from orrery.style import CYCLE

# Lines no farther apart than this fraction of a chart's height, about one pixel, look like one line.
COINCIDE = 0.004


def unit_of(study: Study, metric: Metric) -> Unit:
    """The unit in which all values of the metric are shown: the one that suits the largest mean, or percent
    for shares."""
    values = study.means(metric.name)["mean"].abs()
    if metric.unit in ("", "1", "share") and "share" in f"{metric.name} {metric.unit}":
        return Unit(0.01, "%")
    most = float(values.max()) if values.notna().any() else 0.0
    length, name = scale_of(most, "" if metric.unit == "1" else metric.unit)
    return Unit(length, name)


def axis_label(study: Study, axis: str) -> str:
    """The title and the unit of the parameter that the axis varies."""
    parameter, unit = study.parameters[axis]
    title = parameter_title(parameter, axis)
    return f"{title} ({unit})" if unit else title


def _label(text: str, unit: str) -> str:
    return f"{text} ({unit})" if unit else text


def paints(study: Study) -> tuple[str | None, dict[str, str]]:
    """The axis whose arms are distinguished by colour, and the colours. The axis is the compared axis, or
    else the first one with several arms."""
    several = [axis for axis, arms in study.axes.items() if len(arms) > 1]
    axis = study.compared[0] if study.compared else next(iter(several or study.axes), None)
    names = study.axes[axis] if axis else []
    return axis, {arm: CYCLE[place % len(CYCLE)] for place, arm in enumerate(names)}


def _range(rows: Sequence[Mapping[str, Any]], zero: bool) -> dict[str, float]:
    values = [row["value"] for row in rows]
    ends = values + [end for row in rows for kind in ("interval", "second")
                     for end in row[kind] or ()]
    # The axis cuts off very wide intervals, so that all others stay readable.
    reach = (max(values) - min(values)) or max(map(abs, values)) or 1.0
    low = max(min(ends), min(values) - 3 * reach)
    high = min(max(ends), max(values) + 3 * reach)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = 0.05 * ((high - low) or abs(high) or 1.0)
    return {"low": low - room, "high": high + room}


def _axis(label: str, unit: str, rows: Sequence[Mapping[str, Any]], zero: bool) -> dict[str, Any]:
    return {"label": _label(label, unit), "unit": unit, "scale": "linear", "own": True,
            "zero": zero} | _range(rows, zero)


def _pair(row: pd.Series, low: str, high: str, length: float) -> list[float] | None:
    return None if pd.isna(row[low]) else [row[low] / length, row[high] / length]


class _Lanes:
    """Lanes of one metric, in the colours of their arms, with the remarks on them."""

    def __init__(self, study: Study, metric: Metric) -> None:
        self.study, self.metric = study, metric
        self.axis, self.paints = paints(study)
        rows = study.doubts[study.doubts["metric"] == metric.name]
        self.remarks = rows.groupby("cell")["text"].apply(list).to_dict()

    def arm(self, cell: int) -> str:
        return self.study.arms(cell)[self.axis] if self.axis else self.metric.name

    def lane(self, cell: int, value: float, interval: list[float] | None,
             second: list[float] | None = None, more: Sequence[Sequence[str]] = (),
             clear: bool = True) -> dict[str, Any]:
        arm = self.arm(cell)
        paint = self.paints.get(arm, CYCLE[0])
        reported = [["remark", text] for text in self.remarks.get(cell, ())]
        return {"label": self.study.labels[cell], "value": float(value), "interval": interval,
                "second": second, "arm": arm, "colour": COLOURS.get(paint, paint),
                "clear": clear, "remarks": len(reported), "more": [*map(list, more), *reported]}

    def series(self, cells: Sequence[int]) -> list[Series]:
        seen = {self.arm(cell) for cell in cells}
        return [Series(arm, paint) for arm, paint in self.paints.items() if arm in seen]


def means(study: Study, metric: Metric, words: Words, unit: Unit) -> Chart | str:
    frame = study.means(metric.name)
    frame = frame[frame["mean"].notna()]
    if frame.empty:
        return f"{metric.name}: no run has it"
    made = _Lanes(study, metric)
    rows = [
        made.lane(cell, row["mean"] / unit.length, _pair(row, "low", "high", unit.length),
                  _pair(row, "min", "max", unit.length) if study.permutes_ties else None,
                  [["seeds", number(row["seeds"])]])
        for cell, row in frame.iterrows()
    ]
    ties = " Thin lines: the range over the seeds, because ties are permuted." \
        if study.permutes_ties else ""
    return lanes("intervals", f"means-{metric.name}", f"{words.title} of each cell", rows,
                 made.series(list(frame.index)), _axis(words.title, unit.beside(words.title), rows, zero=False),
                 f"{100 * study.confidence:g} % intervals.{ties}")


def _coinciding(parts: Mapping[str, pd.DataFrame], room: float) -> str:
    """A sentence for each group of lines that look like one, because their means coincide. `room` is the
    height of the chart, in the unit of the means."""
    groups: list[list[str]] = []
    for arm, rows in parts.items():
        for group in groups:
            gap = (rows["mean"] - parts[group[0]]["mean"]).abs().max()
            if gap <= COINCIDE * room:
                group.append(arm)
                break
        else:
            groups.append([arm])
    return " ".join(sentence(f"the lines of {listed(group)} coincide")
                    for group in groups if len(group) > 1)


def over_arms(study: Study, metric: Metric, words: Words, unit: Unit) -> Chart | None:
    """Means over the arms of the axis `x`, with a line for each arm of the axis `by`; study_curves_data()
    chooses the two. If only one axis has several arms, there is one line over its arms. Returns None if these
    arms are not numbers or times, if a third axis has several arms, or if there is nothing to draw."""
    try:
        data = figures.study_curves_data(study, metric.name)
    except RunError:
        return None  # there is a third axis with several arms
    by, x = data.attrs["by"], data.attrs["x"]
    if x is None:
        by, x = None, by
    if x is None or len(study.axes[x]) < 2 or data["mean"].isna().all():
        return None
    places, is_log = arm_places(study.axes[x])
    if by is None and any(math.isnan(quantity(arm)) for arm in study.axes[x]):
        return None
    data[["mean", "low", "high"]] /= unit.length
    parts = {str(arm): rows.set_index(x) for arm, rows in data.groupby(by, observed=True)} \
        if by else {metric.name: data.set_index(x)}
    coloured = dict(zip(study.axes[by] if by else parts, CYCLE * len(parts)))
    series = {arm: Series(arm if by else words.title, coloured[arm]) for arm in parts}
    ends = data[["mean", "low", "high"]].stack()
    known = data["mean"].dropna()
    reach = np.ptp(known) or abs(known.max()) or 1.0
    high = float(min(ends.max(), known.max() + reach))
    low = float(max(ends.min(), known.min() - reach)) if is_flat(known) or known.min() < 0 else 0.0
    room = high - low or 1.0
    shown = unit.beside(words.title)
    y = {"label": _label(words.title, shown), "unit": shown,
         "low": low - 0.05 * room if low else 0.0, "high": high + 0.05 * room}
    title = f"{words.title} against {humanized(x)}" + (f", by {humanized(by)}" if by else "")
    note = f"{100 * study.confidence:g} % intervals. {_coinciding(parts, room)}".strip()
    return arms(f"arms-{metric.name}", title, places.to_dict(), is_log, axis_label(study, x), series,
                parts, y, note)


def differences(study: Study, metric: Metric, words: Words, unit: Unit) -> Chart | str:
    """The differences in percent if these are known, with a switch to the unit of the metric."""
    frame = study.differences(metric.name)
    if frame.empty:
        return f"Differences in {metric.name}: fewer than two pairs"
    made = _Lanes(study, metric)
    ways: dict[str, dict[str, Any]] = {}

    def way(name: str, column: str, ends: tuple[str, str], length: float, shown: str) -> None:
        rows = [made.lane(cell, row[column] / length, _pair(row, *ends, length),
                          more=[["pairs", number(row["pairs"])]], clear=row["verdict"] in CLEAR)
                for cell, row in frame.iterrows() if not pd.isna(row[column])]
        if rows:
            ways[name] = {"lanes": rows, "x": _axis(f"difference in {words.title_within}", shown, rows, True)}

    way("percent", "percent", ("percent_low", "percent_high"), 1.0, "%")
    way(unit.of_differences or "value", "difference", ("low", "high"), unit.length,
        unit.of_differences)
    first = next(iter(ways.values()))
    clear = int(frame["verdict"].isin(CLEAR).sum())
    _, against = study.compared or ("", "")
    chart = lanes("intervals", f"differences-{metric.name}",
                  f"Against {against}: {clear} of {len(frame)} differ clearly", first["lanes"],
                  made.series(list(frame.index)), first["x"],
                  "Seed by seed, against the same seed of the baseline. Hollow: no clear difference.")
    return Chart(chart.id, chart.title, chart.spec | {"ways": ways}, chart.note)
