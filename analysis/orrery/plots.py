"""What the scripts that draw scenarios share: colours, axes, a command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from .run import Run, open_run  # noqa: E402
from .style import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, tidy  # noqa: E402

__all__ = [
    "BLACK", "BLUE", "GREEN", "ORANGE", "PURPLE", "SKY", "VERMILION", "main", "plt", "tidy",
    "title_of",
]

def title_of(run: Run) -> str:
    """What the figure is of, for its head."""
    state = "" if run.attributes["complete"] else ", incomplete"
    return f"{run.path.name}: seed {run.attributes['seed']}{state}"


def main(doc: str, draw: Callable[[Sequence[Run]], plt.Figure], several: bool = False) -> None:
    """Draws one run, or with `several` any number of them, into the last argument."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    count = "+" if several else 1
    parser.add_argument("run", type=Path, nargs=count, help="output of `orrery run`")
    parser.add_argument("picture", type=Path, help="PNG to write")
    arguments = parser.parse_args()
    with ExitStack() as opened:
        runs = [opened.enter_context(open_run(path)) for path in arguments.run]
        draw(runs).savefig(arguments.picture, dpi=130, bbox_inches="tight")
