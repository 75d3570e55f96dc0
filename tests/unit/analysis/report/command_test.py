"""`orrery report` and `orrery export`: paths of files, and exit statuses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import orrery
import pytest

@pytest.fixture
def reported(program: str, tmp_path: Path):
    """Runs a command in the folder of the test, and returns its exit status and its output."""

    def tell(*arguments: object, **environment: str) -> tuple[int, str]:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                              cwd=tmp_path, env=os.environ | environment)
        return done.returncode, done.stdout + done.stderr

    return tell


def test_a_page_is_written_beside_the_run_or_where_it_is_asked_for(reported, tiny, tmp_path) -> None:
    shutil.copy(tiny.path, tmp_path / "a.h5")
    assert reported("report", "a.h5")[0] == 0
    page = (tmp_path / "a.html").read_text()
    assert page.startswith("<!doctype html>") and "<title>a</title>" in page
    status, text = reported("report", "a.h5", "-o", "b.html")
    assert status == 0 and re.fullmatch(r"b\.html: \d+ kB\n", text)
    assert (tmp_path / "b.html").read_text() == page
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.h5", "a.html", "b.html"]


def test_a_page_goes_to_standard_output_and_exports_do_not(reported, tiny, tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    status, text = reported("report", tiny.path, "-o", "-")
    assert status == 0 and text.startswith("<!doctype html>"[:9]) and text.rstrip().endswith("</html>")
    for what in ("--perfetto", "--csv"):
        status, text = reported("export", tiny.path, what, "-")
        assert status == 2 and "nothing of this goes to standard output" in text
    assert set(tmp_path.iterdir()) == before


def test_exports_are_written(reported, tiny: orrery.Run, tmp_path: Path) -> None:
    status, text = reported("export", tiny.path, "--perfetto", "t.json", "--csv", "c",
                        "--table", "/jobs")
    assert status == 0 and "t.json: " in text and "c: 1 tables" in text
    assert (tmp_path / "t.json").exists() and (tmp_path / "c" / "jobs.csv").exists()


@pytest.mark.parametrize("arguments, said", [
    (["report", "none.h5"], "none.h5: no such file"),
    (["report", "."], "has no study.h5"),
    (["report", "RUN", "--runs"], "--runs has no effect on a run"),
    (["report", "RUN", "--outpt", "x"], "unrecognized arguments: --outpt"),
    (["export", "RUN"], "say what to write"),
    (["export", "RUN", "--perfetto", "x", "--table", "/jobs"], "--table has no effect"),
    (["export", "RUN", "--csv", "c", "--table", "/job"], "no table /job; it has"),
])
def test_mistakes_are_told(reported, tiny, tmp_path, arguments: list[str], said: str) -> None:
    words = [str(tiny.path) if word == "RUN" else word for word in arguments]
    status, text = reported(*words)
    assert status == 2 and said in text
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_has_a_status_of_its_own(reported, tiny: orrery.Run) -> None:
    status, text = reported("report", tiny.path, "-o", "nowhere/a.html")
    assert status == 74 and text == "nowhere/a.html: cannot be written: No such file or directory\n"
    assert reported("export", tiny.path, "--csv", "/dev/null/c")[0] == 74


def test_help_is_that_of_the_command(reported) -> None:
    for words in (["report", "--help"], ["help", "report"]):
        status, text = reported(*words)
        assert status == 0 and text.startswith("usage: orrery report")


def test_a_missing_module_is_told_with_its_package(reported, tiny, tmp_path) -> None:
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "h5py.py").write_text("raise ModuleNotFoundError(\"No module named 'h5py'\", "
                                  "name='h5py')")
    status, text = reported("report", tiny.path, PYTHONPATH=str(fake))
    assert status == 2 and text == "No module named 'h5py'; apt-get install python3-h5py\n"


def test_a_file_in_the_current_folder_hides_no_module(reported, tiny, tmp_path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(99)")
    assert reported("report", tiny.path, "-o", "a.html")[0] == 0


def test_a_study_knows_the_parameters_of_its_axes(study: Path) -> None:
    assert orrery.Study(study).parameters == {
        "nodes": ("cluster.pools[0].count", "nodes"), "policy": ("policy.base", "")}


def test_the_page_of_a_study_compares_and_links(reported, study: Path, tmp_path: Path) -> None:
    assert reported("report", study, "-o", "s.html")[0] == 0
    page = (tmp_path / "s.html").read_text()
    assert "Does gang scheduling help?" in page and "Mean time to completion of each cell" in page
    assert "Against strict: 0 of 1 differ clearly" in page
    assert page.count('.h5">1</a>') == 2 and page.count('.h5">2</a>') == 2
    assert "Mean time to completion: mean time from submission until the end" in page


def test_pages_of_runs_are_linked_by_that_of_their_study(reported, study: Path, tmp_path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(study, copy)
    assert reported("report", copy, "--runs")[0] == 0
    page = (copy / "report.html").read_text()
    assert '<a href="runs/00000-s1.html">1</a>' in page
    assert len(list((copy / "runs").glob("*.html"))) == 4
