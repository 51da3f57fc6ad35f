"""Sums of curves by blocks of rows, against brute force over all rows."""

import numpy as np
import pytest

from rhale.effects.curve_sums import sort_by_point, sum_curves
from rhale.errors import BadEffectsError
from rhale.stats.interpolation import locate_between_points

RNG = np.random.default_rng(0)
POINTS = np.array([-1.0, 0.0, 0.5, 4.0])
N = 60
X = np.append(RNG.normal(0, 1.5, N - 2), [-9.0, 9.0])  # beyond the points, too
X[::7] = np.nan
W = RNG.uniform(0, 2, N)
TRACED = RNG.normal(size=(POINTS.size, N, 2)) + X[None, ::-1, None] ** 2
TRACED[np.isnan(TRACED)] = 0.3


def add_up(traced, weights=None, size=7, x=X):
    stands = sort_by_point(locate_between_points(x, POINTS), len(traced), weights)
    return sum_curves(lambda some: traced[:, some.row], stands, size, weights)


def split(traced):
    level = traced.mean(axis=0)
    return np.concatenate([traced - level, level[None]]).transpose(2, 0, 1)


def brute_force(traced, w):
    """Means, products of deviations, and sums of deviations by where rows stand."""
    values = split(traced)
    mean = np.average(values, axis=2, weights=w)
    gaps = values - mean[..., None]
    beside = np.array([np.interp(X, POINTS, one) for one in np.eye(POINTS.size)])
    shares = np.nan_to_num(beside) * w
    return mean, np.einsum("r,ovr,our->ovu", w, gaps, gaps), np.einsum("pr,ovr->opv", shares, gaps)


@pytest.mark.parametrize("size", [1, 7, 60, 99])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_blocks_add_up_to_the_whole(is_weighted, size):
    w = W if is_weighted else np.ones(N)
    mean, products, placed = brute_force(TRACED, w)
    found = add_up(TRACED, W if is_weighted else None, size)
    np.testing.assert_allclose(found.curves.mean, mean, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.curves.products, products, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.places.products, placed, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.places.share.sum(), w[~np.isnan(X)].sum(), rtol=1e-14)
    assert found.curves.weight == pytest.approx(w.sum(), rel=1e-14)
    assert found.curves.weight_squares == pytest.approx((w**2).sum(), rel=1e-14)


@pytest.mark.parametrize("weights", [None, W])
def test_equal_curves_deviate_by_exactly_nothing_in_all_blocks(weights):
    traced = np.repeat(RNG.normal(size=(4, 1, 2)), N, axis=1)
    found = add_up(traced, weights)
    assert not found.curves.products.any()
    assert not found.places.products.any()
    np.testing.assert_allclose(found.curves.mean, split(traced)[..., 0], rtol=1e-14)


def test_flat_curves_have_exactly_no_shape_in_all_blocks():
    found = add_up(np.repeat(RNG.normal(size=(1, N, 1)), 4, axis=0))
    assert not found.curves.mean[:, :-1].any()
    assert not found.curves.products[:, :-1].any()


def test_a_first_block_far_from_all_others_costs_two_digits_at_most():
    """Whole numbers, so that brute force rounds nothing: 10 blocks, of which the first is far out."""
    place = np.sort(RNG.uniform(0, 3, 1000))
    traced = RNG.integers(-50, 50, (4, 1000, 1)).astype(float) * 4
    traced[1:, :100] += 4.0 * 10**6  # the first of ten
    stands = sort_by_point(place, 4)
    found = sum_curves(lambda some: traced[:, some.row], stands, 100).curves.products[0]
    values = split(traced)[0].astype(np.longdouble)
    gaps = values - values.mean(axis=1)[:, None]
    np.testing.assert_allclose(found, (gaps @ gaps.T).astype(float), rtol=1e-13)


def test_rows_without_weight_count_for_nothing():
    traced, w = TRACED.copy(), W.copy()
    w[20:], traced[:, 20:] = 0.0, 1e6
    found, alone = add_up(traced, w, 99), add_up(TRACED[:, :20], W[:20], 99, X[:20])
    np.testing.assert_allclose(found.curves.products, alone.curves.products, rtol=1e-9)
    np.testing.assert_allclose(found.curves.mean, alone.curves.mean, rtol=1e-12)


def test_rows_that_all_have_no_weight_add_up_to_nothing():
    found = add_up(TRACED, np.zeros(N))
    assert [found.curves.weight, found.curves.rows] == [0.0, 0.0]
    assert not found.curves.products.any()


@pytest.mark.parametrize("scale", [1e160, 1e-160])
def test_curves_whose_squares_are_no_numbers_are_refused_in_every_block(scale):
    traced = np.zeros((4, N, 1))
    traced[1, -1] = scale
    with pytest.raises(BadEffectsError, match="squares do not fit"):
        add_up(traced, size=7)
