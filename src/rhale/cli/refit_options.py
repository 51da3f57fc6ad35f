"""`--scheme`, `--n-refits` and the rest that is about trainings: how typed, sent, understood."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

from rhale.cli.pair_options import pairs_as_typed
from rhale.cli.region_options import read_typed_regions
from rhale.cli.values import parse_bins_option
from rhale.errors import BadSettingError, ModelFailedError, UnknownModelError, excerpt
from rhale.models.files.load import is_named_object, load_named
from rhale.stability.splits import Scheme

DRAWN = ("n_refits", "share", "folds")
TRAINING_OPTIONS = ("scheme", *DRAWN, "groups")


def trainings_as_typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values of the arguments that only `rhale.refit` has; those that were given."""
    asked = {name: given[name] for name in TRAINING_OPTIONS if given.get(name) is not None}
    if given.get("jobs") is not None:
        asked["n_jobs"] = given["jobs"]
    return {**asked, **pairs_as_typed({"pairs": given.get("pairs")})}


def read_typed_trainings(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Turn plain values into what `rhale.refit` takes."""
    found = {
        **plain,
        "bins": parse_bins_option(plain.get("bins")),
        "regions": read_typed_regions(plain.get("regions")),
    }
    if isinstance(found.get("pairs"), list):
        found["pairs"] = [tuple(pair) for pair in found["pairs"]]
    return found


def read_scheme(asked: Mapping[str, Any]) -> Scheme:
    """How rows are drawn; refuse numbers that make no sense together."""
    drawn = {name: asked[name] for name in DRAWN if name in asked}
    return Scheme(asked.get("scheme", Scheme.name), **drawn)


# --- The learner that `module:name` stands for: an estimator, what makes one, or a function that trains


TRAINS = 2  # arguments of a function that trains: rows and target
ESTIMATOR_FORMS = (
    "give an estimator with fit, a function without arguments that returns one, or a function "
    "(rows, target) -> fitted model"
)
NOT_NAMED = (
    "names no learner; write module:name, where the module is on the path or in this folder. A file "
    "holds a fitted model, and trainings need the code that makes it"
)


def require_named(text: str) -> None:
    """Refuse what does not name an object of a module."""
    if not is_named_object(text):
        msg = f"{text} {NOT_NAMED}"
        raise BadSettingError(msg)


def find_learner(name: str) -> Any:
    """Import what is to be trained.

    Result: what `rhale.refit` takes: an estimator, or a function (rows, target) -> model.
    """
    return as_learner(load_named(name), name)


def as_learner(found: Any, name: str) -> Any:
    """Tell a function that makes an estimator from one that trains, by what it must be given."""
    if not _is_told_apart(found):
        return _require_estimator(found, f"{name} is", ESTIMATOR_FORMS)
    needed = _needed(found, name)
    if len(needed) == TRAINS and not isinstance(found, type):
        return found
    if needed:
        msg = f"{name} must be given {', '.join(needed)}; {ESTIMATOR_FORMS}"
        raise UnknownModelError(msg)
    made = _make(found, name)
    if _is_told_apart(made) and not isinstance(made, type) and len(_needed(made, name)) == TRAINS:
        return made
    return _require_estimator(made, f"{name}() returned", "return an estimator with fit")


def _is_told_apart(found: Any) -> bool:
    """Whether something is a function or a class; other objects are estimators, or none."""
    return inspect.isroutine(found) or isinstance(found, type | partial)


def _needed(function: Any, name: str) -> list[str]:
    """Arguments that must be given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        msg = f"{name} does not tell which arguments it takes; write a function around it"
        raise UnknownModelError(msg) from error
    loose = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in loose]


def _make(function: Any, name: str) -> Any:
    """Call what makes an estimator."""
    try:
        return function()
    except Exception as error:
        msg = (
            f"{name}(), which is to make an estimator, raised {type(error).__name__}: "
            f"{excerpt(error)}; a function that trains takes two arguments, (rows, target)"
        )
        raise ModelFailedError(msg) from error


def _require_estimator(found: Any, what: str, way: str) -> Any:
    """Refuse what cannot be trained."""
    if not isinstance(found, type) and hasattr(found, "fit"):
        return found
    kind = "None" if found is None else f"{type(found).__name__} {found!r:.60}"
    has = (
        "predict and no fit: it cannot be trained again" if hasattr(found, "predict") else "no fit"
    )
    msg = f"{what} {kind}, which has {has}; {way}"
    raise UnknownModelError(msg)
