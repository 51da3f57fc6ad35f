"""What single libraries need: tables for XGBoost, order of columns for LightGBM, threads of CatBoost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import MethodType
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from rhale.errors import BadTableError
from rhale.models.libraries import classes_of
from rhale.models.trees.ensemble import split_pipeline
from rhale.models.trees.readers import booster_of, xgboost_categories
from rhale.models.trees.reading import lightgbm_categories, with_categories


@dataclass(frozen=True, eq=False)
class XGBoostBooster:
    """A Booster that takes tables: XGBoost's own takes its own kind of matrix only."""

    booster: Any

    def predict(self, rows: Any) -> Any:
        """Answers of all rounds, as the Booster's own predict gives them."""
        return self.booster.predict(self._matrix(rows))

    def decision_function(self, rows: Any) -> Any:
        """Answers before the link function."""
        return self.booster.predict(self._matrix(rows), output_margin=True)

    def _matrix(self, rows: Any) -> Any:
        from xgboost import DMatrix

        names = self.booster.feature_names if isinstance(rows, np.ndarray) else None
        types = self.booster.feature_types if isinstance(rows, np.ndarray) else None
        return DMatrix(rows, feature_names=names, feature_types=types, enable_categorical=True)


def as_estimator(model: Any) -> Any:
    """Return a model that predicts for tables: an XGBoost Booster is wrapped, others stay."""
    return XGBoostBooster(model) if "xgboost.Booster" in classes_of(model) else model


def match_training_columns(model: Any, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Ask boosters only with the columns, and the categories, of their training."""
    steps, inner = split_pipeline(model)
    if not steps:
        ask = _with_trained_categories(inner, ask)
    classes, names = classes_of(inner), None
    if not steps and "lightgbm.LGBMModel" in classes:
        names = getattr(inner, "feature_name_", None)
    elif not steps and "lightgbm.Booster" in classes:
        names = inner.feature_name()
    if names is None or all(re.fullmatch(r"Column_\d+", n) for n in names):
        return ask  # it has no names for them
    # LightGBM goes by position, in silence
    return partial(_ask_in_order, tuple(names), ask)


def _with_trained_categories(model: Any, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Give text and numbers of a data frame the categories that the model was trained with."""
    classes = classes_of(model)
    categories = None
    if {"lightgbm.LGBMModel", "lightgbm.Booster"} & {*classes}:
        categories = lightgbm_categories(getattr(model, "booster_", model))
    elif {"xgboost.XGBModel", "xgboost.Booster"} & {*classes}:
        categories = xgboost_categories(booster_of(model))
    if categories is None:
        return ask

    def predict(rows: Any) -> Any:
        is_frame = hasattr(rows, "iloc") and rows.shape[1] == len(categories)
        return ask(with_categories(rows, categories) if is_frame else rows)

    return predict


def _ask_in_order(names: tuple[str, ...], ask: Callable[[Any], Any], rows: Any) -> Any:
    table = nw.from_native(rows, pass_through=True)
    found = tuple(str(c) for c in table.columns) if isinstance(table, nw.DataFrame) else names
    given, wanted = ([re.sub(r"\s", "_", n) for n in some] for some in (found, names))
    if given != wanted:  # LightGBM writes spaces as underscores
        what = "another order" if sorted(given) == sorted(wanted) else "other names"
        msg = (
            f"the table's columns have {what} than those the model was trained on: "
            f"{shorten_names(found)} instead of {shorten_names(names)}. LightGBM goes by position; "
            "reorder or rename the columns, or pass them as an array"
        )
        raise BadTableError(msg)
    return ask(rows)


def shorten_names(names: Sequence[str]) -> str:
    """The first names of many."""
    return ", ".join(names[:6]) + (f", ... ({len(names)})" if len(names) > 6 else "")


# --- Threads that a model starts at every question, whatever the limits of its library: CatBoost's


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
