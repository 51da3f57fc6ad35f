"""Probabilities, and the margins of trees before the link."""

from __future__ import annotations

from typing import Any

from rhale.errors import RhaleError
from rhale.models.boosters import as_estimator
from rhale.models.sklearn import choose_response
from rhale.models.trees.ensemble import is_tree_model
from rhale.models.wrap import recognise_kind, wrap
from rhale.settings import Response


def gives_probabilities(model: Any, response: Response) -> bool:
    """Tell whether the answers of an estimator that are explained are probabilities."""
    try:
        is_estimator = recognise_kind(model) == "estimator"
        return is_estimator and choose_response(as_estimator(model), response) == "predict_proba"
    except RhaleError:  # reported when the model is called first
        return False


def has_margin(model: Any) -> bool:
    """Tell whether a tree ensemble usually gives probabilities, and answers before the link, too."""
    if not gives_probabilities(model, "auto") or not is_tree_model(model):
        return False
    try:
        wrap(model, response="margin")
    except RhaleError:  # there is no such answer: forests of single trees average probabilities
        return False
    return True
