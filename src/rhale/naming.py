"""Find features and outputs by name or position, and suggest what may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from operator import index
from typing import Any, ParamSpec, TypeVar

import numpy as np

from rhale.errors import (
    BadSettingError,
    UnknownArgumentError,
    UnknownFeatureError,
    UnknownOutputError,
)

BY_NAME_OR_PLACE = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
NO_TARGET = "a target is not needed: effects describe what the model predicts"
Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")
# what an argument, or a word that it takes, is called elsewhere
ARGUMENT_SYNONYMS = {
    "weights": ("sample_weight", "sample_weights"),
    "seed": ("random_state", "rng"),
    "data": ("X",),
    "target": ("y",),
    "model": ("estimator", "clf"),
    "output": ("target", "targets"),
    "response": ("response_method",),
    "method": ("kind",),
    "categorical": ("categorical_features", "cat_features"),
    "bins": ("grid_resolution", "grid_size"),
    "limits": ("axis_limits", "percentiles"),
    "n_rows": ("n_samples", "nof_instances", "subsample"),
    "gradient": ("model_jac", "jacobian"),
    "progress": ("verbose",),
    "folds": ("cv", "n_splits"),
}
OPTION_VALUE_SYNONYMS = {
    "log_odds": ("logit", "logits", "logodds"),
    "predict_proba": ("probability", "probabilities", "proba"),
    "margin": ("raw", "raw_score", "output_margin", "link"),
    "pdp": ("pd", "partial_dependence"),
    "gradient": ("derivative", "jacobian", "autograd"),
    "secant": ("difference", "differences", "finite_differences"),
    "h": ("friedman", "h_statistic"),
}


def find_feature(asked: Any, known: Sequence[str]) -> int:
    """Position of a feature, given by name or position.

    Examples
    --------
    >>> find_feature("age", ["sex", "age"]), find_feature(-1, ["sex", "age"])
    (1, 1)
    """
    place = find(asked, known)
    if place is None:
        msg = f"there is no feature {asked!r}; {near_names(str(asked), known)}"
        raise UnknownFeatureError(msg)
    return place


def find_output(asked: Any, known: Sequence[str], names: Sequence[str] | None = None) -> int:
    """Position of an output, given by label or position; `names` are what messages call them."""
    place = find(asked, known)
    if place is None:
        msg = f"there is no output {asked!r}; {near_names(str(asked), names or known)}"
        raise UnknownOutputError(msg)
    return place


def find_level(feature: str, asked: Any, known: Sequence[str]) -> int:
    """Position of a level of a feature, given by its label."""
    if str(asked) in known:
        return list(known).index(str(asked))
    msg = f"feature {feature!r} has no level {asked!r}; {near_names(str(asked), known)}"
    raise BadSettingError(msg)


def list_asked(wanted: Any, argument: str) -> list[Any]:
    """List what one name, one position or any collection of them asks for.

    Examples
    --------
    >>> list_asked("age", "features"), list_asked(["age", 2], "features")
    (['age'], ['age', 2])
    """
    single = isinstance(wanted, str) or not isinstance(wanted, Iterable)
    asked = [wanted] if single else list(wanted)
    if not asked:
        msg = f"{argument}=[] is empty; name at least one, or leave it out for all"
        raise BadSettingError(msg)
    return asked


def find(asked: Any, known: Sequence[str]) -> int | None:
    """Position of a name, or else of a position; None if it is neither."""
    if str(asked) in known:
        return list(known).index(str(asked))
    if isinstance(asked, bool | np.bool_):
        return None
    try:
        position = index(asked)
    except TypeError:
        return None
    return position % len(known) if -len(known) <= position < len(known) else None


def near_names(name: str, known: Sequence[str], limit: int = 12) -> str:
    """Say which names are meant or possible, as the end of a message."""
    shown = ", ".join(repr(k) for k in known[:limit])
    more = f" and {len(known) - limit} more" if len(known) > limit else ""
    return f"{guess(name, known)}Known: {shown}{more}"


def guess(name: str, known: Sequence[str]) -> str:
    """Ask whether a near name was meant, upper and lower case alike; nothing where none is near."""
    folded = list(dict.fromkeys(one.casefold() for one in known))
    close = difflib.get_close_matches(str(name).casefold(), folded, n=3, cutoff=0.6)
    meant = [one for near in close for one in known if one.casefold() == near][:3]
    return f"did you mean {' or '.join(map(repr, meant))}? " if meant else ""


def translate(name: str, words: Mapping[str, Sequence[str]], known: Sequence[str]) -> str | None:
    """Our word for what is called so elsewhere, if it is known here.

    Examples
    --------
    >>> translate("logit", OPTION_VALUE_SYNONYMS, ["auto", "log_odds"])
    'log_odds'
    """
    return next((ours for ours, theirs in words.items() if name in theirs and ours in known), None)


def read_word(argument: str, given: Any, known: Sequence[str]) -> str:
    """One of the words that an argument takes, written in any case; refuse others."""
    if given in known:
        return str(given)
    if not isinstance(given, str):
        msg = f"{argument}={given!r:.60} is not known; use one of {', '.join(known)}"
        raise BadSettingError(msg)
    word = given.casefold()
    if word in known:
        return word
    ours = translate(word, OPTION_VALUE_SYNONYMS, known)
    meant = f"did you mean {ours!r}? " if ours else guess(given, known)
    msg = f"{argument}={given!r:.60} is not known; {meant}use one of {', '.join(known)}"
    raise BadSettingError(msg)


def answering_unknown(
    *more: str,
) -> Callable[[Callable[Asked, Answer]], Callable[Asked, Answer]]:
    """Make a call refuse unknown arguments, name the one that was meant, and say what is missing.

    `more` are arguments that it takes besides those that its signature names.

    Examples
    --------
    >>> @answering_unknown()
    ... def explain(model, *, weights=None):
    ...     return weights
    >>> explain(len, sample_weight=[1.0])
    Traceback (most recent call last):
    rhale.errors.UnknownArgumentError: explain has no argument 'sample_weight'; it is called weights=
    """

    def answering(call: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
        named = signature(call).parameters.values()
        known = (*(p.name for p in named if p.kind is not Parameter.VAR_KEYWORD), *more)
        in_order = [p.name for p in named if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
        needed = [p.name for p in named if p.kind in BY_NAME_OR_PLACE and p.default is p.empty]

        @wraps(call)
        def asked(*given: Asked.args, **options: Asked.kwargs) -> Answer:
            if in_order and len(given) > len(in_order):
                msg = (
                    f"{call.__name__} takes {' and '.join(in_order)} without a name, and was given "
                    f"{len(given)} values; name the others, as in progress=True"
                )
                if "model" in in_order:
                    msg += f"; {NO_TARGET}"
                raise UnknownArgumentError(msg)
            for name in options:
                if name in known:
                    continue
                ours = translate(name, ARGUMENT_SYNONYMS, known)
                hint = f"it is called {ours}="
                if name == "y" and ours is None:
                    hint = NO_TARGET
                elif ours is None:
                    hint = (guess(name, known) or f"it has {', '.join(known)}").strip()
                msg = f"{call.__name__} has no argument {name!r}; {hint}"
                raise UnknownArgumentError(msg)
            lacking = [name for name in needed if name not in {*in_order[: len(given)], *options}]
            if lacking:
                msg = f"{call.__name__} needs {' and '.join(lacking)}: {call.__name__}({', '.join(needed)})"
                raise UnknownArgumentError(msg)
            return call(*given, **options)

        return asked

    return answering
