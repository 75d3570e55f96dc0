"""The environment for learning agents, in which an agent decides for the job queue."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

SCENARIO = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}
workload:
  sources:
    - kind: generator
      arrival_rate: 60
      gpus_per_pod_max: 8
      shape: {kind: classes, classes: [{gpus: {kind: discrete, values: [1, 4, 8], weights: [5, 3, 1]},
              duration: {kind: lognormal, median: 10min, sigma: 1}}]}
run: {until: 6h}
"""


@pytest.fixture
def env(program, tmp_path, monkeypatch):
    if not (Path(program).parent / "liborrery_python.so").exists():
        pytest.skip("built without policies in Python")
    from orrery.gym import JobQueueEnv
    monkeypatch.setenv("ORRERY", program)
    (tmp_path / "s.yaml").write_text(SCENARIO)
    made = JobQueueEnv(tmp_path / "s.yaml", slots=4, output=tmp_path / "out.h5")
    yield made
    made.close()


def played(env, seed, choose):
    observation, info = env.reset(seed=seed)
    steps, total, terminated = [], 0.0, False
    while not terminated:
        assert env.observation_space.contains(observation)
        observation, reward, terminated, truncated, info = env.step(choose(info["action_mask"]))
        assert not truncated
        steps.append((reward, observation.tobytes()))
        total += reward
    return steps, total


def first_that_fits(mask):
    return int(mask.argmax())


def test_same_seed_and_actions_give_the_same_episode(env):
    one, total = played(env, 7, first_that_fits)
    again, _ = played(env, 7, first_that_fits)
    other, _ = played(env, 8, first_that_fits)
    assert len(one) > 100
    assert one == again
    assert one != other
    assert total < 0


def test_rewards_are_minus_the_time_that_jobs_wait(env):
    import orrery
    _, total = played(env, 7, first_that_fits)
    with orrery.open(env.output) as run:
        jobs = run.table("/jobs")
    created = jobs["created"].fillna(6 * 3600)
    waited = (created - jobs["submitted"]).clip(lower=0).sum() / 3600
    # Tolerances: rewards leave out the waits after the last decision, here less than 10 % of all waits.
    assert waited * 0.9 <= -total <= waited * 1.001


def test_the_last_action_starts_none_and_so_all_jobs_wait(env):
    _, patient = played(env, 7, lambda mask: 4)
    _, eager = played(env, 7, first_that_fits)
    assert patient < eager


def test_actions_and_episodes_that_are_none_are_told(env):
    from orrery.program import ProgramError
    with pytest.raises(ProgramError, match="reset"):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="action 9 is none of 0 to 4"):
        env.step(9)


def test_a_run_that_fails_tells_why(env):
    from orrery.program import ProgramError
    env.scenario.write_text("cluster: 3\n")
    with pytest.raises(ProgramError, match="s.yaml:1:10"):
        env.reset(seed=1)
    with pytest.raises(ProgramError, match="no such file"):
        type(env)("nowhere.yaml")


def test_spaces_say_what_there_is(env):
    assert env.action_space.n == 5
    assert env.observation_space.shape == (3 + 4 * 5,)
    observation, info = env.reset(seed=2)
    assert observation.dtype == np.float32
    assert info["action_mask"].shape == (5,)
    assert info["action_mask"][4]


def test_the_example_of_the_module_runs(env, tmp_path, monkeypatch):
    from orrery import gym
    block = gym.__doc__.split("\n\n    from")[1].split("\n\nAn episode")[0]
    example = textwrap.dedent("    from" + block).replace("scenario.yaml", str(tmp_path / "s.yaml"))
    known = {}
    exec(example.replace("7d", "6h"), known)
    assert known["terminated"]
    known["env"].close()


def test_an_agent_that_never_starts_a_job_ends_the_episode(env):
    env.scenario.write_text(
        "cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}\n"
        "workload: {sources: [{kind: jobs, jobs: [{name: a, work: 1h, pod: {gpus: 8}}]}]}\n")
    env.reset(seed=1)
    assert env.step(4)[2]


def test_observations_stay_in_their_space_while_nodes_are_down(env):
    env.scenario.write_text(SCENARIO + "faults: {list: [{node: gpu-0, at: 2h, repair: 1h}, "
                            "{node: gpu-1, at: 2h, repair: 1h}]}\n")
    steps, _ = played(env, 7, first_that_fits)
    assert len(steps) > 100


def test_with_gymnasium_the_classes_are_its_own(tmp_path):
    (tmp_path / "gymnasium").mkdir()
    (tmp_path / "gymnasium/__init__.py").write_text("class Env:\n    def reset(self, *, seed=None, options=None): pass\n")
    (tmp_path / "gymnasium/spaces.py").write_text(
        "class Box:\n    def __init__(self, low, high, shape, dtype): self.shape = shape\n"
        "class Discrete:\n    def __init__(self, n): self.n = n\n")
    (tmp_path / "s.yaml").write_text(SCENARIO)
    code = ("import gymnasium, gymnasium.spaces as spaces; from orrery.gym import JobQueueEnv; "
            "env = JobQueueEnv('s.yaml', slots=4); assert isinstance(env, gymnasium.Env); "
            "assert isinstance(env.action_space, spaces.Discrete) and isinstance(env.observation_space, spaces.Box)")
    analysis = Path(__file__).resolve().parents[4] / "analysis"
    subprocess.run([sys.executable, "-B", "-c", code], cwd=tmp_path, check=True,
                   env=os.environ | {"PYTHONPATH": f"{tmp_path}:{analysis}"})
