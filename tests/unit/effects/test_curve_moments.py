import numpy as np
import pytest

from rhale.effects.curve_sums import deviate_curves, measure_curves, split_shapes

RNG = np.random.default_rng(0)


def test_without_weights_it_is_the_usual_covariance():
    curves = RNG.normal(0, 1, (2, 30, 4)) + 1e3
    found = measure_curves(curves)
    np.testing.assert_allclose(found.mean, curves.mean(axis=1))
    for output in range(2):
        np.testing.assert_allclose(found.covariance[output], np.cov(curves[output].T), rtol=1e-9)
    assert found.rows == 30.0


def test_weights_enter_by_the_effective_number_of_rows():
    curves, w = RNG.normal(0, 1, (1, 20, 3)), RNG.uniform(0.5, 2, 20)
    found = measure_curves(curves, w)
    n = w.sum() ** 2 / (w**2).sum()
    by_share = np.cov(curves[0].T, aweights=w, ddof=0)
    np.testing.assert_allclose(found.rows, n)
    np.testing.assert_allclose(found.mean[0], np.average(curves[0], axis=0, weights=w))
    np.testing.assert_allclose(found.covariance[0], by_share * n / (n - 1))


def test_scaling_the_weights_changes_nothing():
    curves, w = RNG.normal(0, 1, (1, 20, 3)), RNG.uniform(0.5, 2, 20)
    one, other = measure_curves(curves, w), measure_curves(curves, 100 * w)
    np.testing.assert_allclose(one.covariance, other.covariance)
    np.testing.assert_allclose(one.rows, other.rows)


def test_equal_curves_deviate_by_exactly_nothing():
    curves = np.broadcast_to(RNG.normal(0, 1, (2, 1, 5)), (2, 60, 5))
    pieces = [measure_curves(curves[:, rows], w) for rows, w in
              ((slice(0, 13), None), (slice(13, 60), RNG.uniform(0, 1, 47)))]  # fmt: skip
    both = pieces[0] + pieces[1]
    assert not both.products.any()
    np.testing.assert_array_equal(both.mean, curves[:, 0])


def test_a_single_row_has_a_mean_and_no_covariance():
    found = measure_curves(np.array([[[1.0, 2.0]]]))
    assert found.mean.tolist() == [[1.0, 2.0]]
    assert np.isnan(found.covariance).all()


def test_two_pieces_add_up_by_hand():
    """Values 1 and 3 (weight 1), then 8 (weight 2): mean 5, squares 16 + 4 + 2 * 9."""
    left = measure_curves(np.array([[[1.0], [3.0]]]))
    right = measure_curves(np.array([[[8.0]]]), np.array([2.0]))
    both = left + right
    np.testing.assert_allclose(both.mean, [[5.0]])
    np.testing.assert_allclose(both.products, [[[38.0]]])
    assert (both.weight, both.weight_squares) == (4.0, 6.0)


@pytest.mark.parametrize("level", [1e6, -1e9])
def test_a_high_level_does_not_drown_the_scatter(level):
    curves = level + RNG.normal(0, 1, (1, 50, 2))
    found = (measure_curves(curves[:, :20]) + measure_curves(curves[:, 20:])).covariance[0]
    np.testing.assert_allclose(found, np.cov(curves[0].T - level), rtol=1e-5, atol=1e-6)


def test_no_rows_have_no_mean_and_no_scatter():
    found = measure_curves(np.empty((2, 0, 3)))
    assert [found.weight, found.mean.tolist()] == [0.0, [[0.0] * 3] * 2]
    assert not found.products.any()


def test_curves_are_a_mean_and_deviations_from_it():
    curves, w = RNG.normal(size=(2, 9, 49)), RNG.uniform(0, 2, 49)
    mean, deviations = deviate_curves(curves, w)
    np.testing.assert_allclose(mean, np.average(curves, axis=2, weights=w), atol=1e-14)
    np.testing.assert_allclose(mean[..., None] + deviations, curves, atol=1e-14)


def test_curves_are_split_into_shapes_and_levels():
    traced = RNG.normal(size=(7, 30, 2))
    level = traced.mean(axis=0)
    expected = np.concatenate([traced - level, level[None]]).transpose(2, 0, 1)
    np.testing.assert_allclose(split_shapes(traced), expected, atol=1e-14)


def test_flat_curves_have_exactly_no_shape():
    traced = np.full((51, 2, 1), 0.1) * np.array([1.0, 1e9])[:, None]
    assert not split_shapes(traced)[:, :-1].any()


def test_a_small_shape_on_a_huge_level_stays_exact():
    """Whole numbers: nothing is rounded on the way."""
    shape = np.array([-3.0, -1.0, 4.0])
    traced = (2.0**40 + shape)[:, None, None]
    assert split_shapes(traced)[0, :, 0].tolist() == [-3.0, -1.0, 4.0, 2.0**40]
