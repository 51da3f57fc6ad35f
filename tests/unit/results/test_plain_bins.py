import numpy as np
import pytest

import rhale
from rhale.kernels.moments import SUMS
from rhale.results.plain_bins import (
    MOST_EFFECTS,
    N_LIMITS,
    find_other_bins,
    fit_plain,
    offer_plain,
)


@pytest.fixture(scope="module")
def fx():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=900), rng.lognormal(size=900), np.ones(900)])
    return rhale.explain(lambda r: np.sin(2 * r[:, 0]) + r[:, 0] * np.log(r[:, 1]), rows)


@pytest.fixture(scope="module")
def cells(fx):
    return fx.cells["x0"].series(0)


@pytest.fixture(scope="module")
def trees():
    ensemble = pytest.importorskip("sklearn.ensemble")
    rows = np.random.default_rng(0).uniform(-1, 1, size=(600, 2))
    target = np.sin(3 * rows[:, 0]) + rows[:, 0] * rows[:, 1]
    model = ensemble.GradientBoostingRegressor(n_estimators=40, random_state=0).fit(rows, target)
    return rhale.explain(model, rows)


def others(fx):
    return find_other_bins(fx.effects, fx.cells, fx.outputs)


def test_few_cells_have_the_rows_of_many(cells):
    few = offer_plain(cells).moments
    assert few.grid.n_cells <= 2 * N_LIMITS < cells.grid.n_cells
    ends = [m.unite(np.array([0, m.grid.n_cells])) for m in (few, cells)]
    for name in SUMS:
        first, second = (getattr(m, name) for m in ends)
        np.testing.assert_allclose(first, second, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("penalty", [0.25, 2.0, 32.0, 1e6])
def test_searched_bins_have_the_numbers_of_the_same_bins_given(fx, cells, penalty):
    found = fit_plain("x0", "y0", offer_plain(cells), penalty)
    given = fx.rebin({"x0": rhale.Edges(found.edges, linear=found.linear)})["x0"]
    places = np.linspace(*found.edges[[0, -1]], 50)
    np.testing.assert_array_equal(found.edges, given.edges)
    np.testing.assert_array_equal(found.count, given.count)
    for name in ("mean", "slope", "std"):
        np.testing.assert_allclose(getattr(found, name), getattr(given, name), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.curve(places), given.curve(places), atol=1e-9)
    added = (one.spread(places, accumulate="sum") for one in (found, given))
    np.testing.assert_allclose(*added, atol=1e-9)


def test_a_higher_price_buys_fewer_bins_and_at_last_one(cells):
    few = offer_plain(cells)
    numbers = [fit_plain("x0", "y0", few, 4.0**k).n_parts for k in range(-2, 12)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > 5
    assert numbers[-1] == 1


def test_that_bins_were_searched_widens_their_intervals(cells):
    found = fit_plain("x0", "y0", offer_plain(cells), 2.0)
    n_parameters = 2 * found.n_parts - 1 + found.linear.sum()
    assert found.search == pytest.approx(1 + 2 * n_parameters * np.log(900) / 900)


def test_smooth_effects_have_cells_and_constant_ones_nothing(fx):
    first, second, constant = others(fx)
    assert first.cells is not None
    assert second.cells is not None
    assert constant is None
    assert first.finished == second.finished == ()


def test_bins_of_trees_come_finished_and_add_up_to_their_curve(trees):
    for effect, other in zip(trees.effects, others(trees), strict=True):
        numbers = [made.n_parts for made in other.finished]
        assert other.cells is None
        assert len(numbers) > 2
        assert len({*numbers, effect.n_parts}) == len(numbers) + 1
        for made in other.finished:
            rise = np.diff(effect.curve(made.edges))
            np.testing.assert_allclose(made.mean * np.diff(made.edges), rise, atol=1e-12)


def test_finished_bins_are_those_of_python(trees):
    effect, other = trees.effects[0], others(trees)[0]
    prices = [2.0**power for power in range(-1, 12, 2)]
    made = [
        trees.rebin(rhale.Adaptive(n_limits=N_LIMITS, penalty=price, spread_bins="mean"))["x0"]
        for price in prices
    ]
    known = {one.n_parts: one for one in reversed(made)}
    assert {one.n_parts for one in other.finished} == {*known} - {effect.n_parts}
    for one in other.finished:
        np.testing.assert_array_equal(one.edges, known[one.n_parts].edges)
        np.testing.assert_array_equal(one.std, known[one.n_parts].std)


def test_levels_profiles_and_few_rows_stay_as_they_are():
    def model(rows):
        return rows[:, 0] ** 2

    rows = np.random.default_rng(0).normal(size=(200, 1))
    for made in (
        rhale.explain(model, np.round(rows), categorical=["x0"]),
        rhale.explain(model, rows, method="pdp"),
        rhale.explain(model, rows[:15]),
    ):
        assert others(made) == (None,)


def test_bins_of_a_black_box_with_steps_come_finished_with_the_secants_of_its_rows():
    rows = np.random.default_rng(0).random((400, 2))
    step = rhale.explain(lambda r: np.floor(9 * r[:, 0]) * r[:, 1], rows, features=[0])
    (other,) = others(step)
    assert other.cells is None
    assert len(other.finished) > 1
    for made in other.finished:
        expected = step["x0"].secant_deviation(made.edges)
        np.testing.assert_allclose(made.std, expected, rtol=1e-12)
        assert made.std.max() > 1


def test_of_many_effects_the_largest_have_a_choice(fx):
    effect, many = fx["x0"], MOST_EFFECTS + 5
    small = fx["x1"]
    assert small.importance < effect.importance
    effects = (*[small] * 10, *[effect] * (many - 10))
    found = find_other_bins(effects, fx.cells, fx.outputs)
    assert [one is not None for one in found] == [*[True] * 5, *[False] * 5, *[True] * (many - 10)]
