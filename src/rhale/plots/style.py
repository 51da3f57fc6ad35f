"""What pictures look like: colours, dashes and sizes, and the theme that a style changes for a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ContextDecorator, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, is_color_like

from rhale.errors import BadSettingError
from rhale.naming import near_names
from rhale.output import colours
from rhale.output.picture_options import Colors

MOST_INCHES = 100.0
DARK_BACKGROUND, LIGHT, PALE = (
    "#16181D",
    "#E8E8E8",
    "#9AA0AA",
)  # paper, letters, notes of a dark picture


@dataclass(frozen=True)
class Theme:
    """What pictures look like, as far as a style may change it."""

    # effect, spread, interval, rows, between: colours of the mean, of how rows differ, of how
    # well the mean is known, of where rows are, and of how trainings differ.
    effect: str = colours.EFFECT_COLOUR
    spread: str = colours.SPREAD_COLOUR
    interval: str = colours.UNCERTAINTY_COLOUR
    rows: str = colours.ROW_COUNT_COLOUR
    between: str = colours.BETWEEN_COLOUR
    # truth, single, common, notes, zero, halo: of a known curve, of single rows, of all rows
    # where those of some are drawn, of small letters, of the line of no effect, and of what
    # lies behind letters on colours.
    truth: str = "#000000"
    single: str = "#777777"
    common: str = "#777777"
    notes: str = "#555555"
    zero: str = "#B0B0B0"
    halo: str = "#FFFFFFB0"
    # of several curves in one panel: outputs, regions, models; none keeps the usual ones.
    curves: tuple[str, ...] = ()
    # of an effect that changes gradually, from low to high
    thirds: tuple[str, ...] = colours.THIRD_COLOURS
    lines: float = 1.0  # lines, size: widths of lines and inches of new figures, by the usual ones.
    size: float = 1.0
    figsize: tuple[float, float] | None = None  # inches of new figures
    legend: bool = True  # whether pictures have one


SEVERAL = ("curves", "thirds")
ROLES = tuple(f.name for f in fields(Theme) if f.type == "str" or f.name in SEVERAL)

# Changes of the theme, and settings of Matplotlib that go with them.
STYLES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "paper": (
        {"lines": 0.8, "size": 0.8},
        {
            "font.size": 8.0,
            "axes.linewidth": 0.6,
            "xtick.major.width": 0.6,
            "ytick.major.width": 0.6,
            "savefig.dpi": 300,
            "pdf.fonttype": 42,  # letters that journals can search and edit
            "ps.fonttype": 42,
        },
    ),
    "slides": (
        {"lines": 1.5, "size": 1.25},
        {"font.size": 14.0, "axes.linewidth": 1.2, "savefig.dpi": 150},
    ),
    "dark": (
        {
            "effect": "#4FB3F0",
            "spread": "#2BC79A",
            "interval": "#FF8A47",
            "rows": "#8A8F99",
            "between": "#E79AC4",
            "truth": LIGHT,
            "single": PALE,
            "common": PALE,
            "notes": "#B4B9C2",
            "zero": "#5A606B",
            "halo": "#16181DB0",
            "curves": (
                *("#4FB3F0", "#F5B83D", "#E07BB0", "#9BE15D"),
                *("#C9A0FF", "#FF8A47", "#5FE0D0", "#E8E8E8"),
            ),
            "thirds": ("#2F7FB8", "#6DBBEE", "#CBE8FF"),
        },
        {
            **dict.fromkeys(
                ("figure.facecolor", "axes.facecolor", "savefig.facecolor"), DARK_BACKGROUND
            ),
            **dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor"), LIGHT),
            **dict.fromkeys(("xtick.color", "ytick.color", "axes.edgecolor"), PALE),
            **dict.fromkeys(("xtick.labelcolor", "ytick.labelcolor"), LIGHT),
            "legend.facecolor": DARK_BACKGROUND,
            "legend.edgecolor": PALE,
        },
    ),
}
DEFAULT_THEME = Theme()
_THEME: ContextVar[Theme] = ContextVar("rhale theme", default=DEFAULT_THEME)


def current() -> Theme:
    """Return the theme of this thread or task; others have their own."""
    return _THEME.get()


@contextmanager
def changed(**changes: Any) -> Iterator[None]:
    """Let pictures look otherwise inside of the block."""
    token = _THEME.set(replace(current(), **changes))
    try:
        yield
    finally:
        _THEME.reset(token)


class Style(ContextDecorator):
    """What `style` gives back: pictures inside of its `with` block have the style."""

    def __init__(self, changes: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self.changes, self.settings = changes, settings
        self.opened: list[ExitStack] = []  # one for each block that is open: they may be nested

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(mpl.rc_context(cast(Any, self.settings)))
            stack.enter_context(changed(**self.changes))
            self.opened.append(stack.pop_all())
        return self

    def __exit__(self, *failed: object) -> None:
        self.opened.pop().close()

    def __repr__(self) -> str:
        return "<a style of pictures, for a block: with rhale.style(...): fx.plot()>"


def style(
    *styles: Any,
    colors: Colors | None = None,
    figsize: tuple[float, float] | None = None,
    legend: bool | None = None,
    rc: Mapping[str, Any] | None = None,
) -> Style:
    """Draw pictures in a style, inside of a `with` block: `rhale.style`.

    Parameters
    ----------
    *styles : {"paper", "slides", "dark"} or mapping
        Small letters and figures for print; large letters and thick lines; light on dark. Several
        add up, the last wins. None changes only what follows. A mapping holds roles of colours,
        the arguments below, or settings of Matplotlib: {"effect": "black", "font.size": 9}.
    colors : str, sequence or mapping, optional
        As in `Explanation.plot`.
    figsize : pair of float, optional
        Width and height of new figures in inches.
    legend : bool, optional
        Whether pictures have a legend.
    rc : mapping, optional
        Settings of Matplotlib besides, such as {"font.family": "serif"}.

    Returns
    -------
    context manager
        Also a decorator of functions that draw.

    Notes
    -----
    Nothing stays behind the block, and blocks may be nested. Colours and sizes of `rhale` hold for
    this thread alone; letters and backgrounds are settings of Matplotlib, and reach as far as those
    of `matplotlib.rc_context`.

    Examples
    --------
    >>> import numpy as np
    >>> import rhale
    >>> x = np.linspace(0, 1, 200)
    >>> effect = rhale.effect(x, 2 * x, name="age")
    >>> with rhale.style("paper", colors="black"):
    ...     ax = effect.plot(kind="curve")
    >>> ax.get_lines()[-1].get_color()
    'black'
    """
    changes: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    named: dict[str, Any] = {"colors": colors, "figsize": figsize, "legend": legend, "rc": rc}
    for one in (*styles, {name: given for name, given in named.items() if given is not None}):
        if not isinstance(one, Mapping):
            if not isinstance(one, str) or one not in STYLES:
                msg = f"there is no style {one!r}; {near_names(str(one), list(STYLES))}"
                raise BadSettingError(msg)
            changes |= STYLES[one][0]
            settings |= STYLES[one][1]
            continue
        for name, given in one.items():
            if name in ROLES or name == "colors":
                changes |= read_colors({name: given} if name in ROLES else given)
            elif name in ("figsize", "legend"):
                changes[name] = (
                    require_size(given) if name == "figsize" else require_flag(name, given)
                )
            elif name == "rc" or name in mpl.rcParams:
                settings |= given if name == "rc" else {name: given}
            else:
                known = [*named, *ROLES]
                msg = (
                    f"a style has no setting {name!r}, and Matplotlib has none of that name; "
                    f"{near_names(str(name), known, limit=len(known))}"
                )
                raise BadSettingError(msg)
    return Style(changes, settings)


def require_size(figsize: Any) -> tuple[float, float]:
    """Refuse what is no width and height in inches."""
    try:
        width, height = (float(side) for side in figsize)
    except (TypeError, ValueError):
        width = height = 0.0
    if not (0 < width <= MOST_INCHES and 0 < height <= MOST_INCHES):
        msg = f"figsize={figsize!r} is no width and height in inches, such as (6.4, 4)"
        raise BadSettingError(msg)
    return width, height


def require_flag(name: str, flag: Any) -> bool:
    """Refuse what is neither True nor False."""
    if not isinstance(flag, bool | np.bool_):
        msg = f"{name}={flag!r} is neither True nor False"
        raise BadSettingError(msg)
    return bool(flag)


def read_colors(colors: Colors | None) -> dict[str, Any]:
    """Read what colours are asked for as changes of the theme."""
    if colors is None:
        return {}
    if isinstance(colors, str):
        colors = {"effect": colors}
    elif not isinstance(colors, Mapping):
        colors = {"curves": colors}
    unknown = [role for role in colors if role not in ROLES]
    if unknown:
        msg = f"no colour has the role {unknown[0]!r}; {near_names(str(unknown[0]), list(ROLES))}"
        raise BadSettingError(msg)
    return {role: _require_colours(role, colour) for role, colour in colors.items()}


def _require_colours(role: str, colour: Any) -> Any:
    """Refuse what Matplotlib does not know as a colour; of several curves a list of them."""
    if role not in SEVERAL:
        _require_color(role, colour)
        return colour
    found = (colour,) if isinstance(colour, str) else tuple(colour)
    if not found or (role == "thirds" and len(found) != len(colours.THIRD_COLOURS)):
        wanted = "three colours" if role == "thirds" else "at least one colour"
        msg = f"{role!r} needs {wanted}; found {colour!r}"
        raise BadSettingError(msg)
    for one in found:
        _require_color(role, one)
    return found


def _require_color(role: str, colour: Any) -> None:
    if not is_color_like(colour):
        msg = f"{colour!r} is no colour for {role!r}; give a name such as 'black', or '#0072B2'"
        raise BadSettingError(msg)


# --- Colours, dashes and sizes; what a style may change is read from the theme that holds, see `__getattr__`


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
CLOSE_SLOT = 9.0  # points: numbers that are nearer to each other are drawn as a line
CLOSE_BAR = 0.4  # width of their bars, by their distance
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
    colours = current().curves or [one.colour for one in LINE_STYLES]
    return Look(colours[index % len(colours)], other.dash, other.marker)


def in_colours(looks: Sequence[Look], colours: Sequence[str]) -> tuple[Look, ...]:
    """Give the same looks in other colours, from the first one again where there are too few."""
    if not colours:
        return tuple(looks)
    return tuple(one._replace(colour=colours[i % len(colours)]) for i, one in enumerate(looks))


CHANGEABLE: dict[str, Callable[[Theme], Any]] = {
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
        return CHANGEABLE[name](current())
