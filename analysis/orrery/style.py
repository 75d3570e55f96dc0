"""Style of figures: a palette for every kind of colour vision, few lines, sizes for print."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from orrery.run import Run

# Okabe and Ito's palette, which is distinguishable with any kind of colour vision.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, YELLOW, BLACK = "#56B4E9", "#CC79A7", "#F0E442", "#000000"
CYCLE = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, YELLOW, BLACK)
GREY = "#777777"
# Dash patterns, which distinguish lines that cover one another.
DASHES = ((), (6, 2), (3, 2), (1, 2), (6, 2, 1, 2))
POINTS_MAX = 1_000  # a line cannot show more points

PUBLICATION = {
    "figure.figsize": (6.4, 3.2),
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": plt.cycler(color=CYCLE),
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "savefig.bbox": "tight",
    "savefig.dpi": 150,
    "pdf.fonttype": 42,  # text remains text and does not become outlines
    "svg.fonttype": "none",
    "svg.hashsalt": "orrery",  # makes the names inside of a file the same each time
}


@contextmanager
def publication() -> Iterator[None]:
    """Inside of this context new figures have sizes and fonts that suit a column of a paper."""
    plt.get_backend()  # loads the backend now: a style that it sets would be reset at the end of the context
    with plt.rc_context(PUBLICATION):
        yield


def drawing(draw: Callable[..., Axes]) -> Callable[..., Axes]:
    """Decorator for a function that draws into `axis`. Without an axis the function draws a new figure in
    publication style; a given axis keeps its own style."""
    signature = inspect.signature(draw)

    @functools.wraps(draw)
    def styled(*arguments: Any, **named: Any) -> Axes:
        if signature.bind(*arguments, **named).arguments.get("axis") is not None:
            return draw(*arguments, **named)
        with publication():
            return draw(*arguments, **named)

    return styled


def axes_for(axis: Axes | None, height: float = 3.2) -> Axes:
    """The given axes, or those of a new figure."""
    return plt.subplots(figsize=(6.4, height))[1] if axis is None else axis


def save(figure: Figure, *paths: str | Path) -> None:
    """Writes the figure in the format of each path's ending: .png, .pdf or .svg. Files have no time stamp, so
    equal figures are equal files."""
    empty = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
    for path in map(Path, paths):
        with publication():
            figure.savefig(path, metadata=empty.get(path.suffix))


def tidy(axis: Axes, grid: str = "y") -> None:
    """Gives the axes few lines: a faint grid behind the data, no frame at the top and on the right."""
    axis.grid(axis=grid, color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)


def title_of(run: Run) -> str:
    """The title of a figure that shows a whole run."""
    state = "" if run.complete else ", incomplete"
    return f"{run.path.name}: seed {run.meta.seed}{state}"


def time_unit(seconds: float) -> tuple[float, str]:
    """The largest unit of which `seconds` has at least two: its length in seconds and its name. (1.0, "s") if
    there is none."""
    for length, unit in ((86_400.0, "days"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= 2 * length:
            return length, unit
    return 1.0, "s"


def thinned(frame: pd.DataFrame, how: str = "mean") -> pd.DataFrame:
    """The frame with at most POINTS_MAX rows. Adjacent rows form groups of equal size; the last group may be
    smaller. Each group becomes one row at the group's last index: the mean of its rows or, with "max", their
    maximum."""
    step = max(1, int(np.ceil(len(frame) / POINTS_MAX)))
    if step == 1:
        return frame
    groups = np.arange(len(frame)) // step
    reduced = frame.groupby(groups).agg(how)
    reduced.index = frame.index.to_series().groupby(groups).max()
    return reduced
