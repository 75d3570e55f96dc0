"""Features of the control plane: servers, clients, etcd, loads, nodes that join and leave."""

from __future__ import annotations

from draft import Draft, Draw, Feature, Tree


def is_full(draft: Draft) -> bool:
    return draft.get("control_plane.level") == "full"


def control_plane(draft: Draft, draw: Draw) -> None:
    if not draft.is_counting:
        draft.put("control_plane.level", draw.pick(["delays", "full", "full"]))


def api_servers(draft: Draft, draw: Draw) -> None:
    if not is_full(draft):
        return
    servers = draft.section("control_plane.api_servers")
    draw.maybe(servers, 0.4, servers=draw.count(1, 6), balance="per_request")
    server: Tree = {}
    draw.maybe(server, 0.3, cores=draw.number(0.1, 32), egress=draw.rate(1e7, 1e11),
               request_timeout=draw.span(1, 60), restart_time=draw.span(1, 120))
    if draw.chance(0.2):
        server["heap"] = {"limit": draw.size(1e8, 1e10), "base": draw.size(1e6, 1e9)}
    if server:
        servers["server"] = server
    if draw.chance(0.3):
        servers["flow_control"] = {"mode": draw.pick(["priority_and_fairness", "max_inflight"])}
        draw.maybe(servers["flow_control"], 0.5, max_requests_inflight=draw.count(1, 50),
                   max_mutating_requests_inflight=draw.count(1, 50), retry_after="adaptive",
                   wait_limit=draw.span(0.1, 15), adjust_every=draw.span(0, 30))


def clients(draft: Draft, draw: Draw) -> None:
    if not is_full(draft):
        return
    made = draft.section("control_plane.clients")
    for name in draw.some(["kubelet", "controller_manager", "scheduler", "others"]):
        made[name] = {"qps": draw.number(0.5, 100), "burst": draw.count(1, 100)}
        draw.maybe(made[name], 0.3, tries_max=draw.count(1, 12), backoff=draw.span(0.1, 5))


def etcd(draft: Draft, draw: Draw) -> None:
    made = draft.section("control_plane.etcd")
    draw.maybe(made, 0.3, disk=draw.pick(["network_ssd", "hdd"]), members=draw.pick([1, 3, 5]),
               write_rate_max=draw.number(50, 5000), blocking_reads=True, separate_events=True,
               event_ttl=draw.span(60, 3600), compaction_interval=draw.span(0, 600))
    draw.maybe(made, 0.08, quota=draw.size(2**21, 2**24))
    if is_full(draft) and draw.chance(0.4):
        made["losses"] = []
        for member in draw.some([0, 1, 2], 3):
            if member < made.get("members", 5):
                at = draw.count(1, draft.span - 1)
                made["losses"].append({"member": member, "at": f"{at}s",
                                       "until": f"{at + draw.count(1, 900)}s"})
    if is_full(draft) and draw.chance(0.3):
        first = draw.count(0, draft.span // 2)
        made["defragmentations"] = [{"at": f"{first}s"},
                                    {"at": f"{first + draw.count(1, draft.span // 3)}s"}]
        draw.maybe(made, 0.7, defragmentation_rate=f"{draw.count(1, 40)}Mbps")


def kubelets(draft: Draft, draw: Draw) -> None:
    made = draft.section("control_plane.kubelet")
    draw.maybe(made, 0.4, sandbox=draw.span(0, 5), container=draw.span(0, 10),
               status_writes=draw.count(0, 8), heartbeats={"lease_period": draw.span(2, 30)})
    draw.maybe(draft.section("control_plane.pods"), 0.4, bytes=draw.size(1e3, 1e5),
               watchers=draw.count(2, 20))


def readers(draw: Draw) -> list[Tree]:
    made: list[Tree] = [{"every": draw.span(5, 300)}]
    draw.maybe(made[0], 0.5, clients=draw.count(1, 10))
    made[0]["from"] = draw.pick(["cache", "etcd"])
    return made


def events(draft: Draft, draw: Draw) -> None:
    if is_full(draft):
        made = draft.section("control_plane.events")
        draw.maybe(made, 0.5, per_pod=draw.count(0, 8), per_failed_bind=draw.count(0, 3),
                   others_per_s=draw.number(0, 20), readers=readers(draw))


def crash_loops(draft: Draft, draw: Draw) -> None:
    if not is_full(draft):
        return
    begin = draw.count(0, draft.span // 2)
    loop: Tree = {"nodes": draw.count(1, 4), "pods_per_node": draw.count(1, 10),
                  "from": f"{begin}s"}
    draw.maybe(loop, 0.5, until=f"{begin + draw.count(1, 3000)}s", runs_for=draw.span(0.1, 60))
    draft.list_at("control_plane.crash_loops").append(loop)


def namespaces(draft: Draft, draw: Draw) -> None:
    if is_full(draft):
        made = draft.section("control_plane.namespaces")
        draw.maybe(made, 0.5, existing=draw.count(0, 300), per_job=True, deleted=False,
                   each={"workers": draw.count(1, 5), "grace": draw.span(0, 60)},
                   askers=[{"every": draw.span(30, 600)}], readers=readers(draw))


def addresses(draft: Draft, draw: Draw) -> None:
    if not is_full(draft):
        return
    made = draft.section("control_plane.services")
    made["groups"] = []
    for i, members in enumerate(draw.some(["nodes", "pods", "jobs"])):
        group: Tree = {"name": f"s{i}", "members": members}
        draw.maybe(group, 0.3, count=draw.count(1, 4), headless=draw.pick([True, False]))
        made["groups"].append(group)
    if draw.chance(0.5):
        made["endpoints"] = {"kind": draw.pick(["endpoints", "endpoint_slices"])}
        draw.maybe(made["endpoints"], 0.3, batch_period=draw.span(0, 5), syncs=draw.count(1, 5),
                   slice_size=draw.count(1, 20), addresses_max=draw.count(0, 20))
    if draw.chance(0.5):
        made["watchers"] = {"kube_proxies": draw.pick([True, False])}
        draw.maybe(made["watchers"], 0.4, daemons=draw.count(0, 3), agents=draw.count(0, 2),
                   controllers=draw.count(0, 5))


def server_losses(draft: Draft, draw: Draw) -> None:
    if not is_full(draft):
        return
    servers = draft.get("control_plane.api_servers.servers", 5)
    losses = []
    for server in draw.some(list(range(servers)), servers):
        at = draw.count(1, draft.span - 1)
        loss: Tree = {"server": server, "at": f"{at}s"}
        draw.maybe(loss, 0.85, until=f"{at + draw.count(1, 900)}s")
        losses.append(loss)
    draft.put("control_plane.losses", losses)


def joins(draft: Draft, draw: Draw) -> None:
    if draft.get("control_plane.level") is None:
        return
    for pool in draft.get("cluster.pools"):
        if draw.chance(0.5):
            join: Tree = {"pool": pool["name"], "at": f"{draw.count(0, draft.span // 2)}s"}
            draw.maybe(join, 0.5, nodes=draw.count(1, pool["count"]), over=draw.span(0, 300))
            draft.list_at("control_plane.joins").append(join)
    if draw.chance(0.3):
        draft.put("control_plane.node_join", {"rate_max": draw.number(0.01, 5)})


def autoscaler(draft: Draft, draw: Draw) -> None:
    if draft.get("control_plane.level") is None:
        return
    joining = {join["pool"] for join in draft.get("control_plane.joins", [])}
    groups = []
    for pool in draft.get("cluster.pools"):
        if draw.chance(0.6) and pool["name"] not in joining:
            group: Tree = {"pool": pool["name"]}
            draw.maybe(group, 0.3, nodes_min=draw.count(0, pool["count"] - 1),
                       provisioning=draw.duration(1, 400))
            groups.append(group)
    if not groups:
        return
    made: Tree = {"groups": groups}
    draw.maybe(made, 0.3, provision_time_max=draw.span(500, 900))
    draft.put("control_plane.autoscaler", made)
    if draw.chance(0.5):
        args: Tree = {}
        draw.maybe(args, 0.6, nodes_per_scale_up=draw.count(1, 3), expendable_below=draw.count(-20, 10),
                   scale_down={"unneeded_time": draw.span(10, 900), "parallel": draw.count(1, 3),
                               "delay_after_add": draw.span(0, 300)})
        draft.list_at("policy.controllers").append(
            {"name": "ClusterAutoscaler", "period": draw.span(1, 60), "args": args})


def node_lifecycle(draft: Draft, draw: Draw) -> None:
    if draft.get("control_plane.level") is not None:
        made = draft.section("control_plane.node_lifecycle")
        draw.maybe(made, 0.4, grace=draw.span(11, 120), toleration=draw.span(0, 600),
                   taint_rate=draw.number(0, 2), zones="pools", monitor_period=draw.span(1, 20),
                   unhealthy_share=draw.number(0, 1), large_zone=draw.count(0, 5))


FEATURES = [
    Feature("control_plane", 0.5, control_plane),
    Feature("api_servers", 0.4, api_servers),
    Feature("clients", 0.25, clients),
    Feature("etcd", 0.3, etcd),
    Feature("kubelets", 0.4, kubelets),
    Feature("events", 0.3, events),
    Feature("crash_loops", 0.2, crash_loops),
    Feature("namespaces", 0.25, namespaces),
    Feature("addresses", 0.3, addresses),
    Feature("server_losses", 0.25, server_losses),
    Feature("joins", 0.25, joins),
    Feature("autoscaler", 0.25, autoscaler),
    Feature("node_lifecycle", 0.25, node_lifecycle),
]
