import numpy as np
import pytest
from tests.unit.measures.askers import asker_for, local_effects

from rhale.kernels.axis import Axis
from rhale.kernels.grid import Grid
from rhale.kernels.windows import even_window, window
from rhale.measures.secant import OwnBin, Secant, curvature_share, step_noise
from rhale.tables import open_table

X = np.random.default_rng(0).normal(size=(50, 2))
GRID = Grid(np.array([-4.0, -1.0, 0.5, 4.0]))


def chunk():
    return open_table(X).chunk(0, len(X))


def secants(secant, model):
    return local_effects(secant, asker_for(model, chunk()), chunk())


def axis(column):
    values, counts = np.unique(X[:, column], return_counts=True)
    return Axis(values[0], values[-1], values, counts.astype(float), len(X))


def places(n_rows=30):
    """Three places a < x < b, not centred."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=n_rows)
    return x - rng.uniform(0.1, 2, n_rows), x, x + rng.uniform(0.1, 2, n_rows)


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


def test_a_spread_window_adds_its_secant_and_its_step_noise():
    def model(rows):
        return 4 * rows[:, 0]

    secant = Secant(0, window(axis(0), 0.05), window(axis(0), 0.4))
    assert (secant.n_changes, Secant(0, secant.interval).n_changes) == (4, 2)
    found = secants(secant, model)
    assert found.shape == (3, 50)
    assert found[:2] == pytest.approx(np.full((2, 50), 4.0))
    assert found[2] == pytest.approx(np.zeros(50), abs=1e-12)


def test_windows_searched_together_or_alone_are_the_same():
    one, other = axis(0), axis(0)
    shares, x = (0.1, 0.4), np.linspace(-3, 3, 101)
    together = Secant(0, *(even_window(one, s, s / 2) for s in shares))
    alone = Secant(0, even_window(one, 0.1, 0.05), even_window(other, 0.4, 0.2))
    assert together.interval.knots is together.spread_interval.knots
    assert alone.interval.knots is not alone.spread_interval.knots
    assert np.array_equal(together.ends(x), alone.ends(x))


def test_a_spike_at_the_rows_themselves_is_no_step_noise():
    """A forest remembers its training rows; the windows end beside them."""
    remembered = {tuple(row) for row in X.tolist()}

    def model(rows):
        return 4 * rows[:, 0] + [100 * (tuple(row) in remembered) for row in rows.tolist()]

    found = secants(Secant(0, window(axis(0), 0.1), window(axis(0), 0.4)), model)
    inner = np.sort(X[:, 0])[10:-10]  # further out a window begins or ends at the row itself
    assert found[2][np.isin(X[:, 0], inner)] == pytest.approx(np.zeros(30), abs=1e-12)


def test_step_noise_of_a_straight_line_is_zero():
    a, x, b = places()
    answers = [(3 * z - 1)[:, None] for z in (a, x, b)]
    assert step_noise(answers, (a, x, b)) == pytest.approx(np.zeros((30, 1)), abs=1e-13)


def test_step_noise_of_a_centred_window_is_the_difference_of_slopes_over_root_twelve():
    a, x, b = np.array([1.0]), np.array([2.0]), np.array([3.0])
    low, base, high = np.array([[5.0]]), np.array([[6.0]]), np.array([[9.0]])
    found = step_noise((low, base, high), (a, x, b))  # slopes 1 on the left, 3 on the right
    assert found == pytest.approx(np.array([[2 / np.sqrt(12)]]))


def test_step_noise_has_the_variance_that_independent_errors_give_to_the_secant():
    a, x, b = places()
    none, one = np.zeros((30, 1)), np.ones((30, 1))
    # linear in the three answers: errors of variance 1 at each add their squared coefficients
    shares = [
        step_noise(errors, (a, x, b)) ** 2
        for errors in ((one, none, none), (none, one, none), (none, none, one))
    ]
    assert sum(shares)[:, 0] == pytest.approx(2 / (b - a) ** 2, rel=1e-12)


def test_windows_without_width_give_no_step_noise():
    x = np.zeros(3)
    assert step_noise(np.ones((3, 3, 1)), (x, x, x)).tolist() == [[0.0], [0.0], [0.0]]


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
    return rows, Axis(values[0], values[-1], values, counts.astype(float), len(rows))


def test_two_even_windows_give_the_slope_of_a_cubic_exactly():
    def model(asked):
        return asked[:, 0] ** 3 - 2 * asked[:, 0] ** 2 + asked[:, 0] * asked[:, 1]

    rows, feature = many_rows()
    plan = Secant(0, even_window(feature, 0.1, 0.02), even_window(feature, 0.3, 0.02))
    table = open_table(rows).chunk(0, len(rows))
    found = local_effects(plan, asker_for(model, table), table)
    x, other = rows.T
    slope = 3 * x**2 - 4 * x + other
    inner = (x > np.quantile(x, 0.2)) & (x < np.quantile(x, 0.8))
    assert found[0][inner] == pytest.approx(slope[inner], rel=1e-9, abs=1e-9)
    # the wide secant alone is off by a quarter of the squared width
    a, b = plan.spread_interval.ends(x)
    assert found[1][inner] == pytest.approx((slope + ((b - a) / 2) ** 2)[inner], rel=1e-9)


def test_the_share_of_curvature_solves_for_two_widths():
    x, reach = np.zeros(3), np.array([2.0, 3.0, 10.0])
    narrow, wide = (x - 1, x + 1), (x - reach, x + reach)
    assert curvature_share(x, narrow, wide) == pytest.approx([1 / 3, 1 / 8, 1 / 99])


def test_windows_that_are_uneven_similar_or_empty_say_nothing_about_curvature():
    x = np.zeros(5)
    narrow = np.array([[-1.0, -0.5, -1.0, -1.0, 0.0], [1.0, 1.5, 1.0, 1.0, 0.0]])
    wide = np.array([[-1.4, -3.0, -2.0, -0.5, -3.0], [1.4, 3.0, 4.0, 0.5, 3.0]])
    assert curvature_share(x, tuple(narrow), tuple(wide)).tolist() == [0.0] * 5
