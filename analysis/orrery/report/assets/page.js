// Starts the page: draws the charts, and minds what they share.

const page = {
  charts: [],
  shades: [],
  isLinked: true,

  // Charts over the time of the run show the same part of it.
  follow(leader) {
    if (!page.isLinked || leader.spec.x.scale !== "time" || leader.spec.x.own) return;
    for (const chart of page.charts) {
      const isAlike = chart.spec.x.scale === "time" && !chart.spec.x.own;
      if (chart !== leader && isAlike) chart.setView(...leader.view, true);
    }
  },

  // The theme that was chosen here before; without one, that of the system.
  theme() {
    const root = document.documentElement;
    const key = "orrery-theme";
    const store = (action) => {
      try {
        return action(localStorage);
      } catch {
        return null; // some browsers keep nothing for files
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
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
    tell();
  },

  start() {
    page.theme();
    const data = JSON.parse(document.getElementById("data").textContent);
    page.shades = data.shades;
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      page.charts.push(new Chart(figure, data.charts[Number(figure.dataset.chart)], page));
    }
    for (const chart of page.charts) chart.draw(); // all at once: the page is laid out once
    const link = document.getElementById("linked");
    link?.addEventListener("change", () => { page.isLinked = link.checked; });
    requestAnimationFrame(() => requestAnimationFrame(() => {
      document.documentElement.dataset.ready = Math.round(performance.now()); // ms; all is drawn
    }));
  },
};

page.start();
window.orrery = { charts: page.charts, groupsIn, reduced };
