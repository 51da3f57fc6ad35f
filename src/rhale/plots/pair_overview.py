"""All pairs at a glance: the matrix of strengths, and the strongest pairs beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from rhale.plots import canvas, style
from rhale.plots.strength_matrix import MAX_MATRIX_FEATURES, matrix_size, plot_matrix
from rhale.plots.strength_ranking import plot_ranking

if TYPE_CHECKING:
    from rhale.pairs import Interactions


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
    left, right = new_interaction_panels(pairs, top) if ax is None else canvas.given_pair(ax)
    plot_matrix(pairs, output=output, ax=left)
    plot_ranking(pairs, output=output, ax=right, top=top)
    return left, right


def new_interaction_panels(pairs: Interactions, top: int) -> tuple[Axes, Axes]:
    """Make a figure for both."""
    width, height = matrix_size(
        [pairs.captions.feature(f) for f in pairs.features[:MAX_MATRIX_FEATURES]]
    )
    lines = style.RANKING_HEAD + style.RANKING_LINE * top
    figure = canvas.new_figure((width + style.RANKING_WIDTH, max(height, lines)))
    columns = figure.add_gridspec(1, 2, width_ratios=(width, style.RANKING_WIDTH))
    return figure.add_subplot(columns[0]), figure.add_subplot(columns[1])
