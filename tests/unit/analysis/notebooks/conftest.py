"""Executes the notebooks:

    pytest --confcutdir tests/unit/analysis/notebooks tests/unit/analysis/notebooks --program orrery
"""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--program", required=True, help="the program orrery")


@pytest.fixture(scope="session")
def program(request: pytest.FixtureRequest) -> Path:
    return Path(request.config.getoption("--program")).absolute()
