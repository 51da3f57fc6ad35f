"""Order of levels: distances between them as ALEPlot measures them, one dimension of scaling."""

import itertools

import numpy as np
import pytest

from rhale.effects.levels import (
    compute_weighted_quantiles,
    level_distances,
    order_levels_by_distance,
)

ONES = np.ones(8)


def apart(place):
    place = np.asarray(place, dtype=float)
    return np.abs(place[:, None] - place)


def distance_of_numbers(level, values, a, b):
    """Kolmogorov-Smirnov distance at 100 quantiles of all values, by brute force."""
    places = np.quantile(values, np.linspace(0, 1, 100))
    below = [np.mean(values[level == k][:, None] <= places, axis=0) for k in (a, b)]
    return np.max(np.abs(below[0] - below[1]))


def distance_of_names(level, codes, a, b):
    shares = [np.bincount(codes[level == k], minlength=9) / np.sum(level == k) for k in (a, b)]
    return 0.5 * np.abs(shares[0] - shares[1]).sum()


def a_table(seed, n_rows=80, n_levels=4):
    rng = np.random.default_rng(seed)
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n_rows - n_levels)])
    return level, rng.normal(level, 1.0), rng.integers(0, 3, n_rows), rng


@pytest.mark.parametrize("place", list(itertools.permutations([0.0, 1.0, 3.0, 7.0])))
def test_levels_on_a_line_are_put_in_its_order(place):
    found = np.array(place)[order_levels_by_distance(apart(place))]
    assert found.tolist() in ([0.0, 1.0, 3.0, 7.0], [7.0, 3.0, 1.0, 0.0])


def test_the_first_level_stands_in_the_first_half():
    assert order_levels_by_distance(apart([0, 5, 1, 4])).tolist() == [0, 2, 3, 1]
    assert order_levels_by_distance(apart([5, 0, 4, 1])).tolist() == [0, 2, 3, 1]


def test_levels_that_are_all_equally_far_apart_stay_where_they_are():
    assert order_levels_by_distance(1.0 - np.eye(5)).tolist() == [0, 1, 2, 3, 4]
    assert order_levels_by_distance(np.zeros((4, 4))).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("n_levels", [1, 2])
def test_one_or_two_levels_need_no_order(n_levels):
    assert order_levels_by_distance(1.0 - np.eye(n_levels)).tolist() == list(range(n_levels))


def test_levels_at_the_same_place_keep_their_order():
    assert order_levels_by_distance(apart([0, 4, 0, 4, 0])).tolist() == [0, 2, 4, 1, 3]


def test_the_order_is_that_of_the_first_coordinate_of_classical_scaling():
    points = np.random.default_rng(0).normal(size=(6, 3)) * [5, 1, 1]
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    centred = points - points.mean(axis=0)
    coordinate = np.linalg.svd(centred)[0][:, 0]
    found = order_levels_by_distance(distance).tolist()
    assert found in (np.argsort(coordinate).tolist(), np.argsort(-coordinate).tolist())


@pytest.mark.parametrize("seed", range(4))
def test_distances_are_those_of_distribution_functions_and_frequencies(seed):
    level, values, codes, _ = a_table(seed)
    found = level_distances(level, 4, [values], [codes], np.ones(level.size))
    for a, b in itertools.product(range(4), repeat=2):
        by_hand = distance_of_numbers(level, values, a, b) + distance_of_names(level, codes, a, b)
        assert found[a, b] == pytest.approx(by_hand, abs=1e-12)


def test_distances_are_symmetric_and_zero_to_oneself():
    level, values, codes, rng = a_table(5)
    found = level_distances(level, 4, [values], [codes], rng.uniform(0.5, 2, level.size))
    assert found == pytest.approx(found.T, abs=1e-15)
    assert np.all(np.diag(found) == 0)


def test_a_row_of_weight_two_is_a_row_twice():
    level, values, codes, rng = a_table(6)
    weight = rng.integers(1, 4, level.size)
    twice = np.repeat(np.arange(level.size), weight)
    found = level_distances(level, 4, [values], [codes], weight.astype(float))
    many = level_distances(level[twice], 4, [values[twice]], [codes[twice]], np.ones(twice.size))
    assert found == pytest.approx(many, abs=1e-12)


def test_missing_values_of_other_features_are_left_out_of_them():
    level, values, _, rng = a_table(7)
    gone = rng.random(level.size) < 0.3
    gone[:4] = False
    found = level_distances(level, 4, [np.where(gone, np.nan, values)], [], np.ones(level.size))
    known = level_distances(level[~gone], 4, [values[~gone]], [], np.ones(np.sum(~gone)))
    assert np.array_equal(found, known)


def test_infinite_values_of_other_features_are_left_out_of_them():
    level, values, _, _ = a_table(8)
    found = level_distances(level, 4, [np.append(values, np.inf)[:-1]], [], np.ones(level.size))
    assert np.all(np.isfinite(found))


def test_a_feature_without_any_value_says_nothing():
    level, values, codes, _ = a_table(9)
    nothing = np.full(level.size, np.nan)
    with_it = level_distances(level, 4, [values, nothing], [codes], np.ones(level.size))
    assert np.array_equal(
        with_it, level_distances(level, 4, [values], [codes], np.ones(level.size))
    )


def test_a_level_whose_rows_all_miss_a_feature_has_a_distance_all_the_same():
    level = np.array([0, 0, 1, 1, 2, 2])
    column = np.array([1.0, 2.0, 3.0, 4.0, np.nan, np.nan])
    found = level_distances(level, 3, [column], [], np.ones(6))
    assert np.all(np.isfinite(found))
    assert found[0, 1] == 1.0


def test_no_other_features_no_distances():
    assert not level_distances(np.array([0, 1, 2]), 3, [], [], np.ones(3)).any()


@pytest.mark.parametrize("n_rows", [1, 2, 37, 100, 1000])
def test_quantiles_are_those_of_r_s_seventh_type(n_rows):
    values = np.sort(np.random.default_rng(n_rows).normal(size=n_rows))
    found = compute_weighted_quantiles(values, np.ones(n_rows))
    assert found == pytest.approx(np.quantile(values, np.linspace(0, 1, 100)), abs=1e-12)


def test_quantiles_of_whole_weights_are_those_of_repeated_values():
    rng = np.random.default_rng(3)
    values, weight = np.sort(rng.normal(size=50)), rng.integers(1, 5, 50)
    many = np.repeat(values, weight)
    found = compute_weighted_quantiles(values, weight.astype(float))
    assert found == pytest.approx(compute_weighted_quantiles(many, np.ones(many.size)), abs=1e-12)


def test_quantiles_of_one_value_that_hardly_counts_are_that_value():
    assert np.all(compute_weighted_quantiles(np.array([3.0]), np.array([0.25])) == 3.0)
