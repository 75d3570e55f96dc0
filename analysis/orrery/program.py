"""The program `orrery`: its path, and functions that run scenarios and studies."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from orrery.run import Run

BUILT = Path("build/release/bin/orrery")
# PREFIX/lib/python3/dist-packages: where package.cmake installs this package
INSTALLED = ("lib", "python3", "dist-packages")


class ProgramError(RuntimeError):
    """The program was not found, or failed. JobQueueEnv also raises it for a missing scenario, a run that asks
    nothing, and a step() outside an episode."""


def find() -> Path:
    """The path in the environment variable ORRERY; else the program installed with this package; else a build
    in the source tree of this package, or in the current folder or one above it; else `orrery` on the
    PATH."""
    reported = os.environ.get("ORRERY")
    if reported:
        if not os.access(reported, os.X_OK) or not Path(reported).is_file():
            raise ProgramError(f"ORRERY is '{reported}', where there is no program")
        return Path(reported).absolute()
    package = Path(__file__).absolute().parent
    if package.parts[-4:-1] == INSTALLED:  # PREFIX/lib/python3/dist-packages/orrery
        program = package.parents[3] / "bin" / "orrery"
        if os.access(program, os.X_OK):
            return program
    for start in (Path(__file__), Path.cwd() / "here"):
        for folder in start.absolute().parents:
            if os.access(folder / BUILT, os.X_OK):
                return folder / BUILT
    on_path = shutil.which("orrery")
    if on_path is None:
        raise ProgramError(
            f"the program orrery was not found: build it ({BUILT}), put it on the PATH, or tell "
            "where it is in the environment variable ORRERY"
        )
    return Path(on_path).absolute()


def call(*arguments: str) -> str:
    """Runs the program and returns its output."""
    done = subprocess.run([find(), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise ProgramError(done.stderr.strip() or f"orrery ended with status {done.returncode}")
    return done.stdout


def simulate(scenario: str | Path, output: str | Path, *options: str) -> Run:
    """Runs a scenario and opens its output. The scenario is a path, or a text of several lines of YAML, which
    is stored beside the output. `options` are those of `orrery run`."""
    output = Path(output)
    if isinstance(scenario, str) and "\n" in scenario:
        text, scenario = scenario, output.with_suffix(".yaml")
        scenario.write_text(text)
    call("run", str(scenario), "-q", "-o", str(output), *options)
    return Run(output)


def study(text: str, folder: str | Path, *options: str) -> Run:
    """Runs a study, given as lines of YAML, and opens its study.h5. Its output goes into `folder`, and the
    lines into a file beside it. The table /runs has a row for each run, /values one for each metric of each
    run."""
    path = Path(folder).with_suffix(".yaml")
    path.write_text(text)
    call("study", "run", str(path), "-q", "-o", str(folder), *options)
    return Run(Path(folder) / "study.h5")
