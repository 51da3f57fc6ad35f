"""Partial dependence of scikit-learn (brute force) on the same grid."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.inspection import partial_dependence

import rhale

pytestmark = pytest.mark.peer

X, Y = load_diabetes(return_X_y=True, as_frame=True)
REGRESSOR = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, Y)
IRIS, SPECIES = load_iris(return_X_y=True)
CLASSIFIER = RandomForestClassifier(n_estimators=10, random_state=0).fit(IRIS, SPECIES)

each_feature = pytest.mark.parametrize("feature", ["bmi", "sex", "s5"])


def theirs(model, rows, feature, **options):
    return partial_dependence(
        model, rows, [feature], method="brute", kind="both", grid_resolution=15, **options
    )


@each_feature
def test_average_predictions_equal_those_of_scikit_learn(feature):
    expected = theirs(REGRESSOR, X, feature)
    bins = rhale.Edges(expected["grid_values"][0])
    found = rhale.explain(REGRESSOR, X, features=feature, method="pdp", bins=bins)[feature]
    assert found.grid.tolist() == expected["grid_values"][0].tolist()
    assert found.mean == pytest.approx(expected["average"][0], rel=1e-10)


@each_feature
def test_single_curves_equal_those_of_scikit_learn(feature):
    expected = theirs(REGRESSOR, X, feature)
    bins = rhale.Edges(expected["grid_values"][0])
    fx = rhale.explain(REGRESSOR, X, features=feature, method="ice", bins=bins)
    found = fx[feature]
    # the answer to the row itself is not on the grid: sort both sets of curves to match them
    ours, curves = (np.array(sorted(c.tolist())) for c in (found.ice(), expected["individual"][0]))
    assert ours == pytest.approx(curves, rel=1e-10)
    assert found.std == pytest.approx(expected["individual"][0].std(axis=0, ddof=1), rel=1e-9)


def test_every_class_of_a_classifier_equals_scikit_learn():
    expected = theirs(CLASSIFIER, IRIS, 2)
    bins = rhale.Edges(expected["grid_values"][0])
    fx = rhale.explain(CLASSIFIER, IRIS, features=2, method="pdp", bins=bins)
    assert fx.outputs == ("0", "1", "2")
    for label, average in zip(fx.outputs, expected["average"], strict=True):
        assert fx["x2", label].mean == pytest.approx(average, abs=1e-12)


def test_weighted_averages_equal_those_of_scikit_learn():
    weights = np.random.default_rng(0).uniform(0, 2, len(X))
    expected = partial_dependence(
        REGRESSOR, X, ["bmi"], method="brute", grid_resolution=15, sample_weight=weights
    )
    bins = rhale.Edges(expected["grid_values"][0])
    found = rhale.explain(REGRESSOR, X, features="bmi", method="pdp", bins=bins, weights=weights)[0]
    assert found.mean == pytest.approx(expected["average"][0], rel=1e-10)


def both(model, rows, features, **options):
    return partial_dependence(model, rows, features, method="brute", grid_resolution=6, **options)


@pytest.mark.parametrize("weighted", [False, True])
def test_two_way_averages_equal_those_of_scikit_learn(weighted):
    weights = np.random.default_rng(0).uniform(0, 2, len(X)) if weighted else None
    names = ["bmi", "s5"]
    expected = both(REGRESSOR, X, names, sample_weight=weights)
    cells = [rhale.Edges(values) for values in expected["grid_values"]]
    ix = rhale.interactions(
        REGRESSOR, X, method="pdp", pairs=[tuple(names)], cells=cells, weights=weights
    )
    found = ix["bmi", "s5"].dependence
    np.testing.assert_allclose(found, expected["average"][0], rtol=1e-10)


def test_two_way_averages_of_every_class_equal_scikit_learn():
    expected = both(CLASSIFIER, IRIS, [2, 3])
    bins = {
        column: rhale.Edges(v) for column, v in zip((2, 3), expected["grid_values"], strict=True)
    }
    ix = rhale.explain(CLASSIFIER, IRIS, features=[(2, 3)], method="pdp", bins=bins)
    for label, average in zip(ix.outputs, expected["average"], strict=True):
        np.testing.assert_allclose(ix["x2", "x3", label].dependence, average, atol=1e-12)
