"""Effect: the effect of one feature on one output, as numbers. Frozen, and knows no plot."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from rhale.errors import BadSettingError
from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.curve import (
    CellMeans,
    Center,
    Fit,
    accumulate_spread,
    fill_gaps,
    middles,
    refine,
)
from rhale.kernels.grid import Closed, Grid
from rhale.kernels.moments import Moments, measure
from rhale.kernels.noise import has_enough_rows, interpolation, residual_squares
from rhale.kernels.partition import Cuts, require_count
from rhale.kernels.times import AxisKind, written
from rhale.kernels.uncertainty import Uncertainty, bridge_levels
from rhale.results.missing import Missing
from rhale.results.note import Note, as_notes
from rhale.results.result import (
    N_POINTS,
    Difference,
    FrozenResult,
    LevelRows,
    Parts,
    Points,
    Quantity,
    Support,
    Trace,
    as_points,
    count_rows,
    normal_quantile,
    trace_missing,
    weighted_root_mean_square,
)
from rhale.results.table_rows import Columns, add_missing_bin, list_bins, name_places

Density = Literal["rows", "bins"]


class LocalEffects(NamedTuple):
    """A bounded sample of rows: feature value, local effect, weight."""

    x: FloatArray
    local_effects: FloatArray
    weight: FloatArray


NO_SAMPLE = LocalEffects(np.empty(0), np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False, repr=False)
class Effect(FrozenResult):
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
        A bin without rows is interpolated between its neighbours.
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
    local_notes, bin_notes : tuple of Note
        What a reader should know about the local effects, and about the bins.
    sample : LocalEffects
        Feature values and local effects of a bounded number of rows.
    cells : CellMeans or None
        Cells whose means the curve follows, in bins whose fit is too plain for it.
    spread_edges, spread_std : ndarray of shape (n_spread_bins + 1,) and (n_spread_bins,), or None
        Bins of the spread and the deviation in each, where it has bins of its own.
    kind : {"number", "date", "duration"}
        What the feature values are; dates are days since 1970, durations are seconds.
    missing : Missing or None
        What happens when the value is removed, where that was measured.
    parts, quantity
        As in `Result`, which it answers.

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
    local_notes: tuple[Note, ...] = ()
    bin_notes: tuple[Note, ...] = ()
    sample: LocalEffects = NO_SAMPLE
    cells: CellMeans | None = None
    spread_edges: FloatArray | None = None
    spread_std: FloatArray | None = None
    kind: AxisKind = "number"
    missing: Missing | None = None
    parts: ClassVar[Parts] = "bins"
    quantity: ClassVar[Quantity] = "effect"

    def __repr__(self) -> str:
        return (
            f"Effect({self.name!r}, output={self.output!r}, {self.mean.size} bins on "
            f"[{written(self.edges[0], self.kind)}, {written(self.edges[-1], self.kind)}], "
            f"importance={self.importance:.4g})"
        )

    @property
    def axis(self) -> FloatArray:
        """Places of the limits."""
        return self.edges

    @property
    def n_parts(self) -> int:
        """How many bins there are."""
        return self.mean.size

    @property
    def column_kind(self) -> AxisKind:
        """What the feature values are."""
        return self.kind

    @property
    def labels(self) -> tuple[str, ...]:
        """None: the feature has no levels."""
        return ()

    @property
    def linear(self) -> BoolArray:
        """Whether the fit of a bin is a line, shape (n_bins,)."""
        return np.asarray(self.measured & ((self.slope != 0) | (self.slope_error != 0)))

    @property
    def measured(self) -> BoolArray:
        """Whether a bin has rows, shape (n_bins,); the others are interpolated."""
        return self.count > 0

    @cached_property
    def fit(self) -> Fit:
        """The effect as a function, stretch by stretch."""
        edges, centre, scatter = self.edges, self.mean_x, self.std_x
        if self.density == "bins":
            centre, scatter = middles(edges), np.diff(edges) / np.sqrt(12.0)
        level = np.nan_to_num(self.mean + self.slope * (self.mean_x - middles(edges)))
        bins = Fit(edges, self.mean_x, level, self.slope, self.weight, centre, scatter)
        stretches = bins if self.cells is None else refine(bins, self.cells)
        total = float(stretches.share.sum())
        return replace(stretches, share=stretches.share / total) if total > 0 else stretches

    @property
    def doubt(self) -> Uncertainty:
        """How uncertain the stretches of `fit` are."""
        # bins of one row borrow their variance from their neighbours
        level = fill_gaps(self.level_error**2, middles(self.edges))
        slope = np.nan_to_num(self.slope_error) ** 2
        bins = np.searchsorted(self.edges, middles(self.fit.edges), "right") - 1
        return Uncertainty(
            edges=self.edges,
            origin=self.mean_x,
            measured=self.measured,
            level_variance=np.where(self.measured, level, 0.0),
            slope_variance=slope,
            cells=self.cells,
            places=self.fit.origin,
            bins=np.clip(bins, 0, self.mean.size - 1),
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know."""
        return as_notes(self.local_notes + self.bin_notes)

    @property
    def standard_error(self) -> FloatArray:
        """Uncertainty of `mean`, shape (n_bins,)."""
        lever = middles(self.edges) - self.mean_x
        return np.asarray(np.hypot(self.level_error, lever * self.slope_error))

    def curve(self, x: Points, *, center: Center = "mean") -> FloatArray:
        """Accumulated effect at x, Eq. (15).

        Parameters
        ----------
        x : number, date or array-like of shape (n_x,)
            Feature values; outside the bins the outermost ones go on.
        center : {"mean", "start", "uniform"}
            Zero on average over the rows (see `density`), at the first limit, or on average
            over x.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
        """
        points, shape = as_points(x, self.kind)
        return self.fit.curve(points, center).reshape(shape)[()]

    def spread(self, x: Points, *, accumulate: Literal["sum", "quadrature"] = "sum") -> FloatArray:
        """Accumulated deviation between rows at x, from zero at the first limit.

        Parameters
        ----------
        x : number, date or array-like of shape (n_x,)
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
        points, shape = as_points(x, self.kind)
        edges, std, squared = self.edges, self.std, accumulate == "quadrature"
        if self.spread_edges is not None and self.spread_std is not None:
            edges, std = self.spread_edges, self.spread_std
        return accumulate_spread(edges, std, points, squared=squared).reshape(shape)[()]

    def ci(
        self,
        x: Points,
        *,
        level: float = 0.95,
        center: Center = "mean",
        method: Literal["formula", "bootstrap"] = "formula",
        draws: int = 500,
        seed: int = 0,
    ) -> tuple[FloatArray, FloatArray]:
        """Confidence interval of the curve at x: uncertainty of the mean, not spread.

        Parameters
        ----------
        x : number, date or array-like of shape (n_x,)
            Feature values.
        level : float
            Probability that the interval covers the curve of the model over the population the
            rows were drawn from, at one x, given the bins.
        center : {"mean", "start", "uniform"}
            As in `curve`.
        method : {"formula", "bootstrap"}
            Exact variance of a linear map of independent means and slopes, with normal quantiles;
            or refits of these bins to rows drawn anew from `sample`, as a check.
        draws, seed : int
            Of the bootstrap.

        Returns
        -------
        low, high : ndarray of shape (n_x,)

        Notes
        -----
        Covers the draw of the rows. Does not cover how the model would differ after training on
        other rows, nor that the bins were searched in the same rows.
        """
        points, shape = as_points(x, self.kind)
        quantile, curve = normal_quantile(level), self.fit.curve(points, center)
        if method not in ("formula", "bootstrap"):
            msg = f"method={method!r} is not known; use 'formula' or 'bootstrap'"
            raise BadSettingError(msg)
        if method == "bootstrap":
            shifts = self._redrawn(points, center, draws, seed)
            low, high = curve + np.quantile(shifts, [(1 - level) / 2, (1 + level) / 2], axis=0)
        else:
            reach = quantile * np.sqrt(self.doubt.of_curve(self.fit, points, center))
            low, high = curve - reach, curve + reach
        return low.reshape(shape)[()], high.reshape(shape)[()]

    def _redrawn(self, x: FloatArray, center: Center, draws: int, seed: int) -> FloatArray:
        """How curves of rows drawn anew differ from the curve of these rows, (draws, n_x)."""
        require_count("draws", draws)
        grid = Grid(self.fit.edges, self.closed)
        inside = grid.covers(self.sample.x) & (self.sample.weight > 0)
        places, effects, weight = (np.asarray(column)[inside] for column in self.sample)
        if places.size < 2:
            msg = f"the bootstrap draws from the sampled rows, but this effect keeps {places.size}"
            raise BadSettingError(msg)
        trust = np.zeros(self.mean.size)
        if self.cells is not None:
            trust[self.cells.bin] = self.cells.trust
        limits = np.searchsorted(grid.edges, self.edges)
        cuts = Cuts(limits, self.linear, trust=trust, noise=np.zeros(grid.n_cells))
        same_rows = {name: getattr(self.fit, name) for name in ("share", "centre", "scatter")}

        def refitted(weight: FloatArray) -> FloatArray:
            drawn = weight > 0
            cells = measure(grid, places[drawn], effects[drawn], weight[drawn])
            again = fit_effect(self.name, self.output, cells, cuts).fit
            return replace(again, **same_rows).curve(x, center)  # zero over the same rows

        # rows that agree are kept once, with their weights added up, so that rows are drawn in
        # proportion to weight: in each bin as many as its effective rows, of equal weight
        each = (self.weight / np.where(self.measured, self.rows, 1.0))[
            Grid(self.edges, self.closed).locate(places)
        ]
        times = weight / each
        own, rng, shifts = refitted(weight), np.random.default_rng(seed), np.empty((draws, x.size))
        for shift in shifts:
            drawn = rng.multinomial(round(times.sum()), times / times.sum())
            shift[:] = refitted(each * drawn) - own
        kept = min(float(weight.sum() / self.weight.sum()), 1.0)
        return np.asarray(shifts * np.sqrt(kept))

    @property
    def importance(self) -> float:
        """Size of the effect: standard deviation of the curve over the rows."""
        return self.fit.importance()

    @property
    def importance_error(self) -> float:
        """Standard error of `importance`."""
        return float(np.sqrt(self.doubt.of_importance(self.fit)))

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
        share = self.weight / self.weight.sum()
        middle = share @ self.mean_x
        return self.heterogeneity * float(
            np.sqrt(share @ (self.std_x**2 + (self.mean_x - middle) ** 2))
        )

    def height(self, x: FloatArray) -> FloatArray:
        """The curve, zero on average, at places between the limits."""
        return self.curve(x)

    def places(self, n_points: int = N_POINTS) -> FloatArray:
        """The limits, and places between them."""
        return np.union1d(self.edges, np.linspace(self.edges[0], self.edges[-1], n_points))

    def trace(
        self, center: Center | None = "mean", level: float = 0.95, n_points: int = N_POINTS
    ) -> Trace:
        """What is drawn: the curve wherever it bends."""
        zero: Center = "mean" if center is None else center
        x = self.places(n_points)
        low, high = self.ci(x, level=level, center=zero)
        return Trace(x, self.curve(x, center=zero), self.spread(x), low, high)

    def missing_trace(self, center: Center | None = "mean", level: float = 0.95) -> Trace | None:
        """The one point of missing values; None where it was not measured."""
        start, shift = self.edges[0], 0.0
        if center not in (None, "mean") and start < self.edges[-1]:
            shift = float(self.curve(start, center=center) - self.curve(start))
        return trace_missing(self.missing, shift, level)

    def difference(self, start: float, stop: float) -> Difference:
        """How the curve changes from one place to another, its error and its spread.

        Notes
        -----
        The error is that of the difference itself, which is smaller than the errors of both ends
        suggest: they have most of it in common.
        """
        x = np.array([start, stop], dtype=np.float64)
        size, spread = np.diff(self.curve(x))[0], np.abs(np.diff(self.spread(x)))[0]
        maps = self.fit.centred_design(x, Grid(self.fit.edges).locate(x).astype(np.intp), "start")
        levels, slopes = (np.diff(one, axis=0) for one in maps)
        error = np.sqrt(self.doubt.variance(levels, slopes)[0])
        return Difference(float(size), float(error), float(spread))

    def support(self) -> Support:
        """Where the rows are: those sampled, or all of them bin by bin."""
        if self.sample.x.size:
            made = count_rows(self.edges, self.sample.x, self.sample.weight)
        else:
            made = Support(self.sample.x, self.edges, self.weight / np.diff(self.edges))
        limits = np.column_stack([self.edges[:-1], self.edges[1:]])
        return made._replace(gaps=limits[~self.measured])

    def level_rows(self) -> LevelRows:
        """Nothing: the feature has no levels."""
        return LevelRows()

    def single_curves(self, most: int) -> FloatArray:  # noqa: ARG002
        """None: single rows have local effects, and no curves."""
        return np.empty((0, 0))

    def locate_sample(self, column: FloatArray) -> tuple[FloatArray, IntArray]:
        """Places of sampled values on the axis, and which rows they are: those with a value."""
        rows = np.flatnonzero(~np.isnan(column))
        return column[rows], rows

    def table(self) -> Columns:
        """One row for each bin, and one for missing values."""
        names = name_places(self.edges, (), self.kind)
        columns = list_bins(self, self.edges, names, self.curve(self.edges))
        return add_missing_bin(columns, self.missing, self.weight)


def fit_effect(
    name: str,
    output: str,
    cells: Moments,
    cuts: Cuts,
    *,
    bins: Moments | None = None,
) -> Effect:
    """Fit every bin and gather the numbers; what else is known of the effect is for the caller.

    Parameters
    ----------
    name, output : str
        Feature and output.
    cells : Moments
        Of one output; where the series "wide" and "noise" are named, they give the spread.
    cuts : Cuts
        The bins.
    bins : Moments, optional
        The cells, united to these bins, where that was done already from finer cells.
    """
    bins = cells.unite(cuts.limits) if bins is None else bins
    measured = bins.count > 0
    linear, middle = cuts.linear & (bins.sxx > 0), bins.grid.middles
    variance = np.where(linear, bins.residual_variance[0], bins.variance[0])
    origin, weight = np.where(measured, bins.mean_x, middle), np.where(measured, bins.weight, 1.0)
    slope = np.where(linear, bins.slope[0], 0.0)
    level = bridge_levels(bins.grid.edges, measured, origin, bins.mean[0], slope)
    rows = np.where(measured, bins.rows, np.nan)
    scatter = np.where(bins.sxx > 0, bins.sxx * rows / weight, np.nan)
    std, std_plain = spread_of(bins, variance)
    spread_edges, spread_std = own_spread(cells, cuts)
    return Effect(
        name=name,
        output=output,
        edges=bins.grid.edges,
        count=bins.count,
        rows=bins.rows,
        weight=bins.weight,
        mean_x=origin,
        std_x=np.sqrt(bins.sxx / weight),
        mean=level + slope * (middle - origin),
        slope=slope,
        std=np.where(measured, std, fill_gaps(std, middle)),
        std_plain=np.where(measured, std_plain, fill_gaps(std_plain, middle)),
        level_error=np.sqrt(variance / rows),
        slope_error=np.where(linear, np.sqrt(variance / scatter), 0.0),
        closed=bins.grid.closed,
        bin_notes=as_notes(cuts.notes, "bins") + thin_bins(bins.count),
        cells=followed_cells(cells, cuts, origin, level, slope),
        spread_edges=spread_edges,
        spread_std=spread_std,
    )


def spread_of(bins: Moments, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Deviation of each bin's local effects about its fit and about its mean."""
    if not bins.is_stepped:
        return np.sqrt(variance), np.sqrt(bins.variance[0])
    wide, noise = bins.named("wide"), bins.named("noise")
    about_line = wide.residual_variance[0] - noise.residual_variance[0]
    about_mean = wide.variance[0] - noise.variance[0]
    return np.sqrt(np.maximum(about_line, 0.0)), np.sqrt(np.maximum(about_mean, 0.0))


def own_spread(cells: Moments, cuts: Cuts) -> tuple[FloatArray | None, FloatArray | None]:
    """Bins of the spread and the deviation in each; nothing where it has no bins of its own."""
    limits = cuts.spread_limits
    if limits is None:
        return None, None
    wide = cells.unite(limits)
    if cells.is_stepped:
        return wide.grid.edges, spread_of(wide, wide.variance[0])[0]
    squares = cells.weight * residual_squares(cells, cuts.limits, cuts.linear)
    return wide.grid.edges, np.sqrt(np.add.reduceat(squares, limits[:-1]) / wide.weight)


def followed_cells(
    cells: Moments, cuts: Cuts, origin: FloatArray, level: FloatArray, slope: FloatArray
) -> CellMeans | None:
    """Cells of the bins whose fit is too plain for the curve; None if all fits are adequate."""
    if cuts.trust is None or cuts.noise is None or not np.any(cuts.trust > 0):
        return None
    place = np.repeat(np.arange(cuts.trust.size), np.diff(cuts.limits))
    mine = cuts.trust[place] > 0
    place, filled = place[mine], has_enough_rows(cells)[mine]
    x = np.where(cells.weight[mine] > 0, cells.mean_x[mine], cells.grid.middles[mine])
    residual = cells.mean[0][mine] - level[place] - slope[place] * (x - origin[place])
    for k in np.unique(place):
        own = place == k
        residual[own] = interpolation(x[own], filled[own]) @ residual[own & filled]
    some = np.where(cells.weight[mine] > 0, cells.weight[mine], 1.0)
    rows = np.where(filled, cells.rows[mine], np.nan)
    return CellMeans(
        bin=place,
        left=cells.grid.edges[:-1][mine],
        right=cells.grid.edges[1:][mine],
        weight=cells.weight[mine],
        mean_x=x,
        std_x=np.sqrt(cells.sxx[mine] / some),
        residual=residual,
        error=np.sqrt(cuts.noise[mine] / rows),
        trust=cuts.trust[place],
    )


def thin_bins(count: IntArray) -> tuple[Note, ...]:
    """Say which bins have too few rows to measure."""
    notes = []
    if n_empty := int(np.sum(count == 0)):
        text = f"{n_empty} of {count.size} bins have no rows: they are interpolated"
        notes.append(Note("empty bins", text))
    if n_single := int(np.sum(count == 1)):
        text = f"{n_single} of {count.size} bins have one row: their std is unknown"
        notes.append(Note("thin bins", text))
    return tuple(notes)
