"""The page: one file of HTML with its style, script and data inside; it asks for nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from matplotlib import colormaps

from orrery.report.charts import COLOURS, Chart

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = (
    "numbers.js", "reduce.js", "elements.js", "timeline.js", "curves.js", "arms.js", "heat.js", "lanes.js",
    "chart.js", "page.js",
)
# The browser refuses whatever is not in the file.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


@dataclass
class Section:
    """A heading with charts, and HTML of its own below them."""

    id: str
    title: str
    charts: list[Chart] = field(default_factory=list)
    html: str = ""
    link: str = ""
    """What the list of sections calls it, if not its title."""


@dataclass(frozen=True)
class Tile:
    """One figure that is told first."""

    name: str
    value: str
    more: str = ""

    @property
    def html(self) -> str:
        more = f"<small>{escape(self.more)}</small>" if self.more else ""
        return f"<div><dt>{escape(self.name)}</dt><dd>{escape(self.value)}{more}</dd></div>"


def _style() -> str:
    """The palette of all figures as variables; black is the ink of the theme."""
    names = {name: paint for paint, name in COLOURS.items() if name not in ("ink", "muted")}
    palette = "".join(f"--{name}:{paint};" for name, paint in names.items())
    return f":root{{{palette}}}\n" + (ASSETS / "report.css").read_text(encoding="utf-8")


def _script() -> str:
    parts = [(ASSETS / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _data(charts: Sequence[Chart]) -> str:
    """As JSON inside of HTML: nothing in it may look like the end of the element."""
    shades = [[round(255 * part) for part in shade[:3]] for shade in colormaps["cividis"].colors]
    specs = [chart.spec | {"id": chart.id, "title": chart.title} for chart in charts]
    text = json.dumps({"shades": shades, "charts": specs}, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _figure(chart: Chart, number: int) -> str:
    note = f'<p class="note">{escape(chart.note)}</p>' if chart.note else ""
    return (
        f'<figure id="{chart.id}" data-chart="{number}">'
        f"<figcaption><h3>{escape(chart.title)}</h3>{note}</figcaption></figure>"
    )


def page(
    title: str, lede: str, tiles: Sequence[Tile], sections: Sequence[Section],
    left_out: Sequence[str] = (),
) -> str:
    """The whole file. `title` and `lede` are text; `left_out` says in a line what there is not."""
    charts = [chart for section in sections for chart in section.charts]
    shown = [section for section in sections if section.charts or section.html]
    parts, number = [], 0
    for section in shown:
        drawn = []
        for chart in section.charts:
            drawn.append(_figure(chart, number))
            number += 1
        grid = f'<div class="charts">{"".join(drawn)}</div>' if drawn else ""
        parts.append(f'<section id="{section.id}"><h2>{escape(section.title)}</h2>{grid}'
                     f"{section.html}</section>")
    links = "".join(
        f'<li><a href="#{one.id}">{escape(one.link or one.title)}</a></li>'
        for one in shown
    )
    facts = f'<dl class="tiles">{"".join(tile.html for tile in tiles)}</dl>' if tiles else ""
    without = f'<p class="note">Not shown. {escape("; ".join(left_out))}.</p>' if left_out else ""
    times = sum(one.spec["x"]["scale"] == "time" and "own" not in one.spec["x"] for one in charts)
    linked = (
        '<label><input type="checkbox" id="linked" checked> Zoom all times together</label>'
        if times > 1 else ""
    )
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
{facts}
<p class="note">Drag over a chart to zoom, double-click to see all of it; Ctrl and the wheel zoom,
too. With the keyboard: Tab to a chart, arrows read values, + and − zoom, Shift and arrows move, 0
resets. Names below a chart hide what they name.</p>
{without}
{"".join(parts)}
</main>
<script type="application/json" id="data">{_data(charts)}</script>
<script>
{_script()}</script>
</body>
</html>
"""


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int] = (), *,
    is_html: bool = False,
) -> str:
    """Cells are text unless `is_html`; `numeric` columns stand right. No heads: no head."""
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
