"""The page: one file of HTML with its style, script and data inside; it loads nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from matplotlib import colormaps

from orrery.report.charts import PALETTE, Chart
from orrery.report.jobs import Jobs

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = (
    "numbers.js", "reduce.js", "elements.js", "unpack.js", "timeline.js", "curves.js", "arms.js",
    "heat.js", "lanes.js", "jobs.js", "gantt.js", "chart.js", "page.js",
)
# The browser refuses all resources outside of the file.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


@dataclass
class Section:
    """A heading with charts, and HTML of its own below them."""

    id: str
    title: str
    charts: list[Chart] = field(default_factory=list)
    html: str = ""
    link: str = ""
    """Its name in the bar of sections; empty: the title."""
    finding: str = ""
    """Sentences below the title about what the section shows."""
    aside: str = ""
    """Shown beside the title in grey, such as the identifier of a metric."""


@dataclass(frozen=True)
class Tile:
    """One figure at the top of the page."""

    name: str
    value: str
    more: str = ""

    @property
    def html(self) -> str:
        more = f"<small>{escape(self.more)}</small>" if self.more else ""
        return f"<div><dt>{escape(self.name)}</dt><dd>{escape(self.value)}{more}</dd></div>"


def _style() -> str:
    """The style sheet, with the palette as variables for a light and a dark page."""
    palette = "".join(f"--{name}:light-dark({light},{dark});"
                      for name, (light, dark) in PALETTE.items())
    return f":root{{{palette}}}\n" + (ASSETS / "report.css").read_text(encoding="utf-8")


def _script() -> str:
    parts = [(ASSETS / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _data(charts: Sequence[Chart], more: Mapping[str, Any]) -> str:
    """The data as JSON for a script element. No text in it can look like the end of the element."""
    shades = [[round(255 * part) for part in shade[:3]] for shade in colormaps["cividis"].colors]
    specs = [chart.spec | {"id": chart.id, "title": chart.title} for chart in charts]
    text = json.dumps({"shades": shades, "charts": specs} | dict(more), allow_nan=False,
                      separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _figure(chart: Chart, number: int) -> str:
    note = f'<p class="note">{escape(chart.note)}</p>' if chart.note else ""
    return (
        f'<figure id="{chart.id}" data-chart="{number}">'
        f"<figcaption><h3>{escape(chart.title)}</h3>{note}</figcaption></figure>"
    )


def _section(section: Section, first: int) -> str:
    figures = "".join(_figure(chart, first + place) for place, chart in enumerate(section.charts))
    grid = f'<div class="charts">{figures}</div>' if figures else ""
    aside = f' <span class="id">{escape(section.aside)}</span>' if section.aside else ""
    finding = f'<p class="finding">{escape(section.finding)}</p>' if section.finding else ""
    return (f'<section id="{escape(section.id)}"><h2>{escape(section.title)}{aside}</h2>{finding}'
            f"{grid}{section.html}</section>")


def page(
    title: str, lede: str, tiles: Sequence[Tile], sections: Sequence[Section],
    left_out: Sequence[str] = (), findings: Sequence[str] = (), jobs: Jobs | None = None,
) -> str:
    """The page as one file of HTML. `title`, `lede` and `findings` are plain text. `left_out` says which
    charts are absent, and why. `jobs` are shown by a section with an element "jobs-table"."""
    charts = [chart for section in sections for chart in section.charts]
    shown = [section for section in sections if section.charts or section.html]
    parts, number = [], 0
    for section in shown:
        parts.append(_section(section, number))
        number += len(section.charts)
    links = "".join(
        f'<li><a href="#{escape(one.id)}">{escape(one.link or one.title)}</a></li>'
        for one in shown
    )
    first = "".join(f"<li>{escape(one)}</li>" for one in findings)
    first = f'<ul class="findings">{first}</ul>' if first else ""
    facts = f'<dl class="tiles">{"".join(tile.html for tile in tiles)}</dl>' if tiles else ""
    without = f'<p class="note">Not shown. {escape("; ".join(left_out))}.</p>' if left_out else ""
    times = sum(one.spec["x"]["scale"] == "time" and "own" not in one.spec["x"] for one in charts)
    linked = (
        '<label><input type="checkbox" id="linked" checked> Zoom all times together</label>'
        if times > 1 else ""
    )
    packed = (f'<script type="text/plain" id="jobs-data">{jobs.data}</script>\n' if jobs else "")
    data = _data(charts, {"jobs": jobs.table} if jobs else {})
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>
{_style()}</style>
</head>
<body>
<a class="skip" href="#main">To the figures</a>
<header>
<div><h1>{escape(title)}</h1><p class="lede">{escape(lede)}</p></div>
<div class="settings">{linked}<button type="button" id="theme">Dark</button></div>
</header>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<noscript><p>The charts need JavaScript; tables and texts do not.</p></noscript>
<main id="main" tabindex="-1">
{first}
{facts}
{"".join(parts)}
{without}
<p class="note">Drag over a chart to zoom, double-click to see all of it; Ctrl and the wheel zoom,
too. With the keyboard: Tab to a chart, arrows read values, + and − zoom, Shift and arrows move, 0
resets. A click on a name below a chart hides what it names; the numbers beside it refer to the
visible range.</p>
</main>
<span id="probe" hidden></span>
<script type="application/json" id="data">{data}</script>
{packed}<script>
{_script()}</script>
</body>
</html>
"""


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int] = (), *,
    is_html: bool = False,
) -> str:
    """A table as HTML. Cells are text unless `is_html`; `numeric` columns are right-aligned. Without heads
    the table has no head row."""
    def cell(kind: str, text: str, place: int) -> str:
        inside = text if is_html else escape(text)
        number = ' class="number"' if place in numeric else ""
        scope = "" if kind == "td" else ' scope="col"' if kind == "th" else ' scope="row"'
        return f"<{kind[:2]}{number}{scope}>{inside}</{kind[:2]}>"

    names = "".join(cell("th", text, place) for place, text in enumerate(heads))
    head = f"<thead><tr>{names}</tr></thead>" if heads else ""
    body = "".join(
        "<tr>" + "".join(cell("td" if place else "th row", text, place)
                         for place, text in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll whole"><table>{head}<tbody>{body}</tbody></table></div>'
