"""Policies that break their contract, each in one way; and Declared, for mistakes in arguments."""

import numpy as np

from orrery.policy import GPU, Arg, Duration, Policy, Status


class Raises(Policy):
    def score(self, cycle, nodes):
        return self.helper(nodes)

    def helper(self, nodes):
        raise KeyError("no such rack")


class Hangs(Policy):
    def score(self, cycle, nodes):
        while True:
            pass


class HangsInPlan(Policy):
    def plan(self, news):
        while self.board.waiting.first() is not None:
            pass


class HangsWhileMade(Policy):
    def __init__(self):
        while True:
            pass

    def score(self, cycle, nodes):
        return np.zeros(len(nodes))


class HangsInC(Policy):
    def score(self, cycle, nodes):
        return sum(range(10**14))


class TooShort(Policy):
    def score(self, cycle, nodes):
        return np.zeros(3)


class NotANumber(Policy):
    def score(self, cycle, nodes):
        return np.full(len(nodes), np.nan)


class TooHigh(Policy):
    def score(self, cycle, nodes):
        return np.full(len(nodes), 130)


class NormalizesTooHigh(Policy):
    def score(self, cycle, nodes):
        return np.full(len(nodes), 130)

    def normalize(self, scores):
        return scores


class Texts(Policy):
    def score(self, cycle, nodes):
        return np.array(["a"] * len(nodes))


class Nothing(Policy):
    def score(self, cycle, nodes):
        pass


class FiltersByNumber(Policy):
    def filter(self, cycle, nodes):
        return nodes.free(GPU)


class FiltersTooFew(Policy):
    def filter(self, cycle, nodes):
        return np.ones(1, dtype=bool)


class RejectsAll(Policy):
    def filter(self, cycle, nodes):
        return np.zeros(len(nodes), dtype=bool)


class WritesViews(Policy):
    def score(self, cycle, nodes):
        nodes.requested[GPU][0] = 0
        return np.zeros(len(nodes))


class KeepsCycles(Policy):
    kept = None

    def score(self, cycle, nodes):
        if self.kept is not None:
            self.kept.now_ns
        self.kept = cycle
        return np.zeros(len(nodes))


class UnknownNode(Policy):
    def score(self, cycle, nodes):
        nodes.name(999)
        return np.zeros(len(nodes))


class PicksNone(Policy):
    def pick(self, cycle, node):
        return [99]


class AnswersOdd(Policy):
    def permit(self, cycle, node):
        return "yes"


class AnswersUnknownCode(Policy):
    def permit(self, cycle, node):
        return Status("Perhaps")


class NamesNoEvent(Policy):
    def events(self):
        return ["NodeVanished"]


class NeverMade(Policy):
    def __init__(self):
        raise RuntimeError("no licence")

    def score(self, cycle, nodes):
        return np.zeros(len(nodes))


class KeepsWhatIfs(Policy):
    kept = None

    def post_filter(self, cycle, diagnosis):
        if self.kept is not None:
            self.kept.feasible([0])
        self.kept = self.handle.what_if(cycle)


class MixesWhatIfs(Policy):
    def post_filter(self, cycle, diagnosis):
        with self.handle.what_if(cycle):
            self.handle.what_if(cycle)


class AsksWhatIfTooEarly(Policy):
    def filter(self, cycle, nodes):
        self.handle.what_if(cycle)


class EvictsThin(Policy):
    def post_filter(self, cycle, diagnosis):
        with self.handle.what_if(cycle) as trial:
            trial.evict(cycle.pod.id)


class RestoresThin(Policy):
    def post_filter(self, cycle, diagnosis):
        with self.handle.what_if(cycle) as trial:
            trial.restore(self.handle.placed_on(0)[0].id)


class KeepsTheDead(Policy):
    def __init__(self):
        self.tree = self.board.tree()

    def job_starts(self, job):
        self.tree.insert(job, 0)
        list(self.tree)


class InsertsTwice(Policy):
    def __init__(self):
        self.tree = self.board.tree()

    def job_waits(self, job):
        self.tree.insert(job, 0)
        self.tree.insert(job, 1)


class ChangesTheQueue(Policy):
    def plan(self, news):
        self.board.waiting.erase(self.board.head())


class StartsOnNowhere(Policy):
    def plan(self, news):
        self.board.start(self.board.head(), nodes=[999])


class StartsTwice(Policy):
    def plan(self, news):
        head = self.board.head()
        self.board.start(head)
        self.board.start(head)


class StartsTooMuch(Policy):
    def plan(self, news):
        for job in self.board.waiting:
            self.board.start(job)


class StartsNobody(Policy):
    def plan(self, news):
        self.board.start(None)


class WakesTooEarly(Policy):
    def plan(self, news):
        self.board.wake_at(-1)


class RanksByText(Policy):
    def rank(self, job):
        return "first"


class RanksTooFar(Policy):
    def rank(self, job):
        return 2**70


class AdmitsPerhaps(Policy):
    def admit(self, job):
        return "perhaps"


class AsksTheDead(Policy):
    def __init__(self):
        self.seen = []

    def job_starts(self, job):
        self.seen.append(job)

    def job_ends(self, job):
        self.ended = getattr(self, "ended", 0) + 1
        if self.ended > 5:
            [seen.count for seen in self.seen]


class Misspelt(Policy):
    def scor(self, cycle, nodes):
        return np.zeros(len(nodes))


class Declared(Policy):
    """Has an argument of each type."""

    args = {
        "weight": Arg(int, default=1, minimum=0, maximum=9, unit="points", doc="How much."),
        "share": Arg(float, default=0.5, minimum=0.0),
        "kind": Arg(str, default="near", choices=("near", "far")),
        "patience": Arg(Duration, default=60 * 10**9, doc="How long."),
        "racks": Arg(list[int], default=[]),
        "limits": Arg(dict[str, int], default={}),
        "is_on": Arg(bool, default=True),
    }

    def score(self, cycle, nodes):
        assert (self.args.weight, self.args.racks, self.args.limits) == (3, [1, 2], {"a": 5})
        assert (self.args.patience, self.args.is_on) == (90 * 10**9, False)
        return np.zeros(len(nodes))


class RaisesInTick(Policy):
    def tick(self, board, actions):
        self.look(board.node_changes)

    def look(self, changes):
        raise KeyError("no such rack")


class HangsInTick(Policy):
    def tick(self, board, actions):
        while board.now_ns > 0:
            pass


class CordonsUnknown(Policy):
    def tick(self, board, actions):
        actions.cordon(999, "it looks bad")


class UncordonsBelow(Policy):
    def tick(self, board, actions):
        actions.uncordon(-1, "the last one")


class DrainsHalf(Policy):
    def tick(self, board, actions):
        actions.drain(0.5, "half of it")


class DrainsBackwards(Policy):
    def tick(self, board, actions):
        actions.drain(0, "yesterday", deadline_ns=-5)


class EvictsBackwards(Policy):
    def tick(self, board, actions):
        actions.evict(0, "yesterday", retry_for_ns=-1)


class EvictsNoPod(Policy):
    def tick(self, board, actions):
        actions.evict(-3, "whoever")


class SuspendsNoJob(Policy):
    def tick(self, board, actions):
        actions.suspend(2**40, "whoever")


class ResizesToNothing(Policy):
    def tick(self, board, actions):
        actions.resize(0, 0, "nobody needs it")


class TaintsOddly(Policy):
    def tick(self, board, actions):
        actions.taint(0, "mine", "a new kind", effect="NoRun")


class TaintsWithoutKey(Policy):
    def tick(self, board, actions):
        actions.taint(0, "", "it has no key")


class AddsToNoPool(Policy):
    def tick(self, board, actions):
        actions.add_nodes(99, [0], "more")


class RemovesUnknown(Policy):
    def tick(self, board, actions):
        actions.remove_nodes(0, [0, 999], "less")


class ActsWithoutWhy(Policy):
    def tick(self, board, actions):
        actions.cordon(0)


class WakesBefore(Policy):
    def tick(self, board, actions):
        actions.wake_at(board.now_ns - 1)


class AsksForNoJob(Policy):
    def tick(self, board, actions):
        board.job(10**6)


class AsksForNoPod(Policy):
    def tick(self, board, actions):
        board.is_ready(-1)


class KeepsActions(Policy):
    def __init__(self):
        self.kept = None

    def tick(self, board, actions):
        if self.kept is None:
            self.kept = actions
        self.kept.cordon(0, "too late")


class ScoresNoGpu(Policy):
    def score(self, cycle, nodes):
        return nodes.free("gpu")


class CallsOdd(Policy):
    def tick(self, board, actions):
        actions.cordn(0, "misspelt")


class TakesTooLittle(Policy):
    def score(self, nodes):
        return np.zeros(len(nodes))


class AsksForArguments(Policy):
    def __init__(self, limit):
        self.limit = limit

    def admit(self, job):
        return True
