"""Everything here runs on the CPU; tests marked `cuda` also run where there is such a device."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import rhale
from rhale.data import open_table
from rhale.data.array import ArrayTable
from rhale.data.table import Storage
from rhale.effects.binning.cells import Grid
from rhale.effects.local.binned import BinnedEffects, CellChoice
from rhale.effects.local.gradient import Gradient
from rhale.effects.local.measure import MeasureTask
from rhale.effects.local.nearby import Nearby
from rhale.effects.local.queries import BatchedModel
from rhale.effects.spread import lay_band
from rhale.errors import (
    BadEffectsError,
    BadPredictionError,
    BadSettingError,
    BadTableError,
    ModelFailedError,
)
from rhale.execution.gpu import task as placing
from rhale.execution.gpu.table import TensorChunk, TensorTable
from rhale.execution.gpu.task import DeviceTask, cuda_of, most_rows, move_to_device, on_device
from rhale.models import wrap
from rhale.models.jax import JaxModel
from rhale.models.predictor import Predictor
from rhale.models.torch import TorchModel

HERE = torch.device("cpu")
DEVICES = [HERE] + ([torch.device("cuda", 0)] if torch.cuda.is_available() else [])
N = 4000
EXACT = {"rtol": 1e-12, "atol": 0}


class Module(torch.nn.Module):
    def __init__(self, function, dtype=torch.float64):
        super().__init__()
        self.function, self.rows = function, 0
        self.weight = torch.nn.Parameter(torch.ones(1, dtype=dtype))

    def forward(self, rows):
        self.rows += len(rows)
        return self.function(rows) * self.weight


def smooth(rows):
    return torch.tanh(rows[:, 0]) * rows[:, 1] + rows[:, 2] ** 2


def several(rows):
    return torch.stack([smooth(rows), 3 * rows[:, 0], rows[:, 1] * rows[:, 2]], dim=1)


class Patched(torch.autograd.Function):
    """Takes missing values for zeros, and has no slope there."""

    @staticmethod
    def forward(context, rows):
        context.save_for_backward(rows)
        return torch.nan_to_num(rows).sin()

    @staticmethod
    def backward(context, outer):
        (rows,) = context.saved_tensors
        return outer * rows.cos()


def table(n_rows=N, dtype=np.float64):
    x = np.random.default_rng(1).normal(size=(n_rows, 3))
    x[:, 2] = np.exp(x[:, 2])
    return x.astype(dtype)


def task_for(module, x, *, chosen=(0,), n_all=1, columns=(0, 1, 2), closed="left", last=2**60):
    grids = [
        Grid(np.unique(np.nanquantile(x[:, c], np.linspace(0, 1, 20 + c))), closed) for c in columns
    ]
    outputs = tuple(f"y{i}" for i in chosen)
    predictor = Predictor(wrap(module), outputs, tuple(chosen), n_all)
    names, last_key = ("x0", "x1", "x2"), np.uint64(last)
    asker = BatchedModel(predictor, names, 2**16)
    return MeasureTask(asker, measures(columns, grids, len(chosen)), last_key, 7)


def measures(columns, grids, n_outputs=1):
    """Slopes of some columns; how bins are chosen later does not matter here."""
    made = []
    for c, grid in zip(columns, grids, strict=True):
        feature = SimpleNamespace(column=c, levels=None)
        places = lay_band(grid.edges)
        cells = CellChoice(grid, (None,) * n_outputs)
        made.append(BinnedEffects(feature, Gradient(c), cells, Nearby(feature, places, n_outputs)))
    return tuple(made)


def assert_same(found, expected, **close):
    close = close or EXACT
    for ours, theirs in zip(found.totals, expected.totals, strict=True):
        np.testing.assert_array_equal(ours.count, theirs.count)
        for name in ("weight", "weight_squares", "mean_x", "sxx", "mean", "sdd"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), **close)
        size = np.sqrt(theirs.sxx * theirs.sdd)
        assert np.all(np.abs(ours.sxd - theirs.sxd) <= close["rtol"] * size + close["atol"])
    np.testing.assert_array_equal(found.sample.key, expected.sample.key)
    np.testing.assert_allclose(found.sample.values, expected.sample.values, **close)
    np.testing.assert_allclose(found.sample.weight, expected.sample.weight, **close)
    assert found.asked == expected.asked


# --- the second pass ---------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("closed", ["left", "right"])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_and_sample_are_those_of_the_host(device, closed, weighted):
    x = table()
    weights = np.random.default_rng(2).uniform(0.1, 3, N) if weighted else None
    host = task_for(Module(smooth), x, closed=closed)
    there = task_for(Module(smooth).to(device), x, closed=closed)
    expected = host(ArrayTable(x, weights).chunk(0, N))
    chunk = TensorTable(torch.from_numpy(x), device, weights).chunk(0, N)
    assert_same(DeviceTask(there)(chunk), expected)
    assert 10 < expected.sample.key.size < N


@pytest.mark.parametrize("device", DEVICES)
def test_several_outputs_keep_their_order(device):
    x = table()
    host = task_for(Module(several), x, chosen=(2, 0), n_all=3, columns=(2, 0))
    there = task_for(Module(several).to(device), x, chosen=(2, 0), n_all=3, columns=(2, 0))
    expected = host(ArrayTable(x).chunk(0, N))
    assert_same(DeviceTask(there)(TensorTable(torch.from_numpy(x), device).chunk(0, N)), expected)


def test_slopes_that_do_not_fit_into_memory_are_measured_in_slabs(monkeypatch):
    x = table()
    task = task_for(Module(several), x, chosen=(0, 1), n_all=3)
    monkeypatch.setattr(placing, "SLAB_NUMBERS", 6 * 700)
    weights = np.random.default_rng(2).uniform(0.1, 3, N)
    chunk = TensorChunk(torch.from_numpy(x), weights=weights)
    assert_same(DeviceTask(task)(chunk), task(ArrayTable(x, weights).chunk(0, N)))


def test_a_module_that_writes_into_its_rows_does_not_change_the_table():
    x = torch.from_numpy(table())
    before = x.clone()
    adapter = wrap(Module(lambda rows: rows.detach().mul_(0).sum(dim=1) + rows[:, 0]))
    adapter.predict(x)
    adapter.differentiate(x, [0])
    assert torch.equal(x, before)


def test_tasks_of_the_host_get_smaller_chunks_of_rows_on_a_device():
    task = task_for(Module(smooth), table())
    there = TensorTable(torch.from_numpy(table()), HERE)
    assert most_rows(there, task) == placing.HOST_ROWS
    assert most_rows(there, DeviceTask(task)) is None
    assert most_rows(ArrayTable(table()), task) is None


def test_rows_outside_the_cells_and_without_a_value_are_left_out():
    x = table()
    x[::7, 1] = np.nan
    task = task_for(Module(lambda rows: smooth(torch.nan_to_num(rows))), x)
    narrow = Grid(np.array([-0.5, 0.0, 0.25, 0.5]))
    grids = [narrow, *DeviceTask(task).grids[1:]]
    task = replace(task, measures=measures((0, 1, 2), grids)
    )  # fmt: skip
    found = DeviceTask(task)(TensorChunk(torch.from_numpy(x)))
    assert_same(found, task(ArrayTable(x).chunk(0, N)))
    assert found.totals[0].count.sum() == np.sum(np.abs(x[:, 0]) <= 0.5)
    assert found.totals[1].count.sum() == np.sum(~np.isnan(x[:, 1]))


def test_data_frames_and_arrays_are_sent_chunk_by_chunk():
    pd = pytest.importorskip("pandas")
    x = table()
    task = task_for(Module(smooth), x)
    expected = task(ArrayTable(x).chunk(0, N))
    assert_same(DeviceTask(task)(open_table(pd.DataFrame(x)).chunk(0, N)), expected)
    assert_same(DeviceTask(task)(ArrayTable(x).chunk(0, N)), expected)


def test_single_precision_agrees_to_single_precision():
    x = table(dtype=np.float32)
    task = task_for(Module(smooth, torch.float32), x)
    found = DeviceTask(task)(TensorChunk(torch.from_numpy(x)))
    assert_same(found, task(ArrayTable(x).chunk(0, N)))  # same slopes, and sums in double
    double = task_for(Module(smooth), x)(ArrayTable(x.astype(float)).chunk(0, N))
    assert_same(found, double, rtol=1e-4, atol=1e-4)  # increments are differences of predictions


@pytest.mark.parametrize("device", DEVICES)
def test_constant_slopes_have_exactly_no_spread(device):
    x = table(100_000) + 1e9
    module = Module(lambda rows: 0.1 * rows[:, 0] + 0.3 * rows[:, 1].abs()).to(device)
    task = task_for(module, x)
    found = DeviceTask(task)(TensorTable(torch.from_numpy(x), device).chunk(0, len(x)))
    for cells, slope in zip(found.totals, (0.1, 0.3, 0.0), strict=True):
        assert np.all(cells.sdd == 0)
        assert np.all(cells.mean == slope)
        assert np.all(cells.sxd == 0)


# --- when something is wrong -------------------------------------------------------------------


def test_slopes_that_are_no_numbers_are_reported_as_on_the_host():
    x = table()
    x[5, 0] = -1.0
    task = task_for(Module(lambda rows: torch.sqrt((rows[:, 0] + 1).clamp(min=0))), x)
    with pytest.raises(BadPredictionError, match=r"gradient is .* in row 5, column 0"):
        DeviceTask(task)(TensorChunk(torch.from_numpy(x)))


def test_slopes_along_missing_values_are_none_as_on_the_host(monkeypatch):
    monkeypatch.setattr(placing, "HOST_ROWS", 1500)
    x = table()
    x[::9, 1] = np.nan
    module = Module(lambda rows: Patched.apply(rows).sum(dim=1))
    task = task_for(module, x)
    chunk = TensorChunk(torch.from_numpy(x), weights=np.arange(1.0, N + 1))
    assert_same(DeviceTask(task)(chunk), task(ArrayTable(x, chunk.weights).chunk(0, N)))


def test_answers_that_are_no_numbers_are_reported():
    x = table()
    task = task_for(Module(lambda rows: rows[:, 0] + torch.where(rows[:, 1] > 0, torch.nan, 0)), x)
    with pytest.raises(BadPredictionError, match="nan or infinity"):
        DeviceTask(task)(TensorChunk(torch.from_numpy(x)))


def test_huge_slopes_are_refused():
    x = table()
    task = task_for(Module(lambda rows: 1e200 * rows[:, 0]), x)
    with pytest.raises(BadEffectsError, match="1e\\+200"):
        DeviceTask(task)(TensorChunk(torch.from_numpy(x)))


def test_an_error_of_the_module_is_blamed_on_it():
    task = task_for(Module(smooth), table())
    task.predictor.adapter.module.function = lambda rows: rows @ torch.ones(17)
    with pytest.raises(ModelFailedError, match="when computing its gradient"):
        DeviceTask(task)(TensorChunk(torch.from_numpy(table())))


# --- where things are --------------------------------------------------------------------------


def test_a_module_on_the_cpu_is_measured_on_the_host():
    task = task_for(Module(smooth), table())
    assert on_device(task) is task
    assert cuda_of(task.predictor.adapter) is None


def test_only_modules_of_torch_compute_on_a_cuda_device():
    there = torch.device("cuda", 0)
    assert cuda_of(TorchModel(torch.nn.Identity(), there)) == there
    assert cuda_of(TorchModel(torch.nn.Identity())) is None
    assert cuda_of(JaxModel(abs, there)) is None


def test_a_cuda_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BadSettingError, match=r"device='cuda' was requested, .* no CUDA device"):
        rhale.explain(Module(smooth), table(), device="cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(BadSettingError, match=r"'cuda:2' was requested, .* 2 CUDA devices"):
        rhale.explain(Module(smooth), table(), device=torch.device("cuda:2"))


def test_a_word_that_is_no_device_is_refused():
    with pytest.raises(BadSettingError, match="device='gpu' is not a device of torch"):
        rhale.explain(Module(smooth), table(), device="gpu")


def test_a_device_is_for_torch_and_jax():
    with pytest.raises(
        BadSettingError, match="torch modules and JAX functions; this is a function"
    ):
        rhale.explain(lambda rows: rows[:, 0], table(), device="cpu")


def test_a_device_by_name_gives_the_same_effects():
    x, module = table(), Module(smooth)
    found, expected = rhale.explain(module, x, device="cpu"), rhale.explain(module, x)
    assert list(found.values()) == list(expected.values())


def test_the_users_module_stays_where_it_is():
    module = Module(smooth)
    there = wrap(module).move_to("meta")
    assert there.device.type == "meta"
    assert module.weight.device == HERE


def test_a_jax_function_goes_to_a_device_by_name():
    jax = pytest.importorskip("jax")
    x, function = table(600), jax.jit(lambda rows: rows[:, 0] * rows[:, 1])
    found = rhale.explain(function, x, device="cpu")
    assert list(found.values()) == list(
        rhale.explain(function, x, device=jax.devices("cpu")[0]).values()
    )
    for wrong in ("cpu:99", "abacus", "cpu:x"):
        with pytest.raises(BadSettingError, match=f"'{wrong}' was requested, but JAX finds"):
            rhale.explain(function, x, device=wrong)


class Far:
    """A table that says that it is on some CUDA device."""

    kind, storage = "torch", Storage(device=torch.device("cuda", 0))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda rows: rows[:, 0], r"tensor on cuda:0, and this function does .* data.cpu\(\)$"),
        (Module(smooth), r"module on cpu does not compute there; .*or device='cuda:0'"),
    ],
)
def test_a_tensor_on_a_device_needs_a_model_that_computes_there(model, said):
    with pytest.raises(BadSettingError, match=said):
        move_to_device(wrap(model), Far())


def test_a_module_without_weights_computes_where_the_rows_are(monkeypatch):
    monkeypatch.setattr("rhale.models.torch.find_torch_device", torch.device)
    adapter, found = move_to_device(wrap(torch.nn.Tanh()), Far())
    assert adapter.device == Far.storage.device
    assert isinstance(found, Far)


def test_arrays_follow_a_module_to_its_device(monkeypatch):
    monkeypatch.setattr(placing, "cuda_of", lambda adapter: adapter.device)
    module, x = Module(smooth), table()
    x.flags.writeable = False
    _, found = move_to_device(wrap(module), ArrayTable(x))
    assert isinstance(found, TensorTable)
    assert found.kind == "numpy"
    expected = task_for(module, x)(ArrayTable(x).chunk(0, N))
    assert_same(DeviceTask(task_for(module, x))(found.chunk(0, N)), expected)


@pytest.mark.parametrize("flip", [False, True])
def test_a_whole_run_on_the_device_gives_the_same_effects(monkeypatch, flip):
    x, module = table(), Module(several)
    x = x[::-1] if flip else x
    weights = np.arange(N) % 4
    expected = rhale.explain(module, x, weights=weights)
    monkeypatch.setattr(placing, "cuda_of", lambda adapter: getattr(adapter, "device", None))
    found = rhale.explain(module, x, weights=weights)
    for ours, theirs in zip(found.values(), expected.values(), strict=True):
        np.testing.assert_array_equal(ours.edges, theirs.edges)
        np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-10)
        np.testing.assert_allclose(ours.std, theirs.std, rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(ours.typical_spread, theirs.typical_spread, rtol=1e-9)
    assert found.provenance["table"] == "numpy"
    assert found.provenance["rows_asked"] == expected.provenance["rows_asked"]


def test_steps_secants_and_profiles_of_rows_on_a_device_go_the_general_way(monkeypatch):
    x = table(600)
    x[:, 1] = np.arange(600) % 3
    module = Module(smooth)
    expected = [
        rhale.explain(module, x, **how) for how in ({}, {"local": "secant"}, {"method": "pdp"})
    ]
    monkeypatch.setattr(placing, "cuda_of", lambda adapter: getattr(adapter, "device", None))
    for how, one in zip(({}, {"local": "secant"}, {"method": "pdp"}), expected, strict=True):
        for ours, theirs in zip(
            rhale.explain(module, x, **how).values(), one.values(), strict=True
        ):
            np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-10, atol=1e-14)


def gated(rows):
    """Slopes along x0 that turn where x1 is above zero, and grow with x2 in another output."""
    gate = torch.where(rows[:, 1] > 0, 2.0, -1.0)
    return torch.stack([gate * rows[:, 0], rows[:, 0] * rows[:, 2]], dim=1)


@pytest.mark.parametrize("regions", [True, rhale.By("x1", cuts=[0.0])])
def test_regions_of_rows_on_a_device_are_the_same(monkeypatch, regions):
    x, module = table(900), Module(gated)
    ask = {"weights": np.arange(900) % 4, "features": [0], "regions": regions}
    expected = rhale.explain(module, x, **ask)
    monkeypatch.setattr(placing, "cuda_of", lambda adapter: getattr(adapter, "device", None))
    found = rhale.explain(module, x, **ask)
    assert len(expected.effects[0].regions) == 2
    for ours, theirs in zip(found.effects, expected.effects, strict=True):
        assert [r.rule for r in ours.regions] == [r.rule for r in theirs.regions]
        assert ours.regions.gradual == theirs.regions.gradual
        np.testing.assert_array_equal(ours.regions.sampled, theirs.regions.sampled)
        for one, other in zip(ours.regions, theirs.regions, strict=True):
            assert one.count == other.count
            np.testing.assert_array_equal(one.effect.edges, other.effect.edges)
            np.testing.assert_allclose(one.effect.mean, other.effect.mean, rtol=1e-10, atol=1e-13)


def test_rows_on_a_device_are_searched_where_all_columns_are_explained(monkeypatch):
    """Then slopes are all that is asked, and what is kept of searched rows comes from the device."""
    x, module = table(3_000), Module(gated)
    expected = rhale.explain(module, x, regions=True)
    monkeypatch.setattr(placing, "cuda_of", lambda adapter: getattr(adapter, "device", None))
    found = rhale.explain(module, x, regions=True)
    assert len(found.sample_x) == len(expected.sample_x) < 3_000
    for ours, theirs in zip(found.effects, expected.effects, strict=True):
        assert [r.rule for r in ours.regions] == [r.rule for r in theirs.regions]
        assert [r.count for r in ours.regions] == [r.count for r in theirs.regions]
        np.testing.assert_allclose(ours.regions.share, theirs.regions.share, rtol=1e-10)


def test_columns_beside_on_a_device_may_hold_what_cannot_be_read(monkeypatch):
    x = np.column_stack([table(600), np.full(600, np.inf)])
    monkeypatch.setattr(placing, "cuda_of", lambda adapter: getattr(adapter, "device", None))
    effect = rhale.explain(Module(gated), x, features=[0], output=0, regions=True)["x0"]
    assert effect.regions.splitters == ("x1",)
    with pytest.raises(BadTableError, match="'x3' has infinite values"):
        rhale.explain(Module(gated), x, features=[0], regions=rhale.Regions(splitters=["x3"]))
