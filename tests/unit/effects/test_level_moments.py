"""Steps between neighbouring levels: means, deviations, how the mean steps go together."""

import numpy as np
import pytest

from rhale.effects.levels import measure_levels
from rhale.errors import BadEffectsError

LEVEL = np.array([0, 0, 1, 1, 1, 2, 2, 3])


def some_steps(seed=0, n_rows=60, n_levels=4, n_outputs=2):
    """Levels and steps of rows; the first has no level below, the last none above."""
    rng = np.random.default_rng(seed)
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n_rows - n_levels)])
    down, up = rng.normal(2, 1, (2, n_outputs, n_rows))
    up = up + 0.8 * down
    down[:, level == 0] = 0.0
    up[:, level == n_levels - 1] = 0.0
    return level, down, up


def both_sides(level, down, up, step):
    """Values of one step over the rows on both its sides."""
    return np.concatenate([up[:, level == step], down[:, level == step + 1]], axis=1)


def weights_of(level, weights, step):
    return np.concatenate([weights[level == step], weights[level == step + 1]])


def by_influence(level, down, up, weights, n_levels):
    """Covariance of the mean steps: each row's influence on every mean, squared and summed."""
    n_steps = n_levels - 1
    influence = np.zeros((level.size, n_steps))
    for k in range(n_steps):
        total = weights[level == k].sum() + weights[level == k + 1].sum()
        mean = weights[level == k] @ up[level == k] + weights[level == k + 1] @ down[level == k + 1]
        for side, values in ((level == k, up), (level == k + 1, down)):
            influence[side, k] = weights[side] * (values[side] - mean / total) / total
    return influence.T @ influence


def test_a_step_is_the_mean_over_the_rows_on_both_its_sides():
    level, down, up = some_steps()
    steps = measure_levels(level, down, up, 4).steps
    for k in range(3):
        values = both_sides(level, down, up, k)
        assert steps.count[k] == values.shape[1]
        assert steps.mean[:, k] == pytest.approx(values.mean(axis=1), rel=1e-12)
        assert steps.std[:, k] == pytest.approx(values.std(axis=1, ddof=1), rel=1e-12)


def test_weighted_steps_follow_the_effective_number_of_rows():
    level, down, up = some_steps(1)
    weights = np.random.default_rng(2).uniform(0.2, 3, level.size)
    steps = measure_levels(level, down, up, 4, weights).steps
    for k in range(3):
        values, w = both_sides(level, down, up, k), weights_of(level, weights, k)
        rows = w.sum() ** 2 / (w**2).sum()
        mean = values @ w / w.sum()
        variance = ((values - mean[:, None]) ** 2) @ w / w.sum() * rows / (rows - 1)
        assert steps.weight[k] == pytest.approx(w.sum(), rel=1e-12)
        assert steps.rows[k] == pytest.approx(rows, rel=1e-12)
        assert steps.mean[:, k] == pytest.approx(mean, rel=1e-12)
        assert steps.std[:, k] == pytest.approx(np.sqrt(variance), rel=1e-12)


def test_mean_steps_go_together_as_the_rows_they_share_say():
    level, down, up = some_steps(3, n_rows=200)
    steps = measure_levels(level, down, up, 4).steps
    for output in range(2):
        joint = by_influence(level, down[output], up[output], np.ones(200), 4)
        size = np.sqrt(np.diag(joint))
        assert steps.correlation[output] == pytest.approx(joint / np.outer(size, size), abs=1e-12)


def test_weights_that_are_the_same_within_a_level_give_the_exact_correlation():
    level, down, up = some_steps(4, n_rows=200)
    weights = np.array([1.0, 3.0, 0.5, 2.0])[level]
    found = measure_levels(level, down, up, 4, weights).steps.correlation[0]
    joint = by_influence(level, down[0], up[0], weights, 4)
    size = np.sqrt(np.diag(joint))
    assert found == pytest.approx(joint / np.outer(size, size), abs=1e-12)


def test_correlation_agrees_with_drawing_the_rows_again():
    level, down, up = some_steps(5, n_rows=400, n_levels=3, n_outputs=1)
    rng = np.random.default_rng(6)
    means = []
    for _ in range(1500):
        rows = rng.integers(0, 400, 400)
        means.append(measure_levels(level[rows], down[:, rows], up[:, rows], 3).steps.mean[0])
    steps = measure_levels(level, down, up, 3).steps
    again = np.cov(np.array(means).T)
    correlation = again[0, 1] / np.sqrt(again[0, 0] * again[1, 1])
    assert steps.correlation[0, 0, 1] == pytest.approx(correlation, abs=0.08)
    error = steps.std[0] / np.sqrt(steps.rows)
    assert error == pytest.approx(np.sqrt(np.diag(again)), rel=0.08)


def test_steps_that_are_not_neighbours_share_no_rows():
    level, down, up = some_steps(7, n_levels=5)
    correlation = measure_levels(level, down, up, 5).steps.correlation[0]
    apart = np.abs(np.subtract.outer(range(4), range(4))) > 1
    assert np.all(correlation[apart] == 0)
    assert np.all(np.diag(correlation) == 1)
    assert np.array_equal(correlation, correlation.T)


def test_equal_steps_deviate_by_nothing_and_are_not_correlated():
    down, up = np.full((1, 8), 1 / 3), np.full((1, 8), 1 / 3)
    steps = measure_levels(LEVEL, down, up, 4).steps
    assert steps.std[0].tolist() == [0.0, 0.0, 0.0]
    assert np.array_equal(steps.correlation[0], np.eye(3))


def test_small_deviations_survive_on_large_steps():
    level, down, up = some_steps(8)
    plain = measure_levels(level, down, up, 4).steps
    shifted = measure_levels(level, down + 1e9, up + 1e9, 4).steps
    assert shifted.std == pytest.approx(plain.std, rel=1e-6)


def test_two_levels_have_one_step():
    steps = measure_levels(
        np.array([0, 1]), np.array([[0.0, 3.0]]), np.array([[1.0, 0.0]]), 2
    ).steps
    assert steps.mean.tolist() == [[2.0]]
    assert steps.std == pytest.approx(np.array([[np.sqrt(2)]]))
    assert steps.correlation.tolist() == [[[1.0]]]


def test_a_step_that_rests_on_one_row_has_no_deviation():
    weights = np.array([1.0, 1e-13])  # the second hardly counts
    found = measure_levels(np.array([0, 1]), np.zeros((1, 2)), np.array([[1.0, 0.0]]), 2, weights)
    assert np.isnan(found.steps.std[0, 0])


def test_no_rows_add_nothing():
    level, down, up = some_steps(9)
    full = measure_levels(level, down, up, 4)
    empty = measure_levels(np.empty(0, dtype=np.int64), np.empty((2, 0)), np.empty((2, 0)), 4)
    for found in (empty + full, full + empty):
        assert np.array_equal(found.mean, full.mean)
        assert np.array_equal(found.products, full.products)
        assert np.array_equal(found.count, full.count)


def test_levels_without_rows_hold_zeros():
    found = measure_levels(np.array([1]), np.array([[2.0]]), np.array([[5.0]]), 3)
    assert found.count.tolist() == [0, 1, 0]
    assert found.mean[0].tolist() == [[0, 0], [2, 5], [0, 0]]
    assert not found.products.any()


def test_merging_pieces_equals_measuring_the_whole():
    level, down, up = some_steps(10)
    weights = np.random.default_rng(11).lognormal(0, 1, level.size)
    parts = np.array_split(np.random.default_rng(12).permutation(level.size), 7)
    pieces = [measure_levels(level[p], down[:, p], up[:, p], 4, weights[p]) for p in parts]
    found, whole = sum(pieces[1:], pieces[0]), measure_levels(level, down, up, 4, weights)
    for name in ("count", "weight", "weight_squares", "mean", "products"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("which", ["down", "up"])
def test_steps_that_are_not_finite_or_huge_are_refused(which):
    steps = {"down": np.zeros((1, 2)), "up": np.zeros((1, 2))}
    steps[which] = np.array([[0.0, 1e200]])
    with pytest.raises(BadEffectsError):
        measure_levels(np.array([0, 1]), steps["down"], steps["up"], 2)


def test_the_arguments_stay_as_they_were():
    level, down, up = some_steps(13)
    before = level.copy(), down.copy(), up.copy()
    measure_levels(level, down, up, 4)
    assert all(np.array_equal(a, b) for a, b in zip(before, (level, down, up), strict=True))


def test_some_neighbouring_levels_have_the_steps_between_them_and_no_others():
    level, down, up = some_steps(5)
    found = measure_levels(level, down, up, 4)
    inner = (level == 1) | (level == 2)
    alone = measure_levels(
        level[inner] - 1,
        np.where(level[inner] == 1, 0.0, down[:, inner]),
        np.where(level[inner] == 2, 0.0, up[:, inner]),
        2,
    )
    some = found.between(slice(1, 3))
    for name in ("count", "weight", "weight_squares", "mean", "products"):
        np.testing.assert_allclose(getattr(some, name), getattr(alone, name), atol=1e-12)
    np.testing.assert_allclose(some.steps.std, alone.steps.std)
    np.testing.assert_allclose(some.steps.correlation, alone.steps.correlation)


def test_taking_some_levels_leaves_the_whole_as_it_was():
    level, down, up = some_steps(6)
    found = measure_levels(level, down, up, 4)
    before = found.mean.copy(), found.products.copy()
    found.between(slice(1, 4))
    np.testing.assert_array_equal(found.mean, before[0])
    np.testing.assert_array_equal(found.products, before[1])
    one = found.between(slice(2, 3))
    assert one.count.tolist() == [found.count[2]]
    assert one.steps.mean.shape == (2, 0)


def test_nothing_is_known_of_a_step_without_rows():
    level = np.array([0, 0, 3, 3, 3])
    steps = np.array([[1.0, 3.0, 0, 0, 0]]), np.array([[0, 0, 5.0, 7.0, 9.0]])
    found = measure_levels(level, steps[1], steps[0], 4).steps
    assert found.count.tolist() == [2, 0, 3]
    np.testing.assert_array_equal(found.mean, [[2.0, 0.0, 7.0]])
    np.testing.assert_allclose(found.std, [[np.sqrt(2), np.nan, 2.0]])
    assert found.rows.tolist() == [2.0, 0.0, 3.0]
    np.testing.assert_array_equal(found.correlation, [np.eye(3)])
