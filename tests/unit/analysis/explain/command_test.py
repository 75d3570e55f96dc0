"""`orrery explain`: deadlocks, the list of jobs worth explaining, and mistakes in the command."""

from __future__ import annotations

import json

import pytest
from orrery.__main__ import main as commands
from orrery.explain import explain_deadlock
from orrery.telling import clock
from scenarios import PERMIT, TAINTS

ATTEMPTS = ("--set", "record.attempts=true")


def main(arguments: list[str]) -> int:
    return commands(["explain", *arguments])


@pytest.fixture
def deadlocked(made):
    return made("two-experiments-default", *ATTEMPTS)


def test_members_hold_what_the_pods_show(deadlocked) -> None:
    story = explain_deadlock(deadlocked, 0)
    members = story.tables["members"].set_index("job")
    pods = deadlocked.table("/pods")
    for job in (0, 1):
        bound = pods[(pods["job"] == job) & pods["bound"].notna()]
        assert members.at[job, "job_nodes_seen"] == sorted(bound["node"])
        assert members.at[job, "job_gpus_seen"] == 8 * len(bound) == members.at[job, "gpus_held"]
        assert members.at[job, "lacks"] == 16 - len(bound)
    row = deadlocked.table("/events/deadlocks").iloc[0]
    assert f"from {clock(row['onset'])} to 0d 01:00:00" in story.text
    assert "job 0 (first) holds 72 GPUs and lacks 7 pods" in story.blocked.replace("Job", "job")
    assert "each waits for nodes that the other holds" in story.blocked
    assert "lasted until the run ended" in story.text
    assert "All jobs together held 128 of 128 GPUs" in story.text


def test_a_deadlock_of_reserved_pods_has_their_nodes_if_attempts_are_recorded(made) -> None:
    run = made("permit", text=PERMIT)
    deadlock = run.table("/events/deadlocks").iloc[0]
    story = explain_deadlock(run, 0)
    members = story.tables["members"]
    seen = members.groupby("job").first()
    assert seen["job_gpus_seen"].sum() == deadlock["gpus_held"] == 56
    assert sorted(seen["job_nodes_seen"].sum()) == list(range(7))
    assert members["gpus_held"].sum() == 80, "at most of each, at different times"
    lines = [line.strip() for line in story.text.splitlines()]
    assert "gang 0 has 2 of 2 pods" in lines
    assert "gang 1 has 3 of 4 pods, waits for 1 more pod of 8 GPUs since 0d 00:00:00" in lines
    bare = made("permit-bare", "--set", "record.attempts=false", text=PERMIT)
    text = explain_deadlock(bare, 0).text
    assert "Nodes of reserved pods are not all known: record.attempts is false" in text
    assert "holds 40 GPUs at most; 16 GPUs at" in text


def test_the_list_has_waits_deadlocks_and_failures(made, deadlocked, capsys) -> None:
    assert main([str(deadlocked.path)]) == 0
    text = capsys.readouterr().out
    assert "Longest waits" in text and "Deadlocks" in text and "unresolved" in text
    assert main([str(deadlocked.path), "--attempts", "1"]) == 0
    assert "Longest waits (--job JOB), 1 of 2" in capsys.readouterr().out
    assert main([str(made("taints", text=TAINTS).path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[4].split()[:2] == ["2", "late"] and len(lines) == 5, "no other job waited"


def test_json_has_the_text_and_its_rows(deadlocked, capsys) -> None:
    assert main([str(deadlocked.path), "--job", "second", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["subject"] == "job 1 (second)"
    rows = deadlocked.table("/events/attempts")
    assert sum(row["count"] for row in reported["attempts"]) == (rows["job"] == 1).sum()
    assert reported["way"][0] == {"at": 0.0, "what": "submitted", "detail": ""}
    assert main([str(deadlocked.path), "--deadlock", "0", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["members"]) == 2


def test_fewer_lines_are_told_with_how_many_more(deadlocked, capsys) -> None:
    assert main([str(deadlocked.path), "--job", "0", "--attempts", "1"]) == 0
    text = capsys.readouterr().out
    assert "  and 9 attempts of 1 more kind between " in text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--job", "secnd"], "no job 'secnd'; did you mean second?"),
        (["--job", "77"], "no job '77'; its 2 jobs have the numbers 0 to 1"),
        (["--deadlock", "3"], "no deadlock 3; those of this run: 0"),
    ],
)
def test_unknown_jobs_and_deadlocks_are_told(deadlocked, capsys, arguments, complaint) -> None:
    assert main([str(deadlocked.path), *arguments]) == 2
    reported = capsys.readouterr()
    assert complaint in reported.err
    assert reported.out == ""


def test_names_of_several_jobs_are_told_with_their_numbers(tiny, capsys) -> None:
    assert main([str(tiny.path), "--job", "small"]) == 2
    assert "2 jobs are named 'small': take a number of 1, 2" in capsys.readouterr().err


def test_files_that_are_no_runs_are_told(tmp_path, capsys) -> None:
    assert main([str(tmp_path / "none.h5")]) == 2
    assert "no such file" in capsys.readouterr().err
    (tmp_path / "text.h5").write_text("not HDF5")
    assert main([str(tmp_path / "text.h5")]) == 2
    assert "not an HDF5 file" in capsys.readouterr().err


def test_tables_that_were_left_out_are_told(made, capsys) -> None:
    for table, arguments in (
        ("/events/deadlock_members", ["--deadlock", "0"]),
        ("/jobs", ["--job", "0"]),
        ("/jobs", []),
    ):
        run = made("two-experiments-default", "--set", f"record.off=[{table}]")
        assert main([str(run.path), *arguments]) == 2
        reported = capsys.readouterr().err
        assert "record.off leaves" in reported and table in reported


def test_contradictions_in_the_command_are_told(deadlocked, capsys) -> None:
    for arguments in (["--job", "0", "--deadlock", "0"], ["--attempts", "0"], ["--deadlock", "x"]):
        with pytest.raises(SystemExit) as left:
            main([str(deadlocked.path), *arguments])
        assert left.value.code == 2
        assert capsys.readouterr().err
