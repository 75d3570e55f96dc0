"""Features of training: starts, steps and their exchanges, checkpoints, data, restarts."""

from __future__ import annotations

from draft import Draft, Draw, Feature, Tree

SYMMETRIC = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",
             "point_to_point"]
ALGORITHMS = ["auto", "auto", "ring", "tree", "nvls", "hierarchical"]


def gpus_of(job: Tree) -> int:
    if "gangs" in job:
        return sum(role["pods"] * role["pod"]["gpus"] for gang in job["gangs"]
                   for role in gang["roles"])
    return job.get("pods", 1) * job["pod"]["gpus"]


def start(draft: Draft, draw: Draw) -> None:
    training = draft.section("workload.training")
    draw.maybe(training, 0.5, init=draw.span(0, 60), init_per_gpu=draw.span(0, 0.1))
    if draw.chance(0.3):
        training["communicator"] = {"method": draw.pick(["tcp_store", "redis", "ordered"])}
        draw.maybe(training["communicator"], 0.4, discovery=draw.span(0, 30),
                   kernel_loading=draw.span(0, 60))


def restarts(draft: Draft, draw: Draw) -> None:
    draw.maybe(draft.section("workload.training"), 0.3, restart_scope="pod",
               restarts_max=draw.count(0, 4), schedule_timeout=draw.span(10, 600),
               restore=draw.span(0, 120))


def plain_checkpoints(draft: Draft, draw: Draw) -> None:
    draft.section("workload.training").update(
        checkpoint_interval=draw.span(5, 900), checkpoint_write=draw.span(0, 60))


def stored_checkpoints(draft: Draft, draw: Draw) -> None:
    names = [store["name"] for store in draft.get("storage.stores", [])]
    names += ["local"] * (draft.get("storage.local") is not None)
    if not names:
        return
    training = draft.section("workload.training")
    training.pop("checkpoint_write", None)
    training["checkpoint_interval"] = draw.span(5, 900)
    for one in [training, *own_trainings(draft, draw)]:
        one["checkpoint"] = {"store": draw.pick(names), "bytes": draw.size(1e8, 1e13)}
        draw.maybe(one["checkpoint"], 0.5, mode="async")
        draw.maybe(one["checkpoint"], 0.25, sharded=False, host_copy=draw.rate(1e9, 1e12))


def own_trainings(draft: Draft, draw: Draw) -> list[Tree]:
    """Gives some jobs their own training, a copy of the workload's training, which the caller changes. Returns the
    trainings of all jobs that have one."""
    own = []
    for job in draft.jobs:
        if "training" not in job and draw.chance(0.2):
            job["training"] = dict(draft.get("workload.training", {}))
        if "training" in job:
            own.append(job["training"])
    return own


def exchange(draw: Draw, among: list[str]) -> Tree:
    made: Tree = {"collective": draw.pick(SYMMETRIC), "bytes": draw.size(1e5, 5e10)}
    draw.maybe(made, 0.4, count=draw.count(1, 10), among=draw.pick(among))
    if made["collective"] == "all_reduce":
        draw.maybe(made, 0.4, algorithm=draw.pick(ALGORITHMS))
        if made.get("algorithm") == "hierarchical" and draw.chance(0.5):
            made["stages"] = "pipelined"
    return made


def step(draw: Draw) -> Tree:
    made: Tree = {"compute": draw.span(0.2, 10),
                  "exchanges": [exchange(draw, ["data", "all"]) for _ in range(draw.count(1, 3))]}
    draw.maybe(made, 0.25, overlap=draw.number(0, 1), optimizer=draw.span(0, 1),
               data=draw.span(0, 1), polling={"cores_per_gpu": draw.number(0, 16)},
               stragglers={"fraction": draw.number(0, 0.5), "slowdown": draw.number(0, 2)})
    return made


def has_quorum(job: Tree) -> bool:
    return any("min_available" in gang for gang in job.get("gangs", [job]))


def steps(draft: Draft, draw: Draw) -> None:
    if draft.get("network.level") is None:
        return
    without = dict(draft.section("workload.training"))
    draft.put("workload.training.step", step(draw))
    for job in draft.jobs:
        if has_quorum(job):
            job["training"] = without
        elif gpus_of(job) == 0:
            job["kind"] = "pods"
        elif draw.chance(0.3):
            job["training"] = {**draft.get("workload.training"), "step": step(draw)}


def transformer(draft: Draft, draw: Draw) -> None:
    """Lets some jobs train a transformer with a random mix of tensor, pipeline and data parallelism."""
    if draft.get("network.level") is None:
        return
    for job in draft.jobs:
        ranks = gpus_of(job)
        if ranks < 2 or draw.chance(0.5) or job.get("kind") == "pods" or has_quorum(job):
            continue
        tensor = draw.pick([n for n in (1, 2, 4, 8) if ranks % n == 0])
        pipeline = draw.pick([n for n in (1, 2, 3, 4) if ranks // tensor % n == 0])
        data = ranks // tensor // pipeline
        layers = pipeline * draw.count(1, 8)
        model: Tree = {"layers": layers, "hidden": draw.pick([64, 512, 4096]),
                       "sequence": draw.pick([128, 2048]), "batch": data * draw.count(1, 8) * 2}
        draw.maybe(model, 0.2, recompute=True, vocabulary=1000, gradient_bytes=2,
                   efficiency=draw.number(0.1, 0.9))
        parallel: Tree = {"tensor": tensor, "pipeline": pipeline}
        draw.maybe(parallel, 0.2, microbatch=2, virtual_stages=layers // pipeline)
        made: Tree = {"model": model, "parallel": parallel}
        draw.maybe(made, 0.3, zero=True, overlap=draw.number(0, 1))
        job["training"] = {**draft.get("workload.training", {}), "step": made}


def push_pull(draw: Draw, most: int) -> Tree:
    servers: Tree = {"count": draw.count(1, max(1, most))}
    draw.maybe(servers, 0.4, placement="dedicated", overlap=True)
    return {"compute": draw.span(0.2, 10), "exchanges": [
        {"collective": "push_pull", "bytes": draw.size(1e6, 1e10), "servers": servers}]}


def parameter_servers(draft: Draft, draw: Draw) -> None:
    if draft.get("network.level") is None:
        return
    # The workload's step applies to all jobs without a training of their own.
    if draft.get("workload.training.step") is None and draw.chance(0.3):
        draft.put("workload.training.step", push_pull(draw, 2))
    for job in draft.jobs:
        if job.get("kind") == "pods" or gpus_of(job) < 2 or has_quorum(job) or draw.chance(0.5):
            continue
        made = push_pull(draw, job.get("pods", 1) - 1)
        job["training"] = {**draft.get("workload.training", {}), "step": made}


def traced(draft: Draft, draw: Draw) -> None:
    if draft.get("network.level") is not None:
        draft.put("workload.steps", "traced")


def dataset(draft: Draft, draw: Draw) -> None:
    names = [store["name"] for store in draft.get("storage.stores", [])]
    names += ["local"] * (draft.get("storage.local") is not None)
    if not names or draft.get("workload.training.step") is None:
        return
    made: Tree = {"store": draw.pick(names), "per_step": draw.size(1e5, 1e9)}
    if draw.chance(0.4) and draft.get("storage.local") is not None and made["store"] != "local":
        made.update(cache=True, size=draw.size(1e8, 1e12))
    draft.put("workload.training.dataset", made)


FEATURES = [
    Feature("start", 0.5, start),
    Feature("restarts", 0.4, restarts),
    Feature("plain_checkpoints", 0.4, plain_checkpoints),
    Feature("stored_checkpoints", 0.5, stored_checkpoints),
    Feature("steps", 0.85, steps),
    Feature("transformer", 0.2, transformer),
    Feature("parameter_servers", 0.15, parameter_servers),
    Feature("traced", 0.25, traced),
    Feature("dataset", 0.25, dataset),
]
