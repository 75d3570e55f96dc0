#!/usr/bin/python3
"""What policies in Python cost: a score over 7,500 nodes, EASY over a trace, decisions of a learner.

    /usr/bin/python3 bench/python_policies.py build/release/bin/orrery

The bounds are 1 ms a cycle and 2,000 decisions a second. For the time of a cycle, one whole run has the policy
in Python, another its built-in twin. The difference of their times is divided by the number of pods. The
difference includes the start of the interpreter and the import of numpy. The decisions are those of an agent of
orrery.gym that starts the first job that fits.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "analysis"))
TWINS = ROOT / "tests/unit/analysis/policy/policies/twins.py"

# No two pods request the same amount of memory, so no score can be cached.
SCORES = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 7500}]}
workload: {sources: [{kind: jobs, jobs: [PODS]}]}
policy:
  percentage_of_nodes_to_score: 100
  disable: [NodeResourcesBalancedAllocation]
  plugins: [{name: NodeResourcesFit, scores: false}, PLUGIN]
"""
AGENT = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 16}]}
workload:
  sources:
    - {kind: generator, arrival_rate: 200, gpus_per_pod_max: 8, shape: {kind: classes, classes: [
        {gpus: {kind: discrete, values: [1, 4, 8], weights: [5, 3, 1]},
         duration: {kind: lognormal, median: 20min, sigma: 1}}]}}
policy: {driver: counting}
record: {off: ['/timeline/*']}
run: {until: 3d}
"""


def seconds(binary: Path, folder: Path, scenario: str, plugin: str) -> float:
    (folder / "s.yaml").write_text(scenario.replace("PLUGIN", plugin))
    began = time.perf_counter()
    subprocess.run([binary, "run", "s.yaml", "-q", "-o", "out.h5", "--plugin",
                    "liborrery_python.so"], cwd=folder, check=True)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="the program orrery")
    parser.add_argument("--cycles", type=int, default=2_000, help="pods to be scheduled")
    given = parser.parse_args()
    binary = given.program.resolve()
    os.environ["ORRERY"] = str(binary)
    jobs = ", ".join(f"{{name: j{i}, work: 1h, pod: {{gpus: 1, memory: {1 + i}MiB}}}}"
                     for i in range(given.cycles))
    with tempfile.TemporaryDirectory() as name:
        folder, scores = Path(name), SCORES.replace("PODS", jobs)
        twin = f"{{name: Python, args: {{file: {TWINS}, class: BestFit}}}}"
        ours = min(seconds(binary, folder, scores, "{name: BestFit}") for _ in range(3))
        theirs = min(seconds(binary, folder, scores, twin) for _ in range(3))
        print(f"BestFit over 7,500 nodes, {given.cycles} cycles: built in {ours:.2f} s, Python "
              f"{theirs:.2f} s, {1e3 * (theirs - ours) / given.cycles:.3f} ms a cycle more", flush=True)
        from orrery.gym import JobQueueEnv
        (folder / "agent.yaml").write_text(AGENT)
        env = JobQueueEnv(folder / "agent.yaml", slots=16)
        began = time.perf_counter()
        _, info = env.reset(seed=1)
        ready, steps, is_over = time.perf_counter(), 0, False
        while not is_over:
            _, _, is_over, _, info = env.step(int(info["action_mask"].argmax()))
            steps += 1
        took = time.perf_counter() - ready
        env.close()
        print(f"environment: reset {ready - began:.2f} s, {steps} decisions in {took:.2f} s, "
              f"{steps / took:,.0f} a second", flush=True)


if __name__ == "__main__":
    main()
