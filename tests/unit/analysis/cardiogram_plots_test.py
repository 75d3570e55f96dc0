"""Draws the scenarios of one rank that dies, of snapshots and of power, run by the binary at hand:
`cardiogram_plots_test.py build/release/bin/orrery`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "analysis"))
import dead_rank_plot  # noqa: E402
import gpu_power_plot  # noqa: E402
import sync_snapshot_plot  # noqa: E402
from orrery import Run  # noqa: E402
from orrery.cardiogram import by_rank, cardiogram, means  # noqa: E402


class CardiogramPlotsTest(unittest.TestCase):
    program = ""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_of(self, name: str) -> Run:
        output = self.folder / f"{name}.h5"
        scenario = ROOT / "scenarios" / f"{name}.yaml"
        command = [self.program, "run", str(scenario), "-q", "-o", str(output)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        run = Run(output)
        self.addCleanup(run.__exit__)
        return run

    def assert_draws(self, figure: object) -> None:
        picture = self.folder / "run.png"
        figure.savefig(picture)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))

    def test_seven_gpus_at_100_percent_and_one_at_0_until_the_time_out(self) -> None:
        runs = [self.run_of("dead-rank"), self.run_of("dead-rank-timeout")]
        reported = [by_rank(cardiogram(run, "train"), "reported") for run in runs]
        for frame in reported:
            self.assertEqual(sorted(frame.loc[600.0]), [0.0] + [100.0] * 7)
        self.assertEqual(sorted(reported[0].iloc[-1]), [0.0] + [100.0] * 7)
        self.assertEqual(sorted(reported[1].iloc[-1]), [100.0] * 8)
        figure = dead_rank_plot.draw(runs)
        self.assertIn("hung when the run ends", figure.axes[0].get_title(loc="left"))
        self.assertIn("completed", figure.axes[2].get_title(loc="left"))
        self.assert_draws(figure)

    def test_half_of_the_time_goes_into_synchronous_snapshots(self) -> None:
        run = self.run_of("sync-snapshot")
        shares = pd.Series({job: means(cardiogram(run, job))["computing"]
                            for job in ("sync", "async", "one-node")})
        self.assertAlmostEqual(shares["sync"], 0.5, places=9)
        self.assertGreater(shares["async"], 0.98)
        self.assertGreater(shares["one-node"], 0.98)
        self.assert_draws(sync_snapshot_plot.draw(run))

    def test_power_of_a_cluster_is_spread_as_published(self) -> None:
        figure = gpu_power_plot.draw(self.run_of("gpu-power"))
        self.assertRegex(figure.axes[0].get_title(loc="left"), r"at most [0-9] points")
        self.assert_draws(figure)

    def test_a_job_without_a_cardiogram_is_an_error(self) -> None:
        with self.assertRaisesRegex(ValueError, "no job is called nobody"):
            cardiogram(self.run_of("dead-rank"), "nobody")


if __name__ == "__main__":
    CardiogramPlotsTest.program = sys.argv.pop(1)
    unittest.main()
