"""CSV files in pieces: types that hold for all rows, not only for the first ones."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from rhale.data.files.regular import RegularFile, most_from

CSV_BLOCK_BYTES = 2**21  # bytes that are parsed at a time
TOO_LONG = {  # how it says that a row does not fit into a block
    "straddl": "it has a row",
    "Empty CSV file or block": "it has no rows, or a first one",
}
CSV_COLUMN_BYTES = 2**13  # bytes that Arrow takes for a column, whatever is in it
FAILED = re.compile(r"In CSV column #(\d+):")  # how Arrow says which column has another type


def measure_delimited(file: RegularFile) -> tuple[Any, int]:
    """Types of all columns and the number of rows; reads the whole file, at most twice."""
    # Refuse a header of more columns than the file can fill: Arrow allocates 8 kB for each of them
    file.seek(0)
    head = file.read(CSV_BLOCK_BYTES)
    name = str(file.name).lower()
    if name.endswith(".gz"):
        with suppress(zlib.error):  # the reader says what is wrong with it
            head = zlib.decompressobj(31).decompress(head, CSV_BLOCK_BYTES)
    delimiter = b"\t" if name.removesuffix(".gz").endswith(".tsv") else b","
    n_columns = head.partition(b"\n")[0].count(delimiter) + 1
    if CSV_COLUMN_BYTES * n_columns > most_from(file.size):
        msg = f"its header names {n_columns:,} columns, far more than its {file.size:,} bytes fill"
        raise ValueError(msg)
    # Arrow infers the types from the first block
    try:
        found = open_delimited(file)
        return found.schema, sum(batch.num_rows for batch in found)
    except ValueError as error:
        for sign, words in TOO_LONG.items():
            if sign in str(error):
                msg = f"{words} of more than {CSV_BLOCK_BYTES:,} bytes, or a quote is not closed"
                raise ValueError(msg) from error
        if FAILED.search(str(error)) is None:
            raise
    # A later row does not convert: read the file once more, as text. Each block strikes out the
    # types that one of its values does not have; with all rows in memory, Arrow would take the
    # first type that is left.
    import pyarrow as pa
    from pyarrow import csv

    names = found.schema.names
    cells_as_they_are = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.binary()), null_values=[]
    )
    left, n_rows = [list(guesses()) for _ in names], 0
    for batch in _open_csv_reader(file, cells_as_they_are):
        n_rows += batch.num_rows
        left = [possible(cells, types) for cells, types in zip(batch.columns, left, strict=True)]
    return pa.schema([(name, types[0]) for name, types in zip(names, left, strict=True)]), n_rows


def open_delimited(file: RegularFile, schema: Any = None) -> Any:
    """Open a file; a schema names the columns to read and gives their types."""
    from pyarrow import csv

    names = [] if schema is None else schema.names
    options = csv.ConvertOptions(
        column_types=schema, include_columns=names, strings_can_be_null=True
    )
    return _open_csv_reader(file, options)


def guesses() -> Iterator[Any]:
    """Types in the order in which Arrow tries them."""
    import pyarrow as pa

    yield from (pa.null(), pa.int64(), pa.bool_(), pa.date32(), pa.time32("s"))
    for zone in (None, "UTC"):
        yield from (pa.timestamp("s", zone), pa.timestamp("ns", zone))
    yield from (pa.float64(), pa.string(), pa.binary())


def _open_csv_reader(file: RegularFile, options: Any) -> Any:
    """The reader of pyarrow, at the first row."""
    import pyarrow as pa
    from pyarrow import csv

    source, name = file.native(), str(file.name).lower()
    packed = name.endswith(".gz")
    tabs = name.removesuffix(".gz").endswith(".tsv")
    return csv.open_csv(
        pa.CompressedInputStream(source, "gzip") if packed else source,
        read_options=csv.ReadOptions(
            block_size=CSV_BLOCK_BYTES, use_threads=False
        ),  # errors tell the row
        parse_options=csv.ParseOptions(delimiter="\t" if tabs else ",", newlines_in_values=True),
        convert_options=options,
    )


# --- types of all rows ---------------------------------------------------------------------------


def possible(cells: Any, types: list[Any]) -> list[Any]:
    """Those of some types that all cells of a column can be read as.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.array([b"1", b"0", b""])
    >>> [str(kind) for kind in possible(cells, list(guesses()))]
    ['int64', 'bool', 'double', 'string', 'binary']
    """
    if len(types) == 1:
        return types
    *narrow, text, binary = types
    import pyarrow as pa
    import pyarrow.compute as pc

    # a CSV file in memory with one column of quoted cells
    inside = pc.replace_substring(cells, b'"', b'""')
    joined = pc.binary_join_element_wise(pa.scalar(b'"'), inside, pa.scalar(b'"\n'), pa.scalar(b""))
    written = joined.buffers()[2]  # of a fresh array: nothing but the cells, one after the other
    found = [kind for kind in narrow if _converts(written, kind)]
    # What is a number, a date or missing is text as well. Hexadecimal numbers are no floats.
    is_text = bool(found) or _converts(written, text)
    return [*found, text, binary] if is_text else [binary]


def _converts(written: Any, kind: Any) -> bool:
    """Whether Arrow reads all cells as values of a type."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        csv.read_csv(
            pa.BufferReader(written),
            read_options=csv.ReadOptions(
                column_names=["x"], use_threads=False, block_size=max(len(written), 1)
            ),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=csv.ConvertOptions(column_types={"x": kind}, strings_can_be_null=True),
        )
    except pa.ArrowInvalid:
        return False
    return True
