"""`orrery report`: the page of a run, or of a study's folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from orrery.command_line import write_whole
from orrery.report.of_run import run_page
from orrery.run import Run


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
        help="where to; RUN.html beside the run, or report.html in the folder, without it",
    )
    return described


def main(arguments: Sequence[str]) -> None:
    given = parser().parse_args(arguments)
    with Run(given.run) as run:
        output = given.output or run.path.with_name(f"{run.name}.html")
        write_whole(output, run_page(run))
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB")
