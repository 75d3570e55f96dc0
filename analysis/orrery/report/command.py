"""`orrery report`: writes the page of a run, or of a study's folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from orrery.command_line import STANDARD_OUTPUT, write_whole
from orrery.mistakes import RunError
from orrery.printable import say
from orrery.report.words import with_unit


def parser() -> argparse.ArgumentParser:
    described = argparse.ArgumentParser(
        prog="orrery report", allow_abbrev=False,
        description="One interactive page of a run, or of a study's folder: a file of HTML that "
        "any browser opens, without a network.",
    )
    described.add_argument(
        "run", metavar="RUN.h5 | STUDY", type=Path,
        help="output of `orrery run`, or the folder of `orrery study run`",
    )
    described.add_argument(
        "-o", "--output", metavar="FILE", type=Path,
        help="the file to write, or - for standard output; by default RUN.html beside the run, or "
        "report.html in the folder",
    )
    described.add_argument(
        "--runs", action="store_true",
        help="only for a study: also write a page of each run, beside the run's file; the study's "
        "page links there",
    )
    return described


def write_run(path: Path, output: Path | None = None) -> Path:
    """Writes the page of the run and returns its path."""
    from orrery.report.of_run import run_page  # these imports take time
    from orrery.run import open_run, reading

    with open_run(path) as run:
        output = output or run.path.with_name(f"{run.name}.html")
        with reading(run.path):
            page = run_page(run)
        write_whole(output, page)
    return output


def write_study(folder: Path, output: Path | None, with_runs: bool) -> Path:
    """Writes the page of the study and returns its path. With `with_runs`, first writes the pages of the
    runs."""
    if not (folder / "study.h5").exists():
        raise RunError(f"{folder}: has no study.h5, so it is not the folder of a study that ran")
    from orrery.report.of_study import study_page
    from orrery.run import reading

    if with_runs:
        for path in sorted((folder / "runs").glob("*.h5")):
            write_run(path)
    output = output or folder / "report.html"
    with reading(folder / "study.h5"):
        page = study_page(folder, output.absolute().parent)
    write_whole(output, page)
    return output


def main(arguments: Sequence[str]) -> None:
    given = parser().parse_args(arguments)
    if given.run.is_dir():
        output = write_study(given.run, given.output, given.runs)
    elif given.runs:
        parser().error("--runs has no effect on a run: it goes with the folder of a study")
    else:
        output = write_run(given.run, given.output)
    if output != STANDARD_OUTPUT:
        say(f"{output}: {with_unit(output.stat().st_size, 'B')}")
