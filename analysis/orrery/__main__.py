"""The commands of the package: `python3 -m orrery COMMAND`, or `orrery COMMAND`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from orrery.command_line import DONE, MISTAKE, guarded, reported

# Each command has a function main(arguments) in its module, which is imported only for that command.
COMMANDS = {
    "report": ("orrery.report.command", "one interactive page of a run, or of a study's folder"),
    "plot": ("orrery.plot_command", "one figure of a run, or of several side by side"),
    "explain": ("orrery.explain", "why a job waited or failed, who held what in a deadlock"),
    "export": ("orrery.export_command", "writes a run for other tools"),
    "cluster": ("orrery.cluster", "runs a study on several machines"),
}


def usage() -> str:
    lines = [f"  orrery {name:10}{doc}" for name, (_, doc) in COMMANDS.items()]
    return "\n".join(["Usage:", *lines, "  orrery COMMAND --help"])


def main(arguments: Sequence[str]) -> int:
    name = arguments[0] if arguments else ""
    if name in ("-h", "--help"):
        print(usage())
        return DONE
    if name not in COMMANDS:
        return reported(f"unknown command '{name}'\n{usage()}", MISTAKE)
    module = COMMANDS[name][0]

    def run(rest: Sequence[str]) -> int | None:
        return importlib.import_module(module).main(rest)

    return guarded(run, arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
