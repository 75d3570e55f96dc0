"""Small studies, by the program at hand:

    pytest --confcutdir tests/unit/analysis/cluster tests/unit/analysis/cluster --program orrery
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import pytest

ROOT = Path(__file__).resolve().parents[4]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "analysis"))
os.environ["PYTHONPATH"] = str(ROOT / "analysis")  # for commands that tests start

BASE = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}
workload:
  sources:
    - kind: generator
      arrival_rate: 2
      gpus_per_pod_max: 8
      shape:
        kind: classes
        classes:
          - gpus: {kind: discrete, values: [8, 16], weights: [1, 1]}
            duration: {kind: lognormal, median: 30min, sigma: 1}
policy: {base: strict_gang}
run: {until: %s}
"""
STUDY = """
base: base.yaml
axes:
  - name: rate
    parameter: 'workload.sources[0].arrival_rate'
    values: [1, 2]
seeds: {count: 6}
metrics: [jct_mean]
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--program", required=True, help="the program orrery")


@pytest.fixture(scope="session", autouse=True)
def program(request: pytest.FixtureRequest) -> Iterator[str]:
    found = str(Path(request.config.getoption("--program")).absolute())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORRERY", found)
        yield found


@pytest.fixture
def study(tmp_path: Path) -> Callable[..., Path]:
    """Writes a study of 12 runs, each until the given simulated time."""

    def make(until: str, text: str = STUDY) -> Path:
        (tmp_path / "base.yaml").write_text(BASE % until)
        path = tmp_path / "study.yaml"
        path.write_text(text)
        return path

    return make


@pytest.fixture(scope="session")
def values_of() -> Callable[[Path], list[bytes]]:
    """The runs and values in study.h5 of a folder, without wall times."""

    def read(folder: Path) -> list[bytes]:
        with h5py.File(folder / "study.h5") as file:
            assert file.attrs["complete"]
            runs, values = file["/runs"][:], file["/values"][:]
        runs["wall_seconds"] = runs["cpu_seconds"] = 0
        return [runs.tobytes(), values.tobytes()]

    return read


@pytest.fixture(scope="session")
def at_once(program: str) -> Callable[[Path, Path], Path]:
    """Runs a study on this machine alone, and returns its folder."""

    def run(path: Path, folder: Path) -> Path:
        subprocess.run([program, "study", "run", path, "-o", folder, "-q"], check=True)
        return folder

    return run
