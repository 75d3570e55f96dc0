"""Pages are true: their commands run, their links have a target, README is short.

    pytest tests/docs --program build/release/bin/orrery
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml
from commands import Workshop, matches, why_not_run
from pages import ROOT, Page, all_pages

PAGES = all_pages()
BY_PATH = {page.path: page for page in PAGES}
WITH_BLOCKS = [page for page in PAGES if page.blocks]
LANGUAGES = ("sh", "console", "python", "yaml", "csv", "text", "cpp", "json", "")
INLINE = re.compile(r"(build/release/bin/)?orrery [a-z]|(bash|cmake|ctest|pip|python3|/usr/bin/python3"
                    r"|tests/run\.sh)( |$)")


def name(page: Page) -> str:
    return page.name


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name)
def test_blocks_run(page: Page, program: Path, tmp_path: Path) -> None:
    assert Workshop(tmp_path, program).run_page(page) == []


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name)
def test_blocks_are_well_formed(page: Page) -> None:
    for block in page.blocks:
        where = f"{page.name}:{block.line}"
        assert block.language in LANGUAGES, f"{where}: no test knows what to do with it"
        if block.language == "yaml":
            yaml.safe_load(block.text)
        if block.language == "python":
            ast.parse(block.text, filename=where)
        is_shell = re.search(r"^(orrery|bash|cmake|python3|/usr/bin/python3|pip|ctest) ", block.text, re.M)
        assert not (block.language == "" and is_shell), f"{where}: a command in a block of no language"


def test_commands_in_the_text_exist(program: Path, tmp_path: Path) -> None:
    workshop = Workshop(tmp_path, program)
    mistakes = []
    for page in PAGES:
        for line, code in page.code:
            if not INLINE.match(code) or "..." in code:
                continue
            excuse = why_not_run(code)
            kinds = excuse[1] if excuse else ("options",) if "orrery " in code else ("paths",)
            mistakes += [f"{page.name}:{line}: {mistake}" for kind in kinds
                         for mistake in workshop.check(kind, code)]
    assert mistakes == []


def test_links_lead_somewhere() -> None:
    mistakes = []
    for page in PAGES:
        for line, link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            path = (page.path.parent / target).resolve() if target else page.path
            if not path.exists():
                mistakes.append(f"{page.name}:{line}: there is no {link}")
            elif anchor and (path not in BY_PATH or anchor not in BY_PATH[path].anchors):
                mistakes.append(f"{page.name}:{line}: there is no heading {link}")
    assert mistakes == []


def test_files_that_pages_name_exist() -> None:
    mistakes = []
    for page in PAGES:
        for line, code in page.code:
            if not re.fullmatch(r"[\w./*-]+\.(cpp|hpp|py|yaml|md|sh|ipynb)", code) or "/" not in code:
                continue
            if not any(list(base.glob(code)) for base in (ROOT, page.path.parent, page.path.parent.parent)
                       if not code.startswith("..")) and not (page.path.parent / code).exists():
                mistakes.append(f"{page.name}:{line}: there is no {code}")
    assert mistakes == []


def test_readme_stays_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 200
    assert len(text.encode()) <= 16 * 1024


def test_each_room_of_the_root_has_a_page() -> None:
    rooms = ("sim", "policies", "scenarios", "analysis", "tests", "bench")
    assert [room for room in rooms if not (ROOT / room / "README.md").exists()] == []


def test_dots_stand_for_any_lines() -> None:
    assert matches(["a", "...", "c"], ["a", "b", "b", "c"])
    assert matches(["a", "..."], ["a"])
    assert not matches(["a", "...", "d"], ["a", "b", "c"])
    assert not matches(["a"], ["a", "b"])
