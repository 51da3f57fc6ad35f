"""Staircases against closed forms, and against groups of rows left out or drawn anew."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.jumps import (
    JUMP_FIXED_POINT_SCALE,
    N_JUMP_GROUPS,
    JumpCells,
    JumpSums,
    find_jump_cells,
)
from rhale.effects.staircase import Staircase, halves_agree
from rhale.errors import BadSettingError
from rhale.stats.distributions import student_quantile

CENTERS = ("mean", "start", "uniform")
SEEDS = st.integers(0, 10_000)


def axis_of(x, weight=None):
    values, place = np.unique(x, return_inverse=True)
    total = np.bincount(place, weight)
    return FeatureAxis(float(x.min()), float(x.max()), values, total.astype(float), float(x.size))


def sums_of(cells, x, jumps, group, weight=None, *, whole=None):
    """Sums of the rows, of which `jumps` has shape (n_rows, n_cells) and `whole` all."""
    inner = None
    if cells.inner is not None:
        starts, stops = cells.inner
        nearest = replace(cells, starts=starts, stops=stops, inner=None)
        inner = sums_of(nearest, x, jumps, group, weight, whole=whole)
    weight = np.ones(x.size) if weight is None else weight
    unit, total = whole or (np.abs(jumps).max(initial=0.0) + 1e-300, weight.sum())
    share, unit = weight / 2 ** np.ceil(np.log2(total)), unit / JUMP_FIXED_POINT_SCALE
    made = np.zeros((N_JUMP_GROUPS, cells.n_cells, 1), np.int64)
    near, stand = (np.zeros((N_JUMP_GROUPS, cells.n_cells + 1), np.int64) for _ in range(2))
    inside = (cells.starts <= x[:, None]) & (x[:, None] <= cells.stops)
    units = np.rint(share[:, None] * np.where(inside, jumps, 0.0) / unit).astype(np.int64)
    np.add.at(made, group, units[..., None])
    count = np.rint(share * JUMP_FIXED_POINT_SCALE).astype(np.int64)
    held = np.where(inside, count[:, None], 0)
    np.add.at(near, group, np.diff(held, axis=1, prepend=0, append=0))
    np.add.at(stand, (group, np.sum(cells.places <= x[:, None], axis=1)), count)
    return JumpSums(made, near, stand, unit, inner)


def make(seed, n=150, n_cuts=6, *, weighted=False):
    """Rows, cells and sums; jumps differ between rows and go together."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=n), 2)
    cuts = np.sort(rng.uniform(-1.5, 1.5, n_cuts))
    cells = find_jump_cells(axis_of(x), cuts, 0.15)
    jumps = rng.normal(size=cells.n_cells) + np.outer(
        rng.normal(size=n), rng.normal(size=cells.n_cells)
    )
    weight = rng.lognormal(size=n) if weighted else np.ones(n)
    group = rng.integers(0, N_JUMP_GROUPS, n)
    return x, cells, jumps, group, weight


def stairs_of(x, cells, jumps, group, weight):
    return Staircase.of(
        cells, sums_of(cells, x, jumps, group, weight), 0, (float(x.min()), float(x.max()))
    )


def curve_by_hand(rows, z, center):
    """The curve at z from its definition, for rows of any weight."""
    x, cells, jumps, _, weight = rows
    inside = (cells.starts <= x[:, None]) & (x[:, None] <= cells.stops)
    held = inside * weight[:, None]
    mean = (held * jumps).sum(0) / held.sum(0)

    def height(at):
        return (cells.places <= np.asarray(at)[:, None]) @ mean

    zero = {
        "mean": lambda: np.average(height(x), weights=weight),
        "start": lambda: height([x.min()])[0],
        "uniform": lambda: mean @ (x.max() - cells.places) / np.ptp(x),
    }[center]()
    return height(z) - zero, np.sqrt(np.cov(height(x), aweights=weight, ddof=0))


@pytest.mark.parametrize("center", CENTERS)
@given(SEEDS, st.booleans())
def test_the_curve_adds_up_the_mean_jumps_of_the_rows_near_each_place(center, seed, weighted):
    rows = make(seed, weighted=weighted)
    z = np.append(rows[0], [-9.0, 9.0])
    expected, importance = curve_by_hand(rows, z, center)
    found = stairs_of(*rows)
    np.testing.assert_allclose(found.curve(z, center), expected, atol=1e-12)
    np.testing.assert_allclose(found.importance(), importance, atol=1e-12)


@given(SEEDS, st.booleans())
def test_the_curve_is_zero_on_average_over_the_rows(seed, weighted):
    rows = make(seed, weighted=weighted)
    found = stairs_of(*rows)
    assert abs(np.average(found.curve(rows[0], "mean"), weights=rows[4])) < 1e-13
    np.testing.assert_allclose(found.row_shares.sum(), 1, rtol=1e-14)
    np.testing.assert_allclose(found.group_shares.sum(), 1, rtol=1e-14)
    behind = [np.average(rows[0] >= t, weights=rows[4]) for t in found.places]
    np.testing.assert_allclose(found.behind, behind, atol=1e-14)


@given(SEEDS, st.sampled_from(CENTERS))
def test_the_curve_moves_by_the_jump_at_each_place_and_nowhere_else(seed, center):
    found = stairs_of(*make(seed))
    ends = np.sort(np.concatenate([found.places, np.nextafter(found.places, -np.inf)]))
    moves = np.diff(found.curve(ends, center))
    np.testing.assert_allclose(moves[::2], found.jumps, atol=1e-13)
    np.testing.assert_array_equal(moves[1::2], 0)
    np.testing.assert_array_equal(found.curve(np.array([-99.0, found.low]), "start"), [0, 0])


@given(SEEDS)
def test_a_monotone_map_moves_the_places_alone(seed):
    x, cells, jumps, group, weight = make(seed)
    found = stairs_of(x, cells, jumps, group, weight)
    bent = JumpCells(
        *(np.exp(v) for v in (cells.places, cells.starts, cells.stops)), cells.cell_of_cut
    )
    other = stairs_of(np.exp(x), bent, jumps, group, weight)
    for name in ("jumps", "row_shares", "near_shares", "influence", "drawn", "group_shares"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))
    np.testing.assert_array_equal(other.places, np.exp(found.places))


@given(SEEDS, st.integers(1, 63))
def test_pieces_in_any_order_give_the_same_bits(seed, cut):
    x, cells, jumps, group, weight = make(seed, n=64, weighted=True)
    whole = float(np.abs(jumps).max()), float(weight.sum())
    rows = np.random.default_rng(seed).permutation(64)
    first, last, once = (
        sums_of(cells, x[part], jumps[part], group[part], weight[part], whole=whole)
        for part in (rows[:cut], rows[cut:], np.arange(64))
    )
    one, *others = (
        Staircase.of(cells, s, 0, (0.0, 1.0)) for s in (once, first + last, last + first)
    )
    for name in ("jumps", "row_shares", "near_shares", "influence", "drawn"):
        for other in others:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@given(SEEDS, st.booleans())
def test_rows_that_agree_leave_no_doubt_about_the_jumps(seed, weighted):
    x, cells, jumps, group, weight = make(seed, weighted=weighted)
    found = stairs_of(x, cells, np.broadcast_to(jumps[0], jumps.shape), group, weight)
    np.testing.assert_allclose(found.jumps, jumps[0], atol=1e-14 * np.abs(jumps[0]).max())
    np.testing.assert_allclose(found.influence, 0, atol=1e-14 * np.abs(jumps[0]).max())
    np.testing.assert_allclose(found.of_curve(x, "start").variance, 0, atol=1e-25)
    # where it is zero is uncertain all the same: which rows it is centred over was drawn
    assert found.of_curve(x, "mean").variance.min() > 0


def leave_out(rows, read):
    """Variance by leaving out a group at a time, shape of what is read."""
    x, cells, jumps, group, weight = rows
    groups = np.unique(group)
    parts = []
    for one in groups:
        kept = group != one
        parts.append(read(x[kept], cells, jumps[kept], group[kept], weight[kept]))
    off = np.array(parts) - np.mean(parts, axis=0)
    return (groups.size - 1) / groups.size * np.sum(off**2, axis=0)


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_variances_are_those_of_leaving_out_a_group_at_a_time(center, weighted):
    rows = make(3, n=2500, weighted=weighted)
    z = np.linspace(-1.2, 1.5, 7)
    ends = (rows[0].min(), rows[0].max())
    jack = leave_out(
        rows,
        lambda *kept: Staircase.of(kept[1], sums_of(kept[1], kept[0], *kept[2:]), 0, ends).curve(
            z, center
        ),
    )
    found = stairs_of(*rows).of_curve(z, center)
    np.testing.assert_allclose(np.sqrt(found.variance), np.sqrt(jack), rtol=0.08)
    np.testing.assert_array_equal(found.degrees, 31)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_error_of_the_importance_is_that_of_leaving_out_a_group(weighted):
    rows = make(5, n=2500, weighted=weighted)
    jack = leave_out(rows, lambda *kept: stairs_of(*kept).importance())
    np.testing.assert_allclose(np.sqrt(stairs_of(*rows).of_importance()), np.sqrt(jack), rtol=0.08)


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_intervals_cover_the_curve_of_the_population(shared):
    # x even on [0, 1], jumps a_j + e_i: C(x) = sum of a_j, p_j = 1 - t_j
    rng, places, means = (
        np.random.default_rng(int(shared)),
        np.arange(1, 10) / 10,
        np.arange(9) - 3.0,
    )
    z, covered, runs, n = np.linspace(0.05, 0.95, 10), [], 400, 240
    truth = ((places <= z[:, None]) - (1 - places)) @ means
    for _ in range(runs):
        x = np.sort(rng.uniform(size=n))
        row = rng.exponential(2.0, size=n)[:, None] - 2.0
        jumps = means + shared * row + (1 - shared) * rng.normal(size=(n, 9))
        found = quick_stairs(x, places, jumps, rng.integers(0, N_JUMP_GROUPS, n), reach=15)
        variance, degrees = found.of_curve(z, "mean")
        off = np.abs(found.curve(z, "mean") - truth)
        covered.append(off <= student_quantile(0.95, degrees) * np.sqrt(variance))
    assert 0.93 <= np.mean(covered) <= 0.965


def quick_stairs(x, places, jumps, group, reach):
    """For ordered rows without weights: `reach` rows are near on each side of a place."""
    below, n = np.searchsorted(x, places), x.size
    at = np.arange(n)[:, None]
    inside = (at >= below - reach) & (at < below + reach)
    share, one = int(JUMP_FIXED_POINT_SCALE / 1024), np.zeros((N_JUMP_GROUPS, n), np.int64)
    one[group, np.arange(n)] = 1
    unit = np.abs(jumps).max() / JUMP_FIXED_POINT_SCALE
    near = np.diff(share * (one @ inside), axis=1, prepend=0, append=0)
    stand = share * (
        one @ (np.searchsorted(places, x, "right")[:, None] == np.arange(places.size + 1))
    )
    units = np.rint(np.where(inside, jumps, 0.0) / 1024 / unit).astype(np.int64)
    nowhere = np.empty(0, np.intp)
    cells = JumpCells(places, places, places, nowhere)
    return Staircase.of(cells, JumpSums((one @ units)[..., None], near, stand, unit), 0, (0.0, 1.0))


def test_few_rows_near_a_place_do_not_look_too_certain():
    # the mean of 20 rows of variance 1 has the variance 1 / 20, though each group has one of them
    rng, found = np.random.default_rng(0), []
    for _ in range(2000):
        x = np.arange(60.0)
        made = quick_stairs(x, np.array([29.5]), rng.normal(size=(60, 1)), np.arange(60) % 32, 10)
        found.append(made.of_curve(np.array([59.0]), "start").variance[0])
    np.testing.assert_allclose(np.mean(found), 1 / 20, rtol=0.03)


def test_changes_have_the_variance_of_their_own_jumps():
    rng = np.random.default_rng(1)
    x = np.linspace(0, 1, 200)
    found = quick_stairs(
        x, np.array([0.2, 0.5, 0.8]), rng.normal(size=(200, 3)), np.arange(200) % 32, 20
    )
    own = (found.influence**2).sum(0)
    both = ((found.influence[:, 1] + found.influence[:, 2]) ** 2).sum()
    edges = np.array([0.0, 0.3, 0.4, 1.0])
    got = found.of_changes(edges[:-1], edges[1:]).variance
    np.testing.assert_allclose(got, [own[0], 0, both], rtol=1e-12)


def test_groups_drawn_anew_vary_as_the_formula_says():
    found = stairs_of(*make(7, n=600))
    z = np.linspace(-1, 1, 5)
    shifts = found.redraw(found.moved(z, "mean"), draws=4000, seed=0)
    np.testing.assert_allclose(shifts.var(axis=0), found.of_curve(z, "mean").variance, rtol=0.1)
    np.testing.assert_array_equal(shifts, found.redraw(found.moved(z, "mean"), draws=4000, seed=0))
    assert (shifts != found.redraw(found.moved(z, "mean"), draws=4000, seed=1)).any()


def line_slope(z, height):
    return np.polyfit(z, height, 1)[0]


@pytest.mark.parametrize("center", CENTERS)
def test_without_places_nothing_moves_and_nothing_is_uncertain(center):
    x, group = np.arange(30.0), np.arange(30)
    cells = find_jump_cells(axis_of(x), np.empty(0), 0.1)
    found = Staircase.of(cells, sums_of(cells, x, np.empty((30, 0)), group), 0, (0.0, 29.0))
    z = np.array([-1.0, 3.0, 40.0])
    np.testing.assert_array_equal(found.curve(z, center), 0)
    np.testing.assert_array_equal(found.of_curve(z, center).variance, 0)
    np.testing.assert_array_equal(found.redraw(found.moved(z, center), draws=3, seed=0), 0)
    assert found.importance() == found.of_importance() == 0


def test_one_group_cannot_tell_how_uncertain_it_is():
    x, cells, jumps, group, weight = make(1, n=40)
    found = stairs_of(x, cells, jumps, np.zeros_like(group), weight)
    assert np.isnan(found.of_curve(x, "mean").variance).all()
    assert np.isfinite(found.curve(x, "mean")).all()


def test_a_place_whose_rows_have_no_weight_does_not_jump():
    x, cells, jumps, group, weight = make(1, n=40)
    sums = sums_of(cells, x, jumps, group, weight)
    none = JumpSums(sums.jumps * 0, sums.near * 0, sums.row_shares, sums.unit)
    found = Staircase.of(cells, none, 0, (0.0, 1.0))
    np.testing.assert_array_equal(found.curve(x, "mean"), 0)
    np.testing.assert_array_equal(found.of_curve(x, "start").variance, 0)


def test_the_average_over_an_axis_without_extent_is_its_start():
    found = replace(stairs_of(*make(1)), low=1.0, high=1.0)
    z = np.array([0.0, 1.0])
    np.testing.assert_array_equal(found.curve(z, "uniform"), found.curve(z, "start"))


def test_an_unknown_center_is_refused():
    with pytest.raises(BadSettingError, match="middle"):
        stairs_of(*make(1)).curve(np.zeros(1), "middle")


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_add_the_mean_variance_of_a_known_centring_to_a_square(weighted):
    rows = make(4, weighted=weighted)
    stairs, (x, _, _, _, weight) = stairs_of(*rows), rows
    known = replace(stairs, drawn=np.zeros_like(stairs.drawn))  # rows are not drawn
    expected = np.average(known.of_curve(x, "mean").variance, weights=weight)
    assert stairs.added_square() == pytest.approx(expected)


def test_the_denoised_square_of_stairs_without_an_effect_is_zero_on_average():
    raw, squares = [], []
    for seed in range(200):
        x, cells, jumps, group, weight = make(seed)
        rng = np.random.default_rng(seed + 1)
        noise = np.outer(rng.normal(size=x.size), np.ones(cells.n_cells))
        stairs = stairs_of(x, cells, noise + rng.normal(size=jumps.shape), group, weight)
        raw.append(stairs.importance() ** 2)
        squares.append(raw[-1] - stairs.added_square())
    error = np.std(squares) / np.sqrt(len(squares))
    assert np.mean(raw) > 5 * error
    assert abs(np.mean(squares)) < 3 * error


def test_what_one_group_adds_to_a_square_is_not_known():
    x, cells, jumps, _, weight = make(4)
    stairs = stairs_of(x, cells, jumps, np.zeros(x.size, dtype=int), weight)
    assert np.isnan(stairs.added_square())


@given(st.integers(0, 2**32 - 1), st.integers(-300, 300))
def test_rounding_keeps_seven_digits_of_what_chance_does_at_any_scale(seed, power):
    x, cells, jumps, group, weight = make(seed)
    stairs = stairs_of(x, cells, jumps, group, weight)
    scaled = replace(stairs, influence=np.ldexp(stairs.influence, power))
    rounded = scaled.rounded()
    np.testing.assert_allclose(rounded.influence, scaled.influence, rtol=2.0**-24, atol=0)
    np.testing.assert_array_equal(rounded.influence, np.ldexp(stairs.rounded().influence, power))
    short = stairs.rounded().influence
    np.testing.assert_array_equal(short.astype(np.float32).astype(np.float64), short)
    assert rounded.jumps is scaled.jumps


def stairs_that_differ(places, deviations):
    """Rows on all sides; groups that differ at the places by so much."""
    n = len(places)
    return Staircase(
        places=np.array(places),
        jumps=np.ones(n),
        near_shares=np.ones(n),
        row_shares=np.full(n + 1, 1 / (n + 1)),
        influence=np.outer([1.0, -1.0], deviations),
        drawn=np.zeros((2, 2)),
        group_shares=np.full(2, 0.5),
        low=0.0,
        high=1.0,
    )


def test_between_limits_a_place_counts_by_how_much_rows_differ_there():
    found = stairs_that_differ([0.2, 0.3, 0.7], [1.0, 3.0, 2.0])
    shares = found.shares_between(np.array([0.0, 0.5, 0.6, 1.0]))
    np.testing.assert_allclose(shares[:, 0], [0, 0.25, 1, 1])
    np.testing.assert_array_equal(shares[:, 1], np.zeros(4))  # no place between .5 and .6
    np.testing.assert_allclose(shares[:, 2], [0, 0, 0, 1])


def test_a_jump_at_a_limit_lies_before_it():
    found = stairs_that_differ([0.5], [1.0])
    assert found.shares_between(np.array([0.0, 0.5, 1.0])).tolist() == [[0.0, 0.0], [1.0, 0.0]]


# --- inner rows ----------------------------------------------------------------------------------


def make_fading(seed, n=600, *, fade=0.02, noise=1.0, n_cuts=12):
    """Even rows on [0, 1] and cells whose jumps fade with the distance of a row from the place."""
    rng = np.random.default_rng(seed)
    x, places = np.sort(rng.uniform(size=n)), (np.arange(n_cuts) + 0.5) / n_cuts
    cells = find_jump_cells(axis_of(x), places, 0.15, inner=True)
    sizes = np.sin(7 * cells.places) + 0.5
    near = np.exp(-(((x[:, None] - cells.places) / fade) ** 2)) if fade else 1.0
    jumps = sizes * near + noise * rng.normal(size=(n, cells.n_cells))
    return x, cells, jumps, rng.integers(0, N_JUMP_GROUPS, n), sizes


def curves_by_hand(x, cells, jumps, group):
    """Heights with all rows and with the innermost ones, what each group does to these; and how far
    halves of the innermost rows agree about jumps."""
    heights, moves = [], []
    for starts, stops in ((cells.starts, cells.stops), cells.inner):
        inside = (starts <= x[:, None]) & (x[:, None] <= stops)
        mean = (inside * jumps).sum(0) / inside.sum(0)
        own = np.array([(inside * (jumps - mean))[group == g].sum(0) for g in range(N_JUMP_GROUPS)])
        share = np.array([inside[group == g].sum(0) for g in range(N_JUMP_GROUPS)]) / inside.sum(0)
        own = own / inside.sum(0) / np.sqrt(1 - (share**2).sum(0))
        before = cells.places <= x[:, None]
        heights.append(before @ mean - (before @ mean).mean())
        moves.append(own @ before.T - (own @ before.T).mean(axis=1, keepdims=True))
    common, noise = (mean**2).sum() - (own**2).sum(), (own**2).sum()  # of the innermost rows
    return np.array(heights), np.array(moves), max(0.0, common / (common + 2 * noise))


@given(SEEDS, st.sampled_from([0.0, 0.02, 0.1]), st.sampled_from([0.1, 1.0, 4.0]))
def test_inner_rows_count_as_far_as_they_disagree_by_more_than_noise(seed, fade, noise):
    x, cells, jumps, group, _ = make_fading(seed, 300, fade=fade, noise=noise)
    found = stairs_of(x, cells, jumps, group, None)
    (every, inner), moves, agreement = curves_by_hand(x, cells, jumps, group)
    apart = (inner - every) ** 2
    w = agreement * max(0.0, 1 - ((moves[1] - moves[0]) ** 2).sum(0).mean() / apart.mean())
    np.testing.assert_allclose(found.curve(x, "mean"), every + w * (inner - every), atol=1e-12)
    # what is left out counts as squared bias, where curves cross too
    # and of a quarter of the width a third of the difference may be left
    bias = (1 - w + w / 9) * np.maximum(apart, apart.mean())
    chance = replace(
        found,
        influence=found.between_rows,
        drawn=found.drawn[:, found.group_shares > 0],
        group_shares=found.group_shares[found.group_shares > 0],
    )
    expected = chance.of_curve(x, "mean").variance + bias
    np.testing.assert_allclose(found.of_curve(x, "mean").variance, expected, rtol=1e-9)
    assert found.degrees == chance.degrees
    assert found.added_square() == pytest.approx(chance.added_square())


def test_rows_that_agree_near_and_far_leave_no_bias():
    x, cells, _, group, sizes = make_fading(0)
    jumps = np.broadcast_to(sizes, (x.size, sizes.size))
    found = stairs_of(x, cells, jumps, group, None)
    np.testing.assert_allclose(found.jumps, sizes, rtol=1e-12)
    np.testing.assert_allclose(found.influence, 0, atol=1e-7)


@pytest.mark.parametrize(("inner", "least", "most"), [(False, 0.0, 0.7), (True, 0.92, 1.0)])
def test_intervals_cover_a_curve_whose_jumps_fade_near_their_places(inner, least, most):
    # over even rows on [0, 1] the curve at z is the sum of size_j (1{t_j <= z} - (1 - t_j))
    covered, sizes, runs = [], [], 60
    for seed in range(runs):
        x, cells, jumps, group, size = make_fading(seed, 600, fade=0.06, noise=0.3)
        cells = cells if inner else replace(cells, inner=None)
        found = stairs_of(x, cells, jumps, group, None)
        z = np.linspace(0.05, 0.95, 19)
        truth = ((cells.places <= z[:, None]) - (1 - cells.places)) @ size
        variance, degrees = found.of_curve(z, "mean")
        reach = student_quantile(0.95, degrees) * np.sqrt(variance)
        covered.append(np.abs(found.curve(z, "mean") - truth) <= reach)
        even = (np.arange(2000) + 0.5) / 2000
        whole = ((cells.places <= even[:, None]) - (1 - cells.places)) @ size
        off = found.importance() - whole.std()
        sizes.append(abs(off) <= 2 * np.sqrt(found.of_importance()))
    assert least <= np.mean(covered) <= most
    assert least <= np.mean(sizes) <= most


def test_one_group_cannot_tell_whether_inner_rows_disagree():
    x, cells, jumps, group, _ = make_fading(1)
    found = stairs_of(x, cells, jumps, 0 * group, None)
    all_rows = stairs_of(x, replace(cells, inner=None), jumps, 0 * group, None)
    np.testing.assert_array_equal(found.jumps, all_rows.jumps)


def test_drawings_of_groups_drawn_anew_hold_what_is_counted_as_bias():
    found = stairs_of(*make_fading(3, fade=0.05)[:4], None)
    z = np.linspace(0.1, 0.9, 5)
    shifts = found.redraw(found.moved(z, "mean"), draws=4000, seed=0)
    np.testing.assert_allclose(shifts.var(axis=0), found.of_curve(z, "mean").variance, rtol=0.1)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_halves_agree_as_two_random_halves_of_the_rows_do(share):
    rng = np.random.default_rng(int(100 * share))
    n, n_cells = 640, 400
    x, group = np.zeros(n), np.repeat(np.arange(N_JUMP_GROUPS), n // N_JUMP_GROUPS)
    every = np.arange(n_cells, dtype=float)
    cells = JumpCells(every, np.full(n_cells, -1.0), np.full(n_cells, 1.0), np.arange(n_cells))
    # a share of the rows makes each jump, other rows each time
    jumps = (rng.random((n, n_cells)) < share) * rng.choice([-1.0, 1.0], n_cells)
    told = halves_agree(sums_of(cells, x, jumps, group), 0)
    found = []
    for _ in range(40):
        first = np.isin(group, rng.permutation(N_JUMP_GROUPS)[: N_JUMP_GROUPS // 2])
        one, two = jumps[first].mean(axis=0), jumps[~first].mean(axis=0)
        found.append(np.sum(one * two) / np.sqrt(np.sum(one**2) * np.sum(two**2)))
    assert told == pytest.approx(np.mean(found), abs=0.03)


def test_halves_agree_where_nothing_jumps_and_where_all_rows_do():
    x, cells, jumps, group, _ = make(3)
    assert halves_agree(sums_of(cells, x, 0 * jumps, group), 0) == 1.0
    assert halves_agree(sums_of(cells, x, 0 * jumps + 2.0, group), 0) == pytest.approx(1.0)
