"""Lines through the neighbours of each row along an axis, and what they leave."""

from __future__ import annotations

import numpy as np

from rhale.kernels import FloatArray, IntArray

WINDOW = 1 / 40  # of the rows: those that a line is laid through
ENOUGH_ROWS, MOST = 75, 1 / 10  # more, up to so many and to this share: few rows make a rough line
FEWEST = 21
FLAT = 1e-9  # a window narrower than this, squared and of its distance, has no slope


def leave_lines(x: FloatArray, values: FloatArray, weight: FloatArray) -> FloatArray:
    """Take off a line through the neighbours of each row along the axis.

    Parameters
    ----------
    x : ndarray of shape (n_rows,)
        Where rows stand.
    values : ndarray of shape (n_series, n_rows)
        What is looked at: each series has lines of its own.
    weight : ndarray of shape (n_rows,)
        Weights of the rows, all positive.

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
    >>> left = leave_lines(x, (3 * x - 1)[None], np.ones(50))
    >>> bool(np.abs(left).max() < 1e-12)
    True
    """
    if x.size == 0:
        return values.copy()
    places, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    mass = np.bincount(place, weight, places.size)
    means = np.stack([np.bincount(place, weight * v, places.size) / mass for v in values])
    lines = _lines_at(places, counts, np.stack([mass, *means]), _half_window(x.size))
    return np.asarray(values - lines[:, place])


def _half_window(n_rows: int) -> int:
    """How many rows on either side a line is laid through."""
    return int(max(n_rows * WINDOW, min(ENOUGH_ROWS, n_rows * MOST), FEWEST) / 2)


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
    blocks = _Blocks(places, piles, width)
    sums = blocks.sums_up_to(*high) - blocks.sums_up_to(*low)
    mass, along, square = sums[0], sums[1], sums[2]
    n_series = piles.shape[0] - 1
    middle, spread = along / mass, square / mass
    level = sums[3 : 3 + n_series] / mass
    variance = spread - middle**2
    steep = sums[3 + n_series :] / mass - middle * level
    has_slope = variance > FLAT * spread
    slope = np.divide(steep, variance, out=np.zeros_like(steep), where=has_slope)
    return np.asarray(blocks.centre + level + slope * (blocks.offset - middle))


def _windows(counts: IntArray, half: int) -> tuple[tuple[IntArray, FloatArray], ...]:
    """Find where the window of each place begins and ends: a place, and the part of it before."""
    ends = np.cumsum(counts)
    n_rows, size = int(ends[-1]), 2 * half + 1
    middle = ends - counts / 2
    low = np.clip(middle - size / 2, 0, max(n_rows - size, 0))
    high = np.minimum(low + size, n_rows)
    return _part_of(low, ends, counts), _part_of(high, ends, counts)


def _part_of(row: FloatArray, ends: IntArray, counts: IntArray) -> tuple[IntArray, FloatArray]:
    place = np.minimum(np.searchsorted(ends, row, side="right"), ends.size - 1)
    return place, (row - (ends[place] - counts[place])) / counts[place]


class _Blocks:
    """Sums along the places in overlapping blocks, each about its own centre.

    Sums from one end of the axis to the other would lose what is near in what is far.
    """

    def __init__(self, places: FloatArray, piles: FloatArray, width: int) -> None:
        n_places, stride = places.size, 2 * width
        starts = np.arange(0, n_places, stride)
        index = starts[:, None] - width + np.arange(stride + 2 * width)
        inside = (index >= 0) & (index < n_places)
        index = np.clip(index, 0, n_places - 1)
        self.block = np.arange(n_places) // stride
        self.begins = starts[self.block] - width
        centres = np.minimum(starts + width, n_places - 1)
        self.offset = places - places[centres][self.block]
        self.centre = piles[1:, centres][:, self.block]
        mass = np.where(inside, piles[0][index], 0.0)
        along = places[index] - places[centres][:, None]
        values = piles[1:][:, index] - piles[1:, centres][:, :, None]
        self.terms = np.stack([mass, mass * along, mass * along**2, *mass * values,
                               *mass * along * values])  # fmt: skip
        self.before = np.cumsum(self.terms, axis=2) - self.terms

    def sums_up_to(self, place: IntArray, part: FloatArray) -> FloatArray:
        """Sum up to a part of a place, in the block of the place that asks."""
        at = place - self.begins
        return np.asarray(self.before[:, self.block, at] + part * self.terms[:, self.block, at])
