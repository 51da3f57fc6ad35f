// Other bins from the moments of cells: the dynamic programme of Python's Adaptive, and plain fits.
// Nothing here knows a page. Places are shares of the axis; effects are in units of `effect`, less
// `level`, as bin_cells.py writes them. A bin is {first, last, linear}, its cells from first to last - 1.

const FEWEST_IN_BIN = 5, GAP_WIDTH = 0.045, DOUBT = 1e-11, SAME = 1e-12, BEYOND = 0.1, DIGITS = 1e-6, LOST = 2e-7;
const PRICES = Array.from({ length: 70 }, (_, i) => 2 ** (Math.floor(i / 2) - 4) * (i % 2 ? 1.5 : 1)); // exact
const N_PLACES = 121;

const sum = (values) => values.reduce((total, value) => total + value, 0);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// ---- cells ----

function readCells(choice) {
  const bytes = Uint8Array.from(atob(choice.cells), (letter) => letter.charCodeAt(0));
  const weights = choice.weighted ? 2 : 0, n = bytes.length / 4 / (10 + weights);
  const view = new DataView(bytes.buffer);
  const at = (column, i) => view.getFloat32(4 * (column * n + i), true);
  let left = 0;
  return Array.from({ length: n }, (_, i) => {
    const [width, count, x, deviation, low, high] = Array.from({ length: 6 }, (_, column) => at(column, i));
    const [weight, squares] = weights ? [at(10, i), at(11, i)] : [count, count];
    const cell = {
      left, right: left + width, count, weight, squares,
      x: left + width * x, low: left + width * low, high: left + width * high,
      sxx: weight * (width * deviation) ** 2, noise: weight * at(9, i) ** 2,
      d: at(6, i), sdd: weight * at(7, i) ** 2, sxd: weight * width * at(8, i),
    };
    left = cell.right;
    return cell;
  });
}

// Both together (Chan, Golub and LeVeque); cells without rows only add their width.
function merge(a, b) {
  const weight = a.weight + b.weight, share = weight > 0 ? b.weight / weight : 0;
  const [stepX, step, lever] = [b.x - a.x, b.d - a.d, a.weight * share];
  const some = a.weight > 0 ? (b.weight > 0 ? null : a) : b;
  return {
    left: a.left, right: b.right, count: a.count + b.count, weight, squares: a.squares + b.squares,
    x: some ? some.x : a.x + stepX * share,
    d: some ? some.d : a.d + step * share,
    low: some ? some.low : Math.min(a.low, b.low),
    high: some ? some.high : Math.max(a.high, b.high),
    sxx: a.sxx + b.sxx + (some ? 0 : stepX ** 2 * lever),
    sxd: a.sxd + b.sxd + (some ? 0 : stepX * step * lever),
    sdd: a.sdd + b.sdd + (some ? 0 : step ** 2 * lever),
    noise: a.noise + b.noise,
  };
}

const rowsOfRun = (run) => (run.squares > 0 ? run.weight ** 2 / run.squares : 0);

// Variance about the mean, or about the line; Infinity where rows are too few to tell.
function variance(run, linear, level) {
  const rows = rowsOfRun(run), free = rows - (linear ? 2 : 1);
  if (!(free > 1e-9) || (linear && !(run.sxx > 0))) return Infinity;
  const whole = run.sdd <= run.weight * (DOUBT * (run.d + level)) ** 2 ? 0 : run.sdd;
  const rest = linear ? whole - run.sxd ** 2 / run.sxx : whole;
  const left = rest <= LOST * whole ? 0 : rest; // digits that four bytes do not keep
  return (left * rows) / run.weight / free;
}

// ---- the search ----

const isGap = (cell) => cell.count === 0 && cell.right - cell.left >= GAP_WIDTH * (1 - DIGITS);

// What every run of cells would cost as one bin: its misfit, and the price of one parameter.
function measureRuns(cells, level) {
  const all = cells.reduce(merge), perWeight = rowsOfRun(all) / all.weight;
  return cells.map((_, first) => {
    let run = null;
    return cells.slice(first).map((cell, j) => {
      run = run ? merge(run, cell) : cell;
      const rows = rowsOfRun(run), one = j === 0 && isGap(cell);
      if (one) return { share: 0, constant: 0, line: Infinity, parameter: 0 };
      const allowed = rows >= FEWEST_IN_BIN * (1 - SAME) && !isGap(cells[first]) && !isGap(cell);
      if (!allowed) return null;
      return {
        share: run.weight * perWeight,
        constant: variance(run, false, level), line: variance(run, true, level),
        parameter: run.noise / run.weight / rows,
      };
    });
  });
}

// The price of a run: the cheaper of a constant and a line.
function priceRun(run, cost) {
  return run ? run.share * Math.min(run.constant + cost * run.parameter, run.line + 2 * cost * run.parameter) : Infinity;
}

const isLine = (run, cost) => Boolean(run) && run.line + cost * run.parameter < run.constant;

// T(j) = min over l of T(l) + B(l, j); ties go to the wider last bin.
function cheapestBins(runs, cost) {
  const n = runs.length, best = new Float64Array(n + 1).fill(Infinity);
  const reach = (l, j) => best[l] + priceRun(runs[l][j - 1 - l], cost);
  best[0] = 0;
  for (let j = 1; j <= n; j++) for (let l = 0; l < j; l++) best[j] = Math.min(best[j], reach(l, j));
  const bins = [];
  for (let last = n; last > 0; last = bins[0].first) {
    const most = best[last] + SAME * Math.abs(best[last]);
    let first = 0; // where no bins can be had, one bin of all cells
    if (best[n] < Infinity) while (first < last - 1 && !(reach(first, last) <= most)) first++;
    bins.unshift({ first, last, linear: isLine(runs[first][last - 1 - first], cost) });
  }
  return bins;
}

// Bins for one price after another, until there is one bin left; each number of bins once, at its lowest price.
function searchBins(cells, level) {
  const runs = measureRuns(cells, level), logRows = Math.log(Math.max(rowsOfRun(cells.reduce(merge)), 2));
  const found = new Map();
  for (const price of PRICES) {
    const bins = cheapestBins(runs, price * logRows);
    if (!found.has(bins.length)) found.set(bins.length, { price, bins });
    if (bins.length === 1) break;
  }
  return [...found.values()].sort((a, b) => a.bins.length - b.bins.length);
}

// ---- fits ----

// Level and slope of every bin, how far its line is read, how rows vary about it, how sure it is.
function fitBins(cells, found, level) {
  const fits = found.map(({ first, last, linear }) => {
    const own = cells.slice(first, last), run = own.reduce(merge);
    const { left, right, count, weight, squares, sxx } = run, rows = rowsOfRun(run);
    if (!(weight > 0)) return { left, right, count, weight, rows, origin: (left + right) / 2, level: 0, slope: 0, low: left, high: right, measured: false };
    const sloped = linear && sxx > 0, slope = sloped ? run.sxd / sxx : 0, about = variance(run, sloped, level);
    const fit = { left, right, count, weight, squares, rows, origin: run.x, level: run.d, slope, linear: sloped, measured: true };
    const beyond = BEYOND * (run.high - run.low) * (1 + DIGITS); // whole numbers often tie
    fit.low = run.low - left <= beyond ? left : run.low;
    fit.high = right - run.high <= beyond ? right : run.high;
    fit.std = Math.sqrt(about);
    return { ...fit, ...errorsOf(own, fit, about, sxx), degrees: rows - (sloped ? 2 : 1) };
  });
  const bridges = findBridges(fits);
  for (const { bin, ends } of bridges) fits[bin].level = sum(ends.map(({ k, x, share }) => share * readFit(fits[k], x)));
  fillStd(fits);
  return { fits, bridges };
}

const readFit = (fit, x) => fit.level + fit.slope * (x - fit.origin);

// Variances of level and slope: squares of each cell count with the leverage of its rows (White).
function errorsOf(cells, fit, about, sxx) {
  const errors = { levelVariance: about / fit.rows, slopeVariance: 0, covariance: 0 };
  if (!fit.linear || !(about > 0)) return errors;
  const times = fit.rows / Math.max(fit.rows - 2, 1);
  let leaned = 0, tilted = 0;
  for (const cell of cells.filter(({ weight }) => weight > 0)) {
    const offset = cell.x - fit.origin, rest = cell.d - readFit(fit, cell.x);
    const inside = Math.max(cell.sdd - 2 * fit.slope * cell.sxd + fit.slope ** 2 * cell.sxx, 0);
    const squares = (inside / cell.weight + rest ** 2) * times;
    leaned += squares * (cell.sxx + cell.weight * offset ** 2);
    tilted += squares * cell.weight * offset;
  }
  return { ...errors, slopeVariance: (leaned * fit.weight) / fit.rows / sxx ** 2, covariance: tilted / fit.rows / sxx };
}

// Bins without rows: constant, on the line between the fits of their neighbours.
function findBridges(fits) {
  const middle = (fit) => (fit.left + fit.right) / 2, half = (fit) => (fit.right - fit.left) / 2;
  return fits.flatMap((fit, bin) => {
    if (fit.measured) return [];
    const left = fits.findLastIndex((other, k) => k < bin && other.measured);
    const right = fits.findIndex((other, k) => k > bin && other.measured);
    const start = left < 0 ? 0 : Math.max(middle(fits[left]), fits[left].right - half(fits[left + 1]));
    const stop = right < 0 ? 0 : Math.min(middle(fits[right]), fits[right].left + half(fits[right - 1]));
    const part = left < 0 ? 1 : right < 0 ? 0 : (middle(fit) - start) / (stop - start);
    const ends = [{ k: left, x: start, share: 1 - part }, { k: right, x: stop, share: part }];
    const known = ends.filter(({ k }) => k >= 0);
    return [{ bin, ends: known.map((end) => ({ ...end, x: clamp(end.x, fits[end.k].low, fits[end.k].high) })) }];
  });
}

// The deviation of bins without rows lies between those of their neighbours.
function fillStd(fits) {
  const known = fits.filter(({ measured }) => measured), middle = (fit) => (fit.left + fit.right) / 2;
  for (const fit of fits.filter(({ measured }) => !measured)) {
    const before = known.findLast((other) => other.left < fit.left), after = known.find((other) => other.left > fit.left);
    const [a, b] = [before ?? after, after ?? before];
    const part = a === b ? 0 : (middle(fit) - middle(a)) / (middle(b) - middle(a));
    fit.std = a.std + part * (b.std - a.std);
  }
}

// ---- the curve ----

// Lines with flat ends where their bin has no rows.
function stretchesOf(fits) {
  return fits.flatMap((fit, bin) => {
    const { left, right, low, high, slope, origin } = fit;
    const flat = (start, stop, at) => ({ bin, start, stop, origin: at, level: readFit(fit, at), slope: 0, flat: true });
    const [before, after] = [slope !== 0 && low > left, slope !== 0 && high < right];
    const line = { bin, start: before ? low : left, stop: after ? high : right, origin, level: fit.level, slope, flat: false };
    return [...(before ? [flat(left, low, low)] : []), line, ...(after ? [flat(high, right, high)] : [])];
  });
}

// How far into a stretch the way to x leads, and the integral of z - origin up to there.
function reachInto({ start, stop, origin }, x) {
  const reached = clamp(x, start, stop);
  return [reached - start, ((reached - origin) ** 2 - (start - origin) ** 2) / 2];
}

function integral(stretches, x) {
  return sum(stretches.map((stretch) => {
    const [length, tilt] = reachInto(stretch, x);
    return stretch.level * length + stretch.slope * tilt;
  }));
}

// A few places that stand for the rows of the cells, in averages over them (row_places.py).
function rowPlaces(cells) {
  const filled = cells.filter(({ weight }) => weight > 0), total = sum(filled.map(({ weight }) => weight));
  return filled.flatMap(({ low, high, x, sxx, weight }) => {
    const middle = clamp(x, low, high), [below, above] = [middle - low, high - middle];
    if (!(below > 0 && above > 0)) return [{ x: middle, weight: weight / total }];
    const ratio = clamp(sxx / weight / (below * above), 0, 1), reach = Math.sqrt(0.4 + 0.6 * ratio);
    const [first, last] = [above, below].map((side) => ((ratio / reach ** 2) * side) / (high - low));
    return [
      { x: middle - reach * below, weight: (first * weight) / total },
      { x: middle, weight: (Math.max(1 - first - last, 0) * weight) / total },
      { x: middle + reach * above, weight: (last * weight) / total },
    ];
  });
}

const meanOver = (places, read) => sum(places.map(({ x, weight }) => weight * read(x)));

// ---- how sure the curve is ----

// The integral to x as a linear map: weights of every bin's level and slope, and of what gaps hide.
function designAt(model, x) {
  const levels = model.fits.map(() => 0), slopes = model.fits.map(() => 0);
  for (const stretch of model.stretches) {
    const [length, tilt] = reachInto(stretch, x), { bin, origin, flat } = stretch;
    levels[bin] += length;
    slopes[bin] += (flat ? 0 : tilt) + length * (origin - model.fits[bin].origin);
  }
  for (const { bin, ends } of model.bridges) { // a bin without rows asks its neighbours
    const level = levels[bin];
    levels[bin] = slopes[bin] = 0;
    for (const { k, x: place, share } of ends) {
      levels[k] += share * level;
      slopes[k] += share * level * (place - model.fits[k].origin);
    }
  }
  const hidden = model.gaps.map(({ left, right }) => clamp(x, left, right) - left);
  return [...levels, ...slopes, ...hidden];
}

const difference = (a, b) => a.map((value, i) => value - b[i]);

// Variance of a linear map, and its degrees of freedom (Satterthwaite).
function variancesOf(model, design) {
  const n = model.fits.length;
  const parts = model.fits.map(({ measured, levelVariance, slopeVariance, covariance, degrees }, k) => {
    if (!measured) return { variance: 0, degrees: 1 };
    const [level, slope] = [design[k], design[n + k]];
    const own = level ** 2 * levelVariance + slope ** 2 * slopeVariance + 2 * level * slope * covariance;
    return { variance: model.search * Math.max(own, 0), degrees };
  });
  const hidden = sum(model.gaps.map((gap, g) => design[2 * n + g] ** 2 * gap.variance));
  const total = sum(parts.map((part) => part.variance)) + hidden;
  return { variance: total, degrees: satterthwaite(total, parts) };
}

function satterthwaite(total, parts) {
  if (!(total > 0)) return Infinity;
  const inverse = sum(parts.map((part) => (part.variance / total) ** 2 / part.degrees));
  return inverse > 0 ? 1 / inverse : Infinity;
}

// What is estimated, with wide gaps: anything between what is drawn and the farthest line beside them.
function makeModel(cells, choice, found) {
  const { fits, bridges } = fitBins(cells, found, choice.level), stretches = stretchesOf(fits);
  const gaps = choice.gaps.map(([left, right, low, high]) => {
    const drawn = (integral(stretches, right) - integral(stretches, left)) / (right - left);
    return { left, right, variance: Math.max(Math.abs(low - drawn), Math.abs(high - drawn)) ** 2 / 3 };
  });
  const rows = rowsOfRun(cells.reduce(merge)), parameters = 2 * fits.length - 1 + fits.filter(({ linear }) => linear).length;
  const search = 1 + (2 * parameters * Math.log(rows)) / rows; // bins that were searched in the same rows
  return { fits, bridges, stretches, gaps, rows, search };
}

// ---- what is drawn ----

// Curve, interval and bins, as in a shape of the page.
function shapeBins(cells, choice, found, log = false) {
  const model = makeModel(cells, choice, found), places = rowPlaces(cells), { stretches } = model;
  const drawn = (x) => integral(stretches, x) + choice.level * x;
  const zero = meanOver(places, drawn);
  const rowVariance = meanOver(places, (x) => (drawn(x) - zero) ** 2) / model.rows;
  const average = places.map(({ x }) => designAt(model, x)).reduce(
    (total, design, i) => total.map((value, j) => value + places[i].weight * design[j]), designAt(model, 0).map(() => 0));
  const halves = (x) => {
    const { variance: own, degrees } = variancesOf(model, difference(designAt(model, x), average));
    const parts = [{ variance: own, degrees }, { variance: rowVariance, degrees: model.rows }];
    return student(satterthwaite(own + rowVariance, parts)) * Math.sqrt(own + rowVariance);
  };
  const even = Array.from({ length: N_PLACES }, (_, i) => i / (N_PLACES - 1));
  const { start, range, size } = choice;
  const grown = log ? even.map((share) => clamp((start * (1 + range / start) ** share - start) / range, 0, 1)) : []; // evenly on its axis
  const x = [...new Set([...even, ...grown, ...stretches.map(({ start }) => start)])].sort((a, b) => a - b);
  const heights = x.map(drawn), half = x.map(halves);
  return {
    x: x.map((share) => start + range * share),
    y: heights.map((y) => size * (y - zero)),
    low: heights.map((y, i) => size * (y - zero - half[i])),
    high: heights.map((y, i) => size * (y - zero + half[i])),
    bins: tableOf(model, choice),
  };
}

function tableOf(model, { start, range, effect, level }) {
  const { fits, stretches } = model, table = { left: [], right: [], count: [], mean: [], slope: [], std: [], error: [] };
  for (const { left, right, count, slope, std } of fits) {
    const width = right - left, change = difference(designAt(model, right), designAt(model, left));
    const rise = integral(stretches, right) - integral(stretches, left);
    table.left.push(start + range * left);
    table.right.push(start + range * right);
    table.count.push(count);
    table.mean.push(effect * (level + rise / width));
    table.slope.push((effect / range) * slope);
    table.std.push(effect * std);
    table.error.push((effect * Math.sqrt(variancesOf(model, change).variance)) / width);
  }
  return table;
}

// ---- Student's t ----

const NORMAL = 1.959963984540054; // of 95 %
const MANY_DEGREES = 200;

// Half of a 95 % interval, in standard errors (student.py).
function student(degrees) {
  const free = Math.max(degrees, 1), z = NORMAL;
  if (free >= MANY_DEGREES) {
    const terms = [(z ** 3 + z) / 4, (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96, (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384];
    return z + sum(terms.map((term, k) => term / free ** (k + 1)));
  }
  if (!quantiles.has(free)) {
    let [low, high] = [0, Math.PI / 2];
    for (let i = 0; i < 60; i++) {
      const angle = (low + high) / 2;
      if (insideAngle(angle, free) > 0.95) high = angle;
      else low = angle;
    }
    quantiles.set(free, Math.sqrt(free) * Math.tan(low));
  }
  return quantiles.get(free);
}

const quantiles = new Map();

// Probability that |t| is below sqrt(degrees) tan(angle): the series of the incomplete beta function.
function insideAngle(angle, degrees) {
  const cosine = Math.cos(angle), sine = Math.sin(angle);
  let term = 1, total = 1;
  for (let k = 0; term > 1e-13 * total; k++) {
    term *= (sine ** 2 * (degrees + 1 + 2 * k)) / (3 + 2 * k);
    total += term;
  }
  return (2 * gammaRatio(degrees / 2) * sine * cosine ** degrees * total) / Math.sqrt(Math.PI);
}

// Gamma(z + 1/2) / Gamma(z), from its expansion for large z.
function gammaRatio(z) {
  if (z < 20) return (gammaRatio(z + 1) * z) / (z + 0.5);
  return Math.sqrt(z) * (1 - 1 / (8 * z) + 1 / (128 * z ** 2) + 5 / (1024 * z ** 3));
}
