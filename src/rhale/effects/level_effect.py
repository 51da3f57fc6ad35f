"""LevelEffect: the effect of a feature that has levels (categories, few whole numbers)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rhale.effects.curve import Center, RowPlaces, fill_gaps, known_center, middles
from rhale.effects.effect import NO_SAMPLE, Accumulate, LocalEffects, known_accumulate
from rhale.effects.result import (
    N_CURVE_POINTS,
    CurveResult,
    Difference,
    LevelRows,
    Outside,
    Parts,
    Quantity,
    Support,
    Trace,
    count_support_rows,
    find_beyond,
    require_level,
    weighted_root_mean_square,
    zero_rounding_of_effect,
)
from rhale.effects.spread import NO_SHOWN_ROWS, RowSpread, ShownRows
from rhale.effects.statistics import Heights, Readings, read_levels
from rhale.effects.table import Columns, Missing, add_missing_bin, add_row, list_bins
from rhale.effects.variance import Estimate
from rhale.errors import BadSettingError
from rhale.naming import find_level
from rhale.output.labels import NO_CAPTIONS, NOT_WRITTEN, Captions
from rhale.output.number_format import ColumnKind
from rhale.output.storage.values import ANY_TEXT, ArrayDimension, Numbers, Several, stored
from rhale.output.text import Note, as_notes
from rhale.regions.result import RegionTree
from rhale.stats.arrays import BoolArray, FloatArray, IntArray
from rhale.stats.distributions import student_quantile
from rhale.stats.interpolation import interpolate_points, locate_between_points


@dataclass(frozen=True, eq=False, repr=False)
class LevelEffect(CurveResult):
    """How the levels of one feature move one output: steps between neighbouring levels.

    ======================================= ======================================================
    the curve, at levels or at all of them  `curve(x)`, its interval `ci(x)`, `difference(a, b)`
    how rows differ                         `spread(x)`, `typical_spread`, `typical_spread_error`,
                                            `row_curves()`, `regions`
    its size, in units of the output        `importance`, `importance_error`, `statistics(y)`
    levels, their rows and shares           `levels`, `level_count`, `share`, `pooled`
    steps between neighbours                `step`, `mean`, `std`, `standard_error`
    what to know                            `name`, `output`, `kind` ("steps" or "categories"),
                                            `missing`, `notes`
    pictures and tables                     `plot()`, `curve_frame()`, `to_frame()`, `table()`
    ======================================= ======================================================

    These are what `dir(effect)` lists. The fields below are what files hold; most of them serve the
    library.

    Attributes
    ----------
    name, output : str
        Feature and output: keys, by which they are found.
    levels : tuple of str
        The levels, in order.
    level_count, level_weight : ndarray of shape (n_levels,)
        Rows of each level, and the sum of their weights.
    edges : ndarray of shape (n_levels,)
        Positions of the levels: their values if they are numbers, else 0, 1, 2, ...
    count, rows, weight : ndarray of shape (n_steps,)
        Rows on both sides of each step, their effective number, the sum of their weights.
    mean, std : ndarray of shape (n_steps,)
        Mean change of the prediction, in units of the output per unit of `edges`, when the rows of both levels are moved
        from the lower to the higher one, and how much it differs between rows (divisor n - 1).
    correlation : ndarray of shape (n_steps, n_steps)
        Of the means: neighbouring steps share the rows of the level between them.
    is_number : bool
        Whether the levels are numbers.
    pooled : tuple of str
        Rare levels that are pooled as one, named "other (k levels)".
    missing : Missing or None
        What happens when the value is removed, where that was measured.
    local_notes, bin_notes : tuple of Note
        What a reader should know about the local effects, and about the levels.
    sample : LocalEffects
        Middles of steps and the steps of a bounded number of rows.
    row_spread : RowSpread or None
        How rows differ: the covariance of their increments from level to level. Rows are moved to
        levels near their own, or to all where these have no order. None in files that were written
        before it was measured.
    has_order : bool
        Whether the order of the levels means something.
    regions : RegionTree or None
        Who differs, where that was asked for.
    parts, quantity : str
        What it is made of, "levels", and what its curve shows, an "effect".
    captions : Captions
        What people read for features and outputs.

    Notes
    -----
    Spread (`std`, `spread`) says how rows differ. Uncertainty (`standard_error`, `ci`) says how
    well the average is known from these rows, given the model.

    How rows differ at a level is the deviation of the rows' own curves over the levels there, each
    curve centred by itself: centred ICE, where levels have no order; where they have one, rows are
    moved to levels near their own only.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> rooms = np.repeat([1.0, 2.0, 3.0], 50)[:, None]
    >>> level = rhale.explain(lambda rows: rows[:, 0] ** 2, rooms)["x0"]
    >>> level.levels, level.step, level.curve(center="start")
    (('1', '2', '3'), array([3., 5.]), array([0., 3., 8.]))
    """

    name: str
    output: str
    levels: tuple[str, ...] = field(
        metadata=stored(Several(ANY_TEXT, ArrayDimension("levels", least=1), unique=True))
    )
    level_count: IntArray = field(metadata=stored(Numbers.counts("levels")))
    level_weight: FloatArray = field(metadata=stored(Numbers.weights("levels")))
    edges: FloatArray = field(metadata=stored(Numbers.places("levels", rising=True)))
    count: IntArray = field(metadata=stored(Numbers.counts("steps")))
    rows: FloatArray = field(metadata=stored(Numbers.sizes("steps")))
    weight: FloatArray = field(metadata=stored(Numbers.weights("steps")))
    mean: FloatArray = field(metadata=stored(Numbers.means("steps")))
    std: FloatArray = field(metadata=stored(Numbers.errors("steps")))
    correlation: FloatArray = field(metadata=stored(Numbers(("steps", "steps"), unknown=True)))
    is_number: bool = False
    pooled: tuple[str, ...] = ()
    missing: Missing | None = None
    local_notes: tuple[Note, ...] = ()
    bin_notes: tuple[Note, ...] = ()
    sample: LocalEffects = NO_SAMPLE
    row_spread: RowSpread | None = None
    has_order: bool = True
    regions: RegionTree | None = None
    captions: Captions = field(default=NO_CAPTIONS, compare=False, metadata=NOT_WRITTEN)
    parts: ClassVar[Parts] = "levels"
    quantity: ClassVar[Quantity] = "effect"
    _own_names: ClassVar[tuple[str, ...]] = (
        "row_curves",
        "levels",
        "level_count",
        "share",
        "step",
        "pooled",
    )

    def _extent(self) -> str:
        return f"{len(self.levels)} levels"

    @property
    def axis(self) -> FloatArray:
        """Places of the levels, shape (n_levels,)."""
        return self.edges

    @property
    def n_parts(self) -> int:
        """How many levels there are."""
        return len(self.levels)

    @property
    def kind(self) -> ColumnKind:
        """What the levels are: "steps" if they are numbers, else "categories"."""
        return "steps" if self.is_number else "categories"

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels, one for each place."""
        return self.levels

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know: a tuple of `Note`, which is a text with a kind."""
        return as_notes(self.local_notes + self.bin_notes)

    @property
    def std_plain(self) -> FloatArray:
        """The same as `std`, shape (n_steps,): a step has no slope to take out."""
        return self.std

    @property
    def slope(self) -> FloatArray:
        """Zeros of shape (n_steps,): a step has no slope."""
        return np.zeros(self.mean.size)

    @property
    def linear(self) -> BoolArray:
        """Bools of shape (n_steps,), all false: a step has no slope."""
        return np.zeros(self.mean.size, dtype=np.bool_)

    @property
    def step(self) -> FloatArray:
        """Mean change of the prediction from each level to the next, shape (n_steps,)."""
        return np.asarray(self.mean * np.diff(self.edges))

    @property
    def standard_error(self) -> FloatArray:
        """Uncertainty of `mean`, shape (n_steps,), in the same units."""
        return np.asarray(self.std / np.sqrt(self.rows))

    @property
    def share(self) -> FloatArray:
        """Share of the data at each level, shape (n_levels,); adds up to one."""
        return np.asarray(self.level_weight / self.level_weight.sum())

    def curve(
        self,
        x: Any = None,
        *,
        center: Center = "mean",
        smooth: bool = False,  # noqa: ARG002
        outside: Outside = "extend",
    ) -> FloatArray:
        return self._read(x, self._map(center) @ self.step, outside)

    def spread(
        self,
        x: Any = None,
        *,
        center: Center = "mean",
        accumulate: Accumulate = "measured",
        outside: Outside = "extend",
    ) -> FloatArray:
        """How far the rows' own curves lie apart at levels, each centred by itself.

        Parameters
        ----------
        x : str, number or a sequence of these, optional
            Levels, all by default.
        center : {"mean", "start", "uniform"}
            As in `curve`: what the rows' curves are zero at.
        accumulate : {"measured", "sum", "quadrature"}
            Deviation of the rows' curves as it was measured; or, as the paper does, the sum of the
            steps' deviations, or the root of the sum of their squares. Levels without an order add
            up nothing, and know "measured" alone.
        outside : {"extend", "nan", "raise"}
            As in `curve`.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a single level
            In units of the output.

        Notes
        -----
        It is the deviation of the rows' own curves over the levels, less their averages: by the
        levels' shares of the rows for `"mean"`, equal ones for `"uniform"`, the first level alone
        for `"start"`. With S the sum of the steps' deviations up to a level, `accumulate="sum"` is
        S for `"start"`, and how far S is from its mean over the rows for `"mean"`: so far apart
        are the curves of rows that differ one way at all steps.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> rooms, sign = np.repeat([1.0, 2.0, 3.0], 50), np.tile([-1.0, 1.0], 75)
        >>> rows = np.column_stack([rooms, sign])
        >>> level = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], rows)["x0"]
        >>> level.spread(center="start").round(1)  # half of the rows rise by 1 a level, half fall
        array([0., 1., 2.])
        """
        zero = self._zero(center)
        known_accumulate(accumulate)
        if accumulate != "measured" and not self.has_order:
            msg = (
                f"accumulate={accumulate!r} of {self.name!r}, whose levels have no order: nothing "
                "is added up there; leave it out, or give an order with categorical="
            )
            raise BadSettingError(msg)
        if accumulate == "measured" and self.row_spread is not None:
            return self._read(x, self.row_spread.combine(self._map(center)), outside)
        summed = self._accumulated(accumulate)
        return np.abs(self._read(x, summed - zero @ summed, outside))

    def ci(
        self,
        x: Any = None,
        *,
        level: float = 0.95,
        center: Center = "mean",
        smooth: bool = False,  # noqa: ARG002
        outside: Outside = "extend",
    ) -> tuple[FloatArray, FloatArray]:
        require_level(level)
        # the curve is a linear map M of the steps: its variances are the diagonal of M C M'
        matrix, drawn = self._map(center), self._centring_variance(center)
        variance = np.einsum("ij,jk,ik->i", matrix, self._covariance, matrix)
        variance = np.maximum(variance, 0.0) + drawn
        quantile = student_quantile(level, self._degrees(matrix, drawn))
        reach = self._read(x, quantile * np.sqrt(variance), outside)
        curve = self.curve(x, center=center)
        return curve - reach, curve + reach

    @property
    def importance(self) -> float:
        """Size of the effect: deviation of the curve over the rows, in units of the output.

        Zero for one level.
        """
        return float(np.sqrt(self.share @ self.curve() ** 2))

    @property
    def importance_error(self) -> float:
        """Standard error of `importance`: of the steps, and of a deviation over rows that are drawn."""
        size = self.importance
        if not size > 0.0:
            return size
        # delta method: d importance / d curve is share * curve / importance; the draw of the rows
        # adds the variance of a standard deviation, (kurtosis - 1) / (4 n) of its square
        curve = self.curve() / size
        pull = (self.share * curve) @ self._map("mean")
        tails = max(float(self.share @ curve**4) - 1.0, 0.0)
        drawn = size**2 * tails / (4 * self._all_rows)
        found = float(np.sqrt(np.maximum(pull @ self._covariance @ pull, 0.0) + drawn))
        return zero_rounding_of_effect(found, size)

    def _read_for_statistics(self) -> tuple[Readings, Heights, float]:
        """Where the curve is read, its heights there, and what errors add to its mean square."""
        matrix = self._map("mean")
        variance = np.einsum("ij,jk,ik->i", matrix, self._covariance, matrix)
        noise = float(self.share @ np.maximum(variance, 0.0))
        return "levels", read_levels(self.curve(), self.level_weight), noise

    @property
    def typical_spread(self) -> float:
        """How much rows differ, in units of the output: root mean square of `spread` over the rows.

        Unknown for one level, where nothing was measured.
        """
        if len(self.levels) == 1:
            return float("nan")
        return zero_rounding_of_effect(
            weighted_root_mean_square(self.spread(), self.share), self.importance
        )

    def row_curves(self, *, center: Center = "mean") -> ShownRows:
        """Curves of up to 100 sampled rows at the levels.

        Parameters
        ----------
        center : {"mean", "start", "uniform"}
            Where the curve of every row is zero, as in `curve`.

        Returns
        -------
        ShownRows
            As of `Effect.row_curves`.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> rooms, sign = np.repeat([1.0, 2.0, 3.0], 50), np.tile([-1.0, 1.0], 75)
        >>> rows = np.column_stack([rooms, sign])
        >>> level = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], rows)["x0"]
        >>> np.unique(level.row_curves(center="start").heights.round(6), axis=0)
        array([[ 0., -1., -2.],
               [ 0.,  1.,  2.]])
        """
        if self.row_spread is None:
            return NO_SHOWN_ROWS
        curve, zero = self.curve(center=center), -self._map(center)[0]
        found = self.row_spread.predict_rows(np.diff(curve), zero)
        return found._replace(heights=curve + found.heights)

    def height(self, x: FloatArray) -> FloatArray:
        return np.interp(x, self.edges, self.curve())

    def places(self, n_points: int = N_CURVE_POINTS) -> FloatArray:  # noqa: ARG002
        return self.edges

    def trace(
        self,
        center: Center | None = "mean",
        level: float = 0.95,
        n_points: int = N_CURVE_POINTS,  # noqa: ARG002
        *,
        smooth: bool = False,  # noqa: ARG002
    ) -> Trace:
        zero: Center = "mean" if center is None else center
        low, high = self.ci(level=level, center=zero)
        return Trace(self.edges, self.curve(center=zero), self.spread(center=zero), low, high)

    def difference(self, start: float, stop: float) -> Difference:
        ends = np.searchsorted(self.edges, [start, stop])
        between = slice(ends.min(), ends.max())
        variance = self._covariance[between, between].sum()
        size, error = np.diff(self.curve()[ends])[0], np.sqrt(max(variance, 0.0))
        if self.row_spread is None:
            spread = np.abs(np.diff(self._accumulated("sum")[ends]))[0]
        else:
            spread = self.row_spread.combine(np.diff(self._map("start")[ends], axis=0))[0]
        return Difference(float(size), float(error), float(spread))

    def errors_from(self, x: FloatArray, zero: RowPlaces) -> Estimate:
        summed = self._map("start")
        steps = interpolate_points(summed, locate_between_points(x, self.edges))
        anchor = zero.weight @ interpolate_points(summed, locate_between_points(zero.x, self.edges))
        matrix = steps - anchor
        variance = np.einsum("ij,jk,ik->i", matrix, self._covariance, matrix)
        return Estimate(np.maximum(variance, 0.0), self._degrees(matrix, 0.0))

    def rows_along(self) -> RowPlaces:
        return RowPlaces(self.edges, self.share)

    @property
    def total_rows(self) -> float:
        """Effective number of all rows; of a single level those counted."""
        return self._all_rows if len(self.levels) > 1 else float(self.level_count.sum())

    def support(self) -> Support:
        return count_support_rows(self.edges, self.edges, self.level_weight)

    def level_rows(self) -> LevelRows:
        return LevelRows(self.level_count.astype(np.float64), self.level_weight)

    def locate_sample(self, column: FloatArray) -> tuple[FloatArray, IntArray]:
        """Middles of the steps below and above sampled levels, and which rows they are.

        Parameters
        ----------
        column : ndarray of shape (n_sample,)
            Places of the levels of some rows, nan where missing.

        Returns
        -------
        places : ndarray of shape (n_known,)
            Middles of steps; a level between two others is next to two of them.
        rows : ndarray of shape (n_known,)
            Which rows they are.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> rooms = np.repeat([1.0, 2.0, 3.0], 50)[:, None]
        >>> level = rhale.explain(lambda rows: rows[:, 0] ** 2, rooms)["x0"]
        >>> level.locate_sample(np.array([1.0, 2.0]))
        (array([1.5, 1.5, 2.5]), array([1, 0, 1]))
        """
        level = np.where(np.isnan(column), -1, np.searchsorted(self.edges, column))
        sides = np.concatenate([level - 1, level])
        known = np.tile(level >= 0, 2) & (sides >= 0) & (sides < self.mean.size)
        rows = np.tile(np.arange(column.size), 2)
        middle = 0.5 * (self.edges[:-1] + self.edges[1:])
        return middle[sides[known]], rows[known]

    def table(self) -> Columns:
        names, curve = [str(level) for level in self.levels], self.curve()
        columns = list_bins(self, self.edges, names, curve)
        if len(self.levels) == 1:
            known = {
                "bin": 0,
                "count": int(self.level_count[0]),
                "weight": float(self.level_weight[0]),
                **dict.fromkeys(("from", "to"), names[0]),
                **dict.fromkeys(("left", "right"), float(self.edges[0])),
                **dict.fromkeys(("curve_left", "curve_right"), 0.0),
            }
            columns = add_row(columns, known)
        return add_missing_bin(columns, self.missing, self.level_weight)

    def _centring_variance(self, center: Center) -> float:
        """Variance of the average that is taken as zero, as the rows of each level are a draw."""
        if center != "mean" or len(self.levels) == 1:
            return 0.0
        return self.importance**2 / self._all_rows

    def _degrees(self, matrix: FloatArray, drawn: float) -> FloatArray:
        """Degrees of freedom of the variances of sums of steps, shape (n_sums,)."""
        # Welch and Satterthwaite: 1 / df = sum of (share of the variance)² / df of that part.
        # The centring is one more part; without it that has no variance and infinite df.
        parts = np.column_stack(
            [matrix**2 * np.diag(self._covariance), np.full(len(matrix), drawn)]
        )
        total = parts.sum(axis=1, keepdims=True)
        share = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)
        known = np.append(np.maximum(self.rows - 1, 1.0), self._all_rows if drawn > 0 else np.inf)
        weighed = share**2 @ (1 / known)
        found = np.divide(1.0, weighed, out=np.full(weighed.size, np.inf), where=weighed > 0)
        return np.asarray(found)

    @property
    def _all_rows(self) -> float:
        """Effective number of all rows, as if weights were alike at all levels."""
        # Kish's sum of w² over sum of w, from all steps together
        unevenness = (self.weight**2 / self.rows).sum() / self.weight.sum()
        return float(self.level_weight.sum() / unevenness)

    @cached_property
    def _covariance(self) -> FloatArray:
        """Covariance of the mean steps; steps of one row borrow from their neighbours."""
        error = np.nan_to_num(fill_gaps(self.standard_error, middles(self.edges)))
        error = error * np.diff(self.edges)
        return np.asarray(error[:, None] * self.correlation * error)

    def _map(self, center: Center) -> FloatArray:
        """The linear map from steps to the curve at the levels."""
        n_levels = len(self.levels)
        summed = np.tri(n_levels, n_levels - 1, -1)
        return np.asarray(summed - self._zero(center) @ summed)

    def _zero(self, center: Center) -> FloatArray:
        """Weights of the levels whose average is taken as zero."""
        known_center(center)
        n_levels = len(self.levels)
        if center == "start":
            return np.asarray(np.eye(1, n_levels)[0])
        return self.share if center == "mean" else np.ones(n_levels) / n_levels

    def _accumulated(self, accumulate: Accumulate) -> FloatArray:
        """Deviations of the steps, added up from the first level."""
        std = fill_gaps(self.std, middles(self.edges)) * np.diff(self.edges)
        if accumulate == "quadrature":
            return np.asarray(np.sqrt(np.append(0.0, np.cumsum(std**2))))
        return np.append(0.0, np.cumsum(std))

    def _read(self, x: Any, values: FloatArray, outside: Outside = "extend") -> FloatArray:
        """Values at the levels asked for."""
        if x is None:
            return values
        if self.is_number and np.asarray(x).dtype.kind in "biuf":
            points = np.asarray(x, dtype=np.float64)
            find_beyond(self, points.ravel(), outside)
            found = np.interp(points, self.edges, values, left=np.nan, right=np.nan)
            return np.asarray(found)[()]
        single = isinstance(x, str) or not isinstance(x, Iterable)
        places = [self.find(level) for level in ([x] if single else x)]
        return np.asarray(values[places[0] if single else places])[()]

    def find(self, level: Any) -> int:
        """Index of a level, given by its label; a pooled one has that of the others.

        Parameters
        ----------
        level : str or number
            The level.

        Returns
        -------
        int
            Its place in `levels`.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> rooms = np.repeat([1.0, 2.0, 3.0], 50)[:, None]
        >>> level = rhale.explain(lambda rows: rows[:, 0] ** 2, rooms)["x0"]
        >>> level.find("2")
        1
        """
        if str(level) in self.pooled and str(level) not in self.levels:
            others = name_others(len(self.pooled))
            # trailing spaces distinguish it from a level that has this name
            level = max((n for n in self.levels if n.rstrip(" ") == others), key=len)
        return find_level(self.name, level, self.levels)


def name_others(n_pooled: int) -> str:
    """Name of several rare levels that are pooled: "other (3 levels)"."""
    return f"other ({n_pooled} levels)"
