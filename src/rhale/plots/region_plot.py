"""Who differs: the curves of regions over the common one, and the tree of their rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from rhale.kernels.curve import Center
from rhale.plots import canvas, style
from rhale.plots.board import OrientedAxes, label_oriented_axes, should_turn, turned_height
from rhale.plots.fields import CategoricalAxis, ContinuousAxis, Item, Layers, PlotAxis, read_item
from rhale.plots.proportion import keep_in_proportion
from rhale.plots.region_curves import (
    RegionCurve,
    count_rest,
    describe_tree,
    read_region_curves,
    rename,
    require_regions,
)
from rhale.plots.region_legend import (
    BOLD,
    add_columns,
    blank_entry,
    room_above,
    room_inside,
)
from rhale.plots.rule_tree import draw_rule_tree, tree_size
from rhale.plots.slots import LevelLayout, lay_out_levels
from rhale.plots.view import PLAIN_VIEW, AxisView, Limits, Scale, Sort, read_view
from rhale.results.region_tree import RegionTree
from rhale.results.result import Result, is_constant

SLIVER = (1.0, 0.01)  # axes of a tree have no width of their own: its words get what they need
TREE_LEGEND_INCHES = 1.4  # inches of the legend above the tree
REGION_PAD_INCHES = 0.09  # inches around all panels, for the boxes of words


def plot_regions(
    effect: Result,
    *,
    ax: Axes | Sequence[Axes] | None = None,
    center: Center = "mean",
    level: float = 0.95,
    smooth: bool = False,
    uncertainty: bool = True,
    limits: Limits = None,
    xscale: Scale = "auto",
    sort: Sort | None = None,
    among: Sequence[Result] = (),
) -> Axes:
    """Draw the curves of an effect's regions over the common one, and the tree of their rules.

    Parameters
    ----------
    effect : Effect or LevelEffect
        With regions: `rhale.explain(..., regions=True)`.
    ax : Axes or pair of Axes, optional
        One: the curves, without the tree. Two: the curves and the tree. None: a new figure, with
        the tree where there is one.
    center : {"mean", "start", "uniform"}
        Where the common curve is zero. The curve of a region, which is known up to a constant,
        is moved to agree with it: on average over the rows of the region ("mean"), at their first
        value ("start"), on average over the stretch that they cover ("uniform").
    level : float
        Of the interval of the mean.
    smooth : bool
        As in `plot_effect`.
    uncertainty : bool
        Draw the intervals of the regions' curves, as bands of their colours.
    limits, xscale, sort
        As in `plot_effect`; levels stand by the effect of all rows.
    among : sequence of results
        As in `plot_effect`.

    Returns
    -------
    Axes
        Of the curves. Artists carry a gid: rhale:common for the curve of all rows, rhale:curve
        and rhale:ci for every region, rhale:counts, rhale:missing; for levels rhale:levels. The
        axes of the tree have the gid rhale:tree, its conditions rhale:rule.

    Notes
    -----
    Because each curve is moved to the common one, curves of regions show how slopes differ, and
    not how predictions do. Nothing is drawn where a region has no rows. Of more than four regions
    the four with the most rows are drawn, and the legend counts the others. An effect that
    changes gradually with another feature is drawn in thirds of that feature, from light to dark,
    and without a tree. Where there are no regions the common curve is drawn, and the legend says
    why.

    Examples
    --------
    >>> import numpy as np
    >>> import rhale
    >>> from dataclasses import replace
    >>> from rhale.results.region_tree import Region, RegionTree
    >>> x = np.linspace(0, 1, 200)
    >>> whole = rhale.effect(x, 0 * x + 2, name="age")
    >>> groups = [Region(n, 100, 0.5, rhale.effect(x, 0 * x + s)) for n, s in (("a", 1), ("b", 3))]
    >>> effect = replace(whole, regions=RegionTree("age", "y0", "given", "", tuple(groups)))
    >>> [text.get_text() for text in plot_regions(effect).get_legend().texts][:2]
    ['a, 50 % of rows', 'b, 50 % of rows']
    """
    tree, layers = require_regions(effect), Layers(center, level, uncertainty=uncertainty)
    view = read_view([effect], limits, xscale, sort)
    curves = read_region_curves(effect, layers, smooth=smooth, view=view)
    common = read_item(effect, center, level, smooth=smooth, view=view)
    field, beside = open_panels(effect, curves, ax, view)
    board = field.board
    room = room_above(turned=board.turned) if ax is None else room_inside(board.ax)
    curves = rename(curves, tree, room.label, " of rows" if room.outside else "")
    if is_constant(effect):
        field.draw_constant([common], level)
    else:
        columns = draw_region_curves(field, common, curves, layers)
        keep_in_proportion(board, among)
        if curves and ax is not None:  # no room for much: the tree tells regions by colour, too
            columns = ([] if beside else columns[0], columns[1][:1])
        title = describe_tree(tree, int(BOLD * room.line))
        add_columns(board.ax, columns, title, room)
    field.name_places(effect)
    label_oriented_axes(board, [effect], center)
    field.name_scale()
    if beside is not None:
        colours = {curve.place: curve.look.colour for curve in curves}
        draw_rule_tree(beside, tree, colours, within=ax is not None)
    return board.ax


def open_panels(
    effect: Result,
    curves: Sequence[RegionCurve],
    ax: Axes | Sequence[Axes] | None,
    view: AxisView = PLAIN_VIEW,
) -> tuple[PlotAxis, Axes | None]:
    """Find or make the axes of the curves, and those of the tree where it is drawn."""
    results = [effect, *(curve.item.result for curve in curves)]
    slots, tree = (
        lay_out_levels(results, view.order) if effect.labels else None,
        require_regions(effect),
    )
    has_tree = bool(tree.splits) and not tree.thirds and bool(curves)
    if ax is None:
        turned = slots is not None and should_turn(slots, None)
        board, beside = new_region_panels(tree if has_tree else None, slots, turned=turned)
    elif isinstance(ax, Axes):
        board, beside = OrientedAxes(ax, slots is not None and should_turn(slots, ax)), None
    else:
        first, second = canvas.given_pair(ax)
        board, beside = OrientedAxes(first), second if has_tree else None
        second.set_axis_off()
    return (
        ContinuousAxis(board.ax, view=view) if slots is None else CategoricalAxis(board, slots)
    ), beside


def new_region_panels(
    tree: RegionTree | None, slots: LevelLayout | None, *, turned: bool
) -> tuple[OrientedAxes, Axes | None]:
    """Make a figure for the curves, and for the tree beside them."""
    width, height = (canvas.magnify() * inches for inches in style.REGION_SIZE)
    if turned and slots is not None:
        height = max(height, turned_height(slots, 1.6))
    if tree is None:
        board = OrientedAxes(canvas.new_axes((width, height)), turned)
        beside = None
    else:
        tree_width, tree_height = tree_size(tree)
        figure = canvas.new_figure(
            (width + tree_width, max(height, tree_height + canvas.magnify() * TREE_LEGEND_INCHES))
        )
        cast(ConstrainedLayoutEngine, figure.get_layout_engine()).set(w_pad=REGION_PAD_INCHES)
        columns = figure.add_gridspec(1, 2, width_ratios=SLIVER)
        board, beside = (
            OrientedAxes(figure.add_subplot(columns[0]), turned),
            figure.add_subplot(columns[1]),
        )
        canvas.write_plain_numbers(board.ax, 8)
    if turned:
        canvas.write_plain_values(board.ax)
    return board, beside


def draw_region_curves(
    field: PlotAxis, common: Item, curves: Sequence[RegionCurve], layers: Layers
) -> tuple[list[Artist], list[Artist]]:
    """Draw all curves; return what a legend explains: regions, and the rest."""
    field.begin()
    if not curves:
        return draw_alone(field, common, layers)
    rest = [field.draw_common(common, "all rows")]
    drawn = [curve for curve in curves if curve.item.path.x.size]
    for index, curve in enumerate(drawn):
        _, item, look, label = curve
        (artist,) = field.draw_among(item, label, layers.level, index, len(drawn), look)
        if curve.is_point(common):
            known = np.flatnonzero(np.isfinite(item.path.curve))
            artist.set(marker=look.marker, markevery=[int(known[known.size // 2])])
    looks = [style.COMMON, *(curve.look for curve in drawn)]
    field.draw_aside([common, *(curve.item for curve in drawn)], layers.level, looks)
    rest += field.explain_intervals(layers.level, len(drawn)) if layers.uncertainty else []
    rest += field.draw_counts(common.result)
    field.fit()
    more = count_rest(require_regions(common.result), curves)
    keys = [make_key(curve, is_point=curve.is_point(common)) for curve in curves]
    return keys + ([blank_entry(more)] if more else []), rest


def make_key(curve: RegionCurve, size: float = 6.0, *, is_point: bool = False) -> Artist:
    """Make the legend's entry for a region: its line, or its dots; words where it has neither."""
    colour, dash, marker = curve.look
    if not curve.item.path.x.size:
        return blank_entry(curve.label)
    key = Line2D([], [], color=colour, linestyle=dash, label=curve.label)
    if is_point or curve.item.result.column_kind == "categories":
        key.set(marker=marker, markersize=size, linestyle="none")
    return key


def draw_alone(field: PlotAxis, common: Item, layers: Layers) -> tuple[list[Artist], list[Artist]]:
    """Draw the common curve where there are no regions; return what a legend explains."""
    effect, level = common.result, layers.level
    explained = field.draw_one(common, "all rows", level, uncertainty=layers.uncertainty)
    explained += field.draw_gaps(effect) + field.draw_counts(effect)
    field.draw_aside([common], level)
    field.fit()
    return explained[:2], explained[2:]
