"""Draws the traffic of watches: `watch_traffic_plot_test.py build/release/bin/orrery`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "analysis"))
import watch_traffic_plot  # noqa: E402
from orrery import Run  # noqa: E402


class WatchTrafficPlotTest(unittest.TestCase):
    program = ""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def output_of(self, scenario: str, until: str) -> Path:
        output = self.folder / f"{scenario}.h5"
        path = ROOT / "scenarios" / f"{scenario}.yaml"
        command = [self.program, "run", path, "-q", "-o", output, "--until", until]
        subprocess.run(command, check=True)
        return output

    def draw(self, *outputs: Path) -> None:
        picture = self.folder / "run.png"
        command = [sys.executable, ROOT / "analysis" / "watch_traffic_plot.py", *outputs, picture]
        subprocess.run(command, check=True)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))

    def test_both_scenarios_are_drawn_and_all_that_was_told_is_in_the_curve(self) -> None:
        outputs = [self.output_of(s, "10min") for s in ("watch-endpoints", "watch-endpointslices")]
        with Run(outputs[0]) as run:
            told = watch_traffic_plot.traffic(run)
            self.assertAlmostEqual(10 * told.sum() / run.summary["watch_bytes"], 1, places=9)
            self.assertEqual(watch_traffic_plot.by_minute(told).size, 10)
        self.draw(*outputs)

    def test_a_run_in_which_nothing_was_told_can_be_drawn(self) -> None:
        self.draw(self.output_of("watch-endpoints", "10s"))

    def test_rates_have_the_unit_that_keeps_them_short(self) -> None:
        self.assertEqual(watch_traffic_plot.rate(2.09e9), "2.09 GB/s")
        self.assertEqual(watch_traffic_plot.rate(7524), "7.52 kB/s")
        self.assertEqual(watch_traffic_plot.rate(0), "0 B/s")


if __name__ == "__main__":
    WatchTrafficPlotTest.program = sys.argv.pop(1)
    unittest.main()
