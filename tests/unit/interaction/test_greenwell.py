"""Greenwell's index; numbers from algebra."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.effects.askers import asker_for

from rhale.data import open_table
from rhale.interaction.h_statistic import (
    GridSide,
    choose_grid_points,
    conclude_greenwell,
    greenwell_indices,
    note_greenwell,
)

ROWS = np.random.default_rng(0).normal(size=(40, 3))
CHUNK = open_table(ROWS).chunk(0, 40)
PAIRS = [(0, 1), (0, 2), (1, 2)]


def deviation(values):
    return np.std(values, ddof=1)


def find(model, sides, pairs=PAIRS, weights=None):
    return greenwell_indices(asker_for(model, CHUNK), CHUNK, sides, pairs, weights)


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(2, 7))
def test_a_product_has_the_deviations_of_its_factors_and_of_their_sizes(seed, n, m):
    rng = np.random.default_rng(seed)
    g, h = np.sort(rng.normal(size=n)), np.sort(rng.normal(size=m))
    sides = [GridSide(0, g), GridSide(1, h), GridSide(2, g)]
    found = find(lambda x: x[:, 0] * x[:, 1] + x[:, 2], sides)
    both = deviation(g) * deviation(np.abs(h)) + deviation(h) * deviation(np.abs(g))
    np.testing.assert_allclose(
        found.strength[:, 0], [both / 2, 0, 0], atol=1e-4 * found.variance[0]
    )
    assert found.strength[1:].tolist() == [[0.0], [0.0]]
    means = np.abs(ROWS.mean(axis=0))
    alone = [means[1] * deviation(g), means[0] * deviation(h), deviation(g)]
    np.testing.assert_allclose(found.importance[:, 0], alone, atol=1e-12)


def test_levels_vary_by_a_quarter_of_their_range():
    levels, h = np.array([0.0, 1.0, 4.0]), np.array([-1.0, 0.5, 2.0])
    sides = [GridSide(0, levels, is_levels=True), GridSide(1, h)]
    found = find(lambda x: x[:, 0] * x[:, 1], sides, [(0, 1)])
    expected = (4 / 4 * deviation(np.abs(h)) + deviation(h) * 4 / 4) / 2
    assert found.strength[0, 0] == pytest.approx(expected, rel=1e-12)


def test_additive_functions_have_exactly_none():
    sides = [choose_grid_points(CHUNK, j) for j in range(3)]
    found = find(lambda x: np.exp(x[:, 0]) + x[:, 1] ** 3 - x[:, 2], sides)
    assert found.strength.tolist() == [[0.0]] * 3


def test_rows_count_by_their_weights():
    weights = np.r_[1.0, 3.0, np.zeros(38)]
    sides = [GridSide(0, np.array([0.0, 1.0])), GridSide(1, np.array([0.0, 2.0]))]
    found = find(lambda x: x[:, 0] * x[:, 1] * x[:, 2], sides, [(0, 1)], weights)
    third = abs(ROWS[0, 2] + 3 * ROWS[1, 2]) / 4
    assert found.strength[0, 0] == pytest.approx(third, rel=1e-12)  # both ways 2 third / sqrt 2**2


def test_numbers_have_points_at_equal_counts_and_levels_all():
    column = np.r_[np.arange(100.0), np.full(60, np.nan)][:, None]
    chunk = open_table(column).chunk(0, 160)
    assert choose_grid_points(chunk, 0, n_points=4).values.tolist() == [12.0, 37.0, 62.0, 87.0]
    assert choose_grid_points(chunk, 0, is_levels=True).values.size == 100
    piled = open_table(np.r_[np.zeros(90), np.arange(1.0, 11)][:, None]).chunk(0, 100)
    assert choose_grid_points(piled, 0, n_points=5).values.tolist() == [0.0]
    assert choose_grid_points(piled, 0, n_points=10).values.tolist() == [0.0, 5.0]


def test_a_feature_of_one_value_or_none_has_no_index():
    sides = [GridSide(0, np.array([1.0])), GridSide(1, np.empty(0)), GridSide(2, np.arange(3.0))]
    found = find(lambda x: x[:, 0] * x[:, 1] * x[:, 2], sides)
    assert found.strength.tolist() == [[0.0]] * 3
    assert found.importance[:2].tolist() == [[0.0]] * 2


def test_rows_that_are_asked_are_counted():
    n_asked = 0

    def counting(rows):
        nonlocal n_asked
        n_asked += len(rows)
        return rows[:, 0] * rows[:, 1]

    asker = asker_for(counting, CHUNK)
    n_asked = 0
    sides = [choose_grid_points(CHUNK, j, n_points=5) for j in range(3)]
    found = greenwell_indices(asker, CHUNK, sides, PAIRS)
    assert found.n_asked == n_asked == 40 * (1 + 15 + 75)


def test_results_have_pairs_first_and_outputs_within():
    sides = [choose_grid_points(CHUNK, j) for j in range(3)]
    found = find(lambda x: np.stack([x[:, 0] * x[:, 1], 2 * x[:, 0] * x[:, 1]], axis=1), sides)
    pairs = conclude_greenwell(found, ["a", "b", "c"], ["u", "v"])
    assert [(p.names, p.output, p.method) for p in pairs[:3]] == [
        (("a", "b"), "u", "greenwell"),
        (("a", "b"), "v", "greenwell"),
        (("a", "c"), "u", "greenwell"),
    ]
    assert pairs[1].strength == pytest.approx(2 * pairs[0].strength)
    assert np.isnan(pairs[0].h2)
    assert note_greenwell(found)[0].kind == "greenwell"
