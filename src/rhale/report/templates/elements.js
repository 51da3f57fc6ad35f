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

// The button of light and dark says what it will do.
function listenToTheme() {
  const root = document.documentElement, button = find("#theme"), system = matchMedia("(prefers-color-scheme: dark)");
  const other = () => ((root.dataset.theme ? root.dataset.theme === "dark" : system.matches) ? "light" : "dark");
  const say = () => (button.textContent = `Switch to ${other()}`);
  button.addEventListener("click", () => {
    root.dataset.theme = other();
    say();
  });
  system.addEventListener("change", say);
  say();
}

// Charts are drawn when they come into view; those of a page of moderate size a little later, too,
// whenever there is nothing else to do.
const MOST_AHEAD = 50; // charts
const whenIdle = window.requestIdleCallback ?? ((act) => setTimeout(() => act({ timeRemaining: () => 10 }), 30));

function drawAhead(waiting, draw) {
  if (waiting.length > MOST_AHEAD) return;
  const next = (deadline) => {
    do draw(waiting.shift());
    while (waiting.length && deadline.timeRemaining() > 5);
    if (waiting.length) whenIdle(next);
  };
  if (waiting.length) whenIdle(next);
}

// Go where the address says, once all has the height that it will have.
function openAddress() {
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView({ behavior: "instant" });
}
