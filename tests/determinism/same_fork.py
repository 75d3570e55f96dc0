#!/usr/bin/python3
"""Compares a study that forks with single runs of its arms: the files must be equal.

    same_fork.py --binary orrery

The scenario of each arm runs again from the start. /meta/scenario in the arm's file names the base and every
--set.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import h5py
from same_bytes import content

BASE = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 6}]}
workload:
  sources:
    - kind: generator
      arrival_rate: 12
      gpus_per_pod_max: 8
      shape:
        kind: classes
        classes:
          - gpus: {kind: discrete, values: [1, 8, 16, 32], weights: [4, 2, 2, 1]}
            duration: {kind: exponential, mean: 20min}
faults: {nodes: [{name: node, rate: 400, repair: {kind: exponential, mean: 10min}}]}
policy: {base: strict_gang}
record: {attempts: true, off: [/timeline/teams]}
run: {until: 2d}
"""
STUDY = """
base: base.yaml
axes:
  - name: policy
    arms:
      - {name: strict}
      - {name: native, set: {policy.base: native_gang}}
      - {name: per_pod, set: {policy.base: default, policy.queue.initial_backoff: 2s}}
  - {name: load, parameter: 'workload.sources[0].arrival_rate', values: [8, 12]}
seeds: {count: 2}
run: {fork_at: 20h}
"""


def settings_of(arm: pathlib.Path) -> list[str]:
    with h5py.File(arm, "r") as file:
        text = file["/meta/scenario"][()].decode()
    return [line.removeprefix("# --set ") for line in text.splitlines()
            if line.startswith("# --set ")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    binary = str(parser.parse_args().binary.resolve())
    differences = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "base.yaml").write_text(BASE)
        (folder / "study.yaml").write_text(STUDY)
        subprocess.run([binary, "study", "run", "study.yaml", "-o", "out", "-q"], cwd=folder,
                       check=True)
        arms = sorted((folder / "out" / "runs").glob("*.h5"))
        if len(arms) != 12:
            sys.exit(f"expected 12 runs, found {len(arms)}")
        for arm in arms:
            sets = [part for text in settings_of(arm) for part in ("--set", text)]
            subprocess.run([binary, "run", "base.yaml", "-o", "whole.h5", "-q", *sets], cwd=folder,
                           check=True)
            forked, whole = content(arm), content(folder / "whole.h5")
            for what in sorted(forked.keys() | whole.keys()):
                if forked.get(what) != whole.get(what):
                    print(f"{arm.name}: {what} differs")
                    differences += 1
    print(f"{len(arms)} arms, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
