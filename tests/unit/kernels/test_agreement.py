import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.kernels.agreement import (
    FULL_AGREEMENT,
    NO_AGREEMENT,
    USUAL,
    even_groups,
    median,
    shared_squares,
    spread_of_rows,
    spreads_of_rows,
    staircase_slopes,
    subtract,
    subtract_squares,
)
from rhale.kernels.axis_row import AxisRow
from rhale.kernels.grid import Grid
from rhale.kernels.moments import measure

TEN = Grid(np.linspace(0, 1, 11))


def cells(x, wide, left, right, *, weights=None, grid=TEN):
    """Moments of slopes; those over the narrow window play no part."""
    series = np.stack([np.full(x.size, 1e3), wide, (left + right) / 2, right - left])
    return measure(grid, x, series, weights).of_output(0, 1)


def about_line(x, v):
    return v - np.polyval(np.polyfit(x, v, 1), x)


def inside_cells(x, v, low, high):
    """Variance about the line of each tenth, pooled: with 1,000 rows these are the groups."""
    parts = [np.flatnonzero((x >= k / 10) & (x < (k + 1) / 10)) for k in range(low, high)]
    squares = sum(np.sum(about_line(x[i], v[i]) ** 2) for i in parts)
    return squares / sum(i.size - 2 for i in parts)


# --- slopes of a staircase ------------------------------------------------------------------------


def test_slopes_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    places, jumps = rng.uniform(0, 10, 20), rng.normal(size=20)
    whole, halves, difference = staircase_slopes(
        places, jumps, np.array([1.0, -2.0]), np.array([6.0, 9.0])
    )
    for i, (a, b) in enumerate([(1.0, 6.0), (-2.0, 9.0)]):
        m = (a + b) / 2
        fitted = []
        for low, high in ((a, b), (a, m), (m, b)):
            x = low + (np.arange(40_000) + 0.5) / 40_000 * (high - low)
            stairs = (jumps * (places <= x[:, None])).sum(axis=1)
            fitted.append(np.polyfit(x - m, stairs, 1)[0])
        expected = fitted[0], (fitted[1] + fitted[2]) / 2, fitted[2] - fitted[1]
        np.testing.assert_allclose((whole[i], halves[i], difference[i]), expected, atol=1e-3)


def test_jumps_at_the_ends_and_outside_say_nothing():
    places = np.array([0.0, 4.0, 5.0, -1.0])
    assert not staircase_slopes(places, np.ones(4), np.zeros(1), np.full(1, 4.0)).any()


def test_a_window_without_width_has_no_slope():
    found = staircase_slopes(np.array([1.0]), np.ones(1), np.ones(1), np.ones(1))
    assert found.ravel().tolist() == [0.0] * 3


def test_steps_in_both_halves_have_a_slope_and_no_difference():
    """Jumps of 1 at u = -1/2 and 1/2 of a window of half width 2: 3/4 (2 · 3/4) / 2 = 9/16."""
    found = staircase_slopes(np.array([1.0, 3.0]), np.ones(2), np.zeros(1), np.full(1, 4.0))
    assert found.ravel().tolist() == [9 / 16, 3 / 4, 0.0]


# --- taking off what is known ---------------------------------------------------------------------

NUMBERS = st.floats(-5, 5, width=32)


@given(
    rows=st.lists(st.tuples(st.floats(0, 1, width=32), NUMBERS, NUMBERS), min_size=1, max_size=30),
    levels=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=10, max_size=10),
    is_weighted=st.booleans(),
)
def test_levels_are_taken_off_as_from_the_rows(rows, levels, is_weighted):
    x, *values = np.array(rows).T
    weights = np.arange(1.0, x.size + 1) if is_weighted else None
    levels = np.array(levels).T
    found = subtract(measure(TEN, x, np.stack(values), weights), levels)
    expected = measure(TEN, x, np.stack(values) - levels[:, TEN.locate(x)], weights)
    for name in ("mean", "sxd", "sdd"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)
    assert np.all(found.sdd >= 0)


def test_levels_are_taken_off_exactly():
    rng = np.random.default_rng(1)
    x, level = rng.uniform(0, 1, 200), rng.normal(size=10)
    before = measure(TEN, x, level[TEN.locate(x)] + rng.normal(size=200))
    found = subtract(before, level[None])
    assert found.sdd.tolist() == before.sdd.tolist()
    assert found.mean.tolist() == (before.mean - level).tolist()


def test_rounding_is_no_deviation():
    rng = np.random.default_rng(2)
    x, level = rng.uniform(0, 1, 200), rng.normal(size=10)
    values = level[TEN.locate(x)] * (1 + 1e-15 * rng.integers(-9, 9, 200))
    found = subtract(measure(TEN, x, values), level[None])
    assert not found.mean.any()
    assert not found.sxd.any()
    assert not found.sdd.any()


def test_empty_cells_stay_empty():
    cells = measure(TEN, np.array([0.05, 0.95]), np.array([1.0, 2.0]))
    found = subtract(cells, np.arange(10.0)[None])
    assert found.mean[0, 1:-1].tolist() == [0.0] * 8
    assert found.mean[0, [0, -1]].tolist() == [1.0, -7.0]


# --- spread ---------------------------------------------------------------------------------------


def expect(x, wide, left, right):
    """Agreement and std of one group and one bin, written out in rows."""
    n = x.size
    w, a, b = (about_line(x, v) for v in (wide, left, right))
    slope = (w @ w - (b - a) @ (b - a) / 16) / (n - 2)
    shared, shift = a @ b / (n - 2), max(wide.mean() ** 2 - w @ w / (n - 2) / n, 0.0)
    agreement = (max(shared, -NO_AGREEMENT * slope) + shift) / (slope + shift)
    rise = np.clip((agreement - NO_AGREEMENT) / (FULL_AGREEMENT - NO_AGREEMENT), 0, 1)
    return agreement, np.sqrt(slope * rise)


@given(seed=st.integers(0, 10_000), common=st.floats(0.5, 2), shift=st.sampled_from([0.0, 1.0]))
def test_one_group_by_rows(seed, common, shift):
    """Fewer than 50 rows are one group, and here one bin: no more than the usual variance."""
    rng = np.random.default_rng(seed)
    x, own = rng.uniform(0, 1, 40), common * rng.normal(size=40) + shift
    wide, left, right = own + rng.normal(0, [[0.2], [0.8], [0.8]], (3, 40))
    agreement, std = expect(x, wide, left, right)
    found = spread_of_rows(cells(x, wide, left, right), np.array([0, 10]))
    np.testing.assert_allclose(found.agreement, min(agreement, 1))
    np.testing.assert_allclose(found.std, [std], atol=1e-9)


def test_slopes_that_both_halves_share_are_spread():
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 1, 1000)
    own = rng.normal(size=1000)
    found = spread_of_rows(cells(x, own, own, own), np.array([0, 5, 10]))
    np.testing.assert_allclose(found.agreement, 1.0)
    expected = inside_cells(x, own, 0, 5), inside_cells(x, own, 5, 10)
    np.testing.assert_allclose(found.std, np.sqrt(expected))


@pytest.mark.parametrize("seed", range(5))
def test_steps_of_single_rows_are_no_spread(seed):
    """Jumps of every row's own, independent and of mean 0, at 100 thresholds."""
    rng = np.random.default_rng(seed)
    x, places = rng.uniform(0, 1, 600), np.linspace(0.005, 0.995, 100)
    starts, stops = np.clip(x - 0.15, 0, 0.7), np.clip(x + 0.15, 0.3, 1)
    series = np.empty((3, 600))
    for i, jumps in enumerate(rng.normal(size=(600, 100))):
        series[:, i] = staircase_slopes(places, jumps, starts[[i]], stops[[i]])[:, 0]
    wide, halves, difference = series
    of_rows = cells(x, wide, halves - difference / 2, halves + difference / 2)
    found = spread_of_rows(of_rows, np.array([0, 10]))
    assert abs(found.agreement) < NO_AGREEMENT
    assert found.std.tolist() == [0.0]


def test_rows_that_deviate_together_show_an_interaction():
    """Halves that do not agree, but a mean that is not that of the staircase."""
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 1, 1000)
    own, noise = rng.normal(size=(2, 1000))
    away = np.where(x < 0.5, 3.0, -3.0)
    at = np.array([0, 5, 10])
    assert not spread_of_rows(cells(x, own, noise, -noise), at).std.any()
    apart = spread_of_rows(cells(x, own + away, noise, -noise), at)
    assert apart.agreement > FULL_AGREEMENT
    for part, std in zip([(0, 5), (5, 10)], apart.std, strict=True):
        square = inside_cells(x, own, *part) - inside_cells(x, 2 * noise, *part) / 16
        np.testing.assert_allclose(std, np.sqrt(square), rtol=1e-9)


def test_a_mean_that_bends_in_a_bin_is_no_spread():
    """Rows deviate by four waves, and by 0.1 from these; about one line it would be 0.71.

    Groups are twentieths w of the axis: of a bend f'' their lines leave (f'' w²)² / 720.
    """
    rng = np.random.default_rng(8)
    x = rng.uniform(0, 1, 4000)
    wave = np.sin(8 * np.pi * x) + 0.1 * rng.normal(size=4000)
    fine = Grid(np.linspace(0, 1, 201))
    found = spread_of_rows(cells(x, wave, wave, wave, grid=fine), np.array([0, 200]))
    bend = ((8 * np.pi / 20) ** 2) ** 2 / 2 / 720
    np.testing.assert_allclose(found.std, [np.sqrt(0.1**2 + bend)], rtol=0.05)


def test_rows_too_few_for_the_groups_may_be_enough_for_the_bin():
    """Two rows on each side of the limit between two groups of 25, and one bin of these four."""
    rng = np.random.default_rng(9)
    sizes = [62, 62, 62, 62, 2, 2, 62, 62, 62, 62]
    x = np.concatenate([(k + rng.uniform(0.1, 0.9, n)) / 10 for k, n in enumerate(sizes)])
    own = rng.normal(size=500)
    found = spread_of_rows(cells(x, own, own, own), np.array([0, 4, 6, 10]))
    four = slice(248, 252)
    expected = np.sqrt(np.sum(about_line(x[four], own[four]) ** 2) / 2)
    np.testing.assert_allclose(found.std[1], expected)


def test_a_stretch_of_wild_steps_must_be_agreed_upon_there():
    """Slopes of size 1 that are shared; in the last tenth, some of size 20 that are not.

    Beyond four times the median variance, that of the slopes counts only where halves agree.
    """
    rng = np.random.default_rng(5)
    x, own = rng.uniform(0, 1, 4000), rng.normal(size=4000)
    wild = np.where(x < 0.9, 0.0, 20.0) * rng.normal(size=(3, 4000))
    at = np.arange(11)
    alike = spread_of_rows(cells(x, own, own, own), at)
    found = spread_of_rows(cells(x, *(own + wild)), at)
    assert found.agreement > 0.9
    np.testing.assert_allclose(found.std[:9], alike.std[:9])
    np.testing.assert_allclose(found.std[9], np.sqrt(USUAL), rtol=0.1)
    agreed = spread_of_rows(cells(x, *(own + wild[0] for _ in range(3))), at)
    np.testing.assert_allclose(agreed.std[9], 20, rtol=0.1)


def test_nothing_that_varies_is_no_spread():
    x = np.linspace(0, 1, 100)
    none = np.zeros(100)
    found = spread_of_rows(cells(x, none, none, none), np.array([0, 5, 10]))
    assert found.agreement == 0.0
    assert found.std.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_too_few_rows_tell_nothing(n_rows):
    x = np.linspace(0, 1, 3)[:n_rows]
    found = spread_of_rows(cells(x, x**2, x**2, x**2), np.array([0, 10]))
    assert np.isnan(found.std).all()
    assert found.agreement == 0.0


def test_a_bin_with_too_few_rows_is_not_known_beside_others_that_are():
    x = np.append(np.linspace(0, 0.89, 99), 0.95)
    own = np.random.default_rng(6).normal(size=100)
    found = spread_of_rows(cells(x, own, own, own), np.array([0, 9, 10]))
    assert np.isnan(found.std).tolist() == [False, True]


@given(seed=st.integers(0, 10_000), power=st.integers(-20, 20), weight=st.sampled_from([0.5, 4.0]))
def test_units_and_a_common_weight_do_not_matter(seed, power, weight):
    rng = np.random.default_rng(seed)
    x, own = rng.uniform(0, 1, 120), rng.normal(size=120)
    series = own + rng.normal(0, [[0.2], [0.8], [0.8]], (3, 120))
    at = np.array([0, 3, 10])
    found = spread_of_rows(cells(x, *series), at)
    scaled = spread_of_rows(cells(x, *np.ldexp(series, power)), at)
    assert scaled.agreement == found.agreement
    assert scaled.std.tolist() == np.ldexp(found.std, power).tolist()
    heavy = spread_of_rows(cells(x, *series, weights=np.full(120, weight)), at)
    np.testing.assert_allclose(heavy.std, found.std)


def test_agreement_does_not_depend_on_the_bins():
    rng = np.random.default_rng(7)
    x, own = rng.uniform(0, 1, 500), rng.normal(size=500)
    of_rows = cells(x, *(own + rng.normal(size=(3, 500))))
    found = {spread_of_rows(of_rows, np.array(at)).agreement for at in ([0, 10], [0, 2, 7, 10])}
    assert len(found) == 1


def contradicting(size, slope=1.0, n_rows=4000):
    """Rows whose slopes differ by ± `size` and whose halves say nothing; all share `slope`."""
    x = np.linspace(0, 1, n_rows)
    wide = np.where(np.arange(n_rows) % 2 == 0, size, -size)
    none = np.zeros(n_rows)
    return measure(TEN, x, np.stack([np.full(n_rows, slope), wide, none, none])).of_output(0, 1)


@pytest.mark.parametrize(
    ("size", "expected"), [(0.5, np.sqrt(0.25 - 1 / 16)), (0.2, 0.0), (2.0, np.sqrt(4 - 1 / 16))]
)
def test_rows_that_differ_by_more_than_a_quarter_of_the_slope_differ(size, expected):
    """V = size², E = 1: V (1 - E² / 16 V), and nothing where V is the smaller."""
    found = spread_of_rows(contradicting(size), np.array([0, 10]))
    assert found.agreement == pytest.approx(0.0, abs=1e-12)
    assert found.std == pytest.approx([expected], rel=5e-3, abs=1e-9)  # of n - 2 rows a group


def test_without_a_mean_slope_all_that_differs_counts():
    assert spread_of_rows(contradicting(0.3, 0.0), np.array([0, 10])).std == pytest.approx(
        [0.3], rel=5e-3
    )


def test_shared_slopes_are_those_of_five_groups():
    """Slopes 2 and -2 on the two halves: 2, 2, 0, -2, -2 in fifths."""
    x = np.linspace(0, 10, 4001)[:-1]
    slopes = np.where(x < 5, 2.0, -2.0)
    grid = Grid(np.linspace(0, 10, 101))
    none = np.zeros(x.size)
    cells = measure(grid, x, np.stack([slopes, none, none, none])).of_output(0, 1)
    (found,) = shared_squares(AxisRow.of([cells], n_series=None))
    np.testing.assert_allclose(found, [4, 4, 0, 4, 4], atol=0.02)


@pytest.mark.parametrize(("size", "expected"), [(1.0, 0.0), (2.0, np.sqrt(4 - 20 / 16))])
def test_means_along_the_axis_tell_what_is_more_than_steps(size, expected):
    """A slope of 10 on a fifth of the axis, none elsewhere: E² = 20, and V (1 - E² / 16 V)."""
    x = np.linspace(0, 1, 4000)
    wide = np.where(np.arange(4000) % 2 == 0, size, -size)
    none = np.zeros(4000)
    series = np.stack([np.where(x < 0.2, 10.0, 0.0), wide, none, none])
    found = spread_of_rows(measure(TEN, x, series).of_output(0, 1), np.array([0, 10]))
    assert found.std == pytest.approx([expected], rel=5e-3)


@given(seed=st.integers(0, 10_000), is_weighted=st.booleans())
def test_squares_are_taken_off_the_variance_of_each_series_and_leave_none_below_zero(
    seed, is_weighted
):
    rng = np.random.default_rng(seed)
    x, series = rng.uniform(0, 1, 60), rng.normal(size=(2, 60))
    weights = rng.uniform(0.5, 2, 60) if is_weighted else None
    moments = measure(TEN, x, series, weights)
    squares = rng.uniform(0, 2, (2, 10))
    found = subtract_squares(moments, squares)
    for k in range(10):
        own = TEN.locate(x) == k
        w = np.ones(60)[own] if weights is None else weights[own]
        for s in range(2):
            left = 0.0
            if own.any():
                mean = np.average(series[s, own], weights=w)
                variance = np.average((series[s, own] - mean) ** 2, weights=w)
                left = w.sum() * max(variance - squares[s, k], 0)
            assert found.sdd[s, k] == pytest.approx(left, abs=1e-12)
    np.testing.assert_array_equal(found.mean, moments.mean)


@given(seed=st.integers(0, 10_000), sizes=st.lists(st.integers(1, 200), min_size=1, max_size=4))
def test_axes_together_are_each_as_if_it_were_alone(seed, sizes):
    """To the bit, whatever the number of rows; empty cells and bins among them."""
    rng = np.random.default_rng(seed)
    each, limits = [], []
    for n_rows in sizes:
        series = rng.normal(size=(4, n_rows)) * rng.integers(0, 2, (4, n_rows))
        each.append(measure(TEN, rng.uniform(0, 1, n_rows), series).of_output(0, 1))
        limits.append(np.unique([0, *rng.integers(1, 10, 3), 10]))
    together = spreads_of_rows(AxisRow.of(each, n_series=None), limits)
    for found, own, at in zip(together, each, limits, strict=True):
        alone = spread_of_rows(own, at)
        assert found.std.tobytes() == alone.std.tobytes()
        assert found.agreement == alone.agreement


def test_groups_have_as_many_rows_each_as_cells_allow():
    """100 rows of weight 2 in ten cells: four groups of 25, whose ends lie in the cells 3, 5, 8."""
    x = (np.arange(100) + 0.5) / 100
    cells = measure(TEN, x, x, np.full(100, 2.0))
    groups = even_groups(AxisRow.of([cells, cells]))
    assert [own.tolist() for own in groups] == [[0, 3, 5, 8, 10]] * 2


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_medians_are_those_of_numpy(values):
    assert median(np.array(values)) == np.median(values)


@pytest.mark.parametrize(("steep", "counted"), [(0.0, 1.0), (4.0, 1 - 4.0**2 / 16 / 4), (1e3, 0.0)])
def test_rows_that_differ_in_one_bin_alone_count_there_beyond_what_they_share(steep, counted):
    """In one of ten stretches rows have slopes of 2 and -2, whose halves do not agree; V is 4.

    Of them 1 - E² / 16 V count, E being the slope that rows share there; elsewhere none differ.
    """
    x = (np.arange(10_000) + 0.5) / 10_000
    signs = np.where(np.arange(x.size) // 2 % 2 == 0, 1.0, -1.0)
    here = (x >= 0.4) & (x < 0.5)
    wide = np.where(here, 2.0 * signs, 0.0)
    # halves without any covariance, and a difference that takes nothing off the slopes
    effect = np.where(here, steep, 0.0)
    series = np.stack([effect, wide, np.zeros(x.size), np.zeros(x.size)])
    found = spread_of_rows(measure(TEN, x, series).of_output(0, 1), np.array([0, 4, 5, 10]))
    np.testing.assert_allclose(found.std, [0.0, np.sqrt(4 * counted), 0.0], atol=5e-3)
