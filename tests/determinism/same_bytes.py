#!/usr/bin/python3
"""Runs scenarios with several builds, twice each, and compares everything that they write.

Only data about the host may differ: wall_seconds, and the host times in /profile.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

HOST_ATTRIBUTES = {"wall_seconds"}


def is_host_time(dataset: str, column: str) -> bool:
    if dataset == "/summary" or dataset.startswith("/summary/"):
        return "wall_seconds" in (column, dataset.rsplit("/", 1)[-1])
    is_profile = dataset == "/profile" or dataset.startswith("/profile/")
    return is_profile and ("host" in column or "wall" in column)


def attributes(node: h5py.HLObject) -> dict[str, bytes]:
    found = {}
    for name in sorted(node.attrs):
        if name not in HOST_ATTRIBUTES:
            value = node.attrs[name]
            found[name] = repr(value).encode() if isinstance(value, str) else bytes_of(value)
    return found


def bytes_of(value: object) -> bytes:
    array = numpy.asarray(value)
    if array.dtype.hasobject:  # texts of variable length: compares their values
        return repr(array.tolist()).encode()
    return str(array.dtype).encode() + array.tobytes()


def content(path: pathlib.Path) -> dict[str, bytes]:
    """Every attribute and every column of a file, by name, as bytes; without data about the host."""
    found: dict[str, bytes] = {}

    def take(name: str, node: h5py.HLObject) -> None:
        for key, value in attributes(node).items():
            found[f"{name}@{key}"] = value
        if not isinstance(node, h5py.Dataset):
            found[name] = b"group"
        elif node.dtype.names:
            rows = node[()]
            for column in node.dtype.names:
                if not is_host_time(name, column):
                    found[f"{name}.{column}"] = bytes_of(rows[column])
        elif not is_host_time(name, ""):
            found[name] = bytes_of(node[()])

    with h5py.File(path, "r") as file:
        take("/", file)
        file.visititems(lambda name, node: take("/" + name, node))
    return found


def differences(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    names = sorted(first.keys() | second.keys())
    return [name for name in names if first.get(name) != second.get(name)]


def run(binary: pathlib.Path, scenario: pathlib.Path, output: pathlib.Path) -> None:
    command = [str(binary), "run", str(scenario), "-o", str(output), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")


def compare(binaries: list[pathlib.Path], scenario: pathlib.Path, times: int) -> bool:
    """Runs one scenario with all builds. Prints one line, and the differences. Returns whether there are no
    differences."""
    started = time.monotonic()
    reference: dict[str, bytes] = {}
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        for binary in binaries:
            for attempt in range(times):
                output = pathlib.Path(folder) / "out.h5"
                output.unlink(missing_ok=True)
                run(binary, scenario, output)
                found = content(output)
                if not reference:
                    reference = found
                for name in differences(reference, found):
                    print(f"{scenario}: {name} differs in run {attempt + 1} of {binary}")
                    ok = False
    size = sum(map(len, reference.values()))
    verdict = "the same" if ok else "NOT the same"
    print(f"{scenario}: {verdict}, {len(binaries) * times} runs, {len(reference)} columns and "
          f"attributes, {size} bytes, {time.monotonic() - started:.1f} s")
    return ok


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", action="append", type=pathlib.Path, required=True)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("scenarios", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    return 0 if all([compare(arguments.binary, scenario, arguments.times)
                     for scenario in arguments.scenarios]) else 1


if __name__ == "__main__":
    sys.exit(main())
