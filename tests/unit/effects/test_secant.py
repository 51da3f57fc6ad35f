import numpy as np
import pytest
from tests.unit.effects.askers import asker_for, local_effects, rows_of

from rhale.data import open_table
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Grid
from rhale.effects.local.finite_difference import (
    OwnBin,
    Secant,
    curvature_share,
    even_window,
    window,
)

X = np.random.default_rng(0).normal(size=(50, 2))
GRID = Grid(np.array([-4.0, -1.0, 0.5, 4.0]))


def chunk():
    return open_table(X).chunk(0, len(X))


def secants(secant, model):
    return local_effects(secant, asker_for(model, chunk()), chunk())


def axis(column):
    values, counts = np.unique(X[:, column], return_counts=True)
    return FeatureAxis(values[0], values[-1], values, counts.astype(float), len(X))


def test_the_interval_of_a_row_is_its_own_bin():
    low, high = OwnBin(GRID).ends(np.array([-1.0, 0.0, 0.5, 4.0]))
    assert low.tolist() == [-1.0, -1.0, 0.5, 0.5]
    assert high.tolist() == [0.5, 0.5, 4.0, 4.0]


def test_the_secant_of_a_bin_is_the_quotient_of_apley_and_zhu():
    def model(rows):
        return rows[:, 0] ** 3 + rows[:, 0] * rows[:, 1]

    found = secants(Secant(0, OwnBin(GRID)), model)
    low, high = OwnBin(GRID).ends(X[:, 0])
    assert found.shape == (1, 50)
    # (b³ - a³) / (b - a) = a² + ab + b²
    assert found[0] == pytest.approx(low**2 + low * high + high**2 + X[:, 1], rel=1e-10)


def test_several_outputs_keep_their_order():
    def model(rows):
        return np.column_stack([2 * rows[:, 0] + 3 * rows[:, 1], 5 * rows[:, 0] + 7 * rows[:, 1]])

    second, first = (secants(Secant(column, OwnBin(GRID)), model) for column in (1, 0))
    assert second == pytest.approx(np.repeat([[3.0], [7.0]], 50, axis=1))
    assert first == pytest.approx(np.repeat([[2.0], [5.0]], 50, axis=1))


def test_the_window_of_a_row_holds_its_share_of_the_rows():
    low, high = window(axis(0), 0.2).ends(X[:, 0])
    inside = np.array(
        [np.sum((X[:, 0] >= a) & (X[:, 0] <= b)) for a, b in zip(low, high, strict=True)]
    )
    assert np.all((low <= X[:, 0]) & (X[:, 0] <= high))
    assert np.all(np.abs(inside - 11) <= 1)  # a fifth of fifty besides the row itself


def many_rows():
    rows = np.random.default_rng(3).normal(size=(400, 2))
    values, counts = np.unique(rows[:, 0], return_counts=True)
    return rows, FeatureAxis(values[0], values[-1], values, counts.astype(float), len(rows))


def test_two_even_windows_give_the_slope_of_a_cubic_exactly_on_average():
    """Over a window of half width h the secant of a cubic is off by h². Every other row is asked
    about the wide window, too, and what that tells counts twice: it is off by -h²."""

    def model(asked):
        return asked[:, 0] ** 3 - 2 * asked[:, 0] ** 2 + asked[:, 0] * asked[:, 1]

    rows, feature = many_rows()
    plan = Secant(0, even_window(feature, 0.1, 0.02), even_window(feature, 0.3, 0.02))
    table = open_table(rows).chunk(0, len(rows))
    found = local_effects(plan, asker_for(model, table), table)
    x, other = rows.T
    slope = 3 * x**2 - 4 * x + other
    inner = (x > np.quantile(x, 0.2)) & (x < np.quantile(x, 0.8))
    a, b = plan.interval.ends(x)
    sign = np.ones(len(rows))
    sign[rows_of(table).every_other] = -1
    assert abs(sign.mean()) < 0.2
    expected = slope + sign * ((b - a) / 2) ** 2
    assert found[0][inner] == pytest.approx(expected[inner], rel=1e-9, abs=1e-9)


def test_every_other_row_is_asked_about_a_second_window():
    plan = Secant(0, window(axis(0), 0.05), window(axis(0), 0.4))
    rows = rows_of(chunk())
    asked = plan.questions(rows)
    (aside,) = asked.subset_queries
    assert (len(asked.changes), len(aside.changes)) == (2, 2)
    assert aside.rows is rows.every_other
    assert plan.is_stepped
    assert not Secant(0, plan.interval).is_stepped


def test_the_share_of_curvature_solves_for_two_widths():
    x, reach = np.zeros(3), np.array([2.0, 3.0, 10.0])
    narrow, wide = (x - 1, x + 1), (x - reach, x + reach)
    assert curvature_share(x, narrow, wide) == pytest.approx([1 / 3, 1 / 8, 1 / 99])


def test_windows_that_are_uneven_similar_or_empty_say_nothing_about_curvature():
    x = np.zeros(5)
    narrow = np.array([[-1.0, -0.5, -1.0, -1.0, 0.0], [1.0, 1.5, 1.0, 1.0, 0.0]])
    wide = np.array([[-1.4, -3.0, -2.0, -0.5, -3.0], [1.4, 3.0, 4.0, 0.5, 3.0]])
    assert curvature_share(x, tuple(narrow), tuple(wide)).tolist() == [0.0] * 5
