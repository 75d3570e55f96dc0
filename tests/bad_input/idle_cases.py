"""Parameters that an axis of a study takes the effect from, as data: see run_idle_cases.py."""

from __future__ import annotations

from idle_forms import (
    C, CLIENTS, COUNTED, FOUR, GANG, IN_NODES, Idle, J, KNOWN, LINK_FAULT, MACHINE, NODES,
    NODE_FAULT, NODE_LOST, NO_CABLE, NO_PODS, ONE_POD, PODS, SERVERS, STEP, T, TWENTY, TWO,
    UNCOUNTED, exchange, flow, plane, queue, rest, scenario,
)
from idle_plane_cases import (
    BUSY, EVENTS, GROUPS, NAMED, NAMES, NOBODY_READS, NONE_DELETED, NO_BOOT, NO_EVENTS,
    NO_GROUPS, NO_READS, PLANE, READERS, SMALL,
)
from idle_training_cases import (
    BLOB, HIERARCHY, NETWORK, SAVES, STEPS, STORES,
)

HIGHER = "{work: 5min, submit: 1min, pods: 4, pod: {gpus: 8}}"
PREEMPTS = "policy.plugins[0]"
EQUAL = {"workload.sources[0].jobs[1].priority": "0"}
ABOVE = {"workload.sources[0].jobs[1].priority": "5"}
SINGLES = "{work: 10min, count: 4, kind: pods, pod: {gpus: 8}}"
R = J + "gangs[0].roles[1]."
# Independent ones of the first role have room for four at a time.
ROLES = scenario("{work: 10min, gangs: [{roles: [{pods: 2, pod: {gpus: 8}}, {pod: {gpus: 8}}]}]}")
INDEPENDENT = scenario("{work: 10min, kind: pods, gangs: [{roles: [{pods: 2, pod: {gpus: 8}}, "
                       "{pods: 3, pod: {gpus: 8}}]}]}")
# As long as nearly all pods of a gang have a node, coscheduling lets them wait for the last one.
WAITS = scenario("{work: 10min, pods: 21, pod: {gpus: 8}}", pools=NODES)
# Three nodes: all for the first role, so the other has none.
UNSERVED = scenario("{work: 10min, gangs: [{min_available: 3, roles: [{pods: 3, pod: {gpus: 8}}, "
                    "{pods: 2, pod: {gpus: 8}}]}]}", pools=MACHINE.replace("count: 4", "count: 3"))
NEEDS = "has no effect: with its min_available the gang needs "
GANG_MIN = J + "gangs[0].min_available"
CROWDED = SINGLES + ", " + HIGHER.replace("pods: 4", "kind: pods, count: 2")
DELETES = scenario(CROWDED, policy="{plugins: [{name: DefaultPreemption}]}")

JOBS = [
    Idle(T + "init_per_gpu", "has no effect on jobs without GPUs", "1s", {J + "pod": "{cpus: 1}"},
         scenario("{work: 10min, pods: 2}", "init: 1s"), works={J + "pod": "{gpus: 8}"}),
    Idle(T + "communicator", "has no effect on jobs of one GPU, or none", "{method: redis}",
         {J + "pod": "{cpus: 1}"}, scenario("{work: 10min, pods: 2}", "init: 1s"),
         works={J + "pod": "{gpus: 8}"}),
    Idle(T + "restart_scope", NO_PODS, "pod", COUNTED, scenario(faults=NODE_FAULT),
         works=UNCOUNTED),
    Idle(T + "restarts_max", NO_PODS, "0", COUNTED, scenario(faults=NODE_FAULT), works=UNCOUNTED),
    Idle(T + "schedule_timeout", NO_PODS, "9s", COUNTED, WAITS,
         works={"policy": "{base: coscheduling}"}),
    Idle(J + "min_available", "has no effect on independent pods", "2", PODS,
         scenario("{work: 10min, pods: 5, pod: {gpus: 8}}", policy="{base: native_gang}")),
    Idle(R + "min_available", "has no effect on independent pods", "1", {GANG_MIN: "0", **PODS},
         UNSERVED),
    Idle(R + "min_available", NEEDS + "all of its pods", "1", {GANG_MIN: "0"}, UNSERVED),
    Idle(R + "min_available", NEEDS + "at least 1 of these pods", "1", {GANG_MIN: "4"}, UNSERVED),
    Idle(R + "takes_part", "has no effect on independent pods", "false", PODS, ROLES),
    Idle(R + "exits", "has no effect on a gang, which ends as a whole", "false",
         {J + "kind": "mpi_gang"}, INDEPENDENT),
    Idle(R + "success", "has no effect on a gang, which ends as a whole", "ignored",
         {J + "kind": "mpi_gang"}, INDEPENDENT),
    Idle(T + "restart", "has no effect without endings", "never", {T + "endings": "[]"},
         scenario(GANG, "endings: [{chance: 1, after: {kind: fixed, value: 1min}}]")),
    Idle(T + "endings", NO_PODS, "[{chance: 1, after: {kind: fixed, value: 1min}}]", COUNTED,
         scenario(), works=UNCOUNTED),
    Idle("policy.job_queue.costs", "has an effect with policy.driver: counting only: pods start "
         "and end in their own time", "{batch_start: 1min}", {"policy.driver": "per_pod"},
         scenario(policy="{driver: counting, job_queue: {policies: [{name: FIFO}]}}")),
    Idle(J + "every", "has no effect on a single job", "1min", {J + "count": "1"}, scenario(),
         works={J + "count": "2"}),
    Idle(J + "pod.labels", "has no effect without the plugin InterPodAffinity", "{a: b}",
         {"policy": "{}"}, scenario("{work: 10min, pods: 4, pod: {gpus: 2}}, {work: 9min, pod: "
         "{gpus: 1, anti_affinity: [{topology_key: hostname, match_labels: {a: b}}]}}"),
         works={"policy": "{plugins: [{name: InterPodAffinity}]}"}),
    *[Idle(J + "pod." + field, "has no effect without the plugin InterPodAffinity",
           "[{topology_key: hostname, match_labels: {a: b}}]", {"policy": "{}"},
           scenario("{work: 10min, kind: pods, pods: 3, pod: {gpus: 2, labels: {a: b}}}"),
           works={"policy": "{plugins: [{name: InterPodAffinity}]}"})
      for field in ("affinity", "anti_affinity")],
    Idle(J + "pod.topology_spread", "has no effect without the plugin PodTopologySpread",
         "[{max_skew: 1, topology_key: hostname, match_labels: {a: b}}]", {"policy": "{}"},
         scenario("{work: 10min, kind: pods, pods: 6, pod: {gpus: 2, labels: {a: b}}}"),
         works={"policy": "{plugins: [{name: PodTopologySpread}]}"}),
    # With weight 1 the large pods spread, with 100 they gather.
    Idle(PREEMPTS + ".weight", "has no effect: 'NodeName' serves neither Score nor ScorePlacement",
         "100", {PREEMPTS + ".name": "NodeName"},
         scenario("{work: 10min, kind: pods, pods: 4, pod: {gpus: 1, cpus: 80, memory: 600GB}}",
                  policy="{plugins: [{name: GpuPacking}]}"),
         works={PREEMPTS + ".name": "GpuPacking"}),
    Idle(J + "controller", NO_PODS, "ordered_stateful_set", COUNTED,
         scenario("{work: 10min, kind: pods, pods: 2, pod: {gpus: 8}}",
                  workload="  controller: {pod_start: {median: 5s}}\n"), works=UNCOUNTED),
    Idle(PREEMPTS, "has no effect: all pods have the same priority", "{plugins: [{name: "
         "DefaultPreemption, args: {per_node: 1s}}]}", EQUAL, scenario(CROWDED), "policy",
         works=ABOVE),
    Idle(PREEMPTS + ".args.async", "has no effect: pods are deleted through API servers", "false",
         {C + "level": "none"}, DELETES, works={C + "level": "full", **ABOVE}),
    Idle(PREEMPTS + ".args.minCandidateNodesAbsolute", "has no effect with algorithm: before_1_20",
         "1", {PREEMPTS + ".args.algorithm": "before_1_20", **ABOVE}, scenario(
             CROWDED.replace("count: 4", "pods: 4").replace("count: 2", "pods: 2"),
             policy="{plugins: "
             "[{name: DefaultPreemption, args: {minCandidateNodesPercentage: 0}}]}"), works=ABOVE),
    Idle("workload.controller.termination",
         "has no effect: no pod is preempted, since all have the "
         "same priority", "30s", EQUAL, DELETES, works=ABOVE),
    Idle(J + "pod.image",
         "has no effect: nodes pull images with control_plane.level: delays or full",
         "{name: a, size: 10GB}", {C + "level": "none"}, scenario(), works={C + "level": "full"}),
    Idle("workload.controller.restart_delay_max", "has no effect: restart_delay is 0", "1min",
         {"workload.controller.restart_delay": "0s"}, scenario(faults="{list: [{node: gpu-0, at: "
         "2min, repair: 1s}, {node: gpu-0, at: 4min, repair: 1s}]}"),
         works={"workload.controller.restart_delay": "10s"}),
    Idle("workload.controller.last_call", "has no effect: no gang may run without some of its pods "
         "(min_available)", "5s", {J + "pods": "4"},
         scenario("{work: 10min, pods: 5, min_available: 4, pod: {gpus: 8}}")),
    Idle("workload.controller.monitor_interval", "has no effect: no gang may run without some of its "
         "pods (min_available)", "null", {J + "pods": "3"},
         scenario("{work: 10min, submit: 3min, pods: 4, min_available: 3, pod: {gpus: 8}}",
                  faults="{list: [{node: gpu-0, at: 2min, repair: 5min}]}")),
    Idle("workload.controller.pod_start.sigma", "has no effect when the median is 0", "1",
         {"workload.controller.pod_start.median": "0s"}, scenario(),
         works={"workload.controller.pod_start.median": "5s"}),
    Idle("workload.sources[0].time_scale", "has no effect on shuffled jobs: set shuffle.interval",
         "2", {"workload.sources[0].shuffle": "{interval: 1min}"},
         scenario("{kind: trace, file: t.csv}", until="9h")),
    Idle("record.cardiogram", "has no effect with policy.driver: counting, which knows no ranks",
         "{jobs: [job-0], window: {to: 1min}}", COUNTED, scenario(), works=UNCOUNTED),
    Idle("policy.plugins", "have no effect with driver: counting, which places no pods",
         "[{name: Random}]", {"policy.driver": "counting"}, scenario(
             "{work: 1min, count: 40, pod: {gpus: 1}}", policy="{job_queue: {}}")),
    Idle("policy.job_queue.estimates.sigma", "has an effect on noisy only", "1",
         {"policy.job_queue.estimates.kind": "exact"}, queue("{name: SJF}"),
         works={"policy.job_queue.estimates.kind": "noisy"},
         instead={"policy.job_queue.estimates.sigma": "3"}),
]
ARGUMENTS = "policy.job_queue.policies[0].args."
SLURM = queue("{name: SlurmMultifactor, args: {weight_fairshare: 1000, weight_age: 1}}")
TIRESIAS = queue("{name: Tiresias, args: {limits: [60]}}")
SHORT_AND_LONG = scenario(", ".join(f"{{work: {work}min, submit: {i}min, every: {every}min, "
                                    f"count: 6, "
                                    f"pods: {pods}, pod: {{gpus: 8}}}}" for i, (work, every,
                                    pods) in
                                    enumerate([(1, 3, 2), (20, 2, 3), (7, 5, 2)])), until="5h",
                          policy="{job_queue: {policies: [{name: Tiresias}]}}")
TOPOLOGY = "policy.plugins[0].args."
SPREAD = scenario(FOUR, policy="{base: strict_gang, plugins: [{name: TopologyPlacement, args: "
                  "{level: leaf}}]}")

POLICIES = [
    Idle(ARGUMENTS + "damping", "has an effect on classic only", "9",
         {ARGUMENTS + "fairshare": "fair_tree"}, SLURM, works={ARGUMENTS + "fairshare": "classic"}),
    Idle(ARGUMENTS + "limits", "has no effect on gittins", "[30]", {ARGUMENTS + "by": "gittins"},
         TIRESIAS, works={ARGUMENTS + "by": "dlas"}),
    Idle(ARGUMENTS + "promote_knob", "has no effect on gittins", "1",
         {ARGUMENTS + "by": "gittins"}, TIRESIAS, works={ARGUMENTS + "by": "dlas"}),
    Idle(ARGUMENTS + "gittins_delta", "has an effect on gittins only", "100000",
         {ARGUMENTS + "by": "dlas"}, SHORT_AND_LONG, works={ARGUMENTS + "by": "gittins"}),
    Idle(TOPOLOGY + "relax_attempts", "has no effect with required: false", "2",
         {TOPOLOGY + "required": "false"}, SPREAD),
    Idle(TOPOLOGY + "relax_after", "has no effect with required: false", "5min",
         {TOPOLOGY + "required": "false"}, SPREAD),
]
NO_RESTART = "has no effect: no failure stops a job, so that none restarts (see faults)"
NO_READ_BACK = "has no effect: nothing stops a job, so that no checkpoint is read back (see faults)"
ONE_LEAF = "has no effect: the fabric is a single leaf switch, leaf-0, on which all NICs hang"
NO_SUCH_FAULTS = {"faults": "{}"}
FAULTY = {"faults": NODE_FAULT}
LINKS = flow(jobs=TWO)
DEGRADED = {"faults": "{links: {list: [{on: host-0.nic-0, at: 1min, flaw: {kind: degraded, "
            "bit_error_rate: 1e-6}}]}}"}
CUT = {"faults": f"{{links: {LINK_FAULT}}}"}
TOGETHER = {"cluster.pools[0].nodes_per_leaf": "4"}
RAIL = flow(jobs=FOUR, network=", fabric: {rails: 1}")

WARNED = [
    Idle(T + "restarts_max", NO_RESTART, "0", NO_SUCH_FAULTS, scenario(), works=FAULTY),
    Idle(T + "restart_scope", "has no effect on jobs without a gang of several pods", "pod",
         ONE_POD, scenario("{work: 10min, pods: 4, pod: {gpus: 8}}", faults=NODE_FAULT)),
    Idle(T + "restore", "has no effect: nothing stops a job (see faults)", "30s", NO_SUCH_FAULTS,
         scenario(training="checkpoint_interval: 1min, checkpoint_write: 1s"), works=FAULTY),
    Idle(T + "checkpoint_interval", "has no effect: checkpoints take no time", "30s",
         NO_SUCH_FAULTS, scenario(), works=FAULTY),
    Idle(T + "schedule_timeout", "has no effect on jobs without a gang in which pods wait", "9s",
         {J + "kind": "pods", "policy": "{base: coscheduling}"}, WAITS,
         works={"policy": "{base: coscheduling}"}),
    Idle(T + "schedule_timeout", "has no effect with this policy: coscheduling", "9s",
         {"policy": "{base: strict_gang}"}, WAITS,
         works={"policy": "{base: coscheduling}"}),
    Idle(T + "checkpoint.sharded", "has no effect on gangs of one pod", "false", ONE_POD,
         scenario(training=SAVES, storage=f"{{{BLOB}, node: {{write: 100MBps}}}}")),
    Idle(T + "step.exchanges[0].stages", "has no effect on gangs of one pod, which stay on "
         "their node", "pipelined", ONE_POD,
         flow(HIERARCHY)),
    Idle("storage.node.read", NO_READ_BACK, "100MBps", NO_SUCH_FAULTS, scenario(
        training=SAVES.replace("100GB", "10GB"), storage=f"{{{BLOB}}}"), works=FAULTY),
    Idle("storage.local.read", "has no effect: jobs stop with their nodes alone, whose disks",
         "100MBps", FAULTY, scenario(training=SAVES.replace("blob", "local"), storage="{local: "
                                     "{write: 1GBps}}"),
         works={"faults": "{ranks: [{job: job-0, at: 3min}]}",
                "workload.controller.hang_timeout": "1min"}),
    Idle("policy.job_queue.stops", "has no effect: no policy of the queue stops jobs that run",
         "{write: 10s}", {"policy.job_queue.policies[0].name": "SJF"}, queue("{name: SRTF}")),
    Idle("workload.controller.hang_timeout", "has an effect only on gangs that hang for a dead "
         "rank", "1min", NO_SUCH_FAULTS, scenario(),
         works={"faults": "{ranks: [{job: job-0, at: 3min}]}"}),
    Idle("workload.controller.termination", "has no effect without the plugin DefaultPreemption",
         "30s", {"policy": "{base: coscheduling}"}, scenario(CROWDED), works=ABOVE),
    Idle("run.stall_limit", "has no effect with until", "1min", {"run.until": "2h"},
         scenario("{work: 10min, pods: 5, pod: {gpus: 8}}", until="null")),
    Idle("network.links.retry_timeout", "has an effect only when links are down", "5s", DEGRADED,
         LINKS, works=CUT),
    Idle("network.links.ib_timeout", "has an effect only on damaged packets (faults.links of kind "
         "degraded) and, without", "12", {"faults": "{}"}, LINKS, works=CUT),
    Idle("network.links.ack_timeout", "has an effect only on damaged packets: with faults.links",
         "9ms", CUT, LINKS, works=DEGRADED),
    Idle("network.routing.engine", ONE_LEAF, "ecmp", TOGETHER, RAIL),
    Idle("network.fabric.spine_oversubscription", "has no effect: the tree has 2 levels", "4",
         {"network.fabric.radix": "64"}, flow(
        jobs=TWENTY, network=", fabric: {rails: 1}", pools=NODES),
         works={"network.fabric.radix": "16"}),
]
SILENT, HEARD = {C + "events": "{per_pod: 5}"}, {C + "events": f"{{per_pod: 5, {READERS}}}"}

REST = [
    *rest("", NO_CABLE,
          {"network.routing": "{engine: ecmp}", "network.links": "{retry_timeout: 5s}"},
          IN_NODES, flow(jobs=TWO, network=", fabric: {rails: 1}"), is_shown=False),
    Idle("faults.links", NO_CABLE, LINK_FAULT, IN_NODES, flow(), besides=(
        "events/link_faults", "links", "summary/link_faults", "timeline/network")),
    *rest(C, NO_READS, {
        "api_servers.server.cost.stored_object": "1e8",
        "api_servers.server.cost.stored_byte": "1e5",
        "etcd.read_latency": "5s", "etcd.read_rate_max": "1",
        "etcd.read_bandwidth": "1Gbps", "etcd.read_byte": "1e6", "etcd.blocking_reads": "true"},
          SILENT, plane(), HEARD, is_shown=False),
    *rest(SERVERS + "flow_control.", "has no effect with mode: max_inflight", {
        "adjust_every": "1s", "smoothing": "0.1", "service_guess": "1s",
        "list_objects_per_seat": "1", "watchers_per_seat": "1", "watch_event_time": "1s",
        "seats_per_request_max": "1"}, {SERVERS + "flow_control.mode": "max_inflight"},
          plane(EVENTS, faults=NODE_FAULT), is_shown=False),
    *rest(C + "namespaces.each.", NONE_DELETED, {
        "api_versions": "1", "passes": "1", "grace": "1min"}, {C + "namespaces.deleted": "false"},
          plane(NAMES)),
    Idle(C + "namespaces.each.client_burst", "has no effect without askers", "1",
         {C + "namespaces.askers": "[]"}, plane(NAMED),
         works={C + "namespaces.askers": "[{every: 1min}]"}),
    Idle(CLIENTS + "daemons", NO_BOOT, "{qps: 0.1, burst: 1}", NO_SUCH_FAULTS, plane(),
         works=FAULTY),
    *rest(C, NO_BOOT, {"kubelet.heartbeats": "{lease_period: 47s}",
                       "api_servers.server.cost.read": "1s", "api_servers.server.cost.watch": "1s",
                       "api_servers.server.cost.cached_object": "1e8"},
          NO_SUCH_FAULTS, plane(jobs=GANG, level="delays"), {"faults": NODE_LOST}),
    *rest(SERVERS + "server.cost.", NOBODY_READS, {"read": "1s", "watch": "1s"}, NO_SUCH_FAULTS,
          plane(), FAULTY),
    Idle(C + "etcd.event_ttl", NO_EVENTS, "1min", NO_SUCH_FAULTS, plane(), works=FAULTY),
    *rest("workload.controller.", NO_RESTART, {"failure_detection": "9s", "restart_delay": "9s"},
          NO_SUCH_FAULTS, scenario(), FAULTY),
    *rest(C + "services.", NO_GROUPS, {"watchers": "{controllers: 9}",
                                       "fan_out": "{encode_per_address: 1ms}"},
          {C + "services.groups": "[]"}, plane(GROUPS, faults=NODE_FAULT)),
    Idle("network.fabric.oversubscription", ONE_LEAF, "8", TOGETHER, RAIL),
    Idle("network.fabric.levels", ONE_LEAF, "3", TOGETHER, RAIL, is_shown=False),
    Idle("network.routing.queue_pairs", ONE_LEAF, "4", TOGETHER,
         flow(jobs=FOUR, network=", fabric: {rails: 1}, routing: {engine: ecmp}")),
    Idle("faults.links.routing", ONE_LEAF, "[{at: 1min, engine: ecmp}]", TOGETHER, RAIL,
         besides=("summary/gangs_rerouted", "timeline/network")),
    Idle("policy.plugins[0].args.minCandidateNodesPercentage", "has no effect with algorithm: "
         "before_1_20", "50", {PREEMPTS + ".args.algorithm": "before_1_20", **ABOVE}, DELETES,
         works=ABOVE, is_shown=False),
]
COUNTS = "has no effect with driver: counting, which places no pods"
QUEUED = "{work: 10min, count: 6, every: 1s, pods: 2, pod: {gpus: 8}}"
PLACED = scenario(QUEUED, policy="{job_queue: {}}")
COUNTING = {"policy.driver": "counting"}
LISTED_NODES = scenario("{work: 10min, pods: 3, pod: {gpus: 1}}", STEP,
                        network="{level: alpha_beta}")
LISTED_NODES = "cluster: {openb_nodes: [{file: eight.csv}]}\n" + LISTED_NODES.split("\n", 1)[1]

COUNTED_POOL = [
    *rest("policy.", COUNTS, {"base": "native_gang", "cost": "{per_cycle: 1s}"}, COUNTING, PLACED),
    *rest("policy.", COUNTS, {
        "disable": "[NodeName]", "percentage_of_nodes_to_score": "1", "tie_break": "random",
        "queue": "{max_backoff: 20s}"}, COUNTING, PLACED, is_shown=False),
    *rest("workload.controller.", NO_PODS, {
        "concurrent_syncs": "1", "pods_per_sync_max": "1", "pod_creation_interval": "3s"}, COUNTED,
          scenario("{work: 1min, count: 6, pods: 4, pod: {gpus: 1}}", workload="  controller: "
                   "{restart_delay: 1s}\n"), UNCOUNTED, is_shown=False),
    Idle("workload.controller.pod_start", NO_PODS, "{median: 5s}", COUNTED, scenario(),
         works=UNCOUNTED),
    Idle("record.deadlocks", NO_PODS, "{counts_down_nodes: false}", COUNTED, scenario(),
         works=UNCOUNTED, is_shown=False),
    Idle(GANG_MIN, NO_PODS, "1", COUNTED, scenario("{work: 10min, gangs: [{roles: [{pods: 5, pod: "
         "{gpus: 8}}]}]}"), works={"policy": "{base: native_gang}"}),
    Idle(J + "min_available", NO_PODS, "1", COUNTED, scenario("{work: 10min, pods: 5, pod: {gpus: "
         "8}}"), works={"policy": "{base: native_gang}"}),
    Idle("cluster.pools[0].pods_max",
         "has no effect with policy.driver: counting, unless counts or "
         "weight_tres has pods", "1", COUNTED, scenario(SMALL), works=UNCOUNTED),
    Idle("cluster.pools[0].taints", NO_PODS, "[{key: a}]", COUNTED, scenario(), works=UNCOUNTED),
    Idle(J + "pod.node_selector",
         "has no effect with policy.driver: counting, which knows no nodes",
         "{pool: other}", COUNTED, scenario(), works=UNCOUNTED),
    Idle(J + "pod.tolerations", "has no effect with policy.driver: counting, which knows no nodes",
         "[{key: a}]", COUNTED, scenario(pools=MACHINE.replace("1}", "1, taints: [{key: a}]}")),
         works=UNCOUNTED),
    Idle("workload.controller.overruns", "has no effect: no job says how long it takes at most",
         "kill", {}, scenario(), works={J + "requested": "5min"}),
    Idle(J + "requested", "has no effect without policy.job_queue and "
         "workload.controller.overruns: kill", "5min", {"workload.controller.overruns": "keep"},
         scenario(), works={"workload.controller.overruns": "kill"}),
    Idle("workload.controller.pod_creation_interval", "has no effect with control_plane.level: "
         "delays or full", "3s", {C + "level": "delays"}, scenario(QUEUED.replace("1s", "0s"))),
    Idle(C + "node_join.certificate_requests",
         "has an effect only with joins or an autoscaler: who "
         "comes back has its certificate", "9", {C + "joins": "[]"}, BUSY,
         works={C + "joins": "[{pool: gpu, nodes: 2, at: 1min}]"}),
    Idle(C + "joins[0].over", "has no effect on a single node", "5min", {C + "joins[0].nodes": "1"},
         plane("joins: [{pool: gpu, nodes: 2, at: 1min}]")),
    Idle(C + "node_lifecycle.zones", "has no effect: there is one pool", "pools",
         {"cluster.pools": MACHINE}, plane(
             "node_lifecycle: {large_zone: 0, unhealthy_share: 0.4, secondary_taint_rate: 0.001}",
             FOUR.replace("pods: 4", "kind: pods, pods: 8"), faults="{list: [" + ", ".join(
                 f"{{node: gpu-{i}, at: 2min, repair: 20min}}" for i in range(3)) + "]}"),
         works={"cluster.pools": MACHINE[:-1] + ", " + MACHINE[1:].replace("gpu", "more")}),
    Idle(SERVERS + "server.heap.list_factor", NOBODY_READS, "0", {SERVERS + "server.cores": "64"},
         plane(), works={C + "namespaces": "{existing: 10000, readers: [{every: 1min}]}",
                         SERVERS + "server.heap.limit": "64MiB"},
         is_shown=False),
    Idle(SERVERS + "flow_control.list_objects_per_seat", NOBODY_READS, "1", NO_SUCH_FAULTS, plane(),
         works=FAULTY, is_shown=False),
    Idle(T + "step.exchanges[0].algorithm", "has no effect, since network.exchanges tells the time "
         "between nodes, and it is never made in one", "tree",
         {"cluster.pools[0].machine": "dgx-1v"},
         scenario("{work: 10min, pods: 2, pod: {gpus: 5}}", STEP, pools=MACHINE.replace(
             "dgx-a100", "dgx-2"), network=f"{{level: alpha_beta, exchanges: [{KNOWN}]}}"),
         works={J + "pods": "1"}),
    Idle(T + "step.exchanges[0].algorithm",
         "has no effect, since network.exchanges tells the time in "
         "nodes, and it is never made between them", "tree", {T +
         "step.exchanges[0].among": "tensor"},
         scenario(training=exchange("", ", parallel: {tensor: 8}"),
                  network="{level: alpha_beta, exchanges: [{span: node, latency: 1us, bandwidth: "
                  "1GBps}]}"), works={T + "step.exchanges[0].among": "all"}),
    Idle(T + "step.exchanges[0].stages", "has no effect, since network.exchanges tells the time "
         "between nodes, and it is never made in one", "pipelined",
         {"network.exchanges": f"[{KNOWN}]"}, flow(HIERARCHY)),
    # Nodes that are listed in a file.
    Idle("network.exchanges[0].span", "has no effect: groups that make it have more ranks than a "
         "node has GPUs", "[{span: node, latency: 1us, bandwidth: 1GBps}]",
         {"cluster.openb_nodes[0].file": "twos.csv"}, LISTED_NODES, "network.exchanges"),
]
NODE_ROWS = "sn,cpu_milli,memory_mib,gpu,model\n"
FILES = {"eight.csv": NODE_ROWS + "n0,64000,262144,8,V100M32\n",
         "twos.csv": NODE_ROWS + "n0,64000,262144,2,P100\nn1,64000,262144,2,P100\n",
         "t.csv": "job_id,arrival_s,service_sec,gpu_count\n" + "".join(
    f"{i}#0,{60 * i}.0,600,8\n" for i in range(9)),
    "topology.csv": "ip,DSW,PSW,ASW\na,G6,P10,S1\nb,G6,P10,S1\nc,G6,P10,S2\nd,G6,P10,S2\n"}
NOT_TRIED = {
    "has no effect: the topology file tells the leaf of each NIC": "a mistake",
}
CASES = NETWORK + STEPS + STORES + JOBS + PLANE + POLICIES + WARNED + REST + COUNTED_POOL
