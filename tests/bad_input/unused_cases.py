"""Parameters without effect, as data: see cases.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HERE = "^"  # stands before what the message must point at
JOB, SHARED = "workload.sources[0].jobs[0].training.", "workload.training."
GANG, POD, CPUS = "pods: 2, pod: {gpus: 8}", "pod: {gpus: 8}", "pods: 2, pod: {cpus: 1}"
PODS = "kind: pods, " + GANG
FLOW, COUNTING = "network: {level: flow}\n", "policy: {driver: counting, job_queue: {}}\n"
FAULT = "faults: {list: [{node: gpu-0, at: 1min, repair: 1min}]}\n"
STEP = "step: {compute: 1s, exchanges: [{bytes: 1GB}]}"
MODEL = "model: {layers: 8, hidden: 1024, batch: 64"
SAVES = "checkpoint_interval: 1min, checkpoint: {store: blob, bytes: 1GB}"
READS = STEP + ", dataset: {store: blob, per_step: 1MB}"
LOCAL = STEP + ", dataset: {store: local, per_step: 1MB}"
BLOB = "name: blob, write: 1GBps, read: 1GBps"

NOBODY = "has no effect: there is no job but services and those with a training of their own"
ONE_RANK = "has no effect: there is one data-parallel rank"
KEPT = "has no effect: no ranks hand on activations"
NO_RESTART = "has no effect: no failure stops a job, so that none restarts"
NO_READ = "has no effect: nothing stops a job, so that no checkpoint is read back"
NO_PODS = "has no effect with policy.driver: counting, which knows no pods"
LONE = "has no effect on jobs without a gang of several pods"
ONE_LEAF = "has no effect: the fabric is a single leaf switch, leaf-0, on which all NICs hang"


def marked(job: str, shared: str, more: str, nodes_per_leaf: int) -> str:
    training = f"  training: {shared}\n" if shared else ""
    return ("cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4, nodes_per_leaf: "
            f"{nodes_per_leaf}}}]}}\nrun: {{until: 1h}}\nworkload:\n{training}  sources:\n"
            f"    - kind: jobs\n      jobs: [{{work: 10min, {job}}}]\n{more}")


def unused_cases(case: Callable[..., Any]) -> list[Any]:
    def at(name: str, path: str, says: str, job: str = GANG, *, shared: str = "", more: str = "",
           nodes_per_leaf: int = 1, is_warned_of: bool = False) -> Any:
        """There is one mistake: what the mark stands before. Or one warning, and no mistake."""
        before, after = marked(job, shared, more, nodes_per_leaf).split(HERE)
        place = f"s.yaml:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}: "
        if is_warned_of:
            return case("validate: " + name, {"s.yaml": before + after}, ("validate", "s.yaml"), 0,
                        says=(f"{place}warning: {path}: {says}",), prints=(" 1 warning)",))
        return case(name, {"s.yaml": before + after},
                    says=(f"{place}{path}: {says}", "s.yaml: 1 mistake\n"))

    def own(name: str, field: str, says: str, training: str, job: str = GANG,
            more: str = "", is_warned_of: bool = False) -> Any:
        return at(name, JOB + field, says, f"{job}, training: {{{training}}}", more=more,
                  is_warned_of=is_warned_of)

    def both(name: str, field: str, says: str, training: str, job: str = GANG,
             more: str = "", is_warned_of: bool = False) -> list[Any]:
        """In the section of a job, and in one that two jobs share."""
        shared = at(f"{name}, shared", SHARED + field, says, f"{job}}}, {{work: 5min, {job}",
                    shared=f"{{{training}}}", more=more, is_warned_of=is_warned_of)
        return [own(name, field, says, training, job, more, is_warned_of), shared]

    def fabric(name: str, path: str, network: str, more: str = "") -> Any:
        return at(name, path, ONE_LEAF, f"{GANG}, training: {{{STEP}}}", nodes_per_leaf=4,
                  more=f"network: {{level: flow, {network}}}\n{more}", is_warned_of=True)

    def stores(text: str) -> str:
        return f"storage: {{{text}}}\n"

    return [
        at("training shared by nobody", "workload.training", NOBODY,
           GANG + ", training: {init: 1s}", shared="^{init: 2s}"),
        at("training of what no gang shares", SHARED + "step", "has no effect: each gang has a "
           "training of its own", f"{GANG}, training: {{init: 1s}}}}, {{work: 1s, {PODS}",
           shared=f"{{step: ^{STEP.removeprefix('step: ')}}}", more=FLOW),

        # what jobs of some kind and size have no use for
        *both("set-up of GPUs that there are not", "init_per_gpu",
              "has no effect on jobs without GPUs", "init_per_gpu: ^1s", CPUS),
        *both("communicator without GPUs", "communicator", "has no effect on jobs of one GPU, or "
              "none", "communicator: ^{method: redis}", CPUS),
        *both("survivors of one pod", "restart_scope", LONE, "restart_scope: ^pod", POD, FAULT,
              is_warned_of=True),
        *both("survivors of independent pods", "restart_scope", LONE, "restart_scope: ^pod", PODS,
              FAULT,
              is_warned_of=True),
        *both("survivors of counted jobs", "restart_scope", NO_PODS, "restart_scope: ^pod", GANG,
              COUNTING + FAULT),
        *both("restarts of counted jobs", "restarts_max", NO_PODS, "restarts_max: ^1", GANG,
              COUNTING + FAULT),
        *both("patience of a single pod", "schedule_timeout", "has no effect on jobs without a "
              "gang in which pods wait", "schedule_timeout: ^9s", POD,
              "policy: {base: coscheduling}\n",
              is_warned_of=True),
        *both("patience of independent pods", "schedule_timeout", "has no effect on jobs without a "
              "gang in which pods wait", "schedule_timeout: ^9s", PODS,
              "policy: {base: coscheduling}\n",
              is_warned_of=True),
        *both("patience of pods that start one by one", "schedule_timeout", "has no effect on jobs "
              "without a gang in which pods wait", "schedule_timeout: ^9s",
              GANG + ", min_available: 1", "policy: {base: native_gang}\n",
              is_warned_of=True),
        *both("patience under no gang scheduler", "schedule_timeout", "has no effect with this "
              "policy: coscheduling", "schedule_timeout: ^9s",
              is_warned_of=True),
        *both("patience when nobody waits", "schedule_timeout", "has no effect with this policy",
              "schedule_timeout: ^9s", GANG, "policy: {base: strict_gang}\n",
              is_warned_of=True),
        *both("shards of one pod", "checkpoint.sharded", "has no effect on gangs of one pod",
              SAVES.replace("1GB}", "1GB, sharded: ^false}"), POD, stores(f"stores: [{{{BLOB}}}]"),
              is_warned_of=True),

        *both("shards on disks of nodes", "checkpoint.sharded", "has no effect on local disks",
              SAVES.replace("1GB}", "1GB, sharded: ^true}").replace("blob", "local"), GANG,
              stores("local: {}")),

        # steps
        *both("step of compute alone", "step", "has no effect: it is compute alone, which work "
              "counts", "step: ^{compute: 1s}", GANG, "network: {level: alpha_beta}\n"),
        *both("exchange of one data rank", "step.exchanges[0]", "has no effect: such a group has "
              "one rank of 16", "step: {compute: 1s, parallel: {tensor: 16}, exchanges: [^{bytes: "
              "1GB}, {bytes: 1MB, among: tensor}]}", GANG, FLOW),
        *both("parts of gradients on one data rank", "step.zero", ONE_RANK,
              "step: {zero: ^true, parallel: {tensor: 16}, " + MODEL + "}}", GANG, FLOW),
        *both("gradients of one data rank", "step.model.gradient_bytes", ONE_RANK,
              "step: {parallel: {tensor: 16}, " + MODEL + ", gradient_bytes: ^2}}", GANG, FLOW),
        *both("microbatches of data ranks alone", "step.parallel.microbatch", KEPT,
              "step: {parallel: {microbatch: ^2}, " + MODEL + "}}", GANG, FLOW),
        *both("number of microbatches of data ranks alone", "step.parallel.microbatches", KEPT,
              "step: {parallel: {microbatches: ^2}, " + MODEL + "}}", GANG, FLOW),
        *both("stages in one node", "step.exchanges[0].stages", "has no effect on gangs of one pod",
              STEP.replace("1GB", "1GB, algorithm: hierarchical, stages: ^pipelined"), POD, FLOW,
              is_warned_of=True),
        *both("stages of an exchange whose time is known", "step.exchanges[0].stages",
              "has no effect, since network.exchanges tells the time",
              STEP.replace("1GB", "1GB, algorithm: hierarchical, stages: ^pipelined"), GANG,
              FLOW.replace("}", ", exchanges: [{span: node, latency: 1us, bandwidth: 1GBps}, "
                           "{latency: 1us, bandwidth: 1GBps}]}")),
        *both("servers of ranks that share a pod", "step.exchanges[0].servers", "have no effect: "
              "the ranks that exchange with one another share a pod", "step: {compute: 1s, "
              "parallel: {tensor: 4}, exchanges: [{bytes: 1GB, among: tensor, collective: "
              "push_pull, servers: ^{count: 1}}, {bytes: 1MB}]}", GANG, FLOW),
        # what needs somebody who stops jobs
        *both("survivors of nothing", "restart_scope", NO_RESTART, "restart_scope: ^pod",
              is_warned_of=True),
        *both("restarts after nothing", "restarts_max", NO_RESTART, "restarts_max: ^1",
              is_warned_of=True),
        *both("restarts although links stay up", "restarts_max", NO_RESTART,
              STEP + ", restarts_max: ^1", GANG, FLOW,
              is_warned_of=True),
        at("delay of restarts after nothing", "workload.controller.restart_delay", NO_RESTART,
           shared="{init: 1s}\n  controller: {restart_delay: ^1s}", is_warned_of=True),
        at("detection of nothing", "workload.controller.failure_detection", NO_RESTART,
           shared="{init: 1s}\n  controller: {failure_detection: ^1s}", is_warned_of=True),
        at("checkpoints for nothing", SHARED + "checkpoint_interval", "has no effect: checkpoints "
           "take no time", shared="{checkpoint_interval: ^1min}", is_warned_of=True),
        at("restore after nothing", SHARED + "restore", "has no effect: nothing stops a job",
           shared="{checkpoint_interval: 1min, checkpoint_write: 1s, restore: ^1s}",
           is_warned_of=True),
        at("restore of what a queue lets run", SHARED + "restore",
           "has no effect: nothing stops a job",
           shared="{checkpoint_interval: 1min, checkpoint_write: 1s, restore: ^1s}",
           more=COUNTING.replace("{}", "{policies: [{name: EASY}]}"), is_warned_of=True),
        at("stops by a queue that lets run", "policy.job_queue.stops",
           "has no effect: no policy of "
           "the queue stops jobs that run", more="policy: {job_queue: {stops: ^{write: 1s}}}\n",
           is_warned_of=True),
        at("disks that die with their nodes", "storage.local.read", "has no effect: jobs stop with "
           "their nodes alone", f"{GANG}, training: {{{SAVES.replace('blob', 'local')}}}",
           more=FAULT + stores("local: {read: ^1GBps}"),
              is_warned_of=True),
        at("nodes that restore nothing", "storage.node.read", NO_READ,
           f"{GANG}, training: {{{SAVES}}}",
           more=stores(f"stores: [{{{BLOB}}}], node: {{read: ^1GBps}}"),
              is_warned_of=True),
        at("disks that restore nothing", "storage.local.read", NO_READ,
           f"{GANG}, training: {{{SAVES.replace('blob', 'local')}}}",
           more=stores("local: {read: ^1GBps}"),
              is_warned_of=True),

        # what goes by how long jobs take, by pods, and by nodes
        at("overruns of jobs that ask for nothing", "workload.controller.overruns",
           "has no effect: "
           "no job says how long it takes at most (requested)",
           shared="{init: 1s}\n  controller: {overruns: ^kill}"),
        at("time that nobody goes by", "workload.sources[0].jobs[0].requested", "has no effect "
           "without policy.job_queue and workload.controller.overruns: kill",
           GANG + ", requested: ^5min", is_warned_of=True),
        *[at(f"{name} of counted jobs", path, NO_PODS, GANG + job, shared=shared, more=COUNTING)
          for name, path, job, shared in (
              ("quorum", "workload.sources[0].jobs[0].min_available", ", min_available: ^1", ""),
              ("start of pods", "workload.controller.pod_start", "",
               "{init: 1s}\n  controller: {pod_start: ^{median: 1s}}"),
              ("batches", "workload.controller.pods_per_sync_max", "",
               "{init: 1s}\n  controller: {pods_per_sync_max: ^9}"))],
        at("deadlocks of counted jobs", "record.deadlocks", NO_PODS,
           more=COUNTING + "record: {deadlocks: ^{counts_down_nodes: false}}\n"),
        at("selector of counted jobs", "workload.sources[0].jobs[0].pod.node_selector",
           "has no effect with policy.driver: counting, which knows no nodes",
           "pods: 2, pod: {gpus: 8, node_selector: ^{pool: gpu}}", more=COUNTING),
        at("scheduler's time for counted jobs", "policy.cost", "has no effect with driver: "
           "counting, which places no pods",
           more=COUNTING.replace("{driver", "{cost: ^{per_cycle: 1s}, driver")),
        at("profile of counted jobs", "policy.base", "has no effect with driver: counting, which "
           "places no pods", more=COUNTING.replace("{driver", "{base: ^strict_gang, driver"),
           is_warned_of=True),
        case("room for pods on nodes of counted jobs", {"s.yaml": marked(GANG, "", COUNTING,
        1).replace(
            "count: 4", "count: 4, pods_max: 9")}, says=(
                "s.yaml:1:70: cluster.pools[0].pods_max: has no effect with policy.driver: "
                "counting, "
                "unless counts or weight_tres has pods",)),
        case("validate: room for pods that are counted", {"s.yaml": marked(
            GANG, "", COUNTING.replace("{}", "{counts: [gpus, pods]}"), 1).replace(
                "count: 4", "count: 4, pods_max: 9")}, ("validate", "s.yaml"), 0),
        at("batches that wait for answers", "workload.controller.pod_creation_interval",
           "has no effect with control_plane.level: delays or full",
           shared="{init: 1s}\n  controller: {pod_creation_interval: ^1s}",
           more="control_plane: {level: delays}\n"),
        at("certificates of nodes that come back", "control_plane.node_join.certificate_requests",
           "has an effect only with joins or an autoscaler", more=FAULT
           + "control_plane: {level: full, node_join: {certificate_requests: ^9}}\n"),
        at("one node that joins little by little", "control_plane.joins[0].over", "has no effect on a "
           "single node", more="control_plane: {level: full, joins: [{pool: gpu, nodes: 1, at: 1min, "
           "over: ^1min}]}\n"),
        at("zones of one pool", "control_plane.node_lifecycle.zones", "has no effect: there is one "
           "pool", more=FAULT + "control_plane: {level: full, node_lifecycle: {zones: ^pools}}\n",
           is_warned_of=True),
        at("seats of lists that nobody makes",
           "control_plane.api_servers.flow_control.list_objects_per_seat",
           "has no effect: after the "
           "start nobody gets, lists or watches anything", more="control_plane: {level: full, "
           "api_servers: {flow_control: {list_objects_per_seat: ^1}}}\n"),
        at("way of an exchange that is never made in a node", JOB + "step.exchanges[0].algorithm",
           "has no effect, since network.exchanges tells the time between nodes, and it is never "
           "made "
           "in one", GANG + ", training: {" + STEP.replace("1GB", "1GB, algorithm: ^tree") + "}",
           more="network: {level: alpha_beta, exchanges: [{latency: 1us, bandwidth: 1GBps}]}\n"),
        at("way of an exchange that is never made between nodes",
           JOB + "step.exchanges[0].algorithm", "has no effect, since network.exchanges tells the "
           "time in nodes, and it is never made between them", GANG +
           ", training: {step: {compute: "
           "1s, parallel: {tensor: 8}, exchanges: [{bytes: 1GB, among: tensor, algorithm: ^tree}]}}",
           more="network: {level: alpha_beta, exchanges: [{span: node, latency: 1us, bandwidth: "
           "1GBps}]}\n"),
        case("validate: way of an exchange that may be made in a node", {"s.yaml": marked(
            "pods: 2, pod: {gpus: 4}, training: {" + STEP.replace("1GB", "1GB, algorithm: tree")
            + "}", "",
            "network: {level: alpha_beta, exchanges: [{latency: 1us, bandwidth: 1GBps}]}\n",
            1)}, ("validate", "s.yaml"), 0, never_says=("algorithm",)),

        # stores that are read only
        at("latency of data", "storage.stores[0].latency", "has no effect: no checkpoint goes "
           "there", f"{GANG}, training: {{{READS}}}",
           more=FLOW + stores(f"stores: [{{{BLOB}, latency: ^1ms}}]")),
        at("nodes that write nothing", "storage.node.write", "has no effect: no checkpoint goes to "
           "a store that nodes share", f"{GANG}, training: {{{READS}}}",
           more=FLOW + stores(f"stores: [{{{BLOB}}}], node: {{write: ^1GBps}}")),
        at("disks that nobody writes to", "storage.local.write", "has no effect: no checkpoint "
           "goes there", f"{GANG}, training: {{{LOCAL}}}",
           more=FLOW + stores("local: {write: ^1GBps}")),

        # a fabric of one leaf
        fabric("levels above a single leaf", "network.fabric.levels",
               "fabric: {rails: 1, levels: ^2}"),
        fabric("ports to nothing", "network.fabric.oversubscription",
               "fabric: {rails: 1, oversubscription: ^2}"),
        fabric("ways through a single leaf", "network.routing.engine",
               "fabric: {rails: 1}, routing: {engine: ^ecmp}"),
        fabric("other ways through a single leaf", "faults.links.routing", "fabric: {rails: 1}",
               "faults: {links: {routing: ^[{at: 1s, engine: updn}]}}\n"),
        at("ports of spines above a single leaf", "network.fabric.spine_oversubscription",
           ONE_LEAF, f"{GANG}, training: {{{STEP}}}", nodes_per_leaf=4, is_warned_of=True,
           more="network: {level: flow, fabric: {rails: 1, spine_oversubscription: ^2}}\n"),
        at("ports of spines without cores", "network.fabric.spine_oversubscription",
           "has no effect: the tree has 2 levels, and no cores above its spines",
           f"{GANG}, training: {{{STEP}}}", is_warned_of=True,
           more="network: {level: flow, fabric: {spine_oversubscription: ^2}}\n"),
        case("run: restarts after nothing", {"s.yaml": "".join(marked(
            f"{GANG}, training: {{restarts_max: 1}}", "", "", 1))}, says=(
                f"warning: {JOB}restarts_max: {NO_RESTART}",), status=0, leaves=("out.h5",)),
        at("fault of spines above a single leaf", "faults.links.list[0].among", "the fabric has "
           "none: it is a single leaf switch", f"{GANG}, training: {{{STEP}}}", nodes_per_leaf=4,
           more="network: {level: flow, fabric: {rails: 1}}\nfaults: {links: {list: [{among: "
           "^spines, at: 1s, flaw: {kind: dead}}]}}\n"),
    ]
