"""What the pictures of scenarios share: colours, axes, a command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from .run import Run  # noqa: E402

# Okabe and Ito's palette: told apart with any kind of colour vision.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, BLACK = "#56B4E9", "#CC79A7", "#000000"


def tidy(axis: plt.Axes, grid: str = "y") -> None:
    """Few lines: a faint grid behind, no frame on top and right."""
    axis.grid(axis=grid, color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)


def title_of(run: Run) -> str:
    """What the figure is of, for its head."""
    state = "" if run.attributes["complete"] else ", incomplete"
    return f"{run.path.name}: seed {run.attributes['seed']}{state}"


def main(doc: str, draw: Callable[[Sequence[Run]], plt.Figure], several: bool = False) -> None:
    """Draws one run, or with `several` any number of them, into the last argument."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("run", type=Path, nargs="+" if several else 1, help="output of `orrery run`")
    parser.add_argument("picture", type=Path, help="PNG to write")
    arguments = parser.parse_args()
    with ExitStack() as opened:
        runs = [opened.enter_context(Run(path)) for path in arguments.run]
        draw(runs).savefig(arguments.picture, dpi=130, bbox_inches="tight")
