import warnings

import numpy as np
import pytest

from rhale.stats.distributions import chi_square_tail


def test_two_degrees_of_freedom_are_exponential():
    for value in (1e-9, 0.3, 2.0, 40.0, 1400.0):
        assert chi_square_tail(value, 2.0) == pytest.approx(np.exp(-value / 2), rel=1e-12)


def test_four_degrees_have_a_closed_form_too():
    for value in (0.1, 4.0, 6.0, 100.0):
        expected = np.exp(-value / 2) * (1 + value / 2)
        assert chi_square_tail(value, 4.0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("degrees", [0.01, 0.5, 1.0, 3.7, 20.0, 150.5, 4000.0])
def test_any_degrees_of_freedom_equal_scipy(degrees):
    stats = pytest.importorskip("scipy.stats")
    spread = np.sqrt(2 * degrees)
    for value in (1e-3, degrees, degrees + spread, degrees + 5 * spread, degrees + 20 * spread):
        expected = stats.chi2.sf(value, degrees)
        assert chi_square_tail(value, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_nothing_is_always_exceeded_and_the_largest_never():
    assert chi_square_tail(0.0, 3.0) == 1.0
    assert chi_square_tail(-1.0, 3.0) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert chi_square_tail(1e300, 3.0) == 0.0
        assert chi_square_tail(np.inf, 3.0) == 0.0
        assert 0.0 <= chi_square_tail(1e-300, 1.0) <= 1.0


def test_it_falls_from_one_to_zero_without_a_step_between_series_and_fraction():
    values = np.linspace(0.0, 60.0, 4001)
    found = np.array([chi_square_tail(value, 9.3) for value in values])
    assert found[0] == 1.0
    assert np.all(np.diff(found) <= 0)
    assert np.abs(np.diff(found)).max() < 2e-3


def test_more_degrees_than_terms_still_give_a_probability():
    for value in (1e12 - 1e6, 1e12 + 10):
        assert 0.0 <= chi_square_tail(value, 1e12) <= 1.0
