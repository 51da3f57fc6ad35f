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
from rhale.output.picture_options import Limits, Scale, Sort
from rhale.plots import canvas, style
from rhale.plots.axes import CategoricalAxis, ContinuousAxis, PlotAxis, open_plot_axis, read_item
from rhale.plots.categorical_axis import add_levels_legend, label_oriented_axes
from rhale.plots.effect import describe_relative_importance, keep_in_proportion
from rhale.plots.labels import LITERAL, slope_label
from rhale.plots.row_curves import DASH, tell_chosen
from rhale.plots.view import PLAIN_VIEW, AxisView, read_view
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
    smooth: bool | None = None,  # noqa: ARG001
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
    smooth : bool, optional
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
    view, new = read_view([profile], limits, xscale, sort), ax is None
    if derivatives:
        field: PlotAxis = ContinuousAxis(
            canvas.new_axes(style.PROFILE_SIZE) if ax is None else ax, view=view
        )
    else:
        field = open_plot_axis([profile], ax, view)
    item, ax = read_item(profile, center, level, view=view), field.oriented.ax
    if is_constant(profile):
        field.draw_constant([item], level)
        field.draw_aside([item], level)
    else:
        if isinstance(field, CategoricalAxis):
            field.set_apart()
        if derivatives:
            item = item._replace(path=slope_trace(profile, level, view), missing=None)
        explained = field.draw_one(
            item, "mean slope" if derivatives else MEANS[profile.method], level
        )
        if profile.method == "mplot" and isinstance(field, ContinuousAxis):
            # A marginal plot shows its points, as each has rows of its own.
            explained[0].set(marker="o", markersize=3.5)
        explained[1:1] = draw_thin_curves(
            field, profile, center, max_curves, derivatives=derivatives
        )
        explained += field.draw_counts(profile)
        field.draw_aside([item], level)
        field.fit()
        keep_in_proportion(field.oriented, () if derivatives else among)
        title = describe_relative_importance(profile, among) if new else ""
        add_levels_legend(field.oriented, explained, new=new, title=title)
    field.name_places(profile)
    label_oriented_axes(field.oriented, [profile], center)
    if derivatives:
        ax.set_ylabel(slope_label(profile, canvas.letters(ax, "height")), **LITERAL)
    field.name_scale()
    return ax


def draw_thin_curves(
    field: PlotAxis, profile: Profile, center: Center | None, most: int, *, derivatives: bool
) -> list[Artist]:
    """Draw the curves of single rows, thin, evenly chosen along the feature; return them for a legend.

    Rows are joined along numbers; at levels that are names each is a dash at every level.
    """
    chosen = choose_rows_evenly(profile.curve_x, most)
    if not (chosen.size and profile.curves.size):
        return []
    every = profile.dice() if derivatives else profile.ice(center=center)
    curves, oriented, x = every[chosen], field.oriented, profile.grid
    if isinstance(field, ContinuousAxis):
        if field.view.limits is not None:
            x = np.union1d(x[field.view.shows(x)], field.view.ends(profile))
        paths = [np.column_stack([x, np.interp(x, profile.grid, curve)]) for curve in curves]
    elif field.layout.is_number:
        paths = [oriented.points(field.layout.places, curve) for curve in curves]
    else:
        half = DASH * field.layout.gap * np.array([-1.0, 1.0])
        ends = field.locate(profile, profile.grid)[:, None] + half
        paths = [
            oriented.points(end, np.full(2, value))
            for curve in curves
            for end, value in zip(ends, curve, strict=True)
        ]
    rows = LineCollection(paths, colors=style.SINGLE_ROW, linewidths=style.HAIR_LINE)
    rows.set(alpha=style.ROW_ALPHA, zorder=0.8, gid="rhale:rows")
    rows.set_label(tell_chosen(chosen.size, len(profile.curves)))
    oriented.ax.add_collection(rows)
    return [rows]


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
