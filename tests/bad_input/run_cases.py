#!/usr/bin/python3
"""Runs every input of cases.py and checks the messages, the exit status and the files left behind."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cases import CASES, Case  # noqa: E402

SECONDS_MAX = 20


def write_files(folder: Path, case: Case) -> None:
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def complaints(binary: str, plugins: str, case: Case) -> list[str]:
    """Differences between the expected and the actual answer of the program; empty if there are none."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, case)
        before = {p.relative_to(folder) for p in folder.rglob("*")}
        limit = case.file_bytes_max

        def small_files() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        arguments = [a.replace("{plugins}", plugins) for a in case.arguments]
        try:
            done = subprocess.run([binary, *arguments], cwd=folder, capture_output=True,
                                  timeout=SECONDS_MAX, preexec_fn=small_files, check=False)
        except subprocess.TimeoutExpired:
            return [f"still runs after {SECONDS_MAX} s"]
        error = done.stderr.decode(errors="replace")
        found = []
        if done.returncode != case.status:
            found.append(f"exit status {done.returncode}, expected {case.status}")
        found += [f"stderr lacks {text!r}" for text in case.says if text not in error]
        found += [f"stderr has {text!r}" for text in case.never_says if text in error]
        out = done.stdout.decode(errors="replace")
        found += [f"stdout lacks {text!r}" for text in case.prints if text not in out]
        left = {p.relative_to(folder) for p in folder.rglob("*")} - before
        found += [f"does not leave {name}" for name in case.leaves if Path(name) not in left]
        left -= {Path(name) for name in case.leaves}
        found += [f"left behind: {path}" for path in sorted(left)]
        if found:
            found.append("stderr was: " + error[:600])
            found += ["stdout was: " + out[:600]] * bool(case.prints)
        return found


def main() -> int:
    binary, plugins = sys.argv[1:3]
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)), "case names must differ"
    failed = 0
    for case in CASES:
        found = complaints(binary, plugins, case)
        failed += bool(found)
        if found:
            print(f"FAILED {case.name}\n  " + "\n  ".join(found))
    print(f"{len(CASES) - failed} of {len(CASES)} wrong inputs were answered as they should be")
    return 1 if failed or len(CASES) < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
