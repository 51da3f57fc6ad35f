// Parts of pairs and of trainings, whose outputs take turns: drawn when they come into view.

class Parts {
  constructor(root, draw) {
    this.root = root;
    this.draw = draw;
    this.charts = new Map(); // of each part that has been drawn
    this.watcher = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) if (isIntersecting) this.show(target);
      },
      { rootMargin: "300px" },
    );
    for (const part of findAll(".part", root)) this.watcher.observe(part);
  }

  show(part) {
    if (!this.charts.has(part)) this.charts.set(part, this.draw(part));
  }

  showOutput(output) {
    for (const part of findAll(".output", this.root)) part.hidden = Number(part.dataset.output) !== output;
  }

  // What is not drawn yet of the output that is shown.
  waiting() {
    const parts = findAll(".output:not([hidden]) .part", this.root).filter((part) => !this.charts.has(part));
    return parts.map((part) => () => this.show(part));
  }

  drawAll() {
    for (const draw of this.waiting()) draw();
  }

  resize() {
    for (const [part, charts] of this.charts) if (part.offsetParent) charts.forEach((chart) => chart.resize());
  }
}
