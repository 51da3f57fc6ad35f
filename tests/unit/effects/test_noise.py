from itertools import pairwise

import numpy as np
import pytest

from rhale.effects.binning.axis import BatchedCells
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.noise import (
    LARGEST_STEP,
    NonEmptyCells,
    cut_outliers,
    departure,
    excess,
    interpolation,
    local_noise,
    pool_sparse_cells,
    residual_squares,
)


def filled(moments):
    """Cells of one axis whose means count."""
    return NonEmptyCells.of(BatchedCells.of([moments]))


def departure_of(moments, *given):
    """The departure of one axis."""
    return departure(BatchedCells.of([moments]), *given)


def cells(x, d, edges, weights=None):
    return measure_moments(
        Grid(np.asarray(edges, dtype=float)), np.asarray(x), np.asarray(d, dtype=float), weights
    )


def in_cells(groups, weights=None):
    """Cells [0, 1), [1, 2), ... with the given local effects, spread evenly inside."""
    x = np.concatenate([k + (np.arange(len(g)) + 0.5) / len(g) for k, g in enumerate(groups)])
    return cells(x, np.concatenate(groups), np.arange(len(groups) + 1), weights)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9, 1e-9])
def test_a_constant_has_no_noise(value):
    rng = np.random.default_rng(0)
    x, w = rng.uniform(0, 5, 50), rng.uniform(1, 2, 50)
    for weights in (None, w):
        noise = local_noise(filled(cells(x, np.full(50, value), np.arange(6), weights)))
        assert noise.tolist() == [0.0] * 5


def test_the_rounding_of_a_constant_is_no_noise():
    """Cells of one row: steps of some last digits between them."""
    d = 0.1 * (1 + 1e-15 * np.random.default_rng(0).integers(-9, 9, 40))
    assert np.ptp(d) > 0
    assert local_noise(filled(in_cells(d[:, None]))).tolist() == [0.0] * 40


def test_noise_of_one_cell_is_its_variance():
    d = np.array([1.0, 2.0, 6.0])
    np.testing.assert_allclose(local_noise(filled(in_cells([d]))), d.var(ddof=1))


def test_noise_of_one_row_is_none():
    assert local_noise(filled(in_cells([[3.0]]))).tolist() == [0.0]


def test_squares_inside_and_steps_between_cells_are_pooled():
    """Rows 1 and 3 | 5 | 0, 1 and 2: means 2, 5, 1; fewer than 30 rows share one window.

    Inside: 2 + 0 + 2 with 1 + 0 + 2 degrees of freedom. Steps: 3² / (1/2 + 1) = 6 and
    4² / (1 + 1/3) = 12, one degree each: (4 + 18) / (3 + 2).
    """
    noise = local_noise(filled(in_cells([[1.0, 3.0], [5.0], [0.0, 1.0, 2.0]])))
    np.testing.assert_allclose(noise, 22 / 5)


def test_an_empty_cell_is_stepped_over():
    """3² / (1 + 1) between the two rows, whatever lies between them."""
    noise = local_noise(filled(in_cells([[1.0], [], [], [4.0]])))
    np.testing.assert_allclose(noise, [4.5, 0.0, 0.0, 4.5])


def test_equal_weights_count_as_rows():
    groups = [[1.0, 3.0], [5.0], [0.0, 1.0, 2.0]]
    plain, same = (
        local_noise(filled(in_cells(groups))),
        local_noise(filled(in_cells(groups, np.full(6, 0.3)))),
    )
    np.testing.assert_allclose(same, plain, rtol=1e-12)


def test_windows_hold_a_tenth_of_the_rows_and_move_inside_at_the_ends():
    """400 cells of one row: 40 steps around each, those from the window's first row to its last."""
    d = np.random.default_rng(1).normal(0, 1, 400) * np.linspace(1, 3, 400)
    halves = np.diff(d) ** 2 / 2
    noise = local_noise(filled(in_cells(d[:, None])))
    for cell in (0, 7, 19, 20, 150, 379, 380, 399):
        low = np.clip(cell + 0.5 - 20, 0, 400 - 40)
        between = [j for j in range(1, 400) if low <= j <= low + 40]
        np.testing.assert_allclose(noise[cell], np.mean([halves[j - 1] for j in between]))


def test_a_window_takes_a_part_of_the_cells_it_cuts():
    """Three cells of 20 rows and 30 in a window: the middle one and a quarter of both others."""
    rng = np.random.default_rng(2)
    a, b, c = rng.normal(0, 1, (3, 20))
    squares = [g.var() * 20 for g in (a, b, c)]
    steps = [(a.mean() - b.mean()) ** 2 * 10, (b.mean() - c.mean()) ** 2 * 10]
    pooled = squares[1] + (squares[0] + squares[2]) / 4 + sum(steps)
    noise = local_noise(filled(in_cells([a, b, c])))
    np.testing.assert_allclose(noise[1], pooled / (19 * 1.5 + 2))
    np.testing.assert_allclose(noise[0], (squares[0] + squares[1] / 2 + steps[0]) / (19 * 1.5 + 1))


def test_a_window_may_begin_inside_a_row():
    """Cells of 15, 21 and 24 rows: the window around the second goes from rank 10.5 to 40.5."""
    groups = np.split(np.random.default_rng(2).normal(0, 1, 60), [15, 36])
    squares, (a, b, c) = [g.var() * g.size for g in groups], [g.mean() for g in groups]
    steps = (a - b) ** 2 / (1 / 15 + 1 / 21) + (b - c) ** 2 / (1 / 21 + 1 / 24)
    pooled = squares[0] * 4.5 / 15 + squares[1] + squares[2] * 4.5 / 24 + steps
    free = 14 * 4.5 / 15 + 20 + 23 * 4.5 / 24 + 2
    np.testing.assert_allclose(local_noise(filled(in_cells(groups)))[1], pooled / free)


def test_a_slope_of_the_mean_effect_is_hardly_noise():
    """d = 40 x on 300 rows, with noise of deviation 0.2: steps and squares in cells see the slope."""
    rng = np.random.default_rng(3)
    for per_cell in (1, 3, 10):
        d = 40 * (np.arange(300) + 0.5) / 300 + 0.2 * rng.normal(size=300)
        moments = in_cells(d.reshape(-1, per_cell))
        assert moments.mean[0][-1] - moments.mean[0][0] > 35
        assert np.all(local_noise(filled(moments)) < 4 * 0.04)


def test_without_any_noise_a_tenth_of_the_squares_is_left():
    """A parabola: about lines hardly anything is left, and bins finer than that are not sought."""
    d = ((np.arange(400) + 0.5) / 400) ** 2
    moments = in_cells(d.reshape(-1, 8))
    width, mean = 1 / 50, moments.mean[0]
    inside = moments.sdd[0][25] / 7
    steps = (mean[26] - mean[25]) ** 2 * 4
    # a window of 40 rows: seven free squares in each of five cells, and six limits
    plain = (35 * inside + 6 * steps) / 41
    assert width**2 / 12 < inside < width**2  # the slope is about one
    np.testing.assert_allclose(local_noise(filled(moments))[25], plain / 10, rtol=0.05)


WEIGHTS = {
    "none": lambda rng, n: None,  # noqa: ARG005
    "mild": lambda rng, n: rng.uniform(0.5, 2, n),
    "whole": lambda rng, n: rng.integers(1, 5, n).astype(float),
    "wild": lambda rng, n: rng.lognormal(0, 1, n),
}


@pytest.mark.parametrize("per_cell", [1, 3, 10])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_noise_is_unbiased(per_cell, weights):
    """Mean over repetitions within three of its own standard errors of the truth, and 2 %."""
    rng, n, runs = np.random.default_rng(3), 300, 300
    found = np.empty(runs)
    for run in range(runs):
        d, w = rng.normal(5, 2, n), WEIGHTS[weights](rng, n)
        moments = in_cells(d.reshape(-1, per_cell), w)
        found[run] = np.average(local_noise(filled(moments)), weights=moments.weight)
    error = found.std(ddof=1) / np.sqrt(runs)
    assert abs(found.mean() - 4.0) <= 3 * error + 0.08


def test_a_power_of_two_scales_the_noise_exactly_and_a_shift_of_x_does_nothing():
    rng = np.random.default_rng(4)
    x, d, w = np.sort(rng.uniform(0, 8, 90)), rng.normal(3, 1, 90), rng.uniform(1, 2, 90)
    noise = local_noise(filled(cells(x, d, np.arange(9), w)))
    assert np.all(noise > 0)
    np.testing.assert_array_equal(
        local_noise(filled(cells(x, 2.0**-30 * d, np.arange(9), w))), 4.0**-30 * noise
    )
    np.testing.assert_array_equal(
        local_noise(filled(cells(x / 2 + 64, d, 64 + np.arange(9) / 2, w))), noise
    )


def fitted(x, d, w, *, linear):
    """Weighted least squares: the fit at x, and the effective rows minus parameters."""
    design = np.column_stack([np.ones(x.size), x])[:, : 1 + linear]
    root = np.sqrt(w)
    answer, *_ = np.linalg.lstsq(design * root[:, None], d * root, rcond=None)
    return design @ answer


@pytest.mark.parametrize("weighted", [False, True])
def test_residual_squares_are_those_of_the_rows_about_their_bin_s_fit(weighted):
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.uniform(0, 2, 20), rng.uniform(3, 6, 30)])  # [2, 3) is empty
    d = x**2 + rng.normal(0, 1, 50)
    w = rng.uniform(0.5, 2, 50) if weighted else np.ones(50)
    limits, linear = np.array([0, 3, 6]), np.array([False, True])
    found = residual_squares(cells(x, d, np.arange(7), w if weighted else None), limits, linear)
    for (low, high), is_linear in zip(pairwise(limits), linear, strict=True):
        mine = (x >= low) & (x < high)
        n = w[mine].sum() ** 2 / (w[mine] ** 2).sum()
        off = (d[mine] - fitted(x[mine], d[mine], w[mine], linear=is_linear)) ** 2
        off *= n / (n - 1 - is_linear)
        for k in range(low, high):
            cell = (x[mine] >= k) & (x[mine] < k + 1)
            expected = np.average(off[cell], weights=w[mine][cell]) if cell.any() else 0.0
            np.testing.assert_allclose(found[k], expected, rtol=1e-9)


@pytest.mark.parametrize("start", [0.0, 1.7e9])
def test_an_exact_line_leaves_no_squares(start):
    """The line crosses zero, where a cell's own mean says nothing of the size of rounding."""
    x = start + np.sort(np.random.default_rng(0).uniform(-2, 3, 1500))
    moments = cells(x, 3 * (x - start) - 1, start + np.linspace(-2, 3, 101))
    squares = residual_squares(moments, np.array([0, 100]), np.array([True]))
    assert squares.tolist() == [0.0] * 100


def test_an_outlier_is_cut_to_four_standard_errors_above_the_median():
    """Medians are 1. Squares of n normal rows have standard error sqrt(2 / n): 1 and 1/4."""
    squares = np.array([1.0, 1.0, 9.0, 1.0, 1.0])
    few, many = np.full(5, 2.0), np.full(5, 32.0)
    assert cut_outliers(squares, few).tolist() == [1.0, 1.0, 5.0, 1.0, 1.0]
    assert cut_outliers(squares, many).tolist() == [1.0, 1.0, 2.0, 1.0, 1.0]
    assert cut_outliers(squares, 100 * many).tolist() == [1.0, 1.0, 2.0, 1.0, 1.0]


@pytest.mark.parametrize("place", [0, 1, 30, 39])
def test_an_outlier_at_an_end_is_one_too(place):
    squares = np.ones(40)
    squares[place] = 50.0
    cut = cut_outliers(squares, np.full(40, 1e6))
    assert cut[place] == 2.0


def test_a_step_of_the_squares_is_no_outlier():
    squares = np.repeat([1.0, 100.0], 15)
    np.testing.assert_array_equal(cut_outliers(squares, np.full(30, 50.0)), squares)


def test_the_running_median_looks_ten_cells_to_each_side():
    """Eleven high cells are most of the 21 around each of them, ten are not."""
    eleven, ten = np.ones(61), np.ones(61)
    eleven[30:41], ten[30:40] = 100.0, 100.0
    rows = np.full(61, 1e6)
    np.testing.assert_array_equal(cut_outliers(eleven, rows), eleven)
    np.testing.assert_array_equal(cut_outliers(ten, rows), np.where(ten > 1, 2.0, 1.0))


def test_excess_of_two_cells_by_hand():
    """Squares 1 of 3 rows and 9 of 1: pooled 3, so 18 is usual; 64 / (1/3 + 1) = 48 is found."""
    np.testing.assert_allclose(excess(np.array([1.0, 9.0]), np.array([3.0, 1.0])), 48 / 18)
    assert excess(np.array([1.0, 3.0]), np.array([2.0, 2.0])) == 1.0
    assert excess(np.zeros(4), np.ones(4)) == 1.0


@pytest.mark.parametrize("scale", [2.0**930, 2.0**-930])
def test_excess_is_the_same_on_any_scale(scale):
    assert excess(scale * np.array([1.0, 9.0]), np.array([3.0, 1.0])) == 48 / 18


def test_a_jump_of_the_spread_between_large_cells_is_no_heavy_tail():
    """One of 19 steps is a jump of 10,000 rows' squares: it counts as 20 times its usual square."""
    squares, rows = np.repeat([1.0, 9.0], 10), np.full(20, 1e4)
    usual = 2 * (9 * 1.0 + 9 * 81.0 + 25.0)
    found = LARGEST_STEP * 2 * 25.0
    np.testing.assert_allclose(excess(squares, rows), max(1.0, found / usual))
    assert 100 * found < 64.0 / (2 / 1e4)


def test_excess_tells_heavy_tails_from_normal_ones():
    """Var(r²) / (2 sigma⁴): 1 for normal rows, (E r⁴ - 1) / 2 = 2.5 for Laplace ones."""
    rng = np.random.default_rng(6)
    rows = np.full(2000, 20.0)

    def of(r):
        return excess((r**2).mean(axis=1), rows)

    assert of(rng.normal(0, 3, (2000, 20))) == pytest.approx(1.0, rel=0.1)
    assert of(rng.laplace(0, 3, (2000, 20))) == pytest.approx(2.5, rel=0.15)


def test_interpolation_is_that_of_numpy_and_flat_outside():
    rng = np.random.default_rng(7)
    places = np.sort(rng.uniform(0, 1, 12))
    known = np.zeros(12, dtype=bool)
    known[[2, 3, 7, 9]] = True
    values = rng.normal(size=4)
    found = interpolation(places, known) @ values
    np.testing.assert_allclose(found, np.interp(places, places[known], values), rtol=1e-12)
    np.testing.assert_array_equal(found[known], values)


def test_one_known_place_answers_for_all_and_none_for_none():
    places = np.array([0.0, 1.0, 2.0])
    assert interpolation(places, np.array([False, True, False])).tolist() == [[1.0]] * 3
    assert interpolation(places, np.zeros(3, dtype=bool)).shape == (3, 0)


def some_cells(seed, *, weighted, counts=(3, 5, 0, 2, 6, 4, 3, 0)):
    """Eight cells of different width, the third and the last empty, curved and noisy."""
    rng = np.random.default_rng(seed)
    edges = np.append(0.0, np.cumsum(rng.uniform(0.5, 2, 8)))
    x = np.concatenate(
        [rng.uniform(a, b, n) for (a, b), n in zip(pairwise(edges), counts, strict=True)]
    )
    d = np.sin(x) + rng.normal(0, 0.2, x.size)
    return cells(x, d, edges, rng.uniform(0.5, 2, x.size) if weighted else None)


def residuals(moments, means, part, *, linear):
    """Residuals of cell means from the fit to them, empty cells interpolated."""
    filled = moments.weight[part] > 0
    x, w = moments.mean_x[part][filled], moments.weight[part][filled]
    left = means[part][filled]
    left = left - fitted(x, left, w, linear=linear)
    places = np.where(filled, moments.mean_x[part], moments.grid.middles[part])
    return np.interp(places, x, left)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("counts", "limits", "linear"),
    [
        ((3, 5, 0, 2, 6, 4, 3, 0), (0, 4, 8), (True, False)),
        ((3, 0, 0, 5, 0, 4, 2, 6), (0, 8), (True,)),  # several empty cells side by side
        ((0, 0, 3, 0, 0, 0, 5, 4), (0, 8), (False,)),
    ],
)
def test_departure_is_the_share_of_d_squared_that_is_more_than_its_variance(
    seed, weighted, counts, limits, linear
):
    """D at the end of every cell by adding up; V by moving one cell's mean after the other."""
    moments = some_cells(seed, weighted=weighted, counts=counts)
    noise = np.linspace(0.02, 0.1, 8)
    limits, linear = np.array(limits), np.array(linear)
    found = departure_of(moments, noise, limits, linear)
    width, rows = np.diff(moments.grid.edges), moments.rows
    for k, (start, stop) in enumerate(pairwise(limits)):
        part = slice(start, stop)

        def gap(means, part=part, k=k):
            left = residuals(moments, means, part, linear=linear[k])
            return np.cumsum(width[part] * left)

        squared = width[part] @ gap(moments.mean[0]) ** 2
        expected = 0.0
        for cell in np.flatnonzero(moments.weight[part] > 0) + start:
            moved = gap(np.eye(8)[cell])
            expected += width[part] @ moved**2 * noise[cell] / rows[cell]
        np.testing.assert_allclose(found[k], max(0.0, 1 - expected / squared), rtol=1e-9)
    assert limits.size == 2 or np.any((found > 0) & (found < 1))


@pytest.mark.parametrize("scale", [1.0, 1e9, 1e-9])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_an_exact_fit_needs_no_cells(scale, noise):
    x = np.linspace(0, 4, 81)
    d = np.where(x < 2, 0.7, 3 * x - 7)  # constant, then a line that crosses zero
    moments = cells(x, scale * d, np.linspace(0, 4, 9))
    found = departure_of(moments, np.full(8, noise), np.array([0, 4, 8]), np.array([False, True]))
    assert found.tolist() == [0.0, 0.0]


def test_a_parabola_without_noise_is_followed_wholly():
    x = np.linspace(0, 4, 81)
    moments = cells(x, x**2, np.linspace(0, 4, 9))
    for linear in (False, True):
        found = departure_of(moments, np.zeros(8), np.array([0, 8]), np.array([linear]))
        assert found.tolist() == [1.0]


def test_a_bin_of_as_many_cells_as_parameters_has_nothing_to_follow():
    moments = cells([0.5, 1.5, 2.5], [1.0, 5.0, 2.0], [0, 1, 2, 3])
    found = departure_of(moments, np.zeros(3), np.array([0, 1, 3]), np.array([False, True]))
    assert found.tolist() == [0.0, 0.0]


def test_two_rows_say_nothing_against_their_mean():
    """Their squared step is all the noise there is: D² = V, whatever rounding makes of it."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        d, limit = rng.normal(0, 1, 2), rng.uniform(0.1, 0.9)
        moments = cells([limit / 2, 1.0], d, [0, limit, 1])
        found = departure_of(
            moments, local_noise(filled(moments)), np.array([0, 2]), np.array([False])
        )
        assert found.tolist() == [0.0]


def test_a_large_offset_does_not_blur_the_departure():
    """One row a cell, shifted by a power of two: residuals are the same to the last digit."""
    d = np.round(1024 * np.sin(np.arange(12.0))) / 1024
    x, edges, noise = np.arange(12) + 0.5, np.arange(13.0), np.full(12, 0.05)
    whole, linear = np.array([0, 12]), np.array([True])
    near, far = (
        departure_of(cells(x, d + shift, edges), noise, whole, linear) for shift in (0.0, 2.0**30)
    )
    assert 0 < near[0] < 1
    np.testing.assert_allclose(far, near, rtol=1e-11)


def test_outliers_are_cut_part_by_part():
    """Parts of 3, 0, 1, 12 and 40 cells: medians of windows that are mirrored at the ends of each."""
    rng = np.random.default_rng(4)
    sizes, squares = np.array([3, 0, 1, 12, 40]), rng.lognormal(0, 2, 56)
    rows = rng.integers(1, 60, 56).astype(float)
    expected = []
    for part in np.split(np.arange(56), np.cumsum(sizes)[:-1]):
        if part.size:
            half = min(10, (part.size - 1) // 2)
            mirrored = np.pad(squares[part], half, mode="reflect")
            medians = [np.median(mirrored[k : k + 2 * half + 1]) for k in range(part.size)]
            most = 1 + np.maximum(4 * np.sqrt(2 / rows[part]), 1)
            expected += [*np.minimum(squares[part], medians * most)]
    np.testing.assert_allclose(cut_outliers(squares, rows, sizes), expected, rtol=1e-14)
    np.testing.assert_allclose(cut_outliers(squares[:3], rows[:3]), expected[:3], rtol=1e-14)


# Cells that the curve follows


def test_a_sparse_cell_joins_the_neighbour_whose_rows_are_nearer():
    """1,200 rows: cells of fewer than 3.5 are pooled. The lone row at 2.9 lies nearer to cell 3."""
    x = np.concatenate([np.full(600, 0.5), [2.9], np.full(599, 3.5)])
    moments = cells(x, x, np.arange(5))
    assert pool_sparse_cells(moments, np.array([0, 4])).tolist() == [0, 1, 2, 4]


def test_sparse_cells_far_from_others_join_each_other_and_empty_ones_between_them():
    x = np.concatenate([np.full(600, 0.5), [4.5, 4.6, 6.5, 6.6], np.full(596, 11.5)])
    moments = cells(x, x, np.arange(13))
    found = pool_sparse_cells(moments, np.array([0, 12]))
    assert found.tolist() == [0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 12]


def test_cells_of_different_bins_are_not_pooled():
    x = np.concatenate([np.full(600, 0.5), [1.5], np.full(599, 2.5)])
    moments = cells(x, x, np.arange(4))
    assert pool_sparse_cells(moments, np.array([0, 1, 2, 3])).tolist() == [0, 1, 2, 3]


def test_few_rows_make_no_sparse_cells():
    """A three-hundredth of 200 rows is less than one."""
    x = np.arange(200) + 0.5
    moments = cells(x, x, np.arange(201))
    assert pool_sparse_cells(moments, np.array([0, 200])).size == 201


@pytest.mark.parametrize("seed", range(5))
def test_pooled_cells_have_rows_enough(seed):
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(0, 0.2, 500), rng.normal(3, 0.3, 500), rng.uniform(0, 3, 9)])
    moments = cells(x, x, np.linspace(x.min(), x.max(), 150))
    bins = np.array([0, 40, 90, 149])
    found = pool_sparse_cells(moments, bins)
    assert set(bins) <= set(found)
    count = moments.unite(found).count
    assert np.all((count == 0) | (count >= 1009 / 300))
