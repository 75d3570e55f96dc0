"""Policies in Python decide like the built-in policies that they copy. Mistakes are reported with positions."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import h5py
import pytest

HERE = Path(__file__).parent / "policies"
KTH = Path(__file__).resolve().parents[4] / "../shared/traces/swf/KTH-SP2-1996-2_28481.swf.gz"
SCENARIO = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 16}]}
workload:
  sources:
    - kind: generator
      arrival_rate: 40
      gpus_per_pod_max: 8
      cpus_per_gpu: 8
      shape:
        kind: classes
        classes:
          - {weight: 9, gpus: {kind: discrete, values: [1, 2, 4], weights: [5, 3, 1]},
             duration: {kind: lognormal, median: 50min, sigma: 1, max: 6h}}
          - {weight: 1, gpus: {kind: fixed, value: 16},
             duration: {kind: lognormal, median: 50min, sigma: 1, max: 6h}}
run: {seed: 4, until: 2d}
"""
SPREADING = "policy.disable=[NodeResourcesBalancedAllocation]"


@pytest.fixture
def orrery(program, tmp_path):
    library = "liborrery_python.so"  # the program looks for a library of this name
    if not (Path(program).parent / library).exists():
        pytest.skip("built without policies in Python")

    def run(*arguments: str):
        return subprocess.run([program, *arguments, "--plugin", library], cwd=tmp_path, timeout=120,
                              capture_output=True, text=True, check=False)

    return run


def plugin(name: str, cls: str = "", more: str = "") -> str:
    args = f", args: {{file: {HERE / name}, class: {cls}{more}}}" if cls else ""
    return f"{{name: {'Python' if cls else name}, weight: 10{args}}}"


def job_policy(cls: str, file: str = "twins.py", more: str = "") -> str:
    return f"{{name: Python, args: {{file: {HERE / file}, class: {cls}{more}}}}}"


def with_plugin(one: str) -> list[str]:
    return ["--set", f"policy.plugins=[{{name: NodeResourcesFit, scores: false}}, {one}]", "--set", SPREADING]


def with_jobs(*policies: str) -> list[str]:
    return ["--set", f"policy.job_queue={{policies: [{', '.join(policies)}]}}"]


def with_controllers(*policies: str) -> list[str]:
    return ["--set", f"policy.controllers=[{', '.join(policies)}]"]


def tables(path: Path) -> dict[str, bytes]:
    """The bytes of every table except /profile, which has host times, and the digest of all events."""
    found: dict[str, bytes] = {}

    def visit(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.names and name != "profile":
            found[name] = item[:].tobytes()

    with h5py.File(path) as file:
        file.visititems(visit)
        found["digest"] = file.attrs["digest"]
    assert found["jobs"] and found["pods"] is not None
    return found


def outcome(orrery, tmp_path, name: str, *arguments: str) -> dict[str, bytes]:
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done = orrery("run", "s.yaml", "-q", "-o", f"{name}.h5", *arguments)
    assert done.returncode == 0, done.stderr
    return tables(tmp_path / f"{name}.h5")


@pytest.mark.parametrize(("ours", "theirs"), [
    (with_plugin(plugin("BestFit")), with_plugin(plugin("twins.py", "BestFit"))),
    (with_jobs("{name: SJF}"), with_jobs(job_policy("Sjf"))),
    (with_jobs("{name: EASY}"), with_jobs(job_policy("Easy"))),
    (with_jobs("{name: SJF}", "{name: EASY}"), with_jobs(job_policy("Sjf"), job_policy("Easy"))),
    (with_jobs("{name: SJF}", "{name: Skip}"), with_jobs(job_policy("Sjf"), job_policy("ShortestThatFits"))),
], ids=["BestFit", "SJF", "EASY", "SJF with EASY", "a tree of its own"])
def test_a_twin_in_python_gives_the_same_bytes(orrery, tmp_path, ours, theirs):
    assert outcome(orrery, tmp_path, "a", *ours) == outcome(orrery, tmp_path, "b", *theirs)


PREEMPTING = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4, nodes_per_leaf: 2}]}
workload:
  sources:
    - kind: jobs
      jobs:
        - {name: low, kind: KIND, count: 24, every: 1min, work: 40min, pods: 2, priority: 0, pod: {gpus: 2, labels: {app: a}}}
        - {name: mid, kind: KIND, submit: 9min, count: 9, every: 7min, work: 25min, pods: 1, priority: 5, pod: {gpus: 4, labels: {app: b}}}
        - {name: high, kind: KIND, submit: 15min, count: 6, every: 9min, work: 15min, pods: 2, priority: 9, pod: {gpus: 8, labels: {app: a}}}
run: {seed: 4, until: 8h}
"""


def preempting(orrery, tmp_path, kind: str, *arguments: str) -> dict[str, bytes]:
    (tmp_path / "s.yaml").write_text(PREEMPTING.replace("KIND", kind))
    done = orrery("run", "s.yaml", "-q", "-o", "out.h5", *arguments)
    assert done.returncode == 0, done.stderr
    return tables(tmp_path / "out.h5")


def test_preemption_in_python_gives_the_same_bytes(orrery, tmp_path):
    ours = preempting(orrery, tmp_path, "pods")
    twin = plugin("twins.py", "Preemption").replace("weight: 10, ", "")
    theirs = preempting(orrery, tmp_path, "pods", "--set", "policy.disable=[DefaultPreemption]",
                        "--set", f"policy.plugins=[{twin}]")
    assert ours["jobs"] == theirs["jobs"]
    assert ours["pods"] == theirs["pods"]
    none = preempting(orrery, tmp_path, "pods", "--set", "policy.disable=[DefaultPreemption]")
    assert ours["jobs"] != none["jobs"]


def test_preemption_of_gangs_in_python_gives_gangs_of_high_priority_their_nodes(orrery, tmp_path):
    def waits(*arguments: str):
        preempting(orrery, tmp_path, "mpi_gang", "--set", "policy.base=strict_gang", *arguments)
        with h5py.File(tmp_path / "out.h5") as file:
            jobs = file["jobs"][:]
        return jobs["wait"][jobs["priority"] == 9].max()

    twin = plugin("twins.py", "GangPreemption").replace("weight: 10, ", "")
    assert waits("--set", f"policy.plugins=[{twin}]") < waits() / 4


def test_pods_are_counted_by_labels_in_the_ledger(orrery, tmp_path):
    preempting(orrery, tmp_path, "pods", "--set", f"policy.plugins=[{plugin('twins.py', 'CountsPods')}]")


def test_a_policy_records_as_its_class(orrery, tmp_path):
    class_of = plugin("wrong.py", "RejectsAll").replace("weight: 10, ", "")
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done = orrery("run", "s.yaml", "-q", "-o", "out.h5", "--until", "1h", "--set", f"policy.plugins=[{class_of}]",
                  "--set", "record.attempts=true")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "out.h5") as file:
        rejections = file["events/rejections"]
        named = h5py.check_enum_dtype(rejections.dtype["plugin"])
        plugins = {name for name in named} if named else {str(p) for p in rejections["plugin"]}
    assert any("Python:RejectsAll" in name for name in plugins)


def test_a_plan_chooses_nodes_and_is_warned_of_names_in_vain(orrery, tmp_path):
    (tmp_path / "s.yaml").write_text(
        "cluster: {pools: [{name: gpu, machine: dgx-a100, count: 3}]}\n"
        "workload: {sources: [{kind: jobs, jobs: [{count: 6, user: ann, work: 10min, pods: 1, pod: {gpus: 4}}]}]}\n"
        "faults: {list: [{node: gpu-0, at: 5min, repair: 10min}]}\nrun: {seed: 4}\n")
    done = orrery("run", "s.yaml", "-o", "out.h5",
                  *with_jobs(job_policy("OnTheLast", more=", users: [ann, zed]")))
    assert done.returncode == 0, done.stderr
    for text in ("policy.job_queue: Python:OnTheLast: gpu-0 went", "Python:OnTheLast: gpu-0 came",
                 "Python:OnTheLast: users names user 'zed', of which no job came"):
        assert text in done.stderr
    assert "'ann'" not in done.stderr
    with h5py.File(tmp_path / "out.h5") as file:
        assert set(file["pods"]["node"]) == {2}


@pytest.mark.skipif(not KTH.exists(), reason="the trace is not there")
@pytest.mark.parametrize("estimates", ["requested", "exact"])
def test_easy_in_python_replays_kth_sp2_as_the_built_in_one(orrery, tmp_path, estimates):
    (tmp_path / "k.yaml").write_text(
        "cluster: {machines: [{name: sp2, base: cpu-32, cpus: 1}],"
        " pools: [{name: sp2, machine: sp2, count: 100}]}\n"
        f"workload: {{sources: [{{kind: trace, format: swf, file: {KTH}}}]}}\n"
        "policy: {driver: counting, job_queue: {policies: [{name: EASY}], counts: [cpus],"
        f" react: each_event, estimates: {{kind: {estimates}}}}}}}\n")
    twin = ["--set", f"policy.job_queue.policies=[{job_policy('Easy')}]"]
    for name, more in (("a", []), ("b", twin)):
        done = orrery("run", "k.yaml", "-q", "-o", f"{name}.h5", *more)
        assert done.returncode == 0, done.stderr
    assert tables(tmp_path / "a.h5") == tables(tmp_path / "b.h5")


PODS, JOBS, CONTROLLERS = "pods", "jobs", "controllers"
FAULTS = [  # class, list that it is put in (see LISTS), parts of the expected message
    ("Hangs", PODS, "Hangs.score() has not returned after 500ms of host time (timeout): it was interrupted at",
     "in score", "while True:"),
    ("HangsInPlan", JOBS, "HangsInPlan.plan() has not returned after 500ms of host time (timeout)", "in plan"),
    ("Raises", PODS, "in helper", "KeyError: 'no such rack'", "Traceback (most recent call last)"),
    ("TooShort", PODS, "TooShort.score() gave an array of shape (3,), expected an array of 16 numbers, one for each node"),
    ("NotANumber", PODS, "NotANumber.score() gave NaN for node ", "expected a number"),
    ("TooHigh", PODS, "TooHigh.score() gave 130 for node ", "expected a score between 0 and 100"),
    ("NormalizesTooHigh", PODS, "NormalizesTooHigh.normalize() gave 130 for score 0, expected a score between 0 and 100"),
    ("Texts", PODS, "Texts.score() gave an array of <U1, expected numbers"),
    ("Nothing", PODS, "Nothing.score() gave an array of shape (), expected an array of 16 numbers"),
    ("FiltersByNumber", PODS, "FiltersByNumber.filter() gave an array of int64, expected bool, one for each node"),
    ("FiltersTooFew", PODS, "FiltersTooFew.filter() gave an array of shape (1,), expected an array of 16 bool"),
    ("WritesViews", PODS, "read-only"),
    ("KeepsCycles", PODS, "this object is used after the end of the call, or of the run, that it was lent for"),
    ("ScoresNoGpu", PODS, "ValueError: there is no resource 'gpu', but cpu memory nvidia.com/gpu"),
    ("UnknownNode", PODS, "IndexError: there is no node 999"),
    ("PicksNone", PODS, "PicksNone.pick() gave 99 (int), expected an integer between 0 and 15"),
    ("AnswersOdd", PODS, "AnswersOdd.permit() gave 'yes' (str), expected None or an orrery.policy.Status"),
    ("AnswersUnknownCode", PODS, "expected a Status with a code of the scheduling framework"),
    ("KeepsWhatIfs", PODS, "the what-if is over: it lasts as long as its `with`"),
    ("MixesWhatIfs", PODS, "an inner what-if must end before the outer one"),
    ("AsksWhatIfTooEarly", PODS, "what-ifs are for post_filter()"),
    ("EvictsThin", PODS, "has no node: it cannot be evicted"),
    ("RestoresThin", PODS, "was not evicted in this what-if"),
    ("KeepsTheDead", JOBS, "is over and still in a tree: job_ends() and job_cancelled() must erase it"),
    ("InsertsTwice", JOBS, "it is in the tree already"),
    ("ChangesTheQueue", JOBS, "only trees of board.tree() are changed by a policy"),
    ("StartsOnNowhere", JOBS, "IndexError: there is no node 999"),
    ("StartsTwice", JOBS, "is running: only a waiting job starts", "in plan"),
    ("StartsTooMuch", JOBS, "is waiting: it does not fit now"),
    ("StartsNobody", JOBS, "start(): incompatible function arguments"),
    ("WakesTooEarly", JOBS, "wake_at() names a time that is over"),
    ("RanksByText", JOBS, "RanksByText.rank() gave 'first' (str), expected an integer"),
    ("RanksTooFar", JOBS, "RanksTooFar.rank() gave 1180591620717411303424 (int), expected an integer"),
    ("AdmitsPerhaps", JOBS, "AdmitsPerhaps.admit() gave 'perhaps' (str), expected True or False"),
    ("AsksTheDead", JOBS, "is over, and no longer known"),
    ("RaisesInTick", CONTROLLERS, "at simulated time 10.000", "Traceback (most recent call last)", "in look",
     "KeyError: 'no such rack'"),
    ("HangsInTick", CONTROLLERS, "HangsInTick.tick() has not returned after 500ms of host time (timeout)", "in tick"),
    ("CordonsUnknown", CONTROLLERS, "IndexError: there is no node 999", "in tick"),
    ("UncordonsBelow", CONTROLLERS, "IndexError: there is no node -1"),
    ("DrainsHalf", CONTROLLERS, "TypeError: drain(): incompatible function arguments"),
    ("DrainsBackwards", CONTROLLERS, "ValueError: deadline_ns is at least 0, got -5"),
    ("EvictsBackwards", CONTROLLERS, "ValueError: retry_for_ns is at least 0, got -1"),
    ("EvictsNoPod", CONTROLLERS, "IndexError: there is no pod -3"),
    ("SuspendsNoJob", CONTROLLERS, "IndexError: there is no job 1099511627776"),
    ("ResizesToNothing", CONTROLLERS, "ValueError: a service has at least 1 replica, got 0"),
    ("TaintsOddly", CONTROLLERS, "a taint's effect is NoSchedule, PreferNoSchedule or NoExecute, got 'NoRun'"),
    ("TaintsWithoutKey", CONTROLLERS, "ValueError: a taint has a key"),
    ("AddsToNoPool", CONTROLLERS, "IndexError: there is no pool 99"),
    ("RemovesUnknown", CONTROLLERS, "IndexError: there is no pool 0"),
    ("ActsWithoutWhy", CONTROLLERS, "cordon(): incompatible function arguments", "node: int, why: str"),
    ("CallsOdd", CONTROLLERS, "AttributeError: ", "has no attribute 'cordn'; did you mean 'cordon'?"),
    ("WakesBefore", CONTROLLERS, "ValueError: wake_at() names a time that is over"),
    ("AsksForNoJob", CONTROLLERS, "IndexError: there is no job 1000000, or it is over"),
    ("AsksForNoPod", CONTROLLERS, "IndexError: there is no pod -1, or its job is over"),
    ("KeepsActions", CONTROLLERS, "this object is used after the end of the call, or of the run, that it was lent for"),
]
LISTS = {PODS: lambda cls, more: with_plugin(plugin("wrong.py", cls, more)),
         JOBS: lambda cls, more: with_jobs(job_policy(cls, "wrong.py", more)),
         CONTROLLERS: lambda cls, more: with_controllers(job_policy(cls, "wrong.py", more))}


@pytest.mark.parametrize(("cls", "where", "says"), [(c, w, s) for c, w, *s in FAULTS], ids=[f[0] for f in FAULTS])
def test_what_a_policy_does_wrong_is_told(orrery, tmp_path, cls, where, says):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    more = ", timeout: 500ms" if cls.startswith("Hangs") else ""
    done = orrery("run", "s.yaml", "-q", "-o", "out.h5", *LISTS[where](cls, more))
    assert done.returncode == 2, done.stderr
    for text in (f"policy 'Python:{cls}' of ", "failed: ", "at simulated time ", *says,
                 "what was recorded so far is in out.h5.part"):
        assert text in done.stderr


def test_a_policy_that_cannot_be_made_fails_before_the_run(orrery, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    for cls, says in (("NeverMade", "RuntimeError: no licence"),
                      ("NamesNoEvent", "expected names of events: AssignedPodDeleted, ")):
        done = orrery("run", "s.yaml", "-q", "-o", "out.h5", *with_plugin(plugin("wrong.py", cls)))
        assert done.returncode == 2
        assert says in done.stderr


def test_a_call_that_never_returns_before_the_run_is_interrupted_too(orrery, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done = orrery("run", "s.yaml", "-q", "-o", "out.h5",
                  *with_plugin(plugin("wrong.py", "HangsWhileMade", ", timeout: 500ms")))
    assert done.returncode == 2
    assert "HangsWhileMade.__init__() has not returned after 500ms of host time (timeout)" in done.stderr
    (tmp_path / "endless.py").write_text("while True:\n    pass\n")
    done = orrery("validate", "s.yaml", "--set",
                  "policy.plugins=[{name: Python, args: {file: endless.py, timeout: 500ms}}]")
    assert done.returncode == 2
    assert "policy.plugins[0].args.file: endless.py Traceback" in done.stderr
    assert "CallTooLong: the call takes longer than `timeout` of host time" in done.stderr


def test_a_library_in_c_that_never_returns_ends_the_process(orrery, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done = orrery("run", "s.yaml", "-q", "-o", "out.h5",
                  *with_plugin(plugin("wrong.py", "HangsInC", ", timeout: 500ms")))
    assert done.returncode == 2
    for text in ("HangsInC.score() has not returned after 500ms of host time (timeout), nor when it was interrupted",
                 "at simulated time "):
        assert text in done.stderr


BAD = [  # arguments of the policy, expected message
    ("{}", "policy.plugins[0].args: missing required key 'file'"),
    ("{file: nowhere.py}", "args.file: nowhere.py cannot be read: No such file"),
    ("{file: broken.py}", "SyntaxError"),
    ("{file: none.py}", "none.py has 0 classes that inherit orrery.policy.Policy"),
    ("{file: alone.py}", "Alone.score(self, nodes) must take (self, cycle, nodes)"),
    ("{file: mine.py, class: Mime}", "mine.py has no class 'Mime'; did you mean 'Mine'?"),
    ("{file: mine.py, class: np}", "'np' does not inherit orrery.policy.Policy"),
    ("{file: mine.py, wait: 3}", "s.yaml:2:57: policy.plugins[0].args: unknown key 'wait'"),
    ("{file: WRONG, class: Declared, wight: 3}", "unknown key 'wight'; did you mean 'weight'?"),
    ("{file: WRONG, class: Declared, weight: x}", "args.weight: expected an integer, got 'x'"),
    ("{file: WRONG, class: Declared, weight: 10}", "args.weight: out of range: must be between 0 and 9 points, got '10'"),
    ("{file: WRONG, class: Declared, share: .inf}", "args.share: expected a finite number, got '.inf'"),
    ("{file: WRONG, class: Declared, kind: fra}", "args.kind: expected one of near, far, got 'fra'; did you mean 'far'?"),
    ("{file: WRONG, class: Declared, patience: 3}", "args.patience: expected a duration such as 250us or 2h, got '3'"),
    ("{file: WRONG, class: Declared, racks: 3}", "args.racks: expected a list, got '3'"),
    ("{file: WRONG, class: Declared, racks: [1, x]}", "args.racks: [1]: expected an integer, got 'x'"),
    ("{file: WRONG, class: Declared, is_on: 'true'}", "args.is_on: expected true or false, got 'true' in quotes"),
    ("{file: WRONG, class: Misspelt}", "Misspelt serves no point", "did you mean 'score'?"),
    ("{file: WRONG, class: TakesTooLittle}", "TakesTooLittle.score(self, nodes) must take (self, cycle, nodes)"),
    ("{file: WRONG, class: AsksForArguments}", "AsksForArguments.__init__(self, limit) must take (self); "
     "what `args` declares is in self.args"),
    ("{file: WRONG, class: RanksByText}", "policy.plugins[0]: 'Python:RanksByText' is for whole jobs: "
     "it belongs into `policy.job_queue`"),
    ("{file: WRONG, class: CordonsUnknown}", "policy.plugins[0]: 'Python:CordonsUnknown' is a controller: "
     "it belongs into `policy.controllers`"),
]


@pytest.mark.parametrize(("args", "says"), [(a, s) for a, *s in BAD], ids=[b[0] for b in BAD])
def test_mistakes_in_arguments_are_told_where_they_stand(orrery, tmp_path, args, says):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nfrom orrery.policy import Policy\n"
        "class Mine(Policy):\n  def score(self, cycle, nodes): return np.zeros(len(nodes))\n")
    (tmp_path / "none.py").write_text("x = 1\n")
    (tmp_path / "alone.py").write_text(
        "from orrery.policy import Policy\nclass Alone(Policy):\n  def score(self, nodes): return nodes\n")
    (tmp_path / "broken.py").write_text("def f(:\n")
    given = args.replace("WRONG", str(HERE / "wrong.py"))
    (tmp_path / "s.yaml").write_text(f"\npolicy: {{plugins: [{{name: Python, args: {given}}}]}}{SCENARIO}")
    done = orrery("validate", "s.yaml")
    assert done.returncode == 2
    assert "s.yaml:2:" in done.stderr
    for text in says:
        assert text in done.stderr
    assert not (tmp_path / "__pycache__").exists()


def test_without_the_library_it_is_said_how_to_load_it(program, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO + f"policy: {{plugins: [{plugin('twins.py', 'BestFit')}]}}\n")
    done = subprocess.run([program, "validate", "s.yaml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ("policy.plugins[0].name: no policy is called 'Python'; policies of a library, such as those in Python, "
            "need --plugin") in done.stderr


def test_arguments_are_read_and_described(orrery, tmp_path):
    given = ", weight: 3, racks: [1, 2], limits: {a: 5}, patience: 1.5min, is_on: false"
    outcome(orrery, tmp_path, "a", *with_plugin(plugin("wrong.py", "Declared", given)))
    done = orrery("describe", f"Python:{HERE / 'wrong.py'}:Declared")
    assert done.returncode == 0
    assert done.stdout.count("Has an argument of each type.") == 1
    for text in ("Has an argument of each type.", "extension points  Score\n", "integer, between 0 and 9 points", "default 1min",
                 "text near | far", "How much.", "map of integer"):
        assert text in done.stdout
    assert "has no class 'Nobody'" in orrery("describe", f"Python:{HERE / 'wrong.py'}:Nobody").stderr


def test_the_package_names_the_points_that_the_program_has(orrery):
    from orrery.policy import POINTS
    reported = orrery("describe", "points").stdout
    named = [line.split()[0] for line in reported.splitlines() if line.startswith("  ")]
    assert sorted(named) == sorted(POINTS)


def test_a_policy_that_is_no_controller_is_told_where_it_belongs(orrery, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    for cls, belongs in (("Raises", "is for pods: it belongs into `policy.plugins`"),
                         ("RanksByText", "is for whole jobs: it belongs into `policy.job_queue`")):
        done = orrery("validate", "s.yaml", *with_controllers(job_policy(cls, "wrong.py")))
        assert done.returncode == 2
        assert f"policy.controllers[0]: 'Python:{cls}' {belongs}" in done.stderr


def test_a_helper_may_have_the_name_of_a_point_of_another_kind(orrery, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from orrery.policy import Policy\nclass Mine(Policy):\n"
        "  def filter(self, job): return job.count < 3\n  def admit(self, job): return self.filter(job)\n")
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done = orrery("validate", "s.yaml", *with_jobs(f"{{name: Python, args: {{file: {tmp_path / 'mine.py'}}}}}"))
    assert done.returncode == 0, done.stderr


def test_arguments_of_a_controller_are_checked_and_described(orrery, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done = orrery("validate", "s.yaml", *with_controllers(job_policy("AvoidBrokenLinks", more=", cordon_for: 0s")))
    assert done.returncode == 2
    assert "args.cordon_for: out of range: must be between 1s and 10d, got '0s'" in done.stderr
    reported = orrery("describe", f"Python:{HERE / 'twins.py'}:AvoidBrokenLinks").stdout
    for text in ("As the built-in AvoidBrokenLinks.", "cordon_for", "duration, between 1s and 10d", "default 1h"):
        assert text in reported


SCENARIOS = Path(__file__).resolve().parents[4] / "scenarios"


@pytest.mark.parametrize("more", ["", "nodes_max: 2, cordon_for: 25min"], ids=["as it is shipped", "two at a time"])
def test_a_controller_in_python_acts_as_the_built_in_one(orrery, tmp_path, more):
    found = []
    for name, args in (("AvoidBrokenLinks", f"{{{more}}}"), ("Python", f"{{file: {HERE / 'twins.py'}, class: "
                                                             f"AvoidBrokenLinks{', ' if more else ''}{more}}}")):
        done = orrery("run", str(SCENARIOS / "broken-leaf.yaml"), "-q", "-o", "out.h5",
                      *with_controllers(f"{{name: {name}, args: {args}}}"))
        assert done.returncode == 0, done.stderr
        with h5py.File(tmp_path / "out.h5") as file:
            rows = file["events/actions"][:]
            found.append([file["jobs"][:].tobytes(), file["pods"][:].tobytes(),
                          *(rows[column].tobytes() for column in rows.dtype.names if column != "controller")])
            who = {bytes(row) for row in rows["controller"]}
        assert who == {b"AvoidBrokenLinks" if name != "Python" else b"Python:AvoidBrokenLinks"}
        assert len(rows) >= 4
    assert found[0] == found[1]


def test_a_controller_sees_the_whole_board_and_gives_each_action(orrery, tmp_path):
    (tmp_path / "s.yaml").write_text("""
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}
workload:
  disruption_budgets: [{name: web, labels: {app: web}, max_unavailable: 1}]
  training: {checkpoint_interval: 10min, checkpoint_write: 5s}
  sources:
    - {kind: service, name: web, team: ann, replicas: 3, pod: {cpus: 2, labels: {app: web}}, load: [{at: 0h, load: 1}]}
    - {kind: jobs, jobs: [{name: g, user: bob, team: red, work: 2h, pods: 2, pod: {gpus: 8}}]}
    - {kind: jobs, jobs: [{name: late, submit: 1h, kind: pods, work: 10min, pods: 1, pod: {gpus: 8}}]}
faults: {list: [{node: gpu-0, at: 30min, repair: 3min}, {node: gpu-1, at: 40min, repair: 3min},
                {node: gpu-2, at: 50min, repair: 3min}, {node: gpu-3, at: 60min, repair: 3min}]}
run: {until: 6h}
""")
    done = orrery("run", "s.yaml", "-o", "out.h5", *with_controllers(
        "{name: Python, period: 1min, args: " + f"{{file: {HERE / 'twins.py'}, class: LooksAround}}}}"))
    assert done.returncode == 0, done.stderr
    saw, has = (line.split(text)[1].split() for text in ("Python:LooksAround: saw ", "Python:LooksAround: has ")
                for line in done.stderr.splitlines() if text in line)
    with h5py.File(tmp_path / "out.h5") as file:
        rows = file["events/actions"][:]
        kinds = h5py.check_enum_dtype(file["events/actions"].dtype["action"])
    assert set(has) == set(kinds) | {"wake_at", "idle_until"}
    assert not {"ann", "bob", "red", "running", "woken", "up", "down", "failure", "broken", "suspended"} - set(saw)
    given = [name for name, number in sorted(kinds.items(), key=lambda kind: kind[1]) if "nodes" not in name]
    assert {number for name, number in kinds.items() if name in given} == set(rows["action"])
    assert {bytes(why) for why in rows["why"]} >= {b"one", b"two", b"three", b"four", b"five", b"six", b"seven", b"eight"}


def test_each_attribute_of_the_views_is_documented(orrery, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done = orrery("run", "s.yaml", "-o", "out.h5", "--until", "1h", *with_jobs(job_policy("FindsUndocumented")))
    assert done.returncode == 0, done.stderr
    assert "FindsUndocumented: " not in done.stderr


def test_two_classes_of_one_file_serve_in_one_profile(orrery, tmp_path):
    two = plugin("twins.py", "BestFit") + ", " + plugin("wrong.py", "Declared", ", weight: 3, racks: [1, 2], "
                                                         "limits: {a: 5}, patience: 90s, is_on: false")
    ours = outcome(orrery, tmp_path, "a", *with_plugin(plugin("twins.py", "BestFit")))
    both = outcome(orrery, tmp_path, "b", *with_plugin(two))
    assert ours["jobs"] == both["jobs"]


def test_a_study_runs_them_in_processes_and_finds_the_same(orrery, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    (tmp_path / "study.yaml").write_text(
        "base: s.yaml\nset: {policy.job_queue: '{}'}\naxes: [{name: order, arms: ["
        "{name: ours, set: {policy.job_queue.policies: '[{name: SJF}]'}}, "
        f"{{name: twin, set: {{policy.job_queue.policies: '[{job_policy('Sjf')}]'}}}}, "
        f"{{name: wrong, set: {{policy.job_queue.policies: '[{job_policy('RanksByText', 'wrong.py')}]'}}}}]}}]\n"
        "seeds: {count: 2}\n")
    done = orrery("study", "run", "study.yaml", "-o", "out", "--jobs", "2")
    assert done.returncode == 2, done.stderr
    assert "order=wrong seed 1: policy 'Python:RanksByText' of " in done.stderr
    assert "RanksByText.rank() gave 'first'" in done.stderr
    for seed in (1, 2):
        twins = [tables(tmp_path / f"out/runs/0000{cell}-s{seed}.h5") for cell in (0, 1)]
        assert twins[0] == twins[1]
    again = orrery("study", "run", "study.yaml", "-o", "out", "--jobs", "2")
    assert "6 runs, 4 of them kept" in again.stderr


def test_a_study_forks_runs_that_use_them(orrery, tmp_path):
    ours, twin = (f"'[{{name: NodeResourcesFit, scores: false}}, {one}]'"
                  for one in (plugin("BestFit"), plugin("twins.py", "BestFit")))
    (tmp_path / "s.yaml").write_text(
        SCENARIO + "policy: {disable: [NodeResourcesBalancedAllocation], plugins: " + twin[1:-1] + "}\n")
    (tmp_path / "study.yaml").write_text(
        "base: s.yaml\n"
        f"axes: [{{name: score, arms: [{{name: ours, set: {{policy.plugins: {ours}}}}}, "
        f"{{name: twin, set: {{policy.plugins: {twin}}}}}]}}]\n"
        "seeds: {count: 1}\nrun: {fork_at: 1d}\n")
    done = orrery("study", "run", "study.yaml", "-o", "out", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    runs = [tables(tmp_path / f"out/runs/0000{cell}-s1.h5") for cell in (0, 1)]
    assert runs[0]["jobs"] == runs[1]["jobs"]
    assert runs[0]["pods"] == runs[1]["pods"]


SORT = "{name: Python, args: {file: TWINS, class: PrioritySort}}".replace("TWINS", str(HERE / "twins.py"))


def test_the_order_of_the_queue_in_python_gives_the_same_bytes(orrery, tmp_path):
    ours = outcome(orrery, tmp_path, "a", "--until", "12h")
    theirs = outcome(orrery, tmp_path, "b", "--until", "12h", "--set", "policy.disable=[PrioritySort]", "--set",
                     f"policy.plugins=[{SORT}]")
    assert ours["jobs"] == theirs["jobs"]


def test_each_point_of_single_pods_is_asked(orrery, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    done = orrery("run", "s.yaml", "-q", "-o", "a.h5", "--set",
                  f"policy.plugins=[{plugin('twins.py', 'Everything')}]")
    assert ("all points were asked: Bind, Charges, Filter, Permit, PostBind, PostFilter, PreBind, "
            "PreEnqueue, PreFilter, PreScore, Reserve") in done.stderr


@pytest.mark.parametrize(("base", "cls"), [("strict_gang", "Gangs"), ("default", "Waits"), ("default", "LowestGpus")])
def test_other_points_serve_too(orrery, tmp_path, base, cls):
    given = ["--set", f"policy.base={base}", "--set"]
    ours = outcome(orrery, tmp_path, "a", *given, "policy.plugins=[]")
    theirs = outcome(orrery, tmp_path, "b", *given, f"policy.plugins=[{plugin('twins.py', cls).replace('weight: 10, ', '')}]")
    assert len(theirs["jobs"]) == len(ours["jobs"])
    assert theirs["digest"] != ours["digest"] or cls == "LowestGpus"


def test_the_example_of_the_package_runs_and_a_study_sees_that_its_file_changed(orrery, tmp_path):
    from orrery import policy
    block = policy.__doc__.split("\n\n    import numpy")[1].split("\n\n    orrery run")[0]
    example = textwrap.dedent("    import numpy" + block)
    assert len(example.splitlines()) <= 15
    (tmp_path / "mine.py").write_text(example)
    (tmp_path / "s.yaml").write_text(
        SCENARIO + "policy: {plugins: [{name: Python, weight: 10, args: {file: mine.py, spare: 1}}]}\n")
    done = orrery("run", "s.yaml", "-q", "-o", "a.h5")
    assert done.returncode == 0, done.stderr
    (tmp_path / "study.yaml").write_text("base: s.yaml\nseeds: {count: 2}\n")
    assert "0 of them kept" in orrery("study", "run", "study.yaml", "-o", "out").stderr
    assert "2 of them kept" in orrery("study", "run", "study.yaml", "-o", "out").stderr
    (tmp_path / "mine.py").write_text(example + "\n# another text\n")
    assert "0 of them kept" in orrery("study", "run", "study.yaml", "-o", "out").stderr


def test_the_schema_offers_them_in_each_list_and_lets_classes_take_more(orrery):
    import json
    rules = []

    def look(part):
        if isinstance(part, list):
            for item in part:
                look(item)
        elif isinstance(part, dict):
            if part.get("if", {}).get("properties", {}).get("name") == {"const": "Python"}:
                rules.append(part["then"]["properties"]["args"])
            look(list(part.values()))

    look(json.loads(orrery("schema").stdout))
    assert len(rules) >= 3  # rules for pods, for the job queue and for controllers
    for args in rules:
        assert args["additionalProperties"] is True
        assert list(args["properties"]) == ["file", "class", "timeout"]
