"""Runs of Orrery as pandas data frames, figures, pages and files for other tools.

    import orrery
    run = orrery.open("run.h5")
    run.table("/jobs")["wait"].median()     # seconds
    orrery.figures.utilisation(run).figure.savefig("use.pdf")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orrery import explain, export, figures, report, trace
    from orrery.comparison import compare, paired
    from orrery.run import Meta, Run, RunError
    from orrery.run import open_run as open  # noqa: A001: reads as orrery.open()
    from orrery.study import Study

__all__ = ["Meta", "Run", "RunError", "Study", "compare", "explain", "export", "figures", "open",
           "paired", "report", "trace"]

_HOME = {  # each name of the package: its module, and its name in the module
    "Meta": ("run", "Meta"), "Run": ("run", "Run"), "RunError": ("run", "RunError"),
    "open": ("run", "open_run"), "Study": ("study", "Study"),
    "compare": ("comparison", "compare"), "paired": ("comparison", "paired"),
}


def __getattr__(name: str) -> Any:
    """Imports a name at its first use, because pandas and matplotlib take time."""
    if name in _HOME:
        module, real = _HOME[name]
        return getattr(importlib.import_module(f"orrery.{module}"), real)
    if name in ("explain", "export", "figures", "report", "trace"):
        return importlib.import_module(f"orrery.{name}")
    raise AttributeError(f"module 'orrery' has no attribute '{name}'")
