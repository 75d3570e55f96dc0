// The jobs of a run: their data, which of them are highlighted, and the table to find them.

const ROW = 28; // pixels of a row of the table
const SIZE = 2 ** 21; // more than the number of jobs, so that 32 bits and an index fit a double

class Jobs {
  constructor(spec, columns) {
    Object.assign(this, { spec, columns, count: columns.job.length, listeners: [] });
    this.mask = null; // 1 for jobs that match the search
    this.pinned = -1;
    this.lit = -1;
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  changed() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      for (const listener of this.listeners) listener();
    });
  }

  // The row under the pointer; -1: no row, so the pinned job is highlighted again.
  light(row) {
    const lit = row < 0 ? this.pinned : row;
    if (lit === this.lit) return;
    this.lit = lit;
    this.changed();
  }

  pin(row) {
    this.pinned = row === this.pinned ? -1 : row;
    this.lit = this.pinned;
    this.onpin?.(this.pinned);
    this.changed();
  }

  title(row) {
    const [name, job] = [this.columns.name_names[this.columns.name[row]], this.columns.job[row]];
    return name.endsWith(`-${job}`) ? name : `${name} (job ${job})`;
  }

  text({ name, unit, text }, row) {
    const value = this.columns[name][row];
    if (name === "name") return this.title(row);
    if (text) return this.columns[`${name}_names`][value];
    if (unit === "moment") return momentText(value, this.spec.end);
    return unit ? withUnit(value, unit) : numberText(value);
  }

  about(row, paint) {
    return this.spec.columns.map((column, place) => [
      column.title, this.text(column, row), place ? null : paint]);
  }

  // Rows in the order of a column; rows without a value are last.
  order(rows, { name }, isDescending) {
    const values = this.columns[name];
    const single = new Float32Array(1);
    const bits = new Uint32Array(single.buffer);
    const keys = Float64Array.from(rows, (row) => {
      let key = values[row];
      if (values instanceof Float32Array) {
        if (Number.isNaN(key)) return 0xffffffff * SIZE + row;
        single[0] = key;
        key = bits[0] >>> 31 ? ~bits[0] >>> 0 : (bits[0] | 0x80000000) >>> 0;
      }
      return (isDescending ? 0xfffffffe - key : key) * SIZE + row;
    });
    return Uint32Array.from(keys.sort(), (key) => key % SIZE);
  }

  // 1 for each job in which every word is found, in any of its texts or as its number.
  found(words) {
    const mask = new Uint8Array(this.count).fill(1);
    const texts = ["name", ...this.spec.columns.filter(({ text }) => text).map(({ name }) => name)];
    for (const word of words) {
      const hits = [...new Set(texts)].map((name) => [this.columns[name],
        Uint8Array.from(this.columns[`${name}_names`], (one) => one.toLowerCase().includes(word))]);
      const number = /^#?\d+$/.test(word) ? Number(word.replace("#", "")) : -1;
      for (let row = 0; row < this.count; row++) {
        if (!mask[row]) continue;
        mask[row] = this.columns.job[row] === number
          || hits.some(([codes, isHit]) => isHit[codes[row]]);
      }
    }
    return mask;
  }
}

class JobTable {
  constructor(place, jobs, page) {
    Object.assign(this, { jobs, page, sorted: null, isDescending: false, current: -1 });
    this.search = element("input", { type: "search", oninput: () => this.refresh() });
    this.inRange = element("input", { type: "checkbox", onchange: () => this.refresh() });
    this.told = element("span", { class: "told", "aria-live": "polite" });
    this.reading = element("p", { class: "reading", "aria-live": "polite" });
    this.heads = jobs.spec.columns.map((column) => this.head(column));
    this.body = element("tbody", {});
    this.table = element("table", { class: "jobs", "aria-rowcount": jobs.count + 1 },
      element("colgroup", {}, ...jobs.spec.columns.map(({ text, name, unit }) => element("col", {
        class: name === "name" ? "wide" : text ? "text" : unit ? "short" : "count" }))),
      element("thead", {}, element("tr", {}, ...this.heads)), this.body);
    this.scroller = element("div", {
      class: "jobs-scroll", tabindex: 0, role: "application",
      "aria-label": "Jobs. Up and down choose a job and highlight it above, Enter pins it.",
      onscroll: () => this.draw(),
      onkeydown: (event) => this.key(event),
      onblur: () => this.choose(-1),
    }, this.table);
    place.append(element("div", { class: "controls find" },
      element("label", {}, "Search jobs ", this.search),
      element("label", {}, this.inRange, " only jobs in the time range shown above"),
      this.told), this.scroller, this.reading);
    this.body.addEventListener("pointerover", (event) => jobs.light(this.rowOf(event.target)));
    this.body.addEventListener("pointerleave", () => jobs.light(-1));
    this.body.addEventListener("click", (event) => jobs.pin(this.rowOf(event.target)));
    jobs.onpin = (row) => this.show(row);
    jobs.listen(() => this.mark());
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.refresh();
  }

  // Called when the visible range of time has changed.
  ranged() {
    if (this.inRange.checked) this.refresh();
  }

  head(column) {
    const made = element("th", { scope: "col", class: column.text ? "" : "number" },
      element("button", { type: "button", onclick: () => this.sort(column, made) }, column.title));
    return made;
  }

  sort(column, head) {
    this.isDescending = this.sorted === column ? !this.isDescending : !column.text;
    this.sorted = column;
    for (const other of this.heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", this.isDescending ? "descending" : "ascending");
    this.refresh();
  }

  // The visible rows, and their order.
  refresh() {
    const { jobs } = this;
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    jobs.mask = words.length ? jobs.found(words) : null;
    const range = this.inRange.checked ? this.page.seen().map(
      (seconds) => (seconds / (jobs.spec.end || 1)) * jobs.spec.levels) : null;
    const rows = new Uint32Array(jobs.count);
    let count = 0;
    for (let row = 0; row < jobs.count; row++) {
      if (jobs.mask && !jobs.mask[row]) continue;
      if (range && (jobs.columns.to[row] < range[0] || jobs.columns.from[row] > range[1])) continue;
      rows[count++] = row;
    }
    const kept = rows.subarray(0, count);
    this.rows = this.sorted ? jobs.order(kept, this.sorted, this.isDescending) : kept;
    const all = `${numberText(jobs.count)} jobs`;
    this.told.textContent = count === jobs.count ? all : `${numberText(count)} of ${all}`;
    this.current = -1;
    this.scroller.scrollTop = 0;
    this.draw();
    jobs.changed();
  }

  // Only visible rows are elements.
  draw() {
    const { jobs, rows } = this;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - 4);
    const last = Math.min(rows.length, first + Math.ceil(this.scroller.clientHeight / ROW) + 9);
    const space = (count) => element("tr", { class: "space", style: `height:${count * ROW}px`,
      "aria-hidden": true });
    const made = [];
    for (let place = first; place < last; place++) {
      const row = rows[place];
      const cells = jobs.spec.columns.map((column, k) => element(k ? "td" : "th", {
        class: column.text ? null : "number", scope: k ? null : "row",
      }, jobs.text(column, row)));
      made.push(element("tr", { "data-row": row, "aria-rowindex": place + 2 }, ...cells));
    }
    this.body.replaceChildren(space(first), ...made, space(rows.length - last));
    this.mark();
  }

  mark() {
    for (const line of this.body.children) {
      if (line.dataset.row === undefined) continue;
      const row = Number(line.dataset.row);
      line.classList.toggle("lit", row === this.jobs.lit);
      line.classList.toggle("pinned", row === this.jobs.pinned);
    }
  }

  rowOf(target) {
    const line = target.closest("tr[data-row]");
    return line ? Number(line.dataset.row) : -1;
  }

  // Scrolls to a job, if it matches the search.
  show(row) {
    const place = row < 0 ? -1 : this.rows.indexOf(row);
    if (place < 0) return;
    const line = this.body.querySelector(`[data-row="${row}"]`);
    const box = this.scroller.getBoundingClientRect();
    const at = line?.getBoundingClientRect();
    if (at && at.top > box.top + ROW && at.bottom < box.bottom) return;
    this.scroller.scrollTop = (place + 1) * ROW - this.scroller.clientHeight / 2;
    this.draw();
  }

  choose(place) {
    this.current = place;
    if (place < 0) {
      this.reading.textContent = "";
      this.jobs.light(-1);
      return;
    }
    const row = this.rows[place];
    const top = place * ROW;
    const room = this.scroller.clientHeight - 2 * ROW; // below the heads
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    if (top > this.scroller.scrollTop + room - ROW) this.scroller.scrollTop = top - room + ROW;
    this.draw();
    this.jobs.light(row);
    this.reading.textContent = this.jobs.about(row).map(([name, text]) => `${name} ${text}`)
      .join("; ");
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.scroller) return;
    const most = this.rows.length - 1;
    const full = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 2);
    const to = {
      ArrowDown: this.current + 1, ArrowUp: this.current - 1, Home: 0, End: most,
      PageDown: this.current + full, PageUp: this.current - full,
    }[event.key];
    if (event.key === "Enter" && this.current >= 0) this.jobs.pin(this.rows[this.current]);
    else if (event.key === "Escape") this.choose(-1);
    else if (to === undefined || most < 0) return;
    else this.choose(Math.min(Math.max(to, 0), most));
    event.preventDefault();
  }
}
