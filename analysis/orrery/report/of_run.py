"""The page of a run."""

from __future__ import annotations

import json
import math
from html import escape
from shlex import quote

import pandas as pd

from orrery.report import run_charts, run_findings
from orrery.report.charts import Chart, time_axis
from orrery.report.jobs import jobs_of
from orrery.report.page import Section, Tile, page, table
from orrery.report.titles import words_of
from orrery.report.words import number, with_unit
from orrery.run import Run

JOBS_PLACE = '<div id="jobs-table"></div>'


def tiles(run: Run) -> list[Tile]:
    """The figures at the top of the page, all from /summary."""
    summary = run.summary
    get = summary.get
    found = [
        Tile("Useful GPU time", f"{100 * get('gpu_share_useful', math.nan):.1f} %",
             "of all GPUs' time, less what failures undid"),
        Tile("Allocated GPU time", f"{100 * get('gpu_share_allocated', math.nan):.1f} %",
             "reserved for pods"),
        Tile("Jobs completed", number(get("jobs_completed", math.nan)),
             f"of {number(get('jobs_submitted', math.nan))} that arrived"),
        Tile("Median wait", with_unit(get("wait_p50", math.nan), "s"),
             f"of jobs that ran; 99 %: {with_unit(get('wait_p99', math.nan), 's')}"),
        Tile("Median time to end", with_unit(get("jct_p50", math.nan), "s"),
             f"of jobs that reached it; 99 %: {with_unit(get('jct_p99', math.nan), 's')}"),
        Tile("Failures of nodes", number(get("nodes_failed", math.nan)),
             f"restarts of jobs: {number(get('restarts', math.nan))}"),
    ]
    if get("deadlocks", 0) > 0:
        hours = with_unit(get("gpu_hours_deadlocked", math.nan), "GPU h")
        found.append(Tile("Deadlocks", number(get("deadlocks")), f"{hours} held in them"))
    if get("api_requests", 0) > 0:
        found.append(Tile("API requests", number(get("api_requests")),
                          f"99 % within {with_unit(get('api_latency_p99', math.nan), 's')}"))
    return found


def summary_table(summary: pd.Series) -> str:
    units, docs = summary.attrs["units"], summary.attrs["docs"]
    rows = [[f'{escape(words_of(name, units[name]).title)} <span class="id">{escape(name)}</span>',
             escape(with_unit(value, units[name])), escape(docs[name])]
            for name, value in summary.items()]
    return table(["figure", "value", "what it means"], rows, numeric=[1], is_html=True)


def teams_table(run: Run) -> str:
    each = run_charts.fairness_rows(run)
    if each is None or len(each) < 2:
        return ""
    rows = [
        [str(team), number(row["jobs"]), with_unit(row["gpu_hours"], "GPU h"), f"{row['share']:.1f} %",
         with_unit(row["wait"], "s"), f"{row['slowdown']:.3g}"]
        for team, row in each.iterrows()
    ]
    heads = ["team", "jobs", "useful", "share of all teams", "mean wait", "mean slowdown"]
    return table(heads, rows, numeric=range(1, 6))


def failed_table(run: Run) -> str:
    """A table with a row for each kind of node failure."""
    faults = run.table("/events/faults")
    if faults.empty:
        return ""
    faults["length"] = faults["repaired_at"].fillna(run.end) - faults["at"]
    rows = [
        [str(cause), str(part["kind"].iloc[0]), number(len(part)), number(part["node"].nunique()),
         with_unit(part["length"].mean(), "s"), number(part["jobs_hit"].sum()),
         number(part["gpus_hit"].sum())]
        for cause, part in sorted(faults.groupby("cause"), key=lambda one: -len(one[1]))
    ]
    heads = ["what failed", "how it came", "faults", "nodes", "mean time down", "jobs hit",
             "GPUs of their pods"]
    return table(heads, rows, numeric=range(2, 7))


def _script(run: Run) -> str:
    """Shell commands that repeat the run: they write the scenario to a file and simulate it. If the scenario
    has several files, the commands write all parameters, defaults included, to one file."""
    meta, name = run.meta, run.name
    lines = meta.scenario.rstrip("\n").splitlines()
    sets = [line.removeprefix("# --set ") for line in lines if line.startswith("# --set ")]
    is_split = bool(lines) and lines[0].startswith("# file: ")
    text = (json.dumps(meta.resolved, indent=1, ensure_ascii=False) if is_split
            else "\n".join(line for line in lines if not line.startswith("# --set ")))
    mark = "END_OF_SCENARIO"
    while mark in text:
        mark += "_"
    given = "" if is_split else "".join(f" --set {quote(one)}" for one in sets)
    file, output = quote(f"./{name}.yaml"), quote(f"./{name}-again.h5")
    return (f"cat > {file} <<'{mark}'\n{text}\n{mark}\n"
            f"orrery run {file} --seed {meta.seed}{given} -o {output}")


def about(run: Run) -> Section:
    """The section about how to repeat the run."""
    meta = run.meta
    rows = [["program", meta.version], ["seed", str(meta.seed)],
            ["digest", meta.digest or "not known: the run is not complete"],
            ["simulated", with_unit(run.end, "s")],
            ["complete", "yes" if run.complete else "no"]]
    resolved = escape(json.dumps(meta.resolved, indent=1, ensure_ascii=False))
    html = (
        '<div class="copy"><button type="button" data-copy="again">Copy the command</button>'
        '<span class="note">Paste it into a shell. Files that the scenario names, such as traces, '
        "are looked for from the shell's folder.</span></div>"
        f'<pre id="again" tabindex=0>{escape(_script(run))}</pre>'
        + table([], rows)
        + f"<details><summary>All parameters as used</summary><pre tabindex=0>{resolved}</pre>"
        + "</details>"
    )
    finding = (f"The same scenario and seed give the digest {meta.digest}." if meta.digest else "")
    return Section("about", "How to run it again", html=html, link="Run it again", finding=finding)


def run_page(run: Run) -> str:
    """The page of this run as one file of HTML."""
    with run.reading_once():
        return _run_page(run)


def _run_page(run: Run) -> str:
    left_out: list[str] = []
    charts, findings = run_charts, run_findings

    def section(name: str, title: str, finding: str, *found: Chart | str, html: str = "",
                link: str = "") -> Section:
        left_out.extend(one for one in found if isinstance(one, str))
        shown = [one for one in found if isinstance(one, Chart)]
        return Section(name, title, shown, html, link=link, finding=finding)

    jobs = jobs_of(run, time_axis(run.end))
    sections = [
        section("use", "Use of the GPUs", findings.use(run), charts.losses(run),
                charts.utilisation(run), charts.fragmentation(run), link="GPUs"),
        section("jobs", "Jobs", "" if isinstance(jobs, str) else findings.jobs(run),
                charts.gantt(jobs), html="" if isinstance(jobs, str) else JOBS_PLACE),
        section("waiting", "Waiting", findings.waiting(run), charts.queue_length(run, "jobs"),
                charts.queue_length(run, "pods"), charts.cdf(run, "wait"), charts.cdf(run, "jct")),
        section("stuck", "Stuck", findings.stuck(run), charts.stuck(run)),
        section("nodes", "Nodes", findings.health(run), charts.heat_map(run),
                charts.failed(run), charts.nodes_down(run), charts.failures(run),
                html=failed_table(run)),
        section("recovery", "Recovery", findings.recovery(run), charts.recoveries(run)),
        section("teams", "Teams", findings.teams(run), charts.teams(run), html=teams_table(run)),
        section("control", "Control plane", findings.control(run), charts.control_plane(run)),
    ]
    facts: list[Tile] = []
    if run.complete:
        facts = tiles(run)
        sections.append(Section("figures", "All figures", html=summary_table(run.summary)))
    else:
        left_out.append("Headline figures: the run is not complete")
    sections.append(about(run))
    nodes = run.table("/nodes")
    machines = ", ".join(f"{count:,} × {name}" for name, count in
                         nodes["machine"].value_counts().items())
    description = run.meta.resolved.get("description") or ""
    lede = f"{description} {machines}; {with_unit(run.end, 's')} simulated, seed {run.meta.seed}."
    return page(run.name, lede.strip(), facts, sections, left_out,
                jobs=None if isinstance(jobs, str) else jobs)
