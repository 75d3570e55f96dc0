"""Cases for cases.py: sources of jobs that the scenario's run, policy or training step rules out, and similar
sources that are allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

CLUSTER = "cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}\n"
VALIDATE = ("validate", "s.yaml")
HELIOS = ("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
          "queue\n"
          "1,u,a,0,4,1,COMPLETED,2020-04-01 00:00:10,2020-04-01 00:00:20,2020-04-01 00:01:20,60,10\n"
          "2,u,a,8,4,1,COMPLETED,2020-04-01 00:00:20,2020-04-01 00:00:20,2020-04-01 00:01:20,60,0\n")
TRACE = "    - {kind: trace, file: t.csv}\n"


def generator(gpus: int = 8, more: str = "") -> str:
    return ("    - {kind: generator, arrival_rate: 60, shape: {kind: classes, classes: [{gpus: "
            f"{{kind: fixed, value: {gpus}}}, duration: {{kind: fixed, value: 1min}}}}]}}{more}}}\n")


def listed(gpus: int) -> str:
    return f"    - {{kind: jobs, jobs: [{{work: 1min, pod: {{cpus: 1, gpus: {gpus}}}}}]}}\n"


def scenario(source: str, workload: str = "", more: str = "run: {until: 1h}\n") -> str:
    return CLUSTER + "workload:\n" + workload + "  sources:\n" + source + more


COUNTING = "policy: {driver: counting, job_queue: {counts: [cpus]}}\nrun: {until: 1h}\n"
NO_GPUS = "policy.job_queue.counts: must name gpus, which workload.sources[0]"


def pushes(servers: str) -> str:
    return ("  training: {step: {compute: 1s, exchanges: [{collective: push_pull, bytes: 1GB, "
            f"servers: {{{servers}}}}}]}}}}\n")


def with_servers(source: str, servers: str) -> str:
    return scenario(source, pushes(servers), "network: {level: flow}\nrun: {until: 1h}\n")


def source_cases(case: Callable) -> Iterable:
    def wrong(name: str, text: str, *says: str):
        return case(name, {"s.yaml": text, "t.csv": HELIOS}, says=says)

    def valid(name: str, text: str):
        return case(name, {"s.yaml": text, "t.csv": HELIOS}, VALIDATE, 0, never_says=("warning",))

    endless = "s.yaml:4:7: workload.sources[0]: makes jobs for ever"
    return [
        wrong("generator without an end", scenario(generator(), more=""), endless),
        wrong("burst without an end", scenario(generator(more=", burst: {every: 1h, jobs: {kind: fixed, value: 3}}"), more=""),
              endless),
        valid("validate: generator of so many jobs",
              scenario(generator(more=", jobs_max: 9"), more="")),
        valid("validate: generator until then",
              scenario(generator(more=", until: 1d"), more="")),
        valid("validate: run of a generator until then", scenario(generator())),
        valid("validate: failures without an end", scenario(
            listed(1), more="faults: {nodes: [{rate: 1}], chaos: {}}\n")),
        wrong("GPUs of a job that are not counted", scenario(listed(8), more=COUNTING),
              "s.yaml:5:48: " + NO_GPUS + ".jobs[0]"),
        wrong("GPUs of a generator that are not counted", scenario(generator(), more=COUNTING),
              "s.yaml:5:48: " + NO_GPUS),
        wrong("GPUs of a burst that are not counted", scenario(generator(0, ", burst: {every: 1h, jobs: "
              "{kind: fixed, value: 3}, shape: {kind: preset, preset: helios}}"), more=COUNTING),
              NO_GPUS),
        wrong("GPUs of a trace that are not counted", scenario(TRACE, more=COUNTING),
              "t.csv:3: the job asks for 8 GPUs, which policy.job_queue.counts does not name"),
        valid("validate: jobs without GPUs, of which none are counted",
              scenario(listed(0) + generator(0), more=COUNTING)),
        valid("validate: GPUs that are counted, too", scenario(
            listed(8), more=COUNTING.replace("[cpus]", "[cpus, gpus]"))),
        wrong("more servers than any job of a generator has ranks",
              with_servers(generator(2), "count: 4"), "s.yaml:5:7: workload.sources[0]: training.step."
              "exchanges[0].servers.count: is more than 2, the most servers that 2 ranks can have: "
              "each is on a node of its own"),
        wrong("more dedicated servers than a generator has for",
              with_servers(generator(4), "count: 4, placement: dedicated"), "is more than 3"),
        valid("validate: servers for the largest jobs of a generator", with_servers(
            generator(2).replace("fixed, value: 2}", "uniform, low: 2, high: 16}"), "count: 4")),
        valid("validate: servers for jobs of a trace", with_servers(TRACE, "count: 4")),
    ]
