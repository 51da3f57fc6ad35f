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
    if (this.levels) return { dots: points, trainings, own };
    const lines = shape.dots ? { band: [], line: points, dots: points } : { band: points, line: points, dots: [] };
    return { ...lines, trainings, own, ...countRows(shape) };
  }

  settle() {
    if (!this.levels) this.view.signal("zoom", this.whole());
  }

  words(index) {
    const { shape } = this;
    const [y, low, high, between] = ["y", "low", "high", "between"].map((name) => shape[name][index]);
    const sure = low === null ? "" : ` (${number(low)} to ${number(high)})`;
    return `${place(shape, shape.x[index])}: mean of the trainings ${number(y)}${sure}, they differ by ± ${number(between)}`;
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
