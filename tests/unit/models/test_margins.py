import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression

from rhale.models.margins import gives_probabilities, has_margin

X = np.random.default_rng(0).normal(size=(60, 2))
Y = X[:, 0] > 0


@pytest.mark.parametrize(
    ("model", "margin", "probabilities"),
    [
        (HistGradientBoostingClassifier(max_iter=3), True, True),
        (GradientBoostingClassifier(n_estimators=3), True, True),
        (RandomForestClassifier(3), False, True),  # averages probabilities: there is no link
        (LogisticRegression(), False, True),
        (HistGradientBoostingRegressor(max_iter=3), False, False),
    ],
)
def test_trees_that_classify_have_a_margin(model, margin, probabilities):
    model.fit(X, Y)
    assert has_margin(model) is margin
    assert gives_probabilities(model, "auto") is probabilities
    assert not gives_probabilities(model, "predict")


@pytest.mark.parametrize("model", [len, object(), int])
def test_other_models_have_none(model):
    assert not has_margin(model)
    assert not gives_probabilities(model, "auto")
