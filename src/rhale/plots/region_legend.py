"""The legend of regions: a sentence, who is in them, and beside that what else is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D

from rhale.plots import canvas, style, theme
from rhale.plots.lettering import LITERAL, folded

BOLD = 0.85  # letters of a heading in a line
MOST_ROOM = 0.6  # share of given axes for a legend inside
KEY = 6  # letters that a key takes
SECOND_COLUMN_LETTERS = 34  # letters that the second column takes
NUMBERS_BESIDE, NAMES_BESIDE = 0.9, 2.2  # inches of a new figure that are not its axes
MIN_RULE_LETTERS = 26  # letters of a rule beside a second column


class LegendSpace(NamedTuple):
    """Where a legend stands, and how long its words may be.

    Attributes
    ----------
    outside : bool
        Above the axes; else inside, in smaller letters.
    line : int
        Letters of a line.
    """

    outside: bool
    line: int

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
    """Find out how much room it has above the curves of a new figure.

    Parameters
    ----------
    turned : bool
        Whether names of levels stand beside the axes.
    """
    inches = style.REGION_SIZE[0] - (NAMES_BESIDE if turned else NUMBERS_BESIDE)
    return LegendSpace(
        outside=True, line=canvas.wide_letters(canvas.magnify() * inches, style.LEGEND_TEXT)
    )


def add_columns(
    ax: Axes, columns: Sequence[Sequence[Artist]], title: str, room: LegendSpace
) -> None:
    """Explain artists in columns of their own, under a sentence: above the panel, or inside it."""
    if not theme.current().legend:
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
