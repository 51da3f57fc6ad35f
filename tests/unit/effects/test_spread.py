"""How rows differ along a feature: places, the covariance of increments in a band, and beyond it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.jumps_by_hand import axis_of

from rhale.effects import spread
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.spread import (
    N_JACKKNIFE_GROUPS,
    Places,
    RowSpread,
    ShownRows,
    average_moved,
    choose_rows_evenly,
    choose_spread_positions,
    complete_band,
    lay_band,
    measure_crossings,
    measure_spread,
    typical_spread,
)

few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def over_the_whole_axis(n_places):
    """Places from and to which all rows are moved."""
    first = np.zeros(n_places, dtype=int)
    return Places(np.arange(float(n_places)), first, first + n_places - 1)


def increments_of(curves, places, own):
    """Increments of rows around their own places, from their curves at all places."""
    around = places.around(own).T
    return np.diff(np.take_along_axis(curves, around, axis=1), axis=1)


def draw_rows(seed, n_rows=400, n_places=12, *, weighted=False):
    """Curves of rows that bend in different ways, their places, weights and groups."""
    rng = np.random.default_rng(seed)
    places = lay_band(np.sort(rng.normal(size=n_places)))
    steps = rng.normal(size=(n_rows, 2)) @ rng.normal(size=(2, n_places - 1))
    steps += rng.normal(size=(n_rows, n_places - 1))
    curves = np.cumsum(np.column_stack([rng.normal(size=n_rows), steps]), axis=1)
    own = rng.integers(0, n_places, n_rows)
    weight = rng.uniform(0.5, 2, n_rows) if weighted else np.ones(n_rows)
    return places, curves, own, weight, rng.integers(0, N_JACKKNIFE_GROUPS, n_rows)


def measure(places, curves, own, weight, group, **how):
    return measure_spread(places, own, increments_of(curves, places, own), weight, group, **how)


# --- places --------------------------------------------------------------------------------------


@few
@given(seeds, st.integers(2, 400), st.sampled_from([1, 10, 1000]))
def test_places_are_values_at_even_ranks_and_the_ends(seed, n_rows, n_values):
    x = np.random.default_rng(seed).integers(0, n_values * n_rows, n_rows).astype(float)
    x[:2] = -1.0, n_values * n_rows
    places = choose_spread_positions(axis_of(x)).values
    n_places = int(np.clip(n_rows / 4, 2, 24))
    values = np.unique(x)
    tails = 1 / 8, n_places - 1 / 8  # an eighth of the rows of a place beside each end
    for k in (*(np.arange(n_places) + 0.5), *tails):
        at_least = n_rows * k / n_places
        assert min(v for v in values if np.sum(x <= v) >= at_least) in places
    assert {values[0], values[-1]} <= set(places)
    assert set(places) <= set(values)
    assert np.all(np.diff(places) > 0)


def test_a_value_that_many_rows_share_is_a_place_and_so_are_its_neighbours():
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=2_000))
    x[900:1_100] = 0.05  # a tenth of the rows; places have a 24th
    places = choose_spread_positions(axis_of(x)).values
    assert {x[899], 0.05, x[1_100]} <= set(places)
    x[900:950], x[950:1_100] = 0.05, np.linspace(0.05, 0.06, 151)[1:]  # a fortieth: no reason
    assert not {x[899], x[950]} <= set(choose_spread_positions(axis_of(x)).values)


@few
@given(seeds, st.integers(2, 60), st.booleans())
def test_rows_are_moved_over_three_places_or_an_eighth_of_the_rows_and_no_further(
    seed, n_places, weighted
):
    held = np.random.default_rng(seed).lognormal(0, 1.5, n_places)
    rank = np.cumsum(held) - held / 2  # rows below a level, and half of those there
    places = lay_band(np.arange(float(n_places)), held if weighted else None)
    for k in range(n_places):
        near = [
            m
            for m in range(n_places)
            if abs(m - k) <= 3 or (weighted and abs(rank[m] - rank[k]) <= held.sum() / 8)
        ]
        assert (places.first[k], places.last[k]) == (near[0], near[-1])


def test_three_places_at_even_ranks_are_an_eighth_of_the_rows():
    x = np.arange(4_800.0)
    places = choose_spread_positions(axis_of(x))
    inner = slice(2, -2)  # without ends and tails
    first, last = places.first[inner][3:-3], places.last[inner][3:-3]
    reach = places.values[last] - places.values[inner][3:-3]
    np.testing.assert_allclose(reach, 600, atol=1)
    np.testing.assert_allclose(places.values[last] - places.values[first], 1_200, atol=1)


@few
@given(seeds, st.integers(-40, 40))
def test_scaling_the_feature_by_a_power_of_two_scales_places_exactly(seed, power):
    x = np.random.default_rng(seed).lognormal(size=300)
    one, other = (
        choose_spread_positions(axis_of(x)),
        choose_spread_positions(axis_of(2.0**power * x)),
    )
    np.testing.assert_array_equal(other.values, 2.0**power * one.values)
    np.testing.assert_array_equal(other.first, one.first)
    np.testing.assert_array_equal(other.last, one.last)


def test_weights_are_rows_where_ranks_are_even():
    values = np.arange(30.0)
    weight = np.where(values < 10, 8.0, 1.0)
    repeated = np.repeat(values, weight.astype(int))
    one = choose_spread_positions(FeatureAxis(0.0, 29.0, values, weight, 100.0))
    np.testing.assert_array_equal(one.values, choose_spread_positions(axis_of(repeated)).values)


def test_a_row_belongs_to_the_nearest_place_and_is_moved_around_it():
    places = Places(np.array([0.0, 1.0, 4.0, 9.0]), np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3]))
    assert places.locate(np.array([-5.0, 0.4, 0.6, 2.4, 2.6, 99.0])).tolist() == [0, 0, 1, 1, 2, 3]
    assert places.n_asked == 3
    own = np.array([0, 1, 3])
    assert places.around(own).T.tolist() == [[0, 1, 1], [0, 1, 2], [2, 3, 3]]


# --- a band over the whole axis: centred ICE ----------------------------------------------------


@few
@given(seeds, st.integers(2, 15))
def test_over_the_whole_axis_it_is_centred_ice(seed, n_places):
    """Covariance of the rows' curves with divisor n - 1; each centred by itself for the spread."""
    _, curves, own, weight, group = draw_rows(seed, 60, n_places)
    places = over_the_whole_axis(n_places)
    for found in (
        measure(places, curves, own, weight, group, together=True),
        measure(places, curves, np.zeros_like(own), weight, group),
    ):
        expected = np.atleast_2d(np.cov(np.diff(curves, axis=1).T))
        np.testing.assert_allclose(found.covariance, expected, rtol=1e-9, atol=1e-9)
        from_first = np.cov((curves - curves[:, :1]).T)
        np.testing.assert_allclose(found.between_places, from_first, rtol=1e-9, atol=1e-9)
    held = np.bincount(own, minlength=n_places) / own.size
    found = measure(places, curves, own, weight, group, together=True)
    np.testing.assert_allclose(found.shares, held, rtol=1e-12)
    apart = (curves - (curves @ held)[:, None]).var(axis=0, ddof=1)
    assert found.typical == pytest.approx(np.sqrt(held @ apart), rel=1e-9)
    a = np.tri(n_places, n_places - 1, -1) - found.behind
    np.testing.assert_allclose(found.combine(a), np.sqrt(apart), rtol=1e-9)


# --- a band ----------------------------------------------------------------------------------------


def band_by_hand(places, curves, own, weight, one):
    """Deviations of all rows that saw an increment, correlations of those that saw both."""
    size = places.values.size - 1
    covariance, is_seen = np.zeros((size, size)), np.zeros((size, size), dtype=bool)
    off, free = {}, {}
    for place in range(size + 1):
        mine = np.flatnonzero(own == place)
        if mine.size > 1:
            u, w = np.diff(curves[mine], axis=1), weight[mine]
            off[place] = np.sqrt(w)[:, None] * (u - w @ u / w.sum())
            free[place] = max(w.sum() - one, 0.0)
    reach = {k: range(places.first[k], places.last[k]) for k in off}
    for k in range(size):
        for m in range(size):
            both = [place for place, seen in reach.items() if k in seen and m in seen]
            if not sum(free[place] for place in both) > 0:
                continue
            is_seen[k, m] = True
            u, v = (np.concatenate([off[place][:, i] for place in both]) for i in (k, m))
            deviations = []
            for i in (k, m):
                every = [place for place, seen in reach.items() if i in seen]
                squares = sum(np.sum(off[place][:, i] ** 2) for place in every)
                deviations.append(np.sqrt(squares / sum(free[place] for place in every)))
            covariance[k, m] = u @ v / np.sqrt(u @ u * (v @ v)) * np.prod(deviations)
    return covariance, is_seen


@settings(max_examples=12, deadline=None)
@given(seeds, st.booleans(), st.sampled_from([40, 400]))
def test_what_was_seen_has_the_correlations_of_the_rows_that_saw_both(seed, weighted, n_rows):
    places, curves, own, weight, group = draw_rows(seed, n_rows, weighted=weighted)
    one = np.sum(weight**2) / weight.sum()
    expected, is_seen = band_by_hand(places, curves, own, weight, one)
    found = measure(places, curves, own, weight, group, one=one).covariance
    np.testing.assert_allclose(found[is_seen], expected[is_seen], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-12)


@few
@given(seeds)
def test_rows_that_differ_one_way_all_along_are_found_to_do_so_however_few_they_are(seed):
    places, _, own, weight, group = draw_rows(seed, 30)
    z = np.random.default_rng(seed).normal(size=30)
    found = measure(places, z[:, None] * places.values, own, weight, group).covariance
    size = np.sqrt(np.outer(np.diag(found), np.diag(found)))
    near = np.abs(np.subtract.outer(np.arange(11), np.arange(11))) <= 2
    np.testing.assert_allclose(found[near & (size > 0)], size[near & (size > 0)], rtol=1e-9)


@few
@given(seeds, st.integers(-30, 30))
def test_scaling_the_output_by_a_power_of_two_scales_the_spread_exactly(seed, power):
    places, curves, own, weight, group = draw_rows(seed, weighted=True)
    one = measure(places, curves, own, weight, group)
    other = measure(places, 2.0**power * curves, own, weight, group)
    np.testing.assert_array_equal(other.covariance, 4.0**power * one.covariance)
    assert other.typical == 2.0**power * one.typical
    assert other.error == 2.0**power * one.error


@few
@given(seeds)
def test_what_all_rows_share_is_no_spread_nor_is_the_height_of_a_row(seed):
    places, curves, own, weight, group = draw_rows(seed, weighted=True)
    rng = np.random.default_rng(seed)
    shared = 10 * np.cumsum(rng.normal(size=curves.shape[1]))
    moved = curves + shared + 10 * rng.normal(size=(len(curves), 1))
    one, other = (measure(places, c, own, weight, group) for c in (curves, moved))
    np.testing.assert_allclose(other.covariance, one.covariance, rtol=1e-9, atol=1e-9)
    assert other.error == pytest.approx(one.error, rel=1e-6)


@pytest.mark.parametrize("value", [0.1, 1e9 / 7])
def test_rows_that_are_alike_have_exactly_no_spread(value):
    places, _, own, weight, group = draw_rows(0, weighted=True)
    curves = np.tile(value * np.arange(12.0) ** 2, (own.size, 1))
    found = measure(places, curves, own, weight, group)
    assert not found.covariance.any()
    assert (found.typical, found.error) == (0.0, 0.0)


@few
@given(seeds, st.booleans())
def test_a_row_that_stands_for_several_counts_as_these_do(seed, together):
    places, curves, own, _, group = draw_rows(seed, 150)
    if together:
        places = over_the_whole_axis(12)
    times = np.random.default_rng(seed).integers(1, 5, own.size)
    each = np.repeat(np.arange(own.size), times)
    one = measure(places, curves, own, times.astype(float), group, together=together)
    other = measure(
        places, curves[each], own[each], np.ones(each.size), group[each], together=together
    )
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.shares, other.shares, rtol=1e-12)
    assert one.error == pytest.approx(other.error, rel=1e-6)


@few
@given(seeds)
def test_the_order_of_rows_does_not_matter(seed):
    places, curves, own, weight, group = draw_rows(seed, weighted=True)
    order = np.random.default_rng(seed).permutation(own.size)
    one = measure(places, curves, own, weight, group)
    other = measure(places, *(each[order] for each in (curves, own, weight, group)))
    np.testing.assert_allclose(other.covariance, one.covariance, rtol=1e-9, atol=1e-12)
    assert other.error == pytest.approx(one.error, rel=1e-6)


@few
@given(seeds, st.integers(2, 60), st.integers(2, 14))
def test_no_sum_of_increments_has_less_variance_than_none(seed, n_rows, n_places):
    """However few the rows are, and however little their entries fit together."""
    places, curves, own, weight, group = draw_rows(seed, n_rows, n_places, weighted=True)
    found = measure(places, curves, own, weight, group)
    sums = found.combine(np.random.default_rng(seed).normal(size=(50, n_places - 1)))
    assert np.all(np.isfinite(sums))
    assert np.all(sums >= 0)
    assert found.typical >= 0
    assert np.all(np.diag(found.covariance) >= 0)


def test_rows_that_stand_alone_at_their_places_say_nothing():
    places, curves, *_ = draw_rows(0, 12)
    one_each = np.arange(12)
    found = measure(places, curves, one_each, np.ones(12), one_each)
    assert not found.covariance.any()
    assert found.typical == 0.0
    assert np.isnan(found.error)


def test_places_without_rows_have_no_share_and_do_no_harm():
    places, curves, own, weight, group = draw_rows(0)
    own = np.where(own == 5, 4, own)
    found = measure(places, curves, own, weight, group)
    assert found.shares[5] == 0.0
    assert np.all(np.isfinite(found.covariance))


@few
@given(seeds)
def test_the_typical_spread_is_the_root_mean_square_over_the_rows(seed):
    rng = np.random.default_rng(seed)
    root, shares = rng.normal(size=(6, 6)), rng.dirichlet(np.ones(7))
    covariance, behind = root @ root.T, np.array([shares[k + 1 :].sum() for k in range(6)])
    squares = []
    for place in range(7):
        a = (np.arange(6) < place) - behind
        squares.append(a @ covariance @ a)
    found = typical_spread(covariance, shares)
    assert found == pytest.approx(np.sqrt(shares @ np.array(squares)), rel=1e-12)


def test_many_rows_of_a_group_are_added_up_as_few_are(monkeypatch):
    rows = draw_rows(3, 2_000, weighted=True)
    one = measure(*rows)
    monkeypatch.setattr(spread, "MIN_ROWS_FOR_MATRIX_PRODUCT", 10**9)
    assert np.allclose(measure(*rows).covariance, one.covariance, rtol=1e-12)


# --- beyond the band -----------------------------------------------------------------------------


def known_within(covariance, reach):
    """Sums of a hundred rows for all entries within a reach, and nothing beyond."""
    place = np.arange(len(covariance))
    freedom = np.where(np.abs(place[:, None] - place) <= reach, 100.0, 0.0)
    alone = np.diag(covariance)[:, None] * freedom
    return (covariance * freedom)[None], alone[None], freedom[None]


MARKOV = {
    "fading": 0.7 ** np.abs(np.subtract.outer(np.arange(20), np.arange(20))),
    "turning": (-0.6) ** np.abs(np.subtract.outer(np.arange(20), np.arange(20))),
    "a random walk": np.minimum.outer(np.arange(20) + 3.0, np.arange(20) + 3.0),
    "one way": np.ones((20, 20)),
    "by themselves": np.eye(20),
}


@pytest.mark.parametrize("name", MARKOV)
@pytest.mark.parametrize("reach", [2, 3, 6])
def test_a_markov_process_is_completed_exactly_but_for_the_filter(monkeypatch, name, reach):
    scale = np.random.default_rng(1).lognormal(size=20)
    covariance = MARKOV[name] * np.outer(scale, scale)
    size = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    (found,) = complete_band(*known_within(covariance, reach))
    assert np.abs((found - covariance) / size).max() < 0.1
    inside = known_within(covariance, reach)[-1][0] > 0
    np.testing.assert_allclose(found[inside], covariance[inside], rtol=1e-12)
    monkeypatch.setattr(spread, "COVARIANCE_FILTER", 1e-7)
    (exact,) = complete_band(*known_within(covariance, reach))
    assert np.abs((exact - covariance) / size).max() < 1e-5


def test_what_is_known_everywhere_stays():
    root = np.random.default_rng(0).normal(size=(9, 9))
    covariance = root @ root.T
    np.testing.assert_allclose(
        complete_band(*known_within(covariance, 9))[0], covariance, rtol=1e-12
    )


def test_each_of_several_is_completed_by_itself_and_borrows_what_it_did_not_see():
    fading, walk = MARKOV["fading"], MARKOV["a random walk"]
    scatter, alone, freedom = (np.concatenate(pair) for pair in zip(
        known_within(fading, 3), known_within(walk, 3), strict=True))  # fmt: skip
    for found, one in zip(complete_band(scatter, alone, freedom), (fading, walk), strict=True):
        np.testing.assert_array_equal(found, complete_band(*known_within(one, 3))[0])
    freedom[1, 4, 5] = freedom[1, 5, 4] = 0.0  # the one group that saw it was left out
    found = complete_band(scatter, alone, freedom)[1]
    size = np.sqrt(walk[4, 4] * walk[5, 5])
    assert found[4, 5] == pytest.approx(fading[4, 5] * size, rel=1e-12)


def test_entries_that_do_not_fit_together_stay_bounded():
    sums = known_within(np.full((8, 8), 3.0) - 2.0 * np.eye(8), 2)  # correlations of 3
    (found,) = complete_band(*sums)
    assert np.abs(found).max() <= 1.0
    assert not complete_band(*(0 * each for each in sums)).any()


@few
@given(seeds)
def test_a_product_of_independent_features_is_completed_to_one_way(seed):
    """Curves z x: all increments of a row are z times those of x, near and far."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, 3_000))
    places = choose_spread_positions(axis_of(x))
    own = places.locate(x)
    curves = z[:, None] * places.values
    group = rng.integers(0, N_JACKKNIFE_GROUPS, x.size)
    found = measure(places, curves, own, np.ones(x.size), group)
    assert found.typical == pytest.approx(z.std() * places.values[own].std(), rel=0.03)
    assert found.typical == pytest.approx(x.std() * z.std(), rel=0.06)


# --- the error -------------------------------------------------------------------------------------


@few
@given(seeds, st.booleans())
def test_the_error_is_what_groups_that_are_left_out_change(seed, weighted):
    places, curves, own, weight, group = draw_rows(seed, 1_000, weighted=weighted)
    group %= 8
    typical = []
    for left in range(8):
        some = group != left
        typical.append(measure(places, curves[some], own[some], weight[some], group[some]).typical)
    expected = np.sqrt(7 / 8 * np.sum((typical - np.mean(typical)) ** 2))
    assert measure(places, curves, own, weight, group).error == pytest.approx(expected, rel=1e-6)


def test_one_group_tells_no_error():
    places, curves, own, weight, group = draw_rows(0)
    found = measure(places, curves, own, weight, 0 * group)
    assert np.isnan(found.error)
    assert found.typical > 0


def test_two_errors_cover_what_other_rows_would_tell():
    """Curves z x of places that are equally likely: sd(z) sd(x), sd(x) = root of (n² - 1) / 12."""
    rng, covered, n_places = np.random.default_rng(7), [], 10
    places = lay_band(np.arange(float(n_places)))
    truth = np.sqrt((n_places**2 - 1) / 12)
    for _ in range(200):
        own, z = rng.integers(0, n_places, 500), rng.normal(size=500)
        group = rng.integers(0, N_JACKKNIFE_GROUPS, 500)
        found = measure(places, z[:, None] * places.values, own, np.ones(500), group)
        covered.append(abs(found.typical - truth) <= 1.96 * found.error)
    assert 0.88 <= np.mean(covered) <= 0.98


# --- how well mean increments are known ----------------------------------------------------------


@few
@given(seeds, st.booleans())
def test_means_covary_as_the_rows_that_count_in_both_say(seed, weighted):
    """By hand, mean by mean: the rows of both places of an increment, one by one."""
    places, curves, own, weight, _ = draw_rows(seed, n_rows=60, n_places=9, weighted=weighted)
    mean, found = average_moved(places, own, increments_of(curves, places, own), weight)
    steps = np.diff(curves, axis=1)
    added = np.zeros_like(steps)
    for k in range(steps.shape[1]):
        mine = (own == k) | (own == k + 1)
        share = weight[mine] / weight[mine].sum()
        left = np.sqrt(1 - np.sum(share**2))  # n / (n - 1) of equal weights
        added[mine, k] = share * (steps[mine, k] - share @ steps[mine, k]) / left
        assert mean[k] == pytest.approx(share @ steps[mine, k])
    np.testing.assert_allclose(found, added.T @ added, atol=1e-12)


def test_the_error_of_the_curve_of_moved_rows_is_how_far_it_is_off():
    """Curves z x of places that are equally likely, whose mean curve is nothing."""
    rng, off, told, n_places = np.random.default_rng(7), [], [], 10
    places, shares = lay_band(np.arange(float(n_places))), np.full(n_places, 1 / n_places)
    for _ in range(200):
        own, z = rng.integers(0, n_places, 500), rng.normal(size=500)
        curves = z[:, None] * places.values
        steps = np.diff(curves, axis=1)
        beside = [(own == k) | (own == k + 1) for k in range(n_places - 1)]
        mean = np.array([steps[some, k].mean() for k, some in enumerate(beside)])
        off.append(typical_spread(np.outer(mean, mean), shares))
        _, chance = average_moved(places, own, increments_of(curves, places, own), np.ones(500))
        told.append(typical_spread(chance, shares))
    assert np.sqrt(np.mean(np.square(told)) / np.mean(np.square(off))) == pytest.approx(1, abs=0.1)


def test_an_increment_that_one_row_tells_is_not_known():
    places = over_the_whole_axis(3)
    steps = np.array([[1.0, 2.0], [3.0, 5.0]])
    mean, found = average_moved(places, np.array([0, 2]), steps, np.ones(2))
    assert np.isnan(mean).all()
    np.testing.assert_array_equal(found, np.zeros((2, 2)))


def test_a_curve_is_compared_with_what_moved_rows_tell():
    """Moved rows rise by 1, 1 and unknown; the curve by 1, 3 and 2: off by 2 at one place in four."""
    known = RowSpread(
        np.arange(4.0), np.full(4, 0.25), np.zeros((3, 3)), 0.0,
        np.zeros(4, dtype=int), np.full(4, 3), np.empty(0), np.empty((0, 3)),
        mean=np.array([1.0, 1.0, np.nan]), curve_error=0.5,
    )  # fmt: skip
    found = known.audit(np.array([1.0, 3.0, 2.0]))
    assert found.off == pytest.approx(np.std([0, 0, 2, 2]))
    assert found.moved == pytest.approx(np.std([0, 1, 2, 4]))
    assert found.curve_size == pytest.approx(np.std([0, 1, 4, 6]))
    assert found.error == 0.5
    assert replace(known, mean=None).audit(np.ones(3)) is None
    assert replace(known, curve_error=np.nan).audit(np.ones(3)) is None


# --- what is read from it ----------------------------------------------------------------------


def test_sums_of_increments_deviate_as_their_covariance_says():
    covariance = np.array([[4.0, 3.0], [3.0, 9.0]])
    found = RowSpread(
        np.arange(3.0), np.full(3, 1 / 3), covariance, 0.0,
        np.zeros(3, dtype=int), np.full(3, 2), np.empty(0), np.empty((0, 2)),
    )  # fmt: skip
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [0.5, 0.0]])
    np.testing.assert_allclose(found.combine(weights), np.sqrt([4, 9, 19, 7, 1]))
    np.testing.assert_allclose(found.behind, [2 / 3, 1 / 3])
    np.testing.assert_allclose(found.between_places, [[0, 0, 0], [0, 4, 7], [0, 7, 19]])


def test_some_places_keep_what_lies_between_them():
    rows = draw_rows(0)
    whole = measure(*rows)
    assert whole.between(0, 12) is whole
    part = whole.between(3, 8)
    np.testing.assert_array_equal(part.places, whole.places[3:8])
    np.testing.assert_array_equal(part.covariance, whole.covariance[3:7, 3:7])
    np.testing.assert_allclose(part.shares, whole.shares[3:8] / whole.shares[3:8].sum())
    assert part.first.tolist() == [max(f - 3, 0) for f in whole.first[3:8]]
    assert part.last.tolist() == [min(last - 3, 4) for last in whole.last[3:8]]
    assert whole.between(5, 6).covariance.shape == (0, 0)
    assert whole.between(5, 6).typical == 0.0


def test_curves_of_rows_are_measured_where_they_were_moved_and_predicted_beyond():
    """Rows z x with z of mean 1: near their place as they are, and beyond as lines, too."""
    rng = np.random.default_rng(0)
    x, z = rng.uniform(0, 1, 2_000), 1 + rng.normal(size=2_000)
    places = choose_spread_positions(axis_of(x))
    own, values = places.locate(x), places.values
    increments = increments_of(z[:, None] * values, places, own)
    group = rng.integers(0, N_JACKKNIFE_GROUPS, x.size)
    found = measure_spread(places, own, increments, np.ones(x.size), group)
    shown = x[:9].copy()
    shown[4] = np.nan  # was not moved
    found = replace(found, x=shown, rows=increments[:9])
    rows = found.predict_rows(np.diff(values), found.behind)
    assert rows.row.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    np.testing.assert_array_equal(rows.x, shown[rows.row])
    zero = found.shares @ values
    for row, height, first, last in zip(rows.row, rows.heights, rows.first, rows.last, strict=True):
        assert (first, last) == (places.first[own[row]], places.last[own[row]])
        off = (z[row] - 1) * values
        np.testing.assert_allclose(  # exactly what was measured, but for the height
            np.diff(height[first : last + 1]), np.diff(off[first : last + 1]), atol=1e-12
        )
        np.testing.assert_allclose(height, off - (z[row] - 1) * zero, atol=0.03 * abs(z[row] - 1))
        assert found.shares @ height == pytest.approx(0.0, abs=1e-9)


def test_rows_are_shown_evenly_along_the_feature():
    x = np.array([0.4, 0.1, 0.9, 0.0, 0.5])
    assert x[choose_rows_evenly(x, 3)].tolist() == [0.0, 0.4, 0.9]
    assert x[choose_rows_evenly(x, 99)].tolist() == sorted(x)
    assert choose_rows_evenly(x, 0).size == 0
    rows = ShownRows(np.arange(5), x, x[:, None] * [1.0, 2.0], np.arange(5), np.arange(5) + 1)
    some = rows.choose(2)
    assert (some.row.tolist(), some.x.tolist()) == ([3, 2], [0.0, 0.9])
    np.testing.assert_array_equal(some.heights, [[0.0, 0.0], [0.9, 1.8]])
    assert (some.first.tolist(), some.last.tolist()) == ([3, 2], [4, 3])


# --- across stretches without rows ---------------------------------------------------------------


def two_clusters(seed, n_rows=400, *, far=()):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(n_rows) < 0.5, rng.normal(size=n_rows), rng.normal(20, 1, n_rows))
    x[: len(far)] = far
    return x, rng.normal(size=n_rows), rng.uniform(0.5, 2, n_rows)


def asked_of(model, x, other, weight):
    """Crossings of rows that are moved by hand."""
    values, place = np.unique(x, return_inverse=True)
    rows = weight.sum() ** 2 / (weight @ weight)
    places = choose_spread_positions(
        FeatureAxis(values[0], values[-1], values, np.bincount(place, weight), rows)
    )
    own = places.locate(x)
    curves = np.array([model(np.full(x.size, z), other) for z in places.values]).T
    return places, measure_crossings(places, x, own, increments_of(curves, places, own), weight)


@few
@given(seeds)
def test_an_additive_model_rises_across_a_gap_as_it_does(seed):
    x, other, weight = two_clusters(seed, far=(1e6, -300.0))
    f = lambda x, other: 3 * np.tanh(x / 9) + np.cos(other)
    found = asked_of(f, x, other, weight)[1]
    known = np.sort(x)
    gap = int(np.searchsorted(known, 10.0))
    empty = np.column_stack([found.left, found.right])[found.empty].tolist()
    assert {(-300.0, known[1]), (known[gap - 1], known[gap]), (known[-2], 1e6)} <= {
        tuple(ends) for ends in empty
    }
    rises = 3 * (np.tanh(found.right / 9) - np.tanh(found.left / 9))
    np.testing.assert_allclose(found.rise, rises, atol=1e-14)
    np.testing.assert_allclose(found.covariance, 0, atol=1e-28)


def test_a_gap_is_asked_of_its_thirty_nearest_rows_and_those_at_its_ends():
    """By brute force, weighted; with the error of a weighted mean, and what two of them share."""
    x, other, weight = two_clusters(1)
    places, found = asked_of(lambda x, other: x * other, x, other, weight)
    (gap,) = found.empty
    left, right = found.left[gap], found.right[gap]
    order = np.argsort(x)
    middle = np.searchsorted(x[order], 10.0)
    own = places.locate(x)
    at_ends = np.isin(own, np.searchsorted(places.values, [left, right]))
    near = np.isin(np.arange(x.size), order[middle - 30 : middle + 30]) | at_ends
    share = np.where(near, weight, 0) / weight[near].sum()
    rise = share @ other
    assert found.rise[gap] == pytest.approx((right - left) * rise, rel=1e-12)
    variance = share**2 @ (other - rise) ** 2 / (1 - share @ share)
    assert found.covariance[gap, gap] == pytest.approx((right - left) ** 2 * variance, rel=1e-12)
    # beside it, the rows of both places and the nearest to what is between them, of that side
    first = np.searchsorted(places.values, left) - 1
    between = np.count_nonzero(own <= first)
    near = order[max(between - 30, 0) : min(between + 30, middle)]
    before = np.isin(np.arange(x.size), near) | np.isin(own, [first, first + 1])
    side = np.where(before, weight, 0) / weight[before].sum()
    width = found.right[gap - 1] - found.left[gap - 1]
    assert found.rise[gap - 1] == pytest.approx(width * (side @ other), rel=1e-12)
    together = (share * (other - rise)) @ (side * (other - side @ other))
    together /= np.sqrt((1 - share @ share) * (1 - side @ side))
    assert found.covariance[gap, gap - 1] == pytest.approx(
        (right - left) * width * together, rel=1e-9
    )


def test_nothing_is_asked_across_where_nothing_is_empty_or_one_row_tells():
    x, other, weight = two_clusters(2)
    near = np.where(x > 10, x - 20, x)
    assert asked_of(lambda x, other: x * other, near, other, weight)[1] is None
    places, _ = asked_of(lambda x, other: x * other, x, other, weight)
    alone = np.where(np.arange(x.size) == 0, weight, 0.0)
    some = alone > 0
    increments = np.zeros((1, places.n_asked - 1))
    own = places.locate(x[some])
    assert measure_crossings(places, x[some], own, increments, alone[some]) is None
