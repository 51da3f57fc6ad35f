"""Sums of a pair of features: rows, where they stand, and their mixed differences, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from rhale.effects.binning.moments import check_magnitude
from rhale.effects.levels import DIRECTION_DOWN
from rhale.interaction.cells import CellPositions, PairAxis
from rhale.stats.arrays import BoolArray, FloatArray, IntArray
from rhale.stats.records import crosses_processes

# powers of the places (u on the first side, v on the second) whose sums are kept
POWERS = ((1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 1), (1, 2), (2, 2))


@crosses_processes
@dataclass(frozen=True, eq=False)
class PairMoments:
    """What rows say about a pair, by where they stand.

    Attributes
    ----------
    count : ndarray of shape (n_stands, n_stands)
        Rows.
    weight, weight_squares : ndarray of shape (n_stands, n_stands)
        Sum of their weights and of the squares of these.
    places : ndarray of shape (8, n_stands, n_stands)
        Weighted sums of u^p v^q, with `POWERS`.
    mean : ndarray of shape (n_outputs, n_stands, n_stands, n_ways)
        Mean mixed difference over the steps that the rows count for: one between numbers; with
        levels, below and above (and each of these with each of the other side's); 0 where there
        is no such step.
    products : ndarray of shape (n_outputs, n_stands, n_stands, n_ways, n_ways)
        Weighted sums of products of deviations from these means.

    Notes
    -----
    `a + b` describes the rows of both.
    """

    count: IntArray
    weight: FloatArray
    weight_squares: FloatArray
    places: FloatArray
    mean: FloatArray
    products: FloatArray

    def __add__(self, other: PairMoments) -> PairMoments:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        step = other.mean - self.mean
        lever = (self.weight * share)[..., None, None]
        return PairMoments(
            self.count + other.count,
            weight,
            self.weight_squares + other.weight_squares,
            self.places + other.places,
            self.mean + step * share[..., None],
            self.products + other.products + lever * (step[..., :, None] * step[..., None, :]),
        )

    def of_output(self, output: int) -> PairMoments:
        """Those of one output alone."""
        return self.of_outputs(slice(output, output + 1))

    def of_outputs(self, some: slice) -> PairMoments:
        """Those of some outputs."""
        return replace(self, mean=self.mean[some], products=self.products[some])

    @property
    def exponent(self) -> int:
        """The power of two next above all differences and deviations; 0 where there are none."""
        squares = np.einsum("...ii->...i", self.products)
        largest = max(np.abs(self.mean).max(initial=0.0), np.sqrt(squares.max(initial=0.0)))
        return int(np.frexp(largest)[1])

    def scaled(self, exponent: int) -> PairMoments:
        """The same rows with differences that are 2^exponent times as large."""
        mean, products = np.ldexp(self.mean, exponent), np.ldexp(self.products, 2 * exponent)
        return replace(self, mean=mean, products=products)

    def transposed(self) -> PairMoments:
        """The same pair, sides exchanged."""
        order = [POWERS.index((q, p)) for p, q in POWERS]
        # with levels on both sides ways are (first, second); 1 or 2 ways look alike either way
        n_ways = self.mean.shape[-1]
        ways = np.arange(4).reshape(2, 2).T.ravel() if n_ways == 4 else np.arange(n_ways)
        mean = self.mean.swapaxes(1, 2)[..., ways]
        products = self.products.swapaxes(1, 2)[..., ways, :][..., ways]
        return PairMoments(
            self.count.T,
            self.weight.T,
            self.weight_squares.T,
            self.places[order].swapaxes(1, 2),
            mean,
            products,
        )


def measure_pair(
    axes: tuple[PairAxis, PairAxis],
    standing: tuple[CellPositions, CellPositions],
    differences: FloatArray,
    weights: FloatArray | None = None,
) -> PairMoments:
    """Add up the mixed differences of rows by where they stand.

    Parameters
    ----------
    axes : pair of PairAxis
        The two sides.
    standing : pair of CellPositions
        Where the rows stand; those that stand nowhere on either side are left out.
    differences : ndarray of shape (n_outputs, n_rows, n_ways)
        Mixed differences over the steps that each row counts for.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters; those with 0 are left out.

    Notes
    -----
    O(n_rows) time and memory.
    """
    (a, u), (b, v) = standing
    w = np.ones(a.size) if weights is None else weights
    known = np.flatnonzero((a >= 0) & (b >= 0) & (w > 0))
    a, b, u, v, w = a[known], b[known], u[known], v[known], w[known]
    shape = (axes[0].n_stands, axes[1].n_stands)
    cell, n_cells = a * shape[1] + b, shape[0] * shape[1]

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(cell, values, n_cells).astype(np.float64)

    count, weight = np.bincount(cell, minlength=n_cells), total(w)
    places = np.stack([total(w * u**p * v**q) for p, q in POWERS])
    delta = differences[:, known]
    check_magnitude(delta)
    size = np.where(weight > 0, weight, 1.0)
    first = np.zeros(n_cells, dtype=np.intp)
    first[cell[::-1]] = np.arange(cell.size)[::-1]
    n_outputs, _, n_ways = differences.shape
    mean = np.zeros((n_outputs, n_cells, n_ways))
    products = np.zeros((n_outputs, n_cells, n_ways, n_ways))
    for o in range(n_outputs if cell.size else 0):
        anchor = delta[o, first]  # from a row's own value: equal differences deviate by nothing
        gap = delta[o] - anchor[cell]
        shift = np.stack([total(w * gap[:, k]) / size for k in range(n_ways)], axis=1)
        gap -= shift[cell]
        mean[o] = np.where((count > 0)[:, None], anchor + shift, 0.0)
        for k in range(n_ways):
            for m in range(k, n_ways):
                products[o, :, k, m] = products[o, :, m, k] = total(w * gap[:, k] * gap[:, m])
    return PairMoments(
        count.reshape(shape),
        weight.reshape(shape),
        total(w**2).reshape(shape),
        places.reshape(-1, *shape),
        mean.reshape(n_outputs, *shape, n_ways),
        products.reshape(n_outputs, *shape, n_ways, n_ways),
    )


# --- Mixed differences over the steps of pairs: means, their errors, and what stands in where no row is


POOLED_ROWS = 4.0  # degrees of freedom with which the variance of all cells counts in each
GROWTHS = (1.0, 0.75, 0.5, 0.25, 0.0)  # of variances with squared areas: slopes first
VARIANCE_TIE_TOLERANCE = 1e-9
EQUALLY_NEAR = 1e-9  # of a squared distance: less is rounding
Sides = tuple[bool, bool]  # whether rows stand on levels
Nodes = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class PairSteps:
    """Mean mixed differences over steps.

    Attributes
    ----------
    mean : ndarray of shape (n_outputs, n_steps, n_steps)
        Mean differences; 0 where no row counts.
    weight : ndarray of shape (n_steps, n_steps)
        Weight of the rows that count; of many pairs (n_pairs, n_steps, n_steps), like the means.
    """

    mean: FloatArray
    weight: FloatArray

    @property
    def measured(self) -> BoolArray:
        """Steps that some row counts for."""
        return np.asarray(self.weight > 0)


@dataclass(frozen=True, eq=False)
class Covariances:
    """Covariances of mean differences, term by term; terms of the same two steps add up.

    Attributes
    ----------
    first, second : ndarray of shape (n_terms,)
        Steps of one pair, numbered row by row, pair after pair.
    value : ndarray of shape (n_terms,)
        What is added to their covariance.
    """

    first: IntArray
    second: IntArray
    value: FloatArray

    def as_matrix(self, n_all: int) -> FloatArray:
        """Of all steps with all, (n_all, n_all)."""
        place = self.first * n_all + self.second
        found = np.bincount(place, self.value, n_all * n_all).astype(np.float64)
        return found.reshape(n_all, n_all)


@dataclass(frozen=True, eq=False)
class Filling:
    """Where all steps have their differences from, link by link: measured ones from themselves.

    Attributes
    ----------
    step, source : ndarray of shape (n_links,)
        A step, and a measured one that stands in for it; each step has one link or more.
    factor : ndarray of shape (n_links,)
        What the difference of the source is multiplied by.
    """

    step: IntArray
    source: IntArray
    factor: FloatArray

    @property
    def is_needed(self) -> bool:
        """Whether some step has no rows."""
        return not np.array_equal(self.step, self.source)

    def fill(self, mean: FloatArray) -> FloatArray:
        """Differences with nothing left out, of the same shape."""
        if not self.is_needed:
            return mean
        parts = mean.ravel()[self.source] * self.factor
        return np.bincount(self.step, parts, mean.size).astype(np.float64).reshape(mean.shape)

    def gather(self, effects: FloatArray) -> FloatArray:
        """Effects of the measured steps, from effects of all: (n, n_all) to (n, n_known)."""
        order = np.argsort(self.source, kind="stable")
        _, starts = np.unique(self.source[order], return_index=True)
        parts = effects[:, self.step[order]] * self.factor[order]
        return np.add.reduceat(parts, starts, axis=1)

    def expand(self, terms: Covariances) -> Covariances:
        """Covariances of all steps from those of the measured ones.

        Notes
        -----
        A term of two steps with s and t links makes s t terms.
        """
        if not self.is_needed:
            return terms
        size = np.bincount(self.source, minlength=int(self.step.max()) + 1)
        order, start = np.argsort(self.source, kind="stable"), np.cumsum(size) - size
        across, n_each = size[terms.second], size[terms.first] * size[terms.second]
        term = np.repeat(np.arange(n_each.size), n_each)
        place = np.arange(term.size) - (np.cumsum(n_each) - n_each)[term]
        i, j = np.divmod(place, across[term])
        one, other = (
            order[start[steps][term] + member]
            for steps, member in ((terms.first, i), (terms.second, j))
        )
        value = terms.value[term] * self.factor[one] * self.factor[other]
        return Covariances(self.step[one], self.step[other], value)


def average_mixed_differences(axes: tuple[PairAxis, PairAxis], moments: PairMoments) -> PairSteps:
    """Mean differences over steps, of all rows that count for them."""
    sides = (axes[0].is_levels, axes[1].is_levels)
    return average_steps(moments.weight, moments.mean, sides)


def average_steps(weight: FloatArray, mean: FloatArray, sides: Sides) -> PairSteps:
    """Mean differences over steps, from those of stands: (..., n_stands, n_stands, n_ways)."""
    if not any(sides):
        return PairSteps(np.where(weight > 0, mean[..., 0], 0.0), weight)
    counted, total = [], []
    for way, some in enumerate(_slice_by_direction(sides)):
        here = weight[(..., *some)]
        counted.append(here)
        total.append(here * mean[(..., *some, way)])
    whole, parts = np.sum(counted, axis=0), np.sum(total, axis=0)
    return PairSteps(np.divide(parts, whole, out=np.zeros_like(parts), where=whole > 0), whole)


def _slice_by_direction(sides: Sides) -> list[tuple[slice, slice]]:
    """Stands whose rows count for step 0, 1, ... in each of their ways."""
    ends = [[slice(1, None), slice(None, -1)] if levels else [slice(None)] for levels in sides]
    return list(product(ends[0], ends[1]))


def step_covariances(weight: FloatArray, spread: FloatArray, sides: Sides) -> Covariances:
    """Covariances of mean differences over steps, from those of stands.

    Parameters
    ----------
    weight : ndarray of shape (n_pairs, n_stands, n_stands)
        Weight of the rows.
    spread : ndarray of shape (n_pairs, n_stands, n_stands, n_ways, n_ways)
        Covariances of the means of every stand.
    sides : pair of bool
        Whether rows stand on levels.

    Notes
    -----
    Rows with levels count for several steps, which makes neighbouring ones depend on each other.
    """
    if not any(sides):
        every = np.flatnonzero(weight.ravel() > 0)
        return Covariances(every, every, spread.ravel()[every])
    whole = average_steps(weight, np.zeros(spread.shape[:-1]), sides).weight
    number = np.arange(whole.size).reshape(whole.shape)
    step = np.full((spread.shape[-1], *weight.shape), -1)
    share = np.zeros(step.shape)
    for way, some in enumerate(_slice_by_direction(sides)):
        step[(way, ..., *some)] = number
        here = weight[(..., *some)]
        np.divide(here, whole, out=share[(way, ..., *some)], where=here > 0)
    terms = []
    for k, j in product(range(len(step)), repeat=2):
        both = np.nonzero((step[k] >= 0) & (step[j] >= 0) & (weight > 0))
        value = share[k][both] * share[j][both] * spread[..., k, j][both]
        terms.append((step[k][both], step[j][both], value))
    first, second, value = (np.concatenate(part) for part in zip(*terms, strict=True))
    return Covariances(first, second, value)


def estimate_cell_covariances(
    weights: tuple[FloatArray, FloatArray], products: FloatArray, areas: FloatArray
) -> FloatArray:
    """Covariances of the means of the ways of every stand; those of few rows lean on all others.

    A cell of few rows hardly tells its own variance. What all cells tell, as variances grow with
    the area, counts as four more rows in each.

    Parameters
    ----------
    weights : pair of ndarray of shape (n_pairs, n_stands, n_stands)
        Sums of weights, and of their squares.
    products : ndarray of shape (n_pairs, n_stands, n_stands, n_ways, n_ways)
        Weighted sums of products of deviations.
    areas : ndarray of shape (n_pairs, n_stands, n_stands, n_ways)
        Areas of the steps that rows count for; 0 where there is none.
    """
    weight, squares = weights
    per_weight = np.divide(weight, squares, out=np.zeros_like(weight), where=squares > 0)
    rows = weight * per_weight
    sums = products * per_weight[..., None, None]
    scale = areas[..., :, None] * areas[..., None, :]
    free, is_step = np.maximum(rows - 1, 0.0), scale > 0
    scale = scale ** find_growth(sums, free, scale)[..., None, None, None, None]
    scale = np.where(is_step, scale, 0.0)
    per_unit = np.divide(sums, scale, out=np.zeros_like(sums), where=is_step)
    degrees = np.maximum((free[..., None, None] * is_step).sum((-4, -3)), 1.0)
    pooled = (per_unit.sum((-4, -3)) / degrees)[..., None, None, :, :]
    within = (sums + POOLED_ROWS * pooled * scale) / (free + POOLED_ROWS)[..., None, None]
    return np.asarray(within / np.where(rows > 0, rows, np.inf)[..., None, None])


def find_growth(sums: FloatArray, free: FloatArray, scale: FloatArray) -> FloatArray:
    """How variances of differences grow with the squared area of the step: as this power of it.

    Parameters
    ----------
    sums : ndarray of shape (..., n_stands, n_stands, n_ways, n_ways)
        Sums of squares, of as many rows as count.
    free : ndarray of shape (..., n_stands, n_stands)
        Their degrees of freedom.
    scale : ndarray of the shape of the sums
        Squared areas.

    Returns
    -------
    ndarray of shape (...,)

    Notes
    -----
    Differences of a smooth function grow with the area, those of trees hardly do: they jump as far
    in a narrow cell as in a wide one. What small cells tell, taken for slopes, would make wide
    ones with few rows look as if nothing were known there. Of some powers the likeliest is taken,
    each cell's squares being those of normal deviates.
    """
    ways = range(sums.shape[-1])
    own = np.stack([sums[..., k, k] for k in ways], axis=-1)
    area = np.stack([scale[..., k, k] for k in ways], axis=-1)
    counts = free[..., None] * (area > 0)
    safe = np.where(area > 0, area, 1.0)
    degrees, logs = counts.sum((-3, -2)), (counts * np.log(safe)).sum((-3, -2))
    best, growth = np.full(sums.shape[:-4], np.inf), np.ones(sums.shape[:-4])
    for power in GROWTHS:
        each = np.where(area > 0, own / safe**power, 0.0).sum((-3, -2))
        spread = np.divide(each, degrees, out=np.ones_like(each), where=(degrees > 0) & (each > 0))
        unlikely = (degrees * np.log(spread) + power * logs).sum(-1)
        is_better = unlikely + VARIANCE_TIE_TOLERANCE * np.abs(unlikely) < best
        best, growth = np.where(is_better, unlikely, best), np.where(is_better, power, growth)
    return growth


def find_cell_areas(nodes: Nodes, sides: Sides) -> FloatArray:
    """Areas of the steps that the rows of every stand count for, (..., n_stands, n_stands, n_ways).

    Parameters
    ----------
    nodes : pair of ndarray of shape (..., n_nodes)
        Those of both sides.
    sides : pair of bool
        Whether rows stand on levels.
    """
    first, second = (_step_widths(*side) for side in zip(nodes, sides, strict=True))
    return np.stack([a[..., :, None] * b[..., None, :] for a in first for b in second], axis=-1)


def _step_widths(nodes: FloatArray, is_levels: bool) -> list[FloatArray]:  # noqa: FBT001
    """Widths of the steps that rows of each stand count for, way by way; 0 where there is none."""
    widths = np.diff(nodes)
    if not is_levels:
        return [widths]
    none = np.zeros((*widths.shape[:-1], 1))
    return [np.concatenate([none, widths], -1), np.concatenate([widths, none], -1)]


def find_filling(nodes: Nodes, sides: Sides, measured: BoolArray, *, slopes: bool) -> Filling:
    """Find the nearest measured steps of every other one, distances in shares of the ranges.

    Parameters
    ----------
    nodes : pair of ndarray of shape (n_pairs, n_nodes)
        Those of both sides of every pair.
    sides : pair of bool
        Whether rows stand on levels.
    measured : ndarray of shape (n_pairs, n_steps, n_steps)
        Steps that rows count for.
    slopes : bool
        Whether what is carried over is the slope, and the mean of steps that are equally near, so
        that nothing depends on which side is the first. If not, the difference of the first one
        of these, as in R.

    Notes
    -----
    O(n_steps^3) a pair: first the nearest measured step along the second side, then of these the
    nearest along both. A pair without any measured step is left as it is.
    """
    empty = ~measured & measured.any((-2, -1), keepdims=True)
    own = np.flatnonzero(~empty)
    if not empty.any():
        return Filling(own, own, np.ones(own.size))
    some = np.flatnonzero(empty.any((-2, -1)))
    middles = tuple(
        _find_difference_midpoints(at[some], side) for at, side in zip(nodes, sides, strict=True)
    )
    step, source = _nearest(some, middles, measured, empty)
    if slopes:
        area = step_areas(nodes).ravel()
        factor = area[step] / area[source] / np.bincount(step)[step]
    else:
        step, first = np.unique(step, return_index=True)
        source, factor = source[first], np.ones(step.size)
    return Filling(
        np.concatenate([own, step]),
        np.concatenate([own, source]),
        np.concatenate([np.ones(own.size), factor]),
    )


def _nearest(
    some: IntArray, middles: tuple[FloatArray, ...], measured: BoolArray, empty: BoolArray
) -> tuple[IntArray, IntArray]:
    """Steps without rows and the measured ones that are nearest to them, several if equally near."""
    across, along = ((at[:, :, None] - at[:, None, :]) ** 2 for at in middles)
    # from step b to the measured steps of row r, column after column: (n_pairs, column, r, b)
    known = np.where(measured[some].swapaxes(1, 2)[..., None], along[:, :, None], np.inf)
    nearest = known.min(1)
    pair, a, b = np.nonzero(empty[some])
    far = across[pair, a] + nearest[pair, :, b]
    limit = far.min(-1) * (1 + EQUALLY_NEAR)
    which, row = np.nonzero(far <= limit[:, None])
    pair, a, b, limit = pair[which], a[which], b[which], limit[which]
    way = across[pair, a, row][:, None] + known[pair, :, row, b]
    link, column = np.nonzero(way <= limit[:, None])
    n, m = measured.shape[1:]
    base = some[pair[link]] * n
    return (base + a[link]) * m + b[link], (base + row[link]) * m + column


def step_areas(nodes: Nodes) -> FloatArray:
    """Areas of all steps, (..., n_steps, n_steps); a step without width counts 1."""
    first, second = (np.where(np.diff(at) > 0, np.diff(at), 1.0) for at in nodes)
    return first[..., :, None] * second[..., None, :]


def _find_difference_midpoints(nodes: FloatArray, is_levels: bool) -> FloatArray:  # noqa: FBT001
    """Middles of the steps, in shares of the range: (n_pairs, n_steps)."""
    n_steps = nodes.shape[-1] - 1
    if is_levels or n_steps == 1:
        return np.broadcast_to(np.arange(1, n_steps + 1) / max(n_steps, 1), (len(nodes), n_steps))
    middles, reach = (nodes[:, 1:] + nodes[:, :-1]) / 2, nodes[:, -1:] - nodes[:, :1]
    return np.asarray(middles / reach)


# --- What a feature of a pair does alone: sums of its own differences, and the curve they make


class MainEffect(NamedTuple):
    """A feature's own effect at the nodes of its axis, zero on average, and its deviation over the rows."""

    heights: FloatArray
    importance: float


@crosses_processes
@dataclass(frozen=True, eq=False)
class MainMoments:
    """What rows say about one feature, by where they stand.

    Attributes
    ----------
    weight : ndarray of shape (n_stands,)
        Sum of the rows' weights.
    places : ndarray of shape (4, n_stands)
        Weighted sums of their places in the cell, and of the second to fourth powers of these.
    mean : ndarray of shape (n_outputs, n_stands, n_ways)
        Mean difference of the predictions over the steps that rows count for.

    Notes
    -----
    `a + b` describes the rows of both.
    """

    weight: FloatArray
    places: FloatArray
    mean: FloatArray

    def __add__(self, other: MainMoments) -> MainMoments:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        return MainMoments(
            weight,
            self.places + other.places,
            self.mean + (other.mean - self.mean) * share[:, None],
        )

    def curve(self, axis: PairAxis, output: int) -> MainEffect:
        """Accumulate the differences of one output; steps that no row counts for are flat.

        Notes
        -----
        Averages over the rows read the curve inside cells of numbers as low + rise u + bend u(u - 1),
        with the bend that the slopes of the cells beside tell, and no more of it than the curve
        rises: the straight line through a wide outer cell would be off by it.
        """
        total, weight = np.zeros(axis.n_steps), np.zeros(axis.n_steps)
        for way in range(axis.n_ways):
            some = (
                slice(1, None)
                if axis.is_levels and way == DIRECTION_DOWN
                else slice(0, axis.n_steps)
            )
            weight += self.weight[some]
            total += self.weight[some] * self.mean[output, some, way]
        steps = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        heights = np.append(0.0, np.cumsum(steps))
        bend = np.zeros(axis.n_stands) if axis.is_levels else find_bends(axis.widths, steps)
        rise = np.append(steps, 0.0)[: axis.n_stands] - bend  # of u; the bend is that of u squared
        n_all, (u, u2, u3, u4) = self.weight.sum(), self.places
        low = heights[: axis.n_stands]
        heights -= np.sum(self.weight * low + u * rise + u2 * bend) / n_all
        low = heights[: axis.n_stands]
        square = self.weight * low**2 + 2 * u * low * rise + u2 * (rise**2 + 2 * low * bend)
        square += 2 * u3 * rise * bend + u4 * bend**2
        return MainEffect(heights, float(np.sqrt(max(square.sum() / n_all, 0.0))))


def find_bends(widths: FloatArray, steps: FloatArray) -> FloatArray:
    """Bends of a curve inside cells, from the slopes of the cells beside: exact for a parabola.

    Examples
    --------
    >>> edges = np.array([0.0, 1.0, 3.0, 4.0])
    >>> find_bends(np.diff(edges), np.diff(edges**2))
    array([1., 4., 1.])
    """
    if steps.size < 2:
        return np.zeros(steps.size)
    slopes, middles = steps / widths, np.cumsum(widths) - widths / 2
    before, after = np.arange(steps.size) - 1, np.arange(steps.size) + 1
    before[0], after[-1] = 0, steps.size - 1
    turning = (slopes[after] - slopes[before]) / (middles[after] - middles[before])
    bends = turning * widths**2 / 2
    return np.clip(bends, -np.abs(steps), np.abs(steps))


def measure_main(
    axis: PairAxis,
    standing: CellPositions,
    differences: FloatArray,
    weights: FloatArray | None = None,
) -> MainMoments:
    """Add up the differences of rows along one feature by where they stand.

    Parameters
    ----------
    axis : PairAxis
        The feature's axis.
    standing : CellPositions
        Where the rows stand; those that stand nowhere are left out.
    differences : ndarray of shape (n_outputs, n_rows, n_ways)
        Differences over the steps that each row counts for.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters.
    """
    is_known = standing.stand >= 0
    known = slice(None) if is_known.all() else np.flatnonzero(is_known)  # a view costs nothing
    stand, place = standing.stand[known], standing.place[known]
    w = np.ones(stand.size) if weights is None else weights[known]

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(stand, values, axis.n_stands).astype(np.float64)

    weight = total(w)
    size = np.where(weight > 0, weight, 1.0)
    n_outputs, _, n_ways = differences.shape
    mean = [
        [total(w * differences[o, known, way]) / size for way in range(n_ways)]
        for o in range(n_outputs)
    ]
    means = np.array(mean).reshape(n_outputs, n_ways, axis.n_stands).transpose(0, 2, 1)
    square = place * place  # general powers take ten times as long
    powers = (place, square, square * place, square * square)
    places = np.stack([total(w * power) for power in powers])
    return MainMoments(weight, places, np.ascontiguousarray(means))
