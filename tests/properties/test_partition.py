"""`Optimal` is as cheap as the cheapest of all partitions, Eq. (13) priced from the rows."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.strategies import Rows, generators, tables

import rhale

RESOLVED = ("uniform", "skewed", "whole", "piled")


def price(rows, edges, first, last, discount, least, ddof):
    """Eq. (13) of one bin: tau s² width, inf below the least number of rows."""
    low, high = edges[first], edges[last]
    above = rows.x <= high if last == edges.size - 1 else rows.x < high
    inside = (rows.x >= low) & above
    w, d = rows.w[inside], rows.d[inside]
    if not inside.any():
        return np.inf
    n, total = w.sum() ** 2 / (w**2).sum(), rows.w.sum() ** 2 / (rows.w**2).sum()
    if n < max(least, ddof + 1) * (1 - 1e-9):
        return np.inf
    mean = np.average(d, weights=w)
    variance = np.average((d - mean) ** 2, weights=w) * n / (n - ddof)
    return (1 - discount * n / total) * variance * (high - low)


def every_partition(n_cells):
    inner = range(1, n_cells)
    for size in range(n_cells):
        for kept in combinations(inner, size):
            yield (0, *kept, n_cells)


def cheapest(rows, n_cells, discount, least, ddof):
    """Price of the cheapest partition, and the price of any other one."""
    edges = np.linspace(rows.x.min(), rows.x.max(), n_cells + 1)
    ask = [(a, b) for a in range(n_cells) for b in range(a + 1, n_cells + 1)]
    prices = {(a, b): price(rows, edges, a, b, discount, least, ddof) for a, b in ask}

    def total(limits):
        return sum(prices[pair] for pair in pairwise(limits))

    return min(total(p) for p in every_partition(n_cells)), total, edges


def limits_of(effect, edges):
    found = np.searchsorted(edges, effect.edges)
    np.testing.assert_array_equal(edges[found], effect.edges)
    return tuple(int(i) for i in found)


@settings(max_examples=60)
@given(
    tables(least=8, most=80, kinds=RESOLVED),
    st.integers(1, 11),
    st.sampled_from([0.0, 0.2, 0.7]),
    st.sampled_from([None, 0, 3, 10]),
    st.sampled_from([0, 1]),
)
def test_no_partition_is_cheaper(rows, n_cells, discount, min_points, ddof):
    total_rows = rows.w.sum() ** 2 / (rows.w**2).sum()
    least = total_rows / 20 if min_points is None else min_points
    best, total, edges = cheapest(rows, n_cells, discount, least, ddof)
    bins = rhale.Optimal(n_cells, discount, min_points, ddof)
    effect = rhale.effect(rows.x, rows.d, bins=bins, weights=rows.weights)
    chosen = total(limits_of(effect, edges))
    if np.isfinite(best):
        assert chosen <= best * (1 + 1e-9) + 1e-14 * np.mean(rows.d**2) * np.ptp(rows.x)
        assert not any("one bin" in note for note in effect.notes)
    else:
        assert effect.mean.size == 1
        assert any("one bin" in note for note in effect.notes)


@given(generators)
def test_weights_of_very_different_size_are_priced_right(rng):
    n_cells, per_cell = 6, 8
    x = np.append(np.repeat(np.arange(n_cells), per_cell) + rng.uniform(0.1, 0.9, 48), [0.0, 6.0])
    weights = np.where(x < 1, 1e8, 1.0)
    rows = Rows(x, rng.normal(0, 1, x.size), weights)
    best, total, edges = cheapest(rows, n_cells, 0.0, 5.0, 1)
    bins = rhale.Optimal(n_cells, discount=0.0, min_points=5)
    effect = rhale.effect(x, rows.d, bins=bins, weights=weights)
    assert total(limits_of(effect, edges)) <= best * (1 + 1e-6)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=9), generators)
def test_ties_go_to_the_wider_last_bin(levels, rng):
    n_cells = len(levels)
    filled = rng.random(n_cells) < 0.7
    filled[[0, -1]] = True
    cells = np.repeat(np.flatnonzero(filled), 2)
    x = np.concatenate([cells + rng.uniform(0.1, 0.9, cells.size), [0.0, n_cells]])
    d = np.array(levels, dtype=float)[np.append(cells, [0, n_cells - 1])]
    rows = Rows(x, d)
    best, total, edges = cheapest(rows, n_cells, 0.2, 2, 1)
    equal = [p for p in every_partition(n_cells) if total(p) == best == 0.0]
    effect = rhale.effect(x, d, bins=rhale.Optimal(n_cells, min_points=2))
    widest_last = min(equal, key=lambda limits: limits[::-1][1:])
    assert limits_of(effect, edges) == widest_last


@pytest.mark.parametrize("min_points", [9, 1e6])
def test_fewer_rows_than_a_bin_needs_give_one_bin_and_a_note(min_points):
    bins = rhale.Optimal(5, min_points=min_points)
    effect = rhale.effect(np.arange(8.0), np.arange(8.0), bins=bins)
    assert effect.edges.tolist() == [0.0, 7.0]
    assert any("one bin" in note and f"{min_points:g}" in note for note in effect.notes)


@given(tables(least=5, most=60, kinds=RESOLVED), st.integers(1, 12))
def test_every_bin_of_optimal_has_its_least_number_of_rows(rows, min_points):
    effect = rhale.effect(
        rows.x, rows.d, bins=rhale.Optimal(20, min_points=min_points), weights=rows.weights
    )
    if effect.mean.size > 1:
        assert np.all(effect.rows >= min_points * (1 - 1e-9))
