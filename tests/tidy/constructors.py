"""Finds constructors with a list of initialisers. tidy.py limits their length, including the list."""
import re
from collections.abc import Iterator

HEAD = re.compile(r"(?:(?<=[;{}>])|(?<=public:)|(?<=private:)|(?<=protected:)|(?<=explicit)"
                  r"|(?<=constexpr)|(?<=inline)|^)\s*\b(?:\w+::)*([A-Z]\w*)(?:::\1)?\s*\(")
BEFORE_LIST = re.compile(r"\s*(?:noexcept\s*)?:(?!:)")


def past(code: str, at: int) -> int:
    """Index behind the bracket that closes the bracket at `at`."""
    depth = 0
    while at < len(code):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(code[at], 0)
        at += 1
        if depth == 0:
            break
    return at


def body_after(code: str, at: int) -> int:
    """Index of the body that follows the list of initialisers which begins at `at`."""
    while at < len(code):
        if code[at] == "{" and re.search(r"[)}.]\s*$", code[:at][-80:]):
            return at
        at = past(code, at) if code[at] in "({" else at + 1
    return at


def constructors(code: str) -> Iterator[tuple[str, int, int]]:
    """Name, begin and end of each constructor with a list of initialisers."""
    for head in HEAD.finditer(code):
        list_starts = BEFORE_LIST.match(code, past(code, head.end() - 1))
        if list_starts:
            body = body_after(code, list_starts.end())
            yield head[1], head.start(1), past(code, body)
