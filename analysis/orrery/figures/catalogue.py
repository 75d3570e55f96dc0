"""The figures of `orrery plot`, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orrery import figures
from orrery.mistakes import RunError
from orrery.run import Run

DEFAULT = "overview"


@dataclass(frozen=True)
class Entry:
    """A figure of the catalogue. `function` takes one run or, if `several`, all given runs."""

    doc: str
    function: Callable[..., Axes | Figure]
    several: bool = False
    of_job: bool = False
    """The function takes the name of a job, too."""
    named: tuple[tuple[str, Any], ...] = ()
    """Further arguments of the function."""
    scenarios: tuple[str, ...] = ()
    """Further scenarios, beside the one with the name of the figure, for which inferred() chooses this
    figure."""

    def draw(self, runs: Sequence[Run], job: str | None = None) -> Figure:
        given = dict(self.named)
        if self.of_job:
            given["job"] = job or recorded_job(runs[0])
        drawn = self.function(runs if self.several else runs[0], **given)
        return drawn if isinstance(drawn, Figure) else drawn.figure


FIGURES = {
    "overview": Entry("GPU use, queue and failures over one time axis", figures.overview),
    "utilisation": Entry("GPU use: allocated, reported, by power, useful", figures.utilisation),
    "queue-length": Entry("jobs and pods that wait", figures.queue_length),
    "cdf-wait": Entry("distribution of the waits of jobs", figures.cdf, several=True,
                      named=(("what", "wait"),)),
    "cdf-jct": Entry("distribution of job completion times", figures.cdf, several=True,
                     named=(("what", "jct"),)),
    "gantt": Entry("pods on their GPUs, by node", figures.gantt),
    "gantt-leaf": Entry("pods on their GPUs, by leaf switch", figures.gantt,
                        named=(("by", "leaf"),)),
    "heat-map-allocation": Entry("allocated GPUs of each node over time", figures.heat_map,
                                 named=(("what", "allocation"),)),
    "heat-map-health": Entry("health of each node over time", figures.heat_map,
                             named=(("what", "health"),)),
    "heat-map-power": Entry("power of each node over time, from a cardiogram", figures.heat_map,
                            named=(("what", "power"),)),
    "stuck": Entry("jobs that held GPUs in a deadlock or a hang", figures.stuck),
    "losses": Entry("GPU time: useful, idle, and lost by cause", figures.losses),
    "failures": Entry("failures of nodes, recoveries of jobs, nodes down", figures.failures),
    "recoveries": Entry("stages of the recovery from each failure", figures.recoveries),
    "cardiogram": Entry("phases of each GPU of a job", figures.cardiogram, of_job=True),
    "control-plane": Entry("requests to the API servers by priority level",
                           figures.control_plane),
    "fragmentation": Entry("free GPUs by how many are free on their node", figures.fragmentation),
    "fairness": Entry("shares and slowdowns of teams, Jain's index", figures.fairness),
    "bent-cable": Entry("jobs behind a cable with symbol errors", figures.bent_cable),
    "cursed-route": Entry("training that freezes with its routes", figures.cursed_route),
    "dead-rank": Entry("GPUs of a job after one of its processes dies", figures.dead_rank,
                       several=True, of_job=True),
    "gpu-power": Entry("power of GPUs as a distribution, beside that of Acme Kalos",
                       figures.gpu_power),
    "join-storm": Entry("API servers, latency and jobs while many nodes join",
                        figures.join_storm, several=True, scenarios=("join-smoothed",)),
    "leaf-scaling": Entry("speed of training by number of nodes", figures.leaf_scaling,
                          several=True),
    "sync-snapshot": Entry("power and bandwidth of jobs over their snapshots",
                           figures.sync_snapshot),
    "too-few-cpus": Entry("computing and exchanging of each job's step", figures.too_few_cpus),
    "watch-traffic": Entry("bytes that API servers send to watchers", figures.watch_traffic,
                           several=True, scenarios=("watch-endpoints", "watch-endpointslices")),
}


def recorded_job(run: Run) -> str:
    """The name of the first job that has a cardiogram."""
    table = "/timeline/cardiogram"
    rows = run.table(table) if table in run else ()
    if not len(rows):
        raise RunError(f"{run.path}: no cardiogram was recorded; see record.cardiogram")
    jobs = run.table("/jobs").set_index("job")["name"]
    return str(jobs[rows["job"].iloc[0]])


def listing() -> str:
    """The names of all figures with their descriptions, one a line."""
    width = max(map(len, FIGURES)) + 2
    return "\n".join(f"{name:{width}}{entry.doc}" for name, entry in FIGURES.items())


def inferred(run: Run) -> str:
    """The figure of the scenario after which the file is named: `dead-rank` for `dead-rank-timeout.h5`.
    Without such a figure, the overview."""
    fitting = [
        (len(scenario), name)
        for name, entry in FIGURES.items()
        for scenario in (name, *entry.scenarios)
        if f"{run.name}-".startswith(f"{scenario}-")
    ]
    return max(fitting, default=(0, DEFAULT))[1]
