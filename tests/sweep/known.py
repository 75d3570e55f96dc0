"""Leaves for which no base accepts a value, with the reason, and leaves that are tried in only one base."""

from __future__ import annotations

# Regular expressions for leaves, each with the reason why no base accepts a value.
NOT_TRIED: dict[str, str] = {
    r"run\.changes\[\]\.policy\.job_queue\..*":
        "a job queue cannot come while the run goes on, and is refused there",
    r"policy\.job_queue\.policies\[\]<Remote>\..*":
        "a program must listen; tests/unit/analysis/remote has one",
    r"run\.changes\[\]\.policy\.controllers.*":
        "controllers cannot change while the run goes on, and are refused there",
    r"workload\.sources\[\]<(generator|trace)>\.training\.step\.(model|parallel)\..*":
        "jobs of unlike sizes cannot have a step with model or parallel",
}
# Leaves that are tried in only one base, each with this base.
BASE_OF: dict[str, str] = {
    "run.until": "alpha_beta",  # every job of this base ends
}
