"""Two workers of Dask against one: the same partitions, one thread each."""

import logging
import os

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from measuring import race, seconds

import rhale

TARGET = 1.6
N_PARTS, N_ROWS = 16, 40_000  # rows in a partition
WEIGHTS = np.random.default_rng(1).normal(size=(4, 256))


def smooth(rows):
    return np.tanh(rows.to_numpy() @ WEIGHTS).sum(axis=1)


def part(seed):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(N_ROWS, 4)), columns=list("abcd"))


def cluster(n_workers):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


def test_two_workers_against_one(benchmark, ledger):
    table = dd.from_map(part, range(N_PARTS), meta=part(0).iloc[:0])

    def explained(client):
        with client.as_current():
            return rhale.explain(smooth, table, method="ale")

    with (
        cluster(1) as small,
        cluster(2) as large,
        Client(small, set_as_default=False) as one,
        Client(large, set_as_default=False) as two,
    ):
        explained(one), explained(two)  # imports
        found = race(benchmark, lambda: explained(two), lambda: explained(one), rounds=3)

    assert found.our_answer.effects == found.other_answer.effects
    has_cores = (os.cpu_count() or 1) >= 2
    ledger.add(
        "Dask: two workers, against one",
        f"4 features, {N_PARTS} partitions of {N_ROWS:,} rows",
        seconds(found.ours),
        seconds(found.other),
        f"{found.speedup:.2f} times as fast",
        f">= {TARGET}",
        met=found.speedup >= TARGET if has_cores else None,
    )
