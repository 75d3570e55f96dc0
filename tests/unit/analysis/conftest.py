"""Small runs by the program at hand:

    cd tests/unit/analysis
    pytest --rootdir . package report --program ../../../build/release/bin/orrery
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "analysis"))
matplotlib.use("Agg")

import orrery  # noqa: E402
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

# Four nodes under two leaf switches. The gang `wide` has three nodes, and loses one of them after 12 minutes.
# The gang `late` then takes the other two nodes, so `wide` waits for the end of `late`. Two small jobs share the
# fourth node.
TINY = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4, nodes_per_leaf: 2}]}
workload:
  training: {checkpoint_interval: 5min, checkpoint_write: 0s, restore: 1min, init: 30s}
  sources:
    - kind: jobs
      jobs:
        - {name: wide, team: a, work: 20min, pods: 3, pod: {gpus: 8}}
        - {name: small, team: b, submit: 1min, count: 2, work: 10min, pod: {gpus: 3}}
        - {name: late, team: b, submit: 2min, work: 10min, pods: 2, pod: {gpus: 8}}
faults: {list: [{node: gpu-0, at: 12min, repair: 10min}]}
policy: {base: strict_gang}
record: {timeline: {interval: 10min, teams_interval: 10min}}
run: {seed: 3, until: 1h}
"""

STUDY = """
# Does gang scheduling help?
base: tiny.yaml
axes:
  - {name: nodes, parameter: 'cluster.pools[0].count', values: [4]}
  - name: policy
    arms:
      - {name: strict, set: {policy.base: strict_gang}}
      - {name: pod by pod, set: {policy.base: default}}
seeds: {count: 2}
compare: {axis: policy, against: strict, confidence: 0.9}
metrics: [jct_mean, gpu_share_useful]
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--program", required=True, help="the program orrery")
    parser.addoption("--artefacts", type=Path, help="where screenshots are kept")


@pytest.fixture(scope="session")
def program(request: pytest.FixtureRequest) -> str:
    return str(Path(request.config.getoption("--program")).resolve())


@pytest.fixture(scope="session")
def made(program: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., orrery.Run]:
    """Runs a shipped scenario, given by its name, or the text of a scenario. Equal calls share a run."""
    folder = tmp_path_factory.mktemp("runs")

    def make(scenario: str, *arguments: str, text: str | None = None) -> orrery.Run:
        output = folder / f"{'-'.join([scenario, *arguments]).replace('/', '')}.h5"
        if not output.exists():
            path = ROOT / "scenarios" / f"{scenario}.yaml"
            if text is not None:
                path = folder / f"{scenario}.yaml"
                path.write_text(text)
            command = [program, "run", path, "-q", "-o", output, *arguments]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return orrery.open(output)

    return make


@pytest.fixture(scope="session")
def tiny_text() -> str:
    return TINY


@pytest.fixture
def tiny(made: Callable[..., orrery.Run]) -> orrery.Run:
    return made("tiny", text=TINY)


@pytest.fixture(scope="session")
def study(program: str, tiny_text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small study that was run."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "tiny.yaml").write_text(tiny_text)
    (folder / "study.yaml").write_text(STUDY.lstrip())
    command = [program, "study", "run", folder / "study.yaml", "-o", folder / "out", "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "out"


@pytest.fixture
def saved(tmp_path: Path) -> Iterator[Callable[[Figure], None]]:
    """Writes a figure to a file, and checks that the file is a picture."""

    def save(figure: Figure) -> None:
        picture = tmp_path / "figure.png"
        figure.savefig(picture)
        assert picture.read_bytes().startswith(b"\x89PNG")

    yield save
    plt.close("all")
