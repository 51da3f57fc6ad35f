"""Which columns a model was made for, and those of a table that it takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rhale.errors import BadTableError
from rhale.models.ancestry import classes_of
from rhale.names import near_names

NAMELESS = re.compile(r"(Column_|f|x)?\d+")  # what libraries call columns of an array
SHOWN = 10


def columns_of(model: Any) -> tuple[str, ...] | None:
    """Names of the columns that a model takes, in its order; None if it does not say.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> columns_of(SimpleNamespace(feature_names_in_=["age", "bmi"]))
    ('age', 'bmi')
    """
    found = getattr(model, "feature_names_in_", None)
    kinds = classes_of(model)
    if found is None and "xgboost.Booster" in kinds:
        found = model.feature_names
    if found is None and "lightgbm.Booster" in kinds:
        found = model.feature_name()
    if found is None and any(kind.startswith("catboost.") for kind in kinds):
        found = model.feature_names_
    if found is None:
        found = getattr(model, "columns", None) if "rhale.OnnxModel" in kinds else None
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
