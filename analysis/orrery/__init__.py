"""Tables of a run as pandas data frames: `Run("run.h5").table("/timeline/cluster")`."""

from orrery.run import Run

__all__ = ["Run"]
