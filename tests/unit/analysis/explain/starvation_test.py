"""Jobs that overtook a waiting job, and changes that would have let it start. Checked by hand."""

from __future__ import annotations

import pytest
from orrery.explain import explain_job
from scenarios import QUEUE, TAINTS

# Two nodes of 8 GPUs. The gang `wide` needs both. The first job has one node for an hour, and small jobs that
# arrive later take the other node.
OVERTAKEN = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 2}]}
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: first, team: red, work: 1h, pod: {gpus: 8}}
    - {name: wide, team: red, submit: 1min, work: 10min, pods: 2, pod: {gpus: 8}}
    - {name: small, team: blue, submit: 2min, count: 2, work: 2h, pod: {gpus: 4}}
    - {name: urgent, team: red, submit: 90min, priority: 5, work: 1h, pod: {gpus: 2}}
policy: {base: strict_gang}
run: {until: 5h}
"""
# One node under each leaf switch is taken, so the two free nodes are under different switches.
LEAVES = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4, nodes_per_leaf: 2}]}
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: a, work: 1h, pod: {gpus: 8, node_selector: {kubernetes.io/hostname: gpu-0}}}
    - {name: b, work: 1h, pod: {gpus: 8, node_selector: {kubernetes.io/hostname: gpu-2}}}
    - {name: pair, submit: 1min, work: 10min, pods: 2, pod: {gpus: 8}}
policy: {base: strict_gang, plugins: [{name: TopologyPlacement}]}
run: {until: 2h}
"""


def in_short(run, job: str) -> str:
    text = explain_job(run, job).text.replace("\n             ", " ")
    reported = [line for line in text.splitlines() if line.startswith("  In short")]
    assert len(reported) <= 1 and (not reported or text.splitlines()[1] == reported[0]), "the first line"
    return reported[0].removeprefix("  In short   ") if reported else ""


def test_who_came_later_and_went_first_is_counted_with_team_and_size(made) -> None:
    run = made("overtaken", text=OVERTAKEN)
    jobs = run.table("/jobs").set_index("name")
    wide = jobs.loc["wide"]
    assert wide["bound"] == pytest.approx(2.5 * 3600, abs=1), "both nodes are free after urgent"
    # Two small jobs used 2 x 4 GPUs x 2 h = 16 GPU h, the urgent one 2 GPUs x 1 h = 2 GPU h.
    assert in_short(run, "wide").startswith(
        "3 jobs submitted later got nodes before it (1 of higher priority): 2 of team blue with 4 "
        "GPUs each (16 GPU h while it waited) and 1 of team red with 2 GPUs (2 GPU h while it "
        "waited). ")
    rows = explain_job(run, "wide").tables["overtakers"]
    assert rows["name"].to_list() == ["small", "small", "urgent"]
    assert in_short(run, "first") == ""


def test_the_fewest_nodes_that_lacked_are_told_with_the_instant(made) -> None:
    # One of the two nodes is free from 1 min, when `wide` arrives, to 2 min.
    assert in_short(made("overtaken", text=OVERTAKEN), "wide").endswith(
        "1 more node of 8 GPUs would have let it start at 0d 00:01:00, when 1 of its 2 pods had "
        "room.")


def test_a_job_of_one_pod_needs_a_node(made) -> None:
    text = OVERTAKEN.replace("submit: 1min, work: 10min, pods: 2", "submit: 3min, work: 10min, pods: 1")
    assert in_short(made("overtaken-one", text=text), "wide") == (
        "1 more node of 8 GPUs would have let it start at 0d 00:03:00.")


def test_a_node_that_was_down_is_named(made) -> None:
    run = made("overtaken-down", text=OVERTAKEN.replace("count: 2}]", "count: 3}]", 1)
               + "faults: {list: [{node: gpu-2, at: 30s, repair: 4h}]}\n")
    assert in_short(run, "wide").endswith(
        "It would have started at 0d 00:01:00 if gpu-2 had not been down.")


def test_nodes_with_a_taint_are_no_room(made) -> None:
    assert in_short(made("taints", text=TAINTS), "late").endswith(
        "2 more nodes of 4 GPUs would have let it start at 0d 00:05:00, when none of its 2 pods had "
        "room.")


def test_room_under_several_leaf_switches_is_told(made) -> None:
    assert in_short(made("leaves", text=LEAVES), "pair") == (
        "At 0d 00:01:00 its 2 pods had room under several leaf switches, and 1 under one: without "
        "TopologyPlacement, or with 1 more node of 8 GPUs there, it would have started.")


def test_a_quota_says_how_much_less_its_team_had_to_use(made) -> None:
    run = made("queue", text=QUEUE)
    assert in_short(run, "over").endswith(  # team a uses 6 of 7 GPUs, and the job needs 2
        "1 GPU less used by team a, which held 6 of its quota of 7, would have let it start.")
    assert in_short(run, "head").endswith(  # the job needs 8 GPUs, and 2 are free
        "6 more GPUs (2 nodes of 4 GPUs) would have let it start at 0d 00:00:01.")
    assert in_short(run, "long").endswith(
        "It would have fitted at 0d 00:00:03 if EASY had not put job 1 (head) first.")
