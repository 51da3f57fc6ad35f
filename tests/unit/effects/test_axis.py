import numpy as np
import pytest

from rhale.effects.binning.axis import MOST_EMPTY, FeatureAxis, nearest

CLOUDS = np.concatenate([np.linspace(0, 1, 300), np.linspace(9, 10, 300)])


def axis(x, weights=None, low=None, high=None):
    """What a first pass learns of these values."""
    x = np.asarray(x, dtype=float)
    w = np.ones(x.size) if weights is None else np.asarray(weights, dtype=float)
    values, place = np.unique(x, return_inverse=True)
    held = np.bincount(place, w, values.size)
    low, high = values[0] if low is None else low, values[-1] if high is None else high
    return FeatureAxis(float(low), float(high), values, held, w.sum() ** 2 / (w**2).sum())


def test_quantiles_are_the_smallest_values_with_enough_weight_below():
    values = axis(np.arange(1, 11))
    assert values.quantiles(np.array([0.0, 0.1, 0.11, 0.5, 0.99, 1.0])).tolist() == [
        1,
        1,
        2,
        5,
        10,
        10,
    ]


@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_agree_with_their_definition(weighted):
    rng = np.random.default_rng(1)
    x, w = rng.integers(0, 30, 200).astype(float), rng.integers(1, 6, 200).astype(float)
    found = axis(x, w if weighted else None)
    weight = w if weighted else np.ones(200)
    for share in np.linspace(0, 1, 41)[1:]:
        (value,) = found.quantiles(np.array([share]))
        enough = [v for v in np.unique(x) if weight[x <= v].sum() >= share * weight.sum() - 1e-9]
        assert value == enough[0]


def test_quantiles_agree_with_numpy_without_weights():
    x, shares = np.random.default_rng(2).normal(size=997), np.linspace(0.001, 0.999, 57)
    expected = np.quantile(x, shares, method="inverted_cdf")
    np.testing.assert_array_equal(axis(x).quantiles(shares), expected)


def test_a_share_missed_by_rounding_is_met():
    """Three times 0.1 is a little more than 0.3."""
    values = axis([1.0, 2.0, 3.0, 4.0], weights=[0.1, 0.1, 0.1, 0.7])
    assert values.quantiles(np.array([0.1 * 3])).tolist() == [3.0]
    ten = axis(np.arange(10.0), weights=np.full(10, 0.1))
    np.testing.assert_array_equal(ten.quantiles(np.arange(1, 10) / 10), np.arange(9.0))


def test_the_way_to_a_lone_far_value_and_the_way_between_clusters_are_empty():
    assert axis(CLOUDS).empty.tolist() == [[1.0, 9.0]]
    assert axis(np.append(CLOUDS, -1e6)).empty.tolist() == [[-1e6, 0.0], [1.0, 9.0]]
    assert axis(np.linspace(0, 1, 300)).empty.size == 0
    twelve = np.append(np.random.default_rng(3).normal(size=11), 1e3)
    assert axis(twelve).empty.tolist() == [[twelve[:-1].max(), 1e3]]
    assert FeatureAxis(0.0, 0.0, np.empty(0), np.empty(0), 0.0).empty.size == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_stretch_is_empty_if_thirty_values_beside_it_reach_less_far(seed):
    x = np.sort(np.random.default_rng(seed).standard_cauchy(400) ** 3)
    expected = []
    for k in range(x.size - 1):
        sides = x[max(k - 29, 0) : k + 1], x[k + 1 : k + 31]  # fewer than ten tell nothing
        reach = min(np.ptp(side) if side.size >= 10 else np.inf for side in sides)
        times = 1 if min(side.size for side in sides) >= 10 else 2
        expected += [[x[k], x[k + 1]]] if x[k + 1] - x[k] > times * reach else []
    assert expected
    assert axis(x).empty.tolist() == expected


def test_tails_that_are_usual_end_in_none_but_rarely():
    """Products of k / (k + 2): 0.6 % of exponential tails."""
    rng = np.random.default_rng(7)
    n_empty = sum(len(axis(rng.exponential(size=200)).empty) > 0 for _ in range(500))
    assert n_empty <= 15
    assert sum(len(axis(rng.normal(size=200)).empty) > 0 for _ in range(500)) <= 8


def test_of_few_values_those_count_that_many_rows_have():
    """A sentinel behind nine scores of a survey; among eleven rows the same is chance."""
    scores = np.append(np.arange(1, 5.5, 0.5), 99.0)
    assert axis(np.repeat(scores, 20)).empty.tolist() == [[5.0, 99.0]]
    assert axis(scores).empty.size == 0
    assert axis(np.repeat([0.0, 1.0, 50.0], 20)).empty.size == 0  # two values are no scale
    assert axis(np.repeat(np.arange(12.0), 20)).empty.size == 0


def test_the_widest_are_kept_where_values_crowd_at_many_places():
    crowds = np.cumsum(np.arange(60.0))
    x = (crowds[:, None] + np.linspace(0, 1e-6, 40)).ravel()
    found = axis(x).empty
    assert len(found) == MOST_EMPTY
    np.testing.assert_allclose(found, np.column_stack([crowds[-25:-1], crowds[-24:]]), atol=2e-6)


def test_the_outermost_rows_need_not_be_in_the_sample():
    values = np.linspace(0, 1, 300)
    beyond = FeatureAxis(0.0, 1e6, values, np.ones(300), 1e5, ends=(0.0, 1e6))
    assert beyond.empty.tolist() == [[1.0, 1e6]]
    assert FeatureAxis(0.0, 1e6, values, np.ones(300), 1e5).empty.size == 0  # a limit is no row


def test_nearest_picks_the_nearest_value():
    ladder = np.array([0.0, 1.0, 5.0])
    assert nearest(ladder, np.array([-9.0, 0.4, 0.6, 2.9, 3.1, 99.0])).tolist() == [
        0,
        0,
        1,
        1,
        5,
        5,
    ]


def test_weight_beside_a_value_leaves_out_its_own_rows():
    found = FeatureAxis(0.0, 4.0, np.array([0.0, 1.0, 4.0]), np.array([2.0, 3.0, 5.0]), 10.0)
    below, above = found.weight_below_and_above(np.array([-1.0, 0.0, 1.0, 2.0, 4.0]))
    assert below.tolist() == [0.0, 0.0, 2.0, 5.0, 5.0]
    assert above.tolist() == [10.0, 8.0, 5.0, 5.0, 0.0]
    assert [part.tolist() for part in found.beside_knots] == [[0.0, 2.0, 5.0], [8.0, 5.0, 0.0]]
    assert found.total == 10.0
