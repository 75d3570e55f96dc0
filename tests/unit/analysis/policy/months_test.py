"""On real traces, built-in policies decide like the same policies in Python and like a client over a
socket."""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import threading
from pathlib import Path

import h5py
import pytest
from orrery import remote

ROOT = Path(__file__).resolve().parents[4]
TRACES = Path(os.environ.get("ORRERY_TRACES", ROOT.parent / "shared/traces"))
KTH = TRACES / "swf/KTH-SP2-1996-2_28481.swf.gz"
HELIOS = TRACES / "helios/venus_gpu_jobs_48hclamp.csv.gz"
TWINS = Path(__file__).parent / "policies/twins.py"
DAY = 86400
MONTH = (61 * DAY, 92 * DAY)  # 18 May to 17 June 2020, in seconds of the trace

KTH_SP2 = f"""
cluster: {{machines: [{{name: sp2, base: cpu-32, cpus: 1}}], pools: [{{name: sp2, machine: sp2, count: 100}}]}}
workload: {{sources: [{{kind: trace, format: swf, file: {KTH}}}]}}
record: {{timeline: {{interval: 10min}}}}
"""
VENUS = """
cluster: {pools: [{name: venus, machine: v100m32-8, count: 133}]}
workload: {sources: [{kind: trace, file: month.csv}]}
record: {timeline: {interval: 10min}}
"""


def twin(cls: str) -> str:
    return f"{{name: Python, args: {{file: {TWINS}, class: {cls}}}}}"


@pytest.fixture
def run(program, tmp_path):
    library = Path(program).parent / "liborrery_python.so"
    if not library.exists():
        pytest.skip("built without policies in Python")
    if not (KTH.exists() and HELIOS.exists()):
        pytest.skip(f"NOT COMPARED: there are no real traces in {TRACES}; ORRERY_TRACES names their folder")
    with gzip.open(HELIOS, "rt") as whole, open(tmp_path / "month.csv", "w", newline="") as month:
        rows = csv.reader(whole)
        kept = csv.writer(month, lineterminator="\n")
        kept.writerow(next(rows))
        kept.writerows([job, float(arrival) - MONTH[0], *rest] for job, arrival, *rest in rows
                       if MONTH[0] <= float(arrival) < MONTH[1])

    def run(text: str) -> dict[str, bytes]:
        (tmp_path / "s.yaml").write_text(text)
        done = subprocess.run([program, "run", "s.yaml", "-q", "-o", "out.h5", "--plugin", library],
                              cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        tables: dict[str, bytes] = {}

        def keep(name: str, item: object) -> None:
            if isinstance(item, h5py.Dataset) and name.split("/")[0] in ("jobs", "pods", "timeline"):
                tables[name] = item[()].tobytes()

        with h5py.File(tmp_path / "out.h5") as file:
            file.visititems(keep)
            assert len(file["jobs"]) > 10_000
        return tables

    return run


def queue(scenario: str, policies: str) -> str:
    counting = "driver: counting, " if scenario is KTH_SP2 else "base: strict_gang, "
    counts = "counts: [cpus], react: each_event, " if scenario is KTH_SP2 else ""
    return f"{scenario}policy: {{{counting}job_queue: {{{counts}policies: [{policies}]}}}}\n"


@pytest.mark.parametrize("scenario", [KTH_SP2, VENUS], ids=["KTH SP2", "a month of Helios Venus"])
@pytest.mark.parametrize(("ours", "theirs"), [
    ("{name: SJF}, {name: Skip}", twin("Sjf") + ", {name: Skip}"),
    ("{name: EASY}", twin("Easy")),
], ids=["SJF", "EASY"])
def test_the_job_queue_in_python(run, scenario, ours, theirs):
    assert run(queue(scenario, ours)) == run(queue(scenario, theirs))


@pytest.mark.parametrize("scenario", [KTH_SP2, VENUS], ids=["KTH SP2", "a month of Helios Venus"])
def test_easy_over_a_socket(run, tmp_path, scenario):
    address = f"unix:{tmp_path}/s"
    ours = run(queue(scenario, "{name: EASY}"))
    client = threading.Thread(target=remote.serve, args=(address, remote.Easy), kwargs={"runs": 1}, daemon=True)
    client.start()
    assert ours == run(queue(scenario, f'{{name: Remote, args: {{address: "{address}"}}}}'))
    client.join(20)
    assert not client.is_alive()


@pytest.mark.parametrize("scenario", [KTH_SP2, VENUS], ids=["KTH SP2", "a month of Helios Venus"])
def test_a_score_in_python(run, scenario):
    def text(score: str) -> str:
        queued = "job_queue: {counts: [cpus], policies: [{name: EASY}]}, " if scenario is KTH_SP2 else ""
        return (f"{scenario}policy: {{{queued}disable: [NodeResourcesBalancedAllocation], plugins: "
                f"[{{name: NodeResourcesFit, scores: false}}, {score}]}}\n")
    assert run(text("{name: BestFit}")) == run(text(twin("BestFit")))
