"""Wrong inputs as data: what is given, and what the program must say. See run_cases.py."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field

from study_cases import study_cases
from trace_cases import trace_cases
from unused_cases import unused_cases


@dataclass(frozen=True)
class Case:
    name: str
    files: dict[str, str | bytes] = field(default_factory=dict)
    arguments: tuple[str, ...] = ("run", "s.yaml", "-o", "out.h5")
    status: int = 2
    says: tuple[str, ...] = ()
    file_bytes_max: int | None = None
    never_says: tuple[str, ...] = ()
    prints: tuple[str, ...] = ()  # on standard output


GOOD = """cluster:
  pools:
    - {name: gpu, machine: dgx-a100, count: 4}
workload:
  sources:
    - kind: jobs
      jobs:
        - {work: 10min, pods: 2, pod: {gpus: 8}}
run: {until: 1h}
"""
RUN = ("run", "s.yaml", "-o", "out.h5")


def yaml(name: str, text: str | bytes, *says: str) -> Case:
    return Case(name, {"s.yaml": text}, RUN, 2, says)


def changed(name: str, old: str, new: str, *says: str) -> Case:
    assert old in GOOD, old
    return yaml(name, GOOD.replace(old, new), *says)


def added(name: str, text: str, *says: str) -> Case:
    return yaml(name, GOOD + text, *says)


def served(name: str, service: str, *says: str, until: str = "run: {until: 1h}\n") -> Case:
    """A service, on line 5, and no job."""
    text = ("cluster:\n  pools: [{name: gpu, machine: dgx-a100, count: 4}]\nworkload:\n  sources:\n"
            "    - {kind: service, name: web, " + service + "}\n" + until)
    return yaml(name, text, *says)


def linked(name: str, text: str, *says: str) -> Case:
    """Faults of links, on line 12, in a scenario with a fabric."""
    flow = GOOD.replace("workload:\n", "network: {level: flow}\nworkload:\n  training: {step: "
                        "{compute: 1s, exchanges: [{bytes: 1GB}]}}\n")
    return yaml(name, flow + f"faults: {{links: {{{text}}}}}\n", *says)


def planned(name: str, text: str, *says: str, more: str = "") -> Case:
    """A section control_plane on line 10."""
    return added(name, f"control_plane: {{level: full, {text}}}\n{more}", *says)


def cardiogram(name: str, text: str, *says: str, jobs: str = "[a]") -> Case:
    return added(name, f"record: {{cardiogram: {{jobs: {jobs}, {text}}}}}\n", *says)


def with_arguments(name: str, arguments: tuple[str, ...], *says: str, status: int = 2) -> Case:
    return Case(name, {"s.yaml": GOOD}, arguments, status, says)


FTA = "# event_id component_id node_id platform_id node_name event_type start stop reason\n"


def failure_log(name: str, text: str | None, *says: str, more: str = "") -> Case:
    files = {"s.yaml": GOOD + f"faults: {{logs: [{{file: l.tab{more}}}]}}\n"}
    if text is not None:
        files["l.tab"] = text
    return Case(name, files, RUN, 2, says)


def trace(name: str, content: str | bytes, *says: str, file: str = "t.csv") -> Case:
    text = GOOD.replace("kind: jobs\n      jobs:\n        - {work: 10min, pods: 2, pod: {gpus: 8}}",
                        f"kind: trace\n      file: {file}").replace("run: {until: 1h}\n", "")
    return Case(name, {"s.yaml": text, file: content}, RUN, 2, says)


OPENB = ("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
         "deletion_time,scheduled_time\n")
HELIOS = ("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
          "queue\n")
DERIVED = "job_id,arrival_s,service_sec,gpu_count\n"
BOMB = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(9))

NODE_LIST = {"n.csv": "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,P100\n", "s.yaml": GOOD.replace(
    "pools:\n    - {name: gpu, machine: dgx-a100, count: 4}", "openb_nodes: [{file: n.csv}]")}

CASES = [
    # YAML as text
    yaml("empty file", "", "s.yaml"),
    yaml("unclosed bracket", "cluster: [1, 2\nrun: {}\n", "s.yaml:"),
    yaml("unclosed quote", 'description: "never ends\n', "s.yaml:"),
    yaml("tab as indent", "cluster:\n\tpools: []\n", "s.yaml:2"),
    yaml("NUL byte", b"cluster:\x00 {}\n", "s.yaml:1"),
    yaml("not UTF-8", b"description: \xff\xfe\n", "s.yaml:1"),
    yaml("two documents", GOOD + "---\n" + GOOD, "s.yaml:"),
    yaml("a list instead of a map", "- 1\n- 2\n", "s.yaml:1:1"),
    yaml("too deep", "description: " + "[" * 5000 + "]" * 5000 + "\n", "s.yaml:1"),
    yaml("alias bomb", BOMB, "s.yaml:"),
    yaml("merge key", "x: &x {a: 1}\ny:\n  <<: *x\n", "s.yaml:3"),
    yaml("unknown alias", "cluster: *nowhere\n", "s.yaml:1"),
    yaml("17 MB", "description: " + "x" * (17 << 20) + "\n", "s.yaml"),
    Case("missing file", {}, RUN, 2, ("s.yaml", "no such file")),
    Case("a folder", {"s.yaml/x": ""}, RUN, 2, ("s.yaml",)),
    # keys and values
    changed("unknown section", "run:", "runn:", "s.yaml:9:1", "unknown key 'runn'", "did you mean 'run'"),
    changed("unknown key", "count: 4", "count: 4, coutn: 3", "s.yaml:3:", "unknown key 'coutn'"),
    added("section given twice", "run: {seed: 2}\n", "s.yaml:10:1", "'run'"),
    changed("required key missing", "work: 10min, ", "", "s.yaml:8:", "work"),
    changed("no cluster", GOOD[:GOOD.index("workload")], "", "cluster"),
    changed("text for a number", "count: 4", "count: four", "s.yaml:3:", "'four'", "integer"),
    changed("fraction for a number", "count: 4", "count: 4.5", "s.yaml:3:", "'4.5'"),
    changed("quoted number", "count: 4", 'count: "4"', "s.yaml:3:"),
    changed("too many nodes", "count: 4", "count: 1000001", "s.yaml:3:", "1000000"),
    changed("no nodes", "count: 4", "count: 0", "s.yaml:3:"),
    changed("duration without a unit", "work: 10min", "work: 10", "s.yaml:8:", "duration"),
    changed("unknown unit", "work: 10min", "work: 10minutes", "s.yaml:8:", "duration"),
    changed("negative duration", "work: 10min", "work: -10min", "s.yaml:8:"),
    changed("duration too long", "work: 10min", "work: 1000000000000h", "s.yaml:8:"),
    changed("list for a scalar", "work: 10min", "work: [10min]", "s.yaml:8:"),
    changed("scalar for a list", "jobs:\n        - {work: 10min, pods: 2, pod: {gpus: 8}}", "jobs: 5", "s.yaml:7:"),
    changed("unknown kind", "kind: jobs", "kind: job", "s.yaml:6:", "'job'", "did you mean 'jobs'"),
    changed("kind left out", "kind: jobs\n      jobs", "jobs", "kind"),
    changed("more GPUs than a pod may ask for", "gpus: 8}", "gpus: 17}", "s.yaml:8:"),
    changed("share of several GPUs", "gpus: 8}", "gpus: 8, gpu_milli: 500}", "s.yaml:8:", "gpu_milli"),
    changed("min_available above pods", "pods: 2,", "pods: 2, min_available: 3,", "s.yaml:8:", "min_available"),
    changed("option without effect", "pods: 2,", "kind: pods, pods: 2, min_available: 1,", "s.yaml:8:", "no effect"),
    changed("every without count", "pods: 2,", "pods: 2, every: 1h,", "s.yaml:8:", "every"),
    changed("until of zero", "until: 1h", "until: 0s", "s.yaml:9:", "until"),
    changed("seed below zero", "until: 1h", "seed: -1", "s.yaml:9:", "seed"),
    changed("unknown machine", "dgx-a100", "dgx-a10", "no machine is called 'dgx-a10'", "did you mean"),
    changed("pool twice", "count: 4}", "count: 4}\n    - {name: gpu, machine: dgx-1v, count: 1}", "gpu"),
    yaml("cluster without nodes", GOOD.replace("  pools:\n    - {name: gpu, machine: dgx-a100, count: 4}\n", "  machines: []\n"), "pools"),
    changed("unknown effect of a taint", "count: 4}", "count: 4, taints: [{key: a, effect: NoSchedul}]}", "s.yaml:3:", "NoSchedule"),
    changed("label that nodes have anyway", "count: 4}", "count: 4, labels: {pool: b}}", "s.yaml:3:", "label 'pool'"),
    changed("label given twice", "count: 4}", "count: 4, labels: {a: b, a: c}}", "s.yaml:3:", "'a' given twice"),
    changed("machine defined twice", "  pools:", "  machines: [{name: m}, {name: m}]\n  pools:", "s.yaml:2:", "two machines are called 'm'"),
    changed("nodes of all pools", "count: 4}", "count: 1000000}\n    - {name: b, machine: dgx-1v, count: 1}", "s.yaml:3:", "1000001 nodes"),
    changed("taint without a key", "count: 4}", "count: 4, taints: [{key: ''}]}", "s.yaml:3:63", "key: must not be empty"),
    changed("label without a key", "count: 4}", "count: 4, labels: {'': b}}", "s.yaml:3:", "a label needs a key"),
    changed("pool without a name", "name: gpu", "name: ''", "s.yaml:3:14", "name: must not be empty"),
    yaml("node list without a pool", GOOD.replace("pools:\n    - {name: gpu, machine: dgx-a100, count: 4}", "openb_nodes: [{file: n.csv, pool: ''}]"), "s.yaml:2:37", "pool: must not be empty"),
    # workload
    changed("no source of jobs", GOOD[GOOD.index("    - kind"):GOOD.index("run:")], "    []\n", "s.yaml:6:5", "needs a source of jobs"),
    changed("no job in the list", "jobs:\n        - {work: 10min, pods: 2, pod: {gpus: 8}}", "jobs: []", "s.yaml:7:13", "needs a job"),
    changed("generator without arrivals", "kind: jobs\n      jobs:\n        - {work: 10min, pods: 2, pod: {gpus: 8}}", "kind: generator\n      arrival_rate: 0\n      shape: {kind: preset, preset: helios}", "s.yaml:7:21", "above 0"),
    changed("durations cut below their median", "kind: jobs\n      jobs:\n        - {work: 10min, pods: 2, pod: {gpus: 8}}", "kind: generator\n      arrival_rate: 1\n      shape: {kind: classes, classes: [{gpus: {kind: fixed, value: 1}, duration: {kind: lognormal, median: 2h, sigma: 1, max: 1h}}]}", "s.yaml:8:", "below median"),
    changed("a gang of too many pods", "pods: 2,", "pods: 1000001,", "s.yaml:8:", "1000000"),
    changed("more pods than memory holds", "pods: 2,", "pods: 1000000, count: 11,", "s.yaml:8:", "at most 10000000 pods"),
    changed("a burst that memory does not hold", "kind: jobs\n      jobs:\n        - {work: 10min, pods: 2, pod: {gpus: 8}}", "kind: generator\n      burst: {every: 1h, jobs: {kind: fixed, value: 1000}}\n      shape: {kind: classes, classes: [{gpus: {kind: fixed, value: 100000}, duration: {kind: fixed, value: 1h}}]}", "s.yaml:7:32", "at most 10000000 pods"),
    # policy
    added("unknown base profile", "policy: {base: coschedulin}\n", "s.yaml:10:", "coscheduling"),
    added("unknown plugin", "policy: {plugins: [{name: NodeResourceFit}]}\n", "s.yaml:10:", "did you mean 'NodeResourcesFit'"),
    added("plugin listed twice", "policy: {plugins: [{name: Random}, {name: Random}]}\n", "s.yaml:10:", "twice"),
    added("plugin argument unknown", "policy: {plugins: [{name: Coscheduling, args: {permitWaitingTimeSecond: 3}}]}\n", "s.yaml:10:", "permitWaitingTimeSeconds"),
    added("disabled plugin unknown", "policy: {disable: [NodeNam]}\n", "s.yaml:10:", "NodeName"),
    added("no queue order", "policy: {base: empty}\n", "QueueSort"),
    added("two queue orders", "policy: {plugins: [{name: Coscheduling}]}\n", "QueueSort", "found 2"),
    added("whole gangs from a policy that names the next pod", "policy: {base: koordinator, driver: per_gang}\n", "s.yaml:10:37", "per_pod", "NextPod"),
    added("a place for whole gangs with one pod at a time", "policy: {plugins: [{name: KueueTopology}]}\n", "s.yaml:10:27", "per_gang", "KueueTopology"),
    added("a fed queue that blocks", "policy: {base: koordinator, queue: {head_of_line: block}}\n", "s.yaml:10:51", "must not be block", "NextPod"),
    added("Koordinator's mode in lower case", "policy: {base: koordinator, plugins: [{name: KoordinatorCoscheduling, args: {mode: strict}}]}\n", "s.yaml:10:84", "Strict"),
    added("weight of zero", "policy: {plugins: [{name: Random, weight: 0}]}\n", "s.yaml:10:", "weight"),
    added("backoff limits crossed", "policy: {queue: {initial_backoff: 10s, max_backoff: 1s}}\n", "s.yaml:10:", "max_backoff"),
    added("disabled plugin not in the base", "policy: {disable: [Random]}\n", "s.yaml:10:20", "has no plugin 'Random'"),
    added("plugin disabled twice", "policy: {disable: [NodeName, NodeName]}\n", "s.yaml:10:30", "'NodeName' is listed twice"),
    # faults and record
    added("rate is no number", "faults: {nodes: [{rate: .nan}]}\n", "s.yaml:10:25", "finite"),
    added("faults that strike no node", "faults: {nodes: [{node_selector: {a: b}}]}\n", "s.yaml:10:34", "no node of the cluster"),
    added("fault of an unknown node", "faults: {list: [{node: gpu-9, at: 1min, repair: 1min}]}\n", "s.yaml:10:", "gpu-9"),
    added("negative failure rate", "faults: {nodes: [{rate: -1}]}\n", "s.yaml:10:", "rate"),
    added("shape without Weibull", "faults: {nodes: [{weibull_shape: 2}]}\n", "s.yaml:10:", "has an effect only with"),
    added("repair cut below its median", "faults: {nodes: [{repair: {kind: lognormal, median: 2h, max: 1h}}]}\n", "s.yaml:10:62", "max", "below median"),
    added("repair cut below its mean", "faults: {nodes: [{repair: {kind: exponential, mean: 2h, max: 1h}}]}\n", "s.yaml:10:62", "below mean"),
    added("kind of failure twice", "faults: {nodes: [{name: gpu}, {name: gpu}]}\n", "s.yaml:10:38", "two kinds of failure are called 'gpu'"),
    added("kinds of failure without names", "faults: {nodes: [{rate: 1}, {rate: 2}]}\n", "s.yaml:10:29", "two kinds of failure are called 'node'"),

    # links and routes
    added("link fault without a fabric", "faults: {links: {list: [{on: leaf-0, at: 1s, flaw: {kind: dead}}]}}\n", "s.yaml:10:17: faults.links", "only with network.level: flow"),
    linked("unknown cable", "list: [{on: host-0.nic-8, at: 1s, flaw: {kind: dead}}]", "s.yaml:12:30: faults.links.list[0].on", "no cable or switch 'host-0.nic-8'; did you mean"),
    linked("cable and part of the fabric", "list: [{on: leaf-0, among: spines, at: 1s, flaw: {kind: dead}}]", "s.yaml:12:30", "either a name or `among`"),
    linked("no cable at all", "list: [{at: 1s, flaw: {kind: dead}}]", "s.yaml:12:25", "either a name or `among`"),
    linked("part that the fabric lacks", "list: [{among: cores, at: 1s, flaw: {kind: dead}}]", "s.yaml:12:33", "the fabric has none: its levels of switches are"),
    linked("degraded switch", "list: [{on: leaf-0, at: 1s, flaw: {kind: degraded}}]", "s.yaml:12:52", "a switch is dead, or flaps"),
    linked("degraded switches at random", "random: [{among: leaves, flaw: {kind: degraded}}]", "s.yaml:12:49", "a switch is dead, or flaps"),
    linked("end of a flap", "list: [{on: leaf-0, at: 1s, until: 2s, flaw: {kind: flap}}]", "s.yaml:12:53", "ends by itself"),
    linked("repair of flaps", "random: [{flaw: {kind: flap}, repair: {kind: fixed}}]", "s.yaml:12:56", "ends by itself"),
    linked("fault that ends before it begins", "list: [{on: leaf-0, at: 2s, until: 1s, flaw: {kind: dead}}]", "s.yaml:12:53", "must be after `at`"),
    linked("curse without adaptive routing", "list: [{on: host-0.nic-0, at: 1s, flaw: {kind: cursed}}]", "s.yaml:12:58", "engine is not adaptive"),
    linked("all bits wrong", "list: [{on: host-0.nic-0, at: 1s, flaw: {kind: degraded, bit_error_rate: 1}}]", "s.yaml:12:", "bit_error_rate"),
    linked("unknown routing engine", "routing: [{at: 1s, engine: ftre}]", "s.yaml:12:", "ftre"),
    added("choice of static routes", "network: {level: flow, routing: {choose_every: 1min}}\n", "s.yaml:10:48", "only with an adaptive engine"),
    changed("plays without a fabric", "workload:\n", "workload:\n  play_ahead: {gangs: 4}\n", "s.yaml:5:15: workload.play_ahead", "only with network.level: flow"),
    changed("plays of steps that are played", "workload:\n", "network: {level: flow}\nworkload:\n  steps: traced\n  play_ahead: {gangs: 4}\n", "s.yaml:7:15: workload.play_ahead", "has no effect with steps: traced"),
    changed("length of plays without any", "workload:\n", "network: {level: flow}\nworkload:\n  play_ahead: {gangs: 0, steps: 99}\n", "s.yaml:6:33: workload.play_ahead.steps", "has no effect with gangs: 0"),
    changed("routes without exchanges", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {compute: 1s}}}\nnetwork: {level: flow, routing: {engine: ecmp}}", "s.yaml:9:33: network.routing", "no gang has more than one pod and a step with exchanges"),
    changed("plays of gangs of one pod", "pods: 2, pod: {gpus: 8}}", "pods: 1, pod: {gpus: 8}, training: {step: {compute: 1s, exchanges: [{bytes: 1GB}]}}}\n  play_ahead: {gangs: 4}\nnetwork: {level: flow}", "workload.play_ahead", "no gang has more than one pod"),
    changed("exchange of one rank", "pods: 2, pod: {gpus: 8}}", "pods: 1, pod: {gpus: 1}, training: {step: {compute: 1s, exchanges: [{bytes: 1GB}]}}}\nnetwork: {level: flow}", "training.step.exchanges[0]", "such a group has one rank of 1"),
    changed("a model that computes nothing", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {model: {layers: 1, hidden: 1, sequence: 1, vocabulary: 1, batch: 16}}}}\nnetwork: {level: flow}", "training.step.model", "less than a nanosecond"),
    changed("switches that add up for rings", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {compute: 1s, exchanges: [{bytes: 1GB, algorithm: ring}]}}}\nnetwork: {level: flow, sharp: true}", "s.yaml:9:31: network.sharp", "names an algorithm for which switches add up nothing"),
    changed("switches that add up in a time that is known", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {compute: 1s, exchanges: [{bytes: 1GB}]}}}\nnetwork: {level: alpha_beta, sharp: true, exchanges: [{latency: 1us, bandwidth: 1GBps}]}", "s.yaml:9:37: network.sharp", "network.exchanges tells the time"),
    changed("time in a node of what needs several", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {compute: 1s, exchanges: [{bytes: 1GB}]}}}\nnetwork: {level: flow, exchanges: [{collective: all_reduce, span: node, latency: 1us, bandwidth: 1GBps}]}", "s.yaml:9:67: network.exchanges[0].span", "more ranks than a node has GPUs"),
    changed("time between nodes of what stays in one", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {compute: 1s, parallel: {tensor: 8}, exchanges: [{among: tensor, bytes: 1GB}]}}}\nnetwork: {level: flow, exchanges: [{latency: 1us, bandwidth: 1GBps}]}", "s.yaml:9:36: network.exchanges[0]", "no step of a gang makes such an exchange"),
    changed("overlap of one rank", "pods: 2, pod: {gpus: 8}}", "pods: 1, pod: {gpus: 1}, training: {step: {compute: 1s, overlap: 0.5, exchanges: [{bytes: 1GB}]}}}\nnetwork: {level: flow}", "s.yaml:8:90: workload.sources[0].jobs[0].training.step.overlap", "no rank has others to exchange with"),
    changed("communicator of one rank", "pods: 2, pod: {gpus: 8}}", "pods: 1, pod: {gpus: 1}, training: {communicator: {}}}", "s.yaml:8:75: workload.sources[0].jobs[0].training.communicator", "has no effect on jobs of one GPU"),
    changed("polling in a node", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {compute: 1s, parallel: {tensor: 8}, exchanges: [{among: tensor, bytes: 1GB}], polling: {cores_per_gpu: 8}}}}\nnetwork: {level: flow}", "training.step.polling", "no exchange leaves its node"),
    changed("routes between nodes that exchange nothing", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {compute: 1s, parallel: {tensor: 8}, exchanges: [{among: tensor, bytes: 1GB}]}}}\nnetwork: {level: flow, routing: {engine: ecmp}}", "s.yaml:9:33: network.routing", "no gang has more than one pod and a step with exchanges between them"),
    changed("cores that cost nothing", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {compute: 1s, exchanges: [{bytes: 1GB}], polling: {cores_per_gpu: 8, exponent: 0}}}}\nnetwork: {level: flow}", "training.step.polling.cores_per_gpu", "has no effect with exponent: 0"),
    changed("cores of which none can be missing", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {compute: 1s, exchanges: [{bytes: 1GB}], polling: {cores_per_gpu: 0, exponent: 2}}}}\nnetwork: {level: flow}", "training.step.polling.exponent", "has no effect with cores_per_gpu: 0"),
    added("symbol errors without links", "policy: {plugins: [{name: SymbolErrors}]}\n", "s.yaml:10:9: policy", "SymbolErrors has an effect only with network.level: flow"),
    added("store that no job uses", "storage: {stores: [{name: blob, write: 1GBps, read: 1GBps}]}\n", "s.yaml:10:20: storage.stores[0]", "no job uses it"),
    added("rank of an unknown job", "faults: {ranks: [{job: trian, at: 1s}]}\n", "s.yaml:10:24: faults.ranks[0].job", "no job is called 'trian'"),
    added("rank of an unnamed job too many", "faults: {ranks: [{job: job-1, at: 1s}]}\n", "s.yaml:10:24: faults.ranks[0].job", "no job is called 'job-1'", "did you mean 'job-0'"),
    failure_log("failure log missing", None, "l.tab"),
    failure_log("failure log of no format", "a,b\n1,2\n", "s.yaml:10:17", "no known format of failure logs"),
    failure_log("fta: no such type of event", FTA + "1 1 2 1 n 7 100 200 NULL\n", "l.tab:2:6 (event_type)", "'7'"),
    failure_log("fta: ends before it starts", FTA + "1 1 2 1 n 0 200 100 NULL\n", "l.tab:2:8"),
    failure_log("fta: field missing", FTA + "1 1 2 1 n 0\n", "l.tab:2: found 6 fields"),
    failure_log("fta: never down", FTA + "1 1 2 1 n 1 100 200 NULL\n", "holds no failure"),
    failure_log("titan: no such month", "SN,location,insert,remove,event\n1,c0,,2014-13-01 00:00:00,DBE\n", "l.tab:2:4 (remove)"),
    failure_log("titan: column missing", "SN,location,insert,remove\n1,c0,,2014-12-01 00:00:00\n", "missing column 'event'"),
    failure_log("cause that no failure has", FTA + "1 1 2 1 n 0 100 200 NULL\n", "did you mean 'unavailable'", more=", causes: [unavailible]"),
    Case("trace to imitate missing", {"g.yaml": "trace: {file: no.csv}\n"}, ("trace", "generate", "g.yaml", "o.ort"), 2, ("no.csv",)),
    Case("nothing to imitate", {"g.yaml": "load: 2\n"}, ("trace", "generate", "g.yaml", "o.ort"), 2, ("g.yaml:1:1", "trace")),
    Case("trace to imitate is empty", {"g.yaml": "trace: {file: t.swf}\n", "t.swf": "; a\n1 1 1 -1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"}, ("trace", "generate", "g.yaml", "o.ort"), 2, ("t.swf: holds no jobs",)),
    Case("made-up trace replaces its model", {"g.yaml": "trace: {file: t.swf}\n", "t.swf": "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"}, ("trace", "generate", "g.yaml", "t.swf"), 2, ("would replace",)),
    failure_log("failure log on no node", FTA + "1 1 2 1 n 0 100 200 NULL\n", "s.yaml:10:46", "no node of the cluster", more=", node_selector: {a: b}"),
    added("table that is not there", "record: {off: [/timeline/team]}\n", "s.yaml:10:16", "no table is meant by '/timeline/team'", "did you mean '/timeline/teams'"),
    added("glob of no table", "record: {off: [/pods, '/event/*']}\n", "s.yaml:10:23", "'/event/*'"),
    added("teams out of step", "record: {timeline: {interval: 7min, teams_interval: 10min}}\n", "s.yaml:10:", "multiple"),
    cardiogram("empty window of a cardiogram", "window: {from: 5min, to: 5min}", "s.yaml:10:59", "the window is empty"),
    cardiogram("cardiogram without an end", "window: {from: 5min}", "s.yaml:10:", "record.cardiogram.window", "'to'"),
    cardiogram("cardiogram beyond the run", "window: {from: 5min, to: 2h}", "s.yaml:10:59", "is after run.until, 1h"),
    cardiogram("cardiogram without resolution", "window: {to: 5min}, resolution: 0s", "s.yaml:10:66", "record.cardiogram.resolution", "out of range"),
    cardiogram("cardiogram of nobody", "window: {to: 5min}", "s.yaml:10:29", "needs the name of a job", jobs="[]"),
    cardiogram("cardiogram of a job twice", "window: {to: 5min}", "s.yaml:10:33", "is in the list already", jobs="[a, a]"),
    cardiogram("cardiogram of an unknown job", "window: {to: 5min}", "s.yaml:10:30: record.cardiogram.jobs[0]: no job is called 'jbo-0'; did you mean 'job-0'?", jobs="[jbo-0]"),
    yaml("cardiogram of independent pods", GOOD.replace("{work:", "{name: a, kind: pods, work:") + "record: {cardiogram: {jobs: [a], window: {to: 5min}}}\n", "s.yaml:10:30", "'a' is of independent pods"),
    yaml("cardiogram of counted jobs", GOOD + "record: {cardiogram: {jobs: [a], window: {to: 5min}}}\npolicy: {driver: counting, job_queue: {policies: [{name: FIFO}]}}\n", "s.yaml:10:", "record.cardiogram: has no effect with policy.driver: counting"),
    Case("validate: fault of an unknown node", {"s.yaml": GOOD + "faults: {list: [{node: gpu-9, at: 1min, repair: 1min}]}\n"}, ("validate", "s.yaml"), 2, ("s.yaml:10:", "gpu-9")),
    Case("validate: a link that is dead for ever", {"s.yaml": linked("", "list: [{on: host-0.nic-0, at: 1s, flaw: {kind: dead}}]").files["s.yaml"].replace("run: {until: 1h}\n", "")}, ("validate", "s.yaml"), 0, ("s.yaml:11:58: warning: faults.links.list[0].flaw", "restart for ever")),
    Case("validate: retries although links stay up", {"s.yaml": linked("", "random: [{flaw: {kind: degraded}}]").files["s.yaml"].replace("level: flow", "level: flow, links: {retry_timeout: 1s}")}, ("validate", "s.yaml"), 0, ("s.yaml:4:47: warning: network.links.retry_timeout", "only when links are down")),
    Case("validate: change to the same routing", {"s.yaml": linked("", "routing: [{at: 2min, engine: dmodk}, {at: 1min, engine: dmodk}, {at: 1min, engine: ecmp}]").files["s.yaml"]}, ("validate", "s.yaml"), 0, ("warning: faults.links.routing[1].engine: is in use by then",), never_says=("routing[0]", "routing[2]")),
    Case("validate: unnamed jobs by their numbers", {"s.yaml": GOOD.replace("{work:", "{count: 3, work:") + "faults: {ranks: [{job: job-2, at: 1s}]}\nrecord: {cardiogram: {jobs: [job-1], window: {to: 5min}}}\n"}, ("validate", "s.yaml"), 0),
    Case("validate: a warning is no mistake", {"s.yaml": GOOD + "faults: {list: [{node: gpu-1, at: 2h, repair: 1min}]}\n"}, ("validate", "s.yaml"), 0, ("s.yaml:10:", "warning: faults.list[0].at")),
    # include and the command line
    added("included file missing", "include: other.yaml\n", "other.yaml"),
    Case("included file is not YAML", {"s.yaml": "include: n.txt\n" + GOOD, "n.txt": "root:x:0:0:secret\nuser:x:1:1\n"}, RUN, 2, ("n.txt:1:1", "not a scenario in YAML"), never_says=("secret",)),
    added("file includes itself", "include: s.yaml\n", "s.yaml"),
    with_arguments("--set without a value", (*RUN, "--set", "run.seed"), "--set"),
    with_arguments("--set of an unknown key", (*RUN, "--set", "run.sed=1"), "--set", "sed"),
    with_arguments("--set past the list", (*RUN, "--set", "cluster.pools[3].count=1"), "--set"),
    with_arguments("--set of one path twice", (*RUN, "--set", "run.seed=1", "--set", "run.seed=2"), "--set #2:1:1", "takes back", "'run.seed=1'"),
    with_arguments("--set of what holds an earlier one", (*RUN, "--set", "run.seed=1", "--set", "run={}"), "--set #2:1:1", "'run.seed=1'"),
    with_arguments("--seed beside --set", (*RUN, "--set", "run.seed=1", "--seed", "2"), "--seed", "'run.seed=1'"),
    with_arguments("--seed is no number", (*RUN, "--seed", "x"), "--seed"),
    with_arguments("--until without unit", (*RUN, "--until", "10"), "--until"),
    with_arguments("unknown option", (*RUN, "--quite"), "--quite"),
    with_arguments("unknown command", ("rum", "s.yaml"), "rum"),
    with_arguments("no scenario", ("run",), ""),
    with_arguments("unknown name to describe", ("describe", "NodeResourceFit"), "NodeResourcesFit"),
    with_arguments("unknown machine to describe", ("describe", "machine", "dgx-a10"),
                   "no machine is called 'dgx-a10'; did you mean 'dgx-a100'?"),
    with_arguments("two names to describe", ("describe", "dgx-2", "dgx-a100"),
                   "one NAME, or 'machine' and the name of one"),
    # traces
    Case("too many copies of nodes", {**NODE_LIST, "s.yaml": NODE_LIST["s.yaml"].replace("n.csv", "n.csv, copies: 1000")}, RUN, 2, ("s.yaml:2:", "copies", "100")),
    trace("trace empty", "", "t.csv"),
    trace("trace of another format", "a,b,c\n1,2,3\n", "t.csv", "no known trace format"),
    trace("openb: text for GPUs", OPENB + "p0,1000,1024,x,1000,,LS,Running,0,10,0\n", "t.csv:2:4", "'x'"),
    trace("openb: field missing", OPENB + "p0,1000,1024,1,1000\n", "t.csv:2"),
    trace("openb: too many GPUs", OPENB + "p0,1000,1024,99,1000,,LS,Running,0,10,0\n", "t.csv:2:4"),
    trace("derived: negative duration", DERIVED + "1#0,0.0,-5,8\n", "t.csv:2:3"),
    trace("derived: not a number", DERIVED + "1#0,nan,5,8\n", "t.csv:2:2"),
    trace("helios: no such day", HELIOS + "1,u1,vc1,8,8,1,COMPLETED,2020-02-30 00:00:00,2020-03-01 00:00:00,2020-03-01 01:00:00,3600,0\n", "t.csv:2:8"),
    trace("helios: unknown state", HELIOS + "1,u1,vc1,8,8,1,DONE,2020-03-01 00:00:00,2020-03-01 00:00:00,2020-03-01 01:00:00,3600,0\n", "t.csv:2:7"),
    trace("derived: far out of order", DERIVED + "".join(f"{i}#0,{i + 9}.0,5,8\n" for i in range(5000)) + "x#0,0.0,5,8\n", "t.csv:5002:2 (arrival_s)", "4096 rows late"),
    Case("jobs that never end, run without an end", {"s.yaml": GOOD.replace("kind: jobs\n      jobs:\n        - {work: 10min, pods: 2, pod: {gpus: 8}}", "kind: trace\n      file: t.csv\n      departures: false").replace("run: {until: 1h}\n", ""), "t.csv": OPENB}, RUN, 2, ("s.yaml:8:19", "run.until")),
    trace("gzip cut off", gzip.compress((DERIVED + "1#0,0.0,5,8\n" * 9000).encode())[:60], "t.csv", file="t.csv.gz"),
    Case("trace missing", {"s.yaml": trace("", "").files["s.yaml"]}, RUN, 2, ("t.csv",)),
    # output
    with_arguments("output folder missing", ("run", "s.yaml", "-o", "no/where/out.h5"), "no/where", status=74),
    Case("output is a folder", {"s.yaml": GOOD, "out.h5/x": ""}, RUN, 74, ("out.h5",)),
    with_arguments("output is a device", ("run", "s.yaml", "-o", "/dev/full"), "/dev/full", status=74),
    Case("disk full", {"s.yaml": GOOD}, RUN, 74, ("out.h5",), file_bytes_max=4096),
    with_arguments("output is the scenario", ("run", "s.yaml", "-o", "./s.yaml"), "would replace the scenario"),
    Case("output is the trace", trace("", DERIVED + "1#0,0.0,5,8\n").files, ("run", "s.yaml", "-o", "./t.csv"), 2, ("would replace a trace",)),
    Case("output is the node list", NODE_LIST, ("run", "s.yaml", "-o", "n.csv"), 2, ("would replace a node list",)),
    # plug-ins
    with_arguments("plug-in missing", (*RUN, "--plugin", "nowhere.so"), "nowhere.so"),
    *(with_arguments(f"plug-in: {fault}", (*RUN, "--plugin", "{plugins}/lib" + fault + ".so"), says)
      for fault, says in (("wrong_abi", "was built for policy interface"), ("wrong_compiler", "compiler"),
                          ("no_symbol", "orrery_policy_abi"), ("unresolved", "libunresolved.so"),
                          ("duplicate_name", "already"), ("twice_the_same", "twice"),
                          ("no_policy", "no_policy"), ("throws_at_load", "threw"))),
    with_arguments("plug-in is text", (*RUN, "--plugin", "./s.yaml"), "s.yaml"),
    # what has no effect in a control plane
    added("control plane of counted jobs",
          "control_plane: {level: delays}\npolicy: {driver: counting, job_queue: {}}\n",
          "s.yaml:10:24: control_plane.level", "has no effect with policy.driver: counting"),
    planned("loss after the end", "losses: [{at: 1h}]",
            "s.yaml:10:44: control_plane.losses[0].at", "must be before run.until, 1h"),
    planned("crash loop after the end", "crash_loops: [{from: 2h}]",
            "s.yaml:10:51: control_plane.crash_loops[0].from", "must be before run.until, 1h"),
    planned("crash loops on too many nodes", "crash_loops: [{nodes: 5}]",
            "s.yaml:10:52: control_plane.crash_loops[0].nodes", "the cluster has 4 nodes"),
    planned("Events expire where there are none", "etcd: {event_ttl: 2h}",
            "s.yaml:10:48: control_plane.etcd.event_ttl", "has no effect without Events"),
    planned("etcd of its own for no Events", "etcd: {separate_events: true}",
            "s.yaml:10:54: control_plane.etcd.separate_events", "has no effect without Events"),
    planned("recorder that records nothing",
            "events: {per_pod: 0, per_failed_bind: 0, others_per_s: 1, client: {qps: 1}}",
            "s.yaml:10:96: control_plane.events.client", "has no effect with per_pod: 0"),
    planned("no Events at all", "events: {per_pod: 0, per_failed_bind: 0}",
            "s.yaml:10:48: control_plane.events.per_pod", "there would be none"),
    planned("no namespaces at all", "namespaces: {existing: 0}",
            "s.yaml:10:53: control_plane.namespaces.existing", "there would be no namespaces"),
    planned("disk beside its latency", "etcd: {disk: hdd, commit_latency: 1ms}",
            "s.yaml:10:43: control_plane.etcd.disk", "commit_latency stands in its place"),
    planned("balance of one server", "api_servers: {servers: 1, balance: per_request}",
            "s.yaml:10:65: control_plane.api_servers.balance", "there is one server"),
    planned("restart of what never ends", "api_servers: {server: {restart_time: 1s}}",
            "s.yaml:10:67: control_plane.api_servers.server.restart_time", "without heap.limit"),
    planned("back-off of a single try", "clients: {scheduler: {tries_max: 1, backoff: 2s}}",
            "s.yaml:10:75: control_plane.clients.scheduler.backoff", "with tries_max: 1"),
    planned("seats without queues", "api_servers: {flow_control: {mode: max_inflight, smoothing: 0.5}}",
            "s.yaml:10:90: control_plane.api_servers.flow_control.smoothing", "mode: max_inflight"),
    planned("cost of what nobody asks", "api_servers: {server: {cost: {watch: 1s}}}",
            "s.yaml:10:67: control_plane.api_servers.server.cost.watch", "nobody gets, lists or watches"),
    planned("lists after no loss", "services: {groups: [{name: a}], watchers: {lists_after_loss: true}}",
            "s.yaml:10:91: control_plane.services.watchers.lists_after_loss", "no server is lost"),
    planned("autoscaler of an unknown pool", "autoscaler: {groups: [{pool: gpx}]}",
            "s.yaml:10:59: control_plane.autoscaler.groups[0].pool", "did you mean 'gpu'"),
    planned("autoscaler without room", "autoscaler: {groups: [{pool: gpu, nodes_min: 4}]}",
            "s.yaml:10:75: control_plane.autoscaler.groups[0].nodes_min", "neither grow nor shrink"),
    planned("autoscaler under a job queue", "autoscaler: {groups: [{pool: gpu}]}",
            "s.yaml:10:42: control_plane.autoscaler", "does not go with policy.job_queue",
            more="policy: {job_queue: {}}\n"),
    served("service without an end", "load: [{at: 0s, load: 1}]", "s.yaml:5:7: "
           "workload.sources[0].lasts", "the run would never end", until=""),
    served("service whose load goes back", "load: [{at: 2s, load: 1}, {at: 1s, load: 2}]",
           "s.yaml:5:65: workload.sources[0].load[1].at", "must be later than the step before, 2s"),
    served("service with more replicas than it may have",
           "replicas: 9, load: [{at: 0s, load: 1}], autoscaler: {replicas_max: 8}",
           "s.yaml:5:44: workload.sources[0].replicas", "must not be above autoscaler"),
    served("service under a job queue", "load: [{at: 0s, load: 1}]",
           "s.yaml:5:7: workload.sources[0]", "does not go with policy.job_queue",
           until="policy: {job_queue: {policies: [{name: FIFO}, {name: Strict}]}}\nrun: {until: 1h}\n"),
    served("autoscaler of pods that has nothing to scale",
           "load: [{at: 0s, load: 1}], autoscaler: {replicas_max: 1}",
           "autoscaler.replicas_min: is replicas_max: there is nothing to scale"),
    changed("affinity without its plugin", "pod: {gpus: 8}",
            "pod: {gpus: 8, affinity: [{topology_key: leaf, match_labels: {a: b}}]}",
            "s.yaml:8:59: workload.sources[0].jobs[0]", "pod.affinity: has no effect without the plugin InterPodAffinity"),
    changed("affinity to a rack", "pod: {gpus: 8}",
            "pod: {gpus: 8, affinity: [{topology_key: rack, match_labels: {a: b}}]}",
            "'rack'", "hostname, leaf"),
    added("preemption by gangs",
          "policy: {base: strict_gang, plugins: [{name: DefaultPreemption}]}\n",
          "s.yaml:10:46: policy.plugins[0].name", "needs driver: per_pod"),
    added("preemption among equals", "policy: {plugins: [{name: DefaultPreemption}]}\n",
          "s.yaml:10:20: policy.plugins[0]", "all pods have the same priority"),
    changed("termination without preemption", "workload:",
            "workload:\n  controller: {termination: 30s}",
            "workload.controller.termination: has no effect: no pod is preempted"),
    added("deletions without servers",
          "policy: {plugins: [{name: DefaultPreemption, args: {async: false}}]}\n",
          "policy.plugins[0].args.async: has no effect"),
    added("candidates where all are", "policy: {plugins: [{name: DefaultPreemption, args: "
          "{algorithm: before_1_20, minCandidateNodesAbsolute: 5}}]}\n",
          "minCandidateNodesAbsolute: has no effect with algorithm: before_1_20"),
    added("autoscaler of nothing", "control_plane: {autoscaler: {groups: [{pool: gpu}]}}\n",
          "s.yaml:10:29: control_plane.autoscaler", "only with level: delays or full"),
]
CASES += [
    changed("change after the end", "until: 1h", "until: 1h, changes: [{at: 2h, policy: {}}]",
            "s.yaml:9:33: run.changes[0].at: must be before run.until, 1h"),
    changed("changes out of order", "until: 1h",
            "until: 1h, changes: [{at: 20min, policy: {}}, {at: 10min, policy: {}}]",
            "s.yaml:9:58: run.changes[1].at: must be later"),
    changed("change to counting", "until: 1h",
            "until: 1h, changes: [{at: 20min, policy: {driver: counting}}]",
            "run.changes[0].policy.driver: cannot become counting"),
    changed("change of a job queue", "until: 1h",
            "until: 1h, changes: [{at: 20min, policy: {}}]}\npolicy: {job_queue: {}",
            "s.yaml:9:", "run.changes: does not go with policy.job_queue"),
    yaml("change that drops affinity", GOOD.replace("pod: {gpus: 8}", "pod: {gpus: 8, labels: {a: b}, "
         "anti_affinity: [{topology_key: leaf, match_labels: {a: b}}]}").replace(
         "until: 1h", "until: 1h, changes: [{at: 20min, policy: {}}]")
         + "policy: {plugins: [{name: InterPodAffinity}]}\n",
         "s.yaml:9:48: run.changes[0].policy: has no InterPodAffinity"),
    changed("change to an unknown plugin", "until: 1h",
            "until: 1h, changes: [{at: 20min, policy: {plugins: [{name: FGDD}]}}]",
            "s.yaml:9:", "run.changes[0].policy.plugins[0].name", "did you mean 'FGD'?"),
]
CASES += trace_cases(Case) + study_cases(Case, GOOD) + unused_cases(Case)
