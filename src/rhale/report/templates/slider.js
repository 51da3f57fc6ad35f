// The slider below a chart: merges and splits bins, and back to the bins as chosen.

const ABOUT_CELLS = "Curve, bars and table follow; the band of the spread stays, as it does not depend on bins. Sentences and ranking speak of the bins as chosen.";
const ABOUT_FINISHED = "Bars and table follow; the curve is the model’s own, and its spread does not depend on bins. Sentences and ranking speak of the bins as chosen.";

// Numbers of bins that can be had, from few to many: those as chosen have no `change`.
function positionsOf(part) {
  return (part.positions ??= [...otherBins(part.choice), { n: part.n_bins, change: null }]
    .filter(({ n, change }) => !change || n !== part.n_bins)
    .sort((a, b) => a.n - b.n));
}

function otherBins(sent) {
  const choice = { start: 0, level: 0, gaps: [], ...sent }; // what is nothing was not sent
  if (choice.finished) return choice.finished.map((bins) => ({ n: bins.mean.length, change: () => ({ bins }) }));
  const cells = readCells(choice);
  return searchBins(cells, choice.level).map(({ bins }) => ({ n: bins.length, change: (log) => shapeBins(cells, choice, bins, log) }));
}

const chosenPosition = (part) => positionsOf(part).findIndex(({ change }) => !change);
const isChanged = (part) => part.position !== undefined && part.position !== chosenPosition(part);

// A shape with the bins that the reader wants; made once for each.
function withBins(part, shape) {
  if (!isChanged(part)) return shape;
  const position = positionsOf(part)[part.position], made = (position.shapes ??= new Map());
  const changed = (position.changed ??= position.change(shape.log));
  if (!made.has(shape)) made.set(shape, { ...shape, ...changed, ...(changed.x ? { spread: spreadAt(shape, changed.x) } : {}) });
  return made.get(shape);
}

// The spread of a shape at other places of its axis.
function spreadAt(shape, x) {
  const [first, last] = [shape.x[0], shape.x.at(-1)];
  return x.map((place) => readLine(shape, "spread", Math.min(Math.max(place, first), last)));
}

// ---- on the page ----

function makeSlider(feature, section, change) {
  const below = find("figure.effect .below", section);
  if (!below || !PAGE.features[feature].parts.some(({ choice }) => choice)) return;
  const box = make("div", "", "other-bins"), label = make("label", "Bins"), range = make("input");
  const back = make("button", "As chosen");
  Object.assign(range, { type: "range", id: `f${feature}-bins`, min: 0, step: 1, autocomplete: "off" });
  Object.assign(label, { htmlFor: range.id, id: `${range.id}-label` });
  range.setAttribute("aria-labelledby", `${label.id} f${feature}-name`); // which of the many sliders
  Object.assign(back, { type: "button" });
  const move = (part, position) => {
    part.position = position;
    showSlider(section, part);
    change();
  };
  range.addEventListener("input", () => move(partOf(feature), Number(range.value)));
  back.addEventListener("click", () => (move(partOf(feature), chosenPosition(partOf(feature))), range.focus()));
  box.append(label, range, make("span", "", "bins-told"), back, make("p", "", "bins-about"));
  below.after(box);
  showSlider(section, partOf(feature), false);
}

// Say where the slider stands; `ready`: search bins first, if that was not done yet.
function showSlider(section, part, ready = true) {
  const box = find(".other-bins", section), range = box && find("input", box);
  if (!box) return;
  box.hidden = !part.choice;
  if (!part.choice) return;
  if (ready) {
    box.hidden = positionsOf(part).length < 2; // nothing to choose
    Object.assign(range, { max: positionsOf(part).length - 1, value: part.position ?? chosenPosition(part) });
  }
  const changed = ready && isChanged(part), n = changed ? positionsOf(part)[part.position].n : part.n_bins;
  const told = `${counted(n, "bins")}, ${changed ? "changed on this page" : "as chosen"}`;
  range.setAttribute("aria-valuetext", told);
  find(".bins-told", box).textContent = told;
  find(".bins-about", box).textContent = !changed ? "" : part.choice.finished ? ABOUT_FINISHED : ABOUT_CELLS;
  box.classList.toggle("changed", changed);
}
