"""Policies side by side, on equal seeds."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from orrery.comparison import paired
from orrery.style import BLACK, BLUE, GREY, VERMILION, axes_for, drawing, tidy


def paired_differences_data(
    values: pd.DataFrame, baseline: str | None = None, level: float = 0.95
) -> pd.DataFrame:
    """The rows of `orrery.paired`, sorted by mean difference. `clear`: the verdict is less or more."""
    frame = paired(values, baseline, level).sort_values("difference", kind="stable")
    frame["clear"] = frame["verdict"].isin(["less", "more"])
    return frame


@drawing
def paired_differences(
    values: pd.DataFrame, baseline: str | None = None, axis: Axes | None = None, *,
    what: str = "value", lower_is_better: bool = True, level: float = 0.95,
) -> Axes:
    """Draws for each policy the mean difference from the baseline in percent, its confidence interval, and
    every pair as a mark. `values` has a row for each seed and a column for each policy; all must be positive.
    Better policies are blue, worse ones red; a policy without a clear difference is grey."""
    frame = paired_differences_data(values, baseline, level)
    axis = axes_for(axis, 1.4 + 0.42 * len(frame))
    base = values[frame.attrs["baseline"]]
    for place, (policy, row) in enumerate(frame.iterrows()):
        better = (row["percent"] < 0) == lower_is_better
        colour = GREY if not row["clear"] else BLUE if better else VERMILION
        dots = 100 * (values[policy] / base - 1)
        axis.plot(dots, [place + 0.22] * len(dots), "|", color=colour, alpha=0.55, ms=5)
        axis.plot([row["percent_low"], row["percent_high"]], [place, place], color=colour, lw=2.2)
        axis.plot(row["percent"], place, "o", color=colour, ms=6)
        ends = f"{row['percent']:+.1f} % [{row['percent_low']:+.1f}, {row['percent_high']:+.1f}]"
        axis.annotate(ends, (1.01, place), xycoords=("axes fraction", "data"), va="center",
                      fontsize=8, color=colour)
    axis.axvline(0, color=BLACK, lw=0.8)
    axis.set_yticks(range(len(frame)), frame.index)
    axis.set_ylim(len(frame) - 0.5, -0.5)
    axis.set_xlabel(f"{what}, difference to {frame.attrs['baseline']} (%)")
    pairs = int(frame["pairs"].min())
    axis.set_title(f"{100 * level:.0f} % intervals of {pairs} paired runs", loc="left")
    tidy(axis, "x")
    return axis
