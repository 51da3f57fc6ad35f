// Pages whose outputs take turns: parts are drawn, by `drawPart` of the page, when they come into view.

const drawn = new Map(); // charts of each part that has been in view

const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) drawPart(target);
  },
  { rootMargin: "300px" },
);

function showOutput(output) {
  for (const part of findAll(".output")) part.hidden = Number(part.dataset.output) !== output;
}

function drawAll() {
  for (const part of findAll(".output:not([hidden]) .part")) drawPart(part);
}

let lastWidth = 0;
function resize() {
  const width = find("main").clientWidth;
  if (width === lastWidth) return;
  lastWidth = width;
  for (const [section, charts] of drawn) if (section.offsetParent) charts.forEach((chart) => chart.resize());
}

async function start() {
  const kinds = Object.keys(PAGE.charts);
  if (kinds.length) await prepare(kinds);
  lastWidth = find("main").clientWidth;
  showOutput(0);
  find("#output")?.addEventListener("change", (event) => showOutput(Number(event.target.value)));
  find("#theme").addEventListener("click", switchTheme);
  addEventListener("beforeprint", drawAll);
  new ResizeObserver(() => requestAnimationFrame(resize)).observe(find("main"));
  for (const part of findAll(".part")) watcher.observe(part);
  document.documentElement.dataset.ready = "true";
}
