"""Curves of walked trees are what their library predicts with one column held in all rows."""

import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from tests.contracts.test_trees import (
    CATEGORICAL,
    DOUBLE,
    QUIET,
    SINGLE,
    each_family,
    frame,
    lightgbm,
    options,
    table,
    target,
    walked,
    xgboost,
)

import rhale
from rhale.data import open_table
from rhale.effects.local.queries import BatchedModel
from rhale.models import wrap
from rhale.models.questions import HeldPoints


def held_at(x, column):
    """Points of a column: values of rows, the floats beside them, between them and beyond."""
    values = np.unique(x[:, column][~np.isnan(x[:, column])])[:7]
    beside = np.nextafter(values, np.inf)
    return HeldPoints(column, np.unique([*values, *beside, *(values + 0.3), -9.0, 0.0, 99.0]))


def assert_curves(model, x, precision, response="auto"):
    """What the library predicts, row after row, for rows that have one column replaced."""
    predictor = walked(model, x, response)
    assert predictor.walks, predictor.notes
    held = [held_at(x, column) for column in reversed(range(x.shape[1]))]
    asker = BatchedModel(predictor, tuple("abcdefgh"[: x.shape[1]]), 10_000)
    found = asker.ask_curves(open_table(x).chunk(0, len(x)), held)
    ask = wrap(model, walk=False, response=response)
    for one, curves in zip(held, found, strict=True):
        own = curves(np.arange(len(x)))
        for place, point in enumerate(one.points):
            rows = x.copy()
            rows[:, one.column] = point
            expected = np.asarray(ask.predict(rows), dtype=np.float64).reshape(len(x), -1)
            expected = expected[:, list(predictor.chosen)]
            size = max(1, np.abs(expected).max())
            np.testing.assert_allclose(own[place], expected, rtol=0, atol=precision * size)


@each_family
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_curves_are_predictions_with_a_column_held(family, n_classes):
    rng = np.random.default_rng(n_classes)
    x = table(n_classes, missing=0.1 if family.takes_missing else 0.0)
    kind = family.classifier if n_classes else family.regressor
    response = "margin" if family.has_margin and n_classes == 3 else "auto"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(**options(family.name, rng)).fit(x, target(x, n_classes))
        assert_curves(model, x, family.precision, response)


@pytest.mark.parametrize(
    "before",
    [
        lambda: MinMaxScaler(),
        lambda: SelectKBest(f_regression, k=3),  # columns that no tree sees
        lambda: ColumnTransformer(  # a column that becomes several
            [("several", OneHotEncoder(handle_unknown="ignore"), [3])], remainder="passthrough"
        ),
    ],
    ids=["scaled", "selected", "mixed"],
)
def test_columns_are_followed_through_the_steps_before(before):
    x = table(1)
    trees = lightgbm.LGBMRegressor(n_estimators=9, min_child_samples=3, **QUIET)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_curves(make_pipeline(before(), trees).fit(x, target(x, 0)), x, DOUBLE)


def test_points_that_the_library_takes_for_missing_are_missing():
    x = table(2)
    x[x[:, 3] == 0, 3] = -9.0
    model = xgboost.XGBRegressor(n_estimators=9, missing=-9.0, n_jobs=1).fit(x, target(x, 0))
    assert_curves(model, x, SINGLE)


def test_points_are_those_that_the_type_of_the_table_can_hold():
    x = table(4, dtype=np.float32)
    model = lightgbm.LGBMRegressor(n_estimators=9, min_child_samples=3, **QUIET)
    assert_curves(model.fit(x, target(x, 0)), x, DOUBLE)


@pytest.mark.parametrize("name", CATEGORICAL)
def test_profiles_beside_categories_are_those_of_the_black_box(name):
    data, y = frame()
    model = CATEGORICAL[name]().fit(data, y)
    found = rhale.explain(model, data, method="ice", bins=7)
    asked = rhale.explain(wrap(model, walk=False), data, method="ice", bins=7)
    for one, other in zip(found.values(), asked.values(), strict=True):
        np.testing.assert_allclose(one.curves, other.curves, atol=3e-5)
        np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-4)


def test_chunks_and_groups_of_features_make_no_difference(monkeypatch):
    x = table(0)
    model = lightgbm.LGBMRegressor(n_estimators=9, min_child_samples=3, **QUIET)
    model.fit(x, target(x, 0))
    whole = rhale.explain(model, x, method="pdp", bins=9)
    monkeypatch.setattr("rhale.effects.local.queries.WALKED_ANSWERS", 300 * 20)
    monkeypatch.setattr("rhale.effects.local.queries.FEWEST_WALKED", 64)
    monkeypatch.setattr("rhale.effects.local.queries.WALKED_CHANGES", 1)
    parts = rhale.explain(model, x, method="pdp", bins=9)
    for one, other in zip(whole.values(), parts.values(), strict=True):
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12)
        np.testing.assert_allclose(one.covariance, other.covariance, atol=1e-13)
        np.testing.assert_allclose(one.own_covariance, other.own_covariance, atol=1e-13)
