#!/usr/bin/python3
"""How long the page of a run with many jobs takes to respond to one action, such as a zoom or a scroll step,
in headless Chromium. Prints the CPU time of the page's thread, which depends little on other load of the
machine, and the longest time between two frames.

    build/release/bin/orrery run bench/scenarios/jobs-50000.yaml -o jobs.h5
    /usr/bin/python3 bench/report_frames.py build/release/bin/orrery jobs.h5
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests/unit/analysis/report"), str(ROOT / "tests/unit/analysis")]
sys.dont_write_bytecode = True
import conftest  # noqa: E402, F401: finds the package
from browser_test import Page, started  # noqa: E402

# Actions by name: how often each is repeated, and its code, in which k counts the repetitions from 0.
STEPS: dict[str, tuple[int, str]] = {
    "pointer over the Gantt": (20, """const box = gantt.plot.getBoundingClientRect();
        gantt.svg.dispatchEvent(new PointerEvent("pointermove", {bubbles: true,
          clientX: box.left + 150 + 40 * k, clientY: box.top + 20 + 15 * k}));"""),
    "zoom": (6, "gantt.zoom(0.6);"),
    "move": (4, "gantt.pan(0.2);"),
    "reset": (1, "gantt.reset();"),
    "other colours and rows": (4, """const all = gantt.figure.querySelectorAll(".choice button");
        all[k % all.length].click();"""),
    "sort": (12, """document.querySelectorAll("table.jobs th button")[k % 10].click();"""),
    "search": (6, """const box = document.querySelector("input[type=search]");
        box.value = ["j", "job", "job-1", "job-12 comp", "completed", ""][k];
        box.dispatchEvent(new Event("input"));"""),
    "scroll the table": (10, """document.querySelector(".jobs-scroll").scrollTop += 300 * 9 ** (k % 4);"""),
    "arrows in the table": (10, """document.querySelector(".jobs-scroll").dispatchEvent(
        new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true}));"""),
    "theme": (2, """document.getElementById("theme").click();"""),
}
FRAMES = """const [k, done] = arguments;
    const gantt = orrery.charts.find((chart) => chart.spec.kind === "gantt");
    const frame = () => new Promise(requestAnimationFrame);
    (async () => {
      const first = await frame();
      %s
      const times = [first, await frame(), await frame(), await frame()];
      done(Math.max(...times.slice(1).map((time, n) => time - times[n])));
    })();"""


def cpu(driver: Any) -> float:
    """The CPU time of the page's thread so far, in milliseconds."""
    told = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(1e3 * one["value"] for one in told if one["name"] == "TaskDuration")


def main(program: str, run: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        subprocess.run([program, "report", run, "-o", path], check=True)
        driver = started()
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        page = Page(driver)
        page.width(1400)
        page.open(path)
        print(f"opened: CPU {cpu(driver):.0f} ms, ready after "
              f"{page.run('return document.documentElement.dataset.ready')} ms")
        page.chart("gantt", 'chart.figure.scrollIntoView({block: "center", behavior: "instant"})')
        for name, (steps, code) in STEPS.items():
            spent, gaps = [], []
            for k in range(steps):
                before = cpu(driver)
                gaps.append(driver.execute_async_script(FRAMES % code, k))
                spent.append(cpu(driver) - before)
            print(f"{name}: CPU of a step {sum(spent) / steps:.0f} ms, at most {max(spent):.0f} ms; "
                  f"longest frame {max(gaps):.0f} ms")
        driver.quit()


if __name__ == "__main__":
    main(*sys.argv[1:3])
