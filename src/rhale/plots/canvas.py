"""Figures and axes: where to draw, their size, what every picture may be given."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, MaxNLocator

from rhale.effects.result import Result, reach
from rhale.errors import BadSettingError
from rhale.plots import style
from rhale.plots.labels import LITERAL, drawable, fit_name, format_label_number, write_only_value
from rhale.plots.view import PLAIN_VIEW, AxisView

# --- What plots of several panels give back: axes that a notebook prints on one line


MAX_AXES_IN_REPR = 4


class AxesArray(np.ndarray):
    """An array of axes, which says how many there are instead of listing them."""

    def __repr__(self) -> str:
        names = [name for ax in self.ravel()[:MAX_AXES_IN_REPR] if (name := read_axes_name(ax))]
        more = ", ..." if names and self.size > MAX_AXES_IN_REPR else ""
        listing = f": {', '.join(names)}{more}" if names else ""
        return f"<{self.size} panel{'' if self.size == 1 else 's'}{listing}>"

    __str__ = __repr__


class TwoPanels(NamedTuple):
    """The two panels of one feature: its curve, and what it is made of."""

    top: Axes
    bottom: Axes

    def __repr__(self) -> str:
        return f"<2 panels: {read_axes_name(self.bottom) or read_axes_name(self.top)}>"


def read_axes_name(ax: Any) -> str:
    """Name axes by their title, or by what stands along x."""
    return " ".join((ax.get_title("left") or ax.get_xlabel()).split())


def as_axes_array(panels: Iterable[Axes]) -> AxesArray:
    """Put axes into an array of shape (n_panels,)."""
    panels = list(panels)
    array = np.empty(len(panels), dtype=object)
    array[:] = panels
    return array.view(AxesArray)


MANY_LINES = ("rhale:rows", "rhale:trainings")
BESIDE_LEGEND = 0.8  # inches of a figure beside a legend above its axes
HINTED = 1.04  # letters on a screen are a little wider than on paper
BESIDE_FIGURE = 0.3  # inches beside a legend below all panels
ENTRY = {"handlelength": 1.6, "handletextpad": 0.8, "columnspacing": 1.2}  # by the size of letters
RANKED_NAME_LETTERS, RANKING_LINE_INCHES = (11, 38), 0.45  # of names beside lines
SMALLEST_PLOT_RANGE = 1e-300  # Matplotlib cannot write ticks nearer to zero
_UNLISTED: ContextVar[bool] = ContextVar("rhale unlisted figures", default=False)


@contextmanager
def unlisted() -> Iterator[None]:
    """Make figures that pyplot does not know: what is drawn for a file only is not shown besides."""
    token = _UNLISTED.set(True)
    try:
        yield
    finally:
        _UNLISTED.reset(token)


def new_figure(size: tuple[float, float]) -> Figure:
    """Make a figure of this many inches, or of as many as the theme wants."""
    # Pyplot makes it, so that `plt.show()` and `plt.savefig()` know it, and notebooks display
    # it. Where pyplot has no window to offer, or would open one outside of the main thread,
    # the figure is drawn without one: a picture needs no window.
    look = style.current()
    size = look.figsize or (look.size * size[0], look.size * size[1])
    if may_use_pyplot():
        from matplotlib import pyplot as plt

        try:
            return plt.figure(figsize=size, layout="constrained")
        except ImportError:  # the chosen backend needs a display, and there is none
            pass
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def figure_of(ax: Axes) -> Figure:
    """The whole figure that axes are in, also where they are in a part of it."""
    return cast(Figure, ax.figure)


def may_use_pyplot() -> bool:
    """Tell whether pyplot may make figures here: windows belong to the main thread."""
    if _UNLISTED.get():
        return False
    in_main = threading.current_thread() is threading.main_thread()
    return in_main or "matplotlib.pyplot" in sys.modules


def new_axes(size: tuple[float, float]) -> Axes:
    """Make a figure with one panel."""
    ax = new_figure(size).add_subplot()
    write_plain_numbers(ax, 8)
    return ax


def open_panels(
    size: tuple[float, float],
    ratios: Sequence[float],
    *,
    sideways: bool = False,
    shared: bool = True,
) -> list[Axes]:
    """Make a figure with panels below one another, or side by side, of such parts of its size.

    Those that are `shared` have one axis of the feature: x, or y where they stand side by side.
    """
    figure, panels = new_figure(size), list[Axes]()
    n_panels = len(ratios)
    if sideways:
        grid = figure.add_gridspec(1, n_panels, width_ratios=ratios)
    else:
        grid = figure.add_gridspec(n_panels, 1, height_ratios=ratios)
    for index in range(n_panels):
        axis: dict[str, Any] = (
            {"sharey" if sideways else "sharex": panels[0]} if panels and shared else {}
        )
        panels.append(figure.add_subplot(grid[index], **axis))
        if sideways and shared:
            write_plain_values(panels[-1])
        else:
            write_plain_numbers(panels[-1], 8)
    return panels


def take_axes(axes: Axes | Iterable[Axes], n_panels: int) -> AxesArray:
    """Take so many small panels from the caller."""
    given = [axes] if isinstance(axes, Axes) else np.asarray(list(axes), dtype=object).ravel()
    if len(given) < n_panels:
        msg = f"{n_panels} features need as many axes; found {len(given)}. Or set top"
        raise BadSettingError(msg)
    return as_axes_array(given[:n_panels])


def open_grid(
    n_panels: int, columns: int, size: tuple[float, float], *, sharey: bool, ticks: int
) -> AxesArray:
    """Make a figure of small panels, with about so many ticks along each x axis."""
    figure, panels = new_figure(size), list[Axes]()
    places = figure.add_gridspec(-(-n_panels // columns), columns)
    for index in range(n_panels):
        first = panels[0] if sharey and panels else None
        ax = figure.add_subplot(places[index // columns, index % columns], sharey=first)
        ax.tick_params(labelsize=style.NUMBER_TEXT, labelleft=not sharey or index % columns == 0)
        ax.xaxis.set_major_locator(MaxNLocator(ticks))
        ax.xaxis.get_offset_text().set_fontsize(style.NUMBER_TEXT)
        if first is None:
            ax.yaxis.set_major_locator(MaxNLocator(5))
            write_plain_numbers(ax, 4)
        panels.append(ax)
    return as_axes_array(panels)


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


def label_grid(
    panels: AxesArray, explained: Sequence[Artist], label: str, note: str, *, new: bool
) -> None:
    """Write what is said once for all small panels: the y axis and the legend."""
    once = list({str(artist.get_label()): artist for artist in reversed(explained)}.values())[::-1]
    if not new:
        panels[0].set_ylabel(label, **LITERAL)
        if panels[0].get_legend() is None:  # names of regions are the first to be needed
            add_legend(panels[0], once, outside=False, title=note)
        return
    figure = panels[0].figure
    line = label.replace("\n", " ")
    label = line if len(line) <= frame_letters(panels[0], new=True) else label
    figure.supylabel(label, fontsize=style.NAME_TEXT, **LITERAL)
    add_figure_legend(figure, once, title=note)


def open_two_panels(
    ax: Axes | Sequence[Axes] | None, *, sideways: float | None = None
) -> TwoPanels:
    """Find or make the two panels of an effect.

    One Axes is divided, a pair is taken as it is, and None makes a new figure. With `sideways`, its
    height in inches, panels stand side by side; otherwise one is above the other.
    """
    if ax is None and sideways is None:
        return TwoPanels(*open_panels(style.EFFECT_SIZE, style.PANEL_HEIGHTS))
    if ax is None:
        size = (style.TURNED_WIDTH, sideways or 0.0)
        return TwoPanels(*open_panels(size, style.PANEL_WIDTHS_TURNED, sideways=True))
    if isinstance(ax, Axes):
        return split_axes(ax, sideways=sideways is not None)
    return given_pair(ax)


def given_pair(axes: Any) -> TwoPanels:
    """Take two panels from the caller."""
    pair = list(axes) if isinstance(axes, Iterable) else []
    if len(pair) != 2 or not all(isinstance(panel, Axes) for panel in pair):
        msg = f"ax must be one Axes, a pair of them, or None; found {axes!r}"
        raise BadSettingError(msg)
    return TwoPanels(*pair)


def write_plain_numbers(ax: Axes, digits: int) -> None:
    """Write powers of ten at the y ticks themselves: above the axis is the legend's place."""
    ax.yaxis.set_major_formatter(FuncFormatter(partial(tick_text, digits=digits)))


def write_plain_values(ax: Axes) -> None:
    """Do the same along x, where the values of turned axes are."""
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.xaxis.set_major_formatter(FuncFormatter(partial(tick_text, digits=5)))


def tick_text(value: float, position: int | None, *, digits: int) -> str:  # noqa: ARG001
    """Write the number at a tick (a function with a name, so that figures can be pickled)."""
    return format_label_number(value, digits)


def short_tick_text(value: float, position: int | None = None) -> str:  # noqa: ARG001
    """Do the same on a scale of colours."""
    return format_label_number(value, 6)


def letters(ax: Axes, side: Literal["width", "height"]) -> int:
    """Tell how many letters of a label fit along a side of the axes."""
    inches: float = getattr(ax.get_window_extent(), side) / ax.figure.dpi
    return min(style.LABEL_LENGTH, max(8, int(inches * style.LETTERS_PER_INCH)))


def frame_letters(ax: Axes, *, new: bool) -> int:
    """Tell the same of a label beside all panels of a new figure; else of the first alone."""
    if not new:
        return letters(ax, "height")
    inches = ax.figure.bbox.height / ax.figure.dpi - style.LEGEND_HEIGHT
    return max(8, int(inches * style.LETTERS_PER_INCH))


def label_letters(ax: Axes) -> int:
    """Tell how many letters a label in the legend of the axes may have."""
    return max(28, letters(ax, "width") - 6)


def wide_letters(inches: float, size: str) -> int:
    """Tell how many letters of a size fit into a line, however many that are."""
    letter = style.MEAN_LETTER * FontProperties(size=size).get_size_in_points() / 72
    return max(24, int(inches / letter))


def magnify() -> float:
    """How much larger than usual a figure is, for larger letters."""
    return max(1.0, FontProperties(size="medium").get_size_in_points() / style.LETTER_POINTS)


def split_axes(ax: Axes, *, sideways: bool = False) -> TwoPanels:
    """Make two panels in the place of one: the axes become the top, new ones lie below.

    With `sideways` the panels stand side by side, and the axes become the left one.
    """
    # The place in the caller's grid is divided, so that any layout engine goes on working.
    figure, spec = ax.figure, ax.get_subplotspec()
    if spec is not None and sideways:
        columns = spec.subgridspec(1, 2, width_ratios=style.PANEL_WIDTHS_TURNED)
        ax.set_subplotspec(columns[0])
        return TwoPanels(ax, figure.add_subplot(columns[1], sharey=ax))
    if spec is not None:
        rows = spec.subgridspec(2, 1, height_ratios=style.PANEL_HEIGHTS)
        ax.set_subplotspec(rows[0])
        return TwoPanels(ax, figure.add_subplot(rows[1], sharex=ax))
    if ax.get_axes_locator() is not None:
        msg = "these axes are placed by other axes and cannot be divided; give a pair of axes"
        raise BadSettingError(msg)
    # Axes outside of any grid are divided by their positions.
    place = ax.get_position(original=True)
    if sideways:
        end, start = place.x0 + 0.56 * place.width, place.x0 + 0.6 * place.width
        ax.set_position((place.x0, place.y0, end - place.x0, place.height))
        aside = (start, place.y0, place.x1 - start, place.height)
        return TwoPanels(ax, ax.figure.add_axes(aside, sharey=ax))
    low, high = place.y0 + 0.38 * place.height, place.y0 + 0.46 * place.height
    ax.set_position((place.x0, high, place.width, place.y1 - high))
    below = (place.x0, place.y0, place.width, low - place.y0)
    return TwoPanels(ax, ax.figure.add_axes(below, sharex=ax))


def share_x(top: Axes, bottom: Axes) -> bool:
    """Tell whether two panels have one x axis."""
    return bool(top.get_shared_x_axes().joined(top, bottom))


def widen_interval(low: float, high: float, below: float, above: float) -> tuple[float, float]:
    """Add room to an interval, as shares of its length; an interval without length gets some."""
    if not (np.isfinite(low) and np.isfinite(high)):
        low, high = 0.0, 0.0
    size = max(abs(low), abs(high))
    size = size if size > SMALLEST_PLOT_RANGE else 0.0
    if high - low <= 1e-12 * size or size == 0.0:  # rounding at most
        low, high = low - (size or 1.0), high + (size or 1.0)
    span = high - low
    return low - below * span, high + above * span


def fit_limits(ax: Axes, *, strip: bool, view: AxisView = PLAIN_VIEW) -> None:
    """Let the axes reach as far as what is drawn or shown, with room for the strip of counts."""
    # Computed from the data each time: drawing twice on the same axes adds no room twice.
    x, y = ax.dataLim.intervalx, ax.dataLim.intervaly
    below = style.ROOM_FOR_STRIP if strip else style.AXIS_MARGIN
    if view.is_log:
        ax.set_xscale("log")
    low, high = x if view.limits is None else view.limits
    if any(view.margins):
        start, stop = view.scaled(np.array([low, high]))
        ends = widen_interval(start, stop, *view.margins)
        first, last = view.unscaled(np.array(ends))
        low, high = low if view.cut[0] else first, high if view.cut[1] else last
    ax.set_xlim(low, high, auto=True)
    ax.set_ylim(widen_interval(y[0], y[1], below, style.AXIS_MARGIN), auto=True)


def write_constant_feature(ax: Axes, result: Result, *, heights: bool = False) -> Text:
    """Write that a feature has one value, in place of a curve."""
    value, words = reach(result)[0], f"constant: {write_only_value(result)},\nno curve"
    note = ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", **LITERAL)
    note.set(gid="rhale:constant", color=style.NOTE, fontsize=style.LEGEND_TEXT)
    if not ax.has_data():
        ax.set_xlim(widen_interval(value, value, 0.0, 0.0))
        ax.set_xticks([value if abs(value) > SMALLEST_PLOT_RANGE else 0.0])
        alone = len(ax.get_shared_y_axes().get_siblings(ax)) == 1  # others may read theirs here
        if alone and not heights:
            ax.tick_params(left=False, labelleft=False)
    return note


def add_legend(
    ax: Axes,
    artists: Sequence[Artist],
    *,
    outside: bool,
    title: str = "",
    room: float | None = None,
) -> None:
    """Explain the artists by their labels: above the panel, or where the panel is emptiest.

    A line above the panel has `room` inches; nearly all of the figure if that is not given.
    """
    if not artists or not style.current().legend:
        return
    if outside:
        widest = ax.figure.bbox.width / ax.figure.dpi - BESIDE_LEGEND
        columns = balance(entry_widths(artists), widest if room is None else min(room, widest))
        artists = by_columns(artists, columns)
        legend = ax.legend(
            artists,
            dummies(artists),
            fontsize=style.LEGEND_TEXT,
            frameon=False,
            loc="lower left",
            alignment="left",
            bbox_to_anchor=(-0.07, 1.0),
            borderaxespad=0.2,
            ncols=columns,
            **ENTRY,
        )
    else:
        legend = ax.legend(
            artists,
            dummies(artists),
            fontsize=style.NUMBER_TEXT,
            loc="best",
            framealpha=0.7,
            handlelength=1.4,
            labelspacing=0.25,
            borderpad=0.3,
        )
    write_labels(legend, artists, title, label_letters(ax))


def add_figure_legend(figure: Figure, artists: Sequence[Artist], title: str) -> None:
    """Explain the artists once, below all panels; without a legend its title is said nevertheless."""
    if not style.current().legend:
        if title:
            figure.supxlabel(title, fontsize=style.LEGEND_TEXT)
        return
    if not artists:
        return
    columns = balance(entry_widths(artists), figure.get_figwidth() - BESIDE_FIGURE)
    artists = by_columns(artists, columns)
    legend = figure.legend(
        artists,
        dummies(artists),
        fontsize=style.LEGEND_TEXT,
        frameon=False,
        loc="outside lower center",
        ncols=columns,
        **ENTRY,
    )
    write_labels(legend, artists, title, style.LABEL_LENGTH)


def entry_widths(artists: Sequence[Artist]) -> list[float]:
    """Widths of the entries of a legend in inches: a key, the words, the gap behind them."""
    font = FontProperties(size=style.LEGEND_TEXT)
    words = [fit_name(str(artist.get_label()), style.LABEL_LENGTH) for artist in artists]
    written = (text_to_path.get_text_width_height_descent(w, font, ismath=False) for w in words)
    beside = sum(ENTRY.values()) * font.get_size_in_points()
    return [(HINTED * width + beside) / 72 for width, *_ in written]


def balance(widths: Sequence[float], line: float) -> int:
    """Choose how many entries of a legend stand in a line, so that none is alone in the last."""
    n_entries = len(widths)
    choices = list(dict.fromkeys(-(-n_entries // rows) for rows in range(1, n_entries + 1)))
    for columns in choices:
        widest = [max(widths[first::columns]) for first in range(columns)]
        is_lonely = 1 < columns < n_entries and n_entries % columns == 1
        if sum(widest) <= line and not is_lonely:
            return columns
    return 1


def by_columns(artists: Sequence[Artist], columns: int) -> list[Artist]:
    """Order artists so that a legend, which is filled column by column, reads line by line."""
    return [artist for first in range(columns) for artist in artists[first::columns]]


def dummies(artists: Sequence[Artist]) -> list[str]:
    """Make labels to begin with: Matplotlib would leave out those that begin with `_`."""
    return [f"line {index}" for index in range(len(artists))]


def write_labels(legend: Legend, artists: Sequence[Artist], title: str, length: int) -> None:
    """Write the artists' labels into a legend, letter by letter."""
    for text, artist in zip(legend.get_texts(), artists, strict=True):
        text.set(text=fit_name(str(artist.get_label()), length), **LITERAL)
    for handle, artist in zip(legend.legend_handles, artists, strict=True):
        if isinstance(handle, Line2D) and artist.get_gid() in MANY_LINES:
            handle.set_alpha(1.0)  # one thin line of many would hardly be seen
    if title:
        legend.set_title(title)
        legend.get_title().set(fontsize=style.LEGEND_TEXT, **LITERAL)


# --- Rankings: names below one another, a line for each


def open_ranking(ax: Axes | None, n_lines: int, size: tuple[float, float]) -> Axes:
    """Find or make axes for so many lines; `size` is the width, and the height without lines."""
    (width, head), scale = size, magnify()
    height = scale * (head + style.RANKING_LINE * n_lines)
    ax = new_axes((scale * width, height)) if ax is None else ax
    write_plain_values(ax)
    n_visible = ax.get_window_extent().height / ax.figure.dpi / (scale * RANKING_LINE_INCHES)
    ax.set_ylim(max(n_lines, n_visible) - 0.4, -0.6)  # few lines stand on top
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def ranked_name_letters(ax: Axes, share: float, *, new: bool) -> int:
    """Tell how many letters a name beside a line may have; a share of the width of given axes."""
    room = share * ax.get_window_extent().width / ax.figure.dpi * style.LETTERS_PER_INCH
    least, most = RANKED_NAME_LETTERS
    return most if new else int(np.clip(room, least, most))


def name_ranking(ax: Axes, names: Sequence[str]) -> None:
    """Write a name beside each line, the first on top."""
    ax.set_yticks(range(len(names)), labels=names)
    for tick in ax.yaxis.get_major_ticks():
        tick.label1.set(fontsize=style.NAME_TEXT, **LITERAL)
    ax.tick_params(axis="y", length=0)


# --- What every picture may be given, whatever it shows: colours, size, legend, title


FRAME = ("colors", "figsize", "legend", "title")
AXES_OPTIONS = ("ax", "axes")  # where a plot draws, if not on a new figure


class Frame(NamedTuple):
    """Colours, size and legend as changes of the theme, and the title."""

    changes: dict[str, Any]
    title: str | None

    @property
    def figsize(self) -> tuple[float, float] | None:
        """Inches of the new figure, where they are asked for."""
        return self.changes.get("figsize")

    def apply_theme(self) -> AbstractContextManager[None]:
        """Let the theme be so inside of a block."""
        return style.changed(**self.changes)

    def write_title(self, drawn: Any, *, is_new: bool) -> None:
        """Write the title above a new figure, or above the one panel that was given."""
        if self.title is None:
            return
        panels = np.ravel(np.asarray(drawn, dtype=object))
        if is_new:
            figure = panels[0].figure
            said = "\n".join(filter(None, [self.title, figure.get_suptitle()]))
            figure.suptitle(said, fontsize="large", **LITERAL)
        elif len(panels) == 1:
            note = panels[0].get_title("left")  # how large the effect is: below the title
            lines = len(note.splitlines())
            panels[0].set_title(self.title + "\n" * lines, **LITERAL)
        else:
            msg = (
                f"title= stands above a new figure or one panel, and ax= has {len(panels)}; "
                "write it yourself: ax[0].figure.suptitle(...)"
            )
            raise BadSettingError(msg)


def read_frame(options: Mapping[str, Any]) -> Frame:
    """Read the options of every plot; those that were not given change nothing."""
    changes = style.read_colors(options.get("colors"))
    if options.get("figsize") is not None:
        changes["figsize"] = style.require_size(options["figsize"])
    if options.get("legend") is not None:
        changes["legend"] = style.require_flag("legend", options["legend"])
    title = options.get("title")
    if title is not None and not isinstance(title, str):
        msg = f"title={title!r} is no text"
        raise BadSettingError(msg)
    return Frame(changes, None if title is None else drawable(title))
