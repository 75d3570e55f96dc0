"""Text from outside, made safe for a terminal, as sim/core/printable.hpp does in the program."""

from __future__ import annotations

import re
import sys
from typing import TextIO

# Control characters (C0, DEL, C1), characters that reorder text, line separators, and bytes that are not UTF-8,
# which Python decodes to surrogates.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def _escaped(found: re.Match[str]) -> str:
    point = ord(found[0])
    if found[0] in "\n\t":
        return {"\n": r"\n", "\t": r"\t"}[found[0]]
    if 0xDC80 <= point <= 0xDCFF:
        point -= 0xDC00
        return f"\\x{point:02x}"
    return f"\\x{point:02x}" if point < 0x80 else f"\\u{point:04x}"


def printable(text: str) -> str:
    """A text in which names from files can neither control a terminal nor forge lines."""
    return _UNSAFE.sub(_escaped, text)


def say(text: str, file: TextIO | None = None, end: str = "\n") -> None:
    """Prints a text; its line breaks remain."""
    lines = "\n".join(printable(line) for line in text.split("\n"))
    print(lines, file=file or sys.stdout, end=end, flush=True)
