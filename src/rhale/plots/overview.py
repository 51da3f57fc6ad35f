"""All features, or all outputs of one feature, in small panels with one y axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from rhale.effects.binning.partition import require_count
from rhale.effects.curve import Center
from rhale.effects.listing import write_spread
from rhale.effects.result import Result, Trace
from rhale.errors import BadSettingError
from rhale.output.number_format import MINUS_SIGN
from rhale.output.picture_options import Limits, Scale, Sort
from rhale.plots import canvas, style
from rhale.plots.axes import Item, Layers, PlotAxis, make_plot_axis, read_item
from rhale.plots.canvas import AxesArray
from rhale.plots.categorical_axis import OrientedAxes
from rhale.plots.effect import (
    IMPORTANCE_ROUNDING,
    is_negligible_effect,
    keep_in_proportion,
    largest_importance,
)
from rhale.plots.labels import (
    LITERAL,
    axis_name,
    format_label_number,
    number_with_error,
    output_names,
    tell_apart,
    value_label,
    wrapped,
)
from rhale.plots.view import PLAIN_VIEW, AxisView, read_view, require_known
from rhale.regions.plot import (
    RegionCurve,
    describe_briefly,
    draw_region_curves,
    has_many_steps,
    make_key,
    name_regions,
    read_region_curves,
    require_regions,
)

# --- One small panel: the curves or levels of one feature, for one output or several


class Panel(NamedTuple):
    """What one panel shows: the results of one feature, under a title."""

    title: str
    items: list[Item]
    curves: tuple[RegionCurve, ...] = ()
    view: AxisView = PLAIN_VIEW

    @property
    def first(self) -> Result:
        """The result of the first output."""
        return self.items[0].result

    @property
    def everything(self) -> list[Trace]:
        """Curves and missing values; of regions where they are drawn, as far as they are."""
        if self.curves:
            items = [self.items[0], *(curve.item for curve in self.curves)]
            paths = [path for item in items for path in (item.path, item.missing)]
            return [without_spread(path) for path in paths if path is not None and path.x.size]
        return self.paths + [item.missing for item in self.items if item.missing is not None]

    @property
    def paths(self) -> list[Trace]:
        """Curves; none if constant."""
        return [item.path for item in self.items if item.path.x.size]

    @property
    def has_side(self) -> bool:
        """Whether missing values stand beside the panel, as numbers have no place for them."""
        items = [*self.items, *(curve.item for curve in self.curves)]
        return not self.first.labels and any(item.missing is not None for item in items)

    @property
    def head(self) -> float:
        """Room above the panel for the names of regions, in inches."""
        size = FontProperties(size=style.NUMBER_TEXT).get_size_in_points()
        return style.REGION_LINE * len(self.curves) * size / 72

    @property
    def label_depth(self) -> float:
        """Room below the panel for turned names of levels, in inches."""
        if self.first.column_kind != "categories":
            return 0.0
        longest = max(map(len, self.first.labels))
        return style.LABEL_DEPTH * min(1.0, longest / style.SMALL_LABEL)

    def place(self, ax: Axes) -> PlotAxis:
        """Choose how the results are drawn on small axes."""
        results = [item.result for item in self.items]
        return make_plot_axis(OrientedAxes(ax), results, small=True, view=self.view)


def without_spread(path: Trace) -> Trace:
    """What is drawn of one curve among several, where it is drawn."""
    known = np.isfinite(path.curve)
    return Trace(*(values[known] for values in path))._replace(spread=np.zeros(known.sum()))


def read_feature(
    title: str,
    results: list[Result],
    layers: Layers,
    *,
    smooth: bool | None = None,
    regions: bool = False,
    view: AxisView = PLAIN_VIEW,
) -> Panel:
    """Read what one panel shows: with `regions` their curves, where there is one output."""
    has_regions = regions and len(results) == 1 and results[0].regions is not None
    smooth = has_regions and has_many_steps(results[0]) if smooth is None else smooth
    items = [
        read_item(result, layers.center, layers.level, smooth=smooth, view=view)
        for result in results
    ]
    if not has_regions:
        return Panel(title, items, view=view)
    curves = read_region_curves(results[0], layers, smooth=smooth, view=view)
    return Panel(title, items, tuple(curves), view)


def draw_effect_panel(ax: Axes, feature: Panel, outputs: list[str], level: float) -> list[Artist]:
    """Draw one feature, for one output or for several; return what a legend explains."""
    field, several = feature.place(ax), len(outputs) > 1
    places = [outputs.index(item.result.output) for item in feature.items]
    explained: list[Artist] = []
    if feature.curves and feature.paths:
        _, explained = draw_region_curves(
            field, feature.items[0], feature.curves, Layers(level=level)
        )
        field.name_places(feature.first)
        field.name_scale()
        return explained
    if not feature.paths:
        field.draw_constant(feature.items, level)
    else:
        field.begin()
        names = tell_apart([feature.first.captions.output(output) for output in outputs])
        for item, place in zip(feature.items, places, strict=True):
            if several:
                explained += field.draw_among(item, names[place], level, place, len(outputs))
            else:
                explained += field.draw_one(item, "mean effect", level)
        explained += field.explain_intervals(level, len(outputs)) if several else []
        explained += field.draw_gaps(feature.first) + field.draw_counts(feature.first)
    field.draw_aside(
        feature.items, level, [style.line_style(p) for p in places] if several else None
    )
    if feature.paths:
        field.fit()
    field.name_places(feature.first)
    field.name_scale()
    return explained


def write_effect_title(ax: Axes, feature: Panel, among: Sequence[Result] = ()) -> None:
    """Write the feature's name, and under it its importance and typical spread.

    What is only rounding beside the largest effect of `among` is written as zero.
    """
    one = feature.first
    size = FontProperties(size=style.NUMBER_TEXT).get_size_in_points()
    above = 2.0
    words = write_effect_importance(feature, among)
    if feature.curves:
        tree = require_regions(one)
        inches = ax.get_window_extent().width / ax.figure.dpi
        length = canvas.wide_letters(inches, style.NUMBER_TEXT)
        words += f"\n{describe_briefly(tree, length)}"
        above += 72 * feature.head
        name_curves(ax, feature, name_regions(tree, length - 6, ""))
    note = ax.annotate(
        words, (0, 1), (0, above), "axes fraction", textcoords="offset points", **LITERAL
    )
    note.set(fontsize=style.NUMBER_TEXT, color=style.NOTE, gid="rhale:numbers", va="bottom")
    pad = 2 + above + 1.35 * size * (1 + words.count("\n"))
    words = wrapped(feature.title, canvas.letters(ax, "width"))
    ax.set_title(words, loc="left", fontsize=style.NAME_TEXT, pad=pad, fontweight="bold", **LITERAL)


def write_effect_importance(feature: Panel, among: Sequence[Result]) -> str:
    """Say how important a feature is, and how much rows differ; of several outputs the largest."""
    results = [item.result for item in feature.items]
    if all(is_negligible_effect(result, among) for result in results):
        return "importance 0"
    if len(results) > 1:
        return (
            f"importance up to {format_label_number(max(result.importance for result in results))}"
        )
    (one,) = results
    words = f"importance {number_with_error(one.importance, one.importance_error)}"
    spread, error = one.typical_spread, one.typical_spread_error
    spread = 0.0 if spread < IMPORTANCE_ROUNDING * largest_importance(among) else spread
    if feature.curves:
        return words
    return f"{words}\ntypical spread {write_spread(spread, error).replace('-', MINUS_SIGN)}"


def name_curves(ax: Axes, feature: Panel, labels: Sequence[str]) -> None:
    """Name the curves of regions above a small panel."""
    if not style.current().legend:
        return
    common, curves = feature.items[0], feature.curves
    lines = [make_key(curve, 4.0, is_point=curve.is_point(common)) for curve in curves]
    legend = ax.legend(
        lines,
        canvas.dummies(lines),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        fontsize=style.NUMBER_TEXT,
        frameon=False,
        handlelength=1.8,
        labelspacing=0.2,
        borderpad=0.0,
        borderaxespad=0.2,
    )
    for text, curve in zip(legend.get_texts(), curves, strict=True):
        text.set(text=labels[curve.place], **LITERAL)


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
    smooth: bool | None = None,
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
    smooth : bool, optional
        As in `plot_effect`; with `regions` as in `plot_regions`.
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
    groups = group_by_feature(effects, outputs)
    # The features with the largest importance for any output are kept, in their order.
    most = top or (MAX_FEATURE_PANELS if axes is None else None)
    sizes = {n: max(np.nan_to_num(e.importance) for e in group) for n, group in groups.items()}
    largest = sorted(groups, key=lambda name: -sizes[name])[:most]
    groups = {name: group for name, group in groups.items() if name in largest}
    require_known(limits, "limits", list(groups))
    require_known(xscale, "xscale", list(groups))
    layers = Layers(center, level)
    kept = [
        read_feature(
            group[0].captions.axis(name),
            group,
            layers,
            smooth=smooth,
            regions=regions,
            view=read_view(group, limits, xscale, sort, alone=False),
        )
        for name, group in groups.items()
    ]
    note = some_of(len(kept), len({effect.name for effect in effects}), "features", ": the largest")
    n_outputs = len({effect.output for effect in effects})
    note += some_of(len(outputs), n_outputs, "outputs", ": the largest")
    panels = open_feature_panels(axes, kept, columns, sharey=sharey)
    draw_panels(
        panels, kept, effects, outputs, layers, ", ".join(note), sharey=sharey, new=axes is None
    )
    return panels


def draw_panels(
    panels: AxesArray,
    kept: Sequence[Panel],
    effects: Sequence[Result],
    outputs: list[str],
    layers: Layers,
    note: str,
    *,
    sharey: bool,
    new: bool,
) -> None:
    """Draw small panels, and what is said once for all of them.

    Each shows all of the `outputs`, or one where there are none.
    """
    explained: list[Artist] = []
    for ax, feature in zip(panels, kept, strict=True):
        shown = outputs or [feature.first.output]
        explained += draw_effect_panel(ax, feature, shown, layers.level)
        write_effect_title(ax, feature, effects)
    explained += set_panel_ylim(panels, kept, sharey=sharey)
    length = canvas.frame_letters(panels[0], new=new)
    label = value_label(effects, layers.center, length, each=len(outputs) != 1)
    canvas.label_grid(panels, explained, label, note, new=new)


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


def refuse_regions(effects: Sequence[Result], outputs: Sequence[str]) -> None:
    """Refuse regions that were not requested, and those of several outputs in one panel."""
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
    if axes is not None:
        return canvas.take_axes(axes, len(features))
    most = MOST_COLUMNS if any(feature.curves for feature in features) else len(features)
    columns = columns or min(most, canvas.choose_columns(len(features)))
    size, ticks = figure_size(features, columns), 4 if columns > 2 else 6
    return canvas.open_grid(len(features), columns, size, sharey=sharey, ticks=ticks)


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


def set_panel_ylim(panels: AxesArray, features: Sequence[Panel], *, sharey: bool) -> list[Artist]:
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
            # Mark where the spread of curves, levels and missing values is cut.
            cut, field = list[Artist](), feature.place(ax)
            for item in [] if feature.curves else feature.items:
                cut += mark_cut(ax, item.path)
                if item.missing is not None:
                    cut += mark_cut(*field.place_missing(item.missing))
            marks += cut
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


# --- All outputs for one feature: one small panel each, one y axis, one legend


def plot_outputs(
    effects: Sequence[Result],
    *,
    axes: Axes | Iterable[Axes] | None = None,
    columns: int | None = None,
    sharey: bool = True,
    center: Center = "mean",
    level: float = 0.95,
    smooth: bool | None = None,
    regions: bool = False,
    limits: Limits = None,
    xscale: Scale = "auto",
    sort: Sort | None = None,
) -> AxesArray:
    """Draw the effects of one feature on several outputs, in the given order.

    Parameters
    ----------
    effects : sequence of Effect, LevelEffect or Profile
        Of one feature, one for each output.
    axes : Axes or array-like of Axes, optional
        Where: one for each output, or a single one, in which each output has a colour of its
        own (as in `plot_all`). None makes a new figure.
    columns, sharey, center, level, smooth, regions
        As in `plot_all`.
    limits, xscale, sort
        As in `plot_effect`; levels stand by their effect on the output that they move most.

    Returns
    -------
    ndarray of Axes, shape (n_outputs,)
        In the given order. Artists carry a gid as in `plot_effect`.

    Examples
    --------
    >>> import numpy as np
    >>> import rhale
    >>> X = np.linspace(0, 1, 60).reshape(30, 2)
    >>> fx = rhale.explain(lambda X: X, X)
    >>> [ax.get_title("left") for ax in plot_outputs([fx["x0", "y0"], fx["x0", "y1"]])]
    ['prediction 1', 'prediction 2']
    """
    if isinstance(axes, Axes):
        shown: dict[str, Any] = {"limits": limits, "xscale": xscale, "sort": sort}
        return plot_all(
            effects, axes=axes, center=center, level=level, smooth=smooth, regions=regions, **shown
        )
    if regions:
        refuse_regions(effects, [])
    largest = max(effects, key=lambda e: np.nan_to_num(e.importance))
    layers, options = Layers(center, level), dict[str, Any](smooth=smooth, regions=regions)
    options["view"] = read_view([largest], limits, xscale, sort)
    names = output_names(effects)
    features = [read_feature(names[e.output], [e], layers, **options) for e in effects]
    kept = features[: MAX_FEATURE_PANELS if axes is None else None]
    panels = open_feature_panels(axes, kept, columns, sharey=sharey)
    note = ", ".join(some_of(len(kept), len(features), "outputs"))
    draw_panels(panels, kept, effects, [], layers, note, sharey=sharey, new=axes is None)
    # Write the name of the feature once, above all panels.
    name = axis_name(effects[0], style.LABEL_LENGTH)
    if axes is None:
        panels[0].figure.suptitle(name, fontsize="medium", **LITERAL)
    else:
        panels[-1].set_xlabel(name, **LITERAL)
    return panels
