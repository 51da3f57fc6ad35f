"""What a style may change of every picture: colours, widths of lines, sizes; held by a context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import matplotlib as mpl
from matplotlib.colors import is_color_like

from rhale.errors import BadSettingError
from rhale.naming import near_names
from rhale.output import colours

Colors = str | Sequence[str] | Mapping[str, Any]  # the effect, several curves, or by role
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


@contextmanager
def style(
    *names: str,
    colors: Colors | None = None,
    figsize: tuple[float, float] | None = None,
    legend: bool | None = None,
    rc: Mapping[str, Any] | None = None,
) -> Iterator[None]:
    """Draw pictures in a style, inside of a `with` block: `rhale.style`.

    Parameters
    ----------
    *names : {"paper", "slides", "dark"}
        Small letters and figures for print; large letters and thick lines; light on dark. Several
        add up, the last wins. None changes only what follows.
    colors : str, sequence or mapping, optional
        As in `Explanation.plot`.
    figsize : pair of float, optional
        Width and height of new figures in inches.
    legend : bool, optional
        Whether pictures have a legend.
    rc : mapping, optional
        Settings of Matplotlib besides, such as {"font.family": "serif"}.

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
    changes: dict[str, Any] = {} if legend is None else {"legend": legend}
    settings: dict[str, Any] = {}
    for name in names:
        if name not in STYLES:
            msg = f"there is no style {name!r}; {near_names(str(name), list(STYLES))}"
            raise BadSettingError(msg)
        ours, theirs = STYLES[name]
        changes |= ours
        settings |= theirs
    changes |= read_colors(colors)
    changes |= {} if figsize is None else {"figsize": require_size(figsize)}
    settings |= rc or {}
    with mpl.rc_context(cast(Any, settings)), changed(**changes):
        yield


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
