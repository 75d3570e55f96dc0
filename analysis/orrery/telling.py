"""Text forms of times, spans, counts and sets of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

import pandas as pd

from orrery.printable import printable

SHOWN_MAX = 3  # largest number of items named in a list within a sentence
WIDTH = 100  # columns of a line of text


def clock(seconds: float) -> str:
    """Simulated time since the start of the run: 12d 03:04:05."""
    if pd.isna(seconds):
        return "never"
    whole = int(seconds)
    days, rest = divmod(whole, 86_400)
    return f"{days}d {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def span(seconds: float) -> str:
    """A duration in its two largest units: 3h 12min."""
    if pd.isna(seconds):
        return "?"
    if seconds < 60:
        return "0 s" if seconds == 0 else f"{seconds:.3g} s"
    seconds = round(seconds)
    if seconds < 3_600:
        return f"{seconds // 60}min {seconds % 60:02}s"
    if seconds < 86_400:
        return f"{seconds // 3_600}h {seconds // 60 % 60:02}min"
    return f"{seconds // 86_400}d {seconds // 3_600 % 24:02}h"


def gpu_time(gpu_seconds: float) -> str:
    return f"{gpu_seconds / 3_600:,.4g} GPU h"


def count(number: float, what: str, many: str | None = None) -> str:
    """`1 node`, `12 nodes`; fractions keep their digits."""
    value = f"{number:,.10g}"
    return f"{value} {what if number == 1 else many or what + 's'}"


def listed(parts: Sequence[str]) -> str:
    """Items joined as `a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last number of each sequence of consecutive numbers."""
    found: list[tuple[int, int]] = []
    for number in sorted({int(n) for n in numbers}):
        if found and found[-1][1] + 1 == number:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def numbered(numbers: Iterable[int]) -> str:
    """Numbers as ranges: `0-7,12`."""
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges(numbers))


def unnumbered(text: str) -> set[int]:
    """The numbers in `0-7,12`."""
    numbers: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


class NodeNames:
    """Names of nodes. A file has them once its run is complete; before that, nodes have numbers."""

    def __init__(self, nodes: pd.DataFrame) -> None:
        self._names = dict(zip(nodes["node"], nodes["name"])) if len(nodes) else {}

    def one(self, node: int) -> str:
        return printable(self._names.get(node, f"node {node}"))

    def few(self, numbers: Iterable[int]) -> str:
        """Nodes as ranges, `gpu-0 to gpu-7, gpu-12`. Of many ranges only the first ones are named, and the
        other nodes are counted."""
        parts, left = [], 0
        for place, (first, last) in enumerate(ranges(numbers)):
            if place >= SHOWN_MAX:
                left += last - first + 1
            elif last == first:
                parts.append(self.one(first))
            else:
                join = " to " if last > first + 1 else ", "
                parts.append(self.one(first) + join + self.one(last))
        return ", ".join(parts) + (f" and {left} more" if left else "")


def indented(text: str, indent: int, hanging: int | None = None) -> list[str]:
    """A sentence broken into lines of at most WIDTH columns. The first line is indented by `indent`, the
    others by `hanging` or, without it, by `indent`, too."""
    further = " " * (indent if hanging is None else hanging)
    return wrap(
        text,
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,  # names of nodes are not broken
    )


def columns(rows: Sequence[Sequence[object]], right: str = "") -> list[str]:
    """Rows of texts as lines with aligned columns. A column is aligned to the right if its letter in `right`
    is "r"."""
    if not rows:
        return []
    rows = [[printable(str(cell)) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if right[i : i + 1] == "r" else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
