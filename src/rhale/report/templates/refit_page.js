// The page of refits: curves of all trainings of what is in view.

const TRAINING_KINDS = { curve: "trainings", dates: "date trainings", levels: "level trainings" };

// One feature in several trainings; levels stand as those of regions do.
class TrainingsChart extends RegionChart {
  chooseKind() {
    return TRAINING_KINDS[this.shape.form];
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
    return { ...lines, trainings, own, missing, ...countRows(shape) };
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
    return `${lost ? "missing" : place(shape, shape.x[index])}: mean of the trainings ${number(y)}${sure}, they differ by ± ${number(between)}`;
  }
}

function drawPart(section) {
  const frame = find(".drawing", section);
  if (drawn.has(section) || !frame) return;
  const shape = PAGE.outputs[Number(section.closest(".output").dataset.output)][Number(section.dataset.part)];
  const chart = new TrainingsChart(frame, shape, (words) => (find(".readout", section).textContent = words));
  drawn.set(section, [chart]);
  listen(find(".chart", section), () => chart);
}

start();
