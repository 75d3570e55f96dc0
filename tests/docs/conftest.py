"""The option --program of the tests of pages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--program", required=True, help="the program orrery")


@pytest.fixture(scope="session")
def program(request: pytest.FixtureRequest) -> Path:
    return Path(request.config.getoption("--program")).resolve()
