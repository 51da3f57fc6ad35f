"""Whether a model has an answer before its link function, where what its trees add up is additive."""

from __future__ import annotations

from typing import Any

from rhale.errors import RhaleError
from rhale.models.trees.model import TreeModel
from rhale.models.wrap import wrap

PROBABILITIES = "predict_proba"


def has_margin(model: Any) -> bool:
    """Tell whether a tree ensemble gives probabilities by a link, and answers before it, too.

    Parameters
    ----------
    model : object
        A model as `rhale.explain` takes it; no path.
    """
    try:
        usual = wrap(model)
        if not isinstance(usual, TreeModel) or usual.response != PROBABILITIES:
            return False
        wrap(model, response="margin")
    except RhaleError:  # there is no such answer, or no such model, which is told elsewhere
        return False
    return True


def gives_probabilities(model: Any, response: str) -> bool:
    """Tell whether the answers that are explained are probabilities."""
    try:
        adapter = wrap(model, response=response)  # type: ignore[arg-type]
    except RhaleError:
        return False
    return getattr(adapter, "response", "") == PROBABILITIES
