// Values over time as lines and areas, or stacked; behind each line a band from the lowest to the
// highest value within a pixel.

const px = (y) => y.toFixed(1);

// A line that holds each value from the begin to the end of its group, with gaps where a group has
// no value.
function stepPath(groups, values, x, y) {
  let path = "";
  let isGap = true;
  groups.forEach((group, place) => {
    const value = values[place];
    if (value === null) {
      isGap = true;
      return;
    }
    path += isGap ? `M${px(x(group.begin))} ${px(y(value))}` : `V${px(y(value))}`;
    path += `H${px(x(group.end))}`;
    isGap = false;
  });
  return path;
}

function bandPath(groups, lows, highs, x, y) {
  let path = "";
  groups.forEach((group, place) => {
    if (lows[place] === null) return;
    path += `M${px(x(group.begin))} ${px(y(highs[place]))}H${px(x(group.end))}`
      + `V${px(y(lows[place]))}H${px(x(group.begin))}Z`;
  });
  return path;
}

const TIMELINE = {
  groups(chart, most = chart.inner.width / 2) {
    return groupsIn(chart.spec, chart.view[0], chart.view[1], most);
  },

  visible(chart) {
    return chart.spec.series.filter((series) => !chart.hidden.has(series.name));
  },

  // The drawn values: each series by group; for a stack also the begin and end of its area.
  parts(chart, groups) {
    const floor = groups.map(() => 0);
    return TIMELINE.visible(chart).map((series) => {
      const values = reduced(chart.spec, series, groups);
      if (!chart.spec.stack || series.style === "line") return { series, values };
      const from = [...floor];
      values.forEach(({ mean }, place) => { floor[place] += mean ?? 0; });
      return { series, values, from, to: [...floor] };
    });
  },

  yRange(chart) {
    const { y } = chart.spec;
    if (y.high !== undefined) return [y.low ?? 0, y.high];
    let high = 0;
    for (const { values, to } of TIMELINE.parts(chart, TIMELINE.groups(chart))) {
      values.forEach((value, place) => {
        high = Math.max(high, value.high ?? 0, to ? to[place] : 0);
      });
    }
    return [y.low ?? 0, high > 0 ? 1.06 * high : 1];
  },

  draw(chart, layer) {
    const { x, y } = chart;
    const groups = TIMELINE.groups(chart);
    const lines = [];
    for (const { series, values, from, to } of TIMELINE.parts(chart, groups)) {
      const paint = colour(series.colour);
      const means = values.map(({ mean }) => mean);
      if (to) {
        layer.append(shape("path", { d: bandPath(groups, from, to, x, y), fill: paint }));
        continue;
      }
      if (series.style === "area") {
        const floor = means.map((mean) => (mean === null ? null : 0));
        layer.append(shape("path", {
          d: bandPath(groups, floor, means, x, y), fill: paint, class: "area",
        }));
      }
      const lows = values.map(({ low }) => low);
      const highs = values.map(({ high }) => high);
      layer.append(shape("path", {
        d: bandPath(groups, lows, highs, x, y), fill: paint, class: "band",
      }));
      lines.push(shape("path", { d: stepPath(groups, means, x, y), stroke: paint, class: "line" }));
    }
    layer.append(...lines); // in front of all bands
  },

  valueText(chart, { low, mean, high }) {
    const { unit } = chart.spec.y;
    if (low === high) return withUnit(mean, unit);
    return `${withUnit(mean, unit)} (${numberText(low)} to ${numberText(high)})`;
  },

  // The mean of each series over the visible range and, with `peaks`, its largest value.
  notes(chart) {
    const [from, to] = chart.view;
    const { ends, begin } = chart.spec;
    const unit = chart.spec.y.unit ?? "";
    const first = placeOf(ends, from);
    const notes = new Map();
    for (const { name, mean, high } of chart.spec.series) {
      let [sum, total, most] = [0, 0, 0];
      for (let k = first; k < ends.length && (k === first || ends[k - 1] < to); k++) {
        if (mean[k] === null) continue;
        const length = Math.min(to, ends[k]) - Math.max(from, k ? ends[k - 1] : begin);
        sum += mean[k] * Math.max(length, 1e-12);
        total += Math.max(length, 1e-12);
        most = Math.max(most, (high ?? mean)[k]);
      }
      if (!total) continue;
      const text = unit === "%" ? `${(sum / total).toFixed(1)} %` : withUnit(sum / total, unit);
      notes.set(name, chart.spec.peaks ? `${text} on average, ${withUnit(most, unit)} at most`
        : text);
    }
    return notes;
  },

  at(chart, x) {
    const group = TIMELINE.groups(chart).find((one) => one.end >= x);
    if (!group) return null;
    const range = chart.view[1] - chart.view[0];
    return {
      head: `${momentText(group.begin, range)} to ${momentText(group.end, range)}`,
      lines: TIMELINE.visible(chart).map((series) => [
        series.name, TIMELINE.valueText(chart, reduced(chart.spec, series, [group])[0]),
        series.colour,
      ]),
    };
  },

  table(chart, most) {
    const groups = TIMELINE.groups(chart, most);
    const range = chart.view[1] - chart.view[0];
    const columns = TIMELINE.visible(chart);
    const values = columns.map((series) => reduced(chart.spec, series, groups));
    return {
      heads: ["until", ...columns.map(({ name }) => name)],
      rows: groups.map((group, place) => [
        momentText(group.end, range),
        ...values.map((column) => TIMELINE.valueText(chart, column[place])),
      ]),
    };
  },
};
