import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.conftest import divide

import problems
import rhale
from rhale.effects.result import Difference
from rhale.regions.report import compare_regions, join_clauses, ratio_words, tell_regions, way_of
from rhale.regions.result import Partner, Region, RegionTree, Split

X = np.linspace(0.0, 10.0, 401)
SHARE = {"share": 0.921, "standard_error": 0.012}
RULES = ("sex = male", "sex = female")


def test_twice_the_effect_is_called_so():
    """Slopes 4 and 2 over a stretch of 10: changes of 40 and 20."""
    assert tell_regions(divide(X, {RULES[0]: 4.0, RULES[1]: 2.0}, **SHARE)) == (
        "Where sex = male the effect of age is about twice that where sex = female "
        "(from 0 to 10 the prediction rises by 40 and by 20); "
        "this explains 92 ± 1 % of the spread in this model."
    )


def test_the_stronger_region_comes_first_whichever_way_it_goes():
    assert tell_regions(divide(X, {RULES[0]: -1.0, RULES[1]: -3.0}, **SHARE)).startswith(
        "Where sex = female the effect of age is about 3 times that where sex = male "
        "(from 0 to 10 the prediction falls by 30 and by 10); "
    )


def test_a_long_rule_is_not_said_twice():
    long = "city = " + " or ".join(f"place {i}" for i in range(9))
    told = tell_regions(divide(X, {"city = other": 4.0, long: 2.0}, **SHARE))
    assert told.startswith("Where city = other the effect of age is about twice that elsewhere (")


def test_curves_that_go_opposite_ways_are_told_one_by_one():
    assert tell_regions(divide(X, {"z > 0": 0.3, "z ≤ 0": -0.2}, **SHARE)) == (
        "From 0 to 10 the prediction rises by 3 where z > 0, and falls by 2 where z ≤ 0; "
        "this explains 92 ± 1 % of the spread in this model."
    )


def test_a_curve_that_hardly_moves_is_told_so():
    told = tell_regions(divide(X, {"z > 0": 0.3, "z ≤ 0": 0.01}, **SHARE))
    assert told.startswith(
        "From 0 to 10 the prediction rises by 3 where z > 0, and hardly moves where z ≤ 0; "
    )


def test_four_regions_are_told_in_groups():
    told = tell_regions(divide(X, {"a": 0.1, "b": -0.2, "c": 0.4, "d": 0.0}, **SHARE))
    assert told.startswith(
        "From 0 to 10 the prediction rises by 4 where c, by 1 where a, falls by 2 where b, "
        "and hardly moves where d; "
    )


def test_of_many_groups_the_two_that_differ_most_are_told():
    slopes = {f"city = {i}": 0.1 * i for i in range(20)}
    told = tell_regions(divide(X, slopes, state="given", share=0.4, standard_error=0.02))
    assert told == (
        "Of 20 groups two differ most: from 0 to 10 the prediction rises by 19 where city = 19, "
        "and hardly moves where city = 0; this explains 40 ± 2 % of the spread."
    )


def test_regions_that_do_the_same_are_told_together():
    slopes = {"a": 0.3, "b": -0.2, "c": 0.3, "d": -0.2}
    assert tell_regions(divide(X, slopes, **SHARE)).startswith(
        "From 0 to 10 the prediction rises by 3 where a or where c, "
        "and falls by 2 where b or where d; "
    )


def test_regions_that_differ_in_a_part_are_told_there():
    """Slope 0.2, and 2 more from 5 to 7.5 in one region: changes of 5.5 and 0.5 there."""
    gate = np.where((X >= 5) & (X < 7.5), 2.2, 0.2)
    told = tell_regions(divide(X, {"z > 0": gate, "z ≤ 0": 0.2}, bins=rhale.Fixed(40), **SHARE))
    assert told.startswith("The effect of age differs most from 5.1")
    assert "rises by 5." in told
    bump = np.where(X < 5, 1.0, -1.0)
    told = tell_regions(divide(X, {"z > 0": bump, "z ≤ 0": 0.0}, bins=20, **SHARE))
    assert told.startswith("The effect of age differs most from 0 to 5: there the prediction rises")
    assert "rises by 5 where z > 0, and hardly moves where z ≤ 0" in told


def test_curves_that_turn_are_compared_where_one_is_so_many_times_the_other():
    """Parabolas, 2 and 1 times (x - 5)²: their difference changes by 25 from 0 to 5."""
    parabola = 2 * (X - 5)
    told = tell_regions(
        divide(X, {"a": 2 * parabola, "b": parabola}, bins=rhale.Fixed(40), **SHARE)
    )
    assert told.startswith(
        "Where a the effect of age is about twice that where b "
        "(from 0 to 5 the prediction falls by 50"
    )


def test_a_ratio_that_few_rows_do_not_tell_is_not_told():
    rng = np.random.default_rng(0)
    noisy = 2.0 + rng.normal(0, 8, 401)
    told = tell_regions(divide(X, {"z > 0": noisy + 6, "z ≤ 0": noisy}, bins=1, **SHARE))
    assert "times" not in told
    assert "twice" not in told
    assert "rises by 8" in told or "±" in told


def test_what_chance_could_make_is_not_told_as_a_difference():
    rng = np.random.default_rng(1)
    slopes = {name: 1.0 + rng.normal(0, 5, 401) for name in ("a", "b")}
    effect = divide(X, slopes, bins=1, state="given", share=0.01, standard_error=0.02)
    told = tell_regions(effect)
    assert told.startswith("The effect of age does not differ significantly between the groups")
    found = tell_regions(divide(X, slopes, bins=1, **SHARE))
    assert found == (
        "The effect of age differs between 2 regions in its shape; "
        "this explains 92 ± 1 % of the spread in this model."
    )


def test_a_way_that_rows_do_not_tell_is_called_unclear():
    assert way_of(Difference(1.0, 0.6, 0.0), 2.0) == "unclear"
    assert way_of(Difference(1.0, float("nan"), 0.0), 2.0) == "unclear"
    assert way_of(Difference(0.01, 0.001, 0.0), 2.0) == "hardly moves"
    assert way_of(Difference(-1.0, 0.1, 0.0), 2.0) == "falls"


def test_regions_of_a_common_tree_that_differ_in_nothing_are_told_so():
    """One tree for all features: it says nothing about some of them."""
    effect = divide(X, {"a": 1.0, "b": 1.0}, share=0.001, standard_error=0.002)
    assert tell_regions(effect) == (
        "The effect of age does not differ significantly between the regions."
    )


def test_regions_that_are_not_compared_are_counted():
    effect = divide(X, {"a": 1.0, "b": 3.0, "c": 9.0, "d": 7.0}, **SHARE)
    tree = effect.regions
    few = tuple(replace(region, count=29, share_of_rows=0.01) for region in tree.regions[2:])
    told = tell_regions(replace(effect, regions=replace(tree, regions=tree.regions[:2] + few)))
    assert told.startswith("Where b the effect of age is about 3 times that where a (")
    assert told.endswith(" 2 regions are not compared, for too few rows or no range in common.")


def test_an_unclear_region_is_left_open():
    rng = np.random.default_rng(3)
    noisy = rng.normal(0, 9, 401)
    noisy -= noisy.mean()
    told = tell_regions(divide(X, {"a": 9.0, "b": noisy - 0.5}, bins=1, **SHARE))
    assert "rises by 90 where a" in told
    assert "the direction is unclear where b; this explains" in told


def test_regions_are_compared_where_all_have_rows():
    """One region on [0, 10], the other on [0, 6]: slopes 1 and 3 make 6 and 18 there."""
    effect = divide(X, {"a": 1.0, "b": 3.0}, **SHARE)
    short = rhale.effect(X[X <= 6], np.full((X <= 6).sum(), 3.0), name="age")
    tree = effect.regions
    tree = replace(tree, regions=(tree[0], replace(tree[1], effect=short)))
    told = tell_regions(replace(effect, regions=tree))
    assert "(from 0 to 6 the prediction rises by 18 and by 6)" in told


def test_regions_without_a_common_stretch_are_not_compared():
    parts = [
        rhale.effect(x, np.ones(100)) for x in (np.linspace(0, 1, 100), np.linspace(2, 3, 100))
    ]
    regions = tuple(Region(f"g{i}", 100, 0.5, part) for i, part in enumerate(parts))
    tree = RegionTree("age", "y0", "given", "", regions, share=0.3, standard_error=0.01)
    whole = rhale.effect(X, np.ones(401), name="age")
    assert tell_regions(replace(whole, regions=tree)) == (
        "The groups cannot be compared: they have no range of age in common. They explain 30 ± 1 % of the spread."
    )


def test_levels_are_compared_by_name_whatever_their_order(make_levels):
    """From a to b +1 in one region; in the other from a to b +3, where they stand the other way."""
    whole = make_levels(["a", "b", "c"], [2.0, 0.0])
    one, two = make_levels(["a", "b", "c"], [1.0, 0.0]), make_levels(["c", "b", "a"], [0.0, -3.0])
    regions = (Region("z > 0", 30, 0.5, one), Region("z ≤ 0", 30, 0.5, two))
    tree = RegionTree("city", "y0", "found", "", regions, **SHARE)
    assert tell_regions(replace(whole, regions=tree)).startswith(
        "Where z ≤ 0 the effect of city is about 3 times that where z > 0 "
        "(from “a” to “b” the prediction rises by 3 and by 1); "
    )


def test_a_gradual_change_is_told_from_its_lowest_to_its_highest_third():
    effect = divide(X, {"z > 0": 3.0, "z ≤ 0": 1.0}, share=0.88, standard_error=0.02)
    thirds = divide(X, {"low": 0.5, "middle": 2.0, "high": 3.5}).regions.regions
    tree = replace(effect.regions, gradual="income", thirds=thirds)
    assert tell_regions(replace(effect, regions=tree)) == (
        "The effect of age changes gradually with income, which explains 88 ± 2 % of the spread in this model: "
        "from 0 to 10 the prediction rises by 5 in the lowest third of income, and by 35 in the "
        "highest."
    )


def test_parts_that_are_no_thirds_are_told_by_their_rules():
    effect = divide(X, {"z > 0": 3.0, "z ≤ 0": 1.0}, share=0.88, standard_error=0.02)
    parts = divide(X, {"z ≤ 2": 0.5, "z > 2": 3.5}).regions.regions
    told = tell_regions(replace(effect, regions=replace(effect.regions, gradual="z", thirds=parts)))
    assert told.endswith("the prediction rises by 5 where z ≤ 2, and by 35 where z > 2.")


def test_a_gradual_change_of_sign_is_told():
    effect = divide(X, {"z > 0": 3.0, "z ≤ 0": 1.0}, share=0.88, standard_error=0.02)
    thirds = divide(X, {"low": -0.5, "middle": 0.0, "high": 0.5}).regions.regions
    told = tell_regions(
        replace(effect, regions=replace(effect.regions, gradual="z", thirds=thirds))
    )
    assert told.endswith("falls by 5 in the lowest third of z, and rises by 5 in the highest.")


def test_a_gradual_change_has_the_share_of_its_partner_and_names_other_splitters():
    effect = divide(X, {"z > 0": 3.0, "z ≤ 0": 1.0}, share=0.7, standard_error=0.02)
    tree = replace(effect.regions, gradual="z", partners=(Partner("z", 0.95, 0.01),))
    told = tell_regions(replace(effect, regions=tree))
    assert (
        told
        == "The effect of age changes gradually with z, which explains 95 ± 1 % of the spread in this model."
    )
    tree = replace(tree, splits=(Split(0, "z", 1, 0.0), Split(1, "sex", 2, None, ("male",))))
    told = tell_regions(replace(effect, regions=tree))
    assert told == (
        "The effect of age changes gradually with z, and differs by sex, "
        "which explains 70 ± 2 % of the spread in this model."
    )


@pytest.mark.parametrize("share", [-0.02, 0.0, 0.01])
def test_groups_that_explain_nothing_are_told_so(share):
    slopes = {"a": 1.0, "b": 3.0}
    effect = divide(X, slopes, state="given", share=share, standard_error=0.02)
    assert tell_regions(effect).endswith("; this explains no measurable part of the spread.")


def test_what_is_doubtful_is_a_hint():
    whole = rhale.effect(X, np.ones(401), name="age")
    one = (Region("all rows", 401, 1.0, whole),)
    tree = RegionTree("age", "y0", "doubtful", "no larger than steps", one, share=0.2)
    tree = replace(tree, doubtful=(Split(0, "x4", 4, 0.5),))
    assert tell_regions(replace(whole, regions=tree)) == (
        "The effect of age may differ by x4, but the steps of this model can give as much by chance: "
        "treat it as a hint."
    )


def test_where_nothing_was_found_the_reason_is_told():
    whole = rhale.effect(X, np.ones(401), name="age")
    one = (Region("all rows", 401, 1.0, whole),)
    tree = RegionTree("age", "y0", "none", "rows hardly differ", one)
    assert tell_regions(replace(whole, regions=tree)) == "No groups found: rows hardly differ."
    assert tell_regions(whole) == ""


def test_names_that_turn_the_writing_turn_nothing_else():
    told = tell_regions(divide(X, {"\u202eelam": 4.0, "b": 2.0}, **SHARE))
    assert told.startswith("Where \u2068\u202eelam\u2069 the effect of age is")


@settings(max_examples=30)
@given(st.floats(0.2, 5.0), st.floats(1.15, 9.0))
def test_the_ratio_is_that_of_the_slopes(slope, times):
    effect = divide(X, {"a": slope, "b": slope * times})
    found = compare_regions(effect, effect.regions.regions, ["where a", "where b"])
    said = ratio_words(found).split()[1].replace("twice", "2")
    assert float(said) == pytest.approx(times, rel=0.06)


def test_parts_of_a_sentence_are_joined():
    assert join_clauses(["a", "b"]) == "a, and b"


@pytest.mark.parametrize(
    ("pose", "true"),
    [
        # slopes 2 where both gates are open, else -1, from -1 to 1
        (problems.both_gates, r"rises by 4 where x1 > .* and x2 > .*, and falls by 2 where .* or "),
        # slopes 3 and -3, by an exclusive or
        (problems.either_or, r"rises by 6 where .* or where .*, and falls by 6 where .* or where "),
        # 1 and, beyond 0.5, 3: changes over all but the ends of what differs
        (
            problems.local_gate,
            r"differs most from 0\.5\d* to (0\.9\d|1): .* rises by 1\.4.* by 0\.4",
        ),
        # five times as steep for one row in twenty
        (problems.small_group, r"^Where x2 > 0\.\d+ the effect of x0 is about 5 times that where"),
    ],
)
def test_sentences_about_regions_that_were_found_are_true(pose, true):
    problem = pose()
    rows = problem.draw(2_000, 0)
    asked = {"gradient": problem.gradient, "features": [0], "regions": True}
    assert re.search(true, tell_regions(rhale.explain(problem.predict, rows, **asked)["x0"]))
