"""The compiled loop finds the bins of NumPy, whatever the cells."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rhale.kernels import when_compiled
from rhale.kernels.adaptive import Adaptive, MeanSearch, spread_paths
from rhale.kernels.axis_row import AxisRow
from rhale.kernels.grid import Grid
from rhale.kernels.moments import measure
from rhale.kernels.noise import local_noise
from rhale.kernels.pure_error import FilledCells

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
    x = rng.uniform(0, 1, 12 * n_cells)
    x = x[(x < 0.45) | (x > 0.6)] if gaps else x
    weight = rng.choice([0.25, 0.5, 1.0, 3.0], x.size) if weighted else None
    return measure(Grid(np.linspace(0, 1, n_cells + 1)), x, EFFECTS[effect](x, rng), weight)


def search(axes, asked, least=5.0):
    row = AxisRow.of(axes)
    noise = local_noise(FilledCells.of(row))
    rows = np.array([moments.total_rows for moments in axes])
    return MeanSearch(asked, row, noise, rows, np.full(len(axes), least))


def both_ways(find):
    """Limits by NumPy, and by the loop."""
    found = []
    for pays_from in (np.inf, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(when_compiled, "PAYS_FROM", pays_from)
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
    moments = measure(Grid(np.linspace(0, 1, 51)), x, np.where(x < 0.7, 0.0, 1.0))
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


@pytest.mark.parametrize("weight", ["rows", "width", "geometric"])
def test_the_loop_is_asked_where_misfits_count_by_rows(monkeypatch, weight):
    loops, calls = when_compiled.load_loops(), []

    def asked(*arguments):
        calls.append(arguments)
        return loops.search(*arguments)

    monkeypatch.setattr(when_compiled, "PAYS_FROM", 0)
    monkeypatch.setattr(when_compiled, "load_loops", lambda: loops._replace(search=asked))
    search([axis(np.random.default_rng(0), 40, "sine")], Adaptive(weight=weight)).cheapest_paths()
    assert len(calls) == (weight == "rows")
