"""Small scenarios (bases). Each leaf of the schema, except those in NOT_TRIED, has an effect in at least one base.

A base must run by itself. A leaf is tried in the base that already has most of the path to the leaf; of several
such bases, in the first.
"""

from __future__ import annotations

import copy
from typing import Any

import policy_bases
import yaml
from parts import GANG, JOBS, POOL, QUEUED, RUN

BASES: dict[str, Any] = {}


def base(name: str, text: str) -> None:
    BASES[name] = yaml.safe_load(text)


base("plane", """
description: all of the control plane
cluster:
  pools:
    - {name: old, machine: dgx-a100, count: 4, labels: {zone: a}, nodes_per_leaf: 2,
       taints: [{key: k, value: v, effect: PreferNoSchedule}]}
    - {name: new, machine: dgx-a100, count: 3}
    - {name: late, machine: dgx-a100, count: 2}
  power: {node_spread: 0.1, training_spread: 0.1}
control_plane:
  level: full
  api_servers:
    servers: 3
    server: {heap: {limit: 1TiB}, restart_time: 30s}
  etcd:
    blocking_reads: true
    read_bandwidth: 1Gbps
    losses: [{member: 0, at: 2min, until: 3min}]
    defragmentations: [{at: 4min}]
  events: {others_per_s: 5, readers: [{every: 1min, from: etcd}, {clients: 2, every: 10min, from: cache}]}
  crash_loops: [{nodes: 2, pods_per_node: 2, from: 1min, until: 5min}]
  image_pulls: {registry: 5Gbps, latency: 1s}
  namespaces:
    existing: 50
    per_job: true
    each: {delete_qps: 20, grace: 5s, workers: 3}
    askers: [{clients: 1, every: 1min}]
    readers: [{clients: 2, every: 10min, from: etcd}]
  services:
    groups:
      - {name: kubelet, members: nodes, headless: true, count: 1}
      - {name: all, members: pods, count: 2, team: red}
      - {name: each, members: jobs}
    endpoints: {slice_size: 10, batch_period: 1s, syncs: 2}
    watchers: {daemons: 2, controllers: 3}
  losses: [{server: 0, at: 2min, until: 4min}]
  node_join: {rate_max: 1, burst: 1}
  joins: [{pool: late, nodes: 2, at: 1min, over: 10s}]
  autoscaler:
    groups:
      - {pool: new, nodes_min: 1, nodes_max: 3, nodes_at_start: 1,
         provisioning: {kind: uniform, low: 30s, high: 60s}}
workload:
  training: {checkpoint_interval: 1min, checkpoint_write: 2s, restore: 1s, init: 1s, init_per_gpu: 1ms,
             restarts_max: 5}
  controller: {restart_delay_max: 1min, pod_start: {median: 1s, sigma: 0.5}}
  sources:
    - kind: jobs
      jobs:
        - {name: gang, user: u, team: red, application: a, work: 5min, pods: 3, count: 2, every: 1min,
           submit: 10s, min_available: 2, priority: 1,
           pod: {gpus: 8, cpus: 4, memory: 1GB, image: {name: trainer, size: 1GB}}}
        - {name: web, kind: pods, controller: replica_set, pods: 3, work: 2min, pod: {cpus: 1}}
    - kind: generator
      arrival_rate: 60
      burst: {every: 3min, jobs: {kind: uniform, low: 1, high: 2}}
      gpus_per_pod_max: 4
      cpus_per_gpu: 2
      memory_per_gpu: 1GB
      pods: {image: {name: other, size: 100MB}}
      teams: {red: 2, blue: 1}
      users_per_team: 2
      priorities: [{priority: 0, weight: 2}, {priority: 10, weight: 1}]
      start: 10s
      until: 8min
      jobs_max: 20
      shape:
        kind: classes
        classes:
          - {weight: 1, gpus: {kind: uniform, low: 1, high: 8}, duration: {kind: exponential, mean: 2min}}
    - kind: service
      name: web
      team: red
      submit: 1s
      lasts: 9min
      replicas: 2
      pod: {cpus: 8}
      load: [{at: 0s, load: 1}, {at: 2min, load: 4}]
      autoscaler: {replicas_max: 6, target: 60}
faults:
  nodes: [{name: node, rate: 5000, repair: {kind: lognormal, median: 1min, sigma: 1}}]
  list: [{node: old-1, at: 3min, repair: 30s}]
  chaos: {failure_rate: 0.1, interval: 2min, jitter: 0.1, downtime: 30s}
policy:
  base: default
  controllers:
    - {name: ClusterAutoscaler, args: {scale_down: {unneeded_time: 1min, delay_after_add: 1min}}}
record: {attempts: true}
run: {until: 10min}
""")
base("plane, endpoints and agents", """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}
control_plane:
  level: full
  api_servers:
    servers: 2
    flow_control:
      levels:
        - {name: exempt, kind: exempt}
        - {name: catch-all, kind: reject, shares: 5}
        - {name: low, kind: queue, shares: 100, lendable: 50, borrowing_limit: 50, queues: 16, hand_size: 4, queue_length: 50}
      schemas:
        - {name: all, level: low, precedence: 500, clients: [kubelet], resources: [pods], distinguisher: user}
  services:
    groups: [{name: kubelet, members: nodes}]
    endpoints: {kind: endpoints, addresses_max: 100}
    watchers: {daemons: 2, agents: 2}
""" + JOBS + RUN)
base("plane, max in flight", POOL + "control_plane: {level: full, api_servers: {flow_control: {mode: "
     "max_inflight, max_requests_inflight: 400}}}\n" + JOBS + RUN)
base("delays", POOL + "control_plane: {level: delays, joins: [{pool: gpu, nodes: 1, at: 1min}], node_join: "
     "{slices: 10, slice_bytes: 1kB}}\nrecord: {\"off\": [/timeline/teams], pods: false, compression: 9}\n" + JOBS + RUN)
base("plain", POOL + """
workload:
  training: {checkpoint_interval: 1min, checkpoint_write: 2s, restore: 1s, schedule_timeout: 1min}
  controller: {failure_detection: 5s, termination: 10s, overruns: kill}
  typical_pods: {popularity: 95}
  sources:
    - kind: jobs
      jobs:
        - {name: low, work: 5min, requested: 10min, kind: pods, count: 8, pod: {gpus: 4, nics: 2}}
        - {name: high, work: 2min, submit: 1min, priority: 10, pods: 2, pod: {gpus: 8}}
        - {name: gangs, work: 2min, submit: 2min, gangs: [{min_available: 1, roles: [{pods: 2, pod: {gpus: 1, gpu_milli: 500}}]}]}
    - kind: generator
      arrival_rate: 30
      jobs_max: 1000
      shape: {kind: preset, preset: helios, gpus_max: 16}
faults: {list: [{node: gpu-1, at: 3min, repair: 30s}]}
""" + RUN)
FLOW = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 6, nodes_per_leaf: 2}]}
network:
  level: flow
  fabric: {radix: 16, rails: 2, oversubscription: 2, bandwidth: 100Gbps}
  links: {retry_timeout: 10s}
  routing: {engine: ecmp, queue_pairs: 2}
storage:
  stores: [{name: blob, write: 10GBps, read: 10GBps, latency: 1ms}]
  local: {write: 6GBps}
workload:
  steps: STEPS
  training:
    checkpoint_interval: 30s
    checkpoint: {store: blob, bytes: 10GB, mode: async, host_copy: 20GBps}
    communicator: {method: tcp_store, discovery: 1s, kernel_loading: 1s}
    init: 1s
    dataset: {store: blob, per_step: 10MB, size: 1GB, cache: true}
    step:
      compute: 1s
      overlap: 0.2
      optimizer: 10ms
      data: 10ms
      stragglers: {fraction: 0.1, slowdown: 0.5}
      polling: {cores_per_gpu: 4, exponent: 1}
      exchanges:
        - {bytes: 100MB, count: 2}
        - {collective: push_pull, bytes: 10MB, servers: {count: 1, overlap: true}}
        - {bytes: 10MB, algorithm: hierarchical, stages: pipelined}
  sources:
    - kind: jobs
      jobs:
        - {name: one, work: 3min, pods: 2, pod: {gpus: 8, cpus: 16}}
        - {name: two, work: 2min, pods: 2, submit: 5s, pod: {gpus: 8, cpus: 16}}
        - name: model
          work: 3min
          pods: 2
          pod: {gpus: 8}
          training:
            checkpoint_interval: 1min
            checkpoint: {store: local, bytes: 1GB}
            step:
              model: {work_gpu: A100M40, layers: 8, hidden: 1024, batch: 64, experts_per_token: 2}
              parallel: {tensor: 4, pipeline: 2, virtual_stages: 2, microbatch: 2, expert: 2}
              zero: true
faults:
  ranks: [{job: two, pod: 0, gpus: 1, at: 1min}]
  links:
    list:
      - {"on": host-0.nic-0, at: 30s, until: 40s, flaw: {kind: degraded, bit_error_rate: 1.0e-9}}
      - {among: leaf_cables, at: 40s, until: 50s, flaw: {kind: dead}}
      - {"on": leaf-0, at: 55s, flaw: {kind: flap}}
      - {among: nic_cables, at: 58s, flaw: {kind: cursed, factor: 10}}
    random: [{rate: 1000, flaw: {kind: dead}, repair: {kind: fixed, duration: 10s}}]
    routing: [{at: 50s, engine: adaptive_local}]
record:
  timeline: {interval: 10s, teams_interval: 30s}
  cardiogram: {jobs: [one], window: {from: 20s, to: 20.3s}, resolution: 100ms}
run: {until: 4min}
"""
base("flow", FLOW.replace("STEPS", "rate"))
base("flow, traced", FLOW.replace("STEPS", "traced"))


def moved(name: str, take: str, sources: list[Any]) -> None:
    """Adds a copy of the base `take` with these sources. The training of the workload moves into each of
    their jobs, or into a source that does not list its jobs."""
    document = copy.deepcopy(BASES[take])
    training = document["workload"].pop("training")
    document["workload"]["sources"] = copy.deepcopy(sources)
    for source in document["workload"]["sources"]:
        for part in source["jobs"] if source["kind"] == "jobs" else [source]:
            part["training"] = copy.deepcopy(training)
    document["faults"].pop("ranks", None)
    document.get("record", {}).pop("cardiogram", None)
    if "storage" in document:
        document["storage"]["local"] = {"read": "6GBps"}
    BASES[name] = document


PAIR = {"work": "3min", "pods": 2, "count": 2, "every": "10s", "pod": {"gpus": 8, "cpus": 16}}
GENERATED = {"kind": "generator", "arrival_rate": 60, "cpus_per_gpu": 2, "jobs_max": 4, "shape": {
    "kind": "classes", "classes": [{"gpus": {"kind": "fixed", "value": 16},
                                    "duration": {"kind": "fixed", "value": "2min"}}]}}
REPLAYED = {"kind": "trace", "file": "large.csv"}
moved("flow, training of jobs", "flow", [{"kind": "jobs", "jobs": [PAIR]}])
moved("flow, training of generators", "flow", [GENERATED])
moved("flow, training of traces", "flow", [REPLAYED])
BASES["flow, a model"] = copy.deepcopy(BASES["flow"])
BASES["flow, a model"]["workload"]["training"]["step"] = copy.deepcopy(
    BASES["flow"]["workload"]["sources"][0]["jobs"][2]["training"]["step"])
moved("flow, model of jobs", "flow, a model", [{"kind": "jobs", "jobs": [PAIR]}])
del BASES["flow, a model"]["faults"]["ranks"], BASES["flow, a model"]["record"]["cardiogram"]
base("flow, adaptive", """
cluster: {pools: [{name: gpu, machine: dgx-h100, count: 6, nodes_per_leaf: 2}]}
network: {level: flow, sharp: true, routing: {engine: adaptive_global, choose_every: 10s},
          fabric: {radix: 16, levels: 3, rails: 2, spine_oversubscription: 2}, links: {ib_timeout: 14}}
workload:
  training: {step: {compute: 1s, parallel: {pipeline: 2, microbatches: 4, virtual_stages: 1},
                    exchanges: [{bytes: 100MB, algorithm: nvls, among: all}, {bytes: 100MB, among: pipeline, collective: point_to_point}]}}
  sources: [{kind: jobs, jobs: [""" + GANG + ", " + GANG + """]}]
faults: {links: {random: [{rate: 1000, flaw: {kind: flap, median: 3s, sigma: 1}}]}}
run: {until: 20s}
""")
moved("flow, adaptive, training of jobs", "flow, adaptive", [{"kind": "jobs", "jobs": [PAIR]}])
base("alpha_beta", """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}
network:
  level: alpha_beta
  exchanges:
    - {collective: all_reduce, span: nodes, latency: 1us, bandwidth: 1GBps}
    - {collective: all_gather, span: nodes, sweep: [{bytes: 1MB, bandwidth: 1GBps}, {bytes: 1GB, bandwidth: 9GBps}]}
workload:
  training: {init: 1s, step: {compute: 1s, exchanges: [{bytes: 100MB}, {bytes: 1MB, collective: all_gather}]}}
  sources: [{kind: jobs, jobs: [""" + GANG + """]}]
run: {until: 2min}
""")
PEAK = "step: {model: {peak_tflops: 100, layers: 8, hidden: 1024, batch: 64}}"
base("a peak", POOL + "network: {level: flow}\nworkload: {training: {" + PEAK + "}, sources: [{kind: jobs, jobs: [" +
     GANG + ", {work: 5min, pod: {gpus: 8}, training: {" + PEAK + "}}]}]}\n" + RUN)
base("machines", """
cluster:
  machines:
    - {name: own, base: hgx-h100, gpus: 4, gpu_model: mine, gpu_memory: 80GB, gpu_idle_watts: 50,
       gpu_spin_watts: 100, gpu_training_watts: 400, gpu_tdp_watts: 500, cpus: 64, memory: 1TB, nics: 4,
       nic_bandwidth: 400Gbps, host_idle_watts: 500, host_busy_watts: 900}
  pools: [{name: gpu, machine: own, count: 2}]
  openb_nodes: [{file: nodes.csv, pool: openb, stand_ins: {H800: T4}, copies: 2, shuffle: true}]
workload:
  sources:
    - kind: jobs
      jobs:
        - work: 5min
          kind: pods
          count: 4
          pod: {gpus: 1, cpus: 4, memory: 1GB, node_selector: {pool: gpu},
                tolerations: [{key: k, value: v, effect: NoSchedule}]}
""" + RUN)
TRACE = "workload: {sources: [{kind: trace, %s}]}\n"
base("trace", POOL + TRACE % "file: helios.csv, queues: [vc0, vc1, vc2], window_start: '2020-09-01', "
     "window_end: '2020-09-02', gpus_max: 64, jobs_max: 100, statuses: [completed, failed, cancelled], "
     "lenient: true, training: {checkpoint_interval: 1min}" + RUN)
base("trace, shuffled", POOL + TRACE % "file: openb.csv, format: openb, shuffle: {interval: 1s, load: 0.5}, "
     "pods: {labels: {a: b}}, departures: false" +
     "policy: {plugins: [{name: InterPodAffinity}]}\n" + RUN)
base("trace, swf", POOL + TRACE % "file: log.swf, format: swf, swf: {processors: allocated, one_pod: true, "
     "overruns: raise}, time_scale: 0.5, job_kind: pods, team: group, priority_normal: 1" + RUN)
base("trace, gavel", "cluster: {pools: [{name: gpu, machine: v100m32-8, count: 2}]}\n" + TRACE %
     "file: gavel.trace, format: gavel, gavel: {throughputs: gavel.json, gpu: v100}, default_duration: 1min"
     + RUN)
base("trace, own table", POOL + TRACE % "file: own.csv, columns: {submit: Submit, duration: Run, gpus: G, "
     "pods: P, name: Job, user: U, team: T, application: App, priority: Prio, status: S, start: Start, "
     "end: End, requested_time: Limit, cpus: C, memory: M, gpu_model: Model, node: N}, gpu_models: false" + RUN)
base("trace, sacct", POOL + TRACE % "file: jobs.sacct, sacct: {gpu_types: true}, gpu_models: false" + RUN)
base("logs", POOL + JOBS + """
faults:
  nodes: [{name: a, rate: 9000, distribution: weibull, weibull_shape: 1.5, repair: {kind: exponential, mean: 1min},
           node_selector: {pool: gpu}}]
  logs: [{file: fta.tab, format: fta, causes: [unavailable], window_start: '2006-01-01', window_end: '2006-02-01',
          repair: {kind: fixed, duration: 1min}, nodes: shuffled, repeat: true, node_selector: {pool: gpu}}]
""" + RUN)
CONSTRAINTS = """node_selector: {pool: gpu}, tolerations: [{key: k, operator: Equal, value: v, effect: NoSchedule}],
    labels: {app: a}, affinity: [{topology_key: leaf, match_labels: {app: a}}],
    anti_affinity: [{topology_key: hostname, match_labels: {app: b}}],
    topology_spread: [{max_skew: 1, topology_key: hostname, when_unsatisfiable: ScheduleAnyway,
                       match_labels: {app: a}}], image: {name: trainer, size: 1GB}"""
base("constraints", f"""
cluster: {{pools: [{{name: gpu, machine: dgx-a100, count: 4, nodes_per_leaf: 4}}]}}
control_plane: {{level: full}}
workload:
  sources:
    - kind: jobs
      jobs:
        - {{name: a, work: 2min, kind: pods, pods: 4, pod: {{gpus: 1, {CONSTRAINTS}}}}}
        - {{name: b, work: 2min, kind: pods, pods: 2, pod: {{gpus: 1, labels: {{app: b}}}}}}
        - {{name: c, work: 2min, gangs: [{{roles: [{{pods: 2, pod: {{gpus: 1, {CONSTRAINTS}}}}}]}}]}}
    - kind: generator
      arrival_rate: 60
      jobs_max: 10
      pods: {{{CONSTRAINTS}}}
      shape:
        kind: classes
        classes: [{{gpus: {{kind: fixed, value: 1}}, duration: {{kind: fixed, value: 1min}}}}]
    - {{kind: service, name: web, load: [{{at: 0s, load: 1}}], pod: {{cpus: 1, {CONSTRAINTS}}}}}
    - {{kind: trace, file: helios.csv, pods: {{{CONSTRAINTS}}}}}
policy: {{base: default, plugins: [{{name: InterPodAffinity}}, {{name: PodTopologySpread, weight: 2, scores: true}}], disable: [TaintToleration],
         percentage_of_nodes_to_score: 50, tie_break: random}}
""" + RUN)
base("changes", POOL + JOBS + """
policy: {base: coscheduling, driver: per_pod, queue: {max_backoff: 10s}}
run:
  until: 10min
  changes: [{at: 1min, policy: {base: strict_gang, driver: per_gang, plugins: [{name: Random, weight: 1}],
             disable: [TaintToleration]}}]
""")
base("queue", POOL + QUEUED + "policy: {job_queue: {policies: [{name: SRTF}], estimates: {kind: noisy, "
     "sigma: 0.5}, stops: {write: 5s, restart: 5s}}}\n" + RUN)
base("counting", POOL + QUEUED + "policy: {driver: counting, job_queue: {policies: [{name: EASY}], counts: "
     "[gpus], stops: {write: 5s}}}\n" + RUN)
base("until all are over", POOL + JOBS + "run: {stall_limit: 30d, futile_attempts: 100}\n")



def with_usual_record(document: Any) -> Any:
    """The base with uncompressed tables, unless it sets the compression. Compression would take a third of
    the time of a short run."""
    document.setdefault("record", {}).setdefault("compression", 0)
    return document


BASES |= {name: yaml.safe_load(text) for name, text in policy_bases.TEXTS.items()}
for known in BASES.values():
    with_usual_record(known)
