"""Numbers as people tell them."""

from __future__ import annotations

import math

from orrery.style import time_unit


def number(value: float) -> str:
    """Whole and large numbers in full, others with four digits."""
    if math.isnan(value):
        return "–"
    if value == int(value) or abs(value) >= 1e4:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def with_unit(value: float, unit: str) -> str:
    """A figure as people tell it; seconds in the unit that suits them."""
    if math.isnan(value):
        return "–"
    if unit == "s":
        length, name = time_unit(value)
        return f"{number(value / length)} {name}"
    return f"{number(value)} {unit}".strip()
