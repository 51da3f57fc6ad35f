"""Pictures of all pairs: the matrix of strengths, and the strongest pairs as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from rhale.effects.binning.partition import require_count
from rhale.interaction.pair_effect import PAIR_NAME_SEPARATOR, PairMethod, PairResult, can_be_ranked
from rhale.interaction.plot import has_room, hatch_tiles, write_tiles
from rhale.naming import find_output
from rhale.output import colours
from rhale.plots import canvas, style
from rhale.plots.categorical_axis import OrientedAxes, lay_out_names
from rhale.plots.labels import LITERAL, fit_name, small_percent, write_output_label
from rhale.stats.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from rhale.interaction.result import Interactions


# --- Strengths of all pairs as a matrix, importance on its diagonal


MAX_NUMBERED_FEATURES = 12  # features whose tiles have numbers; more have scales
MAX_MATRIX_FEATURES = 40
STRENGTHS: dict[PairMethod, str] = {
    "ale": "strength of pairs",
    "pdp": "strength by partial dependence",
    "h": "unnormalised H of pairs",
    "greenwell": "Greenwell's index of pairs",
    "shap": "SHAP interaction of pairs",
}


class Scale(NamedTuple):
    """Colours of one quantity, and how far they reach."""

    name: str
    colours: Colormap
    values: FloatArray

    @property
    def reach(self) -> float:
        """Largest value; 1 where there is none."""
        largest = float(np.max(self.values, where=np.isfinite(self.values), initial=0.0))
        return largest if largest > canvas.SMALLEST_PLOT_RANGE else 1.0


def plot_matrix(
    pairs: Interactions, *, output: str | int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how strongly each feature interacts with each other, and how important it is alone.

    Parameters
    ----------
    pairs : Interactions
        What to draw.
    output : str or int, optional
        Which output; the first if not given.
    ax : Axes, optional
        Where; None makes a new figure.

    Returns
    -------
    Axes
        The given ones, or new ones. Artists carry a gid: rhale:strengths and rhale:importance are
        the tiles, rhale:empty those of pairs that were not measured, rhale:numbers.

    Notes
    -----
    Two quantities, both in units of the output: strengths have one scale of colours, importance
    another, and neither is measured by the other's. Features that interact strongly stand near
    each other: after the strongest pair comes whoever interacts most with those before. Features
    of which no pair was measured are left out, and of more than 40 the last ones; the legend
    counts both.

    Examples
    --------
    >>> import rhale
    >>> rows = np.random.default_rng(0).normal(size=(500, 3))
    >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], rows)
    >>> plot_matrix(ix).get_yticklabels()[-1].get_text()  # no interaction
    'x2'
    """
    place = 0 if output is None else find_output(output, pairs.outputs)
    full = pairs.matrix(place)
    order = order_features(full)
    kept = order[:MAX_MATRIX_FEATURES]
    values = full[np.ix_(kept, kept)]
    names = tuple(pairs.captions.feature(pairs.features[k]) for k in kept)
    ax = canvas.new_axes(matrix_size(names)) if ax is None else ax
    drawn = draw_tiles(ax, values, STRENGTHS[pairs.method])
    # Write the features along both sides.
    layout = lay_out_names(names)
    for turned in (False, True):
        OrientedAxes(ax, turned).name_levels(layout, size=style.NAME_TEXT)
    ax.tick_params(length=0)
    # Say what the numbers are, of how many features, and what has which colour.
    output_name, n_shown, n_features = (sentence_of(pairs, place), len(kept), len(full))
    counts = f" ({n_shown} of {n_features} features)" if n_shown < n_features else ""
    inches = ax.get_window_extent().width / ax.figure.dpi
    room = canvas.wide_letters(inches, style.LEGEND_TEXT)
    start = "deviation of effects on "
    title = f"{start}{fit_name(output_name, max(8, room - len(start) - len(counts)))}{counts}"
    if drawn:
        canvas.add_legend(ax, drawn, outside=True, title=title, room=inches)
    else:
        ax.set_title(title, loc="left", fontsize=style.LEGEND_TEXT, **LITERAL)
    return ax


def sentence_of(pairs: Interactions, place: int) -> str:
    """Name an output behind "effect on"."""
    return write_output_label(pairs.captions, pairs.outputs[place])


def order_features(matrix: FloatArray) -> IntArray:
    """Put features that interact strongly near each other; those of no measured pair are left out."""
    off = np.where(np.eye(len(matrix), dtype=bool), np.nan, matrix)
    left = np.flatnonzero(np.isfinite(off).any(axis=1)).tolist()
    ties, alone = np.nan_to_num(off), np.nan_to_num(np.diag(matrix))
    order: list[int] = []
    while left:
        near = ties[:, order].max(axis=1, initial=0.0)
        best = max(left, key=lambda k: (near[k], ties[k].max(), alone[k], -k))
        order.append(best)
        left.remove(best)
    return np.array(order, dtype=np.intp)


def matrix_size(names: Sequence[str]) -> tuple[float, float]:
    """Width and height of a figure, in inches."""
    side = float(np.clip(style.MATRIX_ROOM + style.MATRIX_SLOT * len(names), *style.MATRIX_REACH))
    longest = min(max(map(len, names), default=0), style.TURNED_LABEL)
    scales = style.MATRIX_SCALES if len(names) > MAX_NUMBERED_FEATURES else 0.0
    return side + longest / style.LETTERS_PER_INCH + scales, side


def draw_tiles(ax: Axes, values: FloatArray, strength: str) -> list[Artist]:
    """Draw strengths and importance, each in its colours; return what a legend explains."""
    n, own = len(values), np.eye(len(values), dtype=bool)
    limits = np.arange(n + 1.0) - 0.5
    scales = {
        "strengths": Scale(strength, style.STRENGTH_MAP, np.where(own, np.nan, values)),
        "importance": Scale("importance", style.IMPORTANCE_MAP, np.where(own, values, np.nan)),
    }
    empty = hatch_tiles(ax, limits, limits, np.isnan(values) & ~own, "not measured")
    ax.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5))
    has_numbers = n <= MAX_NUMBERED_FEATURES and has_room(ax, n, n)
    for gid, scale in scales.items():
        # Colour the tiles of one quantity.
        mesh = ax.pcolormesh(
            limits, limits, scale.values.T, cmap=scale.colours, vmin=0.0, vmax=scale.reach
        )
        mesh.set(edgecolor=ax.get_facecolor(), linewidth=style.HAIR_LINE, zorder=1)
        mesh.set_gid(f"rhale:{gid}")
        if has_numbers:
            write_tiles(ax, scale.values, scale.reach)
        else:
            # Draw a scale of colours beside the matrix.
            bar = ax.figure.colorbar(mesh, ax=ax, fraction=0.05, pad=0.02, aspect=30)
            bar.outline.set_visible(False)
            bar.locator = MaxNLocator(5)
            bar.formatter = FuncFormatter(canvas.short_tick_text)
            bar.set_label(scale.name, fontsize=style.NAME_TEXT, **LITERAL)
            bar.ax.tick_params(labelsize=style.NUMBER_TEXT)
            bar.ax.set_gid("rhale:scale")
    explained: list[Artist] = [
        Patch(color=scale.colours(1.0), label=scale.name)
        for scale in scales.values()
        if has_numbers
    ]
    return explained + ([empty] if empty.get_paths() else [])


# --- The strongest pairs as bars, with how sure their strengths are


UNRANKED_MARK, MARKED = " *", "* cannot be ranked by this model"
PAIR_NAMES_SHARE = 0.75  # of the width of given axes, for names beside them


def plot_ranking(
    pairs: Interactions,
    *,
    top: int = 10,
    output: str | int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the strongest pairs, the strongest on top.

    Parameters
    ----------
    pairs : Interactions
        What to draw.
    top : int
        How many pairs at most; the legend says how many there are.
    output : str or int, optional
        Which output; the first if not given.
    ax : Axes, optional
        Where; None makes a new figure.

    Returns
    -------
    Axes
        The given ones, or new ones. Artists carry a gid: rhale:bars, rhale:whiskers (± standard
        error, where it is known), rhale:shares (squared strength, of the variance of predictions).
        Pairs that one model cannot rank have a star behind their names, which the axis explains.

    Examples
    --------
    >>> import rhale
    >>> rows = np.random.default_rng(0).normal(size=(500, 3))
    >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], rows)
    >>> len(plot_ranking(ix, top=2).get_yticklabels())
    2
    """
    require_count("top", top)
    place = 0 if output is None else find_output(output, pairs.outputs)
    ranked = pairs.ranked(place)
    kept = ranked[:top]
    new = ax is None
    ax = canvas.open_ranking(ax, len(kept), (style.RANKING_WIDTH, style.RANKING_HEAD))
    explained = draw_strength_bars(ax, kept, STRENGTHS[pairs.method])
    # Write both features of each pair beside its bar.
    length = canvas.ranked_name_letters(ax, PAIR_NAMES_SHARE, new=new)
    names = [
        fit_pair_name(caption_both(pair), length) + ("" if can_be_ranked(pair) else UNRANKED_MARK)
        for pair in kept
    ]
    canvas.name_ranking(ax, names)
    counts = f"{len(kept)} of {len(ranked)} pairs" if len(kept) < len(ranked) else ""
    canvas.add_legend(ax, explained, outside=new, title=counts)
    words = fit_name(sentence_of(pairs, place), max(8, canvas.letters(ax, "width") - 6))
    label = f"effect on {words}\n(%: share of prediction variance)"
    label += "" if all(map(can_be_ranked, kept)) else f"\n{MARKED}"
    ax.set_xlabel(label, fontsize=style.NAME_TEXT, **LITERAL)
    return ax


def draw_strength_bars(ax: Axes, pairs: Sequence[PairResult], label: str) -> list[Artist]:
    """Draw strengths, their errors and their shares; return what a legend explains."""
    strength, error = np.array([(p.strength, p.strength_error) for p in pairs]).T.reshape(2, -1)
    places = np.arange(float(len(pairs)))
    bars = ax.barh(places, strength, height=0.62, color=colours.STRENGTH_COLOUR)
    for bar in bars:
        bar.set_gid("rhale:bars")
    bars.patches[0].set_label(label)
    sure = np.nan_to_num(error)
    largest = float((strength + sure).max())
    right = largest if largest > canvas.SMALLEST_PLOT_RANGE else 1.0
    ax.set_xlim(0.0, 1.16 * right)
    for pair, place, end in zip(pairs, places, strength + sure, strict=True):
        share = ax.annotate(
            small_percent(pair.share), (end, place), (4, 0), textcoords="offset points"
        )
        share.set(va="center", fontsize=style.NUMBER_TEXT, color=style.NOTE, gid="rhale:shares")
    return [bars.patches[0], *draw_errors(ax, strength, error, right)]


def draw_errors(ax: Axes, strength: FloatArray, error: FloatArray, right: float) -> list[Artist]:
    """Draw a whisker at each bar whose error is known and can be seen."""
    known = np.isfinite(error) & (error > 1e-9 * right)
    if not known.any():
        return []
    low, high = np.maximum(strength - error, 0.0)[known], (strength + error)[known]
    whiskers = OrientedAxes(ax, horizontal=True).strokes(
        np.flatnonzero(known).astype(float), low, high
    )
    whiskers.set(color=style.TRUTH, linewidth=style.WHISKER_LINE, zorder=3)
    whiskers.set(gid="rhale:whiskers", label="± standard error")
    return [whiskers]


def caption_both(pair: PairResult) -> tuple[str, str]:
    """What people read for two features."""
    first, second = pair.names
    return pair.captions.feature(first), pair.captions.feature(second)


def fit_pair_name(names: tuple[str, str], length: int) -> str:
    """Write two names in at most so many letters; a short one leaves its room to the other."""
    room = length - len(PAIR_NAME_SEPARATOR)
    short = min(len(name) for name in names)
    most = max(room - short, room // 2)
    return PAIR_NAME_SEPARATOR.join(
        fit_name(name, most if len(name) > room // 2 else room // 2) for name in names
    )


def plot_interactions(
    pairs: Interactions,
    *,
    output: str | int | None = None,
    ax: Axes | Sequence[Axes] | None = None,
    top: int = 10,
) -> Axes | tuple[Axes, Axes]:
    """Draw how strongly all pairs interact.

    Parameters
    ----------
    pairs : Interactions
        What to draw.
    output : str or int, optional
        Which output; the first if not given.
    ax : Axes or pair of Axes, optional
        One: the matrix. Two: the matrix and the ranking. None: a new figure with both.
    top : int
        Pairs in the ranking.

    Returns
    -------
    Axes or pair of Axes
        Of the matrix, and of the ranking where it is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> import rhale
    >>> rows = np.random.default_rng(0).normal(size=(500, 3))
    >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], rows)
    >>> matrix, ranking = plot_interactions(ix)
    >>> len(ranking.get_yticklabels())
    3
    """
    if isinstance(ax, Axes):
        return plot_matrix(pairs, output=output, ax=ax)
    if ax is None:
        shown = pairs.features[:MAX_MATRIX_FEATURES]
        width, height = matrix_size([pairs.captions.feature(name) for name in shown])
        lines = style.RANKING_HEAD + style.RANKING_LINE * top
        size, parts = (
            (width + style.RANKING_WIDTH, max(height, lines)),
            (width, style.RANKING_WIDTH),
        )
        left, right = canvas.open_panels(size, parts, sideways=True, shared=False)
    else:
        left, right = canvas.given_pair(ax)
    plot_matrix(pairs, output=output, ax=left)
    plot_ranking(pairs, output=output, ax=right, top=top)
    return left, right
