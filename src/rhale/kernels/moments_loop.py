"""Moments of a block of rows by one compiled loop (numba): the bits of `kernels.moments`, sooner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types

# Indices are unsigned throughout: numba then leaves out the code for negative ones.
NONE, ONE, TWO, LANES, LEAF = (np.uint64(n) for n in (0, 1, 2, 8, 128))
NUMBERS, ROWS = (types.Array(types.float64, n, "A", readonly=True) for n in (1, 2))
CELLS = types.Array(types.int16, 1, "C", readonly=True)


@njit(cache=True, nogil=True)
def locate(edges: Any, is_left_closed: Any, buckets: Any, x: Any) -> Any:
    """Find the cell of every row as `Grid.locate` does; rows outside are in one more, the last."""
    low, high, last = edges[0], edges[-1], np.int32(edges.size - 2)
    scale = buckets.size / (high - low)
    most, offset = buckets.size - 1.0, low * scale
    cell = np.empty(x.size, np.int32)
    for i in range(x.size):  # nan is in the first bucket: no number that a cast could not hold
        bucket = x[i] * scale - offset
        bucket = bucket if bucket > 0.0 else 0.0  # noqa: FURB136
        cell[i] = np.int32(bucket if bucket < most else most)  # noqa: FURB136
    for i in range(x.size):
        c = np.int32(buckets[np.uint64(cell[i])])
        if c < 0:  # a bucket with a limit in it
            c = ~c
            while c < last and is_above(x[i], edges[np.uint64(c + 1)], is_left_closed):
                c += np.int32(1)
        cell[i] = c if low <= x[i] <= high else last + np.int32(1)
    return cell


@njit(cache=True, nogil=True, inline="always")
def is_above(value: Any, limit: Any, is_left_closed: Any) -> Any:
    """Tell whether a value belongs to the cell above a limit."""
    return value > limit or (is_left_closed and value == limit)


@njit(cache=True, nogil=True)
def sort_rows(cell: Any, n_cells: Any) -> Any:
    """Where each row stands in the order of cells, and where each cell begins and ends in it."""
    ends = np.zeros(n_cells + 2, np.uint64)
    for i in range(cell.size):
        ends[np.uint64(cell[i]) + ONE] += ONE
    for c in range(n_cells):
        ends[c + 1] += ends[c]
    place, free = np.empty(cell.size, np.uint64), ends.copy()
    for i in range(cell.size):
        mine = np.uint64(cell[i])
        place[i] = free[mine]
        free[mine] += ONE
    return place, ends


@njit(cache=True, nogil=True)
def arrange(v: Any, place: Any) -> Any:
    """Put the numbers of rows in the order of their cells."""
    found = np.empty(place.size)
    for i in range(place.size):
        found[place[i]] = v[i]
    return found


@njit(cache=True, nogil=True)
def find_ends(v: Any, start: Any, n: Any) -> Any:
    """Smallest and largest of some numbers."""
    low = high = other_low = other_high = v[start]
    i, end = start, start + n
    while i + ONE < end:  # two of each: none waits for the one before; `min` would look for nan
        a, b = v[i], v[i + ONE]
        low = a if a < low else low  # noqa: FURB136
        high = a if a > high else high  # noqa: FURB136
        other_low = b if b < other_low else other_low  # noqa: FURB136
        other_high = b if b > other_high else other_high  # noqa: FURB136
        i += TWO
    a = v[end - ONE]
    return min(low, other_low, a) + 0.0, max(high, other_high, a) + 0.0  # 0 rather than -0


@njit(cache=True, nogil=True)
def deviate(v: Any, start: Any, n: Any) -> Any:
    """Take their mean off some numbers, and give it."""
    first = v[start]  # equal numbers deviate by exactly nothing
    for i in range(start, start + n):
        v[i] -= first
    shift = (v[start] + add_up(v, start + ONE, n - ONE)) / n
    for i in range(start, start + n):
        v[i] -= shift
    return first + shift


# Sums are added as `np.add.reduceat` adds them, for the sake of the bits: the first number by
# itself, the others in halves down to 128, eight sums side by side in these, the rest at the end.
@njit(cache=True, nogil=True)
def take_eight(v: Any, i: Any) -> Any:
    """Eight neighbours."""
    a, b, c, d = v[i], v[i + np.uint64(1)], v[i + np.uint64(2)], v[i + np.uint64(3)]
    e, f, g, h = (
        v[i + np.uint64(4)],
        v[i + np.uint64(5)],
        v[i + np.uint64(6)],
        v[i + np.uint64(7)],
    )
    return a, b, c, d, e, f, g, h


@njit(cache=True, nogil=True)
def multiply_eight(u: Any, v: Any) -> Any:
    """Products of eight numbers by eight."""
    (a, b, c, d, e, f, g, h), (i, j, k, l, m, n, o, p) = u, v
    return a * i, b * j, c * k, d * l, e * m, f * n, g * o, h * p


@njit(cache=True, nogil=True)
def add_eight(u: Any, v: Any) -> Any:
    """Sums of eight numbers and eight."""
    (a, b, c, d, e, f, g, h), (i, j, k, l, m, n, o, p) = u, v
    return a + i, b + j, c + k, d + l, e + m, f + n, g + o, h + p


@njit(cache=True, nogil=True)
def join_eight(v: Any) -> Any:
    """Sum of eight numbers, neighbours first."""
    a, b, c, d, e, f, g, h = v
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@njit(cache=True, nogil=True)
def add_up(v: Any, start: Any, n: Any) -> Any:
    """Sum of some numbers."""
    if n > LEAF:
        half = n // (LANES + LANES) * LANES
        return add_up(v, start, half) + add_up(v, start + half, n - half)
    i, end, found = start, start + n, -0.0
    if n >= LANES:
        sums = take_eight(v, i)
        i += LANES
        while i + LANES <= end:
            sums = add_eight(sums, take_eight(v, i))
            i += LANES
        found = join_eight(sums)
    while i < end:
        found += v[i]
        i += ONE
    return found


@njit(cache=True, nogil=True)
def add_products(u: Any, v: Any, start: Any, n: Any) -> Any:
    """Sums of u u, u v and v v."""
    if n > LEAF:
        half = n // (LANES + LANES) * LANES
        a, b, c = add_products(u, v, start, half)
        d, e, f = add_products(u, v, start + half, n - half)
        return a + d, b + e, c + f
    i, end = start, start + n
    uu = uv = vv = -0.0
    if n >= LANES:
        x, y = take_eight(u, i), take_eight(v, i)
        uus, uvs, vvs = multiply_eight(x, x), multiply_eight(x, y), multiply_eight(y, y)
        i += LANES
        while i + LANES <= end:
            x, y = take_eight(u, i), take_eight(v, i)
            uus = add_eight(uus, multiply_eight(x, x))
            uvs = add_eight(uvs, multiply_eight(x, y))
            vvs = add_eight(vvs, multiply_eight(y, y))
            i += LANES
        uu, uv, vv = join_eight(uus), join_eight(uvs), join_eight(vvs)
    while i < end:
        uu, uv, vv = uu + u[i] * u[i], uv + u[i] * v[i], vv + v[i] * v[i]
        i += ONE
    return uu, uv, vv


# One signature, for arrays of any order in memory: compiled once, whatever the table.
@njit([(NUMBERS, types.boolean, CELLS, NUMBERS, ROWS)], cache=True, nogil=True)
def measure_block(edges: Any, is_left_closed: Any, buckets: Any, x: Any, values: Any) -> Any:
    """Measure the rows of one block on one axis; all of them count alike.

    Parameters
    ----------
    edges, is_left_closed, buckets
        Of a `Grid`.
    x, values : ndarray of shape (n_rows,), (n_series, n_rows)
        Places and local effects.

    Returns
    -------
    count : ndarray of shape (n_cells,)
        Rows.
    places : ndarray of shape (4, n_cells)
        Smallest and largest x, mean and squared deviations.
    series : ndarray of shape (3, n_series, n_cells)
        Mean of each series, its products with x and its squares, as deviations.
    """
    n_cells = edges.size - 1
    place, ends = sort_rows(locate(edges, is_left_closed, buckets, x), n_cells)
    count, places = np.zeros(n_cells, np.intp), np.zeros((4, n_cells))
    series = np.zeros((3, len(values), n_cells))
    dx = arrange(x, place)
    for c in range(n_cells):
        start, n = ends[c], ends[c + 1] - ends[c]
        count[c], places[0, c], places[1, c] = n, np.inf, -np.inf
        if n > NONE:
            places[0, c], places[1, c] = find_ends(dx, start, n)
            places[2, c] = deviate(dx, start, n)
    for s in range(len(values)):
        dd = arrange(values[s], place)
        for c in range(n_cells):
            start, n = ends[c], ends[c + 1] - ends[c]
            if n > NONE:
                series[0, s, c] = deviate(dd, start, n)
                xx, xd, ddd = add_products(dx, dd, start + ONE, n - ONE)
                places[3, c] = dx[start] * dx[start] + xx
                series[1, s, c] = dx[start] * dd[start] + xd
                series[2, s, c] = dd[start] * dd[start] + ddd
    return count, places, series
