#!/usr/bin/python3
"""Checks what the compiler and clang-format cannot: layers, lengths, names, coroutine forms.

tidy.py [--rule NAME]... [--root FOLDER]; prints one line for each finding.
"""
import argparse
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator

import constructors
import exceptions
import layers
import members
from source import Block, Source, read_tree

FOLDERS = ("sim", "models", "policies", "tests", "bench")
LINES_MAX = {True: 150, False: 400}  # lines of a header (True), and of a source
SHORT_ROOMS = ("models/control_plane/",)  # folders with shorter sources
SHORT_MAX = 300  # lines of such a source
FUNCTION_MAX = 70
SOURCES_MAX = 30  # sources in one folder of models/
PAGE_MAX = 70  # lines of the README.md of a folder of models/
COLUMNS_MAX = 100
MEMBERS_MAX = 20  # data members of a class in models/scheduling
Finding = tuple[int, str]  # line and message

CLOCK_FOLDERS = ("sim/record/", "sim/cli/", "models/run/", "sim/engine/profile", "bench/", "tests/",
                 "policies/jobs/remote/line_socket.cpp",  # host time since the last message of a client
                 "policies/python/call_limit.")  # host time that a call takes
BANNED = (  # pattern, what to use instead, folders where it is allowed
    (r"\bstd::rand\b|\bs?rand\s*\(|\bstd::random_device\b", "draw from sim/core/rng.hpp", ()),
    (r"\bstd::(mt19937\w*|default_random_engine|\w+_distribution)\b",
     "standard libraries differ: draw from sim/core/rng.hpp", ()),
    (r"\b(system|steady|high_resolution)_clock\b|\bgettimeofday\b|\bstd::time\s*\(",
     "host time has no place here; simulated time is Time", CLOCK_FOLDERS),
    (r"\bstd::sto(i|l|ll|ul|ull|f|d|ld)\b|\bato(f|i|l|ll)\s*\(|\bstrto(d|f|l|ll|ul|ull)\s*\("
     r"|\bsscanf\b",
     "it depends on the locale: use std::from_chars", ("bench/",)),
    (r"(?<!static_)\bassert\s*\(", "use ORRERY_CHECK, which is always on", ()),
)


def check_layers(source: Source, all_paths: set[str]) -> Iterator[Finding]:
    room = layers.room_of(source.path)
    allowed = layers.MAY_INCLUDE.get(room)
    if room == "models":
        yield 1, "no source stands in models/ itself; give the file a room"
    if room == "policies" and source.is_header:
        yield 1, "policies have no headers, so that nobody can include them"
    for line, name, is_ours in source.includes:
        if not is_ours:
            yield from check_third_party(source, line, name)
            continue
        if name not in all_paths:
            yield line, f"includes {name}, which is no path from the root"
            continue
        target = layers.room_of(name)
        if target.startswith("policies") and target != room:
            yield line, f"{room} -> policies: nobody includes a policy"
        elif allowed is not None and target != room and target not in allowed:
            yield line, f"{room} -> {target} breaks the layers: {name}"


def check_third_party(source: Source, line: int, name: str) -> Iterator[Finding]:
    if source.path.startswith(layers.ANY_THIRD_PARTY) or name.startswith(layers.SYSTEM):
        return
    for prefix, folders in layers.THIRD_PARTY.items():
        if name.startswith(prefix):
            if source.is_header and not source.path.startswith(layers.ADAPTERS):
                yield line, f"<{name}> in a header: third-party types stay in sources"
            elif not source.path.startswith(folders):
                yield line, f"<{name}> belongs to {' and '.join(folders) or 'tests and bench'}"
            return
    if "/" in name or name.endswith((".h", ".hpp")):
        yield line, f"<{name}> is not on the list of third-party headers (tests/tidy/layers.py)"


def check_lengths(source: Source, _: set[str]) -> Iterator[Finding]:
    is_short = source.path.startswith(SHORT_ROOMS)
    limit = SHORT_MAX if is_short and not source.is_header else LINES_MAX[source.is_header]
    if len(source.lines) > limit:
        yield limit + 1, f"{len(source.lines)} lines, {limit} at most"
    for number, line in enumerate(source.lines, 1):
        if len(line) > COLUMNS_MAX:
            yield number, f"{len(line)} columns, {COLUMNS_MAX} at most"
    for function in source.functions():
        first = source.line_of(function.head_start)
        length = source.line_of(function.close) - first + 1
        if length > FUNCTION_MAX:
            yield first, f"a function of {length} lines, {FUNCTION_MAX} at most"
    has_limit = source.path.startswith("models/")
    for name, begin, end in constructors.constructors(source.code) if has_limit else ():
        length = source.line_of(end - 1) - source.line_of(begin) + 1
        if length > FUNCTION_MAX:
            yield (source.line_of(begin),
                   f"{name}'s constructor has {length} lines, {FUNCTION_MAX} at most")


def check_fan_out(source: Source, _: set[str]) -> Iterator[Finding]:
    """In models/cluster no lambda is connected to a signal. The component that handles the event has a
    connect() of its own."""
    if not source.path.startswith("models/cluster/"):
        return
    for found in re.finditer(r"\.\s*connect\s*\(\s*\[", source.code):
        yield (source.line_of(found.start()),
               "a lambda that passes news on: give the component a connect() of its own")


def check_members(source: Source, _: set[str]) -> Iterator[Finding]:
    """Classes of models/scheduling have few data members. Policies have no hidden state in `mutable`
    members."""
    if source.path.startswith("models/scheduling/"):
        for name, begin, end in members.classes(source.code):
            if (found := members.count(source.code[begin:end])) > MEMBERS_MAX:
                yield (source.line_of(begin),
                       f"{name} has {found} data members, {MEMBERS_MAX} at most")
    if source.path.startswith("policies/"):
        for found in re.finditer(r"\bmutable\b", source.code):
            yield source.line_of(found.start()), "mutable in a policy: see contract/cached.hpp"


def check_heads(source: Source, _: set[str]) -> Iterator[Finding]:
    if not source.is_header:
        return
    if not re.match(rf"// {re.escape(source.path)} -- \S", source.text):
        yield 1, f"the first line of a header is `// {source.path} -- what it holds.`"
    if not re.search(r"^#pragma once$", source.text, re.MULTILINE):
        yield 1, "a header needs #pragma once"
    for found in re.finditer(r"^\s*using\s+namespace\b", source.code, re.MULTILINE):
        yield source.line_of(found.end()), "using namespace in a header"


def check_names(source: Source, _: set[str]) -> Iterator[Finding]:
    for pattern, instead, folders in BANNED:
        if source.path.startswith(tuple(folders)):
            continue
        for found in re.finditer(pattern, source.code):
            yield source.line_of(found.start()), f"{found[0].strip('( ')}: {instead}"
    for found in re.finditer(r"\b(TODO|FIXME)\b(?!\s*\(?#\d+)", source.text):
        yield source.line_of(found.start()), f"{found[0]} without an issue number"


def check_unordered(source: Source, _: set[str]) -> Iterator[Finding]:
    declared = re.compile(r"\bunordered_(?:multi)?(?:map|set)\s*<[^;{}()]*>\s*&?\s*(\w+)\s*[;{=,)]")
    texts = [source.code] + ([source.twin.code] if getattr(source, "twin", None) else [])
    names = {found[1] for text in texts for found in declared.finditer(text)}
    for name in sorted(names):
        walk = (rf"\bfor\s*\([^;{{}}]*[^:]:\s*(?:\w+(?:\.|->))*{name}\s*\)"
                rf"|\b{name}\s*\.\s*c?begin\s*\(")
        for found in re.finditer(walk, source.code):
            yield source.line_of(found.start()), f"walks {name}, whose order is not defined"


def statement_before(code: str, at: int) -> str | None:
    """The text of the statement before `at`; None if `at` is inside parentheses, brackets or `x{...}`."""
    depth = 0
    for back in range(at - 1, -1, -1):
        if code[back] in ")]":
            depth += 1
        elif code[back] in "([":
            depth -= 1
            if depth < 0:
                return None
        elif code[back] in ";{}" and depth == 0:
            if code[back] == "{" and re.search(r"(\w|=\s?)$", code[max(back - 2, 0):back]):
                return None
            return code[back + 1:at].strip()
    return code[:at].strip()


def statement_after(code: str, at: int) -> str:
    """The text from `at` to the end of the statement, without what is in brackets."""
    out, depth = [], 0
    for c in code[at:]:
        if c in ")]}":
            depth -= 1
        if depth == 0:
            if c == ";":
                break
            out.append(c)
        if c in "([{":
            depth += 1
        if depth < 0:
            break
    return "".join(out).strip()


BEFORE_AWAIT = re.compile(r"((if|while|for)\s*\(.*\)|else|do|case .*:|default:)?\s*"
                          r"((const\s+)?[\w:]+(<.*>)?(\s*&{1,2})?\s+(\w+|\[[\w\s,]+\])\s*=)?",
                          re.DOTALL)
AWAITED = re.compile(r"(?:[\w:]+|<[\w:,\s*&]*>|\.|->|\(\)|\{\}|\[\]|\s)+")


def enclosing(source: Source, at: int) -> list[Block]:
    return [block for block in source.blocks if block.open < at < block.close]


def check_coroutines(source: Source, _: set[str]) -> Iterator[Finding]:
    for found in re.finditer(r"\bco_(await|return|yield)\b", source.code):
        line = source.line_of(found.start())
        around = enclosing(source, found.start())
        if any(block.is_lambda() for block in around):
            yield line, f"{found[0]} in a lambda, which dies before its coroutine"
        if found[0] != "co_await":
            continue
        if any(block.head.startswith("catch") for block in around):
            yield line, "co_await in a catch block"
        before = statement_before(source.code, found.start())
        after = statement_after(source.code, found.end())
        if before is None or not BEFORE_AWAIT.fullmatch(before) or not AWAITED.fullmatch(after):
            yield line, "co_await stands only as `co_await f(...);` or `auto x = co_await f(...);`"


RULES = {
    "layers": check_layers,
    "lengths": check_lengths,
    "heads": check_heads,
    "members": check_members,
    "fan_out": check_fan_out,
    "names": check_names,
    "unordered": check_unordered,
    "coroutines": check_coroutines,
}


def check_rooms(paths: Iterable[str]) -> Iterator[str]:
    """A folder of models/ has at most SOURCES_MAX sources and headers together."""
    rooms: dict[str, int] = {}
    for path in paths:
        if path.startswith("models/"):
            rooms.setdefault(path.rsplit("/", 1)[0], 0)
            rooms[path.rsplit("/", 1)[0]] += path.endswith((".hpp", ".cpp"))
    for room, count in sorted(rooms.items()):
        if count > SOURCES_MAX:
            yield f"{room}: rooms: {count} sources, {SOURCES_MAX} at most: divide it"


DEFINED = re.compile(r"^(?:template <.*>\n?)?(?:class|struct|union|enum(?: class)?) (?:ORRERY_\w+ )?(\w+)"
                     r"[^;{()]*\{", re.MULTILINE)


def check_twins(sources: Iterable[Source]) -> Iterator[str]:
    """No two headers define types of one name in one namespace. The linker would keep the functions of
    only one of them."""
    first: dict[tuple[str, str], str] = {}
    for source in sources:
        if not source.is_header or source.path.startswith(("tests/", "bench/")):
            continue
        space = re.search(r"^namespace ([\w:]+) \{", source.code, re.MULTILINE)
        for found in DEFINED.finditer(source.code):
            key = (space[1] if space else "", found[1])
            if first.setdefault(key, source.path) != source.path:
                yield (f"{source.path}:{source.line_of(found.start())}: twins: {found[1]} is defined "
                       f"in {first[key]}, too")


def check_pages(root: pathlib.Path) -> Iterator[str]:
    for folder in sorted(path for path in (root / "models").rglob("*") if path.is_dir()):
        room = folder.relative_to(root).as_posix()
        if room in exceptions.WITHOUT_PAGE or not any(folder.glob("*.hpp")):
            continue
        page = folder / "README.md"
        if not page.exists():
            yield f"{room}: rooms: has no README.md"
        elif page.read_text(encoding="utf-8").count("\n") > PAGE_MAX:
            yield f"{room}/README.md: rooms: more than {PAGE_MAX} lines"


def findings(sources: list[Source], rules: list[str]) -> list[str]:
    paths = {source.path for source in sources}
    by_path = {source.path: source for source in sources}
    found = []
    for source in sources:
        source.twin = by_path.get(re.sub(r"\.cpp$", ".hpp", source.path))
        for rule in rules:
            found += [f"{source.path}:{line}: {rule}: {message}"
                      for line, message in RULES[rule](source, paths)
                      if not exceptions.is_allowed(source.path, rule, message)]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rule", action="append", choices=sorted(RULES), default=[])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    sources = read_tree(arguments.root, FOLDERS)
    found = findings(sources, arguments.rule or list(RULES))
    found += check_rooms(source.path for source in sources)
    found += check_twins(sources)
    found += check_pages(arguments.root)
    for line in found:
        print(line)
    print(f"tidy: {len(sources)} files, {len(found)} findings")
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
