"""The forms that studies of idle parameters come in, and what they are about: see idle_cases.py."""

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
NO_LEVEL = "has an effect only with level: delays or full"


def part(path: str, value: str, *, more: str = "", jobs: str = FOUR, **sections: str) -> Idle:
    """A section that needs a control plane."""
    return Idle(C + path, NO_LEVEL, value, {C + "level": "none"}, plane(more, jobs, **sections))


def rest(path: str, says: str, values: Settings, idle: Settings, base: str,
         works: Settings | None = None, is_shown: bool = True) -> list[Idle]:
    """Fields of a section, of which the message is the same."""
    return [Idle(path + name, says, value, idle, base, works=works or {}, is_shown=is_shown)
            for name, value in values.items()]
