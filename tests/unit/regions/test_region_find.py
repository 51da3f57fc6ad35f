"""Finding regions: who differs, who does not, and what is said where nobody does."""

from dataclasses import replace

import numpy as np
import pytest
from tests.effects_by_hand import rows_of, splitters_of, target_of, uniform

from rhale.regions.find import Checked, check_groups, find_joint, find_regions
from rhale.regions.residuals import CodedRows
from rhale.regions.rules import locate_rows
from rhale.regions.settings import Regions, Target


def find(values, effects, settings=None, **how):
    rows = rows_of(values, n_levels=how.pop("n_levels", None), weight=how.pop("weight", None))
    return find_regions(rows, target_of(values[:, 0], effects, **how), settings or Regions())


def test_one_gate_is_found_with_its_threshold_and_its_share():
    values = uniform(2_000, 4)
    found = find(values, np.where(values[:, 2] > 0.33, 2.0, -1.0))
    assert [(rule.splitter, rule.first, rule.second) for rule in found.rules] == [(2, -1, -2)]
    assert found.rules[0].threshold == pytest.approx(0.33, abs=0.003)
    assert 0.94 < found.share <= 1
    assert 0 < found.error < 0.02
    assert (found.reason, found.gradual) == ("", -1)
    assert found.gains[0].share == found.share
    assert found.gains[0].rows == 1_000


def test_two_gates_that_explain_nothing_alone_are_found_together():
    values = uniform(2_000, 5, seed=1)
    exclusive = np.sign(values[:, 1]) * np.sign(values[:, 2])
    found = find(values, exclusive)
    assert set(splitters_of(found)) == {1, 2}
    assert len(found.rules) == 3
    region = locate_rows(found.rules, lambda k: values[:, k], 2_000)
    for one in range(4):
        inside = exclusive[region == one]
        assert abs(inside.mean()) > 0.97
    alone = find(values, exclusive, Regions(look_ahead=False))
    assert alone.share < found.share - 0.2


def test_two_exclusive_categories_are_found():
    values = uniform(1_000, 4, seed=2)
    values[:, 1:3] = values[:, 1:3] > 0
    found = find(values, np.where(values[:, 1] == values[:, 2], 1.0, -1.0), n_levels=[0, 2, 2, 0])
    assert set(splitters_of(found)) == {1, 2}
    assert {rule.levels for rule in found.rules} <= {(0,), (1,)}
    assert found.share > 0.9


def test_levels_are_united_by_their_effect():
    values = uniform(2_000, 3)
    values[:, 1] = np.random.default_rng(1).integers(0, 6, 2_000)
    found = find(values, np.where(np.isin(values[:, 1], (1, 4)), 2.0, -1.0), n_levels=[0, 6, 0])
    assert len(found.rules) == 1
    assert found.rules[0].levels in {(1, 4), (0, 2, 3, 5)}
    assert np.isnan(found.rules[0].threshold)


@pytest.mark.parametrize("joins", ["above", "below", "alone"])
def test_missing_values_go_to_the_side_that_they_are_like(joins):
    values = uniform(2_000, 3, seed=3)
    empty = np.random.default_rng(4).random(2_000) < 0.2
    above = (values[:, 1] > 0.2) & (joins != "alone")
    differs = np.where(empty, joins != "below", above)
    values[empty, 1] = np.nan
    found = find(values, np.where(differs, 3.0, 1.0))
    region = locate_rows(found.rules, lambda k: values[:, k], 2_000)
    assert splitters_of(found) == [1]
    assert np.mean((region == region[differs][0]) == differs) > 0.995


def test_an_additive_effect_is_alike_however_it_bends():
    values = np.random.default_rng(0).normal(size=(2_000, 3))
    values[:, 1:] += 2 * values[:, :1]
    found = find(values, 3 * values[:, 0] ** 2)
    assert found.rules == ()
    assert found.reason == "alike"
    assert np.isnan(found.partner_share).all()


def test_chance_is_not_confirmed_and_partners_are_told():
    values = uniform(2_000, 5)
    found = find(values, np.random.default_rng(9).normal(size=2_000))
    assert found.rules == ()
    assert found.reason == "not confirmed"
    assert np.isnan(found.partner_share[0])
    assert np.abs(found.partner_share[1:]).max() < 0.1
    assert found.unexplained > 0.9


def test_what_holds_but_explains_little_is_too_little():
    values = uniform(10_000, 3)
    noise = np.random.default_rng(9).normal(size=10_000)
    found = find(values, noise + np.where(values[:, 1] > 0, 0.17, -0.17))
    assert found.reason == "too little"
    assert found.rules == ()


def test_few_rows_are_not_searched():
    values = uniform(199, 2)
    found = find(values, np.sign(values[:, 1]))
    assert (found.reason, found.rules) == ("few rows", ())
    one_half = rows_of(uniform(500, 2), checks=np.ones(500, dtype=bool))
    target = target_of(one_half.values[:, 0], np.sign(one_half.values[:, 1]))
    assert find_regions(one_half, target, Regions()).reason == "few rows"


def test_without_another_feature_there_is_no_splitter():
    values = uniform(400, 3)
    values[:, 1], values[:, 2] = 7.0, np.nan
    assert find(values, values[:, 0]).reason == "no splitter"
    assert find(values[:, :1], values[:, 0]).reason == "no splitter"


def test_a_gradual_effect_is_one_split_and_called_gradual():
    values = uniform(2_000, 4)
    found = find(values, values[:, 2])
    assert splitters_of(found) == [2]
    assert found.gradual == 2
    # the best single cut of a uniform slope explains three quarters of its variance
    assert found.share == pytest.approx(0.75, abs=0.05)
    assert found.partner_share[2] > 0.9
    assert found.unexplained < 0.1


def test_many_equal_partners_get_no_tree_but_are_told():
    values = uniform(4_000, 12)
    found = find(values, 1 + values[:, 1:11].sum(axis=1))
    assert found.rules == ()
    assert found.reason == "too little"
    assert set(np.argsort(-found.partner_share[1:])[:10] + 1) == set(range(1, 11))
    assert found.unexplained < 0.3


def test_what_moves_predictions_less_than_a_fifth_of_one_feature_of_many_is_no_region():
    """A gate of ± 1 moves predictions by its scale: of four equal features .1 of their deviation is
    the bar, and of a hundred .02; a tenth of both is the room that chance has."""
    values = uniform(2_000, 4)
    gate = np.where(values[:, 1] > 0, 1.0, -1.0)
    for scale, n_features, splitters in ((0.11, 0, [1]), (0.09, 0, []), (0.09, 100, [1])):
        rows = replace(rows_of(values), n_features=n_features)
        found = find_regions(rows, target_of(values[:, 0], gate, scale=scale), Regions())
        assert splitters_of(found) == splitters
        assert found.reason == ("" if splitters else "alike")


def test_what_all_rows_share_is_taken_off_first():
    values = uniform(1_000, 3)
    jagged = np.random.default_rng(5).normal(size=1_000) * 20
    gate = np.where(values[:, 1] > 0, 3.0, -3.0)
    assert find(values, gate + jagged).rules == ()
    settings = Regions(min_effect=0.0)
    assert splitters_of(find(values, gate + jagged, settings, shared=jagged)) == [1]


@pytest.mark.parametrize(("roughness", "finds"), [(0.0, True), (0.5, True), (1.0, False)])
def test_a_fifth_of_a_spread_of_steps_by_themselves_is_too_little(roughness, finds):
    values = uniform(10_000, 3)
    chance = 2 * np.random.default_rng(2).normal(size=10_000)
    effects = np.where(values[:, 1] > 0, 1.0, -1.0) + chance  # 1 / (1 + 4): 20 %
    found = find(values, effects, roughness=roughness)
    assert splitters_of(found) == ([1] if finds else [])
    assert found.reason == ("" if finds else "too little")


def step_target(level, effects_down, effects_up, n_levels):
    """Rows of a feature with levels in order: steps from the level below and to the one above."""
    down, up = np.flatnonzero(level > 0), np.flatnonzero(level < n_levels - 1)
    step = np.concatenate([level[down] - 1, level[up]])
    effects = np.concatenate([effects_down[down], effects_up[up]])
    row = np.concatenate([down, up])
    return Target(row, step + 0.5, effects, np.zeros(row.size), 0.0, step, -1, 1.0)


def test_steps_between_levels_are_told_apart():
    values = uniform(2_000, 3)
    level = np.random.default_rng(1).integers(0, 4, 2_000)
    jump = np.array([1.0, -2.0, 5.0])  # in all rows, so that only the second differs
    effects = jump + np.where(values[:, [1]] > 0.5, [0.0, 3.0, 0.0], 0.0)
    below, above = np.clip(level - 1, 0, 2), np.clip(level, 0, 2)
    rows = np.arange(2_000)
    target = step_target(level, effects[rows, below], effects[rows, above], 4)
    found = find_regions(rows_of(values), target, Regions())
    assert splitters_of(found) == [1]
    assert found.rules[0].threshold == pytest.approx(0.5, abs=0.01)
    assert found.gains[0].rows == 1_000  # rows, not steps
    assert found.share > 0.95


def at_one_threshold(jumps, x):
    """Slopes of staircases over windows with a quarter of the rows.

    Each row jumps once, at 0.3, where every window is 0.5 wide; the rest of the trees is chance.
    """
    u = np.clip((0.3 - x) / 0.25, -1, 1)
    chance = np.random.default_rng(3).normal(0, 0.02, x.size)
    return 0.75 * (1 - u**2) / 0.25 * jumps + chance


def test_rows_that_jump_differently_at_one_threshold_are_told_apart():
    values = uniform(2_000, 4)
    scale = np.sqrt(1 / 3) / np.std((values[:, 0] > 0.3) * values[:, 1])
    slopes = at_one_threshold(values[:, 1], values[:, 0])
    found = find(values, slopes, roughness=1.0, scale=scale)
    assert splitters_of(found) == [1]
    assert abs(found.rules[0].threshold) < 0.1
    # three quarters of a uniform jump by its halves, of what the mean of each twelfth of the axis
    # leaves of a bump 3 (1 - u²)
    bump = 1 - np.clip((0.3 - np.linspace(-1, 1, 12_000)) / 0.25, -1, 1).reshape(12, -1) ** 2
    held = np.sum(bump.mean(axis=1) ** 2) / np.sum(np.mean(bump**2, axis=1))
    assert found.share == pytest.approx(0.75 * held, abs=0.03)
    assert found.gradual == 1


def test_rows_that_jump_alike_at_one_threshold_are_alike():
    values = uniform(2_000, 4)
    jumps = 1 + 0.1 * values[:, 1]  # a deviation of .06: less than predictions may move
    slopes = at_one_threshold(jumps, values[:, 0])
    scale = np.sqrt(1 / 3) / np.std((values[:, 0] > 0.3) * jumps)
    found = find(values, slopes, roughness=1.0, scale=scale)
    assert (found.rules, found.reason) == ((), "alike")


@pytest.mark.parametrize(("noise", "finds"), [(2.5, True), (4.0, False)])
def test_steps_between_levels_must_explain_a_fifth(noise, finds):
    values = uniform(10_000, 3)
    level = np.random.default_rng(1).integers(0, 2, 10_000)
    chance = noise * np.random.default_rng(2).normal(size=10_000)
    effects = np.where(values[:, 1] > 0, 2.0, -2.0) + chance  # 4 / (4 + noise²): 39 % and 20 %
    found = find_regions(rows_of(values), step_target(level, effects, effects, 2), Regions())
    assert bool(found.rules) == finds
    assert found.reason == ("" if finds else "too little")


def test_a_feature_of_few_values_works():
    values = uniform(1_000, 3)
    values[:, 0] = np.round(values[:, 0])
    found = find(values, np.where(values[:, 1] > 0, 1.0, 3.0) * (2 + values[:, 0]))
    assert splitters_of(found) == [1]


def test_one_tree_for_all_features_adds_up_what_they_explain():
    values = uniform(2_000, 5)
    gate = np.where(values[:, 3] > 0.2, 1.0, -1.0)
    targets = [target_of(values[:, k], (k + 1) * gate, own=k) for k in range(3)]
    found = find_joint(rows_of(values), targets, Regions())
    assert splitters_of(found) == [3]
    assert found.share > 0.95
    alone = [find_regions(rows_of(values), target, Regions()) for target in targets]
    weights = np.array([1.0, 4, 9]) / 14
    mean = sum(w * one.share for w, one in zip(weights, alone, strict=True))
    assert found.share == pytest.approx(mean, abs=0.01)


def test_one_tree_for_one_feature_is_its_own():
    values = uniform(1_000, 4)
    target = target_of(values[:, 0], np.where(values[:, 1] > 0.2, 1.0, -1.0) + values[:, 2])
    rows = rows_of(values)
    one, joint = find_regions(rows, target, Regions()), find_joint(rows, [target], Regions())
    assert one.rules == joint.rules
    assert one.share == pytest.approx(joint.share)


def test_groups_that_are_named_get_an_honest_share():
    values = uniform(4_000, 3)
    gate = (values[:, 1] > 0).astype(int)
    target = target_of(values[:, 0], 2.0 * gate + values[:, 2])
    gain = check_groups(rows_of(values), gate, target, Regions())
    # variances 1 of the gate and 1/3 of the rest
    assert gain.share == pytest.approx(0.75, abs=0.04)
    assert 0 < gain.error < 0.03
    assert gain.rows == 2_000


def test_coded_rows_are_found_the_same():
    values = uniform(1_000, 3)
    rows, target = rows_of(values), target_of(values[:, 0], np.sign(values[:, 1]))
    plain, coded = (find_regions(r, target, Regions()) for r in (rows, CodedRows(rows)))
    assert plain.rules == coded.rules
    assert plain.share == coded.share


def test_nothing_that_is_given_is_changed():
    values = uniform(500, 3)
    rows = rows_of(values)
    target = target_of(values[:, 0], np.sign(values[:, 1]))
    copies = values.copy(), target.effects.copy(), rows.weight.copy()
    find_regions(rows, replace(target, roughness=1.0), Regions())
    for given, copy in zip((values, target.effects, rows.weight), copies, strict=True):
        np.testing.assert_array_equal(given, copy)


def test_halves_that_change_places_find_more_in_few_rows(monkeypatch):
    def count():
        return sum(
            splitters_of(find(values, 0.55 * np.sign(values[:, 1]) + noise)) == [1]
            for values, noise in problems
        )

    rngs = [np.random.default_rng(seed) for seed in range(12)]
    problems = [(rng.uniform(-1, 1, (300, 4)), 0.84 * rng.normal(size=300)) for rng in rngs]
    both_ways = count()
    monkeypatch.setattr("rhale.regions.find._confirm_both_ways", lambda *_: Checked(None))
    assert both_ways > count()


def test_an_honest_share_is_right_on_average():
    shares = []
    for seed in range(12):
        values = uniform(1_000, 3, seed)
        chance = np.random.default_rng(seed).normal(size=1_000)
        gate = (values[:, 1] > 0).astype(int)
        target = target_of(values[:, 0], 4.0 * gate + chance)
        shares.append(check_groups(rows_of(values), gate, target, Regions()).share)
    # variances 4 and 1; curves of groups are fitted to 500 rows, which costs some of the rest
    assert np.mean(shares) == pytest.approx(0.8, abs=0.015)


def test_a_splitter_is_credited_with_the_regions_that_it_makes_alone():
    """Of 300 rows a curve for each of its nine cells explains less than one for either side."""
    values, rng = uniform(300, 3), np.random.default_rng(0)
    gone = rng.uniform(size=300) < 0.3
    values[gone, 1] = np.nan
    found = find(values, 3 * gone + 1.5 * rng.normal(size=300))
    assert splitters_of(found) == [1]
    assert found.partner_share[1] == pytest.approx(found.share)
    assert found.partner_error[1] == pytest.approx(found.error)
    assert found.partner_share[2] < found.share


def years_of(n_rows=3_000):
    values = uniform(n_rows, 4, seed=11)
    values[:, 1] = np.random.default_rng(11).integers(2000, 2020, n_rows)
    return values


@pytest.mark.parametrize("turned", [1, -1], ids=["inside", "outside"])
def test_an_interval_of_years_is_one_rule_with_two_limits(turned):
    """One cut explains a fifth of it and eight cells two thirds: it was called gradual."""
    values = years_of()
    inside = (values[:, 1] >= 2008) & (values[:, 1] <= 2012)
    found = find(values, turned * np.where(inside, 1.0, -1.0))
    assert [(rule.splitter, rule.above, rule.threshold) for rule in found.rules] == [
        (1, 2007.0, 2012.0)
    ]
    assert found.gradual == -1
    assert found.share > 0.97
    region = locate_rows(found.rules, lambda k: values[:, k], len(values))
    np.testing.assert_array_equal(region == 0, inside)


def test_an_interval_lies_between_the_rows_that_differ():
    values = uniform(2_000, 4, seed=12)
    inside = (values[:, 2] > -0.1234) & (values[:, 2] <= 0.2345)
    found = find(values, np.where(inside, 2.0, 0.0))
    (rule,) = found.rules
    np.testing.assert_array_equal(rule.goes_first(values[:, 2]), inside)


def test_an_interval_stands_below_another_rule():
    values = years_of(4_000)
    inside = (values[:, 1] >= 2005) & (values[:, 1] <= 2014) & (values[:, 2] > 0)
    found = find(values, np.where(inside, 2.0, -0.5))
    assert [(rule.splitter, rule.above > -np.inf) for rule in found.rules] == [
        (2, False),
        (1, True),
    ]
    assert found.share > 0.97


@pytest.mark.parametrize(
    "effect", [lambda z: np.cos(3 * z), lambda z: z**2, np.tanh], ids=["hump", "square", "tanh"]
)
def test_what_rises_and_falls_smoothly_stays_gradual(effect):
    values = uniform(3_000, 4, seed=13)
    assert find(values, effect(2 * values[:, 1])).gradual == 1


def mixed_effects(values, direction, share, seed=14):
    """Effects of which a smooth wave in some direction makes a share, and fine noise the rest."""
    wave = np.sin(values @ direction)
    noise = np.random.default_rng(seed).normal(size=len(values))
    return wave / wave.std() * np.sqrt(share) + noise * np.sqrt(1 - share)


@pytest.mark.parametrize("seed", range(2))
def test_a_weak_rule_in_no_direction_of_its_own_is_not_told(seed):
    """What networks do by mistake goes with many features at once, and each explains some."""
    values = np.random.default_rng(seed).normal(size=(2_000, 7))
    direction = np.array([0, 1, 1, -1, 0, 0, 0]) / np.sqrt(3)
    found = find(values, mixed_effects(values, direction, 0.9))
    assert found.rules == ()
    assert found.reason == "any direction"


def test_a_weak_rule_on_one_feature_is_told():
    values = np.random.default_rng(0).normal(size=(1_500, 6))
    found = find(values, mixed_effects(values, np.eye(6)[3], 0.45))
    assert splitters_of(found) == [3]
    assert found.share < 0.5
