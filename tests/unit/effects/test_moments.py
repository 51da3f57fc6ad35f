from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rhale.effects.binning.cells import Cells, Grid
from rhale.effects.binning.moments import (
    MOMENT_BLOCK_ROWS,
    SUMS,
    Moments,
    average_model_moments,
    check_magnitude,
    empty,
    measure_moments,
)
from rhale.errors import BadEffectsError

EDGES = np.array([0.0, 1.0, 2.0, 4.0, 5.0])
FIELDS = ("count", "weight", "weight_squares", "mean_x", "sxx", "low", "high", "mean", "sxd", "sdd")


def by_loops(grid, x, values, weights):
    """The definitions, one cell and one row at a time."""
    cells = [[] for _ in range(grid.n_cells)]
    for row, v in enumerate(x):
        if grid.edges[0] <= v <= grid.edges[-1]:
            cells[int(grid.locate(np.array([v]))[0])].append(row)
    found = {name: [] for name in FIELDS}
    for rows in cells:
        w, xs, ds = weights[rows], x[rows], values[:, rows]
        total = w.sum() if rows else 1.0
        mean_x, mean = (w @ xs) / total, (ds @ w) / total
        found["count"].append(len(rows))
        found["weight"].append(w.sum())
        found["weight_squares"].append((w**2).sum())
        found["mean_x"].append(mean_x)
        found["sxx"].append(w @ (xs - mean_x) ** 2)
        found["low"].append(min(xs, default=np.inf))
        found["high"].append(max(xs, default=-np.inf))
        found["mean"].append(mean)
        found["sxd"].append(((ds - mean[:, None]) * (xs - mean_x)) @ w)
        found["sdd"].append(((ds - mean[:, None]) ** 2) @ w)
    return {name: np.array(v).T for name, v in found.items()}


def assert_moments(found, expected, rtol=1e-9, atol=1e-12):
    for name in FIELDS:
        np.testing.assert_allclose(
            getattr(found, name), expected[name], rtol=rtol, atol=atol, err_msg=name
        )


@pytest.mark.parametrize("closed", ["left", "right"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_series", [1, 3])
def test_measuring_agrees_with_the_definitions(closed, weighted, n_series):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-1, 2, 60), EDGES, [4.5]])  # nothing between 2 and 4 but limits
    values, w = rng.normal(0, 1, (n_series, x.size)), rng.uniform(0.1, 3, x.size)
    grid = Grid(EDGES, closed)
    found = measure_moments(grid, x, values, w if weighted else None)
    expected = by_loops(grid, x, values, w if weighted else np.ones(x.size))
    assert_moments(found, expected)


def test_rows_outside_the_cells_are_left_out():
    found = measure_moments(Grid(EDGES), np.array([-1.0, 0.5, 9.0]), np.array([7.0, 1.0, 7.0]))
    assert found.count.tolist() == [1, 0, 0, 0]
    assert found.mean[0].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_no_rows_inside_give_empty_moments():
    weights = np.array([1.0, 2.0])
    found = measure_moments(Grid(EDGES), np.array([-1.0, 9.0]), np.array([7.0, 7.0]), weights)
    assert_moments(found, {name: getattr(empty(Grid(EDGES)), name) for name in FIELDS}, 0, 0)


def test_no_rows_at_all_give_empty_moments():
    found = measure_moments(Grid(EDGES), np.empty(0), np.empty((2, 0)))
    assert found.mean.shape == (2, 4)
    assert found.count.sum() == 0


def test_blocks_add_up():
    rng = np.random.default_rng(2)
    n = 2 * MOMENT_BLOCK_ROWS + 100
    x, d, w = rng.uniform(0, 5, n), rng.normal(5, 1, n), rng.uniform(0.5, 2, n)
    found = measure_moments(Grid(EDGES), x, d, w)
    for k in range(4):
        inside = (x >= EDGES[k]) & (x < EDGES[k + 1])
        mean = np.average(d[inside], weights=w[inside])
        assert found.count[k] == inside.sum()
        np.testing.assert_allclose(found.mean[0, k], mean, rtol=1e-12)
        np.testing.assert_allclose(found.sdd[0, k], w[inside] @ (d[inside] - mean) ** 2, rtol=1e-9)


def test_measuring_changes_none_of_its_arguments():
    x, d, w = np.random.default_rng(3).uniform(0, 5, (3, 50))
    copies = [v.copy() for v in (x, d, w)]
    measure_moments(Grid(EDGES), x, d, w)
    for mine, copy in zip((x, d, w), copies, strict=True):
        np.testing.assert_array_equal(mine, copy)


@pytest.mark.parametrize("offset", [1e9, -1e9])
def test_a_large_mean_does_not_drown_the_variance(offset):
    d = offset + np.tile([0.0, 1.0, 2.0, 3.0], 500)
    x = 1e9 + np.linspace(0, 1, d.size)
    found = measure_moments(Grid(np.array([1e9, 1e9 + 1])), x, d)
    np.testing.assert_allclose(found.variance[0, 0], d.size * 1.25 / (d.size - 1), rtol=1e-6)
    np.testing.assert_allclose(found.sxx[0], np.sum((x - 1e9 - 0.5) ** 2), rtol=1e-6)


def exact_squares(x, d, w):
    """Sums of squares and products about the means, in whole numbers."""
    rows = [
        tuple(map(Fraction, row)) for row in zip(x.tolist(), d.tolist(), w.tolist(), strict=True)
    ]
    total = sum(w for *_, w in rows)
    mean_x, mean = (
        sum(w * v for v, w in zip(column, (w for *_, w in rows), strict=True)) / total
        for column in ([x for x, *_ in rows], [d for _, d, _ in rows])
    )
    gaps = [(x - mean_x, d - mean, w) for x, d, w in rows]
    return [
        float(sum(w * a * b for a, b, w in products))
        for products in (
            [(x, x, w) for x, _, w in gaps],
            [(x, d, w) for x, d, w in gaps],
            [(d, d, w) for _, d, w in gaps],
        )
    ]


def assert_digits(x, d, w=None):
    """Squares of rows of one cell are those of whole numbers, to twelve digits."""
    found = measure_moments(Grid(np.array([x.min(), x.max() + 1])), x, d, w)
    sxx, sxd, sdd = exact_squares(x, d, np.ones(x.size) if w is None else w)
    np.testing.assert_allclose(found.sxx[0], sxx, rtol=1e-12)
    np.testing.assert_allclose(found.sdd[0, 0], sdd, rtol=1e-12)
    np.testing.assert_allclose(found.sxd[0, 0], sxd, rtol=0, atol=1e-12 * np.sqrt(sxx * sdd))


@settings(deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(-1000, 1000)] * 2, st.integers(1, 2**20)), min_size=1),
    *[st.sampled_from([0.0, 1.0, -1e6, 1e9])] * 4,
    st.booleans(),
)
def test_squares_keep_twelve_digits(rows, place, height, far_x, far_d, weighted):
    x, d, w = np.array(rows).T / 1024
    x, d = place + x, height + d
    x[0], d[0] = x[0] + far_x, d[0] + far_d  # the first row may be far from the others
    assert_digits(x, d, w if weighted else None)


@pytest.mark.parametrize("far", [0.0, 30.0, 1e4, 1e9])
def test_a_first_row_far_out_costs_no_digits_of_many_rows(far):
    x, d = np.random.default_rng(0).normal(0.1, 1e-3, (2, 2_000))
    x[0], d[0] = x[0] + far, d[0] - far
    assert_digits(x, d)
    assert_digits(x[::-1], d[::-1])


def test_equal_values_deviate_by_nothing_beside_others_that_do():
    x, d = np.tile([0.1, 1.7], 50), np.tile([1 / 3, 0.1], 50)
    d[1] = 1e9
    found = measure_moments(Grid(EDGES), x, np.stack([d, np.tile([0.7, 1e9 / 3], 50)]))
    assert found.sxx.tolist() == [0.0] * 4
    assert found.sdd[:, 0].tolist() == [0.0, 0.0]
    assert found.sdd[1].tolist() == [0.0] * 4
    assert found.sxd.tolist() == [[0.0] * 4] * 2


def test_variance_has_the_divisor_of_effective_rows():
    d, w = np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 2.0])
    found = measure_moments(Grid(np.array([0.0, 1.0])), np.full(3, 0.5), d, w)
    n = 16 / 6
    assert found.rows[0] == n
    assert found.total_rows == n
    mean = 11 / 4
    squares = (w * (d - mean) ** 2).sum() / 4 * n
    np.testing.assert_allclose(found.variance[0, 0], squares / (n - 1))


def test_a_single_row_has_no_variance_and_no_row_no_mean():
    found = measure_moments(Grid(EDGES), np.array([0.5, 1.2, 1.7]), np.array([3.0, 1.0, 2.0]))
    assert np.isnan(found.variance[0, [0, 2, 3]]).all()
    assert found.variance[0, 1] == 0.5
    assert found.rows.tolist() == [1.0, 2.0, 0.0, 0.0]
    assert found.total_rows == 3.0
    assert np.isnan(found.residual_variance[0]).all()


def test_empty_moments_have_no_rows():
    nothing = empty(Grid(EDGES), 2)
    assert nothing.total_rows == 0.0
    assert nothing.rows.tolist() == [0.0] * 4
    assert np.isnan(nothing.variance).all()
    assert nothing.slope.tolist() == [[0.0] * 4] * 2


def test_slope_and_residual_variance_are_least_squares():
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 1, 40)
    d = 2 + 3 * x + rng.normal(0, 0.1, 40)
    found = measure_moments(Grid(np.array([0.0, 1.0])), x, d)
    (slope, level), (squares,) = np.polyfit(x, d, 1, full=True)[:2]
    np.testing.assert_allclose(found.slope[0, 0], slope)
    np.testing.assert_allclose(found.residual_variance[0, 0], squares / 38)
    np.testing.assert_allclose(found.mean[0, 0] - slope * found.mean_x[0], level)


def test_an_exact_line_leaves_no_residual():
    x = np.arange(10.0)
    found = measure_moments(Grid(np.array([0.0, 9.0])), x, 4 * x - 1)
    assert found.slope[0, 0] == 4.0
    np.testing.assert_allclose(found.residual_variance[0, 0], 0.0, atol=1e-12)


def test_where_x_does_not_vary_residuals_are_about_the_mean():
    found = measure_moments(
        Grid(np.array([0.0, 1.0])), np.full(4, 0.5), np.array([1.0, 2.0, 3.0, 4.0])
    )
    assert found.slope[0, 0] == 0.0
    np.testing.assert_allclose(found.residual_variance[0, 0], 5 / 3)
    np.testing.assert_allclose(found.variance[0, 0], 5 / 3)


@pytest.mark.parametrize("value", [0.1, 1 / 3, -1e12 / 7, 1e-12 / 7])
def test_a_constant_has_exactly_no_scatter(value):
    x = np.random.default_rng(0).uniform(0, 5, 1000)
    w = np.random.default_rng(1).lognormal(0, 1, 1000)
    for weights in (None, w):
        found = measure_moments(Grid(EDGES), x, np.full(1000, value), weights)
        assert found.sdd[0].tolist() == found.sxd[0].tolist() == [0.0] * 4
        assert found.unite(np.array([0, 4])).sdd.tolist() == [[0.0]]


def test_series_keeps_the_chosen_ones():
    values = np.arange(12.0).reshape(3, 4)
    found = measure_moments(Grid(np.array([0.0, 1.0])), np.linspace(0, 1, 4), values).series(2, 0)
    assert found.mean.ravel().tolist() == [9.5, 1.5]
    assert found.sdd.shape == found.sxd.shape == (2, 1)


def test_uniting_cells_skips_empty_ones():
    x, d = np.array([0.5, 0.6, 4.5, 4.6]), np.array([1.0, 2.0, 5.0, 8.0])
    cells = measure_moments(Grid(EDGES), x, d)
    united = cells.unite(np.array([0, 3, 4]))
    assert united.grid == Grid(np.array([0.0, 4.0, 5.0]))
    assert united.count.tolist() == [2, 2]
    assert united.mean[0].tolist() == [1.5, 6.5]
    whole = cells.unite(np.array([0, 4]))
    np.testing.assert_allclose(whole.mean[0, 0], 4.0)
    np.testing.assert_allclose(whole.sdd[0, 0], 9 + 4 + 1 + 16)
    np.testing.assert_allclose(whole.sxx[0], np.sum((x - x.mean()) ** 2))
    np.testing.assert_allclose(whole.sxd[0, 0], np.sum((x - x.mean()) * (d - d.mean())))
    nothing = cells.unite(np.array([0, 1, 3, 4]))
    assert nothing.count.tolist() == [2, 0, 2]
    assert nothing.sdd[0, 1] == nothing.sxx[1] == 0.0


def test_uniting_keeps_the_side_that_is_closed():
    cells = measure_moments(Grid(EDGES, "right"), np.array([1.0]), np.array([1.0]))
    assert cells.unite(np.array([0, 4])).grid.closed == "right"


def test_moments_over_different_cells_are_not_added():
    with pytest.raises(ValueError, match="different cells"):
        empty(Grid(EDGES)) + empty(Grid(EDGES, "right"))


def test_adding_two_rows_by_hand():
    grid = Grid(np.array([0.0, 1.0]))
    a = measure_moments(grid, np.array([0.2]), np.array([1.0]), np.array([3.0]))
    b = measure_moments(grid, np.array([0.6]), np.array([5.0]), np.array([1.0]))
    both = a + b
    assert isinstance(both, Moments)
    np.testing.assert_allclose(both.mean[0, 0], 2.0)
    np.testing.assert_allclose(both.mean_x[0], 0.3)
    np.testing.assert_allclose(both.sdd[0, 0], 3 * 1 + 9)
    np.testing.assert_allclose(both.sxx[0], 3 * 0.01 + 0.09)
    np.testing.assert_allclose(both.sxd[0, 0], 3 * 0.1 + 0.9)


@pytest.mark.parametrize("size", [1e300, -1e300, 1.1e150, 1e-300, 1e-151])
def test_squares_that_do_not_fit_into_a_number_are_refused(size):
    with pytest.raises(BadEffectsError, match="squares do not fit"):
        measure_moments(Grid(EDGES), np.array([0.5, 1.5]), np.array([0.0, size]))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_local_effects_that_are_not_finite_are_refused(bad):
    with pytest.raises(BadEffectsError, match="not a finite number"):
        measure_moments(Grid(EDGES), np.array([0.5, 1.5]), np.array([0.0, bad]))


@pytest.mark.parametrize("size", [1e150, 1e-150, 0.0])
def test_the_largest_and_smallest_allowed_sizes_are_measured(size):
    check_magnitude(np.array([size]))
    x = np.linspace(0, 5, 20)
    found = measure_moments(Grid(EDGES), x, size * np.tile([1.0, -1.0], 10))
    assert np.all(np.isfinite(found.unite(np.array([0, 4])).sdd))
    np.testing.assert_allclose(
        found.unite(np.array([0, 4])).variance[0, 0], size**2 * 20 / 19, rtol=1e-9
    )


def test_no_local_effects_are_of_no_bad_size():
    check_magnitude(np.empty((2, 0)))


# --- two axes ------------------------------------------------------------------------------------

PAIR = Cells((Grid(np.array([0.0, 1.0, 2.0])), Grid(np.array([0.0, 10.0, 20.0, 30.0]))))


def rows_of_a_pair():
    rng = np.random.default_rng(7)
    x = np.stack([rng.uniform(-0.2, 2.2, 80), rng.uniform(-2, 32, 80)])
    return x, rng.normal(3, 1, (2, 80)), rng.uniform(0.1, 3, 80)


@pytest.mark.parametrize("weighted", [False, True])
def test_cells_of_two_axes_are_measured_by_the_definitions(weighted):
    x, values, w = rows_of_a_pair()
    found = measure_moments(PAIR, x, values, w if weighted else None)
    w = w if weighted else np.ones(80)
    assert found.sxd.shape == (2, 2, 6)
    for a, b in np.ndindex(2, 3):
        k = 3 * a + b
        inside = np.flatnonzero((x[0] // 1 == a) & (x[1] // 10 == b))
        own, total = w[inside], w[inside].sum()
        gaps = values[:, inside] - (values[:, inside] @ own / total)[:, None]
        assert found.count[k] == inside.size
        np.testing.assert_allclose(found.mean[:, k], values[:, inside] @ own / total)
        np.testing.assert_allclose(found.sdd[:, k], gaps**2 @ own)
        for axis in (0, 1):
            gap = x[axis, inside] - x[axis, inside] @ own / total
            np.testing.assert_allclose(found.mean_x[axis, k], x[axis, inside] @ own / total)
            np.testing.assert_allclose(found.sxx[axis, k], own @ gap**2)
            assert found.low[axis, k] == x[axis, inside].min()
            assert found.high[axis, k] == x[axis, inside].max()
            np.testing.assert_allclose(found.sxd[axis, :, k], gaps @ (own * gap), atol=1e-12)


def test_each_axis_has_its_slope_and_its_residuals():
    x = np.random.default_rng(8).uniform(0, 1, (2, 50))
    d = 2 * x[0] - 5 * x[1]
    found = measure_moments(Cells((Grid(np.array([0.0, 1.0])),) * 2), x, d)
    for axis in (0, 1):
        (slope, _), (squares,) = np.polyfit(x[axis], d, 1, full=True)[:2]
        np.testing.assert_allclose(found.slope[axis], [[slope]])
        np.testing.assert_allclose(found.residual_variance[axis], [[squares / 48]])
    np.testing.assert_allclose(found.variance, [[d.var(ddof=1)]])


def test_series_of_two_axes_are_kept_with_both():
    x, values, w = rows_of_a_pair()
    kept, alone = (
        measure_moments(PAIR, x, values, w).series(1),
        measure_moments(PAIR, x, values[1], w),
    )
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(kept, name), getattr(alone, name), err_msg=name)


def test_no_rows_of_two_axes_give_empty_moments():
    nothing, outside = empty(PAIR, 2), np.full((2, 3), -1.0)
    for found in (
        measure_moments(PAIR, np.empty((2, 0)), np.empty((2, 0))),
        measure_moments(PAIR, outside, outside),
    ):
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(found, name), getattr(nothing, name))


def test_moments_over_two_axes_have_no_one_grid():
    with pytest.raises(ValueError, match="too many values"):
        _ = empty(PAIR).grid


def test_the_marginal_of_one_axis_is_itself():
    found = empty(Grid(EDGES))
    assert found.marginal(0) is found


def test_cells_between_two_limits_are_kept_as_they_are():
    x, d = np.array([0.5, 1.2, 1.8, 4.5]), np.array([1.0, 2.0, 4.0, 7.0])
    part = measure_moments(Grid(EDGES, "right"), x, d).between(1, 3)
    assert part.grid == Grid(np.array([1.0, 2.0, 4.0]), "right")
    assert part.count.tolist() == [2, 0]
    assert part.mean.tolist() == [[3.0, 0.0]]
    assert part.sdd.tolist() == [[2.0, 0.0]]


def test_the_marginals_of_four_rows_by_hand():
    x = np.array([[0.5, 0.5, 1.5, 1.5], [5.0, 15.0, 15.0, 25.0]])
    found = measure_moments(PAIR, x, np.array([1.0, 3.0, 5.0, 9.0]))
    first, second = found.marginal(0), found.marginal(1)
    assert (first.grid, second.grid) == PAIR.grids
    assert first.mean.tolist() == [[2.0, 7.0]]
    assert first.sdd.tolist() == [[2.0, 8.0]]
    assert first.sxx.tolist() == [0.0, 0.0]
    assert second.count.tolist() == [1, 2, 1]
    assert second.mean.tolist() == [[1.0, 4.0, 9.0]]
    assert second.mean_x.tolist() == [5.0, 15.0, 25.0]


def test_each_axis_is_united_by_itself():
    x = np.array([[0.5, 0.5, 1.5, 1.5], [5.0, 15.0, 15.0, 25.0]])
    found = measure_moments(PAIR, x, np.array([1.0, 3.0, 5.0, 9.0]))
    assert found.unite(np.array([0, 2]), 0).mean.tolist() == [[1.0, 4.0, 9.0]]
    wide = found.unite(np.array([0, 1, 3]), 1)
    assert wide.count.tolist() == [1, 1, 0, 2]
    assert wide.mean.tolist() == [[1.0, 3.0, 0.0, 7.0]]
    assert wide.sxd[1].tolist() == [[0.0, 0.0, 0.0, 20.0]]  # (-5)(-2) + 5 · 2


def several_models(n_models):
    """The same rows under several models: x and weights alike, local effects not."""
    rng = np.random.default_rng(8)
    grid, x, weights = Grid(np.linspace(0, 1, 6)), rng.uniform(0, 0.8, 60), rng.uniform(0.5, 2, 60)
    effects = rng.normal(np.arange(n_models)[:, None], 1, (n_models, 60))
    return grid, x, effects, weights


def test_the_average_of_equal_moments_is_any_of_them():
    grid, x, (effects,), weights = several_models(1)
    one = measure_moments(grid, x, effects, weights)
    found = average_model_moments([one] * 7)
    assert np.array_equal(found.count, one.count)
    for name in SUMS:
        np.testing.assert_allclose(getattr(found, name), getattr(one, name), rtol=1e-13)


def test_the_average_is_that_of_every_row_shared_between_the_models():
    grid, x, effects, weights = several_models(3)
    found = average_model_moments([measure_moments(grid, x, d, weights) for d in effects])
    shared = measure_moments(grid, np.tile(x, 3), effects.ravel(), np.tile(weights, 3) / 3)
    for name in ("weight", "mean_x", "sxx", "low", "high", "mean", "sxd", "sdd"):
        np.testing.assert_allclose(getattr(found, name), getattr(shared, name), rtol=1e-12)
    alone = measure_moments(grid, x, effects[0], weights)
    assert np.array_equal(found.count, alone.count)  # rows count once
    np.testing.assert_allclose(found.rows, alone.rows, rtol=1e-12)


def test_the_order_of_what_is_averaged_does_not_matter():
    grid, x, effects, weights = several_models(5)
    parts = [measure_moments(grid, x, d, weights) for d in effects]
    one, other = average_model_moments(parts), average_model_moments(parts[::-1])
    for name in SUMS:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12)
