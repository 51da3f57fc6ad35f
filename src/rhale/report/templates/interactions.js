// Pairs: lines of one feature at values of the other, and the map of what both do together.

const MAP_ROOM = 76, MAP_DRAWN = 210; // as in charts.py of interactions
const MAP_LABELS = 17; // below a map; an empty one has none
const mapWidth = (frame) => Math.max(120, frame.clientWidth - MAP_ROOM - 16);
const mapHeight = (frame) => Math.min(260, Math.max(190, 0.8 * mapWidth(frame)));

// ---- lines ----

// The effect of one feature at values of the other.
class PairLines extends RegionChart {
  settle() {
    super.settle();
    if (!this.levels) this.view.signal("zoom", null);
  }

  words(index) {
    const { shape } = this;
    const x = shape.x[index];
    const told = shape.lines.map(({ path, rule }) => `${lineWords(path, x)} where ${shorten(rule, 60)}`);
    return `${place(shape, x)}: effect ${told.join("; ")}; ${number(shape.y[index])} on average`;
  }
}

// Lines have a point at every limit of a cell, and nothing where no row is.
function lineWords(path, x) {
  const at = path.x.indexOf(x);
  if (at < 0 || path.y[at] === null) return "no rows";
  const { low, high } = interval(path.y[at], path.half[at]);
  return low === null ? number(path.y[at]) : `${number(path.y[at])} (${number(low)} to ${number(high)})`;
}

function pairLegend(shape) {
  const sure = shape.form === "levels" ? "thin lines" : "shaded";
  const known = shape.lines.some(({ path }) => path.half.some((half) => half > 0));
  const remarks = known ? [`${sure}: 95 % intervals of the joint effect`] : [];
  return legendOf(shape, shape.lines.map(({ rule }) => [rule, ""]), "on average", remarks);
}

// ---- the map ----

// What two features do together, cell by cell. Cells without rows are no cells.
class PairMap {
  constructor(frame, names, map, say) {
    Object.assign(this, { frame, names, map, say, at: null, levels: true });
    const { along, by, heights, errors, counts, reach } = map;
    const n = by.names.length;
    this.cells = heights.flatMap((height, i) => {
      if (height === null) return [];
      const a = Math.floor(i / n), b = i % n;
      const box = { x: along.edges[a], x2: along.edges[a + 1], y: by.edges[b], y2: by.edges[b + 1] };
      return [{ ...box, a, b, height, error: errors[i], rows: counts[i], o: reach > 0 ? Math.min(1, Math.abs(height) / reach) : 0 }];
    });
    this.draw();
  }

  draw() {
    const { along, by } = this.map;
    this.view = makeView("pair map", this.frame);
    for (const [side, { edges, ticks, words }] of Object.entries({ x: along, y: by })) {
      this.view.signal(`${side}_ends`, [edges[0], edges.at(-1)]);
      this.view.signal(`${side}_ticks`, ticks).signal(`${side}_words`, words.map((word) => shorten(word, 12)));
    }
    this.view.data("zero", this.cells);
    this.view.data("low", this.cells.filter(({ height }) => height < 0));
    this.view.data("high", this.cells.filter(({ height }) => height > 0));
    this.resize();
  }

  resize() {
    this.view.width(mapWidth(this.frame)).height(mapHeight(this.frame)).run();
  }

  // The cell that a pointer is over; null where there is none.
  cellAt(event) {
    const box = this.frame.querySelector("svg").getBoundingClientRect();
    const [left, top] = this.view.origin(), pad = this.view.padding();
    const x = this.view.scale("x").invert(event.clientX - box.left - left - pad.left);
    const y = this.view.scale("y").invert(event.clientY - box.top - top - pad.top);
    const found = this.cells.findIndex((cell) => x >= cell.x && x <= cell.x2 && y >= cell.y && y <= cell.y2);
    return found < 0 ? null : found;
  }

  look(index) {
    this.at = index;
    this.view.data("here", index === null ? [] : [this.cells[index]]).run();
    this.say(index === null ? "" : this.words(this.cells[index]));
  }

  words({ a, b, height, error, rows }) {
    const where = `${shorten(this.names[0], 40)} ${this.map.along.names[a]}, ${shorten(this.names[1], 40)} ${this.map.by.names[b]}`;
    return `${where}: ${number(height)}${error ? ` ± ${number(error, 2)}` : ""}, ${counted(rows, "rows")}`;
  }

  // To the next cell that has rows, in one direction.
  move(right, up) {
    const here = this.cells[this.at ?? -1];
    if (!here) return this.look(this.cells.length ? 0 : null);
    const ahead = this.cells.filter(({ a, b }) =>
      right ? b === here.b && (a - here.a) * right > 0 : a === here.a && (b - here.b) * up > 0);
    ahead.sort((one, other) => right * (one.a - other.a) || up * (one.b - other.b));
    if (ahead.length) this.look(this.cells.indexOf(ahead[0]));
  }
}

const MAP_KEYS = {
  ArrowRight: (map) => map.move(1, 0),
  ArrowLeft: (map) => map.move(-1, 0),
  ArrowUp: (map) => map.move(0, 1),
  ArrowDown: (map) => map.move(0, -1),
  Home: (map) => map.look(0),
  End: (map) => map.look(map.cells.length - 1),
  Escape: (map) => map.look(null),
};

function listenToMap(frame, map) {
  frame.addEventListener("pointermove", (event) => map.look(map.cellAt(event)));
  frame.addEventListener("pointerleave", () => document.activeElement !== frame && map.look(null));
  frame.addEventListener("blur", () => map.look(null));
  frame.addEventListener("keydown", (event) => {
    if (!(event.key in MAP_KEYS) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    MAP_KEYS[event.key](map);
  });
}

// ---- parts ----

function drawPair(part, { names, lines, map }) {
  const saying = (figure) => (words) => (find(".readout", figure).textContent = words);
  const left = find(".lines", part), right = find(".map", part);
  const [below, beyond] = map.largest > map.reach ? ["≤ ", "≥ "] : ["", ""];
  find(".least", right).textContent = `${below}${number(-map.reach, 2)}`;
  find(".most", right).textContent = `${beyond}${number(map.reach, 2)}`;
  const chart = new PairLines(find(".drawing", left), { ...lines, room: [] }, saying(left));
  const surface = new PairMap(find(".drawing", right), names, map, saying(right));
  listen(find(".chart", left), () => chart);
  listenToMap(find(".chart", right), surface);
  return [chart, surface];
}

// Legends are there before the lines are drawn.
function leaveRoomForPair(part, { lines }) {
  const levels = lines.form === "levels" ? lines.labels.length : 0, frame = find(".map .drawing", part);
  find(".lines .legend", part).replaceChildren(...pairLegend(lines));
  reserve(find(".lines .drawing", part), regionKind(lines), levels, regionStep(lines));
  frame.style.minHeight = `${heights.get("pair map") - MAP_DRAWN + mapHeight(frame) + MAP_LABELS}px`;
}

SECTIONS.push(() => new Parts("interactions", PAGE.pairs, drawPair, leaveRoomForPair));
