"""The page of a run."""

from __future__ import annotations

import json
import math
from html import escape

import pandas as pd

from orrery.report import run_charts
from orrery.report.charts import Chart
from orrery.report.page import Section, Tile, page, table
from orrery.report.words import number, with_unit
from orrery.run import Run


def tiles(summary: pd.Series) -> list[Tile]:
    """What most people ask first, of what there is."""
    get = summary.get
    found = [
        Tile("Useful GPU time", f"{100 * get('gpu_share_useful', math.nan):.1f} %",
             "of all GPUs' time, less what failures undid"),
        Tile("Allocated GPU time", f"{100 * get('gpu_share_allocated', math.nan):.1f} %",
             "reserved for pods"),
        Tile("Jobs completed", number(get("jobs_completed", math.nan)),
             f"of {number(get('jobs_submitted', math.nan))} that arrived"),
        Tile("Median wait", with_unit(get("wait_p50", math.nan), "s"),
             f"99 %: {with_unit(get('wait_p99', math.nan), 's')}"),
        Tile("Median time to completion", with_unit(get("jct_p50", math.nan), "s"),
             f"99 %: {with_unit(get('jct_p99', math.nan), 's')}"),
        Tile("Failures of nodes", number(get("nodes_failed", math.nan)),
             f"restarts of jobs: {number(get('restarts', math.nan))}"),
    ]
    if get("deadlocks", 0) > 0:
        hours = number(get("gpu_hours_deadlocked", math.nan))
        found.append(Tile("Deadlocks", number(get("deadlocks")), f"{hours} GPU h held in them"))
    if get("api_requests", 0) > 0:
        found.append(Tile("API requests", number(get("api_requests")),
                          f"99 % within {with_unit(get('api_latency_p99', math.nan), 's')}"))
    return found


def summary_table(summary: pd.Series) -> str:
    units, docs = summary.attrs["units"], summary.attrs["docs"]
    rows = [[name, with_unit(value, units[name]), docs[name]] for name, value in summary.items()]
    return table(["figure", "value", "what it means"], rows, numeric=[1])


def teams_table(run: Run) -> str:
    each = run_charts.fairness_rows(run)
    if each is None or len(each) < 2:
        return ""
    rows = [
        [str(team), f"{row['jobs']:,.0f}", f"{row['gpu_hours']:,.1f}", f"{row['share']:.1f} %",
         with_unit(row["wait"], "s"), f"{row['slowdown']:.3g}"]
        for team, row in each.iterrows()
    ]
    heads = ["team", "jobs", "useful GPU h", "of all teams'", "mean wait", "mean slowdown"]
    return table(heads, rows, numeric=range(1, 6))


def about(run: Run) -> Section:
    """What it takes to run it again."""
    meta = run.meta
    rows = [["program", meta.version], ["seed", str(meta.seed)],
            ["digest", meta.digest or "not known: the run is not complete"],
            ["simulated", with_unit(run.end, "s")],
            ["complete", "yes" if run.complete else "no"]]
    resolved = escape(json.dumps(meta.resolved, indent=1, ensure_ascii=False))
    html = (
        table([], rows)
        + f"<h3>The scenario as written</h3><pre tabindex=0>{escape(meta.scenario)}</pre>"
        + f"<details><summary>All parameters as used</summary><pre tabindex=0>{resolved}</pre>"
        + "</details>"
    )
    return Section("about", "How to run it again", html=html)


def run_page(run: Run) -> str:
    """One file of HTML that tells of this run."""
    left_out: list[str] = []

    def section(name: str, title: str, *found: Chart | str, html: str = "") -> Section:
        left_out.extend(one for one in found if isinstance(one, str))
        return Section(name, title, [one for one in found if isinstance(one, Chart)], html)

    charts = run_charts
    sections = [
        section("use", "Use of the GPUs", charts.utilisation(run), charts.fragmentation(run)),
        section("waiting", "Waiting", charts.queue_length(run, "jobs"),
                charts.queue_length(run, "pods"), charts.cdf(run, "wait"), charts.cdf(run, "jct")),
        section("stuck", "Stuck", charts.stuck(run)),
        section("nodes", "Nodes", charts.heat_map(run, "allocation"),
                charts.heat_map(run, "health"), charts.nodes_down(run), charts.failures(run)),
        section("recovery", "Recovery", charts.recoveries(run)),
        section("teams", "Teams", charts.teams(run), html=teams_table(run)),
        section("control", "Control plane", charts.control_plane(run)),
    ]
    facts: list[Tile] = []
    if run.complete:
        summary = run.summary
        facts = tiles(summary)
        sections.append(Section("figures", "All figures", html=summary_table(summary)))
    else:
        left_out.append("Headline figures: the run is not complete")
    sections.append(about(run))
    nodes = run.table("/nodes")
    machines = ", ".join(f"{count:,} × {name}" for name, count in
                         nodes["machine"].value_counts().items())
    description = run.meta.resolved.get("description") or ""
    lede = f"{description} {machines}; {with_unit(run.end, 's')} simulated, seed {run.meta.seed}."
    return page(run.name, lede.strip(), facts, sections, left_out)
