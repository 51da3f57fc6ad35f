"""Rounding makes no bins and no spread: constant pieces come out as they went in."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import Rows, generators, tables

import rhale
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.fit import bin_cells
from rhale.effects.binning.moments import measure_moments

AWKWARD = [0.1, 0.2, 1 / 3, -0.7, 1e8 / 3, 1e-5 / 7, 12345.678]


@given(tables(), st.sampled_from(AWKWARD) | st.floats(-1e6, 1e6, allow_subnormal=False))
def test_a_constant_local_effect_gives_one_bin_and_no_spread(rows, value):
    value = value if abs(value) > 1e-100 else 0.0
    effect = rhale.effect(rows.x, np.full(rows.n, value), weights=rows.weights)
    assert effect.edges.tolist() == [rows.x.min(), rows.x.max()]
    assert effect.std.tolist() == effect.std_plain.tolist() == [0.0]
    assert effect.standard_error.tolist() == [0.0]
    np.testing.assert_allclose(effect.mean, value, rtol=2e-15)


@pytest.mark.parametrize("n_rows", [3, 1_000, 50_000, 200_001])
@pytest.mark.parametrize("value", AWKWARD[:5])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_number_of_rows_makes_a_constant_vary(n_rows, value, weighted):
    weights = np.random.default_rng(n_rows).lognormal(0, 2, n_rows) if weighted else None
    effect = rhale.effect(np.linspace(0, 1, n_rows), np.full(n_rows, value), weights=weights)
    assert effect.mean.size == 1
    assert effect.std.tolist() == [0.0]
    assert effect.heterogeneity == 0.0


@st.composite
def constant_pieces(draw, most=6):
    """Rows in unit cells, four or more a cell; local effects constant on runs of cells."""
    rng = draw(generators)
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=most))
    levels = [rng.choice(AWKWARD[:4]) if rng.random() < 0.5 else rng.normal() for _ in sizes]
    for i in range(1, len(levels)):
        if abs(levels[i] - levels[i - 1]) < 0.01:
            levels[i] = levels[i - 1] + 0.25
    limits = np.cumsum([0, *sizes]).astype(float)
    cells = np.repeat(np.arange(limits[-1]), rng.integers(4, 40, int(limits[-1])))
    x = np.concatenate([[0.0], cells + rng.uniform(0, 1, cells.size), [limits[-1]]])
    piece = np.minimum(np.searchsorted(limits, x, side="right") - 1, len(levels) - 1)
    weights = rng.uniform(0.5, 2, x.size) if draw(st.booleans()) else None
    return limits, np.array(levels), Rows(x, np.array(levels)[piece], weights)


def assert_is_its_pieces(effect, limits, levels):
    np.testing.assert_array_equal(effect.edges, limits)
    np.testing.assert_array_equal(effect.std, np.zeros(levels.size))
    np.testing.assert_allclose(effect.mean, levels, rtol=2e-15)


@given(constant_pieces())
def test_constant_pieces_come_out_as_they_went_in(drawn):
    limits, levels, rows = drawn
    bins = rhale.Optimal(int(limits[-1]), min_points=1.5)
    assert_is_its_pieces(
        rhale.effect(rows.x, rows.d, bins=bins, weights=rows.weights), limits, levels
    )


@given(constant_pieces(), generators)
def test_constant_pieces_survive_chunks(drawn, rng):
    limits, levels, rows = drawn
    grid = Grid(np.arange(limits[-1] + 1))
    parts = [measure_moments(grid, p.x, p.d, p.weights) for p in rows.pieces(rng)]
    bins = rhale.Optimal(grid.n_cells, min_points=1.5)
    assert_is_its_pieces(bin_cells("x", "y", reduce(add, parts), bins), limits, levels)


@pytest.mark.parametrize("n_rows", [600, 60_000, 180_000])
def test_pieces_stay_exact_with_many_rows(n_rows):
    x = (np.arange(n_rows) + 0.5) / n_rows
    levels = np.array([0.1, 0.2, 1 / 3])
    d = levels[np.searchsorted([0.25, 0.5], x, side="right")]
    effect = rhale.effect(x, d, bins=rhale.Optimal(20), limits=(0, 1))
    assert_is_its_pieces(effect, np.array([0.0, 0.25, 0.5, 1.0]), levels)


def test_small_pieces_beside_a_huge_one_stay_apart():
    x = (np.arange(3000) + 0.5) / 3000
    levels = np.array([1e-3, 2e-3, 1e6])
    d = levels[np.searchsorted([1 / 4, 1 / 2], x, side="right")]
    effect = rhale.effect(x, d, bins=rhale.Optimal(40), limits=(0, 1))
    assert_is_its_pieces(effect, np.array([0.0, 0.25, 0.5, 1.0]), levels)


def test_noise_on_a_large_offset_is_not_taken_for_rounding():
    x = np.linspace(0, 1, 2001)
    d = np.where(x < 0.5, 0.0, 1.0) + np.random.default_rng(0).normal(0, 0.1, x.size)
    effect = rhale.effect(x, d + 1e9, bins=rhale.Optimal(10))  # rounding of 1e9 is 1e-7
    assert effect.edges.tolist() == [0.0, 0.5, 1.0]
