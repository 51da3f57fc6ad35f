import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rhale
from rhale.errors import BadFileError, BadSettingError, UnknownModelError
from rhale.models.wrap import recognise_kind, unbind, wrap

X = np.random.default_rng(0).normal(size=(40, 2))


class Scaled(torch.nn.Module):
    def forward(self, rows):
        return rows[:, 0]


class OwnEstimator:
    def predict(self, rows):
        return rows[:, 0]


class CallableEstimator(OwnEstimator):
    def __call__(self, rows):
        return -rows[:, 0]


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (lambda rows: rows, "function"),
        (functools.partial(np.sum, axis=1), "function"),
        (np.sin, "function"),
        (OwnEstimator(), "estimator"),
        (OwnEstimator().predict, "function"),
        (CallableEstimator(), "estimator"),
        (LinearRegression(), "estimator"),
        (GridSearchCV(LinearRegression(), {}), "estimator"),
        (torch.nn.Linear(2, 1), "torch"),
        (Scaled(), "torch"),
        (jax.jit(jnp.sin), "jax"),
        (jax.vmap(jnp.sum), "function"),
    ],
)
def test_a_model_is_recognised_by_what_it_is(model, kind):
    assert recognise_kind(model) == kind


@pytest.mark.parametrize("model", [LinearRegression, torch.nn.Linear, OwnEstimator])
def test_a_class_is_no_fitted_model(model):
    with pytest.raises(UnknownModelError, match=f"{model.__name__} is a class; pass a fitted"):
        wrap(model)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(BadFileError, match=r"no model file 'model.onnx'"):
        wrap("model.onnx")


def test_an_object_of_a_module_is_for_the_command_line():
    with pytest.raises(UnknownModelError, match=r"import linear from shop.models and pass"):
        wrap("shop.models:linear")


def test_an_unknown_kind_is_answered_with_the_known_ones():
    with pytest.raises(UnknownModelError, match=r"kind='keras'.*function, estimator, torch, jax"):
        wrap(lambda rows: rows, kind="keras")


def test_a_kind_chosen_by_hand_wins():
    both = CallableEstimator()
    by_call = rhale.explain(wrap(both, kind="function"), X, features=0)
    by_predict = rhale.explain(both, X, features=0)
    assert by_call[0].mean == pytest.approx([-1.0])
    assert by_predict[0].mean == pytest.approx([1.0])


def test_an_adapter_is_taken_as_it_is():
    adapter = wrap(lambda rows: 2 * rows.sum(axis=1), gradient=lambda rows: np.full_like(rows, 2.0))
    assert wrap(adapter) is adapter
    fx = rhale.explain(adapter, X)
    assert fx.provenance["local_effects"]["x0"] == "effects measured by the gradient"


def test_an_adapter_has_its_response_already():
    with pytest.raises(UnknownModelError, match="response='margin' is for estimators"):
        wrap(wrap(lambda rows: rows[:, 0]), response="margin")


def test_the_record_names_the_kind_of_model():
    fitted = LinearRegression().fit(X, X[:, 0])
    assert rhale.explain(fitted, X).provenance["model"] == "sklearn LinearRegression, predict"
    assert rhale.explain(Scaled(), X).provenance["model"] == "torch module"
    assert rhale.explain(jax.jit(lambda r: r[:, 0]), X).provenance["model"] == "JAX function"
    assert rhale.explain(lambda r: jnp.sin(r[:, 0]), X).provenance["model"] == "JAX function"


def test_a_gradient_beside_an_adapter_is_refused_and_never_dropped():
    adapter = wrap(lambda rows: rows[:, 0])
    with pytest.raises(UnknownModelError, match=r"gradient= is for callables .* Adapter\.gradient"):
        wrap(adapter, gradient=lambda rows: rows)


CLASSES = LogisticRegression().fit(X, X[:, 0] > 0)
PIPE = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("estimator", [CLASSES, PIPE, OwnEstimator()])
@pytest.mark.parametrize("name", ["predict", "predict_proba", "decision_function"])
def test_a_method_stands_for_its_estimator_and_that_response(estimator, name):
    if hasattr(estimator, name):
        assert unbind(getattr(estimator, name), "auto") == (estimator, name)
        assert unbind(getattr(estimator, name), name) == (estimator, name)


def test_an_explained_method_has_the_labels_of_its_estimator():
    fx = rhale.explain(CLASSES.predict_proba, X)
    assert fx.effects == rhale.explain(CLASSES, X, response="predict_proba").effects
    assert fx.outputs == ("True",)
    ix = rhale.interactions(CLASSES.decision_function, X)
    assert ix.provenance["model"] == "sklearn LogisticRegression, decision_function"


def test_a_method_and_another_response_contradict_each_other():
    said = (
        r"LogisticRegression.predict_proba, and response='log_odds' .* pass the LogisticRegression"
    )
    with pytest.raises(BadSettingError, match=said):
        rhale.explain(CLASSES.predict_proba, X, response="log_odds")


class Renamed(OwnEstimator):
    def predict(self, rows):
        return -rows[:, 0]

    old = OwnEstimator.predict


@pytest.mark.parametrize(
    "model",
    [
        CLASSES.predict_log_proba,  # which is no response
        Renamed().old,  # another function than the estimator's own predict
        [1.0].append,
        Scaled().forward,
        wrap(OwnEstimator()).predict,
        OwnEstimator.predict,
    ],
)
def test_other_methods_are_functions_of_their_own(model):
    assert unbind(model, "auto") == (model, "auto")
