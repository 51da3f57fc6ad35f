"""Numbers sorted by where in their range they lie, against NumPy's sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rhale.kernels.sorting import FEW, correlate, order_keys, rank_values, sort_numbers

N = 3 * FEW
RNG = np.random.default_rng(0)
COLUMNS = {
    "even": RNG.uniform(-1, 1, N),
    "normal": RNG.normal(size=N),
    "a bucket for many": RNG.lognormal(0, 3, N),
    "tails on both sides": RNG.standard_cauchy(N),
    "ages": RNG.integers(18, 90, N).astype(float),
    "a pile": np.where(RNG.random(N) < 0.5, 0.0, RNG.exponential(size=N)),
    "in order": np.arange(N) / 7,
    "backwards": -np.arange(N) / 7,
    "constant": np.full(N, 3.0),
    "two values": np.arange(N) % 2.0,
    "hardly apart": 1 + np.finfo(float).eps * RNG.permutation(N),
    "far apart": (RNG.permutation(N) / N - 0.5) * 1.7e308,
    "so far that no number says it": np.append(RNG.normal(size=N), [-1.7e308, 1.7e308]),
    "one far away": np.append(RNG.normal(size=N), 1e300),
    "denormal": 5e-324 * RNG.permutation(N),
    "some missing": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N)),
    "all missing": np.full(N, np.nan),
    "infinite": np.append(RNG.normal(size=N), [np.inf, -np.inf]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_numbers_are_those_that_came_in_order(name):
    given_ = COLUMNS[name].copy()
    np.testing.assert_array_equal(sort_numbers(given_), np.sort(COLUMNS[name]))
    np.testing.assert_array_equal(given_, COLUMNS[name])  # a copy was sorted


def test_a_column_of_a_table_is_sorted():
    table = RNG.normal(size=(N, 3))
    np.testing.assert_array_equal(sort_numbers(table[:, 1]), np.sort(table[:, 1]))


@pytest.mark.parametrize("n_values", [0, 1, FEW - 1, FEW, FEW + 1])
def test_any_number_of_numbers(n_values):
    values = RNG.normal(size=n_values)
    np.testing.assert_array_equal(sort_numbers(values), np.sort(values))


@settings(max_examples=60)
@given(
    st.lists(st.floats(width=16), min_size=1, max_size=30), st.integers(0, 2**32 - 1), st.booleans()
)
def test_any_numbers_repeated_in_any_order(some, seed, varied):
    rng = np.random.default_rng(seed)
    values = rng.choice(np.array(some), N)
    if varied:
        values = values + rng.normal(size=N)
    np.testing.assert_array_equal(sort_numbers(values), np.sort(values))


@pytest.mark.parametrize("most", [1, 2**16 - 1, 2**16, 2**40, 2**64 - 1])
@pytest.mark.parametrize("n_keys", [0, 3, FEW, N])
def test_keys_increase_in_their_order(n_keys, most):
    keys = RNG.integers(0, most, n_keys, dtype=np.uint64, endpoint=True)
    order = order_keys(keys)
    np.testing.assert_array_equal(np.sort(order), np.arange(n_keys))  # each once
    np.testing.assert_array_equal(keys[order], np.sort(keys))


def test_ranks_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    values = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 1.0])
    np.testing.assert_allclose(rank_values(values), stats.rankdata(values) - 1)


def test_correlations_of_ranks_are_spearmans():
    stats = pytest.importorskip("scipy.stats")
    first, other = np.random.default_rng(1).normal(size=(2, 80))
    second = first**3 + other
    found = correlate(rank_values(first), rank_values(second), np.ones(80))
    assert found == pytest.approx(stats.spearmanr(first, second).statistic)
