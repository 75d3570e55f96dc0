"""Built-in policies once more, in Python."""

import numpy as np

from orrery.policy import CPU, GPU, SECOND, SKIP, SUCCESS, Leaf, Policy, wait


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
