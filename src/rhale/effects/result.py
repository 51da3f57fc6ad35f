"""What every result of one feature answers: curve, spread, interval, table."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Unpack, cast, get_args

import numpy as np

from rhale.effects.binning.cells import uniform_edges
from rhale.effects.binning.partition import is_number_setting
from rhale.effects.curve import Center, RowPlaces
from rhale.effects.spread import RowSpread
from rhale.effects.staircase import Jump, Staircase
from rhale.effects.statistics import Heights, Readings, Statistics, gather_statistics, remove_noise
from rhale.effects.table import Columns, Missing
from rhale.effects.variance import Estimate
from rhale.errors import BadSettingError
from rhale.naming import read_word
from rhale.output.doors import draw_result_lazily, show_result
from rhale.output.labels import Captions
from rhale.output.number_format import (
    AxisKind,
    ColumnKind,
    as_axis_kind,
    as_numbers,
    format_axis_value,
    write_number,
)
from rhale.output.picture_options import EffectOptions, with_options
from rhale.output.text import Note, as_notes
from rhale.regions.result import RegionTree
from rhale.stats.arrays import BoolArray, FloatArray, freeze, same_fields

Points = Any  # numbers; dates or durations where the feature has them
Parts = Literal["bins", "levels", "points"]
Quantity = Literal["effect", "prediction"]
Outside = Literal["extend", "nan", "raise"]  # what is said beyond the ends of a curve
N_CURVE_POINTS = 401  # between the limits, besides the limits: a quadratic looks smooth
N_SUPPORT_CELLS = 80
EFFECT_ROUNDING = 2.0**-30  # of an effect: what is less is made by the arithmetic of the model


class Trace(NamedTuple):
    """A curve to draw, with its spread and the ends of its interval; all of shape (n_points,).

    Attributes
    ----------
    x : ndarray of shape (n_points,)
        Places, in units of the feature.
    curve : ndarray of shape (n_points,)
        The curve there, in units of the output.
    spread : ndarray of shape (n_points,)
        How rows differ there, in units of the output.
    low, high : ndarray of shape (n_points,)
        Ends of the interval of the curve.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.linspace(0, 10, 200)
    >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
    >>> trace = age.trace("start", n_points=3)
    >>> trace.x, trace.curve
    (array([ 0.,  5., 10.]), array([ 0., 10., 20.]))
    """

    x: FloatArray
    curve: FloatArray
    spread: FloatArray
    low: FloatArray
    high: FloatArray


class Difference(NamedTuple):
    """How much a curve changes between two places, how sure that is, and how rows differ.

    Attributes
    ----------
    size : float
        How much the curve changes, in units of the output.
    error : float
        Standard error of that.
    spread : float
        Deviation between rows of what happens to them in between.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.linspace(0, 10, 200)
    >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
    >>> found = age.difference(0.0, 5.0)
    >>> found.size, found.error, found.spread
    (10.0, 0.0, 0.0)
    """

    size: float
    error: float
    spread: float


class Support(NamedTuple):
    """Where the rows are along the axis.

    Attributes
    ----------
    values : ndarray of shape (n_known,)
        Feature values of known rows; none where no rows were kept.
    limits, density : ndarray of shape (n + 1,) and (n,)
        Weight of the rows between two limits, by the distance of these.
    gaps : ndarray of shape (n_gaps, 2)
        Stretches over which the curve is interpolated, as they have no rows.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.linspace(0, 10, 200)
    >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
    >>> age.support().values.size, len(age.support().gaps)
    (200, 0)
    """

    values: FloatArray
    limits: FloatArray
    density: FloatArray
    gaps: FloatArray = np.empty((0, 2))


class LevelRows(NamedTuple):
    """Rows at each level and their weight, both of shape (n_levels,).

    Attributes
    ----------
    rows : ndarray of shape (n_levels,)
        Rows at each level.
    weight : ndarray of shape (n_levels,)
        Sum of their weights.

    Examples
    --------
    >>> LevelRows(np.array([1.0, 3.0]), np.array([1.0, 3.0])).share
    array([0.25, 0.75])
    """

    rows: FloatArray = np.empty(0)
    weight: FloatArray = np.empty(0)

    @property
    def share(self) -> FloatArray:
        """Their share of the data, shape (n_levels,); adds up to one."""
        return np.asarray(self.weight / self.weight.sum())


class FrozenResult:
    """A result that never changes: arrays are read-only, notes are notes, values are compared."""

    def __post_init__(self) -> None:
        freeze(self)
        for field in ("local_notes", "bin_notes", "notes"):
            if field in self.__dict__:
                object.__setattr__(self, field, as_notes(self.__dict__[field]))

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]


class CurveResult(FrozenResult):
    """How one feature moves one output, as a curve with its spread and its interval.

    The base of `Effect`, `LevelEffect` and `Profile`: tables, pictures and pages read what is
    described here, and never ask which of them a result is.

    Attributes
    ----------
    name, output : str
        Feature and output: keys, by which they are found.
    captions : Captions
        What people read for both.
    missing : Missing or None
        What happens without a value, where that was measured.
    parts, quantity : str
        What it is made of ("bins", "levels" or "points"), which decides how it is drawn in detail,
        and what its curve shows: an "effect", or a "prediction".

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.linspace(0, 10, 200)
    >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
    >>> age.kind, "curve" in dir(age), "trace" in dir(age)
    ('number', True, False)
    >>> age.curve([0.0, 10.0], center="start").round(6)
    array([ 0., 20.])
    """

    name: str
    output: str
    captions: Captions
    missing: Missing | None
    parts: ClassVar[Parts]
    quantity: ClassVar[Quantity]
    _own_names: ClassVar[tuple[str, ...]] = ()  # of a kind of result, besides PUBLIC_NAMES
    _former_names: ClassVar[Mapping[str, str]] = {}  # public names of the version before
    if TYPE_CHECKING:  # fields of some, properties of others

        @property
        def kind(self) -> ColumnKind:
            """What the values of the feature are."""

        @property
        def mean(self) -> FloatArray:
            """What is averaged over rows."""

        @property
        def std(self) -> FloatArray:
            """How rows differ."""

        @property
        def weight(self) -> FloatArray:
            """Weight of the rows."""

        @property
        def row_spread(self) -> RowSpread | None:
            """How rows differ, where rows were moved."""

        @property
        def notes(self) -> tuple[Note, ...]:
            """What a reader should know."""

        @property
        def regions(self) -> RegionTree | None:
            """Which rows differ; None where that was not asked for."""

        @property
        def importance_error(self) -> float:
            """Standard error of `importance`."""

    def __str__(self) -> str:
        from rhale.effects.listing import write_effect_line

        return write_effect_line(self)

    def __repr__(self) -> str:
        output = self.captions.output(self.output)
        return (
            f"{type(self).__name__}({self.name!r}, output={output!r}, {self._extent()}, "
            f"importance={write_number(self.importance)})"
        )

    def _extent(self) -> str:
        """Count the parts, and say where they are."""
        ends = (format_axis_value(x, find_result_axis_kind(self)) for x in self.axis[[0, -1]])
        return f"{self.n_parts} {self.parts} on [{', '.join(ends)}]"

    def _repr_html_(self) -> str:
        """A small page, for notebooks."""
        return show_result(self)

    def __dir__(self) -> list[str]:
        """Names that people use; what the library reads besides is found, and not listed."""
        return sorted({*PUBLIC_NAMES, *self._own_names})

    if not TYPE_CHECKING:  # which would find everything

        def __getattr__(self, name: str) -> Any:
            """Find what had a public name in the version before, with a warning."""
            if name not in self._former_names:
                msg = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(msg)
            warnings.warn(
                f"{name} of results is internal now, and goes away in the next version of rhale",
                DeprecationWarning,
                stacklevel=2,
            )
            return getattr(self, self._former_names[name])

    @property
    def features(self) -> tuple[str, ...]:
        """The one feature."""
        return (self.name,)

    @property
    def axis(self) -> FloatArray:
        """Places of the limits, levels or points, increasing, in units of the feature."""
        raise NotImplementedError

    @property
    def n_parts(self) -> int:
        """How many bins, levels or points there are."""
        raise NotImplementedError

    @property
    def column_kind(self) -> ColumnKind:
        """What the values are: "number", "date", "duration", "steps" (whole numbers) or "categories"."""
        return self.kind

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the levels, one for each place; empty where the feature has none."""
        return ()

    @property
    def stairs(self) -> Staircase | None:
        """The curve of a model that moves in steps; None where it does not, or nobody knows."""
        return None

    @property
    def jumps(self) -> tuple[Jump, ...]:
        """Where the curve of a stepped model moves far at once; empty where it has no steps."""
        return ()

    @property
    def importance(self) -> float:
        """Size of the effect, by which results are ranked: deviation of the curve over the rows."""
        raise NotImplementedError

    @property
    def heterogeneity(self) -> float:
        """How much rows differ: root of the row-weighted mean of std²; nan if no part has one.

        In units of the output per unit of the feature, as `std`. Rounding is zero.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> round(rhale.effect(x, np.tile([1.0, 3.0], 100), bins=1).heterogeneity, 2)
        1.0
        """
        size = weighted_root_mean_square(self.mean, self.weight)
        return zero_rounding_of_effect(weighted_root_mean_square(self.std, self.weight), size)

    @property
    def typical_spread(self) -> float:
        """How much rows differ, in units of the output: root mean square of `spread` over the rows."""
        raise NotImplementedError

    @property
    def typical_spread_error(self) -> float:
        """Standard error of `typical_spread`, over rows drawn from the same population.

        From groups of rows, each left out once; nan where no model was queried.
        """
        return math.nan if self.row_spread is None else self.row_spread.error

    @property
    def total_rows(self) -> float:
        """Effective number of rows that have a value."""
        raise NotImplementedError

    def curve(
        self,
        x: Any,
        *,
        center: Center = "mean",
        smooth: bool = False,
        outside: Outside = "extend",
    ) -> FloatArray:
        """The curve at values of the feature.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of shape (n_x,)
            Feature values; of `LevelEffect` all levels if not given. Between levels that are
            numbers, and between the points of a profile, the curve is straight.
        center : {"mean", "start", "uniform"} or None
            Zero on average over the rows, at the first limit, level or point, or on average over x
            (or the levels). Of a profile None keeps the level of the predictions.
        smooth : bool
            Of a model with jumps, even out the small ones and keep the real ones. Levels and
            profiles are shown as they are.
        outside : {"extend", "nan", "raise"}
            Beyond the ends: the outermost bins go on, which is a guess; levels and points, which
            cannot, are nan, as all results are with "nan". "raise" refuses such values.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> rooms = np.repeat([1.0, 2.0, 3.0], 50)[:, None]
        >>> level = rhale.explain(lambda rows: rows[:, 0] ** 2, rooms)["x0"]
        >>> level.curve(center="start")
        array([0., 3., 8.])
        >>> level.curve(["3", "1"], center="start"), level.curve([2.5], center="start")
        (array([8., 0.]), array([5.5]))
        >>> profile = rhale.explain(lambda rows: rows[:, 0] ** 2, rooms, method="pdp")["x0"]
        >>> profile.curve([1.0, 3.0], center=None).round(6)  # mean predictions
        array([1., 9.])
        """
        raise NotImplementedError

    def spread(self, x: Any, *, center: Center = "mean", outside: Outside = "extend") -> FloatArray:
        """How far the rows' own curves lie apart, each centred as `curve` is.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of shape (n_x,)
            Feature values.
        center, outside
            As in `curve`.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> age.spread([0.0, 10.0])  # no row differs
        array([0., 0.])
        """
        raise NotImplementedError

    def ci(
        self,
        x: Any,
        *,
        level: float = 0.95,
        center: Center = "mean",
        smooth: bool = False,
        outside: Outside = "extend",
    ) -> tuple[FloatArray, FloatArray]:
        """Confidence interval of the curve: uncertainty of the mean, not spread.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of shape (n_x,)
            Feature values, as in `curve`.
        level : float
            Probability that the interval covers, at one x, the curve of the model over the
            population that the rows were drawn from.
        center, smooth, outside
            As in `curve`.

        Returns
        -------
        low, high : ndarray of shape (n_x,)

        Notes
        -----
        The variance of levels is that of a sum of correlated mean steps, with Student's quantiles
        and the degrees of freedom of Welch and Satterthwaite where steps have few rows; that of a
        profile is of the mean over the rows. With `center="mean"` other rows would also have
        another mean of the curve, which is taken off: that is a part of the interval.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> rooms = np.repeat([1.0, 2.0, 3.0], 50)[:, None]
        >>> level = rhale.explain(lambda rows: rows[:, 0] ** 2, rooms)["x0"]
        >>> low, high = level.ci("3", center="start")  # every row has the same step
        >>> float(low), float(high)
        (8.0, 8.0)
        """
        raise NotImplementedError

    def height(self, x: FloatArray) -> FloatArray:
        """The curve, zero on average over the rows, at places between the ends of `axis`.

        Parameters
        ----------
        x : ndarray of shape (n_x,)
            Places as numbers; between levels or points the curve is straight.

        Returns
        -------
        ndarray of shape (n_x,)
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> age.height(np.array([7.5, 10.0])).round(6)
        array([ 5., 10.])
        """
        raise NotImplementedError

    def places(self, n_points: int = N_CURVE_POINTS) -> FloatArray:
        """Where the curve is drawn: wherever it bends, or its points, or its levels.

        Parameters
        ----------
        n_points : int
            Number of even places from end to end, besides the limits of bins and both sides of
            every jump. Levels and points of a profile are what they are; between few points some
            are added, as spread and interval are not straight there.

        Returns
        -------
        ndarray of shape (n_places,)
            Increasing, in units of the feature.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> age.places(3)
        array([ 0.,  5., 10.])
        """
        raise NotImplementedError

    def trace(
        self,
        center: Center | None = "mean",
        level: float = 0.95,
        n_points: int = N_CURVE_POINTS,
        *,
        smooth: bool = False,
    ) -> Trace:
        """What is drawn at `places`: curve, spread and interval.

        Parameters
        ----------
        center : {"mean", "start", "uniform"} or None
            Where the curve is zero, as in `curve`. None leaves a profile at the level of the
            predictions; effects have no level, and it is "mean" for them.
        level : float
            Probability that the interval covers, as in `ci`.
        n_points : int
            As in `places`.
        smooth : bool
            As in `curve`.

        Returns
        -------
        Trace
            Places, curve, spread and the ends of the interval, each of shape (n_places,).

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> age.trace("start", n_points=3).curve
        array([ 0., 10., 20.])
        """
        # of a profile None is a word, too
        zero = cast(Center, "mean" if center is None and self.quantity == "effect" else center)
        x = self.places(n_points)
        low, high = self.ci(x, level=level, center=zero, smooth=smooth)
        spread = self.spread(x, center=zero)
        return Trace(x, self.curve(x, center=zero, smooth=smooth), spread, low, high)

    def missing_trace(self, center: Center | None = "mean", level: float = 0.95) -> Trace | None:
        """The one point of missing values; None where it was not measured.

        Parameters
        ----------
        center : {"mean", "start", "uniform"} or None
            Where the curve is zero, on whose scale the point is.
        level : float
            Probability that its interval covers.

        Returns
        -------
        Trace or None
            Arrays of one number; `x` is nan.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> x[::10] = np.nan
        >>> fx = rhale.explain(lambda rows: np.nan_to_num(2 * rows[:, 0], nan=4.0), x[:, None])
        >>> point = fx["x0"].missing_trace(center="start")  # predictions are 4 there, and 2 x elsewhere
        >>> round(float(point.curve[0] - fx["x0"].curve(5.0, center="start")), 1)
        -6.0
        """
        shift = 0.0
        if center not in (None, "mean") and not is_constant(self):
            start = self.labels[0] if self.labels else self.axis[0]
            shift = float(self.curve(start, center=center) - self.curve(start))
        return trace_missing(self.missing, shift, level)

    def difference(self, start: float, stop: float) -> Difference:
        """How the curve changes from one place to another, its error and its spread.

        Parameters
        ----------
        start, stop : float
            Two places on the axis; of two levels or two points of a marginal plot.

        Returns
        -------
        Difference
            `size`, `error` and `spread`, in units of the output.

        Notes
        -----
        The error is that of the difference itself, which is smaller than the errors of both ends
        suggest: they have most of it in common. A marginal plot has different rows at each point:
        the errors of both are independent there, and `spread` is nan.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> round(age.difference(2.0, 7.0).size, 6)
        10.0
        """
        raise NotImplementedError

    def errors_from(self, x: FloatArray, zero: RowPlaces) -> Estimate:
        """Variance of the curve at places less its mean at others: the errors of the fits alone.

        Parameters
        ----------
        x : ndarray of shape (n_x,)
            Places on the axis.
        zero : RowPlaces
            Places and their weights, over which the curve is zero on average. They are given, and
            no draw of rows.

        Returns
        -------
        Estimate
            Variances and degrees of freedom, both of shape (n_x,).

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> slopes = np.tile([1.0, 3.0], 100)  # rows differ: mean 2, deviation 1
        >>> age = rhale.effect(x, slopes, bins=1, name="age")
        >>> from rhale.effects.curve import RowPlaces
        >>> start = RowPlaces(np.array([0.0]), np.ones(1))
        >>> age.errors_from(np.array([10.0]), start).variance.round(1)  # 10² / 200
        array([0.5])
        """
        raise NotImplementedError

    def rows_along(self) -> RowPlaces:
        """Places that represent the rows in averages: values, levels or points.

        Returns
        -------
        RowPlaces
            Places in units of the feature, and shares of the rows that add up to one.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> round(float(age.rows_along().weight.sum()), 6)
        1.0
        """
        raise NotImplementedError

    def support(self) -> Support:
        """Where the rows are: those sampled, or all of them bin by bin; of levels all.

        Returns
        -------
        Support
            Values, limits, density and gaps.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> found = age.support()
        >>> round(float(found.density @ np.diff(found.limits)), 6)  # all rows
        200.0
        """
        raise NotImplementedError

    def level_rows(self) -> LevelRows:
        """Rows at each level; empty where the feature has no levels.

        Returns
        -------
        LevelRows
            Rows and weights, both of shape (n_levels,).

        Examples
        --------
        >>> import numpy as np, rhale
        >>> rooms = np.repeat([1.0, 2.0, 3.0], 50)[:, None]
        >>> level = rhale.explain(lambda rows: rows[:, 0] ** 2, rooms)["x0"]
        >>> level.level_rows().rows
        array([50., 50., 50.])
        """
        return LevelRows()

    def single_curves(self, most: int) -> FloatArray:  # noqa: ARG002
        """Curves of a few rows, evenly chosen by their order, each zero on average.

        Parameters
        ----------
        most : int
            How many curves are asked for.

        Returns
        -------
        ndarray of shape (n_curves, n_places)
            In units of the output; of shape (0, 0) where no curves were kept, as of all effects,
            whose single rows have local effects and no curves.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 101)[:, None]
        >>> profile = rhale.explain(lambda rows: 3 * rows[:, 0] + 1, x, method="ice", bins=5)["x0"]
        >>> profile.single_curves(5).shape == (5, profile.places().size)
        True
        """
        return np.empty((0, 0))

    def table(self) -> Columns:
        """One row for each bin, step between levels or point, and one for missing values.

        Returns
        -------
        dict of str to list
            Columns as in `Explanation.to_frame`, less the names of feature and output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> {name: age.table()[name] for name in ("left", "right", "mean")}
        {'left': [0.0], 'right': [10.0], 'mean': [2.0]}
        """
        raise NotImplementedError

    def to_frame(self, backend: str | None = None) -> Any:
        """One tidy row per bin, step between levels or point, as `Explanation.to_frame` has them.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Kind of table; the first of these that is installed if not given.

        Returns
        -------
        data frame
            Columns as in `Explanation.to_frame`.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> age.to_frame("pandas")["mean"].tolist()
        [2.0]
        """
        from rhale.effects.listing import bin_rows
        from rhale.output.frame import as_frame

        return as_frame(bin_rows([self]), backend)

    def curve_frame(
        self,
        n: int | None = None,
        *,
        center: Center | None = "mean",
        level: float = 0.95,
        smooth: bool = False,
        backend: str | None = None,
    ) -> Any:
        """The curve on a grid as a table, with its spread and its interval.

        Parameters
        ----------
        n : int, optional
            So many places, evenly from end to end; by default wherever the curve bends. Levels
            are all there, whatever is asked.
        center, level, smooth
            As in `ci`.
        backend : {"pandas", "polars", "pyarrow"}, optional
            As in `to_frame`.

        Returns
        -------
        data frame
            Columns `feature`, `output`, `x`, `at`, `curve`, `spread`, `low` and `high`, and what
            people read for the first two. `x` is a number (of dates the day since 1970, of levels
            their place), `at` the same as text; the last row is that of missing values, where
            they were measured.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> age.curve_frame(3, center="start", backend="pandas")["curve"].tolist()
        [0.0, 10.0, 20.0]
        """
        from rhale.effects.listing import curve_frame

        asked: dict[str, Any] = {"n": n, "center": center, "level": level, "smooth": smooth}
        return curve_frame([self], backend, **asked)

    @with_options(EffectOptions)
    def plot(self, *, ax: Any = None, **options: Unpack[EffectOptions]) -> Any:
        """Draw this feature in detail, as `Explanation.plot` does.

        Parameters
        ----------
        ax : matplotlib Axes or a pair of them, optional
            Where to draw; a new figure if not given.
        **options

        Returns
        -------
        Axes, or a pair of them

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> ax = age.plot(kind="curve")
        >>> ax.get_xlabel()
        'age'
        >>> import matplotlib.pyplot as plt
        >>> plt.close(ax.figure)
        """
        return draw_result_lazily(self, {"ax": ax, **options})

    def statistics(self, y: Any = None) -> Statistics:
        """ALED, ALER and the same in percentiles of the target: the effect in plain numbers.

        Parameters
        ----------
        y : array-like of shape (n_values,), optional
            Observed values of the target, for NALED and NALER; any number of them.

        Returns
        -------
        Statistics

        Notes
        -----
        Deviations are over the rows: at their own values, at their levels, or, of a profile, as
        `importance` is. The range is that of the curve where rows are: of a staircase that of all
        its steps between the first and the last row, of levels and points those that rows are at
        or next to. Under `method="ale"` the curve is read as R's package ale does: in the middles
        of the bins, and its range at their limits. Of levels the package adds up the steps of the
        rows of the higher ones alone, in an order of its own; of profiles it has no such numbers.

        `aled_sd` and `naled_sd` are the package's `aled_fun = "sd"`. Its bins leave the rows at
        the smallest value out of the mean of the first bin; here they are in it.

        A range is decided by the emptiest ends of the axis, and grows with the number of bins:
        compare ALER only between features with as many. What `importance_denoised` leaves out is
        described in `Statistics`.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> found = age.statistics()
        >>> round(found.aled, 1), [round(end, 1) for end in found.aler]
        (5.0, [-10.0, 10.0])
        """
        read, heights, noise = self._read_for_statistics()
        size = remove_noise(self.importance, noise)
        return gather_statistics((self.name,), self.output, read, heights, size, y)

    def _read_for_statistics(self) -> tuple[Readings, Heights, float]:
        """Where the curve is read, its heights there, and what errors add to its mean square."""
        raise NotImplementedError


class SeveralResults:
    """One feature and output in several results: its names and its axis are those of the first."""

    @property
    def _first(self) -> CurveResult:
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The feature."""
        return self._first.name

    @property
    def output(self) -> str:
        """What is moved: the label of the output, as the first result has it."""
        return self._first.output

    @property
    def kind(self) -> ColumnKind:
        """What the values are: "number", "date", "duration", "steps" (whole numbers) or "categories"."""
        return self._first.column_kind

    @property
    def captions(self) -> Captions:
        """What people read for features and outputs."""
        return self._first.captions

    @property
    def parts(self) -> Parts:
        """What the results are made of: "bins", "levels" or "points"."""
        return self._first.parts

    @property
    def quantity(self) -> Quantity:
        """What curves show: an "effect", or a "prediction"."""
        return self._first.quantity

    @property
    def axis(self) -> FloatArray:
        """Places of the limits, levels or points, shape (n_places,)."""
        return self._first.axis

    @property
    def column_kind(self) -> ColumnKind:
        """The same as `kind`."""
        return self._first.column_kind

    @property
    def labels(self) -> tuple[str, ...]:
        """One for each place where the feature has levels; none otherwise."""
        return self._first.labels


Result = CurveResult  # the name by which other modules import it

# what people use of every result; besides these each kind of result has some of its own
PUBLIC_NAMES = (
    *("name", "output", "kind", "curve", "spread", "ci", "difference", "statistics"),
    *("importance", "importance_error", "typical_spread", "typical_spread_error"),
    *("mean", "std", "standard_error", "missing", "notes", "regions"),
    *("plot", "table", "to_frame", "curve_frame"),
)

# what a result says in one number; tables of results have a column for each
STATISTICS: dict[str, Callable[[CurveResult], float]] = {
    "importance": lambda result: result.importance,
    "importance_error": lambda result: result.importance_error,
    "typical_spread": lambda result: result.typical_spread,
    "typical_spread_error": lambda result: result.typical_spread_error,
    "heterogeneity": lambda result: result.heterogeneity,
}


def reach(result: CurveResult) -> tuple[float, float]:
    """First and last value of the feature."""
    return float(result.axis[0]), float(result.axis[-1])


def find_beyond(result: CurveResult, points: FloatArray, outside: Outside) -> BoolArray:
    """Tell which values, shape (n_x,), are nan with outside="nan"; refuse them with "raise"."""
    outside = cast(Outside, read_word("outside", outside, get_args(Outside)))
    low, high = reach(result)
    beyond = (points < low) | (points > high)
    if outside == "raise" and beyond.any():
        kind = find_result_axis_kind(result)
        first, *ends = (format_axis_value(float(v), kind) for v in (points[beyond][0], low, high))
        msg = (
            f"{beyond.sum()} of {points.size} values of {result.name!r} lie beyond "
            f"[{', '.join(ends)}], where its curve ends, the first at {first}; outside='nan' leaves "
            "them out"
        )
        raise BadSettingError(msg)
    return np.asarray(beyond & (outside == "nan"))


def is_constant(result: CurveResult) -> bool:
    """Tell whether the feature has only one value, so that there is no curve."""
    low, high = reach(result)
    return low == high


def find_result_axis_kind(result: CurveResult) -> AxisKind:
    """How places on the axis are written; those of levels are plain numbers."""
    return as_axis_kind(result.column_kind)


def heights(result: CurveResult, x: FloatArray) -> FloatArray:
    """The centred curve at sampled values; for missing ones the change that was measured.

    Nan where neither is known: outside the curve, or where no point for missing values was made.
    """
    low, high = reach(result)
    inside = (x >= low) & (x <= high)
    if inside.all():
        return result.height(x)
    found = np.where(inside, result.height(np.where(inside, x, low)), np.nan)
    gone = result.missing_trace()
    return found if gone is None else np.where(np.isnan(x), gone.curve[0], found)


def trace_missing(
    missing: Missing | None, shift: float, level: float, *, spread_known: bool = True
) -> Trace | None:
    """Make the one point of missing values; None where it was not measured.

    `shift` is added to its mean, for the zero of the curve; `spread_known` says whether its deviation
    is that of the rows on the scale of the curve, too.
    """
    # A curve that is zero on average over the rows is zero at their average prediction, so the
    # change of that average is a point on the same scale. How rows differ without a value, once
    # their own curves are centred, a partial dependence does not say; its interval is then that
    # of the uncentred mean, which is too wide rather than too narrow.
    if missing is None or not np.isfinite(missing.mean):
        return None
    mean, spread = missing.mean + shift, missing.std if spread_known else np.nan
    half = normal_quantile(level) * missing.standard_error
    return Trace(*np.array([[np.nan], [mean], [spread], [mean - half], [mean + half]]))


def count_support_rows(axis: FloatArray, values: FloatArray, weight: FloatArray) -> Support:
    """Count known rows in cells of equal width between the ends of an axis."""
    limits = uniform_edges(float(axis[0]), float(axis[-1]), N_SUPPORT_CELLS)
    counted = np.histogram(values, limits, weights=weight)[0]
    return Support(values, limits, counted / np.diff(limits))


def as_points(x: Any, kind: AxisKind = "number") -> tuple[FloatArray, tuple[int, ...]]:
    """Flatten to floats, and remember the shape."""
    points = as_numbers(x, kind)
    return points.ravel(), points.shape


def require_level(level: float) -> None:
    """Refuse what is no probability of an interval."""
    if not is_number_setting(level) or not 0 < level < 1:
        msg = f"level={level} is not between 0 and 1, say 0.95"
        raise BadSettingError(msg)


def are_numbers(labels: Sequence[str], places: FloatArray) -> bool:
    """Whether levels are numbers: then they are at the places that they name.

    Examples
    --------
    >>> are_numbers(["1", "2.5"], np.array([1.0, 2.5])), are_numbers(["a", "b"], np.array([0.0, 1.0]))
    (True, False)
    """
    try:
        return bool([float(label) for label in labels] == places.tolist())
    except ValueError:
        return False


def normal_quantile(level: float) -> float:
    """Half-width of a two-sided normal interval, in standard errors."""
    require_level(level)
    return NormalDist().inv_cdf(0.5 + level / 2)


def zero_rounding_of_effect(value: float, scale: float) -> float:
    """The number, or zero if it is only rounding on the scale; nan stays nan."""
    return 0.0 if value <= EFFECT_ROUNDING * scale else value


def weighted_root_mean_square(values: FloatArray, weight: FloatArray) -> float:
    """Root of the weighted mean of squares over the values that are known; nan if none is."""
    known = np.isfinite(values) & (weight > 0)
    if not known.any():
        return float("nan")
    return float(np.sqrt(np.average(values[known] ** 2, weights=weight[known])))
