"""What would come back: the importance of all features in other trainings, as a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rhale.errors import BadSettingError
from rhale.kernels import BoolArray, FloatArray
from rhale.kernels.partition import require_count
from rhale.plots import canvas, style
from rhale.plots.labels import in_sentence
from rhale.plots.lettering import LITERAL, fit_name, folded, join_names
from rhale.plots.region_legend import lift_above
from rhale.plots.verdict import SAME_ROWS_VERDICT, interval_between, tell_p
from rhale.results.refit_effect import RefitEffect
from rhale.results.result import require_level

MIN_RANKED_NAME_LETTERS, MAX_RANKED_NAME_LETTERS = 11, 38  # letters of a name
FEATURE_NAMES_SHARE = 0.6  # of the width of given axes, for names beside them
RANKING_LINE_INCHES = 0.45  # inches of a line and the room below it
ABOVE, BELOW = -0.16, 0.2  # where importance and what comes back stand, in lines
IMPORTANCE_DOT_SIZE, DIAMOND = 5.5, 5.5  # points
BAR = 0.26  # of a line
TITLE = 60  # letters of a remark
ON = " on "  # between a feature and an output
MAX_INTERVAL_REACH = 2.0  # how far intervals may widen the axis, by the largest importance


class Ranking(NamedTuple):
    """Numbers of the lines of the picture, each of shape (n_lines,)."""

    importance: FloatArray
    low: FloatArray
    high: FloatArray
    replicated: FloatArray
    p_value: FloatArray
    comes_back: BoolArray

    @property
    def right(self) -> float:
        """Where the axis ends: intervals that are very wide go on beyond."""
        sizes = np.concatenate([self.importance, self.replicated])
        largest = float(np.nanmax(sizes, initial=0.0))
        farthest = float(np.nanmax(self.high, initial=largest))
        right = min(farthest, MAX_INTERVAL_REACH * largest)
        return right if right > canvas.SMALLEST_PLOT_RANGE else 1.0


def plot_replication(
    effects: Sequence[RefitEffect],
    *,
    ax: Axes | None = None,
    level: float = 0.95,
    most: int = 30,
) -> Axes:
    """Draw what would come back: all features with their importance in other trainings.

    Parameters
    ----------
    effects : sequence of RefitEffect
        What to draw, the first on top: `rx.ranked()`.
    ax : Axes, optional
        Where; None makes a new figure.
    level : float
        Of the interval of the importance between trainings.
    most : int
        How many at most; the legend says how many there are.

    Returns
    -------
    Axes
        The given ones, or new ones. Artists carry a gid: rhale:between (the interval),
        rhale:importance, rhale:replicated (what comes back), rhale:chance (what does not),
        rhale:p for the numbers beside.

    Notes
    -----
    Importance is never below zero: that of a feature without an effect is what the learner took
    from chance. Diamonds show it without that. A full one comes back in other trainings; a hollow
    one is not told from chance, and the name of its feature is grey. Where all trainings had the
    same rows nothing is known about others: there are no diamonds, and the legend says so.

    Examples
    --------
    >>> import rhale
    >>> x = np.random.default_rng(0).normal(size=(180, 2))
    >>> models = [lambda x, a=a: a * x[:, 0] for a in (1.0, 1.5, 1.25, 1.3)]
    >>> rx = rhale.refits(models, x, train=np.arange(180).reshape(4, 45))
    >>> [name.get_text() for name in plot_replication(rx.ranked()).get_yticklabels()]
    ['x0', 'x1']
    """
    require_level(level)
    require_count("most", most)
    require_effects(effects)
    kept, new = list(effects[:most]), ax is None
    ax = new_ranking(len(kept)) if ax is None else ax
    canvas.write_plain_values(ax)
    ranking = read_ranking(kept, level)
    prepare_replication_axes(ax, ranking)
    explained = draw_importance(ax, ranking, level) + draw_returns(ax, ranking)
    name_lines(ax, kept, ranking, new=new)
    title = tell_remarks(len(effects), ranking)
    write_legend(ax, explained, title, new=new)
    words = join_names(
        [in_sentence(effect) for effect in kept], max(8, canvas.letters(ax, "width"))
    )
    ax.set_xlabel(
        f"importance: effect on {words}\n(deviation over the rows)",
        fontsize=style.NAME_TEXT,
        **LITERAL,
    )
    return ax


def new_ranking(n_lines: int) -> Axes:
    """Make a figure as high as its lines need, and larger for larger letters."""
    height = style.REPLICATION_HEAD + style.RANKING_LINE * n_lines
    scale = canvas.magnify()
    return canvas.new_axes((scale * style.REPLICATION_WIDTH, scale * height))


def write_legend(ax: Axes, artists: list[Artist], title: str, *, new: bool) -> None:
    """Explain below a new figure, whose names may leave little room; else where the axes are emptiest."""
    if new:
        canvas.add_figure_legend(cast(Figure, ax.figure), artists, title)
    else:
        canvas.add_legend(ax, artists, outside=False, title=title)
        lift_above(ax, len(artists) + len(title.splitlines()))


def require_effects(effects: Sequence[RefitEffect]) -> None:
    """Refuse an empty list."""
    if not effects:
        msg = "there are no effects to rank; give those of refits: plot_replication(rx.ranked())"
        raise BadSettingError(msg)


def read_ranking(effects: Sequence[RefitEffect], level: float) -> Ranking:
    """Read the numbers of all lines."""
    numbers = [(e.importance, *e.importance_ci(level), e.replicated, e.p_value) for e in effects]
    importance, low, high, replicated, p_value = np.array(numbers, dtype=np.float64).T
    comes_back = np.array([effect.comes_back for effect in effects])
    return Ranking(importance, low, high, replicated, p_value, comes_back)


def prepare_replication_axes(ax: Axes, ranking: Ranking) -> None:
    """Set how far the axes reach, and part the lines."""
    n_lines = ranking.importance.size
    ax.set_xlim(0.0, 1.04 * ranking.right)
    slots = ax.get_window_extent().height / ax.figure.dpi / (canvas.magnify() * RANKING_LINE_INCHES)
    ax.set_ylim(max(n_lines, slots) - 0.4, -0.6)  # few lines stand on top
    for place in np.arange(1, n_lines) - 0.5:
        rule = ax.axhline(place, color=style.ZERO_LINE, linewidth=style.HAIR_LINE)
        rule.set(zorder=0.4, alpha=0.5, gid="rhale:rule")
    ax.spines[["top", "right"]].set_visible(False)


def draw_importance(ax: Axes, ranking: Ranking, level: float) -> list[Artist]:
    """Draw importance, and its interval between trainings where that is known."""
    places = np.arange(float(ranking.importance.size)) + ABOVE
    (dots,) = ax.plot(
        ranking.importance, places, "o", color=style.EFFECT, markersize=IMPORTANCE_DOT_SIZE
    )
    dots.set(markeredgewidth=style.THIN_LINE, markeredgecolor="white", zorder=4)
    dots.set(clip_on=False, gid="rhale:importance", label="mean importance")
    known = np.isfinite(ranking.high)
    if not known.any():
        return [dots]
    low, high = ranking.low[known], np.minimum(ranking.high[known], 2 * ranking.right)
    bars = ax.barh(places[known], high - low, BAR, low, color=style.BETWEEN, zorder=2)
    is_cut = bool((ranking.high[known] > ranking.right).any())
    for bar in bars:
        bar.set_gid("rhale:between")
    bars.patches[0].set_label(interval_between(level, canvas.label_letters(ax), cut=is_cut))
    return [dots, bars.patches[0]]


def draw_returns(ax: Axes, ranking: Ranking) -> list[Artist]:
    """Draw what trainings agree on: full where it comes back, hollow where it may be chance."""
    places, explained = np.arange(ranking.importance.size) + BELOW, list[Artist]()
    known = np.isfinite(ranking.replicated)
    returns = ranking.comes_back
    kinds = (
        (known & returns, style.TRUTH, "rhale:replicated", "comes back"),
        (known & ~returns, "none", "rhale:chance", "not told from chance"),
    )
    for chosen, face, gid, label in kinds:
        if chosen.any():
            (marks,) = ax.plot(ranking.replicated[chosen], places[chosen], "D", color=style.TRUTH)
            marks.set(markersize=DIAMOND, markerfacecolor=face, markeredgewidth=style.THIN_LINE)
            marks.set(zorder=4, clip_on=False, gid=gid, label=label)
            explained.append(marks)
    return explained


def name_lines(ax: Axes, effects: Sequence[RefitEffect], ranking: Ranking, *, new: bool) -> None:
    """Write features at the left, grey where they do not come back, and p-values at the right."""
    inches = ax.get_window_extent().width / ax.figure.dpi
    room = MAX_RANKED_NAME_LETTERS if new else FEATURE_NAMES_SHARE * inches * style.LETTERS_PER_INCH
    length = int(np.clip(room, MIN_RANKED_NAME_LETTERS, MAX_RANKED_NAME_LETTERS))
    several = len({effect.output for effect in effects}) > 1
    names = [name_line(effect, length, several=several) for effect in effects]
    ax.set_yticks(range(len(names)), labels=names)
    lost = np.isfinite(ranking.p_value) & ~ranking.comes_back
    for tick, is_lost in zip(ax.yaxis.get_major_ticks(), lost, strict=True):
        colour = style.SINGLE_ROW if is_lost else style.TRUTH
        tick.label1.set(fontsize=style.NAME_TEXT, color=colour, **LITERAL)
    ax.tick_params(axis="y", length=0, pad=7)  # half a diamond may stand left of zero
    if np.isfinite(ranking.p_value).any():
        write_p_values(ax, ranking.p_value)


def name_line(effect: RefitEffect, length: int, *, several: bool) -> str:
    """Write the feature in at most so many letters, and the output where there are several."""
    words, output = effect.captions.feature(effect.name), effect.captions.output(effect.output)
    if not several:
        return fit_name(words, length)
    room = length - len(ON)
    feature = fit_name(words, max(room - len(output), room // 2))
    return f"{feature}{ON}{fit_name(output, room - len(feature))}"


def write_p_values(ax: Axes, p_value: FloatArray) -> None:
    """Write p-values beside the axes."""
    side = ax.secondary_yaxis("right")
    side.set_yticks(range(p_value.size), labels=[tell_p(p) for p in p_value])
    side.tick_params(axis="y", length=0, labelsize=style.NUMBER_TEXT, labelcolor=style.NOTE)
    side.spines["right"].set_visible(False)
    side.set_gid("rhale:p")


def tell_remarks(n_all: int, ranking: Ranking) -> str:
    """Say above the legend what is not drawn, and why."""
    n_drawn, told = ranking.importance.size, list[str]()
    if n_drawn < n_all:
        told.append(f"{n_drawn} of {n_all} effects")
    if np.isnan(ranking.p_value).all():
        told.append(SAME_ROWS_VERDICT)
    return "\n".join(folded(words, TITLE) for words in told)
