from itertools import pairwise

import numpy as np
import pytest

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.optimal import Optimal
from rhale.errors import BadSettingError

INF = np.inf


def axis(values, weight=None, low=None, high=None):
    values = np.asarray(values, dtype=float)
    weight = np.ones(values.size) if weight is None else np.asarray(weight, dtype=float)
    low = values.min() if low is None else low
    high = values.max() if high is None else high
    return FeatureAxis(low, high, values, weight, weight.sum() ** 2 / (weight**2).sum())


def cells(x, d, edges, weights=None):
    return measure_moments(
        Grid(np.asarray(edges, dtype=float)), np.asarray(x), np.asarray(d), weights
    )


def test_prices_are_those_of_equation_13():
    x = [0.1, 0.2, 0.3, 1.1, 1.2, 2.5]
    d = np.array([1.0, 2.0, 3.0, 5.0, 7.0, 0.0])
    price = Optimal(discount=0.5, ddof=1).price(cells(x, d, [0, 1, 2, 3]), 2)
    expected = np.full((3, 3), INF)  # rows: first cell; columns: last cell
    for low, high, part in [
        (0, 1, d[:3]),
        (1, 2, d[3:5]),
        (0, 2, d[:5]),
        (1, 3, d[3:]),
        (0, 3, d),
    ]:
        tau = 1 - 0.5 * part.size / 6
        expected[low, high - 1] = tau * part.var(ddof=1) * (high - low)
    np.testing.assert_allclose(price, expected)


def test_the_divisor_of_the_variance_is_as_asked():
    moments = cells([0.1, 0.2, 0.3], [1.0, 2.0, 6.0], [0, 1])
    one, zero = (Optimal(discount=0, ddof=k).price(moments, 0)[0, 0] for k in (1, 0))
    np.testing.assert_allclose((one, zero), (7.0, 14 / 3))


def test_a_single_row_has_a_price_only_without_a_divisor_to_lose():
    moments = cells([0.5, 1.5], [1.0, 3.0], [0, 1, 2])
    assert Optimal(ddof=1).price(moments, 0)[0, 0] == INF
    assert Optimal(ddof=0).price(moments, 0)[0, 0] == 0.0


def test_bins_below_the_least_number_of_rows_are_not_for_sale():
    x = [0.1, 0.2, 0.3, 1.1, 1.2]
    price = Optimal().price(cells(x, np.arange(5.0), [0, 1, 2]), 3)
    assert np.isfinite(price[0, 0])
    assert price[1, 1] == INF
    assert np.isfinite(price[0, 1])
    assert price[1, 0] == INF


def test_an_exact_number_of_rows_is_enough_with_weights_that_round():
    w = np.full(10, 0.1)
    moments = cells(np.linspace(0, 0.9, 10), np.arange(10.0), [0, 1], w)
    assert np.isfinite(Optimal().price(moments, 10)[0, 0])


def test_a_bin_without_rows_is_not_for_sale():
    moments = cells([0.5, 0.6, 2.5, 2.6], [1.0, 2.0, 1.0, 2.0], [0, 1, 2, 3])
    for ddof in (0, 1):
        assert Optimal(ddof=ddof).price(moments, 0)[1, 1] == INF


def test_a_full_discount_makes_one_bin_free():
    rng = np.random.default_rng(0)
    moments = cells(rng.uniform(0, 4, 100), rng.normal(0, 1, 100), np.arange(5))
    assert Optimal(discount=1.0).price(moments, 5)[0, 3] == 0.0
    assert Optimal(discount=1.0)(moments).limits.tolist() == [0, 4]


def test_one_bin_comes_with_a_note_where_none_is_possible():
    cuts = Optimal(min_points=4)(cells([0.5, 1.5, 1.6], [1.0, 2.0, 3.0], [0, 1, 2]))
    assert cuts.limits.tolist() == [0, 2]
    assert cuts.linear.tolist() == [False]
    assert cuts.notes == ("no bin can have 4 rows out of 3: one bin",)


def test_the_usual_least_number_is_a_twentieth_of_the_rows():
    rng = np.random.default_rng(1)
    x = np.repeat(np.arange(20) + 0.5, 5)
    d = np.repeat(np.arange(20.0), 5) + 1e-3 * rng.normal(size=100)
    limits = Optimal(discount=0.0)(cells(x, d, np.arange(21))).limits
    assert limits.tolist() == list(range(21))
    limits = Optimal(discount=0.0, min_points=5.1)(cells(x, d, np.arange(21))).limits
    assert np.diff(limits).min() == 2


def test_a_step_is_found():
    x = np.linspace(0, 1, 400)
    moments = cells(x, np.where(x < 0.25, 1.0, -1.0), np.linspace(0, 1, 21))
    cuts = Optimal()(moments)
    assert cuts.limits.tolist() == [0, 5, 20]
    assert cuts.notes == ()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_bins": 0}, "max_bins=0"),
        ({"max_bins": 2.5}, "max_bins=2.5"),
        ({"max_bins": True}, "max_bins=True"),
        ({"discount": -0.1}, "discount=-0.1"),
        ({"discount": 1.1}, "discount=1.1"),
        ({"discount": float("nan")}, "discount=nan"),
        ({"min_points": -1}, "min_points=-1"),
        ({"min_points": float("nan")}, "min_points=nan"),
        ({"ddof": 2}, "ddof=2"),
    ],
)
def test_settings_of_optimal_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(BadSettingError, match=message):
        Optimal(**settings)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_cells_have_the_optimum_of_a_plain_programme(weighted):
    """Eq. (13) of all runs of 75 cells, from their rows; the cheapest way to each limit in turn."""
    rng = np.random.default_rng(5)
    x, n_cells = rng.uniform(0, 75, 2_000), 75
    d, w = 3 * np.sin(x / 6) + rng.normal(size=2_000), rng.uniform(0.5, 2, 2_000)
    w = w if weighted else np.ones(2_000)
    total, place = w.sum() ** 2 / (w**2).sum(), x.astype(int)
    price = np.full((n_cells, n_cells), INF)
    for first in range(n_cells):
        for last in range(first, n_cells):
            own = (place >= first) & (place <= last)
            n = w[own].sum() ** 2 / (w[own] ** 2).sum()
            if n >= 60:
                variance = np.average(
                    (d[own] - np.average(d[own], weights=w[own])) ** 2, weights=w[own]
                )
                price[first, last] = (
                    (1 - 0.3 * n / total) * variance * n / (n - 1) * (last + 1 - first)
                )
    best = np.zeros(n_cells + 1)
    for end in range(1, n_cells + 1):
        best[end] = min(best[start] + price[start, end - 1] for start in range(end))

    moments = cells(x, d, np.arange(n_cells + 1), w if weighted else None)
    asked = Optimal(max_bins=n_cells, discount=0.3, min_points=60)
    limits = asked(moments).limits
    found = sum(price[a, b - 1] for a, b in pairwise(limits))
    assert found == pytest.approx(best[-1], rel=1e-9)
    assert limits.size > 5
    np.testing.assert_allclose(asked.price(moments, 60), price, rtol=1e-9)
