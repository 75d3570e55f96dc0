"""Runs one scenario with two builds by turns, and prints how much longer the second build takes.

python3 bench/side_by_side.py OLD_ORRERY NEW_ORRERY [SCENARIO] [ROUNDS]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MONTH = Path(__file__).parent / "scenarios" / "control-plane-7500.yaml"


def run(program: str, scenario: str, folder: str) -> tuple[float, float]:
    """Runs the scenario. Returns elapsed and CPU time in seconds."""
    begin, before = time.perf_counter(), os.times()
    command = [program, "run", scenario, "-o", os.path.join(folder, "run.h5")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    cpu = (after.children_user - before.children_user
           + after.children_system - before.children_system)
    return time.perf_counter() - begin, cpu


def main() -> None:
    programs = sys.argv[1:3]
    scenario = sys.argv[3] if len(sys.argv) > 3 else str(MONTH)
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    least = [(float("inf"), float("inf"))] * 2
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for side, program in enumerate(programs):
                elapsed, cpu = run(program, scenario, folder)
                print(f"round {number + 1}, {program}: {elapsed:.1f} s elapsed, {cpu:.1f} s of CPU")
                least[side] = (min(least[side][0], elapsed), min(least[side][1], cpu))
    (old_elapsed, old_cpu), (new_elapsed, new_cpu) = least
    print(f"least CPU time: {old_cpu:.2f} s, {new_cpu:.2f} s, ratio {new_cpu / old_cpu:.2f}; "
          f"elapsed: {old_elapsed:.1f} s, {new_elapsed:.1f} s, ratio {new_elapsed / old_elapsed:.2f}")


if __name__ == "__main__":
    main()
