#!/usr/bin/python3
"""Draws one picture of each figure into analysis/gallery, from short runs of shipped scenarios.

    /usr/bin/python3 analysis/gallery.py build/release/bin/orrery
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import pandas as pd  # noqa: E402
from matplotlib import pyplot as plt  # noqa: E402
from PIL import Image  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "analysis"))
import orrery  # noqa: E402
from orrery import figures  # noqa: E402

# Parameters that make the scenario openai-7500 small: 64 nodes, with more failures, smaller bursts of jobs,
# and jobs that share nodes.
SMALL = {
    "cluster.pools[0].count": "64",
    "cluster.pools[0].nodes_per_leaf": "16",
    "workload.sources[0].arrival_rate": "7",
    "workload.sources[0].burst.jobs.value": "40",
    "workload.sources[0].shape.classes[0].gpus": "{kind: discrete, values: [1, 2, 4, 8], "
    "weights: [3, 2, 2, 3]}",
    "workload.sources[0].shape.classes[0].duration.median": "2h",
    "workload.sources[0].shape.classes[2].gpus.values": "[64, 96, 128]",
    "workload.sources[0].shape.classes[2].duration.median": "2h",
    "workload.sources[0].shape.classes[3].weight": "0.01",
    "faults.nodes[0].rate": "150",
    "record.timeline.teams_interval": "30min",
    "policy.base": "strict_gang",
}
# Values of policy.job_queue by their names in the figures. In each value the first policy sorts the queue, and
# the second decides which jobs start.
POLICIES = {
    "FIFO": "{policies: [{name: FIFO}, {name: Strict}]}",
    "SJF, those that fit": "{policies: [{name: SJF}, {name: Skip}]}",
    "FIFO with EASY": "{policies: [{name: FIFO}, {name: EASY}]}",
    "SJF with EASY": "{policies: [{name: SJF}, {name: EASY}]}",
}
CALM = SMALL | {"workload.sources[0].arrival_rate": "5"}
# SMALL with larger gangs: 256 to 384 of the 512 GPUs instead of 64 to 128. Pods are placed one by one. In each
# of two jobs one process dies, and its death is detected only after 2 hours.
LARGE = SMALL | {
    "policy.base": "default",
    "workload.sources[0].arrival_rate": "4",
    "workload.sources[0].shape.classes[2].weight": "40",
    "workload.sources[0].shape.classes[2].gpus.values": "[256, 320, 384]",
    "workload.controller.hang_timeout": "2h",
    "faults.ranks": "[{job: train-0, pod: 3, at: 2h}, {job: train-17, pod: 7, at: 8h}]",
}
SEEDS = range(1, 21)
TRACE = ROOT / "../shared/traces/helios/venus_gpu_jobs_48hclamp.csv.gz"  # the trace of the study queue-order
COLOURS_MAX = 128  # colours of a picture; few keep its file small


class Runs:
    """Runs shipped scenarios and studies by name, with their outputs in a folder."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program, self.folder = program, folder

    def __call__(
        self, scenario: str, name: str, *arguments: str, values: dict[str, str] | None = None
    ) -> orrery.Run:
        output = self.folder / f"{name}.h5"
        path = ROOT / "scenarios" / f"{scenario}.yaml"
        sets = [w for key, value in (values or {}).items() for w in ("--set", f"{key}={value}")]
        command = [self.program, "run", path, "-q", "-o", output, *arguments, *sets]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return orrery.open(output)

    def study(self, name: str) -> orrery.Study:
        """Runs a study of the folder scenarios/studies, and opens its results."""
        path = ROOT / "scenarios" / "studies" / f"{name}.yaml"
        folder = self.folder / name
        subprocess.run([self.program, "study", "run", path, "-q", "-o", folder], check=True)
        return orrery.Study(folder)


def times(runs: Runs) -> pd.DataFrame:
    """Mean job completion time in seconds: a row for each seed, a column for each policy."""
    values = {}
    for policy, queue in POLICIES.items():
        for seed in SEEDS:
            with runs("openai-7500", "run", "--until", "4d", "--seed", str(seed),
                      values=CALM | {"policy.job_queue": queue}) as run:
                values[seed, policy] = run.summary["jct_mean"]
    return pd.Series(values).unstack()[list(POLICIES)].rename_axis(index="seed")


def studies(runs: Runs) -> dict[str, plt.Axes]:
    """Figures of four shipped studies. The study queue-order is left out if its trace is missing."""
    asked = {
        "gang-scheduling": ("gpu_hours_deadlocked", {}),
        "checkpoint-interval": ("gpu_share_useful", {"x": "interval", "by": "failures"}),
        "endpoints": ("watch_bytes", {}),
        "queue-order": ("wait_mean", {}),
    }
    drawn = {}
    for name, (metric, axes) in asked.items():
        if name == "queue-order" and not TRACE.exists():
            continue
        study = runs.study(name)
        drawn[f"study_{name.replace('-', '_')}"] = figures.study_curves(study, metric, **axes)
    return drawn


def scenarios(runs: Runs) -> dict[str, plt.Figure]:
    """The figures named after shipped scenarios."""

    def run_of(scenario: str, *arguments: str) -> orrery.Run:
        return runs(scenario, scenario, *arguments)

    engines = [
        runs("leaf-scaling", engine, values={"network.routing.engine": engine})
        for engine in ("dmodk", "ecmp", "minhop")
    ]
    return {
        "bent_cable": figures.bent_cable(run_of("bent-cable")),
        "cursed_route": figures.cursed_route(run_of("cursed-route")),
        "dead_rank": figures.dead_rank([run_of("dead-rank"), run_of("dead-rank-timeout")]),
        "gpu_power": figures.gpu_power(run_of("gpu-power")),
        "join_storm": figures.join_storm([run_of("join-storm"), run_of("join-smoothed")]),
        "leaf_scaling": figures.leaf_scaling(engines),
        "sync_snapshot": figures.sync_snapshot(run_of("sync-snapshot")),
        "too_few_cpus": figures.too_few_cpus(run_of("too-few-cpus")),
        "watch_traffic": figures.watch_traffic(
            [run_of("watch-endpoints"), run_of("watch-endpointslices")]
        ),
    }


def pictures(runs: Runs) -> dict[str, plt.Axes | plt.Figure]:
    """Every figure, keyed by the name of its file."""
    queues = [
        runs("openai-7500", policy, "--until", "4d", values=SMALL | {"policy.job_queue": queue})
        for policy, queue in POLICIES.items()
    ]
    small = runs("openai-7500", "gangs", "--until", "4d", values=SMALL)
    large = runs("openai-7500", "pod by pod", "--until", "30h", values=LARGE)
    day = runs("openai-7500", "day", "--until", "1d", values=SMALL)
    snapshot = runs("sync-snapshot", "sync-snapshot")
    storm = runs("join-storm", "join-storm")
    dead = runs("dead-rank-timeout", "dead-rank-timeout")
    return {
        "overview": figures.overview(small),
        "utilisation": figures.utilisation(small),
        "losses": figures.losses(large),
        "queue_length": figures.queue_length(small),
        "cdf_wait": figures.cdf(queues, "wait"),
        "cdf_jct": figures.cdf(queues, "jct"),
        "gantt": figures.gantt(day, "leaf"),
        "heat_map_allocation": figures.heat_map(small, "allocation"),
        "heat_map_health": figures.heat_map(small, "health"),
        "heat_map_power": figures.heat_map(snapshot, "power"),
        "stuck": figures.stuck(large, jobs_max=12),
        "failures": figures.failures(small),
        "recoveries": figures.recoveries(small),
        "cardiogram": figures.cardiogram(dead, "train"),
        "control_plane": figures.control_plane(storm),
        "fragmentation": figures.fragmentation(small),
        "fairness": figures.fairness(small),
        "paired_differences": figures.paired_differences(times(runs), what="time to completion"),
        **studies(runs),
        **scenarios(runs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="the program orrery")
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "analysis" / "gallery")
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, drawn in pictures(Runs(arguments.program.resolve(), Path(folder))).items():
            path = arguments.folder / f"{name}.png"
            figures.save(drawn if isinstance(drawn, plt.Figure) else drawn.figure, path)
            with Image.open(path) as picture:
                few = picture.convert("RGB").quantize(COLOURS_MAX, dither=Image.Dither.NONE)
            few.save(path, optimize=True)


if __name__ == "__main__":
    main()
