"""The compiled loop gives the bits of NumPy, whatever the rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rhale.effects.binning import moments
from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import SUMS, measure_moments
from rhale.errors import BadEffectsError
from rhale.stats import jit

pytest.importorskip("numba")
N_CELLS = 16


def both_ways(grid, x, values):
    """Moments by NumPy, and by the loop."""
    found = []
    for pays_from in (np.inf, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jit, "PAYS_FROM", pays_from)
            found.append(measure_moments(grid, x, values))
    return found


def assert_same_bits(one, two):
    for name in SUMS:
        a, b = getattr(one, name), getattr(two, name)
        assert a.dtype == b.dtype, name
        assert a.shape == b.shape, name
        assert a.tobytes() == b.tobytes(), name


@pytest.fixture(autouse=True)
def _the_loop_is_asked(monkeypatch):
    """A grid as fine as this has its table of buckets for any number of rows."""
    monkeypatch.setattr("rhale.effects.binning.cells.BUCKETS_PER_SEARCH", np.inf)


@pytest.mark.parametrize("closed", ["left", "right"])
@pytest.mark.parametrize(
    "n_rows", [1, 2, 8, 9, 10, 129, 130, 137, 1_000, 2 * moments.MOMENT_BLOCK_ROWS + 5]
)
def test_the_loop_adds_in_the_order_of_numpy(closed, n_rows):
    rng = np.random.default_rng(n_rows)
    x = np.round(rng.normal(0, 1, n_rows), 2)  # some on limits, some outside
    values = np.stack([rng.normal(3, 1, n_rows), np.full(n_rows, 0.1), 1e9 + x])
    for n_cells in (1, 3, N_CELLS):
        assert_same_bits(*both_ways(Grid(np.linspace(-1, 1, n_cells + 1), closed), x, values))


@settings(deadline=None)
@given(
    st.lists(st.floats(-2, 2, width=16) | st.just(np.nan), min_size=1, max_size=300),
    st.integers(0, 2**32),
    st.sampled_from(["left", "right"]),
)
def test_any_rows_have_the_bits_of_numpy(x, seed, closed):
    x, rng = np.array(x), np.random.default_rng(seed)
    edges = np.unique(np.concatenate([[-1.5, 1.5], rng.choice(np.arange(-12, 13) / 8, N_CELLS)]))
    assert_same_bits(*both_ways(Grid(edges, closed), x, rng.normal(0, 1, (2, x.size))))


@pytest.mark.parametrize("n_series", [1, 3])
def test_rows_far_out_have_the_bits_of_numpy(n_series):
    rng = np.random.default_rng(0)
    x, values = rng.standard_cauchy(40_000), rng.standard_cauchy((n_series, 40_000))
    values[0] += 1e6
    assert_same_bits(*both_ways(Grid(np.linspace(-1e3, 1e3, N_CELLS + 1)), x, values))


def test_places_without_a_series_have_the_bits_of_numpy():
    x = np.random.default_rng(0).normal(0, 1, 1_000)
    assert_same_bits(*both_ways(Grid(np.linspace(-2, 2, 5)), x, np.empty((0, x.size))))


@pytest.mark.parametrize("row", [0, 99])  # on the grid, and outside
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1e200])
def test_numbers_that_have_no_squares_are_refused(wrong, row):
    x, values = np.linspace(0, 2, 100), np.ones((2, 100))
    values[1, row] = wrong
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "PAYS_FROM", 0)
        with pytest.raises(BadEffectsError):
            measure_moments(Grid(np.linspace(0, 1, 5)), x, values)


def test_numbers_that_are_all_too_small_are_refused_and_zeros_are_not():
    x, grid = np.linspace(0, 1, 100), Grid(np.linspace(0, 1, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "PAYS_FROM", 0)
        with pytest.raises(BadEffectsError):
            measure_moments(grid, x, np.full(100, 1e-170))
        assert measure_moments(grid, x, np.zeros(100)).mean.tolist() == [[0.0] * 4]
        assert measure_moments(grid, x, np.tile([0.0, 1e-140], 50)).sdd.max() > 0


def test_arrays_of_any_order_in_memory_serve():
    rng = np.random.default_rng(0)
    table, effects = rng.uniform(0, 1, (500, 3)), rng.normal(0, 1, (500, 2))
    for array in (table, effects):
        array.flags.writeable = False
    grid = Grid(np.linspace(0, 1, 5))
    assert_same_bits(*both_ways(grid, table[:, 1], effects.T))
    assert_same_bits(*both_ways(grid, table[::-2, 1], effects.T[:, ::2]))


def test_the_loop_was_asked_at_all(monkeypatch):
    loops = jit.load_loops()
    monkeypatch.setattr(jit, "PAYS_FROM", 0)
    monkeypatch.setattr(jit, "load_loops", lambda: None)
    x, grid = np.linspace(0, 1, 100), Grid(np.linspace(0, 1, 5))
    expected = measure_moments(grid, x, x)
    calls = []

    def asked(*arguments):
        calls.append(arguments)
        return loops.measure_block(*arguments)

    monkeypatch.setattr(jit, "load_loops", lambda: loops._replace(measure_block=asked))
    assert_same_bits(measure_moments(grid, x, x), expected)
    assert len(calls) == 1
    measure_moments(grid, x, x, np.ones(100))  # weights are NumPy's
    assert len(calls) == 1
