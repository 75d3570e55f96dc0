"""What the commands of the package share: exit statuses, and mistakes told in a line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from orrery.mistakes import OutputError, RunError
from orrery.printable import say

DONE, INTERNAL, MISTAKE, OUTPUT_FAILED, STOPPED = 0, 1, 2, 74, 130  # as of the program orrery

STANDARD_OUTPUT = Path("-")


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """What fails within it is the fault of the output."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_whole(path: Path, text: str) -> None:
    """Writes the file in one step: who is stopped meanwhile leaves no half of it. To standard output
    if the file is called -."""
    if path == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    part = path.with_name(path.name + ".part")
    with writing(path):
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)


def guarded(command: Callable[[Sequence[str]], int | None], arguments: Sequence[str]) -> int:
    """Carries out a command, and says what went wrong as the program orrery would. A command may
    come back with a status of its own."""
    try:
        status = command(arguments)
        sys.stdout.flush()
        return DONE if status is None else status
    except ModuleNotFoundError as error:
        return missing(error)
    except OutputError as error:
        return told(str(error), OUTPUT_FAILED)
    except BrokenPipeError:  # the reader of our output had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, RunError, ImportError) as error:
        return told(str(error), MISTAKE)
    except KeyboardInterrupt:
        return STOPPED
    return DONE


def missing(error: ModuleNotFoundError) -> int:
    """A module that is not installed, and which package of Debian has it."""
    module = str(error.name).split(".")[0]
    hint = "" if module == "orrery" else f"; apt-get install python3-{module}"
    return told(f"{error}{hint}", MISTAKE)


def told(text: str, status: int) -> int:
    say(text, sys.stderr)
    return status
