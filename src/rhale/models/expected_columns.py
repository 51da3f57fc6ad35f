"""Which columns a model was made for, and those of a table that it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import attrgetter, methodcaller
from typing import Any

from rhale.errors import BadTableError
from rhale.models.adapter import Adapter
from rhale.models.ancestry import classes_of
from rhale.models.trees.ensemble import unwrap
from rhale.names import guess, near_names
from rhale.results.note import Note

NAMELESS = re.compile(r"(Column_|f|x)?\d+")  # what libraries call columns of an array
MAX_ABSENT_COLUMNS_NAMED = 10
# where models without `feature_names_in_` keep the names
NAMES_IN: dict[str, Callable[[Any], Any]] = {
    "xgboost.Booster": attrgetter("feature_names"),
    "lightgbm.Booster": methodcaller("feature_name"),
    "lightgbm.LGBMModel": lambda model: getattr(model, "feature_name_", None),  # as 4.3 has it
    "catboost.CatBoost": attrgetter("feature_names_"),
}


def columns_of(model: Any) -> tuple[str, ...] | None:
    """Names of the columns that a model takes, in its order; None if it does not say.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> columns_of(SimpleNamespace(feature_names_in_=["age", "bmi"]))
    ('age', 'bmi')
    """
    if isinstance(model, Adapter):
        found: Any = model.columns
    else:
        found = getattr(model, "feature_names_in_", None)
    inner = unwrap(model)
    readers = [NAMES_IN[name] for name in classes_of(inner) if name in NAMES_IN]
    if found is None and readers:
        found = readers[0](inner)
    names = tuple(str(name) for name in found) if found is not None else ()
    return None if not names or all(NAMELESS.fullmatch(n) for n in names) else names


def columns_for(model: Any, have: Sequence[str]) -> list[str] | None:
    """Columns of a table that a model takes, in its order; None if it does not say.

    Parameters
    ----------
    model : object
        The model.
    have : sequence of str
        Columns of the table.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> columns_for(SimpleNamespace(feature_names_in_=["age", "bmi"]), ["id", "bmi", "age"])
    ['age', 'bmi']
    """
    wanted = columns_of(model)
    if wanted is None:
        return None
    found = respell(wanted, have)
    missing = [name for name in found if name not in have]
    if missing:
        raise BadTableError(describe_absent_columns(missing, have))
    return found


def match_columns(model: Any, have: Sequence[str]) -> list[str] | None:
    """Columns of a table in memory that a model takes, in its order; None for all as they are.

    Also where the model names some that are not there: it may do without, or know better what to
    say; see `describe_absent_columns`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(feature_names_in_=["age", "bmi"])
    >>> match_columns(model, ["bmi", "age", "target"]), match_columns(model, ["age", "BMI"])
    (['age', 'bmi'], None)
    """
    wanted = columns_of(model)
    found = [] if wanted is None else respell(wanted, have)
    is_there = bool(found) and set(found) <= set(have) and len(set(found)) == len(found)
    return found if is_there and found != list(have) else None


def respell(wanted: Sequence[str], have: Sequence[str]) -> list[str]:
    """Names of a model as the table writes them: LightGBM writes spaces as underscores."""
    known, spelled = set(have), {name.replace(" ", "_"): name for name in have}
    return [name if name in known else spelled.get(name, name) for name in wanted]


def describe_absent_columns(missing: Sequence[str], have: Sequence[str]) -> str:
    """Say which columns of its training a table does not have."""
    shown = ", ".join(repr(name) for name in missing[:MAX_ABSENT_COLUMNS_NAMED])
    more = (
        f" and {len(missing) - MAX_ABSENT_COLUMNS_NAMED} more"
        if len(missing) > MAX_ABSENT_COLUMNS_NAMED
        else ""
    )
    msg = f"the table has no column {shown}{more}, which the model was trained on; "
    known = next(
        (name for name in missing[:MAX_ABSENT_COLUMNS_NAMED] if guess(name, have)), missing[0]
    )
    return msg + near_names(known, have)


def tell_left_out(left: Sequence[str]) -> Note:
    """Say which columns of a table the model does not see.

    Examples
    --------
    >>> tell_left_out(["id", "target"])
    "columns left out, as the model was not fitted on them: 'id', 'target'"
    """
    shown = ", ".join(repr(name) for name in left[:MAX_ABSENT_COLUMNS_NAMED])
    more = (
        f" and {len(left) - MAX_ABSENT_COLUMNS_NAMED} more"
        if len(left) > MAX_ABSENT_COLUMNS_NAMED
        else ""
    )
    what, it = ("column", "it") if len(left) == 1 else ("columns", "them")
    return Note("columns", f"{what} left out, as the model was not fitted on {it}: {shown}{more}")
