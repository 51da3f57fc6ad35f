"""The strongest pairs as bars, with how sure their strengths are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from rhale.kernels import FloatArray
from rhale.kernels.partition import require_count
from rhale.names import find_output
from rhale.plots import canvas, style
from rhale.plots.board import OrientedAxes
from rhale.plots.lettering import LITERAL, fit_name, small_percent
from rhale.plots.strength_matrix import STRENGTHS, sentence_of
from rhale.results.pair_effect import PAIR_NAME_SEPARATOR, PairResult, can_be_ranked

if TYPE_CHECKING:
    from rhale.pairs import Interactions

UNRANKED_MARK, MARKED = " *", "* cannot be ranked by this model"
MIN_RANKED_NAME_LETTERS, MAX_RANKED_NAME_LETTERS = 11, 38  # letters of the names of a pair
PAIR_NAMES_SHARE = 0.75  # of the width of given axes, for names beside them
RANKING_LINE_INCHES = 0.45  # inches of a bar and the room below it


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
    height = style.RANKING_HEAD + style.RANKING_LINE * len(kept)
    ax = canvas.new_axes((style.RANKING_WIDTH, height)) if ax is None else ax
    canvas.write_plain_values(ax)
    explained = draw_strength_bars(ax, kept, STRENGTHS[pairs.method])
    write_pair_names(ax, kept, new=new)
    counts = f"{len(kept)} of {len(ranked)} pairs" if len(kept) < len(ranked) else ""
    canvas.add_legend(ax, explained, outside=new, title=counts)
    words = fit_name(sentence_of(pairs, place), max(8, canvas.letters(ax, "width") - 6))
    label = f"effect on {words}\n(%: squared, of the variance)"
    label += "" if all(map(can_be_ranked, kept)) else f"\n{MARKED}"
    ax.set_xlabel(label, fontsize=style.NAME_TEXT, **LITERAL)
    return ax


def draw_strength_bars(ax: Axes, pairs: Sequence[PairResult], label: str) -> list[Artist]:
    """Draw strengths, their errors and their shares; return what a legend explains."""
    strength, error = np.array([(p.strength, p.strength_error) for p in pairs]).T.reshape(2, -1)
    places = np.arange(float(len(pairs)))
    bars = ax.barh(places, strength, height=0.62, color=style.STRENGTH_COLOUR)
    for bar in bars:
        bar.set_gid("rhale:bars")
    bars.patches[0].set_label(label)
    sure = np.nan_to_num(error)
    largest = float((strength + sure).max())
    right = largest if largest > canvas.SMALLEST_PLOT_RANGE else 1.0
    ax.set_xlim(0.0, 1.16 * right)
    slots = ax.get_window_extent().height / ax.figure.dpi / RANKING_LINE_INCHES
    ax.set_ylim(max(len(pairs), slots) - 0.4, -0.6)  # few bars stand on top
    for pair, place, end in zip(pairs, places, strength + sure, strict=True):
        share = ax.annotate(
            small_percent(pair.share), (end, place), (4, 0), textcoords="offset points"
        )
        share.set(va="center", fontsize=style.NUMBER_TEXT, color=style.NOTE, gid="rhale:shares")
    ax.spines[["top", "right"]].set_visible(False)
    return [bars.patches[0], *draw_errors(ax, strength, error, right)]


def draw_errors(ax: Axes, strength: FloatArray, error: FloatArray, right: float) -> list[Artist]:
    """Draw a whisker at each bar whose error is known and can be seen."""
    known = np.isfinite(error) & (error > 1e-9 * right)
    if not known.any():
        return []
    low, high = np.maximum(strength - error, 0.0)[known], (strength + error)[known]
    whiskers = OrientedAxes(ax, turned=True).strokes(np.flatnonzero(known).astype(float), low, high)
    whiskers.set(color=style.TRUTH, linewidth=style.WHISKER_LINE, zorder=3)
    whiskers.set(gid="rhale:whiskers", label="± standard error")
    return [whiskers]


def write_pair_names(ax: Axes, pairs: Sequence[PairResult], *, new: bool) -> None:
    """Write both features of each pair beside its bar."""
    inches = ax.get_window_extent().width / ax.figure.dpi
    room = MAX_RANKED_NAME_LETTERS if new else PAIR_NAMES_SHARE * inches * style.LETTERS_PER_INCH
    length = int(np.clip(room, MIN_RANKED_NAME_LETTERS, MAX_RANKED_NAME_LETTERS))
    names = [
        fit_pair_name(caption_both(pair), length) + ("" if can_be_ranked(pair) else UNRANKED_MARK)
        for pair in pairs
    ]
    ax.set_yticks(range(len(names)), labels=names)
    for tick in ax.yaxis.get_major_ticks():
        tick.label1.set(fontsize=style.NAME_TEXT, **LITERAL)
    ax.tick_params(axis="y", length=0)


def caption_both(pair: PairResult) -> tuple[str, str]:
    """What people read for two features."""
    first, second = pair.names
    return pair.captions.feature(first), pair.captions.feature(second)


def fit_pair_name(names: tuple[str, str], length: int) -> str:
    """Write two names in at most so many letters; a short one leaves its room to the other.

    Examples
    --------
    >>> fit_pair_name(("age", "income_of_the_household"), 20).split(PAIR_NAME_SEPARATOR)
    ['age', 'income_…sehold']
    """
    room = length - len(PAIR_NAME_SEPARATOR)
    short = min(len(name) for name in names)
    most = max(room - short, room // 2)
    return PAIR_NAME_SEPARATOR.join(
        fit_name(name, most if len(name) > room // 2 else room // 2) for name in names
    )
