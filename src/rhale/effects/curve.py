"""From bins to curves: quadrature over the rows, integration, centring and exact variances.

All of it is linear algebra: a curve is a linear map of the levels and slopes of its stretches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Literal, NamedTuple, get_args

import numpy as np

from rhale.effects.binning.cells import Grid
from rhale.effects.binning.gaps import NO_GAPS, Crossings, Gaps
from rhale.effects.binning.moments import Moments
from rhale.errors import BadSettingError
from rhale.output.storage.values import ArrayDimension, Numbers, stored
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

# --- Quadrature: a few places with weights, in the place of the rows wherever these are averaged


NODES = np.sqrt(1.8) * np.array([-1.0, 0.0, 1.0])  # Gauss's three points, for deviation one
OF_ANY = 0.4  # t² for rows that hardly vary
NODE_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0


class RowPlaces(NamedTuple):
    """Quadrature: places on an axis (nodes) and the share of the rows that each represents.

    Attributes
    ----------
    x : ndarray of shape (n_places,)
        The places.
    weight : ndarray of shape (n_places,)
        Their shares, which add up to one.
    """

    x: Annotated[FloatArray, Numbers.places("places")]
    weight: Annotated[FloatArray, Numbers.shares(ArrayDimension("places", least=1))]

    def mean(self, values: FloatArray) -> float:
        """Average over the rows of what was read at the places."""
        return float(self.weight @ values)

    def deviation(self, values: FloatArray) -> float:
        """Standard deviation over the rows of what was read at the places."""
        return float(np.sqrt(self.weight @ (values - self.weight @ values) ** 2))


def build_quadrature(cells: Moments) -> RowPlaces:
    """Represent the rows of every cell by three places.

    Examples
    --------
    >>> from rhale.effects.binning.cells import Grid
    >>> from rhale.effects.binning.moments import measure_moments
    >>> x = np.array([0.0, 0.0, 0.0, 3.0])
    >>> build_quadrature(measure_moments(Grid(np.array([0.0, 3.0])), x, x))
    RowPlaces(x=array([0.  , 0.75, 3.  ]), weight=array([0.75, 0.  , 0.25]))
    """
    # With a and b the distances of the mean from the smallest and the largest x and v the variance,
    # r = v / (a b) is at most one (Bhatia and Davis). Places at the mean less t a and plus t b have
    # the mean and the deviation of the rows with the shares r / t² of b / (a + b) and a / (a + b),
    # and the mean keeps the rest. t² = .4 + .6 r makes them the rows themselves where these have
    # one or two values (r = 1), and Gauss's three points where they are evenly spread (r = 1 / 3),
    # so that averages of parabolas are exact and those of their squares nearly so. No place lies
    # where no row can be. Files of format 10 hold the cells and not the places: they are read by
    # this.
    (places,) = place_rows_apart(cells, [slice(0, cells.weight.size)])
    return places


def place_rows_apart(cells: Moments, axes: Sequence[slice]) -> list[RowPlaces]:
    """The same for axes one after the other, each with some of the cells."""
    filled = cells.weight > 0
    weight, low, high = cells.weight[filled], cells.low[filled], cells.high[filled]
    middle = np.clip(cells.mean_x[filled], low, high)  # a mean may be off by rounding
    below, above = middle - low, high - middle
    inside = (below > 0) & (above > 0)
    product = np.where(inside, below * above, 1.0)
    ratio = np.clip(np.where(inside, cells.sxx[filled] / weight / product, 0.0), 0.0, 1.0)
    reach = np.sqrt(OF_ANY + (1 - OF_ANY) * ratio)
    shares = [ratio / reach**2 * d / np.where(inside, high - low, 1.0) for d in (above, below)]
    held = np.stack([shares[0], np.maximum(1.0 - shares[0] - shares[1], 0.0), shares[1]], axis=1)
    left, right = np.maximum(middle - reach * below, low), np.minimum(middle + reach * above, high)
    places = np.stack([left, middle, right], axis=1)
    # one value needs one place; ends are exact, so that any chunks of rows give as many places
    kept = np.stack([low < high, np.ones(low.size, dtype=np.bool_), low < high], axis=1)
    x, parts = places[kept], (held * weight[:, None])[kept]
    before = np.zeros(filled.size + 1, dtype=np.intp)
    before[1:][filled] = kept.sum(axis=1)
    before = np.cumsum(before)
    own = [slice(before[axis.start], before[axis.stop]) for axis in axes]
    return [RowPlaces(x[some], parts[some] / parts[some].sum()) for some in own]


def spread_evenly(edges: FloatArray, weight: FloatArray) -> RowPlaces:
    """Represent rows that are evenly spread over each bin by three places."""
    start, width = edges[:-1], np.diff(edges)
    return scatter_rows(start + 0.5 * width, width / np.sqrt(12.0), weight)


def scatter_rows(middle: FloatArray, deviation: FloatArray, weight: FloatArray) -> RowPlaces:
    """Represent rows of which mean and deviation are known by three places, bin by bin."""
    total = weight.sum()
    share = weight / total if total > 0 else np.full(weight.size, 1.0 / weight.size)
    places = middle[:, None] + deviation[:, None] * NODES
    return RowPlaces(places.ravel(), np.outer(share, NODE_WEIGHTS).ravel())


# --- From bin effects to curves: integrals, centring, exact variances. All of it is linear algebra


Center = Literal["mean", "start", "uniform"]
CURVE_BLOCK_ROWS = 2**14
MAX_EXTRAPOLATION_SHARE = 0.1  # of the extent of a bin's rows: so far beyond them a line is read


class Design(NamedTuple):
    """Linear maps of what is estimated, one a row."""

    # levels, slopes (n_maps, n_stretches): weight of each stretch's level and slope
    levels: FloatArray
    slopes: FloatArray
    # (n_maps, n_gaps): weight of the effect that each gap hides, and of the rises that moved
    # rows show
    hidden: FloatArray

    def weigh(self, weights: FloatArray) -> Design:
        """Sums of the maps, by weights of shape (n_maps,) or (n_sums, n_maps)."""
        return Design(*(weights @ part for part in self))


@dataclass(frozen=True, eq=False)
class Fit:
    """The effect as a function, stretch by stretch: mu(z) = level + slope (z - origin).

    Attributes
    ----------
    edges : ndarray of shape (n_stretches + 1,)
        Limits of the stretches: bins, their ends without rows, or cells where the curve follows
        them.
    origin, level, slope : ndarray of shape (n_stretches,)
        Where the level is read, the effect there, and its slope.
    bin : ndarray of shape (n_stretches,)
        The bin of each stretch.
    is_flat : ndarray of shape (n_stretches,)
        Whether a stretch is constant because no row of its bin lies there.
    rows : RowPlaces
        What averages over the rows are taken of.
    gaps : Gaps
        Where there are none, and nothing is known of the model.
    asked : Crossings or None
        Where there are none, and rows were moved across.
    """

    edges: FloatArray
    origin: FloatArray
    level: FloatArray
    slope: FloatArray
    bin: IntArray
    is_flat: BoolArray
    rows: RowPlaces
    gaps: Gaps = NO_GAPS
    asked: Crossings | None = None

    def places(self, center: Center) -> RowPlaces:
        """Places whose average is taken as zero: of the rows, of the axis, or its start."""
        known_center(center)
        if center == "mean":
            return self.rows
        if center == "start":
            return RowPlaces(self.edges[:1], np.ones(1))
        return spread_evenly(self.edges, np.diff(self.edges))

    def curve(self, x: FloatArray, center: Center) -> FloatArray:
        """Effect at x; outside the stretches the outermost ones go on."""
        places = self.places(center)
        return np.asarray(self._integral(x) - places.mean(self._integral(places.x)))

    def _integral(self, x: FloatArray) -> FloatArray:
        """Integral of mu from the first limit to x; where rows were moved across, their rise."""
        found, asked = self._integrate(x), self.asked
        if asked is not None:
            # the rises of levels and slopes are replaced by those of moved rows; `_between` leaves
            # empty stretches out already
            rises = self._integrate(asked.right) - self._integrate(asked.left)
            rises[asked.empty] = 0.0
            found += asked.position(x) @ (asked.rise - rises)
        return found

    def _integrate(self, x: FloatArray) -> FloatArray:
        """Integral of level + slope (z - origin) from the first limit to x."""
        stretches = self.locate(x)
        return np.asarray(self._heights[stretches] + self._integrate_slope(x, stretches))

    @cached_property
    def _heights(self) -> FloatArray:
        """Integral of mu from the first limit to every limit."""
        rise = self._integrate_slope(self.edges[1:], np.arange(self.level.size))
        return np.append(0.0, np.cumsum(rise))

    @cached_property
    def _grid(self) -> Grid:
        return Grid(self.edges)  # its table of buckets is made once

    def locate(self, x: FloatArray) -> IntArray:
        """Find the stretch of every place."""
        return self._grid.locate(x).astype(np.intp)

    def _integrate_slope(self, x: FloatArray, stretches: IntArray) -> FloatArray:
        """Integral of mu from the start of a stretch to x."""
        # level (x - start) + slope [(x - o)² - (start - o)²] / 2, with o the origin
        start, origin = self.edges[stretches], self.origin[stretches]
        length, tilt = self._between(start, x, origin)
        return np.asarray(self.level[stretches] * length + self.slope[stretches] * tilt)

    def _between(
        self, start: FloatArray, stop: FloatArray, origin: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Lengths from start to stop, and integrals of z - origin, without what rows crossed."""
        asked = self.asked
        if asked is None:
            return stop - start, ((stop - origin) ** 2 - (start - origin) ** 2) / 2
        length, tilt = np.zeros_like(stop), np.zeros_like(stop)
        # parts are added, as an empty one may be so wide that taking it off leaves nothing else
        lows = np.append(-np.inf, asked.right[asked.empty])
        highs = np.append(asked.left[asked.empty], np.inf)
        for low, high in zip(lows, highs, strict=True):
            a, b = np.clip(start, low, high), np.clip(stop, low, high)
            length += b - a
            tilt += (b - a) * ((a - origin) + (b - origin)) / 2
        return length, tilt

    def design(self, x: FloatArray, center: Center = "start") -> Design:
        """Write the curve at x as a linear map of levels, slopes and what gaps hide."""
        found = self._reach(x)
        if center == "start":
            return found
        places = self.places(center)
        zero = self._reach(places.x).weigh(places.weight)
        return Design(*(part - mean for part, mean in zip(found, zero, strict=True)))

    def _reach(self, x: FloatArray) -> Design:
        """How far into each stretch x reaches, the integral of z - origin up to there, and gaps."""
        reached, tilt = self._reach_stretches(x)
        hidden, asked = self.gaps.reach(x), self.asked
        if asked is not None:  # where rows were moved across, levels and slopes are for the shape
            position = asked.position(x)
            hidden = np.column_stack([hidden, position])
            position[:, asked.empty] = 0.0  # they are no part of what is reached
            after, before = map(self._reach_stretches, (asked.right, asked.left))
            reached = reached - position @ (after[0] - before[0])
            tilt = tilt - position @ (after[1] - before[1])
        return Design(reached, tilt, hidden)

    def _reach_stretches(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far into each stretch x reaches, and the integral of z - origin up to there."""
        # each stretch wholly if it lies before x, up to x if x is in it, and not at all behind x
        start, stop = self.edges[:-1], self.edges[1:]
        behind = np.arange(start.size) - self.locate(x)[:, None]
        reached = np.where(behind < 0, stop, np.where(behind > 0, start, x[:, None]))
        length, tilt = self._between(np.broadcast_to(start, reached.shape), reached, self.origin)
        return length, tilt

    @property
    def hidden_covariance(self) -> FloatArray:
        """Covariance of what the last part of a `Design` weighs."""
        n_gaps, asked = self.gaps.variance.size, self.asked
        found = np.zeros((n_gaps + (0 if asked is None else asked.rise.size),) * 2)
        found[:n_gaps, :n_gaps] = np.diag(self.gaps.variance)
        if asked is not None:
            found[n_gaps:, n_gaps:] = asked.covariance
        return found

    def importance(self) -> float:
        """Standard deviation of the curve over the rows."""
        return self.rows.deviation(self._integral(self.rows.x))


class RowEnds(NamedTuple):
    """Mean, smallest and largest x of the rows of every bin; its middle and limits without rows."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class BinFits:
    """What was fitted in every bin.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Limits.
    origin, level, slope : ndarray of shape (n_bins,)
        Mean of x, the fit there, and its slope.
    low, high : ndarray of shape (n_bins,)
        How far the fit is read: to the limits, or to the rows where they end far before these.
    """

    edges: FloatArray
    origin: FloatArray
    level: FloatArray
    slope: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, edges: FloatArray, level: FloatArray, slope: FloatArray, rows: RowEnds) -> BinFits:
        """Read every line as far as its rows reach, and a little beyond them.

        Parameters
        ----------
        edges, level, slope
            Limits and fits.
        rows : RowEnds
            Where the rows of the bins are.

        Notes
        -----
        Limits stand between two rows, so a line must reach beyond its last one; where the next row
        is far, compared with the extent of its own, nothing says that the line goes on.
        """
        low, high = limit_extrapolation(edges[:-1], edges[1:], rows)
        return cls(edges, rows.mean, level, slope, low, high)

    def read(self, place: int, x: float) -> float:
        """The fit of one bin at x."""
        return float(self.level[place] + self.slope[place] * (x - self.origin[place]))


def limit_extrapolation(
    left: FloatArray, right: FloatArray, rows: RowEnds
) -> tuple[FloatArray, FloatArray]:
    """How far the fits of bins between limits are read, see `BinFits.of`."""
    beyond = MAX_EXTRAPOLATION_SHARE * (rows.high - rows.low)
    low = np.where(rows.low - left <= beyond, left, rows.low)
    return low, np.where(right - rows.high <= beyond, right, rows.high)


@dataclass(frozen=True, eq=False)
class CellMeans:
    """Cells whose means the curve follows, wholly or in part; grouped by bin, in order.

    Attributes
    ----------
    bin : ndarray of shape (n_cells,)
        The bin that each cell belongs to.
    left, right : ndarray of shape (n_cells,)
        Limits.
    weight : ndarray of shape (n_cells,)
        Sum of the rows' weights; 0 in an empty cell.
    mean_x, std_x : ndarray of shape (n_cells,)
        Mean and deviation of the feature values; the middle and 0 in an empty cell.
    residual : ndarray of shape (n_cells,)
        Mean of the local effects minus the bin's fit at `mean_x`; interpolated in a cell without
        rows, or with hardly any weight.
    error : ndarray of shape (n_cells,)
        Standard error of the mean; not a number where the residual is interpolated.
    trust : ndarray of shape (n_cells,)
        How far the curve follows the cells of this bin, 0 to 1.
    """

    bin: IntArray = field(metadata=stored(Numbers.counts(ArrayDimension("cells", least=1))))
    left: FloatArray = field(metadata=stored(Numbers.places("cells")))
    right: FloatArray = field(metadata=stored(Numbers.places("cells")))
    weight: FloatArray = field(metadata=stored(Numbers.weights("cells")))
    mean_x: FloatArray = field(metadata=stored(Numbers.places("cells")))
    std_x: FloatArray = field(metadata=stored(Numbers.sizes("cells")))
    residual: FloatArray = field(metadata=stored(Numbers.means("cells")))
    error: FloatArray = field(metadata=stored(Numbers.errors("cells")))
    trust: FloatArray = field(metadata=stored(Numbers.shares("cells")))

    @property
    def measured(self) -> BoolArray:
        """Whether the residual of a cell is its own, shape (n_cells,)."""
        return np.isfinite(self.error)


def build_fit_from_bins(
    bins: BinFits, cells: CellMeans | None, rows: RowPlaces, gaps: Gaps = NO_GAPS
) -> Fit:
    """Turn bins into stretches: cells where the curve follows them, else lines with flat ends.

    `cells`: cells that the curve follows; `rows`, `gaps`: where rows are, and where they are not.
    """
    # A followed cell keeps the slope of its bin's fit and is moved up or down by a part of its
    # residual. Where a bin has no rows up to its limit, its line stays what it is at the last row.
    is_alone = np.ones(bins.level.size, dtype=np.bool_)
    if cells is not None:
        is_alone[cells.bin] = False
    alone = np.flatnonzero(is_alone)
    left, right = bins.edges[alone], bins.edges[alone + 1]
    sloped, low, high = bins.slope[alone] != 0, bins.low[alone], bins.high[alone]
    before, after = sloped & (low > left), sloped & (high < right)
    # where each stretch starts, its bin, where its level is read, whether it is flat
    pieces = [
        (left, alone, np.where(before, low, bins.origin[alone]), before),
        (low[before], alone[before], bins.origin[alone][before], np.zeros(before.sum(), bool)),
        (high[after], alone[after], high[after], np.ones(after.sum(), bool)),
    ]
    moved = np.zeros(sum(piece[0].size for piece in pieces))
    if cells is not None:
        beyond = (cells.mean_x < bins.low[cells.bin]) | (cells.mean_x > bins.high[cells.bin])
        read = np.clip(cells.mean_x, bins.low[cells.bin], bins.high[cells.bin])
        pieces.append((cells.left, cells.bin, read, beyond))
        moved = np.append(moved, cells.trust * cells.residual)
    start, bin_, read, flat = (np.concatenate(part) for part in zip(*pieces, strict=True))
    # all stretches in the order in which they start
    order = np.argsort(start, kind="stable")
    start, bin_, read, flat = start[order], bin_[order], read[order], flat[order]
    level = bins.level[bin_] + bins.slope[bin_] * (read - bins.origin[bin_]) + moved[order]
    slope = np.where(flat, 0.0, bins.slope[bin_])
    return Fit(
        edges=np.append(start, bins.edges[-1]),
        origin=read,
        level=level,
        slope=slope,
        bin=bin_,
        is_flat=flat,
        rows=rows,
        gaps=gaps,
    )


def known_center(center: str) -> None:
    """Refuse an unknown way of centring."""
    if center not in get_args(Center):
        msg = f"center={center!r} is not known; use one of {', '.join(get_args(Center))}"
        raise BadSettingError(msg)


def middles(edges: FloatArray) -> FloatArray:
    """Middles of the bins."""
    return edges[:-1] + 0.5 * np.diff(edges)


def fill_gaps(values: FloatArray, places: FloatArray) -> FloatArray:
    """Replace nan by what interpolation between the neighbours gives; all nan stays nan."""
    known = np.isfinite(values)
    if known.all() or not known.any():
        return values
    return np.interp(places, places[known], values[known])


def accumulate_spread(
    edges: FloatArray, std: FloatArray, x: FloatArray, *, squared: bool
) -> FloatArray:
    """Accumulate the bins' deviations from the first edge to x; the outermost bins go on outside.

    The sum is negative before the first edge, as an integral is.

    `edges` (n_bins + 1,): bin limits; `std` (n_bins,): deviation in each bin; nan is bridged from
    the neighbours; `x` (n_x,): where to read it; `squared`: root of the sum of squares (Eq. 16 as
    printed) instead of the plain sum.

    Examples
    --------
    >>> accumulate_spread(np.array([0.0, 1, 2]), np.array([3.0, 4]), np.array([2.0]), squared=True)
    array([5.])
    """
    # Eq. 16 of the paper: lengths of the bins up to x times their deviations; in blocks of rows, as
    # there is a number for each row and bin
    std = fill_gaps(std, middles(edges))
    starts = np.append(-np.inf, edges[1:-1])
    stops = np.append(edges[1:-1], np.inf)
    out = np.empty(x.size)
    for start in range(0, x.size, CURVE_BLOCK_ROWS):
        rows = slice(start, start + CURVE_BLOCK_ROWS)
        length = np.clip(x[rows, None], starts, stops) - edges[:-1]
        out[rows] = np.sqrt(length**2 @ std**2) if squared else length @ std
    return out
