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

// The CSS colour of a name. A name of the palette becomes a variable of the style sheet, whose value
// depends on the theme. `ramp:0.3` is a colour on a scale from 0 (few) to 1 (many). In each theme
// the scale leaves out colours that are close to the background.
function colour(name) {
  if (name.startsWith("#")) return name;
  if (!name.startsWith("ramp:")) return `var(--${name})`;
  const part = Number(name.slice(5));
  const shade = (place) => {
    const rgb = page.shades[Math.round(place * (page.shades.length - 1))];
    return `rgb(${rgb.join(" ")})`;
  };
  return `light-dark(${shade(0.9 - 0.9 * part)}, ${shade(0.3 + 0.7 * part)})`;
}

// The current theme's colour, for pictures made of pixels.
const RGB = new Map();
function rgbOf(name) {
  const probe = document.getElementById("probe");
  if (!RGB.has(name)) {
    probe.style.color = colour(name);
    RGB.set(name, getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number));
  }
  return RGB.get(name);
}

function pixelOf(name) {
  const [red, green, blue] = rgbOf(name);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

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
