import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.pair_rows_by_hand import (
    KINDS,
    PairRows,
    cells_of,
    levels_of,
    pure_surface,
    random_rows,
    read_rows,
    twisted,
)

from rhale.interaction.moments import PairAxis
from rhale.interaction.strength import PairFit, find_squares

each_kind = pytest.mark.parametrize("kinds", KINDS)
each_way = pytest.mark.parametrize("smooth", [False, True])


def holey(kinds, seed=0):
    rows = random_rows(kinds, n=70, seed=seed)
    (a, _), (b, _) = rows.positions
    return rows.take(np.flatnonzero((a > 1) | (b > 0)))


def levers(rows, fit):
    """What each measured difference does to the surface, found by moving it: (n_known, nodes)."""
    weight = fit.stack.steps.weight[0]
    known = np.flatnonzero(weight.ravel() > 0)
    units = np.eye(weight.size)[known].reshape(-1, *weight.shape)
    return known, np.stack([pure_surface(rows, fit.filling.fill(unit)) for unit in units])


@each_kind
@each_way
def test_errors_follow_from_what_every_measured_difference_does(kinds, smooth):
    rows = holey(kinds)
    fit = rows.fit(twisted, smooth=smooth)
    known, moved = levers(rows, fit)
    covariance = fit.stack.covariances.as_matrix(fit.stack.steps.weight.size)
    covariance = covariance[np.ix_(known, known)]
    flat = moved.reshape(len(known), -1)
    variance = np.einsum("in,ij,jn->n", flat, covariance, flat)
    np.testing.assert_allclose(fit.standard_error.ravel(), np.sqrt(variance), atol=1e-10)
    at_rows = np.stack([read_rows(rows, surface) for surface in moved])
    products = at_rows @ at_rows.T / rows.x.size
    mean = fit.stack.steps.mean[0].ravel()[known]
    noise = products @ covariance
    assert fit.square.raw == pytest.approx(mean @ products @ mean, rel=1e-9)
    assert fit.square.noise == pytest.approx(np.trace(noise), rel=1e-9)
    linear, chance = mean @ noise @ products @ mean, np.trace(noise @ noise)
    expected = 4 * max(linear - chance, 0.0) + 2 * chance + fit.draw_variance
    assert fit.square_error == pytest.approx(np.sqrt(expected), rel=1e-9)
    np.testing.assert_allclose(fit.surface, np.tensordot(mean, moved, 1), atol=1e-10)


def test_p_is_the_tail_of_a_chi_square_of_the_same_mean_and_variance():
    stats = pytest.importorskip("scipy.stats")
    rows = random_rows(("levels", "numbers"), n=90)
    fit = rows.fit(lambda x, y, z: x * y * (z + 0.2))
    known, moved = levers(rows, fit)
    at_rows = np.stack([read_rows(rows, surface) for surface in moved])
    covariance = fit.stack.covariances.as_matrix(fit.stack.steps.weight.size)
    noise = at_rows @ at_rows.T / 90 @ covariance[np.ix_(known, known)]
    scale = np.trace(noise @ noise) / np.trace(noise)
    expected = stats.chi2.sf(fit.square.raw / scale, np.trace(noise) / scale)
    assert 1e-6 < expected < 1
    assert fit.p_value == pytest.approx(expected, rel=1e-8)


def test_the_draw_of_rows_is_the_variance_of_squared_heights():
    rng = np.random.default_rng(4)
    x, y = rng.uniform(size=(2, 4000))
    rows = PairRows(x, y, x, (cells_of(x, 4), cells_of(y, 4)))
    fit = rows.fit(lambda x, y, z: x * y + 0 * z)
    at_rows = (x - 0.5) * (y - 0.5)
    assert fit.draw_variance == pytest.approx(np.var(at_rows**2) / 4000, rel=0.03)


def test_levels_have_exact_draws_since_nothing_is_between_them():
    rows = random_rows(("levels", "levels"), n=80)
    fit = rows.fit(twisted)
    at_rows = read_rows(rows, fit.surface)
    assert fit.draw_variance == pytest.approx(np.var(at_rows**2) / 80, rel=1e-9)


def test_intervals_lie_around_the_square_without_noise_and_end_at_zero():
    fit = random_rows(("numbers", "numbers"), n=200).fit(twisted)
    low, high = fit.square_interval()
    middle = fit.square.raw - fit.square.noise
    assert high - middle == pytest.approx(1.959963984540054 * fit.square_error)
    assert low == pytest.approx(max(middle - 1.959963984540054 * fit.square_error, 0.0))
    wider = fit.square_interval(0.999999)
    assert wider[0] == 0.0
    assert wider[1] > high


@each_kind
@each_way
def test_pairs_that_do_not_interact_have_nothing_at_all(kinds, smooth):
    rows = random_rows(kinds)
    zero = np.zeros_like(rows.differences(twisted))
    moments = replace(rows.measure(twisted), mean=rows.measure(twisted).mean * 0)
    moments = replace(moments, products=moments.products * 0)
    assert not zero.any()
    fit = PairFit(rows.axes, moments, smooth=smooth)
    assert clean(fit) == (0.0, 0.0, 0.0, 1.0)
    assert not fit.surface.any()
    assert not fit.standard_error.any()
    assert fit.square_interval() == (0.0, 0.0)


def clean(fit):
    """Raw, noise, error and p, without any warning, all of them numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = (*fit.square, fit.square_error, fit.p_value)
        assert np.isfinite([*found, *fit.square_interval(), *find_squares([fit])[0]]).all()
        assert np.isfinite(fit.surface).all()
        assert np.isfinite(fit.standard_error).all()
    return found


NUMBERS = (PairAxis(np.array([0.0, 1.0, 2.0, 5.0])), PairAxis(np.array([0.0, 1.0, 2.0, 5.0])))
ODD = {
    "no row": (NUMBERS, [], []),
    "one row": (NUMBERS, [0.3], [1.7]),
    "all rows in one cell": (NUMBERS, [0.3, 0.4, 0.9], [1.7, 1.2, 1.1]),
    "one cell": ((PairAxis(np.array([0.0, 1.0])),) * 2, [0.3, 0.4, 0.9], [0.7, 0.2, 0.1]),
    "one row of levels": ((levels_of(3), levels_of(2)), [1.0], [0.0]),
    "rows of one level": ((levels_of(3), NUMBERS[0]), [1.0, 1.0], [0.5, 3.0]),
    "one step of levels": ((levels_of(2), levels_of(2)), [0.0, 1.0, 1.0], [0.0, 1.0, 0.0]),
    "a level that no row has": ((levels_of(3), NUMBERS[0]), [0.0, 2.0, 2.0], [0.5, 3.0, 0.1]),
    "outer levels without rows": ((levels_of(4), levels_of(4)), [1.0, 2.0, 1.0], [2.0, 1.0, 1.0]),
    "one value": ((PairAxis(np.array([2.0, 2.0])), NUMBERS[0]), [2.0] * 3, [0.5, 0.7, 4.0]),
    "one value each": ((PairAxis(np.array([2.0, 2.0])),) * 2, [2.0] * 3, [2.0] * 3),
    "one value and levels": ((PairAxis(np.array([2.0, 2.0])), levels_of(3)), [2.0] * 2, [0.0, 2.0]),
    "one level": ((levels_of(1), NUMBERS[0]), [0.0] * 3, [0.5, 0.7, 4.0]),
    "one level each": ((levels_of(1), levels_of(1)), [0.0] * 3, [0.0] * 3),
    "rows that are nowhere": (NUMBERS, [np.nan, 9.0], [0.5, 0.5]),
}


@pytest.mark.parametrize("name", ODD)
@each_way
@pytest.mark.parametrize("weight", [None, 0.0, 2.5])
def test_odd_rows_give_clean_numbers(name, smooth, weight):
    axes, x, y = ODD[name]
    x, y = np.array(x), np.array(y)
    weights = None if weight is None else np.full(x.size, weight)
    rows = PairRows(x, y, np.arange(x.size) / 7, axes, weights)
    raw, noise, error, p = clean(rows.fit(lambda x, y, z: x * y * (1 + z), smooth=smooth))
    assert min(raw, noise, error) >= 0.0
    assert 0.0 <= p <= 1.0
    nothing = ("no row", "one row", "one row of levels", "rows that are nowhere")
    if name in nothing or name.startswith(("one value", "one level")) or weight == 0:
        assert (raw, noise, error, p) == (0.0, 0.0, 0.0, 1.0)


def test_where_no_two_rows_stand_together_nothing_is_certain():
    rows = PairRows(np.array([0.5, 1.5]), np.array([0.5, 3.0]), np.zeros(2), NUMBERS)
    assert rows.fit(lambda x, y, z: x**2 * y**2 + z).p_value == 1.0


def test_an_exact_product_is_beyond_doubt_and_its_strength_is_known():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 5, (2, 3000)) / 4
    axes = tuple(PairAxis(np.array([0.0, 0.5, 1.0])) for _ in range(2))
    fit = PairRows(x, y, x, axes).fit(lambda x, y, z: x * y + z * 0)
    assert fit.p_value == 0.0
    assert fit.square.noise < 1e-25
    expected = np.mean(((x - x.mean()) * (y - y.mean())) ** 2)
    assert fit.square.raw == pytest.approx(expected, rel=0.02)


@each_way
def test_squares_of_many_pairs_are_those_of_each(smooth):
    fits = [holey(kinds, seed).fit(twisted, smooth=smooth) for seed in (1, 2) for kinds in KINDS]
    fits.append(holey(KINDS[0], 3).fit(twisted, reading="cells"))
    for found, fit in zip(find_squares(fits), fits, strict=True):
        assert found == pytest.approx(fit.square, rel=1e-10)
    assert find_squares([]) == []


@each_kind
def test_sums_of_differences_have_their_errors(kinds):
    fit = holey(kinds).fit(twisted)
    for node, shares in enumerate(fit.cell_weights.unit_surfaces()):
        height, error = fit.combine(shares)
        assert height == pytest.approx(fit.surface.ravel()[node], abs=1e-11)
        assert error == pytest.approx(fit.standard_error.ravel()[node], abs=1e-11)
