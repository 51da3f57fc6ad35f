"""Local lines: exact for lines, the same for rows of one place, near whatever is far."""

import numpy as np

from rhale.regions.residuals import detrend, mean_leverage


def by_hand(x, d, w, half):
    """Lines through windows of distinct places, one by one, as NumPy fits them."""
    order = np.argsort(x)
    x, d, w = x[order], d[order], w[order]
    left = np.empty(x.size)
    for i in range(x.size):
        low = min(max(i - half, 0), max(x.size - 2 * half - 1, 0))
        near = slice(low, low + 2 * half + 1)
        line = np.polynomial.Polynomial.fit(x[near], d[near], 1, w=np.sqrt(w[near]))
        left[i] = d[i] - line(x[i])
    out = np.empty(x.size)
    out[order] = left
    return out


def test_lines_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    x, d, w = rng.normal(size=300), rng.normal(size=300), rng.uniform(0.5, 2, 300)
    # a tenth of 300 rows, which is between 21 and 75
    np.testing.assert_allclose(detrend(x, d[None], w)[0], by_hand(x, d, w, 15), atol=1e-9)


def test_many_rows_have_windows_of_a_fortieth():
    rng = np.random.default_rng(1)
    x, d = rng.normal(size=4_000), rng.normal(size=4_000)
    expected = by_hand(x, d, np.ones(4_000), 50)
    np.testing.assert_allclose(detrend(x, d[None], np.ones(4_000))[0], expected, atol=1e-8)


def test_rows_of_one_place_share_their_line_whatever_the_order():
    rng = np.random.default_rng(2)
    x, d, w = rng.integers(0, 30, 500).astype(float), rng.normal(size=500), rng.random(500) + 0.1
    left = detrend(x, d[None], w)[0]
    line = d - left
    assert all(np.ptp(line[x == place]) < 1e-12 for place in np.unique(x))
    order = rng.permutation(500)
    np.testing.assert_allclose(detrend(x[order], d[None, order], w[order])[0], left[order])


def test_an_order_that_is_known_changes_no_bit():
    rng = np.random.default_rng(6)
    for x in (rng.normal(size=700), rng.integers(0, 50, 700).astype(float)):
        values, w = rng.normal(size=(2, 700)), rng.random(700) + 0.1
        plain = detrend(x, values, w)
        np.testing.assert_array_equal(detrend(x, values, w, np.argsort(x)), plain)
        np.testing.assert_array_equal(detrend(x, values[:1], w), plain[:1])


def test_few_values_leave_their_means():
    rng = np.random.default_rng(3)
    x, d = rng.integers(0, 3, 900).astype(float), rng.normal(size=900)
    left = detrend(x, d[None], np.ones(900))[0]
    means = np.array([d[x == place].mean() for place in range(3)])
    np.testing.assert_allclose(left, d - means[x.astype(int)], atol=1e-12)


def test_far_values_do_not_blur_near_ones():
    rng = np.random.default_rng(4)
    near = rng.uniform(0, 1, 2_000)
    far = -np.geomspace(1e2, 1e7, 500)
    x = np.concatenate([far, near])
    d = np.concatenate([np.zeros(500), 5 * near])
    left = detrend(x, d[None], np.ones(x.size))[0]
    inside = x > np.sort(near)[100]
    assert np.abs(left[inside]).max() < 1e-6


def test_each_series_has_its_own_lines_and_one_row_leaves_nothing():
    x = np.linspace(0, 1, 60)
    left = detrend(x, np.stack([x, 1 - 4 * x]), np.ones(60))
    assert np.abs(left).max() < 1e-12
    assert detrend(np.array([2.0]), np.array([[7.0]]), np.ones(1)).tolist() == [[0.0]]
    assert detrend(np.empty(0), np.empty((1, 0)), np.empty(0)).shape == (1, 0)


def leverage_by_hand(x, w):
    """Move each value by one, and see how far its line follows."""
    n = x.size
    follows = [1 - detrend(x, np.eye(n)[[i]], w)[0, i] for i in range(n)]
    return np.average(follows, weights=w)


def test_leverage_is_how_far_lines_follow_their_rows():
    rng = np.random.default_rng(0)
    smooth, ones = rng.normal(size=300), np.ones(300)
    expected = leverage_by_hand(smooth, ones)
    assert abs(mean_leverage(smooth, ones) - expected) < 0.1 * expected
    few = rng.integers(0, 3, 300).astype(float)
    assert abs(mean_leverage(few, ones) - leverage_by_hand(few, ones)) < 1e-9
    uneven = np.where(rng.random(300) < 0.5, 1.0, 3.0)
    expected = leverage_by_hand(smooth, uneven)
    assert abs(mean_leverage(smooth, uneven) - expected) < 0.15 * expected
    assert mean_leverage(np.empty(0), np.empty(0)) == 0
