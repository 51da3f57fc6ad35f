"""One feature in several trainings: their curves, the mean, and where it would be in others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.errors import BadSettingError
from rhale.kernels.curve import Center
from rhale.plots import canvas, dots, missing_panel, style, ticks
from rhale.plots.board import OrientedAxes, add_levels_legend, label_oriented_axes
from rhale.plots.fields import PlotAxis, open_plot_axis, read_item
from rhale.plots.lettering import LITERAL, folded
from rhale.plots.region_legend import lift_above
from rhale.plots.training_marks import Marks, PointMarks
from rhale.plots.verdict import interval_between, tell_verdict
from rhale.plots.view import AxisView, Limits, Scale, Sort, by_height, read_view
from rhale.results.refit_effect import RefitEffect, RefitTrace
from rhale.results.result import Result, Trace, is_constant, require_level

ROOM_FOR_INTERVAL = 1.0  # how far it may widen the axis, as a share of the range of all curves
SIDE_ROOM = 0.9  # of the place for missing values, for dots of trainings


class RefitLayers(NamedTuple):
    """What is drawn besides the mean of the trainings, and where that is zero."""

    center: Center
    level: float
    trainings: bool
    rows: bool

    @property
    def percent(self) -> str:
        """The level in words."""
        return f"{100 * self.level:.4g} %"


def plot_refits(
    effect: RefitEffect,
    *,
    ax: Axes | None = None,
    center: Center = "mean",
    level: float = 0.95,
    trainings: bool = True,
    rows: bool = False,
    limits: Limits = None,
    xscale: Scale = "auto",
    sort: Sort | None = None,
) -> Axes:
    """Draw the effect of one feature in all trainings of a learner.

    Parameters
    ----------
    effect : RefitEffect
        What to draw: `rx["age"]`.
    ax : Axes, optional
        Where; None makes a new figure.
    center : {"mean", "start", "uniform"}
        Where every curve is zero, as in `RefitEffect.curve`.
    level : float
        Of the interval between trainings.
    trainings : bool
        Draw the curve of every training, beside their mean.
    rows : bool
        Draw the interval of your own model, too, which says how well its mean is known from these
        rows, and nothing about other trainings. Needs `model=` in `rhale.refit`.
    limits, xscale, sort
        As in `plot_effect`; levels stand by the mean of the trainings.

    Returns
    -------
    Axes
        The given ones, or new ones. Artists carry a gid: rhale:trainings, rhale:between (the
        interval), rhale:curve or rhale:levels (the mean), rhale:own (your model), rhale:ci (its
        interval), rhale:counts, rhale:missing.

    Notes
    -----
    What differs between trainings has an ink of its own, and is never drawn as the spread of rows
    or as the interval of one model. Few trainings leave an interval so wide that nothing else
    would be seen: the axis ends before it, and the legend says so. No interval covers what the
    learner gets wrong in every training.

    Examples
    --------
    >>> import rhale
    >>> x = np.random.default_rng(0).normal(size=(180, 2))
    >>> models = [lambda x, a=a: a * x[:, 0] for a in (1.0, 1.5, 1.25)]
    >>> rx = rhale.refits(models, x, train=np.arange(180).reshape(3, 60))
    >>> plot_refits(rx["x0"]).get_xlabel()
    'x0'
    """
    require_level(level)
    require_own(effect, rows=rows)
    wanted, first = RefitLayers(center, level, trainings, rows), effect.effects[0]
    view = read_refit_view(effect, limits, xscale, sort)
    field, new = open_plot_axis([first], ax, view), ax is None
    if is_constant(first):
        draw_constant(field, effect, wanted)
    else:
        field.begin()
        explained = draw_layers(field, effect, wanted)
        told = write_stability(field.board.ax, effect, level, new=new)
        add_levels_legend(field.board, explained, new=new, title=told)
        if not new:
            lift_above(field.board.ax, len(explained))
    field.name_places(first)
    label_oriented_axes(field.board, [first], center)
    if not first.labels:
        field.board.ax.set_xlabel(ticks.axis_name(first, style.LABEL_LENGTH), **LITERAL)
    field.name_scale()
    return field.board.ax


def read_refit_view(
    effect: RefitEffect, limits: Limits, xscale: Scale, sort: Sort | None
) -> AxisView:
    """Read how the axis is to be shown: by the rows of the first training, and by all means."""
    view = read_view([effect.effects[0]], limits, xscale, sort)
    if not view.order:
        return view
    return view._replace(order=by_height(effect.labels, effect.trace().curve))


def read_path(field: PlotAxis, effect: RefitEffect, wanted: RefitLayers) -> RefitTrace:
    """Read what is drawn of all trainings, where the field shows it."""
    first, view = effect.effects[0], field.view
    if view.is_plain:
        path = effect.trace(wanted.center, wanted.level)
    else:
        path = effect.trace(wanted.center, wanted.level, x=view.places(first))
        path = crop_refit_trace(path, view)
    return path._replace(x=field.locate(first, path.x))


def crop_refit_trace(path: RefitTrace, view: AxisView) -> RefitTrace:
    """Leave out places that are not shown; points of profiles are as they are."""
    seen = view.shows(path.x)
    parts = {name: part[..., seen] for name, part in path._asdict().items() if part is not None}
    return path._replace(**parts)


def require_own(effect: RefitEffect, *, rows: bool) -> None:
    """Refuse the interval of a model that is not there."""
    if rows and effect.own is None:
        msg = (
            f"rows=True draws the interval of your own model of {effect.name!r}, and none was "
            "given; pass it on: rhale.refit(..., model=model)"
        )
        raise BadSettingError(msg)


def draw_layers(field: PlotAxis, effect: RefitEffect, wanted: RefitLayers) -> list[Artist]:
    """Draw trainings, their mean and interval, the user's model; return what a legend explains."""
    first, path = effect.effects[0], read_path(field, effect, wanted)
    marks = field.mark_trainings()
    explained = draw_path(marks, path, wanted)
    if wanted.rows and effect.own is not None:
        explained += draw_own_model_interval(field, effect.own, marks, wanted)
    field.draw_gaps(first)
    explained += field.draw_counts(first)
    gone = read_missing(effect, wanted)
    if gone is not None:
        draw_missing(field, effect, gone, wanted)
    field.fit()
    is_cut = cut_interval(field.board, [path] if gone is None else [path, gone])
    length = canvas.label_letters(field.board.ax)
    for band in explained:
        if band.get_gid() == "rhale:between":
            band.set_label(interval_between(wanted.level, length, cut=is_cut))
    return explained


def draw_constant(field: PlotAxis, effect: RefitEffect, wanted: RefitLayers) -> None:
    """Say that there is no curve; show missing values where they were measured."""
    first, gone = effect.effects[0], read_missing(effect, wanted)
    item, ax = read_item(first, wanted.center, wanted.level), field.board.ax
    if gone is None:
        field.draw_constant([item._replace(missing=None)], wanted.level)
        return
    unknown = np.full(1, np.nan)  # the ink of rows says nothing about trainings
    bare = Trace(unknown, gone.curve, unknown, unknown, unknown)
    field.draw_constant([item._replace(missing=bare)], wanted.level)
    limits = ax.get_xlim()
    draw_missing(field, effect, gone, wanted)
    field.fit()
    if not first.labels:
        ax.set_xlim(limits)


def draw_path(marks: Marks, path: RefitTrace, wanted: RefitLayers) -> list[Artist]:
    """Draw what all kinds of features have."""
    n_trainings = len(path.curves)
    explained = marks.draw_mean(path, f"mean of {n_trainings} trainings")
    explained += marks.draw_interval(path)
    if wanted.trainings:
        explained += marks.draw_trainings(path, "single trainings")
    return explained + marks.draw_own(path, "your model")


def draw_own_model_interval(
    field: PlotAxis, own: Result, marks: Marks, wanted: RefitLayers
) -> list[Artist]:
    """Draw the interval of the user's model, whose label tells it from that between trainings."""
    path = read_item(own, wanted.center, wanted.level, view=field.view).path
    path = path._replace(x=field.locate(own, path.x))
    return marks.draw_rows(path, f"{wanted.percent} interval of your model")


def read_missing(effect: RefitEffect, wanted: RefitLayers) -> RefitTrace | None:
    """Read the points of missing values in all trainings; None where they were not measured."""
    point = effect.missing_point(wanted.center, wanted.level)
    if point is None:
        return None
    results = (*effect.effects, *([] if effect.own is None else [effect.own]))
    traces = [result.missing_trace(wanted.center, wanted.level) for result in results]
    heights = np.stack([np.full(1, np.nan) if one is None else one.curve for one in traces])
    return RefitTrace(
        x=np.zeros(1),
        curve=np.array([point.curve]),
        low=np.array([point.low]),
        high=np.array([point.high]),
        between=np.array([point.between]),
        curves=heights[: effect.n_trainings],
        own=None if effect.own is None or traces[-1] is None else heights[-1],
    )


def draw_missing(
    field: PlotAxis, effect: RefitEffect, path: RefitTrace, wanted: RefitLayers
) -> None:
    """Draw trainings and their mean without a value: in a slot, or in a narrow panel."""
    first = effect.effects[0]
    spot = Trace(*np.full((5, 1), np.nan))
    ax, spot = field.place_missing(spot)
    aside = ax is not field.board.ax
    board, path = OrientedAxes(ax) if aside else field.board, path._replace(x=spot.x)
    marks = PointMarks(board, style.LARGEST_DOT, SIDE_ROOM)
    if wanted.trainings:
        marks.draw_trainings(path, "")
    marks.draw_interval(path)
    marks.draw_own(path, "")
    mean = Trace(path.x, path.curve, path.between, path.low, path.high)
    dots.draw_missing_dot(board, mean, style.LARGEST_DOT, style.ALONE)
    if aside:
        for values in (*path.curves, path.low, path.high):
            missing_panel.reserve(field.board.ax, mean._replace(curve=values), spread=False)
        share = 0.0 if first.missing is None else first.missing.share
        missing_panel.label_side(ax, f"missing\n{100 * share:.3g} %", style.NAME_TEXT)


def cut_interval(board: OrientedAxes, paths: Sequence[RefitTrace]) -> bool:
    """Let the axis end before intervals that would leave nothing to see; tell whether it did."""
    drawn = [part for path in paths for part in (path.curves, path.own) if part is not None]
    values = np.concatenate([np.ravel(part) for part in drawn])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = ROOM_FOR_INTERVAL * (high - low)
    ends = (
        float(min(np.nanmin(path.low, initial=low) for path in paths)),
        float(max(np.nanmax(path.high, initial=high) for path in paths)),
    )
    reach = max(ends[0], low - room), min(ends[1], high + room)
    if not room > 0 or reach == ends:
        return False
    limits = canvas.widen_interval(
        min(reach[0], 0.0), max(reach[1], 0.0), style.ROOM_FOR_STRIP, style.AXIS_MARGIN
    )
    (board.ax.set_xlim if board.turned else board.ax.set_ylim)(*limits, auto=True)
    return True


def write_stability(ax: Axes, effect: RefitEffect, level: float, *, new: bool) -> str:
    """Say how large the effect is and whether it comes back: above given axes, or for the legend."""
    told = tell_verdict(effect, level)
    if new:
        room = canvas.wide_letters(style.PROFILE_SIZE[0] - canvas.BESIDE_LEGEND, style.LEGEND_TEXT)
        return folded(told[0], room)
    room = canvas.wide_letters(ax.get_window_extent().width / ax.figure.dpi, style.NUMBER_TEXT)
    words = next((words for words in told if len(words) <= room), folded(told[-1], room))
    title = ax.set_title(words, loc="left", fontsize=style.NUMBER_TEXT, **LITERAL)
    title.set(color=style.NOTE, gid="rhale:verdict")
    return ""
