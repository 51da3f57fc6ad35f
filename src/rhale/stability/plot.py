"""Pictures of stability: curves of all retrained models, and importance with its interval between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.effects.binning.partition import require_count
from rhale.effects.curve import Center
from rhale.effects.result import Trace, is_constant, require_level
from rhale.errors import BadSettingError
from rhale.output.picture_options import Limits, Scale, Sort
from rhale.plots import canvas, style
from rhale.plots.axes import PlotAxis, PointMarks, label_side, open_plot_axis, read_item, reserve
from rhale.plots.categorical_axis import OrientedAxes, add_levels_legend, label_oriented_axes
from rhale.plots.labels import (
    LITERAL,
    axis_name,
    fit_name,
    folded,
    format_rounded_number,
    in_sentence,
    join_names,
)
from rhale.plots.view import by_height, read_view
from rhale.regions.plot import lift_above
from rhale.stability.refit_effect import REPLICATION_LEVEL, RefitEffect, RefitTrace
from rhale.stats.arrays import BoolArray, FloatArray

# --- What these pictures say in words: how large an effect is over retrained models, and whether it is significant


LEAST_P = 0.001  # smaller ones are not told apart
UNKNOWN_RETURN = "p-value not known"
SAME_ROWS_VERDICT = "retrained on the same rows: stability on other rows is not known"


def interval_between(level: float, length: int, *, cut: bool = False) -> str:
    """Name the interval that covers other trainings; say so where the axis ends before it."""
    percent, end = f"{100 * level:.4g} %", ", cut" if cut else ""
    words = f"{percent} interval between retrainings{end}"
    return words if len(words) <= length else f"{percent} between retrainings{end}"


def tell_verdict(effect: RefitEffect, level: float) -> tuple[str, str]:
    """Say how large an effect is, and whether other trainings show it again; at length and shorter."""
    verdict = SAME_ROWS_VERDICT if effect.overlap.is_same else tell_return(effect.p_value)
    return f"{write_refit_importance(effect, level)}, {verdict}", verdict


def write_refit_importance(effect: RefitEffect, level: float) -> str:
    """Write the importance with its interval between trainings, where that is known."""
    low, high = effect.importance_ci(level)
    ends = (
        f" [{format_rounded_number(low)}, {format_rounded_number(high)}]"
        if np.isfinite(high)
        else ""
    )
    return f"importance {format_rounded_number(effect.importance)}{ends}"


def tell_return(p_value: float) -> str:
    """Say whether an effect is significant over retrained models: whether it would come back."""
    if np.isnan(p_value):
        return UNKNOWN_RETURN
    words = "significant" if p_value <= REPLICATION_LEVEL else "not significant"
    return f"{words} ({tell_p(p_value)})"


def tell_p(p_value: float) -> str:
    """Write a p-value with digits enough to see on which side of the level it is."""
    if np.isnan(p_value):
        return "p not known"
    if p_value < LEAST_P:
        return f"p < {LEAST_P}"
    written = (f"{p_value:.{digits}g}" for digits in range(2, 18))
    return f"p = {next(w for w in written if (float(w) <= REPLICATION_LEVEL) == (p_value <= REPLICATION_LEVEL))}"


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
    """Draw the effect of one feature in all retrained models of a learner.

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
    What differs between trainings has a colour of its own, and is never drawn as the spread of rows
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
    if rows and effect.own is None:
        msg = (
            f"rows=True draws the interval of your own model of {effect.name!r}, and none was "
            "given; pass it on: rhale.refit(..., model=model)"
        )
        raise BadSettingError(msg)
    wanted, first = RefitLayers(center, level, trainings, rows), effect.effects[0]
    # The axis follows the rows of the first training; levels stand by the mean of all.
    view = read_view([effect.effects[0]], limits, xscale, sort)
    if view.order:
        view = view._replace(order=by_height(effect.labels, effect.trace().curve))
    field, new = open_plot_axis([first], ax, view), ax is None
    if is_constant(first):
        draw_constant(field, effect, wanted)
    else:
        field.begin()
        explained = draw_layers(field, effect, wanted)
        title = write_stability(field.oriented.ax, effect, level, new=new)
        add_levels_legend(field.oriented, explained, new=new, title=title)
        if not new:
            lift_above(field.oriented.ax, len(explained))
    field.name_places(first)
    label_oriented_axes(field.oriented, [first], center)
    if not first.labels:
        field.oriented.ax.set_xlabel(axis_name(first, style.LABEL_LENGTH), **LITERAL)
    field.name_scale()
    return field.oriented.ax


def read_path(field: PlotAxis, effect: RefitEffect, wanted: RefitLayers) -> RefitTrace:
    """Read what is drawn of all trainings, where the field shows it."""
    first, view = effect.effects[0], field.view
    if view.is_plain:
        path = effect.trace(wanted.center, wanted.level)
    else:
        path = effect.trace(wanted.center, wanted.level, x=view.places(first))
        # Leave out places that are not shown; points of profiles are as they are.
        seen = view.shows(path.x)
        parts = {name: part[..., seen] for name, part in path._asdict().items() if part is not None}
        path = path._replace(**parts)
    return path._replace(x=field.locate(first, path.x))


def draw_layers(field: PlotAxis, effect: RefitEffect, wanted: RefitLayers) -> list[Artist]:
    """Draw trainings, their mean and interval, the user's model; return what a legend explains."""
    first, path = effect.effects[0], read_path(field, effect, wanted)
    marks = field.mark_trainings()
    # Draw what all kinds of features have.
    n_trainings = len(path.curves)
    explained = marks.draw_mean(path, f"mean of {n_trainings} retrainings")
    explained += marks.draw_interval(path)
    if wanted.trainings:
        explained += marks.draw_trainings(path, "single retrainings")
    explained += marks.draw_own(path, "your model")
    if wanted.rows and effect.own is not None:
        # Draw the interval of the user's model, whose label tells it from that between trainings.
        own_path = read_item(effect.own, wanted.center, wanted.level, view=field.view).path
        own_path = own_path._replace(x=field.locate(effect.own, own_path.x))
        explained += marks.draw_rows(own_path, f"{wanted.percent} interval of your model")
    field.draw_gaps(first)
    explained += field.draw_counts(first)
    gone = read_missing(effect, wanted)
    if gone is not None:
        draw_missing(field, effect, gone, wanted)
    field.fit()
    is_cut = cut_interval(field.oriented, [path] if gone is None else [path, gone])
    length = canvas.label_letters(field.oriented.ax)
    for band in explained:
        if band.get_gid() == "rhale:between":
            band.set_label(interval_between(wanted.level, length, cut=is_cut))
    return explained


def draw_constant(field: PlotAxis, effect: RefitEffect, wanted: RefitLayers) -> None:
    """Say that there is no curve; show missing values where they were measured."""
    first, gone = effect.effects[0], read_missing(effect, wanted)
    item, ax = read_item(first, wanted.center, wanted.level), field.oriented.ax
    if gone is None:
        field.draw_constant([item._replace(missing=None)], wanted.level)
        return
    unknown = np.full(1, np.nan)  # the colour of rows says nothing about trainings
    bare = Trace(unknown, gone.curve, unknown, unknown, unknown)
    field.draw_constant([item._replace(missing=bare)], wanted.level)
    limits = ax.get_xlim()
    draw_missing(field, effect, gone, wanted)
    field.fit()
    if not first.labels:
        ax.set_xlim(limits)


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
    aside = ax is not field.oriented.ax
    oriented, path = OrientedAxes(ax) if aside else field.oriented, path._replace(x=spot.x)
    marks = PointMarks(oriented, style.LARGEST_DOT, SIDE_ROOM)
    if wanted.trainings:
        marks.draw_trainings(path, "")
    marks.draw_interval(path)
    marks.draw_own(path, "")
    mean = Trace(path.x, path.curve, path.between, path.low, path.high)
    oriented.draw_missing_dot(mean, style.LARGEST_DOT, style.ALONE)
    if aside:
        for values in (*path.curves, path.low, path.high):
            reserve(field.oriented.ax, mean._replace(curve=values), spread=False)
        share = 0.0 if first.missing is None else first.missing.share
        label_side(ax, f"missing\n{100 * share:.3g} %", style.NAME_TEXT)


def cut_interval(oriented: OrientedAxes, paths: Sequence[RefitTrace]) -> bool:
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
    oriented.limit_values(*limits)
    return True


def write_stability(ax: Axes, effect: RefitEffect, level: float, *, new: bool) -> str:
    """Say how large the effect is and whether it comes back: above given axes, or for the legend."""
    wordings = tell_verdict(effect, level)
    if new:
        room = canvas.wide_letters(style.PROFILE_SIZE[0] - canvas.BESIDE_LEGEND, style.LEGEND_TEXT)
        return folded(wordings[0], room)
    room = canvas.wide_letters(ax.get_window_extent().width / ax.figure.dpi, style.NUMBER_TEXT)
    words = next((words for words in wordings if len(words) <= room), folded(wordings[-1], room))
    title = ax.set_title(words, loc="left", fontsize=style.NUMBER_TEXT, **LITERAL)
    title.set(color=style.NOTE, gid="rhale:verdict")
    return ""


# --- Stability of all features: their importance over retrained models, as a ranking


FEATURE_NAMES_SHARE = 0.6  # of the width of given axes, for names beside them
ABOVE, BELOW = -0.16, 0.2  # where importance and what comes back stand, in lines
IMPORTANCE_DOT_SIZE, DIAMOND = 5.5, 5.5  # points
BAR = 0.26  # of a line
TITLE = 60  # letters of a remark
ON = " on "  # between a feature and an output
MAX_INTERVAL_REACH = 2.0  # how far intervals may widen the axis, by the largest importance


class Ranking(NamedTuple):
    """Numbers of the lines of the picture, each of shape (n_lines,)."""

    importance: FloatArray
    low: FloatArray
    high: FloatArray
    replicated: FloatArray
    p_value: FloatArray
    comes_back: BoolArray

    @property
    def right(self) -> float:
        """Where the axis ends: intervals that are very wide go on beyond."""
        sizes = np.concatenate([self.importance, self.replicated])
        largest = float(np.nanmax(sizes, initial=0.0))
        farthest = float(np.nanmax(self.high, initial=largest))
        right = min(farthest, MAX_INTERVAL_REACH * largest)
        return right if right > canvas.SMALLEST_PLOT_RANGE else 1.0


def plot_replication(
    effects: Sequence[RefitEffect],
    *,
    ax: Axes | None = None,
    level: float = 0.95,
    most: int = 30,
) -> Axes:
    """Draw how stable all features are: their importance over retrained models.

    Parameters
    ----------
    effects : sequence of RefitEffect
        What to draw, the first on top: `rx.ranked()`.
    ax : Axes, optional
        Where; None makes a new figure.
    level : float
        Of the interval of the importance between trainings.
    most : int
        How many at most; the legend says how many there are.

    Returns
    -------
    Axes
        The given ones, or new ones. Artists carry a gid: rhale:between (the interval),
        rhale:importance, rhale:replicated (significant), rhale:chance (not significant),
        rhale:p for the numbers beside.

    Notes
    -----
    Importance is never below zero: that of a feature without an effect is what the learner took
    from chance. Diamonds show it corrected for chance. A full one is significant; a hollow one is
    not, and the name of its feature is grey. Where all models were trained on the same rows,
    stability is not known: there are no diamonds, and the legend says so.

    Examples
    --------
    >>> import rhale
    >>> x = np.random.default_rng(0).normal(size=(180, 2))
    >>> models = [lambda x, a=a: a * x[:, 0] for a in (1.0, 1.5, 1.25, 1.3)]
    >>> rx = rhale.refits(models, x, train=np.arange(180).reshape(4, 45))
    >>> [name.get_text() for name in plot_replication(rx.ranked()).get_yticklabels()]
    ['x0', 'x1']
    """
    require_level(level)
    require_count("most", most)
    if not effects:
        msg = "there are no effects to rank; give those of refits: plot_replication(rx.ranked())"
        raise BadSettingError(msg)
    kept, new = list(effects[:most]), ax is None
    ax = canvas.open_ranking(ax, len(kept), (style.REPLICATION_WIDTH, style.REPLICATION_HEAD))
    # Read the numbers of all lines.
    numbers = [(e.importance, *e.importance_ci(level), e.replicated, e.p_value) for e in kept]
    importance, low, high, replicated, p_value = np.array(numbers, dtype=np.float64).T
    comes_back = np.array([effect.comes_back for effect in kept])
    ranking = Ranking(importance, low, high, replicated, p_value, comes_back)
    # Set how far the axes reach, and part the lines.
    n_lines = ranking.importance.size
    ax.set_xlim(0.0, 1.04 * ranking.right)
    for place in np.arange(1, n_lines) - 0.5:
        rule = ax.axhline(place, color=style.ZERO_LINE, linewidth=style.HAIR_LINE)
        rule.set(zorder=0.4, alpha=0.5, gid="rhale:rule")
    explained = draw_importance(ax, ranking, level) + draw_returns(ax, ranking)
    name_lines(ax, kept, ranking, new=new)
    # Say above the legend what is not drawn, and why.
    n_all = len(effects)
    n_drawn, remarks = ranking.importance.size, list[str]()
    if n_drawn < n_all:
        remarks.append(f"{n_drawn} of {n_all} effects")
    if np.isnan(ranking.p_value).all():
        remarks.append(SAME_ROWS_VERDICT)
    title = "\n".join(folded(words, TITLE) for words in remarks)
    # Explain below a new figure, whose names may leave little room; else where the axes are
    # emptiest.
    if new:
        canvas.add_figure_legend(canvas.figure_of(ax), explained, title)
    else:
        canvas.add_legend(ax, explained, outside=False, title=title)
        lift_above(ax, len(explained) + len(title.splitlines()))
    words = join_names(
        [in_sentence(effect) for effect in kept], max(8, canvas.letters(ax, "width"))
    )
    ax.set_xlabel(
        f"importance: effect on {words}\n(deviation over the rows)",
        fontsize=style.NAME_TEXT,
        **LITERAL,
    )
    return ax


def draw_importance(ax: Axes, ranking: Ranking, level: float) -> list[Artist]:
    """Draw importance, and its interval between trainings where that is known."""
    places = np.arange(float(ranking.importance.size)) + ABOVE
    (dots,) = ax.plot(
        ranking.importance, places, "o", color=style.EFFECT, markersize=IMPORTANCE_DOT_SIZE
    )
    dots.set(markeredgewidth=style.THIN_LINE, markeredgecolor="white", zorder=4)
    dots.set(clip_on=False, gid="rhale:importance", label="mean importance")
    known = np.isfinite(ranking.high)
    if not known.any():
        return [dots]
    low, high = ranking.low[known], np.minimum(ranking.high[known], 2 * ranking.right)
    bars = ax.barh(places[known], high - low, BAR, low, color=style.BETWEEN, zorder=2)
    is_cut = bool((ranking.high[known] > ranking.right).any())
    for bar in bars:
        bar.set_gid("rhale:between")
    bars.patches[0].set_label(interval_between(level, canvas.label_letters(ax), cut=is_cut))
    return [dots, bars.patches[0]]


def draw_returns(ax: Axes, ranking: Ranking) -> list[Artist]:
    """Draw what trainings agree on: full where it comes back, hollow where it may be chance."""
    places, explained = np.arange(ranking.importance.size) + BELOW, list[Artist]()
    known = np.isfinite(ranking.replicated)
    returns = ranking.comes_back
    kinds = (
        (known & returns, style.TRUTH, "rhale:replicated", "corrected for chance, significant"),
        (known & ~returns, "none", "rhale:chance", "corrected for chance, not significant"),
    )
    for chosen, face, gid, label in kinds:
        if chosen.any():
            (marks,) = ax.plot(ranking.replicated[chosen], places[chosen], "D", color=style.TRUTH)
            marks.set(markersize=DIAMOND, markerfacecolor=face, markeredgewidth=style.THIN_LINE)
            marks.set(zorder=4, clip_on=False, gid=gid, label=label)
            explained.append(marks)
    return explained


def name_lines(ax: Axes, effects: Sequence[RefitEffect], ranking: Ranking, *, new: bool) -> None:
    """Write features at the left, grey where they do not come back, and p-values at the right."""
    length = canvas.ranked_name_letters(ax, FEATURE_NAMES_SHARE, new=new)
    several = len({effect.output for effect in effects}) > 1
    names = [name_line(effect, length, several=several) for effect in effects]
    canvas.name_ranking(ax, names)
    lost = np.isfinite(ranking.p_value) & ~ranking.comes_back
    for tick, is_lost in zip(ax.yaxis.get_major_ticks(), lost, strict=True):
        tick.label1.set_color(style.SINGLE_ROW if is_lost else style.TRUTH)
    ax.tick_params(axis="y", pad=7)  # half a diamond may stand left of zero
    if np.isfinite(ranking.p_value).any():
        # Write p-values beside the axes.
        side = ax.secondary_yaxis("right")
        side.set_yticks(range(ranking.p_value.size), labels=[tell_p(p) for p in ranking.p_value])
        side.tick_params(axis="y", length=0, labelsize=style.NUMBER_TEXT, labelcolor=style.NOTE)
        side.spines["right"].set_visible(False)
        side.set_gid("rhale:p")


def name_line(effect: RefitEffect, length: int, *, several: bool) -> str:
    """Write the feature in at most so many letters, and the output where there are several."""
    words, output = effect.captions.feature(effect.name), effect.captions.output(effect.output)
    if not several:
        return fit_name(words, length)
    room = length - len(ON)
    feature = fit_name(words, max(room - len(output), room // 2))
    return f"{feature}{ON}{fit_name(output, room - len(feature))}"
