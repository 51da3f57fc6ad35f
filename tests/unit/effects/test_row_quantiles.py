import numpy as np
import pytest

import rhale
from rhale.effects.support import (
    find_shown_part,
    has_free_order,
    is_skewed,
    row_quantiles,
    row_weights,
)

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


ORDINARY = {
    "uniform": RNG.uniform(size=N_ROWS),
    "normal": RNG.normal(size=N_ROWS),
    "exponential": RNG.exponential(size=N_ROWS),
    "gamma": RNG.gamma(2.0, size=N_ROWS),
    "two clusters": np.append(RNG.normal(size=1_000), RNG.normal(50.0, size=1_000)),
}


@pytest.mark.parametrize("shape", ORDINARY)
def test_ordinary_features_are_shown_whole(shape):
    x = ORDINARY[shape]
    assert find_shown_part(effect_of(x)) == (x.min(), x.max(), False, "")


FAR = np.append(RNG.normal(5.7, 0.9, N_ROWS - 1), 58.9)


def test_a_lone_far_value_is_beyond_and_counted():
    x, ninety_nine = FAR, np.sort(FAR)[1979]  # the 1,980th of 2,000 rows
    assert (x.max() - ninety_nine) / np.ptp(x) > 0.8  # of the axis for one row in a hundred
    assert find_shown_part(effect_of(x)) == (
        x.min(),
        ninety_nine,
        False,
        "20 rows beyond, up to 58.9",
    )
    low, high, _, beyond = find_shown_part(effect_of(-x))
    assert (low, high) == (-np.sort(x)[1980], -x.min())
    assert beyond == f"{(x > -low).sum()} rows beyond, down to \u221258.9"


def test_both_sides_are_cut_where_both_take_more_than_the_rows_between():
    x = np.append(RNG.normal(size=N_ROWS - 2), [-90.0, 80.0])
    low, high, _, beyond = find_shown_part(effect_of(x))
    assert (low, high) == (np.sort(x)[19], np.sort(x)[1979])
    assert beyond == "39 rows beyond, from \u221290 to 80"


def test_weighted_rows_beyond_are_told_by_their_share():
    weight = np.where(FAR > 20, 30.0, 1.0)  # 30 of 2,029
    low, high, _, beyond = find_shown_part(effect_of(FAR, weight))
    assert (low, high) == (FAR.min(), FAR.max())  # a value with 1.5 % of the weight is none of few
    assert not beyond
    light = RNG.uniform(0.5, 1.5, FAR.size)
    order = np.argsort(FAR)
    share = np.cumsum(light[order]) / light.sum()
    first = int(np.searchsorted(share, 0.99))  # the first value with 99 % at or below it
    part = find_shown_part(effect_of(FAR, light))
    assert part.high == FAR[order][first]
    assert part.beyond == f"{100 * (1 - share[first]):.1g} % of rows beyond, up to 58.9"


def test_a_logarithmic_axis_comes_before_a_cut_where_it_gives_rows_their_room():
    income = RNG.lognormal(3.0, 1.2, N_ROWS)
    assert find_shown_part(effect_of(income)) == (income.min(), income.max(), True, "")
    part = find_shown_part(effect_of(income), scale="linear")
    assert (part.low, part.high) == (income.min(), np.sort(income)[1979])
    plain = np.append(RNG.uniform(1.0, 2.0, N_ROWS), 1e6)  # logs would leave a twentieth
    part = find_shown_part(effect_of(plain))
    assert not part.is_log
    assert part.high < 2


def test_of_several_results_all_is_shown_that_any_of_them_shows():
    near, far = effect_of(FAR), effect_of(RNG.uniform(0.0, 60.0, 500))
    assert find_shown_part(near, far).high == far.edges[-1]
    other = effect_of(np.append(RNG.normal(9.0, 0.9, N_ROWS - 1), 70.0))
    part = find_shown_part(near, other, scale="linear")
    assert part.high == find_shown_part(other).high
    far = np.count_nonzero(part.high < FAR) + 20  # of 2,000 and 2,000
    assert part.beyond == f"{100 * far / 4_000:.1g} % of rows beyond, up to 70"


def test_where_most_rows_have_one_value_all_is_shown():
    x = np.append(np.zeros(1_990), RNG.uniform(1.0, 9.0, 10))
    assert find_shown_part(effect_of(x))[:2] == (0.0, x.max())


def test_far_dates_and_durations_are_written_as_such():
    from dataclasses import replace

    effect = effect_of(np.append(RNG.uniform(18_000.0, 18_900.0, N_ROWS - 1), 47_481.0))
    assert find_shown_part(replace(effect, kind="date")).beyond.endswith("up to 2099-12-31")
    waits = effect_of(np.append(RNG.uniform(60.0, 3_600.0, N_ROWS - 1), 30 * 86_400.0))
    assert find_shown_part(replace(waits, kind="duration"), scale="linear").beyond.endswith(
        "up to 30 d"
    )


def test_points_of_a_profile_are_cut_at_points():
    x = FAR[:, None]
    ice = rhale.explain(lambda x: np.tanh(x[:, 0]), x, method="ice", bins=400)["x0"]
    part, ninety_nine = find_shown_part(ice), np.sort(FAR)[1979]
    assert part.high in ice.axis
    assert ninety_nine <= part.high < ninety_nine + 2 * np.diff(ice.axis)[0]


def test_a_logarithmic_axis_that_leaves_little_room_gives_way_to_a_cut():
    rooms = np.concatenate([RNG.lognormal(7.6, 0.7, N_ROWS - 2), [2.0, 40_000.0]])
    start, stop = np.quantile(rooms, [0.05, 0.95])
    assert np.log(stop / start) / np.log(20_000) < 1 / 3
    part = find_shown_part(effect_of(rooms))
    assert (part.low, part.high, part.is_log) == (2.0, np.sort(rooms)[1979], False)
