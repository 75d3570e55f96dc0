"""Mistakes that a command reports in one line; without imports, which would take time."""


class RunError(ValueError):
    """The input is no output of orrery, or lacks the requested data."""


class OutputError(Exception):
    """The output could not be written."""
