"""Draws the shipped scenarios of links: `link_plots_test.py build/release/bin/orrery`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "analysis"))
import bent_cable_plot  # noqa: E402
import leaf_scaling_plot  # noqa: E402
import too_few_cpus_plot  # noqa: E402
from orrery import Run  # noqa: E402


class LinkPlotsTest(unittest.TestCase):
    program = ""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def output_of(self, scenario: str, *arguments: str, name: str = "run") -> Path:
        output = self.folder / f"{name}.h5"
        path = ROOT / "scenarios" / f"{scenario}.yaml"
        subprocess.run([self.program, "run", path, "-q", "-o", output, *arguments], check=True)
        return output

    def draw(self, script: str, *outputs: Path) -> None:
        picture = self.folder / "run.png"
        command = [sys.executable, ROOT / "analysis" / script, *outputs, picture]
        subprocess.run(command, check=True)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))

    def test_the_job_behind_a_bent_cable_has_the_longest_bar(self) -> None:
        output = self.output_of("bent-cable")
        with Run(output) as run:
            each = bent_cable_plot.times(run)
        self.assertEqual(list(each["job"]), [f"train {i}" for i in range(4)])
        self.assertEqual(each["exchanging"].idxmax(), 1)
        self.assertAlmostEqual(each["computing"].min(), 20, places=3)
        self.draw("bent_cable_plot.py", output)

    def test_a_cursed_route_can_be_drawn_whole_and_when_nothing_happened_yet(self) -> None:
        self.draw("cursed_route_plot.py", self.output_of("cursed-route"))
        self.draw("cursed_route_plot.py", self.output_of("cursed-route", "--until", "1s"))

    def test_each_routing_engine_has_a_curve(self) -> None:
        outputs = [
            self.output_of("leaf-scaling", "--set", f"network.routing.engine={engine}", name=engine)
            for engine in ("dmodk", "minhop")
        ]
        with Run(outputs[0]) as run:
            curve = leaf_scaling_plot.speeds(run)
            self.assertEqual(leaf_scaling_plot.leaf_size(run), 8)
        self.assertEqual(list(curve["nodes"]), [1, 2, 4, 8, 16, 32, 64])
        self.assertTrue((curve["speed"] <= curve["nodes"]).all())
        self.draw("leaf_scaling_plot.py", *outputs)

    def test_too_few_cores_have_a_bar_for_each_job(self) -> None:
        output = self.output_of("too-few-cpus")
        with Run(output) as run:
            self.assertEqual(len(too_few_cpus_plot.shares(run)), 6)
        self.draw("too_few_cpus_plot.py", output)


if __name__ == "__main__":
    LinkPlotsTest.program = sys.argv.pop(1)
    unittest.main()
