import numpy as np
import pytest

import rhale
from rhale.results.row_quantiles import has_free_order, is_skewed, row_quantiles, row_weights

RNG = np.random.default_rng(0)
N_ROWS = 2_000


def effect_of(x, weight=None):
    return rhale.effect(x, np.ones(x.size), weights=weight)


def test_quantiles_are_values_of_rows():
    effect = effect_of(np.arange(1.0, 101.0))
    assert row_quantiles(effect, (0.0, 0.01, 0.5, 0.99, 1.0)).tolist() == [1, 1, 50, 99, 100]


def test_only_rows_inside_count():
    effect = effect_of(np.arange(1.0, 101.0))
    assert row_quantiles(effect, (0.0, 1.0), (10.0, 20.5)).tolist() == [10, 20]
    assert np.isnan(row_quantiles(effect, (0.5,), (200.0, 300.0))).all()


def test_rows_count_as_their_weights_do():
    x = np.arange(400.0) / 400
    effect = effect_of(x, np.where(x >= 0.75, 9.0, 1.0))  # nine twelfths of the weight
    values, weight = row_weights(effect)
    np.testing.assert_array_equal(values, x)
    assert weight[values >= 0.75].sum() / weight.sum() == pytest.approx(0.75, abs=0.01)
    low, high = row_quantiles(effect, (0.25, 0.625))
    assert low == pytest.approx(0.75, abs=0.01)
    assert high == pytest.approx(0.875, abs=0.01)


def test_without_rows_their_places_are_those_of_the_limits():
    x = RNG.uniform(size=(N_ROWS, 1))
    pdp = rhale.explain(lambda x: x[:, 0], x, method="pdp")["x0"]
    low, high = row_quantiles(pdp, (0.1, 0.9))
    assert low == pytest.approx(0.1, abs=0.05)
    assert high == pytest.approx(0.9, abs=0.05)


SHAPES = {
    "lognormal": (RNG.lognormal(3.0, 1.2, N_ROWS), True),
    "one far value": (np.append(RNG.uniform(1.0, 2.0, N_ROWS), 1e6), True),
    "exponential": (RNG.exponential(size=N_ROWS), False),
    "uniform": (RNG.uniform(1.0, 1000.0, N_ROWS), False),
    "normal": (RNG.normal(100.0, 10.0, N_ROWS), False),
    "far below": (1e6 - RNG.lognormal(3.0, 1.2, N_ROWS), False),
    "zeros": (np.append(RNG.lognormal(3.0, 1.2, N_ROWS), 0.0), False),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_long_tails_of_positive_numbers_are_skewed(shape):
    x, skewed = SHAPES[shape]
    assert is_skewed(effect_of(x)) == skewed


def test_a_part_without_the_tail_is_not_skewed():
    x, _ = SHAPES["one far value"]
    assert not is_skewed(effect_of(x), (1.0, 2.0))


def test_levels_and_constants_are_not_skewed(make_levels):
    assert not is_skewed(make_levels(("a", "b"), 1.0))
    assert not is_skewed(effect_of(np.full(10, 3.0)))


def test_names_have_no_order_of_their_own_and_numbers_do():
    names = np.array(["c", "a", "b", "a", "c", "b"] * 20)
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"name": names, "x": np.arange(120.0)})
    table["size"] = pd.Categorical(names, ["a", "b", "c"], ordered=True)
    fx = rhale.explain(lambda t: (t["name"] == "a") + 0.0 * t["x"], table)
    assert has_free_order(fx["name"])
    assert not has_free_order(fx["size"])
    assert not has_free_order(fx["x"])
