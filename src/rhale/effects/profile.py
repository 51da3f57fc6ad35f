"""Profile: predictions of one output along one feature (PDP, ICE, marginal plot), as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from rhale.effects.curve import Center, RowPlaces, fill_gaps, known_center
from rhale.effects.result import (
    N_CURVE_POINTS,
    CurveResult,
    Difference,
    LevelRows,
    Outside,
    Parts,
    Points,
    Quantity,
    Support,
    Trace,
    are_numbers,
    as_points,
    count_support_rows,
    find_beyond,
    require_level,
    trace_missing,
    weighted_root_mean_square,
    zero_rounding_of_effect,
)
from rhale.effects.statistics import Heights, Readings
from rhale.effects.table import MISSING_ROW_LABEL, Columns, Missing, add_row, name_places
from rhale.effects.variance import Estimate
from rhale.errors import BadSettingError
from rhale.naming import find_level
from rhale.output.labels import NO_CAPTIONS, NOT_WRITTEN, Captions
from rhale.output.number_format import AxisKind, ColumnKind
from rhale.output.storage.values import UNIQUE_TEXTS, ArrayDimension, Number, Numbers, stored
from rhale.output.text import Note
from rhale.stats.arrays import FloatArray
from rhale.stats.distributions import student_quantile
from rhale.stats.interpolation import (
    interpolate_points,
    locate_between_points,
    share_out,
    variance_between,
)

ProfileMethod = Literal["pdp", "ice", "mplot"]
NO_CURVES, NO_VALUES = np.empty((0, 0)), np.empty(0)
MIN_PROFILE_POINTS = 32  # drawn at least: bands bend between points


@dataclass(frozen=True, eq=False, repr=False)
class Profile(CurveResult):
    """Average prediction at the points of a grid, and how the rows' own curves scatter.

    ======================================= ======================================================
    the curve                               `curve(x)`, its interval `ci(x)`, `difference(a, b)`
    how rows differ                         `spread(x)`, `typical_spread`, `ice()`, `dice()`
    its size, in units of the output        `importance`, `importance_error`, `statistics(y)`
    points                                  `grid`, `levels`, `share`, `mean`, `std`,
                                            `standard_error`
    what to know                            `name`, `output`, `kind`, `method`, `missing`, `notes`
    pictures and tables                     `plot()`, `curve_frame()`, `to_frame()`, `table()`
    ======================================= ======================================================

    These are what `dir(profile)` lists. The fields below are what files hold; most of them serve the
    library.

    Attributes
    ----------
    name, output : str
        Feature and output: keys, by which they are found.
    method : {"pdp", "ice", "mplot"}
        Partial dependence, the same with individual curves kept, or the marginal plot.
    grid : ndarray of shape (n_points,)
        Feature values, increasing, in units of the feature.
    mean : ndarray of shape (n_points,)
        Average prediction, in units of the output; nan where a marginal bin has no rows.
    std : ndarray of shape (n_points,)
        Deviation of the rows' predictions at each point, their levels included, in units of the
        output.
    covariance : ndarray of shape (n_points, n_points)
        Covariance over the rows of their curves, each less its own average over the grid
        (diagonal for "mplot", whose points have different rows).
    rows : ndarray of shape (n_points,)
        Effective number of rows behind each point.
    share : ndarray of shape (n_points,)
        Share of the rows at each point: a row shares itself between the two points next to it, so
        that the mean of the curve over the rows is the product of share and mean. Rows beyond
        the grid count at its nearest end. Rows of a marginal bin count at its point.
    curves : ndarray of shape (n_curves, n_points)
        Curves of a bounded number of rows ("ice" only).
    curve_x : ndarray of shape (n_curves,)
        The rows' own feature values.
    notes : tuple of Note
        What a reader should know.
    kind : {"number", "date", "duration"}
        What the places of the grid are (`column_kind` tells levels, too); dates are days since 1970, durations are seconds.
    levels : tuple of str
        Labels of the points, where the feature has levels (then the grid is 0, 1, 2, ... or their
        values, if they are numbers); none otherwise.
    row_places : RowPlaces or None
        Quadrature nodes and weights of the rows between the points, for averages of squares; None
        where the rows are at the points, as in marginal plots, and in files before format 5.
    known_rows : float or None
        Effective number of rows that have a value; None in files before format 5.
    own_covariance : ndarray of shape (n_points,) or None
        Covariance over the rows of the same curves as in `covariance` with the mean curve at the
        row's own value, for the interval of the centred curve; None where it was not measured.
    missing : Missing or None
        Average prediction without a value ("pdp" and "ice": of all rows with the value removed;
        "mplot": of the rows that have none).
    parts, quantity : str
        What it is made of, "points", and what its curve shows, a "prediction".
    captions : Captions
        What people read for features and outputs.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.linspace(0, 10, 101)[:, None]
    >>> profile = rhale.explain(lambda rows: 3 * rows[:, 0] + 1, x, method="ice", bins=5)["x0"]
    >>> profile.grid, profile.mean
    (array([ 0.,  2.,  4.,  6.,  8., 10.]), array([ 1.,  7., 13., 19., 25., 31.]))
    """

    name: str
    output: str
    method: ProfileMethod
    grid: FloatArray = field(metadata=stored(Numbers.places(ArrayDimension("points", least=1))))
    mean: FloatArray = field(metadata=stored(Numbers.means("points")))
    std: FloatArray = field(metadata=stored(Numbers.errors("points")))
    covariance: FloatArray = field(metadata=stored(Numbers(("points", "points"), unknown=True)))
    rows: FloatArray = field(metadata=stored(Numbers.sizes("points")))
    share: FloatArray = field(metadata=stored(Numbers.sizes("points")))
    curves: FloatArray = field(
        default_factory=lambda: NO_CURVES,
        metadata=stored(Numbers(("curves", "numbers of a curve"), unknown=True)),
    )
    curve_x: FloatArray = field(
        default_factory=lambda: NO_VALUES, metadata=stored(Numbers(("curves",), unknown=True))
    )
    notes: tuple[Note, ...] = ()
    kind: AxisKind = "number"
    levels: tuple[str, ...] = field(default=(), metadata=stored(UNIQUE_TEXTS))
    missing: Missing | None = None
    row_places: RowPlaces | None = None
    known_rows: float | None = field(default=None, metadata=stored(Number(least=0)))
    own_covariance: FloatArray | None = field(
        default=None, metadata=stored(Numbers(("points",), unknown=True))
    )
    captions: Captions = field(default=NO_CAPTIONS, compare=False, metadata=NOT_WRITTEN)
    parts: ClassVar[Parts] = "points"
    quantity: ClassVar[Quantity] = "prediction"
    _own_names: ClassVar[tuple[str, ...]] = ("method", "grid", "levels", "share", "ice", "dice")
    _former_names: ClassVar[Mapping[str, str]] = {"centring": "_centring"}

    def _extent(self) -> str:
        return f"{self.method}, {super()._extent()}"

    @property
    def axis(self) -> FloatArray:
        """Places of the points, shape (n_points,), in units of the feature."""
        return self.grid

    @property
    def n_parts(self) -> int:
        """How many points there are."""
        return self.grid.size

    @property
    def column_kind(self) -> ColumnKind:
        """What the values are: "number", "date", "duration", or "steps" or "categories"."""
        if self.levels:
            return "steps" if self.is_number else "categories"
        return self.kind

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels, where there are any; empty otherwise."""
        return self.levels

    @property
    def standard_error(self) -> FloatArray:
        """Uncertainty of `mean`, shape (n_points,), in units of the output."""
        return np.asarray(self.std / np.sqrt(np.where(self.rows > 0, self.rows, np.nan)))

    @property
    def is_number(self) -> bool:
        """Whether the levels, if there are any, are numbers: then the grid is their values."""
        return are_numbers(self.levels, self.grid)

    def _centring(self, center: Center | None) -> FloatArray:
        """Weights whose average of the curve is taken as zero; none of them for None."""
        if center is None:
            return np.zeros(self.grid.size)
        known_center(center)
        if center == "start":
            return np.asarray(np.eye(1, self.grid.size)[0])
        if center == "mean":
            return self.share
        return trapezoid_weights(self.grid)

    @property
    def regions(self) -> None:
        """None: profiles have no local effects, by which regions are found."""

    def curve(
        self,
        x: Points,
        *,
        center: Center | None = "mean",
        smooth: bool = False,  # noqa: ARG002
        outside: Outside = "extend",
    ) -> FloatArray:
        self._check_ends(x, outside)
        return self._read(x, self.mean - self._centring(center) @ np.nan_to_num(self.mean))

    def spread(
        self, x: Points, *, center: Center | None = "mean", outside: Outside = "extend"
    ) -> FloatArray:
        """Deviation between the rows' curves at x, each curve centred by itself first.

        Between two points it is that of straight curves, which may meet there. In a marginal plot it is
        the deviation of the predictions near x.

        Parameters
        ----------
        x : float or array-like of shape (n_x,)
            Feature values.
        center : {"mean", "start", "uniform"} or None
            Where the curve of every row is zero; None keeps their levels.
        outside : {"extend", "nan", "raise"}
            As in `curve`.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.column_stack([np.linspace(0, 10, 101), np.linspace(-1, 1, 101)])
        >>> fx = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], x, method="ice", bins=5)
        >>> profile = fx["x0"]  # rows have the slopes -1 to 1
        >>> (profile.spread([0, 5, 10], center="start") / np.std(x[:, 1], ddof=1)).round(6)
        array([ 0.,  5., 10.])
        """
        self._check_ends(x, outside)
        if self.method == "mplot":  # points have different rows, so there are no curves
            return self._read(x, self.std)
        return self._read_deviation(x, self._covariance(center))

    def ci(
        self,
        x: Points,
        *,
        level: float = 0.95,
        center: Center | None = "mean",
        smooth: bool = False,  # noqa: ARG002
        outside: Outside = "extend",
    ) -> tuple[FloatArray, FloatArray]:
        require_level(level)
        self._check_ends(x, outside)
        factor, curve = student_quantile(level, self.rows - 1), self.curve(x, center=center)
        if self.method == "mplot":  # points have different rows: their means are independent
            rows = np.where(self.rows > 0, self.rows, np.nan)
            variance = fill_gaps(self.std**2 / rows, self.grid)
            if center is None:
                error = np.sqrt(variance)
            else:
                shift = np.eye(self.grid.size) - self._centring(center)
                moved = self._centring_variance() if center == "mean" else 0.0
                error = np.sqrt(shift**2 @ variance + moved)
            reach = self._read(x, factor * error)
        else:  # all points have the same rows
            covariance = self._covariance(center) / self.rows
            if center == "mean":
                drawn = self._centring_variance()
                if self.own_covariance is None:
                    covariance = covariance + drawn
                else:
                    # a row moves the curve at x by its own curve there, and the mean that is taken
                    # off by the mean curve at its own value: both are of one row, and correlated
                    both = (self.own_covariance - self.share @ self.own_covariance) / self.rows
                    covariance = covariance - both - both[:, None] + drawn
            reach = factor[0] * self._read_deviation(x, np.asarray(covariance))
        return curve - reach, curve + reach

    def ice(self, *, center: Center | float | None = None) -> FloatArray:
        """Curves of single rows, shape (n_curves, n_points).

        Parameters
        ----------
        center : {"mean", "start", "uniform"}, float or None
            c-ICE: shift every curve to zero on average, at the first point or at a feature value.

        Returns
        -------
        ndarray of shape (n_curves, n_points)

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 101)[:, None]
        >>> profile = rhale.explain(lambda rows: 3 * rows[:, 0] + 1, x, method="ice", bins=5)["x0"]
        >>> profile.ice(center="start")[0]
        array([ 0.,  6., 12., 18., 24., 30.])
        """
        self._require_curves()
        if isinstance(center, int | float):
            if not self.grid[0] <= center <= self.grid[-1]:
                msg = f"center={center} is outside the grid [{self.grid[0]}, {self.grid[-1]}]"
                raise BadSettingError(msg)
            level = np.array([np.interp(center, self.grid, curve) for curve in self.curves])
        else:
            level = self.curves @ self._centring(center)
        return np.asarray(self.curves - level[:, None])

    def dice(self) -> FloatArray:
        """d-ICE: slopes of the rows' curves along the grid, shape (n_curves, n_points).

        Differences of second order, at both ends, too: right for parabolas on any grid.

        Returns
        -------
        ndarray of shape (n_curves, n_points)
            In units of the output per unit of the feature.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 101)[:, None]
        >>> profile = rhale.explain(lambda rows: 3 * rows[:, 0] + 1, x, method="ice", bins=5)["x0"]
        >>> profile.dice()[0].round(6)
        array([3., 3., 3., 3., 3., 3.])
        """
        self._require_curves()
        return differentiate(self.curves, self.grid)

    @property
    def importance(self) -> float:
        """Size of the effect: deviation of the curve over the rows, in units of the output.

        Of a marginal plot the deviation over the rows of the mean of their bins.
        """
        place, weight = self._row_positions
        return float(np.sqrt(weight @ self._read_places(place) ** 2))

    @property
    def importance_error(self) -> float:
        """Standard error of `importance`: of the curve, and of a deviation over rows that are drawn."""
        size = self.importance
        if size == 0.0:
            return 0.0
        # delta method, as of levels; the draw of the rows adds (kurtosis - 1) / (4 n) of the square
        place, weight = self._row_positions
        values = self._read_places(place) / size
        pull = share_out(place, weight * values, self.grid.size)
        pull /= np.sqrt(np.where(self.rows > 0, self.rows, 1.0))
        of_curve = max(float(pull @ np.nan_to_num(self.covariance) @ pull), 0.0)
        tails = max(float(weight @ values**4) - 1.0, 0.0)
        drawn = size**2 * tails / (4 * self._rows_with_value)
        return zero_rounding_of_effect(float(np.sqrt(of_curve + drawn)), size)

    def _read_for_statistics(self) -> tuple[Readings, Heights, float]:
        """Where the profile is read, its heights there, and what errors add to its mean square."""
        place, weight = self._row_positions
        if self.method == "mplot":  # the means of points are independent
            rows = np.where(self.rows > 0, self.rows, np.nan)
            shift = np.eye(self.grid.size) - self.share
            noise = float(self.share @ (shift**2 @ fill_gaps(self.std**2 / rows, self.grid)))
        else:
            noise = float(weight @ variance_between(self._covariance("mean") / self.rows, place))
        at_points, held = self._read_places(np.arange(self.grid.size, dtype=float)), self.share > 0
        reached = at_points[held] if held.any() else at_points
        low, high = float(reached.min()), float(reached.max())
        return "points", Heights(self._read_places(place), weight, low, high), noise

    @property
    def heterogeneity(self) -> float:
        """How much rows differ: deviation between their centred curves, as a mean over the rows.

        The root of the mean, over the rows, of the square of `spread` at their values.
        """
        if self.method == "mplot":
            return weighted_root_mean_square(self.std, self.share)
        place, weight = self._row_positions
        found = float(np.sqrt(weight @ variance_between(self._covariance("mean"), place)))
        return zero_rounding_of_effect(found, self.importance)

    @property
    def typical_spread(self) -> float:
        """The same: a profile's spread is already in units of the output."""
        return self.heterogeneity

    @property
    def typical_spread_error(self) -> float:
        """Not known, nan: of the rows' curves only their covariance was kept."""
        return float("nan")

    def height(self, x: FloatArray) -> FloatArray:
        return self.curve(x)

    def places(self, n_points: int = N_CURVE_POINTS) -> FloatArray:  # noqa: ARG002
        known = self.grid[np.isfinite(self.mean)]
        if self.labels or self.method == "mplot" or not 1 < known.size <= MIN_PROFILE_POINTS:
            return known
        parts = 2 ** int(
            np.ceil(np.log2(MIN_PROFILE_POINTS / (known.size - 1)))
        )  # a point stays what it is
        number = np.arange(parts * (known.size - 1) + 1) / parts
        return np.asarray(np.interp(number, np.arange(known.size), known))

    def missing_trace(self, center: Center | None = "mean", level: float = 0.95) -> Trace | None:
        shift = -float(self._centring(center) @ np.nan_to_num(self.mean))
        known = center is None or self.method == "mplot"
        return trace_missing(self.missing, shift, level, spread_known=known)

    def difference(self, start: float, stop: float) -> Difference:
        if self.method == "mplot":
            ends = np.searchsorted(self.grid, [start, stop])
            size = float(np.diff(self.mean[ends])[0])
            return Difference(size, float(np.hypot(*self.standard_error[ends])), float("nan"))
        place = locate_between_points(np.array([start, stop]), self.grid)
        change = share_out(place, np.array([-1.0, 1.0]), self.grid.size)
        used = np.flatnonzero(change)
        change = change[used]
        variance = float(change @ self.covariance[np.ix_(used, used)] @ change)
        spread = float(np.sqrt(max(variance, 0.0)))
        size = float(change @ self.mean[used])
        return Difference(size, spread / float(np.sqrt(self.rows[0])), spread)

    def errors_from(self, x: FloatArray, zero: RowPlaces) -> Estimate:
        one = np.eye(self.grid.size)
        anchor = share_out(locate_between_points(zero.x, self.grid), zero.weight, self.grid.size)
        matrix = interpolate_points(one, locate_between_points(x, self.grid)) - anchor
        rows = np.where(self.rows > 0, self.rows, np.nan)
        if self.method == "mplot":
            variance = matrix**2 @ fill_gaps(self.std**2 / rows, self.grid)
        else:  # all points have the same rows
            variance = np.einsum("ij,jk,ik->i", matrix, self.covariance, matrix) / rows[0]
        degrees = np.full(x.size, max(float(np.nanmean(rows)) - 1.0, 1.0))
        return Estimate(np.maximum(variance, 0.0), degrees)

    def rows_along(self) -> RowPlaces:
        return RowPlaces(self.grid, self.share) if self.row_places is None else self.row_places

    @property
    def total_rows(self) -> float:
        """Effective number of rows that have a value."""
        return self._rows_with_value

    def support(self) -> Support:
        if self.curve_x.size:
            return count_support_rows(self.grid, self.curve_x, np.ones(self.curve_x.size))
        middle = self.grid[:-1] + 0.5 * np.diff(self.grid)
        limits = np.concatenate([self.grid[:1], middle, self.grid[-1:]])
        return Support(self.curve_x, limits, self.share / np.diff(limits))

    def level_rows(self) -> LevelRows:
        return LevelRows(self.rows, np.nan_to_num(self.share)) if self.levels else LevelRows()

    def single_curves(self, most: int) -> FloatArray:
        if self.curves.size == 0:
            return NO_CURVES
        chosen = np.unique(np.linspace(0, len(self.curves) - 1, most).astype(int))
        x, curves = self.places(), self.ice(center="mean")[chosen]
        return np.array([np.interp(x, self.grid, curve) for curve in curves])

    def table(self) -> Columns:
        columns = {
            "point": list(range(self.grid.size)),
            "at": name_places(self.grid, self.levels, self.kind),
            "x": self.grid.tolist(),
            "rows": self.rows.tolist(),
            "mean": self.mean.tolist(),
            "std": self.std.tolist(),
            "standard_error": self.standard_error.tolist(),
            "curve": self.curve(self.grid).tolist(),
            "spread": self.spread(self.grid).tolist(),
        }
        if (missing := self.missing) is None:
            return columns
        known = {
            "point": self.grid.size,
            "at": MISSING_ROW_LABEL,
            "rows": float(missing.rows),
            "mean": float(missing.mean),
            "std": float(missing.std),
            "standard_error": float(missing.standard_error),
            "curve": float(missing.mean) - float(self.share @ np.nan_to_num(self.mean)),
        }
        return add_row(columns, known)

    @property
    def _row_positions(self) -> tuple[FloatArray, FloatArray]:
        """Positions of the rows, in numbers of points, and their weights; the points if not known."""
        if self.row_places is None:
            return np.arange(self.grid.size, dtype=np.float64), self.share
        return locate_between_points(self.row_places.x, self.grid), self.row_places.weight

    def _read_places(self, place: FloatArray) -> FloatArray:
        """The mean, zero on average over the rows, at such places."""
        centred = np.nan_to_num(self.mean - self.share @ np.nan_to_num(self.mean))
        return np.asarray(np.interp(place, np.arange(self.grid.size), centred))

    def _covariance(self, center: Center | None) -> FloatArray:
        """Covariance over the rows of their centred curves at the points."""
        if center is None:
            # var(shape + level) = std², so cov(shape, level) + var(level) / 2 is what std² leaves
            # over: the same term for the rows and the columns of the covariance
            rest = (self.std**2 - np.diag(self.covariance)) / 2
            return np.asarray(self.covariance + rest + rest[:, None])
        # curves less their weighted mean: (I - 1 w') C (I - w 1')
        weights = self._centring(center)
        pull = self.covariance @ weights
        return np.asarray(self.covariance - pull - pull[:, None] + weights @ pull)

    def _centring_variance(self) -> float:
        """Variance of the mean of the curve over the rows, as other rows would have it."""
        rows = self._rows_with_value
        return self.importance**2 / (rows - 1) if rows > 1 + 1e-9 else float("nan")

    @property
    def _rows_with_value(self) -> float:
        """Effective number of rows over which the curve is centred, at least one."""
        rows = self.known_rows
        if rows is None:
            rows = float(self.rows.sum() if self.method == "mplot" else self.rows.max())
        return max(rows, 1.0)

    def _read_deviation(self, x: Points, covariance: FloatArray) -> FloatArray:
        """Root of the variance at x of curves that are straight between the points."""
        points, shape = as_points(self._places(x), self.kind)
        inside = (points >= self.grid[0]) & (points <= self.grid[-1])
        place = locate_between_points(np.where(inside, points, self.grid[0]), self.grid)
        variance = variance_between(covariance, place)
        return np.asarray(np.where(inside, np.sqrt(variance), np.nan).reshape(shape)[()])

    def _read(self, x: Points, values: FloatArray) -> FloatArray:
        points, shape = as_points(self._places(x), self.kind)
        known = np.isfinite(values)
        if not known.any():
            return np.asarray(np.full(shape, np.nan)[()])
        out = np.interp(points, self.grid[known], values[known], left=np.nan, right=np.nan)
        return np.asarray(out.reshape(shape)[()])

    def _check_ends(self, x: Points, outside: Outside) -> None:
        """Refuse values beyond the grid with outside="raise"."""
        find_beyond(self, as_points(self._places(x), self.kind)[0], outside)

    def _places(self, x: Points) -> Points:
        """Turn labels of levels into places on the grid; anything else stays."""
        labels = np.asarray(x)
        if not self.levels or labels.dtype.kind not in "UO":
            return x
        return self.grid[[find_level(self.name, n, self.levels) for n in labels.ravel()]].reshape(
            labels.shape
        )

    def _require_curves(self) -> None:
        if self.curves.size == 0:
            msg = f"this is a {self.method!r} profile without single rows; use method='ice'"
            raise BadSettingError(msg)


def trapezoid_weights(grid: FloatArray) -> FloatArray:
    """Weights that average a piecewise straight curve over x."""
    if grid.size == 1:
        return np.ones(1)
    gap = np.diff(grid)
    return np.asarray((np.append(gap, 0) + np.append(0, gap)) / (2 * (grid[-1] - grid[0])))


def differentiate(values: FloatArray, grid: FloatArray) -> FloatArray:
    """Slopes of curves along a grid, by differences of second order; nan at a single point.

    Parameters
    ----------
    values : ndarray of shape (..., n_points)
        Curves at the points.
    grid : ndarray of shape (n_points,)
        The points, increasing.

    Examples
    --------
    >>> differentiate(np.array([0.0, 1.0, 4.0]), np.array([0.0, 1.0, 2.0]))
    array([0., 2., 4.])
    """
    if grid.size == 1:
        return np.full_like(values, np.nan)
    order: Literal[1, 2] = 2 if grid.size > 2 else 1
    exponent = -np.frexp(grid[-1] - grid[0])[1]  # widths are multiplied, which may be too small
    slopes = np.gradient(values, np.ldexp(grid, exponent), axis=-1, edge_order=order)
    return np.asarray(np.ldexp(slopes, exponent))
