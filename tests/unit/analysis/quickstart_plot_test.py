"""Draws small runs of the binary at hand: `quickstart_plot_test.py build/release/bin/orrery`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "analysis"))
import quickstart_plot  # noqa: E402
from orrery import Run  # noqa: E402
from orrery.figures import failures_data, utilisation_data  # noqa: E402
from orrery.style import time_unit  # noqa: E402

WITH_FAULTS = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 8}]}
workload:
  training: {checkpoint_interval: 1h, checkpoint_write: 1min, restore: 5min}
  sources:
    - kind: jobs
      jobs: [{name: long, work: 2d, pods: 4, pod: {gpus: 8}}]
faults:
  nodes: [{name: node, rate: 500, repair: {kind: fixed, duration: 1h}}]
policy: {base: strict_gang}
run: {seed: 1, until: 3d}
"""


class QuickstartPlotTest(unittest.TestCase):
    program = ""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_of(self, scenario: Path) -> Run:
        output = self.folder / "run.h5"
        command = [self.program, "run", str(scenario), "-q", "-o", str(output)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        run = Run(output)
        self.addCleanup(run.__exit__)
        return run

    def run_with_faults(self) -> Run:
        scenario = self.folder / "faults.yaml"
        scenario.write_text(WITH_FAULTS)
        return self.run_of(scenario)

    def assert_draws(self, run: Run) -> list[str]:
        """Writes the picture and returns the labels of the lowest panel's bars and lines."""
        picture = self.folder / "run.png"
        figure = quickstart_plot.draw(run)
        figure.savefig(picture)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))
        end = run.timeline("cluster").index.max()
        self.assertAlmostEqual(figure.axes[2].get_xlim()[1], end / time_unit(end)[0])
        return figure.axes[2].get_legend_handles_labels()[1]

    def test_deadlocked_gpus_are_allocated_and_not_useful(self) -> None:
        run = self.run_of(ROOT / "scenarios" / "two-experiments-default.yaml")
        use = utilisation_data(run)
        self.assertGreater(use["allocated"].iloc[1:].min(), 99.9)
        self.assertEqual(use["useful"].max(), 0)
        self.assertIn("node failures an hour", self.assert_draws(run))

    def test_every_failure_and_recovery_is_in_a_bar(self) -> None:
        run = self.run_with_faults()
        self.assertGreater(len(run.table("/events/faults")), 0)
        self.assertGreater(len(run.table("/events/recoveries")), 0)
        self.assertIn("node failures a day", self.assert_draws(run))
        cluster = run.table("/timeline/cluster")
        counted = failures_data(run)
        self.assertEqual(counted["failures"].sum(), cluster["failures"].iloc[-1])
        self.assertEqual(counted["recoveries"].sum(), cluster["recoveries"].iloc[-1])

    def test_useful_and_power_never_exceed_allocated(self) -> None:
        use = utilisation_data(self.run_with_faults())
        for way in ("power", "useful"):
            self.assertLessEqual((use[way] - use["allocated"]).max(), 1e-9)

    def test_columns_carry_their_units(self) -> None:
        frame = self.run_with_faults().table("/timeline/cluster")
        self.assertEqual(frame.attrs["units"]["time"], "s")
        self.assertEqual(set(frame.attrs["units"]), set(frame.columns))


if __name__ == "__main__":
    QuickstartPlotTest.program = sys.argv.pop(1)
    unittest.main()
