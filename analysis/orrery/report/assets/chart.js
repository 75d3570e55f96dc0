// One chart: its axes, zoom by mouse, touch and keys, the values under the pointer or the cursor,
// and the same data as a table.

const KINDS = {
  timeline: TIMELINE, curves: CURVES, arms: ARMS, heat: HEAT, spans: SPANS, bars: BARS,
  intervals: INTERVALS, gantt: GANTT,
};
const TABLE_ROWS = 60;
const ZOOM = 0.6; // factor of the range at each step
const SMALLEST = 1e-6; // fraction of the whole range

class Chart {
  constructor(figure, spec, page) {
    Object.assign(this, { figure, spec, page, kind: KINDS[spec.kind], hidden: new Set() });
    this.scale = scaleOf(spec.x);
    this.whole = [spec.x.low, spec.x.high];
    this.view = [...this.whole];
    this.cursor = null; // in pixels of the inner area
    this.isSeen = true; // on the screen, or not known yet
    this.kind.prepare?.(this);
    this.build();
  }

  get series() {
    return this.kind.series?.(this) ?? this.spec.series ?? [];
  }

  get isZoomed() {
    return this.view[0] !== this.whole[0] || this.view[1] !== this.whole[1];
  }

  get hasLanes() {
    return Boolean(this.spec.lanes);
  }

  build() {
    const { spec } = this;
    const named = (text) => `${text}: ${spec.title}`;
    this.reading = element("p", { class: "reading", "aria-live": "polite" });
    this.tip = element("div", { class: "tip", hidden: "" });
    this.svg = shape("svg", { role: "presentation" });
    this.plot = element("div", {
      class: "plot", tabindex: 0, role: "application", "aria-roledescription": "chart",
      "aria-label": `${spec.title}. ${spec.x.label}. Arrow keys read values, plus and minus zoom, `
        + "shift and arrows move, 0 resets.",
      onkeydown: (event) => this.key(event),
      onblur: () => this.point(null),
    }, this.svg, this.tip);
    const controls = element("div", { class: "controls" },
      ...(this.kind.extras?.(this) ?? []),
      button("+", named("Zoom in"), () => this.zoom(ZOOM)),
      button("−", named("Zoom out"), () => this.zoom(1 / ZOOM)),
      button("Reset", named("Show all of it"), () => this.reset()));
    this.details = element("details", { ontoggle: () => this.fillTable() },
      element("summary", {}, "As a table"), element("div", { class: "scroll" }));
    this.range = element("p", { class: "note range", "aria-live": "polite" });
    this.legend = element("ul", { class: "legend" });
    this.figure.append(controls, this.plot, this.range, this.legend, this.reading, this.details);
    this.listen();
    new ResizeObserver(() => {
      if (this.plot.clientWidth !== this.width) this.draw();
    }).observe(this.plot);
    new IntersectionObserver(([entry]) => {
      this.isSeen = entry.isIntersecting;
      if (this.isSeen && this.isStale) this.draw();
    }, { rootMargin: "50%" }).observe(this.figure);
  }

  // Names, and values of the visible range.
  fillLegend() {
    const notes = this.kind.notes?.(this) ?? new Map();
    const { series } = this;
    const isPlain = series.length === 1 && !notes.size; // the title names it
    const items = (isPlain ? [] : series).map(({ name, colour: paint, hint }) => {
      const swatch = element("span", { class: "swatch", style: `background:${colour(paint)}` });
      const note = notes.get(name);
      return element("li", {}, element("button", {
        type: "button", "aria-pressed": !this.hidden.has(name), title: hint ? `${hint} (show or hide)` : "Show or hide",
        onclick: () => {
          this.hidden[this.hidden.has(name) ? "delete" : "add"](name);
          const place = items.length ? [...this.legend.children].findIndex(
            (item) => item.contains(document.activeElement)) : -1;
          this.draw();
          this.legend.children[place]?.firstChild.focus(); // it was recreated
        },
      }, swatch, name, ...(note ? [" ", element("span", { class: "figure" }, note)] : [])));
    });
    if (this.spec.kind === "heat") items.push(element("li", {}, this.ramp()));
    this.legend.replaceChildren(...items);
    const range = this.view[1] - this.view[0];
    const isTime = this.spec.x.scale === "time" && !this.spec.x.own;
    this.range.textContent = this.isZoomed && isTime
      ? `Figures of ${momentText(this.view[0], range)} to ${momentText(this.view[1], range)}`
        + `${this.kind.rangeNote?.(this) ?? ""}.` : "";
  }

  ramp() {
    const stops = [0, 0.25, 0.5, 0.75, 1].map((part) => {
      const shade = this.page.shades[Math.round(part * (this.page.shades.length - 1))];
      return `rgb(${shade.join(" ")})`;
    });
    const bar = element("span", { class: "ramp", style: `--ramp:${stops.join()}` });
    return element("span", {}, `0 ${this.spec.y.unit} `, bar, ` 100 ${this.spec.y.unit} `);
  }

  // Geometry. Labels of lanes stand above them where the page is narrow.
  measure() {
    const { width } = this;
    const lanes = this.spec.lanes?.length ?? 0;
    const isNarrow = width < 480;
    const margin = {
      left: this.hasLanes ? (isNarrow ? 8 : this.laneNamesWidth()) : 56, right: 14, top: 8, bottom: 40,
    };
    const lane = isNarrow ? 44 : 26;
    this.isNarrow = isNarrow;
    const height = this.kind.height?.(this)
      ?? (this.hasLanes ? Math.max(60, lanes * lane) : isNarrow ? 190 : 230);
    const inside = () => ({ width: Math.max(40, width - margin.left - margin.right), height });
    this.inner = inside();
    const [bottom, top] = this.kind.yRange(this);
    if (this.kind.axis) margin.left = isNarrow ? 64 : 96;
    else if (!this.hasLanes && this.spec.kind !== "heat") {
      this.ticks = linearTicks(bottom, top, 5);
      margin.left = 38 + 7.5 * Math.max(...this.ticks.map(({ text }) => text.length));
    }
    Object.assign(this, { margin, inner: inside() });
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height + margin.top + margin.bottom);
    const [low, high] = this.view.map(this.scale.to);
    this.x = (value) => ((this.scale.to(value) - low) / (high - low)) * this.inner.width;
    this.back = (pixel) => this.scale.from(low + (pixel / this.inner.width) * (high - low));
    this.y = (value) => height - ((value - bottom) / (top - bottom)) * height;
  }

  laneNamesWidth() {
    return Math.min(190, 24 + 7 * Math.max(...this.spec.lanes.map(({ label }) => label.length)));
  }

  draw() {
    this.width = this.plot.clientWidth;
    if (!this.width) return;
    this.isStale = false;
    this.measure();
    const { inner, margin } = this;
    const clip = `clip-${this.spec.id}`;
    const layer = shape("g", { "clip-path": `url(#${clip})` });
    const frame = shape("g", { transform: `translate(${margin.left} ${margin.top})` },
      shape("clipPath", { id: clip },
        shape("rect", { width: inner.width + (this.hasLanes ? 10 : 0), height: inner.height })));
    this.axes(frame);
    frame.append(layer);
    this.kind.draw(this, layer);
    if (this.hasLanes) this.laneNames(frame);
    this.mark = shape("line", { class: "mark", y2: inner.height, visibility: "hidden" });
    this.brush = shape("rect", { class: "brush", height: inner.height, visibility: "hidden" });
    frame.append(this.mark, this.brush);
    this.svg.replaceChildren(frame);
    this.fillLegend();
    this.fillTable();
  }

  axes(frame) {
    const { inner, spec } = this;
    const text = (attributes, words) => frame.append(shape("text", attributes, words));
    for (const { value, text: words } of this.scale.ticks(...this.view, inner.width / 80)) {
      const x = px(this.x(value));
      frame.append(shape("path", { class: "grid", d: `M${x} 0V${inner.height}` }));
      text({ x, y: inner.height + 16, class: "tick-x" }, words);
    }
    const unit = spec.x.scale === "time" ? ` (${unitOf(this.view[1] - this.view[0])[2]})` : "";
    text({ x: inner.width / 2, y: inner.height + 34, class: "label-x" }, spec.x.label + unit);
    if (spec.x.zero && this.view[0] < 0 && this.view[1] > 0) {
      frame.append(shape("path", { class: "zero", d: `M${px(this.x(0))} 0V${inner.height}` }));
    }
    if (this.hasLanes) return;
    if (this.kind.axis) {
      this.kind.axis(this, frame);
      return;
    }
    if (spec.kind === "heat") {
      text({ transform: `translate(-12 ${inner.height / 2}) rotate(-90)`, class: "label-y" },
        spec.rowsLabel);
      return;
    }
    for (const { value, text: words } of this.ticks) {
      const y = px(this.y(value));
      frame.append(shape("path", { class: "grid", d: `M0 ${y}H${inner.width}` }));
      text({ x: -6, y, class: "tick-y" }, words);
    }
    const beside = `translate(${16 - this.margin.left} ${inner.height / 2}) rotate(-90)`;
    const isLong = 6.4 * spec.y.label.length > inner.height + 30 && spec.y.unit;
    text({ transform: beside, class: "label-y" }, isLong ? `in ${spec.y.unit}` : spec.y.label);
  }

  laneNames(frame) {
    this.spec.lanes.forEach(({ label, remarks }, lane) => {
      const y = middle(this, lane);
      const place = this.isNarrow ? { x: 0, y: y - thickness(this) / 2 - 5, class: "lane-above" }
        : { x: -8, y, class: "tick-y" };
      const most = this.isNarrow ? 60 : 29;
      const short = label.length > most ? `${label.slice(0, most - 1)}…` : label;
      const mark = remarks ? [shape("tspan", { class: "remark" }, " ⚑")] : [];
      frame.append(shape("text", place, short, ...mark, shape("title", {}, label)));
    });
  }

  // Sets the visible range. Charts with the same axis follow if the page links them.
  setView(from, to, isFollower = false) {
    const [low, high] = this.whole.map(this.scale.to);
    let [a, b] = [from, to].map(this.scale.to);
    const length = Math.min(high - low, Math.max(b - a, (high - low) * SMALLEST));
    a = Math.min(Math.max(a, low), high - length);
    b = a + length;
    this.view = length === high - low ? [...this.whole] : [this.scale.from(a), this.scale.from(b)];
    this.point(null);
    if (!isFollower) this.draw();
    else this.drawSoon();
    if (!isFollower) this.page.follow(this);
  }

  // Draws in the next frame if the chart is on the screen; else once it is.
  drawSoon() {
    if (this.isStale) return;
    this.isStale = true;
    if (!this.isSeen) return;
    requestAnimationFrame(() => {
      if (this.isStale) this.draw();
    });
  }

  zoom(factor, around = null) {
    const { to, from } = this.scale;
    const [a, b] = this.view.map(to);
    const centre = around === null ? (a + b) / 2 : to(around);
    this.setView(from(centre - (centre - a) * factor), from(centre + (b - centre) * factor));
  }

  pan(part) {
    const { to, from } = this.scale;
    const [a, b] = this.view.map(to);
    this.setView(from(a + part * (b - a)), from(b + part * (b - a)));
  }

  reset() {
    if (this.rows) this.rows = [0, this.spec.rows.length];
    this.setView(...this.whole);
  }

  // The visible part of the rows, if the chart can be zoomed into them.
  setRows(from, to) {
    const all = this.spec.rows.length;
    const count = Math.min(all, Math.max(1, Math.round(to - from)));
    const first = Math.min(Math.max(0, Math.round(from)), all - count);
    this.rows = [first, first + count];
  }

  listen() {
    const at = (event) => {
      const box = this.svg.getBoundingClientRect();
      return {
        x: Math.min(Math.max(event.clientX - box.left - this.margin.left, 0), this.inner.width),
        y: Math.min(Math.max(event.clientY - box.top - this.margin.top, 0), this.inner.height - 1),
      };
    };
    const boxOf = (one, other) => {
      const [left, right] = [one.x, other.x].sort((a, b) => a - b);
      const [top, bottom] = [one.y, other.y].sort((a, b) => a - b);
      const hasRows = this.rows && bottom - top > 24;
      return { left, right, top, bottom, hasRows };
    };
    let start = null;
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      start = at(event);
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", (event) => {
      const here = at(event);
      if (start === null) {
        this.point(here);
        return;
      }
      const { left, right, top, bottom, hasRows } = boxOf(start, here);
      const [y, height] = hasRows ? [top, bottom - top] : [0, this.inner.height];
      filled(this.brush, { x: left, width: right - left, y, height, visibility: "visible" }, []);
    });
    this.svg.addEventListener("pointerup", (event) => {
      if (start === null) return;
      const { left, right, top, bottom, hasRows } = boxOf(start, at(event));
      start = null;
      this.brush.setAttribute("visibility", "hidden");
      if (right - left <= 4) {
        this.kind.choose?.(this, left, top);
        return;
      }
      if (hasRows) {
        const row = (y) => this.rows[0] + (y / this.inner.height) * (this.rows[1] - this.rows[0]);
        this.setRows(row(top), row(bottom));
      }
      this.setView(this.back(left), this.back(right));
    });
    this.svg.addEventListener("pointercancel", () => { start = null; });
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.svg.addEventListener("dblclick", () => this.reset());
    this.svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, this.back(at(event).x));
    }, { passive: false });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { width, height } = this.inner;
    const row = this.hasLanes ? height / this.spec.lanes.length
      : this.rows ? Math.max(8, height / (this.rows[1] - this.rows[0]))
        : this.spec.rows ? height / this.spec.rows.length : 0;
    const from = this.cursor ?? { x: width / 2, y: row / 2 };
    const move = (x, y) => this.point({
      x: Math.min(Math.max(from.x + x, 0), width), y: Math.min(Math.max(from.y + y, 0), height - 1),
    }, true);
    const centre = this.cursor ? this.back(this.cursor.x) : null;
    const rows = (factor, part) => this.rows && (() => {
      const [from, to] = this.rows;
      const half = ((to - from) * factor) / 2;
      const middle = (from + to) / 2 + part * (to - from);
      this.setRows(middle - half, middle + half);
      this.draw();
    });
    const actions = {
      "]": rows(ZOOM, 0),
      "[": rows(1 / ZOOM, 0),
      PageUp: rows(1, -0.5),
      PageDown: rows(1, 0.5),
      Enter: this.cursor && this.kind.choose && (() => this.kind.choose(this, from.x, from.y)),
      "+": () => this.zoom(ZOOM, centre),
      "=": () => this.zoom(ZOOM, centre),
      "-": () => this.zoom(1 / ZOOM, centre),
      0: () => this.reset(),
      Escape: () => this.point(null),
      ArrowLeft: () => (event.shiftKey ? this.pan(-0.25) : move(this.cursor ? -width / 60 : 0, 0)),
      ArrowRight: () => (event.shiftKey ? this.pan(0.25) : move(this.cursor ? width / 60 : 0, 0)),
      ArrowUp: row ? () => move(0, this.cursor ? -row : 0) : null,
      ArrowDown: row ? () => move(0, this.cursor ? row : 0) : null,
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  // Shows the values at this position; with keys, also reads them aloud.
  point(place, isAloud = false) {
    this.cursor = place;
    const told = place && this.kind.at(this, this.back(place.x), place.y);
    if (!place) this.kind.leave?.(this);
    this.mark?.setAttribute("visibility", told ? "visible" : "hidden");
    this.tip.hidden = !told;
    if (!isAloud) this.reading.textContent = "";
    if (!told) return;
    filled(this.mark, { x1: place.x, x2: place.x }, []);
    const lines = told.lines.map(([name, text, paint]) => element("div", {},
      element("span", { class: "swatch", style: paint ? `background:${colour(paint)}` : "" }),
      `${name} `, element("b", {}, text)));
    this.tip.replaceChildren(element("div", { class: "head" }, told.head), ...lines);
    const { left, top } = this.margin;
    const isRight = place.x > this.inner.width / 2;
    const { width } = this;
    this.tip.style.left = isRight ? "auto" : `${left + place.x + 14}px`;
    this.tip.style.right = isRight ? `${width - left - place.x + 14}px` : "auto";
    this.tip.style.top = `${top + (this.hasLanes ? place.y + 14 : 6)}px`;
    if (isAloud) {
      const texts = told.lines.map(([name, text]) => `${name} ${text}`);
      this.reading.textContent = `${told.head}: ${texts.join("; ")}`;
    }
  }

  fillTable() {
    if (!this.details.open) return;
    const table = tableOf(this.kind.table(this, TABLE_ROWS));
    table.prepend(element("caption", {}, `${this.spec.title}, in the visible range`));
    this.details.lastChild.replaceChildren(table);
  }
}
