"""Why a model could not answer, where its table tells that: columns and values that are not there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from rhale.errors import BadPredictionError, BadTableError, ModelFailedError, RhaleError
from rhale.models.expected_columns import describe_absent_columns, respell
from rhale.tables.chunk import Table, TableInMemory

MAX_GAP_COLUMNS_NAMED = 6  # columns with missing values
ABOUT_GAPS = re.compile(r"\b(nans?|missing|null|finite|inf|infinity)\b", re.IGNORECASE)


@contextmanager
def telling_why(wanted: Sequence[str] | None, table: Table) -> Iterator[None]:
    """Begin what is said of a failure with what is wrong with the table.

    Parameters
    ----------
    wanted : sequence of str or None
        Columns that the model was fitted on, where it says so.
    table : Table
        What it was asked about.
    """
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
    return type(error)(f"{tell_gaps(gaps, table.n_rows)}; {error}") if gaps else None


def count_missing(table: Table) -> dict[str, int]:
    """Rows without a value, of columns that have such rows; nothing for tables that are elsewhere."""
    if not isinstance(table, TableInMemory):
        return {}
    rows = table.chunk(0, table.n_rows)
    counts = [int(np.isnan(rows.key(place)).sum()) for place in range(len(table.names))]
    return {name: count for name, count in zip(table.names, counts, strict=True) if count}


def tell_gaps(gaps: dict[str, int], n_rows: int | None) -> str:
    """Name columns with missing values, and how many each has.

    Examples
    --------
    >>> tell_gaps({"bmi": 21, "bp": 4}, 442)
    "values are missing in 'bmi' (21 of 442 rows) and 'bp' (4)"
    """
    first, *others = sorted(gaps.items(), key=lambda item: -item[1])
    told = [f"{first[0]!r} ({first[1]:,} of {n_rows:,} rows)"]
    told += [f"{name!r} ({count:,})" for name, count in others[: MAX_GAP_COLUMNS_NAMED - 1]]
    if len(gaps) > MAX_GAP_COLUMNS_NAMED:
        told.append(f"{len(gaps) - MAX_GAP_COLUMNS_NAMED} more columns")
    listed = " and ".join(filter(None, [", ".join(told[:-1]), told[-1]]))
    return f"values are missing in {listed}"
