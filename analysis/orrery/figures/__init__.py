"""Figures of runs. Each is a pair: `name_data(run)` gives the frame that is drawn, and
`name(run, axis=None)` draws it, into a new figure of publication size unless given an axis."""

from orrery.figures.cluster import (
    fairness,
    fairness_data,
    queue_length,
    queue_length_data,
    utilisation,
    utilisation_data,
)
from orrery.figures.control_plane import control_plane, control_plane_data
from orrery.figures.faults import failures, failures_data
from orrery.figures.jobs import cdf, cdf_data, gantt, gantt_data, stuck, stuck_data
from orrery.figures.losses import losses, losses_data
from orrery.figures.nodes import (
    fragmentation,
    fragmentation_data,
    heat_map,
    heat_map_data,
)
from orrery.figures.policies import paired_differences, paired_differences_data
from orrery.figures.ranks import cardiogram, cardiogram_data
from orrery.figures.recoveries import recoveries, recoveries_data
from orrery.figures.studies import study_curves, study_curves_data
from orrery.style import publication, save

__all__ = [
    "cardiogram", "cardiogram_data", "cdf", "cdf_data", "control_plane", "control_plane_data",
    "failures", "failures_data", "fairness", "fairness_data", "fragmentation", "fragmentation_data",
    "gantt", "gantt_data", "heat_map", "heat_map_data", "losses", "losses_data",
    "paired_differences",
    "paired_differences_data", "publication", "queue_length", "queue_length_data", "recoveries",
    "recoveries_data", "save", "stuck", "stuck_data", "study_curves",
    "study_curves_data", "utilisation", "utilisation_data",
]
