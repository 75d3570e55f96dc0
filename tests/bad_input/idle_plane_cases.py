"""Parameters of the control plane that may have no effect: see idle_cases.py."""

from __future__ import annotations

from idle_forms import (
    C, CLIENTS, FOUR, Idle, J, NODE_FAULT, NODE_LOST, ONLY_FULL, SERVERS, part, plane,
)

READERS = "readers: [{clients: 2, every: 1min, from: etcd}]"
EVENTS = f"events: {{per_pod: 5, {READERS}}}"
NAMES = "namespaces: {existing: 50, per_job: true}"
NAMED = "namespaces: {existing: 50}"
GROUPS = "services: {groups: [{name: a, count: 50}]}"
JOINS = "joins: [{pool: gpu, nodes: 2, at: 1min}]"
BUSY = plane(faults=NODE_FAULT)
NO_READS = "has no effect: nothing is read from etcd without readers of events or namespaces"
NO_READER = "has no effect without readers of events or namespaces, namespaces.per_job, or"
NO_EVENTS = "has no effect without Events: there is no section `events`, and no node boots"
NO_BOOT = "has no effect with this level if no node joins or fails"
NOBODY_READS = "has no effect: after the start nobody gets, lists or watches anything"
NONE_DELETED = "has no effect: none is deleted"
NO_GROUPS = "has no effect without `groups`"
SLOW = "{qps: 1, burst: 1}"
TWO_LOST = "[{member: 1, at: 10ms}, {member: 2, at: 10ms, until: 2min}]"


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
    full("clients", "{scheduler: {qps: 1, burst: 1}}"), full("services", "{groups: [{name: a}]}",
         faults=NODE_FAULT),
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
    full("etcd.losses", "[{at: 10ms}]"), full("etcd.defragmentations", "[{at: 1min}]"),
    full("etcd.election_timeout", "30s", more="etcd: {losses: [{at: 10ms}]}"),
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
    Idle(C + "etcd.read_object", NO_READS, "1e8", {C + "level": "delays"},
         plane(f"events: {{per_pod: 5, {READERS}}}")),
    Idle(C + "etcd.read_object", "has no effect: with etcd.read_latency 0 reads take no time", "1e8",
         {C + "etcd.read_latency": "0s"}, plane(f"events: {{per_pod: 5, {READERS}}}")),
    Idle(C + "etcd.election_timeout", "has no effect: no loss takes the leader or the quorum", "30s",
         {C + "etcd.losses": "[{member: 1, at: 10ms}]"}, plane(),
         works={C + "etcd.losses": "[{at: 10ms}]"}),
    Idle(C + "etcd.defragmentation_rate", "has no effect without defragmentations", "1Mbps",
         {C + "etcd.defragmentations": "[]"}, plane(),
         works={C + "etcd.defragmentations": "[{at: 1min}]"}),
    Idle(C + "etcd.members", "has no effect: nothing is read from etcd, and no member is lost",
         "3", {C + "etcd.losses": "[]"}, plane(),
         works={C + "etcd.losses": TWO_LOST}),
    Idle(C + "etcd.members", "has no effect: nothing is read from etcd, and no member is lost",
         "3", {C + "level": "delays"}, plane(f"etcd: {{losses: {TWO_LOST}}}")),
    Idle(C + "etcd.members", "has no effect: with etcd.read_latency 0 reads take no time, and no "
         "member is lost", "3", {C + "etcd.read_latency": "0s"},
         plane(f"events: {{per_pod: 5, {READERS}}}"),
         works={C + "etcd.read_latency": "0s", C + "etcd.losses": TWO_LOST}),
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
    Idle(C + "node_lifecycle", "has no effect with level: delays: no node fails",
         "{toleration: 10s}", {"faults": "{}", C + "level": "delays"}, plane(),
         works={"faults": NODE_LOST}),
    Idle(CLIENTS + "kube_proxy", NO_BOOT, "{qps: 0.1, burst: 1}", {"faults": "{}"}, plane(),
         works={"faults": NODE_FAULT}),
    Idle(C + "etcd.separate_events", NO_EVENTS, "true", {"faults": "{}"}, plane(),
         works={"faults": NODE_FAULT}),
    Idle(SERVERS + "server.cost.cached_object", NOBODY_READS, "1e8", {"faults": "{}"}, plane(),
         works={"faults": NODE_FAULT}),
    Idle(C + "image_pulls", "has no effect: no pod names an image", "{node: 10MBps}", {}, plane(),
         works={J + "pod.image": "{name: a, size: 1GB}"}),
]
