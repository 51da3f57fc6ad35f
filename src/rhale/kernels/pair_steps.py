"""Mixed differences over the steps of pairs: means, their errors, and what stands in where no row is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_moments import PairMoments

POOLED_ROWS = 4.0  # degrees of freedom with which the variance of all cells counts in each
GROWTHS = (1.0, 0.75, 0.5, 0.25, 0.0)  # of variances with squared areas: slopes first
VARIANCE_TIE_TOLERANCE = 1e-9
EQUALLY_NEAR = 1e-9  # of a squared distance: less is rounding
DIRECTION_DOWN, DIRECTION_UP = 0, 1
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
