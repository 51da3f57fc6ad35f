"""Drawings of staircases against functions of which the steps were made."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.effects.curve import RowPlaces
from rhale.effects.staircase import Drawing, Jump, Staircase, calibrate_quadrature

CENTERS = ("mean", "start", "uniform")
SEEDS = st.integers(0, 10_000)


def stairs_of(x, places, jumps, seed=0):
    """A staircase of given jumps over given rows; groups move it at random."""
    rng, n = np.random.default_rng(seed), places.size
    count = np.bincount(np.searchsorted(places, x, "right"), minlength=n + 1)
    return Staircase(
        places=places,
        jumps=jumps,
        near_shares=np.full(n, 0.1),
        row_shares=count / x.size,
        influence=0.01 * rng.normal(size=(32, n)),
        drawn=0.01 * rng.normal(size=(2, 32)),
        group_shares=np.full(32, 1 / 32),
        low=float(x.min()),
        high=float(x.max()),
    )


def stand(x):
    values, count = np.unique(x, return_counts=True)
    return RowPlaces(values, count / x.size)


def steps_of(function, x, n=200, seed=0):
    """Steps of a function as trees make them, at uneven places."""
    places = np.sort(np.random.default_rng(seed).choice(x, n, replace=False))
    places = np.unique(places[places > x.min()])
    middles = np.concatenate([[x.min()], (places[1:] + places[:-1]) / 2, [x.max()]])
    return places, np.diff(function(middles))


def draw(function, x, jump=0.0, at=0.5):
    places, jumps = steps_of(function, x)
    order = np.argsort(np.append(places, at))
    places, jumps = np.append(places, at)[order], np.append(jumps, jump)[order]
    return Drawing.of(stairs_of(x, places, jumps), stand(x))


@given(SEEDS, st.sampled_from(["even", "normal", "cauchy"]))
def test_parabolas_are_drawn_as_they_are(seed, kind):
    rng = np.random.default_rng(seed)
    x = {"even": rng.uniform, "normal": rng.normal, "cauchy": rng.standard_cauchy}[kind](size=300)
    places = np.sort(rng.choice(x, 20, replace=False))
    made = Drawing.of(stairs_of(x, places, rng.normal(size=20)), stand(x))
    values = 1 + 2 * made.rows.x - 3 * made.rows.x**2
    scale = np.abs(values).max()
    np.testing.assert_allclose(
        made.rule @ values, 1 + 2 * made.knots - 3 * made.knots**2, atol=1e-6 * scale
    )


def test_small_steps_of_a_smooth_function_are_smoothed():
    x = np.linspace(0, 1, 1000)
    made = draw(lambda z: np.sin(6 * z), x)
    truth = np.sin(6 * x) - np.sin(6 * x).mean()
    stairs, drawn = (np.abs(one.curve(x, "mean") - truth).mean() for one in (made.stairs, made))
    assert drawn < 0.4 * stairs
    turns = np.diff(made.curve(x, "mean"), 2)
    assert np.abs(turns).max() < 0.1 * np.abs(np.diff(made.stairs.curve(x, "mean"), 2)).max()


@pytest.mark.parametrize("size", [0.5, -2.0, 8.0])
def test_a_real_jump_stays_where_it_is(size):
    x = np.linspace(0, 1, 1000)
    made = draw(lambda z: np.sin(6 * z) / 2, x, jump=size, at=0.3005)
    before, behind = made.curve(np.array([0.3004999, 0.3005]), "mean")
    np.testing.assert_allclose(behind - before, size, rtol=0.01)
    truth = np.sin(6 * x) / 2 + size * (x >= 0.3005)
    assert np.abs(made.curve(x, "mean") - truth + truth.mean()).mean() < 0.01


def test_flat_ends_stay_flat():
    x = np.linspace(0, 1, 500)
    places = np.linspace(0.3, 0.7, 30)
    made = Drawing.of(stairs_of(x, places, np.ones(30)), stand(x))
    ends = made.curve(np.linspace(-1, 0.21, 50), "start")
    np.testing.assert_allclose(ends, 0, atol=1e-7)
    np.testing.assert_allclose(made.curve(np.linspace(0.79, 2, 50), "start"), 30, rtol=1e-7)
    between = made.curve(np.linspace(0, 1, 700), "start")
    assert between.min() > -0.8  # less than a step
    assert between.max() < 30.8


def test_behind_a_jump_a_flat_end_is_flat():
    x = np.linspace(0, 1, 400)
    places, jumps = steps_of(lambda z: np.minimum(z, 0.9), x, 80)
    both = np.append(places, 0.93), np.append(jumps, 0.2)
    order = np.argsort(both[0])
    made = Drawing.of(stairs_of(x, *(one[order] for one in both)), stand(x))
    assert np.ptp(made.curve(np.linspace(0.935, 1, 50), "mean")) < 0.01


@given(SEEDS, st.integers(2, 50))
def test_few_values_are_joined_by_lines(seed, n):
    rng = np.random.default_rng(seed)
    values = np.unique(np.round(rng.normal(size=n), 3))
    x = rng.choice(values, 400)
    values = np.unique(x)
    places = values[1:]
    made = Drawing.of(stairs_of(x, places, rng.normal(size=places.size)), stand(x))
    z = np.linspace(x.min(), x.max(), 77)
    expected = np.interp(z, values, made.stairs.curve(values, "mean"))
    np.testing.assert_allclose(made.curve(z, "mean"), expected, atol=1e-12)


def test_a_value_that_many_rows_have_is_drawn_where_it_is():
    rng = np.random.default_rng(0)
    x = np.where(rng.random(500) < 0.6, 0.0, rng.exponential(size=500))
    places, jumps = steps_of(np.sqrt, x[x > 0], 80)
    tiny = np.nextafter(0.0, 1.0)
    stairs = stairs_of(x, np.append(tiny, places), np.append(0.5, jumps))
    # places that stand for rows are off zero by a little
    rows = stand(np.where(x == 0, 1e-5, x))
    made = Drawing.of(stairs, rows)
    assert made.rows.x[0] == 0
    np.testing.assert_allclose(made.rows.weight[0], np.mean(x == 0))
    np.testing.assert_allclose(made.curve(np.zeros(1), "start"), 0, atol=1e-12)
    off = np.abs(made.curve(x, "mean") - stairs.curve(x, "mean"))
    assert off.mean() < 0.02


@given(SEEDS)
def test_rows_are_as_many_between_jumps_as_the_staircase_knows(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=100)
    stairs = stairs_of(x, np.sort(rng.choice(x, 12, replace=False)), rng.normal(size=12))
    rows = calibrate_quadrature(stairs, RowPlaces(rng.normal(size=30), np.full(30, 1 / 30)))
    held = np.bincount(stairs.locate(rows.x), rows.weight, minlength=13)
    np.testing.assert_allclose(held, stairs.row_shares, atol=1e-14)
    assert (np.diff(rows.x) > 0).all()


@given(SEEDS)
def test_the_drawing_is_centred_as_asked(seed):
    rng = np.random.default_rng(seed)
    x = rng.lognormal(size=200)
    places = np.sort(rng.choice(x, 30, replace=False))
    made = Drawing.of(stairs_of(x, places, rng.normal(size=30)), stand(x))
    assert abs(made.curve(x, "mean").mean()) < 1e-12
    assert abs(made.curve(x.min()[None], "start")[0]) < 1e-12
    fine = x.min() + np.ptp(x) * (np.arange(20_000) + 0.5) / 20_000
    assert abs(made.curve(fine, "uniform").mean()) < 5e-3


@pytest.mark.parametrize("center", CENTERS)
def test_variances_are_those_of_the_same_map_of_every_group(center):
    x = np.linspace(0, 1, 300)
    made = draw(np.sin, x, jump=1.0)
    z = np.linspace(-0.1, 1.1, 9)
    expected = 0.0
    for own, shift in zip(made.stairs.influence, made.stairs.drawn[0], strict=True):
        moved = replace(made, stairs=replace(made.stairs, jumps=own)).curve(z, center)
        expected = expected + (moved - (shift if center == "mean" else 0.0)) ** 2
    found = made.of_curve(z, center)
    np.testing.assert_allclose(found.variance, expected, rtol=1e-9)
    np.testing.assert_array_equal(found.degrees, 31)


def test_a_change_has_its_own_variance():
    x = np.linspace(0, 1, 300)
    made = draw(np.sin, x)
    start, stop = np.array([0.0, 0.2]), np.array([0.6, 0.2])
    found = made.of_changes(start, stop).variance
    np.testing.assert_allclose(found[0], made.of_curve(stop[:1], "start").variance[0], rtol=1e-9)
    assert found[1] == 0


@given(SEEDS)
def test_scaling_the_axis_moves_the_places_alone(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=150)
    places, jumps = np.sort(rng.choice(x, 25, replace=False)), rng.normal(size=25)
    one = Drawing.of(stairs_of(x, places, jumps), stand(x))
    other = Drawing.of(stairs_of(4 * x, 4 * places, jumps), stand(4 * x))
    np.testing.assert_allclose(other.curve(4 * x, "mean"), one.curve(x, "mean"), atol=1e-9)


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("x", [np.zeros(5), np.arange(3.0), np.linspace(0, 1, 200)])
def test_nothing_is_drawn_of_nothing(x, center):
    made = Drawing.of(stairs_of(x, np.empty(0), np.empty(0)), stand(x))
    z = np.array([-1.0, 0.0, 9.0])
    np.testing.assert_array_equal(made.curve(z, center), 0)
    drawn = np.sum(made.stairs.drawn[0] ** 2) if center == "mean" else 0.0
    np.testing.assert_allclose(made.of_curve(z, center).variance, drawn)


@given(SEEDS)
def test_no_knot_lies_above_or_below_all_stairs_around_it(seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.standard_cauchy(size=300))
    places = np.sort(rng.choice(x[30:-30], 12, replace=False))
    made = Drawing.of(stairs_of(x, places, np.cumsum(rng.normal(size=12))), stand(x))
    height = made.stairs.curve(made.knots, "start")
    smooth = made.rule @ made.stairs.curve(made.rows.x, "start")
    drawn = smooth + made.weight * (height - smooth)
    for k, at in enumerate(np.searchsorted(x, made.knots)):
        around = made.stairs.curve(x[max(at - 24, 0) : at + 25], "start")  # 15 % of the rows
        assert around.min() - 1e-7 <= drawn[k] <= around.max() + 1e-7


def test_real_jumps_are_drawn_as_they_are_and_the_rest_is_smooth():
    """A line in 100 small steps with a jump of 3 at 0.505: the drawing has the whole jump there."""
    x = np.linspace(0, 1, 1000)
    places = np.append(np.arange(0.005, 1, 0.01), 0.5051)
    order = np.argsort(places)
    jumps = np.append(np.full(100, 0.01), 3.0)[order]
    stairs, rows = stairs_of(x, places[order], jumps), RowPlaces(x, np.full(1000, 1e-3))
    plain = Drawing.of(stairs, rows, [Jump(0.5051, 0.5051, 3.0)])
    around = np.array([np.nextafter(0.5051, 0), 0.5051])
    np.testing.assert_allclose(np.diff(plain.curve(around, "mean")), 3.0, atol=1e-3)
    z = np.linspace(0.05, 0.95, 19)
    expected = z + 3.0 * (z >= 0.5051)
    drawn = plain.curve(z, "mean")
    np.testing.assert_allclose(drawn - drawn.mean(), expected - expected.mean(), atol=0.006)
