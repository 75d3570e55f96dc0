// Starts the page: draws the charts, and handles what they share.

const page = {
  charts: [],
  shades: [],
  isLinked: true,

  // Charts over the time of the run show the same range.
  follow(leader) {
    if (!page.isLinked || leader.spec.x.scale !== "time" || leader.spec.x.own) return;
    for (const chart of page.charts) {
      const isAlike = chart.spec.x.scale === "time" && !chart.spec.x.own;
      if (chart !== leader && isAlike) chart.setView(...leader.view, true);
    }
    page.table?.ranged();
  },

  // The range of the run that charts show.
  seen() {
    const chart = page.charts.find(({ spec }) => spec.x.scale === "time" && !spec.x.own);
    return chart ? chart.view : [0, Infinity];
  },

  // Pictures made of pixels are redrawn for a new theme.
  themed() {
    RGB.clear();
    for (const chart of page.charts) chart.kind.paint?.(chart);
  },

  // Marks the current section in the bar of sections.
  sections() {
    const links = new Map([...document.querySelectorAll("nav a")].map(
      (link) => [link.hash.slice(1), link]));
    const sections = [...document.querySelectorAll("main section")];
    const mark = () => {
      const line = 0.3 * window.innerHeight;
      const isEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 2;
      const passed = sections.filter((one) => one.getBoundingClientRect().top <= line);
      const here = isEnd && window.scrollY > 0 ? sections.at(-1) : passed.at(-1);
      for (const [id, link] of links) {
        if (here?.id === id && !link.hasAttribute("aria-current")) {
          link.setAttribute("aria-current", "true");
          const bar = link.closest("ul");
          bar.scrollLeft = link.offsetLeft - bar.clientWidth / 2;
        } else if (here?.id !== id) link.removeAttribute("aria-current");
      }
    };
    let isWaiting = false;
    document.addEventListener("scroll", () => {
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        mark();
      });
    }, { passive: true });
    mark();
  },

  // Buttons that copy the text beside them.
  copies() {
    for (const made of document.querySelectorAll("button[data-copy]")) {
      made.addEventListener("click", async () => {
        const text = document.getElementById(made.dataset.copy);
        const range = document.createRange();
        range.selectNodeContents(text);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        let isDone = false;
        try {
          await navigator.clipboard.writeText(text.textContent);
          isDone = true;
        } catch {
          isDone = document.execCommand("copy"); // in some browsers pages from files have no clipboard
        }
        made.textContent = isDone ? "Copied" : "Selected: press Ctrl+C";
      });
    }
  },

  // Jobs are packed, and take a moment to unpack.
  async jobs(spec) {
    const packed = document.getElementById("jobs-data");
    if (!packed) return;
    page.jobs = new Jobs(spec, await unpacked(packed.textContent));
    const gantt = page.charts.find(({ spec: one }) => one.kind === "gantt");
    if (gantt) {
      GANTT.fill(gantt, page.jobs);
      gantt.draw();
    }
    page.table = new JobTable(document.getElementById("jobs-table"), page.jobs, page);
  },

  // The theme that the reader chose before; by default that of the system.
  theme() {
    const root = document.documentElement;
    const key = "orrery-theme";
    const store = (action) => {
      try {
        return action(localStorage);
      } catch {
        return null; // some browsers store nothing for pages from files
      }
    };
    const chosen = store((kept) => kept.getItem(key));
    if (chosen) root.dataset.theme = chosen;
    const isDark = () => (root.dataset.theme
      ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
    const toggle = document.getElementById("theme");
    const tell = () => toggle.setAttribute("aria-pressed", isDark());
    toggle.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      store((kept) => kept.setItem(key, root.dataset.theme));
      tell();
      page.themed();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      tell();
      page.themed();
    });
    tell();
  },

  async start() {
    page.theme();
    const data = JSON.parse(document.getElementById("data").textContent);
    page.shades = data.shades;
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      page.charts.push(new Chart(figure, data.charts[Number(figure.dataset.chart)], page));
    }
    for (const chart of page.charts) chart.draw(); // together: the page is laid out once
    page.sections();
    page.copies();
    const link = document.getElementById("linked");
    link?.addEventListener("change", () => { page.isLinked = link.checked; });
    await page.jobs(data.jobs);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      document.documentElement.dataset.ready = Math.round(performance.now()); // ms; all is drawn
    }));
  },
};

page.start();
window.orrery = { charts: page.charts, page, groupsIn, reduced, rgbOf, withUnit };
