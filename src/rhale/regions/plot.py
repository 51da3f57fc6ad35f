"""Pictures of regions: their curves over the common one, the legend, the tree of rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Affine2DBase, ScaledTranslation

from rhale.effects.alignment import align
from rhale.effects.curve import Center
from rhale.effects.listing import read_explained_share
from rhale.effects.result import Result, Trace, is_constant, reach
from rhale.errors import BadSettingError
from rhale.output.number_format import write_share
from rhale.output.picture_options import Limits, Scale, Sort
from rhale.plots import canvas, style
from rhale.plots.axes import (
    NO_CURVE,
    CategoricalAxis,
    ContinuousAxis,
    Item,
    Layers,
    PlotAxis,
    read_item,
)
from rhale.plots.categorical_axis import (
    OrientedAxes,
    label_oriented_axes,
    lay_out_levels,
    should_turn,
    turned_height,
)
from rhale.plots.effect import keep_in_proportion
from rhale.plots.labels import LITERAL, fit_name, folded
from rhale.plots.view import PLAIN_VIEW, AxisView, read_view
from rhale.regions.result import RegionTree, Split
from rhale.regions.wording import ALL_ROWS, call_features, join_words, short_rules
from rhale.stats.arrays import BoolArray, FloatArray

# --- Curves of regions beside the common one: which, where they stand, how they look, what they are called


MAX_REGION_CURVES = 4
MANY_STEPS = 20  # of a curve: more are smoothed beside those of others
THIRD_LABELS = ("lowest third: ", "middle third: ", "highest third: ")
N_EVEN = 400  # places that stand for an axis
MIN_LINE_SHARE = 0.01  # of the axis: what is drawn as a line


class RegionCurve(NamedTuple):
    """One region as it is drawn."""

    place: int
    item: Item
    look: style.Look
    label: str = ""

    def is_point(self, common: Item) -> bool:
        """Tell whether a region has (nearly) one value: a line would not be seen."""
        known = self.item.path.x[np.isfinite(self.item.path.curve)]
        if not (known.size and common.path.x.size) or common.result.labels:
            return False
        return float(np.ptp(known)) < MIN_LINE_SHARE * float(np.ptp(common.path.x))


def require_regions(effect: Result) -> RegionTree:
    """Find the regions of an effect, in words for people; refuse where they were not requested."""
    if effect.regions is not None:
        return call_features(effect.regions, effect.captions)
    msg = f"{effect.name!r} has no regions to plot: they were not requested; call "
    msg += "rhale.explain(..., regions=True), or plot without regions=True"
    if effect.parts == "points":
        msg = f"{effect.name!r} has no regions to plot: profiles (pdp, ice, mplot) have none; "
        msg += "call rhale.explain(..., regions=True) with another method"
    raise BadSettingError(msg)


def read_region_curves(
    effect: Result, layers: Layers, *, smooth: bool = False, view: AxisView = PLAIN_VIEW
) -> list[RegionCurve]:
    """Read the curves of an effect's regions, or of thirds where it changes gradually.

    At most the four largest are read, in the order of the tree, and none where there is one region.
    """
    # A curve is known up to a constant. Each is moved to agree with the common curve where
    # its zero is: on average over the rows of the region ("mean"), at the first value that
    # they have ("start"), on average over the stretch that they cover ("uniform").
    tree = require_regions(effect)
    regions, looks = (tree.thirds, style.THIRDS) if tree.thirds else (tree.regions, style.REGIONS)
    if len(regions) < 2:
        return []
    common = read_item(effect, layers.center, layers.level, smooth=smooth)
    curves: list[RegionCurve] = []
    # Choose the regions with the most rows, in their order.
    by_size = sorted(range(len(regions)), key=lambda i: -regions[i].share_of_rows)
    for place, look in zip(sorted(by_size[:MAX_REGION_CURVES]), looks, strict=False):
        region = regions[place].effect
        item = read_item(region, layers.center, layers.level, smooth=smooth)
        if is_constant(region):
            item = item._replace(path=find_point(common, region))
        else:
            # How far a region's curve must rise to agree with the common one, where its zero is.
            low, high = reach(region)
            if not (common.path.x.size and item.path.x.size):
                lift = 0.0
            elif (layers.center or "mean") == "mean":
                lift = align(region, common.result)
            else:
                x = np.array([low])
                if layers.center == "uniform":
                    x = region.axis if region.labels else np.linspace(low, high, N_EVEN)
                lift = float(np.nanmean(read_common(common, region, x)))
            item = read_item(region, layers.center, layers.level, smooth=smooth, view=view)
            item = item.moved(lift)
            item = item._replace(path=mask_region_curve(item))
        curves.append(RegionCurve(place, item if layers.uncertainty else certain(item), look))
    return rename(curves, tree, style.REGION_LABEL)


def has_many_steps(effect: Result) -> bool:
    """Tell whether regions are drawn as several staircases of many steps, as those of boosted trees."""
    tree, stairs = effect.regions, getattr(effect, "stairs", None)
    is_many = stairs is not None and stairs.n_places > MANY_STEPS
    return is_many and tree is not None and len(tree.thirds or tree.regions) > 1


def rename(
    curves: Sequence[RegionCurve], tree: RegionTree, length: int, unit: str = " of rows"
) -> list[RegionCurve]:
    """Call curves by who is in their regions, in at most so many letters."""
    names = name_regions(tree, length, unit) if curves else []
    alone = ["" if curve.item.path.x.size else " (no curve)" for curve in curves]
    return [c._replace(label=names[c.place] + a) for c, a in zip(curves, alone, strict=True)]


def name_regions(tree: RegionTree, length: int, unit: str = " of rows") -> list[str]:
    """Say who is in each region, and how many rows that are; or which third it is."""
    if tree.thirds:
        names = THIRD_LABELS if len(tree.thirds) == len(THIRD_LABELS) else ("",) * len(tree.thirds)
        return [
            name + fit_name(third.rule, max(8, length - len(name)))
            for name, third in zip(names, tree.thirds, strict=True)
        ]
    shares = [f", {format_row_percent(region.share_of_rows)}{unit}" for region in tree]
    rules = short_rules(tree, max(8, length - max(map(len, shares))))
    return [rule + share for rule, share in zip(rules, shares, strict=True)]


def certain(item: Item) -> Item:
    """The same without intervals."""
    none, missing = np.full(item.path.x.size, np.nan), item.missing
    if missing is not None:
        missing = missing._replace(low=np.full(1, np.nan), high=np.full(1, np.nan))
    return item._replace(path=item.path._replace(low=none, high=none), missing=missing)


def find_point(common: Item, result: Result) -> Trace:
    """The one place of a region with one value, on the common curve; nothing else is known."""
    if not common.path.x.size:
        return NO_CURVE
    x, none = np.array(reach(result)[:1]), np.full(1, np.nan)
    return Trace(x, read_common(common, result, x), none, none, none)


def read_common(common: Item, result: Result, x: FloatArray) -> FloatArray:
    """Read the common curve at places on the axis of a region; nan where it has no such level."""
    if not result.labels:
        return np.interp(x, common.path.x, common.path.curve)
    layout = lay_out_levels([common.result, result])
    own = layout.locate(common.result, common.path.x)
    known = dict(zip(own.tolist(), common.path.curve.tolist(), strict=True))
    places = layout.locate(result, x)
    return np.array([known.get(place, np.nan) for place in places.tolist()])


def mask_region_curve(item: Item) -> Trace:
    """The curve of a region where it has rows, and nothing elsewhere."""
    path = item.path
    if not path.x.size:
        return path
    seen = has_rows(item.result, path.x)
    if not seen.any():
        return NO_CURVE
    hidden = {name: np.where(seen, getattr(path, name), np.nan) for name in path._fields[1:]}
    return path._replace(**hidden)


def has_rows(result: Result, x: FloatArray) -> BoolArray:
    """Tell at which places on its axis a result has rows."""
    if result.labels:
        rows = result.level_rows().rows
        return np.asarray(rows[np.searchsorted(result.axis, x)] > 0)
    _, limits, density, gaps = result.support()
    some = np.flatnonzero(density > 0)
    if not some.size:
        return np.zeros(x.size, dtype=np.bool_)
    seen = (x >= limits[some[0]]) & (x <= limits[some[-1] + 1])
    for left, right in gaps:
        seen &= (x <= left) | (x >= right)
    return np.asarray(seen)


def count_rest(tree: RegionTree, drawn: Sequence[RegionCurve]) -> str:
    """Say how many regions are not drawn, and how many rows they have; nothing where all are."""
    n_left = 0 if tree.thirds else len(tree) - len(drawn)
    if n_left <= 0 or not drawn:
        return ""
    share = 1.0 - sum(tree[curve.place].share_of_rows for curve in drawn)
    noun = "group" if tree.state == "given" else "region"
    return (
        f"and {n_left} more {noun}{'s' if n_left > 1 else ''}, {format_row_percent(share)} of rows"
    )


def describe_tree(tree: RegionTree, length: int = 10_000) -> str:
    """Say in one sentence what tells rows apart, and how much of the spread that is.

    The sentence has about `length` letters: long names are shortened.
    """
    share, most = (
        write_share(*read_explained_share(tree)),
        (length - 36) // max(1, len(tree.splitters)),
    )
    if len(tree) < 2 and tree.state == "given":
        return "only one group has rows"
    if len(tree) < 2:
        return f"{'doubtful' if tree.state == 'doubtful' else 'no regions'}: {tree.why}"
    if tree.gradual is not None:
        return f"changes gradually with {fit_name(tree.gradual, max(12, length - 40))} ({share})"
    if not tree.splits:
        return f"these groups explain {share} of the spread" if tree.share > 0 else ""
    names = [fit_name(name, max(12, most)) for name in tree.splitters]
    verb = "explain" if len(names) > 1 else "explains"
    return f"{join_words(names, 'and')} {verb} {share} of the spread"


def describe_briefly(tree: RegionTree, length: int) -> str:
    """Say the same in about so many letters, above a small panel."""
    share = write_share(*read_explained_share(tree))
    if tree.gradual is not None:
        return f"gradually with {fit_name(tree.gradual, max(8, length - 30))} ({share})"
    if not tree.splits:
        return f"by groups ({share})" if tree.share > 0 else "by groups"
    return f"by {fit_name(', '.join(tree.splitters), max(8, length - 18))} ({share})"


def format_row_percent(share: float) -> str:
    """Write a share of the rows in per cent; few rows are not none."""
    return f"{100 * share:.1g} %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


# --- The legend of regions: a sentence, who is in them, and beside that what else is drawn


BOLD = 0.85  # letters of a heading in a line
MOST_ROOM = 0.6  # share of given axes for a legend inside
KEY = 6  # letters that a key takes
SECOND_COLUMN_LETTERS = 34  # letters that the second column takes
NUMBERS_BESIDE, NAMES_BESIDE = 0.9, 2.2  # inches of a new figure that are not its axes
MIN_RULE_LETTERS = 26  # letters of a rule beside a second column


class LegendSpace(NamedTuple):
    """Where a legend stands, and how long its words may be."""

    outside: bool  # above the axes; else inside, in smaller letters
    line: int  # letters of a line

    @property
    def size(self) -> str:
        """Size of the letters."""
        return style.LEGEND_TEXT if self.outside else style.NUMBER_TEXT

    @property
    def has_columns(self) -> bool:
        """Whether there is room for a second column."""
        return self.outside and self.line - SECOND_COLUMN_LETTERS - KEY >= MIN_RULE_LETTERS

    @property
    def label(self) -> int:
        """Letters of the name of a region."""
        return min(
            style.REGION_LABEL, self.line - KEY - (SECOND_COLUMN_LETTERS if self.has_columns else 0)
        )


def room_inside(ax: Axes) -> LegendSpace:
    """Find out how much room a legend has in given axes."""
    inches = ax.get_window_extent().width / ax.figure.dpi
    return LegendSpace(outside=False, line=canvas.wide_letters(inches, style.NUMBER_TEXT))


def room_above(*, turned: bool) -> LegendSpace:
    """Find out how much room it has above the curves of a new figure."""
    inches = style.REGION_SIZE[0] - (NAMES_BESIDE if turned else NUMBERS_BESIDE)
    return LegendSpace(
        outside=True, line=canvas.wide_letters(canvas.magnify() * inches, style.LEGEND_TEXT)
    )


def add_columns(
    ax: Axes, columns: Sequence[Sequence[Artist]], title: str, room: LegendSpace
) -> None:
    """Explain artists in columns of their own, under a sentence: above the panel, or inside it."""
    if not style.current().legend:
        return
    filled = [list(column) for column in columns if column]
    if not room.has_columns:
        filled = [[one for column in filled for one in column]]
    artists = [one for column in filled for one in pad(column, max(map(len, filled)))]
    alike: dict[str, Any] = {"fontsize": room.size, "alignment": "left", "handlelength": 2.2}
    if room.outside:
        alike |= {"frameon": False, "ncols": len(filled), "borderaxespad": 0.6}
        legend = ax.legend(
            artists, canvas.dummies(artists), loc="lower left", bbox_to_anchor=(-0.07, 1), **alike
        )
    else:
        alike |= {"framealpha": 0.7, "borderpad": 0.3, "labelspacing": 0.25}
        legend = ax.legend(artists, canvas.dummies(artists), loc="upper left", **alike)
    for text, artist in zip(legend.get_texts(), artists, strict=True):
        text.set(text=folded(str(artist.get_label()), style.REGION_LABEL), **LITERAL)
    legend.set_title(folded(title, int(BOLD * room.line), lines=3))
    legend.get_title().set(fontsize=room.size, fontweight="bold", **LITERAL)
    if not room.outside:
        words = [legend.get_title(), *legend.get_texts()]
        lift_above(ax, sum(1 + text.get_text().count("\n") for text in words))


def lift_above(ax: Axes, lines: int) -> None:
    """Make room for a legend of so many small lines in the upper part of the axes, if there is one."""
    if ax.get_legend() is None:
        return
    points = FontProperties(size=style.NUMBER_TEXT).get_size_in_points()
    inches = ax.get_window_extent().height / ax.figure.dpi
    share = min(MOST_ROOM, (1.4 * lines * points + 2 * points) / 72 / inches)
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (high - low) / (1 - share), auto=True)


def pad(artists: list[Artist], length: int) -> list[Artist]:
    """Fill a column of a legend with entries that show nothing."""
    return artists + [blank_entry("")] * (length - len(artists))


def blank_entry(label: str) -> Artist:
    """Make an entry of a legend that shows nothing but words."""
    return Line2D([], [], linestyle="none", label=label)


# --- The small tree of rules: one line a condition, regions in the colours of their curves


# by the size of the letters: of a level, of a line, above the first, of a letter
INDENT, PITCH, TREE_TOP_MARGIN, LETTER = 1.9, 2.9, 1.4, 0.6
STEM, PAD, FOOT = 0.7, 0.35, 0.9  # where lines and words begin, how far below a box lines do
MIN_CONDITION_LETTERS, MAX_CONDITION_LETTERS = 8, 32  # letters of a condition
ROW_SHARE_LETTERS = 9  # letters of the share of rows behind it, and of its box

Path = tuple[tuple[Split, bool], ...]


class Twig(NamedTuple):
    """One line of the tree: a condition, how deep it stands, which line it hangs on."""

    words: str
    depth: int
    parent: int
    regions: tuple[int, ...]

    @property
    def region(self) -> int | None:
        """The region that it ends in; None where it is split further."""
        return self.regions[0] if len(self.regions) == 1 else None


def grow_twigs(tree: RegionTree, inches: float = np.inf) -> list[Twig]:
    """List the conditions of a tree from top to bottom, each before what hangs on it.

    Conditions are written as short as the width of the tree, `inches`, needs.
    """
    twigs = [Twig(ALL_ROWS, 0, -1, tuple(range(len(tree))))]

    def grow(place: int, parent: int, path: Path) -> None:
        split = tree.splits[place]
        room = (inches / letter_size() - INDENT * (split.depth + 1)) / LETTER - ROW_SHARE_LETTERS
        length = int(np.clip(room, MIN_CONDITION_LETTERS, MAX_CONDITION_LETTERS))
        for is_first, then in ((True, split.first), (False, split.second)):
            here = (*path, (split, is_first))
            regions = tuple(_regions_below(tree.splits, then))
            twigs.append(Twig(name_end(tree, here, length), split.depth + 1, parent, regions))
            if then >= 0:
                grow(then, len(twigs) - 1, here)

    grow(0, 0, ())
    return twigs


def _regions_below(splits: Sequence[Split], place: int) -> Iterator[int]:
    if place < 0:
        yield -1 - place
        return
    for then in (splits[place].first, splits[place].second):
        yield from _regions_below(splits, then)


def name_end(tree: RegionTree, path: Path, length: int) -> str:
    """Write what the last split of a path adds, in at most so many letters.

    `path` holds the splits from the first one on, and whether their first side is taken. What several
    of them say about one feature is written as one condition.
    """
    same = [step for step in path if step[0].feature == path[-1][0].feature]
    chain = []
    for line, (split, is_first) in enumerate(same):
        on, off = -1 if line == len(same) - 1 else line + 1, -2 - line
        first, second = (on, off) if is_first else (off, on)
        chain.append(replace(split, first=first, second=second))
    return short_rules(replace(tree, splits=tuple(chain)), length)[0]


def tree_size(tree: RegionTree) -> tuple[float, float]:
    """Width and height that a tree takes, in inches."""
    twigs = grow_twigs(tree)
    width = max(
        INDENT * twig.depth + LETTER * (len(twig.words) + ROW_SHARE_LETTERS) for twig in twigs
    )
    return letter_size() * width, letter_size() * (TREE_TOP_MARGIN + PITCH * len(twigs))


def letter_size() -> float:
    """Size of the letters, in inches."""
    return float(FontProperties(size=style.LEGEND_TEXT).get_size_in_points()) / 72


def draw_rule_tree(
    ax: Axes, tree: RegionTree, colours: Mapping[int, str], *, within: bool = True
) -> list[Text]:
    """Draw the rules of a tree.

    Lines and ticks of the axes are taken away. `within` shortens conditions to the width of the axes;
    it is False where a layout engine makes room.
    """
    ax.set_axis_off()
    ax.set_gid("rhale:tree")
    letters = Affine2D().scale(letter_size()) + ax.figure.dpi_scale_trans
    letters += ScaledTranslation(0, 1, cast(Affine2DBase, ax.transAxes))
    width = ax.get_window_extent().width / ax.figure.dpi
    twigs = grow_twigs(tree, width if within else np.inf)
    heights: list[float] = [-TREE_TOP_MARGIN - PITCH * line for line in range(len(twigs))]
    for twig, y in zip(twigs[1:], heights[1:], strict=True):
        # A thin line leads from a condition to what it hangs on.
        left, right = INDENT * (twig.depth - 1) + STEM, INDENT * twig.depth
        foot = heights[twig.parent] - FOOT
        line = Line2D([left, left, right], [foot, y, y], transform=letters)
        line.set(color=style.ZERO_LINE, linewidth=style.THIN_LINE, gid="rhale:branch", zorder=1)
        line.set(in_layout=False, clip_on=False)
        ax.add_artist(line)
    written = []
    for twig, y in zip(twigs, heights, strict=True):
        share = format_row_percent(sum(tree[region].share_of_rows for region in twig.regions))
        words = fit_name(twig.words, MAX_CONDITION_LETTERS) + (
            "" if twig.parent < 0 else f"  {share}"
        )
        colour = None if twig.region is None else colours.get(twig.region)
        # A condition stands in a box; the box of a region has the colour of its curve.
        left = INDENT * twig.depth + PAD
        text = ax.text(left, y, words, transform=letters, va="center", **LITERAL)
        edge, thick = (colour, style.LINE_WIDTH) if colour else (style.ZERO_LINE, style.THIN_LINE)
        box = {"boxstyle": "round,pad=0.3", "edgecolor": edge, "linewidth": thick}
        text.set_bbox({**box, "facecolor": ax.figure.get_facecolor()})
        text.set(fontsize=style.LEGEND_TEXT, gid="rhale:rule", zorder=2)
        written.append(text)
    return written


SLIVER = (1.0, 0.01)  # axes of a tree have no width of their own: its words get what they need
TREE_LEGEND_INCHES = 1.4  # inches of the legend above the tree
REGION_PAD_INCHES = 0.09  # inches around all panels, for the boxes of words


def plot_regions(
    effect: Result,
    *,
    ax: Axes | Sequence[Axes] | None = None,
    center: Center = "mean",
    level: float = 0.95,
    smooth: bool | None = None,
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
    smooth : bool, optional
        As in `plot_effect`. If not given, curves of a model that moves in many small steps are
        smoothed: several staircases over each other are hard to read.
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
    >>> from rhale.regions.result import Region, RegionTree
    >>> x = np.linspace(0, 1, 200)
    >>> whole = rhale.effect(x, 0 * x + 2, name="age")
    >>> groups = [Region(n, 100, 0.5, rhale.effect(x, 0 * x + s)) for n, s in (("a", 1), ("b", 3))]
    >>> effect = replace(whole, regions=RegionTree("age", "y0", "given", "", tuple(groups)))
    >>> [text.get_text() for text in plot_regions(effect).get_legend().texts][:2]
    ['a, 50 % of rows', 'b, 50 % of rows']
    """
    tree, layers = require_regions(effect), Layers(center, level, uncertainty=uncertainty)
    smooth = has_many_steps(effect) if smooth is None else smooth
    view = read_view([effect], limits, xscale, sort)
    curves = read_region_curves(effect, layers, smooth=smooth, view=view)
    common = read_item(effect, center, level, smooth=smooth, view=view)
    field, beside = open_region_panels(effect, curves, ax, view)
    oriented = field.oriented
    room = room_above(turned=oriented.horizontal) if ax is None else room_inside(oriented.ax)
    curves = rename(curves, tree, room.label, " of rows" if room.outside else "")
    if is_constant(effect):
        field.draw_constant([common], level)
    else:
        columns = draw_region_curves(field, common, curves, layers)
        keep_in_proportion(oriented, among)
        if curves and ax is not None:  # no room for much: the tree tells regions by colour, too
            columns = ([] if beside else columns[0], columns[1][:1])
        title = describe_tree(tree, int(BOLD * room.line))
        add_columns(oriented.ax, columns, title, room)
    field.name_places(effect)
    label_oriented_axes(oriented, [effect], center)
    field.name_scale()
    if beside is not None:
        colours = {curve.place: curve.look.colour for curve in curves}
        draw_rule_tree(beside, tree, colours, within=ax is not None)
    return oriented.ax


def open_region_panels(
    effect: Result, curves: Sequence[RegionCurve], ax: Axes | Sequence[Axes] | None, view: AxisView
) -> tuple[PlotAxis, Axes | None]:
    """Find or make the axes of the curves, and those of the tree where it is drawn."""
    results, tree = [effect, *(curve.item.result for curve in curves)], require_regions(effect)
    has_tree = bool(tree.splits) and not tree.thirds and bool(curves)
    layout = lay_out_levels(results, view.order) if effect.labels else None
    turned, beside = layout is not None and should_turn(layout, ax), None
    if ax is None:
        width, height = (canvas.magnify() * inches for inches in style.REGION_SIZE)
        if turned and layout is not None:
            height = max(height, turned_height(layout, 1.6))
        if has_tree:
            tree_width, tree_height = tree_size(tree)
            height = max(height, tree_height + canvas.magnify() * TREE_LEGEND_INCHES)
            size = (width + tree_width, height)
            main, beside = canvas.open_panels(size, SLIVER, sideways=True, shared=False)
            engine = cast(ConstrainedLayoutEngine, main.figure.get_layout_engine())
            engine.set(w_pad=REGION_PAD_INCHES)
        else:
            main = canvas.new_axes((width, height))
        if turned:
            canvas.write_plain_values(main)
    elif isinstance(ax, Axes):
        main = ax
    else:
        main, second = canvas.given_pair(ax)
        beside = second if has_tree else None
        second.set_axis_off()
    if layout is None:
        return ContinuousAxis(main, view=view), beside
    return CategoricalAxis(OrientedAxes(main, turned), layout), beside


def draw_region_curves(
    field: PlotAxis, common: Item, curves: Sequence[RegionCurve], layers: Layers
) -> tuple[list[Artist], list[Artist]]:
    """Draw all curves; return what a legend explains: regions, and the rest."""
    field.begin()
    if not curves:
        # Draw the common curve where there are no regions; return what a legend explains.
        effect, level = common.result, layers.level
        explained = field.draw_one(common, "all rows", level, uncertainty=layers.uncertainty)
        explained += field.draw_gaps(effect) + field.draw_counts(effect)
        field.draw_aside([common], level)
        field.fit()
        return explained[:2], explained[2:]
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
