import numpy as np
import pytest
from tests.unit.effects.refitted import N_ROWS, SLOPES, TRAIN, line, make_table

import rhale
from rhale.effects.effect import NO_SAMPLE
from rhale.stability.compare import (
    AxisSample,
    compare_trainings,
    have_same_groups,
    lighten_result,
    mean_square_error,
    multiply_curves,
)
from rhale.stability.replication import Overlap

OVERLAP = Overlap.of(TRAIN, N_ROWS)


def explain(model, **options):
    return rhale.explain(model, make_table(), **options)["x0"]


@pytest.fixture(scope="module")
def results():
    return [explain(line(slope)) for slope in (1.0, -2.0)]


def rows(x=None, weight=None):
    x = make_table()[:, 0] if x is None else np.asarray(x)
    return AxisSample(x, np.ones(x.size) if weight is None else np.asarray(weight))


def test_products_of_lines_are_products_of_slopes(results):
    variance = make_table()[:, 0].var()
    expected = np.outer([1, -2], [1, -2]) * variance
    np.testing.assert_allclose(multiply_curves(results, rows()), expected, rtol=1e-9)


def test_rows_count_by_their_weight_and_only_where_curves_are_known(results):
    x = make_table()[:, 0]
    low, high = x.min(), x.max()
    off = np.array([low, high]) - x.mean()
    expected = 0.75 * off[0] ** 2 + 0.25 * off[1] ** 2
    some = rows([low, high, np.nan, low - 1, high], [3, 1, 9, 9, 0])
    found = multiply_curves(results[:1], some)
    np.testing.assert_allclose(found, [[expected]], rtol=1e-9)


def test_rows_without_a_value_do_not_count_as_in_the_importance():
    """A model that answers 5 for missing values has a point for them, beside its line."""

    def answer(rows):
        return np.where(np.isnan(rows[:, 0]), 5.0, rows[:, 0])

    table = make_table()
    table[::5, 0] = np.nan
    effect = rhale.explain(answer, table)["x0"]
    assert effect.missing is not None
    found = multiply_curves([effect], rows(table[:, 0]))
    np.testing.assert_allclose(found, [[np.nanvar(table[:, 0])]], rtol=1e-9)
    assert effect.importance == pytest.approx(np.nanstd(table[:, 0]), rel=1e-9)


@pytest.mark.parametrize("limits", [None, {"x0": (0.25, 0.75)}])
@pytest.mark.parametrize("method", ["pdp", "ice", "mplot", "rhale"])
def test_curves_and_importance_have_the_rows_at_the_same_places(method, limits):
    """Most rows share one value at the end, which no point of a marginal plot lies on."""
    table = make_table()
    table[::2, 0] = 0.0
    effect = rhale.explain(np.square, table[:, :1], method=method, limits=limits)["x0"]
    found = compare_trainings([effect, effect], Overlap.independent(2), rows(table[:, 0]))
    np.testing.assert_allclose(np.sqrt(found.gram), effect.importance, rtol=1e-6)


def test_no_rows_give_no_products(results):
    assert np.isnan(multiply_curves(results, rows([np.nan]))).all()
    assert np.isnan(mean_square_error(results, rows([np.nan])))
    effect = compare_trainings(results, Overlap.independent(2), rows([np.nan]))
    assert np.isnan([effect.replicated, effect.p_value]).all()


def test_errors_are_those_of_intervals(results):
    """At one place: the half-width of the interval by the normal quantile."""
    low, high = results[0].ci(0.5)
    expected = ((high - low) / 2 / 1.959963984540054) ** 2
    found = mean_square_error(results[:1], rows([0.5]))
    assert found == pytest.approx(expected, rel=0.02)
    assert mean_square_error(results, rows([0.5])) == pytest.approx(2.5 * found, rel=1e-6)


def test_groups_are_compared_where_all_trainings_have_the_same():
    by = rhale.By("x1", cuts=[0.0])
    named = [explain(line(slope), regions=by) for slope in (1.0, 2.0)]
    found = compare_trainings(named, Overlap.independent(2), rows(), own=named[0])
    assert len(found.inside) == 2
    assert [inside.own.importance for inside in found.inside] == [
        region.effect.importance for region in named[0].regions
    ]
    other = explain(line(1.0), regions=rhale.By("x1", cuts=[0.3]))
    assert not have_same_groups([named[0].regions, other.regions])
    assert compare_trainings([named[0], other], Overlap.independent(2), rows()).inside == ()
    assert compare_trainings(named, Overlap.independent(2), rows(), explain(line(1.0))).inside == ()


def test_searched_regions_are_not_compared(results):
    searched = [explain(line(slope), regions=True) for slope in (1.0, 2.0)]
    assert compare_trainings(searched, Overlap.independent(2), rows()).inside == ()
    assert compare_trainings(results, Overlap.independent(2), rows()).inside == ()


def test_local_effects_of_single_rows_are_left_out():
    by = rhale.By("x1", cuts=[0.0])
    whole = explain(lambda t: t[:, 0] * (t[:, 1] > 0), regions=by)
    light = lighten_result(whole)
    assert whole.sample.x.size
    assert light.sample == NO_SAMPLE
    assert [one.effect.sample for one in light.regions] == [NO_SAMPLE] * 2
    assert light.importance == whole.importance
    profile = explain(line(1.0), method="pdp")
    assert lighten_result(profile) is profile
    assert OVERLAP.n_trainings == SLOPES.size


def test_digits_of_what_chance_does_to_jumps_are_left_out():
    stepped = pytest.importorskip("sklearn.tree").DecisionTreeRegressor(max_depth=3)
    table = np.random.default_rng(0).normal(size=(200, 2))
    stepped.fit(table, table[:, 0])
    whole = rhale.explain(stepped, table)["x0"]
    light = lighten_result(whole)
    np.testing.assert_array_equal(light.stairs.influence, whole.stairs.rounded().influence)
    assert light.curve(0.5) == whole.curve(0.5)
    np.testing.assert_allclose(light.ci(0.5), whole.ci(0.5), rtol=1e-6)
