// Comparison: curves at one zero, their differences, and rows of each.

const COMPARED_KINDS = { curve: "compared", dates: "date compared", levels: "level compared" };
const ROWS_ROOM = 70; // pixels for shares of rows beside levels
const FLAT = 0.25; // differences have at least this part of the scale of the curves

const comparedKind = (shape, room) =>
  shape.form === "levels" && room < NARROW ? "narrow compared" : COMPARED_KINDS[shape.form];
const comparedStep = () => 12 + 12 * PAGE.names.length;

class CompareChart extends Chart {
  chooseKind(room) {
    return comparedKind(this.shape, room);
  }

  // Titles of panels that stand side by side have less room.
  entitle(room) {
    const most = Math.max(12, Math.floor(room / 6.5));
    const [value, place, gap] = this.shape.titles;
    const share = (part) => (this.levels ? Math.max(10, part * most) : most);
    this.view.signal("value_title", shorten(value, share(0.34))).signal("slope_title", shorten(gap, share(0.26)));
    if (!this.levels) this.view.signal("place_title", this.tellPlace(place, most));
  }

  rows() {
    const { shape } = this;
    const points = (lines) => (lines ?? []).flatMap(({ k, x, y, low, high }) =>
      x.map((place, i) => ({ k, x: place, y: y[i], low: low[i], high: high[i], dot: Boolean(shape.dots) })));
    const lines = points(shape.lines), gaps = points(shape.gaps);
    const rows = this.levels ? this.levelShares() : this.strips();
    return { lines, gaps, rows, "lines-room": [], "gaps-room": this.roomOf(lines, gaps) };
  }

  // Heights that let small differences look small beside the curves.
  roomOf(lines, gaps) {
    const reach = (rows) => rows.flatMap(({ y, low, high }) => [y, low, high]).filter((y) => y !== null);
    const curves = reach(lines), own = [0, ...reach(gaps)];
    if (!curves.length) return [];
    const least = FLAT * (Math.max(...curves) - Math.min(...curves));
    const [low, high] = [Math.min(...own), Math.max(...own)];
    const more = Math.max(0, least - (high - low)) / 2;
    return roomRows([low - more, high + more]);
  }

  levelShares() {
    return this.shape.rows.flatMap(({ k, rows }) => rows.map((y, x) => ({ k, x, y })));
  }

  strips() {
    const n = PAGE.names.length;
    return this.shape.rows.flatMap(({ k, limits, rows }) => {
      const floor = 100 * (n - 1 - k);
      const strip = (x, x2, y) => ({ k, x, x2, y: floor + 0.85 * y, y2: floor });
      if (this.shape.dots) return rows.map((y, i) => ({ ...strip(limits[i], limits[i], y), bar: true }));
      const step = (limits.at(-1) - limits[0]) / rows.length;
      const edges = limits.length > 2 ? limits : [...rows, 0].map((_, i) => limits[0] + i * step);
      return rows.map((y, i) => strip(edges[i], edges[i + 1], y));
    });
  }

  settle() {
    if (!this.levels) this.view.signal("zoom", this.whole());
    else this.view.signal("y_step", comparedStep());
  }

  whole() {
    const [first, last] = this.shape.ends ?? [this.shape.x[0], this.shape.x.at(-1)];
    const room = this.shape.dots ? (last - first) / 40 : 0;
    return [first - room, last + room];
  }

  labels() {
    return this.shape.labels;
  }

  resizeLevels(room) {
    const longest = Math.max(...this.labels().map((label) => label.length));
    const names = Math.min(220, 10 + LETTER * longest, room / 3);
    this.view.signal("labels", this.labels().map((label) => shorten(label, names / LETTER)));
    const isWide = this.kind !== "narrow compared";
    const rest = Math.max(120, room - names - (isWide ? ROWS_ROOM + 2 * GAP : GAP) - 30);
    this.view.signal("concat_0_width", 0.55 * rest).signal("concat_1_width", 0.45 * rest);
    if (isWide) this.view.signal("concat_2_width", ROWS_ROOM);
  }

  words(index) {
    const { shape } = this, x = shape.x[index];
    const read = (line, name) => (this.levels || shape.dots ? (line[name][line.x.indexOf(x)] ?? null) : readLine(line, name, x));
    const told = shape.lines.map((line) => `${shorten(PAGE.names[line.k], 30)} ${number(read(line, "y"))}`);
    const gaps = (shape.gaps ?? []).filter((line) => read(line, "y") !== null).map((line) => {
      const who = shape.gaps.length > 1 ? ` of ${shorten(PAGE.names[line.k], 30)}` : "";
      return `difference${who} ${number(read(line, "y"))} (${number(read(line, "low"))} to ${number(read(line, "high"))})`;
    });
    return `${place(shape, x)}: ${[...told, ...gaps].join("; ")}`;
  }
}

function leaveRoomForCompared(part, shape) {
  const frame = find(".drawing", part), levels = shape.form === "levels" ? shape.labels.length : 0;
  if (frame) reserve(frame, comparedKind(shape, frame.clientWidth), levels, comparedStep());
}

SECTIONS.push(() =>
  new Parts("comparison", PAGE.compared, (part, shape) => drawOne(part, CompareChart, shape), leaveRoomForCompared));
