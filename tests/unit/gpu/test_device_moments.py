"""Everything here runs on the CPU, and where there is one also on a CUDA device."""

import numpy as np
import pytest
import torch

from rhale.gpu import device_moments as ops
from rhale.kernels.grid import Grid
from rhale.kernels.moments import measure
from rhale.kernels.sample import row_keys

HERE = torch.device("cpu")
DEVICES = [HERE] + ([torch.device("cuda", 0)] if torch.cuda.is_available() else [])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("n_rows", [100, 70_000])
def test_keys_are_those_of_the_host(dtype, device, n_rows):
    x = (9 * np.random.default_rng(0).random((n_rows, 3)) - (dtype[0] != "u")).astype(dtype)
    if dtype.startswith("float"):
        x[3, 1], x[4, 0], x[5, 0] = np.nan, -0.0, 0.0
    for seed in (0, 5):
        found = ops.row_keys(torch.from_numpy(x).to(device), seed)
        np.testing.assert_array_equal(ops.as_keys(found), row_keys(x, seed))


def test_keys_up_to_one_are_counted_without_a_sign():
    key = torch.tensor([5, -1, 3, -(2**63)])  # the second and the last are the largest
    assert ops.up_to(key, np.uint64(4)).tolist() == [2]
    assert ops.up_to(key, np.uint64(2**63)).tolist() == [0, 2, 3]
    assert ops.up_to(key, np.iinfo(np.uint64).max).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("device", DEVICES)
def test_cells_with_one_value_have_no_width(device):
    x = np.random.default_rng(0).choice([0.1, 0.3, 0.7], size=(100_000, 1))
    grid = Grid(np.array([0.1, 0.2, 0.5, 0.7]))
    rows = torch.from_numpy(x).to(device)
    cells = ops.prepare([grid], [0], device)
    packed = ops.measure_all(cells, rows, torch.sin(100 * rows)[:, None])
    (cells,) = ops.unpack([grid], *ops.on_host(packed))
    assert np.all(cells.sxx == 0)
    np.testing.assert_array_equal(cells.mean_x, [0.1, 0.3, 0.7])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16", "uint8", "bool"])
def test_any_type_and_layout_of_rows_is_measured_alike(device, dtype):
    x = (20 * np.random.default_rng(0).random((70_000, 3))).astype(dtype)
    d = np.random.default_rng(1).standard_cauchy((70_000, 2, 3))  # heavy tails
    grids = [Grid(np.array([0.0, 0.5, 1.0, 7.3, 20.0])), Grid(np.array([0.0, 3.0, 8.0]))]
    for rows in (torch.from_numpy(x), torch.from_numpy(np.asfortranarray(x))):
        cells = ops.prepare(grids, [2, 0], device)
        packed = ops.measure_all(cells, rows.to(device), torch.from_numpy(d).to(device))
        found = ops.unpack(grids, *ops.on_host(packed))
        for cells, grid, column in zip(found, grids, [2, 0], strict=True):
            expected = measure(grid, x[:, column].astype(float), d[:, :, column].T.copy())
            np.testing.assert_array_equal(cells.count, expected.count)
            for name in ("mean_x", "sxx", "mean", "sdd"):
                ours, theirs = getattr(cells, name), getattr(expected, name)
                np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)
