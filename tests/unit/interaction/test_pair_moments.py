from itertools import product

import numpy as np
import pytest
from tests.pair_rows_by_hand import KINDS, random_rows, twisted

from rhale.errors import BadEffectsError
from rhale.interaction.moments import POWERS, measure_pair
from rhale.stats.arrays import same_fields

each_kind = pytest.mark.parametrize("kinds", KINDS)


def fields_of(moments):
    return [value for value in vars(moments).values() if isinstance(value, np.ndarray)]


@each_kind
def test_sums_are_those_of_the_rows_of_every_stand(kinds):
    rows = random_rows(kinds, weighted=True)
    found, differences = rows.measure(twisted), rows.differences(twisted)[0]
    (a, u), (b, v) = rows.positions
    for stand in product(*(range(axis.n_cells) for axis in rows.axes)):
        here = (a == stand[0]) & (b == stand[1])
        w = rows.w[here]
        assert found.count[stand] == here.sum()
        assert found.weight[stand] == w.sum()
        assert found.weight_squares[stand] == (w**2).sum()
        expected = [(w * u[here] ** p * v[here] ** q).sum() for p, q in POWERS]
        np.testing.assert_allclose(found.places[(slice(None), *stand)], expected, atol=1e-12)
        if here.any():
            mean = np.average(differences[here], axis=0, weights=w)
            gap = differences[here] - mean
            np.testing.assert_allclose(found.mean[(0, *stand)], mean, atol=1e-12)
            np.testing.assert_allclose(found.products[(0, *stand)], gap.T * w @ gap, atol=1e-11)
        else:
            assert not found.mean[(0, *stand)].any()


def test_rows_that_stand_nowhere_or_weigh_nothing_are_left_out():
    rows = random_rows(("numbers", "levels"), weighted=True)
    x, y, w = rows.x.copy(), rows.y.copy(), rows.w.copy()
    x[0], y[1], w[2], x[3] = np.nan, 7.0, 0.0, 1e9
    positions = rows.axes[0].locate(x), rows.axes[1].locate(y)
    differences = rows.differences(twisted)
    differences[:, :4] = np.nan  # nobody looks at them
    found = measure_pair(rows.axes, positions, differences, w)
    kept = rows.take(np.arange(4, rows.x.size))
    assert same_fields(found, kept.measure(twisted))


def test_equal_differences_deviate_by_exactly_nothing():
    rows = random_rows(("numbers", "numbers"), weighted=True)
    found = measure_pair(rows.axes, rows.positions, np.full((1, rows.x.size, 1), 0.1), rows.weights)
    assert not found.products.any()
    assert set(np.unique(found.mean)) == {0.0, 0.1}


def test_several_outputs_are_measured_at_once():
    rows = random_rows(("levels", "numbers"))
    one = rows.differences(twisted)
    both = measure_pair(rows.axes, rows.positions, np.concatenate([one, -2 * one]))
    assert same_fields(both.of_output(0), rows.measure(twisted))
    np.testing.assert_allclose(both.of_output(1).mean, -2 * both.of_output(0).mean)
    np.testing.assert_allclose(both.of_output(1).products, 4 * both.of_output(0).products)


def test_no_rows_are_the_identity_of_adding():
    rows = random_rows(("levels", "levels"), weighted=True)
    whole, nothing = rows.measure(twisted), rows.take(np.empty(0, dtype=int)).measure(twisted)
    assert not any(part.any() for part in fields_of(nothing))
    assert same_fields(whole + nothing, whole)
    assert same_fields(nothing + whole, whole)


@each_kind
def test_sides_exchanged_are_the_sums_of_features_exchanged(kinds):
    rows = random_rows(kinds, weighted=True)
    other = type(rows)(rows.y, rows.x, rows.z, rows.axes[::-1], rows.weights)
    expected = other.measure(lambda y, x, z: twisted(x, y, z))
    found = rows.measure(twisted).transposed()
    for one, two in zip(fields_of(found), fields_of(expected), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-11)
    assert same_fields(found.transposed(), rows.measure(twisted))


def test_differences_that_cannot_be_squared_are_refused():
    rows = random_rows(("numbers", "numbers"))
    with pytest.raises(BadEffectsError):
        measure_pair(rows.axes, rows.positions, np.full((1, rows.x.size, 1), 1e200))


@pytest.mark.parametrize("kinds", KINDS)
def test_scaled_sums_are_those_of_scaled_differences(kinds):
    rows = random_rows(kinds)
    sums = rows.measure(twisted)
    for found, exponent in ((sums.scaled(100), 100), (sums.scaled(-100), -100)):
        other = rows.measure(lambda x, y, z, e=exponent: np.ldexp(twisted(x, y, z), e))
        assert same_fields(found, other)
    largest = 2.0**sums.exponent
    assert np.abs(sums.mean).max() < largest
    assert np.einsum("...ii->...i", sums.products).max() < largest**2
    assert sums.scaled(-sums.exponent).exponent == 0
