"""Features of the cluster: pools, node lists, fabric, routes, stores."""

from __future__ import annotations

from draft import Draft, Draw, Feature, Tree

# Machines, with their numbers of GPUs.
MACHINES = {"dgx-a100": 8, "hgx-h100": 8, "dgx-1v": 8, "dgx-2": 16, "a10-2": 2, "t4-4": 4,
            "a100-pcie-4": 4, "v100-pcie-4": 4, "dgx-b200": 8}
ENGINES = ["dmodk", "updn", "minhop", "ecmp", "adaptive_local", "adaptive_global"]


def end(draft: Draft, draw: Draw) -> None:
    draft.until = draw.pick([draw.count(5, 15), draw.count(10, 120)]) * 60
    draft.put("run.until", f"{draft.until}s")


def pools(draft: Draft, draw: Draw) -> None:
    for i in range(draw.pick([1, 1, 1, 2, 2, 3])):
        pool: Tree = {"name": f"p{i}", "machine": draw.pick(list(MACHINES)),
                      "count": draw.count(1, 8)}
        draw.maybe(pool, 0.4, nodes_per_leaf=draw.pick([1, 2, 3, 4]))
        draw.maybe(pool, 0.1, pods_max=draw.count(1, 10))
        draft.list_at("cluster.pools").append(pool)


def cpu_pool(draft: Draft, draw: Draw) -> None:
    draft.list_at("cluster.pools").append(
        {"name": "cpu", "machine": draw.pick(["cpu-32", "cpu-96"]), "count": draw.count(1, 3)})


def own_machine(draft: Draft, draw: Draw) -> None:
    machine: Tree = {"name": "mine", "base": draw.pick(["dgx-a100", "hgx-h100", "dgx-b200"])}
    draw.maybe(machine, 0.4, gpus=draw.count(1, 8), cpus=16 * draw.count(1, 16), memory="1TiB",
               nics=draw.count(1, 8), nic_bandwidth=draw.rate(1e10, 8e11),
               gpu_model=draw.pick(["A100M40", "H200M141"]), host_idle_watts=draw.count(100, 900))
    draft.list_at("cluster.machines").append(machine)
    draft.list_at("cluster.pools").append(
        {"name": "own", "machine": "mine", "count": draw.count(1, 6)})


def node_list(draft: Draft, draw: Draw) -> None:
    rows = ["sn,cpu_milli,memory_mib,gpu,model"]
    for i in range(draw.count(1, 6)):
        model, gpus = draw.pick([("P100", 2), ("T4", 2), ("V100M16", 8), ("G2", 8), ("", 0)])
        rows.append(f"listed-{i},{draw.count(16, 96)}000,{draw.count(64, 700)}000,{gpus},{model}")
    draft.files["nodes.csv"] = "\n".join(rows) + "\n"
    nodes: Tree = {"file": "nodes.csv"}
    draw.maybe(nodes, 0.3, nodes_per_leaf=draw.count(1, 3), shuffle=True, copies=2)
    draft.list_at("cluster.openb_nodes").append(nodes)


def labels_and_taints(draft: Draft, draw: Draw) -> None:
    for pool in draft.get("cluster.pools"):
        draw.maybe(pool, 0.5, labels={"tier": draw.pick(["old", "new"])})
        if draw.chance(0.4):
            pool["taints"] = [{"key": "team", "value": draw.pick(["a", "b"]),
                               "effect": draw.pick(["NoSchedule", "PreferNoSchedule",
                                                    "NoExecute"])}]
    for pod in draft.pods:
        draw.maybe(pod, 0.2, node_selector={"tier": draw.pick(["old", "new"])},
                   tolerations=[{"key": draw.pick(["team", ""])}])


def power(draft: Draft, draw: Draw) -> None:
    draw.maybe(draft.section("cluster.power"), 0.7, node_spread=draw.number(0, 0.3),
               training_spread=draw.number(0, 0.3))


def network(draft: Draft, draw: Draw) -> None:
    draft.put("network.level", draw.pick(["alpha_beta", "flow", "flow", "flow"]))


def fabric(draft: Draft, draw: Draw) -> None:
    draw.maybe(draft.section("network.fabric"), 0.4, radix=draw.pick([4, 8, 16, 32, 64]),
               levels=draw.pick([2, 3]), rails=draw.pick([1, 2, 8]),
               oversubscription=draw.pick([1, 2, 3.5, 16]), spine_oversubscription=2,
               bandwidth=draw.rate(1e10, 4e11))


def topology_file(draft: Draft, draw: Draw) -> None:
    pools = draft.get("cluster.pools")
    if "nodes.csv" in draft.files:
        return
    rows = ["ip,DSW,PSW,ASW"]
    for i in range(sum(pool["count"] for pool in pools)):
        rows.append(f"h{i},G{i // 8},P{draw.count(0, 1)},S{i // draw.pick([2, 4])}")
    draft.files["topology.csv"] = "\n".join(rows) + "\n"
    draft.put("network.fabric", {"file": "topology.csv"})


def routing(draft: Draft, draw: Draw) -> None:
    routes = draft.section("network.routing")
    routes["engine"] = draw.pick(ENGINES)
    draw.maybe(routes, 0.4, choose_every=draw.span(1, 600), queue_pairs=draw.count(1, 8))


def known_exchanges(draft: Draft, draw: Draw) -> None:
    for collective in draw.some(["all_reduce", "all_gather", "all_to_all", "broadcast"], 2):
        times: Tree = {"collective": collective, "span": draw.pick(["node", "nodes"])}
        if draw.chance(0.5):
            times.update(latency=draw.span(0, 0.01), bandwidth=draw.rate(1e9, 1e12))
        else:
            times["sweep"] = [{"bytes": f"{10 ** k}B", "bandwidth": f"{10 ** (k + 3)}bps"}
                              for k in range(4, 4 + draw.count(1, 4))]
        draft.list_at("network.exchanges").append(times)


def stores(draft: Draft, draw: Draw) -> None:
    storage = draft.section("storage")
    storage["stores"] = [
        {"name": name, "write": draw.rate(1e9, 1e12), "read": draw.rate(1e9, 1e12),
         **({"latency": draw.span(0, 1)} if draw.chance(0.3) else {})}
        for name in draw.some(["blob", "nfs"])]
    draw.maybe(storage, 0.3, node={"write": draw.rate(1e9, 1e12), "read": draw.rate(1e9, 1e12)})


def local_disks(draft: Draft, draw: Draw) -> None:
    local = draft.section("storage.local")
    draw.maybe(local, 0.5, write=draw.rate(1e9, 1e11), read=draw.rate(1e9, 1e11))


FIRST = [
    Feature("end", 0.8, end),
    Feature("pools", 1, pools),
    Feature("cpu_pool", 0.2, cpu_pool),
    Feature("own_machine", 0.2, own_machine),
    Feature("node_list", 0.1, node_list),
    Feature("power", 0.2, power),
    Feature("network", 0.5, network),
    Feature("fabric", 0.3, fabric),
    Feature("topology_file", 0.05, topology_file),
    Feature("routing", 0.3, routing),
    Feature("known_exchanges", 0.15, known_exchanges),
    Feature("stores", 0.35, stores),
    Feature("local_disks", 0.2, local_disks),
]
LATER = [Feature("labels_and_taints", 0.2, labels_and_taints)]
