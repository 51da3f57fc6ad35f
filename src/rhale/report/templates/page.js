// What all pages have: their data, elements, sections whose outputs take turns, light and dark.

const find = (selector, inside = document) => inside.querySelector(selector);
const findAll = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const PAGE = JSON.parse(find("#page-data").textContent);
const SECTIONS = []; // every section's file adds a function that makes it

// A new element; its text is never read as HTML.
function make(tag, text = "", classes = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (classes) element.className = classes;
  return element;
}

// A table of texts: the first `names` columns are words, the others numbers.
function tableOf(titles, rows, names = 1) {
  const table = make("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  const look = (i) => (i < names ? "" : "number");
  const cellOf = (text, i) => {
    const cell = make(i === 0 && names === 1 ? "th" : "td", text, look(i));
    if (i < names) cell.dir = "auto";
    if (cell.tagName === "TH") cell.scope = "row";
    return cell;
  };
  head.append(...titles.map((title, i) => Object.assign(make("th", title, look(i)), { scope: "col" })));
  for (const cells of rows) body.insertRow().append(...cells.map(cellOf));
  return table;
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

// Lines of a legend: each curve by what it is about, then the common one, then remarks.
const KEYS_OF_LINES = ["first", "second", "third", "fourth"];

function legendOf(shape, names, common, remarks) {
  const item = (...parts) => {
    const made = make("li");
    made.append(...parts);
    return made;
  };
  const lines = names.map(([rule, more], k) => {
    const name = make("bdi", shorten(rule, 80));
    name.title = rule;
    return item(keyOf(shape, `${KEYS_OF_LINES[k]}-region`), name, more);
  });
  return [...lines, item(keyOf(shape, shape.form === "levels" ? "common-tick" : "common-line"), common), ...remarks.map((text) => make("li", text))];
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

function drawAhead(waiting) {
  if (waiting.length > MOST_AHEAD) return;
  const next = (deadline) => {
    do waiting.shift()();
    while (waiting.length && deadline.timeRemaining() > 5);
    if (waiting.length) whenIdle(next);
  };
  if (waiting.length) whenIdle(next);
}

// A section of parts with charts, drawn when they come into view: `draw` makes the charts of a part,
// `leaveRoom` its room before. `data` are the numbers of parts by output.
class Parts {
  constructor(kind, data, draw, leaveRoom) {
    Object.assign(this, { root: find(`#${kind}`), data, draw, leaveRoom, charts: new Map() });
    this.watcher = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) if (isIntersecting) this.show(target);
      },
      { rootMargin: "300px" },
    );
    for (const part of findAll(".part", this.root)) this.watcher.observe(part);
  }

  dataOf(part) {
    return this.data[Number(part.closest(".output").dataset.output)][Number(part.dataset.part)];
  }

  show(part) {
    if (!this.charts.has(part)) this.charts.set(part, this.draw(part, this.dataOf(part)));
  }

  showOutput(output) {
    for (const part of findAll(".output", this.root)) part.hidden = Number(part.dataset.output) !== output;
    this.reserve();
  }

  // Parts of the output that is shown which are not drawn yet.
  undrawn() {
    return findAll(".output:not([hidden]) .part", this.root).filter((part) => !this.charts.has(part));
  }

  reserve() {
    for (const part of this.undrawn()) this.leaveRoom(part, this.dataOf(part));
  }

  waiting() {
    return this.undrawn().map((part) => () => this.show(part));
  }

  drawAll() {
    for (const draw of this.waiting()) draw();
  }

  resize() {
    this.reserve();
    for (const [part, charts] of this.charts) if (part.offsetParent) charts.forEach((chart) => chart.resize());
  }
}

// A part with one chart: make it, and listen to its reader.
function drawOne(part, Kind, shape) {
  const frame = find(".drawing", part);
  if (!frame) return [];
  const chart = new Kind(frame, shape, (words) => (find(".readout", part).textContent = words));
  listen(find(".chart", part), () => chart);
  return [chart];
}

// ---- everything together ----

let made = [];
const drawSoon = () => drawAhead(made.flatMap((one) => one.waiting()));

function showOutput(output) {
  for (const one of made) one.showOutput(output);
  drawSoon();
}

async function start() {
  const kinds = Object.keys(PAGE.charts), main = find("main");
  if (kinds.length && !window.DecompressionStream) {
    main.prepend(make("p", "This browser is too old to draw the charts. Tables and sentences need none.", "warning"));
    return;
  }
  if (kinds.length) await prepare(kinds);
  made = SECTIONS.map((section) => section());
  let width = main.clientWidth;
  find("#output")?.addEventListener("change", (event) => showOutput(Number(event.target.value)));
  listenToTheme();
  addEventListener("beforeprint", () => made.forEach((one) => one.drawAll()));
  new ResizeObserver(() => requestAnimationFrame(() => {
    if (main.clientWidth === width) return;
    width = main.clientWidth;
    for (const one of made) one.resize();
  })).observe(main);
  showOutput(0);
  // go where the address says, once all has the height that it will have
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView({ behavior: "instant" });
  document.documentElement.dataset.ready = "true";
}
