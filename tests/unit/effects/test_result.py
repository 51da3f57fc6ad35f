import copy
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.conftest import MISSING

import rhale
from rhale.effects.curve import RowPlaces
from rhale.effects.result import (
    STATISTICS,
    Result,
    find_beyond,
    find_result_axis_kind,
    heights,
    is_constant,
    reach,
    trace_missing,
    zero_rounding_of_effect,
)
from rhale.errors import BadSettingError

ROWS = np.linspace(0.0, 4.0, 60).reshape(30, 2)


@pytest.fixture
def results(every_kind):
    """Every kind of effect, and a profile with the curves of its rows."""
    return [*every_kind, rhale.explain(lambda rows: rows[:, 0], ROWS, method="ice")["x0"]]


def test_effects_levels_and_profiles_answer_the_protocol(results):
    for result in results:
        assert isinstance(result, Result)
        assert result.features == (result.name,)


def test_every_statistic_is_a_number_of_every_result(results):
    for result in results:
        assert all(isinstance(read(result), float) for read in STATISTICS.values())


def test_parts_are_counted(results):
    found = [(result.parts, result.n_parts) for result in results[:6]]
    assert found == [("bins", 2)] * 3 + [("levels", 3), ("levels", 2), ("levels", 1)]
    assert (results[6].parts, results[6].n_parts) == ("points", results[6].grid.size)


def test_labels_stand_at_the_places_of_the_axis(results):
    for result in results:
        assert len(result.labels) in (0, result.axis.size)
        assert len(result.level_rows().rows) == len(result.labels)


def test_levels_stand_on_an_axis_of_numbers(results):
    kinds = [find_result_axis_kind(result) for result in results]
    assert kinds == ["number", "date", "duration", "number", "number", "number", "number"]
    assert [is_constant(result) for result in results] == [False] * 5 + [True, False]
    assert reach(results[3]) == (1.0, 5.0)


def test_a_trace_is_the_curve_its_spread_and_its_interval(results):
    for result in results[:3]:
        path = result.trace("start", 0.9, 11)
        np.testing.assert_array_equal(path.curve, result.curve(path.x, center="start"))
        np.testing.assert_array_equal(path.spread, result.spread(path.x))
        low, high = result.ci(path.x, level=0.9, center="start")
        np.testing.assert_array_equal([path.low, path.high], [low, high])


def test_a_difference_is_that_of_the_trace(results):
    for result in (r for r in results if not is_constant(r)):
        path = result.trace()
        found = result.difference(path.x[0], path.x[-1])
        assert found.size == pytest.approx(path.curve[-1] - path.curve[0])
        assert found.error == pytest.approx(0.0, abs=1e-12)  # all rows agree


def test_the_table_has_a_row_for_each_part_and_one_for_missing_values(results):
    for result in results:
        n_rows = max(result.n_parts - (result.parts == "levels"), 1) + (result.missing is not None)
        assert {len(cells) for cells in result.table().values()} == {n_rows}


def test_the_support_holds_all_rows(results):
    for result in (r for r in results if not is_constant(r)):
        _, limits, density, _ = result.support()
        weight = {"bins": 41.0, "points": 30.0}.get(result.parts, result.level_rows().weight.sum())
        assert density @ np.diff(limits) == pytest.approx(weight)


def test_only_profiles_have_curves_of_single_rows(results):
    assert [len(result.single_curves(5)) for result in results] == [0] * 6 + [5]
    curves, x, grid = results[6].single_curves(5), results[6].trace().x, results[6].grid
    assert curves.shape[1] == x.size
    at_points = curves[:, np.searchsorted(x, grid)]
    np.testing.assert_allclose(at_points @ results[6].share, 0.0, atol=1e-12)
    between = [np.interp(x, grid, curve) for curve in at_points]
    np.testing.assert_allclose(curves, between, atol=1e-12)


def test_bins_without_rows_are_gaps():
    effect = rhale.effect([0.0, 0.5, 3.0, 4.0], np.ones(4), bins=rhale.Fixed(4))
    np.testing.assert_array_equal(effect.support().gaps, [[1.0, 2.0], [2.0, 3.0]])


def test_between_levels_that_are_numbers_heights_lie_on_a_line(results):
    steps = results[3]  # 2 a unit from 1 to 5
    found = heights(steps, np.array([1.0, 3.0, 5.0, 6.0]))
    np.testing.assert_allclose(np.diff(found[:3]), [4.0, 4.0])
    assert np.isnan(found[3])


def test_rows_without_a_value_stand_at_the_point_of_missing_values(results):
    assert heights(results[0], np.array([np.nan])) == [-1.5]
    assert np.isnan(heights(results[1], np.array([np.nan]))).all()


def test_the_point_of_missing_values_moves_with_the_curve(results):
    number = results[0]  # x - 5, zero at the start: x
    assert number.missing_trace("start").curve == pytest.approx([3.5])
    assert results[4].missing_trace("start").curve == pytest.approx([-1.5 + 0.75 * 3.0])


def test_the_point_of_missing_values_has_a_normal_interval():
    path = trace_missing(MISSING, 1.0, 0.95)
    assert path.low == pytest.approx([-0.5 - 1.959964 * 0.1])
    assert path.high == pytest.approx([-0.5 + 1.959964 * 0.1])
    assert path.spread == [0.5]
    assert np.isnan(trace_missing(MISSING, 1.0, 0.95, spread_known=False).spread).all()


def test_a_mean_that_is_not_known_is_no_point():
    assert trace_missing(None, 0.0, 0.95) is None
    assert trace_missing(replace(MISSING, mean=np.nan), 0.0, 0.95) is None


def test_what_has_no_steps_is_smooth_as_it_is(results):
    for result in results:
        plain, smooth = result.trace(), result.trace(smooth=True)
        np.testing.assert_array_equal(plain, smooth)
        assert result.jumps == ()
        x = list(result.labels) or plain.x
        np.testing.assert_array_equal(result.curve(x), result.curve(x, smooth=True))
        np.testing.assert_array_equal(result.ci(x), result.ci(x, smooth=True))


def beyond(result):
    """A value on each side of the curve, and one on it."""
    low, high = reach(result)
    return np.array([low - 1.0, low, high + 1.0])


def test_beyond_the_ends_bins_go_on_and_others_are_unknown(results):
    for result in (*results[:4], results[6]):
        before, at, behind = np.isnan(result.curve(beyond(result)))
        assert [before, at, behind] == [result.parts != "bins", False, result.parts != "bins"]


def test_beyond_the_ends_all_are_unknown_where_that_is_asked_for(results):
    for result in (*results[:4], results[6]):
        x = beyond(result)
        low, high = result.ci(x, outside="nan")
        for values in (result.curve(x, outside="nan"), result.spread(x, outside="nan"), low, high):
            assert np.isnan(values).tolist() == [True, False, True]
        for name in ("curve", "spread"):
            as_usual = getattr(result, name)(x[1])
            assert getattr(result, name)(x[1], outside="nan") == as_usual
            assert getattr(result, name)(x[1], outside="raise") == as_usual
        assert result.ci(x[1], outside="raise") == result.ci(x[1])


def test_beyond_the_ends_values_are_refused_where_that_is_asked_for(results):
    for result in (*results[:4], results[6]):
        said = rf"2 of 3 values of {result.name!r} lie beyond \[.*outside='nan'"
        for ask in (result.curve, result.spread, result.ci):
            with pytest.raises(BadSettingError, match=said):
                ask(beyond(result), outside="raise")


def test_ends_are_told_as_people_write_them(results):
    effect = results[1]
    assert effect.kind == "date"
    with pytest.raises(BadSettingError, match=r"beyond \[\d{4}-\d\d-\d\d.*first at \d{4}-"):
        effect.curve(beyond(effect), outside="raise")
    with pytest.raises(BadSettingError, match="outside='none' is not known; use one of extend"):
        effect.curve(beyond(effect), outside="none")


def test_a_value_that_is_missing_lies_nowhere():
    effect = rhale.effect([0.0, 1.0, 2.0], [1.0, 1.0, 1.0])
    assert not find_beyond(effect, np.array([np.nan, 1.0]), "raise").any()
    assert find_beyond(effect, np.array([-1.0, 0.0, 2.0, 2.1]), "nan").tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("method", ["rhale", "ale", "pdp"])
@pytest.mark.parametrize("power", [-20, 0, 20])
def test_rows_of_a_linear_model_do_not_differ_whatever_its_scale(method, power):
    """Differences of a linear function are off by rounding only, and this is no spread."""
    rows = np.random.default_rng(0).normal(size=(200, 3))
    slopes = np.array([0.1, 3.3, 47.7])
    fx = rhale.explain(lambda r: 2.0**power * (1.1 + r @ slopes), rows, method=method)
    for effect in fx.values():
        assert effect.typical_spread == 0.0
        assert effect.heterogeneity == 0.0
        assert effect.importance > 0


def test_rounding_is_told_from_what_is_small():
    assert zero_rounding_of_effect(1e-12, 1.0) == 0.0
    assert zero_rounding_of_effect(1e-8, 1.0) == 1e-8
    assert zero_rounding_of_effect(1e-300, 0.0) == 1e-300
    assert np.isnan(zero_rounding_of_effect(np.nan, 1.0))


def test_errors_from_one_place_are_those_of_the_change_from_there(results):
    for result in results:
        start, stop = result.axis[0], result.axis[-1]
        zero = RowPlaces(np.array([start]), np.ones(1))
        found = result.errors_from(np.array([start, stop]), zero)
        assert found.variance[0] == pytest.approx(0, abs=1e-12)
        error = result.difference(start, stop).error
        assert np.sqrt(found.variance[1]) == pytest.approx(error, rel=1e-6, abs=1e-12)
        assert np.all(found.degrees >= 1)


def test_rows_stand_between_the_ends_and_are_counted(results):
    for result in results:
        rows = result.rows_along()
        assert rows.weight.sum() == pytest.approx(1)
        assert rows.x.min() >= result.axis[0]
        assert rows.x.max() <= result.axis[-1]
        assert result.total_rows > 1


def test_errors_over_two_places_are_half_of_those_of_the_change_between_them():
    """One bin of noisy slopes: f(0), f(1) less their mean are half of f(1) - f(0), in size."""
    x = np.linspace(0, 1, 400)
    effect = rhale.effect(x, np.random.default_rng(0).normal(size=400), bins=1)
    zero = RowPlaces(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    found = effect.errors_from(np.array([0.0, 0.5, 1.0]), zero).variance
    change = effect.difference(0.0, 1.0).error ** 2
    assert found == pytest.approx([change / 4, 0, change / 4])


def test_dir_lists_what_people_use_and_every_name_of_it_is_there(results):
    for result in results:
        names = dir(result)
        assert {"name", "kind", "curve", "spread", "ci", "importance", "plot", "to_frame"} <= {
            *names
        }
        assert len(names) <= 30
        assert not [name for name in names if name.startswith("_")]
        for name in names:
            getattr(result, name)


def test_the_table_of_a_class_names_what_dir_lists(results):
    for result in results:
        table = type(result).__doc__.partition("These are what `dir(")[0]
        named = {one.partition("(")[0] for one in re.findall("`([^`]+)`", table)}
        optional = {"sample", "regions", "typical_spread_error"}  # records, and what profiles lack
        assert {*dir(result)} - named <= optional
        assert named <= {*dir(result)}


def test_names_that_became_private_serve_for_one_more_version():
    effect = rhale.effect(ROWS[:, 0], np.full(30, 2.0))
    for name in ("fit", "line", "bins", "doubt", "drawing", "crossings"):
        with pytest.warns(DeprecationWarning, match=f"^{name} of results is internal now"):
            getattr(effect, name)
    with pytest.warns(DeprecationWarning, match="fit of results"):
        assert effect.fit is effect._fit
    profile = rhale.explain(lambda rows: rows[:, 0], ROWS, method="pdp")["x0"]
    with pytest.warns(DeprecationWarning, match="centring of results"):
        assert profile.centring("start").sum() == 1
    with pytest.raises(AttributeError, match="'Effect' object has no attribute 'curves'"):
        _ = effect.curves


def test_results_can_be_copied_and_sent(results):
    for result in results:
        assert copy.deepcopy(result) == result
        assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301 - our own
