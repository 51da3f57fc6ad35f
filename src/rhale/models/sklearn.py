"""Estimators with `predict`: scikit-learn, its pipelines, and libraries that follow its ways."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, get_args

from rhale.errors import BadSettingError, UnknownModelError
from rhale.models.function import FunctionModel

Response = Literal["auto", "predict", "predict_proba", "decision_function", "margin"]
MARGIN_ARGUMENTS: dict[str, dict[str, Any]] = {
    "xgboost": {"output_margin": True},
    "lightgbm": {"raw_score": True},
    "catboost": {"prediction_type": "RawFormulaVal"},
}


def estimator_model(
    estimator: Any,
    *,
    response: Response = "auto",
    gradient: Callable[[Any], Any] | None = None,
) -> FunctionModel:
    """Choose which of an estimator's answers is explained.

    Parameters
    ----------
    estimator : object with `predict`
        A fitted estimator.
    response : {"auto", "predict", "predict_proba", "decision_function", "margin"}
        "auto" is predict for regressors and predict_proba for classifiers.
    gradient : callable, optional
        Derivative of that answer.
    """
    if response not in get_args(Response):
        msg = f"response={response!r} is not known; use one of {', '.join(get_args(Response))}"
        raise BadSettingError(msg)
    chosen = _usual_response(estimator) if response == "auto" else response
    ask = _margin(estimator) if chosen == "margin" else _method(estimator, chosen)
    labels = _classes(estimator) if chosen != "predict" else None
    two = labels is not None and len(labels) == 2
    if two and chosen != "predict_proba":
        labels = labels[1:] if labels else None  # one number for two classes
    usual = (1,) if two and chosen == "predict_proba" else None
    kind = f"{type(estimator).__module__.partition('.')[0]} {type(estimator).__name__}"
    return FunctionModel(ask, gradient, labels, usual, f"{kind}, {chosen}")


def _usual_response(estimator: Any) -> Response:
    if _classes(estimator) is None:
        return "predict"
    if hasattr(estimator, "predict_proba"):
        return "predict_proba"
    return "decision_function" if hasattr(estimator, "decision_function") else "predict"


def _classes(estimator: Any) -> tuple[str, ...] | None:
    """Class labels as text; None for anything but a classifier."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) < 2:
        return None
    return tuple(str(c) for c in classes)


def _method(estimator: Any, name: str) -> Callable[[Any], Any]:
    method = getattr(estimator, name, None)
    if method is None:
        known = [r for r in get_args(Response)[1:4] if hasattr(estimator, r)]
        msg = (
            f"{type(estimator).__name__} has no {name}; it has {', '.join(known) or 'none of them'}"
        )
        raise UnknownModelError(msg)
    found: Callable[[Any], Any] = method
    return found


def _margin(estimator: Any) -> Callable[[Any], Any]:
    """Find the answer before the link function."""
    for base in type(estimator).__mro__:
        arguments = MARGIN_ARGUMENTS.get(base.__module__.partition(".")[0])
        if arguments:
            return partial(estimator.predict, **arguments)
    return _method(estimator, "decision_function")
