"""A pair's axes and cells, and the sums of its mixed differences, cell by cell.

`PairAxis` holds the cells of one side, `PairMoments` the sums of both, `PairSteps` the mean differences,
`Covariances` their errors, `Filling` the values of steps without rows, `MainMoments` one feature alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Closed, Grid
from rhale.effects.binning.moments import check_magnitude
from rhale.effects.levels import DIRECTION_DOWN
from rhale.output.number_format import AxisKind
from rhale.output.storage.values import UNIQUE_TEXTS, ArrayDimension, Numbers, stored
from rhale.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    crosses_processes,
    freeze,
    same_fields,
)


class CellPositions(NamedTuple):
    """Cells of rows on one side of a pair, and positions within them."""

    cell: IntArray  # (n_rows,): the cell or the level of every row; -1 for rows that have none
    place: FloatArray  # (n_rows,): position within the cell, 0 to 1; 0 for levels


MAX_STORED_CELLS = 2**14  # of one pair in a file: errors of more take gigabytes


@dataclass(frozen=True, eq=False)
class PairAxis:
    """One side of a pair.

    Attributes
    ----------
    nodes : ndarray of shape (n_nodes,)
        Limits of the cells, or places of the levels: where the surface is known. A column of one
        value has one cell without width.
    labels : tuple of str
        Names of the levels; none for numbers.
    kind : {"number", "date", "duration"}
        What the numbers are.
    closed : {"left", "right"}
        Which limit belongs to a cell.

    Notes
    -----
    A **step** leads from a node to the next. Numbers lie in a cell, which is a step, and count for
    it. Levels lie on a node, and count for the step below and the step above.

    Examples
    --------
    >>> PairAxis(np.array([0.0, 1.0, 3.0])).locate(np.array([0.5, 3.0, np.nan]))
    CellPositions(cell=array([ 0,  1, -1]), place=array([0.5, 1. , 0. ]))
    """

    nodes: FloatArray = field(
        metadata=stored(
            Numbers.places(ArrayDimension("nodes", least=1, most=MAX_STORED_CELLS + 1), rising=True)
        )
    )
    labels: tuple[str, ...] = field(default=(), metadata=stored(UNIQUE_TEXTS))
    kind: AxisKind = "number"
    closed: Closed = "left"

    def __post_init__(self) -> None:
        freeze(self)

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_levels(self) -> bool:
        """Whether rows lie on nodes."""
        return bool(self.labels)

    @property
    def n_steps(self) -> int:
        """Steps from node to node."""
        return self.nodes.size - 1

    @property
    def n_cells(self) -> int:
        """How many cells, or levels, rows can lie in."""
        return self.nodes.size if self.is_levels else self.n_steps

    @property
    def n_ways(self) -> int:
        """Steps that a row counts for: its cell; the step below its level and the one above."""
        return 2 if self.is_levels else 1

    @property
    def widths(self) -> FloatArray:
        """Widths of the steps."""
        return np.diff(self.nodes)

    def locate(self, x: FloatArray) -> CellPositions:
        """Find the cells of values; those that are missing or off the axis have none."""
        with np.errstate(invalid="ignore"):
            known = (x >= self.nodes[0]) & (x <= self.nodes[-1])
        value = x if known.all() else np.where(known, x, self.nodes[0])
        if self.is_levels:
            level = np.searchsorted(self.nodes, value)
            known &= self.nodes[np.minimum(level, self.nodes.size - 1)] == value
            return CellPositions(np.where(known, level, -1), np.zeros(x.size))
        cell = Grid(self.nodes, self.closed).locate_covered(value).astype(np.int64)
        width = self.widths[cell]
        place = np.divide(value - self.nodes[cell], width, out=np.zeros(x.size), where=width > 0)
        return CellPositions(np.where(known, cell, -1), np.where(known, place, 0.0))


# --- Default cells of one side: equal counts, and narrower outermost cells


MIN_CELLS_TO_HALVE, MORE_CELLS, MOST_HALVINGS = 10, 4, 2


def cell_shares(n_cells: int) -> FloatArray:
    """Shares of the rows at the limits of cells: equal ones, but the outermost are halved."""
    # The outermost cells of a feature with tails are much wider than the others, and their rows
    # lie at the inner end. Where the two features are correlated, first-order effects then have
    # their largest error there. Halving these cells costs no more cells: from 14 on once, from 18
    # on twice, the middle has fewer. With x0 x1 at correlation .9 the strength is 1.05 times the
    # truth instead of 1.15 (N = 2000, 20 cells), without it .99 to 1.00 as before.
    n_halvings = min(max((n_cells - MIN_CELLS_TO_HALVE) // MORE_CELLS, 0), MOST_HALVINGS)
    n_equal = n_cells - 2 * n_halvings
    halves = 0.5 ** np.arange(n_halvings, 0, -1) / n_equal
    return np.concatenate([[0.0], halves, np.arange(1, n_equal) / n_equal, 1 - halves[::-1], [1.0]])


@dataclass(frozen=True)
class PairCells:
    """Default cells, by `cell_shares`: limits are data values, fewer where values repeat."""

    n_cells: int
    closed: Closed = "left"  # which limit belongs to a cell

    def candidates(self, axis: FeatureAxis) -> FloatArray:
        """Values at these shares of the cumulated weight."""
        inner = axis.quantiles(cell_shares(self.n_cells)[1:-1])
        inner = inner[(inner > axis.low) & (inner < axis.high)]
        return np.append(np.unique(np.append(axis.low, inner)), axis.high)


# --- Sums of a pair of features, cell by cell: rows, their positions and their mixed differences


# powers of the places (u on the first side, v on the second) whose sums are kept
POWERS = ((1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 1), (1, 2), (2, 2))


@crosses_processes
@dataclass(frozen=True, eq=False)
class PairMoments:
    """Sums over the rows of a pair, by cell.

    Attributes
    ----------
    count : ndarray of shape (n_cells, n_cells)
        Rows.
    weight, weight_squares : ndarray of shape (n_cells, n_cells)
        Sum of their weights and of the squares of these.
    places : ndarray of shape (8, n_cells, n_cells)
        Weighted sums of u^p v^q, with `POWERS`.
    mean : ndarray of shape (n_outputs, n_cells, n_cells, n_ways)
        Mean mixed difference over the steps that the rows count for: one between numbers; with
        levels, below and above (and each of these with each of the other side's); 0 where there
        is no such step.
    products : ndarray of shape (n_outputs, n_cells, n_cells, n_ways, n_ways)
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
    positions: tuple[CellPositions, CellPositions],
    differences: FloatArray,
    weights: FloatArray | None = None,
) -> PairMoments:
    """Sum the mixed differences (n_outputs, n_rows, n_ways) of rows by cell, in O(n_rows).

    Rows outside of one of the axes and rows of weight 0 are left out; `weights` (n_rows,) are 1 if None.
    """
    (a, u), (b, v) = positions
    w = np.ones(a.size) if weights is None else weights
    known = np.flatnonzero((a >= 0) & (b >= 0) & (w > 0))
    a, b, u, v, w = a[known], b[known], u[known], v[known], w[known]
    shape = (axes[0].n_cells, axes[1].n_cells)
    cell, n_cells = a * shape[1] + b, shape[0] * shape[1]

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(cell, values, n_cells).astype(np.float64)

    count, weight = np.bincount(cell, minlength=n_cells), total(w)
    places = np.stack([total(w * u**p * v**q) for p, q in POWERS])
    delta = differences[:, known]
    check_magnitude(delta)
    size = np.where(weight > 0, weight, 1.0)
    first = np.zeros(n_cells, dtype=np.intp)  # the first row of every cell
    first[cell[::-1]] = np.arange(cell.size)[::-1]
    n_outputs, _, n_ways = differences.shape
    mean = np.zeros((n_outputs, n_cells, n_ways))
    products = np.zeros((n_outputs, n_cells, n_ways, n_ways))
    for o in range(n_outputs if cell.size else 0):
        # two passes: deviations from one row's value, then from the mean, never sums of squares;
        # equal differences deviate by exactly nothing
        anchor = delta[o, first]
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


# --- Mean mixed differences over steps, their covariances, and values for steps without rows


POOLED_ROWS = 4.0  # degrees of freedom with which the variance of all cells counts in each
GROWTHS = (1.0, 0.75, 0.5, 0.25, 0.0)  # of variances with squared areas: slopes first
VARIANCE_TIE_TOLERANCE = 1e-9
EQUALLY_NEAR = 1e-9  # of a squared distance: less is rounding
Sides = tuple[bool, bool]  # whether each side has levels
Nodes = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class PairSteps:
    """Mean mixed differences over steps."""

    mean: FloatArray  # (n_outputs, n_steps, n_steps): mean differences; 0 where no row counts
    # (n_steps, n_steps): weight of the rows that count; of many pairs with n_pairs in front
    weight: FloatArray

    @property
    def measured(self) -> BoolArray:
        """Steps that some row counts for."""
        return np.asarray(self.weight > 0)


@dataclass(frozen=True, eq=False)
class Covariances:
    """Covariances of mean differences as sparse terms; terms of the same two steps add up."""

    # (n_terms,): steps of one pair, numbered row by row, pair after pair
    first: IntArray
    second: IntArray
    value: FloatArray  # (n_terms,): what is added to their covariance

    def as_matrix(self, n_all: int) -> FloatArray:
        """Of all steps with all, (n_all, n_all)."""
        place = self.first * n_all + self.second
        found = np.bincount(place, self.value, n_all * n_all).astype(np.float64)
        return found.reshape(n_all, n_all)


@dataclass(frozen=True, eq=False)
class Filling:
    """Links from measured steps to all steps; a measured step has one link, to itself."""

    target: IntArray  # (n_links,): a step
    source: IntArray  # (n_links,): a measured step whose difference it takes
    factor: FloatArray  # (n_links,): what the difference of the source is multiplied by

    @property
    def is_needed(self) -> bool:
        """Whether some step has no rows."""
        return not np.array_equal(self.target, self.source)

    def fill(self, mean: FloatArray) -> FloatArray:
        """Differences with nothing left out, of the same shape."""
        if not self.is_needed:
            return mean
        parts = mean.ravel()[self.source] * self.factor
        return np.bincount(self.target, parts, mean.size).astype(np.float64).reshape(mean.shape)

    def gather(self, effects: FloatArray) -> FloatArray:
        """Effects of the measured steps, from effects of all: (n, n_all) to (n, n_known)."""
        order = np.argsort(self.source, kind="stable")
        _, starts = np.unique(self.source[order], return_index=True)
        parts = effects[:, self.target[order]] * self.factor[order]
        return np.add.reduceat(parts, starts, axis=1)

    def expand(self, terms: Covariances) -> Covariances:
        """Covariances of all steps from those of the measured ones."""
        if not self.is_needed:
            return terms
        # a term of two sources with s and t links makes s t terms: links are sorted by source, and
        # `place` numbers the s t members of each term
        size = np.bincount(self.source, minlength=int(self.target.max()) + 1)
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
        return Covariances(self.target[one], self.target[other], value)


def average_mixed_differences(axes: tuple[PairAxis, PairAxis], moments: PairMoments) -> PairSteps:
    """Mean differences over steps, of all rows that count for them; of one pair."""
    sides = (axes[0].is_levels, axes[1].is_levels)
    return average_steps(moments.weight, moments.mean, sides)


def average_steps(weight: FloatArray, mean: FloatArray, sides: Sides) -> PairSteps:
    """Mean differences over steps, from the means of cells of shape (..., n_cells, n_cells, n_ways)."""
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
    """Cells whose rows count for step 0, 1, ... in each direction: below a level, and above it."""
    ends = [[slice(1, None), slice(None, -1)] if levels else [slice(None)] for levels in sides]
    return list(product(ends[0], ends[1]))


def step_covariances(weight: FloatArray, spread: FloatArray, sides: Sides) -> Covariances:
    """Covariances of mean differences over steps, from those of the means of cells.

    `weight` has shape (n_pairs, n_cells, n_cells), `spread` (n_pairs, n_cells, n_cells, n_ways, n_ways).
    """
    if not any(sides):
        every = np.flatnonzero(weight.ravel() > 0)
        return Covariances(every, every, spread.ravel()[every])
    # rows with levels count for several steps, which makes neighbouring ones depend on each other:
    # `step` and `share` hold, by direction, the step that a cell counts for and its share of it
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
    """Covariances of the means of every cell, shrunk towards those of all cells together.

    `weights` are sums of weights and of their squares, (n_pairs, n_cells, n_cells); `products`
    (n_pairs, n_cells, n_cells, n_ways, n_ways) sums over the rows; `areas` (n_pairs, n_cells, n_cells,
    n_ways) those of the steps that rows count for, 0 where there is none.
    """
    # A cell of few rows hardly tells its own variance. The variance of all cells, scaled by a power
    # of the area, counts as four more rows in each.
    weight, squares = weights
    # rows: the effective number, (sum w)^2 / sum w^2; sums: on their scale
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
    """The power of the squared area with which variances of differences grow, of shape (...,).

    `sums` (..., n_cells, n_cells, n_ways, n_ways) are sums of squares with `free` (..., n_cells,
    n_cells) degrees of freedom; `scale` are squared areas.
    """
    # Differences of a smooth function grow with the area, those of trees hardly do: they jump as
    # far in a narrow cell as in a wide one. Variances of small cells, taken for slopes, would make
    # wide ones with few rows look as if nothing were known there. Of some powers the likeliest is
    # taken (maximum likelihood), each cell's squares being those of normal deviates.
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
    """Areas of the steps that the rows of every cell count for, (..., n_cells, n_cells, n_ways).

    `nodes` are those of both sides, (..., n_nodes).
    """
    both: list[list[FloatArray]] = []
    for at, is_levels in zip(nodes, sides, strict=True):
        widths = np.diff(at)
        if is_levels:  # below each level and above it, without width at the ends
            none = np.zeros((*widths.shape[:-1], 1))
            both.append([np.concatenate([none, widths], -1), np.concatenate([widths, none], -1)])
        else:
            both.append([widths])
    areas = [a[..., :, None] * b[..., None, :] for a in both[0] for b in both[1]]
    return np.stack(areas, axis=-1)


def find_filling(nodes: Nodes, sides: Sides, measured: BoolArray, *, slopes: bool) -> Filling:
    """Link every step without rows to the nearest measured steps, distances in shares of the ranges.

    With `slopes` the slope is carried over, and the mean of steps that are equally near, so that
    nothing depends on which side is the first. Without, the difference of the first one, as in R. A
    pair without any measured step is left as it is. `nodes` (n_pairs, n_nodes) are those of both sides,
    `measured` has shape (n_pairs, n_steps, n_steps).
    """
    empty = ~measured & measured.any((-2, -1), keepdims=True)
    own = np.flatnonzero(~empty)
    if not empty.any():
        return Filling(own, own, np.ones(own.size))
    some = np.flatnonzero(empty.any((-2, -1)))
    # squared distances between the middles of steps along each side, (n_pairs, n_steps, n_steps)
    middles: list[FloatArray] = []
    for side, is_levels in zip(nodes, sides, strict=True):
        at, n_steps = side[some], side.shape[-1] - 1
        if is_levels or n_steps == 1:
            even = np.arange(1, n_steps + 1) / max(n_steps, 1)
            middles.append(np.broadcast_to(even, (len(at), n_steps)))
        else:
            middles.append(((at[:, 1:] + at[:, :-1]) / 2) / (at[:, -1:] - at[:, :1]))
    across, along = ((at[:, :, None] - at[:, None, :]) ** 2 for at in middles)
    # O(n_steps^3) a pair: first the nearest measured step along the second side, from step b to the
    # measured steps of row r (n_pairs, column, r, b) ...
    known = np.where(measured[some].swapaxes(1, 2)[..., None], along[:, :, None], np.inf)
    nearest = known.min(1)
    pair, a, b = np.nonzero(empty[some])
    # ... then of these the nearest along both; all that are equally near are kept
    far = across[pair, a] + nearest[pair, :, b]
    limit = far.min(-1) * (1 + EQUALLY_NEAR)
    which, row = np.nonzero(far <= limit[:, None])
    pair, a, b, limit = pair[which], a[which], b[which], limit[which]
    distance = across[pair, a, row][:, None] + known[pair, :, row, b]
    link, column = np.nonzero(distance <= limit[:, None])
    n, m = measured.shape[1:]
    base = some[pair[link]] * n
    step, source = (base + a[link]) * m + b[link], (base + row[link]) * m + column
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


def step_areas(nodes: Nodes) -> FloatArray:
    """Areas of all steps, (..., n_steps, n_steps); a step without width counts 1."""
    first, second = (np.where(np.diff(at) > 0, np.diff(at), 1.0) for at in nodes)
    return first[..., :, None] * second[..., None, :]


# --- Main effects: sums of a feature's own differences, and the curve that they accumulate to


class MainEffect(NamedTuple):
    """A feature's own effect at the nodes of its axis, zero on average, and its deviation over the rows."""

    heights: FloatArray
    importance: float


@crosses_processes
@dataclass(frozen=True, eq=False)
class MainMoments:
    """Sums over the rows of one feature, by cell; `a + b` describes the rows of both."""

    weight: FloatArray  # (n_cells,): sum of the rows' weights
    # (4, n_cells): weighted sums of their places in the cell, and of the second to fourth powers
    # of these
    places: FloatArray
    # (n_outputs, n_cells, n_ways): mean difference of the predictions over the steps that rows
    # count for
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
        """Accumulate the differences of one output; steps that no row counts for are flat."""
        # mean difference over each step: of levels, of the rows below it and above it
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
        # Averages over the rows read the curve inside cells of numbers as low + rise u + bend u^2,
        # with the bend that the slopes of the cells beside tell, and no more of it than the curve
        # rises: the straight line through a wide outer cell would be off by it.
        bend = np.zeros(axis.n_cells) if axis.is_levels else find_bends(axis.widths, steps)
        rise = np.append(steps, 0.0)[: axis.n_cells] - bend  # of u; the bend is that of u squared
        n_all, (u, u2, u3, u4) = self.weight.sum(), self.places
        low = heights[: axis.n_cells]
        heights -= np.sum(self.weight * low + u * rise + u2 * bend) / n_all
        low = heights[: axis.n_cells]
        square = self.weight * low**2 + 2 * u * low * rise + u2 * (rise**2 + 2 * low * bend)
        square += 2 * u3 * rise * bend + u4 * bend**2
        return MainEffect(heights, float(np.sqrt(max(square.sum() / n_all, 0.0))))


def find_bends(widths: FloatArray, steps: FloatArray) -> FloatArray:
    """Bends of a curve inside cells, from the slopes of the cells beside: exact for a parabola."""
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
    positions: CellPositions,
    differences: FloatArray,
    weights: FloatArray | None = None,
) -> MainMoments:
    """Sum the differences (n_outputs, n_rows, n_ways) of rows along one feature by cell.

    Rows outside of the axis are left out; `weights` (n_rows,) are 1 if None.
    """
    is_known = positions.cell >= 0
    known = slice(None) if is_known.all() else np.flatnonzero(is_known)  # a view costs nothing
    cell, place = positions.cell[known], positions.place[known]
    w = np.ones(cell.size) if weights is None else weights[known]

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(cell, values, axis.n_cells).astype(np.float64)

    weight = total(w)
    size = np.where(weight > 0, weight, 1.0)
    n_outputs, _, n_ways = differences.shape
    mean = [
        [total(w * differences[o, known, way]) / size for way in range(n_ways)]
        for o in range(n_outputs)
    ]
    means = np.array(mean).reshape(n_outputs, n_ways, axis.n_cells).transpose(0, 2, 1)
    square = place * place  # general powers take ten times as long
    powers = (place, square, square * place, square * square)
    places = np.stack([total(w * power) for power in powers])
    return MainMoments(weight, places, np.ascontiguousarray(means))
