"""A wrong input with the expected answer of the program, and functions that make common wrong inputs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    name: str
    files: dict[str, str | bytes] = field(default_factory=dict)
    arguments: tuple[str, ...] = ("run", "s.yaml", "-o", "out.h5")
    status: int = 2
    says: tuple[str, ...] = ()
    file_bytes_max: int | None = None
    never_says: tuple[str, ...] = ()
    prints: tuple[str, ...] = ()  # texts expected on standard output
    leaves: tuple[str, ...] = ()  # files that the command creates


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
    """A scenario with a service, on line 5, and no job."""
    text = ("cluster:\n  pools: [{name: gpu, machine: dgx-a100, count: 4}]\nworkload:\n  sources:\n"
            "    - {kind: service, name: web, " + service + "}\n" + until)
    return yaml(name, text, *says)


def linked(name: str, text: str, *says: str) -> Case:
    """A scenario with a fabric, and with `text` in faults.links, on line 12."""
    flow = GOOD.replace("workload:\n", "network: {level: flow}\nworkload:\n  training: {step: "
                        "{compute: 1s, exchanges: [{bytes: 1GB}]}}\n")
    return yaml(name, flow + f"faults: {{links: {{{text}}}}}\n", *says)


def planned(name: str, text: str, *says: str, more: str = "") -> Case:
    """A scenario with `text` in the section control_plane, on line 10."""
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
