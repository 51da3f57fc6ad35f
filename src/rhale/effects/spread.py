"""Heterogeneity: the covariance of the rows' increments, measured near each row and completed beyond.

A row's own curve over the feature is f(., c): the other features stay as they are. Between two
neighbouring places its increment is u_k = f(z_k+1, c) - f(z_k, c), the one local effect that every
model has (Eq. 2 of the paper). With R_kl = Cov(u_k, u_l) over the rows, the curves of the rows,
each centred by itself, lie

    STD²(x) = a(x)' R a(x),     a_k(x) = 1{k before x} - (share of the rows behind k)

apart. Eq. 16 as printed is R without its off-diagonal, the figures of the paper are R with all
correlations one; here R is measured. Rows are moved to places near their own only, so R is known in
a band, and is completed beyond it as if the increments were a Markov process: the canonical
completion (Waghmare and Panaretos, 2022), which assumes nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rhale.effects.binning.axis import N_BESIDE, FeatureAxis
from rhale.effects.binning.gaps import Crossings
from rhale.output.storage.values import ArrayDimension, Number, Numbers, stored
from rhale.stats.arrays import LARGEST_SQUARABLE, FloatArray, IntArray

# at even ranks, where values allow it; ends and tails of the axis have two more each
N_SPREAD_POSITIONS = 24
TAIL = 1 / 8  # of the rows of a place: one more place beside each end, where rows are far apart
BAND = 1 / 8  # of the rows, on each side of a row's own place: so far it is moved
BAND_PLACES = 3  # as many places at even ranks; of levels at least
POINT_MASS_RATIO = 1.5  # times the rows of a place: a value that so many share is a place
ROWS_A_PLACE = 4  # on average at least: one row alone does not differ
N_JACKKNIFE_GROUPS = 32  # of rows, each left out once: the changes give the error
COVARIANCE_FILTER = 0.1  # of a variance: smaller parts of a covariance are noise
# rows of a group at a place, whose products are better added up as a matrix product
MIN_ROWS_FOR_MATRIX_PRODUCT = 32
N_SHOWN = 100  # rows whose own curves are kept for pictures
SPREAD_WEIGHT_ROUNDING = 1e-9  # of a weight
SPREAD_ERROR_NUMBER = Number(0, LARGEST_SQUARABLE, unknown=True)


@dataclass(frozen=True, eq=False)
class Places:
    """Places of a feature between which increments are taken, and how far rows are moved."""

    values: FloatArray  # (n_places,): the places, increasing
    # first, last (n_places,): the outermost places that rows of each place are moved to
    first: IntArray
    last: IntArray
    # (n_empty,): the places before wide stretches without rows
    empty: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def n_asked(self) -> int:
        """Places that a row is moved to, at most."""
        return int((self.last - self.first).max()) + 1

    def locate(self, x: FloatArray) -> IntArray:
        """The nearest place of every value; the last one for nan."""
        return np.searchsorted((self.values[1:] + self.values[:-1]) / 2, x)

    def around(self, own: IntArray) -> IntArray:
        """Places that rows are moved to, shape (n_asked, n_rows); the last one again where fewer."""
        ahead = np.arange(self.n_asked)[:, None]
        return np.asarray(np.minimum(self.first[own] + ahead, self.last[own]))


def choose_spread_positions(axis: FeatureAxis) -> Places:
    """Choose places of a feature of numbers: even ranks, its ends, and values that many rows share.

    `axis`: the feature, whose ends differ.
    """
    # A value that many rows share has the next values on both sides as places, too: what happens between
    # them is an increment of its own. So is what happens across a wide stretch without rows.
    if axis.values.size < 2:  # between limits that the user gave
        return lay_band(np.array([axis.low, axis.high]))
    n_places = int(np.clip(axis.rows / ROWS_A_PLACE, 2, N_SPREAD_POSITIONS))
    rank = (np.arange(n_places) + 0.5) / n_places
    rank = np.concatenate([[TAIL / n_places], rank, [1 - TAIL / n_places]])
    even = np.searchsorted(axis.reached[1:], axis.total * rank)
    heavy = np.flatnonzero(axis.weight > POINT_MASS_RATIO * axis.total / n_places)
    last = axis.values.size - 1
    found = np.concatenate([[0, last], even, heavy - 1, heavy, heavy + 1])
    inner = axis.values[np.clip(found, 0, last)]
    places = lay_band(np.unique(np.concatenate([inner, axis.empty.ravel()])))
    return replace(places, empty=np.searchsorted(places.values, axis.empty[:, 0]))


def lay_band(values: FloatArray, weight: FloatArray | None = None) -> Places:
    """Let rows be moved over three places on each side of their own, or over an eighth of the rows.

    `values` (n_places,): the places, increasing; `weight` (n_places,): of levels, the weight of
    the rows at each: rows are moved over as many as it takes. Places at even ranks need none,
    three of them being an eighth of the rows.

    Examples
    --------
    >>> lay_band(np.arange(5.0)).first
    array([0, 0, 0, 0, 1])
    >>> lay_band(np.arange(48.0), np.ones(48)).first[[24, 40]]
    array([18, 34])
    """
    place = np.arange(values.size)
    first, last = place - BAND_PLACES, place + BAND_PLACES
    if weight is not None:
        rank, reach = (
            np.cumsum(weight) - weight / 2,
            BAND * weight.sum() * (1 + SPREAD_WEIGHT_ROUNDING),
        )
        first = np.minimum(first, np.searchsorted(rank, rank - reach, "left"))
        last = np.maximum(last, np.searchsorted(rank, rank + reach, "right") - 1)
    return Places(values, np.maximum(first, 0), np.minimum(last, values.size - 1))


@dataclass(frozen=True, eq=False)
class RowSpread:
    """How rows differ along a feature.

    Attributes
    ----------
    places : ndarray of shape (n_places,)
        Where the increments of rows begin and end.
    shares : ndarray of shape (n_places,)
        Shares of the rows that are nearest to each place.
    covariance : ndarray of shape (n_places - 1, n_places - 1)
        R: covariance of the rows' increments between the places.
    error : float
        Standard error of `typical`; nan where rows are too few to tell.
    first, last : ndarray of shape (n_places,)
        The outermost places that rows of each place were moved to.
    x : ndarray of shape (n_shown,)
        Values of a few rows, the first ones of the sample; nan for those that were not moved.
    rows : ndarray of shape (n_shown, n_asked - 1)
        Increments of these rows, from the first place that they were moved to.
    mean : ndarray of shape (n_places - 1,) or None
        Mean increments of the rows of both places; nan where less than two rows tell. None of
        levels, and in older files.
    curve_error : float
        How far chance takes the curve that `mean` adds up to: root mean square over the rows; nan
        where `mean` is None.
    crossings : Crossings or None
        What rows say that were moved across wide stretches without rows; None where there are none.
    """

    places: FloatArray = field(metadata=stored(Numbers.limits("increments")))
    shares: FloatArray = field(metadata=stored(Numbers.shares(ArrayDimension("increments", 1))))
    covariance: FloatArray = field(metadata=stored(Numbers.products("increments", "increments")))
    error: float = field(metadata=stored(SPREAD_ERROR_NUMBER))
    first: IntArray = field(metadata=stored(Numbers.counts(ArrayDimension("increments", 1))))
    last: IntArray = field(metadata=stored(Numbers.counts(ArrayDimension("increments", 1))))
    x: FloatArray = field(metadata=stored(Numbers.places("shown rows", unknown=True)))
    rows: FloatArray = field(metadata=stored(Numbers.means("shown rows", "numbers of a row")))
    mean: FloatArray | None = field(default=None, metadata=stored(Numbers.means("increments")))
    curve_error: float = field(default=np.nan, metadata=stored(SPREAD_ERROR_NUMBER))
    crossings: Crossings | None = None

    def audit(self, curve: FloatArray) -> CurveAudit | None:
        """Compare a curve with the one that the mean increments of moved rows add up to.

        Parameters
        ----------
        curve : ndarray of shape (n_places - 1,)
            Its increments between the places.

        Returns
        -------
        CurveAudit or None
            None where no rows tell, or where there are levels, whose curve is that of moved rows.
        """
        if self.mean is None or not np.isfinite(self.curve_error):
            return None
        mean = np.where(np.isfinite(self.mean), self.mean, curve)

        def size(steps: FloatArray) -> float:
            return float(typical_spread(np.outer(steps, steps), self.shares))

        return CurveAudit(size(mean), size(curve), size(mean - curve), self.curve_error)

    @property
    def behind(self) -> FloatArray:
        """Share of the rows behind each increment, shape (n_places - 1,)."""
        return share_behind(self.shares)

    @property
    def typical(self) -> float:
        """Root mean square over the rows of how far their curves lie apart, each centred by itself."""
        return float(typical_spread(self.covariance, self.shares))

    @property
    def between_places(self) -> FloatArray:
        """Covariance of the rows' curves at the places, each from zero at the first one."""
        added = np.tri(self.places.size, self.places.size - 1, -1)
        return np.asarray(added @ self.covariance @ added.T)

    def combine(self, weights: FloatArray) -> FloatArray:
        """Deviation over the rows of sums of their increments.

        Parameters
        ----------
        weights : ndarray of shape (n_sums, n_places - 1)
            What each increment counts in each sum: a(x), or one between two places and zero
            elsewhere.
        """
        squares = np.einsum("jk,kl,jl->j", weights, self.covariance, weights)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))  # rounding may leave less than nothing

    def between(self, first: int, last: int) -> RowSpread:
        """Keep neighbouring places, `last` excluded; rows beyond them are left out."""
        if (first, last) == (0, self.places.size):
            return self
        shares = self.shares[first:last]
        some = slice(first, max(last - 1, first))
        return replace(
            self,
            places=self.places[first:last],
            shares=shares / shares.sum(),
            covariance=self.covariance[some, some],
            first=np.maximum(self.first[first:last] - first, 0),
            last=np.minimum(self.last[first:last] - first, last - first - 1),
            x=self.x[:0],
            rows=self.rows[:0],
        )

    def predict_rows(self, mean: FloatArray, zero: FloatArray) -> ShownRows:
        """How far the curves of a few rows are off the mean curve, at all places.

        Parameters
        ----------
        mean : ndarray of shape (n_places - 1,)
            Increments of the mean curve.
        zero : ndarray of shape (n_places - 1,)
            What each increment counts in the average that is taken as zero.

        Notes
        -----
        A row is known near its own place. Elsewhere, and in its height, it is what increments that
        vary by R have on average where these ones are known: the best linear prediction.
        """
        # E[u | u_known] = R_ak R_kk^-1 u_known, with the inverse filtered as in `complete_band`
        row = np.flatnonzero(~np.isnan(self.x))
        own = np.searchsorted((self.places[1:] + self.places[:-1]) / 2, self.x[row])
        first, last = self.first[own], self.last[own]
        increments, most = np.zeros((row.size, mean.size)), np.diag(self.covariance).max(initial=0)
        for place in np.unique(own):
            some = slice(self.first[place], self.last[place])
            mine = np.flatnonzero(own == place)
            known = self.rows[row[mine], : some.stop - some.start] - mean[some]
            inside, variance = self.covariance[some, some], np.diag(self.covariance)[some]
            # increments that hardly vary beside others predict nothing but rounding
            scale = np.sqrt(np.maximum(variance, SPREAD_WEIGHT_ROUNDING * most) + (most == 0))
            like = inside / scale[:, None] / scale
            filtered = np.linalg.solve(
                like @ like + COVARIANCE_FILTER**2 * np.eye(scale.size), like
            )
            increments[mine] = known / scale @ filtered / scale @ self.covariance[some]
            increments[mine, some] = known
        added = np.tri(self.places.size, mean.size, -1)
        return ShownRows(row, self.x[row], increments @ (added - zero).T, first, last)


class CurveAudit(NamedTuple):
    """A curve compared with that of moved rows, each centred over the rows."""

    # moved, curve_size: size of the curve of moved rows, and of the curve: root mean square over
    # the rows
    moved: float
    curve_size: float
    off: float  # The same of their difference
    error: float  # Standard error of the curve of moved rows


class ShownRows(NamedTuple):
    """Curves of a few rows.

    Attributes
    ----------
    row : ndarray of shape (n_rows,)
        Which of the sampled rows they are.
    x : ndarray of shape (n_rows,)
        Their own values of the feature.
    heights : ndarray of shape (n_rows, n_places)
        Their curves at the places.
    first, last : ndarray of shape (n_rows,)
        The outermost places that each was moved to: between them it is measured, and beyond them
        predicted from how rows differ.
    """

    row: IntArray
    x: FloatArray
    heights: FloatArray
    first: IntArray
    last: IntArray

    def choose(self, most: int) -> ShownRows:
        """At most so many of the rows, evenly along the feature."""
        some = choose_rows_evenly(self.x, most)
        row, x, heights, first, last = self
        return ShownRows(row[some], x[some], heights[some], first[some], last[some])


def choose_rows_evenly(x: FloatArray, most: int) -> IntArray:
    """Which rows to show, at most so many: evenly along their values.

    Examples
    --------
    >>> choose_rows_evenly(np.array([3.0, 1.0, 2.0]), 2)
    array([1, 0])
    """
    even = np.linspace(0, x.size - 1, min(max(most, 0), x.size)).round().astype(np.intp)
    return np.argsort(x, kind="stable")[even]


NO_SHOWN_ROWS = ShownRows(
    row=np.empty(0, dtype=np.intp),
    x=np.empty(0),
    heights=np.empty((0, 0)),
    first=np.empty(0, dtype=np.intp),
    last=np.empty(0, dtype=np.intp),
)


def share_behind(shares: FloatArray) -> FloatArray:
    """Share of the rows behind each increment, from the shares at the places (last axis)."""
    return np.asarray(np.cumsum(shares[..., ::-1], axis=-1)[..., ::-1][..., 1:])


def typical_spread(covariance: FloatArray, shares: FloatArray) -> FloatArray:
    """Root mean square of a(x)' R a(x) over the rows.

    `covariance`, `shares` (..., n_places - 1, n_places - 1) and (..., n_places): R, and the shares
    of the rows at the places; any number of both.
    """
    # The mean of a a' over the rows is p_max(k, l) - p_k p_l, p_k being the share of the rows
    # behind increment k: the covariance of the indicators of being behind k and behind l.
    behind = share_behind(shares)
    later = np.minimum(behind[..., :, None], behind[..., None, :])
    together = later - behind[..., :, None] * behind[..., None, :]
    return np.asarray(np.sqrt(np.maximum(np.sum(together * covariance, axis=(-2, -1)), 0.0)))


def measure_spread(
    places: Places,
    own: IntArray,
    increments: FloatArray,
    weight: FloatArray,
    group: IntArray,
    one: float = 1.0,
    *,
    together: bool = False,
) -> RowSpread:
    """Measure how rows differ, from their increments around their own places.

    `own` (n_rows,): the place of every row; `increments` (n_rows, n_asked - 1): changes of the
    prediction between the places around it (see `Places.around`); `weight` (n_rows,): weights;
    `group` (n_rows,): groups of rows, less than `N_JACKKNIFE_GROUPS`, each left out once for the
    error; `one`: what a row weighs, on average; a row here may stand for several that are alike;
    `together`: whether all rows are compared with each other, wherever their own place is: centred
    ICE. All must have been moved to all places.
    """
    # Rows of one place are compared with each other, so that a mean that changes along the axis is
    # no spread. An entry of R is pooled over the places whose rows see both increments. The error
    # is the jackknife's over groups of rows. O(n_rows n_asked² + n_groups n_places n_asked³) time.
    # shares of the rows at the places, and as they are without each group
    by_group = np.bincount(
        own * N_JACKKNIFE_GROUPS + group, weight, places.values.size * N_JACKKNIFE_GROUPS
    )
    by_group = by_group.reshape(-1, N_JACKKNIFE_GROUPS).T
    held = by_group.sum(axis=1) > 0
    # the first is of all rows, the others of all rows but one group
    mass = by_group.sum(axis=0) - np.vstack([np.zeros(places.values.size), by_group[held]])
    total = mass.sum(axis=1, keepdims=True)
    shares = mass / np.where(total > 0, total, 1.0)  # all rows may be of one group
    if np.all(increments == increments[:1]):  # as of a feature that the model does not use
        none = np.zeros((places.values.size - 1,) * 2)
        return _gather(places, shares[0], none, 0.0 if own.size > 1 else np.nan)
    compared = np.zeros_like(own) if together else own
    pooled = _pool_scatter(places, compared, increments, weight, group, one)
    scatter, alone, freedom = pooled[:, np.concatenate([[True], held])]
    full = complete_band(scatter, alone, freedom)
    found, n_left = typical_spread(full, shares), int(held.sum())
    # delete-a-group jackknife (Kott, 2001): (g - 1) / g times the sum of squared deviations
    left = found[1:]
    error = np.sqrt((n_left - 1) / n_left * np.sum((left - left.mean()) ** 2))
    is_known = n_left > 1 and bool(np.any(freedom[0] > 0))
    return _gather(places, shares[0], full[0], float(error) if is_known else np.nan)


def measure_crossings(
    places: Places, x: FloatArray, own: IntArray, increments: FloatArray, weight: FloatArray
) -> Crossings | None:
    """Changes of rows that were moved across wide stretches without rows, and right beside them.

    `x`, `own`, `weight` (n_rows,): values of the rows, the place of each, and weights;
    `increments` (n_rows, n_asked - 1): as in `measure_spread`. Returns None where nothing is
    empty, or less than two rows were moved across.
    """
    # The mean increment of the rows at both places and of the thirty nearest on each side, if more,
    # as far as they were moved to both. Rows beyond an empty stretch count for what happens across it
    # only. Where rows end before one they are few, and local effects show little of what happens
    # there, but all rows behind are lifted by it: so the increments beside it are measured, too.
    steps = np.unique(np.concatenate([places.empty - 1, places.empty, places.empty + 1]))
    steps = steps[(steps >= 0) & (steps < places.values.size - 1)]
    order, n_rows = np.argsort(x, kind="stable"), own.size
    own, increments, weight = own[order], increments[order], weight[order]
    limits = np.concatenate([[0], np.searchsorted(own, places.empty, "right"), [n_rows]])
    rises, pulls, measured = list[float](), list[FloatArray](), list[int]()
    for k in steps.tolist():
        # rows of both places, thirty on each side at least, that were moved to both; on the side of
        # an empty stretch that they are on, unless the step leads across it
        middle = int(np.searchsorted(own, k, "right"))
        start = min(int(np.searchsorted(own, k)), middle - N_BESIDE)
        stop = max(int(np.searchsorted(own, k + 1, "right")), middle + N_BESIDE)
        part = int(np.searchsorted(places.empty, k))  # between empty stretches
        crosses = part < places.empty.size and int(places.empty[part]) == k
        low, high = (0, n_rows) if crosses else (limits[part], limits[part + 1])
        start = max(start, low, int(np.searchsorted(places.last[own], k, "right")))
        stop = min(stop, high, int(np.searchsorted(places.first[own], k, "right")))
        some = np.arange(start, stop)
        share = weight[some] / weight[some].sum()
        more = 1.0 - float(share @ share)  # of the rows but one, n - 1 of n
        if some.size < 2 or more <= SPREAD_WEIGHT_ROUNDING:
            continue
        # mean change from place k to the next, and what each row adds to it: the products of the
        # latter over the rows are the covariance of the means
        change = increments[some, k - places.first[own[some]]]
        rise, pull = change[0] + float(share @ (change - change[0])), np.zeros(n_rows)
        pull[some] = share * (change - rise) / np.sqrt(more)
        rises, pulls, measured = [*rises, rise], [*pulls, pull], [*measured, k]
    empty = np.flatnonzero(np.isin(measured, places.empty))
    if not empty.size:
        return None
    each, ends = np.array(pulls), places.values
    return Crossings(
        left=ends[measured],
        right=ends[np.array(measured) + 1],
        rise=np.array(rises),
        covariance=each @ each.T,
        empty=empty,
    )


def average_moved(
    places: Places, own: IntArray, increments: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Average increments over the rows of both places.

    `own`, `weight` (n_rows,): the place of every row, and its weight; `increments` (n_rows,
    n_asked - 1): as in `measure_spread`. Returns `mean` (n_places - 1,): the means; nan where less
    than two rows tell; `covariance` (n_places - 1, n_places - 1): of the means, as rows are drawn;
    zero where less than two rows tell.
    """
    # A row counts in the means on both sides of its place: the covariance of two means is the sum
    # over the rows of products of what each adds.
    # `added` and `counts`: what each row adds to the two means beside its place, and its weight
    row, n_increments = np.arange(own.size), places.values.size - 1
    added, counts = np.zeros((2, own.size, n_increments))
    for k, beside in ((own - 1, own > 0), (own, own < n_increments)):
        some, at = row[beside], k[beside]
        counts[some, at] = weight[some]
        added[some, at] = weight[some] * increments[some, at - places.first[own[some]]]
    held = counts.sum(axis=0)
    share = counts / np.where(held > 0, held, 1.0)
    more = 1.0 - (share**2).sum(axis=0)  # of the rows but one, n - 1 of n
    known = (held > 0) & (more > SPREAD_WEIGHT_ROUNDING)
    mean = added.sum(axis=0) / np.where(held > 0, held, 1.0)
    off = added / np.where(held > 0, held, 1.0) - share * mean
    off *= known / np.sqrt(np.where(known, more, 1.0))
    return np.where(known, mean, np.nan), np.asarray(off.T @ off)


def _gather(places: Places, shares: FloatArray, covariance: FloatArray, error: float) -> RowSpread:
    """What was measured, without single rows."""
    none = np.empty((0, places.n_asked - 1))
    ends = places.first, places.last
    return RowSpread(places.values, shares, covariance, error, *ends, np.empty(0), none)


def _pool_scatter(
    places: Places,
    own: IntArray,
    increments: FloatArray,
    weight: FloatArray,
    group: IntArray,
    one: float,
) -> FloatArray:
    """Sums over rows of products of deviations from the mean of the own place.

    Returns (3, 1 + n_groups, n_places - 1, n_places - 1): of the rows that see increments k and l:
    sums of products of both, sums of squares of k, and degrees of freedom; of all rows, and of all
    rows but those of each group.
    """
    # rows in the order of places and, in these, of groups
    n_places, n_asked = int(own.max()) + 1, increments.shape[1]
    order = np.lexsort((group, own))
    own, group, weight = own[order], group[order], weight[order]
    starts = np.searchsorted(own, np.arange(n_places + 1))
    mass = np.add.reduceat(np.append(weight, 0.0), starts)[:-1] * (np.diff(starts) > 0)
    # the first row of a place is taken off before the mean is: equal rows deviate by exactly
    # nothing
    off = increments[order] - increments[order][np.minimum(starts, own.size - 1)[own]]
    heavy = weight[:, None] * off
    mean = np.stack([np.bincount(own, column, n_places) for column in heavy.T], axis=1)
    off -= (mean / np.where(mass > 0, mass, 1.0)[:, None])[own]
    heavy = weight[:, None] * off
    # sums of deviations, weights and products, for each place and group
    part, first = np.unique(own * N_JACKKNIFE_GROUPS + group, return_index=True)
    sums, weights = (
        np.zeros((n_places * N_JACKKNIFE_GROUPS, n_asked)),
        np.zeros(n_places * N_JACKKNIFE_GROUPS),
    )
    squares = np.zeros((n_places * N_JACKKNIFE_GROUPS, n_asked, n_asked))
    sums[part], weights[part] = (np.add.reduceat(each, first) for each in (heavy, weight))
    if part.size * MIN_ROWS_FOR_MATRIX_PRODUCT > own.size:  # few rows each: all products at once
        squares[part] = np.add.reduceat(heavy[:, :, None] * off[:, None, :], first)
    else:
        ends = np.append(first[1:], own.size)
        for at, start, end in zip(part, first, ends, strict=True):
            squares[at] = heavy[start:end].T @ off[start:end]
    sums, weights, squares = (
        each.reshape(n_places, N_JACKKNIFE_GROUPS, *each.shape[1:])
        for each in (sums, weights, squares)
    )
    # without a group, deviations are about the mean of the rows that are left
    rest = mass[:, None] - weights
    per = np.divide(
        1.0, rest, out=np.zeros_like(rest), where=rest > SPREAD_WEIGHT_ROUNDING * mass[:, None]
    )
    every = squares.sum(axis=1, keepdims=True)
    left = every - squares - per[:, :, None, None] * sums[:, :, :, None] * sums[:, :, None, :]
    left = np.concatenate([every, left], axis=1)
    free = np.maximum(np.concatenate([mass[:, None], rest], axis=1) - one, 0.0)
    # pooled over the places whose rows see both increments
    size = places.values.size - 1
    pooled = np.zeros((3, 1 + N_JACKKNIFE_GROUPS, size, size))
    for place in np.flatnonzero(np.diff(starts) > 1):
        seen = slice(places.first[place], places.last[place])
        some = slice(0, seen.stop - seen.start)
        own_left = left[place][:, some, some]
        pooled[0, :, seen, seen] += own_left
        pooled[1, :, seen, seen] += np.diagonal(own_left, axis1=1, axis2=2)[:, :, None]
        pooled[2, :, seen, seen] += free[place][:, None, None]
    return pooled


def complete_band(scatter: FloatArray, alone: FloatArray, freedom: FloatArray) -> FloatArray:
    """Turn pooled sums into covariances, and complete these beyond the band.

    `scatter`, `alone`, `freedom` (n_some, n, n): of the rows that saw increments k and l: sums of
    products of deviations, sums of squares of those of k, and degrees of freedom; zeros where no
    row saw both.
    """
    # Variances are those of all rows that saw an increment, correlations those of the rows that saw
    # both: where rows differ one way all along, correlations are one, however few rows there are.
    #
    # From the first increment to the last: what one has in common with those that it was not seen
    # with follows from those that it was seen with, by regression. Entries are pooled over
    # different rows, so a part of the band may have directions of no variance, or of less than
    # none: of these the regression takes little, A / (A² + filter²) for the inverse of the
    # correlations A. correlations where rows saw both, variances where rows saw one
    known = freedom > 0
    both = np.maximum(alone * alone.swapaxes(1, 2), 0.0)
    full = np.divide(scatter, np.sqrt(both), out=np.zeros_like(scatter), where=known & (both > 0))
    full = np.clip(
        np.where(known, full, full[:1]), -1.0, 1.0
    )  # one group may be all that saw a pair
    free, squares = (np.diagonal(each, axis1=1, axis2=2) for each in (freedom, scatter))
    variance = np.divide(squares, free, out=np.zeros_like(squares), where=free > 0)
    deviation = np.sqrt(np.maximum(np.where(free > 0, variance, variance[:1]), 0.0))
    size = deviation[:, :, None] * deviation[:, None, :]
    first = np.argmax(known[0], axis=0)
    for k in np.flatnonzero((first > 0) & (first < np.arange(first.size))):
        far, near = slice(0, first[k]), slice(first[k], k)
        # r_fk = R_fn R_nn^-1 r_nk: near increments n separate k from far ones f (Markov)
        inside, beside = full[:, near, near], full[:, near, k, None]
        filtered = inside @ inside + COVARIANCE_FILTER**2 * np.eye(k - first[k])
        share = np.linalg.solve(filtered, inside @ beside)
        found = np.clip((full[:, far, near] @ share)[..., 0], -1.0, 1.0)
        full[:, far, k] = full[:, k, far] = found
    return np.asarray(full * size)
