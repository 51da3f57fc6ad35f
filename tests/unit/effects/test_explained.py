from dataclasses import replace

import numpy as np
import pytest
from tests.unit.effects.with_regions import alone

import rhale
from rhale.effects.contributions import SampledCurves, regional_move
from rhale.regions.result import Region, RegionTree, Split

MIDDLES = (np.arange(40) + 0.5) / 20 - 1
GRID = np.stack(np.meshgrid(MIDDLES, MIDDLES), axis=-1).reshape(-1, 2)


def product(rows):
    return rows[:, 0] * rows[:, 1]


def by_halves(model, table, name, by):
    """The regions of a feature on the two sides of zero of another one."""
    masks = [table[:, by] <= 0, table[:, by] > 0]
    regions = tuple(
        Region(f"half {i}", int(mask.sum()), mask.mean(), rhale.explain(model, table[mask])[name])
        for i, mask in enumerate(masks)
    )
    return RegionTree(name, "y0", "found", "", regions, (Split(0, f"x{by}", by, 0.0),))


def with_halves(model, table, halves):
    """An explanation in which some features have regions by halves of another."""
    fx = rhale.explain(model, table)
    trees = {name: by_halves(model, table, name, by) for name, by in halves.items()}
    trees = {n: replace(tree, sampled=tree.locate(fx.sample_x)) for n, tree in trees.items()}
    effects = tuple(replace(e, regions=trees.get(e.name) or alone(e)) for e in fx.effects)
    return replace(fx, effects=effects)


def curves_of(fx):
    return SampledCurves(fx.effects, fx.sample_x, fx.predictions[:, 0], fx.sample_weight)


@pytest.mark.parametrize("halves", [{"x0": 1}, {"x1": 0}, {"x0": 1, "x1": 0}])
def test_a_product_is_told_once_by_halves_of_one_feature(halves):
    """x0 sign(x1) / 2 explains 3/4 of x0 x1; both together 3/8, as they say the same twice."""
    curves = curves_of(with_halves(product, GRID, halves))
    assert curves.explained() == pytest.approx(0.0, abs=1e-6)
    assert curves.explained_with_regions() == pytest.approx(0.75, abs=2e-3)


def test_both_halves_of_a_product_would_explain_less():
    fx = with_halves(product, GRID, {"x0": 1, "x1": 0})
    moves = [
        regional_move(e.regions, fx.sample_x[:, i], np.zeros(len(fx.sample_x)), fx.sample_weight)
        for i, e in enumerate(fx.effects)
    ]
    rest = fx.predictions[:, 0] - sum(moves)
    assert 1 - rest.var() / fx.predictions.var() == pytest.approx(0.375, abs=0.03)


def test_regions_that_tell_different_things_add_up():
    """x0 sign(x1) + x2 sign(x3): either pair has half of the variance, and halves tell it all."""
    table = np.random.default_rng(0).uniform(-1, 1, (2_000, 4))

    def gates(rows):
        return rows[:, 0] * np.sign(rows[:, 1]) + rows[:, 2] * np.sign(rows[:, 3])

    one = curves_of(with_halves(gates, table, {"x0": 1}))
    both = curves_of(with_halves(gates, table, {"x0": 1, "x2": 3}))
    assert one.explained() < 0.05
    assert one.explained_with_regions() == pytest.approx(0.5, abs=0.05)
    assert both.explained_with_regions() > 0.98


def test_regions_of_an_additive_function_change_nothing():
    """Also of correlated features: a curve is known up to a constant, which stays the common one."""
    x = np.linspace(-1, 1, 500)
    table = np.column_stack([x, x + 0.1 * np.sin(40 * x)])
    curves = curves_of(with_halves(lambda rows: 2 * rows[:, 0], table, {"x0": 1}))
    assert curves.explained() == pytest.approx(1.0)
    assert curves.explained_with_regions() == pytest.approx(1.0)
    tree, x0 = curves.effects[0].regions, curves.x[:, 0]
    move = regional_move(tree, x0, curves.heights[:, 0], curves.weight)[curves.inside]
    np.testing.assert_allclose(move, 0.0, atol=1e-9)


def test_rows_in_no_region_and_curves_that_are_not_known_keep_the_common_one():
    slope = rhale.effect([0.0, 1.0], [3.0, 3.0])
    regions = (Region("a", 2, 0.5, slope), Region("b", 2, 0.5, slope))
    tree = RegionTree("x", "y", "given", "", regions, sampled=np.array([0, 0, -1, 1, 0]))
    x = np.array([0.0, 1.0, 0.5, 0.5, 9.0])
    common = np.array([-0.5, 0.5, 7.0, 8.0, 9.0])
    moved = regional_move(tree, x, common, np.ones(5))
    np.testing.assert_allclose(moved, [-1.0, 1.0, 0.0, 0.0, 0.0])


def test_weights_count():
    slope = rhale.effect([0.0, 1.0], [3.0, 3.0])
    tree = RegionTree(
        "x", "y", "given", "", (Region("a", 2, 1.0, slope),), sampled=np.zeros(2, int)
    )
    moved = regional_move(tree, np.array([0.0, 1.0]), np.zeros(2), np.array([3.0, 1.0]))
    np.testing.assert_allclose(moved, [-0.75, 2.25])


def test_nothing_to_explain_is_unknown():
    flat = rhale.explain(lambda rows: 0 * rows[:, 0] + 5.0, GRID)
    assert np.isnan(curves_of(flat).explained())
    assert np.isnan(curves_of(flat).explained_with_regions())


def test_without_regions_both_are_the_same():
    fx = rhale.explain(lambda rows: rows[:, 0] ** 2, GRID)
    assert curves_of(fx).explained_with_regions() == pytest.approx(curves_of(fx).explained())
