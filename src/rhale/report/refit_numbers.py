"""One feature in several trainings as few plain numbers: the mean curve, its interval, all curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import BoolArray, IntArray
from rhale.report.chart_numbers import (
    CONFIDENCE_LEVEL,
    MAX_CHART_LEVEL_LETTERS,
    N_CHART_POINTS,
    Form,
    Numbers,
    axis_unit,
    count_chart_rows,
    finite_or_none,
    form_of,
    is_inside,
    on_scale,
    order_chart_levels,
    places,
    round_for_chart,
    tell_shown,
    thin,
    thin_parts,
    titles_of,
)
from rhale.report.wording import clean
from rhale.results.refit_effect import RefitEffect, RefitTrace
from rhale.results.result import is_constant
from rhale.results.row_quantiles import find_shown_part, has_free_order

MOST_CURVES = 20
MAX_REFIT_CURVE_POINTS = 48  # of one thin curve among many
REFIT_CURVE_DIGITS = 2  # of its heights
N_LOG_POINTS = 2_001  # of a curve whose axis is logarithmic: most of them are far to the right
REFIT_TOLERANCE_FACTOR = 2.0  # times what the bends of a single curve have to be, to be drawn


@dataclass(frozen=True)
class TrainingCurve:
    """The curve of one training: heights, and at which places of `RefitShape.grid` they are."""

    at: tuple[int, ...]
    y: Numbers


@dataclass(frozen=True)
class MissingMean:
    """Where predictions without a value stand on the scale of the mean curve; as in `RefitShape`."""

    y: float | None
    low: float | None
    high: float | None
    between: float | None


@dataclass(frozen=True)
class RefitShape:
    """What is drawn of one feature in several trainings.

    Attributes
    ----------
    form, dots, unit, limits, rows, labels, log, sorted, titles, shown, beyond
        As in `Shape`; levels without an order stand by the effect in the first training.
    x, y, low, high, between : tuple of float
        The mean of the trainings, its interval, and the deviation between trainings.
    grid : tuple of float
        All places that curves may have points at.
    curves : tuple of TrainingCurve
        Some trainings, evenly chosen where there are many.
    n_trainings : int
        How many there are.
    own : TrainingCurve or None
        The user's own model, where it was given.
    missing : MissingMean or None
        The point of missing values, where all trainings tell.
    """

    form: Form
    x: Numbers = ()
    y: Numbers = ()
    low: Numbers = ()
    high: Numbers = ()
    between: Numbers = ()
    dots: bool = False
    unit: str = ""
    limits: Numbers = ()
    rows: Numbers = ()
    labels: tuple[str, ...] = ()
    grid: Numbers = ()
    curves: tuple[TrainingCurve, ...] = ()
    n_trainings: int = 0
    own: TrainingCurve | None = None
    missing: MissingMean | None = None
    log: bool = False
    sorted: bool = False
    titles: tuple[str, ...] = ()
    shown: Numbers = ()
    beyond: str = ""


def trace_refits(effect: RefitEffect) -> RefitTrace | None:
    """What is drawn, at as many places as a page needs; None where the feature has one value."""
    first = effect.effects[0]
    if is_constant(first):
        return None
    part = find_shown_part(first)
    if effect.parts != "bins" or not part.beyond:
        return effect.trace(
            "mean", CONFIDENCE_LEVEL, N_LOG_POINTS if part.is_log else N_CHART_POINTS
        )
    first_x, last_x = effect.axis[0], effect.axis[-1]
    even = (np.geomspace if part.is_log else np.linspace)(part.low, part.high, N_CHART_POINTS)
    x = np.unique([*effect.axis, *np.linspace(first_x, last_x, N_CHART_POINTS), *even, *part[:2]])
    return effect.trace("mean", CONFIDENCE_LEVEL, x=x.clip(first_x, last_x))


def shape_of_refits(effect: RefitEffect, path: RefitTrace | None) -> RefitShape:
    """Read off one feature in several trainings, and its `trace_refits`, what is drawn of it."""
    first = effect.effects[0]
    if path is None:
        return RefitShape("constant", n_trainings=effect.n_trainings)
    middle, part = np.stack([path.curve, path.low, path.high]), find_shown_part(first)
    seen, inside = np.log(path.x) if part.is_log else path.x, is_inside(path.x, part)
    kept = order_chart_levels(first) if first.labels else thin_parts(path.x, middle, part)
    limits, rows = count_chart_rows(first, part)
    form = form_of(first)
    heights = [values[kept] for values in (path.curve, path.low, path.high, path.between)]
    y, low, high, between = on_scale(heights, None if first.labels else inside[kept])
    order = kept if first.labels else None
    used, curves = thin_curves(path._replace(x=seen), order, inside)
    return RefitShape(
        form,
        places(first, path.x[kept], part),
        y,
        low,
        high,
        between,
        dots=bool(first.labels),
        unit=axis_unit(first),
        limits=limits,
        rows=rows,
        labels=tuple(
            clean(first.labels[i], MAX_CHART_LEVEL_LETTERS) for i in kept if form == "levels"
        ),
        grid=places(first, path.x[used], part),
        curves=curves if path.own is None else curves[:-1],
        n_trainings=effect.n_trainings,
        own=None if path.own is None else curves[-1],
        missing=missing_mean(effect),
        log=part.is_log,
        sorted=form == "levels" and has_free_order(first),
        titles=titles_of(first),
        **tell_shown(first, part),
    )


def missing_mean(effect: RefitEffect) -> MissingMean | None:
    """The point of missing values, if it was measured."""
    found = effect.missing
    if found is None:
        return None
    return MissingMean(*map(finite_or_none, (found.curve, found.low, found.high, found.between)))


def choose_even_positions(n: int, most: int) -> list[int]:
    """Choose at most so many of n numbers.

    Examples
    --------
    >>> choose_even_positions(3, 20), choose_even_positions(9, 3)
    ([0, 1, 2], [0, 4, 8])
    """
    return [int(i) for i in np.unique(np.rint(np.linspace(0, n - 1, min(n, most))))]


def thin_curves(
    path: RefitTrace, order: IntArray | None, inside: BoolArray | None = None
) -> tuple[IntArray, tuple[TrainingCurve, ...]]:
    """Points of single curves that can be seen beside the others.

    Parameters
    ----------
    path : RefitTrace
        With distances along the axis for its places.
    order : ndarray of shape (n_levels,) or None
        Of levels, which are all there.
    inside : ndarray of shape (n_places,), optional
        Which places are shown at first; all if not given.

    Returns
    -------
    ndarray, and tuple of TrainingCurve
        Which of the path's places are used; curves of some trainings, and of the user's model last.
    """
    shown = [path.curves[i] for i in choose_even_positions(len(path.curves), MOST_CURVES)]
    shown += [] if path.own is None else [path.own]
    finite = path.curves if inside is None else path.curves[:, inside]
    finite = finite[np.isfinite(finite)]
    span = float(np.ptp(finite)) if finite.size else 1.0
    if order is not None:
        every = tuple(range(order.size))
        heights = [round_for_chart(curve[order], span, REFIT_CURVE_DIGITS) for curve in shown]
        return order, tuple(TrainingCurve(every, some) for some in heights)
    kept = [
        thin(path.x, curve[None], MAX_REFIT_CURVE_POINTS, REFIT_TOLERANCE_FACTOR * span)
        for curve in shown
    ]
    used = np.unique(np.concatenate(kept))
    return used, tuple(
        TrainingCurve(
            tuple(np.searchsorted(used, some).tolist()),
            round_for_chart(curve[some], span, REFIT_CURVE_DIGITS),
        )
        for curve, some in zip(shown, kept, strict=True)
    )
