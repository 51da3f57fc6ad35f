"""Curves of rows, and where the rows stand: covariances by hand."""

import numpy as np
import pytest

from rhale.effects.curve_sums import CurvePlaces, measure_curves, place_curves, sort_by_point
from rhale.stats.interpolation import locate_between_points, share_out

RNG = np.random.default_rng(0)
POINTS = np.array([-1.0, 0.0, 0.5, 4.0])
X = np.append(RNG.normal(0, 1.5, 58), [-9.0, 9.0])  # beyond the points, too
W = RNG.uniform(0, 2, X.size)
VALUES = np.array([0.5, -1.0, 2.0, 1.0])
CURVES = RNG.normal(0, 1, (2, X.size, 3)) + X[:, None]


def places(x, weights, curves=CURVES):
    mean = measure_curves(curves, weights).mean
    stands = sort_by_point(locate_between_points(x, POINTS), POINTS.size, weights)
    return mean, place_all((curves - mean[:, None])[:, stands.row], stands)


def place_all(deviations, stands):
    """Sums at all points, from those beside which rows stand."""
    points, sums = place_curves(deviations.transpose(0, 2, 1), stands)
    placed = np.zeros((*sums.shape[:2], stands.n_points + 1))
    placed[..., points] = sums
    assert not placed[..., -1].any()
    return CurvePlaces(stands.share, placed[..., :-1].transpose(0, 2, 1))


def by_hand(x, weights, curves=CURVES):
    """Weighted covariance of values with the curve where rows stand; rows at nan do not count."""
    known = ~np.isnan(x)
    w, at = weights[known], np.interp(x[known], POINTS, VALUES)
    at -= np.average(at, weights=w)
    n = w.sum() ** 2 / (w**2).sum()
    gaps = curves[:, known] - np.average(curves[:, known], axis=1, weights=w)[:, None]
    return np.einsum("r,r,orv->ov", w, at, gaps) / w.sum() * n / (n - 1), n


def centred(x, weights):
    known = ~np.isnan(x)
    return VALUES - np.average(np.interp(x[known], POINTS, VALUES), weights=weights[known])


@pytest.mark.parametrize("missing", [0, 7])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_covariances_are_those_with_the_curve_where_rows_stand(is_weighted, missing):
    x, w = X.copy(), W if is_weighted else np.ones(X.size)
    x[:missing] = np.nan
    expected, n = by_hand(x, w)
    _, found = places(x, W if is_weighted else None)
    np.testing.assert_allclose(found.covary(centred(x, w), n), expected, rtol=1e-10)


def test_pieces_add_up_to_the_whole_once_they_deviate_from_one_mean():
    expected, n = by_hand(X, W)
    mean, whole = places(X, W)
    pieces = []
    for rows in (slice(0, 7), slice(7, 40), slice(40, 60)):
        own, piece = places(X[rows], W[rows], CURVES[:, rows])
        pieces.append(piece.deviating_from(own - mean))
    found = pieces[0] + pieces[1] + pieces[2]
    np.testing.assert_allclose(found.covary(centred(X, W), n), expected, rtol=1e-10)
    np.testing.assert_allclose(found.products, whole.products, atol=1e-12)
    np.testing.assert_allclose(
        found.share, share_out(locate_between_points(X, POINTS), W, 4), rtol=1e-12
    )


def test_one_row_has_no_covariance():
    _, found = places(X[:1], None, CURVES[:, :1])
    assert np.isnan(found.covary(VALUES, 1.0)).all()
    assert found.covary(VALUES, 1.0).shape == (2, 3)


def test_rows_at_a_single_point_all_stand_there():
    found = place_all(np.ones((1, 5, 2)), sort_by_point(np.zeros(5), 1))
    assert found.share.tolist() == [5]
    assert found.products.tolist() == [[[5, 5]]]


def test_rows_without_a_value_stand_nowhere():
    found = place_all(np.ones((1, 3, 2)), sort_by_point(np.full(3, np.nan), 4))
    assert not found.share.any()
    assert not found.products.any()


def test_no_rows_add_up_to_nothing():
    found = place_all(np.ones((2, 0, 3)), sort_by_point(np.empty(0), 4))
    assert [found.share.tolist(), found.products.shape] == [[0] * 4, (2, 4, 3)]
    assert not found.products.any()


@pytest.mark.parametrize("size", [1, 7, 60, 99])
def test_blocks_hold_every_row_once_with_its_weight_and_share_it_out(size):
    stands = sort_by_point(locate_between_points(X, POINTS), POINTS.size, W)
    blocks = list(stands.in_blocks(size))
    row = np.concatenate([block.row for block in blocks])
    assert max(block.row.size for block in blocks) == min(size, X.size)
    assert sorted(row.tolist()) == list(range(X.size))
    assert (np.diff(np.concatenate([block.first for block in blocks])) >= 0).all()
    shares = np.concatenate([block.shares for block in blocks])
    np.testing.assert_allclose(shares.sum(axis=1), W[row], rtol=1e-14)
    beside = np.stack([POINTS[stands.first], POINTS[stands.first + 1]], axis=1)
    stood = np.clip(X[row], POINTS[0], POINTS[-1])  # a share times its point: where the row stands
    np.testing.assert_allclose((shares * beside).sum(axis=1), W[row] * stood, atol=1e-12)
