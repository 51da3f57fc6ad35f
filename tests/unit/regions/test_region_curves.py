from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhale
from rhale.effects.effect import NO_SAMPLE
from rhale.errors import BadSettingError
from rhale.output.labels import Captions
from rhale.plots import style
from rhale.plots.axes import Layers, read_item
from rhale.regions.plot import (
    count_rest,
    describe_briefly,
    describe_tree,
    format_row_percent,
    read_region_curves,
    require_regions,
)
from rhale.regions.result import Partner, Region, RegionTree, Split

X = np.linspace(0, 1, 401)
SLOPES = st.floats(-5, 5).map(lambda slope: round(slope, 3))


def made(slope, regions):
    """A straight effect on [0, 1], and straight ones on parts of it: (slope, start, stop)."""
    parts = [
        Region(
            f"{k}",
            10,
            1 / len(regions),
            rhale.effect(start + (stop - start) * X, 0 * X + s, bins=1),
        )
        for k, (s, start, stop) in enumerate(regions)
    ]
    tree = RegionTree("x", "y", "given", "", tuple(parts))
    return replace(rhale.effect(X, 0 * X + slope, bins=1), regions=tree)


@settings(max_examples=40)
@given(SLOPES, SLOPES, st.floats(0, 0.8), st.sampled_from(["mean", "start", "uniform"]))
def test_a_region_s_curve_meets_the_common_one_where_its_zero_is(common, slope, start, center):
    first, _ = read_region_curves(made(common, [(slope, start, 1), (0, 0, 1)]), Layers(center))
    x, curve = first.item.path.x, first.item.path.curve
    meeting = start if center == "start" else (start + 1) / 2
    zero = 0.0 if center == "start" else 0.5
    expected = common * (meeting - zero) + slope * (x - meeting)
    np.testing.assert_allclose(curve, expected, atol=0.02)


def test_intervals_move_with_their_curve(make_effect, with_regions):
    rng = np.random.default_rng(0)
    one = make_effect(0.5 + X / 2, 3 + rng.normal(size=401))
    effect = with_regions(make_effect(X, 0 * X + 2), {"a": one, "b": one})
    path, own = read_region_curves(effect, Layers())[0].item.path, one.trace()
    np.testing.assert_allclose(path.high - path.curve, own.high - own.curve)
    np.testing.assert_allclose(path.curve - path.low, own.curve - own.low)


def test_nothing_is_drawn_where_a_region_has_no_rows(make_effect, with_regions):
    half = make_effect(X / 2, 0 * X + 1, np.linspace(0, 1, 6))
    gap = make_effect(np.where(X < 0.5, X / 2, 0.5 + X / 2), 0 * X + 1, [0, 0.25, 0.75, 1])
    first, second = read_region_curves(
        with_regions(make_effect(X, 0 * X), {"half": half, "gap": gap}), Layers()
    )
    drawn = first.item.path.x[np.isfinite(first.item.path.curve)]
    assert drawn.min() == 0
    assert 0.5 <= drawn.max() <= 0.52
    x = second.item.path.x
    hidden = np.isnan(second.item.path.curve)
    np.testing.assert_array_equal(hidden, (x > 0.25) & (x < 0.75))


def test_levels_meet_the_common_ones_whatever_their_order(make_levels, with_regions):
    common = make_levels(("a", "b", "c"), [1.0, 1.0])
    other = make_levels(("c", "a"), [-6.0], rows=[30, 10])
    first, _ = read_region_curves(with_regions(common, {"one": other, "two": common}), Layers())
    # the common ones are -1, 0, 1: 1/2 on average over the rows, 30 of c and 10 of a
    heights = dict(zip(other.labels, first.item.path.curve, strict=True))
    assert heights["c"] - heights["a"] == pytest.approx(6)
    assert 0.75 * heights["c"] + 0.25 * heights["a"] == pytest.approx(0.5)


def test_the_four_regions_with_the_most_rows_are_drawn_in_their_order(by_sex, with_regions):
    names, shares = "abcdef", [0.05, 0.3, 0.2, 0.05, 0.1, 0.3]
    effect = with_regions(by_sex, dict.fromkeys(names, by_sex.regions[0].effect), shares)
    curves = read_region_curves(effect, Layers())
    assert [curve.place for curve in curves] == [1, 2, 4, 5]
    assert count_rest(effect.regions, curves) == "and 2 more regions, 10 % of rows"
    given = replace(effect.regions, state="given")
    assert count_rest(given, curves[:3] + curves[4:]) == "and 3 more groups, 40 % of rows"
    assert count_rest(given, [*curves, curves[0]]).startswith("and 1 more group, ")


def test_labels_tell_the_rule_and_the_rows(by_sex):
    labels = [curve.label for curve in read_region_curves(by_sex, Layers())]
    assert labels == ["sex = f, 48 % of rows", "sex = m, 52 % of rows"]


def test_a_region_with_one_value_is_a_point_on_the_common_curve(by_sex, make_effect, with_regions):
    constant = make_effect(np.full(5, 0.75), np.ones(5), [0.75, 0.75])
    effect = with_regions(by_sex, {"a": constant, "b": by_sex.regions[0].effect})
    first, second = read_region_curves(effect, Layers())
    common = read_item(effect, "mean", 0.95)
    assert first.item.path.x.tolist() == [0.75]
    np.testing.assert_allclose(first.item.path.curve, [0.5])  # a slope of 2, zero at 1/2
    assert first.is_point(common)
    assert not second.is_point(common)


def test_a_region_with_one_level_is_a_point_on_the_common_one(make_levels, with_regions):
    common = make_levels(("a", "b", "c"), [1.0, 1.0])
    one = make_levels(("c",), ())
    first, _ = read_region_curves(with_regions(common, {"one": one, "two": common}), Layers())
    np.testing.assert_allclose(first.item.path.curve, [1.0])


def test_a_region_without_rows_has_no_curve(by_sex, with_regions):
    one = by_sex.regions[0].effect
    empty = replace(one, sample=NO_SAMPLE, count=0 * one.count, weight=0 * one.weight)
    first, second = read_region_curves(with_regions(by_sex, {"a": empty, "b": one}), Layers())
    assert first.item.path.x.size == 0
    assert first.label == "a, 50 % of rows (no curve)"
    assert second.item.path.x.size > 0


def test_thirds_take_the_place_of_regions_in_shades_of_one_hue(by_sex):
    thirds = tuple(replace(by_sex.regions[0], rule=f"third {k}") for k in range(3))
    tree = replace(by_sex.regions, thirds=thirds, gradual="income")
    curves = read_region_curves(replace(by_sex, regions=tree), Layers())
    assert [curve.label for curve in curves] == [
        "lowest third: third 0",
        "middle third: third 1",
        "highest third: third 2",
    ]
    assert [curve.look for curve in curves] == list(style.THIRDS)
    assert count_rest(tree, curves) == ""


def test_no_region_has_the_ink_of_spread_or_of_intervals():
    inks = {look.colour for look in (*style.REGIONS, *style.THIRDS)}
    assert len(inks) == 7
    assert not inks & {style.SPREAD, style.UNCERTAINTY, style.COUNT}
    assert style.REGIONS[0].colour == style.EFFECT
    assert len({look.dash for look in style.REGIONS}) == 4


def sentence(**fields):
    one = Region("r", 1, 0.5, rhale.effect(X, X))
    kept = {"state": "found", "why": "", "regions": (one, one), **fields}
    return describe_tree(RegionTree("age", "y", **kept))


def test_the_sentence_names_what_tells_rows_apart():
    splits = [Split(0, name, 0, 1.0) for name in ("sex", "smoker", "sex", "bmi")]
    shares = {"share": 0.917, "standard_error": 0.012}
    assert sentence(splits=splits[:1], **shares) == "sex explains 92 ± 1 % of the spread"
    two = "sex and smoker explain 92 ± 1 % of the spread"
    assert sentence(splits=splits[:3], **shares) == two
    three = "sex, smoker and bmi explain 92 ± 1 % of the spread"
    assert sentence(splits=splits, **shares) == three


def test_the_sentence_says_that_an_effect_changes_gradually():
    partners = (Partner("sex", 0.9, 0.1), Partner("income", 0.88, 0.02))
    words = sentence(gradual="income", share=0.7, standard_error=0.01, partners=partners)
    assert words == "changes gradually with income (88 ± 2 %)"


def test_the_sentence_says_why_there_are_no_regions():
    one = (Region("all rows", 1, 1.0, rhale.effect(X, X)),)
    assert sentence(state="none", why="rows hardly differ", regions=one) == (
        "no regions: rows hardly differ"
    )
    assert sentence(state="doubtful", why="no more than steps", regions=one) == (
        "doubtful: no more than steps"
    )


def test_groups_have_a_share_where_it_is_known():
    assert sentence(state="given") == ""
    assert sentence(state="given", regions=()) == "only one group has rows"
    assert sentence(state="given", share=0.4, standard_error=0.031) == (
        "these groups explain 40 ± 3 % of the spread"
    )


def test_long_names_leave_room_for_the_share():
    splits = [Split(0, letter * 60, 0, 1.0) for letter in "ab"]
    one = Region("r", 1, 0.5, rhale.effect(X, X))
    tree = RegionTree("age", "y", "found", "", (one, one), splits, 0.9, 0.01)
    words = describe_tree(tree, 80)
    assert len(words) <= 80
    assert words.endswith("explain 90 ± 1 % of the spread")


def test_shares_are_written_in_per_cent():
    assert [format_row_percent(s) for s in (0.0, 0.0004, 0.004, 0.5, 0.996, 1.0)] == [
        "0 %", "0.04 %", "0.4 %", "50 %", "100 %", "100 %"
    ]  # fmt: skip


def test_regions_that_nobody_asked_for_are_refused(effect, make_profile):
    with pytest.raises(BadSettingError, match=r"'age' has no regions.*explain\(..., regions=True"):
        read_region_curves(effect, Layers())
    with pytest.raises(BadSettingError, match=r"'age' has no regions.*profiles.*another method"):
        read_region_curves(make_profile("pdp"), Layers())


def test_a_brief_sentence_is_as_long_as_there_is_room():
    splits = [Split(0, letter * 40, 0, 1.0) for letter in "ab"]
    one = Region("r", 1, 0.5, rhale.effect(X, X))
    tree = RegionTree("age", "y", "found", "", (one, one), splits, 0.9, 0.01)
    gradual = replace(tree, gradual="c" * 40)
    for words in (describe_briefly(tree, 40), describe_briefly(gradual, 40)):
        assert len(words) <= 40
        assert words.endswith(" (90 ± 1 %)")
    groups = replace(tree, splits=(), state="given")
    assert describe_briefly(groups, 40) == "by groups (90 ± 1 %)"
    assert describe_briefly(replace(groups, share=float("nan")), 40) == "by groups"


def test_regions_are_called_what_people_read():
    tree = RegionTree("x", "y", "found", "", (), (Split(0, "z", 1, 0.5),), 0.92, 0.01)
    effect = made(1.0, [(1, 0, 1), (2, 0, 1)])
    tree = replace(tree, regions=effect.regions.regions)
    effect = replace(effect, regions=tree, captions=Captions({"z": "Age"}))
    labels = [curve.label for curve in read_region_curves(effect, Layers())]
    assert labels == ["Age ≤ 0.5, 50 % of rows", "Age > 0.5, 50 % of rows"]
    assert describe_tree(require_regions(effect)) == "Age explains 92 ± 1 % of the spread"
    assert effect.regions[0].rule == "0"  # as it is stored
