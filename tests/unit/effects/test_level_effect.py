"""LevelEffect: what it says of steps, and how sure it is."""

import numpy as np
import pytest
from scipy import stats

from rhale.effects.level_effect import LevelEffect, name_others
from rhale.effects.levels import measure_levels
from rhale.effects.spread import RowSpread
from rhale.errors import BadSettingError


def made(levels=("a", "b", "c"), mean=(1.0, 3.0), **other):
    """An effect with easy numbers: the curve from the first level is 0, 1, 4."""
    n = len(levels)
    known = {
        "level_count": np.full(n, 10),
        "level_weight": np.full(n, 10.0),
        "edges": np.arange(n, dtype=float),
        "count": np.full(n - 1, 20),
        "rows": np.full(n - 1, 20.0),
        "weight": np.full(n - 1, 20.0),
        "mean": np.array(mean),
        "std": np.full(n - 1, 2.0),
        "correlation": np.eye(n - 1),
    }
    return LevelEffect("f", "y", levels, **(known | other))


NUMBERS = made(("1", "2", "4"), edges=np.array([1.0, 2.0, 4.0]), is_number=True)


def from_rows(level, down, up, n_levels, weights=None):
    """The effect of given steps of rows."""
    found = measure_levels(level, down[None], up[None], n_levels, weights)
    steps = found.steps
    return made(
        tuple("abcdefgh"[:n_levels]),
        steps.mean[0],
        level_count=found.count,
        level_weight=found.weight,
        count=steps.count,
        rows=steps.rows,
        weight=steps.weight,
        std=steps.std[0],
        correlation=steps.correlation[0],
    )


def test_the_curve_adds_up_the_steps_and_is_zero_on_average_over_the_rows():
    effect = made(level_weight=np.array([1.0, 1.0, 2.0]))
    assert effect.curve(center="start").tolist() == [0, 1, 4]
    assert effect.curve() == pytest.approx(np.array([0, 1, 4]) - 9 / 4)
    assert effect.curve(center="uniform") == pytest.approx(np.array([0, 1, 4]) - 5 / 3)


def test_levels_are_read_by_name_one_or_many():
    effect = made()
    assert effect.curve("c", center="start") == 4.0
    assert np.ndim(effect.curve("c")) == 0
    assert effect.curve(["c", "a"], center="start").tolist() == [4.0, 0.0]


def test_numbers_are_read_by_value_straight_between_and_unknown_beyond():
    found = NUMBERS.curve([1, 1.5, 3, 4, 5], center="start")
    assert found == pytest.approx(np.array([0, 0.5, 4, 7, np.nan]), nan_ok=True)
    assert NUMBERS.curve(2, center="start") == NUMBERS.curve("2", center="start") == 1.0


def test_steps_between_numbers_are_slopes_times_their_distance():
    assert NUMBERS.step.tolist() == [1.0, 6.0]
    assert NUMBERS.spread(center="start").tolist() == [0.0, 2.0, 6.0]


def test_names_that_are_numbers_are_found_as_such():
    effect = made(("10", "20", "30"))
    assert effect.curve([20, np.int64(30)], center="start").tolist() == [1.0, 4.0]


def test_an_unknown_level_is_refused_with_near_names():
    with pytest.raises(BadSettingError, match=r"feature 'f' has no level 'A'.*'a'"):
        made().curve("A")


def test_spread_sums_deviations_or_their_squares():
    assert made().spread(center="start").tolist() == [0.0, 2.0, 4.0]
    squares = made().spread(center="start", accumulate="quadrature")
    assert squares == pytest.approx([0.0, 2.0, np.sqrt(8)])
    with pytest.raises(BadSettingError, match="accumulate='mean' is not known"):
        made().spread(accumulate="mean")


def test_an_unknown_centre_is_refused():
    for read in (made().curve, made().spread, free().spread):
        with pytest.raises(BadSettingError, match="center='median' is not known"):
            read(center="median")


def test_the_spread_of_levels_in_order_is_centred_as_the_curve():
    effect = made(level_weight=np.array([1.0, 1.0, 2.0]), std=np.array([1.0, 3.0]))
    summed = np.array([0.0, 1.0, 4.0])
    assert effect.spread(center="start") == pytest.approx(summed)
    assert effect.spread() == pytest.approx(np.abs(summed - 9 / 4))
    assert effect.spread(center="uniform") == pytest.approx(np.abs(summed - 5 / 3))


def test_between_numbers_the_spread_goes_down_to_zero_and_up_again():
    effect = made(("0", "1"), (1.0,), std=np.array([2.0]), is_number=True)
    assert effect.spread([0.0, 0.25, 0.5, 1.0]) == pytest.approx([1.0, 0.5, 0.0, 1.0])


@pytest.mark.parametrize("center", ["mean", "start", "uniform"])
def test_what_is_drawn_has_the_spread_of_its_centring(center):
    for effect in (made(), free()):
        assert np.array_equal(effect.trace(center).spread, effect.spread(center=center))


def test_the_interval_from_the_first_level_is_that_of_a_sum_of_means():
    correlation = np.array([[1.0, 0.4], [0.4, 1.0]])
    low, high = made(correlation=correlation).ci(center="start")
    se = 2.0 / np.sqrt(20)
    # the second level rests on one step of 20 rows, the third on two alike: 19 and 38 degrees
    quantile = stats.t.ppf(0.975, [19, 19, 38])
    expected = quantile * np.array([0.0, se, np.sqrt(2 * se**2 + 0.8 * se**2)])
    assert high - low == pytest.approx(2 * expected, rel=1e-9)
    assert low + high == pytest.approx(2 * np.array([0.0, 1.0, 4.0]))


def test_intervals_grow_with_their_level_and_follow_the_asked_levels():
    narrow, wide = (np.diff(made().ci(["c", "a"], level=level), axis=0)[0] for level in (0.5, 0.99))
    assert np.all(wide > narrow)
    assert narrow[0] == np.diff(made().ci("c", level=0.5))[0]


def test_centring_is_a_linear_map_of_the_same_steps():
    correlation = np.array([[1.0, -0.3], [-0.3, 1.0]])
    effect = made(level_weight=np.array([1.0, 2.0, 5.0]), correlation=correlation)
    error = effect.standard_error
    covariance = error[:, None] * correlation * error
    draws = np.random.default_rng(0).multivariate_normal(effect.step, covariance, 200_000)
    curves = np.cumsum(np.column_stack([np.zeros(len(draws)), draws]), axis=1)
    curves -= (curves @ effect.share)[:, None]
    drawn = np.std([0.0, 1.0, 1.0, 4.0, 4.0, 4.0, 4.0, 4.0]) ** 2 / 8  # the rows are a draw, too
    low, high = effect.ci(level=0.95)
    maps = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    parts = (maps - effect.share @ maps) ** 2 * error**2
    degrees = (parts.sum(axis=1) + drawn) ** 2 / ((parts**2).sum(axis=1) / 19 + drawn**2 / 8)
    expected = stats.t.ppf(0.975, degrees) * np.sqrt(curves.var(axis=0) + drawn)
    assert (high - low) / 2 == pytest.approx(expected, rel=0.02)


def test_intervals_cover_the_truth_as_often_as_they_say():
    rng, n, covered = np.random.default_rng(1), 300, []
    share = np.array([0.5, 0.3, 0.2])
    truth = np.array([0.0, 1.0, 1.0 + 2.0])  # E of the steps below: 1 and 2
    for _ in range(400):
        level = rng.choice(3, n, p=share)
        own = rng.normal(0, 1, n)
        up = np.where(level == 0, 1 + own, np.where(level == 1, 2 - own, 0.0))
        down = np.where(level == 1, 1 + own, np.where(level == 2, 2 - own, 0.0))
        low, high = from_rows(level, down, up, 3).ci(center="start")
        covered.append((low <= truth) & (truth <= high))
    assert np.mean(covered, axis=0)[1:] == pytest.approx([0.95, 0.95], abs=0.03)


def test_the_centred_interval_knows_that_the_rows_it_is_centred_over_are_a_draw():
    effect = made(std=np.zeros(2), level_weight=np.array([1.0, 1.0, 2.0]))
    low, high = effect.ci()
    half = stats.t.ppf(0.975, 4) * np.std([0.0, 1.0, 4.0, 4.0]) / np.sqrt(4)
    assert high - low == pytest.approx(np.full(3, 2 * half), rel=1e-9)
    for center in ("start", "uniform"):
        low, high = effect.ci(center=center)
        assert np.array_equal(low, high)


def test_weights_that_are_alike_count_by_their_effective_rows():
    rng = np.random.default_rng(1)
    level, own = rng.integers(0, 3, 3000), rng.normal(0, 1, 3000)
    weights = rng.gamma(2.0, size=3000)
    effect = from_rows(level, own, own, 3, weights)
    assert effect._all_rows == pytest.approx(weights.sum() ** 2 / (weights**2).sum(), rel=0.02)


def test_centred_intervals_cover_the_curve_over_the_population():
    rng, covered = np.random.default_rng(0), []
    share, curve = np.array([0.5, 0.3, 0.2]), np.array([0.0, 1.0, 3.0])
    truth = curve - share @ curve
    for _ in range(400):
        level, own = rng.choice(3, 120, p=share), rng.normal(0, 1, 120)
        up = np.where(level == 0, 1 + own, np.where(level == 1, 2 - own, 0.0))
        down = np.where(level == 1, 1 + own, np.where(level == 2, 2 - own, 0.0))
        low, high = from_rows(level, down, up, 3).ci()
        covered.append((low <= truth) & (truth <= high))
    assert np.mean(covered, axis=0) == pytest.approx([0.95] * 3, abs=0.03)


def test_steps_of_few_rows_have_intervals_that_cover_as_often_as_they_say():
    rng, covered = np.random.default_rng(0), []
    level = np.repeat(np.arange(3), 2)
    for _ in range(1000):
        own = rng.normal(0, 1, 6)
        up, down = np.where(level < 2, 1 + own, 0.0), np.where(level > 0, 1 - own, 0.0)
        low, high = from_rows(level, down, up, 3).ci("b", center="start")
        covered.append(low <= 1.0 <= high)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.03)  # 86 % with normal quantiles


def test_importance_is_the_deviation_of_the_curve_over_the_rows():
    effect = made(level_weight=np.array([1.0, 1.0, 2.0]))
    rows = np.array([0.0, 1.0, 4.0, 4.0])
    assert effect.importance == pytest.approx(rows.std(), rel=1e-12)


def test_the_error_of_the_importance_is_its_change_per_step_times_their_errors():
    effect = made(level_weight=np.array([1.0, 1.0, 2.0]))
    slopes = []
    for k in range(2):
        mean = effect.mean.copy()
        mean[k] += 1e-6
        moved = made(mean=mean, level_weight=effect.level_weight)
        slopes.append((moved.importance - effect.importance) / 1e-6)
    of_steps = np.sum((np.array(slopes) * effect.standard_error) ** 2)
    curve = np.array([0.0, 1.0, 4.0, 4.0]) - 9 / 4
    # a standard deviation of n rows has the variance (fourth moment - variance²) / (4 variance n)
    drawn = (np.mean(curve**4) - np.mean(curve**2) ** 2) / (4 * np.mean(curve**2) * 4)
    assert effect.importance_error == pytest.approx(np.sqrt(of_steps + drawn), rel=1e-5)


def test_heterogeneity_weighs_deviations_by_rows():
    effect = made(std=np.array([1.0, 3.0]), weight=np.array([30.0, 10.0]))
    assert effect.heterogeneity == pytest.approx(np.sqrt((30 * 1 + 10 * 9) / 40))


def test_typical_spread_is_the_deviation_of_the_summed_deviations_over_the_rows():
    effect = made(std=np.array([1.0, 3.0]), level_weight=np.array([1.0, 1.0, 2.0]))
    assert effect.typical_spread == pytest.approx(np.std([0.0, 1.0, 4.0, 4.0]), rel=1e-12)


# --- levels without an order -------------------------------------------------------------------

ROWS = np.array([[1.0, 4.0, 2.0], [0.0, 7.0, 1.0], [5.0, 5.0, 5.0], [2.0, 1.0, 9.0]])


def free(rows=ROWS, **other):
    """Levels without an order; predictions of some rows at each of them."""
    n = rows.shape[1]
    weight = other.get("level_weight", np.ones(n))
    spread = RowSpread(
        places=np.arange(float(n)),
        shares=weight / weight.sum(),
        covariance=np.atleast_2d(np.cov(np.diff(rows, axis=1).T)),
        error=0.5,
        first=np.zeros(n, dtype=int),
        last=np.full(n, n - 1),
        x=np.empty(0),
        rows=np.empty((0, n - 1)),
    )
    return made(**{"has_order": False} | other, row_spread=spread)


@pytest.mark.parametrize(
    ("center", "zero"),
    [("mean", [0.25, 0.25, 0.5]), ("start", [1.0, 0.0, 0.0]), ("uniform", [1 / 3] * 3)],
)
def test_levels_without_an_order_spread_as_the_centred_curves_of_rows(center, zero):
    effect = free(level_weight=np.array([1.0, 1.0, 2.0]))
    centred = ROWS - ROWS @ np.array(zero)[:, None]
    expected = centred.std(axis=0, ddof=1)
    assert effect.spread(center=center) == pytest.approx(expected, rel=1e-12)
    assert effect.spread("b", center=center) == pytest.approx(expected[1], rel=1e-12)


def test_typical_spread_without_an_order_is_the_deviation_of_all_centred_curves():
    share = np.array([0.25, 0.25, 0.5])
    centred = ROWS - ROWS @ share[:, None]
    expected = np.sqrt(share @ centred.var(axis=0, ddof=1))
    found = free(level_weight=np.array([1.0, 1.0, 2.0])).typical_spread
    assert found == pytest.approx(expected, rel=1e-12)


def test_levels_without_an_order_add_up_nothing():
    with pytest.raises(BadSettingError, match=r"'f', whose levels have no order.*categorical="):
        free().spread(accumulate="quadrature")
    with pytest.raises(BadSettingError, match=r"accumulate='sum' of 'f', whose levels have no"):
        free().spread(accumulate="sum")


def test_levels_in_order_are_measured_or_added_up_as_asked():
    effect = free(has_order=True, std=np.array([1.0, 3.0]))
    expected = (ROWS - ROWS.mean(axis=1, keepdims=True)).std(axis=0, ddof=1)
    assert effect.spread() == pytest.approx(expected, rel=1e-12)
    assert effect.spread(center="start", accumulate="sum").tolist() == [0.0, 1.0, 4.0]
    squared = effect.spread(center="start", accumulate="quadrature")
    assert squared == pytest.approx([0.0, 1.0, np.sqrt(10)])
    assert effect.typical_spread_error == 0.5
    assert np.isnan(made().typical_spread_error)


def test_rows_differ_between_two_levels_as_their_own_changes_do():
    assert free().difference(0.0, 2.0).spread == pytest.approx(
        (ROWS[:, 2] - ROWS[:, 0]).std(ddof=1), rel=1e-12
    )
    assert made(std=np.array([1.0, 3.0])).difference(2.0, 0.0).spread == 4.0


@pytest.mark.parametrize("center", ["mean", "start", "uniform"])
def test_of_two_levels_both_kinds_of_spread_are_the_same(center):
    pair = ROWS[:, :2]
    step = (pair[:, 1] - pair[:, 0]).std(ddof=1)
    two = {"levels": ("a", "b"), "mean": (1.0,), "level_weight": np.array([1.0, 3.0])}
    ordered = made(**two, std=np.array([step]))
    for has_order in (False, True):
        found = free(pair, **two, has_order=has_order).spread(center=center)
        assert ordered.spread(center=center) == pytest.approx(found, rel=1e-12)


def test_a_feature_that_does_nothing_has_no_importance_and_no_error():
    effect = made(mean=(0.0, 0.0))
    assert effect.importance == effect.importance_error == 0.0


def test_one_level_has_a_flat_curve_and_no_importance():
    effect = made(("only",), ())
    assert effect.curve().tolist() == effect.spread().tolist() == [0.0]
    assert effect.ci("only") == (0.0, 0.0)
    assert effect.importance == effect.importance_error == 0.0
    assert np.isnan([effect.typical_spread, effect.heterogeneity]).all()


def test_a_step_without_deviation_borrows_that_of_its_neighbours_for_the_interval():
    effect = made(("a", "b", "c", "d"), (1.0, 1.0, 1.0), std=np.array([2.0, np.nan, 2.0]))
    low, high = effect.ci(center="start")
    assert np.all(np.diff(high - low) > 0)
    assert effect.spread(center="start")[-1] == 6.0


def test_pooled_levels_are_found_under_their_common_name():
    effect = made(("a", name_others(2), "c"), pooled=("x", "y"))
    assert (
        effect.curve("y", center="start") == effect.curve("other (2 levels)", center="start") == 1
    )


def test_a_level_really_called_other_is_not_mistaken_for_the_pooled_ones():
    effect = made((name_others(2), name_others(2) + " ", "c"), pooled=("x", "y"))
    assert effect.curve("x", center="start") == 1.0
    assert effect.curve(name_others(2), center="start") == 0.0


def test_a_pooled_level_that_has_the_name_of_another_is_that_other():
    effect = made(("a", name_others(2), "c"), pooled=("a", "y"))
    assert effect.find("a") == 0


def test_effects_are_equal_when_all_their_numbers_are():
    assert made() == made()
    assert made() != made(mean=(1.0, 3.5))
    assert made(std=np.array([np.nan, 1.0])) == made(std=np.array([np.nan, 1.0]))


def test_nothing_in_an_effect_can_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        made().mean[0] = 5.0


def test_the_short_text_names_feature_levels_and_importance():
    assert repr(made()) == "LevelEffect('f', output='y', 3 levels, importance=1.7)"


def test_notes_are_those_of_the_steps_and_of_the_levels():
    assert made(local_notes=("one",), bin_notes=("two",)).notes == ("one", "two")


def test_a_step_has_no_slope_and_one_deviation():
    assert made().slope.tolist() == [0.0, 0.0]
    assert made().std_plain is made().std or np.array_equal(made().std_plain, made().std)


def test_the_change_over_all_levels_has_the_error_of_the_last_one(make_levels):
    effect = make_levels(["a", "b", "c", "d"], [1.0, 2.0, 3.0], noise=1.0, rows=30)
    found = effect.difference(0.0, 3.0)
    low, high = effect.ci("d", center="start")
    assert found.size == pytest.approx(6.0, abs=1.0)
    quantile = float(high - low) / 2 / found.error  # of at least 59 degrees, at most three times
    assert stats.t.ppf(0.975, 177) <= quantile <= stats.t.ppf(0.975, 59)


def test_sampled_rows_stand_at_the_steps_below_and_above_their_level(make_levels):
    effect = make_levels(("1", "2", "5"), 1.0, edges=[1.0, 2.0, 5.0])
    x, rows = effect.locate_sample(np.array([1.0, 2.0, np.nan, 5.0]))
    assert list(zip(rows.tolist(), x.tolist(), strict=True)) == [
        (1, 1.5),  # below
        (3, 3.5),
        (0, 1.5),  # above
        (1, 3.5),
    ]


def test_statistics_are_read_at_the_levels():
    """The curve is 0, 1, 4 at levels with as many rows, so -5/3, -2/3, 7/3."""
    found = made().statistics(y=[0.0, 1.0, 2.0])
    assert found.read == "levels"
    assert found.aled == pytest.approx(14 / 9)
    assert found.aled_sd == pytest.approx(made().importance)
    assert found.aler == pytest.approx((-5 / 3, 7 / 3))
    assert found.naler == (-50.0, 50.0)
    assert found.naled == pytest.approx(100 / 3)


def test_the_denoised_square_of_levels_without_an_effect_is_zero_on_average():
    rng, raw, squares = np.random.default_rng(2), [], []
    for _ in range(300):
        level = rng.choice(4, 120, p=[0.4, 0.3, 0.2, 0.1])
        down, up = rng.normal(size=(2, 120)) + rng.normal(size=120)  # a row's steps go together
        effect = from_rows(level, np.where(level > 0, down, 0), np.where(level < 3, up, 0), 4)
        raw.append(effect.importance**2)
        squares.append(effect.importance**2 - effect._read_for_statistics()[2])
    error = np.std(squares) / np.sqrt(len(squares))
    assert np.mean(raw) > 10 * error
    assert abs(np.mean(squares)) < 3 * error


def test_one_level_has_statistics_of_nothing():
    found = made(("a",), ()).statistics(y=[1.0])
    assert (found.aled, found.aler, found.importance_denoised) == (0.0, (0.0, 0.0), 0.0)
