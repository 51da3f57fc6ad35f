"""One profile: partial dependence with the rows' own curves, or the marginal plot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from rhale.effects.curve import Center
from rhale.effects.profile import Profile, differentiate
from rhale.effects.result import Result, Trace, is_constant
from rhale.effects.spread import choose_rows_evenly
from rhale.errors import BadSettingError
from rhale.plots import canvas, marks, style, ticks
from rhale.plots.axes import CategoricalAxis, ContinuousAxis, Layers, read_item
from rhale.plots.categorical_axis import (
    add_levels_legend,
    label_oriented_axes,
    lay_out_levels,
    new_oriented_axes,
)
from rhale.plots.labels import LITERAL, slope_label, value_label
from rhale.plots.proportion import describe_relative_importance, keep_in_proportion
from rhale.plots.row_curves import tell_chosen
from rhale.plots.view import PLAIN_VIEW, AxisView, Limits, Scale, Sort, read_view
from rhale.stats.arrays import FloatArray
from rhale.stats.distributions import student_quantile

MEANS = {"pdp": "partial dependence", "ice": "partial dependence", "mplot": "mean of rows near x"}


def plot_profile(
    profile: Profile,
    *,
    ax: Axes | None = None,
    kind: str | None = None,
    center: Center | None = "mean",
    derivatives: bool = False,
    level: float = 0.95,
    max_curves: int = 200,
    smooth: bool = False,  # noqa: ARG001
    limits: Limits = None,
    xscale: Scale = "auto",
    sort: Sort | None = None,
    among: Sequence[Result] = (),
) -> Axes:
    """Draw a profile: its mean, spread and interval, and the curves of single rows it kept.

    Parameters
    ----------
    profile : Profile
        What to draw.
    ax : Axes, optional
        Where; None makes a new figure.
    kind : {"curve"}, optional
        A profile has its curve alone.
    center : {"mean", "start", "uniform"} or None
        Where every curve is zero (c-ICE); None keeps the level of the predictions (ICE).
    derivatives : bool
        Draw slopes instead of values (d-ICE); a slope needs no centre.
    level : float
        Of the interval of the mean.
    max_curves : int
        Largest number of single rows drawn, chosen evenly along the feature. The legend says
        how many of those kept are drawn.
    smooth : bool
        Changes nothing: averages of predictions are drawn as they are.
    limits, xscale, sort, among
        As in `plot_effect`.

    Returns
    -------
    Axes
        The given ones, or new ones. Artists carry a gid: rhale:curve, rhale:rows, rhale:spread,
        rhale:ci, rhale:counts, rhale:missing; for levels rhale:levels.

    Examples
    --------
    >>> import rhale
    >>> X = np.linspace(0, 1, 60).reshape(30, 2)
    >>> profile = rhale.explain(lambda X: X[:, 0] ** 2, X, method="ice")["x0"]
    >>> plot_profile(profile, center=None).get_ylabel()
    'prediction'
    """
    if derivatives and profile.method == "mplot":
        msg = "a marginal plot has no curves of rows to differentiate; use method='ice' or 'pdp'"
        raise BadSettingError(msg)
    if derivatives and profile.levels and not profile.is_number:
        msg = f"the levels of {profile.name!r} are no numbers, so that there are no slopes"
        raise BadSettingError(msg)
    # Refuse panels that a profile does not have.
    if kind not in (None, "curve"):
        msg = (
            f"kind={kind!r}: the profile of {profile.name!r} has no bins, and kind='curve' is all "
            "there is; bins come with method='rhale', 'ale' or 'dale'"
        )
        raise BadSettingError(msg)
    view = read_view([profile], limits, xscale, sort)
    if profile.labels and not derivatives:
        layers = Layers(center, level, among=among)
        return plot_level_profile(profile, ax, view, layers, max_curves)
    new = ax is None
    ax = canvas.new_axes(style.PROFILE_SIZE) if ax is None else ax
    item, field = read_item(profile, center, level, view=view), ContinuousAxis(ax, view=view)
    if is_constant(profile):
        field.draw_constant([item], level)
        marks.draw_missing_result(ax, profile, item.missing, level)
    else:
        path = slope_trace(profile, level, view) if derivatives else item.path
        curves = single_rows(profile, center, derivatives=derivatives)
        explained = draw_mean(field, profile, path, derivatives=derivatives)
        # Draw the curves of single rows, thin, evenly chosen along the feature.
        chosen = choose_rows_evenly(profile.curve_x, max_curves)
        if chosen.size:
            some = tell_chosen(chosen.size, len(profile.curves))
            x, ends = profile.grid, field.view.ends(profile)
            if field.view.limits is not None:
                x = np.union1d(x[field.view.shows(x)], ends)
            paths = [np.column_stack([x, np.interp(x, profile.grid, c)]) for c in curves[chosen]]
            explained += add_thin_curves(field.ax, paths, some)
        explained += field.draw_spread(path) + field.draw_ci(path, level)
        explained += field.draw_counts(profile)
        if not derivatives:
            marks.draw_missing_result(ax, profile, item.missing, level)
        field.fit()
        keep_in_proportion(field.oriented, () if derivatives else among)
        title = describe_relative_importance(profile, among) if new else ""
        canvas.add_legend(ax, explained, outside=new, title=title)
    field.name_places(profile)
    ax.set_xlabel(ticks.axis_name(profile, style.LABEL_LENGTH), **LITERAL)
    length = canvas.letters(ax, "height")
    words = slope_label(profile, length) if derivatives else value_label([profile], center, length)
    ax.set_ylabel(words, **LITERAL)
    field.name_scale()
    return ax


def plot_level_profile(
    profile: Profile,
    ax: Axes | None,
    view: AxisView,
    layers: Layers,
    max_curves: int,
) -> Axes:
    """Draw a profile of levels: dots instead of lines."""
    layout, (center, level, *_, among) = lay_out_levels([profile], view.order), layers
    oriented = new_oriented_axes(layout, ax)
    field, item = CategoricalAxis(oriented, layout), read_item(profile, center, level)
    if is_constant(profile):
        field.draw_constant([item], level)
    else:
        field.set_apart()
        explained = field.draw_one(item, MEANS[profile.method], level)
        # Draw single rows: a dash at every level; rows are joined where levels are numbers.
        curves = single_rows(profile, center, derivatives=False)
        chosen = choose_rows_evenly(profile.curve_x, max_curves)
        if chosen.size:
            some = tell_chosen(chosen.size, len(profile.curves))
            if layout.is_number:
                paths = [oriented.points(layout.places, curve) for curve in curves[chosen]]
            else:
                ends = layout.locate(profile, profile.grid)[:, None] + 0.3 * layout.gap * np.array(
                    [-1.0, 1.0]
                )
                paths = [
                    oriented.points(end, np.full(2, value))
                    for curve in curves[chosen]
                    for end, value in zip(ends, curve, strict=True)
                ]
            explained += add_thin_curves(oriented.ax, paths, some)
        explained += field.draw_counts(profile)
        field.fit()
        keep_in_proportion(oriented, among)
        title = describe_relative_importance(profile, among) if ax is None else ""
        add_levels_legend(oriented, explained, new=ax is None, title=title)
    field.name_places(profile)
    label_oriented_axes(oriented, [profile], center)
    return oriented.ax


def single_rows(profile: Profile, center: Center | None, *, derivatives: bool) -> FloatArray:
    """Curves of the kept rows, shape (n_curves, n_points); none where none were kept."""
    if profile.curves.size == 0:
        return profile.curves
    return profile.dice() if derivatives else profile.ice(center=center)


def slope_trace(profile: Profile, level: float, view: AxisView = PLAIN_VIEW) -> Trace:
    """Slopes of the mean: differences are linear, so its variances follow from the covariance."""
    difference = differentiate(np.eye(profile.grid.size), profile.grid).T
    slope = difference @ profile.mean
    variance = np.einsum("ij,jk,ik->i", difference, profile.covariance, difference)
    spread = np.sqrt(np.maximum(variance, 0.0))
    factor = student_quantile(level, profile.rows - 1)
    half = factor * spread / np.sqrt(profile.rows)
    seen = view.shows(profile.grid)
    path = (profile.grid, slope, spread, slope - half, slope + half)
    return Trace(*(part[seen] for part in path))


def draw_mean(
    field: ContinuousAxis, profile: Profile, path: Trace, *, derivatives: bool
) -> list[Artist]:
    """Draw the mean; a marginal plot shows its points, as each has rows of its own."""
    label = "mean slope" if derivatives else MEANS[profile.method]
    line = field.draw_curve(path, label, style.ALONE)
    if profile.method == "mplot":
        line.set(marker="o", markersize=3.5)
    return [line]


def add_thin_curves(ax: Axes, paths: list[FloatArray], label: str) -> list[Artist]:
    """Draw thin lines."""
    rows = LineCollection(paths, colors=style.SINGLE_ROW, linewidths=style.HAIR_LINE)
    rows.set(alpha=style.ROW_ALPHA, zorder=0.8, gid="rhale:rows", label=label)
    ax.add_collection(rows)
    return [rows]
