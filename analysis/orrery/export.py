"""Runs in formats of other tools: Chrome's trace events (Perfetto reads them), CSV, Parquet."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from orrery.run import Run

JOBS, NODES, DEADLOCKS, CLUSTER = 1, 2, 3, 4  # ids of "processes", by which Perfetto groups lines
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
NO_PYARROW = """Parquet needs pyarrow, which Debian does not package. A way to install it and to use it:
    python3 -m venv --system-site-packages ~/pyarrow && ~/pyarrow/bin/pip install pyarrow
    ORRERY_PYTHON=~/pyarrow/bin/python orrery export ... --parquet DIR
Or write CSV instead: --csv DIR, or orrery.export.csv()."""
PROCESSES = {JOBS: "jobs", NODES: "nodes", DEADLOCKS: "deadlocks", CLUSTER: "cluster"}


def _known(row: dict[str, Any]) -> dict[str, Any]:
    """The row without NaN, which JSON cannot represent."""
    return {k: v for k, v in row.items() if not (isinstance(v, float) and v != v)}


def _span(pid: int, tid: int, name: str, begin: float, end: float, **about: Any) -> dict[str, Any]:
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": begin * 1e6,
            "dur": max(0.0, end - begin) * 1e6, "args": _known(about)}


def _named(pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}}


def _job_events(run: Run) -> Iterator[dict[str, Any]]:
    """Trace events of each job, on a line of its own: its wait, start and run."""
    for job in run.table("/jobs").itertuples():
        yield _named(JOBS, job.job, f"{job.name} #{job.job}")
        ended = run.end if pd.isna(job.ended) else job.ended
        marks = [job.submitted, job.bound, job.running, ended]
        known = [ended if pd.isna(mark) else min(mark, ended) for mark in marks]
        about = {"gpus": job.gpus, "team": job.team, "outcome": job.outcome}
        for name, begin, end in zip(("pending", "starting", "running"), known, known[1:]):
            if end > begin:
                yield _span(JOBS, job.job, name, begin, end, **about)


def _node_events(run: Run) -> Iterator[dict[str, Any]]:
    """Trace events of each node: a line for each GPU with the pods that held the GPU, and a line for the
    node's faults."""
    nodes = run.table("/nodes").set_index("node")
    width = int(nodes["gpus"].max()) + 1
    names = run.table("/jobs").set_index("job")["name"]
    used: set[tuple[int, int]] = set()
    for pod in run.table("/pods").itertuples():
        if pod.node < 0 or pd.isna(pod.bound):
            continue
        ended = run.end if pd.isna(pod.ended) else pod.ended
        for gpu in range(width - 1):
            if pod.gpus >> gpu & 1:
                used.add((pod.node, gpu))
                owner = f"{names[pod.job]} #{pod.job}"
                yield _span(NODES, pod.node * width + gpu, owner, pod.bound, ended,
                            rank=pod.rank, attempts=pod.attempts, left=pod.end)
    for fault in run.table("/events/faults").itertuples():
        up = run.end if pd.isna(fault.repaired_at) else fault.repaired_at
        used.add((fault.node, width - 1))
        yield _span(NODES, fault.node * width + width - 1, f"down: {fault.cause}", fault.at, up,
                    kind=fault.kind, jobs_hit=fault.jobs_hit, gpus_hit=fault.gpus_hit)
    for node, line in sorted(used):
        what = "down" if line == width - 1 else f"GPU {line}"
        yield _named(NODES, node * width + line, f"{nodes['name'][node]} {what}")


def _cluster_events(run: Run) -> Iterator[dict[str, Any]]:
    """Trace events of deadlocks, and counters over time."""
    for dead in run.table("/events/deadlocks").itertuples():
        over = run.end if pd.isna(dead.resolved_at) else dead.resolved_at
        yield _span(DEADLOCKS, dead.id, f"deadlock {dead.id}", dead.onset, over,
                    resolution=dead.resolution, gpus_held=dead.gpus_held, members=dead.members)
    cluster = run.table("/timeline/cluster")
    for counter, columns in (
        ("GPUs", ["gpus_allocated", "gpus_computing"]),
        ("pending", ["jobs_pending", "pods_pending"]),
    ):
        for time, *values in cluster[["time", *columns]].itertuples(index=False):
            yield {"ph": "C", "pid": CLUSTER, "name": counter, "ts": time * 1e6,
                   "args": dict(zip(columns, values))}


def _plain(value: Any) -> Any:
    """Converts NumPy's numbers, which json does not know."""
    return value.item()


def perfetto(run: Run, path: str | Path) -> int:
    """Writes jobs, pods by GPU, faults, deadlocks and counters as trace events, for ui.perfetto.dev and
    chrome://tracing. Times are microseconds of the simulation. Returns the number of events."""
    about = {"file": run.path.name, "seed": run.meta.seed, "version": run.meta.version}
    names = (
        {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}
        for pid, name in PROCESSES.items()
    )
    parts = (names, _job_events(run), _node_events(run), _cluster_events(run))
    encode = json.JSONEncoder(default=_plain, allow_nan=False, separators=(",", ":")).encode
    count = 0
    # A simulated month has millions of events. So the events are encoded and written one by one.
    with Path(path).open("w", encoding="utf-8") as file:
        head = encode({"displayTimeUnit": "ms", "otherData": about})
        file.write(head[:-1] + ',"traceEvents":[')
        for event in itertools.chain(*parts):
            file.write((",\n" if count else "") + encode(event))
            count += 1
        file.write("]}\n")
    return count


def _files(run: Run, folder: str | Path, tables: Sequence[str] | None, ending: str):
    """Each table with the path of its file. The table /events/faults goes to events-faults.csv."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for table in run.tables if tables is None else tables:
        name = table.strip("/").replace("/", "-") + ending
        yield run.table(table), folder / name


def _spreadsheet_safe(column: pd.Series) -> pd.Series:
    """The column with an apostrophe before texts that a spreadsheet would read as formulas. OWASP advises
    this against CSV injection."""
    if not (column.dtype == object or pd.api.types.is_string_dtype(column)):
        return column
    return column.map(lambda cell: f"'{cell}" if isinstance(cell, str)
                      and cell.startswith(FORMULA_STARTS) else cell)


def csv(run: Run, folder: str | Path, tables: Sequence[str] | None = None) -> list[Path]:
    """Writes all tables, or only the named ones, as one file each into the folder. Column heads have units,
    as in `wait [s]`. A time that never came is an empty cell. A text that begins like a formula gets an
    apostrophe before it."""
    written = []
    for frame, path in _files(run, folder, tables, ".csv"):
        units = frame.attrs["units"]
        heads = {c: f"{c} [{units[c]}]" if units[c] else c for c in frame.columns}
        safe = pd.DataFrame({heads[c]: _spreadsheet_safe(frame[c]) for c in frame.columns})
        safe.to_csv(path, index=False)
        written.append(path)
    return written


def parquet(run: Run, folder: str | Path, tables: Sequence[str] | None = None) -> list[Path]:
    """Writes all tables, or only the named ones, as one file each into the folder; needs pyarrow. Units and
    explanations are metadata of the columns."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(NO_PYARROW) from None
    written = []
    for frame, path in _files(run, folder, tables, ".parquet"):
        content = pyarrow.Table.from_pandas(frame, preserve_index=False)
        for number, name in enumerate(frame.columns):
            about = {"unit": frame.attrs["units"][name], "doc": frame.attrs["docs"][name]}
            field = content.schema.field(number).with_metadata(about)
            content = content.cast(content.schema.set(number, field))
        pyarrow.parquet.write_table(content, path)
        written.append(path)
    return written
