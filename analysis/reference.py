#!/usr/bin/python3
"""Writes the reference pages in scenarios/reference from the texts in the program.

    /usr/bin/python3 analysis/reference.py build/release/bin/orrery           # writes the pages
    /usr/bin/python3 analysis/reference.py --check build/release/bin/orrery   # compares them

Parameters, policies, extension points and machines come from `orrery describe`; tables and figures come from
the output files of a few small runs, in which each table and column carries its meaning.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "scenarios" / "reference"
MADE = "Made by `analysis/reference.py`. Do not edit this page.\n"

# The runs of SCENARIOS together write all tables of the output file and all figures of its /summary.
BASE = """
cluster:
  pools:
    - {name: there, machine: dgx-a100, count: 4, nodes_per_leaf: 4}
    - {name: more, machine: dgx-a100, count: 2}
network: {level: flow}
storage: {stores: [{name: blob, write: 10GBps, read: 10GBps}]}
record: {attempts: true, cardiogram: {jobs: [a], window: {to: 5min}}}
workload:
  typical_pods: {}
  sources:
    - kind: jobs
      jobs:
        - name: a
          work: 5min
          pods: 2
          pod: {gpus: 8, image: {name: train, size: 1GB}}
          training:
            checkpoint_interval: 1min
            checkpoint: {store: blob, bytes: 1GB}
            step: {compute: 1s, exchanges: [{bytes: 1GB}]}
"""
SCENARIOS = {
    "autoscaler": BASE
    + """
    - {kind: service, name: web, lasts: 10min, pod: {gpus: 1}, load: [{at: 0s, load: 1}]}
control_plane:
  level: full
  namespaces: {existing: 1, readers: [{clients: 1, every: 1min}]}
  joins: [{pool: there, at: 1min, nodes: 1}]
  services: {groups: [{name: kubelet, members: nodes}]}
  autoscaler: {groups: [{pool: more}]}
  events: {readers: [{every: 1min}]}
  crash_loops: [{nodes: 1}]
policy: {controllers: [{name: AvoidBrokenLinks}]}
""",
    "job queue": BASE.replace(", image: {name: train, size: 1GB}", "")
    + "policy: {job_queue: {policies: [{name: FIFO}]}}\n",
}


def described(program: Path, *names: str) -> str:
    """Output of `orrery describe`."""
    command = [program, "describe", *names]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def fenced(lines: list[str]) -> str:
    """A code block of the lines. Trailing empty lines and the common indent of the lines are removed."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    margin = min((len(l) - len(l.lstrip()) for l in lines if l.strip()), default=0)
    return "```text\n" + "".join(line[margin:].rstrip() + "\n" for line in lines) + "```\n"


def parts(lines: list[str], head: re.Pattern[str]) -> list[tuple[str, list[str]]]:
    """Splits lines before each line that matches `head`. The name of a part is the first group of the match.
    The name is empty for the lines before the first match."""
    cut: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        if found := head.match(line):
            cut.append((found[1], []))
        cut[-1][1].append(line)
    return [part for part in cut if part[1]]


FIELD = re.compile(r"  (\w+)(?= |$)")
KIND = re.compile(r"    (kind: \w+)$")


def parameters(section: str, lines: list[str]) -> str:
    """The page of one section of a scenario."""
    text = f"# Parameters: `{section}`\n\n{MADE}\n"
    for field, rows in parts(lines, FIELD):
        if not field:
            text += fenced(rows)
            continue
        path = f"{section}.{field}"
        for kind, below in parts(rows, KIND):
            text += f"\n## {path}{', ' + kind if kind else ''}\n\n" + fenced(below)
    return text


def parameter_pages(program: Path) -> dict[str, str]:
    """The pages of sections that have fields, by name. Parameters outside of sections are on the page `other`."""
    pages, short = {}, []
    for section, rows in parts(described(program, "scenario").splitlines(), re.compile(r"(\w+)")):
        if any(FIELD.match(row) for row in rows):
            pages[section] = parameters(section, rows)
        else:
            short += rows
    pages["other"] = f"# Parameters outside of sections\n\n{MADE}\n" + fenced(short)
    return pages


def overview(program: Path, heading: str) -> list[tuple[str, str]]:
    """The names and texts in the list of `orrery describe` with this heading."""
    text = described(program).split(f"\n{heading}:\n")[1].split("\n\n")[0]
    rows = re.findall(r"^  (\S+)(.*(?:\n      .*)*)", text, re.MULTILINE)
    return [(name, " ".join(rest.split())) for name, rest in rows]


def policies(program: Path) -> str:
    text = (f"# Policies\n\n{MADE}\nThe page [extension points](points.md) explains the extension points. A policy "
            "without arguments has no list of arguments.\n\n"
            "Host time is how long Orrery itself takes. Scheduler time is simulated.\n")
    for name, _ in overview(program, "Policies"):
        said = described(program, name)
        head, _, args = said.partition("\nargs:\n")
        doc = head.splitlines()[0].removeprefix(f"{name}: ")
        points = re.search(r"extension points +(.*)", head)
        text += f"\n## {name}\n\n{doc}\n\nExtension points: {points[1] if points else 'none'}.\n"
        text += "\n" + fenced(args.splitlines()) if args else ""
    return text


def machines(program: Path) -> str:
    text = f"# Machines of the catalogue\n\n{MADE}\n"
    text += ("`orrery describe --topology NAME` draws how the devices of a machine are connected.\n\n"
             "- `gpus`: the power of one GPU when it is idle, in a busy wait (its rank waits for other ranks) and in\n"
             "  training; its power limit; its peak rate without sparsity, where `half` is FP16 or BF16.\n"
             "- `nics`: the ports in the order of their numbers, with their rates and the network that they serve.\n"
             "- `host_power`: the power of the node without its GPUs. If a source says `less 8 x 300 W`, it subtracts\n"
             "  300 W for each of 8 GPUs. That amount may differ from the power in `gpus`.\n"
             "- `Source`: the source of the values, including values that only `--topology` shows, such as the links\n"
             "  between sockets. `assumed` and `estimate` mean that there is no published source. The sources of\n"
             "  each GPU model's memory, power, peak and link rates are in `models/hardware/gpu_model.cpp`.\n")
    for name, _ in overview(program, "Machines"):
        text += f"\n## {name}\n\n" + fenced(described(program, "machine", name).splitlines())
    return text


def points(program: Path) -> str:
    text = f"# Extension points of policies\n\n{MADE}\n"
    text += ("An extension point is a function of a policy. Orrery calls it to get an answer or to have a task done.\n")
    for part in described(program, "points").strip().split("\n\n"):
        head, *rows = part.splitlines()
        text += f"\n## {head.rstrip(':')}\n\n| extension point | question or task |\n|---|---|\n"
        text += "".join(f"| `{name}` | {cell(doc)} |\n"
                        for name, doc in (row.split(maxsplit=1) for row in rows))
    return text


def trace_page(program: Path, name: str, title: str) -> str:
    return f"# {title}\n\n{MADE}\n" + fenced(described(program, name).splitlines())


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def plain(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


def type_of(kind: h5py.Datatype | object) -> str:
    """The type of a column in words, such as "integer" or "one of a, b"."""
    if names := h5py.check_enum_dtype(kind):
        ordered = sorted(names, key=names.get)
        return "true or false" if {n.lower() for n in ordered} == {"false", "true"} else "one of " + ", ".join(ordered)
    return {"S": "text", "f": "float", "i": "integer", "u": "integer", "b": "true or false"}[kind.kind]


class Output:
    """The documentation of all tables and figures that the runs write, by the name of the table or figure."""

    def __init__(self, program: Path) -> None:
        self.tables: dict[str, str] = {}
        self.figures: dict[str, tuple[str, str]] = {}
        for scenario in SCENARIOS.values():
            self.add(program, scenario)

    def add(self, program: Path, scenario: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, output = Path(folder, "a.yaml"), Path(folder, "a.h5")
            source.write_text(scenario, encoding="utf-8")
            subprocess.run([program, "run", source, "-q", "-o", output], check=True,
                           stdout=subprocess.DEVNULL)
            with h5py.File(output) as file:
                file.visititems(self.take)

    def take(self, name: str, item: object) -> None:
        if not isinstance(item, h5py.Dataset):
            return
        if name.startswith("summary/"):
            doc = plain(item.attrs["doc"])
            self.figures[name.removeprefix("summary/")] = (plain(item.attrs["unit"]), doc)
        elif item.dtype.names and "docs" in item.attrs:
            self.tables["/" + name] = self.table("/" + name, item)

    @staticmethod
    def table(name: str, item: h5py.Dataset) -> str:
        text = f"\n## {name}\n\n{plain(item.attrs['doc'])}\n\n"
        text += "| column | type | unit | meaning |\n|---|---|---|---|\n"
        rows = zip(item.dtype.names, item.attrs["units"], item.attrs["docs"])
        for column, unit, doc in rows:
            cells = (f"`{column}`", type_of(item.dtype[column]), plain(unit), cell(plain(doc)))
            text += "| " + " | ".join(cells) + " |\n"
        return text


def tables(output: Output) -> str:
    text = f"# Tables of the output file\n\n{MADE}\n"
    text += ("Times are nanoseconds since the start of the run; -1 means never. "
             "The [table of tables](../../sim/README.md#the-output-file) says when a run writes which table.\n")
    return text + "".join(output.tables[name] for name in sorted(output.tables))


def figures(output: Output) -> str:
    text = f"# Figures of `/summary`\n\n{MADE}\n"
    text += "A run writes the figures of the features that it uses.\n"
    text += "\n| figure | unit | meaning |\n|---|---|---|\n"
    return text + "".join(f"| `{name}` | {unit} | {cell(doc)} |\n"
                          for name, (unit, doc) in output.figures.items())


def pages(program: Path) -> dict[str, str]:
    """All pages by the name of their file."""
    output = Output(program)
    sections = parameter_pages(program)
    made = {f"{name}.md": text for name, text in sections.items()}
    made |= {
        "policies.md": policies(program),
        "points.md": points(program),
        "machines.md": machines(program),
        "tables.md": tables(output),
        "summary.md": figures(output),
        "generate.md": trace_page(program, "generate", "Parameters of `orrery trace generate`"),
        "requests.md": trace_page(program, "requests", "Parameters of traces of requests"),
    }
    about = re.compile(r"^# (.*)$", re.MULTILINE)
    index = "".join(f"- [{about.search(text)[1]}]({name})\n" for name, text in made.items())
    made["README.md"] = f"# Reference\n\n{MADE}\n{index}"
    return made


def differences(made: dict[str, str]) -> list[str]:
    """A message for each page that is out of date."""
    found = []
    kept = {path.name for path in FOLDER.glob("*")}
    for name, text in made.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"{path.relative_to(ROOT)}: out of date")
    found += [f"scenarios/reference/{name}: is not made any more" for name in sorted(kept - set(made))]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="the program orrery")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    made = pages(arguments.program.resolve())
    if arguments.check:
        found = differences(made)
        for line in found:
            print(line)
        if found:
            print("mend them with: analysis/reference.py PROGRAM")
        return 1 if found else 0
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
