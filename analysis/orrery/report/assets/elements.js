// Elements of the page and of drawings.

function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// Names of the palette are variables of the style sheet, so that they follow its themes.
const colour = (name) => (name.startsWith("#") ? name : `var(--${name})`);

function button(text, title, action) {
  return element("button", { type: "button", title, "aria-label": title, onclick: action }, text);
}

function tableOf({ heads, rows }) {
  const cells = (kind, texts) => texts.map((text, place) => (place || kind === "th"
    ? element(kind, kind === "th" ? { scope: "col" } : {}, text)
    : element("th", { scope: "row" }, text)));
  return element("table", {}, element("thead", {}, element("tr", {}, ...cells("th", heads))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells("td", row)))));
}
