"""`orrery plot`: one figure of a run, or of several runs side by side."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from orrery.command_line import writing
from orrery.mistakes import RunError
from orrery.printable import say

ENDINGS = (".png", ".pdf", ".svg")


def parser() -> argparse.ArgumentParser:
    described = argparse.ArgumentParser(
        prog="orrery plot", usage="orrery plot [[NAME] RUN.h5... [-o FILE] [--job JOB]]",
        description="Draws a figure of a run. Without arguments it lists the names of figures.",
        allow_abbrev=False,
    )
    described.add_argument(
        "words", metavar="NAME", nargs="*",
        help="name of the figure; by default, the figure of the scenario that the first run's file is "
        "named after, else the overview",
    )
    described.add_argument(  # only for the help text: argparse puts the runs into `words`, too
        "runs", metavar="RUN.h5", nargs="*",
        help="output of `orrery run`; some figures compare several runs",
    )
    described.add_argument(
        "-o", "--output", metavar="FILE", type=Path,
        help="the file to write: .png, .pdf or .svg; by default RUN-NAME.png, or RUN.png if no name is "
        "given, beside the first run",
    )
    described.add_argument(
        "--job", metavar="JOB",
        help="the job, for cardiogram and dead-rank; by default the first job with a cardiogram",
    )
    return described


def split(words: Sequence[str], names: Sequence[str]) -> tuple[str | None, list[Path]]:
    """The name of the figure, or None if the words do not begin with one, and the paths of the runs."""
    first = words[0]
    if first in names:
        return first, [Path(word) for word in words[1:]]
    is_file = Path(first).suffix in (".h5", ".part") or Path(first).exists()
    if is_file or Path(f"{first}.part").exists():
        return None, [Path(word) for word in words]
    near = difflib.get_close_matches(first, names, 1)
    hint = f"; did you mean '{near[0]}'?" if near else "; 'orrery plot' lists the figures"
    raise RunError(f"'{first}' is neither a figure nor a run{hint}")


def main(arguments: Sequence[str]) -> None:
    given = parser().parse_intermixed_args(arguments)
    if given.output and given.output.suffix not in ENDINGS:
        parser().error(f"{given.output}: the ending is none of {', '.join(ENDINGS)}")
    import matplotlib

    matplotlib.use("Agg")  # no display is needed
    # Imported only after the arguments are checked, because these imports take time.
    from orrery.figures import catalogue, save
    from orrery.run import open_run

    words = [*given.words, *given.runs]
    if not words:
        say(catalogue.listing())
        return
    name, paths = split(words, list(catalogue.FIGURES))
    if not paths:
        raise RunError(f"'{name}' needs a run: orrery plot {name} RUN.h5")
    with ExitStack() as opened:
        runs = [opened.enter_context(open_run(path)) for path in paths]
        suffix = f"-{name}" if name else ""
        name = name or catalogue.inferred(runs[0])
        entry = catalogue.FIGURES[name]
        if len(runs) > 1 and not entry.several:
            raise RunError(f"'{name}' is of one run, and {len(runs)} are given")
        if given.job and not entry.of_job:
            raise RunError(f"--job has no effect on '{name}'")
        try:
            figure = entry.draw(runs, given.job)
        except RunError:
            raise
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            files = ", ".join(str(run.path) for run in runs)
            raise RunError(
                f"{files}: cannot be drawn as {name}: {type(error).__name__}: {error}"
            ) from error
        output = given.output or runs[0].path.with_name(f"{runs[0].name}{suffix}.png")
        with writing(output):
            save(figure, output)
    say(f"{output}: {name}, {catalogue.FIGURES[name].doc}")
