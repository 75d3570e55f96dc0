"""Built-in policies once more, in Python."""

import numpy as np

from orrery.policy import (CPU, GPU, HOUR, SECOND, SKIP, SUCCESS, Arg, Duration, Leaf, Policy, named_in_vain, reject,
                           wait)


class BestFit(Policy):
    """Prefers the node left with the least free CPU and GPU, as the built-in BestFit."""

    is_node_local = is_by_extremes = True

    def __init__(self):
        self.most = {r: float(max(1, self.nodes.allocatable[r].max())) for r in (CPU, GPU)}

    def score(self, cycle, nodes):
        asked = cycle.pod.requests
        stays = [(nodes.free(r) - asked[r]) / self.most[r] * 0.5 for r in (CPU, GPU)]
        return ((1 - (stays[0] + stays[1])) * 100).astype(np.int64)

    def normalize(self, scores):
        low, high = scores.min(), scores.max()
        return np.zeros_like(scores) if low == high else (scores - low) * 100 // (high - low)


class Sjf(Policy):
    """Puts the job with the shortest estimate first."""

    def rank(self, job):
        return job.estimate_ns


class Easy(Policy):
    """EASY backfilling in queue order, step by step as the built-in EASY."""

    def __init__(self):
        self.head, self.runs_longer = None, False

    def plan(self, news):
        board = self.board
        self.runs_longer |= news.has_longer
        if not news.has_room and not any(j.state == "waiting" and board.fits(j) for j in news.arrived):
            return
        head = board.head()
        must_try_all = news.has_room or self.runs_longer or head != self.head
        self.runs_longer = False
        while head is not None and board.fits(head):
            board.start(head)
            head = board.head()
            must_try_all = True
        self.head = head
        if head is None or len(board.waiting) == 1:
            return
        limits = self.reserve(head)
        if not must_try_all:
            for job in news.arrived:
                self.try_to_start(job, limits)
            return
        key = None
        while (job := board.waiting.find_after(key, **limits)) is not None:
            key = board.waiting.key(job)
            self.try_to_start(job, limits)

    def reserve(self, head):
        running, free, now = self.board.running, self.board.free, self.board.now_ns
        job, _ = running.reach(head.count - free)
        if job is None:
            return {"free": free, "window_ns": 2**63 - 1, "extra": free}
        shadow = max(now, job.expected_end_ns)
        return {"free": free, "window_ns": shadow - now,
                "extra": free + running.sum_through(shadow) - head.count}

    def try_to_start(self, job, limits):
        if job == self.head or job.state != "waiting" or not self.board.fits(job):
            return
        is_short = job.left_ns <= limits["window_ns"]
        if not is_short and job.count > limits["extra"]:
            return
        if not self.board.start(job):
            return
        limits["free"] -= job.count
        if not is_short:
            limits["extra"] -= job.count

    def reserved_start(self, job):
        if job != self.board.waiting.first():
            return None
        window = self.reserve(job)["window_ns"]
        return None if window == 2**63 - 1 else self.board.now_ns + window


class PrioritySort(Policy):
    """As the built-in PrioritySort."""

    def less(self, a, b):
        return (-a.priority, a.queued_ns) < (-b.priority, b.queued_ns)


class Everything(Policy):
    """Implements each extension point for single pods except QueueSort, NextPod and PickDevices. It changes
    nothing. Once eleven extension points have been called, it ends the run with an error that names them."""

    def __init__(self):
        self.asked = set()

    def see(self, point, pod, node=0):
        self.asked.add(point)
        assert pod.requests[GPU] == 1000 * pod.gpus and pod.created_ns >= 0 and pod.labels == {}
        assert self.handle.pod(pod.id).job == pod.job and self.nodes.name(node)

    def pre_enqueue(self, pod):
        self.see("PreEnqueue", pod)

    def pre_filter(self, cycle, nodes):
        cycle.state["pod"] = cycle.pod.id
        self.see("PreFilter", cycle.pod)
        return np.ones(len(nodes), dtype=bool)

    def filter(self, cycle, nodes):
        self.see("Filter", cycle.pod)
        assert cycle.state["pod"] == cycle.pod.id and 0 <= cycle.uniform("mine") <= 1
        stays = np.zeros(len(nodes), dtype=bool)
        stays[nodes.candidates] = True
        return stays, "never said"

    def post_filter(self, cycle, diagnosis):
        self.see("PostFilter", cycle.pod)
        assert sum(nodes for _, nodes, _ in diagnosis.rejections) == len(self.nodes)

    def pre_score(self, cycle, nodes):
        self.see("PreScore", cycle.pod)
        return SKIP

    def score(self, cycle, nodes):
        raise AssertionError("its PreScore says Skip")

    def charge(self, cycle):
        self.see("Charges", cycle.pod)
        return 0

    def reserve(self, cycle, node):
        self.see("Reserve", cycle.pod, node)
        assert self.handle.node_of(cycle.pod.id) in (None, node)

    def unreserve(self, pod, node):
        self.see("Unreserve", pod, node)

    def permit(self, cycle, node):
        self.see("Permit", cycle.pod, node)
        return SUCCESS

    def pre_bind(self, pod, node):
        self.see("PreBind", pod, node)

    def bind(self, pod, node):
        self.see("Bind", pod, node)
        return SKIP

    def post_bind(self, pod, node):
        self.see("PostBind", pod, node)
        assert pod.id in self.handle.pods_on(node)
        if len(self.asked) == 11 and not self.nodes.cordoned.any() and self.nodes.up.all():
            raise RuntimeError("all points were asked: " + ", ".join(sorted(self.asked)))

    def events(self):
        return ["AssignedPodDeleted", "NodeAdded"]

    def hint(self, pod, event):
        return True


class Gangs(Policy):
    """Tries each leaf switch in the order of numbers, then all nodes. Placements on fewer nodes are
    better."""

    def domains(self, cycle, gang):
        assert gang.missing() <= gang.pods and gang.first_pod is not None
        leaves = [Leaf(int(i)) for i in np.unique(self.nodes.leaf)]
        return [*leaves, np.ones(len(self.nodes), dtype=bool)]

    def score_placement(self, cycle, gang, nodes):
        return max(0, 100 - len(set(nodes.tolist())))


class Waits(Policy):
    """Holds each pod in Permit until the next pod comes."""

    def __init__(self):
        self.held = None

    def permit(self, cycle, node):
        if self.held is not None:
            self.handle.allow_waiting(self.held)
        self.held = cycle.pod.id
        return wait(60 * SECOND, "holds one pod")


class LowestGpus(Policy):
    """Picks the free GPUs with the lowest numbers."""

    def pick(self, cycle, node):
        left = self.nodes.gpu_left_milli(node)
        return [i for i, milli in enumerate(left) if milli >= cycle.pod.gpu_milli][: cycle.pod.gpus]


class Preemption(Policy):
    """Preempts for single pods, step by step as the built-in DefaultPreemption."""

    def post_filter(self, cycle, diagnosis):
        handle, pod = self.handle, cycle.pod
        cycle.state["charge_ns"] = 0
        if not handle.is_above_any(pod.priority):
            return self.give_up(pod)
        if diagnosis.pre_filter_reason:
            return self.give_up(pod)
        helpful = self.nodes.up & ~diagnosis.unresolvable
        nominated = handle.nominated_node(pod.id)
        if nominated is not None and helpful[nominated] and any(p.is_leaving for p in self.lower(pod, nominated)):
            return reject("waits")
        nodes = np.flatnonzero(helpful).tolist()
        if nodes:
            first = cycle.below("scheduling.preemption", len(nodes))
            nodes = nodes[first:] + nodes[:first]
        cycle.state["charge_ns"] += 1040 * len(nodes)
        found = self.candidates(cycle, nodes)
        if not found:
            return self.give_up(pod)
        node, victims = min(found, key=lambda candidate: self.cost(candidate[1]))
        for other in handle.nominated_on(node):
            if handle.pod(other).priority < pod.priority:
                handle.withdraw(other)
        handle.nominate(pod.id, node, is_tried_first=True)
        handle.evict(pod.id, [victim.id for victim in victims], waits=False)
        return SUCCESS

    def post_filter_charge(self, state):
        return state.get("charge_ns", 0)

    def give_up(self, pod):
        self.handle.withdraw(pod.id)
        return reject("no room")

    def lower(self, pod, node):
        return [placed for placed in self.handle.placed_on(node) if placed.priority < pod.priority]

    def candidates(self, cycle, nodes):
        wanted = min(len(nodes), max(len(nodes) // 10, 100))
        found = []
        with self.handle.what_if(cycle) as trial:
            assert trial.is_node_local
            for node in nodes:
                lower = self.lower(cycle.pod, node)
                if lower and len(found) < wanted:
                    cycle.state["charge_ns"] += 430 * len(lower)
                    found.append((node, self.victims(trial, node, lower)))
        return [(node, victims) for node, victims in found if victims]

    def victims(self, trial, node, lower):
        for placed in lower:
            trial.evict(placed.id)
        victims = []
        if trial.feasible([node])[node]:
            for placed in lower:
                trial.restore(placed.id)
                if not trial.feasible(np.arange(len(self.nodes)) == node)[node]:
                    trial.evict(placed.id)
                    victims.append(placed)
            lower = victims
        for placed in lower:
            trial.restore(placed.id)
        return victims

    def cost(self, victims):
        highest = victims[0].priority
        return (highest, sum(v.priority + 2**31 for v in victims), len(victims),
                -min(v.since_ns for v in victims if v.priority == highest))


class GangPreemption(Policy):
    """Evicts pods of lower priority, one after the other, until the gang fits."""

    def post_filter(self, cycle, diagnosis):
        lower = [placed.id for node in range(len(self.nodes)) for placed in self.handle.placed_on(node)
                 if placed.priority < cycle.pod.priority]
        with self.handle.gang_what_if(cycle) as trial:
            for victims, pod in enumerate(lower):
                trial.evict(pod)
                if trial.fits():
                    assert len(trial.placed) == self.handle.gang(cycle.pod.gang).pods and trial.spent_ns > 0
                    for member, node in trial.placed:
                        self.handle.nominate(member, node)
                    self.handle.evict(cycle.pod.id, lower[:victims + 1])
                    return SUCCESS
        return reject("no room")


class ShortestThatFits(Policy):
    """Starts every job that fits, the shortest estimate first. Its own tree keeps the jobs in this order."""

    def __init__(self):
        self.shortest = self.board.tree()

    def job_waits(self, job):
        self.shortest.insert(job, job.estimate_ns)

    def job_leaves(self, job):
        self.shortest.erase(job)

    def plan(self, news):
        key = None
        while (job := self.shortest.find_after(key, free=self.board.free)) is not None:
            key = self.shortest.key(job)
            if self.board.fits(job):
                self.board.start(job)


class CountsPods(Policy):
    """Checks count_pods(): by node against the labels of the pods there, and by leaf switch against the sum
    over its nodes."""

    def score(self, cycle, nodes):
        labels = cycle.pod.labels
        counted = self.handle.count_pods(labels)
        pods = [[self.handle.pod(pod).labels for pod in self.handle.pods_on(node)] for node in range(len(nodes))]
        assert counted.tolist() == [sum(labels.items() <= pod.items() for pod in there) for there in pods]
        by_leaf = self.handle.count_pods(labels, by_leaf=True)
        assert by_leaf.tolist() == np.bincount(nodes.leaf, weights=counted).tolist()
        assert labels and self.handle.count_pods(labels, team="nobody").sum() == 0
        return np.zeros(len(nodes))


class OnTheLast(Policy):
    """Starts each job on the last node, and reports nodes that go down and come back."""

    args = {"users": Arg(list[str], default=[])}

    def __init__(self):
        self.seen = []

    def plan(self, news):
        assert self.board.chooses_nodes and self.board.seed == 4
        for job in self.board.waiting:
            if self.board.fits(job) and self.board.setup_ns(job) == 0:
                self.board.start(job, nodes=[len(self.nodes) - 1])

    def node_goes(self, node):
        self.seen.append(f"{self.nodes.name(node)} went")

    def node_comes(self, node):
        self.seen.append(f"{self.nodes.name(node)} came")

    def named_in_vain(self):
        return self.seen + named_in_vain("users", "user", self.args.users, self.board.has_user)


class AvoidBrokenLinks(Policy):
    """As the built-in AvoidBrokenLinks."""

    args = {"cordon_for": Arg(Duration, default=HOUR, minimum=SECOND, maximum=240 * HOUR),
            "nodes_max": Arg(int, default=0, minimum=0, maximum=1_000_000, unit="nodes")}

    def __init__(self):
        self.out_until = {}

    def tick(self, board, actions):
        for failure in board.gang_failures:
            for node in failure.nodes.tolist():
                self.cordon(board, actions, node, failure.serial)
        for node, until in sorted(self.out_until.items()):
            if until > board.now_ns:
                continue
            if board.ports_down[node] > 0:
                self.out_until[node] = board.now_ns + self.args.cordon_for
            else:
                actions.uncordon(node, "all ports are up")
                del self.out_until[node]
        for until in self.out_until.values():
            actions.wake_at(until)
        actions.idle_until()

    def cordon(self, board, actions, node, job):
        ports = board.ports_down[node]
        if ports == 0 or self.nodes.cordoned[node] or node in self.out_until:
            return
        if 0 < self.args.nodes_max <= len(self.out_until):
            return
        self.out_until[node] = board.now_ns + self.args.cordon_for
        actions.cordon(node, f"{ports} ports down under job {job}, which failed")


class LooksAround(Policy):
    """A controller that checks all that the board shows, and calls each action except add_nodes() and
    remove_nodes()."""

    args = {"until": Arg(Duration, default=3 * HOUR)}

    def __init__(self):
        self.seen, self.last, self.names = set(), None, []
        assert self.board.now_ns == 0 and self.board.jobs == [] and len(self.nodes) == 4

    def named_in_vain(self):
        return ["saw " + " ".join(sorted(self.seen)), "has " + " ".join(self.names)]

    def tick(self, board, actions):
        self.names = [name for name in dir(actions) if not name.startswith("_")]
        self.see_nodes(board)
        self.see_jobs(board)
        for job in board.jobs:
            if board.job(job).is_suspended:
                self.seen.add("suspended")
                actions.resume(job, why="seven")
        if self.last is None:
            self.act(board, actions)
            actions.wake_at(board.now_ns + SECOND)
        elif "woken" not in self.seen:
            assert board.now_ns == self.last + SECOND
            self.seen.add("woken")
        self.last = board.now_ns

    def see_nodes(self, board):
        for change in board.node_changes:
            assert self.last is None or self.last < change.at_ns <= board.now_ns
            self.seen.add("node up" if change.is_up else "node down")
        for mask in (board.ready, board.broken, board.draining):
            assert mask.dtype == bool and mask.shape == (len(self.nodes),)
        assert not board.ports_down.any() and board.pool_state(0) == "foreign" and board.pool_of(0) is None
        assert board.pools == [] and (board.ready == self.nodes.up).all()
        self.seen |= {"broken"} if board.broken.any() else set()
        for failure in board.gang_failures:
            assert failure.nodes.tolist() == sorted(failure.nodes) and failure.at_ns <= board.now_ns
            self.seen.add("gang failure")

    def see_jobs(self, board):
        held = [pod for node in range(len(self.nodes)) for pod in board.pods_on(node)]
        for number in board.jobs:
            job = board.job(number)
            pods = range(job.first_pod, job.first_pod + job.pods)
            placed = [pod for pod in pods if board.node_of(pod) is not None]
            assert board.has_job(number) and job.id == number and board.pods_of(number) == placed
            assert job.owner in ("job", "replica_set") and job.is_service == (job.owner == "replica_set")
            assert set(placed) <= set(held) and job.submitted_ns <= board.now_ns
            for pod in pods:
                assert board.has_pod(pod) and board.pod(pod).job == number
                assert (board.placed_since_ns(pod) is None) == (pod not in placed)
                assert board.unsaved_ns(pod) >= 0 and not (board.is_ready(pod) and pod not in placed)
                allowed = [board.disruptions_allowed(budget) for budget in board.budgets(pod)]
                self.seen |= {f"budget of {allowed}"} | (
                    {"terminating"} if board.is_terminating(pod) else set())
            self.seen |= {job.phase, job.user, job.team}
        assert not board.has_job(10**6) and not board.has_pod(10**6)
        for waiting in board.waiting:
            assert board.job(waiting.job).phase == "pending" and waiting.since_ns <= board.now_ns
        assert all(board.node_of(u.pod) is None and u.since_ns <= board.now_ns for u in board.unplaced)
        lone = [job for job in map(board.job, board.jobs) if not job.is_gang]
        assert board.lone_pods == sum(job.pods for job in lone)
        assert board.lone_pods_with_siblings == sum(job.pods for job in lone if job.pods > 1)
        assert board.count_pods({"app": "web"}).sum() <= len(held) and 0 <= board.rng("mine").uniform() < 1

    def act(self, board, actions):
        web = next(board.job(job) for job in board.jobs if board.job(job).is_service)
        gang = next(board.job(job) for job in board.jobs if board.job(job).is_gang)
        free = int(np.flatnonzero(self.nodes.free(GPU) == self.nodes.allocatable[GPU])[0])
        actions.cordon(free, "one")
        actions.uncordon(free, "two")
        actions.taint(free, "mine", "three", value="v", effect="NoExecute")
        actions.taint(free, "mine", "three again", value="v", effect="NoExecute", is_there=False)
        actions.evict(web.first_pod, "four", retry_for_ns=5 * SECOND)
        actions.drain(np.int64(free), "five", deadline_ns=HOUR, force_after_ns=HOUR // 2)
        actions.suspend(gang.id, "six")
        actions.resize(web.id, 1, "eight")
        actions.suspend(10**6, "of a job that is not there")
        actions.idle_until(board.now_ns + HOUR)


class FindsUndocumented(Policy):
    """Warns of attributes of views that the text of orrery.policy does not name."""

    def admit(self, job):
        return True

    def named_in_vain(self):
        import inspect
        import re

        import orrery.policy
        import orrery_views

        known = set(re.findall(r"\w+", orrery.policy.__doc__))
        return [f"{name} has {attribute}" for name, view in inspect.getmembers(orrery_views, inspect.isclass)
                for attribute in dir(view)
                if not name.startswith("_") and not attribute.startswith("_") and attribute not in known]
