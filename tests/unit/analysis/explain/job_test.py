"""Explanations of jobs agree with the tables, from which the tests compute the same facts in other ways."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from orrery.explain import explain_job
from orrery.telling import clock, numbered, span, unnumbered
from scenarios import LATE, PERMIT, QUEUE, TAINTS

ATTEMPTS = ("--set", "record.attempts=true")


@pytest.fixture
def deadlocked(made):
    return made("two-experiments-default", *ATTEMPTS)


def held_by_job(run, at: float, nodes: set[int]) -> dict[int, int]:
    """GPUs on these nodes at this time by job, from /pods row by row."""
    held: Counter[int] = Counter()
    for pod in run.table("/pods").itertuples():
        # The end of the run releases no GPUs, so attempts at that instant still find them in use.
        goes_on = at < pod.ended or pod.end == "run_ended"
        if pod.node in nodes and pod.bound <= at and goes_on:
            held[pod.job] += bin(pod.gpus).count("1")
    return dict(held)


def test_every_attempt_of_the_job_is_in_one_line(deadlocked) -> None:
    reported = explain_job(deadlocked, "second").tables["attempts"]
    rows = deadlocked.table("/events/attempts")
    rows = rows[rows["job"] == 1]
    assert reported["count"].sum() == len(rows)
    assert Counter(rows["outcome"].astype(str)) == Counter(
        dict(reported.groupby("outcome")["count"].sum())
    )
    for line in reported.itertuples():
        alike = rows[(rows["outcome"] == line.outcome) & (rows["message"] == line.message)]
        assert line.first == alike["at"].min()
        assert line.last == alike["at"].max()
        assert line.ranks == sorted(alike["rank"].unique())


def test_filters_take_away_what_the_message_counts(deadlocked) -> None:
    story = explain_job(deadlocked, "second")
    lines = story.tables["attempts"]
    failed = lines.index[lines["outcome"] == "unschedulable"]
    assert len(failed) > 0
    for line in failed:
        removed = story.tables["rejections"].query("line == @line")
        counted = re.findall(r"(\d+) (Insufficient \S+?)[,.](?:\s|$)", lines.at[line, "message"])
        assert [(str(r.nodes), r.reason) for r in removed.itertuples()] == counted
        assert all(r.plugin == "NodeResourcesFit" for r in removed.itertuples())
    assert "NodeResourcesFit rejected 16 of 16 nodes (gpu-0 to gpu-15)" in story.text


def test_holders_are_those_that_the_pods_show(deadlocked) -> None:
    story = explain_job(deadlocked, "second")
    holders = story.tables["holders"]
    line = story.tables["attempts"].query("outcome == 'unschedulable'").index[-1]
    at = story.tables["attempts"].at[line, "last"]
    reported = holders[holders["line"] == line]
    assert dict(zip(reported["job"], reported["gpus"])) == held_by_job(deadlocked, at, set(range(16)))
    assert (reported["until"] == 3600.0).all()


def test_a_stuck_job_is_told_so_in_one_sentence(deadlocked) -> None:
    blocked = explain_job(deadlocked, "second").blocked
    row = deadlocked.table("/events/deadlock_members").query("job == 1").iloc[0]
    assert f"in deadlock 0 with job 0 (first) since {clock(row['joined'])}" in blocked
    assert f"holds {row['gpus_held']:g} GPUs for {row['assigned']} of its 16 pods" in blocked


def test_nodes_with_taints_are_told_apart_from_full_ones(made) -> None:
    run = made("taints", text=TAINTS)
    story = explain_job(run, "late")
    removed = story.tables["rejections"]
    assert removed.query("plugin == 'TaintToleration'")["nodes"].unique().tolist() == [2]
    text = " ".join(story.text.split())
    assert "(theirs-0, theirs-1): node(s) had untolerated taint(s); no pod" in text
    for line in removed["line"].unique():
        here = removed[removed["line"] == line]
        full = here[here["plugin"] == "NodeResourcesFit"]
        at = story.tables["attempts"].at[line, "last"]
        for row in full.itertuples():
            nodes = unnumbered(row.which)
            assert len(nodes) == row.nodes and max(nodes) < 3, "those with the taint are not full"
            holders = story.tables["holders"].query("line == @line")
            others = holders[holders["job"] != 2]
            expected = held_by_job(run, at, nodes)
            expected.pop(2, None)
            assert dict(zip(others["job"], others["gpus"])) == expected
    jobs = run.table("/jobs").set_index("job")
    wait = jobs.at[2, "bound"] - jobs.at[2, "created"]
    assert f"It waited {span(wait)} for nodes" in story.blocked
    assert "of which job 0 (wide) held 8 GPUs on 2 nodes until 0d 00:30:00" in story.blocked


def test_the_job_queue_says_why_it_lets_a_job_wait(made) -> None:
    run = made("queue", text=QUEUE)
    rows = run.table("/events/job_queue")
    jobs = run.table("/jobs").set_index("job")
    head, long, over, huge = (explain_job(run, n) for n in ("head", "long", "over", "huge"))
    assert "asks for 8 GPUs and 2 were free" in head.blocked
    assert "as job 0 (first) held 6 GPUs on 2 nodes until 0d 00:10:00" in head.blocked
    assert "EASY kept that for job 1 (head), to start at 0d 00:10:00" in long.blocked
    assert "Quota held it back: team a may hold 7 GPUs" in over.blocked
    assert "asks for 12 GPUs, more than the cluster has" in huge.blocked
    for number, story in ((1, head), (2, long), (3, over)):
        reported = story.tables["queue"]
        assert len(reported) == (rows["job"] == number).sum()
        wait = jobs.at[number, "created"] - jobs.at[number, "submitted"]
        waited = reported[reported["decision"] != "started"]["for"].sum()
        assert waited == pytest.approx(wait, abs=1e-6), "the reasons together are the whole wait"


def test_counted_jobs_hold_what_the_queue_counts(made) -> None:
    run = made("queue-counted", "--set", "policy.driver=counting", text=QUEUE)
    head = explain_job(run, "head")
    assert "8 GPUs and 2 were free, reserved for 0d 00:10:00, as job 0 (first) held 6" in (
        head.blocked
    )
    cores = made(
        "queue-cores", "--set", "policy.driver=counting", "--set",
        "policy.job_queue.counts=[cpus, gpus]", "--set", "policy.job_queue.policies=[{name: Strict}]",
        text=QUEUE.replace("pod: {gpus: 3}", "pod: {gpus: 3, cpus: 100}").replace(
            "pod: {gpus: 4}", "pod: {gpus: 4, cpus: 180}"
        ),
    )
    rows = cores.table("/events/job_queue")
    first = rows.query("job == 0 and decision == 'started'").iloc[0]
    reported = explain_job(cores, "head").blocked
    assert f"as job 0 (first) held {first['asked']} cores until" in reported
    bare = made(
        "queue-bare", "--set", "policy.driver=counting", "--set", "record.attempts=false",
        text=QUEUE,
    )
    reported = explain_job(bare, "head")
    assert "why is not in the file (record.attempts is false" in reported.blocked
    assert "Attempts are not" not in reported.text, "no pod is placed"


def test_a_failure_is_told_from_its_first_instant_to_the_last(made, tiny_text) -> None:
    run = made("tiny-attempts", *ATTEMPTS, text=tiny_text)
    story = explain_job(run, "wide")
    failed = run.table("/events/recoveries").query("job == 0").iloc[0]
    reported = dict(zip(story.tables["way"]["what"], story.tables["way"]["at"]))
    assert reported["failed"] == failed["failed"] == 720.0
    assert reported["noticed"] == failed["detected"]
    assert reported["pods created again"] == failed["recreated"]
    assert reported["enough pods had nodes"] == failed["scheduled"]
    assert reported["as far as before"] == failed["caught_up"]
    lost = failed["lost_gpu_s"] / failed["gpus"]
    assert f"node gpu-0 failed (list); {span(lost)} of compute since its last" in story.text
    waited = failed["scheduled"] - failed["recreated"]
    assert f"it waited {span(waited)} for nodes: there was room for" in story.blocked
    again = story.tables["attempts"].query("life == 1 and outcome == 'unschedulable'")
    assert (again["first"] >= failed["recreated"]).all() and len(again) > 0
    assert "of which job 3 (late) held 16 GPUs on 2 nodes" in story.blocked, "its former ones"
    accounts = run.table("/jobs").query("job == 0").iloc[0]
    assert f"{accounts['useful_gpu_s'] / 3600:.4g} GPU h" in story.text


def test_a_gang_is_told_for_how_many_of_its_pods_there_was_room(made, tiny_text) -> None:
    run = made("tiny-attempts", *ATTEMPTS, text=tiny_text)
    lines = explain_job(run, "late").tables["attempts"]
    rows = run.table("/events/attempts").query("job == 3 and outcome == 'unschedulable'")
    assert set(lines.query("outcome == 'unschedulable'")["placeable"]) == set(rows["placeable"])
    assert (rows["pods"] == 2).all() and (rows["placeable"] < 2).all()


def test_nodes_reserved_in_permit_are_held(made) -> None:
    run = made("permit", text=PERMIT)
    seen = 0
    for job in (0, 1):
        story = explain_job(run, job)
        lines = story.tables["attempts"]
        for line in story.tables["rejections"].query("plugin == 'NodeResourcesFit'")["line"]:
            holders = story.tables["holders"].query("line == @line")
            number = lines.at[line, "attempt"]
            assert dict(zip(holders["job"], holders["gpus"])) == reserved(run, number)
            seen += holders["gpus_reserved"].sum()
            assert (holders["gpus"] - holders["gpus_reserved"] == 16).all(), "of the first gangs"
    assert seen > 0


def reserved(run, number: int) -> dict[int, int]:
    """GPUs by job that attempt `number` found in use, from a replay of all earlier attempts."""
    rows = run.table("/events/attempts").sort_values("attempt")
    at = rows.loc[rows["attempt"] == number, "at"].iloc[0]
    ended = run.table("/pods")
    holding: dict[tuple[int, int], int] = {}
    for row in rows[rows["attempt"] < number].itertuples():
        keeps = str(row.outcome) in ("scheduled", "waiting_in_permit")
        holding[row.job, row.rank] = 8 if keeps else 0
    for pod in ended[ended["ended"] < at].itertuples():
        holding[pod.job, pod.rank] = 0
    held: Counter[int] = Counter()
    for (job, _), gpus in holding.items():
        held[job] += gpus
    return {job: gpus for job, gpus in held.items() if gpus}


def test_what_is_not_recorded_is_named_with_its_parameter(made) -> None:
    bare = made("two-experiments-default")
    text = explain_job(bare, "second").text
    assert "Attempts are not in the file: record.attempts is false; --set record.att" in text
    assert "in deadlock 0" in explain_job(bare, "second").blocked
    pods = made("two-experiments-default", "--set", "record.pods=false")
    assert "Pods are not in the file: record.pods is false" in explain_job(pods, "first").text
    off = made("two-experiments-default", *ATTEMPTS, "--set", "record.off=[/events/attempts]")
    assert "record.off leaves /events/attempts out" in explain_job(off, "first").text


def test_a_job_that_nothing_held_up_is_told_so(made) -> None:
    run = made("taints", text=TAINTS)
    assert explain_job(run, "wide").blocked == "Nothing held it up before it ran."


def test_ranges_and_times_read_as_written() -> None:
    assert clock(12 * 86_400 + 3 * 3600 + 4 * 60 + 5.9) == "12d 03:04:05"
    assert clock(np.nan) == "never"
    assert [span(s) for s in (0, 0.25, 61, 3_660, 90_000)] == [
        "0 s", "0.25 s", "1min 01s", "1h 01min", "1d 01h",
    ]
    numbers = {0, 1, 2, 7, 9, 10}
    assert numbered(numbers) == "0-2,7,9-10"
    assert unnumbered(numbered(numbers)) == numbers


def test_who_took_the_place_of_whom(made) -> None:
    run = made("preemption")
    preempted = run.table("/events/preemptions").iloc[0]
    story = explain_job(run, int(preempted["job"]))
    assert f"it made room for job {int(preempted['by_job'])} (urgent), priority 100" in story.text
    assert "1 preemption cost it" in story.text and "made room for another" in story.text


def test_starts_of_an_elastic_gang_name_the_last_call_and_late_members(made) -> None:
    run = made("late", text=LATE)
    story = explain_job(run, "late")
    rows = run.table("/events/gang_starts")
    starts = story.tables["starts"]
    assert starts["members"].to_list() == rows["members"].to_list() == [2, 3, 4]
    assert starts["late"].map(len).to_list() == [1, 1, 0]
    pods = run.table("/pods").query("job == 0").set_index("rank")["started"]
    for start in starts.head(2).itertuples():
        assert start.late_from == start.late_to == pods[start.late[0]]
        assert start.started < start.late_from < start.stopped
    first, second = (start.late[0] for start in starts.head(2).itertuples())
    late = numbered([first, second])
    text = " ".join(story.text.split())
    reported = "Started With 2 of 4 pods, 30 s after the last call; the last of 3 starts with all 4 pods"
    assert f"{reported}; ranks {late} came late" in text
    assert "took 35 s to start, 30 s of it for the last call" in story.blocked
    after = span(pods[first] - starts.at[0, "started"])
    assert f"came late rank {first}, {after} after that" in text
    assert "all ranks met 30 s after the change; 3 of 4 pods, 30 s after the last call" in text
    assert "all ranks met 0 s after the change; all 4 pods, without a wait" in text
    # At the first membership change, two members lose 3min 25s of compute each. At the second membership
    # change, three members lose 4min 15s each.
    for lost in ("3min 25s", "4min 15s"):
        assert f"{lost} of compute since its last checkpoint lost" in text
    assert text.count("last call enough pods are up") == 2
    assert "its gang gathers again with members that came late" in text
    assert "2 membership changes cost it" in story.blocked
    whole = explain_job(run, "whole")
    assert "Started" not in whole.text and not len(whole.tables["starts"])


def test_late_members_stay_out_of_a_gang_that_nobody_monitors(made) -> None:
    run = made("late-unmonitored", "--set", "workload.controller.monitor_interval=null", text=LATE)
    story = explain_job(run, "late")
    assert story.tables["starts"]["late"].map(len).to_list() == [2]
    assert "With 2 of 4 pods, 30 s after the last call; ranks 2-3 came late" in " ".join(
        story.text.split()
    )
    bare = made("late-bare", "--set", "record.pods=false", text=LATE)
    assert "with all 4 pods Ran" in " ".join(explain_job(bare, "late").text.split())
    off = made("late-off", "--set", "record.off=[/events/gang_starts]", text=LATE)
    assert "Started" not in explain_job(off, "late").text
