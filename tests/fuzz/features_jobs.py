"""Features of the workload: sources and forms of jobs."""

from __future__ import annotations

from draft import Draft, Draw, Feature, Tree

TEAMS = ["a", "b", "c"]


def pod(draw: Draw) -> Tree:
    asked: Tree = {"gpus": draw.pick([0, 1, 1, 2, 2, 4, 8, 8])}
    draw.maybe(asked, 0.2, cpus=draw.pick([0.5, 1, 4, 30]), memory=draw.size(1e9, 2e11))
    draw.maybe(asked, 0.1, nics=draw.count(0, 2))
    if asked["gpus"] == 1 and draw.chance(0.2):
        asked["gpu_milli"] = draw.pick([100, 333, 500, 1000])
    return asked


def job(draft: Draft, draw: Draw, number: int) -> Tree:
    made: Tree = {"name": f"j{number}", "work": draw.span(1, 1500), "pod": pod(draw)}
    draw.maybe(made, 0.5, submit=draw.span(0, draft.span / 2), pods=draw.count(1, 6),
               team=draw.pick(TEAMS))
    draw.maybe(made, 0.3, count=draw.count(1, 5), every=draw.span(0, 300),
               user=draw.pick(["u", "v"]))
    draw.maybe(made, 0.15, application=draw.pick(["ResNet", "BERT"]),
               requested=draw.span(10, 3000))
    return made


def listed_jobs(draft: Draft, draw: Draw) -> None:
    jobs = [job(draft, draw, i) for i in range(draw.count(1, 8))]
    draft.sources.append({"kind": "jobs", "jobs": jobs})


def independent_pods(draft: Draft, draw: Draw) -> None:
    for one in draft.jobs:
        draw.maybe(one, 0.4, kind="pods")


def controllers(draft: Draft, draw: Draw) -> None:
    for one in draft.jobs:
        draw.maybe(one, 0.4, controller=draw.pick(["job", "replica_set", "ordered_stateful_set",
                                                   "parallel_stateful_set"]))


def elastic_gangs(draft: Draft, draw: Draw) -> None:
    for one in draft.jobs:
        if draw.chance(0.4) and one.get("kind") != "pods" and "gangs" not in one:
            one["pods"] = draw.count(2, 6)
            one["min_available"] = draw.count(1, one["pods"])
    controller = draft.section("workload.controller")
    draw.maybe(controller, 0.3, last_call=draw.span(0, 60),
               monitor_interval=draw.pick([None, "100ms", "1s", "30s"]))


def role_minimums(gang: Tree, draw: Draw) -> None:
    """Adds minimums to some roles. Their sum is at most the gang's minimum. Each exceeds what the gang's
    minimum implies. Example: two roles of 3 pods, and a gang minimum of 5. This implies 2 pods of each role,
    so a role's own minimum must be 3."""
    left = gang.get("min_available", 0)
    spare = sum(role["pods"] for role in gang["roles"]) - left
    for role in gang["roles"]:
        least, most = max(1, role["pods"] - spare + 1), min(role["pods"], left)
        if least <= most and draw.chance(0.5):
            role["min_available"] = draw.count(least, most)
            left -= role["min_available"]


def gangs_of_roles(draft: Draft, draw: Draw) -> None:
    """Adds jobs of one to three gangs, such as trainers and rollout workers."""
    gangs = []
    for _ in range(draw.count(1, 3)):
        roles = [{"pods": draw.count(1, 3), "pod": pod(draw)} for _ in range(draw.count(1, 2))]
        gang: Tree = {"roles": roles}
        draw.maybe(gang, 0.3, min_available=draw.count(1, sum(role["pods"] for role in roles)))
        role_minimums(gang, draw)
        gangs.append(gang)
    made = {"name": "grouped", "work": draw.span(10, 900), "gangs": gangs,
            "count": draw.count(1, 3), "every": draw.span(0, 300)}
    draft.sources.append({"kind": "jobs", "jobs": [made]})


def ending(draw: Draw) -> Tree:
    """A drawn way in which pods of a job or role may end. On average, one in four is a success."""
    cause, code = draw.pick([("error", 1), ("out_of_memory", 137), ("cancelled", 143), ("none", 0)])
    return {"cause": cause, "exit_code": code, "chance": draw.number(0.05, 0.9),
            "after": {"kind": "exponential", "mean": draw.span(5, 900)}}


def role_rules(role: Tree, draw: Draw, is_gang: bool) -> None:
    draw.maybe(role, 0.4, restart=draw.pick(["never", "on_failure", "exit_code"]),
               backoff_limit=draw.count(0, 3))
    draw.maybe(role, 0.5, endings=[ending(draw) for _ in range(draw.count(1, 2))])
    draw.maybe(role, 0.2, clean_up="none")
    draw.maybe(role, 0.3, controller=draw.pick(["job", "replica_set", "parallel_stateful_set"]))
    if is_gang:
        draw.maybe(role, 0.4, takes_part=False)
        draw.maybe(role, 0.3, saves=False)
        if role.get("takes_part") is False:
            draw.maybe(role, 0.5, failure="ignored")
        return
    draw.maybe(role, 0.3, failure="ignored")
    draw.maybe(role, 0.3, exits=False)
    exits = role.get("exits", True)
    draw.maybe(role, 0.4, success=draw.pick(["counts", "ignored"] + ["decides"] * exits))


def roles_of_jobs(draft: Draft, draw: Draw) -> None:
    """Adds gangs and independent pods of several roles, such as workers, launchers, servers and chiefs. Each
    role but the first may have rules of its own."""
    for kind in ("mpi_gang", "pods"):
        roles: list[Tree] = [{"name": "first", "pods": draw.count(1, 3), "pod": pod(draw)}]
        roles += [{"pods": draw.count(1, 3), "pod": pod(draw)} for _ in range(draw.count(1, 2))]
        for role in roles[1:]:
            role_rules(role, draw, kind == "mpi_gang")
        gang: Tree = {"roles": roles}
        if kind == "mpi_gang":
            draw.maybe(gang, 0.3, min_available=draw.count(1, sum(one["pods"] for one in roles)))
            role_minimums(gang, draw)
        made: Tree = {"name": "roles", "kind": kind, "work": draw.span(10, 900),
                      "gangs": [gang], "count": draw.count(1, 3),
                      "every": draw.span(0, 300)}
        draft.sources.append({"kind": "jobs", "jobs": [made]})


def endings(draft: Draft, draw: Draw) -> None:
    training = draft.section("workload.training")
    training["endings"] = [ending(draw)]
    draw.maybe(training, 0.4, restart=draw.pick(["never", "exit_code"]),
               backoff_limit=draw.count(0, 3))


def sizes(draw: Draw, most: int) -> Tree:
    kind = draw.pick(["fixed", "uniform", "discrete"])
    if kind == "fixed":
        return {"kind": kind, "value": draw.count(0, most)}
    if kind == "uniform":
        low = draw.count(0, most)
        return {"kind": kind, "low": low, "high": draw.count(low, most)}
    return {"kind": kind, "values": [1, 2, 8, most], "weights": [4, 3, 2, draw.count(0, 2)]}


def shape(draw: Draw) -> Tree:
    if draw.chance(0.2):
        return {"kind": "preset", "preset": draw.pick(["helios", "philly", "seren", "kalos"]),
                "gpus_max": draw.pick([8, 16, 32])}
    classes = []
    for _ in range(draw.count(1, 3)):
        one: Tree = {"gpus": sizes(draw, 24), "duration": draw.duration(1, 1200)}
        draw.maybe(one, 0.5, weight=draw.number(0.1, 5))
        classes.append(one)
    return {"kind": "classes", "classes": classes}


def generator(draft: Draft, draw: Draw) -> None:
    made: Tree = {"kind": "generator", "arrival_rate": draw.number(5, 80), "shape": shape(draw),
                  "gpus_per_pod_max": draw.pick([1, 2, 4, 8])}
    draw.maybe(made, 0.3, teams={"a": 2, "b": 1}, name="made", start=draw.span(0, draft.span / 2),
               cpus_per_gpu=draw.count(1, 8), memory_per_gpu=draw.size(1e9, 4e10))
    draw.maybe(made, 0.15, users_per_team=draw.count(1, 3), nics_per_gpu=1,
               job_kind=draw.pick(["pods", "mpi_gang"]), until=f"{draft.span}s")
    made["jobs_max"] = draw.count(1, 60)
    if draw.chance(0.3):
        made["burst"] = {"every": draw.span(120, 3000), "jobs": sizes(draw, 8)}
        if draw.chance(0.5):
            made["burst"]["shape"] = shape(draw)
    draft.sources.append(made)


def helios_trace(draft: Draft, draw: Draw) -> None:
    rows = ["job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,"
            "duration,queue"]
    second = 0
    for i in range(draw.count(1, 25)):
        second += draw.count(0, 200)
        waited, ran, gpus = draw.count(0, 60), draw.count(0, 1500), draw.pick([0, 1, 2, 8, 16])
        times = [f"2020-04-01 {s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}"
                 for s in (second, second + waited, second + waited + ran)]
        state = draw.pick(["COMPLETED", "FAILED", "CANCELLED"])
        rows.append(f"{i},u{draw.count(1, 3)},vc{draw.pick('AB')},{gpus},{max(1, gpus * 4)},"
                    f"{max(1, (gpus + 7) // 8)},{state},{','.join(times)},{ran},{waited}")
    draft.files["helios.csv"] = "\n".join(rows) + "\n"
    made: Tree = {"kind": "trace", "file": "helios.csv"}
    draw.maybe(made, 0.15, copies=2, time_scale=draw.number(0.2, 3), gpu_jobs_only=True,
               arrive_at="start", job_kind=draw.pick(["pods", "mpi_gang"]), host_requests=False,
               shuffle={"interval": draw.span(1, 100)})
    draft.sources.append(made)


def swf_trace(draft: Draft, draw: Draw) -> None:
    rows = ["; MaxProcs: 100"]
    second = 0
    for i in range(1, draw.count(1, 25)):
        second += draw.count(0, 300)
        size, ran = draw.count(1, 12), draw.count(0, 1500)
        asked = ran + draw.count(-100, 600)
        rows.append(f"{i} {second} {draw.count(0, 99)} {ran} {size} -1 -1 {size} {max(1, asked)} "
                    f"-1 {draw.pick([0, 1, 5])} {draw.count(1, 4)} {draw.count(1, 2)} -1 1 -1 -1 "
                    "-1")
    draft.files["log.swf"] = "\n".join(rows) + "\n"
    made: Tree = {"kind": "trace", "file": "log.swf", "format": "swf"}
    options: Tree = {}
    draw.maybe(options, 0.25, one_pod=True, overruns=draw.pick(["keep", "cut", "raise"]),
               processors="allocated")
    draw.maybe(made, 0.25, team="group")
    if options:
        made["swf"] = options
    draft.sources.append(made)


def openb_trace(draft: Draft, draw: Draw) -> None:
    rows = ["name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
            "deletion_time,scheduled_time"]
    second = 0
    for i in range(draw.count(1, 25)):
        second += draw.count(0, 200)
        gpus = draw.pick([0, 1, 1, 2, 8])
        milli = draw.pick([250, 460, 1000]) if gpus == 1 else 1000 * (gpus > 0)
        spec = draw.pick(["", "", "V100M16|V100M32", "T4"]) if gpus else ""
        bound = second + draw.count(0, 60)
        rows.append(f"pod-{i},{draw.count(1, 16)}000,{draw.count(1, 64)}000,{gpus},{milli},{spec},"
                    f"{draw.pick(['LS', 'BE'])},Succeeded,{second},{bound + draw.count(1, 1500)},"
                    f"{bound}")
    draft.files["pods.csv"] = "\n".join(rows) + "\n"
    made: Tree = {"kind": "trace", "file": "pods.csv", "format": "openb"}
    draw.maybe(made, 0.3, gpu_models=False, host_requests=False, warm_start=False)
    draft.sources.append(made)


def service(draft: Draft, draw: Draw) -> None:
    for name in draw.some(["web", "llm"]):
        load = [{"at": f"{k * draft.span // 6}s", "load": draw.number(0, 8)} for k in range(5)]
        if draw.chance(0.2):
            load[draw.count(0, 4)]["load"] = 0
        made: Tree = {"kind": "service", "name": name, "load": load, "pod": pod(draw)}
        draw.maybe(made, 0.4, replicas=draw.count(1, 5), team=draw.pick(TEAMS),
                   priority=draw.count(-5, 5))
        draw.maybe(made, 0.2, submit=draw.span(0, draft.span / 3))
        if draft.until is None or draw.chance(0.3):
            made["lasts"] = draw.span(60, draft.span)
        if draw.chance(0.6):
            made["autoscaler"] = {"replicas_max": draw.count(6, 12)}
            draw.maybe(made["autoscaler"], 0.3, replicas_min=draw.count(1, 3),
                       target=draw.count(20, 100), tolerance=draw.number(0, 0.3),
                       sync_period=draw.span(5, 60), scale_up={"pods": draw.count(1, 3)},
                       scale_down={"stabilization": draw.span(0, 600), "pods": 1})
        draft.sources.append(made)


def priorities(draft: Draft, draw: Draw) -> None:
    for one in draft.jobs:
        draw.maybe(one, 0.6, priority=draw.pick([-10, 0, 5, 100]))
    for source in draft.sources:
        if source["kind"] == "generator":
            source["priorities"] = [{"priority": 0}, {"priority": 50, "weight": 0.3}]


def images(draft: Draft, draw: Draw) -> None:
    large = draw.size(1e8, 2e10)
    for one in draft.pods:
        draw.maybe(one, 0.5, image=draw.pick([{"name": "trainer", "size": large},
                                              {"name": "agent", "size": "100MB"}]))
    if draw.chance(0.4):
        draft.put("control_plane.image_pulls", {"registry": draw.rate(1e8, 1e11),
                                                "parallel": draw.count(0, 3)})


def pod_affinity(draft: Draft, draw: Draw) -> None:
    def term() -> list[Tree]:
        return [{"topology_key": draw.pick(["hostname", "leaf"]),
                 "match_labels": {"app": draw.pick(["x", "y"])}}]

    for one in draft.pods:
        draw.maybe(one, 0.7, labels={"app": draw.pick(["x", "y"])})
        draw.maybe(one, 0.2, affinity=term(), anti_affinity=term())
    draft.list_at("policy.plugins").append({"name": "InterPodAffinity"})
    if draw.chance(0.7) or draft.get("control_plane.autoscaler") is not None:
        return
    for one in draft.pods:
        draw.maybe(one, 0.4, topology_spread=[
            {**term()[0], "max_skew": draw.count(1, 4),
             "when_unsatisfiable": draw.pick(["DoNotSchedule", "ScheduleAnyway"])}])
    plugins = draft.list_at("policy.plugins")
    if all(one["name"] != "PodTopologySpread" for one in plugins):
        plugins.append({"name": "PodTopologySpread"})


def job_controller(draft: Draft, draw: Draw) -> None:
    controller = draft.section("workload.controller")
    draw.maybe(controller, 0.3, pod_start={"median": draw.span(0.1, 60),
                                           "sigma": draw.number(0, 1.5)},
               failure_detection=draw.span(0.1, 60), restart_delay=draw.span(0.1, 60),
               hang_timeout=draw.span(1, 1200), pods_per_sync_max=draw.count(1, 8),
               concurrent_syncs=draw.count(1, 3), restart_delay_max=draw.span(60, 600),
               termination=draw.span(0, 60), pod_creation_interval=draw.span(0, 5),
               overruns="kill")


def typical_pods(draft: Draft, draw: Draw) -> None:
    draft.put("workload.typical_pods", {})
    if draw.chance(0.6):
        draft.list_at("policy.plugins").append({"name": "FGD"})


SOURCES = [
    Feature("listed_jobs", 0.85, listed_jobs),
    Feature("independent_pods", 0.3, independent_pods),
    Feature("gangs_of_roles", 0.15, gangs_of_roles),
    Feature("roles_of_jobs", 0.12, roles_of_jobs),
    Feature("endings", 0.12, endings),
    Feature("elastic_gangs", 0.25, elastic_gangs),
    Feature("controllers", 0.15, controllers),
    Feature("generator", 0.35, generator),
    Feature("helios_trace", 0.08, helios_trace),
    Feature("swf_trace", 0.08, swf_trace),
    Feature("openb_trace", 0.08, openb_trace),
    Feature("service", 0.15, service),
    Feature("priorities", 0.3, priorities),
    Feature("images", 0.15, images),
    Feature("job_controller", 0.5, job_controller),
]
LATER = [Feature("pod_affinity", 0.15, pod_affinity), Feature("typical_pods", 0.08, typical_pods)]
