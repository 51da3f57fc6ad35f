"""Laws of pairs: what does not interact, exchanged sides, units, weights, merging, averages over rows."""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pair_rows_by_hand import (
    PairRows,
    cells_of,
    levels_of,
    own_effect,
    random_rows,
    read_rows,
    twisted,
)
from tests.properties.strategies import WEIGHTS, generators

from rhale.interaction.moments import PairAxis
from rhale.interaction.strength import PairFit, find_squares

few = settings(max_examples=20, deadline=None)
SIDES = {
    "numbers": lambda rng, x: (x, cells_of(x, int(rng.integers(2, 6)))),
    "ties": lambda rng, x: (np.round(4 * x), cells_of(np.round(4 * x), int(rng.integers(2, 6)))),
    "levels": lambda rng, x: (np.digitize(x, (-0.7, 0.5)) * 1.0, levels_of(3)),  # noqa: ARG005
    "two levels": lambda rng, x: (np.where(x > 0, 1.0, 0.0), levels_of(2)),  # noqa: ARG005
}


@st.composite
def pair_rows(draw, *, kinds=tuple(SIDES), weighted=None, least=20):
    """Rows of two related features, each with numbers or levels, and of a third."""
    rng, n = draw(generators), draw(st.integers(least, 60))
    x = rng.normal(size=n)
    y = draw(st.sampled_from([0.0, 0.5, 0.95])) * x + 0.4 * rng.normal(size=n)
    sides = [SIDES[draw(st.sampled_from(kinds))](rng, value) for value in (x, y)]
    weight = draw(st.sampled_from(list(WEIGHTS))) if weighted is None else weighted
    values, axes = zip(*sides, strict=True)
    return PairRows(*values, rng.normal(size=n), axes, WEIGHTS[weight](rng, n))


def close(found, expected, tolerance=1e-9):
    size = np.max(np.abs(expected), initial=1e-300)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size)


def close_squares(found, expected, factor=1.0):
    """Compare relative to the heights of the surface: of one heavy row little is left at rows."""
    size = max(np.abs(expected.surface).max(), 1e-300) ** 2 * factor
    np.testing.assert_allclose(
        [*found.square, found.square_error],
        factor * np.array([*expected.square, expected.square_error]),
        rtol=1e-9,
        atol=1e-9 * size,
    )


def deviation(values, weights):
    return np.sqrt(np.average((values - np.average(values, weights=weights)) ** 2, weights=weights))


# --- what does not interact ----------------------------------------------------------------------


@few
@given(pair_rows())
def test_additive_functions_have_no_strength_and_p_is_one(rows):
    # whole numbers: sums of functions cancel exactly, as sources make them
    fit = rows.fit(lambda x, y, z: np.round(8 * np.sin(x)) + np.round(9 * y**2) + np.round(z))
    assert fit.square == (0.0, 0.0)
    assert fit.p_value == 1.0
    assert fit.square_error == 0.0
    assert not fit.surface.any()


@few
@given(pair_rows())
def test_what_only_one_of_the_two_has_a_part_in_changes_nothing(rows):
    plain = rows.fit(twisted)
    more = rows.fit(lambda x, y, z: twisted(x, y, z) + np.exp(x) * z + np.cos(3 * y) * z**2)
    close(more.surface, plain.surface)
    close_squares(more, plain)


# --- sides and units -----------------------------------------------------------------------------


@few
@given(pair_rows())
def test_sides_exchanged_transpose_the_surface(rows):
    one = rows.fit(twisted)
    other = PairFit(rows.axes[::-1], one.moments.transposed())
    close(other.surface.T, one.surface)
    close(other.standard_error.T, one.standard_error)
    close_squares(other, one)
    assert other.p_value == pytest.approx(one.p_value, rel=1e-6, abs=1e-12)


@few
@given(pair_rows(), st.floats(-3, 3).filter(lambda c: abs(c) > 0.01))
def test_a_model_times_a_number_has_a_surface_times_it(rows, factor):
    one, other = rows.fit(twisted), rows.fit(lambda x, y, z: factor * twisted(x, y, z))
    close(other.surface, factor * one.surface)
    close_squares(other, one, factor**2)
    assert other.p_value == pytest.approx(one.p_value, rel=1e-6, abs=1e-12)


def moved(axis, change):
    return replace(axis, nodes=change(axis.nodes))


@few
@given(pair_rows(kinds=("numbers", "ties")), st.sampled_from([0.25, 2.0, 8.0]))
def test_other_units_of_a_feature_change_nothing(rows, factor):
    one = rows.fit(twisted)
    axes = (moved(rows.axes[0], lambda x: factor * x + 3), rows.axes[1])
    other = replace(rows, x=factor * rows.x + 3, axes=axes)
    fit = other.fit(lambda x, y, z: twisted((x - 3) / factor, y, z))
    close(fit.surface, one.surface)
    close_squares(fit, one)


@few
@given(pair_rows(kinds=("numbers",)), st.sampled_from(["exp", "cubic"]))
def test_another_scale_of_a_feature_leaves_the_surface_at_the_nodes_of_cells(rows, name):
    """With rows in the middle of their cells and differences carried over, as in R, exactly."""
    change, back = {
        "exp": (np.exp, np.log),
        "cubic": (lambda x: x**3 + x, None),
    }[name]
    if back is None:
        grid = np.concatenate([rows.x, rows.axes[0].nodes])
        order = np.argsort(change(grid))

        def back(value):
            return np.interp(value, change(grid)[order], grid[order])

    axis = moved(rows.axes[0], change)
    other = replace(rows, x=change(rows.x), axes=(axis, rows.axes[1]))
    measured = rows.measure(twisted).weight > 0
    if not measured.all():  # the nearest measured cell is a matter of distances
        return
    one = rows.fit(twisted, reading="cells")
    close(other.fit(lambda x, y, z: twisted(back(x), y, z), reading="cells").surface, one.surface)


@few
@given(pair_rows(kinds=("numbers",)))
def test_another_scale_leaves_mean_differences_of_cells_read_at_rows(rows):
    """At the rows only places within cells change: mean differences are those of before."""
    axis = moved(rows.axes[0], np.exp)
    other = replace(rows, x=np.exp(rows.x), axes=(axis, rows.axes[1]))
    one, two = rows.measure(twisted), other.measure(lambda x, y, z: twisted(np.log(x), y, z))
    assert np.array_equal(one.count, two.count)
    close(two.mean, one.mean)


# --- averages over the rows ----------------------------------------------------------------------


@few
@given(pair_rows(), st.booleans())
def test_first_order_effects_and_the_mean_of_a_surface_are_zero(rows, smooth):
    fit = rows.fit(twisted, smooth=smooth)
    size = max(np.abs(fit.surface).max(), 1e-300)
    for side in (0, 1):
        assert np.abs(own_effect(rows, fit.surface, side)).max() <= 1e-10 * size
    mean = np.average(read_rows(rows, fit.surface), weights=rows.w)
    assert abs(mean) <= 1e-10 * size


@few
@given(pair_rows())
def test_raw_strength_is_the_deviation_over_the_rows(rows):
    fit = rows.fit(twisted)
    expected = deviation(read_rows(rows, fit.surface), rows.w)
    size = np.abs(fit.surface).max()
    assert np.sqrt(fit.square.raw) == pytest.approx(expected, rel=1e-7, abs=1e-6 * size)


@few
@given(generators, st.integers(2, 9), st.integers(1, 8), st.floats(-3, 3))
def test_two_independent_levels_have_the_residual_of_their_table(rng, n, part, delta):
    # every count of the first with the same shares of the second: independent
    first, second = np.array([0.0] * n + [1.0] * part), np.array([0.0] * 3 + [1.0] * 2)
    x, y = (grid.ravel() for grid in np.meshgrid(first, second))
    order = rng.permutation(x.size)
    rows = PairRows(x[order], y[order], x[order], (levels_of(2), levels_of(2)))
    fit = rows.fit(lambda x, y, z: delta * x * y + 3 * x - 0 * z)
    a, b = np.arange(2.0)[:, None], np.arange(2.0)[None]
    expected = delta * (a - x.mean()) * (b - y.mean())
    np.testing.assert_allclose(fit.surface, expected, atol=1e-12)
    assert fit.square.raw == pytest.approx(delta**2 * x.var() * y.var(), abs=1e-12)


# --- rows, weights, chunks -----------------------------------------------------------------------


@few
@given(pair_rows(), generators)
def test_any_chunks_in_any_order_give_the_same_sums(rows, rng):
    whole, order = rows.measure(twisted), rng.permutation(rows.x.size)
    cuts = np.sort(rng.integers(0, order.size + 1, size=rng.integers(0, 5)))
    merged = reduce(add, [rows.take(part).measure(twisted) for part in np.split(order, cuts)])
    for name, value in vars(whole).items():
        close(getattr(merged, name), value)
    assert np.array_equal(merged.count, whole.count)


@few
@given(pair_rows(weighted="mild"), generators)
def test_rows_of_weight_zero_are_absent(rows, rng):
    kept = rng.random(rows.x.size) < 0.7
    kept[:2] = True
    one = replace(rows, weights=rows.w * kept).fit(twisted)
    other = rows.take(np.flatnonzero(kept)).fit(twisted)
    assert np.array_equal(one.surface, other.surface)
    assert one.square == other.square
    assert one.p_value == other.p_value


@few
@given(pair_rows(weighted="mild"), st.sampled_from([0.125, 3.0, 1e6]))
def test_weights_in_other_units_change_nothing(rows, factor):
    one, other = rows.fit(twisted), replace(rows, weights=factor * rows.w).fit(twisted)
    close(other.surface, one.surface)
    close_squares(other, one)
    close(other.standard_error, one.standard_error)


@few
@given(pair_rows(weighted="whole"))
def test_a_weight_of_two_is_a_row_twice_for_surfaces_and_raw_strength(rows):
    one = rows.fit(twisted)
    many = replace(rows.take(np.repeat(np.arange(rows.x.size), rows.w.astype(int))), weights=None)
    other = many.fit(twisted)
    close(other.surface, one.surface)
    close(other.square.raw, one.square.raw)


@few
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=6))
def test_many_pairs_at_once_are_each_alone(seeds):
    kinds = [("numbers", "numbers"), ("levels", "numbers"), ("levels", "levels")]
    fits = [random_rows(kinds[s % 3], n=30, seed=s).fit(twisted) for s in seeds]
    for found, fit in zip(find_squares(fits), fits, strict=True):
        assert found == pytest.approx(fit.square, rel=1e-9)


# --- functions whose strength is known -----------------------------------------------------------


def strength_of(f, x, y, n_cells=20):
    fit = PairRows(x, y, x, (cells_of(x, n_cells), cells_of(y, n_cells))).fit(f)
    return np.sqrt(max(fit.square.raw - fit.square.noise, 0.0))


def test_a_product_of_independent_normal_features_has_strength_one():
    found = []
    for seed in range(20):
        x, y = np.random.default_rng(seed).normal(size=(2, 2000))
        found.append(strength_of(lambda x, y, z: x * y + z * 0, x, y))
    assert 0.97 <= np.mean(found) <= 1.03


def test_a_smooth_exclusive_or_has_its_closed_form():
    z = np.linspace(-8, 8, 20001)
    truth = np.average(np.tanh(3 * z) ** 2, weights=np.exp(-(z**2) / 2))
    found = []
    for seed in range(20):
        x, y = np.random.default_rng(seed).normal(size=(2, 2000))
        found.append(strength_of(lambda x, y, z: np.tanh(3 * x) * np.tanh(3 * y) + 0 * z, x, y))
    assert 0.97 <= np.mean(found) / truth <= 1.03


def test_a_pair_with_a_hole_fills_it_with_the_slope_that_is_everywhere():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=(2, 4000))
    kept = (x > 0.5) | (y > 0.5)
    axes = (PairAxis(np.linspace(0, 1, 9)),) * 2
    fit = PairRows(x[kept], y[kept], x[kept], axes).fit(lambda x, y, z: 3 * x * y + 0 * z)
    twist = np.diff(np.diff(fit.surface, axis=0), axis=1)
    np.testing.assert_allclose(twist, 3 / 64, rtol=1e-10)
