import numpy as np
import pytest

from rhale.stats.distributions import student_quantile

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("level", [0.5, 0.68, 0.8, 0.95, 0.999, 0.999999])
def test_quantiles_are_those_of_scipy_for_any_real_degrees_of_freedom(level):
    degrees = np.concatenate([np.arange(1.0, 300.0), np.geomspace(1.0, 1e6, 301), [1.5, 1e9]])
    expected = stats.t.isf((1 - level) / 2, degrees)
    np.testing.assert_allclose(student_quantile(level, degrees), expected, rtol=2e-10)


def test_one_and_two_degrees_have_closed_forms():
    for level in (0.5, 0.95, 0.999):
        found = student_quantile(level, np.array([[1.0], [2.0]]))
        expected = [np.tan(np.pi / 2 * level), level * np.sqrt(2 / (1 - level**2))]
        np.testing.assert_allclose(found.ravel(), expected, rtol=1e-12)


def test_the_quantile_falls_with_the_degrees_also_where_the_way_changes():
    degrees = np.linspace(1.0, 400.0, 2_000)
    assert np.all(np.diff(student_quantile(0.95, degrees)) < 0)


def test_less_than_one_degree_counts_as_one_and_infinitely_many_are_normal():
    np.testing.assert_allclose(
        student_quantile(0.95, np.array([0.0, 0.3, 1.0, np.inf])),
        [12.706204736174698] * 3 + [1.959963984540054],
    )
    assert student_quantile(0.95, np.empty(0)).shape == (0,)
    assert student_quantile(0.95, np.float64(3.0)) == pytest.approx(3.182446305284263)
