"""Built-in policies once more, in Python."""

import numpy as np

from orrery.policy import CPU, GPU, SECOND, SKIP, SUCCESS, Arg, Leaf, Policy, named_in_vain, reject, wait


class BestFit(Policy):
    """The node left with the least free CPU and GPU, as the built-in BestFit."""

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
    """The job with the shortest estimate first."""

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
    """Serves all other points of single pods, and changes nothing."""

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
    """Tries whole leaf switches, the first ones first, then all nodes; fuller placements are better."""

    def domains(self, cycle, gang):
        assert gang.missing() <= gang.pods and gang.first_pod is not None
        leaves = [Leaf(int(i)) for i in np.unique(self.nodes.leaf)]
        return [*leaves, np.ones(len(self.nodes), dtype=bool)]

    def score_placement(self, cycle, gang, nodes):
        return max(0, 100 - len(set(nodes.tolist())))


class Waits(Policy):
    """Holds each pod in Permit until the next one comes."""

    def __init__(self):
        self.held = None

    def permit(self, cycle, node):
        if self.held is not None:
            self.handle.allow_waiting(self.held)
        self.held = cycle.pod.id
        return wait(60 * SECOND, "holds one pod")


class LowestGpus(Policy):
    """The free GPUs with the lowest numbers."""

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
    """In the order of estimates, in a tree of its own, whatever fits."""

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
    """Counts pods by their labels in both ways."""

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
    """Starts each job on the last node, and sees nodes go and come."""

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
