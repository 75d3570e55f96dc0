"""The runs are made as for the package's other tests: `pytest tests/unit/analysis/explain
--program orrery`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_path = Path(__file__).resolve().parent.parent / "package" / "conftest.py"
_spec = importlib.util.spec_from_file_location("package_conftest", _path)
package = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(package)

pytest_addoption = package.pytest_addoption
program = package.program
made = package.made
tiny = package.tiny
