"""Features of failures and of the output."""

from __future__ import annotations

from draft import Draft, Draw, Feature, Tree
from features_cluster import ENGINES

KINDS_OF_LINKS = ["nic_cables", "leaf_cables", "spine_cables", "leaves", "spines", "cores"]


def random_node_faults(draft: Draft, draw: Draw) -> None:
    for name in draw.some(["gpu", "host"]):
        made: Tree = {"name": name, "rate": draw.number(100, 20_000),
                      "repair": draw.repair(1, 1800)}
        if draw.chance(0.3):
            made.update(distribution="weibull", weibull_shape=draw.number(0.4, 4))
        draft.list_at("faults.nodes").append(made)


def listed_node_faults(draft: Draft, draw: Draw) -> None:
    if not draft.pools:
        return
    for _ in range(draw.count(1, 5)):
        draft.list_at("faults.list").append(
            {"node": f"{draw.pick(draft.pools)}-0", "at": draw.span(0, draft.span),
             "repair": draw.span(0, 1800)})


def failure_log(draft: Draft, draw: Draw) -> None:
    rows = ["# event_id component_id node_id platform_id node_name event_type start stop reason"]
    for node in range(draw.count(1, 4)):
        time = 1_000_000_000
        for event in range(draw.count(1, 6)):
            until = time + draw.count(1, 1500)
            rows.append(f"{event} 1 {node} 7 azur-{node} {(event + 1) % 2} {time}.0 {until}.0 NULL")
            time = until
    draft.files["event_trace.tab"] = "\n".join(rows) + "\n"
    log: Tree = {"file": "event_trace.tab", "format": "fta"}
    draw.maybe(log, 0.3, repeat=True, nodes="shuffled")
    draft.list_at("faults.logs").append(log)


def chaos(draft: Draft, draw: Draw) -> None:
    draft.put("faults.chaos", {"failure_rate": draw.number(0.01, 0.5),
                               "interval": draw.span(10, draft.span / 3),
                               "jitter": draw.number(0, 2), "downtime": draw.span(1, 900)})


def dead_ranks(draft: Draft, draw: Draw) -> None:
    for job in draft.jobs:
        if job.get("kind") != "pods" and "gangs" not in job and job["pod"]["gpus"] > 0:
            if draw.chance(0.5):
                draft.list_at("faults.ranks").append(
                    {"job": job["name"], "at": draw.span(1, draft.span),
                     "pod": draw.count(0, job.get("pods", 1) - 1),
                     "gpus": draw.count(1, job["pod"]["gpus"])})


def flaw(draw: Draw, among: str) -> Tree:
    if among in ("leaves", "spines", "cores"):
        return {"kind": draw.pick(["dead", "flap"])}
    kind = draw.pick(["dead", "flap", "degraded", "cursed"])
    if kind == "degraded":
        return {"kind": kind, "bit_error_rate": draw.pick([1e-12, 1e-9, 1e-7])}
    if kind == "cursed":
        return {"kind": kind, "factor": draw.count(2, 200)}
    return {"kind": kind}


def link_faults(draft: Draft, draw: Draw) -> None:
    if draft.get("network.level") != "flow":
        return
    links = draft.section("faults.links")
    if draw.chance(0.7):
        links["list"] = []
        for _ in range(draw.count(1, 4)):
            among = draw.pick(KINDS_OF_LINKS[:4])
            at = draw.count(0, draft.span - 1)
            fault: Tree = {"among": among, "at": f"{at}s", "flaw": flaw(draw, among)}
            if fault["flaw"]["kind"] != "flap":
                fault["until"] = f"{at + draw.count(1, 1500)}s"
            links["list"].append(fault)
    if draw.chance(0.4):
        among = draw.pick(KINDS_OF_LINKS[:4])
        links["random"] = [{"name": "some", "among": among, "rate": draw.number(100, 100_000),
                            "flaw": flaw(draw, among), "repair": draw.repair(1, 900)}]
    if draw.chance(0.3):
        links["routing"] = [{"at": f"{draw.count(1, draft.span - 1)}s",
                             "engine": draw.pick(ENGINES)}]
    draw.maybe(draft.section("network.links"), 0.4, retry_timeout=draw.span(1, 900),
               ack_timeout=draw.span(0.01, 1))


def timeline(draft: Draft, draw: Draw) -> None:
    interval = draw.count(1, 600)
    made = {"interval": f"{interval}s", "teams_interval": f"{interval * draw.count(0, 5)}s"}
    draft.put("record.timeline", made)


def attempts(draft: Draft, draw: Draw) -> None:
    draft.put("record.attempts", True)


def cardiogram(draft: Draft, draw: Draw) -> None:
    names = [job["name"] for job in draft.jobs if job.get("kind") != "pods"]
    if names:
        begin = draw.count(0, draft.span - 60)
        draft.put("record.cardiogram", {
            "jobs": draw.some(names, 2), "resolution": draw.span(0.2, 20),
            "window": {"from": f"{begin}s", "to": f"{begin + draw.count(1, 60)}s"}})


def run_seed(draft: Draft, draw: Draw) -> None:
    draft.put("run.seed", draw.count(0, 10**6))


FEATURES = [
    Feature("random_node_faults", 0.35, random_node_faults),
    Feature("listed_node_faults", 0.2, listed_node_faults),
    Feature("failure_log", 0.1, failure_log),
    Feature("chaos", 0.12, chaos),
    Feature("dead_ranks", 0.2, dead_ranks),
    Feature("link_faults", 0.4, link_faults),
    Feature("timeline", 0.5, timeline),
    Feature("attempts", 0.5, attempts),
    Feature("cardiogram", 0.2, cardiogram),
    Feature("run_seed", 0.7, run_seed),
]
