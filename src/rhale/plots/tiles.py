"""Tiles of a map or matrix: hatched where nothing is known, a number in each where there is room."""

from __future__ import annotations

from math import floor, log10
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.font_manager import FontProperties

from rhale.kernels import BoolArray, FloatArray
from rhale.plots import style
from rhale.plots.lettering import LITERAL, format_rounded_number

LETTERS = 5  # of a number of two digits, with its sign
TILE_ROUNDING = 1e-9  # of the largest number: rounding
TILE_LINE_HEIGHT = 1.5  # height of a tile with a number, by the size of its letters


class Tiles(NamedTuple):
    """Where tiles lie: limits along x and y."""

    x: FloatArray
    y: FloatArray


def hatch_tiles(ax: Axes, tiles: Tiles, wanted: BoolArray, label: str) -> PolyCollection:
    """Hatch some tiles, `wanted` by x and y, (n_x, n_y); they keep the paper's colour."""
    x, y = tiles
    corners = [
        [(x[i], y[j]), (x[i + 1], y[j]), (x[i + 1], y[j + 1]), (x[i], y[j + 1])]
        for i, j in np.argwhere(wanted)
    ]
    hatched = PolyCollection(corners, facecolor="none", hatch="////", linewidth=0)
    hatched.set(edgecolor=style.COUNT, alpha=style.EMPTY_ALPHA, zorder=0.5)
    hatched.set(gid="rhale:empty", label=label)
    ax.add_collection(hatched, autolim=False)
    return hatched


def has_room(ax: Axes, n_x: int, n_y: int) -> bool:
    """Tell whether a number fits into each of so many tiles."""
    box = ax.get_window_extent()
    size = FontProperties(size=style.NUMBER_TEXT).get_size_in_points() / 72
    wide = box.width / ax.figure.dpi / n_x >= LETTERS * style.LETTER_WIDTH * size
    return bool(wide and box.height / ax.figure.dpi / n_y >= TILE_LINE_HEIGHT * size)


def write_tiles(ax: Axes, values: FloatArray, reach: float) -> None:
    """Write numbers into tiles around 0, 1, 2, ...; none where a value is nan.

    Parameters
    ----------
    ax : Axes
        Where.
    values : ndarray of shape (n_x, n_y)
        What to write.
    reach : float
        Where the scale of their colours ends.
    """
    for i, j in np.argwhere(np.isfinite(values)):
        value = float(values[i, j])
        words = format_rounded_number(round_tile_number(value, reach), 2)
        text = ax.text(i, j, words, ha="center", va="center", **LITERAL)
        text.set(color="white" if abs(value) > style.DARK_TILE_SHARE * reach else "black")
        text.set(fontsize=style.NUMBER_TEXT, gid="rhale:numbers", zorder=4)


def round_tile_number(value: float, reach: float) -> float:
    """Leave out digits that nobody compares: beyond the third of the largest number.

    Notes
    -----
    What is smaller than that keeps one digit, since only 0 is nothing; but for rounding.

    Examples
    --------
    >>> round_tile_number(0.4567, 0.75), round_tile_number(-0.0081, 75.0), round_tile_number(1e-17, 0.75)
    (0.457, -0.008, 0.0)
    """
    if abs(value) < TILE_ROUNDING * reach:
        return 0.0
    return round(value, 2 - floor(log10(reach))) or float(f"{value:.1g}")
