"""What tests of figures share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure


@pytest.fixture
def saved(tmp_path: Path) -> Iterator[Callable[[Figure], None]]:
    """Writes a figure, which must become a picture."""

    def save(figure: Figure) -> None:
        picture = tmp_path / "figure.png"
        figure.savefig(picture)
        assert picture.read_bytes().startswith(b"\x89PNG")

    yield save
    plt.close("all")
