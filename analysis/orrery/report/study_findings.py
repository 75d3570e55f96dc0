"""Findings of a study, in sentences: one text for each metric."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from orrery.figures.studies import quantity
from orrery.report.titles import Words, humanized
from orrery.report.words import count, listed, number, sentence
from orrery.study import Metric, Study

CLEAR = ("less", "more")


@dataclass(frozen=True)
class Unit:
    """The one unit in which all values of a metric are shown: values divided by `length`, with `name`."""

    length: float
    name: str

    def beside(self, title: str) -> str:
        """The name of the unit; empty if the title has it already."""
        return "" if self.name in title.split() else self.name

    def text(self, value: float) -> str:
        if not math.isfinite(value):
            return "–"
        return f"{number(value / self.length)} {self.name}".strip()

    @property
    def of_differences(self) -> str:
        """The unit of differences. For shares these are points, so that nobody takes them for percent of a
        value."""
        return "points" if self.name == "%" else self.name


def _percent(values: pd.Series) -> str:
    """Percents as `71 to 95 %`, with few digits. A value that is not 0 is never shown as 0."""
    ends = sorted({abs(values.min()), abs(values.max())})

    def digits(value: float) -> str:
        return f"{value:,.0f}" if value >= 9.5 else f"{value:.2g}"

    texts = list(dict.fromkeys(digits(end) for end in ends))
    return f"{' to '.join(texts)} %"


def _by(rows: pd.DataFrame, unit: Unit) -> str:
    if rows["percent"].notna().all():
        return _percent(rows["percent"])
    ends = sorted({abs(rows["difference"].min()), abs(rows["difference"].max())})
    texts = list(dict.fromkeys(number(end / unit.length, 3) for end in ends))
    return f"{' to '.join(texts)} {unit.of_differences}".strip()


def _where(study: Study, cells: pd.Index) -> str:
    """The arms of the other axes that the cells have, as in `at load 4 and 6`; empty if the cells cover all
    arms."""
    others = [axis for axis in study.axes if not study.compared or axis != study.compared[0]]
    parts = []
    for axis in others:
        arms = list(dict.fromkeys(study.arms(cell)[axis] for cell in cells))
        if len(arms) < len(study.axes[axis]):
            parts.append(f"{humanized(axis)} {listed(arms)}")
    return f" at {' and '.join(parts)}" if parts else ""


def _of_arm(study: Study, rows: pd.DataFrame, words: Words, unit: Unit) -> str:
    """Part of a sentence about the effect of an arm; empty if the arm shows no difference in any cell."""
    parts = []
    for verdict in CLEAR:
        found = rows[rows["verdict"] == verdict]
        if len(found):
            where = _where(study, found.index) if len(found) < len(rows) else ""
            parts.append(words.differs(_by(found, unit), verdict == "more") + where)
    if not parts:
        return ""
    rest = rows[~rows["verdict"].isin(CLEAR)]
    tail = f"; no clear difference{_where(study, rest.index)}" if len(rest) else ""
    return f"{listed(parts)}{tail}"


def _named(axis: str, arm: str) -> str:
    """The name of an arm. A number follows the name of its axis."""
    return arm if math.isnan(quantity(arm)) else f"{humanized(axis)} {arm}"


def _same(unclear: list[str], equal: list[str], against: str, metric: str) -> Iterator[str]:
    """Sentences about arms without a difference from the baseline. The first sentence names `metric`, unless
    `metric` is empty."""
    of = f" in {metric}" if metric else ""
    if unclear:
        verb = "does" if len(unclear) == 1 else "do"
        yield f"{listed(unclear)} {verb} not differ clearly from {against}{of}."
        of = ""
    if equal:
        yield f"{listed([*equal, against])} are equal in each seed{of}."


def differences(
    study: Study, metric: Metric, words: Words, unit: Unit, most: int | None = None
) -> str:
    """Compares arms with their baseline, in the order of the arms. Arms without a difference share a
    sentence. If more than `most` arms differ, only those that differ most are described."""
    rows = study.differences(metric.name)
    axis, baseline = study.compared or ("", "")
    if rows.empty:
        return ""
    against = _named(axis, baseline)
    arms = pd.Series([study.arms(cell)[axis] for cell in rows.index], rows.index)
    reported: dict[str, str] = {}
    equal, unclear = [], []
    for arm in study.axes[axis]:
        own = rows[arms == arm]
        if own.empty:
            continue
        text, name = _of_arm(study, own, words, unit), _named(axis, arm)
        name = name if name == arm else f"{name[:1].upper()}{name[1:]}"
        if text:
            first, rest = (text.split(";", 1) + [""])[:2]
            reported[arm] = f"{name} {first} than {against}{';' + rest if rest else ''}."
        else:
            (equal if (own["verdict"] == "equal").all() else unclear).append(name)
    shown = list(reported)
    if most is not None and len(shown) > most:
        column = "percent" if rows["percent"].notna().any() else "difference"
        size = rows[column].abs().groupby(arms).max()
        kept = set(size[shown].sort_values(ascending=False, kind="stable").index[:most])
        shown = [arm for arm in shown if arm in kept]
    parts = [reported[arm] for arm in shown]
    parts += _same(unclear, equal, against, "" if shown else words.title_within)
    if len(shown) < len(reported):
        parts.append(f"{count(len(reported) - len(shown), 'arms')} more differ, by less.")
    return " ".join(parts)


def extremes(study: Study, metric: Metric, words: Words, unit: Unit) -> str:
    """A sentence about the cells with the lowest and the highest mean."""
    means = study.means(metric.name)["mean"].dropna()
    if means.empty:
        return ""
    low, high = means.idxmin(), means.idxmax()
    if len(means) == 1 or means.min() == means.max():
        return sentence(f"{words.title}: {unit.text(means.iloc[0])}"
                        + (" in all cells" if len(means) > 1 else ""))
    return sentence(f"{words.title}: from {unit.text(means[low])} ({study.labels[low]}) to "
                    f"{unit.text(means[high])} ({study.labels[high]})")
