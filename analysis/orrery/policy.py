"""Policies in Python. A scenario names one as `{name: Python, args: {file: mine.py}}`.

A policy is a class with methods for the extension points (*points*) that it implements. POINTS lists the
points; `orrery describe points` explains each. Example: a policy that prefers nodes on which few GPUs stay free:

    import numpy as np
    from orrery.policy import GPU, Arg, Policy

    class LeastLeft(Policy):
        args = {"spare": Arg(int, default=0, minimum=0, unit="GPUs", doc="Free GPUs that do not count.")}
        is_node_local = True

        def score(self, cycle, nodes):
            free = np.maximum(nodes.free(GPU) // 1000 - self.args.spare, 0)
            return 100 - 100 * free * 1000 // np.maximum(nodes.allocatable[GPU], 1)

    orrery run scenario.yaml --plugin liborrery_python.so
    orrery describe Python:mine.py:LeastLeft --plugin liborrery_python.so

Before `__init__(self)` runs, the instance has
    self.args     the values of the declared arguments
    self.nodes    the cluster, as arrays over all nodes
    self.handle   only in policies that schedule pods: other pods and gangs, and commands
    self.board    in policies of the job queue: the queue, the running jobs, and commands;
                  in controllers: jobs, pods, nodes and news (also an argument of tick())

`nodes` holds read-only numpy views, which change with the cluster: `allocatable[GPU]` and `requested[GPU]`,
`leaf`, `machine`, `idle_gpus` (bit i: GPU i). New arrays are `free(GPU)`, `up`, `cordoned` and, within filter
and score, `candidates`: the ids of the nodes that are still feasible. `name(node)` and `gpu_left_milli(node)`
are about one node. `labelled({"zone": "a"})` and `tainted("key")` say which nodes have these labels, or a taint
with that key. CPU and GPU are in thousandths of a core and a GPU, memory in bytes. Times are integers in
nanoseconds and end in `_ns`.

The arguments of the methods have these attributes, in the order of the C++ contract:
    cycle      now_ns, pod, state (a dict of this attempt), uniform(stream), below(stream, bound)
    pod        id, job, job_uid, gang, role, spec_id, rank, attempts, created_ns, team, requests, gpus, gpu_milli,
               priority, node_name, labels
    gang       id, name, job, job_uid, first_pod, first_of_job, gangs_of_job, min_available, pods, created, gated,
               waiting, bound, binding, assigned, priority, are_enough_created, missing(), created_at_ns,
               last_failure_ns, backoff_until_ns, schedule_timeout_ns
    diagnosis  pre_filter_reason, unresolvable, rejections
    a, b       of QueueSort: pod, gang, priority, queued_ns, initial_attempt_ns, gang_created_ns, gang_failed_ns
    event      kind, node, gang
    job        of the job queue: id, serial, user, team, application, priority, state, count (in the unit of `board.free`), units
               (whole GPUs or CPUs), requests, held, submitted_ns, queued_ns, started_ns, requested_ns (below 0: not
               known), estimate_ns, estimate_first_ns, corrections, expected_end_ns, left_ns, is_running,
               executed_ns, run_ns
    news       arrived (jobs), has_room, has_longer

`handle` (only in policies that schedule pods):
    now_ns, rng(stream)              a stream of random numbers has uniform(), below(n), normal(), exponential()
    pod(id), gang(id), node_of(pod), pods_on(node), waiting_pods(gang) (those that wait in Permit)
    count_pods({"app": "a"}, by_leaf=True, team="", keeping_away=False)  an array by leaf switch; else by node
                                     keeping_away: counts pods with an anti-affinity term for these labels instead
    placed_on(node)                  each with id, priority, since_ns, is_leaving; the most important first
    is_above_any(priority), unsaved_ns(pod), nominated_node(pod), nominated_on(node)
    allow_waiting(pod), reject_waiting(pod, reason), reject_gangs(first, gangs, reason), activate_siblings(pod),
    set_gang_failure(gang, failed_at_ns, backoff_until_ns), nominate(pod, node, is_tried_first=False),
    withdraw(pod), evict(preemptor, victims, waits=False)  commands; they take effect when the method returns

In post_filter() a what-if is the cluster without some pods, until the end of the `with`:

    with self.handle.what_if(cycle) as trial:
        trial.evict(pod)                  # restore(pod) puts it back
        possible = trial.feasible(nodes)  # bool for each node
        # trial.is_node_local: True if evictions on one node never change the answer for another node
    with self.handle.gang_what_if(cycle) as trial:  # None if the gang cannot be tried
        trial.evict(pod)
        enough = trial.fits()  # whether the whole gang fits
        # trial.placed: (pod, node) of each member; trial.spent_ns: scheduler time of all fits() so far

`board` in policies of the job queue:
    now_ns, seed, rng(stream), has_user(name), has_team(name), has_application(name)
    unit, capacity, free             amounts of the counted resource: of one GPU or CPU, of the cluster, free
    capacities, used, parts          amounts by resource; (model of the GPUs, count) of each kind
    waiting, running, head()         trees of jobs in order; the job that is first
    fits(job), setup_ns(job), start(job, nodes=None), stop(job), cancel(job), wake_at(when_ns)
    chooses_nodes                    whether start() may name nodes
    has_paces, start_beside(job, host), set_pace(job, millionths)  with driver: counting
    tree()                           an empty tree of the policy's own. A job that is over must not stay in it

A tree of jobs has insert(job, rank, count=None, estimate_ns=None), erase(job), first(), next(job), key(job),
find_after(key, free=..., window_ns=..., extra=...) (the first job after `key`, or from the front if `key` is
None, with a count of at most `free` and an estimate of at most `window_ns`; jobs with a count of at most
`extra` may be longer), reach(needed) (the first job at which the counts add up to `needed`, and their sum) and
sum_through(rank) (the sum of the counts of all jobs up to this rank).

A controller has `tick(self, board, actions)`. Jobs, pods and nodes are ids. Each access to a list or array of
the board returns a new one:
    now_ns, rng(name)
    node_changes                     since the last tick, each with at_ns, node, is_up
    gang_failures                    since the last tick, each with at_ns, job, serial, nodes
    ready, broken, draining          arrays of bool over all nodes; ready: by the node lifecycle controller
    ports_down                       array over all nodes: NICs without a link
    jobs, has_job(job), job(job)     ids of the jobs that are not over; a job has id, serial, name, user, team,
                                     phase, owner, is_gang, is_service, is_suspended, has_checkpoints, priority,
                                     gpus, first_pod, pods, pods_bound, submitted_ns; its pods have consecutive ids
    waiting                          pending jobs, longest wait first, each with job, since_ns
    is_held(job)                     whether the job queue holds the job
    unplaced                         pods that found no node, each with pod, since_ns
    has_pod(pod), pod(pod)           only pods of jobs that are not over
    is_ready(pod), is_terminating(pod), unsaved_ns(pod)
    budgets(pod)                     ids of the disruption budgets that select the pod
    disruptions_allowed(budget)      evictions that the budget allows now
    node_of(pod), placed_since_ns(pod), pods_on(node), pods_of(job), count_pods(labels)
                                     where the pods with a node are
    lone_pods                        number of pods without a gang, of jobs that are not over
    lone_pods_with_siblings          number of these pods whose job has other pods, too
    nodes_not_ready                  number of nodes with a Node object that are not ready
    pools                            each with name, nodes, size, size_min, size_max, asked (nodes that are
                                     requested and not ready), unregistered (nodes without a Node object),
                                     backs_off_until_ns
    pool_of(node)                    the index of the node's pool; None if this pool is not scaled
    pool_state(node)                 foreign, absent, asked, joined or member

`actions` is valid during the tick. The actions are executed after the tick, in the order of these calls;
`why` is written to /events/actions:
    cordon(node, why), uncordon(node, why), taint(node, key, why, value="", effect="NoSchedule", is_there=True)
    evict(pod, why, retry_for_ns=0), drain(node, why, deadline_ns=None, force_after_ns=None,
          evict_for_ns=None)
    suspend(job, why), resume(job, why), resize(job, replicas, why)
    add_nodes(pool, nodes, why, pods=0, waited_mean_ns=0, waited_max_ns=0)
    remove_nodes(pool, nodes, why, lost_below=-2**31)
    wake_at(when_ns)                 the next tick is at that time, if that is before the end of the period
    idle_until(when_ns=None)         skips the periodic ticks before that time (None: all ticks), but only until
                                     a job begins to wait, a gang fails, or a node goes down or comes back

Every class has the argument `timeout` (default 1min; 0s: no limit). A call that takes more host time ends the
run.

score() and filter() return a value for each node: an array of len(nodes). Scores of nodes that are no
candidates are ignored; real scores are rounded to the nearest integer, halves to the even one. A policy must
not keep pods, gangs or cycles after the call in which it got them, nor views after the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

CPU, MEMORY, GPU, NIC, PODS = "cpu", "memory", "nvidia.com/gpu", "rdma/nic", "pods"
SECOND, MINUTE, HOUR, DAY = 10**9, 60 * 10**9, 3600 * 10**9, 86400 * 10**9

# The methods of each extension point, without the argument `self`. The comments say what the methods return.
POINTS: dict[str, tuple[str, ...]] = {
    "PreEnqueue": ("pre_enqueue(pod)",),  # None, or a Status that keeps the pod out of the queue
    "QueueSort": ("less(a, b)",),  # whether entry a precedes entry b
    "NextPod": ("next()",),  # the id of the next pod, or None
    "PreFilter": ("pre_filter(cycle, nodes)",),  # None, a Status, or the nodes that remain (bool)
    "Filter": ("filter(cycle, nodes)",),  # the allowed nodes (bool), or these and a reason
    "PostFilter": ("post_filter(cycle, diagnosis)",),  # a Status, or None for no change
    "PreScore": ("pre_score(cycle, nodes)",),  # None, or SKIP
    "Score": ("score(cycle, nodes)",),  # a number for each node, after normalize() 0 to 100
    "Domains": ("domains(cycle, gang)",),  # node ids, Leaf(i) or bool arrays, best first
    "ScorePlacement": ("score_placement(cycle, gang, nodes)",),  # 0 to 100; `nodes` are ids
    "PickDevices": ("pick(cycle, node)",),  # the numbers of the GPUs
    "Charges": ("charge(cycle)",),  # nanoseconds
    "Reserve": ("reserve(cycle, node)", "unreserve(pod, node)"),  # reserve: None or a Status; unreserve: None
    "Permit": ("permit(cycle, node)",),  # None, a Status or wait()
    "PreBind": ("pre_bind(pod, node)",),  # None or a Status
    "Bind": ("bind(pod, node)",),  # None, a Status or SKIP
    "PostBind": ("post_bind(pod, node)",),
    "EventHints": ("events()", "hint(pod, event)"),  # events: names of kinds; hint: whether to requeue the pod
    "QueueOrder": ("rank(job)",),  # a number; the job with the lowest number is first
    "Admit": ("admit(job)",),  # whether the job may start
    "Plan": ("plan(news)", "reserved_start(job)"),  # plan: None; reserved_start: nanoseconds or None
    "JobWatcher": ("job_waits(job)", "job_leaves(job)", "job_starts(job)", "job_end_moves(job)", "job_stops(job)",
                   "job_ends(job)", "job_cancelled(job)", "node_goes(node)", "node_comes(node)"),
    "Controller": ("tick(board, actions)",),  # None, after calls of `actions`
}
# Methods that a class may omit. To implement an extension point, it needs one of the point's other methods.
OPTIONAL = ("unreserve", "hint", "reserved_start")
BESIDE = (  # further methods of policies, beside those of the extension points
    "normalize(scores)",  # for Score; returns scores
    "rank_valid_for()",  # for QueueOrder; returns nanoseconds
    # For PostFilter; returns nanoseconds of scheduler time; `state` is the state of the cycle.
    "post_filter_charge(state)",
    # For policies of the job queue and for controllers; returns the warnings for the end of the run.
    "named_in_vain()",
)


class Duration:
    """The type of an argument that is a duration, such as 10min. Its value is in nanoseconds."""


@dataclass(frozen=True)
class Arg:
    """An argument of a policy: int, float, bool, str, Duration, or a list or dict[str, ...] of one of
    these."""

    type: Any
    default: Any = None
    minimum: Any = None
    maximum: Any = None
    choices: tuple[str, ...] = ()
    required: bool = False
    unit: str = ""
    doc: str = ""


@dataclass(frozen=True)
class Status:
    """The result of a point; codes are those of the Kubernetes scheduling framework."""

    code: str = "Success"
    reason: str = ""
    timeout_ns: int = field(default=0)


SUCCESS, SKIP = Status(), Status("Skip")


def reject(reason: str, *, unresolvable: bool = False) -> Status:
    """A Status that rejects the node or pod. `unresolvable` means that evicting pods would not help."""
    return Status("UnschedulableAndUnresolvable" if unresolvable else "Unschedulable", reason)


def wait(timeout_ns: int, reason: str = "") -> Status:
    """A Status of permit(): the pod waits for allow_waiting(), for at most `timeout_ns`."""
    return Status("Wait", reason, timeout_ns)


@dataclass(frozen=True)
class Leaf:
    """An item of what domains() returns: all nodes under one leaf switch."""

    index: int


class Policy:
    """Base of all policies; implements no point."""

    args: ClassVar[dict[str, Arg]] | SimpleNamespace = {}
    is_node_local: ClassVar[bool] = False
    """filter() and score() depend on each node and the pod's spec alone: answers are kept until the
    node changes."""
    is_by_extremes: ClassVar[bool] = False
    """normalize() computes each score from its old value and the minimum and maximum of all scores, and
    there is no pre_score(). normalize() may then get one score for all nodes with equal scores."""
    places_lone_pods: ClassVar[bool] = False
    """domains() is asked about pods without a gang, too."""
    plans_without_waiting: ClassVar[bool] = False
    """plan() is called while no job waits, too."""
    scales_pools: ClassVar[bool] = False
    """A controller that adds and removes nodes: it runs in place of the ClusterAutoscaler."""


def named_in_vain(argument: str, owner: str, names: Iterable[str], has: Callable[[str], bool]) -> list[str]:
    """A text for each name that no job had. `has` is board.has_user, has_team or has_application; it says
    whether any job had the name."""
    return [f"{argument} names {owner} '{name}', of which no job came"
            for name in sorted(names) if not has(name)]
