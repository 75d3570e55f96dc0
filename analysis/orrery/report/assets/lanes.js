// A lane for each name: spans of time, stacked bars, or values with their intervals.

const laneAt = (chart, pixel) => Math.max(0, Math.min(
  Math.floor((pixel / chart.inner.height) * chart.spec.lanes.length), chart.spec.lanes.length - 1,
));
// Where names are above the lanes, lanes have the lower half.
const middle = (chart, lane) => ((lane + (chart.isNarrow ? 0.68 : 0.5)) * chart.inner.height)
  / chart.spec.lanes.length;
const thickness = (chart) => ((chart.isNarrow ? 0.42 : 0.68) * chart.inner.height)
  / Math.max(1, chart.spec.lanes.length);
const valueOf = (chart, value) => (chart.spec.x.scale === "linear"
  ? `${numberText(value)}${chart.spec.x.unit ? ` ${chart.spec.x.unit}` : ""}` : spanText(value));

function block(chart, lane, begin, end, paint) {
  const [left, right] = [chart.x(begin), chart.x(end)];
  const height = thickness(chart);
  return shape("rect", {
    x: left, width: Math.max(right - left, 1), y: middle(chart, lane) - height / 2, height,
    fill: colour(paint),
  });
}

const LANES = {
  yRange: (chart) => [chart.spec.lanes.length, 0],
  at: (chart, x, pixel) => chart.kind.tell(chart, laneAt(chart, pixel), x),
};

const SPANS = {
  ...LANES,

  // GPU time, or the number of spans, in the visible range.
  notes(chart) {
    const [from, to] = chart.view;
    const sums = new Map();
    for (const { what, begin, end, lost, count } of chart.spec.lanes.flatMap((one) => one.spans)) {
      if (end < from || begin > to) continue;
      const length = Math.max(0, Math.min(end, to) - Math.max(begin, from));
      const part = end > begin ? length / (end - begin) : 0;
      sums.set(what, (sums.get(what) ?? 0) + (chart.spec.counts ? count : lost * part));
    }
    const more = chart.spec.partly ? " in these lanes" : "";
    const text = (sum) => (chart.spec.counts ? numberText(sum) : withUnit(sum, "GPU s")) + more;
    return new Map(chart.spec.series.map(({ name }) => [name, text(sums.get(name) ?? 0)]));
  },

  colours: (chart) => Object.fromEntries(chart.spec.series.map((one) => [one.name, one.colour])),

  draw(chart, layer) {
    const paints = SPANS.colours(chart);
    chart.spec.lanes.forEach(({ spans }, lane) => {
      for (const span of spans) {
        if (chart.hidden.has(span.what)) continue;
        layer.append(block(chart, lane, span.begin, span.end, paints[span.what]));
        if (span.over) continue;
        const x = chart.x(span.end);
        const y = middle(chart, lane);
        layer.append(shape("path", {
          d: `M${x} ${y - 6}L${x + 8} ${y}L${x} ${y + 6}Z`, fill: colour(paints[span.what]),
        }));
      }
    });
  },

  text(span) {
    const many = span.count > 1 ? `, ${span.count} times` : "";
    const gpus = span.gpus ? `, ${numberText(span.gpus)} GPUs` : "";
    return `${spanText(span.end - span.begin)}${span.over ? "" : ", never ended"}${many}${gpus}`;
  },

  tell(chart, lane, x) {
    const { label, spans } = chart.spec.lanes[lane];
    const paints = SPANS.colours(chart);
    const away = (span) => Math.max(span.begin - x, x - span.end, 0);
    const shown = spans.filter((span) => !chart.hidden.has(span.what));
    const nearest = [...shown].sort((a, b) => away(a) - away(b))[0];
    if (!nearest) return { head: label, lines: [] };
    const begin = momentText(nearest.begin, chart.view[1] - chart.view[0]);
    return {
      head: `${label}, from ${begin}`,
      lines: [[nearest.what, SPANS.text(nearest), paints[nearest.what]]],
    };
  },

  table(chart, most) {
    const range = chart.view[1] - chart.view[0];
    const rows = chart.spec.lanes.flatMap(({ label, spans }) => spans
      .filter((span) => span.end >= chart.view[0] && span.begin <= chart.view[1])
      .map((span) => [label, span.what, momentText(span.begin, range), SPANS.text(span)]));
    return { heads: ["job", "what", "from", "how long"], rows: rows.slice(0, most) };
  },
};

const BARS = {
  ...LANES,

  draw(chart, layer) {
    chart.spec.lanes.forEach(({ values }, lane) => {
      let left = 0;
      chart.spec.series.forEach((series, place) => {
        if (!values[place] || chart.hidden.has(series.name)) return;
        layer.append(block(chart, lane, left, left + values[place], series.colour));
        left += values[place];
      });
    });
  },

  tell(chart, lane) {
    const { label, values } = chart.spec.lanes[lane];
    return {
      head: label,
      lines: chart.spec.series.map((series, place) => [
        series.name, valueOf(chart, values[place]), series.colour,
      ]),
    };
  },

  table(chart, most) {
    return {
      heads: ["", ...chart.spec.series.map(({ name }) => name)],
      rows: chart.spec.lanes.slice(0, most).map(({ label, values }) => [
        label, ...values.map((value) => valueOf(chart, value)),
      ]),
    };
  },
};

// A dot at the value, hollow without a clear difference; a thick line for the interval, a thin one
// for the range of the seeds, if given. Lanes belong to arms and have their colours.
const INTERVALS = {
  ...LANES,

  // Buttons for the units of differences.
  extras(chart) {
    const { ways } = chart.spec;
    const names = Object.keys(ways ?? {});
    if (names.length < 2) return [];
    const buttons = names.map((name, place) => {
      const made = button(name === "percent" ? "%" : name, `Show differences in ${name}`, () => {
        Object.assign(chart.spec, ways[name]);
        chart.whole = [chart.spec.x.low, chart.spec.x.high];
        chart.view = [...chart.whole];
        for (const other of buttons) other.setAttribute("aria-pressed", other === made);
        chart.point(null);
        chart.draw();
      });
      made.setAttribute("aria-pressed", place === 0);
      return made;
    });
    return [element("span", { class: "choice", role: "group", "aria-label": "Unit" }, ...buttons)];
  },

  draw(chart, layer) {
    chart.spec.lanes.forEach((one, lane) => {
      if (chart.hidden.has(one.arm)) return;
      const y = middle(chart, lane);
      const paint = colour(one.colour);
      const line = ([low, high], at, width) => shape("path", {
        d: `M${px(chart.x(low))} ${at}H${px(chart.x(high))}`, stroke: paint, "stroke-width": width,
      });
      if (one.interval) layer.append(line(one.interval, y, one.clear ? 4 : 2));
      if (one.second) layer.append(line(one.second, y + 7, 1.5));
      layer.append(shape("circle", {
        cx: chart.x(one.value), cy: y, r: one.clear ? 5 : 4.5, fill: one.clear ? paint : "var(--card)",
        stroke: paint, "stroke-width": one.clear ? 0 : 2,
      }));
    });
  },

  ends: (chart, ends) => (ends ? `${numberText(ends[0])} to ${valueOf(chart, ends[1])}` : "–"),

  tell(chart, lane) {
    const one = chart.spec.lanes[lane];
    const told = [[chart.spec.ways ? "difference" : "mean", valueOf(chart, one.value), one.colour]];
    if (one.interval) told.push(["interval", INTERVALS.ends(chart, one.interval)]);
    if (one.second) told.push(["seeds", INTERVALS.ends(chart, one.second)]);
    return { head: one.label, lines: [...told, ...(one.more ?? [])] };
  },

  table(chart, most) {
    const isTied = chart.spec.lanes.some(({ second }) => second);
    const heads = ["", chart.spec.ways ? "difference" : "mean", "interval"];
    return {
      heads: isTied ? [...heads, "seeds"] : heads,
      rows: chart.spec.lanes.slice(0, most).map((one) => [
        one.label, valueOf(chart, one.value), INTERVALS.ends(chart, one.interval),
        ...(isTied ? [INTERVALS.ends(chart, one.second)] : []),
      ]),
    };
  },
};
