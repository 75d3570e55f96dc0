"""The policy of orrery.gym: a plan of the job queue that asks another process.

Of the first `slots` waiting jobs, the other process picks the one that starts next, or none. After each
start, the plan asks again if one of the first `slots` jobs fits. Each question is a HEADER, the observation
as float32, and a byte for each action that says whether the action is allowed. The answer is an ACTION: the
index of the action.
"""

from __future__ import annotations

import os
import struct

import numpy as np

from orrery.policy import HOUR, Arg, Policy

CLUSTER_FEATURES = ("free", "waiting", "running")
JOB_FEATURES = ("is_there", "fits", "count", "estimate", "waited")
HEADER = struct.Struct("<qd")  # simulated time in ns, and the job-hours of waiting since the last question
ACTION = struct.Struct("<i")


def observation_size(slots: int) -> int:
    return len(CLUSTER_FEATURES) + slots * len(JOB_FEATURES)


class Agent(Policy):
    """A plan that asks another process which job starts next."""

    args = {
        "slots": Arg(int, default=16, minimum=1, maximum=4096, doc="Jobs at the front of the queue."),
        "read": Arg(int, required=True, minimum=0, doc="File descriptor of answers."),
        "write": Arg(int, required=True, minimum=0, doc="File descriptor of questions."),
    }

    def __init__(self):
        self.slots = self.args.slots
        self.size = observation_size(self.slots)
        self.job_hours, self.seen_ns, self.waiting = 0.0, 0, 0

    def job_waits(self, job):
        self.count(1)

    def job_leaves(self, job):
        self.count(-1)

    def count(self, by):
        now = self.board.now_ns
        self.job_hours += self.waiting * (now - self.seen_ns) / HOUR
        self.seen_ns, self.waiting = now, self.waiting + by

    def plan(self, news):
        while True:
            jobs = self.front()
            fits = [self.board.fits(job) for job in jobs]
            if not any(fits):
                return
            action = self.ask(jobs, fits)
            if not (0 <= action < len(jobs) and fits[action]):
                return
            self.board.start(jobs[action])

    def front(self):
        jobs, tree = [], self.board.waiting
        job = self.board.head()
        while job is not None and len(jobs) < self.slots:
            jobs.append(job)
            job = tree.next(job)
        return jobs

    def ask(self, jobs, fits):
        self.count(0)
        board = self.board
        seen = np.zeros(self.size, dtype=np.float32)
        capacity = max(1, board.capacity)
        seen[:3] = max(0, board.free) / capacity, self.waiting, len(board.running)
        for slot, job in enumerate(jobs):
            at = 3 + slot * len(JOB_FEATURES)
            seen[at:at + 5] = (1, fits[slot], job.count / capacity, job.estimate_ns / HOUR,
                               (board.now_ns - job.queued_ns) / HOUR)
        # Action number `slots`, which starts no job, is always allowed.
        mask = bytes(fits) + bytes(self.slots - len(fits)) + b"\1"
        os.write(self.args.write, HEADER.pack(board.now_ns, self.job_hours) + seen.tobytes() + mask)
        self.job_hours = 0.0
        answer = os.read(self.args.read, ACTION.size)
        if len(answer) < ACTION.size:
            raise RuntimeError("the learner has gone away")
        return ACTION.unpack(answer)[0]
