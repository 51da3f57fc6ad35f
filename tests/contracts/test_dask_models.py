"""Models of every kind go to the workers of a cluster, and tables may be in their memory."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import torch
import xgboost

import rhale

X = np.random.default_rng(2).normal(size=(200, 3))
Y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def closure():
    power = 2
    return lambda rows: rows[:, 0] ** power


MODELS = {
    "closure": closure,
    "torch": lambda: network().double(),
    "XGBoost": lambda: xgboost.XGBRegressor(n_estimators=5, n_jobs=1).fit(X, Y),
}


def assert_same(found, wanted):
    for one, other in zip(found.effects, wanted.effects, strict=True):
        np.testing.assert_array_equal(one.edges, other.edges)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_answers_on_the_workers_as_it_does_here(name):
    model = MODELS[name]()
    assert_same(rhale.explain(model, da.from_array(X, chunks=(60, 3))), rhale.explain(model, X))


@pytest.mark.usefixtures("client")
def test_tables_may_be_shuffled_or_held_by_the_workers():
    def model(rows):
        return np.sin(rows["a"].to_numpy()) * rows["b"].to_numpy()

    table = dd.from_pandas(FRAME.assign(k=np.arange(200) % 9), npartitions=4, sort=False)
    shuffled = table.shuffle("k")
    assert_same(rhale.explain(model, shuffled), rhale.explain(model, shuffled.compute()))
    held = table.persist()
    assert_same(rhale.explain(model, held), rhale.explain(model, table.compute()))
