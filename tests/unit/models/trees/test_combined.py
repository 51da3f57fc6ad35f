"""Estimators that combine trees: walked, and what they walk is what the library answers."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import rhale
from rhale.models import wrap
from rhale.models.trees.forest import build_forest, split_forest
from rhale.models.trees.readers import read_hist_boosting
from rhale.models.trees.walk import walk

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 4))
Y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + RNG.normal(0, 0.2, 500)
TWO, THREE = (Y > 0).astype(int), np.digitize(Y, [-0.5, 0.5])
BOTH, CLASSES = np.stack([Y, Y**2], axis=1), np.stack([TWO, THREE], axis=1)
LIKE = {"n_estimators": 8, "max_depth": 3, "random_state": 0}
FOREST, BOOSTING = RandomForestRegressor(**LIKE), GradientBoostingRegressor(**LIKE)
HIST = HistGradientBoostingRegressor(max_iter=8)
COUNTS = HistGradientBoostingRegressor(max_iter=8, loss="poisson")
LOGGED = TransformedTargetRegressor(HIST, func=np.log, inverse_func=np.exp)
FORESTS = RandomForestClassifier(**LIKE)
BOOSTED, HISTS = GradientBoostingClassifier(**LIKE), HistGradientBoostingClassifier(max_iter=8)
STUMP, TREE = DecisionTreeRegressor(max_depth=3), DecisionTreeClassifier(max_depth=2)


def parts(*estimators):
    return [(f"part{i}", one) for i, one in enumerate(estimators)]


WALKED = {
    "votes": (VotingRegressor(parts(FOREST, BOOSTING), weights=[1, 3]), Y),
    "votes of float32 and float64": (VotingRegressor(parts(FOREST, HIST)), Y),
    "votes with a link": (VotingRegressor(parts(FOREST, COUNTS)), np.exp(Y)),
    "votes of forests": (VotingClassifier(parts(FORESTS, ExtraTreesClassifier(8)), voting="soft"), TWO),
    "votes of boosters": (VotingClassifier(parts(HISTS, BOOSTED), voting="soft"), TWO),
    "votes for three": (VotingClassifier(parts(HISTS, FORESTS), voting="soft"), THREE),
    "bags": (BaggingRegressor(STUMP, 5, max_features=2, random_state=0), Y),
    "bags of boosters": (BaggingClassifier(HISTS, 3, max_features=3, random_state=0), TWO),
    "stack": (StackingRegressor(parts(FOREST, BOOSTING), RidgeCV()), Y),
    "stack below a tree": (StackingRegressor(parts(FOREST, BOOSTING), STUMP), Y),
    "stack of classifiers": (StackingClassifier(parts(FORESTS, HISTS), LogisticRegression()), TWO),
    "stack for three": (StackingClassifier(parts(FORESTS, BOOSTED), LogisticRegression()), THREE),
    "calibrated": (CalibratedClassifierCV(FORESTS, cv=2), TWO),
    "calibrated, isotonic": (CalibratedClassifierCV(HISTS, method="isotonic", cv=2), TWO),
    "calibrated for three": (CalibratedClassifierCV(BOOSTED, cv=2), THREE),
    "AdaBoost": (AdaBoostClassifier(n_estimators=8, random_state=0), TWO),
    "AdaBoost for three": (AdaBoostClassifier(TREE, n_estimators=8, random_state=0), THREE),
    "logged target": (LOGGED, np.exp(Y)),
    "scaled target": (TransformedTargetRegressor(FOREST, transformer=StandardScaler()), 100 * Y),
    "two targets": (MultiOutputRegressor(HIST), BOTH),
    "two targets of classes": (MultiOutputClassifier(HISTS), CLASSES),
    "isolation": (IsolationForest(n_estimators=8, max_features=2, random_state=0), None),
    "nested": (VotingRegressor(parts(StackingRegressor(parts(FOREST, BOOSTING)), LOGGED)), np.exp(Y)),
}  # fmt: skip


def fitted(model, target):
    return model.fit(X) if target is None else model.fit(X, target)


@pytest.mark.parametrize("name", WALKED)
def test_what_is_walked_is_what_the_library_answers(name):
    """In new rows, many beyond the old ones: to rounding, as trees of one library are."""
    model = fitted(*WALKED[name])
    adapter = wrap(model)
    walker = adapter.recognise(X[:50], adapter.predict(X[:50])).walker
    assert walker is not None
    new = np.random.default_rng(1).normal(0, 2, size=(2000, 4))
    expected = np.asarray(adapter.predict(new), dtype=float)
    found = walker.predict(new)
    np.testing.assert_allclose(found, expected.reshape(found.shape), rtol=1e-9, atol=1e-12)


RAW_TOO = ("stack of classifiers", "AdaBoost")  # votes have probabilities alone


@pytest.mark.parametrize(
    ("name", "response"),
    [
        *((name, "log_odds") for name in ("votes of boosters", *RAW_TOO)),
        *((name, response) for name in RAW_TOO for response in ("decision_function", "margin")),
    ],
)
def test_other_answers_are_walked_where_the_library_has_them(name, response):
    model = fitted(*WALKED[name])
    fx = rhale.explain(model, X, response=response)
    assert fx.provenance["answers_walked"] > 0


@pytest.mark.parametrize("name", ["votes with a link", "calibrated", "stack below a tree"])
def test_curves_agree_with_partial_dependence_by_brute_force(name):
    model = fitted(*WALKED[name])
    fx = rhale.explain(model, X, features=["x1"], method="pdp", bins=[-1.0, 0.0, 1.0])
    output = -1 if hasattr(model, "predict_proba") else 0
    ask = getattr(model, "predict_proba", model.predict)
    expected = []
    for value in (-1.0, 0.0, 1.0):
        moved = X.copy()
        moved[:, 1] = value
        expected.append(np.asarray(ask(moved)).reshape(len(X), -1)[:, output].mean())
    assert fx.provenance["answers_walked"] > 0
    np.testing.assert_allclose(fx["x1"].mean, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (VotingClassifier(parts(HISTS, BOOSTED)), "vote for classes"),
        (VotingRegressor(parts(FOREST, LinearRegression())), "is a LinearRegression"),
        (VotingRegressor(parts(make_pipeline(StandardScaler(), FOREST))), "is a pipeline"),
        (StackingRegressor(parts(FOREST), passthrough=True), "sees the columns themselves"),
        (AdaBoostRegressor(n_estimators=3), "AdaBoostRegressor, which rhale cannot read exactly"),
    ],
)
def test_what_is_no_sum_of_trees_is_a_black_box_with_its_reason(model, reason):
    model.fit(X, TWO)
    fx = rhale.explain(model, X)
    assert fx.provenance["answers_walked"] == 0
    assert any(reason in note for note in fx.effects[0].notes)


def test_outlier_detectors_are_explained_by_their_score():
    model = IsolationForest(n_estimators=8, random_state=0).fit(X)
    fx = rhale.explain(model, X)
    assert "effects on score" in str(fx)
    expected = model.decision_function(X).mean()
    assert fx.predictions.mean() == pytest.approx(expected, rel=1e-9)


def test_trees_of_a_forest_make_the_same_forest_again():
    """With categories and missing values: siblings stand elsewhere, and every sum has the same bits."""
    towns, gaps = RNG.integers(0, 6, 500), np.where(X[:, 2] > 1, np.nan, X[:, 2])
    rows = np.column_stack([X[:, 0], towns, gaps])
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=[1]).fit(rows, Y)
    forest = read_hist_boosting(model).forest
    again = build_forest(split_forest(forest), forest.n_features)
    for name in ("roots", "targets", "cuts", "cut_starts", "kinds", "exponent", "depth"):
        np.testing.assert_array_equal(getattr(again, name), getattr(forest, name))
    rows[::7, 1], rows[1::7, 0] = 9, np.nan  # a category that no tree knows, and a new gap
    moved = rows[:, 0][None][:, ::-1].copy()
    sums = [walk(one, rows, np.zeros(1, np.int64), moved, np.zeros(1)) for one in (forest, again)]
    np.testing.assert_array_equal(*sums)
