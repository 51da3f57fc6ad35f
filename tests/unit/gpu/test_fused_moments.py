"""Kernels of Triton give what torch's own operations give: all of it needs a CUDA device."""

import numpy as np
import pytest
import torch

from rhale.gpu import device_moments as ops
from rhale.kernels.grid import Grid

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


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
        size = plain.abs().amax(dim=2, keepdim=True)
        assert ((fused - plain).abs() / size).max() < 1e-12
