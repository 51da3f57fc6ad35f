import numpy as np
import pytest

from rhale.models.trees.readers import _listed_names, booster_of, read_xgboost
from rhale.models.trees.reading import CannotReadError

X = np.random.default_rng(0).normal(size=(40, 2))


def test_names_of_categories_are_cut_out_of_one_text():
    text = list("uvüw".encode())
    assert _listed_names({"values": text, "offsets": [0, 1, 2, 4, 5]}) == ["u", "v", "ü", "w"]
    assert _listed_names({"values": [], "offsets": [0]}) is None
    assert _listed_names({"values": [3, 5]}) == [3, 5]


def test_an_estimator_and_its_booster_are_read_alike():
    xgboost, _ = pytest.importorskip("xgboost"), pytest.importorskip("treelite")
    model = xgboost.XGBRegressor(n_estimators=2, n_jobs=1).fit(X, X[:, 0])
    one, other = read_xgboost(model).forest, read_xgboost(booster_of(model)).forest
    np.testing.assert_array_equal(one.nodes, other.nodes)
    np.testing.assert_array_equal(one.leaves, other.leaves)


def test_a_linear_model_has_no_trees():
    xgboost, _ = pytest.importorskip("xgboost"), pytest.importorskip("treelite")
    model = xgboost.XGBRegressor(booster="gblinear", n_estimators=1).fit(X, X[:, 0])
    with pytest.raises(CannotReadError, match="gblinear"):
        read_xgboost(model)
