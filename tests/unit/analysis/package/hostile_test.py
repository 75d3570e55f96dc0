"""Names that would control a terminal or a spreadsheet, and damaged files."""

from __future__ import annotations

import csv
import json
import multiprocessing
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import orrery
import pytest
from orrery.__main__ import main
from orrery.printable import printable

HOSTILE = r"""
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 1}]}
workload:
  sources:
    - kind: jobs
      jobs:
        - {name: "=1+1", user: "\e]0;owned\a", team: "@\u202Eteam", work: 10min, pods: 1, pod: {gpus: 8}}
        - {name: "\e[2Jlate\nBlocked  no", work: 10min, pods: 1, pod: {gpus: 8}}
faults: {list: [{node: gpu-0, at: 12min, repair: 10min}]}
run: {until: 1h}
"""
COMMANDS = [["explain"], ["explain", "--job", "1"], ["explain", "--json"]]


@pytest.fixture
def hostile(made) -> orrery.Run:
    return made("hostile", text=HOSTILE)


def test_names_are_printable() -> None:
    assert printable("gpu-0 \\ é 漢 😀") == "gpu-0 \\ é 漢 😀"
    assert printable("\x1b]0;x\x07\r\n\t\x7f") == r"\x1b]0;x\x07\x0d\n\t\x7f"
    assert printable("\x9b2J\u202e\u2066\u2028") == r"\u009b2J\u202e\u2066\u2028"
    assert printable(b"\xff\xe9".decode(errors="surrogateescape")) == r"\xff\xe9"


@pytest.mark.parametrize("command", COMMANDS)
def test_names_of_jobs_cannot_steer_a_terminal(hostile, command, capsys) -> None:
    assert main([command[0], str(hostile.path), *command[1:]]) == 0
    text = capsys.readouterr().out
    assert not set(text) & set("\x1b\x07\u202e"), repr(text)
    assert "\nBlocked  no" not in text, "no line is forged"


def test_messages_that_name_jobs_cannot_either(hostile, capsys) -> None:
    assert main(["explain", str(hostile.path), "--job", "\x1b[2J"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_names_that_are_no_utf8_are_shown_byte_by_byte(hostile, tmp_path: Path) -> None:
    path = tmp_path / "bytes.h5"
    shutil.copy(hostile.path, path)
    with h5py.File(path, "a") as file:
        rows = file["/jobs"][:]
        rows["user"][0] = b"\xff\xfe"
        file["/jobs"][:] = rows
    assert orrery.open(path).table("/jobs")["user"][0] == r"\xff\xfe"


def test_a_spreadsheet_takes_no_name_for_a_formula(hostile, tmp_path: Path) -> None:
    orrery.export.csv(hostile, tmp_path, ["/jobs", "/nodes"])
    with (tmp_path / "jobs.csv").open(newline="") as file:
        first, second = csv.DictReader(file)
    assert first["name"] == "'=1+1" and first["team"] == "'@\u202eteam"
    assert second["name"] == "\x1b[2Jlate\nBlocked  no", "no formula: as it is"
    assert float(first["ended [s]"]) > 600 and second["restarts"] == "1"


def commands_on(path: Path, folder: Path) -> list[list[str]]:
    given = str(path)
    return [["explain", given], ["explain", given, "--job", "1"],
            ["report", given, "-o", str(folder / "page.html")],
            ["export", given, "--perfetto", str(folder / "trace.json")],
            ["export", given, "--csv", str(folder / "csv")]]


def broken(path: Path, damage: Callable[[h5py.File], None]) -> None:
    with h5py.File(path, "a") as file:
        damage(file)


def without(name: str, attribute: str | None = None) -> Callable[[h5py.File], None]:
    def damage(file: h5py.File) -> None:
        if attribute:
            del file[name].attrs[attribute]
        else:
            del file[name]

    return damage


def no_json(file: h5py.File) -> None:
    del file["/meta/resolved"]
    file["/meta/resolved"] = b"{no json"


def another_column(file: h5py.File) -> None:
    rows = file["/jobs"][:]
    attributes = dict(file["/jobs"].attrs)
    del file["/jobs"]
    file["/jobs"] = rows[["job"]]
    file["/jobs"].attrs.update(attributes)


def unknown_job(file: h5py.File) -> None:
    rows = file["/pods"][:]
    rows["job"] += 7
    file["/pods"][:] = rows


def unknown_outcome(file: h5py.File) -> None:
    rows = file["/jobs"][:]
    rows["outcome"] = 99
    file["/jobs"][:] = rows


@pytest.mark.parametrize("damage", [
    without("/meta/resolved"), without("/meta/scenario"), without("/", "seed"),
    without("/", "simulated_ns"), without("/jobs", "units"), without("/jobs", "docs"),
    without("/summary"), no_json, another_column, unknown_job, unknown_outcome])
def test_of_a_damaged_file_a_line_says_so(hostile, tmp_path: Path, capsys, damage) -> None:
    path = tmp_path / "damaged.h5"
    shutil.copy(hostile.path, path)
    broken(path, damage)
    for command in commands_on(path, tmp_path):
        status = main(command)
        reported = capsys.readouterr().err
        assert status in (0, 2), command
        assert len(reported.splitlines()) == (status == 2), reported
        assert status == 0 or "damaged.h5" in reported, reported


def told_of(command: list[str], capfd) -> str:
    """The message of a command that runs in its own process, because HDF5 may crash."""
    child = multiprocessing.get_context("fork").Process(target=lambda: sys.exit(main(command)))
    child.start()
    child.join(60)
    reported = capfd.readouterr().err
    assert child.exitcode in (0, 2) and len(reported.splitlines()) == (child.exitcode == 2), (
        f"{command} ends with {child.exitcode}: {reported}")
    return reported


@pytest.mark.parametrize("block", [b"FHDB", b"BTLF"])
def test_a_damaged_group_is_told_in_a_line(hostile, tmp_path: Path, capfd, block: bytes) -> None:
    """A block of links is damaged. HDF5 1.10 then frees memory that was never set."""
    whole = hostile.path.read_bytes()
    path = tmp_path / "damaged.h5"
    at = whole.find(block)
    assert at > 0, "a group has so many members that HDF5 keeps them in such blocks"
    while at > 0:
        path.write_bytes(whole[: at + 34] + bytes([whole[at + 34] ^ 0xFF]) + whole[at + 35 :])
        assert "damaged.h5" in told_of(["export", str(path), "--csv", str(tmp_path / "csv")], capfd)
        at = whole.find(block, at + 1)


def test_so_it_is_with_any_bytes_changed(hostile, tmp_path: Path, capfd) -> None:
    whole = hostile.path.read_bytes()
    path = tmp_path / "damaged.h5"
    draw = random.Random(7)
    for _ in range(60):
        changed = bytearray(whole[: draw.choice([len(whole), draw.randrange(len(whole))])])
        for _ in range(draw.choice([1, 4, 60])):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        path.write_bytes(changed)
        told_of(draw.choice(commands_on(path, tmp_path)), capfd)


def test_a_damaged_study_is_told_in_a_line(tmp_path: Path, capsys) -> None:
    (tmp_path / "study.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"x" * 4000)
    assert main(["report", str(tmp_path)]) == 2
    reported = capsys.readouterr().err
    assert len(reported.splitlines()) == 1 and "study.h5" in reported


def test_what_json_says_stays_as_it_is(hostile, capsys) -> None:
    assert main(["explain", str(hostile.path), "--json"]) == 0
    (waits,) = json.loads(capsys.readouterr().out)["waits"]
    assert waits["name"].startswith("\x1b[2Jlate")
