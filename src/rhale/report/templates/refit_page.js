// The page of refits: curves of all trainings of what is in view.

const TRAINING_KINDS = { curve: "trainings", dates: "date trainings", levels: "level trainings" };

const trainingsKind = (shape) => (shape.log ? "log trainings" : TRAINING_KINDS[shape.form]);

// One feature in several trainings; levels stand as those of regions do.
class TrainingsChart extends RegionChart {
  chooseKind() {
    return trainingsKind(this.shape);
  }

  rows() {
    const { shape } = this, names = ["x", "y", "low", "high"];
    const points = columns(names, names.map((name) => shape[name]));
    const pointsOf = ({ at, y }, k) => at.map((place, i) => ({ k, x: shape.grid[place], y: y[i] }));
    const own = shape.own ? pointsOf(shape.own, 0) : [];
    const trainings = shape.curves.flatMap(pointsOf);
    const missing = shape.missing ? [shape.missing] : [];
    if (this.levels) return { dots: [...points, ...missing.map((row) => ({ ...row, x: points.length, m: true }))], trainings, own };
    const lines = shape.dots ? { band: [], line: points, dots: points } : { band: points, line: points, dots: [] };
    return { ...lines, trainings, own, missing, beyond: beyondRows(shape), ...countRows(shape) };
  }

  settle() {
    if (!this.levels) this.view.signal("zoom", this.whole());
  }

  labels() {
    return this.shape.missing ? [...this.shape.labels, "missing"] : this.shape.labels;
  }

  words(index) {
    const { shape } = this, lost = index === shape.x.length;
    const [y, low, high, between] = ["y", "low", "high", "between"].map((name) => (lost ? shape.missing[name] : shape[name][index]));
    const sure = low === null ? "" : ` (${number(low)} to ${number(high)})`;
    return `${lost ? "missing" : place(shape, shape.x[index])}: mean of the trainings ${number(y)}${sure}, trainings differ by ± ${number(between)}`;
  }
}

function trainingsOf(section) {
  return PAGE.trainings[Number(section.closest(".output").dataset.output)][Number(section.dataset.part)];
}

function drawTrainings(section) {
  const frame = find(".drawing", section);
  if (!frame) return [];
  const chart = new TrainingsChart(frame, trainingsOf(section), (words) => (find(".readout", section).textContent = words));
  listen(find(".chart", section), () => chart);
  return [chart];
}

function leaveRoomForTrainings(parts) {
  for (const section of findAll(".output:not([hidden]) .part", parts.root)) {
    const frame = find(".drawing", section);
    if (!frame || parts.charts.has(section)) continue;
    const shape = trainingsOf(section), levels = shape.form === "levels" ? shape.labels.length + (shape.missing ? 1 : 0) : 0;
    reserve(frame, trainingsKind(shape), levels);
  }
}
