"""The notebooks run from top to bottom and draw pictures. The tree has them without outputs."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="Debian's python3-nbclient")
nbformat = pytest.importorskip("nbformat", reason="Debian's python3-nbformat")
pytest.importorskip("ipykernel", reason="Debian's python3-ipykernel")

FOLDER = Path(__file__).resolve().parents[4] / "analysis" / "notebooks"
FIGURES = {  # number of pictures by notebook
    "01_first_look": 4,
    "02_policy_comparison": 2,
    "03_deadlocks_and_hangs": 7,
    "04_control_plane": 3,
    "05_failures_and_goodput": 4,
    "06_write_a_policy": 3,
    "07_train_an_agent": 2,
}
IN_PYTHON = ("06_write_a_policy", "07_train_an_agent")  # these need the library for policies in Python


def code(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def executed(path: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, 4)
    where = {"metadata": {"path": str(FOLDER)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=where).execute()
    return notebook


@pytest.fixture(scope="module")
def runs(program: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Future]:
    """Runs all notebooks, as many at a time as there are cores."""
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(os.cpu_count()) as pool:
        patch.setenv("ORRERY", str(program))
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("scratch")))
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        patch.setenv("ORRERY_TRAINING_SECONDS", "5")
        patch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # without this, the debugger warns
        return {name: pool.submit(executed, FOLDER / f"{name}.ipynb") for name in FIGURES}


def test_every_notebook_is_known() -> None:
    assert sorted(FIGURES) == sorted(path.stem for path in FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("name", FIGURES)
def test_it_runs_and_draws(name: str, runs: dict[str, Future], program: Path) -> None:
    if name in IN_PYTHON and not program.with_name("liborrery_python.so").exists():
        pytest.skip("built without policies in Python")
    cells = code(runs[name].result())
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    assert len(pictures) == FIGURES[name]
    learned = cells[-1].outputs[-1]["data"]["text/markdown"]
    assert learned.count("\n- ") >= 2 and "nan" not in learned


@pytest.mark.parametrize("name", FIGURES)
def test_it_is_kept_without_outputs(name: str) -> None:
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", 4)
    nbformat.validate(notebook)
    assert not [c for c in code(notebook) if c.outputs or c.execution_count is not None]
    assert "**Exercise.**" in notebook.cells[-1].source
