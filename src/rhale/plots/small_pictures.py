"""All features at a glance: one small panel each, one y axis, one legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from rhale.errors import BadSettingError
from rhale.kernels.curve import Center
from rhale.kernels.partition import require_count
from rhale.plots import canvas, style
from rhale.plots.axes_array import AxesArray, as_axes_array
from rhale.plots.board import OrientedAxes
from rhale.plots.fields import Layers
from rhale.plots.labels import value_label
from rhale.plots.lettering import LITERAL
from rhale.plots.panel import Panel, draw_effect_panel, read_feature, write_effect_title
from rhale.plots.proportion import is_negligible_effect, keep_in_proportion
from rhale.plots.region_curves import require_regions
from rhale.plots.view import Limits, Scale, Sort, read_view, require_known
from rhale.results.result import Result, Trace

MOST_OUTPUTS = 6
MOST_COLUMNS = 3  # where regions are named above panels
MAX_FEATURE_PANELS = 20  # that a reader looks through; laying out hundreds would take minutes


def plot_all(
    effects: Sequence[Result],
    *,
    axes: Axes | Iterable[Axes] | None = None,
    columns: int | None = None,
    sharey: bool = True,
    top: int | None = None,
    center: Center = "mean",
    level: float = 0.95,
    smooth: bool = False,
    regions: bool = False,
    limits: Limits = None,
    xscale: Scale | Mapping[str, Scale] = "auto",
    sort: Sort | None = None,
) -> AxesArray:
    """Draw every feature in a small panel, in the given order.

    Parameters
    ----------
    effects : sequence of Effect, LevelEffect or Profile
        What to draw, of any kind of feature. Those of one feature share a panel; with several outputs a panel has one
        line and interval for each output, at most six (those with the largest importance).
    axes : Axes or array-like of Axes, optional
        Where, at least one for each feature; None makes a new figure.
    columns : int, optional
        Panels in a row; chosen from their number if not given.
    sharey : bool
        One y axis for all panels, so that sizes can be compared.
    top : int, optional
        Draw only so many features, those with the largest importance, in the given order; the
        legend says how many there are. A new figure shows 20 if nothing is said.
    center : {"mean", "start", "uniform"}
        Where the curves are zero.
    level : float
        Of the interval of the mean.
    smooth : bool
        As in `plot_effect`.
    regions : bool
        Draw the curves of regions as `plot_regions` does, where there are some, and name them
        above their panel; of one output.
    limits, xscale, sort
        As in `plot_effect`, for every feature that can have them, or by feature:
        limits={"income": "1%..99%", "age": (20, 65)}, xscale={"income": "log"}.

    Returns
    -------
    ndarray of Axes, shape (n_features,)
        In the given order. Artists carry a gid as in `plot_effect`.

    Notes
    -----
    Curves and intervals set the y axis. The spread can be many times larger; it widens the axis
    by at most half of what the curves take on either side. Where it goes on beyond, a small
    triangle at the edge says so.

    Examples
    --------
    >>> import rhale
    >>> x = np.linspace(0, 1, 200)
    >>> panels = plot_all([rhale.effect(x, 2 * x, name=name) for name in ("age", "height")])
    >>> [ax.get_title("left") for ax in panels]
    ['age', 'height']
    """
    for name, setting in (("columns", columns), ("top", top)):
        if setting is not None:
            require_count(name, setting)
    outputs = main_outputs(effects)
    if regions:
        refuse_regions(effects, outputs)
    groups = keep_largest(
        group_by_feature(effects, outputs), top or (MAX_FEATURE_PANELS if axes is None else None)
    )
    require_known(limits, "limits", list(groups))
    require_known(xscale, "xscale", list(groups))
    kept = [
        read_feature(
            group[0].captions.axis(name),
            group,
            Layers(center, level),
            smooth=smooth,
            regions=regions,
            view=read_view(group, limits, xscale, sort, alone=False),
        )
        for name, group in groups.items()
    ]
    panels = open_feature_panels(axes, kept, columns, sharey=sharey)
    explained: list[Artist] = []
    for ax, feature in zip(panels, kept, strict=True):
        explained += draw_effect_panel(ax, feature, outputs, level)
        write_effect_title(ax, feature, effects)
    explained += set_panel_ylim(panels, kept, sharey=sharey)
    note = some_of(len(kept), len({effect.name for effect in effects}), "features", ": the largest")
    n_outputs = len({effect.output for effect in effects})
    note += some_of(len(outputs), n_outputs, "outputs", ": the largest")
    length = canvas.frame_letters(panels[0], new=axes is None)
    label = value_label(effects, center, length, each=len(outputs) > 1)
    write_panel_labels(panels, explained, label, ", ".join(note), new=axes is None)
    return panels


def main_outputs(effects: Sequence[Result]) -> list[str]:
    """Choose the outputs to draw, in their order: those with the largest importance."""
    size: dict[str, float] = {}
    for effect in effects:
        size[effect.output] = max(size.get(effect.output, 0.0), effect.importance)
    largest = sorted(size, key=lambda output: -size[output])[:MOST_OUTPUTS]
    return [output for output in size if output in largest]


def group_by_feature(effects: Sequence[Result], outputs: Sequence[str]) -> dict[str, list[Result]]:
    """Put the results of one feature together, in the order in which features appear."""
    if not effects:
        msg = "there is nothing to plot: give at least one effect or profile"
        raise BadSettingError(msg)
    groups: dict[str, list[Result]] = {}
    for effect in effects:
        if effect.output in outputs:
            groups.setdefault(effect.name, []).append(effect)
    return groups


def keep_largest(groups: dict[str, list[Result]], most: int | None) -> dict[str, list[Result]]:
    """Keep the features with the largest importance for any output, in their order."""
    sizes = {n: max(np.nan_to_num(e.importance) for e in group) for n, group in groups.items()}
    kept = sorted(groups, key=lambda name: -sizes[name])[:most]
    return {name: group for name, group in groups.items() if name in kept}


def refuse_regions(effects: Sequence[Result], outputs: Sequence[str]) -> None:
    """Refuse regions that nobody asked for, and those of several outputs in one panel."""
    if len(outputs) > 1:
        msg = f"regions=True draws one output a panel, and there are {len(outputs)}; name one, "
        msg += f"output={outputs[0]!r}, or one feature"
        raise BadSettingError(msg)
    if effects and all(effect.regions is None for effect in effects):
        require_regions(effects[0])


def some_of(drawn: int, known: int, what: str, which: str = "") -> list[str]:
    """Say that only some are drawn, and which; say nothing where all are."""
    return [f"{drawn} of {known} {what}{which}"] if drawn < known else []


def open_feature_panels(
    axes: Axes | Iterable[Axes] | None,
    features: Sequence[Panel],
    columns: int | None,
    *,
    sharey: bool,
) -> AxesArray:
    """Make the panels, or take them from the caller."""
    n_panels = len(features)
    if axes is None:
        most = MOST_COLUMNS if any(feature.curves for feature in features) else n_panels
        chosen = columns or min(most, choose_columns(n_panels))
        return make_panels(features, chosen, sharey=sharey)
    given = [axes] if isinstance(axes, Axes) else np.asarray(list(axes), dtype=object).ravel()
    if len(given) < n_panels:
        msg = f"{n_panels} features need as many axes; found {len(given)}. Or set top"
        raise BadSettingError(msg)
    return as_axes_array(given[:n_panels])


def choose_columns(n_panels: int) -> int:
    """Choose how many panels stand in a row: few gaps in the last one, wide if there are many.

    Examples
    --------
    >>> [choose_columns(n) for n in (1, 2, 4, 8, 9, 10, 40)]
    [1, 2, 2, 4, 3, 5, 5]
    """
    if n_panels <= 4:
        return {4: 2}.get(n_panels, n_panels)
    return min((3, 4) if n_panels < 10 else (4, 5), key=lambda c: (-n_panels % c, -c))


def figure_size(features: Sequence[Panel], columns: int) -> tuple[float, float]:
    """Width and height of a figure: names of levels and missing values need room besides."""
    n_panels = len(features)
    width = style.PANEL_WIDTHS[min(columns, len(style.PANEL_WIDTHS)) - 1]
    height, rows = style.PANEL_HEAD + style.PANEL_SHAPE * width, -(-n_panels // columns)
    aside = [feature.has_side for feature in features]
    depth = [feature.label_depth for feature in features]
    wider = sum(any(aside[column::columns]) for column in range(columns))
    heads = [feature.head for feature in features]
    deeper = sum(
        max(room[row * columns : (row + 1) * columns])
        for room in (depth, heads)
        for row in range(rows)
    )
    return (
        width * columns + wider * (style.MISSING_WIDTH + style.MISSING_GAP),
        height * rows + deeper + style.LEGEND_HEIGHT,
    )


def make_panels(features: Sequence[Panel], columns: int, *, sharey: bool) -> AxesArray:
    """Make a figure with a panel for each feature; it grows with their number."""
    n_panels = len(features)
    figure = canvas.new_figure(figure_size(features, columns))
    places = figure.add_gridspec(-(-n_panels // columns), columns)
    panels: list[Axes] = []
    for index in range(n_panels):
        first = panels[0] if sharey and panels else None
        ax = figure.add_subplot(places[index // columns, index % columns], sharey=first)
        ax.tick_params(labelsize=style.NUMBER_TEXT, labelleft=not sharey or index % columns == 0)
        ax.xaxis.set_major_locator(MaxNLocator(4 if columns > 2 else 6))
        ax.xaxis.get_offset_text().set_fontsize(style.NUMBER_TEXT)
        if first is None:
            ax.yaxis.set_major_locator(MaxNLocator(5))
            canvas.write_plain_numbers(ax, 4)
        panels.append(ax)
    return as_axes_array(panels)


def y_reach(features: Sequence[Panel], *, several: bool) -> tuple[float, float]:
    """Lowest and highest y to show: curves and intervals whole, the spread within bounds."""
    paths = [path for feature in features for path in feature.everything]
    if not paths:
        return 0.0, 0.0
    low = min(float(np.fmin(path.low, path.curve).min()) for path in paths)
    high = max(float(np.fmax(path.high, path.curve).max()) for path in paths)
    if several:
        return low, high
    room = style.SPREAD_ROOM * (high - low) or np.inf
    bottom = min(float(np.fmin(path.curve - path.spread, low).min()) for path in paths)
    top = max(float(np.fmax(path.curve + path.spread, high).max()) for path in paths)
    return max(low - room, bottom), min(high + room, top)


def set_panel_ylim(panels: AxesArray, features: list[Panel], *, sharey: bool) -> list[Artist]:
    """Set the y axes, and mark where the spread goes on beyond them."""
    several = any(len(feature.items) > 1 for feature in features)
    results = [item.result for feature in features for item in feature.items]
    marks: list[Artist] = []
    for ax, feature in zip(panels, features, strict=True):
        low, high = y_reach(features if sharey else [feature], several=several)
        ax.set_ylim(
            canvas.widen_interval(low, high, style.ROOM_FOR_STRIP, style.AXIS_MARGIN), auto=True
        )
        if all(is_negligible_effect(item.result, results) for item in feature.items):
            keep_in_proportion(OrientedAxes(ax), results)
        if not several:
            marks += mark_feature(ax, feature)
    return marks


def mark_feature(ax: Axes, feature: Panel) -> list[Artist]:
    """Mark where the spread of curves, levels and missing values is cut."""
    marks, field = list[Artist](), feature.place(ax)
    for item in [] if feature.curves else feature.items:
        marks += mark_cut(ax, item.path)
        if item.missing is not None:
            marks += mark_cut(*field.place_missing(item.missing))
    return marks


def mark_cut(ax: Axes, path: Trace) -> list[Artist]:
    """Draw a triangle at the edge that hides part of the spread, where it hides most."""
    low, high = ax.get_ylim()
    above, below = path.curve + path.spread, path.spread - path.curve
    marks: list[Artist] = []
    for values, limit, y, shape in ((above, high, 0.96, "^"), (below, -low, 0.12, "v")):
        if np.nanmax(values, initial=-np.inf) > limit:
            x = path.x[int(np.nanargmax(values))]
            place = ax.get_xaxis_transform()
            marks += ax.plot(x, y, shape, transform=place, scalex=False, scaley=False)
    for mark in marks:
        mark.set(color=style.SPREAD, markersize=4.5, zorder=5, clip_on=False)
        mark.set(gid="rhale:cut", label="spread goes on beyond")
    return marks[:1]


def write_panel_labels(
    panels: AxesArray, explained: list[Artist], label: str, note: str, *, new: bool
) -> None:
    """Write what is said once for all panels: the y axis and the legend."""
    once = list({str(artist.get_label()): artist for artist in reversed(explained)}.values())[::-1]
    if not new:
        panels[0].set_ylabel(label, **LITERAL)
        if panels[0].get_legend() is None:  # names of regions are the first to be needed
            canvas.add_legend(panels[0], once, outside=False, title=note)
        return
    figure = panels[0].figure
    line = label.replace("\n", " ")
    label = line if len(line) <= canvas.frame_letters(panels[0], new=True) else label
    figure.supylabel(label, fontsize=style.NAME_TEXT, **LITERAL)
    canvas.add_figure_legend(figure, once, title=note)
