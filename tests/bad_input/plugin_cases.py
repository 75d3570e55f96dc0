"""Policies of a shared library that break their contract in a run or a study: cases for cases.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PODS = "policy: {{plugins: [{{name: {}}}]}}\n"
GANGS = "policy: {{base: strict_gang, plugins: [{{name: {}}}]}}\n"
JOBS = "policy: {{job_queue: {{policies: [{{name: {}}}]}}}}\n"
FAULTS = (  # policy, scenario text that names it, expected message
    ("ThrowsInScore", PODS, "failed: boom"),
    ("ThrowsNumber", PODS, "it threw something that is no std::exception"),
    ("ThrowsInUnreserve", PODS, "failed: it was mine"),
    ("ChecksInVain", PODS, "faulty.cpp", "pods need many attempts"),
    ("ScoresTooLow", PODS, "a normalised score lies in 0..100"),
    ("KeepsOthers", PODS, "a set of nodes of this cluster"),
    ("AddsNodes", PODS, "PreFilter may only take nodes away"),
    ("TakesTime", PODS, "Charges takes no negative time"),
    ("FailsEarly", PODS, "PostFilter takes no negative time"),
    ("WaitsBackwards", PODS, "Permit waits no negative time"),
    ("PicksNothing", PODS, "PickDevices gives the GPUs that the pod needs"),
    ("PicksTaken", PODS, "PickDevices takes GPUs that are free"),
    ("AsksForNobody", PODS, "there is such a pod"),
    ("NamesTheSame", PODS, "NextPod names a pod in the queue, or none"),
    ("NamesNoLeaf", GANGS, "Domains names nodes and leaves of the cluster"),
    ("ScoresTooHigh", GANGS, "the score of a placement lies in 0..100"),
    ("StartsTwice", JOBS, "only a waiting job starts"),
    ("StartsNobody", JOBS, "there is such a job"),
    ("WakesTooEarly", JOBS, "an event lies in the future"),
    ("RanksNobody", JOBS, "failed: who is it"),
)


def plugin_cases(case: Callable[..., Any], good: str) -> list[Any]:
    """Cases of faulty policies. `good` is a scenario without mistakes, whose only job has two pods of 8 GPUs
    each."""
    halves = good.replace("gpus: 8", "gpus: 4").replace("pods: 2", "pods: 8")  # two pods fit on each node
    library = "{plugins}/libfaulty.so"
    run = ("run", "s.yaml", "-o", "out.h5", "--plugin", library)
    part = "what was recorded so far is in out.h5.part"
    study = ("base: s.yaml\naxes: [{name: p, arms: [{name: faulty, set: {'policy.plugins': "
             "'[{name: ThrowsInScore}]'}}, {name: good}]}]\nseeds: {count: 1}\n")
    return [
        *(case(f"policy that breaks its contract: {name}", {"s.yaml": halves + where.format(name)}, run, 2,
               (f"policy '{name}' of ", "libfaulty.so failed: ", "at simulated time 0.000", part, *says),
               never_says=("internal error", "please report"), leaves=("out.h5.part",))
          for name, where, *says in FAULTS),
        case("policy that throws when it is made", {"s.yaml": good + PODS.format("ThrowsWhenMade")}, run, 2,
             ("policy 'ThrowsWhenMade' of ", "libfaulty.so failed: no licence"), never_says=("recorded so far",)),
        case("policy that throws when it is destroyed", {"s.yaml": good + PODS.format("ThrowsWhenDestroyed")}, run, 1,
             ("internal error: not in a destructor",), leaves=("out.h5",)),
        case("policy that throws in one arm of a study", {"s.yaml": good, "study.yaml": study},
             ("study", "run", "study.yaml", "-o", "out", "--plugin", library), 2,
             ("p=faulty seed 1: policy 'ThrowsInScore' of ", "boom", "2 runs, 0 of them kept, 1 failed"),
             leaves=("out", "out/runs", "out/runs/study.yaml", "out/study.h5",
                                             "out/runs/00000-s1.h5.part", "out/runs/00001-s1.h5",
                                             "out/runs/00001-s1.json")),
    ]
