"""Moments of a block of rows by one compiled loop (numba): the bits of `effects.binning.moments`, sooner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from rhale.stats.jit import INNER_FUNCTION_OPTIONS, njit

# Indices are unsigned throughout: numba then leaves out the code for negative ones.
NONE, ONE, QUARTER, HALF, LANES, PAIRWISE_LEAF_ROWS, BOTH = (
    np.uint64(n) for n in (0, 1, 2, 4, 8, 128, 2**63)
)
DEPTH = 64  # halves of halves: more than any number of rows has
SERIES_ARRAY_TYPE = types.Array(types.float64, 2, "A", readonly=True)
CELLS, PLACES = (types.Array(kind, 1, "C", readonly=True) for kind in (types.int16, types.float64))


@njit(**INNER_FUNCTION_OPTIONS)
def find_buckets(edges: Any, n_buckets: Any, x: Any) -> Any:
    """Find the bucket of every row, and whether any row is outside the grid."""
    low, high = edges[0], edges[-1]
    scale = n_buckets / (high - low)
    most, offset = n_buckets - 1.0, low * scale
    found, n_outside = np.empty(x.size, np.int32), np.int64(0)
    for i in range(x.size):  # nan is in the first bucket: no number that a cast could not hold
        n_outside += np.int64(not low <= x[i] <= high)
        bucket = x[i] * scale - offset
        bucket = bucket if bucket > 0.0 else 0.0  # noqa: FURB136
        found[i] = np.int32(bucket if bucket < most else most)  # noqa: FURB136
    return found, n_outside > 0


@njit(**INNER_FUNCTION_OPTIONS)
def locate(edges: Any, is_left_closed: Any, buckets: Any, x: Any) -> Any:
    """Find the cell of every row as `Grid.locate` does, and where each cell ends in their order.

    Rows outside are in one more cell, the last.
    """
    low, high, last = edges[0], edges[-1], np.int32(edges.size - 2)
    cell, is_any_outside = find_buckets(edges, buckets.size, x)
    ends = np.zeros(edges.size + 1, np.uint64)
    for i in range(x.size):
        c = np.int32(buckets[np.uint64(cell[i])])
        if c < 0:  # a bucket with a limit in it
            c = ~c
            while c < last and is_above(x[i], edges[np.uint64(c + 1)], is_left_closed):
                c += np.int32(1)
        if is_any_outside and not low <= x[i] <= high:
            c = last + np.int32(1)
        cell[i] = c
        ends[np.uint64(c) + ONE] += ONE
    for k in range(edges.size - 1):
        ends[k + 1] += ends[k]
    return cell, ends


@njit(**INNER_FUNCTION_OPTIONS, inline="always")
def is_above(value: Any, limit: Any, is_left_closed: Any) -> Any:
    """Tell whether a value belongs to the cell above a limit."""
    return value > limit or (is_left_closed and value == limit)


@njit(**INNER_FUNCTION_OPTIONS)
def sort_rows_by_cell(cell: Any, ends: Any, x: Any, d: Any, place: Any) -> Any:
    """Put places and the first series in the order of cells; tell where rows stand, if asked."""
    dx, dd, free, is_asked = np.empty(x.size), np.empty(x.size), ends.copy(), place.size > 0
    for i in range(x.size):
        mine = np.uint64(cell[i])
        at = free[mine]
        dx[at], dd[at] = x[i], d[i]
        free[mine] = at + ONE
        if is_asked:
            place[i] = at
    return dx, dd


@njit(**INNER_FUNCTION_OPTIONS)
def arrange(v: Any, place: Any, found: Any) -> None:
    """Put the numbers of rows in the order of their cells."""
    for i in range(place.size):
        found[np.uint64(place[i])] = v[i]


# Sums are added as `np.add.reduceat` adds them, for the sake of the bits: the first number by
# itself, the others in halves down to 128, eight sums side by side in these, the rest at the end.
@njit(**INNER_FUNCTION_OPTIONS)
def add_few(u: Any, v: Any, first_u: Any, first_v: Any, start: Any, n: Any, eight: Any) -> Any:
    """Add up 128 rows at most, as `add_up` says."""
    x = y = xx = xy = yy = -0.0
    low, high, rest = np.inf, -np.inf, start + n // LANES * LANES
    if rest > start:
        for k in range(LANES):
            x = y = xx = xy = yy = -0.0
            for i in range(start + k, rest, LANES):
                a, b = u[i] - first_u, v[i] - first_v
                x, y, xx, xy, yy = x + a, y + b, xx + a * a, xy + a * b, yy + b * b
                low = u[i] if u[i] < low else low  # noqa: FURB136
                high = u[i] if u[i] > high else high  # noqa: FURB136
            own = eight[k]
            own[0], own[1], own[2], own[3], own[4] = x, y, xx, xy, yy
        for n_sums in (HALF, QUARTER, ONE):  # neighbours first
            for k in range(n_sums):
                for s in range(5):
                    eight[k, s] = eight[k + k, s] + eight[k + k + ONE, s]
        own = eight[NONE]
        x, y, xx, xy, yy = own[0], own[1], own[2], own[3], own[4]
    for i in range(rest, start + n):
        a, b = u[i] - first_u, v[i] - first_v
        x, y, xx, xy, yy = x + a, y + b, xx + a * a, xy + a * b, yy + b * b
        low = u[i] if u[i] < low else low  # noqa: FURB136
        high = u[i] if u[i] > high else high  # noqa: FURB136
    return x, y, xx, xy, yy, low, high


@njit(**INNER_FUNCTION_OPTIONS)
def add_up(u: Any, v: Any, first_u: Any, first_v: Any, start: Any, n: Any, room: Any) -> Any:
    """Sums of x, y, xx, xy and yy, where x = u - first_u, y = v - first_v; ends of u.

    Halves of halves wait in `room`. A function that calls itself would take twice the time.
    """
    sizes, done, eight = room
    sizes[0], n_sizes, n_done, i = n - ONE, ONE, NONE, start + ONE
    while n_sizes > NONE:
        n_sizes -= ONE
        size = sizes[n_sizes]
        if size == BOTH:
            n_done -= ONE
            one, two = done[n_done - ONE], done[n_done]
            for k in range(5):
                one[k] += two[k]
            one[5] = two[5] if two[5] < one[5] else one[5]  # noqa: FURB136
            one[6] = two[6] if two[6] > one[6] else one[6]  # noqa: FURB136
        elif size > PAIRWISE_LEAF_ROWS:
            half = size // (LANES + LANES) * LANES
            sizes[n_sizes], sizes[n_sizes + ONE] = BOTH, size - half
            sizes[n_sizes + ONE + ONE] = half
            n_sizes += ONE + ONE + ONE
        else:
            one = done[n_done]
            one[0], one[1], one[2], one[3], one[4], one[5], one[6] = add_few(
                u, v, first_u, first_v, i, size, eight
            )
            n_done += ONE
            i += size
    x, y, xx, xy, yy, low, high = done[0]
    a, b, own = u[start] - first_u, v[start] - first_v, u[start]
    low = own if own < low else low  # noqa: FURB136
    high = own if own > high else high  # noqa: FURB136
    return a + x, b + y, a * a + xx, a * b + xy, b * b + yy, low + 0.0, high + 0.0  # 0, not -0


@njit(**INNER_FUNCTION_OPTIONS)
def measure_cells(
    dx: Any, dd: Any, ends: Any, room: Any, worse: Any, places: Any, series: Any, lost: Any
) -> None:
    """Add up the rows of each cell about the first of them; tell where digits are lost."""
    for c in range(lost.size):
        start, n = ends[c], ends[c + 1] - ends[c]
        if n > NONE:
            first_x, first = dx[start], dd[start]
            x, y, xx, xy, yy, low, high = add_up(dx, dd, first_x, first, start, n, room)
            shift_x, shift = x / n, y / n
            sxx, sdd = xx - shift_x * x, yy - shift * y
            places[0, c], places[1, c] = low, high
            places[2, c], places[3, c] = first_x + shift_x, sxx
            series[0, c], series[1, c], series[2, c] = first + shift, xy - shift_x * y, sdd
            lost[c] |= not (xx <= worse * sxx and yy <= worse * sdd)


@njit(**INNER_FUNCTION_OPTIONS)
def subtract_lossy_cell_means(v: Any, ends: Any, room: Any, lost: Any) -> None:
    """Take the mean of its cell off every number, where digits are lost."""
    for c in range(lost.size):
        if lost[c]:
            start, n = ends[c], ends[c + 1] - ends[c]
            first = v[start]
            shift = add_up(v, v, first, first, start, n, room)[0] / n
            for i in range(start, start + n):
                v[i] = v[i] - first - shift


@njit(**INNER_FUNCTION_OPTIONS)
def repair(dx: Any, dd: Any, ends: Any, room: Any, places: Any, series: Any, lost: Any) -> None:
    """Add up deviations from the means, where digits are lost."""
    for c in range(lost.size):
        if lost[c]:
            found = add_up(dx, dd, 0.0, 0.0, ends[c], ends[c + 1] - ends[c], room)
            places[3, c], series[1, c], series[2, c] = found[2], found[3], found[4]


# One signature, for arrays of any order in memory: compiled once, whatever the table.
@njit(
    PLACES, types.boolean, CELLS, PLACES, SERIES_ARRAY_TYPE, types.float64, cache=True, nogil=True
)
def measure_block(
    edges: Any, is_left_closed: Any, buckets: Any, x: Any, values: Any, worse: Any
) -> Any:
    """Measure the rows of one block on one axis; all of them count alike.

    Parameters
    ----------
    edges, is_left_closed, buckets
        Of a `Grid`.
    x, values : ndarray of shape (n_rows,), (n_series, n_rows)
        Places and local effects, of one series at least.
    worse : float
        See `moments.WORSE`.

    Returns
    -------
    count : ndarray of shape (n_cells,)
        Rows.
    places : ndarray of shape (4, n_cells)
        Smallest and largest x, mean and squared deviations.
    series : ndarray of shape (n_series, 3, n_cells)
        Mean of each series, its products with x and its squares, as deviations.
    square : float
        Sum of the squares of all values, about 0; nan if a row is outside the grid.
    """
    n_cells = edges.size - 1
    cell, ends = locate(edges, is_left_closed, buckets, x)
    place = np.empty(x.size if len(values) > 1 else 0, np.uint32)
    dx, dd = sort_rows_by_cell(cell, ends, x, values[0], place)
    count, places = np.empty(n_cells, np.intp), np.zeros((4, n_cells))
    for c in range(n_cells):
        count[c], places[0, c], places[1, c] = ends[c + 1] - ends[c], np.inf, -np.inf
    series, lost = np.zeros((len(values), 3, n_cells)), np.zeros(n_cells, np.bool_)
    room = (np.empty(3 * DEPTH, np.uint64), np.empty((DEPTH, 7)), np.empty((8, 5)))
    for s in range(len(values)):
        if s > 0:
            arrange(values[s], place, dd)
        measure_cells(dx, dd, ends, room, worse, places, series[s], lost)
    if lost.any():
        subtract_lossy_cell_means(dx, ends, room, lost)
        for s in range(len(values)):
            arrange(values[s], place, dd)  # of one series alone it is done already
            subtract_lossy_cell_means(dd, ends, room, lost)
            repair(dx, dd, ends, room, places, series[s], lost)
    square = 0.0 if ends[n_cells] == x.size else np.nan
    for s in range(len(values)):
        for c in range(n_cells):
            square += series[s, 2, c] + count[c] * series[s, 0, c] ** 2
    return count, places, series, square
