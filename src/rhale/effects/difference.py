"""CurveDifference: how far one curve is from another at one common zero, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rhale.comparison.drift import Drift, find_row_quantiles, measure_drift
from rhale.effects.alignment import (
    SharedPlaces,
    can_be_named,
    can_compare,
    find_shared_axis_range,
    offset,
    share_places,
    thin_places,
)
from rhale.effects.curve import RowPlaces
from rhale.effects.result import (
    Result,
    SeveralResults,
    as_points,
    find_result_axis_kind,
    is_constant,
    require_level,
)
from rhale.effects.variance import ChanceSize, covariance_from_changes, size_by_chance
from rhale.naming import find_level
from rhale.stats.arrays import FloatArray
from rhale.stats.distributions import student_quantile

DIFFERENCE_ROUNDING = 1e-9  # of the larger curve: curves that differ by less do not differ
RESOLUTION = 0.01  # of the larger effect: binning reads curves that well, however many rows
OUTERMOST = 1 / 80  # of the rows, on each side
MOST_PLACES = 40  # quantiles that represent the rows, each as many
N_DIFFERENCE_POINTS = 101  # of a difference that is drawn


class Peak(NamedTuple):
    """Where curves are farthest apart among the rows, by how much, and between which ends that is.

    Attributes
    ----------
    x : float
        Where, in units of the feature.
    difference : float
        By how much, in units of the output.
    low, high : float
        Ends of its interval.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> old = rhale.explain(lambda rows: rows[:, 0], x)
    >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
    >>> cx = rhale.compare({"old": old, "new": new})
    >>> peak = cx["x1"].against().peak
    >>> peak.low < peak.difference < peak.high
    True
    """

    x: float
    difference: float
    low: float
    high: float


class DifferenceTrace(NamedTuple):
    """A difference to draw, with the ends of its interval; all of shape (n_points,).

    Attributes
    ----------
    x : ndarray of shape (n_points,)
        Places, in units of the feature.
    difference : ndarray of shape (n_points,)
        The difference there, in units of the output.
    low, high : ndarray of shape (n_points,)
        Ends of its interval.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> old = rhale.explain(lambda rows: rows[:, 0], x)
    >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
    >>> cx = rhale.compare({"old": old, "new": new})
    >>> trace = cx["x1"].against().trace()
    >>> trace.x.shape == trace.difference.shape
    True
    """

    x: FloatArray
    difference: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class CurveDifference(SeveralResults):
    """How the curve of one explanation differs from that of another, at one common zero.

    Attributes
    ----------
    first_name, second_name : str
        What the two explanations are called.
    first, second : Result
        Their results of one feature and output.
    standing : Result
        Whose rows count: where the difference is zero on average, and for its size.
    rows : tuple of RowPlaces or None
        Feature values of known rows of both, for the drift; None where only the results are known.
    zero_at : float or None
        A place where the difference is zero instead.
    level : float
        Of intervals, and 1 - level is the chance that equal curves are said to differ.

    Notes
    -----
    The difference is the second curve less the first, on the stretch (or at the levels) that both
    have; elsewhere it is not known. Its error has the errors of the fits of both, added as those
    of independent draws of rows are. Which rows a curve is centred over does not count, since one
    zero serves both. Where both explain the same rows, their errors are partly the same: for
    models that are alike, the interval is then too wide and fewer differences are found; only for
    models in which the same rows go opposite ways it may be too narrow, at most by a root of two.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> old = rhale.explain(lambda rows: rows[:, 0], x)
    >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
    >>> cx = rhale.compare({"old": old, "new": new})
    >>> found = cx["x1"].against()
    >>> found.p_value < 0.05, round(found.share, 1)  # all of the larger effect
    (True, 1.0)
    """

    first_name: str
    second_name: str
    first: Result
    second: Result
    standing: Result
    rows: tuple[RowPlaces, RowPlaces] | None = None
    zero_at: float | None = None
    level: float = 0.95

    def __repr__(self) -> str:
        return (
            f"CurveDifference({self.name!r}, {self.second_name!r} less {self.first_name!r}, "
            f"size={self.size:.3g}, p_value={self.p_value:.3g})"
        )

    @property
    def _first(self) -> Result:
        return self.first

    @cached_property
    def places(self) -> SharedPlaces:
        """Places of rows on what both have; none if one of them has no curve."""
        return share_places(self.first, self.second, self.standing)

    @property
    def is_known(self) -> bool:
        """Whether there is anything to compare: two curves with rows in common."""
        curved = not is_constant(self.first) and not is_constant(self.second)
        return curved and self.places.x.size > 1

    @cached_property
    def lift(self) -> float:
        """What is added to the centred second curve, in units of the output, for one zero."""
        if not self.is_known:
            return 0.0
        if self.zero_at is None:
            return offset(self.first, self.second, self.standing)
        x = np.array([self.zero_at])
        other = self._across(x)
        return float((self.first.height(x) - self.second.height(other))[0])

    @cached_property
    def _zeros(self) -> tuple[RowPlaces, RowPlaces]:
        """Places whose mean difference is zero, on the axis of either."""
        if self.zero_at is None:
            x, other, weight, _ = self.places
            return RowPlaces(x, weight), RowPlaces(other, weight)
        x, one = np.array([self.zero_at]), np.ones(1)
        return RowPlaces(x, one), RowPlaces(self._across(x), one)

    def _across(self, x: FloatArray) -> FloatArray:
        """Places of the first axis on the second: levels by name, numbers as they are."""
        if not can_be_named(self.first):
            return x
        to = dict(zip(self.second.labels, self.second.axis, strict=True))
        names = [self.first.labels[i] for i in np.searchsorted(self.first.axis, x)]
        return np.array([to.get(name, np.nan) for name in names])

    def _gap(self, x: FloatArray, other: FloatArray) -> FloatArray:
        """The difference where both are known; what is but rounding is none."""
        mine, theirs = self.first.height(x), self.second.height(other)
        gap = theirs + self.lift - mine
        return np.where(np.abs(gap) <= self._rounding, 0.0, gap)

    @cached_property
    def _rounding(self) -> float:
        """How far equal curves may be apart by rounding."""
        x, other, _, _ = self.places
        heights = np.concatenate([self.first.height(x), self.second.height(other)])
        return DIFFERENCE_ROUNDING * float(np.nanmax(np.abs(heights), initial=0.0))

    def _error(self, x: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Standard error of the difference, and its degrees of freedom."""
        zero, other_zero = self._zeros
        found = [self.first.errors_from(x, zero), self.second.errors_from(other, other_zero)]
        drawn = 0.0 if self.zero_at is not None else self.size**2 / self._n_rows
        variance = found[0].variance + found[1].variance
        variance -= self._bias_of_both(x, other, zero, other_zero)
        inverse = np.zeros(x.size)  # Welch and Satterthwaite: 1 / df = sum of share² / df
        for one in found:
            share = np.divide(
                one.variance, variance, out=np.zeros_like(variance), where=variance > 0
            )
            inverse += share**2 / np.maximum(one.degrees, 1.0)
        degrees = np.divide(1.0, inverse, out=np.full(x.size, np.inf), where=inverse > 0)
        return np.sqrt(variance + drawn), degrees

    def _bias_of_both(
        self, x: FloatArray, other: FloatArray, zero: RowPlaces, other_zero: RowPlaces
    ) -> FloatArray:
        """What the squared biases of two curves of trees have in common, shape (n_x,)."""
        # Bias is systematic: curves that are averaged over equally wide neighbourhoods of rows are
        # off alike where their jumps fade alike. The bias of the difference is b1 - b2, and
        # (b1 - b2)² is 2 b1 b2 less than the sum of both squares, which the variances contain.
        stairs = getattr(self.first, "stairs", None), getattr(self.second, "stairs", None)
        if stairs[0] is None or stairs[1] is None:
            return np.zeros(x.size)
        mine, theirs = stairs[0].bias_from(x, zero), stairs[1].bias_from(other, other_zero)
        alike = mine.shape == theirs.shape
        return 2 * np.sum(mine * theirs, axis=0) if alike else np.zeros(x.size)

    @property
    def _n_rows(self) -> float:
        """Effective number of rows of `standing` at the places that both have."""
        return max(self.standing.total_rows * self.places.part, 1.0)

    def _locate(self, x: Any) -> tuple[FloatArray, FloatArray, tuple[int, ...]]:
        """Places of what the user calls values, on either axis; nan where one of them ends."""
        if self.first.labels and np.asarray(x).dtype.kind in "UO":
            names = np.atleast_1d(np.asarray(x, dtype=object))
            found = [find_level(self.name, str(n), self.first.labels) for n in names.ravel()]
            points, shape = self.first.axis[found], np.shape(x)
        else:
            points, shape = as_points(x, find_result_axis_kind(self.first))
        if can_be_named(self.first):
            return points, self._across(points), shape
        low, high = find_shared_axis_range(self.first, self.second)
        points = np.where((points >= low) & (points <= high), points, np.nan)
        return points, points, shape

    def difference(self, x: Any) -> FloatArray:
        """The second curve less the first at x; nan beyond what both have.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of shape (n_x,)
            Feature values.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> old = rhale.explain(lambda rows: rows[:, 0], x)
        >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
        >>> cx = rhale.compare({"old": old, "new": new})
        >>> np.diff(cx["x1"].against().difference([0.0, 0.5])).round(6)
        array([1.])
        """
        points, other, shape = self._locate(x)
        known = np.isfinite(other) & self.is_known
        found = np.full(points.size, np.nan)
        found[known] = self._gap(points[known], other[known])
        return found.reshape(shape)[()]

    def ci(self, x: Any, *, level: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval of the difference at x, for the draw of the rows of both.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of shape (n_x,)
            Feature values.
        level : float, optional
            Probability to cover at one x; `level` of the comparison if not given.

        Returns
        -------
        low, high : ndarray of shape (n_x,)

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> old = rhale.explain(lambda rows: rows[:, 0], x)
        >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
        >>> cx = rhale.compare({"old": old, "new": new})
        >>> low, high = cx["x0"].against().ci([0.0, 0.5])  # both have this curve
        >>> bool((low <= 0).all() and (high >= 0).all())
        True
        """
        level = self.level if level is None else level
        require_level(level)
        points, other, shape = self._locate(x)
        known = np.isfinite(other) & self.is_known
        low, high = np.full((2, points.size), np.nan)
        gap = self._gap(points[known], other[known])
        error, degrees = self._error(points[known], other[known])
        half = student_quantile(level, degrees) * error
        half = np.where(half <= self._rounding, 0.0, half)
        low[known], high[known] = gap - half, gap + half
        return low.reshape(shape)[()], high.reshape(shape)[()]

    @cached_property
    def few(self) -> SharedPlaces:
        """Places that represent the rows, each as many: curves are compared there.

        Behind the outermost rows of either, one in eighty on each side, curves are hardly known.
        """
        found = self.places
        if not self.first.labels and not self.second.labels and found.x.size:
            ends = [
                find_row_quantiles(one.rows_along(), np.array([OUTERMOST, 1 - OUTERMOST]))
                for one in (self.first, self.second)
            ]
            low, high = max(end[0] for end in ends), min(end[1] for end in ends)
            inside = (found.x >= low) & (found.x <= high)
            if np.count_nonzero(inside) > 1:
                weight = found.weight[inside]
                found = SharedPlaces(
                    found.x[inside], found.other_x[inside], weight / weight.sum(), found.part
                )
        return thin_places(found, MOST_PLACES)

    @cached_property
    def _few_gaps(self) -> FloatArray:
        """The difference there."""
        return self._gap(self.few.x, self.few.other_x)

    @cached_property
    def size(self) -> float:
        """Size of the difference: its standard deviation over the rows; nan if it is not known."""
        if not self.is_known:
            return float("nan")
        share, gap = self.few.weight, self._few_gaps
        return float(np.sqrt(share @ (gap - share @ gap) ** 2))

    @cached_property
    def _covariance(self) -> FloatArray:
        """Covariance of the errors of the difference at these places, less their mean."""
        x, other = self.few.x, self.few.other_x
        # from the variances of all changes from place to place: var(a - b) of every pair (a, b)
        changes = np.zeros((x.size, x.size))
        for row, *places in zip(changes, x, other, strict=True):
            zero, other_zero = (RowPlaces(np.array([place]), np.ones(1)) for place in places)
            row += self.first.errors_from(x, zero).variance
            row += self.second.errors_from(other, other_zero).variance
            row -= self._bias_of_both(x, other, zero, other_zero)
        return covariance_from_changes(changes, self.few.weight)

    @cached_property
    def by_chance(self) -> ChanceSize:
        """What the errors of both curves would make of `size`, were the curves the same."""
        if not self.is_known:
            return ChanceSize(float("nan"), 1.0, 1.0)
        found = size_by_chance(self._covariance, self.few.weight, self._degrees())
        return found if found.square > self._rounding**2 else found._replace(square=0.0)

    def _degrees(self) -> float:
        """Degrees of freedom behind the errors of both, over all places."""
        # Welch and Satterthwaite, with the variances of each curve averaged over the rows
        squares, inverse, weight = [], [], self.few.weight
        for one, x in ((self.first, self.few.x), (self.second, self.few.other_x)):
            found = one.errors_from(x, RowPlaces(x, weight))
            parts = weight * np.nan_to_num(found.variance)
            squares.append(float(parts.sum()))
            inverse.append(float(parts @ (1 / np.maximum(found.degrees, 1.0))))
        total = sum(squares)
        if not total > 0:
            return float("inf")
        per_result = (s * i / total**2 for s, i in zip(squares, inverse, strict=True))
        return 1 / max(sum(per_result), 1e-12)

    @property
    def chance_size(self) -> float:
        """The size that errors alone would give, were the curves the same; units of the output."""
        return float(np.sqrt(self.by_chance.square))

    @cached_property
    def size_error(self) -> float:
        """Standard error of `size`; of curves that may be the same, see `chance_size`."""
        if not self.is_known or not self.size > 0:
            return 0.0 if self.is_known else float("nan")
        weight, unit = (
            self.few.weight,
            (self._few_gaps - self.few.weight @ self._few_gaps) / self.size,
        )
        # delta method; the draw of the rows adds (kurtosis - 1) / (4 n) of the square
        pull, tails = weight * unit, float(weight @ unit**4) - 1.0
        drawn = self.size**2 * max(tails, 0.0) / (4 * self._n_rows)
        return float(np.sqrt(max(float(pull @ self._covariance @ pull), 0.0) + drawn))

    @cached_property
    def p_value(self) -> float:
        """Chance, 0 to 1, of a difference of this size between curves that are the same."""
        if not self.is_known:
            return float("nan")
        return self.by_chance.p_value(self.size**2)

    @property
    def share(self) -> float:
        """The size over the larger importance of both curves; 0 where both do nothing."""
        largest = max(self.first.importance, self.second.importance)
        if not self.is_known:
            return float("nan")
        return self.size / largest if largest > 0 else 0.0

    @property
    def differs(self) -> bool:
        """Whether the curves differ by more than the draw of the rows explains.

        And by more than a hundredth of the larger effect: curves are not read better than that.
        """
        return self.p_value < 1 - self.level and self.share > RESOLUTION

    @cached_property
    def peak(self) -> Peak:
        """Where the curves are farthest apart, among the places `few`."""
        if not self.is_known:
            return Peak(*[float("nan")] * 4)
        at = int(np.nanargmax(np.abs(self._few_gaps)))
        x, other = self.few.x[at : at + 1], self.few.other_x[at : at + 1]
        low, high = self._ends(x, other)
        return Peak(float(x[0]), float(self._few_gaps[at]), float(low[0]), float(high[0]))

    def _ends(self, x: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval at places."""
        error, degrees = self._error(x, other)
        gap, half = self._gap(x, other), student_quantile(self.level, degrees) * error
        half = np.where(half <= self._rounding, 0.0, half)
        return gap - half, gap + half

    def trace(
        self, n_points: int = N_DIFFERENCE_POINTS, *, within: tuple[float, float] | None = None
    ) -> DifferenceTrace:
        """What is drawn: the difference wherever either curve may bend; nothing if it is not known.

        Parameters
        ----------
        n_points : int
            Places from end to end, besides those where either curve bends.
        within : pair of float, optional
            Only between these values of a feature of numbers, dates or durations, with as many
            places; all of the stretch that both share if not given.

        Returns
        -------
        DifferenceTrace

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
        >>> old = rhale.explain(lambda rows: rows[:, 0], x)
        >>> new = rhale.explain(lambda rows: rows[:, 0] + 2 * rows[:, 1], x)
        >>> cx = rhale.compare({"old": old, "new": new})
        >>> cx["x1"].against().trace(5).x.size >= 5
        True
        """
        if not self.is_known:
            return DifferenceTrace(*np.empty((4, 0)))
        if can_be_named(self.first):
            x = self.places.x
        elif self.first.labels and self.second.labels:
            x = np.intersect1d(self.first.axis, self.second.axis)
        else:  # where either curve may bend, on the stretch that both have
            low, high = find_shared_axis_range(self.first, self.second)
            every = np.concatenate([one.places(n_points) for one in (self.first, self.second)])
            x = np.unique(np.append(every[(every >= low) & (every <= high)], [low, high]))
        if within is not None:
            start, stop = max(within[0], x[0]), min(within[1], x[-1])
            even = np.linspace(start, stop, n_points) if start < stop else np.empty(0)
            x = np.union1d(x[(x >= start) & (x <= stop)], even)
        other = self._across(x)
        return DifferenceTrace(x, self._gap(x, other), *self._ends(x, other))

    @cached_property
    def drift(self) -> Drift | None:
        """How the rows moved from the first to the second; None where the axes are not the same."""
        if not can_compare(self.first, self.second):
            return None
        return measure_drift(self.first, self.second, 1 - self.level, self.rows)
