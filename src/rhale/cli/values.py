"""Values of options as text: bins, sizes of memory, names and units."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from rhale.effects.binning.choose import PARTITIONS
from rhale.errors import BadSettingError, ModelFailedError, UnknownModelError, excerpt
from rhale.interaction.settings import PairSettings
from rhale.models.files.load import is_named_object, load_named
from rhale.regions.settings import By, Regions
from rhale.stability.splits import Scheme

# --- `--bins`: a number, or a name with its numbers

*FIRST, LAST = (text for kind in PARTITIONS.values() for text in kind.texts)
KNOWN_BINS_TEXT = f"{', '.join(['20', *FIRST])} or {LAST}"


def parse_bins_option(text: str | None) -> Any:
    """Turn `--bins` into what `explain` takes."""
    if text is None:
        return None
    name, _, numbers = text.strip().lower().partition(":")
    try:
        found = [float(n) for n in numbers.split(",")] if numbers else []
        return int(name) if name.isdigit() else PARTITIONS[name].make(found)
    except (KeyError, ValueError, TypeError) as error:
        if isinstance(error, BadSettingError):
            raise
        msg = f"--bins {text} is not understood; use {KNOWN_BINS_TEXT}"
        raise BadSettingError(msg) from error


# --- Sizes of memory, as people write and read them


BYTE_SIZE_PATTERN = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?", re.IGNORECASE)
BYTE_UNIT_EXPONENTS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def parse_byte_size(text: str) -> int | None:
    """Read a size in bytes; None if it is none."""
    found = BYTE_SIZE_PATTERN.fullmatch(text.strip())
    if found is None:
        return None
    return int(float(found[1]) * 2 ** BYTE_UNIT_EXPONENTS[found[2].upper()])


# --- `--name`, `--output-name`, `--unit`: how names for people are typed, and what they say


NAME_ARGUMENTS = {"name": "feature_names", "unit": "units"}


def names_as_typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `explain` that name features, outputs and units; none that were not given."""
    found: dict[str, Any] = {
        argument: read_equations(f"--{option}", given[option])
        for option, argument in NAME_ARGUMENTS.items()
        if given.get(option)
    }
    output = given.get("output_name") or given.get("target")
    return {**found, "output_names": output} if output else found


def read_equations(option: str, typed: Sequence[str]) -> dict[str, str]:
    """Read texts such as `bmi=Body mass index`; what stands before the first = is the key."""
    found = dict[str, str]()
    for text in typed:
        key, is_one, words = text.partition("=")
        if not is_one or not key.strip() or not words.strip():
            msg = f"{option} {text} names nothing; write {option} 'bmi=Body mass index'"
            raise BadSettingError(msg)
        found[key.strip()] = words.strip()
    return found


# --- `--pairs`, `--top`, `--cells` and the rest that is about pairs: how typed, sent, understood


ALL = "all"


def pairs_as_typed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values of the arguments that only `rhale.interactions` has; those that were given."""
    names = [field.name for field in fields(PairSettings)]
    asked = {name: given[name] for name in names if given.get(name) is not None}
    if asked.get("smooth") is False:
        del asked["smooth"]
    pairs, top = given.get("pairs"), given.get("top")
    if pairs is not None and top is not None:
        msg = f"--pairs {pairs} names pairs and --top {top} has them chosen; use one of the two"
        raise BadSettingError(msg)
    if top is not None:
        return {"pairs": top, **asked}
    if pairs is not None:
        asked["pairs"] = ALL if pairs == ALL else [_pair(text) for text in pairs.split(",")]
    return asked


def _pair(text: str) -> list[str]:
    names = [name.strip() for name in text.split(":")]
    if len(names) != 2 or not all(names):
        msg = f"--pairs {text.strip()!r} is not a pair; write a:b, pairs between commas, or all"
        raise BadSettingError(msg)
    return names


def read_typed_pairs(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Turn plain values into what `rhale.interactions` takes."""
    found = dict(plain)
    if isinstance(found.get("pairs"), list):
        found["pairs"] = [tuple(pair) for pair in found["pairs"]]
    if "cells" in found:
        try:
            found["cells"] = parse_bins_option(found["cells"])
        except BadSettingError as error:
            msg = f"--cells {found['cells']} is not understood; use 20, quantile:20 or fixed:20"
            raise BadSettingError(msg) from error
    return found


# --- `--regions`, `--depth`, `--splitters`, `--by`, `--cuts`: how they are typed, sent, understood


def regions_as_typed(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Plain values that say which regions were asked for; None where none were."""
    by, searched, cuts = given.get("by"), bool(given.get("regions")), given.get("cuts")
    further = {name: given[name] for name in ("depth", "splitters") if given.get(name) is not None}
    if cuts is not None and by is None:
        msg = f"--cuts {cuts} divides a column into groups; name it with --by"
        raise BadSettingError(msg)
    if searched and by is not None:
        msg = f"--regions searches for groups and --by {by} names them; use one of the two"
        raise BadSettingError(msg)
    if further and not searched:
        name, value = next(iter(further.items()))
        msg = f"--{name} {value} is a setting of the search for regions; add --regions"
        raise BadSettingError(msg)
    if by is not None:
        return (
            {"by": by} if cuts is None else {"by": by, "cuts": [_cut(c) for c in cuts.split(",")]}
        )
    if not searched:
        return None
    if "splitters" in further:
        further["splitters"] = [name.strip() for name in further["splitters"].split(",")]
    return further


def _cut(text: str) -> float | str:
    """A number; or the text of a date, which `explain` reads."""
    try:
        return float(text)
    except ValueError:
        return text.strip()


def read_typed_regions(plain: Mapping[str, Any] | None) -> Regions | By | None:
    """Turn the plain values into what `explain` takes."""
    if plain is None:
        return None
    return By(plain["by"], plain.get("cuts")) if "by" in plain else Regions(**plain)


# --- `--scheme`, `--n-refits` and the rest that is about trainings: how typed, sent, understood


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
    "holds a fitted model, and retrainings need the code that makes it"
)


def require_named(text: str) -> None:
    """Refuse what does not name an object of a module."""
    if not is_named_object(text):
        msg = f"{text} {NOT_NAMED}"
        raise BadSettingError(msg)


def find_learner(name: str) -> Any:
    """Import what is to be trained.

    It is what `rhale.refit` takes: an estimator, or a function (rows, target) -> model.
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
        msg = f"{name} does not say which arguments it takes; write a function around it"
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
