import numpy as np
import pytest
from tests.pair_rows_by_hand import KINDS, pure_surface, random_rows, read_rows, step_means, twisted

from rhale.interaction.strength import PairCellWeights, square_in_cells

each_kind = pytest.mark.parametrize("kinds", KINDS)


def ground_of(rows):
    moments = rows.measure(twisted)
    return PairCellWeights(moments.weight, moments.places, tuple(a.is_levels for a in rows.axes))


def unit_surfaces(rows):
    """Pure effects of all unit differences, one after the other, at the nodes."""
    shape = tuple(axis.n_steps for axis in rows.axes)
    units = np.eye(shape[0] * shape[1]).reshape(-1, *shape)
    return np.stack([pure_surface(rows, unit) for unit in units])


@each_kind
def test_the_surface_is_the_one_found_row_by_row(kinds):
    rows = random_rows(kinds, weighted=True)
    steps, _ = step_means(rows, twisted)
    found = ground_of(rows).surface(steps)
    np.testing.assert_allclose(found, pure_surface(rows, steps), atol=1e-12)


@each_kind
def test_mean_squares_are_those_over_the_rows(kinds):
    rows = random_rows(kinds, weighted=True)
    ground, steps = ground_of(rows), step_means(rows, twisted)[0]
    surface = ground.surface(steps)
    at_rows = read_rows(rows, surface)
    assert ground.mean_square(surface) == pytest.approx(np.average(at_rows**2, weights=rows.w))
    stands = ground.mean_squares_by_cell(surface)
    (a, _), (b, _) = rows.positions
    here = (a == 1) & (b == 1)
    expected = np.average(at_rows[here] ** 2, weights=rows.w[here])
    assert stands[1, 1] == pytest.approx(expected)
    assert np.all(stands[ground.weight == 0] == 0)


@each_kind
def test_products_are_means_over_the_rows_of_products_of_unit_surfaces(kinds):
    rows = random_rows(kinds, weighted=True)
    ground, units = ground_of(rows), unit_surfaces(rows)
    at_rows = np.stack([read_rows(rows, unit) for unit in units])
    expected = (at_rows * rows.w) @ at_rows.T / rows.w.sum()
    every = np.arange(len(units))
    np.testing.assert_allclose(ground.products(every[:, None], every[None]), expected, atol=1e-13)
    np.testing.assert_allclose(ground.squares.ravel(), np.diag(expected), atol=1e-13)
    np.testing.assert_allclose(ground.unit_surfaces().T, units.reshape(len(units), -1), atol=1e-13)


def test_many_pairs_are_found_as_each_alone():
    grounds = [ground_of(random_rows(("levels", "numbers"), seed=seed)) for seed in range(3)]
    together = PairCellWeights(
        np.stack([g.weight for g in grounds]), np.stack([g.places for g in grounds]), (True, False)
    )
    steps = np.random.default_rng(0).normal(size=(3, *grounds[0].squares.shape))
    surfaces = together.surface(steps)
    first, second = np.meshgrid(np.arange(10), np.arange(10))
    for i, alone in enumerate(grounds):
        np.testing.assert_allclose(surfaces[i], alone.surface(steps[i]), atol=1e-13)
        np.testing.assert_allclose(together.squares[i], alone.squares, atol=1e-14)
        found = together.products(first + i * alone.squares.size, second + i * alone.squares.size)
        np.testing.assert_allclose(found, alone.products(first, second), atol=1e-14)
    np.testing.assert_allclose(
        together.mean_square(surfaces),
        [g.mean_square(s) for g, s in zip(grounds, surfaces, strict=True)],
    )


def test_first_order_effects_are_those_that_the_surface_lost():
    rows = random_rows(("numbers", "levels"), weighted=True)
    steps, _ = step_means(rows, twisted)
    ground = ground_of(rows)
    first, second = ground.main_effects(steps)
    heights = np.zeros(tuple(n + 1 for n in steps.shape))
    heights[1:, 1:] = np.cumsum(np.cumsum(steps, 0), 1)
    left = heights - first[:, None] - second[None] - ground.surface(steps)
    assert np.ptp(left) < 1e-12  # one number, the mean


def test_without_any_row_nothing_is_divided():
    ground = PairCellWeights(np.zeros((2, 2)), np.zeros((8, 2, 2)), (False, False))
    assert not ground.squares.any()
    assert ground.mean_square(ground.surface(np.zeros((2, 2)))) == 0.0


def test_the_square_of_a_bilinear_surface_has_nine_terms():
    corners = tuple(np.array(c) for c in (1.0, -2.0, 0.5, 3.0))
    u, v = 0.3, 0.8
    height = (1.0 * (1 - v) - 2.0 * v) * (1 - u) + (0.5 * (1 - v) + 3.0 * v) * u
    total = sum(factor * u**p * v**q for (p, q), factor in square_in_cells(corners))
    assert total == pytest.approx(height**2)


@each_kind
def test_scattered_places_have_the_mean_of_the_rows(kinds):
    rows = random_rows(kinds, weighted=True)
    ground, steps = ground_of(rows), step_means(rows, twisted)[0]
    surface = ground.surface(steps)
    heights, weight = ground.read_scattered(surface)
    at_rows = read_rows(rows, surface)
    size = np.abs(at_rows).max()
    assert weight.sum() == pytest.approx(rows.w.sum())
    assert np.average(heights, weights=weight) == pytest.approx(0, abs=0.05 * size)
    nodes = surface[np.isfinite(surface)]
    assert nodes.min() <= heights.min()
    assert heights.max() <= nodes.max()


def test_scattered_places_are_the_rows_where_these_stand_on_levels():
    rows = random_rows(("levels", "levels"), weighted=True)
    ground, steps = ground_of(rows), step_means(rows, twisted)[0]
    surface = ground.surface(steps)
    heights, weight = ground.read_scattered(surface)
    expected = np.average(np.abs(read_rows(rows, surface)), weights=rows.w)
    assert np.average(np.abs(heights), weights=weight) == pytest.approx(expected)
