"""The recipes of policies/README.md, in C++ and in Python, run and give the same bytes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import h5py
import pytest

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "policies/README.md").read_text(encoding="utf-8")
FILES = {name: text for text, name in re.findall(
    r"```(?:python|cpp)\n((?:#|//) (\w+\.(?:py|cpp))\n.*?)```", PAGE, re.DOTALL)}
YAML = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
SCENARIO = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 16, nodes_per_leaf: 4}]}
workload:
  sources:
    - kind: jobs
      jobs:
        - {user: ann, count: 60, every: 2min, work: 40min, requested: 1h, pods: 2, pod: {gpus: 2, cpus: 8}}
        - {user: bob, count: 40, every: 3min, work: 70min, requested: 2h, pods: 1, pod: {gpus: 4, cpus: 8}}
        - {user: cat, count: 12, every: 9min, work: 50min, requested: 1h, pods: 2, pod: {gpus: 8, cpus: 8}}
        - {user: dan, count: 90, every: 1min, work: 25min, requested: 1h, pods: 1, pod: {gpus: 1, cpus: 8}}
run: {seed: 4}
"""
PLACING = """
policy:
  plugins: [{name: NodeResourcesFit, scores: false}, POLICY]
  disable: [NodeResourcesBalancedAllocation]
"""
FAILING = """
faults:
  list:
    - {node: gpu-3, at: 1830s, repair: 20min}
    - {node: gpu-9, at: 2h, repair: 330s}
    - {node: gpu-9, at: 130min, repair: 330s}
policy: {controllers: [POLICY]}
"""
GANGS = "policy: {base: strict_gang, plugins: [POLICY]}\n"
QUEUE = "policy: {job_queue: {policies: [POLICY]}}\n"
BOTH = PLACING + "  job_queue: {policies: [QUEUED]}\n"


def built_in(cls: str, args: str) -> str:
    return f"{{name: {cls}, args: {{{args}}}}}"


def in_python(cls: str, args: str, file: str) -> str:
    return f"{{name: Python, args: {{file: {file}.py, class: {cls}{', ' + args if args else ''}}}}}"


@pytest.fixture
def run(program, tmp_path):
    adapter = Path(program).parent / "liborrery_python.so"
    if not adapter.exists():
        pytest.skip("built without policies in Python")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def run(text: str, *libraries: str, command: tuple[str, ...] = ("run", "-q", "-o", "out.h5")):
        (tmp_path / "s.yaml").write_text(SCENARIO + text)
        plugins = [part for library in (adapter, *libraries) for part in ("--plugin", str(library))]
        done = subprocess.run([program, command[0], "s.yaml", *command[1:], *plugins], cwd=tmp_path,
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        if command[0] != "run":
            return None
        with h5py.File(tmp_path / "out.h5") as file:
            return file["jobs"][:].tobytes(), file["pods"][:].tobytes()

    return run


def compiled(name: str, folder: Path) -> str:
    """Compiles the library with the command that the page shows, but without optimisation, and returns its
    path from `folder`."""
    line = next(line for line in PAGE.splitlines() if line.startswith("g++ "))
    line = line.replace("least_left", name).replace("-I .", f"-I {ROOT}").replace("-O2", "-O0")
    subprocess.run(line.split(), cwd=folder, check=True, timeout=300)
    return f"./lib{name}.so"


@pytest.mark.parametrize(("file", "cls", "args", "text"), [
    ("least_left", "LeastLeft", "spare: 1", PLACING),
    ("fullest_leaf", "FullestLeaf", "", GANGS),
    ("largest_first", "LargestFirst", "", QUEUE),
    ("rest_after_repair", "RestAfterRepair", "rest: 30min", FAILING),
], ids=["a score", "domains of gangs", "a plan", "a controller"])
def test_a_recipe_decides_alike_in_both_languages_and_unlike_the_default(run, tmp_path, file, cls, args, text):
    library = compiled(file, tmp_path)
    ours = run(text.replace("POLICY", built_in(cls, args)), library)
    assert ours == run(text.replace("POLICY", in_python(cls, args, file)))
    assert ours != run(text.replace(", POLICY", "").replace("POLICY", ""))


def test_the_whole_example_decides_alike_in_both_languages_and_keeps_the_quota(run, tmp_path):
    name, classes = "quota_and_rack", {"QUEUED": ("UserQuota", "limit: 24"), "POLICY": ("RackBestFit", "")}
    library = compiled(name, tmp_path)
    texts = [BOTH, BOTH]
    for place, (cls, args) in classes.items():
        texts = [texts[0].replace(place, built_in(cls, args)),
                 texts[1].replace(place, in_python(cls, args, name))]
    ours = run(texts[0], library)
    assert ours == run(texts[1])
    assert ours == run(YAML[-1].replace("{name: RackBestFit, weight: 10}", "{name: RackBestFit}"), library)
    with h5py.File(tmp_path / "out.h5") as results:
        jobs = results["jobs"][:]
    for user in set(jobs["user"]):
        own = jobs[jobs["user"] == user]
        held = [own["gpus"][(own["running"] <= at) & (at < own["ended"])].sum() for at in own["running"]]
        assert max(held) <= 24


def test_the_controller_of_the_page_keeps_nodes_that_come_back_empty_for_a_while(run, tmp_path):
    policy = next(text for text in YAML if "controllers:" in text)
    run(FAILING.split("policy:")[0] + re.sub(r".*in C\+\+\n", "", policy))
    with h5py.File(tmp_path / "out.h5") as results:
        actions = results["events/actions"][:]
    given = [(bytes(row["why"]).decode(), row["node"], row["at"] / 60e9) for row in actions]
    assert given == [("it has just come back", 3, 51), ("it has stayed up", 3, 81), ("it has just come back", 9, 126),
                     ("it has just come back", 9, 136), ("it has stayed up", 9, 166)]


def test_the_first_scenario_of_the_page_is_valid_with_both_libraries(run, tmp_path):
    policy = YAML[0][YAML[0].index("policy:"):]
    run(policy, compiled("least_left", tmp_path), command=("validate",))


def test_the_page_has_each_recipe_in_both_languages_and_a_score_in_fifteen_lines():
    assert sorted(FILES) == sorted(f"{name}.{suffix}" for suffix in ("py", "cpp") for name in
                                   ("least_left", "fullest_leaf", "largest_first", "quota_and_rack",
                                    "rest_after_repair"))
    assert len(FILES["least_left.py"].splitlines()) <= 15
