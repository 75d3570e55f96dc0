"""Figures of runs. Most figures have a pair of functions: `name_data(run)` returns the frame that is drawn,
and `name(run, axis=None)` draws it into the axis or, without one, into a new figure of publication size.
Figures with several panels return a whole matplotlib figure: `overview(run)`, and the figures named after
shipped scenarios, such as `bent_cable(run)`. Figures that compare runs take a list of runs."""

from orrery.figures.bent_cable import bent_cable, bent_cable_data
from orrery.figures.cluster import (
    fairness,
    fairness_data,
    queue_length,
    queue_length_data,
    utilisation,
    utilisation_data,
)
from orrery.figures.control_plane import control_plane, control_plane_data
from orrery.figures.cursed_route import cursed_route
from orrery.figures.dead_rank import dead_rank
from orrery.figures.faults import failures, failures_data
from orrery.figures.gpu_power import gpu_power, gpu_power_data
from orrery.figures.jobs import cdf, cdf_data, gantt, gantt_data, stuck, stuck_data
from orrery.figures.join_storm import join_storm
from orrery.figures.leaf_scaling import leaf_scaling, leaf_scaling_data
from orrery.figures.losses import losses, losses_data
from orrery.figures.nodes import (
    fragmentation,
    fragmentation_data,
    heat_map,
    heat_map_data,
)
from orrery.figures.overview import overview
from orrery.figures.policies import paired_differences, paired_differences_data
from orrery.figures.ranks import cardiogram, cardiogram_data
from orrery.figures.recoveries import recoveries, recoveries_data
from orrery.figures.studies import study_curves, study_curves_data
from orrery.figures.sync_snapshot import sync_snapshot
from orrery.figures.too_few_cpus import too_few_cpus, too_few_cpus_data
from orrery.figures.watch_traffic import watch_traffic, watch_traffic_data
from orrery.style import publication, save

__all__ = [
    "bent_cable", "bent_cable_data", "cardiogram", "cardiogram_data", "cdf", "cdf_data",
    "control_plane", "control_plane_data", "cursed_route", "dead_rank", "failures", "failures_data",
    "fairness", "fairness_data", "fragmentation", "fragmentation_data", "gantt", "gantt_data",
    "gpu_power", "gpu_power_data", "heat_map", "heat_map_data", "join_storm", "leaf_scaling",
    "leaf_scaling_data", "losses", "losses_data", "overview", "paired_differences",
    "paired_differences_data", "publication", "queue_length", "queue_length_data", "recoveries",
    "recoveries_data", "save", "stuck", "stuck_data", "study_curves", "study_curves_data",
    "sync_snapshot", "too_few_cpus", "too_few_cpus_data", "utilisation", "utilisation_data",
    "watch_traffic", "watch_traffic_data",
]
