"""Lines through the neighbours of each row along an axis, and what they leave."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from rhale.kernels import FloatArray, IntArray

WINDOW = 1 / 40  # of the rows: those that a line is laid through
ENOUGH_ROWS, MAX_DETREND_SHARE = (
    75,
    1 / 10,
)  # more, up to so many and to this share: few rows make a rough line
MIN_DETREND_ROWS = 21
MIN_WINDOW_VARIANCE = 1e-9  # a window narrower than this, squared and of its distance, has no slope


def detrend(
    x: FloatArray, values: FloatArray, weight: FloatArray, order: IntArray | None = None
) -> FloatArray:
    """Take off a line through the neighbours of each row along the axis.

    Parameters
    ----------
    x : ndarray of shape (n_rows,)
        Where rows stand.
    values : ndarray of shape (n_series, n_rows)
        What is looked at: each series has lines of its own.
    weight : ndarray of shape (n_rows,)
        Weights of the rows, all positive.
    order : ndarray of shape (n_rows,), optional
        Rows in the order of `x`, where it is known.

    Returns
    -------
    ndarray of shape (n_series, n_rows)
        What is left.

    Notes
    -----
    Rows of one place share their line, whatever the order
    of rows: a window that ends among them takes them in part. O(n_rows log n_rows).

    Examples
    --------
    >>> x = np.linspace(0, 1, 50)
    >>> left = detrend(x, (3 * x - 1)[None], np.ones(50))
    >>> bool(np.abs(left).max() < 1e-12)
    True
    """
    if x.size == 0:
        return values.copy()
    places, place, counts = _find_places(x, np.argsort(x) if order is None else order)
    mass = np.bincount(place, weight, places.size)
    means = np.stack([np.bincount(place, weight * v, places.size) / mass for v in values])
    lines = _lines_at(places, counts, np.concatenate([mass[None], means]), _half_window(x.size))
    return np.asarray(values - lines[:, place])


def _find_places(x: FloatArray, order: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Distinct places, increasing, that of each row, and how many rows stand there."""
    ordered = x[order]
    is_first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    place = np.empty(x.size, dtype=np.intp)
    place[order] = np.cumsum(is_first) - 1
    starts = np.flatnonzero(is_first)
    return ordered[starts], place, np.diff(starts, append=x.size)


def _half_window(n_rows: int) -> int:
    """How many rows on either side a line is laid through."""
    return int(
        max(n_rows * WINDOW, min(ENOUGH_ROWS, n_rows * MAX_DETREND_SHARE), MIN_DETREND_ROWS) / 2
    )


def mean_leverage(x: FloatArray, weight: FloatArray) -> float:
    """How far the lines follow the rows themselves: 0 not at all, 1 wholly.

    Notes
    -----
    In the middle of a window of k rows a line takes 1 / k of a row's own deviation, at its ends
    four times as much, and the windows of the first and last rows are not moved along. Rows of
    few places have a mean for each. Unequal weights are fewer rows.

    Examples
    --------
    >>> round(mean_leverage(np.arange(4_000.0), np.ones(4_000)), 4)
    0.0102
    """
    if x.size == 0:
        return 0.0
    n_lines = x.size / (2 * _half_window(x.size) + 1) + 1
    n_places = np.unique(x).size
    alike = float(weight.sum() ** 2 / np.sum(weight**2))
    return float(min(min(n_lines, n_places) / alike, 0.5))


def _lines_at(places: FloatArray, counts: IntArray, piles: FloatArray, half: int) -> FloatArray:
    """Lay the lines through the rows around every place; `piles` are weights, then means."""
    low, high = _windows(counts, half)
    width = 2 * half + 2  # no window reaches over more places
    blocks = _BlockSums(places, piles, width)
    sums = blocks.sums_up_to(*high) - blocks.sums_up_to(*low)
    mass, along, square = sums[0], sums[1], sums[2]
    n_series = piles.shape[0] - 1
    middle, spread = along / mass, square / mass
    level = sums[3 : 3 + n_series] / mass
    variance = spread - middle**2
    steep = sums[3 + n_series :] / mass - middle * level
    has_slope = variance > MIN_WINDOW_VARIANCE * spread
    slope = np.divide(steep, variance, out=np.zeros_like(steep), where=has_slope)
    return np.asarray(blocks.centre + level + slope * (blocks.offset - middle))


def _windows(counts: IntArray, half: int) -> tuple[tuple[IntArray, FloatArray], ...]:
    """Find where the window of each place begins and ends: a place, and the part of it before."""
    ends = np.cumsum(counts)
    n_rows, size = int(ends[-1]), 2 * half + 1
    middle = ends - counts / 2
    low = np.clip(middle - size / 2, 0, max(n_rows - size, 0))
    high = np.minimum(low + size, n_rows)
    place_of_row = np.repeat(np.arange(counts.size), counts)

    def part_of(row: FloatArray) -> tuple[IntArray, FloatArray]:
        place = place_of_row[np.minimum(row.astype(np.intp), n_rows - 1)]
        return place, (row - (ends[place] - counts[place])) / counts[place]

    return part_of(low), part_of(high)


class _BlockSums:
    """Sums along the places in overlapping blocks, each about its own centre.

    Sums from one end of the axis to the other would lose what is near in what is far.
    """

    def __init__(self, places: FloatArray, piles: FloatArray, width: int) -> None:
        n_places, stride = places.size, 2 * width
        starts = np.arange(0, n_places, stride)
        centres = np.minimum(starts + width, n_places - 1)
        block = np.arange(n_places) // stride
        self.size = stride + 2 * width
        self.begins = block * self.size - (starts[block] - width)
        self.offset = places - places[centres][block]
        self.centre = piles[1:, centres][:, block]
        behind = starts.size * stride - n_places + width

        def lay_out(numbers: FloatArray, mode: Literal["constant", "edge"]) -> FloatArray:
            padded = np.pad(numbers, (width, behind), mode)
            return sliding_window_view(padded, self.size)[::stride]

        mass = lay_out(piles[0], "constant")
        along = lay_out(places, "edge") - places[centres][:, None]
        n_series = len(piles) - 1
        terms = np.empty((3 + 2 * n_series, starts.size, self.size))
        terms[0] = mass
        np.multiply(mass, along, out=terms[1])
        np.multiply(mass, along**2, out=terms[2])
        for number, pile in enumerate(piles[1:]):
            values = lay_out(pile, "edge") - pile[centres][:, None]
            np.multiply(mass, values, out=terms[3 + number])
            np.multiply(terms[1], values, out=terms[3 + n_series + number])
        self.terms = terms.reshape(len(terms), -1)
        self.before = (np.cumsum(terms, axis=2) - terms).reshape(self.terms.shape)

    def sums_up_to(self, place: IntArray, part: FloatArray) -> FloatArray:
        """Sum up to a part of a place, in the block of the place that asks."""
        at = place + self.begins
        sums, some = self.before.take(at, axis=1), np.flatnonzero(part)  # few, but for ties
        sums[:, some] += part[some] * self.terms.take(at[some], axis=1)
        return sums
