"""Charts as input of the page's script: one function for each kind, from frames of figures."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from orrery import style
from orrery.report.downsample import buckets, rows_joined, steps

# The name that each colour of a figure has in the page's style sheet.
COLOURS = {
    style.BLUE: "blue", style.ORANGE: "orange", style.GREEN: "green",
    style.VERMILION: "vermilion", style.SKY: "sky", style.PURPLE: "purple",
    style.YELLOW: "yellow", style.BLACK: "ink", style.GREY: "muted",
}
# Each colour on light pages and on dark pages. The hues are Okabe and Ito's. Lightness is chosen so that any
# two colours on the same page are distinguishable with any kind of colour vision. On dark pages, each colour
# also contrasts with the page.
PALETTE = {
    "blue": ("#0072b2", "#106fac"), "orange": ("#e69f00", "#e6a10b"),
    "green": ("#009e73", "#00a069"), "vermilion": ("#d55e00", "#db6512"),
    "sky": ("#56b4e9", "#47b6fa"), "purple": ("#cc79a7", "#be85b5"),
    "yellow": ("#e3cb15", "#fcd600"),
}
HEAT_ROWS = 200
HEAT_STEPS = 200  # a byte of a heat map is 0 to 200, in half percents


@dataclass(frozen=True)
class Chart:
    """One figure of the page."""

    id: str
    title: str
    spec: dict[str, Any]
    note: str = ""


@dataclass(frozen=True)
class Series:
    """How a column of a frame is drawn."""

    name: str
    colour: str
    """A colour of orrery.style, or a name in the page's style sheet."""
    style: str = "line"
    """Either "line" or "area"."""
    hint: str = ""
    """What the name means; shown when the pointer is on it in the legend."""

    @property
    def about(self) -> dict[str, str]:
        paint = COLOURS.get(self.colour, self.colour)
        return {"name": self.name, "colour": paint, "style": self.style, "hint": self.hint}


def numbers(values: Iterable[float], digits: int = 6) -> list[float | int | None]:
    """Rounded values for JSON; None for NaN and infinities."""
    found: list[float | int | None] = []
    for value in np.asarray(values, float).tolist():
        if value != value or value in (np.inf, -np.inf):
            found.append(None)
            continue
        short = float(f"{value:.{digits}g}")
        found.append(int(short) if short.is_integer() and abs(short) < 1e15 else short)
    return found


def time_axis(end: float) -> dict[str, Any]:
    """The time axis of the whole run. All charts with this axis are zoomed together."""
    return {"label": "simulated time", "scale": "time", "low": 0, "high": end}


def timeline(
    name: str, title: str, frame: pd.DataFrame, series: Mapping[Any, Series], end: float,
    y: Mapping[str, Any], *, stack: bool = False, peaks: bool = False, note: str = "",
) -> Chart:
    """A chart of columns over time. The index of the frame is the time in seconds at which each row's interval
    ends. In a stack, series with style "line" are drawn in front. With `peaks` the legend also has the largest
    value."""
    times = frame.index.to_numpy(float)
    drawn, ends, rows = [], np.empty(0), 1
    for column, one in series.items():
        found = buckets(times, frame[column].to_numpy(float))
        ends, rows = found.ends, found.rows
        values = {"mean": numbers(found.mean)}
        if rows > 1:
            values |= {"low": numbers(found.low), "high": numbers(found.high)}
        drawn.append(one.about | values)
    spec = {
        "kind": "timeline", "x": time_axis(end), "y": dict(y), "stack": stack, "peaks": peaks,
        "begin": 0, "ends": numbers(ends, 10), "series": drawn,
    }
    if rows > 1:
        note = f"{note} Bands reach from the lowest to the highest value.".strip()
    return Chart(name, title, spec, note)


def curves(
    name: str, title: str, parts: Mapping[str, tuple[np.ndarray, np.ndarray]],
    series: Mapping[str, Series], x_label: str, y: Mapping[str, Any], note: str = "",
) -> Chart:
    """A chart of cumulative shares over a logarithmic axis of seconds."""
    positive = [x[x > 0] for x, _ in parts.values()]
    known = np.concatenate(positive) if positive else np.empty(0)
    low = max(1e-3, 0.8 * known.min()) if len(known) else 1.0
    high = max(10 * low, 1.3 * known.max()) if len(known) else 10.0
    drawn = []
    for key, (x, height) in parts.items():
        kept_x, kept_y = steps(np.maximum(x, low), height)
        drawn.append(series[key].about | {"x": numbers(kept_x), "y": numbers(kept_y)})
    axis = {"label": x_label, "scale": "log", "low": low, "high": high}
    return Chart(name, title, {"kind": "curves", "x": axis, "y": dict(y), "series": drawn}, note)


def arms(
    name: str, title: str, places: Mapping[str, float], is_log: bool, label: str,
    series: Mapping[str, Series], parts: Mapping[str, pd.DataFrame], y: Mapping[str, Any],
    note: str = "",
) -> Chart:
    """A chart of means over the arms of an axis; `places` are the positions of the arms. Each of `parts` is a
    line: a frame by arm with mean, low and high."""
    least, most = min(places.values()), max(places.values())
    if is_log:
        low, high = 0.85 * least, 1.18 * most
    else:
        low, high = least - 0.05 * (most - least or 1), most + 0.05 * (most - least or 1)
    drawn = []
    for number, (key, one) in enumerate(series.items()):
        frame = parts[key].reindex(list(places))
        values = {column: numbers(frame[column]) for column in ("mean", "low", "high")}
        drawn.append(one.about | values | {
            "dash": " ".join(map(str, style.DASHES[number % len(style.DASHES)]))})
    axis = {"label": label, "scale": "log" if is_log else "linear", "low": low, "high": high,
            "arms": [{"value": at, "text": arm} for arm, at in places.items()]}
    return Chart(name, title, {"kind": "arms", "x": axis, "y": dict(y), "series": drawn}, note)


def heat(
    name: str, title: str, grid: pd.DataFrame, end: float, label: str, shown: str = "mean"
) -> Chart:
    """A heat map in percent, with a row for each node or, if there are many, for a group of adjacent nodes.
    Of groups, the page shows the "lowest", "mean" or "highest" value; `shown` is the one that is visible at
    first."""
    rows, layers = rows_joined(grid, HEAT_ROWS)
    joined = -(-len(grid) // max(1, len(rows)))
    wanted = layers if joined > 1 else {"mean": layers["mean"]}
    packed = {
        layer: base64.b64encode(np.round(values * (HEAT_STEPS / 100)).astype(np.uint8).tobytes())
        for layer, values in wanted.items()
    }
    spec = {
        "kind": "heat", "x": time_axis(end), "y": {"label": label, "unit": "%"}, "rows": rows,
        "rowsLabel": f"{len(grid):,} nodes", "columns": grid.shape[1], "joined": joined,
        "shown": shown if joined > 1 else "mean",
        "layers": {layer: text.decode() for layer, text in packed.items()},
    }
    note = f"Each row stands for up to {joined} nodes." if joined > 1 else ""
    return Chart(name, title, spec, note)


def lanes(
    kind: str, name: str, title: str, rows: Sequence[Mapping[str, Any]], series: Sequence[Series],
    x: Mapping[str, Any], note: str = "",
) -> Chart:
    """A chart of kind "spans", "bars" or "intervals": a lane for each row, from the top."""
    spec = {"kind": kind, "x": dict(x), "y": {}, "lanes": [dict(row) for row in rows]}
    return Chart(name, title, spec | {"series": [one.about for one in series]}, note)
