"""`orrery plot`: names of figures, files, and mistakes in the command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import orrery
import pytest
from matplotlib import pyplot as plt
from orrery.figures.catalogue import FIGURES, inferred

NEEDS_MORE = ("bent-cable", "cardiogram", "control-plane", "cursed-route", "dead-rank", "gpu-power",
              "heat-map-power", "join-storm", "sync-snapshot", "watch-traffic")
Said = Callable[..., tuple[int, str]]


@pytest.fixture
def said(program: str, tmp_path: Path) -> Said:
    """Runs `orrery plot` in the folder of the test, and returns its exit status and its output."""

    def say(*arguments: object) -> tuple[int, str]:
        done = subprocess.run([program, "plot", *map(str, arguments)], capture_output=True,
                              text=True, cwd=tmp_path, env=os.environ)
        return done.returncode, done.stdout + done.stderr

    return say


def test_alone_it_lists_the_figures(said: Said) -> None:
    status, text = said()
    assert status == 0
    assert [line.split()[0] for line in text.splitlines()] == list(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_draws_a_run_or_has_a_reason(name: str, tiny: orrery.Run) -> None:
    """Each figure draws the run, or says why it cannot. The run has no cardiogram, control plane or
    network."""
    if name not in NEEDS_MORE:
        plt.close(FIGURES[name].draw([tiny]))
        return
    with pytest.raises(orrery.RunError, match=re.escape(str(tiny.path))):
        FIGURES[name].draw([tiny])


def test_the_picture_is_beside_the_run_or_where_it_is_asked_for(
    said: Said, tiny: orrery.Run, tmp_path: Path
) -> None:
    shutil.copy(tiny.path, tmp_path / "a.h5")
    assert said("gantt", "a.h5") == (0, "a-gantt.png: gantt, pods on their GPUs, by node\n")
    assert (tmp_path / "a-gantt.png").read_bytes().startswith(b"\x89PNG")
    assert said("gantt", "a.h5", "-o", "b.svg")[0] == 0
    assert "<svg" in (tmp_path / "b.svg").read_text()
    assert said("a.h5")[1].startswith("a.png: overview")
    assert said("-o", "two.pdf", "cdf-wait", "a.h5", tiny.path)[0] == 0
    assert (tmp_path / "two.pdf").read_bytes().startswith(b"%PDF")


def test_the_name_of_the_run_says_which_figure(said: Said, made, tmp_path: Path) -> None:
    shutil.copy(made("dead-rank-timeout").path, tmp_path / "dead-rank-timeout.h5")
    assert said("dead-rank-timeout.h5")[1].startswith("dead-rank-timeout.png: dead-rank")
    with orrery.open(tmp_path / "dead-rank-timeout.h5") as run:
        for name, figure in (("join-smoothed", "join-storm"), ("quick", "overview"),
                             ("gantt-leaf-2", "gantt-leaf"), ("watch-endpoints", "watch-traffic")):
            run.path = tmp_path / f"{name}.h5"
            assert inferred(run) == figure


def test_mistakes_are_told_in_a_line(said: Said, tiny: orrery.Run, tmp_path: Path) -> None:
    shutil.copy(tiny.path, tmp_path / "a.h5")
    (tmp_path / "text.h5").write_text("no HDF5")
    for arguments, text in (
        (["gant", "a.h5"], "'gant' is neither a figure nor a run; did you mean 'gantt'?"),
        (["zzz"], "'zzz' is neither a figure nor a run; 'orrery plot' lists the figures"),
        (["gantt"], "'gantt' needs a run: orrery plot gantt RUN.h5"),
        (["gantt", "a.h5", "a.h5"], "'gantt' is of one run, and 2 are given"),
        (["gantt", "a.h5", "--job", "x"], "--job has no effect on 'gantt'"),
        (["gantt", "none.h5"], "none.h5: no such file"),
        (["cardiogram", "a.h5"], "a.h5: no cardiogram was recorded; see record.cardiogram"),
    ):
        assert said(*arguments) == (2, f"{text}\n")
    assert said("gantt", "text.h5")[0] == 2
    status, text = said("gantt", "a.h5", "-o", "a.txt")
    assert status == 2 and "a.txt: the ending is none of .png, .pdf, .svg" in text
    status, text = said("gantt", "a.h5", "-o", "none/a.png")
    assert (status, text) == (74, "none/a.png: cannot be written: No such file or directory\n")
