import numpy as np
import pytest

import rhale
from rhale.errors import BadPredictionError, BadSettingError, UnknownModelError
from rhale.models.sklearn import estimator_model, log_odds

X = np.random.default_rng(0).normal(size=(40, 2))


class Classifier:
    """A classifier of any library, with as many classes as it is told."""

    def __init__(self, classes, **methods):
        several = isinstance(classes[0], np.ndarray)
        self.classes_ = classes if several else np.array(classes)
        self.__dict__.update(methods)

    def predict(self, rows):
        return self.classes_[(rows[:, 0] > 0).astype(int)]

    def predict_proba(self, rows):
        share = 1 / (1 + np.exp(-rows[:, 0]))
        rest = [(1 - share) / (len(self.classes_) - 1)] * (len(self.classes_) - 1)
        return np.column_stack([*rest, share])


class OneClass:
    classes_ = ("only",)

    def predict(self, rows):
        return rows[:, 0]


def test_a_classifier_is_explained_by_its_probabilities():
    fx = rhale.explain(Classifier(["a", "b", "c"]), X)
    assert fx.outputs == ("a", "b", "c")
    assert fx.predictions.sum(axis=1) == pytest.approx(np.ones(40))


def test_of_two_classes_the_second_is_usual():
    adapter = estimator_model(Classifier(["no", "yes"]))
    assert adapter.labels == ("no", "yes")
    assert adapter.usual_outputs == (1,)
    assert estimator_model(Classifier(["a", "b", "c"])).usual_outputs is None


def test_what_has_one_class_is_explained_by_its_predictions():
    assert rhale.explain(OneClass(), X).outputs == ("y0",)


@pytest.mark.parametrize("classes", [np.array(3), 3, []], ids=repr)
def test_classes_of_a_damaged_file_are_none(classes):
    model = OneClass()
    model.classes_ = classes
    assert rhale.explain(model, X).outputs == ("y0",)


def test_classes_of_damaged_trees_are_none():
    tree = pytest.importorskip("sklearn.tree").DecisionTreeRegressor(max_depth=2)
    tree.fit(X, X[:, 0]).classes_ = np.array(3)
    assert rhale.explain(tree, X).outputs == ("y0",)


def test_a_missing_method_is_answered_with_those_that_are_there():
    message = "Classifier has no decision_function; it has predict, predict_proba"
    for response in ("decision_function", "margin"):
        with pytest.raises(UnknownModelError, match=message):
            estimator_model(Classifier(["a", "b"]), response=response)


def test_an_unknown_response_is_answered_with_the_known_ones():
    with pytest.raises(BadSettingError, match=r"response='proba'.*predict_proba.*margin"):
        estimator_model(Classifier(["a", "b"]), response="proba")


def test_outputs_that_are_not_the_classes_go_by_their_position():
    several = Classifier(["a", "b", "c"], predict_proba=lambda rows: np.zeros((len(rows), 2)))
    assert rhale.explain(several, X).outputs == ("y0", "y1")


def test_log_odds_are_those_of_the_probabilities():
    p = np.array([[0.25, 0.75], [0.5, 0.5]])
    assert log_odds(p) == pytest.approx(np.log(p / (1 - p)))
    with pytest.raises(BadPredictionError, match=r"0 or 1 for 1 of 2 rows.*predict_proba"):
        log_odds([[0.5, 0.5], [0.0, 1.0]])


def test_the_log_odds_of_a_logistic_model_are_its_line():
    def sure(rows):
        p = 1 / (1 + np.exp(-2 * rows[:, 0]))
        return np.column_stack([1 - p, p])

    fx = rhale.explain(Classifier(["no", "yes"], predict_proba=sure), X, response="log_odds")
    assert fx.outputs == ("yes",)
    assert fx["x0"].mean == pytest.approx(np.full(fx["x0"].mean.size, 2.0))


def test_classes_of_several_targets_are_outputs_side_by_side():
    def of_two_targets(rows):
        p = 1 / (1 + np.exp(-rows[:, 0]))
        third = np.full(len(rows), 1 / 3)
        return [np.column_stack([1 - p, p]), np.column_stack([third, third, third])]

    model = Classifier([np.array(["a", "b"]), np.array([1, 2, 3])], predict_proba=of_two_targets)
    assert rhale.explain(model, X).outputs == ("y0 b", "y1 1", "y1 2", "y1 3")


def test_an_estimator_can_come_with_a_gradient():
    class Line:
        def predict(self, rows):
            return 3 * rows[:, 0]

    fx = rhale.explain(Line(), X, gradient=lambda rows: np.tile([3.0, 0.0], (len(rows), 1)))
    assert fx.provenance["local_effects"]["x0"] == "local effects by gradient"
    assert fx["x0"].mean == pytest.approx([3.0])


def test_a_survival_model_is_said_to_give_a_risk_score():
    """As estimators of scikit-survival do: `predict` gives a score, and curves come from elsewhere."""

    class Survival:
        def predict(self, rows):
            return rows[:, 0]

        def predict_survival_function(self, rows):
            return [lambda t, x=x: np.exp(-t * np.exp(x)) for x in rows[:, 0]]

    model, rows = Survival(), np.random.default_rng(0).normal(size=(200, 2))
    fx = rhale.explain(model, rows)
    assert "effects on risk score" in str(fx)
    assert "a higher one means an earlier event" in str(fx)
    at_5 = rhale.explain(lambda r: [s(0.5) for s in model.predict_survival_function(r)], rows)
    rise = np.diff(at_5["x0"].curve([-1.0, 1.0]))[0]
    assert rise == pytest.approx(np.exp(-0.5 * np.e) - np.exp(-0.5 / np.e), rel=0.02)
