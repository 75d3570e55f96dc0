"""The parts of a Markdown page: fenced blocks, links, anchors, and code in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = ("build", ".git")  # folders at the root without pages


@dataclass
class Block:
    """A fenced block. If a comment `<!-- file: NAME -->` precedes the block, the block is written to that file,
    which later blocks can read."""

    line: int  # line of the opening fence
    language: str
    text: str
    file: str | None = None
    background: bool = False  # `<!-- background -->`: runs while the rest of the page runs


@dataclass
class Page:
    path: Path
    blocks: list[Block] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    links: list[tuple[int, str]] = field(default_factory=list)
    code: list[tuple[int, str]] = field(default_factory=list)  # code in backquotes, with its line

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def anchors(self) -> set[str]:
        """Anchors that GitHub makes from the headings."""
        made: dict[str, int] = {}
        result = set()
        for heading in self.headings:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
            slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            count = made.get(slug, 0)
            made[slug] = count + 1
            result.add(slug if count == 0 else f"{slug}-{count}")
        return result


FENCE = re.compile(r"^( *)```(\w*)\s*$")
DIRECTIVE = re.compile(r"^ *<!-- (file: (?P<file>\S+)|(?P<background>background)) -->\s*$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`]+)`")


def read(path: Path) -> Page:
    page = Page(path)
    block: Block | None = None
    margin = ""
    file, background = None, False
    lines: list[str] = []
    paragraph: list[str] = []
    begin = 1

    def close_paragraph() -> None:
        text = "\n".join(paragraph)
        for pattern, found in ((LINK, page.links), (CODE, page.code)):
            for match in pattern.finditer(text):
                at = begin + text.count("\n", 0, match.start())
                found.append((at, re.sub(r"\s+", " ", match.group(1))))
        paragraph.clear()

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if block is not None:
            if fence and fence.group(1) == margin and not fence.group(2):
                block.text = "".join(each.removeprefix(margin) + "\n" for each in lines)
                page.blocks.append(block)
                block = None
            else:
                lines.append(line)
            continue
        if fence:
            close_paragraph()
            margin, lines = fence.group(1), []
            block = Block(number, fence.group(2), "", file, background)
            file, background = None, False
            continue
        directive = DIRECTIVE.match(line)
        if directive:
            file = directive.group("file") or file
            background = background or directive.group("background") is not None
            continue
        if line.startswith("#"):
            page.headings.append(line.lstrip("#").strip())
        if not line.strip() or line.startswith(("|", "#")):
            close_paragraph()
        if not paragraph:
            begin = number
        paragraph.append(line)
    close_paragraph()
    if block is not None:
        raise ValueError(f"{page.name}:{block.line}: the block has no end")
    return page


def all_pages() -> list[Page]:
    paths = (path for path in ROOT.rglob("*.md")
             if path.relative_to(ROOT).parts[0] not in ELSEWHERE)
    return [read(path) for path in sorted(paths)]
