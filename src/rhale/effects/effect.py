"""Effect: the effect of one feature on one output, as numbers. Frozen, and knows no plot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from rhale.effects.binning.axis import GAP_SHARE
from rhale.effects.binning.cells import Closed, Grid
from rhale.effects.binning.gaps import NO_GAPS, Crossings, Gaps
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.partition import Cuts, require_count
from rhale.effects.curve import (
    BinFits,
    CellMeans,
    Center,
    Fit,
    RowEnds,
    RowPlaces,
    accumulate_spread,
    build_fit_from_bins,
    fill_gaps,
    middles,
    spread_evenly,
)
from rhale.effects.result import (
    N_CURVE_POINTS,
    CurveResult,
    Difference,
    Outside,
    Parts,
    Points,
    Quantity,
    Support,
    as_points,
    count_support_rows,
    find_beyond,
    require_level,
    zero_rounding_of_effect,
)
from rhale.effects.spread import NO_SHOWN_ROWS, RowSpread, ShownRows
from rhale.effects.staircase import Drawing, Jump, Staircase, find_jumps
from rhale.effects.statistics import Heights, summarise_ale_bins, summarise_ale_steps
from rhale.effects.table import Columns, Missing, add_missing_bin, list_bins, name_places
from rhale.effects.variance import Estimate, Uncertainty
from rhale.errors import BadSettingError
from rhale.output.labels import NO_CAPTIONS, NOT_WRITTEN, Captions
from rhale.output.number_format import AxisKind, write_number, write_short
from rhale.output.storage.values import MAX_AXIS_VALUE, Number, Numbers, stored
from rhale.output.text import Note, as_notes
from rhale.regions.result import RegionTree
from rhale.stats.arrays import BoolArray, FloatArray, IntArray, as_frozen
from rhale.stats.distributions import student_quantile

Density = Literal["rows", "bins"]
Accumulate = Literal["measured", "sum", "quadrature"]


class LocalEffects(NamedTuple):
    """A bounded sample of rows: feature value, local effect, weight.

    Attributes
    ----------
    x : ndarray of shape (n_sample,)
        Feature values, in units of the feature.
    local_effects : ndarray of shape (n_sample,)
        Local effect of every row: units of the output per unit of the feature.
    weight : ndarray of shape (n_sample,)
        How much each row matters.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.linspace(0, 10, 200)
    >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
    >>> age.sample.local_effects[:3]
    array([2., 2., 2.])
    """

    x: Annotated[FloatArray, Numbers.places("rows")]
    local_effects: Annotated[FloatArray, Numbers.means("rows")]
    weight: Annotated[FloatArray, Numbers.weights("rows")]


NO_SAMPLE = LocalEffects(np.empty(0), np.empty(0), np.empty(0))
DOUBTFUL = 0.5  # of the size of a curve and its spread: a curve that is off by more gets a note
N_ERRORS = 3.0  # standard errors; a normal error exceeds them once in 370, even if all share it


@dataclass(frozen=True, eq=False, repr=False)
class Effect(CurveResult):
    """How one feature moves one output: bins, effect, spread between rows, uncertainty.

    ======================================= ======================================================
    the curve                               `curve(x)`, its interval `ci(x)`, `difference(a, b)`
    how rows differ                         `spread(x)`, `typical_spread`, `typical_spread_error`,
                                            `row_curves()`, `regions`
    its size, in units of the output        `importance`, `importance_error`, `statistics(y)`
    bins: limits, rows, effect and its      `edges`, `count`, `mean`, `std`, `standard_error`
    deviation per unit of the feature
    what to know                            `name`, `output`, `kind`, `missing`, `jumps`, `notes`
    pictures and tables                     `plot()`, `curve_frame()`, `to_frame()`, `table()`
    ======================================= ======================================================

    These are what `dir(effect)` lists. The fields below are what files hold; most of them serve the
    library.

    Attributes
    ----------
    name, output : str
        Feature and output: keys, by which they are found.
    edges : ndarray of shape (n_bins + 1,)
        Bin limits, in units of the feature.
    count : ndarray of shape (n_bins,)
        Rows in each bin.
    rows, weight : ndarray of shape (n_bins,)
        Effective number of rows and sum of weights; both equal `count` without weights.
    mean_x, std_x, low_x, high_x : ndarray of shape (n_bins,)
        Mean, deviation (divisor n), smallest and largest of the feature values in each bin, in
        units of the feature.
    level, slope : ndarray of shape (n_bins,)
        The bin's fit at `mean_x`, in units of the output per unit of the feature, and how that
        changes along the feature (0: constant). A bin without rows is interpolated between its
        neighbours.
    std : ndarray of shape (n_bins,)
        How much the local effects of the rows differ: deviation about the bin's fit, Eq. (11), in
        units of the output per unit of the feature.
        Under `Adaptive` a bin of fewer than 150 rows has that of all its neighbours between which
        the spread does not change. Of a model with steps it is the deviation of the rows' secants
        over the bin, read from `row_spread`.
    std_plain : ndarray of shape (n_bins,)
        Deviation about the bin's mean, whatever the fit; `std` itself of a model with steps.
    level_error, slope_error : ndarray of shape (n_bins,)
        Standard errors of the mean local effect and of the slope.
    row_places : RowPlaces
        Quadrature nodes and weights of averages over the rows: centring, importance, typical spread.
    gaps : Gaps
        Wide stretches without rows, and how far the effect may be off there.
    fit_covariance : ndarray of shape (n_bins,) or None
        Covariance of level and slope; none of it where rows vary evenly about their line.
    search : float
        By how much a search for the bins in the same rows raises the variance of all estimates;
        1 for given bins.
    closed : {"left", "right"}
        Which limit belongs to a bin.
    density : {"rows", "bins"}
        How rows count in averages over them: at their own values, or spread evenly over their
        bin, as R's ALEPlot and iml do.
    local_notes, bin_notes : tuple of Note
        What a reader should know about the local effects, and about the bins.
    sample : LocalEffects
        Feature values and local effects of a bounded number of rows.
    cells : CellMeans or None
        Cells whose means the curve follows, in bins whose fit is too plain for it.
    spread_edges, spread_std : ndarray of shape (n_spread_bins + 1,) and (n_spread_bins,), or None
        Bins of `std` and the deviation in each, where it has bins of its own.
    row_spread : RowSpread or None
        How rows differ: the covariance of their increments between places near their own. None
        where no model could be asked.
    kind : {"number", "date", "duration"}
        What the feature values are (of levels: "steps", "categories"); dates are days since 1970, durations are seconds.
    missing : Missing or None
        What happens when the value is removed, where that was measured.
    stairs : Staircase or None
        The curve itself, where the model's own jumps are known; bins are then of slopes of rows.
    regions : RegionTree or None
        Who differs, where that was asked for.
    captions : Captions
        What people read for features and outputs.
    parts, quantity : str
        What it is made of, "bins", and what its curve shows, an "effect".

    Notes
    -----
    Spread (`spread`, `typical_spread`, `std`) says how rows differ. Uncertainty (`ci`,
    `standard_error`) says how well the average is known from these rows, given the model. More rows
    shrink only the second.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.linspace(0, 10, 200)
    >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
    >>> age.edges, age.mean, round(age.importance, 1)  # 2 x 10 / sqrt(12)
    (array([ 0., 10.]), array([2.]), 5.8)
    >>> age.curve([0, 10]).round(6), age.heterogeneity  # no row differs
    (array([-10.,  10.]), 0.0)
    """

    name: str
    output: str
    edges: FloatArray = field(metadata=stored(Numbers.limits("bins")))
    count: IntArray = field(metadata=stored(Numbers.counts("bins")))
    rows: FloatArray = field(metadata=stored(Numbers.sizes("bins")))
    weight: FloatArray = field(metadata=stored(Numbers.weights("bins")))
    mean_x: FloatArray = field(metadata=stored(Numbers.places("bins")))
    std_x: FloatArray = field(metadata=stored(Numbers.sizes("bins")))
    low_x: FloatArray = field(metadata=stored(Numbers.places("bins")))
    high_x: FloatArray = field(metadata=stored(Numbers.places("bins")))
    level: FloatArray = field(metadata=stored(Numbers.means("bins")))
    slope: FloatArray = field(metadata=stored(Numbers.slopes("bins")))
    std: FloatArray = field(metadata=stored(Numbers.errors("bins")))
    std_plain: FloatArray = field(metadata=stored(Numbers.errors("bins")))
    level_error: FloatArray = field(metadata=stored(Numbers.errors("bins")))
    slope_error: FloatArray = field(metadata=stored(Numbers.errors("bins")))
    row_places: RowPlaces
    gaps: Gaps = NO_GAPS
    fit_covariance: FloatArray | None = field(default=None, metadata=stored(Numbers.slopes("bins")))
    search: float = field(default=1.0, metadata=stored(Number(1, MAX_AXIS_VALUE)))
    closed: Closed = "left"
    density: Density = "rows"
    local_notes: tuple[Note, ...] = ()
    bin_notes: tuple[Note, ...] = ()
    sample: LocalEffects = NO_SAMPLE
    cells: CellMeans | None = None
    spread_edges: FloatArray | None = field(
        default=None, metadata=stored(Numbers.limits("spread bins"))
    )
    spread_std: FloatArray | None = field(
        default=None, metadata=stored(Numbers.errors("spread bins"))
    )
    kind: AxisKind = "number"
    missing: Missing | None = None
    stairs: Staircase | None = None
    row_spread: RowSpread | None = None
    regions: RegionTree | None = None
    captions: Captions = field(default=NO_CAPTIONS, compare=False, metadata=NOT_WRITTEN)
    parts: ClassVar[Parts] = "bins"
    quantity: ClassVar[Quantity] = "effect"
    _own_names: ClassVar[tuple[str, ...]] = ("row_curves", "edges", "count", "jumps", "sample")
    _former_names: ClassVar[Mapping[str, str]] = {
        **{name: f"_{name}" for name in ("crossings", "doubt", "drawing", "fit")},
        "bins": "_bin_fits",
        "line": "_drawn_line",
    }

    @property
    def axis(self) -> FloatArray:
        """Places of the limits, shape (n_bins + 1,), in units of the feature."""
        return self.edges

    @property
    def n_parts(self) -> int:
        """How many bins there are."""
        return self.mean.size

    @property
    def linear(self) -> BoolArray:
        """Whether the fit of a bin is a line, bools of shape (n_bins,)."""
        return np.asarray(self.measured & ((self.slope != 0) | (self.slope_error != 0)))

    @property
    def measured(self) -> BoolArray:
        """Whether a bin has rows, or jumps that are known, bools of shape (n_bins,).

        The others are interpolated.
        """
        return self.count > 0 if self.stairs is None else np.ones(self.count.size, dtype=np.bool_)

    @cached_property
    def _bin_fits(self) -> BinFits:
        """What was fitted in every bin: a record of the method."""
        rows = RowEnds(self.mean_x, self.low_x, self.high_x)
        return BinFits.of(self.edges, np.nan_to_num(self.level), self.slope, rows)

    @cached_property
    def _fit(self) -> Fit:
        """The effect as a function, stretch by stretch: a record of the method."""
        rows = self.row_places
        if self.density == "bins":
            rows = spread_evenly(self.edges, self.weight)
        fit = build_fit_from_bins(self._bin_fits, self.cells, rows, self.gaps)
        if self._crossings is None:
            return fit
        return replace(fit, gaps=self.gaps.apart(self._crossings), asked=self._crossings)

    @property
    def _crossings(self) -> Crossings | None:
        """What sampled rows say that were moved across wide stretches without rows.

        None where there are none, and where bins (`method="ale"`) or jumps reach across by themselves.
        """
        if self.row_spread is None or self.stairs is not None or self.density == "bins":
            return None
        return self.row_spread.crossings

    @property
    def _drawn_line(self) -> Fit | Staircase:
        """What is drawn: the model's own jumps, or what the fits of the bins add up to."""
        return self._fit if self.stairs is None else self.stairs

    @cached_property
    def _drawing(self) -> Drawing | None:
        """The staircase as it is drawn smooth; None where there are no jumps."""
        return None if self.stairs is None else Drawing.of(self.stairs, self.row_places, self.jumps)

    @cached_property
    def jumps(self) -> tuple[Jump, ...]:
        """Narrow stretches over which the curve moves far, and all rows with it; mostly none."""
        return () if self.stairs is None else tuple(find_jumps(self.stairs, self.total_rows))

    @cached_property
    def _doubt(self) -> Uncertainty | Staircase:
        """How uncertain `line` is: a record of the method, behind `ci`."""
        if self.stairs is not None:
            return self.stairs
        # bins of one row borrow their variance from their neighbours
        middle, free = middles(self.edges), self.rows - 1.0 - self.linear
        degrees = fill_gaps(np.where(free > 0, free, np.nan), middle)
        none = np.zeros(self.level.size)
        return Uncertainty(
            fit=self._fit,
            bins=self._bin_fits,
            measured=self.measured,
            level_variance=np.where(self.measured, fill_gaps(self.level_error**2, middle), 0.0),
            slope_variance=np.nan_to_num(self.slope_error) ** 2,
            covariance=none if self.fit_covariance is None else np.nan_to_num(self.fit_covariance),
            degrees=np.nan_to_num(degrees, nan=1.0),
            cells=self.cells,
            n_rows=self.total_rows,
            search=self.search,
        )

    @property
    def total_rows(self) -> float:
        """Effective number of rows of all bins together, a float; their number without weights."""
        # Kish: (sum w)² / sum w²; a bin of weight W and n effective rows has W² / n as its sum of w²
        some = self.weight > 0
        squares = float(np.sum(self.weight[some] ** 2 / self.rows[some]))
        return float(self.weight.sum()) ** 2 / squares if squares > 0 else 0.0

    @cached_property
    def mean(self) -> FloatArray:
        """Effect of each bin, shape (n_bins,): the change of the curve over it by its width.

        In units of the output per unit of the feature.
        """
        width = np.diff(self.edges)
        if self.stairs is not None:
            rise = np.diff(self.stairs.curve(self.edges, "start"))
            return as_frozen(np.divide(rise, width, out=np.zeros_like(rise), where=width > 0))
        fit = self._fit
        # where one line fills a bin that is its height in the middle: exact for a constant
        mean = self.level + self.slope * (middles(self.edges) - self.mean_x)
        # a bin that is cut (at rows' ends, followed cells or gaps) has its rise over its width
        cut = np.bincount(fit.bin, minlength=mean.size) > 1
        if fit.asked is not None:
            meets = (self.edges[:-1, None] < fit.asked.right) & (
                self.edges[1:, None] > fit.asked.left
            )
            cut |= meets.any(axis=1)
        if cut.any():
            rise = np.diff(fit.curve(self.edges, "start"))
            mean = np.where(cut, rise / np.where(width > 0, width, 1.0), mean)
        return as_frozen(mean)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know: a tuple of `Note`, which is a text with a kind."""
        jumps = [
            Note(
                "jump",
                f"jumps by {write_number(jump.size, 3)} at "
                f"{write_short((jump.start + jump.stop) / 2, self.kind)}",
            )
            for jump in self.jumps
        ]
        return as_notes((*self._audit_notes, *self.local_notes, *self.bin_notes, *jumps))

    @cached_property
    def _audit_notes(self) -> tuple[Note, ...]:
        """A note that moved rows contradict the curve, where they do; else none."""
        own = self.row_spread
        if own is None:
            return ()
        found = own.audit(np.diff(self.curve(own.places, center="start")))
        if found is None:
            return ()
        # off by more than half of curve and spread together, and by more than chance explains
        size = math.hypot(found.curve_size, own.typical)
        if not (found.off > DOUBTFUL * size and found.off > N_ERRORS * found.error):
            return ()
        # the end of the sentence says what may be the reason, given how the curve was measured
        if self.stairs is not None:
            cause = ""
        elif any(note.kind == "secants" for note in self.local_notes):
            cause = "; it may be finer than the windows (window= makes them smaller)"
        elif self.density == "bins":
            cause = "; it may be finer than the bins"
        else:
            cause = "; a step may stand beside a small gradient (local='secant' sees steps)"
        moved, told, off = (write_number(v, 3) for v in (found.moved, found.curve_size, found.off))
        text = (
            f"moved rows contradict this curve: their predictions vary by {moved} (root mean square "
            f"over the rows), the curve by {told}, and the two differ by {off}: do not trust it"
        )
        return (Note("audit", text + cause),)

    @property
    def standard_error(self) -> FloatArray:
        """Uncertainty of `mean`, shape (n_bins,); nan where a bin has too few rows."""
        width = np.diff(self.edges)
        if not np.all(width > 0):
            return self.level_error
        error = np.sqrt(self._doubt.of_changes(self.edges[:-1], self.edges[1:]).variance) / width
        return np.where(np.isfinite(self.level_error), error, np.nan)

    def curve(
        self,
        x: Points,
        *,
        center: Center = "mean",
        smooth: bool = False,
        outside: Outside = "extend",
    ) -> FloatArray:
        """Accumulated effect at x, Eq. (15); of trees that are walked, their own jumps.

        Parameters
        ----------
        x : number, date or array-like of shape (n_x,)
            Feature values.
        center : {"mean", "start", "uniform"}
            Zero on average over the rows (see `density`), at the first limit, or on average
            over x.
        smooth : bool
            Of a model with jumps, even out the small ones and keep the real ones: how the curve
            is drawn, and often nearer to what the model has learned. Other curves are smooth as
            they are.
        outside : {"extend", "nan", "raise"}
            Beyond the bins, whose range `repr` shows and where no row was seen: the outermost ones
            go on, which is a guess; or nan; or an error.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> age.curve([0, 10]).round(6)  # zero on average over the rows
        array([-10.,  10.])
        >>> age.curve([0, 5, 10], center="start")
        array([ 0., 10., 20.])
        >>> age.curve([10, 11], center="start", outside="nan")  # no row is beyond 10
        array([20., nan])
        """
        points, shape = as_points(x, self.kind)
        unknown = find_beyond(self, points, outside) | np.isnan(points)
        curve = self._line(smooth=smooth).curve(points, center)
        return np.where(unknown, np.nan, curve).reshape(shape)[()]

    def _line(self, *, smooth: bool) -> Fit | Staircase | Drawing:
        """The curve, or the smooth one of a staircase."""
        return self._drawing if smooth and self._drawing is not None else self._drawn_line

    def spread(
        self,
        x: Points,
        *,
        center: Center = "mean",
        accumulate: Accumulate = "measured",
        outside: Outside = "extend",
    ) -> FloatArray:
        """How far the rows' own curves lie apart at x, centred as `curve` is.

        Parameters
        ----------
        x : number, date or array-like of shape (n_x,)
            Feature values.
        center : {"mean", "start", "uniform"}
            Where the curve of every row is zero, as in `curve`.
        accumulate : {"measured", "sum", "quadrature"}
            "measured": the deviation of the rows' own curves, from the covariance of their
            increments. With S(x) the deviations `std` accumulated from the first limit, the others
            are S(x) itself for center="start", and else how far S(x) is from its average: "sum" is
            the sum of std times width, what the paper's figures show; "quadrature" the root of the
            sum of their squares (Eq. 16 as printed), which shrinks as bins get narrower. Where
            there was no model to ask (`rhale.effect`), "measured" is "sum".
        outside : {"extend", "nan", "raise"}
            As in `curve`.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number

        Notes
        -----
        With R the covariance of the rows' increments u_k between neighbouring places, it is the
        root of a(x)' R a(x), where a_k(x) is how much of the increment lies before x, less its
        average over the rows. For independent features this is centred ICE; where features go
        together, rows are moved to places near their own only. The sum assumes that all increments
        of a row differ one way, quadrature that they have nothing to do with each other.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> slopes = np.tile([1.0, 3.0], 100)  # rows differ: mean 2, deviation 1
        >>> age = rhale.effect(x, slopes, bins=1, name="age")
        >>> age.spread([0, 10], center="start").round(1)
        array([ 0., 10.])
        """
        known_accumulate(accumulate)
        points, shape = as_points(x, self.kind)
        unknown = find_beyond(self, points, outside) | np.isnan(points)
        places, own = self._fit.places(center), self.row_spread
        if accumulate == "measured" and own is not None:
            zero = own.behind if center == "mean" else places.weight @ self._increments(places.x)
            spread = own.combine(self._increments(np.nan_to_num(points)) - zero)
        else:
            squared = accumulate == "quadrature"
            mean = places.mean(self._accumulate(places.x, squared=squared))
            spread = np.abs(self._accumulate(points, squared=squared) - mean)
        return np.where(unknown, np.nan, spread).reshape(shape)[()]

    def _increments(self, x: FloatArray) -> FloatArray:
        """How much of each increment of `row_spread` lies before x, shape (n_x, n_places - 1)."""
        # between two places the curve of a row is straight; that of a model that jumps moves at its
        # thresholds, at each as much as rows differ there
        assert self.row_spread is not None  # noqa: S101 - our own mistake
        places = self.row_spread.places
        found = np.clip((x[:, None] - places[:-1]) / np.diff(places), 0.0, 1.0)
        if self.stairs is None:
            return np.asarray(found)
        steps = self.stairs.shares_between(places)
        has_steps = steps[-1] > 0
        found[:, has_steps] = steps[self.stairs.locate(x)][:, has_steps]
        return np.asarray(found)

    def secant_deviation(self, edges: FloatArray) -> FloatArray:
        """Deviation over the rows of their secants over bins, from `row_spread`.

        Parameters
        ----------
        edges : ndarray of shape (n_bins + 1,)
            Limits of the bins.

        Returns
        -------
        ndarray of shape (n_bins,)
            In units of the output per unit of the feature.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(1_000, 2))
        >>> fx = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], x)  # slopes: all of x1
        >>> fx["x0"].secant_deviation(np.array([-1.0, 0.0, 1.0])).round(1)
        array([0.6, 0.6])
        """
        assert self.row_spread is not None  # noqa: S101 - our own mistake
        width = np.diff(edges)
        found = self.row_spread.combine(np.diff(self._increments(edges), axis=0))
        return found / np.where(width > 0, width, 1.0)

    def row_curves(self, *, center: Center = "mean") -> ShownRows:
        """Curves of up to 100 sampled rows at the places of `row_spread`.

        Parameters
        ----------
        center : {"mean", "start", "uniform"}
            Where the curve of every row is zero, as in `curve`.

        Returns
        -------
        ShownRows
            Which rows, their values, their curves, and between which places these were measured;
            beyond them they are predicted from how rows differ. No rows where none were kept.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(1_000, 2))
        >>> fx = rhale.explain(lambda rows: rows[:, 0] * rows[:, 1], x)
        >>> fx["x0"].row_curves().heights.shape
        (100, 28)
        """
        if self.row_spread is None:
            return NO_SHOWN_ROWS
        places, nodes = self.row_spread.places, self._fit.places(center)
        zero = nodes.weight @ self._increments(nodes.x)
        zero = self.row_spread.behind if center == "mean" else zero
        curve = self.curve(places, center=center)
        found = self.row_spread.predict_rows(np.diff(curve), zero)
        return found._replace(heights=curve + found.heights)

    def _accumulate(self, x: FloatArray, *, squared: bool = False) -> FloatArray:
        """S(x): deviations between rows, accumulated from the first limit."""
        bins = self.edges, self.std
        if self.spread_edges is not None and self.spread_std is not None:
            bins = self.spread_edges, self.spread_std
        return accumulate_spread(*bins, x, squared=squared)

    def ci(
        self,
        x: Points,
        *,
        level: float = 0.95,
        center: Center = "mean",
        smooth: bool = False,
        method: Literal["formula", "bootstrap"] = "formula",
        draws: int = 500,
        seed: int = 0,
        outside: Outside = "extend",
    ) -> tuple[FloatArray, FloatArray]:
        """Confidence interval of the curve at x: uncertainty of the mean, not spread.

        Parameters
        ----------
        x : number, date or array-like of shape (n_x,)
            Feature values.
        level : float
            Probability that the interval covers, at one x, the curve of the model over the
            population the rows were drawn from.
        center, smooth
            As in `curve`.
        method : {"formula", "bootstrap"}
            Variance of a linear map of independent means and slopes, with Student's quantiles; or
            refits of these bins to rows drawn anew from `sample`, as a check. Of jumps, what 32
            groups of rows do to the curve gives its variance, and these groups are drawn anew.
        draws, seed : int
            Of the bootstrap.
        outside : {"extend", "nan", "raise"}
            As in `curve`; an interval beyond the bins knows nothing of what is there.

        Returns
        -------
        low, high : ndarray of shape (n_x,)

        Notes
        -----
        Covers the draw of the rows: what the fits of the bins do not know, which rows the curve
        is centred over, whatever happens between the sides of a gap, and, to first order, that
        bins were searched in the same rows. Does not cover how the model would differ after
        training on other rows, nor tails so heavy that rows have no variance.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> slopes = np.tile([1.0, 3.0], 100)  # rows differ: mean 2, deviation 1
        >>> age = rhale.effect(x, slopes, bins=1, name="age")
        >>> low, high = age.ci(10, center="start")  # 20, and 1.97 standard errors of 10 / sqrt(200)
        >>> round(float(low), 1), round(float(high), 1)
        (18.6, 21.4)
        """
        require_level(level)
        points, shape = as_points(x, self.kind)
        unknown = find_beyond(self, points, outside) | np.isnan(points)
        line = self._line(smooth=smooth)
        curve = line.curve(points, center)
        if method not in ("formula", "bootstrap"):
            msg = f"method={method!r} is not known; use 'formula' or 'bootstrap'"
            raise BadSettingError(msg)
        if method == "bootstrap":
            require_count("draws", draws)
            if isinstance(line, Fit) or self.stairs is None:
                shifts = self._redrawn(points, center, draws, seed)
            else:
                moved = line.moved(points, center)
                shifts = self.stairs.redraw(moved, draws=draws, seed=seed)
            low, high = curve + np.quantile(shifts, [(1 - level) / 2, (1 + level) / 2], axis=0)
        else:
            found = (self._doubt if isinstance(line, Fit) else line).of_curve(points, center)
            reach = student_quantile(level, found.degrees) * np.sqrt(found.variance)
            low, high = curve - reach, curve + reach
        low, high = (np.where(unknown, np.nan, end).reshape(shape) for end in (low, high))
        return low[()], high[()]

    def _redrawn(self, x: FloatArray, center: Center, draws: int, seed: int) -> FloatArray:
        """How curves of rows drawn anew differ from the curve of these rows, (draws, n_x)."""
        from rhale.effects.binning.fit import fit_effect  # which makes effects

        grid = Grid(self._fit.edges, self.closed)
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

        def refit(weight: FloatArray, crossings: Crossings | None) -> FloatArray:
            drawn = weight > 0
            cells = measure_moments(grid, places[drawn], effects[drawn], weight[drawn])
            fit = fit_effect(self.name, self.output, cells, cuts)._fit  # noqa: SLF001 - of this class
            return replace(fit, asked=crossings).curve(x, center)

        # rows that agree are kept once, with their weights added up, so that rows are drawn in
        # proportion to weight: in each bin as many as its effective rows, of equal weight
        each = (self.weight / np.where(self.measured, self.rows, 1.0))[
            Grid(self.edges, self.closed).locate(places)
        ]
        times = weight / each
        rng, shifts = np.random.default_rng(seed), np.empty((draws, x.size))
        own = refit(weight, self._crossings)
        for shift in shifts:
            drawn, crossings = rng.multinomial(round(times.sum()), times / times.sum()), None
            if (measured := self._crossings) is not None:
                # rows that were moved across gaps are not kept: their rises are drawn as normal
                none = np.zeros_like(measured.rise)
                noise = rng.multivariate_normal(
                    none, measured.covariance, check_valid="ignore", method="eigh"
                )
                crossings = measured._replace(rise=measured.rise + noise)
            shift[:] = refit(each * drawn, crossings) - own
        # the sample is a part of the rows: with all of them variances are smaller by that part
        kept = min(float(weight.sum() / self.weight.sum()), 1.0)
        return np.asarray(shifts * np.sqrt(kept))

    @property
    def importance(self) -> float:
        """Size of the effect: deviation of the curve over the rows, in units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.array([-1.0, 1.0] * 50)
        >>> round(rhale.effect(x, np.full(100, 3.0)).importance, 6)  # a curve of -3 and 3
        3.0
        """
        return self._drawn_line.importance()

    @cached_property
    def importance_error(self) -> float:
        """Standard error of `importance`, over rows drawn from the same population."""
        return zero_rounding_of_effect(float(np.sqrt(self._doubt.of_importance())), self.importance)

    def _read_for_statistics(self) -> tuple[Density, Heights, float]:
        """Where the curve is read, its heights there, and what errors add to its mean square."""
        noise = self._doubt.added_square()
        if self.stairs is not None:
            found = summarise_ale_steps(self.stairs.heights, self.stairs.row_shares)
        elif self.density == "bins":
            found = summarise_ale_bins(self._fit.curve(self.edges, "mean"), self.weight)
        else:
            rows, some = self._fit.rows, self.count > 0
            ends = self._fit.curve(np.concatenate([self.low_x[some], self.high_x[some]]), "mean")
            values = self._fit.curve(rows.x, "mean")
            reached = np.concatenate([values, ends])
            found = Heights(values, rows.weight, float(reached.min()), float(reached.max()))
        return self.density, found, noise

    @property
    def typical_spread(self) -> float:
        """How much rows differ: root mean square of `spread` over the rows.

        In units of the output, as `importance`, and comparable between features: a product of two
        independent features has the same for both. Where rows differ by rounding, it is zero.
        """
        rows = self._fit.rows
        if self.row_spread is None:
            return zero_rounding_of_effect(
                rows.deviation(self._accumulate(rows.x)), self.importance
            )
        return zero_rounding_of_effect(self.row_spread.typical, self.importance)

    def height(self, x: FloatArray) -> FloatArray:
        return self._drawn_line.curve(x, "mean")

    def places(self, n_points: int = N_CURVE_POINTS) -> FloatArray:
        require_count("n_points", n_points)
        x = np.union1d(self.edges, np.linspace(self.edges[0], self.edges[-1], n_points))
        if self._crossings is not None:
            x = np.union1d(x, np.concatenate(self._crossings[:2]))
            x = x[(x >= self.edges[0]) & (x <= self.edges[-1])]
        if self.stairs is None:
            return x
        behind = self.stairs.places
        return np.union1d(x, np.concatenate([behind, np.nextafter(behind, -np.inf)]))

    def difference(self, start: float, stop: float) -> Difference:
        x, _ = as_points([start, stop], self.kind)
        size, own = np.diff(self.curve(x))[0], self.row_spread
        if own is None:
            spread = np.abs(np.diff(self._accumulate(x)))[0]
        else:
            spread = own.combine(np.diff(self._increments(x), axis=0))[0]
        error = np.sqrt(self._doubt.of_changes(x[:1], x[1:]).variance[0])
        return Difference(float(size), float(error), float(spread))

    def errors_from(self, x: FloatArray, zero: RowPlaces) -> Estimate:
        return self._doubt.of_curve_from(x, zero)

    def rows_along(self) -> RowPlaces:
        return self._fit.rows

    def support(self) -> Support:
        if self.sample.x.size:
            made = count_support_rows(self.edges, self.sample.x, self.sample.weight)
        else:
            made = Support(self.sample.x, self.edges, self.weight / np.diff(self.edges))
        limits = np.column_stack([self.edges[:-1], self.edges[1:]])
        is_wide = np.diff(self.edges) >= GAP_SHARE * (self.edges[-1] - self.edges[0])
        empty = ~self.measured if self.stairs is None else (self.count == 0) & is_wide
        return made._replace(gaps=limits[empty])

    @cached_property
    def shown_effects(self) -> FloatArray:
        """Local effects of the sampled rows as pictures show them, shape (n_sample,).

        Slopes of single rows of a stepped model have its steps in them, which `std` leaves out:
        about the line of their bin they are shown as far apart as `std` says.
        """
        if self.stairs is None:
            return self.sample.local_effects
        sample, grid = self.sample, Grid(self.edges, self.closed)
        inside, place = grid.covers(sample.x) & (sample.weight > 0), grid.locate(sample.x)
        shown = np.array(sample.local_effects)
        for k in np.unique(place[inside]):
            mine = inside & (place == k)
            # what a weighted least-squares line through the rows of the bin leaves over
            share = sample.weight[mine] / sample.weight[mine].sum()
            x, own = sample.x[mine], shown[mine]
            x, own = x - share @ x, own - share @ own
            sxx = float(share @ x**2)
            own = own - (float(share @ (x * own)) / sxx) * x if sxx > 0 else own
            size = float(np.sqrt(np.average(own**2, weights=sample.weight[mine])))
            times = np.nan_to_num(self.std[k]) / size if size > 0 else 0.0
            shown[mine] = self.mean[k] + times * own
        return as_frozen(shown)

    def locate_sample(self, column: FloatArray) -> tuple[FloatArray, IntArray]:
        """Places of sampled values on the axis, and which rows they are: those with a value.

        Parameters
        ----------
        column : ndarray of shape (n_sample,)
            Values of the feature in some rows, nan where missing.

        Returns
        -------
        places : ndarray of shape (n_known,)
            Their places.
        rows : ndarray of shape (n_known,)
            Which rows they are.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.linspace(0, 10, 200)
        >>> age = rhale.effect(x, np.full(200, 2.0), name="age")
        >>> age.locate_sample(np.array([1.0, np.nan, 3.0]))
        (array([1., 3.]), array([0, 2]))
        """
        rows = np.flatnonzero(~np.isnan(column))
        return column if rows.size == column.size else column[rows], rows

    def table(self) -> Columns:
        names = name_places(self.edges, (), self.kind)
        columns = list_bins(self, self.edges, names, self.curve(self.edges))
        return add_missing_bin(columns, self.missing, self.weight)


def known_accumulate(accumulate: str) -> None:
    """Refuse an unknown way of accumulating."""
    if accumulate not in get_args(Accumulate):
        msg = (
            f"accumulate={accumulate!r} is not known; use one of {', '.join(get_args(Accumulate))}"
        )
        raise BadSettingError(msg)
