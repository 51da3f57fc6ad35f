from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rhale.models.boosters import limit_own_threads, parts_of

X = np.random.default_rng(0).normal(size=(40, 2))


def test_estimators_are_found_in_functions_and_in_each_other():
    scaler, line = StandardScaler(), LinearRegression()
    model = make_pipeline(scaler, line)
    found = parts_of(partial(lambda ask, rows: ask(rows), partial(model.predict)))
    assert {id(one) for one in (model, scaler, line)} == {id(one) for one in found}
    assert parts_of(len) == []


def test_catboost_answers_in_one_thread_for_a_while():
    catboost = pytest.importorskip("catboost")
    settings = {"iterations": 2, "verbose": 0, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(**settings).fit(X, X[:, 0])
    before = model.predict(X)
    with limit_own_threads(partial(make_pipeline(StandardScaler(), model).predict)):
        assert model.predict.keywords == {"thread_count": 1}
        np.testing.assert_array_equal(model.predict(X), before)
    assert "predict" not in vars(model)
