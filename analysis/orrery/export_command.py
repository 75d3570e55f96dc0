"""`orrery export`: converts a run for other tools."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from orrery.command_line import STANDARD_OUTPUT, writing
from orrery.mistakes import RunError
from orrery.printable import say


def parser() -> argparse.ArgumentParser:
    described = argparse.ArgumentParser(
        prog="orrery export", description="Writes a run for other tools.", allow_abbrev=False
    )
    described.add_argument("run", metavar="RUN.h5", type=Path, help="output of `orrery run`")
    described.add_argument(
        "--perfetto", metavar="FILE", type=Path,
        help="jobs, pods by GPU, faults and deadlocks as trace events, for ui.perfetto.dev",
    )
    described.add_argument("--csv", metavar="DIR", type=Path, help="tables as CSV, with units")
    described.add_argument(
        "--parquet", metavar="DIR", type=Path, help="tables as Parquet; needs pyarrow"
    )
    described.add_argument(
        "--table", metavar="NAME", action="append",
        help="only this table, such as /jobs, as CSV or Parquet; may be given again",
    )
    return described


def main(arguments: Sequence[str]) -> None:
    given = parser().parse_args(arguments)
    if not (given.perfetto or given.csv or given.parquet):
        parser().error("say what to write: --perfetto FILE, --csv DIR or --parquet DIR")
    if STANDARD_OUTPUT in (given.perfetto, given.csv, given.parquet):
        parser().error("-: nothing of this goes to standard output; name a file or a folder")
    if given.table and not (given.csv or given.parquet):
        parser().error("--table has no effect on --perfetto: it goes with --csv or --parquet")
    from orrery import export  # imported only after the arguments are checked, because it takes time
    from orrery.run import open_run, reading

    with open_run(given.run) as run, reading(run.path):
        for name in given.table or ():
            if name not in run:
                raise RunError(f"{run.path}: no table {name}; it has {', '.join(run.tables)}")
        if given.perfetto:
            with writing(given.perfetto):
                count = export.perfetto(run, given.perfetto)
            say(f"{given.perfetto}: {count:,} events")
        for folder, write in ((given.csv, export.csv), (given.parquet, export.parquet)):
            if folder:
                with writing(folder):
                    written = write(run, folder, given.table)
                say(f"{folder}: {len(written)} tables")
