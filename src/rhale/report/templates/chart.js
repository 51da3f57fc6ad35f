// Charts: rows for Vega from the numbers of a shape, drawing, hovering and zooming.
// Words of the user only ever become values of data, never parts of an expression.

const SURE = 1.96; // standard errors in half an interval of the mean
const NARROW = 620; // pixels: less has no room for steps beside levels
const GAP = 18; // between panels side by side
const LETTER = 7; // width of a letter in names of levels
const QUIET = { logLevel: 1 }; // errors only: data that a chart does not have is no news
let View = null; // Vega's
const prepared = new Map(); // arguments of views, by kind of chart
const heights = new Map(); // of charts without levels, by kind
const LEVEL_HEIGHT = 26; // as in charts.py

// Vega and its companions, which are packed: the policy of the page knows the hash of the text.
async function unpack() {
  const bytes = Uint8Array.from(atob(find("#libraries").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  document.head.append(make("script", await new Response(stream).text()));
}

// Vega-Embed parses a specification, and has what evaluates expressions without eval. It hands
// both to the view that it makes: keep them, so that charts can be drawn at once when needed.
async function prepare(kinds) {
  await unpack();
  const place = () => document.createElement("div");
  const options = { mode: "vega", ast: true, actions: false, tooltip: false, defaultStyle: false, ...QUIET };
  const first = await vegaEmbed(place(), { marks: [] }, options);
  View = first.view.constructor;
  for (const kind of kinds) {
    class Probe extends View {
      constructor(runtime, settings) {
        super(runtime, settings);
        prepared.set(kind, [runtime, { expr: settings.expr, renderer: "svg", ...QUIET }]);
      }
    }
    const box = place();
    const done = await vegaEmbed(box, PAGE.charts[kind], { ...options, viewClass: Probe });
    const hasPlaces = PAGE.charts[kind].signals.some(({ name }) => name === "zoom");
    if (hasPlaces) await done.view.signal("zoom", [1, 2]).resize().runAsync(); // so that the axis has labels
    heights.set(kind, Number(box.querySelector("svg").getAttribute("height")));
    done.finalize();
  }
  first.finalize();
}

function makeView(kind, box) {
  return new View(...prepared.get(kind)).tooltip(() => {}).initialize(box);
}

// Leave the room that a chart will need, so that nothing moves when it is drawn.
function reserve(frame, kind, levels = 0, step = LEVEL_HEIGHT) {
  frame.style.minHeight = `${heights.get(kind) + levels * step}px`;
}

function chartKind(shape, width) {
  if (shape.form === "levels") return width < NARROW || !shape.bins ? "narrow levels" : "levels";
  const scale = shape.log ? "log " : "";
  if (shape.bins) return scale + shape.form;
  return shape.form === "dates" ? "date profile" : `${scale}profile`;
}

function regionKind(shape) {
  if (shape.log) return "log regions";
  return { levels: "level regions", dates: "date regions" }[shape.form] ?? "regions";
}

const regionStep = (shape) => 12 + 12 * shape.lines.length;

// Distances along an axis, and back.
const along = (shape, x) => (shape.log ? Math.log(x) : x);
const back = (shape, place) => (shape.log ? Math.exp(place) : place);

// ---- what is shown first ----

const ALONG = ["x", "y", "spread", "low", "high", "between", "half"];

// A shape without what lies beyond the part of its axis that is shown first.
function shownFirst(shape) {
  if (!shape.shown) return shape;
  const [low, high] = shape.shown, inside = (x) => x >= low && x <= high;
  const keep = (places) => places.flatMap((x, i) => (inside(x) ? [i] : []));
  const pick = (values, kept) => kept.map((i) => values[i]);
  const cut = (line) => {
    const kept = keep(line.x), found = ALONG.filter((name) => line[name]).map((name) => [name, pick(line[name], kept)]);
    return { ...line, ...Object.fromEntries(found) };
  };
  const thin = (curve) => {
    const kept = keep(curve.at.map((place) => shape.grid[place]));
    return { at: pick(curve.at, kept), y: pick(curve.y, kept) };
  };
  const made = { ...cut(shape), ends: shape.shown }, kept = keep(shape.x);
  if (shape.singles) made.singles = shape.singles.map((ys) => pick(ys, kept));
  if (shape.jumps) made.jumps = shape.jumps.filter(([x]) => inside(x));
  if (shape.lines) made.lines = shape.lines.map((line) => (line.path ? { ...line, path: cut(line.path) } : cut(line)));
  if (shape.gaps) made.gaps = shape.gaps.map(cut);
  if (shape.curves) made.curves = shape.curves.map(thin);
  if (shape.own) made.own = thin(shape.own);
  return made;
}

// On which sides of a chart there is more.
function beyondRows({ ends, full }) {
  if (!ends) return [];
  return [...(full[0] < ends[0] ? [{ side: "left" }] : []), ...(full[1] > ends[1] ? [{ side: "right" }] : [])];
}

// ---- rows ----

function columns(names, arrays) {
  return arrays[0].map((_, i) => Object.fromEntries(names.map((name, j) => [name, arrays[j][i]])));
}

function around(rows) {
  for (const row of rows) {
    row.a = row.spread === null ? null : row.y - row.spread;
    row.b = row.spread === null ? null : row.y + row.spread;
  }
  return rows;
}

function rowsOf(shape) {
  const names = ["x", "y", "spread", "low", "high"];
  const points = around(columns(names, names.map((name) => shape[name])));
  const missing = shape.missing ? around([{ ...shape.missing }]) : [];
  if (shape.form === "levels") return levelRows(shape, points, missing);
  return {
    line: points,
    band: shape.dots ? [] : points,
    dots: shape.dots ? points : [],
    missing,
    beyond: beyondRows(shape),
    room: roomRows(shape.room ?? []),
    singles: (shape.singles ?? []).flatMap((ys, k) => ys.map((y, i) => ({ k, x: shape.x[i], y }))),
    jumps: (shape.jumps ?? []).map(([x, size]) => jumpRow(shape, x, size)),
    ...countRows(shape),
    ...(shape.bins ? binRows(shape.bins, shape) : {}),
  };
}

// Curves of sampled rows: where they were measured, and, as far as the axis reaches, where they are estimated.
function sampledRows(shape) {
  const lines = shape.row_lines;
  if (!lines) return { measured: [], estimated: [] };
  const { first, last } = lines;
  const parts = lines.rows.flatMap((steps, k) => {
    const off = { x: lines.x, off: steps.map((n) => lines.low + n * lines.step) };
    if (shape.form === "levels") return off.off.map((y, i) => ({ measured: i >= first[k] && i <= last[k], points: [{ x: i, y: shape.y[i] + y }] }));
    const part = (measured, start, stop) => ({ measured, points: besideCurve(shape, off, lines.x[start], lines.x[stop]) });
    return [part(true, first[k], last[k]), part(false, 0, first[k]), part(false, last[k], lines.x.length - 1)];
  });
  const known = parts.filter(({ measured }) => measured).flatMap(({ points }) => points.map(({ y }) => y));
  const heights = [...heightsOf(shape), ...known].filter(Number.isFinite), [low, high] = [Math.min(...heights), Math.max(...heights)];
  const beyond = parts.filter(({ measured }) => !measured).flatMap(({ points }) => cutLine(points, low, high));
  const numbered = (pieces) => pieces.flatMap((points, k) => points.map((point) => ({ ...point, k })));
  return { measured: numbered(parts.filter(({ measured }) => measured).map(({ points }) => points)), estimated: numbered(beyond) };
}

// A row between two places: what it is off the curve changes evenly from place to place.
function besideCurve(shape, off, start, stop) {
  const [low, high] = [Math.max(start, shape.x[0]), Math.min(stop, shape.x.at(-1))];
  if (!(low < high)) return [];
  const at = (x, y) => ({ x, y: y + (readLine(off, "off", x) ?? 0) });
  const inside = shape.x.flatMap((x, i) => (x > low && x < high ? [at(x, shape.y[i])] : []));
  return [at(low, readLine(shape, "y", low)), ...inside, at(high, readLine(shape, "y", high))];
}

// The pieces of a line between two heights.
function cutLine(points, low, high) {
  const inside = ({ y }) => y >= low && y <= high;
  if (points.length < 2) return points.every(inside) ? [points] : [];
  const pieces = [];
  let piece = [];
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1], points[i]];
    const at = (y) => (b.y === a.y ? 0 : (y - a.y) / (b.y - a.y));
    const [from, to] = [at(low), at(high)].sort((s, t) => s - t);
    const [start, stop] = b.y === a.y ? (inside(a) ? [0, 1] : [1, 0]) : [Math.max(from, 0), Math.min(to, 1)];
    const read = (t) => ({ x: a.x + t * (b.x - a.x), y: a.y + t * (b.y - a.y) });
    if (start < stop) piece.push(...(piece.length ? [] : [read(start)]), read(stop));
    if (piece.length && !(start < stop && stop === 1)) {
      pieces.push(piece);
      piece = [];
    }
  }
  return piece.length ? [...pieces, piece] : pieces;
}

function jumpRow(shape, x, size) {
  return { x, n: `jumps by ${number(size)}`, left: x > (shape.x[0] + shape.x.at(-1)) / 2 };
}

function levelRows(shape, points, missing) {
  const dots = [...points, ...missing.map((row) => ({ ...row, x: points.length, m: true }))];
  const counts = shape.rows.map((y, x) => ({ x, y, n: whole(y) }));
  const steps = shape.bins ? binRows(shape.bins).bins.map((row, x) => ({ ...row, x })) : null;
  const room = roomRows(shape.room ?? []);
  return steps ? { dots, counts, room, steps } : { dots, counts, room };
}

// Heights that an axis has room for, whether or not something stands there.
function roomRows(heights) {
  const known = heights.filter((y) => y !== null && y !== undefined);
  return known.length ? [{ y: Math.min(...known) }, { y: Math.max(...known) }] : [];
}

// All heights in the chart of a feature, with the bands around the curve.
function heightsOf(shape) {
  const rows = around(columns(["y", "spread"], [shape.y, shape.spread]));
  if (shape.missing) rows.push(...around([{ ...shape.missing }]), { y: shape.missing.low }, { y: shape.missing.high });
  return [...rows.flatMap(({ y, a, b }) => [y, a, b]), ...shape.low, ...shape.high];
}

function regionRows(shape) {
  const curves = shape.lines.flatMap(({ path }, k) =>
    path.x.map((x, i) => ({ k, x, y: path.y[i], ...interval(path.y[i], path.half[i]), dot: Boolean(shape.dots) })));
  return { curves, common: columns(["x", "y"], [shape.x, shape.y]), room: roomRows(shape.room) };
}

function interval(y, half) {
  return half === null ? { low: null, high: null } : { low: y - half, high: y + half };
}

// Height of a line at some place: straight from point to point; nothing beyond its ends.
function readLine(path, name, x) {
  const after = path.x.findIndex((place) => place >= x);
  if (after < 0 || x < path.x[0]) return null;
  if (path.x[after] === x || after === 0) return path[name][after];
  const [left, right] = [path.x[after - 1], path.x[after]];
  return path[name][after - 1] + ((path[name][after] - path[name][after - 1]) * (x - left)) / (right - left);
}

function countRows(shape) {
  const { limits, rows } = shape;
  const most = Math.max(...rows);
  if (!limits) return { rows: [], counts: rows.map((n, i) => ({ x: shape.x[i], y: (100 * n) / most })) };
  const [first, last] = [along(shape, limits[0]), along(shape, limits.at(-1))];
  const edges = limits.length > 2 ? limits : [...rows, 0].map((_, i) => back(shape, first + (i * (last - first)) / rows.length));
  return { counts: [], rows: rows.map((y, i) => ({ x: edges[i], x2: edges[i + 1], y })) };
}

const PIECES = 8; // of a sloped bar on a logarithmic axis, where it bends

function binRows(bins, shape = {}) {
  const [first, last] = shape.ends ?? [-Infinity, Infinity];
  const shares = shape.log ? [...Array(PIECES + 1)].map((_, i) => i / PIECES) : [0, 1];
  const all = bins.mean.map((y, k) => {
    const [left, right, error] = [bins.left[k], bins.right[k], SURE * (bins.error[k] ?? NaN)];
    const known = Number.isFinite(error);
    const x = back(shape, (along(shape, left) + along(shape, right)) / 2);
    const row = { k, x, y, left, right, spread: bins.std[k], tilt: (bins.slope[k] * (right - left)) / 2 };
    return { ...row, low: known ? y - error : null, high: known ? y + error : null };
  });
  return {
    bins: around(all.filter((row) => bins.count[row.k] > 0 && row.x >= first && row.x <= last)),
    gaps: all.filter((row) => bins.count[row.k] === 0).map((row) => ({ x: row.left, x2: row.right })),
    bars: all.flatMap((row) => {
      const [left, right] = [Math.max(row.left, first), Math.min(row.right, last)], middle = (row.left + row.right) / 2;
      if (!(left < right)) return [];
      const steep = row.tilt / ((row.right - row.left) / 2);
      return shares.map((t) => left + t * (right - left)).map((x) => ({ k: row.k, x, y: row.y + steep * (x - middle) }));
    }),
  };
}

// ---- drawing ----

// One drawn chart: its view, what it shows, and where the reader looks.
class Chart {
  constructor(frame, shape, say) {
    this.frame = frame;
    this.stretch = null; // that the reader asked for
    this.take(shape);
    this.say = say;
    this.at = null;
    this.withRows = false;
    this.levels = shape.form === "levels";
    this.draw();
  }

  // Keep all of a shape, and show what is shown first unless the reader wants more.
  take(full) {
    this.full = full;
    this.shape = this.everything ? full : shownFirst(full);
    if (this.shape.ends) this.shape.full = [full.x[0], full.x.at(-1)];
  }

  draw() {
    const room = this.frame.clientWidth;
    this.kind = this.chooseKind(room);
    this.view?.finalize();
    this.frame.replaceChildren();
    this.view = makeView(this.kind, this.frame);
    for (const [name, rows] of Object.entries(this.rows())) this.fill(name, rows);
    this.settle();
    this.resize(room);
  }

  chooseKind(room) {
    return chartKind(this.shape, room);
  }

  rows() {
    return { ...rowsOf(this.shape), ...sampledRows(this.withRows ? this.shape : {}) };
  }

  // Draw curves of sampled rows, or leave them out.
  showRows(shown) {
    this.withRows = shown;
    for (const [name, rows] of Object.entries(sampledRows(shown ? this.shape : {}))) this.fill(name, rows);
    this.view.run();
  }

  settle() {
    if (!this.levels) this.view.signal("zoom", this.whole()).signal("reach", this.shape.reach ?? null);
  }

  // Draw another curve of the same feature and output, over the stretch that is shown.
  show(shape) {
    this.take(shape);
    this.look(null);
    for (const [name, rows] of Object.entries(this.rows())) this.fill(name, rows);
    this.view.run();
  }

  fill(name, rows) {
    if (PAGE.charts[this.kind].data.some((source) => source.name === name)) this.view.data(name, rows);
  }

  // The stretch that holds everything: dots at the ends need some room; null is all of a curve.
  whole() {
    const { shape } = this, [first, last] = shape.ends ?? [shape.x[0], shape.x.at(-1)];
    const room = (last - first) / 40;
    if (shape.ends) return shape.ends;
    return shape.dots ? [first - room, last + room] : null;
  }

  labels() {
    return this.shape.missing ? [...this.shape.labels, "missing"] : this.shape.labels;
  }

  // Titles of the axes, as long as there is room for.
  entitle(room) {
    const most = Math.max(12, Math.floor(room / 6.5));
    const [value, place, slope] = this.shape.titles ?? ["", "", ""];
    this.view.signal("value_title", shorten(value, this.levels ? 0.7 * most : most));
    this.view.signal("place_title", this.tellPlace(place, most)).signal("slope_title", shorten(slope, most));
  }

  // The title of the axis of places, and what is not shown of it.
  tellPlace(place, most) {
    const told = this.shape.ends ? ` (${this.shape.beyond})` : "";
    return shorten(place, Math.max(10, most - told.length)) + told;
  }

  resize(room = this.frame.clientWidth) {
    if (this.levels && this.chooseKind(room) !== this.kind) return this.draw();
    this.entitle(room);
    if (this.levels) this.resizeLevels(room);
    else this.view.width(Math.max(120, room - 66 - (this.shape.missing ? 64 : 6)));
    this.view.run();
  }

  resizeLevels(room) {
    const longest = Math.max(...this.labels().map((label) => label.length));
    const names = Math.min(220, 10 + LETTER * longest, room / 3);
    this.view.signal("labels", this.labels().map((label) => shorten(label, names / LETTER)));
    const rest = Math.max(100, room - names - 40 - GAP - 56);
    const both = this.kind === "levels";
    this.view.signal("concat_0_width", both ? (rest - GAP) * 0.6 : rest);
    if (both) this.view.signal("concat_1_width", (rest - GAP) * 0.4);
    this.view.signal(both ? "concat_2_width" : "concat_1_width", 40);
  }

  // Where a pointer is, in values of the axis.
  valueAt(event) {
    const box = this.frame.querySelector("svg").getBoundingClientRect();
    const [left, top] = this.view.origin();
    const pad = this.view.padding();
    if (!this.levels) return Number(this.view.scale("x").invert(event.clientX - box.left - left - pad.left));
    return Math.floor((event.clientY - box.top - top - pad.top) / this.view.signal("y_step"));
  }

  nearest(value) {
    if (this.levels) return Math.min(Math.max(value, 0), this.labels().length - 1);
    const far = this.shape.x.map((x) => Math.abs(along(this.shape, x) - along(this.shape, value)));
    const least = Math.min(...far), first = far.indexOf(least);
    return value < this.shape.x[first] ? first : far.lastIndexOf(least); // a jump has two sides
  }

  // Look at one point: mark it, and write its numbers.
  look(index) {
    this.at = index;
    if (index === null) {
      this.view.data("here", []).run();
      return this.say("");
    }
    this.view.data("here", [{ x: this.levels ? index : this.shape.x[index] }]).run();
    this.say(this.words(index));
  }

  words(index) {
    const { shape } = this;
    const lost = this.levels && index === shape.x.length;
    const get = (name) => (lost ? shape.missing[name] : shape[name][index]);
    const where = lost ? "missing" : place(shape, shape.x[index]);
    const sure = `interval ${number(get("low"))} to ${number(get("high"))}`;
    return `${where}: effect ${number(get("y"))}, ${sure}, spread ± ${number(get("spread"))}`;
  }

  step(by) {
    const last = (this.levels ? this.labels().length : this.shape.x.length) - 1;
    this.look(this.at === null ? (by > 0 ? 0 : last) : Math.min(Math.max(this.at + by, 0), last));
  }

  // Show one stretch of the axis, or all.
  zoom(stretch) {
    if (this.levels) return;
    this.stretch = stretch;
    const { shown } = this.full, everything = Boolean(stretch && shown && (stretch[0] < shown[0] || stretch[1] > shown[1]));
    if (everything !== Boolean(this.everything)) {
      this.everything = everything;
      this.show(this.full);
      this.entitle(this.frame.clientWidth);
    }
    this.view.signal("zoom", stretch ?? this.whole()).run();
  }

  // All that is shown first; where that is not everything, everything after that.
  zoomOut() {
    const { full } = this, more = full.shown && this.stretch === null;
    this.zoom(more ? [full.x[0], full.x.at(-1)] : null);
  }

  zoomBy(share) {
    if (this.levels) return;
    const { shape, full } = this;
    const [low, high] = this.view.scale("x").domain().map((x) => along(shape, Number(x)));
    const middle = this.at === null ? (low + high) / 2 : along(shape, shape.x[this.at]);
    const [first, last] = [along(full, full.x[0]), along(full, full.x.at(-1))];
    const half = ((high - low) * share) / 2;
    const stretch = [Math.max(first, middle - half), Math.min(last, middle + half)];
    const all = stretch[1] - stretch[0] >= last - first;
    if (all) this.zoom(full.shown ? [full.x[0], full.x.at(-1)] : null);
    else this.zoom(stretch.map((place) => back(shape, place)));
  }

  drag(stretch) {
    this.fill("dragged", stretch ? [{ x: stretch[0], x2: stretch[1] }] : []);
    this.view.run();
  }
}

// Curves of regions over the common one, with the axes of the feature's own chart.
class RegionChart extends Chart {
  chooseKind() {
    return regionKind(this.shape);
  }

  rows() {
    return regionRows(this.shape);
  }

  settle() {
    if (!this.levels) this.view.signal("zoom", this.whole());
    else this.view.signal("sides", this.shape.lines.length).signal("y_step", regionStep(this.shape));
  }

  labels() {
    return this.shape.labels;
  }

  resizeLevels(room) {
    const longest = Math.max(...this.labels().map((label) => label.length));
    const names = Math.min(220, 10 + LETTER * longest, room / 3);
    this.view.signal("labels", this.labels().map((label) => shorten(label, names / LETTER)));
    this.view.width(Math.max(100, room - names - 20));
  }

  words(index) {
    const { shape } = this;
    const x = this.levels ? index : shape.x[index];
    const told = shape.lines.map(({ path, rule }) => {
      const [y, half] = ["y", "half"].map((name) =>
        this.levels ? (path[name][path.x.indexOf(x)] ?? null) : readLine(path, name, x));
      const { low, high } = interval(y, half);
      return `${y === null ? "no rows" : `${number(y)} (${number(low)} to ${number(high)})`} where ${shorten(rule, 40)}`;
    });
    return `${place(shape, x)}: effect ${told.join("; ")}; ${number(shape.y[index])} in all rows`;
  }
}

// ---- pointer and keys ----

const KEYS = {
  ArrowRight: (chart) => chart.step(1),
  ArrowDown: (chart) => chart.step(1),
  ArrowLeft: (chart) => chart.step(-1),
  ArrowUp: (chart) => chart.step(-1),
  Home: (chart) => chart.look(0),
  End: (chart) => ((chart.at = null), chart.step(-1)),
  Escape: (chart) => (chart.look(null), chart.zoom(null)),
  "+": (chart) => chart.zoomBy(0.5),
  "-": (chart) => chart.zoomBy(2),
  0: (chart) => chart.zoomOut(),
};

// Let a frame be hovered, dragged over and stepped through; `chartOf` gives its chart of now.
function listen(frame, chartOf) {
  let start = null;
  const withChart = (act) => (event) => {
    const chart = chartOf();
    if (chart) act(chart, event);
  };
  const drop = (chart) => {
    start = null;
    chart.drag(null);
  };
  frame.addEventListener("pointermove", withChart((chart, event) => {
    const value = chart.valueAt(event);
    if (start !== null) chart.drag([Math.min(start, value), Math.max(start, value)]);
    chart.look(chart.nearest(value));
  }));
  frame.addEventListener("pointerdown", withChart((chart, event) => {
    if (!chart.levels && event.button === 0) start = chart.valueAt(event);
  }));
  frame.addEventListener("pointerup", withChart((chart, event) => {
    if (start === null) return;
    const stretch = [start, chart.valueAt(event)].sort((a, b) => a - b);
    const [low, high] = chart.view.scale("x").domain().map(Number);
    const [from, to, first, last] = [...stretch, low, high].map((x) => along(chart.shape, x));
    if (to - from > (last - first) / 50) chart.zoom([Math.max(stretch[0], low), Math.min(stretch[1], high)]);
    drop(chart);
  }));
  frame.addEventListener("pointerleave", withChart((chart) => {
    drop(chart);
    if (document.activeElement !== frame) chart.look(null);
  }));
  frame.addEventListener("dblclick", withChart((chart) => chart.zoomOut()));
  frame.addEventListener("keydown", withChart((chart, event) => {
    if (!(event.key in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    KEYS[event.key](chart);
  }));
  frame.addEventListener("blur", withChart((chart) => chart.look(null)));
}
