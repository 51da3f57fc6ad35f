"""Effect: the effect of one feature on one output, as numbers. Frozen, and knows no plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rhale.errors import BadSettingError
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.curve import Center, Fit, accumulate_spread, middles
from rhale.kernels.grid import Closed
from rhale.kernels.moments import Moments
from rhale.kernels.partition import Cuts

Points = float | Sequence[float] | FloatArray
Density = Literal["rows", "bins"]


class LocalEffects(NamedTuple):
    """A bounded sample of rows: feature value, local effect, weight."""

    x: FloatArray
    local_effects: FloatArray
    weight: FloatArray


NO_SAMPLE = LocalEffects(np.empty(0), np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False, repr=False)
class Effect:
    """How one feature moves one output: bins, effect, spread between rows, uncertainty.

    Attributes
    ----------
    name, output : str
        Feature and output.
    edges : ndarray of shape (n_bins + 1,)
        Bin limits.
    count : ndarray of shape (n_bins,)
        Rows in each bin.
    rows, weight : ndarray of shape (n_bins,)
        Effective number of rows and sum of weights; both equal `count` without weights.
    mean_x, std_x : ndarray of shape (n_bins,)
        Mean and deviation (divisor n) of the feature values in each bin.
    mean, slope : ndarray of shape (n_bins,)
        Effect of the bin: its fit at the middle, and the slope of that fit (0: constant).
        Not a number where a bin has no rows; the curve bridges it.
    std : ndarray of shape (n_bins,)
        How much the local effects of the rows differ: deviation about the bin's fit, Eq. (11).
    std_plain : ndarray of shape (n_bins,)
        Deviation about the bin's mean, whatever the fit.
    level_error, slope_error : ndarray of shape (n_bins,)
        Standard errors of the mean local effect and of the slope.
    closed : {"left", "right"}
        Which limit belongs to a bin.
    density : {"rows", "bins"}
        How rows count for centring and importance: at their own values, or spread evenly over
        their bin, as R's ALEPlot and iml do.
    local_notes, bin_notes : tuple of str
        What a reader should know about the local effects, and about the bins.
    sample : LocalEffects
        Feature values and local effects of a bounded number of rows.

    Notes
    -----
    Spread (`std`, `spread`) says how rows differ. Uncertainty (`standard_error`, `ci`) says how
    well the average is known from these rows, given the model. More rows shrink only the second.
    """

    name: str
    output: str
    edges: FloatArray
    count: IntArray
    rows: FloatArray
    weight: FloatArray
    mean_x: FloatArray
    std_x: FloatArray
    mean: FloatArray
    slope: FloatArray
    std: FloatArray
    std_plain: FloatArray
    level_error: FloatArray
    slope_error: FloatArray
    closed: Closed = "left"
    density: Density = "rows"
    local_notes: tuple[str, ...] = ()
    bin_notes: tuple[str, ...] = ()
    sample: LocalEffects = NO_SAMPLE

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        return (
            f"Effect({self.name!r}, output={self.output!r}, {self.mean.size} bins on "
            f"[{self.edges[0]:g}, {self.edges[-1]:g}], importance={self.importance:.4g})"
        )

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def fit(self) -> Fit:
        """The fitted effect as a function, with its variances."""
        level = self.mean + self.slope * (self.mean_x - middles(self.edges))
        total = float(self.weight.sum())
        share = self.weight / total if total > 0 else self.weight
        centre, scatter = self.mean_x, self.std_x
        if self.density == "bins":
            centre, scatter = middles(self.edges), np.diff(self.edges) / np.sqrt(12.0)
        return Fit(
            self.edges,
            self.mean_x,
            level,
            np.nan_to_num(self.slope),
            self.level_error**2,
            np.nan_to_num(self.slope_error) ** 2,
            share,
            centre,
            scatter,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        return self.local_notes + self.bin_notes

    @property
    def standard_error(self) -> FloatArray:
        """Uncertainty of `mean`, shape (n_bins,)."""
        lever = middles(self.edges) - self.mean_x
        return np.asarray(np.hypot(self.level_error, lever * self.slope_error))

    def curve(self, x: Points, *, center: Center = "mean") -> FloatArray:
        """Accumulated effect at x, Eq. (15).

        Parameters
        ----------
        x : float or array-like of shape (n_x,)
            Feature values; outside the bins the outermost ones go on.
        center : {"mean", "start", "uniform"}
            Zero on average over the rows (see `density`), at the first limit, or on average
            over x.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
        """
        points, shape = as_points(x)
        return self.fit.curve(points, center).reshape(shape)[()]

    def spread(self, x: Points, *, accumulate: Literal["sum", "quadrature"] = "sum") -> FloatArray:
        """Accumulated deviation between rows at x, from zero at the first limit.

        Parameters
        ----------
        x : float or array-like of shape (n_x,)
            Feature values; outside the bins the outermost ones go on.
        accumulate : {"sum", "quadrature"}
            Sum of std times width (what the paper's figures show), or the root of the sum of
            their squares (Eq. 16 as printed), which shrinks as bins get narrower.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
        """
        if accumulate not in ("sum", "quadrature"):
            msg = f"accumulate={accumulate!r} is not known; use 'sum' or 'quadrature'"
            raise BadSettingError(msg)
        points, shape = as_points(x)
        squared = accumulate == "quadrature"
        return accumulate_spread(self.edges, self.std, points, squared=squared).reshape(shape)[()]

    def ci(
        self, x: Points, *, level: float = 0.95, center: Center = "mean"
    ) -> tuple[FloatArray, FloatArray]:
        """Confidence interval of the curve at x: uncertainty of the mean, not spread.

        Parameters
        ----------
        x : float or array-like of shape (n_x,)
            Feature values.
        level : float
            Probability that the interval covers the curve of the model over the population the
            rows were drawn from, at one x, given the bins.
        center : {"mean", "start", "uniform"}
            As in `curve`.

        Returns
        -------
        low, high : ndarray of shape (n_x,)
        """
        points, shape = as_points(x)
        reach = normal_quantile(level) * np.sqrt(self.fit.variance(points, center))
        curve = self.fit.curve(points, center)
        return (curve - reach).reshape(shape)[()], (curve + reach).reshape(shape)[()]

    @property
    def importance(self) -> float:
        """Size of the effect: standard deviation of the curve over the rows."""
        return self.fit.importance()[0]

    @property
    def importance_error(self) -> float:
        """Standard error of `importance`."""
        return self.fit.importance()[1]

    @property
    def heterogeneity(self) -> float:
        """How much rows differ: root of the row-weighted mean of std²; nan if no bin has one.

        In units of the output per unit of the feature, as `std`.
        """
        return weighted_root_mean_square(self.std, self.weight)

    @property
    def typical_spread(self) -> float:
        """How much rows differ when the feature moves by one standard deviation.

        `heterogeneity` times the standard deviation of the feature over the rows: in units of
        the output, so that it can be compared with `importance` and between features.
        """
        share = self.fit.share
        middle = share @ self.mean_x
        return self.heterogeneity * float(
            np.sqrt(share @ (self.std_x**2 + (self.mean_x - middle) ** 2))
        )


def fit_effect(
    name: str,
    output: str,
    cells: Moments,
    cuts: Cuts,
    *,
    density: Density = "rows",
    local_notes: tuple[str, ...] = (),
    bin_notes: tuple[str, ...] = (),
    sample: LocalEffects = NO_SAMPLE,
) -> Effect:
    """Fit every bin and gather the numbers.

    Parameters
    ----------
    name, output : str
        Feature and output.
    cells : Moments
        Of the local effects alone, or of three series: local effects, local effects over the
        spread window, and the part of the latter that is step noise.
    cuts : Cuts
        The bins.
    density : {"rows", "bins"}
        How rows count for centring and importance.
    local_notes, bin_notes : tuple of str
        Notes to carry.
    sample : LocalEffects
        Sample to carry.
    """
    bins = cells.unite(cuts.limits)
    slope = np.where(cuts.linear, bins.slope[0], 0.0)
    variance = np.where(cuts.linear, bins.residual_variance[0], bins.variance[0])
    empty = bins.count == 0
    level = np.where(empty, np.nan, bins.mean[0])
    origin = np.where(empty, bins.grid.middles, bins.mean_x)
    std, std_plain = np.sqrt(variance), np.sqrt(bins.variance[0])
    if len(bins.mean) == 3:
        std, std_plain = (
            np.sqrt(np.maximum(v[1] - v[2], 0.0)) for v in (bins.residual_variance, bins.variance)
        )
    rows = np.where(bins.rows > 0, bins.rows, np.nan)
    scatter = np.where(bins.sxx > 0, bins.sxx * rows / np.where(empty, 1, bins.weight), np.nan)
    return Effect(
        name,
        output,
        bins.grid.edges,
        bins.count,
        bins.rows,
        bins.weight,
        origin,
        np.sqrt(bins.sxx / np.where(empty, 1.0, bins.weight)),
        level + slope * (bins.grid.middles - origin),
        slope,
        std,
        std_plain,
        np.sqrt(variance / rows),
        np.where(cuts.linear, np.sqrt(variance / scatter), 0.0),
        bins.grid.closed,
        density,
        local_notes,
        bin_notes + cuts.notes + thin_bins(bins.count),
        sample,
    )


def thin_bins(count: IntArray) -> tuple[str, ...]:
    """Say which bins have too few rows to measure."""
    notes = []
    if n_empty := int(np.sum(count == 0)):
        notes.append(f"{n_empty} of {count.size} bins have no rows: the curve bridges them")
    if n_single := int(np.sum(count == 1)):
        notes.append(f"{n_single} of {count.size} bins have one row: their std is unknown")
    return tuple(notes)


def as_points(x: npt.ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
    """Flatten to floats, and remember the shape."""
    points = np.asarray(x, dtype=np.float64)
    return points.ravel(), points.shape


def normal_quantile(level: float) -> float:
    """Half-width of a two-sided normal interval, in standard errors."""
    if not 0 < level < 1:
        msg = f"level={level} is not between 0 and 1, say 0.95"
        raise BadSettingError(msg)
    return NormalDist().inv_cdf(0.5 + level / 2)


def weighted_root_mean_square(values: FloatArray, weight: FloatArray) -> float:
    """Root of the weighted mean of squares over the values that are known; nan if none is."""
    known = np.isfinite(values) & (weight > 0)
    if not known.any():
        return float("nan")
    return float(np.sqrt(np.average(values[known] ** 2, weights=weight[known])))


def freeze(record: Any) -> None:
    """Make the arrays of a frozen dataclass read-only, without touching the caller's."""
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value = value.view()
            value.flags.writeable = False
            object.__setattr__(record, field.name, value)


def same_fields(a: object, b: object) -> bool:
    """Compare two dataclasses field by field; arrays by value, nan equal to nan."""
    if type(a) is not type(b):
        return False
    names = [f.name for f in fields(a)]  # type: ignore[arg-type]
    return all(same_value(getattr(a, n), getattr(b, n)) for n in names)


def same_value(a: Any, b: Any) -> bool:
    """Compare arrays, tuples and plain values."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_value, a, b))
    return bool(a == b)
