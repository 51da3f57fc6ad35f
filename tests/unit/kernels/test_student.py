import numpy as np
import pytest

from rhale.kernels.student import student_quantile

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
def test_whole_degrees_of_freedom_are_exact(level):
    degrees = np.append(np.arange(1.0, 300.0), [1e4, 1e9])
    expected = stats.t.ppf(0.5 + level / 2, degrees)
    np.testing.assert_allclose(student_quantile(level, degrees), expected, rtol=1e-7)


def test_between_them_the_quantile_is_near_and_falls():
    degrees = np.linspace(2.0, 60.0, 500)
    found = student_quantile(0.95, degrees)
    np.testing.assert_allclose(found, stats.t.ppf(0.975, degrees), rtol=5e-3)
    assert np.all(np.diff(found) < 0)


def test_less_than_one_degree_counts_as_one_and_infinitely_many_are_normal():
    np.testing.assert_allclose(
        student_quantile(0.95, np.array([0.0, 0.3, 1.0, np.inf])),
        [12.706204736174698] * 3 + [1.959963984540054],
    )
    assert student_quantile(0.95, np.empty(0)).shape == (0,)
