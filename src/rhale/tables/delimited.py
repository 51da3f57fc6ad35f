"""CSV files in pieces: types that hold for all rows, not only for the first ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

BLOCK = 2**21  # bytes that are parsed at a time
FAILED = re.compile(r"In CSV column #(\d+):")  # how Arrow says which column has another type


def settled(path: str) -> tuple[Any, int]:
    """Types of all columns and the number of rows; reads the whole file.

    Notes
    -----
    Arrow tells the types from the first block. Where a later row does not convert, the column gets
    the next type in Arrow's own order of guesses and the file is read again, so that the types are
    those which Arrow would find with all rows in memory.
    """
    schema = read(path).schema
    while True:
        try:
            return schema, sum(batch.num_rows for batch in read(path, schema))
        except ValueError as error:
            schema = _widened(schema, error)


def read(path: str, schema: Any = None) -> Any:
    """Open a file; a schema names the columns to read and gives their types."""
    from pyarrow import csv

    tabs = path.lower().endswith((".tsv", ".tsv.gz"))
    names = [] if schema is None else schema.names
    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=BLOCK, use_threads=False),  # errors tell the row
        parse_options=csv.ParseOptions(delimiter="\t" if tabs else ",", newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=schema, include_columns=names, strings_can_be_null=True
        ),
    )


def guesses() -> Iterator[Any]:
    """Types in the order in which Arrow tries them."""
    import pyarrow as pa

    yield from (pa.null(), pa.int64(), pa.bool_(), pa.date32(), pa.time32("s"))
    for zone in (None, "UTC"):
        yield from (pa.timestamp("s", zone), pa.timestamp("ns", zone))
    yield from (pa.float64(), pa.string(), pa.binary())


def _widened(schema: Any, error: ValueError) -> Any:
    """The next guess for the column that did not convert."""
    found, order = FAILED.search(str(error)), list(guesses())
    if found is None:
        raise error
    place = int(found[1])
    field = schema.field(place)
    if field.type == order[-1]:
        raise error
    return schema.set(place, field.with_type(order[order.index(field.type) + 1]))
