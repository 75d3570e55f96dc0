"""Runs exported to formats of other tools."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import orrery
import pandas as pd
import pytest


def test_jobs_pods_and_faults_are_trace_events(tiny: orrery.Run, tmp_path: Path) -> None:
    count = orrery.export.perfetto(tiny, tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    events = trace["traceEvents"]
    assert count == len(events) and trace["otherData"]["seed"] == 3
    spans = [e for e in events if e["ph"] == "X"]
    assert all(e["dur"] >= 0 and 0 <= e["ts"] <= 3600e6 for e in spans)
    names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events if e["ph"] == "M"}
    by_line = {}
    for event in spans:
        line = names[event["pid"], event["tid"]]
        by_line.setdefault(line, []).append((event["name"], round(event["ts"] / 1e6)))
    assert by_line["late #3"] == [("pending", 120), ("starting", 725), ("running", 755)]
    assert by_line["gpu-0 down"] == [("down: list", 720)]
    assert by_line["gpu-3 GPU 4"] == [("small #2", 60)] and "gpu-3 GPU 6" not in by_line
    assert by_line["gpu-0 GPU 7"] == [("wide #0", 0), ("wide #0", 1355)]
    counters = [e["args"] for e in events if e["ph"] == "C" and e["name"] == "pending"]
    assert [c["pods_pending"] for c in counters] == [2, 3, 0, 0, 0, 0]


def test_a_deadlock_that_never_ends_lasts_to_the_end(made, tmp_path: Path) -> None:
    orrery.export.perfetto(made("two-experiments-default"), tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (dead,) = [e for e in events if e["name"] == "deadlock 0"]
    assert dead["ts"] + dead["dur"] == pytest.approx(3600e6) and dead["args"]["gpus_held"] == 128


def test_tables_are_csv_with_units(tiny: orrery.Run, tmp_path: Path) -> None:
    written = orrery.export.csv(tiny, tmp_path / "csv")
    assert len(written) == len(tiny.tables)
    jobs = pd.read_csv(tmp_path / "csv" / "jobs.csv")
    assert jobs["wait [s]"].to_list() == tiny.table("/jobs")["wait"].to_list()
    assert [p.name for p in orrery.export.csv(tiny, tmp_path, ["/events/faults"])] == [
        "events-faults.csv"
    ]


def test_parquet_is_written_or_refused(tiny: orrery.Run, tmp_path: Path) -> None:
    if importlib.util.find_spec("pyarrow") is None:
        with pytest.raises(ImportError, match="Parquet needs pyarrow") as refusal:
            orrery.export.parquet(tiny, tmp_path)
        assert "python3 -m venv" in str(refusal.value)  # pip of Debian 12 installs only into a venv
        assert "--csv DIR" in str(refusal.value) and not list(tmp_path.iterdir())
        return
    orrery.export.parquet(tiny, tmp_path, ["/jobs"])
    read = pd.read_parquet(tmp_path / "jobs.parquet")
    pd.testing.assert_frame_equal(read, tiny.table("/jobs"))
