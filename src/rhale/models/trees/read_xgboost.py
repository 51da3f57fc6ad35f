"""Trees of XGBoost, through treelite."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from rhale.models.library_errors import first_line
from rhale.models.trees.from_treelite import from_treelite
from rhale.models.trees.reading import CLASS_LABEL, CannotReadError, Reading
from rhale.models.trees.recode import recode

WITHOUT_LINK = ("reg:quantileerror", "reg:absoluteerror")  # objectives new to treelite 4.8


def read_xgboost(model: Any) -> Reading:
    """A Booster, as many rounds of it as its own predict uses."""
    import treelite

    booster, missing = model, np.nan
    categories = _xgboost_categories(booster_of(model))  # a slice of a Booster forgets them
    if hasattr(model, "get_booster"):
        booster, missing = booster_of(model), float(np.float32(model.missing))
        best = getattr(model, "best_iteration", None) if _has_best(model) else None
        if best is not None and best + 1 < booster.num_boosted_rounds():
            booster = booster[: best + 1]
    learner = json.loads(booster.save_config())["learner"]
    if learner["gradient_booster"]["name"] == "gblinear":
        msg = "it is a linear model (gblinear) without trees"
        raise CannotReadError(msg)
    objective = learner["objective"]["name"]
    try:
        if categories is None and objective not in WITHOUT_LINK:
            found = treelite.frontend.from_xgboost(booster)
        else:
            found = treelite.frontend.from_xgboost_json(_for_treelite(booster))
    except treelite.TreeliteError as error:
        msg = f"treelite refuses it: {first_line(error)}"
        raise CannotReadError(msg) from error
    reading = from_treelite(found, is_single=True, missing=missing)
    reading = replace(reading, adds_in_single=True)
    if objective == "binary:hinge" or (
        objective == "multi:softmax" and not hasattr(model, "predict_proba")
    ):
        reading = replace(reading, link=CLASS_LABEL)
    return reading if categories is None else _add_recoding(reading, categories)


def booster_of(model: Any) -> Any:
    """The Booster inside an estimator of XGBoost, or the Booster itself."""
    return model.get_booster() if hasattr(model, "get_booster") else model


def _xgboost_categories(booster: Any) -> list[list[Any] | None] | None:
    """Categories of each column of the data frame in training; None if there were none.

    XGBoost before 3.1 does not keep them: it goes by the places of categories in each table.
    """
    if "c" not in (booster.feature_types or ()):
        return None
    exported = json.loads(booster.save_raw("json"))
    listed = _tree_part(exported).get("cats", {}).get("enc", [])
    named = [_listed_names(one) for one in listed]
    if any(c is not None for c in named):
        return named
    return None if booster.feature_names is None else [None] * len(booster.feature_names)


def _listed_names(listed: dict[str, Any]) -> list[Any] | None:
    """Categories of one column: numbers, or text as bytes and where each begins."""
    if "offsets" not in listed:
        return list(listed["values"])
    text = np.array(listed["values"], dtype=np.int64).astype(np.uint8).tobytes()
    places = listed["offsets"]
    words = [text[a:b].decode() for a, b in pairwise(places)]
    return words or None


def _tree_part(exported: Any) -> Any:
    """Where the JSON of a Booster keeps its trees: one level deeper for dart."""
    part = exported["learner"]["gradient_booster"]
    return part.get("gbtree", part)["model"]


def _for_treelite(booster: Any) -> str:
    """The model as JSON without names of categories, and with an objective that treelite knows."""
    exported = json.loads(booster.save_raw("json"))
    _tree_part(exported).pop("cats", None)
    if exported["learner"]["objective"]["name"] in WITHOUT_LINK:
        exported["learner"]["objective"] = {"name": "reg:squarederror"}  # no link either
    return json.dumps(exported)


def _add_recoding(reading: Reading, categories: list[list[Any] | None]) -> Reading:
    """Turn categories of a data frame into the numbers that the trees know them by."""
    columns = np.arange(reading.forest.n_features)
    return replace(reading, columns=columns, transform=partial(recode, categories=categories))


def _has_best(model: Any) -> bool:
    """XGBoost raises where there was no early stopping."""
    try:
        return model.best_iteration is not None
    except AttributeError:
        return False
