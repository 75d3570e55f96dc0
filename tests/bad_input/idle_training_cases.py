"""Parameters of the network, of steps and of stores that may have no effect: see idle_cases.py."""

from __future__ import annotations

from idle_forms import (
    ALONE, ALPHA, COUNTED, FABRIC, GANG, H100, IN_NODES, Idle, J, KNOWN, LEVELS, LINK_FAULT,
    MACHINE, MODEL, NODES, NODE_FAULT, NO_CABLE, NO_GANGS, NO_STEP, NVLS, ONLY_FLOW, PODS, STEP,
    T, TWENTY, TWO, UNCOUNTED, exchange, flow, scenario,
)

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
         {"network.fabric.levels": "2"}, flow(jobs=TWENTY,
         network=", fabric: {radix: 32, rails: 1}", pools=NODES),
         works={"network.fabric.levels": "3"}),
    Idle("network.routing.choose_every", "has an effect only with an adaptive engine", "1s",
         {"network.routing.engine": "ecmp"}, flow(jobs=TWO), works={
             "network.routing.engine": "adaptive_local"}),
    Idle("network.routing.queue_pairs", "has an effect only with engines that tell flows apart",
         "4", {"network.routing.engine": "dmodk"}, flow(jobs=TWO, network=", fabric: {rails: 1}"),
         works={"network.routing.engine": "ecmp"}),
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
         {"faults.nodes[0].distribution": "exponential"},
         scenario(faults="{nodes: [{rate: 5000}]}"),
         works={"faults.nodes[0].distribution": "weibull"}),
]
HIERARCHY = exchange(", algorithm: hierarchical")
BOTH_KNOWN = "[{span: node, latency: 1us, bandwidth: 1GBps}, {latency: 1us, bandwidth: 1GBps}]"
TENSOR = flow(f"step: {{{MODEL}, parallel: {{tensor: 8}}}}")
DATA_ALONE = {T + "step.parallel.tensor": "16"}
ALIKE = "has no effect beside peak_tflops, by which all GPUs are alike"
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
         {T + "step.stragglers.fraction": "0"}, flow(), works={T +
         "step.stragglers.fraction": "0.1"}),
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
    Idle(T + "step.exchanges[0].servers",
         "have no effect: the ranks that exchange with one another "
         "share a pod", "{count: 4}", {T + "step.parallel.tensor": "8"}, flow(PUSHES)),
    Idle(T + "step.exchanges[0].stages", "has an effect only with algorithm: hierarchical",
         "pipelined", {T + "step.exchanges[0].algorithm": "ring"}, flow(),
         works={T + "step.exchanges[0].algorithm": "hierarchical"}),
    Idle(T + "step.exchanges[0].stages", "has no effect, since network.exchanges tells the time",
         "pipelined", {"network.exchanges": BOTH_KNOWN}, flow(HIERARCHY, GANG + ", " + ALONE)),
    Idle(T + "step.exchanges[0].algorithm", "has no effect with level: alpha_beta, since "
         "network.exchanges tells the time", "tree", {"network.exchanges": BOTH_KNOWN},
         scenario(GANG + ", " + ALONE, STEP, network="{level: alpha_beta}")),
    Idle(T + "step.zero", "has no effect: there is one data-parallel rank", "true", DATA_ALONE,
         TENSOR),
    Idle(T + "step.zero", "has no effect without model: list the exchanges instead", "true",
         LISTED, flow(""),
         works=MODELLED),
    Idle(T + "step.model.gradient_bytes", "has no effect: there is one data-parallel rank", "2",
         DATA_ALONE, TENSOR),
    Idle(T + "step.model.precision", ALIKE, "tf32", {T + "step.model.peak_tflops": "312"},
         flow(f"step: {{{MODEL}}}")),
    Idle(T + "step.model.work_gpu", ALIKE, "H100M80", {T + "step.model.peak_tflops": "312"},
         flow(f"step: {{{MODEL}}}")),
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
    Idle(T + "dataset.cache", "has no effect on local disks", "true", {T +
         "dataset.store": "local"},
         flow(READS.replace("100MB", "100MB, size: 30GB"), storage=f"{{{BLOB}, {LOCAL}}}")),
    Idle("storage.stores[0]", UNUSED, f"{{{BLOB}}}", {T + "checkpoint": "null"},
         scenario(training=SAVES), "storage",
         instead={"storage": f"{{{BLOB}}}".replace("1GBps", "2GBps")}),
    Idle("storage.stores[0].latency", "has no effect: no checkpoint goes there", "1s",
         {T + "checkpoint": "null"}, flow(READS + ", " + SAVES, storage=f"{{{BLOB}}}")),
    Idle("storage.local.write", "has no effect: no checkpoint goes there", "100MBps",
         {T + "checkpoint": "null"}, flow((READS + ", " + SAVES).replace("blob", "local"),
         storage=f"{{{LOCAL}}}")),
    Idle("storage.node", "has no effect without stores", "{write: 100MBps}",
         {T + "checkpoint.store": "local", "storage.stores": "[]"},
         scenario(training=SAVES, storage=f"{{{BLOB}, {LOCAL}}}")),
    Idle("storage.node", "has no effect: no job uses a store that nodes share", "{write: 100MBps}",
         {T + "checkpoint.store": "local"}, scenario(training=SAVES,
         storage=f"{{{BLOB}, {LOCAL}}}")),
    Idle("storage.node.write", "has no effect: no checkpoint goes to a store that nodes share",
         "100MBps", {T + "checkpoint": "null"}, flow(READS + ", " + SAVES, storage=f"{{{BLOB}}}")),
]
