"""Bins from points: Optimal against effector's dynamic programming, same optimum of Eq. (13).

Both get points and return bin limits. effector uses the divisor n and refuses bins below two
rows; `Optimal` is told to do the same (`ddof=0`, `min_points`).
"""

import numpy as np
import pytest
from effector.axis_partitioning import DynamicProgramming
from measuring import race, seconds

import rhale
from rhale.kernels.grid import Grid, uniform_edges
from rhale.kernels.moments import measure

DISCOUNT = 0.3
FASTER_AT_1000 = 50


def points(n_rows):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, n_rows)
    return x, 5 * np.sin(9 * x) + rng.normal(size=n_rows)


def eq_13(x, local_effects, edges):
    """The paper's objective, from the points themselves."""
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, edges.size - 2)
    groups = [local_effects[place == k] for k in range(edges.size - 1)]
    tau = np.array([1 - DISCOUNT * g.size / x.size for g in groups])
    return float(tau * [g.var() for g in groups] @ np.diff(edges))


@pytest.mark.parametrize("n_cells", [50, 100, 200, 1000])
@pytest.mark.parametrize("n_rows", [1_000, 10_000, 100_000, 1_000_000])
def test_optimal_finds_the_optimum_of_effector(benchmark, ledger, n_rows, n_cells):
    x, local_effects = points(n_rows)
    least = max(2, n_rows // 200)
    optimal = rhale.Optimal(max_bins=n_cells, discount=DISCOUNT, min_points=least, ddof=0)
    peer = DynamicProgramming(n_cells, min_points_per_bin=least, discount=DISCOUNT)

    def ours():
        grid = Grid(uniform_edges(x.min(), x.max(), n_cells))
        return grid.edges[optimal(measure(grid, x, local_effects)).limits]

    rounds = 2 if n_cells == 1000 else 10
    found = race(benchmark, ours, lambda: peer.find_limits(x, local_effects, None), rounds)

    assert eq_13(x, local_effects, found.our_answer) == pytest.approx(
        eq_13(x, local_effects, found.other_answer), rel=1e-9
    )
    wanted = FASTER_AT_1000 if n_cells == 1000 else 1
    ledger.add(
        "bins from points, against effector's DP",
        f"{n_cells} cells, {n_rows:,} rows",
        seconds(found.ours),
        seconds(found.other),
        f"{found.speedup:.3g} times as fast",
        f">= {wanted}",
        met=found.speedup >= wanted,
    )


@pytest.mark.parametrize("n_rows", [1_000, 1_000_000])
@pytest.mark.parametrize("bins", [rhale.Optimal(max_bins=200), rhale.Adaptive()])
def test_the_search_alone_does_not_depend_on_the_rows(benchmark, ledger, bins, n_rows):
    x, local_effects = points(n_rows)
    cells = measure(Grid(uniform_edges(x.min(), x.max(), 200)), x, local_effects)

    cuts = benchmark.pedantic(lambda: bins(cells), rounds=20)

    assert cuts.limits[0] == 0
    assert cuts.limits[-1] == 200
    spent = benchmark.stats.stats.min
    ledger.add(
        f"search for bins alone, {type(bins).__name__}",
        f"200 cells, {n_rows:,} rows",
        seconds(spent),
        "",
        "",
        "< 50 ms",
        met=spent < 0.05,
    )
