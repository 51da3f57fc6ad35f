"""Tables from files: Parquet, CSV, Arrow and Feather, one file or many, read into memory."""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rhale.errors import BadTableError, MissingExtraError
from rhale.names import near_names
from rhale.tables.pieced import PiecedTable

KINDS = "Parquet (.parquet), CSV (.csv, .csv.gz, .tsv), Arrow (.arrow, .ipc) and Feather (.feather)"
MARKS = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "stream", b"FEA1": "feather"}
ARROW = (".arrow", ".ipc", ".feather")


def read_files(patterns: str | Sequence[str], *, without: str | None = None) -> Any:
    """Read one file or many into one table.

    Parameters
    ----------
    patterns : str or sequence of str
        Paths, or patterns such as `rows/*.parquet`; the rows of all files follow each other.
    without : str, optional
        A column to leave out, such as the target.

    Returns
    -------
    pandas.DataFrame, or pyarrow.Table where pandas is not installed
    """
    if find_spec("pyarrow") is None:
        msg = 'tables are read from files by pyarrow: pip install "rhale[files]"'
        raise MissingExtraError(msg)
    asked = [patterns] if isinstance(patterns, str) else list(patterns)
    paths = [path for pattern in asked for path in found_files(pattern)]
    table = joined([(path, _read(Path(path))) for path in paths])
    if without is not None:
        if without not in table.column_names:
            msg = f"there is no column {without!r} to leave out; "
            raise BadTableError(msg + near_names(without, table.column_names))
        table = table.drop_columns([without])
    return table.to_pandas() if find_spec("pandas") else table


def found_files(pattern: str) -> list[str]:
    """The files that a path or a pattern names, in order of their names."""
    if Path(pattern).is_file():
        return [pattern]
    paths = sorted(path for path in glob(pattern, recursive=True) if Path(path).is_file())  # noqa: PTH207
    if not paths:
        what = "is a folder; name the files in it" if Path(pattern).is_dir() else "names no file"
        msg = f"the table {pattern!r} {what}"
        raise BadTableError(msg)
    return paths


def joined(parts: Sequence[tuple[str, Any]]) -> Any:
    """Put the rows of several files below each other; all need the same columns."""
    import pyarrow as pa

    first_path, first = parts[0]
    for path, part in parts[1:]:
        if set(part.column_names) != set(first.column_names):
            here, there = set(part.column_names), set(first.column_names)
            odd = sorted(here ^ there)
            msg = f"{path} and {first_path} have different columns: {', '.join(odd[:10])}"
            raise BadTableError(msg)
    tables = [part.select(first.column_names) for _, part in parts]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        msg = f"the files have columns of the same name and of different types: {error}"
        raise BadTableError(msg) from error


def _read(path: Path) -> Any:
    import pyarrow as pa

    kind = kind_of_table(path)
    try:
        if kind == "csv":
            return _read_csv(path)
        if kind == "parquet":
            import pyarrow.parquet as pq

            return pq.read_table(str(path), partitioning=None)
        if kind == "stream":
            with pa.OSFile(str(path)) as file:
                return pa.ipc.open_stream(file).read_all()
        from pyarrow import feather

        return feather.read_table(str(path), memory_map=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        msg = f"{path} cannot be read as {kind}: {error}"
        raise BadTableError(msg) from error


def kind_of_table(path: Path) -> str:
    """Say what a file is, by its first bytes or by its name."""
    with path.open("rb") as file:
        head = file.read(8)
    for mark, kind in MARKS.items():
        if head.startswith(mark):
            return kind
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
        return "csv"
    if name.endswith((".parquet", *ARROW)):
        msg = f"{path} is named as a table, but its content is none: it may be damaged"
        raise BadTableError(msg)
    msg = f"{path} is no table that rhale reads; it reads {KINDS}"
    raise BadTableError(msg)


def _read_csv(path: Path) -> Any:
    from pyarrow import csv

    tabs = path.name.lower().endswith((".tsv", ".tsv.gz"))
    return csv.read_csv(
        str(path),
        parse_options=csv.ParseOptions(delimiter="\t" if tabs else ","),
        convert_options=csv.ConvertOptions(strings_can_be_null=True),
    )


def names_files(data: Any) -> bool:
    """Tell whether the user passed paths, or a dataset of files."""
    return isinstance(data, str | Path)


def open_files(data: Any) -> PiecedTable:
    """Open files without reading their rows."""
    raise NotImplementedError
