#!/usr/bin/python3
"""How much a study adds to the cost of its 1,000 small runs: elapsed time * jobs / CPU time of the runs.

    /usr/bin/python3 bench/study_overhead.py build/release/bin/orrery [--jobs 2] [--runs 1000]

The bound is 1.1. The study reports the CPU time, which is that of the threads that simulate and write files.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

BASE = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 16}]}
workload:
  sources:
    - {kind: generator, arrival_rate: 20, gpus_per_pod_max: 8, shape: {kind: classes, classes: [
        {gpus: {kind: discrete, values: [1, 8, 16], weights: [5, 3, 1]},
         duration: {kind: lognormal, median: 30min, sigma: 1}}]}}
policy: {base: strict_gang}
run: {until: 5d}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="the program orrery")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once")
    parser.add_argument("--runs", type=int, default=1_000, help="number of runs")
    given = parser.parse_args()
    # Deletions slow down the creation of files, so all files are deleted at the end.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "base.yaml").write_text(BASE)
        for keep in ("false", "true"):
            (folder / "study.yaml").write_text(
                f"base: base.yaml\nseeds: {{count: {given.runs}}}\nkeep_runs: {keep}\n")
            done = subprocess.run(
                [given.program.resolve(), "study", "run", "study.yaml", "-o", keep, "--jobs",
                 str(given.jobs)], cwd=folder, check=True, capture_output=True, text=True)
            told = re.search(r"; ([\d.]+) s, ([\d.]+) s of CPU", done.stderr)
            elapsed, cpu = map(float, told.groups())
            print(f"keep_runs {keep}: {given.runs} runs in {elapsed:.1f} s, {cpu:.1f} s of CPU at "
                  f"{given.jobs} at once: {elapsed * given.jobs / cpu:.3f} of CPU over cores",
                  flush=True)


if __name__ == "__main__":
    main()
