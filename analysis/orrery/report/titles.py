"""What figures of `/summary` are called, and how their differences are put into words."""

from __future__ import annotations

import re
from dataclasses import dataclass

TITLES = {
    "api_errors": "failed API requests", "api_latency_p50": "median API latency",
    "api_latency_p99": "99th percentile of API latency", "api_lost": "API requests lost",
    "api_requests": "API requests", "api_retried": "retried writes of pods",
    "api_servers_killed": "API servers killed", "api_too_many": "API requests with 429",
    "bounded_slowdown_max": "largest slowdown", "bounded_slowdown_mean": "mean slowdown",
    "boot_requests": "requests of nodes that boot", "container_restarts": "container restarts",
    "deadlocks": "deadlocks", "etcd_out_of_space": "times etcd was full",
    "events_written": "Events written", "failed_scheduling": "failed scheduling attempts",
    "faults": "faults of nodes", "gpu_energy_kwh": "energy of the GPUs",
    "gpu_hours_deadlocked": "GPU time held in deadlocks",
    "gpu_hours_infeasible": "GPU time held by gangs that never fit",
    "gpu_s_allocated": "allocated GPU time", "gpu_s_computing": "computing GPU time",
    "gpu_s_exchange": "GPU time in exchanges", "gpu_s_lost": "lost GPU time",
    "gpu_s_power": "GPU time by power", "gpu_s_reported": "GPU time as nvidia-smi reports it",
    "gpu_s_up": "GPU time on nodes that are up", "gpu_s_useful": "useful GPU time",
    "gpu_share_allocated": "allocated share of GPU time",
    "gpu_share_computing": "computing share of GPU time",
    "gpu_share_exchange": "share of GPU time in exchanges",
    "gpu_share_lost": "lost share of GPU time", "gpu_share_power": "share of GPU time by power",
    "gpu_share_reported": "share of GPU time as nvidia-smi reports it",
    "gpu_share_up": "share of GPU time on nodes that are up",
    "gpu_share_useful": "useful share of GPU time", "gpus": "GPUs",
    "image_wait": "wait for images", "jct_mean": "mean time to completion",
    "jct_p50": "median time to completion", "jct_p99": "99th percentile of time to completion",
    "jobs_cancelled": "cancelled jobs", "jobs_completed": "completed jobs",
    "jobs_failed": "failed jobs", "jobs_infeasible": "jobs that never fit",
    "jobs_submitted": "submitted jobs", "jobs_too_large": "jobs too large for the cluster",
    "jobs_unfinished": "unfinished jobs", "join_p50": "median time to join",
    "join_p99": "99th percentile of time to join", "link_faults": "faults of cables and switches",
    "lost_preempted_gpu_s": "GPU time lost to preemption", "nodes_failed": "failures of nodes",
    "permit_timeouts": "pods that timed out in Permit", "pods_failed": "failed pods",
    "pods_lost": "pods lost with their nodes", "pods_preempted": "preempted pods",
    "pods_scheduled": "scheduled pods", "pool_used": "share of the counted resource in use",
    "restarts": "restarts of jobs", "scheduler_busy": "time that the scheduler is busy",
    "scheduling_attempts": "scheduling attempts", "wait_mean": "mean wait",
    "wait_p50": "median wait", "wait_p99": "99th percentile of waits",
    "watch_bytes": "bytes of watches", "watch_bytes_peak": "peak rate of watches",
    "watch_cpu": "CPU time of watches", "watch_events": "changes sent to watchers",
}
WORDS = {"api": "API", "gpu": "GPU", "gpus": "GPUs", "etcd": "etcd", "cpu": "CPU", "p50": "median",
         "p99": "99th percentile"}
VERBS = {"jobs_completed": ("completed", "jobs"), "jobs_failed": ("failed", "jobs")}
COUNTED = ("jobs", "pods", "requests", "restarts", "attempts", "Events", "images", "nodes", "GPU",
           "watches", "elections", "namespaces")
AMOUNTS = ("GPU s", "GPU h", "B", "kWh")


def humanized(identifier: str) -> str:
    """An identifier in words: `nodes_per_leaf` becomes nodes per leaf."""
    words = [word for word in re.split(r"[_\W]+", identifier) if word]
    return " ".join(WORDS.get(word, word) for word in words)


@dataclass(frozen=True)
class Words:
    """The words for a metric in sentences."""

    title: str
    verb: str
    noun: str
    less: str
    more: str

    @property
    def title_within(self) -> str:
        """The title within a sentence; `GPU time` keeps its capitals."""
        return self.title[:1].lower() + self.title[1:] if self.title[1:2].islower() else self.title

    def differs(self, by: str, is_more: bool) -> str:
        """The predicate of a sentence: `completed 71 to 95 % fewer jobs`, `had a 12 % longer mean wait`."""
        article = ("" if self.less in ("fewer", "less") else "an " if by.startswith(("8", "11 ", "18 "))
                   else "a ")
        return f"{self.verb} {article}{by} {self.more if is_more else self.less} {self.noun}"


def words_of(name: str, unit: str) -> Words:
    title = TITLES.get(name) or humanized(name)
    verb, noun = VERBS.get(name, ("had", title))
    is_count = unit in COUNTED or (unit == "" and "share" not in name and title.endswith("s"))
    less, more = (("shorter", "longer") if unit == "s" else ("fewer", "more") if is_count
                  else ("less", "more") if unit in AMOUNTS else ("lower", "higher"))
    return Words(title[:1].upper() + title[1:], verb, noun, less, more)


def parameter_title(parameter: str, axis: str) -> str:
    """A title for an axis, from the parameter that its arms set: `arrival rate`, `count of pools`. A word
    that says little alone, such as count, is followed by the name of the parameter's section."""
    if not parameter:
        return humanized(axis)
    parts = [re.sub(r"\[.*?\]", "", part) for part in parameter.split(".")]
    if parts[-1] in ("count", "rate", "value", "name", "kind", "weight") and len(parts) > 1:
        return f"{humanized(parts[-1])} of {humanized(parts[-2])}"
    return humanized(parts[-1])
