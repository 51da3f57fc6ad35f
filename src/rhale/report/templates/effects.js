// Effects: sorting, searching, regions, other bins, drawing what is in view.

const sections = new Map(findAll(".feature").map((section) => [Number(section.dataset.feature), section]));
const lines = new Map(findAll("#ranking tbody tr").map((line) => [Number(line.dataset.feature), line]));
const charts = new Map(); // drawn charts by feature
const regionCharts = new Map(); // and those of their regions
const state = { output: 0, sort: "size", down: true, query: "", smooth: false };
let mapView = null;

// Words beside the axes are those of the feature and of the output.
PAGE.features.forEach(({ titles, parts }) => parts.forEach(({ shape }, o) => (shape.titles = [PAGE.effects[o] ?? "", ...titles])));

const partOf = (feature) => PAGE.features[feature].parts[state.output];

// What is drawn of a part: its curve as the model has it, or the smooth one, where there are two.
// A chart has room for the curves of the regions, and theirs for it, so that both have one axis.
function shapeOf(part) {
  return withBins(part, chosenShape(part));
}

function chosenShape(part) {
  const { shape } = part;
  shape.room ??= regionHeights(part);
  if (!state.smooth || !shape.smooth) return shape;
  return (part.even ??= { ...shape, ...shape.smooth });
}

function regionHeights(part) {
  const lines = part.regions?.lines ?? [];
  return (shownFirst({ ...part.shape, lines }).lines ?? []).flatMap(({ path }) => path.y.flatMap((y, i) => [y, y - path.half[i], y + path.half[i]]));
}

// The same for its regions.
function regionShapeOf(part) {
  const own = chosenShape(part), name = state.smooth ? "evenRegions" : "exactRegions";
  const lines = () => part.regions.lines.map(({ row, path, smooth }) => ({
    rule: part.regions.rows[row].rule, path: (state.smooth && smooth) || path,
  }));
  return (part[name] ??= { ...own, lines: lines(), room: [...heightsOf(shownFirst(part.shape)), ...regionHeights(part)] });
}

// ---- the ranking ----

function largest(field) {
  return Math.max(...PAGE.features.map((feature) => feature.parts[state.output][field] ?? 0)) || 1;
}

function fillRanking() {
  const most = largest("size");
  for (const [feature, line] of lines) {
    const part = partOf(feature);
    find(".spark path", line).setAttribute("d", part.sparkline);
    find(".size", line).textContent = plusMinus(part.size, part.error, most);
    find(".bar rect", line).setAttribute("width", (100 * (part.size ?? 0)) / most);
    find(".spread", line).textContent = plusMinus(part.spread, part.spread_error, most);
    const [bins, differs] = [".bins", ".differs"].map((name) => find(name, line));
    if (bins) bins.textContent = part.n_bins;
    if (differs) differs.textContent = part.differs ?? "";
    line.querySelectorAll(".further").forEach((cell, i) => { cell.textContent = part.further[i]; });
  }
}

function compare(a, b) {
  const { sort, down } = state;
  const [first, second] = down ? [b, a] : [a, b];
  if (sort === "name") return PAGE.features[first].name.localeCompare(PAGE.features[second].name);
  return (partOf(first)[sort] ?? -1) - (partOf(second)[sort] ?? -1) || a - b;
}

function arrange() {
  const order = [...lines.keys()].sort(compare);
  find("#ranking tbody").append(...order.map((feature) => lines.get(feature)));
  find("#features").append(...order.map((feature) => sections.get(feature)));
  order.forEach((feature, i) => (find(".rank", lines.get(feature)).textContent = i + 1));
  for (const header of findAll("#ranking th[data-sort]")) {
    const chosen = header.dataset.sort === state.sort;
    header.setAttribute("aria-sort", chosen ? (state.down ? "descending" : "ascending") : "none");
  }
}

function sortBy(sort) {
  state.down = state.sort === sort ? !state.down : sort !== "name";
  state.sort = sort;
  arrange();
}

function search(query) {
  state.query = query.trim().toLocaleLowerCase();
  let found = 0;
  for (const [feature, line] of lines) {
    const { name, key } = PAGE.features[feature];
    const hit = [name, key ?? name].some((words) => words.toLocaleLowerCase().includes(state.query));
    line.hidden = sections.get(feature).hidden = !hit;
    found += hit;
  }
  const all = PAGE.features.length;
  find("#found").textContent = state.query ? `${found} of ${all} features` : "";
}

// ---- one feature ----

function fillSection(feature) {
  const section = sections.get(feature), part = partOf(feature), most = largest("size");
  find(".own-partners", section).textContent = part.partners ?? "";
  find(".numbers .size", section).textContent = plusMinus(part.size, part.error, most);
  find(".numbers .spread", section).textContent = plusMinus(part.spread, part.spread_error, most);
  find(".numbers .bins", section).textContent = counted(part.n_bins, PAGE.features[feature].counted);
  find(".reading", section).textContent = part.reading.join(" ");
  find(".notes", section).replaceChildren(...part.notes.map((i) => make("li", PAGE.notes[i])));
  find(".bins-table", section)?.replaceChildren();
  if (find("details.bins", section)?.open) fillBins(feature);
  fillChoice(section, part);
  if (find(".show-rows", section)) showRows(feature, find(".show-rows input", section).checked);
  fillRegions(feature);
}

// ---- its regions ----

function fillRegions(feature) {
  const place = find(".regions", sections.get(feature)), part = partOf(feature).regions;
  if (!place) return;
  const drawn = part?.lines.length > 0;
  find(".region-reading", place).textContent = part?.reading ?? "";
  find(".partners", place).textContent = part?.partners ?? "";
  for (const element of findAll("h4, figure, details", place)) element.hidden = !drawn;
  find("figure", place).classList.toggle("gradual", Boolean(part?.gradual));
  find(".legend", place).replaceChildren(...(drawn ? legend(part, partOf(feature).shape) : []));
  find(".regions-table", place).replaceChildren(...(drawn ? [regionsTable(part)] : []));
}

function legend(part, shape) {
  const names = part.lines.map(({ row }) => [part.rows[row].rule, `, ${inPerCent(part.rows[row].share)} of the rows`]);
  const more = part.rows.length - part.lines.length;
  const sure = shape.form === "levels" ? "thin lines: 95 % intervals" : "shaded: 95 % intervals";
  return legendOf(shape, names, "all rows", more > 0 ? [sure, `${whole(more)} more in the table`] : [sure]);
}

function regionsTable(part) {
  const most = Math.max(...part.rows.map(({ size }) => size ?? 0));
  const rows = part.rows.map(({ rule, count, share, size, error, spread, spread_error }) =>
    [rule, whole(count), inPerCent(share), plusMinus(size, error, most), plusMinus(spread, spread_error, most)]);
  return tableOf(["region", "rows", "share", "importance", "typical spread"], rows);
}

function drawRegions(feature) {
  const section = sections.get(feature), part = partOf(feature), shown = regionCharts.get(feature);
  if (!part.regions?.lines.length) return;
  const shape = regionShapeOf(part);
  if (shown?.full === shape) return;
  if (shown && [part.exactRegions, part.evenRegions].includes(shown.full)) return shown.show(shape);
  const place = find(".regions", section), readout = find(".readout", place);
  shown?.view.finalize();
  const say = (words) => (readout.textContent = words);
  regionCharts.set(feature, new RegionChart(find(".drawing", place), shape, say));
}

function fillBins(feature) {
  const place = find(".bins-table", sections.get(feature));
  if (!place.hasChildNodes()) place.append(binsTable(shapeOf(partOf(feature))));
}

function binsTable(shape) {
  return tableOf(binsTitles(shape), shape.bins ? binsCells(shape) : pointCells(shape), nameColumns(shape));
}

const nameColumns = (shape) => (shape.bins ? 2 : shape.labels ? 1 : 0);

function binsTitles(shape) {
  if (!shape.bins && shape.labels) return ["level", "rows", "effect", "from", "to", "spread"];
  if (!shape.bins) return ["value", "effect", "from", "to", "spread"];
  const what = shape.form === "levels" ? "step" : `slope${perUnit(shape)}`;
  return ["from", "to", "rows", what, "error", "spread"];
}

function binsCells(shape) {
  const { left, right, count, mean, error, std } = shape.bins;
  return left.map((_, k) => [
    place(shape, left[k]), place(shape, right[k]), whole(count[k]),
    number(mean[k]), number(error[k], 2), number(std[k]),
  ]);
}

function pointCells(shape) {
  return shape.x.map((x, i) => [
    place(shape, x), ...(shape.labels ? [whole(shape.rows[i])] : []),
    number(shape.y[i]), number(shape.low[i]), number(shape.high[i]), number(shape.spread[i]),
  ]);
}

function drawSection(feature) {
  drawRegions(feature);
  const section = sections.get(feature), part = partOf(feature);
  if (part.shape.form === "constant") return;
  const shape = shapeOf(part), shown = charts.get(feature);
  if (shown?.full === shape) return;
  const name = find(".curve-name", section);
  if (name) name.textContent = chosenShape(part) === part.shape ? "" : ", small steps evened out";
  if (shown?.part === part) return shown.show(shape);
  const frame = find(".effect .drawing", section), readout = find(".readout", section);
  shown?.view.finalize();
  const chart = new Chart(frame, shape, (words) => (readout.textContent = words));
  charts.set(feature, Object.assign(chart, { part }));
  if (find(".show-rows input", section)?.checked) chart.showRows(true);
}

// Draw the curves of sampled rows, or leave them out.
function showRows(feature, shown) {
  const section = sections.get(feature), lines = partOf(feature).shape.row_lines;
  const key = find(".rows-key", section);
  key.hidden = !(shown && lines);
  const last = (lines?.x.length ?? 0) - 1, estimated = lines?.rows.some((_, k) => lines.first[k] > 0 || lines.last[k] < last);
  find("span:last-child", key).textContent = `${lines?.told ?? ""}${estimated ? ", pale where estimated" : ""}`;
  charts.get(feature)?.showRows(shown);
}

// ---- other bins ----

const chosenBins = (part) => part.choice?.[part.chosen - 1]; // 0 or nothing: those as chosen in Python

// A shape with the bins that the reader chose, the same object each time.
function withBins(part, shape) {
  const chosen = chosenBins(part);
  if (!chosen) return shape;
  const shapes = (chosen.shapes ??= new Map());
  if (!shapes.has(shape)) shapes.set(shape, { ...shape, ...chosen.line, bins: chosen.bins });
  return shapes.get(shape);
}

const tellBins = ({ bins }) => `${counted(bins.mean.length, "bins")} of equal counts`;

// Offer the bins of the output that is shown, and say what was changed.
function fillChoice(section, part) {
  const box = find(".other-bins", section);
  if (!box) return;
  const texts = [`${counted(part.n_bins, "bins")}, as chosen`, ...(part.choice ?? []).map(tellBins)];
  const options = texts.map((text, value) => Object.assign(make("option", text), { value }));
  const select = find("select", box), chosen = chosenBins(part);
  select.replaceChildren(...options);
  select.value = part.chosen ?? 0;
  box.hidden = !part.choice;
  box.classList.toggle("changed", Boolean(chosen));
  find("p", box).textContent = chosen ? `Changed on this page to ${tellBins(chosen)}. ${chosen.line ? ABOUT_LINE : ABOUT_BARS}` : "";
}

const ABOUT_LINE = "Curve, bars and table follow; the spread does not depend on bins. Sentences and ranking speak of the bins as chosen.";
const ABOUT_BARS = "Bars and table follow; the curve is the model’s own, and its spread does not depend on bins. Sentences and ranking speak of the bins as chosen.";

function changeBins(feature, chosen) {
  const section = sections.get(feature), part = partOf(feature);
  part.chosen = chosen;
  fillChoice(section, part);
  find(".bins-table", section).replaceChildren();
  if (find("details.bins", section).open) fillBins(feature);
  drawSection(feature);
}

// Leave room for what is not drawn yet.
function reserveSection(feature) {
  const section = sections.get(feature), part = partOf(feature), { shape, regions } = part;
  const frame = find(".effect .drawing", section), who = find(".regions .drawing", section);
  const levels = shape.form === "levels" ? shape.labels.length : 0, lost = levels && shape.missing ? 1 : 0;
  if (frame && !charts.has(feature)) reserve(frame, chartKind(shape, frame.clientWidth), levels + lost);
  if (who && regions?.lines.length && !regionCharts.has(feature)) reserve(who, regionKind(shape), levels, regionStep(regions));
}

// Everything that may be drawn before it comes into view.
function waitingEffects() {
  const map = find("#map") && !mapView ? [drawMap] : [];
  return [...map, ...[...sections.keys()].map((feature) => () => drawSection(feature))];
}

const inView = new Set();
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (target.id === "map") {
        if (isIntersecting && !mapView) drawMap();
        continue;
      }
      const feature = Number(target.dataset.feature);
      if (isIntersecting) inView.add(feature);
      else inView.delete(feature);
      if (isIntersecting) drawSection(feature);
    }
  },
  { rootMargin: "300px" },
);

// ---- the map ----

// Labels that fit: the largest effects first, each unless it would cover another.
function labelled(points, width, height) {
  const [right, top] = [largest("spread"), largest("size")];
  const placeOf = ({ s, e }) => [(width * s) / right, height * (1 - e / top)];
  const taken = points.map((point) => [placeOf(point)[0] - 8, placeOf(point)[0] + 8, placeOf(point)[1], point]);
  for (const point of points) {
    const [x, y] = placeOf(point);
    const name = PAGE.features[point.feature].name;
    const text = shorten(name, 24);
    const long = 10 + 7 * text.length;
    const left = x + long > width;
    const box = left ? [x - long, x] : [x, x + long];
    const free = taken.every(([a, b, v, dot]) => dot === point || box[1] < a || box[0] > b || Math.abs(y - v) > 12);
    Object.assign(point, { left, label: free ? text : "" });
    if (free) taken.push([...box, y]);
  }
  return points;
}

function drawMap() {
  const box = find("#map"), width = Math.max(160, box.clientWidth - 80);
  const points = [...lines.keys()]
    .map((feature) => ({ feature, e: partOf(feature).size, s: partOf(feature).spread, part: partOf(feature) }))
    .filter(({ e, s }) => e !== null && s !== null)
    .sort((a, b) => b.e - a.e);
  const end = Math.min(largest("size"), largest("spread"));
  mapView?.finalize();
  mapView = makeView("map", box).width(width);
  mapView.data("points", labelled(points, width, 320));
  mapView.data("diagonal", [{ s: 0, e: 0 }, { s: end, e: end }]).run();
  mapView.addEventListener("click", (_, item) => item?.datum?.feature >= 0 && goTo(item.datum.feature));
  mapView.addEventListener("pointermove", (_, item) => sayOnMap(item?.datum));
}

function sayOnMap(point) {
  const known = point?.feature >= 0;
  const told = (value, error) => number(value) + (error ? ` ± ${number(error, 2)}` : "");
  const words = known && `: importance ${told(point.e, point.part.error)}, typical spread ${told(point.s, point.part.spread_error)}`;
  find("#map-readout").textContent = known ? PAGE.features[point.feature].name + words : "";
}

function goTo(feature) {
  const section = sections.get(feature);
  if (section.hidden) clearSearch();
  section.scrollIntoView({ block: "start" });
  section.focus({ preventScroll: true });
}

function clearSearch() {
  find("#search").value = "";
  search("");
}

// ---- everything together ----

function showEffects(output) {
  if (output === state.output) return;
  state.output = output;
  for (const place of findAll(".output-name")) place.textContent = PAGE.outputs[output];
  fillRanking();
  for (const feature of sections.keys()) fillSection(feature);
  arrange();
  for (const feature of inView) drawSection(feature);
  if (mapView) drawMap();
}

function showCurve(smooth) {
  state.smooth = smooth;
  for (const feature of inView) drawSection(feature);
  drawSoon();
}

function listenToAll() {
  for (const button of findAll("#ranking th[data-sort] button")) {
    button.addEventListener("click", () => sortBy(button.closest("th").dataset.sort));
  }
  for (const [feature, section] of sections) listenToSection(feature, section);
  find("#search").addEventListener("input", (event) => search(event.target.value));
  find("#curve")?.addEventListener("change", (event) => showCurve(event.target.value === "smooth"));
  addEventListener("hashchange", openHash);
}

function drawAllEffects() {
  for (const draw of waitingEffects()) draw();
}

function listenToSection(feature, section) {
  fillChoice(section, partOf(feature));
  find(".other-bins select", section)?.addEventListener("change", (event) => changeBins(feature, Number(event.target.value)));
  find(".show-rows input", section)?.addEventListener("change", (event) => showRows(feature, event.target.checked));
  find("details.bins", section)?.addEventListener("toggle", () => fillBins(feature));
  listenToFigure(find("figure.effect", section), () => charts.get(feature));
  listenToFigure(find(".regions figure", section), () => regionCharts.get(feature));
}

function listenToFigure(figure, chartOf) {
  if (!figure) return;
  listen(find(".chart", figure), chartOf);
  for (const button of findAll("[data-zoom]", figure)) {
    const share = Number(button.dataset.zoom);
    button.addEventListener("click", () => (share ? chartOf().zoomBy(share) : chartOf().zoomOut()));
  }
}

function openHash() {
  const section = document.getElementById(location.hash.slice(1));
  if (section?.hidden) {
    clearSearch();
    section.scrollIntoView();
  }
}

function resizeEffects() {
  for (const feature of sections.keys()) reserveSection(feature);
  for (const chart of [...charts.values(), ...regionCharts.values()]) chart.resize();
  if (mapView) drawMap();
}

SECTIONS.push(() => {
  listenToAll();
  for (const feature of sections.keys()) {
    fillRegions(feature);
    reserveSection(feature);
  }
  if (find("#map")) {
    reserve(find("#map"), "map");
    watcher.observe(find("#map"));
  }
  for (const section of sections.values()) watcher.observe(section);
  return { showOutput: showEffects, waiting: waitingEffects, drawAll: drawAllEffects, resize: resizeEffects };
});
