import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import rhale
from rhale.effects.result import Trace
from rhale.effects.staircase import Jump, Staircase
from rhale.effects.table import Missing
from rhale.output.labels import Captions
from rhale.output.text import Note
from rhale.report.numbers import (
    MAX_CURVE_POINTS,
    TOLERANCE,
    round_for_chart,
    shape_of,
    simplify,
    thin,
)

X = np.linspace(0.0, 10.0, 401)


def test_a_straight_curve_needs_few_points():
    shape = shape_of(rhale.effect(X, np.ones(401), bins=20))
    assert shape.form == "curve"
    assert shape.x == (0, 10)
    assert shape.y == (-5, 5)


def test_what_is_left_out_cannot_be_seen():
    effect = rhale.effect(X, np.sin(X) + 0.1 * np.cos(7 * X))
    shape, x = shape_of(effect), np.linspace(0, 10, 1_000)
    height = np.ptp([*shape.low, *shape.high, *np.add(shape.y, shape.spread)])
    off = np.abs(np.interp(x, shape.x, shape.y) - effect.curve(x))
    assert off.max() < 2 * TOLERANCE * height
    assert len(shape.x) < 120


def test_a_shape_is_small():
    shape = shape_of(rhale.effect(X, np.sin(X) + np.random.default_rng(0).normal(size=401)))
    assert len(repr(shape)) < 6_000


def test_bins_are_those_of_the_effect():
    effect = rhale.effect(X, np.where(X < 5, 1.0, -1.0), bins=4)
    bins = shape_of(effect).bins
    assert bins.left == (0, 2.5, 5, 7.5)
    assert bins.right == (2.5, 5, 7.5, 10)
    assert bins.mean == (1, 1, -1, -1)
    assert bins.count == tuple(effect.count)


def test_dates_are_drawn_in_milliseconds():
    shape = shape_of(replace(rhale.effect(X, np.ones(401), bins=1), kind="date"))
    assert (shape.form, shape.unit) == ("dates", "day")
    assert shape.x == (0, 10 * 86_400_000)


def test_durations_are_drawn_in_a_unit_that_people_use():
    effect = rhale.effect(3_600 * X, np.full(401, 1 / 3_600), bins=1)
    shape = shape_of(replace(effect, kind="duration"))
    assert (shape.form, shape.unit, shape.x) == ("curve", "h", (0, 10))
    assert shape.bins.mean == (1,)


def test_categories_stand_at_whole_numbers_with_whole_steps(make_levels):
    shape = shape_of(make_levels(["a", "b", "c"], [2.0, -1.0]))
    assert (shape.form, shape.labels, shape.x) == ("levels", ("a", "b", "c"), (0, 1, 2))
    assert shape.bins.mean == (2, -1)
    assert shape.rows == (10, 10, 10)


def test_few_numbers_are_named_and_their_steps_are_whole(make_levels):
    shape = shape_of(make_levels(["0", "10", "20"], [5.0, 1.0], edges=[0.0, 10.0, 20.0]))
    assert (shape.form, shape.labels, shape.bins.mean) == ("levels", ("0", "10", "20"), (5, 1))


def test_the_one_step_between_two_levels_has_no_panel(make_levels):
    """It would say the same number again."""
    shape = shape_of(make_levels(["0", "10"], [5.0], edges=[0.0, 10.0]))
    assert (shape.form, shape.y, shape.bins.mean) == ("levels", (-2.5, 2.5), ())


def test_more_numbers_have_an_axis(make_levels):
    levels = [str(n) for n in range(6)]
    shape = shape_of(make_levels(levels, 1.0, edges=np.arange(6.0)))
    assert (shape.form, shape.dots, shape.labels) == ("curve", True, ())


def test_missing_values_are_a_point():
    effect = replace(rhale.effect(X, np.ones(401)), missing=Missing(50, 0.1, -2.0, 0.5, 400.0))
    point = shape_of(effect).missing
    assert (point.y, point.spread, point.share) == (-2, 0.5, 0.1)
    assert point.high - point.y == pytest.approx(1.96 * 0.025, rel=1e-3)


def test_a_constant_feature_has_nothing_to_draw():
    fx = rhale.explain(lambda r: r[:, 0], np.column_stack([X, np.ones(401)]))
    shape = shape_of(fx["x1"])
    assert (shape.form, shape.x) == ("constant", ())


@pytest.mark.parametrize("method", ["pdp", "ice", "mplot"])
def test_profiles_have_no_bins_and_a_bounded_number_of_single_curves(method):
    rows = np.random.default_rng(0).uniform(size=(200, 2))
    shape = shape_of(rhale.explain(lambda r: np.sin(3 * r[:, 0]), rows, method=method)["x0"])
    assert shape.bins.mean == ()
    assert len(shape.singles) == (40 if method == "ice" else 0)
    assert all(len(curve) == len(shape.x) for curve in shape.singles)


def test_unknown_numbers_are_none():
    assert round_for_chart(np.array([np.nan, np.inf, 2.0]), 1.0) == (None, None, 2)


@pytest.mark.parametrize("span", [0.0, np.nan, 1e-300, 1e300])
def test_any_scale_can_be_rounded(span):
    assert len(round_for_chart(np.array([1e-300, 1e300, 0.0]), span)) == 3


@pytest.fixture
def ladder():
    """Rows evenly on [0, 1] of a model that rises by 1 in 50 equal steps."""
    x = np.linspace(0.0, 1.0, 1_001)
    stairs = Staircase(
        places=np.arange(50) / 50 + 0.01,
        jumps=np.full(50, 0.02),
        near_shares=np.full(50, 0.1),
        row_shares=np.concatenate([[0.01], np.full(49, 0.02), [0.01]]),
        influence=np.zeros((2, 50)),
        drawn=np.zeros((2, 2)),
        group_shares=np.array([0.5, 0.5]),
        low=0.0,
        high=1.0,
    )
    return replace(rhale.effect(x, np.ones(x.size)), stairs=stairs)


def test_a_staircase_is_sent_as_its_corners(stepped):
    shape = shape_of(stepped)
    assert shape.x == (0, 1, 1, 3, 3, 4)
    assert shape.y == (-1.25, -1.25, 0.75, 0.75, -0.25, -0.25)


def test_a_curve_without_steps_is_sent_once(stepped, make_levels):
    x = np.linspace(0, 1, 50)
    for result in (
        rhale.effect(x, 2 * x),
        make_levels(("a", "b"), 3.0),
        replace(stepped, stairs=None),
    ):
        assert shape_of(result).smooth is None


def test_small_steps_are_sent_smooth_besides(ladder):
    shape = shape_of(ladder)
    even = shape.smooth
    x, y = np.array(even.x), np.array(even.y)
    np.testing.assert_allclose(y, x - 0.5, atol=0.5 / 50)  # half a step
    assert len(even.x) < len(shape.x)
    np.testing.assert_allclose(shape.y, np.repeat(0.02 * np.arange(51) - 0.5, 2), atol=1e-12)


def test_both_curves_are_small(ladder):
    shape = shape_of(ladder)
    assert len(json.dumps(asdict(shape))) < 8_000


def test_of_too_many_steps_the_smallest_are_lost():
    jumps = np.resize([0.1, -0.09], 998)  # up by 0.005 a step, and once by 3
    jumps[500] = 3.0
    x = np.repeat(np.arange(1.0, 999.0), 2)
    x[::2] = np.nextafter(x[::2], -np.inf)
    y = np.repeat(np.append(0.0, np.cumsum(jumps)), 2)[1:-1]
    path = Trace(x, y, np.zeros(x.size), y, y)
    kept = simplify(path)
    assert kept.size == MAX_CURVE_POINTS
    assert np.isin([2 * 500, 2 * 500 + 1], kept).all()
    off = np.abs(np.interp(x, x[kept], y[kept]) - y)
    assert off.max() < 0.1 + 1e-9


def test_bins_of_a_staircase_are_flat(stepped):
    bins = shape_of(replace(stepped, slope=np.full(4, 0.5))).bins
    assert bins.slope == (0, 0, 0, 0)
    assert bins.mean == (2, 0, -1, 0)


@pytest.mark.parametrize(("kind", "unit"), [("number", 1.0), ("date", 86_400_000.0)])
def test_cut_jumps_have_places_and_sizes(stepped, kind, unit):
    bins = rhale.Edges([0, 0.985, 1.005, 2, 4])
    made = rhale.effect(np.linspace(0.0, 4.0, 401), np.zeros(401), bins=bins)
    made = replace(made, stairs=stepped.stairs, kind=kind)
    vars(made)["jumps"] = (Jump(1.0, 1.0, 2.0),)
    shape = shape_of(made)
    assert shape.reach == pytest.approx((-0.5, 0.25))
    assert shape.jumps == ((unit, 2),)
    assert shape_of(stepped).reach == ()


@given(arrays(float, st.integers(2, MAX_CURVE_POINTS), elements=st.floats(-1e3, 1e3)))
def test_a_line_through_the_points_that_are_sent_is_the_curve_to_what_can_be_seen(y):
    x = np.arange(float(y.size))
    kept = simplify(Trace(x, y, np.zeros(y.size), y, y))
    off = np.abs(np.interp(x, x[kept], y[kept]) - y)
    assert off.max() <= TOLERANCE * np.ptp(y) + 1e-9


def test_levels_without_an_order_stand_by_their_effect(make_levels):
    effect = make_levels(["low", "high", "middle"], [3.0, -1.0])
    free = replace(effect, bin_notes=(Note("order", "levels are ordered by similarity"),))
    assert shape_of(effect).labels == ("low", "high", "middle")
    shape = shape_of(free)
    assert shape.sorted
    assert shape.labels == ("high", "middle", "low")
    assert list(shape.y) == sorted(shape_of(effect).y, reverse=True)
    assert list(shape.rows) == [free.level_count[free.levels.index(n)] for n in shape.labels]
    assert shape.bins.mean == ()  # steps of an order that means nothing


def test_a_heavy_tail_has_a_logarithmic_axis_on_which_the_curve_is_where_it_is():
    x = np.exp(np.random.default_rng(0).normal(0, 1.5, 4_000))
    effect = rhale.effect(x, 1 / x)  # the curve is log(x), and straight on such an axis
    shape = shape_of(effect)
    assert shape.log
    assert sum(shape.rows) > 0
    places = np.geomspace(*effect.axis[[0, -1]], 500)
    drawn = np.interp(np.log(places), np.log(shape.x), shape.y)
    height = np.ptp([*shape.low, *shape.high, *np.add(shape.y, shape.spread)])
    assert np.abs(drawn - effect.curve(places)).max() <= 1.2 * TOLERANCE * height
    assert not shape_of(rhale.effect(X, np.ones(401))).log


def test_axes_are_titled_by_what_people_read():
    words = Captions({"x": "Body mass"}, {"y0": "probability of churn = 1"}, {"x": "kg"})
    shape = shape_of(replace(rhale.effect(X, np.ones(401)), captions=words))
    effect = "effect on the probability of churn = 1"
    assert shape.titles == (effect, "Body mass (kg)", "slope: change per kg")


# ---- curves of rows ----


@pytest.fixture(scope="module")
def product():
    rows = np.random.default_rng(0).uniform(-1, 1, size=(600, 2))
    return rhale.explain(lambda r: r[:, 0] * r[:, 1], rows)["x0"]


def test_rows_are_those_of_the_effect_evenly_chosen(product):
    lines, curves = shape_of(product, sampled=True).row_lines, product.row_curves()
    assert lines.told == "50 of 100 rows"
    assert len(lines.rows) == len(lines.first) == len(lines.last) == 50
    rows_off = curves.heights - product.curve(product.row_spread.places)
    span = np.ptp(rows_off)
    for row, first, last in zip(lines.rows, lines.first, lines.last, strict=True):
        off = np.abs(rows_off - lines.low - lines.step * np.array(row)).max(axis=1)
        assert off.min() < 1e-3 * span
        assert (first, last) == (curves.first[off.argmin()], curves.last[off.argmin()])
    np.testing.assert_allclose(lines.x, product.row_spread.places, atol=1e-4)


def test_rows_come_only_where_they_are_asked_for_and_were_kept(product):
    assert shape_of(product).row_lines is None
    assert shape_of(rhale.effect(X, np.ones(401)), sampled=True).row_lines is None
    profile = rhale.explain(lambda r: r[:, 0], np.linspace(0, 1, 60).reshape(30, 2), method="pdp")
    assert shape_of(profile["x0"], sampled=True).row_lines is None


def test_rows_of_sorted_levels_stand_where_the_levels_do():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"town": rng.choice(["a", "b", "c"], 300), "x": rng.normal(size=300)})
    height = {"a": 1.0, "b": 3.0, "c": 2.0}
    fx = rhale.explain(lambda t: t["town"].map(height).to_numpy() + 0 * t["x"].to_numpy(), table)
    shape = shape_of(fx["town"], sampled=True)
    assert shape.labels == ("b", "c", "a")
    lines = shape.row_lines
    for row in lines.rows:  # all rows agree, so that each is the mean
        np.testing.assert_allclose(lines.low + lines.step * np.array(row), 0.0, atol=1e-2)


FAR = np.append(np.random.default_rng(4).normal(5.7, 0.9, 1_999), 58.9)


def stretched():
    """A wave among the rows; on the way to a lone far value the curve falls by a thousand."""
    slopes = np.where(FAR < 50, 3 * np.cos(3 * FAR), -20.0)
    cut = np.sort(FAR)[-21]
    edges = np.append(np.linspace(FAR.min(), cut, 60), 58.9)
    return rhale.effect(FAR, slopes, bins=rhale.Edges(edges, linear=True), name="y")


def test_a_chart_shows_at_first_what_pictures_show_and_all_is_there():
    effect = stretched()
    shape = shape_of(effect)
    cut = np.sort(FAR)[-21]
    np.testing.assert_allclose(shape.shown, (FAR.min(), cut), atol=1e-4)
    assert shape.beyond == "20 rows beyond, up to 58.9"
    assert not shape.log
    assert shape.x[-1] == pytest.approx(58.9)


def test_the_part_that_is_shown_has_the_points_and_digits_that_can_be_seen():
    effect = stretched()
    shape = shape_of(effect)
    low, high = shape.shown
    points = [(x, y) for x, y in zip(shape.x, shape.y, strict=True) if low <= x <= high]
    assert (points[0][0], points[-1][0]) == shape.shown
    x = np.linspace(low, high, 5_001)[1:-1]
    height = np.ptp(effect.curve(x))
    drawn = np.interp(x, *zip(*points, strict=True))
    assert np.abs(drawn - effect.curve(x)).max() < height / 200  # all of it is 20 times as high
    cells = zip(shape.rows, shape.limits[:-1], shape.limits[1:], strict=True)
    rows = [row for row, left, right in cells if low <= left and right <= high]
    assert len(rows) == 80
    counted = np.histogram(FAR[np.sort(FAR)[-21] >= FAR], 80)[0]
    np.testing.assert_allclose(rows, 100 * counted / counted.max(), atol=3)


def test_ordinary_features_have_no_part_that_is_shown_first():
    x = np.random.default_rng(0).normal(size=1_000)
    shape = shape_of(rhale.effect(x, np.cos(x)))
    assert (shape.shown, shape.beyond) == ((), "")


@pytest.mark.filterwarnings("error")
def test_three_points_of_one_jump_divide_by_nothing():
    """At 1 the line goes from 0 over 2 to 5: places that are the same are no stretch."""
    x = np.array([0.0, 1.0, 1.0, 1.0, 2.0])
    assert thin(x, np.array([[0.0, 0.0, 2.0, 5.0, 5.0]])).tolist() == [0, 1, 2, 3, 4]
