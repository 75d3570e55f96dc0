"""Draws the shipped scenarios of nodes: `node_plots_test.py build/release/bin/orrery`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "analysis"))
import join_storm_plot  # noqa: E402
from orrery import Run  # noqa: E402


class NodePlotsTest(unittest.TestCase):
    program = ""

    def test_a_storm_and_a_smoothed_one_stand_side_by_side(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            outputs = []
            for scenario in ("join-storm", "join-smoothed"):
                outputs.append(Path(folder) / f"{scenario}.h5")
                path = ROOT / "scenarios" / f"{scenario}.yaml"
                command = [self.program, "run", path, "-q", "-o", outputs[-1]]
                subprocess.run(command, check=True)
            with Run(outputs[0]) as storm, Run(outputs[1]) as smoothed:
                figure = join_storm_plot.draw([storm, smoothed])
            titles = [axis.get_title(loc="left") for axis in figure.axes]
            self.assertRegex(titles[0], r"^join-storm: the last node is ready after [3-9]\d\.\d s$")
            self.assertRegex(titles[1], r"^join-smoothed: the last node is ready after 5\.\d s$")
            picture = Path(folder) / "storm.png"
            script = ROOT / "analysis" / "join_storm_plot.py"
            subprocess.run([sys.executable, script, *outputs, picture], check=True)
            self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))


if __name__ == "__main__":
    NodePlotsTest.program = sys.argv.pop(1)
    unittest.main()
