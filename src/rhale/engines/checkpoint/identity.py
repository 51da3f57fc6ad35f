"""What makes a run the same run: the settings, the table and the versions, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, cast

import numpy as np

from rhale.kernels.sample import column_keys
from rhale.tables import Table, TableInMemory
from rhale.tables.chunk import read_chunks
from rhale.tables.pieces.table import PiecedTable

ROWS_AT_ONCE = 2**16


def identify(table: Table, said: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a run, so that another one can be told from it.

    Parameters
    ----------
    table : Table
        The rows.
    said : mapping of str to object
        The settings.
    """
    return {
        "table": {"columns": list(table.names), "kind": table.kind, **_rows_of(table)},
        **{name: make_plain_setting(value) for name, value in said.items()},
    }


def make_plain_setting(value: Any) -> Any:
    """Make a setting a plain value; what JSON does not have is told by its `repr`.

    Examples
    --------
    >>> make_plain_setting({"a": np.float64(2.0), "b": (1, None)})
    {'a': 2.0, 'b': [1, None]}
    """
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): make_plain_setting(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [make_plain_setting(held) for held in value]
    return repr(value)


def _rows_of(table: Table) -> dict[str, Any]:
    """Tell these rows from others: files by size and time, rows in memory by what is in them."""
    if not table.storage.is_memory:
        found: dict[str, Any] = make_plain_setting(cast(PiecedTable, table).identity)
        return found
    held, digest = cast(TableInMemory, table), blake2b(digest_size=16)
    for chunk in read_chunks(held, ROWS_AT_ONCE):
        digest.update(column_keys(chunk.keys(), chunk.n_rows).tobytes())
        if chunk.weights is not None:
            digest.update(chunk.weights.tobytes())
    return {"rows": held.n_rows, "content": digest.hexdigest()}


def digest_of(data: bytes) -> str:
    """A short name of exactly these bytes."""
    return blake2b(data, digest_size=16).hexdigest()
