// GPUs of each job: a row for each node, its GPUs from top to bottom. Pixels store their job, so a
// job can be found, highlighted or recoloured without drawing bars again.

const NOBODY = 0xffffffff;
const LEAST_LIT = 3; // least width and height of bars of the highlighted job, in pixels

const GANTT = {
  prepare(chart) {
    const { spec } = chart;
    chart.way = Object.keys(spec.ways)[0];
    chart.order = "node";
    chart.rows = [0, spec.rows.length];
    chart.canvas = element("canvas", { class: "pixels" });
  },

  // Called once the columns are loaded.
  fill(chart, jobs) {
    chart.jobs = jobs;
    const { bar_row: rows } = jobs.columns;
    chart.firstBar = new Uint32Array(jobs.count + 1);
    for (let k = 0; k < rows.length; k++) chart.firstBar[rows[k] + 1] = k + 1;
    for (let row = 0; row < jobs.count; row++) {
      chart.firstBar[row + 1] ||= chart.firstBar[row]; // a job without bars
    }
    jobs.listen(() => GANTT.paint(chart));
    GANTT.classify(chart);
    chart.plot.prepend(chart.canvas);
  },

  extras(chart) {
    const choose = (what, name, title) => {
      const made = button(name, title, () => {
        chart[what] = name;
        for (const other of made.parentNode.querySelectorAll(`[data-${what}]`)) {
          other.setAttribute("aria-pressed", other.dataset[what] === name);
        }
        chart.hidden.clear();
        GANTT.classify(chart);
        chart.draw();
      });
      made.dataset[what] = name;
      made.setAttribute("aria-pressed", name === chart[what]);
      return made;
    };
    const group = (label, ...buttons) => element("span", { class: "choice", role: "group",
      "aria-label": label }, `${label} `, ...buttons);
    const leaves = new Set(chart.spec.leaf).size > 1;
    return [
      ...(leaves ? [group("Rows by", choose("order", "node", "Nodes in the order of the scenario"),
        choose("order", "leaf", "Nodes by leaf switch"))] : []),
      group("Colour by", ...Object.keys(chart.spec.ways).map((way) => choose("way", way,
        `Colour jobs by ${way}`))),
    ];
  },

  // The classes of the chosen way to colour, and the class of each job.
  classify(chart) {
    const { jobs, spec, way } = chart;
    const classes = spec.ways[way].map((one, place, all) => ({
      ...one, colour: one.colour ?? `ramp:${all.length > 1 ? place / (all.length - 1) : 0.5}`,
    }));
    chart.classes = classes;
    if (!jobs) return;
    chart.classOf = new Uint8Array(jobs.count);
    const rest = Math.max(0, classes.findIndex(({ value }) => value === null));
    if (way === "size") {
      for (let row = 0; row < jobs.count; row++) {
        const gpus = jobs.columns.gpus[row];
        chart.classOf[row] = classes.findIndex(({ most }) => gpus <= most);
      }
      return;
    }
    const names = jobs.columns[`${way}_names`];
    const place = names.map((name) => {
      const found = classes.findIndex(({ value }) => value === name);
      return found < 0 ? rest : found;
    });
    for (let row = 0; row < jobs.count; row++) {
      chart.classOf[row] = place[jobs.columns[way][row]];
    }
  },

  series: (chart) => chart.classes,

  yRange: (chart) => [chart.rows[1], chart.rows[0]],

  height: (chart) => Math.min(chart.isNarrow ? 320 : 440,
    Math.max(120, 36 * chart.spec.rows.length)),

  placeOf: (chart, lane) => (chart.order === "leaf" ? chart.spec.byLeaf[lane] : lane),

  // The rectangle of a bar in pixels of the picture; null: not visible.
  box(chart, k, least = 1) {
    const { columns } = chart.jobs;
    const { low, part, ratio, width, height } = chart.raster;
    const left = (columns.bar_begin[k] - low) * part;
    const right = (columns.bar_end[k] - low) * part;
    if (right < 0 || left >= width) return null;
    const lane = columns.bar_lane[k];
    const row = (chart.inner.height * ratio) / (chart.rows[1] - chart.rows[0]);
    const base = (GANTT.placeOf(chart, lane) - chart.rows[0]) * row;
    const one = row / chart.spec.gpus[lane];
    const top = base + columns.bar_gpu[k] * one;
    const bottom = top + columns.bar_gpus[k] * one;
    if (bottom <= 0 || top >= height) return null;
    const x = Math.max(0, Math.floor(left));
    const y = Math.max(0, Math.round(top));
    const toX = Math.min(width, Math.max(Math.floor(right), Math.floor(left) + least));
    const toY = Math.min(height, Math.max(Math.round(bottom), Math.round(top) + least));
    return { x, y, toX, toY, hasGap: row > 5 && bottom > base + row - 0.5 };
  },

  rasterize(chart) {
    const { inner, jobs, spec } = chart;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const [width, height] = [Math.round(inner.width * ratio), Math.round(inner.height * ratio)];
    const { levels } = jobs.spec;
    const [from, to] = chart.view.map((seconds) => (seconds / (spec.x.high || 1)) * levels);
    chart.raster = { low: from, part: width / (to - from), ratio, width, height };
    if (chart.pixels?.length !== width * height) chart.pixels = new Uint32Array(width * height);
    const { pixels } = chart;
    pixels.fill(NOBODY);
    const rows = jobs.columns.bar_row;
    const isHidden = chart.classes.map(({ name }) => chart.hidden.has(name));
    for (let k = 0; k < rows.length; k++) {
      if (isHidden[chart.classOf[rows[k]]]) continue;
      const box = GANTT.box(chart, k);
      if (box === null) continue;
      const { x, y } = box;
      const toX = box.toX - x > 4 ? box.toX - 1 : box.toX; // neighbours stay apart
      const toY = box.hasGap ? box.toY - 1 : box.toY;
      for (let line = y; line < toY; line++) {
        const at = line * width;
        if (toX - x === 1) pixels[at + x] = rows[k];
        else pixels.fill(rows[k], at + x, at + toX);
      }
    }
  },

  // Draws each job in the colour of its class. If a job is highlighted, all other jobs are grey;
  // otherwise, jobs that do not match the search are grey.
  paint(chart) {
    const { jobs, pixels, raster } = chart;
    if (!raster) return;
    const { width, height, ratio } = raster;
    const paints = Uint32Array.from(chart.classes, ({ colour: paint }) => pixelOf(paint));
    const grey = pixelOf("unlit");
    const { lit, mask } = jobs;
    if (chart.image?.width !== width || chart.image.height !== height) {
      chart.image = new ImageData(width, height);
      Object.assign(chart.canvas, { width, height });
      chart.canvas.style.width = `${width / ratio}px`;
      chart.canvas.style.height = `${height / ratio}px`;
    }
    chart.canvas.style.left = `${chart.margin.left}px`;
    chart.canvas.style.top = `${chart.margin.top}px`;
    const out = new Uint32Array(chart.image.data.buffer);
    const { classOf } = chart;
    for (let k = 0; k < pixels.length; k++) {
      const row = pixels[k];
      if (row === NOBODY) out[k] = 0;
      else if (lit >= 0 ? row === lit : mask === null || mask[row]) out[k] = paints[classOf[row]];
      else out[k] = grey;
    }
    const context = chart.canvas.getContext("2d");
    context.putImageData(chart.image, 0, 0);
    if (lit >= 0) GANTT.outline(chart, context, lit);
  },

  // Marks the bars of the highlighted job, even bars that are shorter than a pixel.
  outline(chart, context, row) {
    context.fillStyle = `rgb(${rgbOf("ink").join(" ")})`;
    for (let k = chart.firstBar[row]; k < chart.firstBar[row + 1]; k++) {
      const box = GANTT.box(chart, k, LEAST_LIT * chart.raster.ratio);
      if (box === null) continue;
      const size = [box.toX - box.x, box.toY - box.y];
      if (size[0] <= LEAST_LIT * chart.raster.ratio) context.fillRect(box.x, box.y, ...size);
      else context.fillRect(box.x, box.toY - 1, size[0], 1);
    }
  },

  draw(chart) {
    if (!chart.jobs) return;
    GANTT.rasterize(chart);
    GANTT.paint(chart);
  },

  // Names of rows that have room for their names, or of leaves.
  axis(chart, frame) {
    const { inner, rows, spec } = chart;
    const size = inner.height / (rows[1] - rows[0]);
    const name = (y, text) => frame.append(shape("text", { x: -6, y, class: "tick-y" }, short(text)));
    const short = (text) => (text.length > 13 ? `${text.slice(0, 12)}…` : text);
    if (chart.order === "leaf") {
      const places = spec.leaf.map((leaf, lane) => [spec.byLeaf[lane], leaf])
        .sort((a, b) => a[0] - b[0]);
      let first = 0;
      let last = -Infinity;
      places.forEach(([place, leaf], k) => {
        if (k + 1 < places.length && places[k + 1][1] === leaf) return;
        const [top, bottom] = [first, place + 1].map(chart.y);
        first = place + 1;
        if (bottom < 0 || top > inner.height) return;
        frame.append(shape("path", { class: "grid", d: `M-6 ${px(bottom)}H${inner.width}` }));
        const y = (Math.max(0, top) + Math.min(inner.height, bottom)) / 2;
        if (y - last < 13) return;
        name(y, `leaf ${leaf}`);
        last = y;
      });
      return;
    }
    const step = Math.max(1, Math.ceil(13 / size));
    for (let row = Math.ceil(rows[0] / step) * step; row < rows[1]; row += step) {
      name(chart.y(row + 0.5), spec.rows[row]);
    }
  },

  jobAt(chart, x, y) {
    const { ratio, width, height } = chart.raster;
    const [atX, atY] = [x * ratio, y * ratio].map(Math.floor);
    for (const [right, down] of [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [2, 0], [-2, 0]]) {
      const [column, line] = [atX + right, atY + down];
      if (column < 0 || column >= width || line < 0 || line >= height) continue;
      const row = chart.pixels[line * width + column];
      if (row !== NOBODY) return row;
    }
    return -1;
  },

  at(chart, x, pixel) {
    if (!chart.raster) return null;
    const row = GANTT.jobAt(chart, chart.x(x), pixel);
    chart.jobs.light(row);
    const { spec, rows } = chart;
    const place = Math.floor(rows[0] + (pixel / chart.inner.height) * (rows[1] - rows[0]));
    const lane = chart.order === "leaf" ? spec.byLeaf.indexOf(place) : place;
    const range = chart.view[1] - chart.view[0];
    const head = `${spec.rows[lane] ?? ""}, ${momentText(x, range)}`;
    if (row < 0) return { head, lines: [["no job", ""]] };
    return { head, lines: chart.jobs.about(row, chart.classes[chart.classOf[row]].colour) };
  },

  leave: (chart) => chart.jobs?.light(-1),

  choose(chart, x, pixel) {
    const row = chart.raster ? GANTT.jobAt(chart, x, pixel) : -1;
    chart.jobs?.pin(row);
  },

  // GPU time of each class in the visible range.
  notes(chart) {
    if (!chart.jobs) return new Map();
    const { columns, spec } = chart.jobs;
    const { end } = spec;
    const [from, to] = chart.view.map((seconds) => (seconds / (end || 1)) * spec.levels);
    const sums = new Float64Array(chart.classes.length);
    const count = columns.bar_row.length;
    for (let k = 0; k < count; k++) {
      const length = Math.min(to, columns.bar_end[k]) - Math.max(from, columns.bar_begin[k]);
      if (length > 0) sums[chart.classOf[columns.bar_row[k]]] += length * columns.bar_gpus[k];
    }
    return new Map(chart.classes.map(({ name }, place) => [
      name, withUnit((sums[place] / spec.levels) * end, "GPU s")]));
  },

  table(chart, most) {
    const heads = ["job", "node", "from", "to", "GPUs"];
    if (!chart.jobs) return { heads, rows: [] };
    const { columns, spec } = chart.jobs;
    const range = chart.view[1] - chart.view[0];
    const seconds = (level) => (level / spec.levels) * spec.end;
    const rows = [];
    for (let k = 0; k < columns.bar_row.length && rows.length < most; k++) {
      const [begin, end] = [seconds(columns.bar_begin[k]), seconds(columns.bar_end[k])];
      if (end < chart.view[0] || begin > chart.view[1]) continue;
      rows.push([chart.jobs.title(columns.bar_row[k]), chart.spec.rows[columns.bar_lane[k]],
        momentText(begin, range), momentText(end, range), String(columns.bar_gpus[k])]);
    }
    return { heads, rows };
  },
};
