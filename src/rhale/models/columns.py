"""The columns a model was trained on, those a table has, and why a model failed on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from rhale.data.table import Table, TableInMemory
from rhale.errors import BadPredictionError, BadTableError, ModelFailedError, RhaleError
from rhale.models.adapter import Adapter
from rhale.models.libraries import classes_of
from rhale.models.trees.ensemble import unwrap
from rhale.naming import guess, near_names
from rhale.output.text import Note

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
    """Names of the columns that a model takes, in its order; None if it does not say."""
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
    """Columns of a table that a model takes, in its order; None if it does not say."""
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


def describe_left_out_columns(left: Sequence[str]) -> Note:
    """Say which columns of a table the model does not see."""
    shown = ", ".join(repr(name) for name in left[:MAX_ABSENT_COLUMNS_NAMED])
    more = (
        f" and {len(left) - MAX_ABSENT_COLUMNS_NAMED} more"
        if len(left) > MAX_ABSENT_COLUMNS_NAMED
        else ""
    )
    what, it = ("column", "it") if len(left) == 1 else ("columns", "them")
    return Note("columns", f"{what} left out, as the model was not fitted on {it}: {shown}{more}")


# --- Why a model could not answer, where its table tells that: columns and values that are not there


MAX_GAP_COLUMNS_NAMED = 6  # columns with missing values
ABOUT_GAPS = re.compile(r"\b(nans?|missing|null|finite|inf|infinity)\b", re.IGNORECASE)


@contextmanager
def naming_cause(wanted: Sequence[str] | None, table: Table) -> Iterator[None]:
    """Begin what is said of a failure with what is wrong with the table."""
    try:
        yield
    except (ModelFailedError, BadPredictionError, BadTableError) as error:
        better = find_reason(error, wanted, table)
        if better is None:
            raise
        for note in getattr(error, "__notes__", ()):
            better.add_note(note)
        raise better from error


def find_reason(error: RhaleError, wanted: Sequence[str] | None, table: Table) -> RhaleError | None:
    """An error that names columns; None where the table does not tell more."""
    found, have = respell(wanted or (), table.names), {*table.names}
    missing = [name for name in found if name not in have]
    if 0 < len(missing) < len(found):  # of all, the table is of another kind
        return BadTableError(f"{describe_absent_columns(missing, table.names)}; {error}")
    if isinstance(error, BadTableError) or not ABOUT_GAPS.search(str(error)):
        return None
    gaps = count_missing(table)
    return type(error)(f"{describe_missing_columns(gaps, table.n_rows)}; {error}") if gaps else None


def count_missing(table: Table) -> dict[str, int]:
    """Rows without a value, of columns that have such rows; nothing for tables that are elsewhere."""
    if not isinstance(table, TableInMemory):
        return {}
    rows = table.chunk(0, table.n_rows)
    counts = [int(np.isnan(rows.key(place)).sum()) for place in range(len(table.names))]
    return {name: count for name, count in zip(table.names, counts, strict=True) if count}


def describe_missing_columns(gaps: dict[str, int], n_rows: int | None) -> str:
    """Name columns with missing values, and how many each has.

    Examples
    --------
    >>> describe_missing_columns({"bmi": 21, "bp": 4}, 442)
    "values are missing in 'bmi' (21 of 442 rows) and 'bp' (4)"
    """
    first, *others = sorted(gaps.items(), key=lambda item: -item[1])
    told = [f"{first[0]!r} ({first[1]:,} of {n_rows:,} rows)"]
    told += [f"{name!r} ({count:,})" for name, count in others[: MAX_GAP_COLUMNS_NAMED - 1]]
    if len(gaps) > MAX_GAP_COLUMNS_NAMED:
        told.append(f"{len(gaps) - MAX_GAP_COLUMNS_NAMED} more columns")
    listed = " and ".join(filter(None, [", ".join(told[:-1]), told[-1]]))
    return f"values are missing in {listed}"
