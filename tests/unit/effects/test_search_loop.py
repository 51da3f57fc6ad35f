"""The compiled loop finds the bins of NumPy, whatever the cells."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rhale.effects.binning.adaptive import Adaptive, MeanSearch, spread_paths
from rhale.effects.binning.axis import BatchedCells
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.effects.binning.noise import NonEmptyCells, local_noise
from rhale.effects.binning.segments import (
    CONSTANTS,
    LEAST_SHARE,
    LINES,
    RUN_FIELDS,
    SPREADS,
    trace_all,
)
from rhale.stats import jit

pytest.importorskip("numba")
EFFECTS = {
    "nothing": lambda x, _: np.zeros(x.size),
    "constant": lambda x, _: np.full(x.size, 0.1),
    "line": lambda x, _: 3 * x - 1,
    "steps": lambda x, _: np.floor(4 * x),
    "sine": lambda x, _: np.sin(9 * x),
    "noise": lambda x, rng: rng.normal(0, 1, x.size),
    "noise far out": lambda x, rng: 1e9 + rng.normal(0, 1, x.size),
    "a step in noise": lambda x, rng: (x > 0.3) + rng.normal(0, 0.3, x.size),
}


def axis(rng, n_cells, effect, *, weighted=False, gaps=False):
    """Moments of some rows; cells without any, and gaps, if asked."""
    x, edges = rng.uniform(0, 1, 12 * n_cells), np.linspace(0, 1, n_cells + 1)
    if gaps:
        x = x[(x < 0.45) | (x > 0.6)]
        edges = np.concatenate([edges[edges <= 0.45], edges[edges >= 0.6]])
    weight = rng.choice([0.25, 0.5, 1.0, 3.0], x.size) if weighted else None
    return measure_moments(Grid(edges), x, EFFECTS[effect](x, rng), weight)


def search(axes, asked, least=5.0):
    row = BatchedCells.of(axes)
    noise = local_noise(NonEmptyCells.of(row))
    rows = np.array([moments.total_rows for moments in axes])
    return MeanSearch(asked, row, noise, rows, np.full(len(axes), least))


def both_ways(find):
    """Limits by NumPy, and by the loop."""
    found = []
    for pays_from in (np.inf, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jit, "PAYS_FROM", pays_from)
            found.append(find())
    return found


def assert_same(one, two):
    assert [None if a is None else a.tolist() for a in one] == [
        None if b is None else b.tolist() for b in two
    ]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 140), min_size=1, max_size=4),
    st.sampled_from(sorted(EFFECTS)),
    st.sets(st.sampled_from(["weighted", "gaps", "linear"])),
    st.integers(0, 2**32),
)
@example([1], "nothing", set(), 0)
@example([32, 33, 64, 65], "line", {"weighted", "gaps", "linear"}, 0)
def test_any_cells_have_the_bins_of_numpy(sizes, effect, kinds, seed):
    rng, kind = np.random.default_rng(seed), {one: one in kinds for one in ("weighted", "gaps")}
    axes = [axis(rng, size, effect, **kind) for size in sizes]
    assert_same(*both_ways(search(axes, Adaptive(linear="linear" in kinds)).cheapest_paths))


@pytest.mark.parametrize("effect", EFFECTS)
def test_many_cells_have_the_bins_of_numpy(effect):
    rng = np.random.default_rng(5)
    assert_same(*both_ways(search([axis(rng, 300, effect)], Adaptive()).cheapest_paths))


def test_where_no_bin_can_have_the_rows_there_is_none():
    rng = np.random.default_rng(0)
    axes = [axis(rng, size, "sine") for size in (10, 40)]
    by_numpy, by_loop = both_ways(search(axes, Adaptive(), least=200.0).cheapest_paths)
    assert [path is None for path in by_loop] == [True, False]
    assert_same(by_numpy, by_loop)


def test_a_step_is_found():
    x = np.linspace(0, 1, 1_000)
    moments = measure_moments(Grid(np.linspace(0, 1, 51)), x, np.where(x < 0.7, 0.0, 1.0))
    for (path,) in both_ways(search([moments], Adaptive()).cheapest_paths):
        assert path.tolist() == [0, 35, 50]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 140), min_size=1, max_size=4),
    st.sampled_from(["even", "a jump", "none", "heavy tails"]),
    st.sampled_from(["weighted", "alike"]),
    st.integers(0, 2**32),
)
@example([33, 64, 65], "a jump", "alike", 0)
def test_any_squares_have_the_stretches_of_numpy(sizes, kind, rows, seed):
    rng = np.random.default_rng(seed)
    axes = [axis(rng, size, "noise", weighted=rows == "weighted") for size in sizes]
    squares = {
        "even": lambda n: rng.chisquare(10, n),
        "a jump": lambda n: rng.chisquare(10, n) * np.where(np.arange(n) < n / 3, 1.0, 20.0),
        "none": lambda n: np.where(np.arange(n) < n / 2, 0.0, 1.0),
        "heavy tails": lambda n: rng.lognormal(0, 2, n),
    }
    each = [squares[kind](size) for size in sizes]
    asked = axes, each, [5.0] * len(sizes), [None] * len(sizes)
    by_numpy, by_loop = both_ways(lambda: spread_paths(*asked))
    assert_same(by_numpy, by_loop)


def test_a_jump_of_the_spread_is_found():
    rng = np.random.default_rng(0)
    squares = np.where(np.arange(60) < 21, 1.0, 9.0)
    asked = [axis(rng, 60, "noise")], [squares], [5.0], [None]
    for (path,) in both_ways(lambda: spread_paths(*asked)):
        assert path.tolist() == [0, 21, 60]


def by_loop(cells, kind, prices=(0.0, 2.0, 1.0), gaps=None):
    """Limits and price of the best bins of one axis, from cells as the loop takes them."""
    held = np.array([[cell.get(name, 0.0) for cell in cells] for name in RUN_FIELDS])
    held[1] = held[0]
    gaps = np.zeros(len(cells), np.bool_) if gaps is None else np.array(gaps)
    asked = np.array(prices)[:, None]
    is_weighted = False
    how = held, np.array([len(cells)]), gaps, asked, kind, is_weighted
    sources, costs = jit.load_loops().search(*how)
    (path,) = trace_all([sources], costs)
    return None if path is None else path.tolist(), float(costs[0])


def test_a_price_is_that_of_the_algebra():
    cell = {"weight": 4.0, "noise": 8.0, "sxx": 5.0, "sxd": 2.0, "sdd": 3.0}
    # rows (squares / (rows - 1) + penalty noise / rows²); of a line rows - 2, and twice as much
    assert by_loop([cell], CONSTANTS, (0.5, 2.0, 1.0))[1] == pytest.approx(4 * (3 / 3 + 0.25))
    assert by_loop([cell], LINES, (0.01, 2.0, 1.0))[1] == pytest.approx(4 * (3 / 3 + 0.005))
    steep = cell | {"sxd": 3.5}
    line = 4 * ((3 - 3.5**2 / 5) / 2 + 2 * 0.005)
    assert by_loop([steep], LINES, (0.01, 2.0, 1.0))[1] == pytest.approx(line)
    assert by_loop([steep], CONSTANTS, (0.01, 4.1, 1.0))[1] == np.inf


def test_a_price_of_a_spread_is_that_of_the_algebra():
    cell = {"weight": 4.0, "noise": 5.0, "sdd": 15.0}  # mean square 3
    found = by_loop([cell], SPREADS, (7.0, 2.0, 0.5))[1]
    assert found == pytest.approx(5 * np.log(3 / 0.5) + 7)
    still = by_loop([cell | {"sdd": 0.0}], SPREADS, (7.0, 2.0, 0.5))[1]
    assert still == pytest.approx(5 * np.log(LEAST_SHARE) + 7)
    assert by_loop([cell], SPREADS, (7.0, 4.1, 0.5))[1] == np.inf


def test_two_rows_have_no_line():
    cell = {"weight": 2.0, "sxx": 2.0, "sxd": 2.0, "sdd": 2.0}
    assert by_loop([cell], LINES)[1] == pytest.approx(2 * 2 / 1)


def test_what_is_below_the_last_digits_of_the_mean_is_nothing():
    cell = {"weight": 4.0, "mean": 1e6, "sdd": 1e-11}
    assert by_loop([cell], CONSTANTS)[1] == 0
    assert by_loop([cell | {"sdd": 1e-9}], CONSTANTS)[1] > 0


@pytest.mark.parametrize(("off", "limits"), [(2e-13, [0, 2]), (1e-9, [0, 1, 2])])
def test_bins_that_cost_the_same_but_for_rounding_are_one(off, limits):
    # apart 2 (1 + 1) * 1, together (1 + 1 + off from the mean) * 4 / 3: 4 if that is 1
    cells = [{"weight": 2.0, "sdd": 1.0}, {"weight": 2.0, "sdd": 1.0, "mean": 1.0 + off}]
    assert by_loop(cells, CONSTANTS)[0] == limits


@pytest.mark.parametrize(("off", "limits"), [(1e-6, [0, 2]), (1e-5, [0, 1, 2])])
def test_what_a_subtraction_leaves_of_rounding_makes_no_bin(off, limits):
    line = {"weight": 3.0, "sxx": 2.0, "sxd": 2.0, "sdd": 2.0}
    behind = line | {"mean_x": 3.0, "mean": 3.0 + off}
    assert by_loop([line, behind], LINES)[0] == limits


def test_no_bin_starts_or_ends_with_a_gap():
    cell = {"weight": 4.0, "sdd": 1.0}
    cells, gaps = [cell, {}, cell | {"mean": 99.0}], [False, True, False]
    for kind in (CONSTANTS, LINES):
        assert by_loop(cells, kind, gaps=gaps)[0] == [0, 1, 2, 3]
        assert by_loop(cells, kind)[0] == [0, 1, 3]  # the widest last bin
        assert by_loop([cell, {}, cell], kind, gaps=gaps)[0] == [0, 3]  # one fit for both sides


@pytest.mark.parametrize("weight", ["rows", "width", "geometric"])
def test_the_loop_is_asked_where_misfits_count_by_rows(monkeypatch, weight):
    loops, calls = jit.load_loops(), []

    def asked(*arguments):
        calls.append(arguments)
        return loops.search(*arguments)

    monkeypatch.setattr(jit, "PAYS_FROM", 0)
    monkeypatch.setattr(jit, "load_loops", lambda: loops._replace(search=asked))
    search([axis(np.random.default_rng(0), 40, "sine")], Adaptive(weight=weight)).cheapest_paths()
    assert len(calls) == (weight == "rows")
