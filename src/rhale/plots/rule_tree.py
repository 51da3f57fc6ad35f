"""The small tree of rules: one line a condition, regions in the colours of their curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Affine2DBase, ScaledTranslation, Transform

from rhale.plots import style
from rhale.plots.lettering import LITERAL, fit_name
from rhale.plots.region_curves import format_row_percent
from rhale.results.region_tree import RegionTree, Split
from rhale.results.rules_in_words import ALL_ROWS, short_rules

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

    Parameters
    ----------
    tree : RegionTree
        With splits.
    inches : float
        Width of the tree: conditions are written as short as it needs.
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

    Parameters
    ----------
    tree : RegionTree
        Which the path is of.
    path : tuple of (Split, bool)
        Splits from the first one on, and whether their first side is taken. What several of them
        say about one feature is said in one.
    length : int
        Most letters.

    Examples
    --------
    >>> tree = RegionTree("x", "y", "found", "", ())
    >>> old, middle = Split(0, "age", 0, 30.0), Split(1, "age", 0, 50.0)
    >>> name_end(tree, ((old, False), (middle, True)), 30)
    '30 < age ≤ 50'
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

    Parameters
    ----------
    ax : Axes
        Where; lines and ticks of the axes are taken away.
    tree : RegionTree
        With splits.
    colours : mapping of int to str
        Colours of the regions whose curves are drawn.
    within : bool
        Shorten conditions to the width of the axes; False where a layout engine makes room.

    Returns
    -------
    list of Text
        One for each condition, gid rhale:rule.
    """
    ax.set_axis_off()
    ax.set_gid("rhale:tree")
    letters = Affine2D().scale(letter_size()) + ax.figure.dpi_scale_trans
    letters += ScaledTranslation(0, 1, cast(Affine2DBase, ax.transAxes))
    width = ax.get_window_extent().width / ax.figure.dpi
    twigs = grow_twigs(tree, width if within else np.inf)
    heights = [-TREE_TOP_MARGIN - PITCH * line for line in range(len(twigs))]
    for twig, y in zip(twigs[1:], heights[1:], strict=True):
        draw_branch(ax, letters, twig, (heights[twig.parent], y))
    written = []
    for twig, y in zip(twigs, heights, strict=True):
        share = format_row_percent(sum(tree[region].share_of_rows for region in twig.regions))
        words = fit_name(twig.words, MAX_CONDITION_LETTERS) + (
            "" if twig.parent < 0 else f"  {share}"
        )
        colour = None if twig.region is None else colours.get(twig.region)
        written.append(write_twig(ax, letters, twig, (y, words, colour)))
    return written


def draw_branch(ax: Axes, letters: Transform, twig: Twig, heights: tuple[float, float]) -> None:
    """Draw the thin line from a condition to what it hangs on."""
    left, right = INDENT * (twig.depth - 1) + STEM, INDENT * twig.depth
    above, y = heights
    line = Line2D([left, left, right], [above - FOOT, y, y], transform=letters)
    line.set(color=style.ZERO_LINE, linewidth=style.THIN_LINE, gid="rhale:branch", zorder=1)
    line.set(in_layout=False, clip_on=False)
    ax.add_artist(line)


def write_twig(
    ax: Axes, letters: Transform, twig: Twig, line: tuple[float, str, str | None]
) -> Text:
    """Write a condition in a box, of a region in its colour."""
    y, words, colour = line
    text = ax.text(INDENT * twig.depth + PAD, y, words, transform=letters, va="center", **LITERAL)
    edge, width = (colour, style.LINE_WIDTH) if colour else (style.ZERO_LINE, style.THIN_LINE)
    box = {"boxstyle": "round,pad=0.3", "edgecolor": edge, "linewidth": width}
    text.set_bbox({**box, "facecolor": ax.figure.get_facecolor()})
    text.set(fontsize=style.LEGEND_TEXT, gid="rhale:rule", zorder=2)
    return text
