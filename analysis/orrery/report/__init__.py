"""One interactive page of a run or a study: a single file of HTML that works without a network.

Orrery's own script draws the charts; it has 75 kB with its comments. Debian's Plotly has 8.7 MB, which would be
in each page. On two shared cores such a page of 14 charts took 1.3 to 5.3 s to open, 0.8 to 1.5 s of it CPU
time; Orrery's page takes 0.2 s of CPU time (bench/report_load.py). Plotly also lacks zooming with the keyboard,
and does not follow the theme of the reader. The modules of D3 for scales, axes, selections and zooming, with
what they need, are 114 kB minified. They would replace only 150 lines of numbers.js and elements.js. D3 has
scales for dates, and not for simulated time, which is a span. Jobs are drawn as pixels of a canvas, where
selections of elements do not help. D3 has nothing for the keyboard, tables and screen readers.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orrery.run import Run

__all__ = ["run_page", "study_page"]


def run_page(run: Run) -> str:
    """The page of a run, complete or not."""
    return importlib.import_module("orrery.report.of_run").run_page(run)


def study_page(folder: str | Path, beside: str | Path | None = None) -> str:
    """The page of a study's folder. Links to runs are relative to the folder `beside`, in which the page will
    be; by default the folder of the study."""
    of_study = importlib.import_module("orrery.report.of_study")
    return of_study.study_page(Path(folder), Path(folder if beside is None else beside))
