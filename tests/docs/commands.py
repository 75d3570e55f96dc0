"""Runs the commands of a page in a folder that looks like the root of the tree, or only checks them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

from not_run import NOT_RUN
from pages import ROOT, Block, Page

PYTHON = "/usr/bin/python3"
SECONDS_MAX = 120  # limit for a block, or for one command of a console block


def commands_of(block: Block) -> list[tuple[int, str]]:
    """The commands of a shell block, with their line numbers. Comments are left out, continued lines are
    joined."""
    found: list[tuple[int, str]] = []
    joined, begin = "", 0
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        begin = begin if joined else number
        if line.endswith("\\"):
            joined += line[:-1]
            continue
        command = re.sub(r"(^|\s+)#.*$", "", joined + line).strip()
        joined = ""
        if command:
            found.append((begin, command))
    return found


def sessions_of(block: Block) -> list[tuple[int, str, list[str]]]:
    """The commands in a block that shows a terminal: line number, command, and the output shown below it."""
    found: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if line.startswith("$ "):
            found.append((number, line[2:], []))
        elif found:
            found[-1][2].append(line)
    return found


def why_not_run(command: str) -> tuple[str, tuple[str, ...]] | None:
    for pattern, why, checks in NOT_RUN:
        if re.match(pattern, command):
            return why, checks
    return None


def matches(shown: list[str], output: list[str]) -> bool:
    """Whether the output is as shown. A shown line `...` stands for any number of lines."""
    if not shown:
        return not output
    if shown[0].strip() == "...":
        return any(matches(shown[1:], output[i:]) for i in range(len(output) + 1))
    return bool(output) and shown[0].rstrip() == output[0].rstrip() and matches(
        shown[1:], output[1:])


def stop(process: subprocess.Popen[str]) -> None:
    """Kills a process with all its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Workshop:
    """A folder with links to the entries of the tree's root, but not to .git, and with a `build` that has
    only a link `release`. The blocks of one page run in it."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder = folder
        for entry in ROOT.iterdir():
            if entry.name not in ("build", ".git"):
                (folder / entry.name).symlink_to(entry)
        (folder / "build").mkdir()
        (folder / "build" / "release").symlink_to(program.parent.parent)
        self.environment = os.environ | {
            "PATH": f"{program.parent}:{os.environ['PATH']}", "ORRERY": str(program),
            "PYTHONPATH": str(ROOT / "analysis"), "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "Agg"}
        self.servers: list[subprocess.Popen[str]] = []
        self.helps: dict[str, str] = {}

    def start(self, *command: str, output: int) -> subprocess.Popen[str]:
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                start_new_session=True)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*command, output=subprocess.PIPE)
        try:
            output, errors = process.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            stop(process)
            raise
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    def help_of(self, command: str) -> str:
        if command not in self.helps:
            self.helps[command] = self.run("build/release/bin/orrery", command, "--help").stdout
        return self.helps[command]

    def run_page(self, page: Page) -> list[str]:
        """Runs the blocks of the page, and returns the problems."""
        mistakes = []
        try:
            for block in page.blocks:
                where = f"{page.name}:{block.line}"
                mistakes += [f"{where}: {mistake}" for mistake in self.run_block(block)]
        finally:
            for server in self.servers:
                stop(server)
        return mistakes

    def run_block(self, block: Block) -> list[str]:
        if block.file:
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
            return []
        if block.language == "python":
            return self.run_script(PYTHON, "-c", block)
        if block.language == "sh":
            return self.run_shell(block)
        if block.language == "console":
            return self.run_session(block)
        if block.language == "text":
            return [mistake for _, command in commands_of(block) if command.startswith("orrery ")
                    for mistake in self.check("options", command.replace("[", " ").replace("]", " "))]
        return []

    def run_script(self, interpreter: str, flag: str, block: Block, text: str = "") -> list[str]:
        text = text or block.text
        if block.background:
            self.servers.append(self.start(interpreter, flag, text, output=subprocess.DEVNULL))
            return []
        try:
            result = self.run(interpreter, flag, text)
        except subprocess.TimeoutExpired:
            return [f"takes more than {SECONDS_MAX} s: {text}"]
        if result.returncode != 0:
            return [f"status {result.returncode} of\n{text}\n{result.stdout[-2000:]}{result.stderr[-2000:]}"]
        return []

    def run_shell(self, block: Block) -> list[str]:
        mistakes, script = [], []
        for _, command in commands_of(block):
            excuse = why_not_run(command)
            if excuse is None:
                script.append(command)
                continue
            mistakes += [mistake for check in excuse[1] for mistake in self.check(check, command)]
        if script:
            mistakes += self.run_script("bash", "-c", block, "set -e\n" + "\n".join(script))
        return mistakes

    def run_session(self, block: Block) -> list[str]:
        mistakes = []
        for line, command, shown in sessions_of(block):
            result = self.run("bash", "-c", command)
            output = result.stdout.splitlines()
            while output and not output[-1].strip():
                output.pop()
            while shown and not shown[-1].strip():
                shown.pop()
            if not matches(shown, output):
                mistakes.append(f"line {line}: `{command}` does not print what is shown, but\n"
                                f"{result.stdout[-3000:]}{result.stderr[-1000:]}")
        return mistakes

    def check(self, kind: str, command: str) -> list[str]:
        return [f"`{command}`: {mistake}" for mistake in getattr(self, f"check_{kind}")(command)]

    def check_paths(self, command: str) -> list[str]:
        """Checks that the paths in the command exist. Checks only paths into folders of the tree, and not into
        build."""
        words = re.findall(r"[\w./-]+", command)
        return [f"there is no {word}" for word in words
                if "/" in word and (ROOT / word.split("/")[0]).is_dir()
                and word.split("/")[0] != "build" and not (ROOT / word).exists()]

    def check_options(self, command: str) -> list[str]:
        """Checks that the program has the command, and that the command has the options."""
        words = shlex.split(command.split("|")[0].replace("'", ""))[1:]
        name = words[0] if words else ""
        help_text = self.help_of(name)
        if not re.search(rf"\b{re.escape(name)}\b", help_text):
            return [f"there is no command {name}"]
        options = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", command)
        return [f"there is no option {option}" for option in options
                if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", help_text)]

    def check_presets(self, command: str) -> list[str]:
        presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
        known = {preset["name"] for preset in presets["configurePresets"]}
        return [f"there is no preset {name}" for name in re.findall(r"--preset[ =](\w+)", command)
                if name not in known]

    def check_targets(self, command: str) -> list[str]:
        lists = "".join((ROOT / path).read_text(encoding="utf-8")
                        for path in ("CMakeLists.txt", "bench/CMakeLists.txt"))
        return [f"there is no target {name}" for name in re.findall(r"--target[ =](\w+)", command)
                if not re.search(rf"add_(executable|custom_target|library)\({name}\b", lists)]

    def check_labels(self, command: str) -> list[str]:
        lists = (ROOT / "tests" / "CMakeLists.txt").read_text(encoding="utf-8")
        return [f"there is no label {label}" for label in re.findall(r"-L (\w+)", command)
                if f"LABELS {label}" not in lists]

    def check_benchmarks(self, command: str) -> list[str]:
        name = re.search(r"bench_(\w+)", command)
        assert name
        return [] if (ROOT / "bench" / f"{name.group(1)}.cpp").exists() else ["there is none"]
