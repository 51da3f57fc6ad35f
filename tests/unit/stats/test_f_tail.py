import numpy as np
import pytest

from rhale.stats.distributions import f_tail

stats = pytest.importorskip("scipy.stats")


def test_tails_are_those_of_scipy():
    ratio, over, under = (
        part.ravel()
        for part in np.meshgrid(
            [0.01, 0.5, 0.9, 1.0, 1.1, 1.5, 3.0, 10.0], [1, 4.5, 56, 300], [2, 30.5, 400, 40_000]
        )
    )
    found = f_tail(ratio, over, under)
    np.testing.assert_allclose(found, stats.f.sf(ratio, over, under), rtol=1e-8, atol=1e-12)


def test_nothing_is_likely_and_infinity_is_not():
    found = f_tail(np.array([0.0, np.inf]), np.full(2, 3.0), np.full(2, 9.0))
    np.testing.assert_array_equal(found, [1.0, 0.0])


def test_two_and_two_degrees_have_a_closed_form():
    ratio = np.array([0.25, 1.0, 7.0])
    np.testing.assert_allclose(f_tail(ratio, np.full(3, 2.0), np.full(3, 2.0)), 1 / (1 + ratio))
