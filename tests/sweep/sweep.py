#!/usr/bin/python3
"""Sets every leaf of the schema of a scenario to its extremes, one at a time, in a short run.

sweep.py ORRERY [-k REGEX] [-j PROCESSES] [-v]

Each run must end with results, none of them negative, or be rejected with exit status 2 and a position. It must
not crash, nor run for longer than SECONDS_MAX. Each value is tried in the base that already has most of the
path to its leaf. If the value is rejected or has no effect there, other bases follow until the value is accepted
and has an effect. A value that is out of range is tried in no other base. One call of `orrery validate` checks
the scenarios of many values. The accepted scenarios are run, and one of the rejected scenarios. A leaf counts as
tried if a run with one of its values was accepted, or if a base sets the leaf. NOT_TRIED has the leaves for which
this is impossible, with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))
from bases import BASES, with_usual_record  # noqa: E402
from known import BASE_OF, NOT_TRIED  # noqa: E402
from leaves import Leaf, Schema, limits_told  # noqa: E402
from parts import FILES  # noqa: E402
from policy_bases import of_new_policies  # noqa: E402
from results import negative_amounts  # noqa: E402

SECONDS_MAX = 20
BASES_MAX = 6  # most bases in which one value is tried
LEAVES_AT_ONCE = 16  # whose scenarios one call of `orrery validate` checks
MEMORY_MAX = 6 << 30  # bytes for one run
PLACE = re.compile(r"(?m)^[\w./-]+:\d+:\d+: ")
REFUSED = re.compile(r"(\d+)\.yaml: \d+ mistakes?\n")
NO_EFFECT = re.compile(r"(?m) warning: ([^ ]+): has no effect: ")
CLOCK = r"((?:\d+d )?[\d:]{8})"


@dataclass
class Outcome:
    status: int
    complaint: str = ""  # what is wrong with the outcome; empty if nothing is
    message: str = ""    # output of the program
    base: str = ""


@dataclass
class Tried:
    leaf: Leaf
    bases: list[str]
    outcomes: list[tuple[Any, Outcome]] = field(default_factory=list)
    is_reached: bool = False
    values: list[Any] = field(init=False)  # also bounds that messages name

    def __post_init__(self) -> None:
        self.values = list(self.leaf.values)


@dataclass
class Trial:
    """One value of a leaf."""
    tried: Tried
    value: Any
    nth_base: int = 0
    outcome: Outcome | None = None

    @property
    def base(self) -> str:
        return self.tried.bases[self.nth_base]


def small_memory() -> None:
    """Limits the memory of this process, and so of the runs that it starts."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def write(folder: Path, name: str, document: Any) -> None:
    """Writes a scenario and the files that it names."""
    scenario = yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False, width=10_000)
    (folder / name).write_text(scenario)
    for file, text in FILES.items():
        if file in scenario:
            (folder / file).write_text(text)


def refused(binary: str, documents: list[Any]) -> dict[int, Outcome]:
    """The scenarios that `orrery validate` rejects, by index. If the command does not end as it should, the first
    scenario gets the complaint, and all others are run."""
    together = f"`orrery validate` of {len(documents)} scenarios together "
    with tempfile.TemporaryDirectory(prefix="sweep-") as name:
        for index, document in enumerate(documents):
            write(Path(name), f"{index}.yaml", document)
        try:
            done = subprocess.run(
                [binary, "validate", *(f"{index}.yaml" for index in range(len(documents)))], cwd=name,
                capture_output=True, text=True, errors="replace", check=False, timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return {0: Outcome(-9, together + f"takes more than {SECONDS_MAX} s")}
    found: dict[int, Outcome] = {}
    lines: list[str] = []
    for line in done.stderr.splitlines(keepends=True):
        end = REFUSED.fullmatch(line)
        if not end:
            lines.append(line)
            continue
        index = int(end[1])
        of_others = re.compile(rf"(?!{index}\.)\d+\.yaml:")  # warnings of scenarios that are accepted
        found[index] = judged_refusal("".join(line for line in lines if not of_others.match(line)))
        lines = []
    if done.returncode != (2 if found else 0):
        return {0: Outcome(done.returncode, together + f"ends with {done.returncode}", done.stderr)}
    return found


def run(binary: str, document: Any) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="sweep-") as name:
        folder = Path(name)
        write(folder, "s.yaml", document)
        process = subprocess.Popen([binary, "run", "s.yaml", "-o", "out.h5"], cwd=folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   errors="replace")
        try:
            _, error = process.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return stopped(process, folder)
        return judged(process.returncode, error, folder / "out.h5")


def judged(status: int, error: str, results: Path) -> Outcome:
    if status == 0:
        found = negative_amounts(results)
        return Outcome(0, "; ".join(found), error)
    if status != 2:
        return Outcome(status, f"exit status {status}", error)
    return judged_refusal(error)


def judged_refusal(error: str) -> Outcome:
    return Outcome(2, "" if PLACE.search(error) else "is refused without a place", error)


def stopped(process: subprocess.Popen[str], folder: Path) -> Outcome:
    """Stops a run that takes too long. The outcome says whether simulated time still advanced or the run
    hangs."""
    process.send_signal(signal.SIGTERM)
    try:
        out, error = process.communicate(timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        _, error = process.communicate()
        return Outcome(-9, f"runs for {SECONDS_MAX} s and does not stop", error)
    if process.returncode != 130 or not (folder / "out.h5.part").exists():
        return Outcome(process.returncode, f"is stopped with {process.returncode}", error)
    before = re.findall(rf"info: {CLOCK} of|info: {CLOCK}  jobs", error)
    at_end = re.search(rf"simulated +{CLOCK}", out)
    if before and at_end and at_end[1] in before[0]:
        return Outcome(130, f"runs for {SECONDS_MAX} s, and simulated time stands still", error)
    return Outcome(130, f"runs for longer than {SECONDS_MAX} s", error)


def bases_for(schema: Schema, leaf: Leaf) -> list[str]:
    """Bases in which the leaf may be tried, beginning with those that already have most of its path."""
    if leaf.name in BASE_OF:
        return [BASE_OF[leaf.name]]
    costs = {name: schema.cost(base, leaf.path) for name, base in BASES.items()}
    return sorted((name for name in costs if costs[name] is not None),
                  key=lambda name: costs[name])


def try_leaves(binary: str, schema: Schema, leaves: list[Leaf]) -> list[Tried]:
    """Tries each value in the nearest base, then in other bases, until the value is accepted and has an effect,
    or is out of range. The bounds that a message names are tried, too."""
    found = []
    trials: list[Trial] = []
    for leaf in leaves:
        bases = bases_for(schema, leaf)[:BASES_MAX]
        found.append(Tried(leaf, bases, is_reached=any(schema.cost(BASES[base], leaf.path) == 0
                                                       for base in bases)))
        trials += [Trial(found[-1], value) for value in leaf.values if bases]
    while trials:
        documents = [schema.with_value(BASES[trial.base], trial.tried.leaf.path, trial.value) for trial in trials]
        rejected = refused(binary, documents)
        as_sample = next(iter(rejected), -1)
        for index, trial in enumerate(trials):
            trial.outcome = rejected.get(index) or run(binary, documents[index])
            if index == as_sample and not trial.outcome.complaint:
                trial.outcome = run(binary, documents[index])  # the run must reject the scenario, too
                if trial.outcome.status == 0:
                    trial.outcome.complaint = "is run, but `orrery validate` rejects it"
            trial.outcome.base = trial.base
        trials = [follower for trial in trials for follower in after(trial)]
    return found


def after(trial: Trial) -> Iterator[Trial]:
    """The trials that follow this trial: the bounds that the message names, or the same value in the next base."""
    tried, outcome = trial.tried, trial.outcome
    tried.is_reached |= outcome.status != 2 or bool(outcome.complaint)
    bounds = list(ends(outcome.message))
    for bound in bounds:
        if bound not in tried.values:
            tried.values.append(bound)
            yield Trial(tried, bound)
    has_effect = outcome.status != 2 and not is_idle(tried.leaf, outcome.message)
    if has_effect or outcome.complaint or bounds or trial.nth_base + 1 == len(tried.bases):
        tried.outcomes.append((trial.value, outcome))
    else:
        yield Trial(tried, trial.value, trial.nth_base + 1)


def is_idle(leaf: Leaf, message: str) -> bool:
    """Whether the message says that the leaf, or a parent of it, has no effect."""
    name = re.sub(r"\[\]|<[^>]*>", "", leaf.name) + "."
    told = [re.sub(r"\[\d+\]", "", path) + "." for path in NO_EFFECT.findall(message)]
    return any(name.startswith(path) for path in told)


def ends(message: str) -> Iterator[Any]:
    """The bounds that the message names when it rejects the value."""
    for end in limits_told(message):
        is_number = re.fullmatch(r"-?[0-9.]+(e[+-][0-9]+)?", end)
        yield end if not is_number else int(end) if end.lstrip("-").isdigit() else float(end)


def complaints(tried: Tried) -> Iterator[str]:
    name = tried.leaf.name
    for value, outcome in tried.outcomes:
        if not outcome.complaint:
            continue
        yield (f"{name} = {value!r} in {outcome.base!r}: {outcome.complaint}\n"
               f"      {outcome.message.strip()[-600:]}")
    is_scalar = not isinstance(tried.leaf.values[0], (list, dict, type(None)))
    if is_scalar and not tried.is_reached and not is_known(name):
        reasons = {outcome.message.strip().partition("\n")[0]
                   for _, outcome in tried.outcomes} or {"no base has a place for it"}
        yield f"{name} is never accepted: " + "; ".join(sorted(reasons))


def is_known(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in NOT_TRIED)


def try_bases(binary: str) -> list[str]:
    with ProcessPoolExecutor(os.cpu_count(), initializer=small_memory) as pool:
        outcomes = pool.map(run, [binary] * len(BASES), BASES.values())
        return [f"the base {name!r}: {outcome.complaint or 'is refused'}\n  {outcome.message}"
                for name, outcome in zip(BASES, outcomes)
                if outcome.status != 0 or outcome.complaint]


def add_bases_of_new_policies(binary: str, schema: Schema) -> None:
    """Adds one base for each new policy: the first of its texts that the program accepts. Without a base
    the leaves of the policy are never accepted."""
    for name, texts in of_new_policies(schema):
        for document in (with_usual_record(yaml.safe_load(text)) for text in texts):
            if not is_known(name + ".args") and run(binary, document).status == 0:
                BASES[name] = document
                break


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("-k", default="", help="only leaves whose name matches")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("-v", action="store_true", help="says how each value was answered")
    arguments = parser.parse_args()
    binary = str(Path(arguments.binary).resolve())
    found = try_bases(binary)
    if found:
        print("\n".join(found))
        return 1
    printed = subprocess.run([binary, "schema"], capture_output=True, check=True, text=True)
    schema = Schema(json.loads(printed.stdout))
    add_bases_of_new_policies(binary, schema)
    leaves = [leaf for leaf in schema.leaves() if re.search(arguments.k, leaf.name)]
    runs = failed = 0
    with ProcessPoolExecutor(arguments.j, initializer=small_memory) as pool:
        parts = [leaves[i:i + LEAVES_AT_ONCE] for i in range(0, len(leaves), LEAVES_AT_ONCE)]
        n = len(parts)
        for tried in chain.from_iterable(pool.map(try_leaves, [binary] * n, [schema] * n, parts)):
            runs += len(tried.outcomes)
            told = list(complaints(tried))
            failed += len(told)
            for text in told:
                print("FAILED " + text, flush=True)
            for value, outcome in tried.outcomes if arguments.v else []:
                print(f"{tried.leaf.name} = {str(value)[:40]}: {outcome.status} in {outcome.base}")
    print(f"{len(leaves)} leaves of the schema, {runs} values: {failed} complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
