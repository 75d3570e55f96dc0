"""The option of the tests of an installation."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--build", required=True, help="a build folder with the program")
