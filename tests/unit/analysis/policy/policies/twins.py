"""Built-in policies once more, in Python."""

import numpy as np

from orrery.policy import CPU, GPU, Arg, Policy


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
