"""Numbers, spans and sizes as pages show them. numbers.js in the assets does the same."""

from __future__ import annotations

import math
from collections.abc import Sequence

SPANS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
PREFIXED = ("B", "B/s", "bit/s", "W")  # units with the prefixes k, M, G and so on, which are powers of 1,000
GPU_SECONDS, GPU_HOURS = "GPU s", "GPU h"


def number(value: float, digits: int = 4) -> str:
    """The number with `digits` significant digits, but with all digits before the point."""
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    if size > 0 and (size < 1e-4 or size >= 1e15):
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent):+d}"
    most = max(digits, math.floor(math.log10(size or 1)) + 1)
    return f"{value:,.{most}g}"


def span(seconds: float) -> str:
    """A duration in the largest unit of which it has at least one."""
    if seconds is None or not math.isfinite(seconds):
        return "–"
    length, unit = next(
        (one for one in SPANS if abs(seconds) >= one[0]), SPANS[5 if seconds else 3]
    )
    return f"{number(seconds / length, 3)} {unit}"


def scale_of(value: float, unit: str) -> tuple[float, str]:
    """The divisor of values of this size, and the unit that suits the quotients, as in (1000.0, "kB")."""
    if unit == "s":
        return next((one for one in SPANS if abs(value) >= 2 * one[0]), SPANS[3])
    if unit == GPU_SECONDS:
        return 3_600.0, GPU_HOURS
    if unit in PREFIXED:
        length, prefix = next((one for one in PREFIXES if abs(value) >= one[0]), PREFIXES[5])
        return length, prefix + unit
    return 1.0, unit


def with_unit(value: float, unit: str) -> str:
    """A figure in a suitable unit, as in `250 ms`, `3 h`, `12 GPU h` or `20 MB`."""
    if value is None or not math.isfinite(value):
        return "–"
    if unit == "s":
        return span(value)
    length, shown = scale_of(value, unit)
    return f"{number(value / length, 3 if unit in PREFIXED else 4)} {shown}".strip()


def count(value: float, what: str) -> str:
    """`1 job`, `4,812 jobs`."""
    return f"{number(value)} {what if value != 1 else what.removesuffix('s')}"


def listed(parts: Sequence[str]) -> str:
    """Items joined as `a`, `a and b` or `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def sentence(text: str) -> str:
    """The text with a capital at its begin and a full stop at its end."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def job_title(name: str, job: int) -> str:
    """The name of a job, and its number unless the name ends with it: several jobs may have the same name."""
    return name if name.endswith(f"-{job}") else f"{name} (job {job})"
