import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

pytest.importorskip("numba")
pytest.importorskip("treelite")

from rhale.data import open_table
from rhale.models.trees.ensemble import DROPPED_COLUMN, MIXED
from rhale.models.trees.read_model import read_walker
from rhale.models.trees.reading import CannotReadError

X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
TREE = DecisionTreeRegressor(max_depth=2)


def test_columns_of_a_pipeline_are_found_by_name():
    model = make_pipeline(StandardScaler(), TREE).fit(X, X["a"])
    more = X[["b"]].assign(c=0.0, a=X["a"])
    walker = read_walker(model, "predict", open_table(more))
    assert walker.reading.columns.tolist() == [1, DROPPED_COLUMN, 0]


def test_steps_that_mix_columns_are_known():
    model = make_pipeline(PolynomialFeatures(), TREE).fit(X, X["a"])
    assert read_walker(model, "predict", open_table(X)).reading.columns.tolist() == [MIXED, MIXED]


def test_labels_are_not_walked_and_probabilities_of_two_classes_are_two():
    model = DecisionTreeClassifier(max_depth=2).fit(X, X["a"] > 0)
    assert not read_walker(model, "predict_proba", open_table(X)).is_pair  # both are in the leaves
    with pytest.raises(CannotReadError, match="class label"):
        read_walker(model, "predict", open_table(X))


def test_a_model_without_trees_is_not_read():
    with pytest.raises(CannotReadError, match="parts of LinearRegression"):
        read_walker(LinearRegression(), "predict", open_table(X))
