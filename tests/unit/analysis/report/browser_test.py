"""The pages in a browser without a screen: no errors, no requests, charts are drawn, and everything works
with the keyboard, in light and dark, wide and narrow."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import orrery
import pytest
from conftest import TINY
from orrery import figures
from orrery.report import run_page, study_page
from orrery.report.words import with_unit
from PIL import Image

NEEDED = "bash -c '. scenarios/setup.sh && orrery_setup test' installs what it takes"
LONG = TINY.replace("interval: 10min, teams", "interval: 1s, teams")  # rows of 1 s, which are downsampled
HOSTILE = "</script><img src=x onerror=alert(1)>"
FOCUSABLE = "a[href], button, input, summary, [tabindex='0']"


def started() -> Any:
    """Starts a browser. If something is missing, fails and names it: these tests must not be skipped silently."""
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        from selenium.webdriver.remote.remote_connection import RemoteConnection
    except ModuleNotFoundError as error:
        pytest.fail(f"{error}; {NEEDED}")
    paths = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in paths:
        pytest.fail(f"chromium or chromedriver is not installed; {NEEDED}")
    RemoteConnection.set_timeout(180)  # a browser that hangs fails a test instead of blocking it
    options = webdriver.ChromeOptions()
    options.binary_location = paths[0]
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage",
                     "window-size=1300,900", "hide-scrollbars"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(paths[1]), options=options)


class Page:
    """A page that is open in the browser."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path) -> Page:
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.driver.get(path.resolve().as_uri())
        self.wait("return document.documentElement.dataset.ready")
        return self

    def wait(self, script: str) -> None:
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 20).until(lambda driver: driver.execute_script(script))

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def chart(self, name: str, script: str) -> Any:
        return self.run(f"const chart = orrery.charts.find((c) => c.spec.id === '{name}');"
                        f"{script}")

    def view(self, name: str) -> list[float]:
        return self.chart(name, "return chart.view")

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def press_in(self, name: str, *keys: str) -> None:
        self.chart(name, "chart.plot.focus()")
        self.press(*keys)

    def click(self, name: str, text: str) -> None:
        self.chart(name, "[...chart.figure.querySelectorAll('button')].find("
                         f"(b) => b.textContent.trim() === '{text}').click()")

    def media(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def width(self, pixels: int) -> None:
        size = {"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.wait("return (window.orrery?.charts ?? []).every("
                  "(c) => c.plot.clientWidth === c.width)")

    def requests(self) -> list[str]:
        """Requests of the browser after its request for the page."""
        reported = [json.loads(entry["message"])["message"] for entry in
                self.driver.get_log("performance")]
        urls = [one["params"]["request"]["url"] for one in reported
                if one["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("data:")][1:]


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    driver = started()
    yield Page(driver)
    driver.quit()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    folder = tmp_path_factory.mktemp("pages")

    def write(name: str, html: str) -> Path:
        path = folder / f"{name}.html"
        path.write_text(html, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def path(made, written) -> Path:
    return written("run", run_page(made("long", text=LONG)))


@pytest.fixture
def page(browser: Page, path: Path) -> Page:
    """The page of a run, after it has loaded."""
    browser.width(1300)
    browser.media("light")
    return browser.open(path)


def test_charts_are_drawn_and_nothing_goes_wrong_or_out(page: Page) -> None:
    shapes = page.run("""return Object.fromEntries(orrery.charts.map((chart) => [chart.spec.id,
        chart.svg.querySelectorAll("g[clip-path] > *").length]))""")
    assert len(shapes) == page.run("return document.querySelectorAll('figure').length") == 15
    assert shapes.pop("gantt") == 0  # the bars of this chart are drawn as pixels
    assert all(count > 0 for count in shapes.values()), shapes
    assert shapes["utilisation"] == 1 + 4 + 4  # one area, 4 bands and 4 lines
    assert page.driver.get_log("browser") == [] and page.requests() == []


def test_buttons_zoom_all_charts_over_time_and_reset(page: Page) -> None:
    before = page.chart("utilisation", "return chart.svg.innerHTML")
    page.click("utilisation", "+")
    low, high = page.view("utilisation")
    assert [low, high] == pytest.approx([720, 2880])
    labels = page.chart("utilisation", "return chart.svg.querySelector('.tick-x').textContent")
    assert float(labels) >= 12
    assert page.view("queue-pods") == page.view("gantt") == page.view("failed") == [low, high]
    assert page.view("cdf-wait") != [low, high] and page.view("recoveries")[0] == 0
    page.click("utilisation", "Reset")
    assert page.chart("utilisation", "return chart.svg.innerHTML") == before
    page.run("document.getElementById('linked').click()")
    page.click("utilisation", "+")
    assert page.view("queue-pods") == [0, 3600]


def test_keys_zoom_move_and_reset(page: Page) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    page.press_in("queue-jobs", "+", "+")
    assert page.view("queue-jobs") == pytest.approx([1152, 2448])
    ActionChains(page.driver).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT).key_up(
        Keys.SHIFT).perform()
    assert page.view("queue-jobs") == pytest.approx([1476, 2772])
    page.press("-")
    assert page.view("queue-jobs") == pytest.approx([1044, 3204])
    page.press("0")
    assert page.view("queue-jobs") == [0, 3600]


def test_the_mouse_zooms_and_resets(page: Page) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    svg = page.chart("utilisation", """chart.plot.scrollIntoView(
        {block: "center", behavior: "instant"}); return chart.svg""")
    drag = ActionChains(page.driver).move_to_element_with_offset(svg, -100, 0)
    drag.click_and_hold().move_by_offset(200, 0).release().perform()
    width = page.chart("utilisation", "return chart.inner.width")
    low, high = page.view("utilisation")
    assert high - low == pytest.approx(3600 * 200 / width, rel=0.02)
    ActionChains(page.driver).double_click(svg).perform()
    assert page.view("utilisation") == [0, 3600]
    page.chart("utilisation", """chart.svg.dispatchEvent(new WheelEvent("wheel", {deltaY: -1,
        ctrlKey: true, clientX: 400, cancelable: true, bubbles: true}))""")
    assert page.view("utilisation")[1] - page.view("utilisation")[0] == pytest.approx(2160)


def test_arrows_read_what_is_there(page: Page, made) -> None:
    from selenium.webdriver.common.keys import Keys

    page.press_in("utilisation", Keys.ARROW_RIGHT)
    text = page.chart("utilisation", "return chart.reading.textContent")
    use = figures.utilisation_data(made("long", text=LONG))["useful"]
    assert text.startswith("29 min 52 s to 30 min 8 s: allocated 75 %") and "useful" in text
    reported = float(text.split("useful ")[1].split(" ")[0])
    assert reported == pytest.approx(use.loc[1793:1808].mean(), rel=0.01)
    page.press_in("heat-allocation", Keys.ARROW_RIGHT, *[Keys.ARROW_LEFT] * 12)
    text = page.chart("heat-allocation", "return chart.reading.textContent")
    assert text.startswith("gpu-0, ") and text.endswith("allocated 0 %")
    page.press(Keys.ARROW_DOWN)
    text = page.chart("heat-allocation", "return chart.reading.textContent")
    assert text.startswith("gpu-1, ") and text.endswith("allocated 100 %")
    page.press_in("failed", Keys.ARROW_RIGHT)
    assert page.chart("failed", "return chart.reading.textContent") == \
        "gpu-0, from 12 min: list 10 min, 8 GPUs"
    page.press_in("stuck", Keys.ARROW_RIGHT)
    assert page.chart("stuck", "return chart.reading.textContent") == \
        "wide (job 0), from 12 min: hung 5 s, 24 GPUs"


def test_every_control_is_reached_by_tab(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    wanted = page.run(f"""window.wanted = [...document.querySelectorAll("{FOCUSABLE}")].filter(
        (e) => e.checkVisibility() && e.tabIndex >= 0); return wanted.length""")
    page.run("document.activeElement.blur()")
    reached = set()
    for _ in range(wanted + 5):
        page.press(Keys.TAB)
        reached.add(page.run("return wanted.indexOf(document.activeElement)"))
    assert reached >= set(range(wanted))
    unnamed = page.run("""return wanted.filter((e) => !(e.getAttribute("aria-label")
        ?? e.closest("label")?.textContent ?? e.textContent).trim() && e.tagName !== "PRE")
        .map((e) => e.outerHTML)""")
    assert unnamed == []


def test_names_below_a_chart_hide_what_they_name(page: Page) -> None:
    count = "return chart.svg.querySelectorAll('.line').length"
    assert page.chart("utilisation", count) == 4
    name = page.chart("utilisation", "return [...chart.figure.querySelectorAll('.legend button')]"
                                     ".find((b) => b.textContent.startsWith('power')).textContent")
    page.click("utilisation", name)
    assert page.chart("utilisation", count) == 3
    page.click("utilisation", name)
    assert page.chart("utilisation", count) == 4


def test_each_chart_is_a_table_as_well(page: Page) -> None:
    rows = page.run("""return orrery.charts.map((chart) => {
        chart.details.open = true; chart.fillTable();
        return [chart.spec.id, [...chart.details.querySelectorAll("tr")].map(
          (row) => [...row.cells].map((cell) => cell.textContent))]; })""")
    tables = dict(rows)
    assert all(len(table) > 1 and len({len(row) for row in table}) == 1
               for table in tables.values()), tables
    assert tables["queue-pods"][0] == ["until", "pods"]
    # A row is the mean over a minute of 60 samples. Two pods wait in the last sample of minute 1 (when the small
    # jobs arrive) and in the last sample of minute 2 (when `late` arrives): 2 / 60. In minute 3, the pods of
    # `late` wait all the time.
    assert [row[1] for row in tables["queue-pods"][1:4]] == [
        "0.03333 (0 to 2)", "0.03333 (0 to 2)", "2"]
    assert tables["queue-pods"][-1] == ["1 h", "0"]
    assert tables["recoveries"][1][0] == "mean of 1"


def test_dark_follows_the_system_and_the_button(page: Page) -> None:
    paint = """const of = (e, what) => getComputedStyle(e)[what].match(/[\\d.]+/g).map(Number);
        const figure = document.querySelector("figure");
        return [of(document.body, "backgroundColor"), of(figure, "backgroundColor"),
          of(document.body, "color"), of(figure.querySelector("svg text"), "fill"),
          of(document.querySelector("a[href^='#use']"), "color")]"""

    def contrast(one: list[float], other: list[float]) -> float:
        def light(colour: list[float]) -> float:
            parts = [c / 255 for c in colour[:3]]
            linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        bright, dim = sorted((light(one), light(other)), reverse=True)
        return (bright + 0.05) / (dim + 0.05)

    seen = {}
    for scheme in ("light", "dark"):
        page.media(scheme)
        paper, card, *inks = seen[scheme] = page.run(paint)
        assert all(contrast(ink, ground) >= 4.5 for ink in inks for ground in (paper, card))
    assert sum(seen["dark"][0][:3]) < 100 < 700 < sum(seen["light"][0][:3])
    page.run("document.getElementById('theme').click()")
    assert page.run(paint) == seen["light"]
    page.run("localStorage.clear()")


@pytest.mark.parametrize("width", [360, 600, 1400])
def test_a_page_does_not_scroll_sideways(page: Page, width: int) -> None:
    page.width(width)
    assert page.run("return document.documentElement.scrollWidth") <= width
    outside = page.run("""return orrery.charts.flatMap((chart) => [...chart.svg.querySelectorAll(
        "text")].filter((t) => { const box = t.getBoundingClientRect();
          return box.left < -1 || box.right > innerWidth + 1; }).map(
          (t) => chart.spec.id + " " + t.textContent))""")
    assert outside == []


COLOURS_SEEN = """
    const { data } = chart.canvas.getContext("2d").getImageData(0, 0, chart.canvas.width,
      chart.canvas.height);
    const seen = {};
    for (let k = 0; k < data.length; k += 4) {
      if (data[k + 3]) seen[data.slice(k, k + 3).join()] = (seen[data.slice(k, k + 3).join()] ?? 0) + 1;
    }
    const of = (name) => seen[orrery.rgbOf(name).join()] ?? 0;
    """
FRAME = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"


def lit(page: Page) -> str:
    """The label of the job that is highlighted in the Gantt chart; empty without a highlight."""
    page.driver.execute_async_script(FRAME)
    return page.run("return orrery.page.jobs.lit < 0 ? '' "
                    ": orrery.page.jobs.title(orrery.page.jobs.lit)")


def test_bars_stand_where_pods_held_gpus(page: Page, made) -> None:
    found = page.chart("gantt", """const { width, height } = chart.raster;
        return [0.02, 0.1, 0.3, 0.5, 0.7, 0.95].map((x) => [0.06, 0.3, 0.55, 0.8].map((y) => {
          const row = chart.pixels[Math.floor(y * height) * width + Math.floor(x * width)];
          return row === 0xffffffff ? -1 : chart.jobs.columns.job[row]; }));""")
    bars = figures.gantt_data(made("long", text=LONG))
    for x, column in zip((0.02, 0.1, 0.3, 0.5, 0.7, 0.95), found):
        for y, job in zip((0.06, 0.3, 0.55, 0.8), column):
            gpu = 32 * y % 8
            here = bars[(bars["begin"] <= 3600 * x) & (bars["end"] > 3600 * x)
                        & (bars["lane"] == int(4 * y)) & (bars["gpu"] <= gpu)
                        & (bars["gpu"] + bars["gpus"] > gpu)]
            assert job == (here["job"].iloc[0] if len(here) else -1)


def test_the_job_under_the_pointer_is_lit_and_the_rest_grey(page: Page) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    classes = page.chart("gantt", COLOURS_SEEN + "return [of('blue'), of('orange'), of('unlit')]")
    assert classes[0] > 0 and classes[1] > 0 and classes[2] == 0
    svg = page.chart("gantt", """chart.plot.scrollIntoView(
        {block: "center", behavior: "instant"}); return chart.svg""")
    ActionChains(page.driver).move_to_element_with_offset(svg, 100, -60).perform()
    assert lit(page) == "wide (job 0)"
    now = page.chart("gantt", COLOURS_SEEN + "return [of('blue'), of('orange'), of('unlit')]")
    assert (now[0] == 0 or now[1] == 0) and now[2] > 0 and now[0] + now[1] > 0
    tip = page.chart("gantt", "return chart.tip.textContent")
    assert "wide (job 0)" in tip and "GPUs 24" in tip and "a" in tip
    assert page.run("return document.querySelector('table.jobs tr.lit').textContent").startswith(
        "wide (job 0)")
    ActionChains(page.driver).click().move_to_element_with_offset(svg, 0, 280).perform()
    assert lit(page) == "wide (job 0)"  # a click keeps the highlight when the pointer leaves
    page.run("orrery.page.jobs.pin(orrery.page.jobs.pinned)")
    assert lit(page) == ""


def test_rows_of_the_table_light_the_gantt(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    page.run("document.querySelector('.jobs-scroll').focus()")
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert lit(page) == "small (job 1)"
    text = page.run("return orrery.page.table.reading.textContent")
    assert text.startswith("job small (job 1); team b; outcome completed; GPUs 3")
    assert page.chart("gantt", COLOURS_SEEN + "return of('unlit')") > 0
    page.press(Keys.ESCAPE)
    assert lit(page) == ""
    assert page.chart("gantt", COLOURS_SEEN + "return of('unlit')") == 0


def rows(page: Page, column: int) -> list[str]:
    return page.run("return [...document.querySelectorAll('table.jobs tr[data-row]')].map("
                    f"(line) => line.cells[{column}].textContent)")


def test_jobs_are_sorted_and_searched(page: Page) -> None:
    heads = page.run("return [...document.querySelectorAll('table.jobs th button')].map("
                     "(head) => head.textContent)")
    assert heads == ["job", "team", "outcome", "GPUs", "pods", "submitted", "waited", "ran",
                     "submitted to end", "restarts", "useful", "not useful"]

    def sort(name: str) -> list[str]:
        place = heads.index(name)
        page.run(f"document.querySelectorAll('table.jobs th button')[{place}].click()")
        return rows(page, place)

    assert sort("GPUs") == ["24", "16", "3", "3"] and sort("GPUs") == ["3", "3", "16", "24"]
    assert page.run("return document.querySelector('th[aria-sort]').ariaSort") == "ascending"
    assert sort("job") == ["late (job 3)", "small (job 1)", "small (job 2)", "wide (job 0)"]
    assert sort("waited")[0] == "10.6 min"
    page.run("""const box = document.querySelector("input[type=search]"); box.focus();""")
    page.press("b smal")
    assert rows(page, 0) == ["small (job 1)", "small (job 2)"]
    assert page.run("return document.querySelector('.told').textContent") == "2 of 4 jobs"
    page.driver.execute_async_script(FRAME)
    assert page.chart("gantt", COLOURS_SEEN + "return of('unlit')") > 0
    page.press(" #2")
    assert rows(page, 0) == ["small (job 2)"]
    page.run("""const box = document.querySelector("input[type=search]"); box.value = "";
        box.dispatchEvent(new Event("input")); document.querySelector(".find input[type=checkbox]")
        .click(); orrery.charts[0].setView(0, 30);""")
    assert rows(page, 0) == ["wide (job 0)"]


def test_the_gantt_is_ordered_and_coloured(page: Page) -> None:
    def names() -> list[str]:
        return page.chart("gantt", "return [...chart.legend.querySelectorAll('button')].map("
                                   "(b) => b.childNodes[1].textContent)")

    assert names() == ["a", "b"]
    page.click("gantt", "size")
    assert names() == ["3 to 4 GPUs", "9 to 16 GPUs", "17 to 32 GPUs"]
    page.click("gantt", "outcome")
    assert names() == ["completed"]
    page.click("gantt", "leaf")
    labels = page.chart("gantt", "return [...chart.svg.querySelectorAll('.tick-y')].map("
                                 "(text) => text.textContent)")
    assert labels == ["leaf 0", "leaf 1"]
    page.chart("gantt", "chart.plot.focus()")
    page.press("]", "]")
    assert page.chart("gantt", "return chart.rows") == [1, 2]
    page.press("0")
    assert page.chart("gantt", "return chart.rows") == [0, 4]


def test_figures_below_a_chart_are_of_the_range_that_is_seen(page: Page, made) -> None:
    note = "return [...chart.legend.querySelectorAll('li')].map((item) => item.textContent)"
    run = made("long", text=LONG)
    shares = figures.losses_data(run)
    assert page.chart("losses", note)[0] == f"useful {shares['useful'].mean():.1f} %"
    assert page.chart("losses", "return chart.range.textContent") == ""
    page.chart("losses", "chart.setView(600, 1200)")
    part = shares.loc[601:1200, "useful"].mean()
    assert page.chart("losses", note)[0] == f"useful {part:.1f} %"
    assert page.chart("losses", "return chart.range.textContent") == \
        "Figures of 10 min to 20 min."
    page.chart("gantt", "chart.draw()")
    assert page.chart("gantt", note)[0].startswith("a ")
    held = figures.gantt_data(run)
    length = held["end"].clip(upper=1200) - held["begin"].clip(lower=600)
    hours = (length.clip(lower=0) * held["gpus"])[held["team"] == "a"].sum() / 3600
    assert float(page.chart("gantt", note)[0].split()[1]) == pytest.approx(hours, rel=1e-3)


def test_the_bar_of_sections_stays_and_says_where_one_is(page: Page) -> None:
    page.run("document.documentElement.style.scrollBehavior = 'auto';"
             "document.getElementById('waiting').scrollIntoView()")
    page.driver.execute_async_script(FRAME)
    assert page.run("return document.querySelector('nav').getBoundingClientRect().top") == 0
    assert page.run("return document.querySelector('nav a[aria-current]').textContent") == "Waiting"
    top = page.run("return document.querySelector('#waiting h2').getBoundingClientRect().top")
    assert top >= page.run("return document.querySelector('nav').offsetHeight") - 1


def test_the_command_is_copied(page: Page) -> None:
    page.run("document.querySelector('button[data-copy]').click()")
    page.wait("return /Copied|Selected/.test("
              "document.querySelector('button[data-copy]').textContent)")
    assert page.run("return getSelection().toString()").startswith("cat > ./")


def test_numbers_are_written_as_in_the_texts(page: Page) -> None:
    values = [0, 1, 0.5, 59.99, 60, 90, 3599, 3600, 86400, 1e6, 123456.789, 1.5e-5, -7200, 2.5e15]
    for unit in ("", "s", "B", "B/s", "GPU s", "GPU h", "jobs"):
        found = page.run(f"return arguments[0].map((value) => orrery.withUnit(value, '{unit}'))",
                         values)
        assert found == [with_unit(value, unit) for value in values], unit


def test_joining_buckets_for_the_screen_keeps_their_extremes(page: Page) -> None:
    wrong = page.run("""
      let state = 7;
      const random = () => { state = (state * 48271) % 2147483647; return state / 2147483647; };
      const wrong = [];
      for (let round = 0; round < 300; round++) {
        const count = 1 + Math.floor(random() * 200);
        const ends = []; const low = []; const mean = []; const high = [];
        for (let k = 0; k < count; k++) {
          ends.push((ends.at(-1) ?? 0) + 0.1 + random());
          const values = [random(), random(), random()].sort((a, b) => a - b);
          const isKnown = random() > 0.1;
          [low, mean, high].forEach((list, i) => list.push(isKnown ? values[i] : null));
        }
        const from = random() * ends.at(-1) * 0.9;
        const to = from + 0.01 + random() * (ends.at(-1) - from);
        const most = 1 + Math.floor(random() * 50);
        const data = { begin: 0, ends };
        const groups = orrery.groupsIn(data, from, to, most);
        const found = orrery.reduced(data, { low, mean, high }, groups);
        const seen = ends.map((end, k) => k).filter(
          (k) => ends[k] > from && (k ? ends[k - 1] : 0) < to && mean[k] !== null);
        const known = found.filter(({ mean: value }) => value !== null);
        const isRight = groups.length <= most
          && Math.min(...known.map((one) => one.low)) === Math.min(...seen.map((k) => low[k]))
          && Math.max(...known.map((one) => one.high)) === Math.max(...seen.map((k) => high[k]))
          && known.every((one) => one.low <= one.mean && one.mean <= one.high);
        if (!isRight) wrong.push([round, from, to, most, count]);
      }
      return wrong;""")
    assert wrong == []


def test_names_of_users_are_text(browser: Page, made, written) -> None:
    text = TINY.replace("name: wide", f"name: '{HOSTILE[:31]}'").replace(
        "team: a", "team: '<b>&amp;'")
    page = browser.open(written("markup", run_page(made("image", text=text))))
    assert page.run("return document.querySelectorAll('img').length") == 0
    assert page.chart("recoveries", "return chart.spec.lanes[1].label").startswith("</script><img")
    row = page.run("return [...document.querySelectorAll('table.jobs tr[data-row]')].map("
                   "(line) => line.textContent).find((text) => text.includes('<img'))")
    assert "<b>&amp;" in row
    assert "<b>&amp;" in page.chart("gantt", "return chart.legend.textContent")
    assert page.driver.get_log("browser") == [] and page.requests() == []


def test_other_runs_are_drawn_as_well(browser: Page, made, written) -> None:
    for name in ("two-experiments-default", "join-storm"):
        run: orrery.Run = made(name)
        page = browser.open(written(name, run_page(run)))
        assert page.run("return orrery.charts.every((c) => c.svg.querySelector('.label-x'))")
        assert page.driver.get_log("browser") == []
    assert "control-plane" in page.run("return orrery.charts.map((c) => c.spec.id)")


@pytest.fixture
def study_at(browser: Page, written, study: Path) -> Page:
    """The page of a study, after it has loaded."""
    browser.width(1400)
    browser.media("light")
    return browser.open(written("study", study_page(study)))


def test_the_page_of_a_study_is_drawn(study_at: Page) -> None:
    page = study_at
    shapes = page.run("""return orrery.charts.map((chart) => [chart.spec.id,
        chart.svg.querySelectorAll("g[clip-path] > *").length])""")
    assert [name for name, _ in shapes] == [
        "means-jct_mean", "differences-jct_mean", "means-gpu_share_useful",
        "differences-gpu_share_useful"]
    assert all(count > 0 for _, count in shapes)
    assert page.driver.get_log("browser") == [] and page.requests() == []
    for width in (360, 600, 1400):
        page.width(width)
        assert page.run("return document.documentElement.scrollWidth") <= width


def test_differences_switch_between_percent_and_the_unit(study_at: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    name = "differences-gpu_share_useful"
    label = "return chart.svg.querySelector('.label-x').textContent"
    assert study_at.chart(name, label) == "difference in useful share of GPU time (%)"
    study_at.click(name, "points")
    assert study_at.chart(name, label) == "difference in useful share of GPU time (points)"
    assert study_at.chart(name, "return chart.view") == study_at.chart(
        name, "return [chart.spec.ways.points.x.low, chart.spec.ways.points.x.high]")
    study_at.press_in(name, Keys.ARROW_RIGHT)
    reported = study_at.chart(name, "return chart.reading.textContent")
    assert reported.startswith("nodes=4 policy=pod by pod: difference ") and "points" in reported
    study_at.click(name, "%")
    assert study_at.chart(name, label).endswith("(%)")


def test_arms_are_hidden_and_have_a_colour_each(study_at: Page) -> None:
    dots = "return [...chart.svg.querySelectorAll('circle')].map((dot) => dot.getAttribute('fill'))"
    assert study_at.chart("means-jct_mean", dots) == ["var(--blue)", "var(--orange)"]
    study_at.click("means-jct_mean", "strict")
    assert study_at.chart("means-jct_mean", dots) == ["var(--orange)"]
    pressed = study_at.chart("means-jct_mean", "return document.activeElement.ariaPressed")
    assert pressed in ("false", None)


def test_names_of_arms_are_text(browser: Page, written, study: Path, tmp_path: Path) -> None:
    copy = tmp_path / HOSTILE.replace("/", "")
    shutil.copytree(study, copy)
    with h5py.File(copy / "study.h5", "a") as file:
        for table, column in (("cells", "arm"), ("runs", "label")):
            rows = file[table][:]
            for row in rows:
                row[column] = row[column].replace(b"pod by pod", b"<img src=x onerror=1>")
            file[table][...] = rows
    page = browser.open(written("hostile", study_page(copy)))
    assert page.run("return document.querySelectorAll('img').length") == 0
    assert "<img src=x" in page.chart("means-jct_mean", "return chart.legend.textContent")
    assert page.driver.get_log("browser") == [] and page.requests() == []


@pytest.mark.parametrize("theme, width", [("light", 1300), ("dark", 1300), ("light", 500)])
def test_pictures_are_kept_among_the_artefacts(
    path: Path, request: pytest.FixtureRequest, tmp_path: Path, theme: str, width: int
) -> None:
    artefacts = request.config.getoption("--artefacts") or tmp_path
    artefacts.mkdir(parents=True, exist_ok=True)
    picture = artefacts.resolve() / f"report-{theme}-{width}.png"
    picture.unlink(missing_ok=True)
    themed = tmp_path / "page.html"
    themed.write_text(path.read_text().replace("<html ", f'<html data-theme="{theme}" ', 1))
    # Takes the picture without WebDriver, which sometimes hangs on pictures larger than the browser's window.
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},6000",
               f"--screenshot={picture}", themed.as_uri()]
    subprocess.run(command, check=True, timeout=180, capture_output=True)
    with Image.open(picture) as seen:
        assert seen.width == width
        corner = sum(seen.convert("RGB").getpixel((2, 2)))
        assert corner > 700 if theme == "light" else corner < 100
