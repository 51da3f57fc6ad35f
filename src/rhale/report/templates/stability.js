// Stability: curves of all retrained models of what is in view.

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
    return `${lost ? "missing" : place(shape, shape.x[index])}: mean of the models ${number(y)}${sure}, models differ by ± ${number(between)}`;
  }
}

function leaveRoomForTrainings(part, shape) {
  const frame = find(".drawing", part), missing = shape.missing ? 1 : 0;
  if (frame) reserve(frame, trainingsKind(shape), shape.form === "levels" ? shape.labels.length + missing : 0);
}

SECTIONS.push(() =>
  new Parts("stability", PAGE.trainings, (part, shape) => drawOne(part, TrainingsChart, shape), leaveRoomForTrainings));
