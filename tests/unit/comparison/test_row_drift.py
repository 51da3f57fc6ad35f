import numpy as np
import pytest
from scipy import stats

import rhale
from rhale.comparison.drift import (
    effective_rows,
    find_row_quantiles,
    largest_distance,
    measure_drift,
    summarize_row_positions,
)
from rhale.effects.curve import RowPlaces


def rows(values):
    return RowPlaces(np.asarray(values, dtype=float), np.full(len(values), 1 / len(values)))


def test_the_distance_is_that_of_kolmogorov_and_smirnov():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=300), rng.normal(0.4, 1.2, size=200).round(1)
    expected = stats.ks_2samp(one, two).statistic
    assert largest_distance(rows(one), rows(two)) == pytest.approx(expected)


def test_quantiles_are_values_of_rows():
    values = np.arange(100.0)
    assert find_row_quantiles(rows(values), np.array([0.05, 0.5, 0.95])).tolist() == [4, 49, 94]
    assert summarize_row_positions(rows(values)).mean == pytest.approx(49.5)


def test_weights_count_as_rows_of_equal_weight():
    assert effective_rows(RowPlaces(np.zeros(3), np.array([0.5, 0.25, 0.25]))) == pytest.approx(
        8 / 3
    )


def test_rows_that_moved_are_told_with_their_medians():
    x = np.linspace(0, 1, 1000)
    first, second = (rhale.effect(x + shift, x) for shift in (0.0, 0.2))
    drift = measure_drift(first, second, 0.05, (rows(x), rows(x + 0.2)))
    assert drift.moved
    assert drift.apart == pytest.approx(0.2, abs=2e-3)
    assert drift.shift == pytest.approx(0.2)
    assert not measure_drift(first, first, 0.05, (rows(x), rows(x))).moved


def test_chance_alone_seldom_moves_rows():
    rng = np.random.default_rng(1)
    x = np.linspace(0, 1, 500)
    effect = rhale.effect(x, x)
    told = [
        measure_drift(
            effect, effect, 0.05, (rows(rng.normal(size=500)), rows(rng.normal(size=500)))
        )
        for _ in range(200)
    ]
    assert sum(one.moved for one in told) <= 20  # 5 % are expected at most


def test_levels_have_shares_that_change(make_levels):
    first = make_levels(["a", "b", "c"], 1.0)
    drift = measure_drift(first, make_levels(["b", "c"], 1.0))
    assert drift.apart == pytest.approx(1 / 3)  # a third of the rows was at a
    assert drift.lost == "a"
    assert np.isnan(drift.shift)
    same = measure_drift(first, first)
    assert (same.apart, same.gained, same.lost) == (0, "", "")
