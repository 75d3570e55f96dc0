"""Runs of Orrery as pandas data frames, figures and files for other tools.

    import orrery
    run = orrery.open("run.h5")
    run.table("/jobs")["wait"].median()     # seconds
    orrery.figures.utilisation(run).figure.savefig("use.pdf")
"""

from __future__ import annotations

import importlib
from types import ModuleType

from orrery.comparison import compare, paired
from orrery.run import Meta, Run, RunError
from orrery.run import open_run as open  # noqa: A001: reads as orrery.open()
from orrery.study import Study

__all__ = ["Meta", "Run", "RunError", "Study", "compare", "export", "figures", "open", "paired"]


def __getattr__(name: str) -> ModuleType:
    """`orrery.figures` and `orrery.export` are loaded when first used: matplotlib takes time."""
    if name in ("figures", "export"):
        return importlib.import_module(f"orrery.{name}")
    raise AttributeError(f"module 'orrery' has no attribute '{name}'")
