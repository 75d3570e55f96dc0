// Means with their intervals over the arms of an axis, joined by a line for each arm of another
// axis.

const ARMS = {
  yRange: (chart) => [chart.spec.y.low, chart.spec.y.high],

  shown: (chart) => chart.spec.series.filter((series) => !chart.hidden.has(series.name)),

  draw(chart, layer) {
    const { arms } = chart.spec.x;
    for (const series of ARMS.shown(chart)) {
      const stroke = colour(series.colour);
      const known = arms.map(({ value }, k) => [chart.x(value), k])
        .filter(([, k]) => series.mean[k] !== null);
      if (!known.length) continue;
      const at = ([x, k]) => `${px(x)} ${px(chart.y(series.mean[k]))}`;
      layer.append(shape("path", {
        d: `M${known.map(at).join("L")}`, stroke, class: "line", "stroke-dasharray": series.dash,
      }));
      for (const [x, k] of known) {
        if (series.low[k] !== null) {
          const [low, high] = [chart.y(series.low[k]), chart.y(series.high[k])].map(px);
          const d = `M${px(x)} ${low}V${high}M${px(x - 4)} ${low}h8M${px(x - 4)} ${high}h8`;
          layer.append(shape("path", { d, stroke, class: "line" }));
        }
        layer.append(shape("circle", { cx: x, cy: chart.y(series.mean[k]), r: 4, fill: stroke }));
      }
    }
  },

  text(chart, series, k) {
    const { unit } = chart.spec.y;
    const told = [`${numberText(series.mean[k])} ${unit}`];
    if (series.low[k] !== null && series.mean[k] !== null) {
      told.push(`[${numberText(series.low[k])}, ${numberText(series.high[k])}]`);
    }
    return told.join(" ");
  },

  // The nearest arm.
  at(chart, x) {
    const away = ({ value }) => Math.abs(chart.x(value) - chart.x(x));
    const { arms } = chart.spec.x;
    const k = arms.reduce((best, arm, place) => (away(arm) < away(arms[best]) ? place : best), 0);
    return {
      head: `${chart.spec.x.label} ${arms[k].text}`,
      lines: ARMS.shown(chart).map((series) => [
        series.name, ARMS.text(chart, series, k), series.colour,
      ]),
    };
  },

  table(chart, most) {
    const [low, high] = chart.view;
    const seen = chart.spec.x.arms.map((arm, k) => ({ ...arm, k }))
      .filter(({ value }) => value >= low && value <= high).slice(0, most);
    return {
      heads: [chart.spec.x.label, ...chart.spec.series.map(({ name }) => name)],
      rows: seen.map(({ text, k }) => [
        text, ...chart.spec.series.map((series) => ARMS.text(chart, series, k)),
      ]),
    };
  },
};
