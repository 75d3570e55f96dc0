"""An environment for learners: an agent picks which waiting job starts next.

    from orrery.gym import JobQueueEnv

    env = JobQueueEnv("scenario.yaml", slots=8, until="7d")
    observation, info = env.reset(seed=1)
    terminated = False
    while not terminated:
        action = info["action_mask"].argmax()  # the first job that fits; the last action starts no job
        observation, reward, terminated, truncated, info = env.step(action)

An episode is a run of the scenario in which the agent is the plan of the job queue, without other policies of
the job queue. The agent is asked while one of the first `slots` waiting jobs fits. The reward is minus the
job-hours of waiting since the last question, so the sum of rewards is minus the waiting time of all jobs from
the first question to the last one. The same seed and actions give the same episode.

The simulator runs in a process of its own, with the adapter for policies in Python. The learner may use another
Python. The interface is that of Gymnasium. If Gymnasium is installed, the environment inherits Gymnasium's
Env, and its spaces are Gymnasium's. Debian does not package Gymnasium, so tests use the spaces below, which
have the attributes that most learners use: `n`, `sample()`, `contains()`, `low`, `high`, `shape`, `dtype`.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orrery import program
from orrery.gym_agent import ACTION, HEADER, observation_size
from orrery.program import ProgramError

try:
    from gymnasium import Env
    from gymnasium.spaces import Box, Discrete
except ImportError:

    class Env:  # type: ignore[no-redef]
        """Base class of the environment where Gymnasium is not installed."""

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
            """Takes the arguments of Gymnasium's reset(). There is no generator to seed."""

    @dataclass(frozen=True)
    class Box:  # type: ignore[no-redef]
        """Arrays of one shape with items between two bounds."""

        low: float
        high: float
        shape: tuple[int, ...]
        dtype: Any = np.float32

        def contains(self, x: np.ndarray) -> bool:
            return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

    class Discrete:  # type: ignore[no-redef]
        """The integers from 0 to n - 1."""

        def __init__(self, n: int, seed: int | None = None) -> None:
            self.n = n
            self._rng = np.random.default_rng(seed)

        def sample(self) -> int:
            return int(self._rng.integers(self.n))

        def contains(self, x: int) -> bool:
            return 0 <= int(x) < self.n


class JobQueueEnv(Env):
    """An episode is a run. An action is the position of the waiting job that starts next; the last action
    starts no job."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, scenario: str | Path, *, slots: int = 16, until: str | None = None,
                 options: tuple[str, ...] = (), output: str | Path | None = None) -> None:
        """`options` are passed to `orrery run`. The HDF5 file of the last episode is kept as `output`."""
        self.scenario, self.slots, self.until = Path(scenario), slots, until
        self.options, self.output = tuple(options), Path(output) if output else None
        if not self.scenario.is_file():
            raise ProgramError(f"{scenario}: there is no such file")
        self._size = observation_size(slots)
        self.observation_space = Box(0.0, np.inf, (self._size,), np.float32)
        self.action_space = Discrete(slots + 1)
        self._seed = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch = tempfile.TemporaryDirectory(prefix="orrery-gym-")

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins a run with this seed or, without one, with the last seed plus 1."""
        super().reset(seed=seed)
        self._end()
        self._seed = self._seed + 1 if seed is None else seed
        questions, question_end = os.pipe()
        answer_end, answers = os.pipe()
        binary = program.find()
        output = self.output or Path(self._scratch.name) / "run.h5"
        agent = Path(__file__).with_name("gym_agent.py")
        plan = (f"[{{name: Python, args: {{file: {agent}, class: Agent, slots: {self.slots}, "
                f"read: {answer_end}, write: {question_end}, timeout: 0s}}}}]")
        command = [str(binary), "run", str(self.scenario), "-q", "-o", str(output), "--seed",
                   str(self._seed), "--plugin", "liborrery_python.so",
                   "--set", f"policy.job_queue.policies={plan}", *self.options]
        if self.until:
            command += ["--until", self.until]
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(command, pass_fds=(question_end, answer_end),
                                         stderr=self._errors, stdout=subprocess.DEVNULL)
        os.close(question_end)
        os.close(answer_end)
        self._questions, self._answers = os.fdopen(questions, "rb"), answers
        observation, _, terminated, _, info = self._next()
        if terminated:
            raise ProgramError(f"{self.scenario}: the run was over before the agent was asked")
        return observation, info

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Starts the job that the action names, and runs up to the next question. Starts no job if the action
        is the last one, or if the job does not fit."""
        if self._process is None:
            raise ProgramError("reset() begins an episode; this one is over")
        if not self.action_space.contains(int(action)):
            raise ValueError(f"action {action} is none of 0 to {self.slots}")
        try:
            os.write(self._answers, ACTION.pack(int(action)))
        except BrokenPipeError:
            pass  # the run has failed: _next() raises an error with its message
        return self._next()

    def close(self) -> None:
        self._end()
        self._scratch.cleanup()

    def _next(self) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        length = HEADER.size + 4 * self._size + self.slots + 1
        question = self._questions.read(length)
        if len(question) < length:
            return self._over()
        now_ns, job_hours = HEADER.unpack_from(question)
        observation = np.frombuffer(question, np.float32, self._size, HEADER.size).copy()
        mask = np.frombuffer(question, np.bool_, self.slots + 1, length - self.slots - 1).copy()
        return observation, -job_hours, False, False, {"action_mask": mask, "time": now_ns / 1e9}

    def _over(self) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        assert self._process is not None
        status = self._process.wait()
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace").strip()
        self._end()
        if status != 0:
            raise ProgramError(text or f"orrery ended with status {status}")
        mask = np.zeros(self.slots + 1, dtype=np.bool_)
        mask[-1] = True
        return np.zeros(self._size, np.float32), 0.0, True, False, {"action_mask": mask}

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._process = None
        self._questions.close()
        os.close(self._answers)
        self._errors.close()
