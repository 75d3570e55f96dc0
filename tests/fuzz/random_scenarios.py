#!/usr/bin/python3
"""Runs random scenarios in which features are switched on at random, and checks their output.

    tests/fuzz/random_scenarios.py --binary build/sanitize/bin/orrery --seconds 60 [--seed N]
    tests/fuzz/random_scenarios.py --binary build/release/bin/orrery --kept tests/fuzz/scenarios

A finding is a scenario that `validate` accepts, but whose run fails, hangs, writes different output
when repeated, or writes output that does not add up (see books.py). A crash of `validate` is a
finding, too. A finding is made smaller, feature by feature and then value by value, and written to
the folder of --findings with its seed. Invariants are audited every 500 events. With --kept, the
script runs every scenario of that folder of earlier findings instead. Scenario N of seed S depends
only on S and N, and can be run alone: --seed S --only N.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "determinism")]

import books  # noqa: E402
import features_cluster  # noqa: E402
import features_control_plane  # noqa: E402
import features_faults  # noqa: E402
import features_jobs  # noqa: E402
import features_policy  # noqa: E402
import features_training  # noqa: E402
import same_bytes  # noqa: E402
import yaml  # noqa: E402
from draft import Draft, Draw, Feature, Tree  # noqa: E402
from runs import Program  # noqa: E402
from shrink import shrunk  # noqa: E402

# Features in the order in which they are added: later features read the choices of earlier features.
FEATURES: list[Feature] = [
    *features_cluster.FIRST, *features_jobs.SOURCES, *features_policy.FIRST,
    *features_cluster.LATER, *features_jobs.LATER, *features_policy.LATER,
    *features_training.FEATURES, *features_control_plane.FEATURES, *features_faults.FEATURES]
SAME_BYTES_EVERY = 8
REFUSED_MAX = 0.05  # share of all scenarios that `validate` may reject; nearly all drawn values should be valid
MISTAKE = re.compile(r"^[^:\n]+:\d+:\d+: (?!warning:)([A-Za-z_][\w.\[\]-]*): (.*)$", re.MULTILINE)


class Dumper(yaml.SafeDumper):
    """Writes equal values in full, each in its place, instead of an anchor and aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


@dataclass
class Scenario:
    tree: Tree
    files: dict[str, str]

    def write(self, folder: Path) -> Path:
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        path = folder / "scenario.yaml"
        path.write_text(yaml.dump(self.tree, Dumper=Dumper, sort_keys=False, width=100), "utf-8")
        return path


@dataclass
class Verdict:
    """The result of a scenario; `wrong` is empty if there is no finding. `kind` is the finding without its
    numbers, which may change when the scenario is made smaller."""

    refused: str = ""
    slow: bool = False
    wrong: str = ""

    @property
    def kind(self) -> str:
        return re.sub(r"[-+]?\d[\d.e+]*", "#", self.wrong)


def features_of(seed: int) -> list[str]:
    draw = Draw(seed, "features")
    return [feature.name for feature in FEATURES if draw.chance(feature.chance)]


def made(seed: int, features: list[str]) -> Scenario:
    draft = Draft(seed)
    for feature in FEATURES:
        if feature.name in features:
            feature.add(draft, Draw(seed, feature.name))
    if not draft.get("workload.sources"):
        draft.put("workload.sources", [{"kind": "jobs", "jobs": [{"work": "1min", "pod": {"gpus": 1}}]}])
    return Scenario(draft.tree, draft.files)


def take_out(tree: Tree, path: str) -> bool:
    """Removes the value at a path such as `policy.plugins[2].args.mode`. If there is no such value,
    removes the nearest parent that exists. Returns whether a value was removed."""
    parts: list[Any] = [int(part) if part.isdigit() else part
                        for part in re.split(r"[.\[\]]+", path) if part]
    node: Any = tree
    try:
        for part in parts[:-1]:
            node = node[part]
        del node[parts[-1]]
    except (KeyError, IndexError, TypeError):
        # Never removes a whole section, because the scenario would then test something else.
        return len(parts) > 2 and take_out(tree, re.sub(r"(\.\w+|\[\d+\])$", "", path))
    return len(parts) > 1


def in_order_of_items(path: str) -> str:
    """A sort key that puts `jobs[9]` before `jobs[10]`."""
    return re.sub(r"\d+", lambda number: number[0].zfill(9), path)


def accepted(scenario: Scenario, folder: Path, program: Program) -> str:
    """Removes values that `validate` rejects, as a user would. Parameters without effect stay, because a run
    must ignore them. Returns "", or a message if mistakes remain."""
    for _ in range(12):
        ended = program.validate(scenario.write(folder))
        if ended.status != 2:
            return "" if ended.status == 0 else f"validate: {ended.reason}"
        found = MISTAKE.findall(ended.text)
        # Removes the last item of a list first, so that the indices of the other items stay valid.
        paths = sorted((path for path, _ in found), key=in_order_of_items, reverse=True)
        taken = [take_out(scenario.tree, path) for path in paths]
        if not any(taken):
            return ": ".join(found[0]) if found else ended.reason
    return "is refused again and again"


def judged(scenario: Scenario, folder: Path, program: Program, twice: bool) -> Verdict:
    path, output = scenario.write(folder), folder / "run.h5"
    ended = program.run(path, output)
    if ended.status is None:
        return Verdict(slow=True) if ended.advanced else Verdict(wrong="hangs")
    if ended.status == 2 and scenario.files:  # validate does not open the files beside the scenario
        return Verdict(refused=ended.reason)
    if ended.status != 0:
        return Verdict(wrong=f"ends with {ended.status}: {ended.reason}")
    found = books.mistakes(output)
    if not found and twice:
        first = same_bytes.content(output)
        program.run(path, output)
        found = [f"same bytes: {name} differs"
                 for name in same_bytes.differences(first, same_bytes.content(output))]
    return Verdict(wrong=found[0] if found else "")


def smaller_features(seed: int, features: list[str], kind: str, program: Program,
                     seconds: float) -> list[str]:
    """Switches features off one by one as long as the finding stays. Features that every scenario has are
    kept, because other features read them."""
    until = time.monotonic() + seconds
    optional = {feature.name for feature in FEATURES if feature.chance < 1}
    for name in [one for one in reversed(features) if one in optional]:
        fewer = [one for one in features if one != name]
        if time.monotonic() > until or not fewer:
            break
        with tempfile.TemporaryDirectory() as folder:
            scenario = made(seed, fewer)
            if accepted(scenario, Path(folder), program) == "" and \
                    judged(scenario, Path(folder), program, "same" in kind).kind == kind:
                features = fewer
    return features


def smaller(scenario: Scenario, kind: str, program: Program, seconds: float) -> Scenario:
    def is_wrong(tree: Tree) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            tried = Scenario(tree, scenario.files)
            return program.validate(tried.write(Path(folder))).status == 0 and \
                judged(tried, Path(folder), program, "same" in kind).kind == kind

    return Scenario(shrunk(scenario.tree, is_wrong, seconds), scenario.files)


@dataclass(frozen=True)
class Plan:
    program: Program
    seed: int
    findings: Path
    shrink_seconds: float


def run_one(plan: Plan, number: int) -> Verdict:
    """Runs scenario `number` of the seed. If it is a finding, makes it smaller and writes it to the folder of
    findings."""
    seed = plan.seed * 1_000_000 + number
    features = features_of(seed)
    with tempfile.TemporaryDirectory() as folder:
        scenario = made(seed, features)
        refused = accepted(scenario, Path(folder), plan.program)
        if refused.startswith("validate:"):
            verdict = Verdict(wrong=refused)
        elif refused:
            return Verdict(refused=refused)
        else:
            twice = number % SAME_BYTES_EVERY == 0
            verdict = judged(scenario, Path(folder), plan.program, twice)
    if verdict.wrong:
        print(f"scenario {number}: {verdict.wrong}", flush=True)
        keep(plan, number, seed, features, scenario, verdict)
    return verdict


def keep(plan: Plan, number: int, seed: int, features: list[str], scenario: Scenario,
         verdict: Verdict) -> None:
    if plan.shrink_seconds > 0:
        features = smaller_features(seed, features, verdict.kind, plan.program,
                                    plan.shrink_seconds)
        with tempfile.TemporaryDirectory() as folder:
            scenario = made(seed, features)
            accepted(scenario, Path(folder), plan.program)
        scenario = smaller(scenario, verdict.kind, plan.program, plan.shrink_seconds)
    folder = plan.findings / f"{plan.seed}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    path = scenario.write(folder)
    text = path.read_text(encoding="utf-8")
    path.write_text(f"# {verdict.wrong}\n# seed {plan.seed}, scenario {number}, features: "
                    f"{' '.join(features)}\n{text}", encoding="utf-8")


def fuzz(plan: Plan, seconds: float, processes: int, only: int | None) -> int:
    print(f"seed {plan.seed}, findings go to {plan.findings}", flush=True)
    until = time.monotonic() + seconds
    refusals: Counter[str] = Counter()
    runs = slow = wrong = 0
    numbers = iter([only] if only is not None else range(1_000_000))
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        waiting: dict[concurrent.futures.Future[Verdict], int] = {}
        while True:
            while len(waiting) < processes and (time.monotonic() < until):
                number = next(numbers, None)
                if number is None:
                    break
                waiting[pool.submit(run_one, plan, number)] = number
            if not waiting:
                break
            done, _ = concurrent.futures.wait(waiting, return_when="FIRST_COMPLETED")
            for future in done:
                number, verdict = waiting.pop(future), future.result()
                runs += 1
                slow += verdict.slow
                if verdict.slow:
                    print(f"scenario {number}: slow", flush=True)
                if verdict.refused:
                    refusals[verdict.refused] += 1
                wrong += bool(verdict.wrong)
    refused = refusals.total()
    print(f"{runs} scenarios: {wrong} findings, {refused} refused, {slow} slow")
    for reason, count in refusals.most_common(5):
        print(f"  refused {count} times: {reason}")
    if runs >= 100 and refused > REFUSED_MAX * runs:
        print("too many are refused: the features no longer know what is valid")
        return 1
    return 1 if wrong else 0


def run_kept(program: Program, folder: Path) -> int:
    """Runs each scenario of the folder twice. Returns the exit status."""
    wrong = 0
    paths = sorted(folder.glob("*.yaml"))
    for path in paths:
        with tempfile.TemporaryDirectory() as beside:
            files = {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir()
                     if one.suffix not in (".yaml", ".md")}
            scenario = Scenario(yaml.safe_load(path.read_text(encoding="utf-8")), files)
            ended = program.validate(scenario.write(Path(beside)))
            verdict = judged(scenario, Path(beside), program, True)
        text = f"refused: {ended.reason}" if ended.status != 0 else verdict.wrong
        wrong += bool(text)
        print(f"{path.name}: {text or 'ok'}")
    return 1 if wrong or not paths else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, required=True, help="the program orrery")
    parser.add_argument("--seconds", type=float, default=60, help="how long to go on (60)")
    parser.add_argument("--seed", type=int, help="of all scenarios; left out: a new one")
    parser.add_argument("--only", type=int, metavar="N", help="scenario N alone")
    parser.add_argument("--processes", type=int, default=2, help="runs at a time (2)")
    parser.add_argument("--limit", type=float, default=30, help="seconds that a run may take (30)")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--shrink", type=float, default=60, metavar="SECONDS",
                        help="how long to make a finding smaller, twice; 0: not at all (60)")
    parser.add_argument("--kept", type=Path, metavar="DIR", help="run the scenarios of a folder")
    given = parser.parse_args()
    program = Program(given.binary, given.limit)
    if given.kept:
        return run_kept(program, given.kept)
    seed = given.seed if given.seed is not None else time.time_ns() // 1_000_000 % 1_000_000
    plan = Plan(program, seed, given.findings, given.shrink)
    return fuzz(plan, given.seconds, given.processes, given.only)


if __name__ == "__main__":
    sys.exit(main())
