#!/usr/bin/python3
"""Runs the validation tests of build/release and writes what they find to analysis/VALIDATION.md.

Programs: validation, closed_form, validation_long (default: all). Cases that are not run, because a trace is
absent, keep the figures of analysis/validation_results.jsonl.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "analysis" / "VALIDATION.md"
REMARKS = ROOT / "analysis" / "validation_remarks.md"
STORE = ROOT / "analysis" / "validation_results.jsonl"
PROGRAMS = ("validation", "closed_form", "validation_long")
KINDS = {
    "independent": "published or tested elsewhere, and not used to set any parameter",
    "target": "a published fact that the model was built to reproduce exactly",
    "calibrated": "a parameter was set from this figure, so agreement proves little",
    "closed_form": "follows from a formula that holds whatever the code does",
    "derived": "worked out by hand from the published formula or semantics",
}
HEAD = """# Validation

`analysis/validation_table.py` writes this page: do not edit it. The remarks come from
`analysis/validation_remarks.md`, and the figures from the tests of `tests/validation`,
`tests/closed_form` and `tests/validation_long`. The cases of these tests are in their `data` folders.
`tests/run.sh` runs the tests, which fail if their figures differ from this page.

*Ours* is the figure of Orrery, with ten digits. *Theirs* is the expected figure. A difference is ours
minus theirs, with its percentage of theirs in parentheses. A tolerance is in percent of theirs. A case
whose tolerance is **not met** is not reproduced; its test fails if the tolerance is met after all.
"""


class Figure(NamedTuple):
    """One number or answer of a case. `figure` is its name, or empty if the case has only one."""
    figure: str
    ours: str
    theirs: str
    difference: str

    def is_same(self) -> bool:
        return self.difference in ("0", "same")


class Table(NamedTuple):
    """The cases of one data file."""
    path: pathlib.Path
    data: dict
    cases: list

    def is_grid(self) -> bool:
        return "loads" in self.data


Figures = dict[str, list[Figure]]  # figures by the id of their case


def read_tables(program: str) -> list[Table]:
    tables = []
    for path in sorted((ROOT / "tests" / program / "data").glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        data = data if isinstance(data, dict) else {"cases": data}
        tables.append(Table(path, data, data["cases"]))
    return tables


def read_figures(paths: list[pathlib.Path]) -> tuple[Figures, set[str]]:
    """The figures in these files, and the ids of cases that were not checked."""
    figures, unchecked = collections.defaultdict(list), set()
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "unchecked" in row:
                unchecked.add(row["id"])
            else:
                figures[row["id"]].append(Figure(*(row[key] for key in Figure._fields)))
    return figures, unchecked


def run(programs: list[str], build: pathlib.Path, results: pathlib.Path) -> None:
    if not (build / "CMakeCache.txt").exists():
        sys.exit(f"{build} is not configured: run  cmake --preset release")
    targets = [f"test_{program}" for program in programs]
    subprocess.run(["cmake", "--build", build, "--target", *targets], check=True)
    shards = os.cpu_count() or 1
    for program in programs:
        environment = dict(os.environ, ORRERY_VALIDATION_RESULTS=str(results / program),
                           GTEST_TOTAL_SHARDS=str(shards))
        running = []
        for shard in range(shards):
            with (results / f"{program}.{shard}.log").open("w", encoding="utf-8") as log:
                running.append((log.name, subprocess.Popen(
                    [build / "bin" / f"test_{program}"], stdout=log, stderr=log,
                    env=dict(environment, GTEST_SHARD_INDEX=str(shard)))))
        failed = [log for log, process in running if process.wait() != 0]
        for log in failed:
            print(pathlib.Path(log).read_text(encoding="utf-8"), file=sys.stderr)
        if failed:
            sys.exit(f"test_{program} fails: {PAGE.name} is left as it was")


def complaints(programs: list[str], figures: Figures, unchecked: set[str],
               stored: Figures) -> list[str]:
    """Messages about cases without results, results without cases, and figures that differ from the stored
    ones."""
    ids = {case["id"] for program in programs for table in read_tables(program)
           for case in table.cases}
    reported = [f"{case}: a case without a result" for case in ids - set(figures) - unchecked]
    reported += [f"{case}: a result without a case" for case in (set(figures) | unchecked) - ids]
    for case in ids & set(figures):
        for ours, page in zip(figures[case], stored.get(case, [])):
            if ours != page:
                reported.append(f"{f'{case} {ours.figure}'.strip()}: ours {ours.ours} (difference "
                            f"{ours.difference}), on the page {page.ours} ({page.difference})")
        if len(figures[case]) != len(stored.get(case, [])):
            reported.append(f"{case}: {len(figures[case])} figures, on the page "
                        f"{len(stored.get(case, []))}")
    return sorted(reported)


def text_of(value, limit: int = 160) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= limit else text[:limit].rstrip() + " ..."


def rows_of(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def what_of(case: dict) -> str:
    """The input of a case, in a few words."""
    if "input" in case:
        given = dict(case["input"])
        quantity = given.pop("quantity")
        rest = ", ".join(f"{key} {text_of(value)}" for key, value in given.items())
        return f"{quantity}: {rest}"
    if "steps" in case:
        return ", ".join(dict.fromkeys(step["do"] for step in case["steps"]))
    if "plugins" in case:
        return ", ".join(f"{p['name']} {text_of(p['args'])}" if "args" in p else p["name"]
                         for p in case["plugins"])
    if "scenario" in case:
        return f"{case['scenario']}: {case['set'][0]}"
    return case.get("policy") or case["function"]


def tolerance_of(case: dict) -> str:
    """The tolerance as text, in percent of the expected figure unless the case gives a text; marked if the
    case does not meet it."""
    tolerance = case.get("tolerance", 0)
    if isinstance(tolerance, str):
        text = tolerance
    else:
        text = "exact" if tolerance == 0 else f"{100 * tolerance:.3g} %"
    return text if case.get("is_reproduced", True) else f"**not met:** {text}"


def kind_of(case: dict) -> str:
    kind = case.get("kind")
    if kind not in KINDS:
        sys.exit(f"{case['id']}: kind is '{kind}', expected one of {', '.join(KINDS)}")
    return kind


def joined(figures: list[Figure], field: str) -> str:
    return ", ".join(f"{one.figure} {getattr(one, field)}".strip() for one in figures)


def difference_of(figures: list[Figure]) -> str:
    unlike = [one for one in figures if not one.is_same()]
    if unlike:
        return joined(unlike, "difference")
    return "0" if any(one.difference == "0" for one in figures) else "same"


def case_row(table: Table, case: dict, figures: list[Figure]) -> list[str]:
    source = text_of(case.get("source") or table.data["source"], 400)
    if figures:
        found = [text_of(text, 400) for text in
                 (joined(figures, "ours"), joined(figures, "theirs"), difference_of(figures))]
    else:
        found = ["not run", text_of(case.get("expected", "")), ""]
    return [case["id"], text_of(what_of(case)), *found, tolerance_of(case), source, kind_of(case)]


def plain_section(table: Table, figures: Figures) -> str:
    columns = ["id", "what", "ours", "theirs", "difference", "tolerance", "source", "kind"]
    return rows_of(columns, [case_row(table, case, figures.get(case["id"], []))
                             for case in table.cases])


def workload_row(table: Table, workload: str, figures: Figures) -> list[str]:
    cases = [case for case in table.cases if case["input"]["workload"] == workload]
    found = [(abs(float(one.difference.split()[0])), one.difference.split()[0], case["id"],
              one.figure) for case in cases for one in figures.get(case["id"], [])]
    if not found:
        return [workload, str(len(cases)), "0", "not run", "", ""]
    largest = max(found)
    return [workload, str(len(cases)), str(len(found)), f"{float(largest[1]):+.2f}",
            f"{largest[2]} {largest[3]}", f"{sum(f[0] for f in found) / len(found):.3f}"]


def grid_section(table: Table, figures: Figures) -> str:
    """A section for a table with very many figures: a summary by workload, and a folded list of all
    figures."""
    columns = ["workload", "policies", "means", "largest difference, points", "largest in",
               "mean of absolute differences"]
    workloads = dict.fromkeys(case["input"]["workload"] for case in table.cases)
    text = f"{table.data['source']}. Tolerance: 0.5 percentage points.\n\n"
    text += rows_of(columns, [workload_row(table, name, figures) for name in workloads])
    rows = [[case["id"], one.figure, f"{float(one.ours):.3f}", one.theirs,
             f"{float(one.difference.split()[0]):+.3f}"]
            for case in table.cases for one in figures.get(case["id"], [])]
    text += f"\n<details><summary>All {len(rows)} means</summary>\n\n"
    text += rows_of(["id", "figure", "ours", "theirs", "difference, points"], rows)
    return text + "\n</details>\n"


def page_of(tables: list[Table], figures: Figures) -> str:
    kinds = collections.Counter(kind_of(case) for table in tables for case in table.cases)
    parts = [HEAD, rows_of(["kind", "cases", "meaning"],
                           [[kind, str(kinds[kind]), KINDS[kind]] for kind in KINDS])]
    parts.append(REMARKS.read_text(encoding="utf-8"))
    plain = [table for table in tables if not table.is_grid()]
    unlike = [[case["id"], text_of(one.figure), one.ours, one.theirs, one.difference,
               tolerance_of(case)]
              for table in plain for case in table.cases for one in figures.get(case["id"], [])
              if not one.is_same()]
    total = sum(len(figures.get(case["id"], [])) for table in plain for case in table.cases)
    parts.append(f"## Where ours differs from theirs\n\nThese {len(unlike)} of {total} figures differ. The"
                 " means of FGD are not counted; the last section has them.\n\n"
                 + rows_of(["id", "figure", "ours", "theirs", "difference", "tolerance"], unlike))
    for table in tables:
        section = grid_section if table.is_grid() else plain_section
        parts.append(f"## {table.path.relative_to(ROOT / 'tests')} ({len(table.cases)})\n\n"
                     + section(table, figures))
    return "\n".join(parts)


def store_of(tables: list[Table], figures: Figures) -> str:
    return "".join(json.dumps({"id": case["id"], **one._asdict()}) + "\n"
                   for table in tables for case in table.cases
                   for one in figures.get(case["id"], []))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog=" ".join(__doc__.splitlines()[2:]))
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="run only these")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--results", type=pathlib.Path, help="run nothing; take what ctest kept")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail if the page is out of date or --results differ")
    options = parser.parse_args()
    programs = options.programs or list(PROGRAMS)
    if unknown := set(programs) - set(PROGRAMS):
        parser.error(f"no program {', '.join(sorted(unknown))}; there are {', '.join(PROGRAMS)}")
    tables = [table for program in PROGRAMS for table in read_tables(program)]
    ids = [case["id"] for table in tables for case in table.cases]
    if twice := [name for name, count in collections.Counter(ids).items() if count > 1]:
        sys.exit(f"ids given twice: {', '.join(twice)}")
    stored, _ = read_figures([STORE] if STORE.exists() else [])

    reported = []
    figures: Figures = {}
    if options.results or not options.check:
        with tempfile.TemporaryDirectory() as fresh:
            folder = options.results or pathlib.Path(fresh)
            if not options.results:
                run(programs, options.build, folder)
            paths = [path for program in programs
                     for path in sorted((folder / program).glob("*.jsonl"))]
            figures, unchecked = read_figures(paths)
        reported = complaints(programs, figures, unchecked, stored if options.check else figures)
    if options.check:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page_of(tables, stored):
            reported.append(f"{PAGE.name} is not made from its sources")
    elif not reported:
        figures = {case: one for case, one in {**stored, **figures}.items() if case in ids}
        STORE.write_text(store_of(tables, figures), encoding="utf-8")
        PAGE.write_text(page_of(tables, figures), encoding="utf-8")
    for line in reported:
        print(line, file=sys.stderr)
    if reported and options.check:
        print("run analysis/validation_table.py, and look at what changed", file=sys.stderr)
    return 1 if reported else 0


if __name__ == "__main__":
    sys.exit(main())
