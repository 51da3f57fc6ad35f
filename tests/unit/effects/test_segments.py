from itertools import pairwise

import numpy as np
import pytest

from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.segments import (
    RUN_BLOCK_ENDS,
    cheapest_path,
    cheapest_paths,
    runs_by_end,
    weights_of,
    zero_rounding_squares,
)

INF = np.inf


def cells(x, d, edges, weights=None):
    return measure_moments(
        Grid(np.asarray(edges, dtype=float)), np.asarray(x), np.asarray(d), weights
    )


def runs(n_cells):
    """First and last cell of every run."""
    return [(first, last) for first in range(n_cells) for last in range(first, n_cells)]


def every_run(sums, means=None, products=None, **asked):
    """Sums and products of all runs as squares, at [start, end]."""
    given = () if means is None else (means, products)
    n_cells, n_kept = sums.shape[1], len(sums) + (0 if products is None else len(products))
    found = np.zeros((n_kept, n_cells, n_cells))
    for block in runs_by_end(sums, *given, **asked):
        ends = slice(block.first, block.first + block.sums.shape[1])
        parts = [block.sums, block.products] if given else [block.sums]
        found[:, : ends.stop, ends] = np.concatenate(parts).swapaxes(1, 2)
    return found[: len(sums)], found[len(sums) :]


def squares_of(moments):
    return every_run(moments.weight[None], moments.mean[:1], moments.sdd[:1])[1][0]


def rows_of(n_cells, *, weighted):
    """Rows on [0, n_cells], none in the second cell, and their weights."""
    rng = np.random.default_rng(n_cells)
    x = np.append(rng.uniform(0, n_cells, 60), [0.0, n_cells])
    x = x[(x < 1) | (x >= 2) | (x == n_cells)]
    d = rng.normal(0, 1, x.size) + x
    return x, d, rng.lognormal(0, 2, x.size) if weighted else np.ones(x.size)


def inside(x, first, last, n_cells):
    return (x >= first) & ((x < last + 1) | (last == n_cells - 1))


@pytest.mark.parametrize("n_cells", [4, RUN_BLOCK_ENDS, 2 * RUN_BLOCK_ENDS + 5])
def test_runs_in_one_piece_are_the_same_runs(n_cells):
    weight, mean, squares = np.random.default_rng(0).uniform(1, 2, (3, 1, n_cells))
    squares[0, 1] = mean[0, 1] * 1e-30  # rounding
    piece_by_piece = every_run(weight, mean, squares)
    for one, other in zip(
        every_run(weight, mean, squares, at_once=True), piece_by_piece, strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_cells", [4, RUN_BLOCK_ENDS, 2 * RUN_BLOCK_ENDS + 5])
def test_sums_of_runs_are_sums_of_slices(n_cells):
    """Whole numbers, so that sums are exact; below the diagonal there is no run."""
    values = np.random.default_rng(0).integers(-9, 9, (2, n_cells)).astype(float)
    found, _ = every_run(values)
    for first, last in runs(n_cells):
        assert found[:, first, last].tolist() == values[:, first : last + 1].sum(axis=1).tolist()
    assert np.all(np.tril(found, -1) == 0.0)


@pytest.mark.parametrize("n_cells", [1, 2, 3, 5, 8, 13, RUN_BLOCK_ENDS + 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_squares_and_rows_of_every_run_are_those_of_its_rows(n_cells, weighted):
    x, d, w = rows_of(n_cells, weighted=weighted)
    d = 1e3 + d
    moments = cells(x, d, np.arange(n_cells + 1), w if weighted else None)
    sums, squares = np.stack(weights_of([moments])), squares_of(moments)
    assert len(sums) == 1 + weighted
    weight, rows = np.zeros((2, n_cells, n_cells))
    for block in runs_by_end(sums):
        ends = slice(block.first, block.first + block.sums.shape[1])
        weight[: ends.stop, ends] = block.sums[0].T
        rows[: ends.stop, ends] = block.rows(weighted=weighted).T

    for first, last in runs(n_cells):
        mine = inside(x, first, last, n_cells)
        w_mine, values = w[mine], d[mine]
        total = w_mine.sum()
        np.testing.assert_allclose(weight[first, last], total, rtol=1e-12)
        if total > 0:
            n = total**2 / (w_mine**2).sum()
            about = w_mine @ (values - w_mine @ values / total) ** 2
            np.testing.assert_allclose(rows[first, last], n, rtol=1e-12)
            np.testing.assert_allclose(squares[first, last], about, rtol=1e-7, atol=1e-9)
        else:
            assert rows[first, last] == squares[first, last] == 0.0


@pytest.mark.parametrize("n_cells", [1, 2, 3, 7, 8, 13, 2 * RUN_BLOCK_ENDS + 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("start", [0.0, 1e9])
def test_products_of_every_run_are_those_of_its_rows(n_cells, weighted, start):
    """Sxx, Sxd and Sdd about the means of the run, added up row by row."""
    x, d, w = rows_of(n_cells, weighted=weighted)
    x = np.round(x * 1024) / 1024  # start + x has no rounding
    edges = start + np.arange(n_cells + 1)
    moments = cells(start + x, d, edges, w if weighted else None)
    means = np.stack([moments.mean_x, moments.mean[0]])
    products = np.stack([moments.sxx, moments.sxd[0], moments.sdd[0]])
    _, found = every_run(moments.weight[None], means, products)

    assert found.shape == (3, n_cells, n_cells)
    for first, last in runs(n_cells):
        mine = inside(x, first, last, n_cells)
        if not mine.any():
            assert found[:, first, last].tolist() == [0.0, 0.0, 0.0]
            continue
        dx = x[mine] - np.average(x[mine], weights=w[mine])
        dd = d[mine] - np.average(d[mine], weights=w[mine])
        exact = w[mine] @ dx**2, w[mine] @ (dx * dd), w[mine] @ dd**2
        # a mean near 1e9 has a last digit of 1e-7, times the deviations of the rows
        lost = (w[mine].sum() * max(np.abs(dx).max(), np.abs(dd).max())) * 1e-16 * start * 10
        np.testing.assert_allclose(found[:, first, last], exact, rtol=1e-9, atol=1e-9 + lost)


def test_three_series_have_six_products():
    """Order of pairs: 00, 01, 02, 11, 12, 22, about the mean of the run of all cells."""
    rng = np.random.default_rng(0)
    weight, means = rng.uniform(1, 2, 5), rng.normal(size=(3, 5))
    found = every_run(weight[None], means, np.zeros((6, 5)))[1][:, 0, 4]
    off = means - (means @ weight / weight.sum())[:, None]
    gram = (off * weight) @ off.T
    np.testing.assert_allclose(found, gram[np.triu_indices(3)], rtol=1e-12)


def test_runs_leave_their_arguments_alone():
    weight, means, products = np.ones(3), np.ones((1, 3)), np.full((1, 3), 1e-30)
    for block in runs_by_end(weight[None], means, products):
        block.products[:] = 7.0
    assert np.all(weight == 1)
    assert np.all(means == 1)
    assert np.all(products == 1e-30)


def test_deviations_far_below_the_last_digits_count_as_none():
    x = np.repeat(np.arange(4) + 0.5, 3)
    d = 5.0 * (1 + 1e-14 * np.arange(12))
    assert np.all(squares_of(cells(x, d, np.arange(5)))[0, 1:] == 0.0)


def test_squares_below_the_last_digits_of_the_mean_are_rounding():
    """The limit is the weight times (1e-11 mean)²."""
    assert zero_rounding_squares(np.ones(1), np.ones(1), np.array([0.9e-22])) == 0.0
    assert zero_rounding_squares(np.ones(1), np.ones(1), np.array([1.1e-22])) == 1.1e-22
    assert zero_rounding_squares(np.array([4.0]), np.ones(1), np.array([3.9e-22])) == 0.0
    assert zero_rounding_squares(np.array([4.0]), np.ones(1), np.array([4.1e-22])) == 4.1e-22
    assert zero_rounding_squares(np.ones(1), np.zeros(1), np.array([5e-324])) == 5e-324


@pytest.mark.parametrize(
    ("cost", "limits"),
    [
        ([[1, 3], [INF, 1]], [0, 1, 2]),
        ([[1, 2], [INF, 1]], [0, 2]),
        ([[INF, 2], [INF, 1]], [0, 2]),
        ([[1, INF], [INF, 1]], [0, 1, 2]),
        ([[1, INF], [INF, INF]], None),
        ([[0]], [0, 1]),
    ],
)
def test_the_cheapest_path_prefers_the_wider_last_bin(cost, limits):
    found = cheapest_path([np.array(cost, dtype=float).T])
    assert (None if found is None else found.tolist()) == limits


def test_prices_that_differ_by_rounding_tie():
    thirds = np.array([[1 / 3, 2 / 3 + 2e-16], [INF, 1 / 3]])
    assert thirds[0, 1] > 2 * thirds[0, 0]
    assert cheapest_path([thirds.T]).tolist() == [0, 2]


def test_three_cells_tie_towards_the_wider_last_bin():
    free = np.where(np.triu(np.ones((3, 3))) > 0, 0.0, INF)
    free[0, 2] = 1.0
    assert cheapest_path([free.T]).tolist() == [0, 1, 3]


@pytest.mark.parametrize("n_cells", [11, 12])
def test_the_cheapest_path_is_the_best_of_all_partitions(n_cells):
    """Whole prices, so that ties are exact; blocks of any size say the same."""
    rng = np.random.default_rng(n_cells)
    for _ in range(20):
        price = np.where(np.triu(np.ones((n_cells, n_cells))) > 0, 0.0, INF)
        price += rng.integers(1, 30, price.shape)
        price[rng.uniform(size=price.shape) < 0.3] = INF
        best = INF
        for chosen in range(2 ** (n_cells - 1)):
            inner = [k for k in range(1, n_cells) if chosen >> (k - 1) & 1]
            limits = [0, *inner, n_cells]
            best = min(best, sum(price[a, b - 1] for a, b in pairwise(limits)))
        sizes = [n_cells], [5, n_cells - 5], [1] * n_cells
        found = [cheapest_path(_blocks(price, size)) for size in sizes]
        if best == INF:
            assert found == [None] * 3
            continue
        assert found[0].tolist() == found[1].tolist() == found[2].tolist()
        assert sum(price[a, b - 1] for a, b in pairwise(found[0].tolist())) == best


def plain_path(price):
    """One limit after the other, and back through the widest of the last bins."""
    best, sources = [0.0], []
    for end in range(len(price)):
        ways = [best[start] + price[start, end] for start in range(end + 1)]
        best.append(min(ways))
        sources.append(ways.index(best[-1]))
    limits = [len(price)]
    while limits[-1] > 0:
        limits.append(sources[limits[-1] - 1])
    return None if best[-1] == INF else limits[::-1]


@pytest.mark.parametrize(
    "sizes", [[70], [RUN_BLOCK_ENDS, RUN_BLOCK_ENDS, 6], [RUN_BLOCK_ENDS + 3, RUN_BLOCK_ENDS, 3]]
)
def test_many_cells_of_one_axis_or_several_are_searched_as_one_after_the_other(sizes):
    """Whole prices, so that ties are exact; those of bins that start behind their end are not read."""
    price = np.random.default_rng(0).integers(-1, 9, (4, 70, 70)).astype(float)
    price[:, np.tri(70, k=-1) > 0] = -100.0
    price[:3][np.random.default_rng(1).uniform(size=(3, 70, 70)) < 0.3] = INF
    price[3, 0] = INF  # no bin begins at the start
    expected = [plain_path(one) for one in price]
    assert [path is None for path in expected] == [False, False, False, True]
    blocks = [_blocks(one, sizes) for one in price]
    together = cheapest_paths(np.stack(parts) for parts in zip(*blocks, strict=True))
    for found in (together, [cheapest_path(parts) for parts in blocks]):
        assert [None if path is None else path.tolist() for path in found] == expected


def _blocks(price, sizes):
    ends = np.cumsum(sizes)
    return [price[:end, end - size : end].T for size, end in zip(sizes, ends, strict=True)]
