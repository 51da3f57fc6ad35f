"""Chunks in two threads against one thread; models answer in the thread that asks."""

import os

import numpy as np
import pytest
import xgboost
from measuring import race, seconds
from networks import network

from rhale.data import open_table
from rhale.data.table import read_chunks
from rhale.execution import map_in_threads
from rhale.execution.threads import limit_threads
from rhale.models import wrap

TARGET = 1.6
N_THREADS, N_CHUNKS = 2, 16
WEIGHTS = np.random.default_rng(1).standard_normal((8, 64))


def smooth(rows):
    return np.tanh(rows @ WEIGHTS).sum(axis=1)


def by_row(rows):
    """A function in Python alone, which holds the interpreter all the time."""
    return [max(row) - min(row) for row in rows.tolist()]


def trees():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((5_000, 8))
    model = xgboost.XGBRegressor(n_estimators=200, max_depth=6)
    return model.fit(rows, np.sin(rows[:, 0]) * rows[:, 1])


CASES = {
    "NumPy function": (lambda: wrap(smooth), 400_000),
    "torch network, slopes": (lambda: wrap(network()), 200_000),
    "XGBoost as a black box": (lambda: wrap(trees(), walk=False), 200_000),
    "function in Python alone": (lambda: wrap(by_row), 200_000),
}


def asked(adapter, table, n_threads):
    """Answers about all rows, in chunks."""

    def task(chunk):
        if adapter.is_differentiable:
            return adapter.gradient(chunk.rows, (0,))[1]
        return adapter.predict(chunk.rows)

    chunks = read_chunks(table, table.n_rows // N_CHUNKS)
    if n_threads == 1:
        return list(map(task, chunks))
    return list(map_in_threads(task, chunks, n_threads))


@pytest.mark.parametrize("name", CASES)
def test_two_threads_against_one(benchmark, ledger, name):
    make, n_rows = CASES[name]
    adapter = make()
    table = open_table(np.random.default_rng(0).standard_normal((n_rows, 8)))

    with adapter.session(), limit_threads(adapter, N_THREADS) as model:
        found = race(
            benchmark,
            lambda: asked(model, table, N_THREADS),
            lambda: asked(model, table, 1),
            rounds=5,
        )

    for two, one in zip(found.our_answer, found.other_answer, strict=True):
        np.testing.assert_array_equal(two, one)
    has_target = name != "function in Python alone" and (os.cpu_count() or 1) >= N_THREADS
    ledger.add(
        f"{name}: two threads, against one",
        f"8 features, {n_rows:,} rows in {N_CHUNKS} chunks",
        seconds(found.ours),
        seconds(found.other),
        f"{found.speedup:.2f} times as fast",
        f">= {TARGET}" if has_target else "",
        met=found.speedup >= TARGET if has_target else None,
    )
