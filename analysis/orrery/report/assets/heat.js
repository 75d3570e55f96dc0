// A line of colour for each row over time. Values come as bytes: 0 to 200 for half percents.

const STEPS_OF_HEAT = 200;
const LAYERS = ["lowest", "mean", "highest"];

const HEAT = {
  prepare(chart) {
    chart.layer = chart.spec.shown;
    chart.bytes = {};
    for (const name of Object.keys(chart.spec.layers)) {
      chart.bytes[name] = Uint8Array.from(atob(chart.spec.layers[name]), (c) => c.charCodeAt(0));
    }
  },

  // Buttons for the shown value of rows that join several nodes.
  extras(chart) {
    if (chart.spec.joined <= 1) return [];
    return LAYERS.map((name) => {
      const made = button(name, `Show the ${name} of the nodes in each row`, () => {
        chart.layer = name;
        for (const other of made.parentNode.querySelectorAll("[data-layer]")) {
          other.setAttribute("aria-pressed", other.dataset.layer === name);
        }
        chart.draw();
      });
      made.dataset.layer = name;
      made.setAttribute("aria-pressed", name === chart.layer);
      return made;
    });
  },

  picture(chart) {
    const { rows, columns } = chart.spec;
    const canvas = element("canvas", { width: columns, height: rows.length });
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows.length);
    const { shades } = chart.page;
    chart.bytes[chart.layer].forEach((byte, place) => {
      const shade = shades[Math.round((byte / STEPS_OF_HEAT) * (shades.length - 1))];
      image.data.set([...shade, 255], 4 * place);
    });
    context.putImageData(image, 0, 0);
    return canvas.toDataURL();
  },

  yRange: (chart) => [chart.spec.rows.length, 0],

  draw(chart, layer) {
    const { spec, x } = chart;
    chart.pictures ??= {};
    chart.pictures[chart.layer] ??= HEAT.picture(chart);
    const [left, right] = [x(spec.x.low), x(spec.x.high)];
    layer.append(shape("image", {
      href: chart.pictures[chart.layer], x: left, y: 0, width: right - left,
      height: chart.inner.height, preserveAspectRatio: "none", class: "heat",
    }));
  },

  cell(chart, x, row) {
    const { spec } = chart;
    const length = (spec.x.high - spec.x.low) / spec.columns;
    const column = Math.min(Math.floor((x - spec.x.low) / length), spec.columns - 1);
    const begin = spec.x.low + column * length;
    return { column, begin, length, place: row * spec.columns + column };
  },

  // Means of all rows over the visible range.
  rangeNote(chart) {
    const [from, to] = chart.view.map((x) => HEAT.cell(chart, x, 0).column);
    let sum = 0;
    for (let row = 0; row < chart.spec.rows.length; row++) {
      for (let k = from; k <= to; k++) sum += chart.bytes.mean[row * chart.spec.columns + k];
    }
    const mean = sum / (chart.spec.rows.length * (to - from + 1)) / (STEPS_OF_HEAT / 100);
    return `: ${chart.spec.y.label} ${mean.toFixed(1)} ${chart.spec.y.unit}`;
  },

  at(chart, x, pixel) {
    const { spec } = chart;
    const row = Math.min(Math.floor((pixel / chart.inner.height) * spec.rows.length),
      spec.rows.length - 1);
    const { begin, length, place } = HEAT.cell(chart, x, Math.max(0, row));
    const range = chart.view[1] - chart.view[0];
    const text = (name) => `${numberText(chart.bytes[name][place] / 2)} ${spec.y.unit}`;
    const told = spec.joined > 1 ? LAYERS : ["mean"];
    return {
      head: `${spec.rows[Math.max(0, row)]}, ${momentText(begin, range)} to `
        + momentText(begin + length, range),
      lines: told.map((name) => [spec.joined > 1 ? name : spec.y.label, text(name)]),
    };
  },

  table(chart, most) {
    const { spec } = chart;
    const [from, to] = chart.view.map((x) => HEAT.cell(chart, x, 0).column);
    const told = spec.joined > 1 ? LAYERS : ["mean"];
    const step = Math.ceil(spec.rows.length / most);
    const rows = [];
    for (let row = 0; row < spec.rows.length; row += step) {
      const last = Math.min(row + step, spec.rows.length) - 1;
      let [low, high, sum, count] = [STEPS_OF_HEAT, 0, 0, 0];
      for (let k = row; k <= last; k++) {
        for (let column = from; column <= to; column++) {
          const place = k * spec.columns + column;
          low = Math.min(low, chart.bytes[told[0]][place]);
          high = Math.max(high, chart.bytes[told.at(-1)][place]);
          sum += chart.bytes.mean[place];
          count += 1;
        }
      }
      rows.push([row === last ? spec.rows[row] : `${spec.rows[row]} to ${spec.rows[last]}`,
        ...[low, sum / count, high].map((value) => numberText(value / 2))]);
    }
    return { heads: ["nodes", ...LAYERS.map((name) => `${name} (${spec.y.unit})`)], rows };
  },
};
