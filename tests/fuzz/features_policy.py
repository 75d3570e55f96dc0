"""Features of the scheduler: profiles, plug-ins with arguments, queues, changes during the run."""

from __future__ import annotations

from draft import Draft, Draw, Feature, Tree

BASES = ["default", "coscheduling", "koordinator", "strict_gang", "native_gang"]
SCORES = ["BestFit", "DotProduct", "GpuPacking", "GpuClustering", "Random", "ImageLocality",
          "PodTopologySpread", "NodeResourcesFit", "NodeResourcesBalancedAllocation",
          "DefaultDevices"]
PLACEMENTS = ["TopologyPlacement", "HeliosConsolidate", "SlurmTopologyTree", "SlurmTopologyBlock",
              "KueueTopology", "VolcanoHyperNode", "PodGroupPodsCount"]
ORDERS = ["FIFO", "SJF", "QSSF", "SlurmMultifactor"]
PLANS = ["Strict", "Skip", "EASY", "Conservative", "SlurmBackfill", "KubeDL", "DRF", "SRTF",
         "Tiresias", "Themis"]


def arguments(name: str, draw: Draw) -> Tree:
    """Random arguments for a scheduler plug-in; often none."""
    known: Tree = {}
    if name == "Coscheduling":
        draw.maybe(known, 0.5, permitWaitingTimeSeconds=draw.count(1, 300),
                   podGroupBackoffSeconds=draw.count(0, 30),
                   podGroupRejectPercentage=draw.count(0, 100))
    elif name == "KoordinatorCoscheduling":
        draw.maybe(known, 0.5, defaultTimeout=draw.span(1, 900), mode="NonStrict",
                   matchPolicy=draw.pick(["only-waiting", "waiting-and-running"]))
    elif name == "GangScheduling":
        draw.maybe(known, 0.5, schedulingTimeoutSeconds=draw.count(1, 600))
    elif name == "StrictGang":
        draw.maybe(known, 0.5, members="min_available")
    elif name == "TopologyPlacement":
        draw.maybe(known, 0.4, level=draw.pick(["leaf", "hostname"]),
                   relax_attempts=draw.count(1, 5), relax_after=draw.span(1, 300))
    elif name == "KueueTopology":
        draw.maybe(known, 0.4, level=draw.pick(["leaf", "hostname"]),
                   mode=draw.pick(["required", "preferred", "unconstrained"]),
                   order="LeastFreeCapacity")
    elif name == "VolcanoHyperNode":
        draw.maybe(known, 0.5, highest_tier=draw.count(1, 3))
    elif name == "SlurmTopologyBlock":
        draw.maybe(known, 0.5, doublings=draw.count(0, 4))
    elif name == "DefaultPreemption":
        draw.maybe(known, 0.3, algorithm="before_1_20", **{"async": False})
    elif name == "GangPreemption":
        draw.maybe(known, 0.7, order=draw.pick(["fewest", "volcano", "kueue"]))
    elif name == "PodTopologySpread":
        known["defaultConstraints"] = [
            {"topologyKey": draw.pick(["hostname", "leaf"]), "maxSkew": draw.count(1, 3),
             "whenUnsatisfiable": draw.pick(["DoNotSchedule", "ScheduleAnyway"])}]
    elif name == "DotProduct":
        draw.maybe(known, 0.5, prefer="largest_product")
    elif name == "DefaultDevices":
        draw.maybe(known, 0.8, strategy=draw.pick(["lowest_index", "random"]))
    elif name == "NodeResourcesFit":
        draw.maybe(known, 0.5, deletedPodHint="fits", scoringStrategy={"type": "MostAllocated"})
    return known


def plugin(name: str, draw: Draw) -> Tree:
    made: Tree = {"name": name}
    given = arguments(name, draw)
    if given:
        made["args"] = given
    return made


OF_BASE = {"coscheduling": "Coscheduling", "koordinator": "KoordinatorCoscheduling",
           "native_gang": "GangScheduling", "strict_gang": "StrictGang"}


def profile(base: str, draw: Draw) -> Tree:
    made: Tree = {"base": base, "plugins": []}
    if base in OF_BASE and draw.chance(0.4):
        made["plugins"].append(plugin(OF_BASE[base], draw))
    if base in ("strict_gang", "native_gang"):
        if draw.chance(0.35):
            made["plugins"].append(plugin(draw.pick(PLACEMENTS), draw))
        if draw.chance(0.3):
            made["plugins"].append(plugin("GangPreemption", draw))
    elif draw.chance(0.25):
        made["plugins"].append(plugin("DefaultPreemption", draw))
    if draw.chance(0.4):
        made["plugins"] += [plugin(name, draw) for name in draw.some(SCORES, 3)]
    draw.maybe(made, 0.2, tie_break="random", percentage_of_nodes_to_score=draw.count(1, 100))
    if draw.chance(0.25):
        made["queue"] = {}
        draw.maybe(made["queue"], 0.4, initial_backoff=draw.span(1, 10),
                   max_backoff=draw.span(10, 60), unschedulable_max=draw.span(30, 600),
                   pop_from_backoff=draw.pick([True, False]))
        if base not in ("koordinator", "coscheduling"):
            draw.maybe(made["queue"], 0.3, head_of_line="block")
    if draw.chance(0.25):
        made["cost"] = {}
        draw.maybe(made["cost"], 0.5, per_cycle=draw.span(0, 0.5), per_node=draw.span(0, 0.01),
                   per_pod=draw.span(0, 0.1), bind=draw.span(0, 5))
    return made


def slow_down(policy: Tree, draft: Draft, draw: Draw) -> None:
    """Makes the scheduler slow in a long run whose profile places gangs pod by pod. Otherwise a gang that
    never fits would be tried thousands of times a second."""
    if policy["base"] in ("coscheduling", "koordinator") and draft.span > 900:
        policy.setdefault("cost", {})["per_cycle"] = draw.span(0.02, 0.5)


def policy(draft: Draft, draw: Draw) -> None:
    made = profile(draw.pick(BASES), draw)
    slow_down(made, draft, draw)
    draft.put("policy", made)


def other_driver(draft: Draft, draw: Draw) -> None:
    if draft.get("policy.base") in ("default", "coscheduling"):
        draft.put("policy.driver", "per_gang")


def job_policy(name: str, draw: Draw) -> Tree:
    known: Tree = {}
    if name == "SlurmMultifactor":
        draw.maybe(known, 0.5, weight_age=draw.count(1, 1000), weight_job_size=100,
                   weight_fairshare=draw.count(1, 1000), favor_small=True,
                   weight_priority=1, calc_period=draw.span(10, 600), shares={"a": 3, "b": 1})
    elif name == "SlurmBackfill":
        draw.maybe(known, 0.4, bf_interval=draw.span(1, 60), bf_resolution=draw.span(1, 120),
                   bf_max_job_test=draw.count(1, 10), bf_max_job_start=draw.count(0, 3))
    elif name == "DRF":
        draw.maybe(known, 0.5, of="team", weights={"a": 2})
    elif name == "Themis":
        draw.maybe(known, 0.5, lease=draw.span(30, 1200), fairness=draw.number(0, 1))
    elif name == "Tiresias":
        draw.maybe(known, 0.3, promote_knob=draw.count(1, 5), limits=[100, 1000])
    elif name == "Quota":
        known.update(of=draw.pick(["team", "user"]), limits={"a": draw.count(8, 40)})
        draw.maybe(known, 0.5, others=draw.count(8, 64))
    elif name == "EASY":
        draw.maybe(known, 0.5, backfill="shortest")
    return {"name": name, "args": known} if known else {"name": name}


def job_queue(draft: Draft, draw: Draw) -> None:
    if all(source["kind"] == "service" for source in draft.sources):
        return
    plan = draw.pick(PLANS)
    chosen = [plan, "Quota"] if draw.chance(0.2) else [plan]
    if draw.chance(0.6):
        chosen.append(draw.pick(ORDERS))
    queue: Tree = {"policies": [job_policy(name, draw) for name in chosen]}
    if draw.chance(0.4):
        queue["estimates"] = {"kind": draw.pick(["exact", "requested", "recent_two", "noisy"])}
        draw.maybe(queue["estimates"], 0.3, factor=draw.number(0.2, 5))
        if queue["estimates"]["kind"] == "noisy":
            queue["estimates"]["sigma"] = draw.number(0.1, 2)
    draw.maybe(queue, 0.3, react="each_event",
               counts=draw.pick([["gpus"], ["gpus", "cpus"], ["gpus", "memory", "pods"]]),
               stops={"write": draw.span(0, 60), "restart": draw.span(0, 60)})
    draft.put("policy.job_queue", queue)
    draft.put("workload.sources", [one for one in draft.sources if one["kind"] != "service"])


def counting(draft: Draft, draw: Draw) -> None:
    """Switches to the counting driver: jobs have no pods, and take resources out of a pool. Lucid shares GPUs,
    and Gavel has a speed for each GPU model, only with this driver."""
    queue = draft.get("policy.job_queue")
    if queue is None:
        return
    draw.maybe(queue, 0.3, costs={"release_delay": draw.span(0, 60),
                                  "batch_start": draw.span(0, 10)})
    draft.put("policy", {"driver": "counting", "job_queue": queue})
    if draw.chance(0.25):
        queue["policies"] = [{"name": "Lucid", "args": {
            "scores": [{"application": "ResNet", "score": 0}, {"application": "BERT", "score": 1}]}}]
    elif draw.chance(0.25):
        queue["policies"] = [{"name": "Gavel", "args": {"round": draw.span(60, 600)}}]


def changes(draft: Draft, draw: Draw) -> None:
    if draft.until is None or draft.get("policy.job_queue") is not None:
        return
    at = 0
    for _ in range(draw.count(1, 2)):
        at += draw.count(1, draft.until // 2 - 1)
        made = profile(draw.pick(BASES), draw)
        slow_down(made, draft, draw)
        if any(one["name"] == "InterPodAffinity" for one in draft.get("policy.plugins", [])):
            made["plugins"].append({"name": "InterPodAffinity"})
        draft.list_at("run.changes").append({"at": f"{at}s", "policy": made})


FIRST = [
    Feature("policy", 1, policy),
    Feature("other_driver", 0.1, other_driver),
]
LATER = [
    Feature("job_queue", 0.2, job_queue),
    Feature("counting", 0.35, counting),
    Feature("changes", 0.15, changes),
]
