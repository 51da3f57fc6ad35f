"""A neural network, all features: against one forward and backward pass over the rows."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from measuring import race, race_of_processor, seconds
from networks import network

import rhale
from rhale.models.torch import TorchModel

USUAL_BATCH = 2**16


@pytest.fixture(autouse=True)
def one_thread():
    """The same for both sides, and steadier than two."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def plain_pass(model, rows, batch):
    """Mean slope of every feature, with nothing kept but a sum."""
    total = torch.zeros(rows.shape[1], dtype=torch.float64)
    for start in range(0, len(rows), batch):
        part = torch.tensor(rows[start : start + batch], requires_grad=True)
        (slopes,) = torch.autograd.grad(model(part).sum(), part)
        total += slopes.double().sum(dim=0)
    return total.numpy() / len(rows)


def average(effect):
    """Mean local effect of all rows: every bin's fit, read at the mean of its rows."""
    return np.average(effect.level, weights=effect.count)


def measure(benchmark, model, rows, plain_batch, rounds, **settings):
    """Race an explanation against a plain pass; both have the same slopes on average."""
    found = race(
        benchmark,
        lambda: rhale.explain(model, rows, **settings),
        lambda: plain_pass(model, rows, plain_batch),
        rounds,
    )
    averages = [average(e) for e in found.our_answer]
    np.testing.assert_allclose(averages, found.other_answer, rtol=1e-4, atol=1e-6)
    return found


@pytest.mark.parametrize(
    ("n_rows", "batch", "rounds", "target"),
    [
        (100_000, 2**12, 5, 1.2),
        (100_000, 2**14, 5, 1.2),
        (100_000, USUAL_BATCH, 5, 1.15),
        (1_000_000, 2**14, 2, 1.15),
    ],
)
def test_a_network_costs_little_more_than_one_pass(
    benchmark, ledger, n_rows, batch, rounds, target
):
    rows = np.random.default_rng(0).standard_normal((n_rows, 8)).astype(np.float32)
    found = measure(benchmark, network(), rows, batch, rounds, batch_size=batch)
    ledger.add(
        "torch network, against forward + backward",
        f"8 features, {n_rows:,} rows, batches of {batch:,}",
        seconds(found.ours),
        seconds(found.other),
        f"{found.cost:.2f}",
        f"<= {target}",
        met=found.cost <= target,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "widths", [(16,), (128, 64), (256, 128, 36), (1024, 512), (2048,)], ids=str
)
def test_batches_that_stay_in_the_cache(ledger, monkeypatch, widths, dtype):
    torch.manual_seed(0)
    layers = []
    for n_in, n_out in pairwise((8, *widths)):
        layers += [torch.nn.Linear(n_in, n_out), torch.nn.SiLU()]
    module = torch.nn.Sequential(*layers, torch.nn.Linear(widths[-1], 1)).to(dtype)
    rows, adapter = torch.randn(32_768, 8, dtype=dtype).numpy(), TorchModel(module)
    usual = adapter._batch_rows(torch.device("cpu"), 8)

    def slopes(n_rows):
        monkeypatch.setattr(TorchModel, "_batch_rows", lambda *_: n_rows)
        return adapter.gradient(rows, [0])[1]

    found = race_of_processor(lambda: slopes(usual), lambda: slopes(2**12), rounds=4)

    np.testing.assert_allclose(found.our_answer, found.other_answer, rtol=1e-3, atol=1e-5)
    ledger.add(
        "slopes of a torch network in batches that a cache holds, against batches of 4,096",
        f"{'-'.join(map(str, widths))} units, {str(dtype)[6:]}, 32,768 rows",
        f"{seconds(found.ours)} in batches of {usual:,}",
        seconds(found.other),
        f"{found.cost:.2f}",
    )


def test_usual_batches_are_no_slower_than_the_best_plain_pass(benchmark, ledger):
    rows = np.random.default_rng(0).standard_normal((100_000, 8)).astype(np.float32)
    found = measure(benchmark, network(), rows, 2**12, rounds=5)
    ledger.add(
        "torch network, usual settings, against the fastest plain pass",
        "8 features, 100,000 rows, plain batches of 4,096",
        seconds(found.ours),
        seconds(found.other),
        f"{found.cost:.2f}",
    )
