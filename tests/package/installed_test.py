"""What `cmake --install` gives, moved to another folder and used from there:

    pytest tests/package --build build/release
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
POLICY = """
from orrery.policy import GPU, Policy

class SomeGpu(Policy):
    def score(self, cycle, nodes):
        return (nodes.free(GPU) > 0) * 100
"""


class Installed:
    """An installation, and a folder in which its commands run."""

    def __init__(self, prefix: Path, work: Path) -> None:
        self.prefix, self.work = prefix, work
        self.environment = {"PATH": f"{prefix}/bin:/usr/bin:/bin", "HOME": str(work),
                            "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}

    def __call__(self, *words: object) -> str:
        done = subprocess.run([str(word) for word in words], cwd=self.work, env=self.environment,
                              capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    @property
    def scenarios(self) -> Path:
        return self.prefix / "share" / "orrery" / "scenarios"


@pytest.fixture(scope="module")
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    build = Path(request.config.getoption("--build")).resolve()
    folder = tmp_path_factory.mktemp("installed")
    command = ["cmake", "--install", build, "--prefix", folder / "first"]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "first").rename(folder / "second")
    (folder / "work").mkdir()
    return Installed(folder / "second", folder / "work")


def ships_with_its_input(path: Path) -> bool:
    """Whether all input files of the scenario are installed; traces are not."""
    base = re.search(r"^base: (.*)$", path.read_text(), re.MULTILINE)
    if base and (path.parent / base[1]).suffix == ".yaml":
        return ships_with_its_input(path.parent / base[1])
    return "shared/traces/" not in path.read_text()


def test_the_version_is_the_same_everywhere(installed: Installed) -> None:
    version = re.search(r"project\(orrery VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert installed("orrery", "--version") == f"orrery {version[1]}\n"
    assert f'version = "{version[1]}"' in (ROOT / "analysis" / "pyproject.toml").read_text()


def test_a_scenario_is_run_drawn_and_explained(installed: Installed) -> None:
    installed("orrery", "run", installed.scenarios / "dead-rank-timeout.yaml", "-q", "-o", "a.h5")
    installed("orrery", "plot", "dead-rank", "a.h5", "-o", "a.png")
    assert (installed.work / "a.png").read_bytes().startswith(b"\x89PNG")
    installed("orrery", "report", "a.h5")
    assert (installed.work / "a.html").exists()
    assert "train" in installed("orrery", "explain", "a.h5", "--job", "train")


def test_scenarios_and_studies_that_ship_are_valid(installed: Installed) -> None:
    every = sorted(path.relative_to(ROOT / "scenarios")
                   for path in (ROOT / "scenarios").glob("**/*.yaml"))
    shipped = [installed.scenarios / path for path in every]
    assert [path for path in shipped if not path.exists()] == []
    with_input = [path for path in shipped if ships_with_its_input(path)]
    scenarios = [path for path in with_input if path.parent == installed.scenarios]
    assert len(scenarios) > 30
    installed("orrery", "validate", *scenarios)
    for study in [path for path in with_input if path.parent.name == "studies"]:
        installed("orrery", "study", "plan", study)


def test_the_package_finds_the_program(installed: Installed) -> None:
    code = f"""
import sys
sys.path.insert(0, "{installed.prefix}/lib/python3/dist-packages")
from orrery import program
print(program.find())
run = program.simulate("{installed.scenarios}/lone-job.yaml", "lone.h5", "--until", "1h")
print(len(run.table("/jobs")))
"""
    found, jobs = installed("/usr/bin/python3", "-c", code).split()
    assert found == f"{installed.prefix}/bin/orrery" and int(jobs) >= 1


def test_the_program_finds_the_library_of_policies_in_python(installed: Installed) -> None:
    if not (installed.prefix / "lib" / "orrery" / "liborrery_python.so").exists():
        pytest.skip("built without policies in Python")
    (installed.work / "some.py").write_text(POLICY)
    plugin = ("--plugin", "liborrery_python.so")
    assert "SomeGpu" in installed("orrery", "describe", "Python:some.py:SomeGpu", *plugin)
    policy = f"[{{name: Python, args: {{file: {installed.work}/some.py, class: SomeGpu}}}}]"
    installed("orrery", "run", installed.scenarios / "preemption.yaml", "-q", "-o", "policy.h5",
              *plugin, "--until", "1h", "--set", f"policy.plugins={policy}")


def test_the_manual_page_has_every_command_and_option(installed: Installed) -> None:
    page = installed.prefix / "share" / "man" / "man1" / "orrery.1"
    text = page.read_text().replace("\\-", "-")
    usage = re.findall(r"^  orrery (\w+) (.*)$", installed("orrery", "--help"), re.MULTILINE)
    for name, rest in usage:
        if name == "COMMAND":
            continue
        assert f".SS orrery {name}\n" in text
        for option in re.findall(r"(?<![\w-])--?[a-z-]+", rest):
            assert option in text
    if shutil.which("man"):
        shown = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True,
                               env=os.environ | {"LANG": "C.UTF-8", "MANWIDTH": "200"})
        assert shown.returncode == 0 and shown.stderr == ""
        assert "orrery plot" in shown.stdout


def offered(installed: Installed, *words: str) -> list[str]:
    """Completions that bash offers for the last word."""
    script = installed.prefix / "share" / "bash-completion" / "completions" / "orrery"
    quoted = " ".join(f"'{word}'" for word in words)
    code = (f'. "{script}"; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _orrery; '
            'printf "%s\\n" "${COMPREPLY[@]}"')
    return installed("bash", "--norc", "-c", code).split()


def test_bash_completes_commands_options_and_files(installed: Installed) -> None:
    (installed.work / "mine.yaml").touch()
    (installed.work / "notes.txt").touch()
    (installed.work / "mine.h5").touch()
    assert offered(installed, "orrery", "ru") == ["run"]
    assert offered(installed, "orrery", "--v") == ["--version"]
    assert offered(installed, "orrery", "run", "--s") == ["--set", "--seed"]
    assert offered(installed, "orrery", "run", "mi") == ["mine.yaml"]
    shipped = str(installed.scenarios / "lone-job.yaml")
    assert offered(installed, "orrery", "run", "lone") == [shipped]
    assert offered(installed, "orrery", "validate", "mine.yaml", shipped[:-5]) == [shipped]
    assert offered(installed, "orrery", "report", "mi") == ["mine.h5"]
    assert offered(installed, "orrery", "plot", "gan") == ["gantt", "gantt-leaf"]
    assert offered(installed, "orrery", "plot", "gantt", "mi") == ["mine.h5"]
    assert offered(installed, "orrery", "study", "r") == ["run", "report"]
    assert offered(installed, "orrery", "study", "run", "gang") == [
        str(installed.scenarios / "studies" / "gang-scheduling.yaml")]
    assert offered(installed, "orrery", "describe", "Conserv") == ["Conservative"]
    assert offered(installed, "orrery", "help", "exp") == ["explain", "export"]
    assert offered(installed, "orrery", "run", "--seed", "") == []


def test_the_completion_of_zsh_knows_the_same(installed: Installed) -> None:
    """Compares only the names that zsh completes. clean_image.sh tests completion by pressing keys."""
    script = installed.prefix / "share" / "zsh" / "vendor-completions" / "_orrery"
    text = script.read_text()
    assert text.startswith("#compdef orrery\n")
    for name in re.findall(r"^  orrery ([a-z]+) ", installed("orrery", "--help"), re.MULTILINE):
        assert f"\n    '{name}:" in text and f"\n        {name})\n" in text
    if shutil.which("zsh"):
        installed("zsh", "-n", script)
