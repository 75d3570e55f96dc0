"""What the commands of the package share: exit statuses, one-line messages about mistakes, whole files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from orrery.mistakes import OutputError, RunError
from orrery.printable import say

DONE, INTERNAL, MISTAKE, OUTPUT_FAILED, STOPPED = 0, 1, 2, 74, 130  # exit statuses, as of the program orrery

STANDARD_OUTPUT = Path("-")


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """An OSError inside of this context becomes an OutputError about `path`."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_whole(path: Path, text: str) -> None:
    """Writes a file in one step, so that an interrupted command leaves no partial file. The path `-` means
    standard output."""
    if path == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    part = path.with_name(path.name + ".part")
    with writing(path):
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)


def guarded(command: Callable[[Sequence[str]], int | None], arguments: Sequence[str]) -> int:
    """Runs a command, which may return its exit status, and returns the status. Reports errors as the program
    orrery does."""
    try:
        status = command(arguments)
        sys.stdout.flush()
        return DONE if status is None else status
    except ModuleNotFoundError as error:
        return missing(error)
    except OutputError as error:
        return reported(str(error), OUTPUT_FAILED)
    except BrokenPipeError:  # the reader of standard output is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, RunError, ImportError) as error:
        return reported(str(error), MISTAKE)
    except KeyboardInterrupt:
        return STOPPED
    return DONE


def missing(error: ModuleNotFoundError) -> int:
    """Reports a module that is not installed, and the Debian package that has it."""
    module = str(error.name).split(".")[0]
    hint = "" if module == "orrery" else f"; apt-get install python3-{module}"
    return reported(f"{error}{hint}", MISTAKE)


def reported(text: str, status: int) -> int:
    say(text, sys.stderr)
    return status
