"""Charts of refits on the page: their numbers, and Vega specifications without data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from rhale.effects.result import is_constant
from rhale.effects.support import find_shown_part, has_free_order
from rhale.report.charts import (
    CHART_DOT_AREA,
    CURVE_PANEL_HEIGHT,
    LABELS,
    LEVEL_HEIGHT,
    LINE,
    THIN,
    VALUE,
    ZOOM,
    ChartPanel,
    Spec,
    layered,
    level_place,
    missing_marks,
    stacked,
    strip_panel,
    to_vega,
    x_axis,
)
from rhale.report.numbers import (
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
from rhale.report.sentences import clean
from rhale.stability.refit_effect import RefitEffect, RefitTrace
from rhale.stats.arrays import BoolArray, IntArray
from rhale.stats.distributions import CONFIDENCE_LEVEL

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
    """What is drawn of one feature in several trainings."""

    # form, dots, unit, limits, rows, labels, log, sorted, titles, shown, beyond: as in
    # `Shape`; levels without an order stand by the effect in the first training.
    form: Form
    # x, y, low, high, between: the mean of the trainings, its interval, and the deviation
    # between trainings.
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
    grid: Numbers = ()  # all places that curves may have points at
    curves: tuple[TrainingCurve, ...] = ()  # some trainings, evenly chosen where there are many
    n_trainings: int = 0  # how many there are
    own: TrainingCurve | None = None  # the user's own model, where it was given
    missing: MissingMean | None = None  # the point of missing values, where all trainings tell
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
    """Choose at most so many of n numbers."""
    return [int(i) for i in np.unique(np.rint(np.linspace(0, n - 1, min(n, most))))]


def thin_curves(
    path: RefitTrace, order: IntArray | None, inside: BoolArray | None = None
) -> tuple[IntArray, tuple[TrainingCurve, ...]]:
    """Points of single curves that can be seen beside the others.

    Return which of the path's places are used, and the curves of some trainings, that of the user's
    model last. `inside` marks the places that are shown at first; all are if it is not given.
    Shapes: `order` (n_levels,), `inside` (n_places,).
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


# --- Charts of trainings without data: thin curves of all, their mean and its interval


REFIT_CHART_KINDS = {
    "curve": "trainings",
    "log": "log trainings",
    "dates": "date trainings",
    "levels": "level trainings",
}
OWN_MODEL_CHART_DASH = [6, 3]  # of the user's model, so that a grey print still tells


def compile_refit_charts(forms: set[str]) -> dict[str, Spec]:
    """Make the charts that retrainings need."""
    kinds = forms & set(REFIT_CHART_KINDS)
    return {REFIT_CHART_KINDS[form]: compile_refit_chart(form) for form in sorted(kinds)}


@cache
def compile_refit_chart(form: str) -> Spec:
    """Make one kind of chart, ready for Vega."""
    if form == "levels":
        return to_vega(level_trainings_chart(), (LABELS, []))
    # Curves of trainings above, and where the rows are.
    scale = {"dates": "utc", "log": "log"}.get(form, "linear")
    curves = trainings_panel(x_axis(scale, labels=False))
    return to_vega(stacked([curves, strip_panel(x_axis(scale, labels=True))], 26), (ZOOM, None))


def trainings_panel(x: Spec) -> Spec:
    """The interval, single trainings, the user's model, the mean; dots where there are levels."""
    panel, width = ChartPanel(x, VALUE), 3 * LINE
    each: Spec = {"on": {"detail": {"field": "k", "type": "nominal"}}}
    layers = [
        *panel.behind(),
        panel.marks("band", "area", "between-area", "low", "high"),
        panel.rule("dots", "between-rule", "low", "high", width),
        panel.line("trainings", "training-line", THIN, **each),
        panel.line("own", "own-line", strokeDash=OWN_MODEL_CHART_DASH),
        panel.line("line", "effect-line"),
        panel.dots("dots", "effect-dot", filled=True),
        *missing_marks(panel, ("between-rule", "low", "high", width)),
        panel.here(),
    ]
    return layered(layers, CURVE_PANEL_HEIGHT)


def level_trainings_chart() -> Spec:
    """Levels below one another: the mean as a dot, its interval, and a stroke for each training."""
    panel = ChartPanel(level_place(labels=True), VALUE, is_levels=True)
    own: Spec = {"shape": "diamond", "strokeWidth": LINE}
    layers = [
        *panel.behind(),
        panel.rule("dots", "between-rule", "low", "high", 3 * LINE),
        panel.marks("trainings", "tick", "training-tick", thickness=THIN, height=LEVEL_HEIGHT / 2),
        panel.dots("dots", "effect-dot", where="!datum.m", filled=True),
        panel.dots("dots", "missing-dot", where="datum.m", strokeWidth=LINE),
        panel.dots("own", "own-dot", 2 * CHART_DOT_AREA, **own),
    ]
    return layered(layers, {"step": LEVEL_HEIGHT})
