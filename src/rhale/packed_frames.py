"""Data frames taken apart into arrays, lists and Arrow bytes, and put together again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from rhale.errors import CheckpointError, MissingExtraError

Frame = nw.DataFrame[Any]
Apart = tuple[str, list[Any], list[Any], Any]  # library, names and parts of columns, the rest
ADVICE = "change its type, leave it out of the table, or do without checkpoint="


def taken_apart(frame: Frame) -> Apart:
    """Take a frame apart, or say which column would not come back as it was.

    Parameters
    ----------
    frame : DataFrame
        Of pandas, polars or pyarrow.

    Returns
    -------
    library : str
    names, columns : list
        Name of each part, and the part: arrays, lists and bytes. Arrow's bytes are one part.
    rest : object
        What else it takes to put the frame together.
    """
    native, library = frame.to_native(), str(frame.implementation.value)
    if library == "pandas" and type(native).__name__ == "DataFrame":
        return library, *_pandas_apart(native)
    if library in ("polars", "pyarrow"):
        data = _polars_bytes(native) if library == "polars" else arrow_bytes(native)
        return library, ["all"], [data], None
    msg = (
        f"a checkpoint keeps rows of pandas, polars and pyarrow tables, not of "
        f"{type(native).__module__}.{type(native).__name__}; convert the table, or do without "
        "checkpoint="
    )
    raise CheckpointError(msg)


def put_together(library: str, columns: list[Any], rest: Any) -> Frame:
    """Put a frame together."""
    native: Any
    if library == "pandas":
        native = _pandas_together(columns, rest)
    elif library == "polars":
        import polars as pl

        native = pl.read_ipc_stream(BytesIO(columns[0]))
    else:
        native = from_arrow_bytes(columns[0])
    return nw.from_native(native, eager_only=True)


@contextmanager
def blaming(name: Any) -> Iterator[None]:
    """Name the column that cannot be kept."""
    try:
        yield
    except CheckpointError as error:
        msg = f"column {name!r}: {error}"
        raise CheckpointError(msg) from error


def _refuse(name: Any, was: Any, now: Any) -> None:
    msg = f"column {name!r} has type {was}, which comes back from a checkpoint as {now}; {ADVICE}"
    raise CheckpointError(msg)


# --- Arrow and polars --------------------------------------------------------------------------


def arrow_bytes(table: Any) -> bytes:
    """Write a table of pyarrow as a stream of Arrow."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    for was, now in zip(table.schema, from_arrow_bytes(data).schema, strict=True):
        if not was.equals(now, check_metadata=True):
            _refuse(was.name, was.type, now.type)
    return data


def from_arrow_bytes(data: bytes) -> Any:
    """Read a stream of Arrow, and check that it is sound."""
    import pyarrow as pa

    table = pa.ipc.open_stream(data).read_all()
    table.validate(full=True)
    return table


def _polars_bytes(table: Any) -> bytes:
    import polars as pl

    file = BytesIO()
    table.write_ipc_stream(file)
    again = pl.read_ipc_stream(BytesIO(file.getvalue()))
    for name, dtype in table.schema.items():
        if again.schema[name] != dtype:
            _refuse(name, dtype, again.schema[name])
    return file.getvalue()


# --- pandas ------------------------------------------------------------------------------------


def _pandas_apart(frame: Any) -> tuple[list[Any], list[Any], Any]:
    """Columns one by one; as one matrix where pandas may hold them so: its order is kept."""
    names = list(frame.columns)
    rest = _index_apart("the column names", frame.columns), _index_apart("the index", frame.index)
    dtypes = set(frame.dtypes)
    if len(dtypes) == 1 and _is_plain(*dtypes):
        return ["all"], [frame.to_numpy()], (*rest, True)
    columns = [_series_apart(n, frame.iloc[:, i]) for i, n in enumerate(names)]
    return names, columns, (*rest, False)


def _pandas_together(columns: list[Any], rest: Any) -> Any:
    import pandas as pd

    names, index, is_matrix = rest
    if is_matrix:
        frame = pd.DataFrame(columns[0], copy=False)
    else:
        frame = pd.DataFrame({i: _series_together(c) for i, c in enumerate(columns)})
    return frame.set_axis(_index_together(names), axis=1).set_axis(_index_together(index), axis=0)


def _is_plain(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind != "O"


def _series_apart(name: Any, series: Any) -> tuple[str, Any]:
    """A column or index of pandas; its many types differ in how they are kept."""
    import pandas as pd

    dtype = series.dtype
    if _is_plain(dtype):
        return "array", series.to_numpy()
    if dtype == object:
        return "objects", series.tolist()
    if isinstance(dtype, pd.CategoricalDtype):
        codes = np.asarray(series.array.codes)
        kept = _series_apart(name, pd.Series(dtype.categories))
        return "categories", (codes, kept, dtype.ordered)
    if isinstance(dtype, pd.StringDtype):  # without pyarrow, too
        texts = [None if e else v for v, e in zip(series, series.isna(), strict=True)]
        return "texts", (texts, dtype.storage, dtype.na_value is pd.NA)
    try:
        apart = _arrow_apart(series, dtype)
        again = _series_together(apart)
    except (TypeError, ValueError, NotImplementedError) as error:
        msg = f"column {name!r} of type {dtype} cannot be written as Arrow ({error}); {ADVICE}"
        raise CheckpointError(msg) from error
    if not again.array.equals(series.array):
        _refuse(name, repr(dtype), repr(again.dtype))
    return apart


def _arrow_apart(series: Any, dtype: Any) -> tuple[str, bytes]:
    try:
        import pyarrow as pa
    except ImportError as error:
        msg = f'columns of type {dtype} need pyarrow in a checkpoint: pip install "rhale[files]"'
        raise MissingExtraError(msg) from error
    if hasattr(dtype, "pyarrow_dtype"):
        return "arrow", arrow_bytes(pa.table({"0": series.array.__arrow_array__()}))
    frame = series.reset_index(drop=True).rename("0").to_frame()
    return "pandas", arrow_bytes(pa.Table.from_pandas(frame, preserve_index=False))


def _series_together(apart: Sequence[Any]) -> Any:
    import pandas as pd

    kind, content = apart
    if kind == "objects":
        return pd.Series(content, dtype=object)
    if kind == "texts":
        texts, store, is_na = content
        settings = {} if is_na else {"na_value": np.nan}
        return pd.Series(texts, dtype=pd.StringDtype(store, **settings))
    if kind == "categories":
        codes, categories, ordered = content
        values = pd.Index(_series_together(categories)).rename(None)
        return pd.Series(pd.Categorical.from_codes(codes, values, ordered=ordered))
    if kind == "arrow":
        column = from_arrow_bytes(content).column(0)
        return pd.Series(pd.arrays.ArrowExtensionArray(column))
    return pd.Series(content) if kind == "array" else from_arrow_bytes(content).to_pandas()["0"]


def _index_apart(what: str, index: Any) -> tuple[str, list[Any], Any]:
    import pandas as pd

    names = list(index.names)
    if isinstance(index, pd.RangeIndex):
        return "range", names, (index.start, index.stop, index.step)
    levels = [index.get_level_values(i) for i in range(index.nlevels)]
    kept = [_series_apart(what, pd.Series(level)) for level in levels]
    return "levels" if index.nlevels > 1 else "values", names, kept


def _index_together(apart: Sequence[Any]) -> Any:
    import pandas as pd

    kind, names, content = apart
    if kind == "range":
        return pd.RangeIndex(*content, name=names[0])
    levels = [_series_together(level) for level in content]
    if kind == "levels":
        return pd.MultiIndex.from_arrays(levels, names=names)
    return pd.Index(levels[0]).rename(names[0])
