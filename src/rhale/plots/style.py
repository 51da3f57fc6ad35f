"""Colours, dashes and sizes of every plot. Nothing here is set globally.

What a style may change is read from the theme that holds when it is asked for, see `__getattr__`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.colors import LinearSegmentedColormap

from rhale.output import colours
from rhale.plots import theme

SPREAD_ALPHA = 0.20
UNCERTAINTY_ALPHA = 0.45
BAR_ALPHA, BAR_EDGE_ALPHA = 0.10, 0.35
VIOLIN_ALPHA = 0.35
COUNT_ALPHA = 0.60
ROW_ALPHA = 0.25
ROW_CURVE_ALPHA, COLORED_ROW_ALPHA, ROW_BEYOND_ALPHA = 0.55, 0.85, 0.13  # beyond: predicted
EMPTY_ALPHA = 0.35  # hatches where no rows are
DARK_TILE_SHARE = 0.6  # of a scale of colours: letters on it are white
THIN_RIBBON_ALPHA = 0.25
PALE_RIBBON_ALPHA = 0.15  # where ribbons of several lines lie over each other
STROKE_ALPHA = 0.35  # spread of one level
BETWEEN_ALPHA, TRAINING_ALPHA = 0.28, 0.55  # interval between trainings; each of them


class Look(NamedTuple):
    """Colour and dash pattern of one line among several, and the shape of its dots."""

    colour: str
    dash: tuple[float, tuple[float, ...]]
    marker: str


# Each look differs from the others in colour and in dash, so that a grey print still tells.
LINE_STYLES = tuple(
    map(
        Look,
        colours.SERIES_COLOURS,
        (
            (0, ()),
            (0, (5, 1.5)),
            (0, (1.2, 1.2)),
            (0, (6, 1.5, 1.2, 1.5)),
            (0, (9, 2)),
            (0, (3, 1, 1, 1, 1, 1)),
            (0, (2.5, 2.5)),
            (0, (8, 1.5, 3, 1.5)),
        ),
        "os^DvPXp",
    )
)

# Regions, and thirds of the feature with which an effect changes gradually.
REGION_DASHES = ((0, ()), (0, (5, 1.5)), (0, (6, 1.5, 1.2, 1.5)), (0, (1.2, 1.2)))
USUAL_REGIONS = tuple(map(Look, colours.REGION_COLOURS, REGION_DASHES, "osD^"))
USUAL_LEVELS = (*USUAL_REGIONS, Look("#444444", (0, (8, 1.5, 3, 1.5)), "v"))

# Pairs of features: colours of the surface and of strength, what has no rows or was not measured.
SURFACE_MAP = LinearSegmentedColormap.from_list(
    "rhale surface", [colours.BELOW_ZERO_COLOUR, colours.AT_ZERO_COLOUR, colours.ABOVE_ZERO_COLOUR]
)
STRENGTH_MAP = LinearSegmentedColormap.from_list(
    "rhale strength", [colours.AT_ZERO_COLOUR, colours.STRENGTH_COLOUR]
)
IMPORTANCE_MAP = LinearSegmentedColormap.from_list(
    "rhale importance", [colours.AT_ZERO_COLOUR, colours.EFFECT_COLOUR]
)

# Sizes in inches and shares of a panel.
EFFECT_SIZE = (6.4, 5.8)
PROFILE_SIZE = (6.4, 4.4)
REGION_SIZE = (6.4, 4.8)
MAP_SIZE = (6.6, 5.2)
MATRIX_ROOM, MATRIX_SLOT, MATRIX_REACH = 1.6, 0.42, (3.6, 11.0)  # beside tiles, a tile, all
MATRIX_SCALES = 1.2  # of colours, beside a matrix without numbers
RANKING_WIDTH, RANKING_HEAD, RANKING_LINE = 5.0, 1.3, 0.3
REPLICATION_WIDTH, REPLICATION_HEAD = 6.4, 1.55
PANEL_HEIGHTS = (3.0, 2.0)
STRIP_HEIGHT = 0.07
STRIP_FLOOR = 0.15  # of the strip: a single row is still seen
RUG_HEIGHT = 0.05  # outside of a map
ROOM_FOR_STRIP = 0.13
AXIS_MARGIN = 0.04
VIOLIN_SHARE_OF_BIN = 0.4
VIOLIN_SHARE_OF_AXIS = 0.045

# Levels: dots in points, inches of a figure whose levels stand below one another.
LEAST_DOT, LEAST_NUMBER_DOT, LARGEST_DOT = 3.0, 5.0, 10.0
CAP_WIDTH = 1.25  # of a whisker, by the width of the largest dot: seen on both sides of it
DOT_FLOOR = 0.25  # of the area of the largest: a rare level is still seen
TURNED_WIDTH = 7.4
TURNED_HEAD = 1.5
TURNED_LINE = 0.25
TURNED_REACH = (3.2, 15.0)  # least and largest height
PANEL_WIDTHS_TURNED = (3.0, 2.2)
MISSING_WIDTH, MISSING_GAP = 0.42, 0.1  # of the place for missing values, beside the axes

# The grid of all features, in inches: width of a panel for 1, 2, ... columns, and heights.
PANEL_WIDTHS = (5.6, 4.0, 3.2, 2.7, 2.3)
PANEL_SHAPE = 0.58
PANEL_HEAD = 0.6
REGION_LINE = 1.35  # of the name of a region above a small panel, by the size of its letters
LEGEND_HEIGHT = 0.4
LABEL_DEPTH = 0.9  # of turned names of levels below a small panel
SMALL_TICKS = 4
SPREAD_ROOM = 0.5  # how far the spread may widen a shared axis, as a share of the curves' range

# Longest names, in characters.
LABEL_LENGTH = 44
LETTERS_PER_INCH = 14  # of a label or title in small letters
MEAN_LETTER = 0.52  # width of letters in a sentence, of their size
LEVEL_LABEL, TURNED_LABEL, SMALL_LABEL = 18, 40, 14  # of a level
REGION_LABEL = 54  # letters of a rule and a share beside a curve
LETTER_POINTS = 10.0  # usual size of letters
MOST_SLANTED, SLANTED_ROOM = 16, 1.0  # levels along x: how many, and inches of a slanted name
NAME_SHARE = 1.0  # of the width of turned axes, for the names of levels beside them
LETTER_WIDTH, LINE_HEIGHT = 0.6, 1.25  # of the size of letters

# Sizes of text follow the reader's own font size.
LEGEND_TEXT = "small"
NUMBER_TEXT = "x-small"
NAME_TEXT = "small"


def line_style(index: int) -> Look:
    """Give the look of line number `index`; past eight, colours repeat with other dashes."""
    size = len(LINE_STYLES)
    other = LINE_STYLES[(index + index // size) % size]
    colours = theme.current().curves or [one.colour for one in LINE_STYLES]
    return Look(colours[index % len(colours)], other.dash, other.marker)


def in_colours(looks: Sequence[Look], colours: Sequence[str]) -> tuple[Look, ...]:
    """Give the same looks in other colours, from the first one again where there are too few."""
    if not colours:
        return tuple(looks)
    return tuple(one._replace(colour=colours[i % len(colours)]) for i, one in enumerate(looks))


CHANGEABLE: dict[str, Callable[[theme.Theme], Any]] = {
    "EFFECT": lambda t: t.effect,
    "SPREAD": lambda t: t.spread,
    "UNCERTAINTY": lambda t: t.interval,
    "COUNT": lambda t: t.rows,
    "BETWEEN": lambda t: t.between,
    "TRUTH": lambda t: t.truth,
    "SINGLE_ROW": lambda t: t.single,
    "NOTE": lambda t: t.notes,
    "ZERO_LINE": lambda t: t.zero,
    "HALO": lambda t: t.halo,
    "ALONE": lambda t: Look(t.effect, REGION_DASHES[0], "o"),
    "COMMON": lambda t: Look(t.common, REGION_DASHES[0], "o"),
    "REGIONS": lambda t: in_colours(USUAL_REGIONS, t.curves),
    "LEVELS": lambda t: in_colours(USUAL_LEVELS, t.curves),
    "THIRDS": lambda t: tuple(map(Look, t.thirds, (REGION_DASHES[0],) * 3, "vo^")),
    "LINE_WIDTH": lambda t: 1.6 * t.lines,
    "WHISKER_LINE": lambda t: 1.2 * t.lines,
    "THIN_LINE": lambda t: 0.8 * t.lines,
    "HAIR_LINE": lambda t: 0.5 * t.lines,
}

if TYPE_CHECKING:
    EFFECT: str
    SPREAD: str
    UNCERTAINTY: str
    COUNT: str
    BETWEEN: str
    TRUTH: str
    SINGLE_ROW: str
    NOTE: str
    ZERO_LINE: str
    HALO: str  # behind letters on colours
    ALONE: Look  # the one curve of a panel
    COMMON: Look  # of all rows, where those of some are drawn
    REGIONS: tuple[Look, ...]
    LEVELS: tuple[Look, ...]  # held, while another feature moves
    THIRDS: tuple[Look, ...]
    LINE_WIDTH: float
    WHISKER_LINE: float
    THIN_LINE: float
    HAIR_LINE: float
else:

    def __getattr__(name: str) -> Any:
        """Read what a style may change; it is looked up at every use, so that a style ends with its block."""
        if name not in CHANGEABLE:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        return CHANGEABLE[name](theme.current())
