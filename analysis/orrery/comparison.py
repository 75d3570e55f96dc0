"""Summaries of several runs side by side, and paired differences between policies."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from orrery.program import call
from orrery.run import Run, RunError, open_run


def compare(runs: Sequence[Run | str | Path], names: Sequence[str] | None = None) -> pd.DataFrame:
    """The summaries of runs side by side: one row for each summary value. Columns: ("value", name) for each
    run. For each run after the first also ("difference", name), its value minus the first run's, and
    ("percent", name), the difference in percent. `attrs["units"]` and `attrs["docs"]` are by row."""
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


def paired(
    values: pd.DataFrame, baseline: str | None = None, level: float = 0.95
) -> pd.DataFrame:
    """Compares policies on equal seeds. `values` has a row for each seed and a column for each policy. The
    result has a row for each policy but the baseline, which is the first column by default. A pair is the
    values of policy and baseline for one seed; pairs with a missing value are left out.

    `orrery study pairs` computes the columns:
        pairs                               number of pairs
        mean_baseline                       mean of the baseline over the pairs
        difference, low, high               mean difference, and its confidence interval by Student's t
        percent, percent_low, percent_high  the same in percent, from the ratios of the pairs; NaN unless all
                                            values are positive
        scale                               log_ratio if all values are positive, else difference
        verdict                             on this scale: less, more, equal or unclear
        correlation                         of policy and baseline over the seeds
    """
    baseline = str(values.columns[0]) if baseline is None else baseline
    others = [policy for policy in values.columns if policy != baseline]
    for policy in others:
        pairs = len(values[[baseline, policy]].dropna())
        if pairs < 2:
            raise ValueError(f"{policy}: {pairs} pairs with {baseline}, and it takes two")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "pairs.csv")
        numbered = values[[baseline, *others]].astype(float).set_axis(range(len(others) + 1), axis=1)
        numbered.to_csv(table, index=False, float_format="%.17g")
        reported = call("study", "pairs", str(table), "--confidence", str(level))
    frame = pd.read_csv(io.StringIO(reported)).drop(columns="arm").set_axis(others, axis=0)
    frame.attrs.update(baseline=baseline, level=level)
    return frame
