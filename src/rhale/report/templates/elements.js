// What all pages have: their data, elements by selector, new elements, light and dark.

const find = (selector, inside = document) => inside.querySelector(selector);
const findAll = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const PAGE = JSON.parse(find("#page-data").textContent);

// A new element; its text is never read as HTML.
function make(tag, text = "", classes = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (classes) element.className = classes;
  return element;
}

// A short piece of a line, or a dot, as in the chart.
function keyOf(shape, name) {
  const draw = (tag, values) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(values)) element.setAttribute(key, value);
    return element;
  };
  const dot = shape.form === "levels" && name !== "common-tick";
  const line = dot ? { cx: 14, cy: 5, r: 4 } : name === "common-tick" ? { x1: 14, x2: 14, y1: 0, y2: 10 } : { x1: 0, x2: 28, y1: 5, y2: 5 };
  const key = draw("svg", { viewBox: "0 0 28 10", width: 28, height: 10, class: `region-key ${name}`, "aria-hidden": "true" });
  key.append(draw(dot ? "circle" : "line", line));
  return key;
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}
