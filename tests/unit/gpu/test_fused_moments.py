"""Kernels of Triton give what torch's own operations give: all of it needs a CUDA device."""

import numpy as np
import pytest
import torch

from rhale.gpu import device_moments as ops
from rhale.kernels.grid import Grid

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.fixture
def fused():
    return pytest.importorskip("rhale.gpu.fused_moments")


def plainly(monkeypatch, function, *given):
    """What torch's own operations give."""
    with monkeypatch.context() as patch:
        patch.setattr(ops, "is_fused", lambda _: False)
        return function(*given)


def assert_close(found, expected):
    ends = slice(5, ops.N_OWN)  # infinite where a cell is empty
    assert torch.equal(found[:, ends], expected[:, ends])
    found, expected = (torch.nan_to_num(one, 0.0, 0.0, 0.0) for one in (found, expected))
    size = expected.abs().amax(dim=2, keepdim=True)
    assert ((found - expected).abs() <= 1e-12 * size).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_ways_of_adding_up_on_a_gpu_agree(monkeypatch, dtype):
    pytest.importorskip("rhale.gpu.fused_moments")
    rows = torch.randn(300_000, 3, dtype=dtype, device="cuda:0")
    slopes = torch.randn(300_000, 2, 3, dtype=dtype, device="cuda:0") + 1e3
    weights = torch.rand(300_000, dtype=torch.float64, device="cuda:0")
    cells = ops.prepare([Grid(np.linspace(-2, 3, 100))] * 3, [2, 0, 1], rows.device)
    for own in (None, weights):
        assert ops.is_fused(rows)
        fused = ops.measure_all(cells, rows, slopes, own)
        with monkeypatch.context() as patch:
            patch.setattr(ops, "is_fused", lambda _: False)
            plain = ops.measure_all(cells, rows, slopes, own)
        assert_close(fused, plain)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.int32, torch.uint8])
@pytest.mark.parametrize("n_rows", [1, 1024, 1025])
def test_keys_are_the_bits_of_the_other_way(monkeypatch, fused, dtype, n_rows):
    rows = (torch.randn(3, n_rows, device="cuda:0") * 9).abs().to(dtype).T  # column by column
    expected = plainly(monkeypatch, ops.row_keys, rows, 5)
    assert torch.equal(fused.fused_keys(rows, ops._start(5)), expected)


def test_facts_are_limits_gaps_and_whether_all_is_whole(fused):
    rows = torch.arange(3000.0, device="cuda:0")[:, None].repeat(1, 2)
    rows[7:9, 1], rows[2999, 1] = torch.nan, -0.5
    _, facts = fused.fused_facts(rows, 0)
    assert facts.tolist() == [[0.0, -0.5], [2999.0, 2998.0], [0.0, 2.0], [1.0, 0.0]]


@pytest.mark.parametrize("n_cells", [1, 1023, 1500])
@pytest.mark.parametrize("closed", ["left", "right"])
def test_any_number_of_cells_is_counted(fused, n_cells, closed):
    """One row on every limit, one in the middle of every cell, and some outside."""
    edges = np.arange(n_cells + 1.0)
    x = np.concatenate([edges, edges[:-1] + 0.5, [-1.0, n_cells + 1.0, np.nan]])
    cells = ops.prepare([Grid(edges, closed)], [0], torch.device("cuda", 0))
    rows = torch.from_numpy(x[:, None]).cuda()
    found = fused.fused_moments(cells, rows, rows[:, None], None)[0, 0].tolist()
    expected = np.full(n_cells, 2.0)  # its own limit and its middle
    expected[-1 if closed == "left" else 0] += 1
    assert found == expected.tolist()


@pytest.mark.parametrize("closed", ["left", "right"])
def test_grids_of_different_sizes_agree_with_the_other_way(monkeypatch, fused, closed):
    rows = torch.randn(5000, 2, dtype=torch.float64, device="cuda:0")
    slopes = torch.randn(5000, 2, 2, dtype=torch.float64, device="cuda:0") + 1e6
    grids = [Grid(np.linspace(-1, 1, 4), closed), Grid(np.linspace(-2, 2, 31), closed)]
    cells = ops.prepare(grids, [1, 0], rows.device)
    found = fused.fused_moments(cells, rows, slopes, None)
    assert_close(found, plainly(monkeypatch, ops.measure_all, cells, rows, slopes))
