"""RefitEffect and RefitPair: one feature, or two, in several trainings of a learner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from rhale.effects.binning.partition import require_count
from rhale.effects.curve import Center
from rhale.effects.result import (
    N_CURVE_POINTS,
    FrozenResult,
    Outside,
    Result,
    SeveralResults,
    find_result_axis_kind,
    normal_quantile,
    require_level,
)
from rhale.effects.table import MISSING_ROW_LABEL, Columns, add_row, name_places
from rhale.interaction.pair_effect import PairEffect
from rhale.output.doors import draw_refit_lazily, show_refit
from rhale.output.labels import NO_CAPTIONS, NOT_WRITTEN, Captions
from rhale.output.number_format import write_between, write_number
from rhale.output.picture_options import RefitOptions, with_options
from rhale.output.storage.values import PAIR_FEATURE_NAMES, TRAININGS, Numbers, stored
from rhale.output.text import Note
from rhale.stability.replication import Overlap, Replication, mean_factor, replicate
from rhale.stats.arrays import LARGEST_SQUARABLE, FloatArray
from rhale.stats.distributions import student_quantile

REPLICATION_LEVEL = 0.05  # an effect comes back where chance would make one as large in fewer cases


class RefitTrace(NamedTuple):
    """What is drawn of one feature in several trainings.

    Attributes
    ----------
    x : ndarray of shape (n_points,)
        Places, in units of the feature.
    curve : ndarray of shape (n_points,)
        Mean of the trainings, in units of the output.
    low, high : ndarray of shape (n_points,)
        Ends of its interval.
    between : ndarray of shape (n_points,)
        Deviation between trainings.
    curves : ndarray of shape (n_trainings, n_points)
        The curve of every training.
    own : ndarray of shape (n_points,) or None
        The curve of the user's model, where one was given.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).normal(size=(100, 1))
    >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
    >>> halves = [np.arange(50), np.arange(50, 100)]
    >>> effect = rhale.refits(models, x, train=halves)["x0"]
    >>> trace = effect.trace(x=np.array([0.0, 1.0]))
    >>> np.diff(trace.curves).round(6).ravel(), np.diff(trace.curve).round(6)
    (array([1., 3.]), array([2.]))
    """

    x: FloatArray
    curve: FloatArray
    low: FloatArray
    high: FloatArray
    between: FloatArray
    curves: FloatArray
    own: FloatArray | None = None


@dataclass(frozen=True)
class RefitMissing:
    """What happens without a value, in every training.

    Attributes
    ----------
    count, share : int and float
        Rows that have no value, and their share of the weight.
    curve : float
        Where they stand beside the mean curve: the mean change when the value is removed.
    low, high : float
        Its interval, as that of the curve.
    between : float
        Its deviation between trainings.

    Examples
    --------
    >>> RefitMissing(count=3, share=0.1, curve=-1.0, low=-1.5, high=-0.5, between=0.2).curve
    -1.0
    """

    count: int
    share: float
    curve: float
    low: float
    high: float
    between: float


class RefitResult(FrozenResult):
    """What trainings agree on, of an effect or of a pair.

    Attributes
    ----------
    gram : ndarray of shape (n_trainings, n_trainings)
        Mean over the rows of the product of every two curves or surfaces.
    overlap : Overlap
        Which rows the trainings share.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).normal(size=(100, 1))
    >>> models = [lambda rows: 2.0 * rows[:, 0], lambda rows: 2.0 * rows[:, 0]]
    >>> effect = rhale.refits(models, x, train=[np.arange(50), np.arange(50, 100)])["x0"]
    >>> effect.comes_back, round(effect.replicated / effect.importance, 1)  # both trainings agree
    (True, 1.0)
    """

    gram: FloatArray
    overlap: Overlap
    if TYPE_CHECKING:

        @property
        def drawn(self) -> float:
            """Mean square of what the draw of the rows adds."""

    @cached_property
    def factor(self) -> float:
        """Variance of the mean of the trainings, in squared deviations between them; nan if unknown."""
        return mean_factor(self.gram, self.overlap)

    @cached_property
    def replication(self) -> Replication:
        """What trainings agree on beyond chance."""
        return replicate(self.gram, self.overlap, self.drawn)

    @property
    def replicated(self) -> float:
        """Importance or strength, corrected for chance; 0 where nothing comes back."""
        return self.replication.size

    @property
    def p_value(self) -> float:
        """How likely, 0 to 1, trainings would agree so well if there were no effect."""
        return self.replication.p_value

    @property
    def comes_back(self) -> bool:
        """Whether other rows would show it again: p of .05 or less; not if p is not known."""
        return self.p_value <= REPLICATION_LEVEL


@dataclass(frozen=True, eq=False, repr=False)
class RefitEffect(RefitResult, SeveralResults):
    """How one feature moves one output, in every training.

    Attributes
    ----------
    effects : tuple of Result
        One for each training, all on the same rows and with the same bins.
    overlap : Overlap
        Which rows the trainings share.
    gram : ndarray of shape (n_trainings, n_trainings)
        Mean over the rows of the product of every two curves.
    own : Result or None
        The effect in the user's own model, where it was given.
    drawn : float
        Mean square of what the draw of the rows that are explained adds to a curve.
    inside : tuple of RefitEffect
        The effect in each group of rows, where groups were given; see `regions`.

    Notes
    -----
    Three things that must not be mixed: `spread` says how rows differ, `between` how trainings
    differ, and `ci` how well the average training is known from these rows. `ci` does not cover
    what the learner gets wrong in every training, its bias.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).normal(size=(100, 1))
    >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
    >>> halves = [np.arange(50), np.arange(50, 100)]
    >>> effect = rhale.refits(models, x, train=halves)["x0"]
    >>> np.diff(effect.curve([0.0, 1.0])).round(6)  # mean of the slopes 1 and 3
    array([2.])
    >>> round(float(effect.importances[1] / effect.importances[0]), 6), effect.n_trainings
    (3.0, 2)
    """

    effects: tuple[Result, ...]
    overlap: Overlap
    gram: FloatArray
    own: Result | None = None
    drawn: float = 0.0
    inside: tuple[RefitEffect, ...] = ()

    def __repr__(self) -> str:
        low, high = self.importance_ci()
        return (
            f"RefitEffect({self.name!r}, output={self.captions.output(self.output)!r}, {len(self.effects)} trainings, "
            f"importance={write_between(self.importance, low, high)}, "
            f"replicated={write_number(self.replicated)}, p={self.p_value:.2g})"
        )

    def _repr_html_(self) -> str:
        """A small page, for notebooks."""
        return show_refit(self)

    @property
    def _first(self) -> Result:
        return self.effects[0]

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know: notes that more than half of the trainings have."""
        found = Counter(note for effect in self.effects for note in effect.notes)
        return tuple(note for note, n_times in found.items() if 2 * n_times > self.n_trainings)

    @property
    def n_trainings(self) -> int:
        """How many trainings there are."""
        return len(self.effects)

    def curves(self, x: Any, *, center: Center = "mean", outside: Outside = "extend") -> FloatArray:
        """The curve of every training at x, shape (n_trainings, n_x).

        Parameters
        ----------
        x : number, date, name of a level, or array-like of these
            Feature values.
        center : {"mean", "start", "uniform"}
            As in `curve`.
        outside : {"extend", "nan", "raise"}
            As in `curve`.

        Returns
        -------
        ndarray of shape (n_trainings, n_x)
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> effect = rhale.refits(models, x, train=halves)["x0"]
        >>> effect.curves([0.0, 1.0]).shape
        (2, 2)
        """
        curves = [effect.curve(x, center=center, outside=outside) for effect in self.effects]
        return np.stack(curves)

    def curve(self, x: Any, *, center: Center = "mean", outside: Outside = "extend") -> FloatArray:
        """Mean over the trainings of their curves.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of these
            Feature values.
        center : {"mean", "start", "uniform"}
            Where each curve is zero: on average over the rows, at the first limit, or on average
            over x.
        outside : {"extend", "nan", "raise"}
            Beyond the ends of `axis`: as in `Effect.curve`, `LevelEffect.curve`, `Profile.curve`.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> effect = rhale.refits(models, x, train=halves)["x0"]
        >>> np.diff(effect.curve([0.0, 1.0])).round(6)
        array([2.])
        """
        return mean_over_refits(self.curves(x, center=center, outside=outside))[()]

    def between(
        self, x: Any, *, center: Center = "mean", outside: Outside = "extend"
    ) -> FloatArray:
        """Deviation between trainings: how far one of them lies from their mean.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of these
            Feature values.
        center : {"mean", "start", "uniform"}
            As in `curve`.
        outside : {"extend", "nan", "raise"}
            As in `curve`.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> effect = rhale.refits(models, x, train=halves)["x0"]
        >>> start = effect.axis[0]
        >>> effect.between([start, start + 1], center="start").round(3)  # deviation of 1 and 3
        array([0.   , 1.414])
        """
        return deviation_over_refits(self.curves(x, center=center, outside=outside))[()]

    def spread(self, x: Any, *, center: Center = "mean", outside: Outside = "extend") -> FloatArray:
        """How rows differ at x: mean over the trainings of their `spread`.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of these
            Feature values.
        center : {"mean", "start", "uniform"}
            As in `curve`.
        outside : {"extend", "nan", "raise"}
            As in `curve`.

        Returns
        -------
        ndarray of shape (n_x,), or a number for a number
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> effect = rhale.refits(models, x, train=halves)["x0"]
        >>> effect.spread([0.0, 1.0]).round(6)  # rows do not differ, trainings do
        array([0., 0.])
        """
        spreads = [e.spread(x, center=center, outside=outside) for e in self.effects]
        return mean_over_refits(np.stack(spreads))[()]

    def ci(
        self,
        x: Any,
        *,
        level: float = 0.95,
        center: Center = "mean",
        outside: Outside = "extend",
    ) -> tuple[FloatArray, FloatArray]:
        """Where the mean of all possible trainings is, given that these rows were drawn.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of these
            Feature values.
        level : float
            Probability that the interval covers, at one x, the average effect of the learner,
            trained on as many rows as here, over the population that the rows come from.
        center : {"mean", "start", "uniform"}
            As in `curve`.
        outside : {"extend", "nan", "raise"}
            As in `curve`.

        Returns
        -------
        low, high : ndarrays of shape (n_x,)
            Nan where all trainings had the same rows.

        Notes
        -----
        The half-width is the root of t² F S² + h²: S the deviation between trainings, F and the
        degrees of freedom of Student's t from the rows that trainings share (`Overlap`; of what is
        the learner's own chance only 1/m counts, `mean_factor`), and h the mean half-width of the
        trainings' own intervals, which is the draw of the rows that are explained.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> effect = rhale.refits(models, x, train=halves)["x0"]
        >>> low, high = effect.ci(1.0)
        >>> bool(low < effect.curve(1.0) < high)
        True
        """
        curves = self.curves(x, center=center, outside=outside)
        ends = np.array([effect.ci(x, level=level, center=center) for effect in self.effects])
        rows = mean_over_refits(ends[:, 1] - ends[:, 0]) / 2
        mean, half = mean_over_refits(curves), self._half_width(curves, rows, level)
        return (mean - half)[()], (mean + half)[()]

    def _half_width(self, values: FloatArray, rows: FloatArray, level: float) -> FloatArray:
        """Half-width of the interval of a mean over the trainings, the draw of rows included."""
        require_level(level)
        quantile = student_quantile(level, np.array([self.overlap.degrees]))[0]
        variance = self.factor * deviation_over_refits(values) ** 2
        return np.asarray(np.sqrt(quantile**2 * variance + rows**2))

    @property
    def importances(self) -> FloatArray:
        """Importance in every training, shape (n_trainings,), in units of the output."""
        return np.array([effect.importance for effect in self.effects])

    @property
    def importance(self) -> float:
        """Mean over the trainings of the deviation of the curve over the rows."""
        return float(mean_over_refits(self.importances))

    @property
    def importance_between(self) -> float:
        """Deviation of the importance between trainings, in units of the output."""
        return float(deviation_over_refits(self.importances))

    def importance_ci(self, level: float = 0.95) -> tuple[float, float]:
        """Where the mean importance of all possible trainings is, as `ci`; never below zero.

        Parameters
        ----------
        level : float
            Probability that the interval covers.

        Returns
        -------
        low, high : float
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> effect = rhale.refits(models, x, train=halves)["x0"]
        >>> low, high = effect.importance_ci()
        >>> low <= effect.importance <= high
        True
        """
        require_level(level)
        errors = [effect.importance_error for effect in self.effects]
        rows = normal_quantile(level) * np.mean(errors)
        half = float(self._half_width(self.importances, np.asarray(rows), level))
        return float(np.maximum(self.importance - half, 0.0)), self.importance + half

    @property
    def typical_spread(self) -> float:
        """How much rows differ, in units of the output: mean over the trainings."""
        return float(np.mean([effect.typical_spread for effect in self.effects]))

    @property
    def typical_spread_error(self) -> float:
        """Standard error of `typical_spread` by the draw of rows: mean over the trainings."""
        return float(np.mean([effect.typical_spread_error for effect in self.effects]))

    @property
    def missing(self) -> RefitMissing | None:
        """What happens without a value, where every training tells."""
        return self.missing_point()

    def missing_point(self, center: Center = "mean", level: float = 0.95) -> RefitMissing | None:
        """The one point of missing values beside the curve; None where it was not measured.

        Parameters
        ----------
        center : {"mean", "start", "uniform"}
            Where the curve beside it is zero.
        level : float
            Probability that its interval covers.

        Returns
        -------
        RefitMissing or None

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> effect = rhale.refits(models, x, train=halves)["x0"]
        >>> effect.missing_point() is None
        True
        """
        found = [effect.missing_trace(center, level) for effect in self.effects]
        shown = [one for one in found if one is not None]
        known = self.effects[0].missing
        if known is None or len(shown) < self.n_trainings:
            return None
        values = np.array([one.curve[0] for one in shown])
        rows = mean_over_refits(np.array([one.high[0] - one.low[0] for one in shown])) / 2
        mean, half = float(mean_over_refits(values)), float(self._half_width(values, rows, level))
        between = float(deviation_over_refits(values))
        return RefitMissing(known.count, known.share, mean, mean - half, mean + half, between)

    @property
    def regions(self) -> Mapping[str, RefitEffect]:
        """The effect in each group of rows, by its rule, where groups were given: `regions=By(...)`.

        Empty where regions were searched: every training has its own; see `Refits.regions`.
        """
        tree = self.effects[0].regions
        rules = [] if tree is None or not self.inside else [region.rule for region in tree]
        return MappingProxyType(dict(zip(rules, self.inside, strict=True)))

    def trace(
        self,
        center: Center = "mean",
        level: float = 0.95,
        n_points: int = N_CURVE_POINTS,
        *,
        x: FloatArray | None = None,
    ) -> RefitTrace:
        """What is drawn: of numbers at `x` or some hundred places, of levels and points at their own.

        Parameters
        ----------
        center : {"mean", "start", "uniform"}
            Where curves are zero.
        level : float
            Probability that the interval covers.
        n_points : int
            How many places, where they are numbers.
        x : ndarray of shape (n_points,), optional
            The places themselves, where they are numbers.

        Returns
        -------
        RefitTrace

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> effect = rhale.refits(models, x, train=halves)["x0"]
        >>> np.diff(effect.trace(x=np.array([0.0, 1.0])).curve).round(6)
        array([2.])
        """
        if self.parts == "bins":
            low, high = self.axis[0], self.axis[-1]
            if x is None:
                require_count("n_points", n_points)
                x = np.union1d(self.axis, np.linspace(low, high, n_points))
            return self._trace_at(x, center, level)
        shown = [effect.trace(center, level) for effect in self.effects]
        curves = np.stack([one.curve for one in shown])
        rows = mean_over_refits(np.stack([one.high - one.low for one in shown])) / 2
        own = None if self.own is None else self.own.trace(center, level).curve
        return self._gather(shown[0].x, curves, self._half_width(curves, rows, level), own)

    def _trace_at(self, x: FloatArray, center: Center, level: float) -> RefitTrace:
        """The same at given numbers."""
        low, high = self.ci(x, level=level, center=center)
        own = None if self.own is None else self.own.curve(x, center=center)
        return self._gather(x, self.curves(x, center=center), (high - low) / 2, own)

    def _gather(
        self, x: FloatArray, curves: FloatArray, half: FloatArray, own: FloatArray | None
    ) -> RefitTrace:
        mean = mean_over_refits(curves)
        return RefitTrace(
            x, mean, mean - half, mean + half, deviation_over_refits(curves), curves, own
        )

    @with_options(RefitOptions)
    def plot(self, *, ax: Any = None, **options: Unpack[RefitOptions]) -> Any:
        """Draw this feature in all retrained models, as `Refits.plot` does.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options

        Returns
        -------
        Axes

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> effect = rhale.refits(models, x, train=halves)["x0"]
        >>> ax = effect.plot()
        >>> ax.get_xlabel()
        'x0'
        >>> import matplotlib.pyplot as plt
        >>> plt.close(ax.figure)
        """
        return draw_refit_lazily(self, {"ax": ax, **options})

    def table(self) -> Columns:
        """One row for each limit of a bin, level or point, and one for missing values.

        Returns
        -------
        dict of str to list
            `at`, `x`, `curve`, `low`, `high`, `between`.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).normal(size=(100, 1))
        >>> models = [lambda rows: 1.0 * rows[:, 0], lambda rows: 3.0 * rows[:, 0]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> effect = rhale.refits(models, x, train=halves)["x0"]
        >>> list(effect.table())
        ['at', 'x', 'curve', 'low', 'high', 'between']
        """
        places, gone = self.axis, self.missing
        is_cut = self.parts == "bins"
        trace = self._trace_at(places, "mean", 0.95) if is_cut else self.trace()
        at = np.arange(places.size) if is_cut else np.searchsorted(trace.x, places)
        columns: Columns = {
            "at": list(name_places(places, self.labels, find_result_axis_kind(self.effects[0]))),
            "x": places.tolist(),
        }
        for name in TRACED:
            columns[name] = getattr(trace, name)[at].tolist()
        if gone is None:
            return columns
        return add_row(
            columns, {"at": MISSING_ROW_LABEL, **{name: getattr(gone, name) for name in TRACED}}
        )


TRACED = ("curve", "low", "high", "between")


def mean_over_refits(values: FloatArray) -> FloatArray:
    """Mean over the trainings, the first axis; that of equal values is any of them, exactly."""
    first = values[0]
    return np.asarray(first + (values - first).mean(axis=0))


def deviation_over_refits(values: FloatArray) -> FloatArray:
    """Deviation between trainings, the first axis; that of equal values is exactly zero."""
    return np.asarray((values - values[0]).std(axis=0, ddof=1))


# --- RefitPair: what two features do together, in several trainings of a learner. Frozen numbers


@dataclass(frozen=True, eq=False, repr=False)
class RefitPair(RefitResult):
    """How strongly two features interact in every training, and whether that comes back.

    Attributes
    ----------
    names : tuple of str
        The two features.
    output : str
        What is moved.
    strengths : ndarray of shape (n_trainings,)
        Strength in every training.
    gram : ndarray of shape (n_trainings, n_trainings)
        Mean over the rows of the product of every two surfaces.
    overlap : Overlap
        Which rows the trainings share.
    captions : Captions
        What people read for features and outputs.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(100, 2))
    >>> models = [lambda rows: rows[:, 0] * rows[:, 1], lambda rows: 3 * rows[:, 0] * rows[:, 1]]
    >>> halves = [np.arange(50), np.arange(50, 100)]
    >>> pair = rhale.refits(models, x, train=halves, pairs="all").pairs[0]
    >>> pair.names, round(float(pair.strengths[1] / pair.strengths[0]), 6)
    (('x0', 'x1'), 3.0)
    """

    names: tuple[str, str] = field(metadata=stored(PAIR_FEATURE_NAMES))
    output: str
    strengths: FloatArray = field(
        metadata=stored(Numbers((TRAININGS,), 0, LARGEST_SQUARABLE, unknown=True))
    )
    gram: FloatArray = field(metadata=stored(Numbers.products(TRAININGS, TRAININGS, unknown=True)))
    overlap: Overlap
    captions: Captions = field(default=NO_CAPTIONS, compare=False, metadata=NOT_WRITTEN)

    def __repr__(self) -> str:
        return (
            f"RefitPair({self.names!r}, output={self.captions.output(self.output)!r}, {len(self.strengths)} trainings, "
            f"strength={write_number(self.strength)}, replicated={write_number(self.replicated)}, "
            f"p={self.p_value:.2g})"
        )

    @classmethod
    def of(cls, pairs: Sequence[PairEffect], overlap: Overlap) -> RefitPair:
        """Compare one pair in several trainings, all measured in the same cells.

        Parameters
        ----------
        pairs : sequence of PairEffect
            The same pair in every training.
        overlap : Overlap
            Which rows the trainings share.

        Returns
        -------
        RefitPair

        Examples
        --------
        >>> import numpy as np, rhale
        >>> from rhale.stability.replication import Overlap
        >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(100, 2))
        >>> found = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x)["x0", "x1"]
        >>> RefitPair.of([found, found], Overlap.independent(2)).strength_between
        0.0
        """
        first = pairs[0]
        strengths = np.array([pair.strength for pair in pairs])
        return cls(first.names, first.output, strengths, compare_surfaces(pairs), overlap)

    @property
    def strength(self) -> float:
        """Mean of the strength over the trainings, in units of the output."""
        return float(self.strengths.mean())

    @property
    def strength_between(self) -> float:
        """Deviation of the strength between trainings, in units of the output."""
        return float(self.strengths.std(ddof=1))

    def strength_ci(self, level: float = 0.95) -> tuple[float, float]:
        """Where the mean strength of all possible trainings is; never below zero.

        Parameters
        ----------
        level : float
            Probability that the interval covers.

        Returns
        -------
        low, high : float
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(100, 2))
        >>> models = [lambda rows: rows[:, 0] * rows[:, 1], lambda rows: 3 * rows[:, 0] * rows[:, 1]]
        >>> halves = [np.arange(50), np.arange(50, 100)]
        >>> pair = rhale.refits(models, x, train=halves, pairs="all").pairs[0]
        >>> low, high = pair.strength_ci()
        >>> low <= pair.strength <= high
        True
        """
        require_level(level)
        quantile = student_quantile(level, np.array([self.overlap.degrees]))[0]
        half = float(quantile * np.sqrt(self.factor)) * self.strength_between
        return float(np.maximum(self.strength - half, 0.0)), self.strength + half

    @property
    def drawn(self) -> float:
        """Mean square of what the draw of the rows adds to a surface: what strengths leave out."""
        return float(np.mean(np.maximum(np.diag(self.gram) - self.strengths**2, 0.0)))


def rank_pairs(pairs: Iterable[RefitPair]) -> list[RefitPair]:
    """Pairs with the largest replicated strength first; by strength where that is not known."""
    return sorted(pairs, key=lambda pair: (-np.nan_to_num(pair.replicated), -pair.strength))


def compare_surfaces(pairs: Sequence[PairEffect]) -> FloatArray:
    """Mean over the rows of the product of every two surfaces, (n_surfaces, n_surfaces)."""
    # By their sums and differences, whose mean squares over the rows are known in closed form.
    cell_weights = pairs[0].fit.cell_weights
    surfaces = [pair.fit.surface for pair in pairs]
    gram = np.empty((len(pairs), len(pairs)))
    for i, own in enumerate(surfaces):
        for j, other in enumerate(surfaces[: i + 1]):
            both = float(cell_weights.mean_square(own + other)) - float(
                cell_weights.mean_square(own - other)
            )
            gram[i, j] = gram[j, i] = both / 4
    return gram
