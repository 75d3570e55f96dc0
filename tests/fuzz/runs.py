"""Runs the program on a scenario, with a limit of host time."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Simulated time in a line of progress: "12:00:01 info: 00:31:07 of 01:00:00  51.9 % ... 1.2M events/s".
PROGRESS = re.compile(r"info: ((?:\d+d )?\d\d:\d\d:\d\d)\b.*events/s")


@dataclass(frozen=True)
class Ended:
    """How the program ended. `status` is negative after a signal, and None if the program exceeded the
    time limit."""

    status: int | None
    text: str
    """Standard output and standard error, mixed."""

    @property
    def advanced(self) -> bool:
        """Whether simulated time still advanced when the program was killed."""
        times = PROGRESS.findall(self.text)
        return len(times) >= 2 and times[-1] != times[-2]

    @property
    def reason(self) -> str:
        """The line of the output that best explains the failure."""
        marks = ("check failed", "ERROR: AddressSanitizer", "runtime error", "internal error",
                 "terminate called", "what()")
        lines = [line for line in self.text.splitlines() if any(mark in line for mark in marks)]
        last = self.text.strip().splitlines()[-1:] if self.status == 2 else []
        return (lines or last or ["no message"])[0].strip()


@dataclass(frozen=True)
class Program:
    binary: Path
    limit: float
    """Seconds of host time for a run."""

    def _called(self, *arguments: str | Path) -> Ended:
        process = subprocess.Popen([self.binary, *arguments], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace")
        try:
            text, _ = process.communicate(timeout=self.limit)
            return Ended(process.returncode, text)
        except subprocess.TimeoutExpired:
            process.kill()
            return Ended(None, process.communicate()[0])

    def validate(self, scenario: Path) -> Ended:
        return self._called("validate", scenario)

    def run(self, scenario: Path, output: Path) -> Ended:
        return self._called("run", scenario, "-o", output, "--audit-every", "500")
