"""Everything here runs on the CPU, and where there is one also on a CUDA device."""

import numpy as np
import pytest
import torch

from rhale.effects.binning.cells import Grid
from rhale.effects.binning.moments import measure_moments
from rhale.execution.gpu import moments
from rhale.stats.sampling import hash_rows

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
        found = moments.device_row_keys(torch.from_numpy(x).to(device), seed)
        np.testing.assert_array_equal(moments.as_keys(found), hash_rows(x, seed))


def test_keys_up_to_one_are_counted_without_a_sign():
    key = torch.tensor([5, -1, 3, -(2**63)])  # the second and the last are the largest
    assert moments.up_to(key, np.uint64(4)).tolist() == [2]
    assert moments.up_to(key, np.uint64(2**63)).tolist() == [0, 2, 3]
    assert moments.up_to(key, np.iinfo(np.uint64).max).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("device", DEVICES)
def test_cells_with_one_value_have_no_width(device):
    x = np.random.default_rng(0).choice([0.1, 0.3, 0.7], size=(100_000, 1))
    grid = Grid(np.array([0.1, 0.2, 0.5, 0.7]))
    rows = torch.from_numpy(x).to(device)
    cells = moments.send_grids_to_device([grid], [0], device)
    packed = moments.measure_all(cells, rows, torch.sin(100 * rows)[:, None])
    (cells,) = moments.unpack_device_moments([grid], *moments.on_host(packed))
    assert np.all(cells.sxx == 0)
    np.testing.assert_array_equal(cells.mean_x, [0.1, 0.3, 0.7])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16", "uint8", "bool"])
def test_any_type_and_layout_of_rows_is_measured_alike(device, dtype):
    x = (20 * np.random.default_rng(0).random((70_000, 3))).astype(dtype)
    d = np.random.default_rng(1).standard_cauchy((70_000, 2, 3))  # heavy tails
    grids = [Grid(np.array([0.0, 0.5, 1.0, 7.3, 20.0])), Grid(np.array([0.0, 3.0, 8.0]))]
    for rows in (torch.from_numpy(x), torch.from_numpy(np.asfortranarray(x))):
        cells = moments.send_grids_to_device(grids, [2, 0], device)
        packed = moments.measure_all(cells, rows.to(device), torch.from_numpy(d).to(device))
        found = moments.unpack_device_moments(grids, *moments.on_host(packed))
        for cells, grid, column in zip(found, grids, [2, 0], strict=True):
            expected = measure_moments(grid, x[:, column].astype(float), d[:, :, column].T.copy())
            for name in ("count", "low", "high"):
                np.testing.assert_array_equal(getattr(cells, name), getattr(expected, name))
            for name in ("mean_x", "sxx", "mean", "sdd"):
                ours, theirs = getattr(cells, name), getattr(expected, name)
                np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_facts_are_limits_gaps_and_whether_all_is_whole(device):
    rows = torch.tensor([[1.0, np.nan], [-2.0, 0.5], [3.0, np.nan]], device=device)
    key, facts = moments.row_facts(rows)
    assert facts.tolist() == [[-2.0, 0.5], [3.0, 0.5], [0.0, 2.0], [1.0, 0.0]]
    assert key.tolist() == moments.device_row_keys(rows).tolist()


def test_keys_are_ordered_as_numbers_without_a_sign():
    key = torch.from_numpy(np.array([2**63, 0, 2**64 - 1, 5], dtype=np.uint64).view(np.int64))
    assert moments.as_ordered(key).argsort().tolist() == [1, 3, 0, 2]
    assert moments.as_keys(key).tolist() == [2**63, 0, 2**64 - 1, 5]


def measured(x, slopes, weights=None):
    """Moments of one column in the cells from 0 to 1 and from 1 to 3."""
    cells = moments.send_grids_to_device([Grid(np.array([0.0, 1.0, 3.0]))], [0], HERE)
    rows, local = torch.tensor(x)[:, None], torch.tensor(slopes).T[:, :, None]
    own = None if weights is None else torch.tensor(weights)
    (found,) = moments.unpack_device_moments(
        cells.grids, moments.measure_all(cells, rows, local, own).numpy()
    )
    return found


def test_moments_are_those_of_the_formulas_and_rows_outside_are_left_out():
    x = [0.0, 0.5, 1.0, 2.0, 3.0, -1.0, 4.0, np.nan]
    found = measured(x, [[2 * value for value in x], [1.0] * 8])
    assert found.count.tolist() == [2, 3]
    assert found.mean_x.tolist() == [0.25, 2.0]
    assert found.sxx.tolist() == [0.125, 2.0]
    assert (found.low.tolist(), found.high.tolist()) == ([0.0, 1.0], [0.5, 3.0])
    assert found.mean.tolist() == [[0.5, 4.0], [1.0, 1.0]]
    assert found.sxd.tolist() == [[0.25, 4.0], [0.0, 0.0]]
    assert found.sdd.tolist() == [[0.5, 8.0], [0.0, 0.0]]


def test_weights_weigh():
    found = measured([0.0, 0.5, 2.0], [[0.0, 1.0, 7.0]], [1.0, 3.0, 2.0])
    assert found.weight.tolist() == [4.0, 2.0]
    assert found.weight_squares.tolist() == [10.0, 4.0]
    assert found.mean.tolist() == [[0.75, 7.0]]
    assert found.sdd[0, 0] == 1 * 0.75**2 + 3 * 0.25**2


def test_shorter_grids_are_filled_up():
    grids = [Grid(np.array([0.0, 1.0])), Grid(np.array([0.0, 1.0, 2.0]), "right")]
    cells = moments.send_grids_to_device(grids, [4, 1], HERE)
    assert cells.n_most == 2
    assert cells.edges.tolist() == [[0.0, 1.0, np.inf], [0.0, 1.0, 2.0]]


@pytest.mark.parametrize("worst", [-7.0, np.nan])
def test_the_largest_slope_is_found_without_its_sign_and_nan_is_larger(worst):
    slopes = torch.tensor([[[1.0, 2.0], [worst, 0.0]]])  # one row, two outputs, two columns
    found = moments.largest(torch.tensor([[-3.0]]), slopes).tolist()
    assert found == pytest.approx([abs(worst), 2.0, 3.0], nan_ok=True)


def test_the_sample_keeps_values_answers_and_slopes_column_by_column():
    rows, answers = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[5.0], [6.0]])
    slopes = torch.arange(8.0).reshape(2, 2, 2)  # in the second row 4, 5 and 6, 7
    found = moments.gather_device_sample(torch.tensor([1]), rows, answers, slopes)
    assert found.tolist() == [[3.0, 4.0, 6.0, 4.0, 6.0, 5.0, 7.0]]


@pytest.mark.parametrize(("dtype", "kind"), [("float32", "float32"), ("int16", "float64")])
def test_arrays_are_sent_in_single_or_double_precision(dtype, kind):
    sent = moments.to_device_tensor(np.array([1, 2], dtype=dtype), HERE)
    assert sent.dtype == getattr(torch, kind)
    assert sent.tolist() == [1.0, 2.0]
    assert moments.to_device_tensor(sent.int(), HERE).dtype == torch.int32


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "layout", ["rows", "columns", "one column", "every second", "line", "truth"]
)
def test_what_is_sent_in_pieces_arrives_whole(monkeypatch, device, layout):
    monkeypatch.setattr(moments, "STAGED_BYTES", 4096)
    numbers = torch.from_numpy(np.random.default_rng(0).random((10_007, 3)))
    tensor = {
        "rows": numbers,
        "columns": numbers.T.contiguous().T,
        "one column": numbers[:, :1].contiguous(),
        "every second": numbers[::2, :2],
        "line": numbers[:, 0].contiguous(),
        "truth": numbers > 0.5,
    }[layout]
    sent = moments.copy_to_device(tensor, device)
    assert sent.device == device
    assert torch.equal(sent.cpu(), tensor)
    if layout == "columns":
        assert sent.stride() == tensor.stride()
