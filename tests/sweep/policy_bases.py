"""Bases of policies and their arguments, as texts. A policy with args that no text names gets bases from
the schema, so most new policies need no text here."""

from __future__ import annotations

import json
from collections.abc import Iterator

from leaves import Schema, kind_name
from parts import GANG, JOBS, POOL, QUEUED, RUN

TEXTS: dict[str, str] = {}


def base(name: str, text: str) -> None:
    TEXTS[name] = text


PLUGINS = {
    "DefaultPreemption": "{minCandidateNodesAbsolute: 10}",
    "DotProduct": "{prefer: largest_product}",
    "ImageLocality": "{preloaded: [{image: trainer, key: pool, values: [gpu]}]}",
    "InterPodAffinity": "{per_node: 1us}",
    "NodeResourcesFit": "{scoringStrategy: {type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 1}], "
                        "requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, "
                        "{utilization: 100, score: 10}]}}}",
    "NodeResourcesBalancedAllocation": "{resources: [{name: cpu}, {name: memory}]}",
    "PodTopologySpread": "{defaultConstraints: [{maxSkew: 1, topologyKey: hostname, "
                         "whenUnsatisfiable: ScheduleAnyway}]}",
    "DefaultDevices": "{strategy: random}",
}
CROWDED = """
workload:
  sources:
    - kind: jobs
      jobs:
        - {name: low, work: 5min, kind: pods, count: 8, pod: {gpus: 4, cpus: 2, memory: 1GB, labels: {app: a},
             anti_affinity: [{topology_key: hostname, match_labels: {app: b}}], image: {name: trainer, size: 1GB}}}
        - {name: high, work: 2min, submit: 1min, priority: 10, kind: pods, count: 2, pod: {gpus: 8, labels: {app: b}}}
"""
for plugin, args in PLUGINS.items():
    base(f"plugin {plugin}", POOL + "control_plane: {level: full}\n" + CROWDED +
         f"policy: {{plugins: [{{name: {plugin}, args: {args}}}" +
         (", {name: InterPodAffinity}" if plugin != "InterPodAffinity" else "") + "]}\n" + RUN)
PLANNERS = {
    "KueueTopology": "{leaves_per_block: 1, slice: 1}",
    "SlurmTopologyBlock": "{doublings: 1}",
    "SlurmTopologyTree": "{leaves_per_block: 1}",
    "StrictGang": "{members: all}",
    "TopologyPlacement": "{level: leaf, relax_attempts: 3, relax_after: 1min}",
    "VolcanoHyperNode": "{highest_tier: 2, leaves_per_block: 1}",
}
for plugin, args in PLANNERS.items():
    base(f"plugin {plugin}", POOL + JOBS + f"policy: {{base: strict_gang, plugins: [{{name: {plugin}, args: {args}}}]}}\n"
         + RUN)
base("plugin GangPreemption", POOL + """
workload:
  sources:
    - kind: jobs
      jobs:
        - {name: low, kind: mpi_gang, count: 4, work: 10min, pods: 1, pod: {gpus: 8}, priority: 0}
        - {name: high, kind: mpi_gang, submit: 1min, work: 2min, pods: 2, pod: {gpus: 8}, priority: 10}
policy: {base: strict_gang, plugins: [{name: GangPreemption, args: {order: kueue, trials_max: 60, per_pod: 1us}}]}
""" + RUN)
for profile, plugin, args in (
        ("coscheduling", "Coscheduling", "{permitWaitingTimeSeconds: 60, podGroupBackoffSeconds: 10}"),
        ("koordinator", "KoordinatorCoscheduling", "{defaultTimeout: 1min}"),
        ("native_gang", "GangScheduling", "{schedulingTimeoutSeconds: 60}")):
    base(f"plugin {plugin}", POOL + JOBS.replace("pods: 2", "pods: 3, count: 3") +
         f"policy: {{base: {profile}, plugins: [{{name: {plugin}, args: {args}}}]}}\nrun: {{until: 2min}}\n")
base("plugin SymbolErrors", POOL + "network: {level: flow}\n" + """
workload:
  training: {step: {compute: 1s, exchanges: [{bytes: 100MB}]}}
  sources: [{kind: jobs, jobs: [""" + GANG + """]}]
faults: {links: {list: [{"on": host-0.nic-0, at: 10s, flaw: {kind: degraded}}]}}
policy: {plugins: [{name: SymbolErrors, args: {per_hour: 1000}}]}
""" + RUN)
base("FGD", POOL + "workload: {typical_pods: {}, sources: [{kind: jobs, jobs: [{work: 1min, kind: pods, count: 20, "
     "every: 5s, pod: {gpus: 1, gpu_milli: 300}}]}]}\npolicy: {plugins: [{name: FGD}]}\n" + RUN)
QUEUES = {
    "DRF": "{of: team, weights: {red: 2}}",
    "EASY": "{backfill: shortest}",
    "Gavel": "{round: 1min, weights: {red: 2}, speeds: {list: [{application: x, gpu: A100M80, speed: 2}], "
             "names: {A100M80: v100}, reference: v100, throughputs: gavel.json}}",
    "KubeDL": "{schedule_period: 1s}",
    "Lucid": "{profiler_gpus: 8, scores: [{application: x, score: 0}], profile_time: 1min, "
             "paces: [1, 1, 1, 1, 1, 1, 1, 1, 0.5]}",
    "Quota": "{of: team, limits: {red: 16}, others: 8}",
    "SlurmBackfill": "{bf_interval: 10s}",
    "SlurmMultifactor": "{weight_age: 1, weight_fairshare: 1000, fairshare: classic, damping: 2, shares: {red: 2}, "
                        "weight_tres: {gpus: 1000}, billing_weights: {cpus: 1, memory: 0.25}}",
    "Themis": "{lease: 1min}",
    "Tiresias": "{by: dlas, limits: [60], promote_knob: 1}",
}
for policy, args in QUEUES.items():
    for driver in ("per_pod", "counting"):
        base(f"{policy}, {driver}", POOL + QUEUED + f"policy: {{driver: {driver}, job_queue: {{policies: [{{name: "
             f"{policy}, args: {args}}}], stops: {{write: 1s, restart: 1s}}}}}}\n" + RUN)
base("Tiresias, gittins", POOL + QUEUED + "policy: {driver: counting, job_queue: {policies: [{name: Tiresias, args: "
     "{by: gittins, gittins_delta: 100}}], stops: {write: 1s}}}\n" + RUN)
CONTROLLERS = {
    "AvoidBrokenLinks": "{}",
    "Descheduler": "{remove_duplicates: {exclude_owner_kinds: [job]}, low_node_utilization: {thresholds: {cpu: 20, "
                   "memory: 20, pods: 20, gpus: 20}, target_thresholds: {cpu: 50, memory: 50, pods: 50, gpus: 50}, "
                   "use_deviation_thresholds: true, number_of_nodes: 1}, node_fit: true, gangs: true, "
                   "priority_threshold: 10, replicas_min: 1, pod_age_min: 10s, evictions_per_node_max: 2, "
                   "evictions_max: 4}",
    "GangDefragmenter": "{wait_limit: 1min, gpus_min: 8, moved_max: 4, may_wait: true, give_up_after: 10min, "
                        "retry_after: 1min}",
}
for policy, args in CONTROLLERS.items():
    base(policy, POOL + CROWDED + f"policy: {{controllers: [{{name: {policy}, period: 10s, args: {args}}}]}}\n" + RUN)
for limit in ("min_available: 50%", "max_unavailable: 1"):
    base(f"budget, {limit}", POOL + CROWDED.replace(
        "workload:", f"workload:\n  disruption_budgets: [{{name: b, team: red, labels: {{app: a}}, {limit}, "
        "unhealthy: AlwaysAllow}]") + "policy: {controllers: [{name: Descheduler, period: 10s, args: "
         "{remove_duplicates: {}}}]}\n" + RUN)


def of_new_policies(schema: Schema) -> Iterator[tuple[str, list[str]]]:
    """Policies with args that no text names. Yields the leaf of each policy, and the texts that may be its
    base."""
    known = "".join(TEXTS.values())
    for path in (("policy", "plugins"), ("policy", "job_queue", "policies")):
        for kind in schema.kinds(schema.part((*path, "[]"))):
            name, args = kind_name(kind), kind["properties"]["args"]
            if not args.get("properties") or f"name: {name}" in known:
                continue
            listed = f"[{{name: {name}, args: {json.dumps(schema.sample(args))}}}]"
            leaf = f"{'.'.join(path)}[]<{name}>"
            if "job_queue" in path:
                yield leaf, [POOL + QUEUED + f"policy: {{driver: {driver}, job_queue: {{policies: {listed}}}}}\n" + RUN
                             for driver in ("counting", "per_pod")]
            else:
                yield leaf, [POOL + JOBS + f"policy: {{base: {profile}, plugins: {listed}}}\n" + RUN
                             for profile in ("default", "strict_gang")]
