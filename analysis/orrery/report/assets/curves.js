// Cumulative shares over x, in steps: distributions.

const CURVES = {
  yRange: (chart) => [chart.spec.y.low ?? 0, chart.spec.y.high],

  notes: (chart) => new Map(Object.entries(chart.spec.notes ?? {})),

  // The last value at or below x.
  value({ x, y }, at) {
    const place = placeOf(x, at) - 1;
    return place < 0 ? 0 : y[place];
  },

  draw(chart, layer) {
    const [from, to] = chart.view;
    for (const series of chart.spec.series) {
      if (chart.hidden.has(series.name)) continue;
      let path = `M${px(chart.x(from))} ${px(chart.y(CURVES.value(series, from)))}`;
      for (let k = placeOf(series.x, from); k < series.x.length && series.x[k] <= to; k++) {
        path += `H${px(chart.x(series.x[k]))}V${px(chart.y(series.y[k]))}`;
      }
      path += `H${px(chart.x(to))}`;
      layer.append(shape("path", { d: path, stroke: colour(series.colour), class: "line" }));
    }
  },

  at(chart, x) {
    const shown = chart.spec.series.filter((series) => !chart.hidden.has(series.name));
    return {
      head: `within ${spanText(x)}`,
      lines: shown.map((series) => [
        series.name, `${numberText(CURVES.value(series, x))} ${chart.spec.y.unit}`, series.colour,
      ]),
    };
  },

  table(chart, most) {
    const parts = Math.min(most, 20);
    const { to, from } = chart.scale;
    const [low, high] = chart.view.map(to);
    const step = (high - low) / parts;
    const rows = Array.from({ length: parts + 1 }, (_, k) => from(low + k * step));
    return {
      heads: ["within", ...chart.spec.series.map(({ name }) => `${name} (${chart.spec.y.unit})`)],
      rows: rows.map((x) => [
        spanText(x), ...chart.spec.series.map((series) => numberText(CURVES.value(series, x))),
      ]),
    };
  },
};
