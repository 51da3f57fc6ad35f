"""Estimators with `predict`: scikit-learn, its pipelines, and libraries that follow its ways."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, get_args

import numpy as np

from rhale.errors import BadPredictionError, UnknownModelError
from rhale.models.function import FunctionModel
from rhale.models.libraries import RESPONSE_WORDS, Answer
from rhale.naming import read_word
from rhale.output.text import Note
from rhale.settings import Response
from rhale.stats.arrays import FloatArray

BY_CLASS = ("predict_proba", "log_odds")  # one number for each class
OUTLIER_SCORES = ("decision_function", "score_samples", "offset_")
MARGIN_ARGUMENTS: dict[str, dict[str, Any]] = {
    "xgboost": {"output_margin": True},
    "lightgbm": {"raw_score": True},
    "catboost": {"prediction_type": "RawFormulaVal"},
}

RISK_SCORE = Note(
    "risk score",
    "The model is a survival model: its predict returns a risk score without a unit, and a higher one "
    "means an earlier event. To explain a probability of survival, pass a function of the rows, such "
    "as lambda rows: [s(5.0) for s in model.predict_survival_function(rows)].",
)


def estimator_model(
    estimator: Any,
    *,
    response: Response = "auto",
    gradient: Callable[[Any], Any] | None = None,
    model: Any = None,
) -> FunctionModel:
    """Turn an estimator into a function that gives one of its answers."""
    chosen = choose_response(estimator, response)
    by_class = chosen in BY_CLASS
    ask = _answer_of(estimator, chosen)
    known = type(estimator if model is None else model)
    kind = f"{known.__module__.partition('.')[0]} {known.__name__}, {chosen}"
    answers: Answer = RESPONSE_WORDS.get(chosen, "prediction")
    notes: tuple[Note, ...] = ()
    if chosen == "predict" and hasattr(last_step(estimator), "predict_survival_function"):
        answers, notes = "risk score", (RISK_SCORE,)
    targets = _targets(estimator)
    if by_class and len(targets) > 1:
        named = _name_targets(targets)
        return FunctionModel(partial(_join_targets, ask), gradient, *named, kind, answers=answers)
    labels = _classes(estimator) if chosen != "predict" else None
    two = labels is not None and len(labels) == 2
    if two and not by_class:
        labels = labels[1:] if labels else None  # one number for two classes
    usual = (1,) if two and by_class else None
    return FunctionModel(ask, gradient, labels, usual, kind, answers=answers, notes=notes)


def choose_response(estimator: Any, response: Response = "auto") -> Response:
    """Choose which of an estimator's answers is explained."""
    read_word("response", response, get_args(Response))
    if response != "auto":
        return response
    if _classes(estimator) is None and not _targets(estimator):
        # an outlier detector's predict says -1 or 1 of what its score says finely
        is_detector = all(map(partial(hasattr, last_step(estimator)), OUTLIER_SCORES))
        return "decision_function" if is_detector else "predict"
    if hasattr(estimator, "predict_proba"):
        return "predict_proba"
    return "decision_function" if hasattr(estimator, "decision_function") else "predict"


def _answer_of(estimator: Any, response: str) -> Callable[[Any], Any]:
    """The method that gives a response."""
    if response == "margin":  # before the link function; pipelines pass arguments on to their end
        for base in type(last_step(estimator)).__mro__:
            arguments = MARGIN_ARGUMENTS.get(base.__module__.partition(".")[0])
            if arguments:
                return partial(_call_method, estimator, "predict", **arguments)
        has_log = _classes(estimator) is None and not _targets(estimator)
        hint = "; with a log link, use transform={'prediction': np.log} instead" if has_log else ""
        return _find_response_method(estimator, "decision_function", hint)
    if response == "log_odds":
        return partial(_log_odds, _find_response_method(estimator, "predict_proba"))
    return _find_response_method(estimator, response)


def _log_odds(predict_proba: Callable[[Any], Any], rows: Any) -> Any:
    """Log-odds of probabilities; of several targets, one array each."""
    found = predict_proba(rows)
    if isinstance(found, list):
        return [log_odds(p) for p in found]
    return log_odds(found)


def log_odds(probability: Any) -> FloatArray:
    """Turn probabilities into log(p / (1 - p))."""
    p = np.asarray(probability, dtype=np.float64)
    if np.any((p <= 0) | (p >= 1)):
        msg = (
            f"the model gives probability 0 or 1 for {int(np.any((p <= 0) | (p >= 1), axis=-1).sum())} "
            f"of {len(p)} rows, whose log-odds are infinite; use response='predict_proba'"
        )
        raise BadPredictionError(msg)
    return np.log(p) - np.log1p(-p)


def _targets(estimator: Any) -> list[Any]:
    """Classes of each target of a classifier with several; nothing for others."""
    classes = getattr(estimator, "classes_", None)
    if not isinstance(classes, list) or any(getattr(c, "ndim", 0) != 1 for c in classes):
        return []
    return classes


def _name_targets(targets: list[Any]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Labels of all classes of all targets, and which are explained: of two classes the second."""
    labels = tuple(f"y{i} {c}" for i, classes in enumerate(targets) for c in classes)
    two = [len(classes) == 2 for classes in targets for _ in classes]
    second = [i % 2 == 1 for classes in targets for i in range(len(classes))]
    usual = tuple(i for i, (t, s) in enumerate(zip(two, second, strict=True)) if s or not t)
    return labels, usual


def _join_targets(ask: Callable[[Any], Any], rows: Any) -> FloatArray:
    """Answers about several targets as columns of one array."""
    found = ask(rows)
    if not isinstance(found, list):  # a chain: the second class of each target
        return np.asarray(found)
    return np.hstack([np.asarray(part, dtype=np.float64) for part in found])


def last_step(estimator: Any) -> Any:
    """The estimator at the end of pipelines; the estimator itself if it is none."""
    steps = getattr(estimator, "steps", None)
    return last_step(steps[-1][1]) if isinstance(steps, list) and steps else estimator


def _classes(estimator: Any) -> tuple[str, ...] | None:
    """Class labels as text; None for anything but a classifier."""
    classes: Any = getattr(estimator, "classes_", None)
    if not isinstance(classes, Collection) or getattr(classes, "ndim", None) == 0:  # it is damaged
        return None
    if len(classes) < 2 or _targets(estimator):
        return None
    return tuple(str(c) for c in classes)


def _find_response_method(estimator: Any, name: str, hint: str = "") -> Callable[[Any], Any]:
    if getattr(estimator, name, None) is None:
        known = [r for r in get_args(Response)[1:4] if hasattr(estimator, r)]
        msg = f"{type(estimator).__name__} has no {name}; it has {', '.join(known) or 'none of them'}{hint}"
        raise UnknownModelError(msg)
    return partial(_call_method, estimator, name)


def _call_method(estimator: Any, name: str, rows: Any, **arguments: Any) -> Any:
    """Call a method as it is now: it may be covered by another one for a while."""
    return getattr(estimator, name)(rows, **arguments)
