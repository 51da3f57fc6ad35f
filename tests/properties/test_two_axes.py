"""Moments over two axes obey the laws of one, and give those of one back."""

from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import cell_edges, generators, tables

from rhale.effects.binning.cells import Cells, Grid
from rhale.effects.binning.moments import SUMS, empty, measure_moments


class Pair(NamedTuple):
    """Rows on two axes, and cells that some of them lie outside of."""

    cells: Cells
    x: np.ndarray
    d: np.ndarray
    weights: np.ndarray | None

    def moments(self, rows=slice(None)):
        weights = None if self.weights is None else self.weights[rows]
        return measure_moments(self.cells, self.x[:, rows], self.d[rows], weights)


@st.composite
def pairs(draw):
    """Two features of any kind; the second is a rearranged one of another table."""
    rows = draw(tables(least=3))
    rng = draw(generators)
    other = draw(tables(least=rows.n, most=rows.n))
    grids = [
        Grid(draw(cell_edges(r)), draw(st.sampled_from(["left", "right"]))) for r in (rows, other)
    ]
    cells = Cells(tuple(_shortened(grid, rng) for grid in grids))
    return Pair(cells, np.stack([rows.x, other.x]), rows.d, rows.weights)


def _shortened(grid, rng):
    """Leave out the last cells now and then, so that some rows lie outside."""
    kept = max(2, grid.edges.size - int(rng.integers(0, 3)))
    return Grid(grid.edges[:kept], grid.closed)


def sizes(pair, axis):
    """How large each sum over one of the axes can be: its rounding is relative to this."""
    w = np.ones(pair.d.size) if pair.weights is None else pair.weights
    (dx, range_x), (dd, range_d) = (
        (np.abs(v).max(), max(np.ptp(v), 1e-9 * np.abs(v).max())) for v in (pair.x[axis], pair.d)
    )
    return {
        "count": 0.0,
        "weight": w.sum(),
        "weight_squares": (w**2).sum(),
        "mean_x": dx,
        "sxx": w.sum() * range_x**2,
        "low": 0.0,
        "high": 0.0,
        "mean": dd,
        "sxd": w.sum() * range_x * range_d,
        "sdd": w.sum() * range_d**2,
    }


def assert_same(a, b, pair, axis=None, names=SUMS):
    """Equal to rounding; moments over two axes about each of them."""
    assert a.cells == b.cells
    for own in (0, 1) if axis is None else (axis,):
        for name in names:
            one, other = getattr(a, name), getattr(b, name)
            if axis is None and name in ("mean_x", "sxx", "low", "high", "sxd"):
                one, other = one[own], other[own]
            slack = 1e-11 * sizes(pair, own)[name]
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=slack, err_msg=name)


def some_limits(n_cells, rng):
    inner = np.arange(1, n_cells)
    return np.concatenate([[0], inner[rng.random(inner.size) < 0.4], [n_cells]]).astype(np.intp)


@given(pairs(), generators)
def test_pieces_in_any_order_add_up_to_the_moments_of_the_whole(pair, rng):
    parts = np.array_split(rng.permutation(pair.d.size), 3)
    a, b, c = (pair.moments(part) for part in parts)
    whole = pair.moments()
    for merged in (reduce(add, (a, b, c)), a + (b + c), c + b + a):
        assert_same(merged, whole, pair)


@given(pairs())
def test_the_moments_of_no_rows_change_nothing_at_all(pair):
    found = pair.moments()
    for same in (found + empty(pair.cells), empty(pair.cells) + found):
        for name in SUMS:
            np.testing.assert_array_equal(getattr(same, name), getattr(found, name), err_msg=name)


@given(pairs(), st.sampled_from([0, 1]))
def test_a_marginal_is_the_moments_of_one_axis_over_rows_inside_both(pair, axis):
    inside = pair.cells.covers(pair.x)
    weights = None if pair.weights is None else pair.weights[inside]
    alone = measure_moments(pair.cells.grids[axis], pair.x[axis, inside], pair.d[inside], weights)
    assert_same(pair.moments().marginal(axis), alone, pair, axis)


@given(pairs())
def test_rows_outside_either_axis_are_left_out(pair):
    inside = np.flatnonzero(pair.cells.covers(pair.x))
    for name in SUMS:
        np.testing.assert_array_equal(
            getattr(pair.moments(), name), getattr(pair.moments(inside), name), err_msg=name
        )


@given(pairs(), generators, st.sampled_from([0, 1]))
def test_uniting_an_axis_equals_measuring_in_its_united_cells(pair, rng, axis):
    limits = some_limits(pair.cells.shape[axis], rng)
    wide = pair._replace(cells=pair.cells.unite(limits, axis))
    assert_same(pair.moments().unite(limits, axis), wide.moments(), pair)


@given(pairs(), generators)
def test_the_order_in_which_axes_are_united_does_not_matter(pair, rng):
    first, second = (some_limits(n, rng) for n in pair.cells.shape)
    found = pair.moments()
    one = found.unite(first, 0).unite(second, 1)
    assert_same(one, found.unite(second, 1).unite(first, 0), pair)


@given(pairs())
def test_rows_of_weight_two_count_like_two_rows(pair):
    twice = pair._replace(x=np.hstack([pair.x] * 2), d=np.tile(pair.d, 2), weights=None).moments()
    heavy = pair._replace(weights=np.full(pair.d.size, 2.0)).moments()
    np.testing.assert_array_equal(twice.count, 2 * heavy.count)
    names = ("weight", "mean_x", "mean", "sxx", "sxd", "sdd")
    assert_same(twice, heavy, pair._replace(weights=np.full(pair.d.size, 2.0)), names=names)
