"""RefitEffect: the effect of one feature in several trainings of a learner. Frozen, knows no plot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.curve import Center
from rhale.kernels.overlap import Overlap
from rhale.kernels.records import freeze, same_fields
from rhale.kernels.replication import Replication, replicate
from rhale.kernels.student import student_quantile
from rhale.kernels.times import ColumnKind
from rhale.results.note import Note
from rhale.results.result import N_POINTS, Parts, Quantity, Result, require_level

LEVEL = 0.05  # an effect comes back where chance would make one as large in fewer cases


class RefitTrace(NamedTuple):
    """What is drawn: mean curve, interval, deviation between trainings, (n_points,); all curves.

    `curves` has the shape (n_trainings, n_points); `own` is the curve of the user's model, where
    one was given.
    """

    x: FloatArray
    curve: FloatArray
    low: FloatArray
    high: FloatArray
    between: FloatArray
    curves: FloatArray
    own: FloatArray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class RefitEffect:
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

    Notes
    -----
    Three things that must not be mixed: `spread` says how rows differ, `between` how trainings
    differ, and `ci` how well the average training is known from these rows. `ci` does not cover
    what the learner gets wrong in every training, its bias.
    """

    effects: tuple[Result, ...]
    overlap: Overlap
    gram: FloatArray
    own: Result | None = None

    def __post_init__(self) -> None:
        freeze(self)

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        low, high = self.importance_ci()
        return (
            f"RefitEffect({self.name!r}, output={self.output!r}, {len(self.effects)} trainings, "
            f"importance={self.importance:.4g} [{low:.4g}, {high:.4g}], "
            f"replicated={self.replicated:.4g}, p={self.p_value:.2g})"
        )

    @property
    def name(self) -> str:
        """The feature."""
        return self.effects[0].name

    @property
    def output(self) -> str:
        """What is moved."""
        return self.effects[0].output

    @property
    def parts(self) -> Parts:
        """What the effects are made of: bins, levels or points."""
        return self.effects[0].parts

    @property
    def quantity(self) -> Quantity:
        """What curves show: an effect, or predictions."""
        return self.effects[0].quantity

    @property
    def axis(self) -> FloatArray:
        """Places of the limits, levels or points."""
        return self.effects[0].axis

    @property
    def column_kind(self) -> ColumnKind:
        """What the values of the feature are."""
        return self.effects[0].column_kind

    @property
    def labels(self) -> tuple[str, ...]:
        """One for each place where the feature has levels; none otherwise."""
        return self.effects[0].labels

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know, each note once."""
        return tuple(dict.fromkeys(note for effect in self.effects for note in effect.notes))

    @property
    def n_trainings(self) -> int:
        """How many trainings there are."""
        return len(self.effects)

    def curves(self, x: Any, *, center: Center = "mean") -> FloatArray:
        """The curve of every training at x, shape (n_trainings, n_x)."""
        return np.stack([effect.curve(x, center=center) for effect in self.effects])

    def curve(self, x: Any, *, center: Center = "mean") -> FloatArray:
        """Mean over the trainings of their curves.

        Parameters
        ----------
        x : number, date, name of a level, or array-like of these
            Feature values.
        center : {"mean", "start", "uniform"}
            Where each curve is zero: on average over the rows, at the first limit, or on average
            over x.
        """
        return np.asarray(self.curves(x, center=center).mean(axis=0))[()]

    def between(self, x: Any, *, center: Center = "mean") -> FloatArray:
        """Deviation between trainings: how far one of them lies from their mean."""
        return np.asarray(self.curves(x, center=center).std(axis=0, ddof=1))[()]

    def spread(self, x: Any, *, center: Center = "mean") -> FloatArray:
        """How rows differ at x: mean over the trainings of their `spread`."""
        spreads = [effect.spread(x, center=center) for effect in self.effects]
        return np.asarray(np.mean(spreads, axis=0))[()]

    def ci(
        self, x: Any, *, level: float = 0.95, center: Center = "mean"
    ) -> tuple[FloatArray, FloatArray]:
        """Where the mean of all possible trainings is, given that these rows were drawn.

        Parameters
        ----------
        x, center
            As in `curve`.
        level : float
            Probability that the interval covers, at one x, the average effect of the learner,
            trained on as many rows as here, over the population that the rows come from.

        Returns
        -------
        low, high : ndarrays of shape (n_x,)
            Nan where all trainings had the same rows.

        Notes
        -----
        The half-width is the root of t² F S² + h²: S the deviation between trainings, F and the
        degrees of freedom of Student's t from the rows that trainings share (`Overlap`), and h the
        mean half-width of the trainings' own intervals, which is the draw of the rows that are
        explained.
        """
        curves = self.curves(x, center=center)
        ends = np.array([effect.ci(x, level=level, center=center) for effect in self.effects])
        rows = np.mean(ends[:, 1] - ends[:, 0], axis=0) / 2
        mean, half = curves.mean(axis=0), self._half_width(curves, rows, level)
        return (mean - half)[()], (mean + half)[()]

    def _half_width(self, values: FloatArray, rows: FloatArray, level: float) -> FloatArray:
        """Half-width of the interval of a mean over the trainings, the draw of rows included."""
        require_level(level)
        overlap = self.overlap
        quantile = student_quantile(level, np.array([overlap.degrees]))[0]
        variance = overlap.factor * values.var(axis=0, ddof=1)
        return np.asarray(np.sqrt(quantile**2 * variance + np.nan_to_num(rows) ** 2))

    @property
    def importances(self) -> FloatArray:
        """Importance in every training, shape (n_trainings,)."""
        return np.array([effect.importance for effect in self.effects])

    @property
    def importance(self) -> float:
        """Mean over the trainings of the deviation of the curve over the rows."""
        return float(self.importances.mean())

    @property
    def importance_between(self) -> float:
        """Deviation of the importance between trainings."""
        return float(self.importances.std(ddof=1))

    def importance_ci(self, level: float = 0.95) -> tuple[float, float]:
        """Where the mean importance of all possible trainings is, as `ci`; never below zero."""
        require_level(level)
        normal = student_quantile(level, np.array([np.inf]))[0]
        rows = normal * np.mean([effect.importance_error for effect in self.effects])
        half = float(self._half_width(self.importances, np.asarray(rows), level))
        return max(self.importance - half, 0.0), self.importance + half

    @property
    def typical_spread(self) -> float:
        """How much rows differ, in units of the output: mean over the trainings."""
        return float(np.mean([effect.typical_spread for effect in self.effects]))

    @cached_property
    def replication(self) -> Replication:
        """What trainings without a common row agree on."""
        return replicate(self.gram, self.overlap)

    @property
    def replicated(self) -> float:
        """Importance without what the learner took from chance; 0 where nothing comes back."""
        return self.replication.size

    @property
    def p_value(self) -> float:
        """How likely curves would agree so well if there were no effect."""
        return self.replication.p_value

    @property
    def comes_back(self) -> bool:
        """Whether trainings on other rows show the effect again: p of .05 or less."""
        return self.p_value <= LEVEL

    def trace(
        self, center: Center = "mean", level: float = 0.95, n_points: int = N_POINTS
    ) -> RefitTrace:
        """What is drawn: of numbers at some hundred places, of levels and points at their own."""
        if self.parts == "bins":
            x = np.union1d(self.axis, np.linspace(self.axis[0], self.axis[-1], n_points))
            low, high = self.ci(x, level=level, center=center)
            curves = self.curves(x, center=center)
            own = None if self.own is None else self.own.curve(x, center=center)
        else:
            shown = [effect.trace(center, level) for effect in self.effects]
            x, curves = shown[0].x, np.stack([one.curve for one in shown])
            rows = np.mean([one.high - one.low for one in shown], axis=0) / 2
            half = self._half_width(curves, rows, level)
            low, high = curves.mean(axis=0) - half, curves.mean(axis=0) + half
            own = None if self.own is None else self.own.trace(center, level).curve
        between = curves.std(axis=0, ddof=1)
        return RefitTrace(x, curves.mean(axis=0), low, high, between, curves, own)
