"""Moments and row keys of ten long columns: time in plain passes over them, memory, chunkings."""

import tracemalloc
from functools import reduce
from operator import add

import numpy as np
import pytest
from measuring import race_of_processor

import rhale
from rhale.effects.binning.cells import Grid, uniform_edges
from rhale.effects.binning.moments import measure_moments
from rhale.stats import jit
from rhale.stats.sampling import column_keys

N_FEATURES, N_ROWS, CHUNK = 10, 10_000_000, 2**16
PASSES = {"NumPy alone": 30, "compiled loop": 15}


@pytest.fixture(scope="module")
def columns():
    return np.random.default_rng(0).standard_normal((N_FEATURES, N_ROWS))


def grid_for(x, n_cells):
    return Grid(uniform_edges(x.min(), x.max(), n_cells))


def in_chunks(grid, x, values, size):
    starts = range(0, x.size, size)
    return reduce(
        add, (measure_moments(grid, x[s : s + size], values[s : s + size]) for s in starts)
    )


@pytest.mark.parametrize("way", PASSES)
@pytest.mark.parametrize("n_cells", [100, 200])
def test_moments_cost_a_few_plain_passes(ledger, columns, n_cells, way, monkeypatch):
    if way == "compiled loop":
        pytest.importorskip("numba")
    monkeypatch.setattr(jit, "PAYS_FROM", 0 if way == "compiled loop" else np.inf)
    jit.load_loops()
    grids = [grid_for(x, n_cells) for x in columns]
    others = columns[::-1]  # local effects of another column: nothing more to hold in memory

    def ours():
        jobs = zip(grids, columns, others, strict=True)
        return [in_chunks(grid, x, d, CHUNK) for grid, x, d in jobs]

    found = race_of_processor(ours, columns.sum, rounds=3)

    for moments, x, d in zip(found.our_answer, columns, others, strict=True):
        assert moments.count.sum() == N_ROWS
        assert moments.count @ moments.mean_x / N_ROWS == pytest.approx(x.mean(), abs=1e-12)
        assert moments.count @ moments.mean[0] / N_ROWS == pytest.approx(d.mean(), abs=1e-12)
        whole = moments.unite(np.array([0, n_cells]))
        assert whole.sxx[0] / N_ROWS == pytest.approx(x.var(), rel=1e-9)
        assert whole.sdd[0, 0] / N_ROWS == pytest.approx(d.var(), rel=1e-9)
    per_element = 1e9 / (N_FEATURES * N_ROWS)
    ledger.add(
        f"joint moments, {way}, against `X.sum()`",
        f"10 features, {N_ROWS:,} rows, {n_cells} cells",
        f"{found.ours * per_element:.1f} ns an element",
        f"{found.other * per_element:.2f} ns an element",
        f"{found.cost:.0f} passes",
        f"<= {PASSES[way]}",
        met=found.cost <= PASSES[way],
    )


@pytest.mark.parametrize("way", PASSES)
def test_keys_cost_a_few_plain_passes(ledger, columns, way, monkeypatch):
    if way == "compiled loop":
        pytest.importorskip("numba")
    monkeypatch.setattr(jit, "PAYS_FROM", 0 if way == "compiled loop" else np.inf)
    jit.load_loops()

    def ours():
        chunks = [columns[:, start : start + CHUNK] for start in range(0, N_ROWS, CHUNK)]
        return np.concatenate([column_keys(chunk, chunk.shape[1]) for chunk in chunks])

    found = race_of_processor(ours, columns.sum, rounds=3)

    few = np.arange(0, N_ROWS, N_ROWS // 10)  # the key of a row follows from the row alone
    alone = [column_keys(columns[:, i : i + 1], 1)[0] for i in few]
    np.testing.assert_array_equal(found.our_answer[few], alone)
    per_element = 1e9 / (N_FEATURES * N_ROWS)
    ledger.add(
        f"keys of rows, {way}, against `X.sum()`",
        f"10 features, {N_ROWS:,} rows",
        f"{found.ours * per_element:.1f} ns an element",
        f"{found.other * per_element:.2f} ns an element",
        f"{found.cost:.1f} passes",
    )


@pytest.mark.parametrize("size", [1_000, CHUNK, 1_234_567])
def test_any_chunking_gives_the_same_moments(columns, size):
    x, d = columns[0, :2_000_000], columns[1, :2_000_000]
    grid = grid_for(x, 200)
    whole, pieces = measure_moments(grid, x, d), in_chunks(grid, x, d, size)
    np.testing.assert_array_equal(pieces.count, whole.count)
    for name in ("mean_x", "sxx", "mean", "sdd"):
        np.testing.assert_allclose(
            getattr(pieces, name), getattr(whole, name), rtol=1e-9, atol=1e-12
        )
    np.testing.assert_allclose(pieces.sxd, whole.sxd, atol=1e-9 * whole.sxx.max())


def test_memory_follows_the_chunk_and_not_the_rows(ledger, columns):
    grid, d = grid_for(columns[0], 200), columns[1]

    def peak(n_rows):
        tracemalloc.start()
        in_chunks(grid, columns[0, :n_rows], d[:n_rows], CHUNK)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(CHUNK)  # tables that the grid keeps
    few, many = peak(CHUNK), peak(N_ROWS)

    assert many < 1.5 * few
    assert many < 12 * 8 * CHUNK
    ledger.add(
        "memory of the moments, against one chunk of a column",
        f"{N_ROWS:,} rows in chunks of {CHUNK:,}",
        f"{many / 2**20:.1f} MiB",
        f"{8 * CHUNK / 2**20:.1f} MiB",
        f"{many / (8 * CHUNK):.1f}",
        "O(chunk)",
        met=many < 1.5 * few,
    )


def test_memory_of_a_whole_explanation_does_not_grow_with_the_rows(ledger):
    peaks = []
    for n_rows in (2**18, 2**20):
        x = np.random.default_rng(0).standard_normal((n_rows, 8))
        tracemalloc.start()
        fx = rhale.explain(lambda rows: rows.sum(axis=1), x, gradient=np.ones_like)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        np.testing.assert_allclose(fx[0].mean, 1.0)
        peaks.append(most)
    ledger.add(
        "memory of a whole explanation, against the table",
        "8 features, 262,144 and 1,048,576 rows",
        " and ".join(f"{p / 2**20:.0f} MiB" for p in peaks),
        "16 and 64 MiB",
        f"{peaks[1] / peaks[0]:.2f} for 4 x the rows",
        "O(chunk)",
        met=peaks[1] < 1.5 * peaks[0],
    )


def test_memory_of_secants_does_not_grow_with_the_features(ledger):
    x, peaks = np.random.default_rng(0).standard_normal((2**16, 40)), []
    for n_features in (10, 40):
        tracemalloc.start()
        fx = rhale.explain(lambda rows: np.floor(rows[:, :5]), x, features=range(n_features))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert fx["x9", "y0"].importance == 0.0  # the model does not use it
        peaks.append(most)
    ledger.add(
        "memory of secants, against the answers about one feature",
        "65,536 rows, 5 outputs, 10 and 40 features",
        " and ".join(f"{p / 2**20:.0f} MiB" for p in peaks),
        f"{4 * 5 * 8 * 2**16 / 2**20:.0f} MiB",
        f"{peaks[1] / peaks[0]:.2f} for 4 x the features",
        "O(chunk)",
        met=peaks[1] < 2 * peaks[0],
    )
