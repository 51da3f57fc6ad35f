"""Threads that a model starts at every question, whatever the limits of its library: CatBoost's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import MethodType
from typing import Any

from rhale.models.libraries import classes_of

QUESTIONS = ("predict", "predict_proba", "predict_log_proba")
MAX_ESTIMATOR_NESTING = 8  # estimators in estimators


@contextmanager
def limit_own_threads(function: Any) -> Iterator[None]:
    """Let models behind a function answer in the thread that asks; afterwards they are as before."""
    # CatBoost takes a number of threads with every question and no other limit. Estimators that
    # hold such a model pass none on, so the model itself is given one: its questions are covered
    # by partial ones, in its own attributes, and uncovered again.
    found = [m for m in parts_of(function) if "catboost.CatBoost" in classes_of(m)]
    for model in found:
        for name in QUESTIONS:
            if hasattr(type(model), name):
                method = MethodType(getattr(type(model), name), model)
                setattr(model, name, partial(method, thread_count=1))
    try:
        yield
    finally:
        for model in found:
            for name in QUESTIONS:
                vars(model).pop(name, None)


def parts_of(thing: Any) -> list[Any]:
    """Estimators that a function holds, and those that they hold, each once."""
    found: dict[int, Any] = {}
    _collect(thing, found, MAX_ESTIMATOR_NESTING)
    return list(found.values())


def _collect(thing: Any, found: dict[int, Any], n_levels: int) -> None:
    if n_levels == 0 or id(thing) in found:
        return
    if isinstance(thing, partial):
        inner = [thing.func, *thing.args, *thing.keywords.values()]
    elif isinstance(thing, MethodType):
        inner = [thing.__self__]
    elif isinstance(thing, list | tuple | dict):
        inner = list(thing.values() if isinstance(thing, dict) else thing)
    elif hasattr(thing, "get_params") and not isinstance(thing, type):
        found[id(thing)] = thing
        inner = list(vars(thing).values())
    else:
        return
    for one in inner:
        _collect(one, found, n_levels - 1)
