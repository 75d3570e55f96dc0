#!/usr/bin/python3
"""Writes analysis/VALIDATION.md from tests/validation/data/*.json; --check: is it up to date?"""

import argparse
import collections
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "validation" / "data"
PAGE = ROOT / "analysis" / "VALIDATION.md"
REMARKS = ROOT / "analysis" / "validation_remarks.md"
KINDS = {
    "independent": "published or tested elsewhere, and not used to set any parameter",
    "target": "a published fact that the model was built to reproduce exactly",
    "calibrated": "a parameter was set from the very figure, so agreement proves little",
    "closed_form": "follows from a formula that holds whatever the code does",
    "derived": "worked out by hand from the published formula or semantics",
}


def text_of(value, limit=160):
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= limit else text[:limit].rstrip() + " ..."


def what_of(case):
    """What is put in, told in a few words."""
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
    return case.get("policy") or case["function"]


def expected_of(case):
    if "expected" in case:
        return text_of(case["expected"])
    if "steps" not in case:  # what must be seen: calls and times
        known = ("id", "plugins", "until_s", "kind", "source", "tolerance")
        return text_of({key: value for key, value in case.items() if key not in known})
    answers = []
    for step in case["steps"]:
        answer = {key: value for key, value in step.items() if key not in ("do", "pod", "units")}
        answers.append(text_of(answer))
    return text_of("; ".join(answers))


def tolerance_of(case):
    tolerance = case.get("tolerance", 0)
    return "exact" if tolerance == 0 else f"{tolerance:.1%}"


def kind_of(case):
    kind = case.get("kind")
    if kind not in KINDS:
        sys.exit(f"{case['id']}: kind is '{kind}', expected one of {', '.join(KINDS)}")
    return kind


def page():
    tables, counts = [], collections.Counter()
    for path in sorted(DATA.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        cases = data["cases"] if isinstance(data, dict) else data
        rows = ["| id | what | expected | tolerance | source | kind |", "|---|---|---|---|---|---|"]
        for case in cases:
            counts[kind_of(case)] += 1
            cells = (case["id"], text_of(what_of(case)), expected_of(case), tolerance_of(case),
                     text_of(case.get("source") or data["source"], 400), kind_of(case))
            rows.append("| " + " | ".join(cells) + " |")
        tables.append(f"## {path.name} ({len(cases)})\n\n" + "\n".join(rows) + "\n")
    kinds = ["| kind | cases | meaning |", "|---|--:|---|"]
    kinds += [f"| {kind} | {counts[kind]} | {meaning} |" for kind, meaning in KINDS.items()]
    head = ("# Validation\n\nWritten by `analysis/validation_table.py` from `tests/validation/data`;"
            " `tests/validation` checks each case.\nThe remarks are kept in"
            " `analysis/validation_remarks.md`. Do not edit this page.\n")
    return "\n".join([head, "\n".join(kinds) + "\n", REMARKS.read_text(encoding="utf-8"), *tables])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE.name} is out of date: run analysis/validation_table.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
