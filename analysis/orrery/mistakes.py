"""Mistakes that a command tells in a line; without imports, so that none of them takes time."""


class RunError(ValueError):
    """The file is no output of orrery, or does not hold what was asked for."""


class OutputError(Exception):
    """What was asked for could not be written."""
