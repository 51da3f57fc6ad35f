"""Which columns a model was made for, and those of a table that it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import attrgetter, methodcaller
from typing import Any

from rhale.errors import BadTableError
from rhale.models.adapter import Adapter
from rhale.models.ancestry import classes_of
from rhale.names import near_names

NAMELESS = re.compile(r"(Column_|f|x)?\d+")  # what libraries call columns of an array
SHOWN = 10
# where models without `feature_names_in_` keep the names
NAMES_IN: dict[str, Callable[[Any], Any]] = {
    "xgboost.Booster": attrgetter("feature_names"),
    "lightgbm.Booster": methodcaller("feature_name"),
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
    readers = [NAMES_IN[name] for name in classes_of(model) if name in NAMES_IN]
    if found is None and readers:
        found = readers[0](model)
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
    spelled = {name.replace(" ", "_"): name for name in have}  # as LightGBM writes them
    found = [name if name in have else spelled.get(name, name) for name in wanted]
    missing = [name for name in found if name not in have]
    if missing:
        shown = ", ".join(repr(name) for name in missing[:SHOWN])
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        msg = f"the table has no column {shown}{more}, which the model was trained on; "
        raise BadTableError(msg + near_names(missing[0], have))
    return found
