import numpy as np
import pytest

import rhale
from rhale.errors import BadSettingError, UnknownModelError, WrongShapeError
from rhale.models.sklearn import estimator_model

X = np.random.default_rng(0).normal(size=(40, 2))


class Classifier:
    """A classifier of any library, with as many classes as it is told."""

    def __init__(self, classes, **methods):
        self.classes_ = np.array(classes)
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


def test_a_missing_method_is_answered_with_those_that_are_there():
    message = "Classifier has no decision_function; it has predict, predict_proba"
    for response in ("decision_function", "margin"):
        with pytest.raises(UnknownModelError, match=message):
            estimator_model(Classifier(["a", "b"]), response=response)


def test_an_unknown_response_is_answered_with_the_known_ones():
    with pytest.raises(BadSettingError, match=r"response='proba'.*predict_proba.*margin"):
        estimator_model(Classifier(["a", "b"]), response="proba")


def test_labels_that_do_not_fit_the_answers_are_refused():
    wrong = Classifier(["a", "b", "c"], predict_proba=lambda rows: np.zeros((len(rows), 2)))
    with pytest.raises(WrongShapeError, match="3 labels and 2 outputs"):
        rhale.explain(wrong, X)


def test_an_estimator_can_come_with_a_gradient():
    class Line:
        def predict(self, rows):
            return 3 * rows[:, 0]

    fx = rhale.explain(Line(), X, gradient=lambda rows: np.tile([3.0, 0.0], (len(rows), 1)))
    assert fx.provenance["local_effects"]["x0"] == "local effects by gradient"
    assert fx["x0"].mean == pytest.approx([3.0])
