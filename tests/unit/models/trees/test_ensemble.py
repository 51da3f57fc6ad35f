import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor, VotingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rhale.models.trees.ensemble import is_tree_model, split_pipeline

X = np.random.default_rng(0).normal(size=(30, 2))
FOREST = RandomForestRegressor(n_estimators=2)


@pytest.mark.parametrize(
    ("model", "n_steps"),
    [
        (FOREST, 0),
        (make_pipeline(StandardScaler(), "passthrough", FOREST), 1),
        (GridSearchCV(make_pipeline(StandardScaler(), FOREST), {}, cv=2), 1),
    ],
)
def test_the_ensemble_is_found_behind_steps_and_searches(model, n_steps):
    steps, ensemble = split_pipeline(model.fit(X, X[:, 0]))
    assert type(ensemble) is RandomForestRegressor
    assert len(steps) == n_steps


def test_a_model_that_combines_trees_is_one_of_trees_and_a_line_is_none():
    votes = VotingRegressor([("line", LinearRegression()), ("trees", FOREST)]).fit(X, X[:, 0])
    assert is_tree_model(votes)
    assert not is_tree_model(LinearRegression().fit(X, X[:, 0]))
    assert not is_tree_model(len)
