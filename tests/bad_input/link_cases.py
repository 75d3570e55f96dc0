"""Wrong fabrics, routes, faults of links and cardiograms: see cases.py."""

from __future__ import annotations

from forms import FTA, GOOD, Case, added, cardiogram, changed, failure_log, linked, trace, yaml

MODEL_ON = """cluster:
  pools:
    - {{name: gpu, machine: {0}, count: 4}}
network: {{level: flow}}
workload:
  training: {{step: {{model: {{{1}}}}}}}
  sources:
    - kind: jobs
      jobs:
        - {{work: 10min, pods: 2, pod: {{gpus: 8}}}}
run: {{until: 1h}}
"""

LINK_CASES = [
    linked("unknown cable", "list: [{on: host-0.nic-8, at: 1s, flaw: {kind: dead}}]", "s.yaml:12:30: faults.links.list[0].on", "no cable or switch 'host-0.nic-8'; did you mean"),
    linked("cable and part of the fabric", "list: [{on: leaf-0, among: spines, at: 1s, flaw: {kind: dead}}]", "s.yaml:12:30", "either a name or `among`"),
    linked("no cable at all", "list: [{at: 1s, flaw: {kind: dead}}]", "s.yaml:12:25", "either a name or `among`"),
    linked("part that the fabric lacks", "list: [{among: cores, at: 1s, flaw: {kind: dead}}]", "s.yaml:12:33", "the fabric has no such part: it has only two levels of switches"),
    linked("degraded switch", "list: [{on: leaf-0, at: 1s, flaw: {kind: degraded}}]", "s.yaml:12:52", "a switch can only be dead or flap"),
    linked("degraded switches at random", "random: [{among: leaves, flaw: {kind: degraded}}]", "s.yaml:12:49", "a switch can only be dead or flap"),
    linked("fault that ends before it begins", "list: [{on: leaf-0, at: 2s, until: 1s, flaw: {kind: dead}}]", "s.yaml:12:53", "must be after `at`"),
    linked("all bits wrong", "list: [{on: host-0.nic-0, at: 1s, flaw: {kind: degraded, bit_error_rate: 1}}]", "s.yaml:12:", "bit_error_rate"),
    linked("unknown routing engine", "routing: [{at: 1s, engine: ftre}]", "s.yaml:12:", "ftre"),
    changed("a model that computes nothing", "pods: 2, pod: {gpus: 8}}", "pods: 2, pod: {gpus: 8}, training: {step: {model: {layers: 1, hidden: 1, sequence: 1, vocabulary: 1, batch: 16}}}}\nnetwork: {level: flow}", "training.step.model", "less than a nanosecond"),
    yaml("a model on a GPU without a known peak", MODEL_ON.format("g2-8", "layers: 8, batch: 32"), "s.yaml:6:", "workload.training.step.model: gangs may run on gpu-0, and the peak of G2 in half is not known", "step.compute"),
    yaml("a model in a precision that its reference lacks", MODEL_ON.format("hgx-h100", "precision: fp8, layers: 8, batch: 32"), "s.yaml:6:", "workload.training.step.model.work_gpu: the peak of A100M80 in fp8 is not known"),
    yaml("a model measured on no GPU", MODEL_ON.format("hgx-h100", "work_gpu: H100M8, layers: 8, batch: 32"), "s.yaml:6:", "work_gpu: no GPU model of the catalogue is called 'H100M8'; did you mean 'H100M80'?"),
    added("rank of an unknown job", "faults: {ranks: [{job: trian, at: 1s}]}\n", "s.yaml:10:24: faults.ranks[0].job", "no job is called 'trian'"),
    added("rank of an unnamed job too many", "faults: {ranks: [{job: job-1, at: 1s}]}\n", "s.yaml:10:24: faults.ranks[0].job", "no job is called 'job-1'", "did you mean 'job-0'"),
    failure_log("failure log missing", None, "l.tab"),
    failure_log("failure log of no format", "a,b\n1,2\n", "s.yaml:10:17", "no known format of failure logs"),
    failure_log("fta: no such type of event", FTA + "1 1 2 1 n 7 100 200 NULL\n", "l.tab:2:6 (event_type)", "'7'"),
    failure_log("fta: ends before it starts", FTA + "1 1 2 1 n 0 200 100 NULL\n", "l.tab:2:8"),
    failure_log("fta: field missing", FTA + "1 1 2 1 n 0\n", "l.tab:2: found 6 fields"),
    failure_log("fta: never down", FTA + "1 1 2 1 n 1 100 200 NULL\n", "has no failure to replay"),
    failure_log("titan: no such month", "SN,location,insert,remove,event\n1,c0,,2014-13-01 00:00:00,DBE\n", "l.tab:2:4 (remove)"),
    failure_log("titan: column missing", "SN,location,insert,remove\n1,c0,,2014-12-01 00:00:00\n", "missing column 'event'"),
    failure_log("cause that no failure has", FTA + "1 1 2 1 n 0 100 200 NULL\n", "did you mean 'unavailable'", more=", causes: [unavailible]"),
    Case("trace to imitate missing", {"g.yaml": "trace: {file: no.csv}\n"}, ("trace", "generate", "g.yaml", "o.ort"), 2, ("no.csv",)),
    Case("nothing to imitate", {"g.yaml": "load: 2\n"}, ("trace", "generate", "g.yaml", "o.ort"), 2, ("g.yaml:1:1", "trace")),
    Case("trace to imitate is empty", {"g.yaml": "trace: {file: t.swf}\n", "t.swf": "; a\n1 1 1 -1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"}, ("trace", "generate", "g.yaml", "o.ort"), 2, ("t.swf: holds no jobs",)),
    Case("made-up trace replaces its model", {"g.yaml": "trace: {file: t.swf}\n", "t.swf": "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"}, ("trace", "generate", "g.yaml", "t.swf"), 2, ("would replace",)),
    failure_log("failure log on no node", FTA + "1 1 2 1 n 0 100 200 NULL\n", "s.yaml:10:46", "no node of the cluster", more=", node_selector: {a: b}"),
    added("table that is not there", "record: {off: [/timeline/team]}\n", "s.yaml:10:16", "no table matches '/timeline/team'", "did you mean '/timeline/teams'"),
    added("glob of no table", "record: {off: [/pods, '/event/*']}\n", "s.yaml:10:23", "'/event/*'"),
    added("teams out of step", "record: {timeline: {interval: 7min, teams_interval: 10min}}\n", "s.yaml:10:", "multiple"),
    cardiogram("empty window of a cardiogram", "window: {from: 5min, to: 5min}", "s.yaml:10:59", "the window is empty"),
    cardiogram("cardiogram without an end", "window: {from: 5min}", "s.yaml:10:", "record.cardiogram.window", "'to'"),
    cardiogram("cardiogram without resolution", "window: {to: 5min}, resolution: 0s", "s.yaml:10:66", "record.cardiogram.resolution", "out of range"),
    cardiogram("cardiogram of nobody", "window: {to: 5min}", "s.yaml:10:29", "needs the name of a job", jobs="[]"),
    cardiogram("cardiogram of a job twice", "window: {to: 5min}", "s.yaml:10:33", "is in the list already", jobs="[a, a]"),
    cardiogram("cardiogram of an unknown job", "window: {to: 5min}", "s.yaml:10:30: record.cardiogram.jobs[0]: no job is called 'jbo-0'; did you mean 'job-0'?", jobs="[jbo-0]"),
    yaml("cardiogram of independent pods", GOOD.replace("{work:", "{name: a, kind: pods, work:") + "record: {cardiogram: {jobs: [a], window: {to: 5min}}}\n", "s.yaml:10:30", "'a' is of independent pods"),
    Case("validate: fault of an unknown node", {"s.yaml": GOOD + "faults: {list: [{node: gpu-9, at: 1min, repair: 1min}]}\n"}, ("validate", "s.yaml"), 2, ("s.yaml:10:", "gpu-9")),
    Case("validate: a link that is dead for ever", {"s.yaml": linked("", "list: [{on: host-0.nic-0, at: 1s, flaw: {kind: dead}}]").files["s.yaml"].replace("run: {until: 1h}\n", "")}, ("validate", "s.yaml"), 0, ("s.yaml:11:58: warning: faults.links.list[0].flaw", "restart for ever")),
    Case("validate: change to the same routing", {"s.yaml": linked("", "routing: [{at: 2min, engine: dmodk}, {at: 1min, engine: dmodk}, {at: 1min, engine: ecmp}]").files["s.yaml"]}, ("validate", "s.yaml"), 0, ("warning: faults.links.routing[1].engine: is in use by then",), never_says=("routing[0]", "routing[2]")),
    Case("validate: unnamed jobs by their numbers", {"s.yaml": GOOD.replace("{work:", "{count: 3, work:") + "faults: {ranks: [{job: job-2, at: 1s}]}\nrecord: {cardiogram: {jobs: [job-1], window: {to: 5min}}}\n"}, ("validate", "s.yaml"), 0),
    Case("validate: a warning is no mistake", {"s.yaml": GOOD + "faults: {list: [{node: gpu-1, at: 2h, repair: 1min}]}\n"}, ("validate", "s.yaml"), 0, ("s.yaml:10:", "warning: faults.list[0].at")),
]
