"""The text of a C++ file as the rules read it: without comments and literals, with its brace blocks."""
import bisect
import dataclasses
import functools
import pathlib
import re

LITERAL = re.compile(
    r'R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'"  # character, but not the separator in 1'000
    r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


@dataclasses.dataclass
class Block:
    """Text between braces, with the text before them as its head."""
    open: int
    close: int
    head: str
    head_start: int
    parent: "Block | None"

    def is_scope(self) -> bool:
        """Whether the block holds declarations, as a namespace, a class or an enumeration does."""
        words = re.sub(r"^\s*(template\s*<.*>\s*(requires[^{]*?)?)?", "", self.head,
                       flags=re.DOTALL)
        if re.match(r"\s*(namespace|enum|union|extern|inline\s+namespace)\b", words):
            return True
        return re.match(r"\s*(class|struct)\b", words) is not None and "(" not in words

    def is_lambda(self) -> bool:
        head = re.sub(r"->\s*[\w:<>&*\s,]+$", "", self.head)
        head = re.sub(r"\b(mutable|noexcept|constexpr)\b", "", head).rstrip()
        if head.endswith(")"):
            head = head[:matching_open(head, len(head) - 1)].rstrip()
        return head.endswith("]") and "operator" not in head[-12:]


def matching_open(text: str, close: int) -> int:
    """Index of the parenthesis that matches the closing one at `close`."""
    depth = 0
    for at in range(close, -1, -1):
        depth += {")": 1, "(": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return 0


class Source:
    def __init__(self, path: str, text: str):
        self.path = path  # relative to the root, with slashes
        self.text = text
        self.lines = text.split("\n")
        if self.lines and not self.lines[-1]:
            self.lines.pop()
        self.starts = [0] + [at + 1 for at, c in enumerate(text) if c == "\n"]

    @property
    def is_header(self) -> bool:
        return self.path.endswith(".hpp")

    def line_of(self, offset: int) -> int:
        return bisect.bisect_right(self.starts, offset)

    @functools.cached_property
    def includes(self) -> list[tuple[int, str, bool]]:
        """Line, name, and whether the name is quoted, of each include."""
        return [(self.line_of(found.start()), found[2], found[1] == '"')
                for found in INCLUDE.finditer(self.text)]

    @functools.cached_property
    def code(self) -> str:
        """The text with blanks in place of comments, literals and preprocessor lines."""
        def blank(found: re.Match) -> str:
            kept = found[0][0] if found[0][0] in "\"'" else " "
            return kept + re.sub(r"[^\n]", " ", found[0][1:-1]) + kept
        text = LITERAL.sub(blank, self.text)
        return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), text,
                      flags=re.MULTILINE)

    @functools.cached_property
    def blocks(self) -> list[Block]:
        """All brace blocks, in the order in which they close."""
        code, found, stack = self.code, [], []
        start = 0  # begin of the text that may be the head of the next block
        for token in re.finditer(r"[{};]", code):
            at = token.start()
            if token[0] == "{":
                head = code[start:at]
                first = start + len(head) - len(head.lstrip())
                stack.append(Block(at, -1, head.strip(), first, stack[-1] if stack else None))
            elif token[0] == "}" and stack:
                block = stack.pop()
                block.close = at
                found.append(block)
            start = at + 1
        return found

    def functions(self) -> list[Block]:
        """Bodies of functions: the outermost blocks with statements. A table of constants is no function."""
        found = []
        for block in self.blocks:
            up = block.parent
            while up is not None and up.is_scope():
                up = up.parent
            if up is not None or block.is_scope() or block.head.endswith(("=", "return")):
                continue
            # The body of a constructor with initialisers has an empty head.
            if ")" in block.head or block.head == "":
                found.append(block)
        return found


def read_tree(root: pathlib.Path, folders: tuple[str, ...]) -> list[Source]:
    found = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            name = path.relative_to(root).as_posix()
            found.append(Source(name, path.read_text(encoding="utf-8")))
    return found
