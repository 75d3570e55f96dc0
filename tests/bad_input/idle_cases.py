"""Parameters that an axis of a study takes the effect from, as data: see run_idle_cases.py."""

from __future__ import annotations

from dataclasses import dataclass, field

Settings = dict[str, str]


@dataclass(frozen=True)
class Idle:
    """`value` makes a difference to `base`, and none with the settings `idle` on top."""
    path: str  # what the message names
    says: str  # the message, or how it begins
    value: str  # of `path`, or of `setting` if that is another
    idle: Settings
    base: str
    setting: str = ""
    works: Settings = field(default_factory=dict)  # on top of `base` where it has an effect
    instead: Settings = field(default_factory=dict)  # what is set where it is not given
    is_shown: bool = True  # that it makes a difference to `base`
    besides: tuple[str, ...] = ()  # tables that tell of it, although it changes nothing

    @property
    def given(self) -> Settings:
        return {self.setting or self.path: self.value}


MACHINE = "[{name: gpu, machine: dgx-a100, count: 4, nodes_per_leaf: 1}]"
NODES = MACHINE.replace("count: 4", "count: 20")
GANG = "{work: 10min, pods: 2, pod: {gpus: 8}}"
ALONE = "{work: 10min, pods: 1, pod: {gpus: 8}}"
TWENTY = "{work: 10min, pods: 20, pod: {gpus: 8}}"
FOUR = "{work: 10min, pods: 4, pod: {gpus: 8}}"
STEP = "step: {compute: 1s, exchanges: [{bytes: 1GB}]}"
MODEL = "model: {layers: 8, hidden: 1024, batch: 64}"
T, J, C = "workload.training.", "workload.sources[0].jobs[0].", "control_plane."
SERVERS, CLIENTS = C + "api_servers.", C + "clients."
KNOWN = "{latency: 1us, bandwidth: 1GBps}"
COUNTED = {"policy": "{driver: counting, job_queue: {}}"}
UNCOUNTED = {"policy": "{job_queue: {}}"}
PODS = {J + "kind": "pods"}


def scenario(jobs: str = GANG, training: str = "", workload: str = "", pools: str = MACHINE,
             until: str = "1h", **sections: str) -> str:
    """`jobs`: of the only source, or the source as a whole."""
    source = jobs if jobs.startswith("{kind: ") else f"{{kind: jobs, jobs: [{jobs}]}}"
    parts = {"cluster": f"{{pools: {pools}}}", "run": f"{{until: {until}}}", **sections}
    text = "".join(f"{name}: {part}\n" for name, part in parts.items())
    shared = f"  training: {{{training}}}\n" if training else ""
    return f"{text}workload:\n{shared}{workload}  sources: [{source}]\n"


def flow(training: str = STEP, jobs: str = GANG, network: str = "", workload: str = "",
         **sections: str) -> str:
    return scenario(jobs, training, workload, network=f"{{level: flow{network}}}", **sections)


def plane(text: str = "", jobs: str = FOUR, level: str = "full", **sections: str) -> str:
    return scenario(jobs, control_plane=f"{{level: {level}{text and ', ' + text}}}", **sections)


def queue(policies: str, more: str = "", **sections: str) -> str:
    return scenario(", ".join(["{work: 10min, count: 4, every: 1min, requested: 20min, team: a, "
                               "pods: 2, pod: {gpus: 8}}", "{work: 5min, submit: 1min, team: b, "
                               "requested: 9min, count: 4, pods: 4, pod: {gpus: 8}}"]),
                    policy=f"{{job_queue: {{policies: [{policies}]{more}}}}}", **sections)


def exchange(text: str, more: str = "", compute: str = "compute: 1s") -> str:
    return f"step: {{{compute}, exchanges: [{{bytes: 1GB{text}}}]{more}}}"


TWO = GANG + ", " + GANG
H100 = MACHINE.replace("dgx-a100", "dgx-h100")
NVLS = exchange(", algorithm: nvls")
DEAD = "faults: {list: [{node: gpu-0, at: 2min, repair: 1min}]}"
NODE_LOST = "{list: [{node: gpu-0, at: 2min, repair: 20min}]}"
NODE_FAULT = "{list: [{node: gpu-0, at: 2min, repair: 1min}]}"
LEVELS = "has an effect only with level: alpha_beta or flow"
ONLY_FLOW, ONLY_FULL = "has an effect only with level: flow", "has an effect only with level: full"
FABRIC = "has an effect only with network.level: flow"
NO_PODS = "has no effect with policy.driver: counting, which knows no pods"
NO_STEP = "has no effect: no job says what a step of it is (training.step)"
NO_CABLE = "has no effect: no gang has more than one pod and a step with exchanges between them"
NO_GANGS = "has no effect: each gang has a training of its own, or there is none"
LINK_FAULT = "{list: [{on: host-0.nic-0, at: 1min, until: 3min, flaw: {kind: dead}}]}"
ALPHA = {"network.level": "alpha_beta"}
IN_NODES = {T + "step.parallel.tensor": "8", T + "step.exchanges[0].among": "tensor"}
ONE_POD = {J + "pods": "1"}

MEETING = flow(exchange("").replace("1GB", "10GB"), "{work: 10min, pods: 3, pod: {gpus: 5}}, {work: "
               "11min, submit: 1234ms, pods: 4, pod: {gpus: 3}}",
               ", fabric: {rails: 1, oversubscription: 8}")
NETWORK = [
    Idle("network.fabric", ONLY_FLOW, "{rails: 1, oversubscription: 8}", ALPHA,
         flow(jobs=TWO, network=", fabric: {rails: 1}"),
         instead={"network.fabric": "{rails: 1}"}),
    Idle("network.routing", ONLY_FLOW, "{engine: ecmp}", ALPHA,
         flow(jobs=TWO, network=", fabric: {rails: 1}")),
    Idle("network.links", ONLY_FLOW, "{retry_timeout: 5s}", ALPHA,
         flow(faults=f"{{links: {LINK_FAULT}}}")),
    Idle("network.sharp", LEVELS, "true", {"network.level": "none"}, flow(NVLS, pools=H100)),
    Idle("network.exchanges[0]", LEVELS, f"[{KNOWN}]", {"network.level": "none"}, flow(),
         "network.exchanges"),
    Idle("network.exchanges[1]", "has no effect: exchanges[0] speaks of the same",
         f"[{KNOWN}, {{span: node, latency: 1ms, bandwidth: 1GBps}}]",
         {"network.exchanges[0].span": "node"}, flow(exchange(", among: tensor",
         ", parallel: {tensor: 8}").replace("[{", "[{bytes: 1GB}, {")), "network.exchanges",
         instead={"network.exchanges": f"[{KNOWN}]"}),
    Idle("network.exchanges[0]", "has no effect: no step of a gang makes such an exchange",
         f"[{KNOWN}]", IN_NODES, flow(), "network.exchanges"),
    Idle("network.exchanges[0].span", "has no effect: groups that make it have more ranks than a "
         "node has GPUs", "[{span: node, latency: 1us, bandwidth: 1GBps}]",
         {"cluster.pools[0].machine": "dgx-1v"}, flow(STEP, "{work: 10min, pod: {gpus: 16}}",
         pools=MACHINE.replace("dgx-a100", "dgx-2")), "network.exchanges",
         works={J + "pods": "1"}),
    Idle("network.sharp", "has no effect: no step of a gang makes an all_reduce across nodes",
         "true", IN_NODES, flow(NVLS, pools=H100)),
    Idle("network.sharp", "has no effect: every all_reduce across nodes names an algorithm for "
         "which switches add up nothing", "true", {T + "step.exchanges[0].algorithm": "ring"},
         flow(NVLS, pools=H100)),
    Idle("network.sharp", "has no effect with level: alpha_beta, since network.exchanges tells the "
         "time", "true", {"network.exchanges": f"[{KNOWN}]"},
         scenario(training=STEP, pools=H100, network="{level: alpha_beta}")),
    Idle("network.sharp", "has no effect: no machine of the cluster has NVSwitches that add up",
         "true", {"cluster.pools[0].machine": "dgx-a100"}, flow(STEP, pools=H100)),
    Idle("network.level", NO_STEP, "flow", {T + "step": "null"}, scenario(training=STEP)),
    Idle("network.fabric", NO_CABLE, "{rails: 1, oversubscription: 8}", IN_NODES, flow(jobs=TWO)),
    Idle("cluster.pools[0].nodes_per_leaf", "has no effect: network.fabric.file tells which nodes "
         "share leaves", "2", {"network.fabric.file": "topology.csv"},
         flow(pools=MACHINE.replace(", nodes_per_leaf: 1", ""))),
    Idle("network.fabric.spine_oversubscription", "has no effect with levels: 2", "4",
         {"network.fabric.levels": "2"}, flow(jobs=TWENTY, network=", fabric: {radix: 32, rails: 1}", pools=NODES),
         works={"network.fabric.levels": "3"}),
    Idle("network.routing.choose_every", "has an effect only with an adaptive engine", "1s",
         {"network.routing.engine": "ecmp"}, flow(jobs=TWO), works={
             "network.routing.engine": "adaptive_local"}),
    Idle("network.routing.queue_pairs", "has an effect only with engines that tell flows apart",
         "4", {"network.routing.engine": "dmodk"}, flow(jobs=TWO, network=", fabric: {rails: 1}"),
         works={"network.routing.engine": "ecmp"}),
    Idle("workload.play_ahead", FABRIC, "{gangs: 0}", ALPHA, MEETING),
    Idle("workload.play_ahead", "has no effect with steps: traced, which plays all", "{gangs: 0}",
         {"workload.steps": "traced"}, MEETING),
    Idle("workload.play_ahead", "has no effect: one gang alone exchanges between nodes",
         "{gangs: 0}", {"workload.sources[0].jobs[1].pods": "1"}, MEETING),
    Idle("workload.play_ahead.steps", "has no effect with gangs: 0", "16",
         {"workload.play_ahead.gangs": "0"},
         MEETING),
    Idle("faults.links", FABRIC, LINK_FAULT, ALPHA, flow()),
    Idle("faults.links.list[0].flaw", "a curse has no effect: network.routing.engine is not "
         "adaptive", "{links: {list: [{on: host-0.nic-0, at: 1min, until: 5min, flaw: {kind: "
         "cursed}}]}}", {"network.routing.engine": "dmodk"}, flow(), "faults",
         works={"network.routing.engine": "adaptive_local"},
         besides=("events/link_faults", "summary/link_faults")),
    Idle("faults.links.list[0].until", "has no effect on a flap, which ends by itself", "4min",
         {"faults.links.list[0].flaw": "{kind: flap}"},
         flow(faults="{links: {list: [{on: host-0.nic-0, at: 1min, flaw: {kind: dead}}]}}")),
    Idle("faults.links.random[0].repair", "has no effect on a flap, which ends by itself",
         "{kind: exponential, mean: 1min}", {"faults.links.random[0].flaw": "{kind: flap}"},
         flow(faults="{links: {random: [{rate: 5000, flaw: {kind: dead}}]}}")),
    Idle("faults.nodes[0].weibull_shape", "has an effect only with distribution: weibull", "2",
         {"faults.nodes[0].distribution": "exponential"}, scenario(faults="{nodes: [{rate: 5000}]}"),
         works={"faults.nodes[0].distribution": "weibull"}),
]

HIERARCHY = exchange(", algorithm: hierarchical")
BOTH_KNOWN = "[{span: node, latency: 1us, bandwidth: 1GBps}, {latency: 1us, bandwidth: 1GBps}]"
TENSOR = flow(f"step: {{{MODEL}, parallel: {{tensor: 8}}}}")
DATA_ALONE = {T + "step.parallel.tensor": "16"}
KEPT = "has no effect: no ranks hand on activations"
PUSHES = exchange(", among: tensor, collective: push_pull, servers: {count: 1}",
                  ", parallel: {tensor: 16}")
LISTED = {T + "step.compute": "1s", T + "step.exchanges": "[{bytes: 1GB}]"}
MODELLED = {T + "step.model": MODEL.removeprefix("model: ")}
STEPS = [
    Idle(T + "step", "has an effect only with network.level alpha_beta or flow",
         STEP.removeprefix("step: "), {"network.level": "none"}, flow("")),
    Idle(T + "step", "has no effect with policy.driver: counting, which knows no nodes",
         STEP.removeprefix("step: "), COUNTED, flow(""), works=UNCOUNTED),
    Idle(T + "step", NO_GANGS, STEP.removeprefix("step: "), PODS, flow("")),
    Idle(J + "training.step", "has no effect on jobs of kind pods, which have no ranks",
         STEP.removeprefix("step: "), PODS, flow("")),
    Idle("workload.training", "has no effect: there is no job but services and those with a "
         "training of their own", "{init: 10s}", {J + "training": "{init: 20s}"}, scenario()),
    Idle("workload.steps", NO_STEP, "traced", {T + "step": "null"}, flow()),
    Idle(T + "step", "has no effect: it is compute alone, which work counts",
         "{compute: 40s}", {T + "checkpoint_interval": "0s"},
         flow("checkpoint_write: 1s"), works={T + "checkpoint_interval": "1min"}),
    Idle(T + "step.polling", "has no effect: no exchange leaves its node", "{cores_per_gpu: 64}",
         IN_NODES, flow()),
    Idle(T + "step.polling", "has no effect without exchanges", "{cores_per_gpu: 64}",
         {T + "step.exchanges": "[]", T + "step.optimizer": "1s"}, flow()),
    Idle(T + "step.polling.cores_per_gpu", "has no effect with exponent: 0", "64",
         {T + "step.polling.exponent": "0"}, flow()),
    Idle(T + "step.polling.exponent", "has no effect with cores_per_gpu: 0", "2",
         {T + "step.polling.cores_per_gpu": "0"}, flow(),
         works={T + "step.polling.cores_per_gpu": "64"}),
    Idle(T + "step.overlap", "has no effect: no rank has others to exchange with", "0.01",
         {J + "pods": "1", J + "pod.gpus": "1", T + "step.optimizer": "1s"}, flow()),
    Idle(T + "step.overlap", "has no effect without exchanges", "0.01",
         {T + "step.exchanges": "[]", T + "step.optimizer": "1s"}, flow()),
    Idle(T + "step.stragglers.slowdown", "has no effect while no machine is slow", "0.5",
         {T + "step.stragglers.fraction": "0"}, flow(), works={T + "step.stragglers.fraction": "0.1"}),
    Idle(T + "step.exchanges[0]", "has no effect: such a group has one rank of 16",
         "[{bytes: 1GB}, {bytes: 1MB, among: tensor}]", DATA_ALONE,
         flow("step: {compute: 1s, parallel: {tensor: 8}}"), T + "step.exchanges",
         instead={T + "step.exchanges": "[{bytes: 1MB, among: tensor}]"}),
    Idle(T + "step.exchanges[0].among", "such a group has one rank: parallel makes none",
         "[{bytes: 1GB, among: tensor}]", {T + "step.parallel.tensor": "1"},
         flow("step: {compute: 1s, optimizer: 1s}"), T + "step.exchanges",
         works={T + "step.parallel.tensor": "8"}),
    Idle(T + "step.exchanges[0].servers", "have an effect only on push_pull", "{count: 1}",
         {T + "step.exchanges[0].collective": "all_reduce"}, flow(exchange("")),
         works={T + "step.exchanges[0].collective": "push_pull"},
         instead={T + "step.exchanges[0].servers": "{count: 2}"}),
    Idle(T + "step.exchanges[0].servers", "have no effect: the ranks that exchange with one another "
         "share a pod", "{count: 4}", {T + "step.parallel.tensor": "8"}, flow(PUSHES)),
    Idle(T + "step.exchanges[0].stages", "has an effect only with algorithm: hierarchical",
         "pipelined", {T + "step.exchanges[0].algorithm": "ring"}, flow(),
         works={T + "step.exchanges[0].algorithm": "hierarchical"}),
    Idle(T + "step.exchanges[0].stages", "has no effect, since network.exchanges tells the time",
         "pipelined", {"network.exchanges": BOTH_KNOWN}, flow(HIERARCHY, GANG + ", " + ALONE)),
    Idle(T + "step.exchanges[0].algorithm", "has no effect with level: alpha_beta, since "
         "network.exchanges tells the time", "tree", {"network.exchanges": BOTH_KNOWN},
         scenario(GANG + ", " + ALONE, STEP, network="{level: alpha_beta}")),
    Idle(T + "step.zero", "has no effect: there is one data-parallel rank", "true", DATA_ALONE, TENSOR),
    Idle(T + "step.zero", "has no effect without model: list the exchanges instead", "true",
         LISTED, flow(""),
         works=MODELLED),
    Idle(T + "step.model.gradient_bytes", "has no effect: there is one data-parallel rank", "2",
         DATA_ALONE, TENSOR),
    Idle(T + "step.model.experts_per_token", "has no effect while parallel.expert is 1", "2",
         {T + "step.parallel.expert": "1"}, flow(f"step: {{{MODEL}}}"),
         works={T + "step.parallel.expert": "4"}),
    Idle(T + "step.parallel.expert", "has no effect without experts_per_token or such exchanges",
         "4", {T + "step.model.experts_per_token": "0"}, flow(f"step: {{{MODEL}}}"),
         works={T + "step.model.experts_per_token": "2"},
         instead={T + "step.parallel.expert": "2"}),
    Idle(T + "step.parallel.microbatch", KEPT, "2", {T + "step.parallel.tensor": "1"}, TENSOR),
    Idle(T + "step.parallel.microbatches", KEPT, "2", {T + "step.parallel.tensor": "1"}, TENSOR),
    Idle(T + "step.parallel.microbatch", "has no effect without model", "2",
         LISTED, flow(""),
         works={**MODELLED, T + "step.parallel.tensor": "8"}),
    Idle(T + "step.parallel.microbatches", "has no effect without model or pipeline", "4",
         LISTED, flow(""),
         works={**LISTED, T + "step.parallel.pipeline": "4"},
         instead={T + "step.parallel.microbatches": "8"}),
    Idle(T + "step.parallel.microbatch", "has no effect beside microbatches", "2",
         {T + "step.parallel.microbatches": "4"}, TENSOR),
    Idle(T + "step.parallel.virtual_stages", "has no effect without a pipeline", "2",
         {T + "step.parallel.pipeline": "1"}, flow(f"step: {{{MODEL}}}"),
         works={T + "step.parallel.pipeline": "2"}),
    Idle(T + "step.parallel.tensor", "has no effect without model or exchanges among data, tensor",
         "8", {T + "step.exchanges[0].among": "all"}, flow()),
]

BLOB, LOCAL = "stores: [{name: blob, write: 1GBps, read: 1GBps}]", "local: {write: 1GBps}"
SAVES = "checkpoint_interval: 1min, checkpoint: {store: blob, bytes: 100GB}"
READS = "step: {compute: 1s, exchanges: [{bytes: 1GB}]}, dataset: {store: blob, per_step: 100MB}"
NO_INTERVAL = "has no effect without checkpoint_interval"
HERE_IT_IS = "has no effect beside checkpoint: the store tells"
UNUSED = "has no effect: no job uses it (training.checkpoint or training.dataset)"
STORE_OF_ITS_OWN = {T + "checkpoint": "{store: blob, bytes: 100GB}"}
TIMED = scenario(training="checkpoint_interval: 1min, checkpoint_write: 5s",
                 faults=NODE_FAULT)
STORED = scenario(training=SAVES, faults=NODE_FAULT, storage=f"{{{BLOB}}}")
STORES = [
    Idle(T + "checkpoint", NO_INTERVAL, "{store: blob, bytes: 100GB}",
         {T + "checkpoint_interval": "0s"}, scenario(storage=f"{{{BLOB}}}"),
         works={T + "checkpoint_interval": "1min"}),
    Idle(T + "checkpoint_write", NO_INTERVAL, "5s", {T + "checkpoint_interval": "0s"},
         scenario(), works={T + "checkpoint_interval": "1min"}),
    Idle(T + "restore", NO_INTERVAL, "30s", {T + "checkpoint_interval": "0s"}, TIMED.replace(
        "checkpoint_interval: 1min, checkpoint_write: 5s", "init: 1s"),
         works={T + "checkpoint_interval": "1min"}),
    Idle(T + "checkpoint_write", HERE_IT_IS, "5s", STORE_OF_ITS_OWN,
         scenario(training="checkpoint_interval: 1min", storage=f"{{{BLOB}}}")),
    Idle(T + "restore", HERE_IT_IS, "30s", STORE_OF_ITS_OWN, scenario(
        training="checkpoint_interval: 1min", faults=NODE_FAULT, storage=f"{{{BLOB}}}")),
    Idle(T + "checkpoint.host_copy", "has an effect only with mode: async", "1GBps",
         {T + "checkpoint.mode": "sync"}, STORED, works={T + "checkpoint.mode": "async"}),
    Idle(T + "checkpoint.sharded", "has no effect on local disks: nodes write and read their own "
         "part", "true", {T + "checkpoint.store": "local"},
         scenario(training=SAVES, storage=f"{{{BLOB}, {LOCAL}}}"), is_shown=False),
    Idle(T + "checkpoint", NO_GANGS, "{store: blob, bytes: 100GB}", PODS,
         scenario(training="checkpoint_interval: 1min", storage=f"{{{BLOB}}}")),
    Idle(T + "dataset", NO_GANGS, "{store: blob, per_step: 100MB}", PODS,
         flow(storage=f"{{{BLOB}}}")),
    Idle(T + "dataset.size", "has an effect only with cache: true", "30GB",
         {T + "dataset.cache": "false"}, flow(READS, storage=f"{{{BLOB}, {LOCAL}}}"),
         works={T + "dataset.cache": "true"},
         instead={T + "dataset.size": "100GB"}),
    Idle(T + "dataset.cache", "has no effect on local disks", "true", {T + "dataset.store": "local"},
         flow(READS.replace("100MB", "100MB, size: 30GB"), storage=f"{{{BLOB}, {LOCAL}}}")),
    Idle("storage.stores[0]", UNUSED, f"{{{BLOB}}}", {T + "checkpoint": "null"},
         scenario(training=SAVES), "storage",
         instead={"storage": f"{{{BLOB}}}".replace("1GBps", "2GBps")}),
    Idle("storage.stores[0].latency", "has no effect: no checkpoint goes there", "1s",
         {T + "checkpoint": "null"}, flow(READS + ", " + SAVES, storage=f"{{{BLOB}}}")),
    Idle("storage.local.write", "has no effect: no checkpoint goes there", "100MBps",
         {T + "checkpoint": "null"}, flow((READS + ", " + SAVES).replace("blob", "local"), storage=f"{{{LOCAL}}}")),
    Idle("storage.node", "has no effect without stores", "{write: 100MBps}",
         {T + "checkpoint.store": "local", "storage.stores": "[]"},
         scenario(training=SAVES, storage=f"{{{BLOB}, {LOCAL}}}")),
    Idle("storage.node", "has no effect: no job uses a store that nodes share", "{write: 100MBps}",
         {T + "checkpoint.store": "local"}, scenario(training=SAVES, storage=f"{{{BLOB}, {LOCAL}}}")),
    Idle("storage.node.write", "has no effect: no checkpoint goes to a store that nodes share",
         "100MBps", {T + "checkpoint": "null"}, flow(READS + ", " + SAVES, storage=f"{{{BLOB}}}")),
]

HIGHER = "{work: 5min, submit: 1min, pods: 4, pod: {gpus: 8}}"
PREEMPTS = "policy.plugins[0]"
EQUAL = {"workload.sources[0].jobs[1].priority": "0"}
ABOVE = {"workload.sources[0].jobs[1].priority": "5"}
SINGLES = "{work: 10min, count: 4, kind: pods, pod: {gpus: 8}}"
# As long as nearly all pods of a gang have a node, coscheduling lets them wait for the last one.
WAITS = scenario("{work: 10min, pods: 21, pod: {gpus: 8}}", pools=NODES)
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
    Idle(J + "controller", NO_PODS, "ordered_stateful_set", COUNTED,
         scenario("{work: 10min, kind: pods, pods: 2, pod: {gpus: 8}}",
                  workload="  controller: {pod_start: {median: 5s}}\n"), works=UNCOUNTED),
    Idle(PREEMPTS, "has no effect: all pods have the same priority", "{plugins: [{name: "
         "DefaultPreemption, args: {per_node: 1s}}]}", EQUAL, scenario(CROWDED), "policy", works=ABOVE),
    Idle(PREEMPTS + ".args.async", "has no effect: pods are deleted through API servers", "false",
         {C + "level": "none"}, DELETES, works={C + "level": "full", **ABOVE}),
    Idle(PREEMPTS + ".args.minCandidateNodesAbsolute", "has no effect with algorithm: before_1_20",
         "1", {PREEMPTS + ".args.algorithm": "before_1_20", **ABOVE}, scenario(
             CROWDED.replace("count: 4", "pods: 4").replace("count: 2", "pods: 2"), policy="{plugins: "
             "[{name: DefaultPreemption, args: {minCandidateNodesPercentage: 0}}]}"), works=ABOVE),
    Idle("workload.controller.termination", "has no effect: no pod is preempted, since all have the "
         "same priority", "30s", EQUAL, DELETES, works=ABOVE),
    Idle(J + "pod.image", "has no effect: nodes pull images with control_plane.level: delays or full",
         "{name: a, size: 10GB}", {C + "level": "none"}, scenario(), works={C + "level": "full"}),
    Idle("workload.controller.restart_delay_max", "has no effect: restart_delay is 0", "1min",
         {"workload.controller.restart_delay": "0s"}, scenario(faults="{list: [{node: gpu-0, at: "
         "2min, repair: 1s}, {node: gpu-0, at: 4min, repair: 1s}]}"),
         works={"workload.controller.restart_delay": "10s"}),
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

SMOOTH = "{flow_control: {mode: max_inflight}}"
READERS = "readers: [{clients: 2, every: 1min, from: etcd}]"
EVENTS = f"events: {{per_pod: 5, {READERS}}}"
NAMES = "namespaces: {existing: 50, per_job: true}"
NAMED = "namespaces: {existing: 50}"
GROUPS = "services: {groups: [{name: a, count: 50}]}"
JOINS = "joins: [{pool: gpu, nodes: 2, at: 1min}]"
BUSY = plane(faults=NODE_FAULT)
NODE_GOES = {"faults.list": "[{node: gpu-0, at: 2min, repair: 1min}]"}
NODE_STAYS = {"faults.list": "[]"}
NO_LEVEL = "has an effect only with level: delays or full"
NO_READS = "has no effect: nothing is read from etcd without readers of events or namespaces"
NO_READER = "has no effect without readers of events or namespaces, namespaces.per_job, or"
UNSTALE = "has no effect: runs read nothing stale from etcd and lose no member"
NO_EVENTS = "has no effect without Events: there is no section `events`, and no node boots"
NO_BOOT = "has no effect with this level if no node joins or fails"
NOBODY_READS = "has no effect: after the start nobody gets, lists or watches anything"
NONE_DELETED = "has no effect: none is deleted"
NO_GROUPS = "has no effect without `groups`"
SLOW = "{qps: 1, burst: 1}"


def part(path: str, value: str, *, more: str = "", jobs: str = FOUR, **sections: str) -> Idle:
    """A section that needs a control plane."""
    return Idle(C + path, NO_LEVEL, value, {C + "level": "none"}, plane(more, jobs, **sections))


def full(path: str, value: str, *, more: str = "", jobs: str = FOUR, **sections: str) -> Idle:
    return Idle(C + path, ONLY_FULL, value, {C + "level": "delays"}, plane(more, jobs, **sections))


SMALL = "{work: 1min, count: 32, pod: {gpus: 1}}"
IMAGE = FOUR.replace("gpus: 8", "gpus: 8, image: {name: a, size: 1GB}")
PLANE = [
    part("api_servers", "{server: {cost: {write: 1s}}}"),
    part("clients", "{scheduler: {qps: 1, burst: 1}}"),
    part("etcd", "{commit_latency: 1s}"),
    part("pods", "{watch_latency: 1s}"),
    part("kubelet", "{container: 20s}"),
    part("image_pulls", "{node: 10MBps}", jobs=IMAGE),
    part("events", "{per_pod: 9}"), part("crash_loops", "[{nodes: 2, from: 1min}]"),
    part("namespaces", "{existing: 50}"), part("services", "{groups: [{name: a}]}"),
    part("losses", "[{at: 1min}]"), part("node_join", "{daemons: 9}", faults=NODE_FAULT),
    part("joins", "[{pool: gpu, nodes: 2, at: 1min}]"),
    part("node_lifecycle", "{toleration: 10s}", faults=NODE_LOST),
    part("autoscaler", "{groups: [{pool: gpu}]}"),
    full("clients", "{scheduler: {qps: 1, burst: 1}}"), full("services", "{groups: [{name: a}]}", faults=NODE_FAULT),
    full("losses", "[{at: 1min}]"), full("events", "{bytes: 1MiB}", faults=NODE_FAULT),
    full("crash_loops", "[{nodes: 2, from: 1min}]"), full("namespaces", "{existing: 50}"),
    full("image_pulls.registry", "10MBps", jobs=IMAGE),
    full("image_pulls.parallel", "2", jobs=IMAGE.replace("8", "4") + ", " + IMAGE.replace(
        "8", "4").replace("name: a", "name: b")),
    full("api_servers.servers", "1"), full("api_servers.balance", "per_request"),
    full("api_servers.flow_control", "{max_mutating_requests_inflight: 1, "
         "max_requests_inflight: 1}", more="clients: {controller_manager: {qps: 1000}}"),
    full("api_servers.server.cores", "0.01"),
    full("api_servers.server.heap", "{limit: 64MiB}", more="namespaces: {existing: 10000, "
         "readers: [{every: 1min}]}"),
    full("api_servers.server.request_timeout", "15s", more="etcd: {write_rate_max: 1}",
         jobs=SMALL),
    full("api_servers.server.restart_time", "1s", more="namespaces: {existing: 10000, readers: "
         "[{every: 1min}]}, api_servers: {server: {heap: {limit: 64MiB}}}"),
    full("etcd.compaction_interval", "1min"), full("etcd.quota", "1MiB", more="pods: {bytes: "
         "1MB}, etcd: {request_max: 1MiB}"),
    full("etcd.write_rate_max", "1"), full("etcd.request_max", "4kB"),
    full("etcd.event_ttl", "1min", more="events: {}"),
    full("etcd.separate_events", "true", more="events: {}"),
    full("pods.watchers", "900"), full("kubelet.status_writes", "9"),
    full("kubelet.heartbeats.status_period", "1min"),
    full("kubelet.crash_loop", "{initial: 1s}", more="crash_loops: [{nodes: 2}]"),

    Idle(CLIENTS + "controller_manager.backoff", "has no effect with tries_max: 1", "7s",
         {CLIENTS + "controller_manager.tries_max": "1"}, plane(
             "api_servers: {servers: 1}, losses: [{at: 1s, until: 9s}]", FOUR.replace(
                 "{work", "{submit: 2s, work"))),
    Idle(SERVERS + "balance", "has no effect: there is one server", "per_request",
         {SERVERS + "servers": "1"}, plane()),
    Idle(SERVERS + "server.restart_time", "has no effect without heap.limit", "1s", {},
         plane("namespaces: {existing: 10000, readers: [{every: 1min}]}"),
         works={SERVERS + "server.heap.limit": "64MiB"}),
    Idle(SERVERS + "flow_control.wait_limit", "has no effect with mode: max_inflight", "2s",
         {SERVERS + "flow_control.mode": "max_inflight"}, plane(
             "api_servers: {servers: 1, flow_control: {max_requests_inflight: 1, "
             "max_mutating_requests_inflight: 1}}, etcd: {commit_latency: 1s}", SMALL)),
    Idle(C + "etcd.read_object", NO_READS, "1e8", {C + "events": "{per_pod: 5}"}, plane(),
         works={C + "events": f"{{per_pod: 5, {READERS}}}"}),
    Idle(CLIENTS + "others", NO_READER, "{qps: 0.001, burst: 1}", {C + "events": "{per_pod: 5}"},
         plane(), works={C + "events": f"{{per_pod: 5, {READERS}}}"}),
    Idle(C + "node_join.slices", "has no effect with services: nodes list their addresses",
         "900000", {C + "services.groups": "[{name: a}]"}, BUSY),
    Idle(C + "kubelet.crash_loop", "has no effect without crash_loops", "{initial: 1s}",
         {C + "crash_loops": "[]"}, plane(), works={C + "crash_loops": "[{nodes: 2}]"}),
    Idle(C + "node_join.rate_max", "has an effect only with joins or an autoscaler: who "
         "comes back is not held up", "0.01",
         {C + "joins": "[]"}, BUSY, works={C + "joins": "[{pool: gpu, nodes: 2, at: 1min}]"}),
    Idle(C + "node_join.burst", "has no effect without rate_max", "2",
         {C + "node_join.rate_max": "0"}, plane(JOINS), works={C + "node_join.rate_max": "0.01"}),
    Idle(C + "events.client", "has no effect with per_pod: 0 and per_failed_bind: 0", SLOW,
         {C + "events.per_pod": "0", C + "events.per_failed_bind": "0"},
         plane("events: {others_per_s: 1}")),
    Idle(C + "services.endpoints.slice_size", "has no effect on Endpoints", "2",
         {C + "services.endpoints.kind": "endpoints"}, plane(GROUPS, faults=NODE_FAULT)),
    Idle(C + "services.endpoints.addresses_max", "has no effect on slices", "2",
         {C + "services.endpoints.kind": "endpoint_slices"}, plane(GROUPS, faults=NODE_FAULT),
         works={C + "services.endpoints.kind": "endpoints"}),
    Idle(C + "etcd.disk", "has no effect: commit_latency stands in its place", "hdd",
         {C + "etcd.commit_latency": "1ms"}, plane()),
    Idle(C + "namespaces.deleted", "has no effect without per_job", "false",
         {C + "namespaces.per_job": "false"}, plane(NAMES)),
    Idle(C + "namespaces.each.delete_qps", NONE_DELETED, "0.1",
         {C + "namespaces.deleted": "false"}, plane(NAMES)),
    Idle(C + "namespaces.each.workers", "has no effect without grace", "1",
         {C + "namespaces.each.grace": "0s"}, plane(NAMES, SMALL),
         works={C + "namespaces.each.grace": "1min"}),
    Idle(C + "namespaces.each.client_qps", "has no effect without askers", "0.1",
         {C + "namespaces.askers": "[]"}, plane(NAMED),
         works={C + "namespaces.askers": "[{every: 1min}]"}),
    Idle(C + "services.groups[0].team", "has no effect with members: nodes", "a",
         {C + "services.groups[0].members": "nodes"}, plane(
             "services: {groups: [{name: a, members: pods}]}", FOUR + ", " + FOUR.replace(
                 "{work", "{team: a, work").replace("8", "1"))),
    Idle(C + "services.endpoints", NO_GROUPS, "{batch_period: 10s}",
         {C + "services.groups": "[]"}, plane(GROUPS, faults=NODE_FAULT)),
    Idle(C + "services.fan_out", "has no effect: nobody watches", "{encode_per_address: 1ms}",
         {C + "services.watchers.kube_proxies": "false"}, plane(GROUPS, faults=NODE_FAULT)),
    Idle(C + "services.fan_out.has_headless_filter", "has no effect without kube-proxies", "false",
         {C + "services.watchers": "{kube_proxies: false, controllers: 1}"},
         plane("services: {groups: [{name: a, headless: true}]}", faults=NODE_FAULT)),
    Idle(C + "services.fan_out.has_headless_filter", "has no effect: no service is headless",
         "false", {C + "services.groups[0].headless": "false"},
         plane("services: {groups: [{name: a, headless: true}]}", faults=NODE_FAULT)),
    Idle(C + "node_join", "has no effect: no node joins, and none fails", "{daemons: 9}",
         {"faults": "{}"}, plane(), works={"faults": NODE_FAULT}),
    Idle(C + "node_lifecycle", "has no effect: no node fails or is cut off",
         "{toleration: 10s}", {"faults": "{}"}, plane(), works={"faults": NODE_LOST}),
    Idle(CLIENTS + "kube_proxy", NO_BOOT, "{qps: 0.1, burst: 1}", {"faults": "{}"}, plane(),
         works={"faults": NODE_FAULT}),
    Idle(C + "etcd.separate_events", NO_EVENTS, "true", {"faults": "{}"}, plane(),
         works={"faults": NODE_FAULT}),
    Idle(SERVERS + "server.cost.cached_object", NOBODY_READS, "1e8", {"faults": "{}"}, plane(),
         works={"faults": NODE_FAULT}),
    Idle(C + "image_pulls", "has no effect: no pod names an image", "{node: 10MBps}", {}, plane(),
         works={J + "pod.image": "{name: a, size: 1GB}"}),
]
ARGUMENTS = "policy.job_queue.policies[0].args."
SLURM = queue("{name: SlurmMultifactor, args: {weight_fairshare: 1000, weight_age: 1}}")
TIRESIAS = queue("{name: Tiresias, args: {limits: [60]}}")
SHORT_AND_LONG = scenario(", ".join(f"{{work: {work}min, submit: {i}min, every: {every}min, count: 6, "
                                    f"pods: {pods}, pod: {{gpus: 8}}}}" for i, (work, every, pods) in
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
         {J + "kind": "pods", "policy": "{base: coscheduling}"}, WAITS, works={"policy": "{base: coscheduling}"}),
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
        jobs=TWENTY, network=", fabric: {rails: 1}", pools=NODES), works={"network.fabric.radix": "16"}),
]


def rest(path: str, says: str, values: Settings, idle: Settings, base: str,
         works: Settings | None = None, is_shown: bool = True) -> list[Idle]:
    """Fields of a section, of which the message is the same."""
    return [Idle(path + name, says, value, idle, base, works=works or {}, is_shown=is_shown)
            for name, value in values.items()]


SILENT, HEARD = {C + "events": "{per_pod: 5}"}, {C + "events": f"{{per_pod: 5, {READERS}}}"}
REST = [
    *rest("", NO_CABLE, {"network.routing": "{engine: ecmp}", "workload.play_ahead": "{gangs: 1}",
                         "network.links": "{retry_timeout: 5s}"},
          IN_NODES, flow(jobs=TWO, network=", fabric: {rails: 1}"), is_shown=False),
    Idle("faults.links", NO_CABLE, LINK_FAULT, IN_NODES, flow(), besides=(
        "events/link_faults", "links", "summary/link_faults", "timeline/network")),
    *rest(C, NO_READS, {
        "api_servers.server.cost.stored_object": "1e8", "api_servers.server.cost.stored_byte": "1e5",
        "etcd.members": "3", "etcd.read_latency": "5s", "etcd.read_rate_max": "1",
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
LISTED_NODES = scenario("{work: 10min, pods: 3, pod: {gpus: 1}}", STEP, network="{level: alpha_beta}")
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
    Idle(J + "min_available", NO_PODS, "1", COUNTED, scenario("{work: 10min, pods: 5, pod: {gpus: "
         "8}}"), works={"policy": "{base: native_gang}"}),
    Idle("cluster.pools[0].pods_max", "has no effect with policy.driver: counting, unless counts or "
         "weight_tres has pods", "1", COUNTED, scenario(SMALL), works=UNCOUNTED),
    Idle("cluster.pools[0].taints", NO_PODS, "[{key: a}]", COUNTED, scenario(), works=UNCOUNTED),
    Idle(J + "pod.node_selector", "has no effect with policy.driver: counting, which knows no nodes",
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
    Idle(C + "node_join.certificate_requests", "has an effect only with joins or an autoscaler: who "
         "comes back has its certificate", "9", {C + "joins": "[]"}, BUSY,
         works={C + "joins": "[{pool: gpu, nodes: 2, at: 1min}]"}),
    Idle(SERVERS + "server.heap.list_factor", NOBODY_READS, "0", {SERVERS + "server.cores": "64"},
         plane(), works={C + "namespaces": "{existing: 10000, readers: [{every: 1min}]}",
                         SERVERS + "server.heap.limit": "64MiB"},
         is_shown=False),
    Idle(SERVERS + "flow_control.list_objects_per_seat", NOBODY_READS, "1", NO_SUCH_FAULTS, plane(),
         works=FAULTY, is_shown=False),
    Idle(T + "step.exchanges[0].algorithm", "has no effect, since network.exchanges tells the time "
         "between nodes, and it is never made in one", "tree", {"cluster.pools[0].machine": "dgx-1v"},
         scenario("{work: 10min, pods: 2, pod: {gpus: 5}}", STEP, pools=MACHINE.replace(
             "dgx-a100", "dgx-2"), network=f"{{level: alpha_beta, exchanges: [{KNOWN}]}}"),
         works={J + "pods": "1"}),
    Idle(T + "step.exchanges[0].algorithm", "has no effect, since network.exchanges tells the time in "
         "nodes, and it is never made between them", "tree", {T + "step.exchanges[0].among": "tensor"},
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
    "has no effect: runs read nothing stale from etcd and lose no member": "at no level",
    "has no effect: the topology file tells the leaf of each NIC": "a mistake",
}
CASES = NETWORK + STEPS + STORES + JOBS + PLANE + POLICIES + WARNED + REST + COUNTED_POOL
