import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression

from rhale.models.trees.readers import members_of, read_sklearn_boosting, read_sklearn_forest
from rhale.models.trees.reading import CannotReadError

X = np.random.default_rng(0).normal(size=(40, 2))


def test_bits_beyond_the_first_word_are_counted_on():
    assert members_of(np.array([0b1001, 0, 1 << 31], dtype=np.uint32)).tolist() == [0, 3, 95]


@pytest.mark.parametrize("start", [None, "zero", DummyRegressor()])
def test_boosting_starts_from_a_constant(start):
    y = X[:, 0] + 5.0
    model = GradientBoostingRegressor(n_estimators=2, init=start).fit(X, y)
    assert read_sklearn_boosting(model).base == pytest.approx(
        [0.0 if start == "zero" else y.mean()]
    )


def test_boosting_from_a_model_is_not_read():
    model = GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(X, X[:, 0])
    with pytest.raises(CannotReadError, match="starts from a LinearRegression"):
        read_sklearn_boosting(model)


def test_leaves_of_a_classifier_are_shares_of_the_whole():
    """Each tree's leaf adds up to 1 over the classes, and a forest of four is their average."""
    model = RandomForestClassifier(n_estimators=4).fit(X, X[:, 0] > 0)
    forest = read_sklearn_forest(model).forest
    total = np.ldexp(forest.leaves.astype(float), -forest.exponent).sum(axis=1)
    assert total == pytest.approx(np.full(len(total), 0.25))


def test_a_classifier_of_several_targets_is_not_read():
    model = RandomForestClassifier(n_estimators=2).fit(X, X > 0)
    with pytest.raises(CannotReadError, match="several targets"):
        read_sklearn_forest(model)
