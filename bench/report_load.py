#!/usr/bin/python3
"""How long the page of a run takes to write, and to open and zoom in headless Chromium. Prints wall times. For
the opening it also prints the CPU time of the page's thread, which depends little on other load of the machine.

    build/release/bin/orrery run scenarios/openai-7500.yaml -o month.h5
    /usr/bin/python3 bench/report_load.py build/release/bin/orrery month.h5 [ROUNDS]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/unit/analysis/report"), str(ROOT / "tests/unit/analysis")]
sys.dont_write_bytecode = True
import conftest  # noqa: E402, F401: finds the package
from browser_test import Page, started  # noqa: E402

ZOOM = """const begin = performance.now(); orrery.charts[0].zoom(0.6);
    document.body.offsetHeight; return performance.now() - begin;"""


def main(program: str, run: str, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        begin = time.monotonic()
        subprocess.run([program, "report", run, "-o", path], check=True)
        print(f"written in {time.monotonic() - begin:.1f} s")
        driver = started()
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        for number in range(rounds):
            page = Page(driver).open(path)
            ready = int(page.run("return document.documentElement.dataset.ready"))
            told = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
            cpu = {one["name"]: 1e3 * one["value"] for one in told}["TaskDuration"]
            zoomed = page.run(ZOOM)
            print(f"opened, time {number + 1}: charts drawn after {ready} ms, CPU {cpu:.0f} ms; "
                  f"zoomed in {zoomed:.0f} ms")
        driver.quit()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 5)
