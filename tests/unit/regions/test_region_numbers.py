from dataclasses import replace

import numpy as np
import pytest
from tests.unit.conftest import divide, make_stepped

import rhale
from rhale.effects.alignment import align
from rhale.regions.report import MAX_REGION_CURVE_POINTS, MOST_LINES, partners_in_words, regions_of
from rhale.regions.result import Partner, Region, RegionTree

X = np.linspace(0.0, 10.0, 401)


def read_line(path, x):
    return np.interp(x, path.x, path.y)


def test_nothing_is_said_of_regions_that_nobody_asked_for():
    assert regions_of(rhale.effect(X, np.ones(401))) is None


def test_one_region_is_told_and_not_drawn():
    whole = rhale.effect(X, np.ones(401))
    tree = RegionTree(
        "x", "y", "none", "rows hardly differ", (Region("all rows", 401, 1.0, whole),)
    )
    found = regions_of(replace(whole, regions=tree))
    assert found.reading == "No groups found: rows hardly differ."
    assert (found.lines, found.rows) == ((), ())


@pytest.mark.parametrize("slopes", [(4.0, 2.0), (X, -X), (np.sin(X), 0 * X)])
def test_lines_are_the_curves_of_the_regions_where_they_stand(slopes):
    effect = divide(X, dict(zip("ab", slopes, strict=True)), bins=40)
    found = regions_of(effect)
    curves = [r.effect.curve(X) + align(r.effect, effect) for r in effect.regions]
    height = np.ptp([effect.curve(X), *curves])
    for line, curve in zip(found.lines, curves, strict=True):
        np.testing.assert_allclose(read_line(line.path, X), curve, atol=0.004 * height)


def test_regions_over_other_rows_stand_on_the_common_curve():
    """One slope in all rows: two regions side by side lie on the same line."""
    common = rhale.effect(X, np.ones(401))
    parts = [rhale.effect(x, np.ones(x.size)) for x in (X[X < 5], X[X >= 5])]
    regions = tuple(Region(f"{i}", 200, 0.5, part) for i, part in enumerate(parts))
    tree = RegionTree("x", "y", "given", "", regions)
    for line in regions_of(replace(common, regions=tree)).lines:
        x = np.array(line.path.x)
        np.testing.assert_allclose(line.path.y, common.curve(x), atol=2e-3)


def test_nothing_is_drawn_where_a_region_has_no_rows():
    common, x = rhale.effect(X, np.ones(401)), X[X <= 5]
    limits = rhale.Edges([0.0, 2.5, 5.01, 10.0])
    part = rhale.effect(x, np.ones(x.size), bins=limits)
    regions = (Region("a", 200, 0.5, part), Region("b", 200, 0.5, common))
    tree = RegionTree("x", "y", "given", "", regions)
    first, second = regions_of(replace(common, regions=tree)).lines
    assert (first.path.x[0], first.path.x[-1]) == (0, pytest.approx(5.01))
    assert second.path.x[-1] == 10


def test_the_largest_regions_are_drawn_and_all_are_in_the_table():
    effect = divide(X, {f"g{i}": float(i) for i in range(7)}, state="given")
    shares = (0.1, 0.3, 0.05, 0.2, 0.05, 0.1, 0.2)
    tree = effect.regions
    regions = tuple(replace(r, share_of_rows=s) for r, s in zip(tree, shares, strict=True))
    found = regions_of(replace(effect, regions=replace(tree, regions=regions)))
    assert [line.row for line in found.lines] == [0, 1, 3, 6]
    assert len(found.lines) == MOST_LINES
    assert [row.rule for row in found.rows] == [f"g{i}" for i in range(7)]


def test_the_table_has_the_numbers_of_the_regions():
    effect = divide(X, {"a": 4.0, "b": 2.0})
    for row, region in zip(regions_of(effect).rows, effect.regions, strict=True):
        assert (row.rule, row.count, row.share) == (region.rule, 401, 0.5)
        assert row.size == pytest.approx(region.effect.importance, rel=1e-3)
        assert row.error == pytest.approx(region.effect.importance_error, rel=1e-3)
        assert row.spread_error is None  # made without a model


def test_spreads_of_measured_regions_have_their_errors():
    rows = np.random.default_rng(0).uniform(-1, 1, size=(800, 3))
    sign = np.where(rows[:, 1] > 0, 1.0, -1.0)
    rows[:, 1] = sign
    fx = rhale.explain(lambda r: 3 * r[:, 0] * r[:, 1] + r[:, 0] * r[:, 2], rows, regions=True)
    tree = fx["x0"].regions
    assert len(tree) > 1
    for row, region in zip(regions_of(fx["x0"]).rows, tree, strict=True):
        assert row.spread == pytest.approx(region.effect.typical_spread, rel=1e-3)
        error = region.effect.typical_spread_error
        assert row.spread_error == (pytest.approx(error, rel=1e-3) if np.isfinite(error) else None)


def test_a_gradual_change_is_drawn_as_thirds():
    thirds = divide(X, {"low": 1.0, "middle": 2.0, "high": 3.0}).regions.regions
    effect = divide(X, {"a": 4.0, "b": 2.0}, gradual="z", thirds=thirds)
    found = regions_of(effect)
    assert found.gradual
    assert [row.rule for row in found.rows] == ["low", "middle", "high"]
    assert len(found.lines) == 3


def test_levels_stand_where_the_common_ones_do(make_levels):
    common = make_levels(["a", "b", "c"], [1.0, 1.0])
    one, two = make_levels(["c", "a"], [-2.0]), make_levels(["a", "b", "c"], [0.0, 0.0])
    regions = (Region("z", 20, 0.4, one), Region("not z", 30, 0.6, two))
    tree = RegionTree("city", "y0", "found", "", regions)
    first, second = regions_of(replace(common, regions=tree)).lines
    assert first.path.x == (2, 0)
    assert second.path.x == (0, 1, 2)
    # c and a at ±1 over their rows, as in the common curve there
    assert first.path.y == pytest.approx((1.0, -1.0))


def test_a_region_of_one_value_is_in_the_table_only():
    effect = divide(X, {"a": 4.0, "b": 2.0, "c": 1.0})
    one = rhale.explain(lambda r: r[:, 0], np.column_stack([np.full(50, 3.0), np.arange(50.0)]))
    tree = effect.regions
    regions = (*tree.regions[:2], replace(tree[2], effect=one["x0"]))
    found = regions_of(replace(effect, regions=replace(tree, regions=regions)))
    assert [line.row for line in found.lines] == [0, 1]
    assert len(found.rows) == 3


def test_steps_are_drawn_with_few_points_and_smooth_too():
    stepped = make_stepped()
    regions = tuple(Region(rule, 401, 0.5, stepped) for rule in "ab")
    tree = RegionTree("age", "y0", "found", "", regions)
    for line in regions_of(replace(stepped, regions=tree)).lines:
        assert len(line.path.x) <= MAX_REGION_CURVE_POINTS
        assert len(set(line.path.x)) < len(line.path.x)  # a jump has two sides
        assert line.smooth is None or len(line.smooth.x) <= MAX_REGION_CURVE_POINTS


def test_partners_that_chance_could_make_are_left_out():
    told = (Partner("a", 0.6, 0.02), Partner("b", 0.02, 0.02), Partner("c", 0.004, 0.001))
    tree = RegionTree("x", "y", "none", "", (), partners=told)
    assert partners_in_words(tree) == "Spread accounted for by single features: a 60 ± 2 %."
    assert partners_in_words(replace(tree, partners=told[1:])) == ""
    many = tuple(Partner(f"p{i}", 0.08, 0.01) for i in range(10))
    assert partners_in_words(replace(tree, partners=many)).endswith("p4 8 ± 1 % and 5 more.")


def test_a_long_rule_keeps_both_ends():
    effect = divide(X, {"a" * 999 + " = 1": 4.0, "a" * 999 + " = 2": 2.0})
    first, second = (row.rule for row in regions_of(effect).rows)
    assert len(first) <= 300
    assert first.endswith(" = 1")
    assert second.endswith(" = 2")
