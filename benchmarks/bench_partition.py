"""Bins from points: Optimal against effector's dynamic programming, same optimum of Eq. (13).

Both get points and return bin limits. effector uses the divisor n and refuses bins below two
rows; `Optimal` is told to do the same (`ddof=0`, `min_points`).
"""

import numpy as np
import pytest
from effector.axis_partitioning import DynamicProgramming
from measuring import race, race_of_processor, seconds

import rhale
from rhale.effects.binning.adaptive import MeanSearch
from rhale.effects.binning.axis import BatchedCells, FeatureAxis
from rhale.effects.binning.cells import Grid, uniform_edges
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.noise import NonEmptyCells, local_noise
from rhale.stats import jit

DISCOUNT = 0.3
FASTER_AT_1000 = 50
N_AXES = 32


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
        return grid.edges[optimal(measure_moments(grid, x, local_effects)).limits]

    rounds = 2 if n_cells == 1000 else 10 if n_rows > 10_000 else 100
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
    cells = measure_moments(Grid(uniform_edges(x.min(), x.max(), 200)), x, local_effects)

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


def axes(n_rows):
    """Cells of many features."""
    rng, bins = np.random.default_rng(0), rhale.Adaptive()
    for _ in range(N_AXES):
        x = rng.normal(size=n_rows)
        axis = FeatureAxis(x.min(), x.max(), np.sort(x), np.ones(n_rows), float(n_rows))
        yield measure_moments(Grid(bins.candidates(axis)), x, np.cos(x) + rng.normal(size=n_rows))


@pytest.mark.parametrize("n_rows", [300, 100_000])
def test_many_axes_are_searched_together(ledger, monkeypatch, n_rows):
    bins, batch = rhale.Adaptive(), list(axes(n_rows))
    monkeypatch.setattr(jit, "PAYS_FROM", np.inf)

    found = race_of_processor(
        lambda: bins.choose(batch), lambda: [bins(cells) for cells in batch], rounds=5
    )

    for one, other in zip(found.our_answer, found.other_answer, strict=True):
        np.testing.assert_array_equal(one.limits, other.limits)
        np.testing.assert_array_equal(one.trust, other.trust)
    cells = [one.grid.n_cells for one in batch]
    ledger.add(
        "bins of many features, searched together, against one after the other",
        f"{N_AXES} features of {min(cells)} to {max(cells)} cells, {n_rows:,} rows",
        seconds(found.ours / N_AXES),
        seconds(found.other / N_AXES),
        f"{found.speedup:.2f} times as fast",
        ">= 1.2",
        met=found.speedup >= 1.2,
    )


@pytest.mark.parametrize("n_rows", [300, 100_000])
def test_a_compiled_loop_searches_sooner(ledger, monkeypatch, n_rows):
    pytest.importorskip("numba")
    jit.load_loops()
    row = BatchedCells.of(list(axes(n_rows)))
    noise, rows = local_noise(NonEmptyCells.of(row)), np.full(N_AXES, float(n_rows))
    asked = MeanSearch(rhale.Adaptive(), row, noise, rows, np.full(N_AXES, 5.0))

    def search(pays_from):
        monkeypatch.setattr(jit, "PAYS_FROM", pays_from)
        return asked.cheapest_paths()

    found = race_of_processor(lambda: search(0), lambda: search(np.inf), rounds=5)

    for one, other in zip(found.our_answer, found.other_answer, strict=True):
        np.testing.assert_array_equal(one, other)
    n_runs = (row.sizes * (row.sizes + 1)).sum() / 2
    ledger.add(
        "one look for bins by the compiled loop, against NumPy",
        f"{N_AXES} features of {row.sizes.min()} to {row.sizes.max()} cells",
        f"{seconds(found.ours / N_AXES)}, {1e9 * found.ours / n_runs:.1f} ns a run of cells",
        f"{seconds(found.other / N_AXES)}, {1e9 * found.other / n_runs:.0f} ns a run of cells",
        f"{found.speedup:.1f} times as fast",
    )
