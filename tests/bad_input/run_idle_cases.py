#!/usr/bin/python3
"""Studies in which an axis takes the effect from a parameter, which then must be ignored.

run_idle_cases.py ORRERY [WORD...]: those cases whose path or message has one of the words.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).resolve().parent))
from idle_cases import CASES, FILES, NOT_TRIED, Idle  # noqa: E402

SECONDS_MAX = 20
ROOT = Path(__file__).resolve().parents[2]
ARMS = [("with", "works"), ("with", "idle"), ("without", "works"), ("without", "idle")]


def study_of(case: Idle) -> str:
    """Cells in the order of ARMS. A setting has a line of its own."""
    text = "base: s.yaml\nseeds: {count: 1}\naxes:\n"
    for axis, arms in (("given", {"with": case.given, "without": case.instead}),
                       ("where", {"works": case.works, "idle": case.idle})):
        text += f"  - name: {axis}\n    arms:\n"
        for name, settings in arms.items():
            text += f"      - name: {name}\n"
            text += "        set:\n" if settings else ""
            text += "".join(f"          {key}: '{value}'\n" for key, value in settings.items())
    return text


def warning_of(case: Idle, study: str) -> str:
    """With the place of the setting that gives the parameter."""
    key = next(iter(case.given))
    before = study[:study.index(f"          {key}: '")]
    column = 10 + len(key) + 3
    return f"study.yaml:{before.count(chr(10)) + 1}:{column}: warning: {case.path}: {case.says}"


def tables(path: Path) -> dict[str, bytes]:
    """What a run found, but what depends on the machine and how it was told what to do."""
    found = {}

    def take(name: str, item: h5py.Dataset | h5py.Group) -> None:
        if isinstance(item, h5py.Dataset) and not name.startswith(("meta/", "profile")):
            found[name] = item[()].tobytes()

    with h5py.File(path) as file:
        file.visititems(take)
    return found


def unlike(a: dict[str, bytes], b: dict[str, bytes]) -> list[str]:
    return sorted(name for name in {**a, **b} if a.get(name) != b.get(name))


def complaints(binary: str, case: Idle) -> list[str]:
    """What is wrong with how the program answers; empty if nothing is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = study_of(case)
        for file, content in {"s.yaml": case.base, "study.yaml": study, **FILES}.items():
            (folder / file).write_text(content)
        try:
            done = subprocess.run(
                [binary, "study", "run", "study.yaml", "-o", "out", "-j", "1"], cwd=folder,
                capture_output=True, timeout=SECONDS_MAX, check=False, text=True)
        except subprocess.TimeoutExpired:
            return [f"still runs after {SECONDS_MAX} s", case.base + study]
        found = []
        if done.returncode != 0:
            found.append(f"exit status {done.returncode}, expected 0")
        warning = warning_of(case, study)
        place = warning.partition(" warning: ")[0]
        told = [line for line in done.stderr.splitlines()
                if line.startswith(place) and f" {case.path}: " in line]
        if len(told) != 1 or not told[0].startswith(warning) or not told[0].endswith(
                "(in the cell given=with where=idle)"):
            found.append(f"does not say once and of that cell alone: {warning}")
        files = [folder / "out" / "runs" / f"{cell:05}-s1.h5" for cell in range(len(ARMS))]
        missing = [" ".join(arm) for arm, file in zip(ARMS, files) if not file.exists()]
        if missing:
            found.append("no results of " + ", ".join(missing))
        else:
            runs = dict(zip(ARMS, map(tables, files)))
            if case.is_shown and not unlike(runs["with", "works"], runs["without", "works"]):
                found.append("has no effect where it should have one")
            ignored, bare = runs["with", "idle"], runs["without", "idle"]
            # A table may be there that else is not, such as the links of a network without traffic.
            changed = [name for name in unlike(ignored, bare)
                       if name in ignored and name in bare and name not in case.besides]
            if changed:
                found.append("is not ignored: it changes " + ", ".join(changed))
        if found:
            found += [case.base + study, "stderr was: " + done.stderr]
        return found


STRING = r'"(?:[^"\\\n]|\\.)*"'
TELLING = re.compile(r"\b(idle|warning|error)\(")


def told_in_sources() -> Counter[str]:
    """How often the sources tell, in such words, that a parameter has no effect."""
    told: Counter[str] = Counter()
    for folder in ("models", "policies"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            text = re.sub(r"(?m)^\s*//.*$", "", path.read_text())
            for found in re.finditer(rf"{STRING}(?:\s*{STRING})*", text):
                message = "".join(part[1:-1] for part in re.findall(STRING, found.group()))
                call = TELLING.findall(text[:found.start()].rpartition(";")[2])[-1:]
                if call != ["error"] and re.match(r"[a-z].* ", message) and (
                        " effect" in message or call == ["idle"]):
                    told[message] += 1
    return told


def uncovered() -> list[str]:
    """Messages of the sources for which there are too few cases, and cases of no such message."""
    told = told_in_sources()
    found = [f"not in the sources: {message!r}" for message in NOT_TRIED if message not in told]
    cases: Counter[str] = Counter()
    for case in CASES:
        fitting = [case.says] if case.says in told else [
            message for message in told if message.startswith(case.says) or message in case.says]
        found += [] if fitting else [f"{case.path}: the sources do not say {case.says!r}"]
        cases[max(fitting, key=len, default="")] += 1
    return found + [f"told in {count} places, tried with {cases[message]} parameters: {message!r}"
                    for message, count in told.items()
                    if message not in NOT_TRIED and cases[message] < count]


def main() -> int:
    binary, words = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    cases = [case for case in CASES
             if not words or any(word in f"{case.path}: {case.says}" for word in words)]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda case: complaints(binary, case), cases))
    for case, found in zip(cases, answers):
        if found:
            print(f"FAILED {case.path}: {case.says}\n  " + "\n  ".join(found))
    missing = [] if words else uncovered()
    for text in missing:
        print(f"FAILED {text}")
    print(f"{sum(not found for found in answers)} of {len(cases)} parameters were ignored where "
          "they have no effect")
    return 1 if missing or any(answers) else 0


if __name__ == "__main__":
    sys.exit(main())
