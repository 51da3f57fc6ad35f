from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.pair_rows_by_hand import KINDS, cells_of, levels_of, random_rows, step_means, twisted

from rhale.interaction.moments import (
    GROWTHS,
    POOLED_ROWS,
    Covariances,
    Filling,
    average_mixed_differences,
    estimate_cell_covariances,
    find_cell_areas,
    find_filling,
    find_growth,
    step_covariances,
)

each_kind = pytest.mark.parametrize("kinds", KINDS)


@each_kind
def test_means_are_those_of_all_rows_that_count_for_a_step(kinds):
    rows = random_rows(kinds, weighted=True)
    found, (mean, weight) = (
        average_mixed_differences(rows.axes, rows.measure(twisted)),
        step_means(rows, twisted),
    )
    np.testing.assert_allclose(found.mean[0], mean, atol=1e-13)
    np.testing.assert_allclose(found.weight, weight)
    assert np.array_equal(found.measured, weight > 0)


def described(axes, *, many=False):
    """Nodes of both sides, and whether they are levels."""
    nodes = tuple(axis.nodes[None] if many else axis.nodes for axis in axes)
    return nodes, tuple(axis.is_levels for axis in axes)


def unlikeliness(power, moments, areas):
    """Minus twice the log-likelihood of squares that grow with a power of the squared area."""
    total = 0.0
    for way in range(areas.shape[-1]):
        cells = [c for c in zip(*np.nonzero(moments.count > 1), strict=True) if areas[c][way] > 0]
        free = np.array([moments.count[c] - 1 for c in cells])
        grown = np.array([areas[c][way] ** (2 * power) for c in cells])
        squares = np.array([moments.products[(0, *c, way, way)] for c in cells])
        variance = np.sum(squares / grown) / free.sum()
        total += np.sum(free * np.log(variance * grown))
    return total


def spread_by_hand(rows, moments):
    """Each stand's own squares and, as if of four rows, those of all, as they grow with the area."""
    areas = find_cell_areas(*described(rows.axes))
    power = min(GROWTHS, key=lambda power: unlikeliness(power, moments, areas))
    n_ways = areas.shape[-1]
    pooled = np.zeros((n_ways, n_ways))
    for k, j in product(range(n_ways), repeat=2):
        has = (areas[..., k] > 0) & (areas[..., j] > 0)
        both = np.where(has, areas[..., k] * areas[..., j], 1.0) ** power
        free = np.sum(np.maximum(moments.count[has] - 1, 0))
        pooled[k, j] = np.sum((moments.products[0, ..., k, j] / both)[has]) / free
    found = np.zeros(moments.products.shape[1:])
    for stand in zip(*np.nonzero(moments.count), strict=True):
        n, area = moments.count[stand], np.outer(areas[stand], areas[stand])
        scale = np.where(area > 0, area**power, 0.0)
        inside = moments.products[(0, *stand)] + POOLED_ROWS * pooled * scale
        found[stand] = inside / (n - 1 + POOLED_ROWS) / n
    return found


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_how_variances_grow_with_the_area_is_seen(power):
    rng = np.random.default_rng(0)
    area = np.exp(rng.normal(0, 2, (1, 15, 15)))
    free = rng.integers(0, 6, area.shape).astype(float)
    squares = area ** (2 * power) * rng.chisquare(np.maximum(free, 1e-9))
    scale = (area**2)[..., None, None]
    assert find_growth(squares[..., None, None], free, scale).tolist() == [power]


@each_kind
def test_variances_of_few_rows_lean_on_those_of_all(kinds):
    rows = random_rows(kinds)
    moments, areas = rows.measure(twisted), find_cell_areas(*described(rows.axes))
    weights = moments.weight[None], moments.weight_squares[None]
    found = estimate_cell_covariances(weights, moments.products, areas[None])[0]
    np.testing.assert_allclose(found, spread_by_hand(rows, moments), rtol=1e-10, atol=1e-15)


def test_two_rows_of_a_wide_cell_lean_on_jumps_and_not_on_slopes():
    """Trees differ by jumps: in a cell of 100 times the area by no more than in others."""
    areas = np.ones((1, 5, 5, 1))
    areas[0, 4, 4] = 100.0
    rows = np.where(areas[..., 0] > 1, 2.0, 10.0)
    products = np.where(areas > 1, 0.0, 9.0)[..., None]  # variance 1, and two rows that are equal
    found = estimate_cell_covariances((rows, rows), products, areas)[0, ..., 0, 0]
    assert found[0, 0] == pytest.approx(1 / 10, rel=0.01)
    assert found[4, 4] == pytest.approx((0 + POOLED_ROWS * 1) / (1 + POOLED_ROWS) / 2, rel=0.01)


@each_kind
def test_covariances_of_steps_add_up_over_the_rows_that_they_share(kinds):
    rows = random_rows(kinds, weighted=True)
    moments, rng = rows.measure(twisted), np.random.default_rng(3)
    n_ways = moments.mean.shape[-1]
    root = rng.normal(size=(*moments.weight.shape, n_ways, n_ways))
    spread = root @ np.swapaxes(root, -1, -2)
    _, weight = step_means(rows, twisted)
    # how each step depends on the mean of every way of every stand, found by moving that mean
    n_all = weight.size
    lever = np.zeros((*moments.weight.shape, n_ways, n_all))
    for stand in product(*map(range, moments.weight.shape)):
        for way in range(n_ways):
            mean = np.zeros_like(moments.mean)
            mean[(0, *stand, way)] = 1.0
            steps = average_mixed_differences(rows.axes, replace(moments, mean=mean))
            lever[(*stand, way)] = steps.mean[0].ravel()
    expected = np.einsum("abki,abkj,abjl->il", lever, spread, lever)
    sides = tuple(axis.is_levels for axis in rows.axes)
    found = step_covariances(moments.weight[None], spread[None], sides).as_matrix(n_all)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_rows_of_equal_weights_have_the_variances_of_rows_without():
    rows = random_rows(("levels", "numbers"))
    plain, heavy = rows.measure(twisted), replace(rows, weights=np.full(60, 7.0)).measure(twisted)
    areas = find_cell_areas(*described(rows.axes))[None]
    one, other = (
        estimate_cell_covariances((m.weight[None], m.weight_squares[None]), m.products, areas)
        for m in (plain, heavy)
    )
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-16)


def nearest_by_hand(axes, measured):
    """For every step, the measured ones that are nearest: itself, or one, or several."""
    middles = []
    for axis in axes:
        at = (axis.nodes[1:] + axis.nodes[:-1]) / 2 / np.ptp(axis.nodes)
        middles.append(np.arange(1, axis.n_steps + 1) / axis.n_steps if axis.is_levels else at)
    known, found = np.argwhere(measured), []
    for step in np.ndindex(*measured.shape):
        x, y = (middles[side][known[:, side]] - middles[side][step[side]] for side in (0, 1))
        far = x**2 + y**2
        near = known[far <= far.min() * (1 + 1e-9)]
        found.append(np.ravel_multi_index(near.T, measured.shape))
    return found


def axes_by_chance(rng):
    return (cells_of(rng.lognormal(size=50), 6), levels_of(5))


@pytest.mark.parametrize("seed", range(8))
def test_steps_without_rows_have_the_slopes_of_the_nearest_measured_ones(seed):
    rng = np.random.default_rng(seed)
    axes = [axes_by_chance(rng), axes_by_chance(rng)]
    nodes = tuple(np.stack([sides[k].nodes for sides in axes]) for k in (0, 1))
    measured, mean = rng.random((2, 6, 4)) < 0.4, rng.normal(size=(2, 6, 4))
    measured[:, 0, 0] = True
    slopes, differences = (
        find_filling(nodes, (False, True), measured, slopes=slopes).fill(mean)
        for slopes in (True, False)
    )
    for i, sides in enumerate(axes):
        area = np.outer(sides[0].widths, sides[1].widths).ravel()
        near = nearest_by_hand(sides, measured[i])
        own = mean[i].ravel()
        expected = [np.mean(own[k] / area[k]) * area[step] for step, k in enumerate(near)]
        np.testing.assert_allclose(slopes[i].ravel(), expected)
        np.testing.assert_allclose(differences[i].ravel(), [own[k[0]] for k in near])


def test_equally_near_steps_count_alike_whichever_side_is_first():
    axes, measured = (levels_of(3), levels_of(3)), np.array([[False, True], [True, False]])
    mean = np.array([[0.0, 1.0], [5.0, 0.0]])
    assert find_filling(*described(axes, many=True), measured[None], slopes=True).fill(mean[None])[
        0
    ].tolist() == [[3, 1], [5, 3]]


def test_measured_steps_keep_their_own_and_nothing_is_filled_from_nothing():
    some = np.array([[[True, False], [False, False]], [[False] * 2] * 2, [[True] * 2] * 2])
    nodes, sides = (np.array([[0.0, 1.0, 3.0]] * 3),) * 2, (False, False)
    mean = np.arange(1.0, 13.0).reshape(3, 2, 2)
    found = find_filling(nodes, sides, some, slopes=True)
    assert found.is_needed
    assert found.fill(mean)[0].tolist() == [[1, 2], [2, 4]]
    assert np.array_equal(found.fill(mean)[1:], mean[1:])
    assert not find_filling(nodes, sides, some | True, slopes=True).is_needed


def test_gathering_and_expanding_are_products_with_the_matrix_of_the_filling():
    rng = np.random.default_rng(1)
    step, source = np.array([0, 2, 4, 1, 3, 5, 5]), np.array([0, 2, 4, 0, 2, 0, 4])
    filling = Filling(step, source, rng.uniform(1, 2, 7))
    matrix = np.zeros((6, 6))
    matrix[step, source] = filling.factor
    effects, mean = rng.normal(size=(3, 6)), rng.normal(size=6)
    np.testing.assert_allclose(filling.fill(mean), matrix @ mean)
    np.testing.assert_allclose(filling.gather(effects), (effects @ matrix)[:, [0, 2, 4]])
    terms = Covariances(np.array([0, 2, 2, 4, 4]), np.array([0, 2, 4, 2, 4]), rng.normal(size=5))
    expected = matrix @ terms.as_matrix(6) @ matrix.T
    np.testing.assert_allclose(filling.expand(terms).as_matrix(6), expected, atol=1e-15)
