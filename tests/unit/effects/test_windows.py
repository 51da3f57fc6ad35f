import numpy as np
import pytest

from rhale.effects.binning.axis import MANY_VALUES, FeatureAxis
from rhale.effects.local.finite_difference import MIN_WINDOW_ROWS, even_window, window

SHARES = [0.01, 0.05, 0.2]


def axis(x, weights=None, low=None, high=None):
    """What a first pass learns of these values."""
    x = np.asarray(x, dtype=float)
    w = np.ones(x.size) if weights is None else np.asarray(weights, dtype=float)
    values, place = np.unique(x, return_inverse=True)
    held = np.bincount(place, w, values.size)
    low, high = values[0] if low is None else low, values[-1] if high is None else high
    return FeatureAxis(float(low), float(high), values, held, w.sum() ** 2 / (w**2).sum())


def share_inside(x, a, b, at):
    """Share of the rows in [a, b] that are not at the centre itself."""
    return np.array(
        [np.mean((x >= lo) & (x <= hi) & (x != c)) for lo, hi, c in zip(a, b, at, strict=True)]
    )


FEATURES = {
    "uniform": np.random.default_rng(0).uniform(0, 1, 4000),
    "normal": np.random.default_rng(1).normal(0, 1, 4000),
    "lognormal": np.random.default_rng(2).lognormal(0, 1, 4000),
    "unix times": 1.7e9 + np.random.default_rng(3).uniform(0, 1e6, 4000),
    "tiny": 1e-9 * np.random.default_rng(4).normal(0, 1, 4000),
    "two clouds": np.concatenate(
        [np.random.default_rng(5).normal(m, 0.1, 2000) for m in (0.0, 100.0)]
    ),
}
CLOUDS = np.concatenate([np.linspace(0, 1, 300), np.linspace(9, 10, 300)])


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", FEATURES)
def test_a_window_lies_inside_the_range_and_contains_its_value(name, share):
    x = FEATURES[name]
    a, b = window(axis(x), share).ends(x)
    assert np.all((x.min() <= a) & (a <= x) & (x <= b) & (b <= x.max()))
    assert np.all(a < b)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", ["uniform", "normal", "lognormal", "unix times", "tiny"])
def test_a_window_holds_its_share_of_the_rows(name, share):
    """Between the knots reach is a straight line, so shares are near, not exact."""
    x = FEATURES[name]
    some = x[::40]
    a, b = window(axis(x), share).ends(some)
    held = share_inside(x, a, b, some)
    low, high = np.quantile(x, [0.05, 0.95])
    middle = (some > low) & (some < high)
    np.testing.assert_allclose(held[middle], share, rtol=0.35)
    np.testing.assert_allclose(np.median(held), share, rtol=0.1)
    assert np.all(held >= 0.45 * share)


@pytest.mark.parametrize("share", SHARES)
def test_a_window_has_half_of_its_rows_on_each_side_unless_the_range_ends(share):
    x = FEATURES["uniform"]
    a, b = window(axis(x), share).ends(x)
    free = (x > x.min() + share) & (x < x.max() - share)
    below, above = (
        np.array([np.mean((lo <= x) & (x < hi)) for lo, hi in zip(*ends, strict=True)])
        for ends in ((a, x), (x, b))
    )
    np.testing.assert_allclose(below[free], share / 2, atol=3 / 1000)
    np.testing.assert_allclose(above[free], share / 2, atol=3 / 1000)


def test_a_window_is_moved_inside_at_the_ends_and_keeps_its_rows():
    x = np.linspace(0, 1, 1001)
    a, b = window(axis(x), 0.1).ends(np.array([0.0, 0.02, 0.5, 1.0]))
    np.testing.assert_allclose(a, [0, 0, 0.45, 0.9], atol=2e-3)
    np.testing.assert_allclose(b, [0.1, 0.1, 0.55, 1], atol=2e-3)


def test_the_whole_range_is_the_widest_window():
    x = FEATURES["uniform"]
    a, b = window(axis(x), 1.0).ends(x)
    assert np.all(a == x.min())
    assert np.all(b == x.max())


def test_few_rows_get_windows_that_see_some_others():
    x = np.linspace(0, 1, 120) ** 2
    a, b = window(axis(x), 1e-6).ends(x)
    others = np.round(share_inside(x, a, b, x) * x.size)
    assert np.median(others) >= MIN_WINDOW_ROWS - 1
    assert others.min() >= 1


def test_a_pile_of_equal_values_does_not_shrink_the_window():
    """Nine rows in ten are zero: the window around zero still reaches five per cent of the rows."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random(5000) < 0.9, 0.0, rng.uniform(-1, 1, 5000))
    a, b = window(axis(x), 0.05).ends(np.array([0.0]))
    held = share_inside(x, a, b, [0.0])
    np.testing.assert_allclose(held, 0.05, rtol=0.1)
    np.testing.assert_allclose(-a, b, rtol=0.1)


def test_weights_count_in_the_share():
    """The right half of the axis carries nine tenths of the weight."""
    x = np.linspace(0, 1, 2001)
    w = np.where(x < 0.5, 1.0, 9.0)
    reach = window(axis(x, w), 0.02).ends(np.array([0.25, 0.75]))
    np.testing.assert_allclose(reach[1] - reach[0], [0.1, 0.1 / 9], rtol=0.1)


def test_a_window_of_a_ladder_ends_on_its_steps():
    x = np.repeat([0.0, 1.0, 2.0, 5.0, 9.0], 20)
    found = window(axis(x), 0.05)
    a, b = found.ends(np.array([0.0, 1.0, 2.0, 5.0, 9.0]))
    assert set(a) | set(b) <= {0.0, 1.0, 2.0, 5.0, 9.0}
    assert np.all(a < b)
    assert found.ladder.tolist() == [0.0, 1.0, 2.0, 5.0, 9.0]


def test_neighbours_on_a_regular_ladder_are_one_step_away():
    x = np.repeat(np.arange(7.0), 30)
    a, b = window(axis(x), 0.05).ends(np.arange(7.0))
    np.testing.assert_array_equal(a[1:-1], np.arange(5.0))
    np.testing.assert_array_equal(b[1:-1], np.arange(2.0, 7.0))
    assert (a[0], b[-1]) == (0.0, 6.0)
    assert 1.0 <= b[0] <= 2.0
    assert 4.0 <= a[-1] <= 5.0


def test_two_values_have_one_window():
    a, b = window(axis([0.0, 1.0, 1.0]), 0.05).ends(np.array([0.0, 1.0]))
    assert a.tolist() == [0.0, 0.0]
    assert b.tolist() == [1.0, 1.0]


def test_values_between_the_steps_of_a_ladder_get_a_window_around_them():
    x = np.repeat([0.0, 1.0, 2.0, 5.0, 9.0], 20)
    between = np.array([0.2, 3.3, 8.9])
    a, b = window(axis(x), 0.05).ends(between)
    assert np.all((a <= between) & (between <= b) & (a < b))


def test_whole_numbers_get_whole_ends():
    x = np.random.default_rng(0).integers(0, 5000, 3000).astype(float)
    assert np.unique(x).size > MANY_VALUES
    a, b = window(axis(x), 0.01, whole=True).ends(x)
    np.testing.assert_array_equal(a, np.rint(a))
    np.testing.assert_array_equal(b, np.rint(b))
    assert np.all((a <= x) & (x <= b) & (a < b))


def test_whole_numbers_closer_than_the_window_allows_take_the_range():
    """Reach may be less than one: then the secant goes over all there is."""
    x = np.concatenate([np.arange(150.0), np.full(100_000, 75.0), np.full(100_000, 76.0)])
    a, b = window(axis(x), 0.0001, whole=True).ends(np.array([75.0]))
    assert a[0] <= 75.0 <= b[0]
    assert a[0] < b[0]


def test_limits_narrower_than_the_rows_bound_the_windows():
    x = np.linspace(0, 10, 2000)
    inside = x[(x >= 2) & (x <= 4)]
    a, b = window(axis(inside, low=2.0, high=4.0), 0.2).ends(inside)
    assert np.all((a >= 2.0) & (b <= 4.0) & (a < b))


def test_values_outside_the_range_get_a_window_that_reaches_them():
    a, b = window(axis(np.linspace(0, 1, 500)), 0.05).ends(np.array([-1.0, 2.0]))
    assert np.all(a <= [-1.0, 2.0])
    assert np.all(b >= [-1.0, 2.0])
    assert np.all(a < b)


@pytest.mark.parametrize("factor", [2.0**-30, 2.0**30])
def test_windows_scale_with_the_feature(factor):
    x = FEATURES["lognormal"]
    one, other = window(axis(x), 0.05).ends(x), window(axis(factor * x), 0.05).ends(factor * x)
    for mine, theirs in zip(other, one, strict=True):
        np.testing.assert_allclose(mine, factor * theirs, rtol=1e-9, atol=1e-9 * factor)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", FEATURES)
def test_an_even_window_is_as_long_on_both_sides_or_it_is_the_least_one(name, share):
    x = FEATURES[name]
    a, b = even_window(axis(x), share, share / 5).ends(x)
    low, high = window(axis(x), share / 5).ends(x)
    least = (a == low) & (b == high)
    step = 1e-9 * np.ptp(x)  # of a range far from zero, rounding
    np.testing.assert_allclose((x - a)[~least], (b - x)[~least], rtol=1e-6, atol=step)
    assert np.all((b - a)[~least] >= (high - low)[~least] - step)
    assert np.all((x.min() <= a) & (a <= x) & (x <= b) & (b <= x.max()) & (a < b))
    assert np.mean(least) < 0.1


@pytest.mark.parametrize("name", ["normal", "lognormal"])
def test_an_even_window_goes_as_far_as_the_shorter_half_of_the_share(name):
    x = np.sort(FEATURES[name])
    place = np.arange(600, 3400, 50)  # 0.2 of 4000 rows: 400 on each side
    a, b = even_window(axis(x), 0.2, 0.01).ends(x[place])
    shorter = np.minimum(x[place] - x[place - 400], x[place + 400] - x[place])
    np.testing.assert_allclose((b - a) / 2, shorter, rtol=0.02)


def test_an_even_window_shrinks_towards_the_ends_down_to_the_least_one():
    x = np.linspace(0, 1, 1001)
    found = even_window(axis(x), 0.2, 0.04)
    a, b = found.ends(np.array([0.0, 0.01, 0.05, 0.5, 0.97, 1.0]))
    np.testing.assert_allclose(a, [0, 0, 0, 0.4, 0.94, 0.96], atol=2e-3)
    np.testing.assert_allclose(b, [0.04, 0.04, 0.1, 0.6, 1, 1], atol=2e-3)


def test_weights_count_in_even_windows():
    """The right half of the axis carries nine tenths of the weight."""
    x = np.linspace(0, 1, 2001)
    w = np.where(x < 0.5, 1.0, 9.0)
    a, b = even_window(axis(x, w), 0.02, 0.001).ends(np.array([0.25, 0.49, 0.75]))
    # left of the middle by 0.01: a tenth of the half share lies before it, the rest just after
    np.testing.assert_allclose(b - a, [0.1, 2 * (0.01 + 0.04 / 9), 0.1 / 9], rtol=0.15)


def test_a_ladder_has_its_neighbours_for_even_windows():
    x = np.repeat([0.0, 1.0, 2.0, 5.0, 9.0], 20)
    steps = np.array([0.0, 1.0, 2.0, 5.0, 9.0])
    found, expected = (
        w.ends(steps) for w in (even_window(axis(x), 0.1, 0.02), window(axis(x), 0.1))
    )
    np.testing.assert_array_equal(found, expected)


def test_even_windows_of_whole_numbers_are_whole_and_even():
    x = np.random.default_rng(0).integers(0, 5000, 3000).astype(float)
    a, b = even_window(axis(x), 0.1, 0.02, whole=True).ends(x)
    np.testing.assert_array_equal([a, b], np.rint([a, b]))
    inner = (x > 500) & (x < 4500)
    np.testing.assert_array_equal((x - a)[inner], (b - x)[inner])


@pytest.mark.parametrize("make", [window, even_window])
def test_no_window_crosses_a_gap(make):
    least = (0.04,) if make is even_window else ()
    a, b = make(axis(CLOUDS), 0.2, *least).ends(CLOUDS)
    assert np.all((b <= 1) | (a >= 9))
    assert np.all((a <= CLOUDS) & (b >= CLOUDS) & (a < b))


def test_rows_further_from_a_gap_have_their_even_windows():
    a, b = even_window(axis(CLOUDS), 0.2, 0.04).ends(np.array([0.3, 9.5]))
    np.testing.assert_allclose([0.3 - a[0], 9.5 - a[1]], [b[0] - 0.3, b[1] - 9.5])
    assert np.all(b - a < 1)


def test_a_value_that_is_alone_has_the_window_of_its_nearest_rows():
    x = np.concatenate([CLOUDS, [5.0, 1e6]])
    a, b = window(axis(x), 0.02).ends(np.array([5.0, 1e6]))
    np.testing.assert_allclose([a[0], b[0]], [1 - 5 / 299, 9 + 5 / 299], atol=2 / 299)
    assert a[1] > 9.9
    assert b[1] == 1e6


@pytest.mark.parametrize("share", SHARES)
def test_windows_of_some_places_are_those_of_the_whole_axis_there(share):
    x = np.random.default_rng(7).lognormal(0, 1, 400)  # so few values are all of them knots
    some = np.sort(x[::13])
    found = window(axis(x), share, at=some).ends(some)
    np.testing.assert_array_equal(found, window(axis(x), share).ends(some))
