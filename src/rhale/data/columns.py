"""Columns of a data frame as numbers, and back: numbers, dates, durations, names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from rhale.errors import BadTableError
from rhale.output.number_format import MICROSECONDS_PER_DAY, AxisKind, in_seconds
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

Series = nw.Series[Any]
Holds = AxisKind | Literal["name", "category", "object"]  # text; categories by their type
NAME_KINDS: tuple[Holds, ...] = ("name", "category", "object")
Distinct = tuple[list[Any], IntArray]  # distinct values, and which of them each row has
MICROSECOND = 1e6
TICKS = {"s": 1e6, "ms": 1e3}  # microseconds in the units that are coarser
NUMPY_TYPES: tuple[Any, ...] = (nw.Float64, nw.Float32, nw.Boolean, nw.Int64, nw.Int32, nw.Int16)
NUMPY_TYPES += (nw.Int8, nw.UInt64, nw.UInt32, nw.UInt16, nw.UInt8)  # NumPy has the same type
MAX_EXACT_INTEGER = 2.0**53  # whole numbers below are exact as floats
HASH_BITS = 52  # whole numbers of so many bits are exact as floats


def holds(column: Series) -> Holds | None:
    """Say what a column holds; None for what cannot be explained (lists, bytes, ...)."""
    dtype = dtype_of(column)
    if is_numeric_dtype(dtype):
        return "number"
    if dtype in (nw.Date, nw.Datetime):
        return "date"
    if dtype in (nw.Categorical, nw.Enum):
        return "category"
    if dtype == nw.Object:  # decimals alone, as databases give them to pandas, are numbers
        empty = column.is_null().to_numpy()
        known = [v for v, e in zip(column.to_list(), empty, strict=True) if not e]
        if known and all(isinstance(v, Decimal) for v in known):
            return "number"
    kinds: dict[Any, Holds] = {nw.String: "name", nw.Duration: "duration", nw.Object: "object"}
    return kinds.get(type(dtype))


def is_numeric_dtype(dtype: Any) -> bool:
    """Tell whether a column type holds numbers (or truth values)."""
    return bool(dtype.is_numeric() or dtype == nw.Boolean)


def dtype_of(column: Series) -> Any:
    """Type of a column; narwhals does not know pandas' dates in zones such as America/New_York."""
    zone = getattr(getattr(column.to_native(), "dtype", None), "tz", None)
    if zone is None or column.dtype != nw.Unknown:
        return column.dtype
    return nw.Datetime(column.to_native().dtype.unit, str(zone))


def column_at(frame: nw.DataFrame[Any], index: int) -> Series:
    """One column by its place; narwhals lists the names of all columns to find one."""
    native, library = frame.to_native(), frame.implementation
    if library.is_pyarrow():
        return frame.get_column(native.field(index).name)
    if library.is_pandas_like():
        name = native.columns[index]
        if isinstance(name, str):  # in a quarter of the time; others may be read as something else
            return frame.get_column(name)
        return nw.from_native(native.iloc[:, index], series_only=True)
    if library.is_polars():
        return nw.from_native(native.to_series(index), series_only=True)
    return frame[:, index]


def columns_in(frame: nw.DataFrame[Any]) -> list[Series]:
    """All columns."""
    return [column_at(frame, index) for index in range(len(frame.columns))]


def repeated_in(names: Iterable[str]) -> list[str]:
    """Names that several columns have, in order."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def is_object(column: Series) -> bool:
    """Tell whether a column may hold values of any type.

    narwhals calls a column of pandas' objects text if the first of them are.
    """
    return column.dtype == nw.Object or getattr(column.to_native(), "dtype", None) == object


# --- reading -----------------------------------------------------------------------------------


def read_column_floats(column: Series) -> FloatArray:
    """Read a column as floats: dates in days since 1970, durations in seconds; missing is nan."""
    kind = holds(column)
    if kind == "date":
        if column.dtype == nw.Unknown:  # see dtype_of
            column = nw.from_native(column.to_native().dt.tz_convert("UTC"), series_only=True)
        return _floats(column.dt.timestamp("us")) / MICROSECONDS_PER_DAY
    if kind == "duration":
        return in_seconds(np.asarray(column.to_numpy(), dtype="timedelta64"))
    return _floats(column)


def _floats(column: Series) -> FloatArray:
    if column.dtype == nw.Object:
        empty = column.is_null().to_numpy()
        values = zip(column.to_list(), empty, strict=True)
        return np.array([np.nan if e else float(v) for v, e in values], dtype=np.float64)
    if column.dtype in (nw.Float64, nw.Float32):  # missing is nan by itself: NumPy copies once
        return np.array(column.to_numpy(), dtype=np.float64)
    if column.dtype not in (nw.Int64, nw.UInt64):
        return np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    empty = column.is_null().to_numpy()  # Arrow casts no whole number beyond 2**53
    known = column.fill_null(0) if empty.any() else column
    return np.where(empty, np.nan, known.to_numpy().astype(np.float64))


def factorize(column: Series) -> Distinct:
    """Distinct values in order of appearance, and which of them each row has; -1 for none."""
    native, library = column.to_native(), column.implementation
    if library.is_pandas_like() and hasattr(native, "cat"):
        return list(native.cat.categories), np.asarray(native.cat.codes, dtype=np.int64)
    if library.is_pandas() and not is_object(column):
        codes, values = native.factorize()
        return list(values), np.asarray(codes, dtype=np.int64)
    if library.is_polars():
        values = native.drop_nulls().unique(maintain_order=True)
        numbers = native.replace_strict(values, range(len(values)), default=None)
        return values.to_list(), numbers.fill_null(-1).to_numpy().astype(np.int64)
    if library.is_pyarrow() and column.dtype in (nw.String, nw.Categorical):
        # the dictionary of the column, or one made of its text
        import pyarrow as pa

        encoded = native if pa.types.is_dictionary(native.type) else native.dictionary_encode()
        whole = encoded.unify_dictionaries().combine_chunks() if len(native) else None
        if whole is None:
            return [], np.empty(0, dtype=np.int64)
        codes = whole.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return whole.dictionary.to_pylist(), codes
    try:
        any_type, place = is_object(column), dict[Any, int]()
        values, codes = list[Any](), np.empty(len(column), dtype=np.int64)
        empty = column.is_null().to_numpy()
        for row, value in enumerate(column.to_list()):
            if empty[row]:
                codes[row] = -1
                continue
            # 1, 1.0 and True are equal to Python, but not to a model
            key = (type(value), value) if any_type else value
            found = place.setdefault(key, len(values))
            if found == len(values):
                values.append(value)
            codes[row] = found
        return values, codes
    except TypeError as error:
        msg = (
            f"column {column.name!r} holds values that are neither numbers nor names ({error}); "
            "name the columns to explain in features= (the model still gets all columns)"
        )
        raise BadTableError(msg) from error


def missing_value(column: Series) -> Any:
    """Return the marker of a missing value in a column of objects: None, nan or NA; None elsewhere."""
    if not (column.implementation.is_pandas_like() and is_object(column)):
        return None
    native = column.to_native()
    empty = np.flatnonzero(native.isna().to_numpy())
    return native.iloc[int(empty[0])] if empty.size else None


def categories_of(column: Series) -> tuple[tuple[Any, ...] | None, bool]:
    """Categories that the type of a column names, and whether it says that they are in order."""
    native = column.to_native()
    if column.implementation.is_pandas_like() and hasattr(native, "cat"):
        return tuple(native.cat.categories), bool(native.cat.ordered)
    if column.implementation.is_pyarrow() and column.dtype == nw.Categorical:
        values = native.unify_dictionaries().chunk(0).dictionary if native.num_chunks else []
        return tuple(getattr(values, "to_pylist", list)()), bool(native.type.ordered)
    return None, False


def hashed(value: Any) -> float:
    """Turn a value into a number that depends on what it is alone, whatever run or machine."""
    text = f"{type(value).__name__}:{value}".encode(errors="surrogatepass")
    digest = blake2b(text, digest_size=8).digest()
    return float(int.from_bytes(digest, "little") >> (64 - HASH_BITS))


@dataclass(frozen=True, eq=False)
class Labels:
    """Names of a column, numbered."""

    values: tuple[Any, ...]  # as the table has them
    missing: Any = None  # the table's marker of a missing name: None, nan, NA

    @cached_property
    def place(self) -> dict[Any, int]:
        """Number of each name."""
        return {(type(v), v): i for i, v in enumerate(self.values)}

    def read(self, apart: Distinct) -> FloatArray:
        """Numbers of the names in a column; nan where missing or not among them."""
        values, codes = apart
        own = [self.place.get((type(v), v), np.nan) for v in values]
        return np.array([*own, np.nan], dtype=np.float64)[codes]

    def write(self, like: Series, places: FloatArray) -> Series:
        """Make a column of the same name and type with these names."""
        missing = np.isnan(places)
        names = np.empty(len(self.values) + 1, dtype=object)
        names[:-1], names[-1] = self.values, self.missing
        codes = np.where(missing, len(self.values), places).astype(np.int64)
        return make_like(like, names[codes].tolist())


def make_distinct_texts(values: Sequence[Any]) -> tuple[str, ...]:
    """Names of values for people, no two the same."""
    texts = [str(v) for v in values]
    twice = {text for text, count in Counter(texts).items() if count > 1}
    return tuple(
        f"{t} ({type(v).__name__})" if t in twice else t for t, v in zip(texts, values, strict=True)
    )


# --- writing -----------------------------------------------------------------------------------


def new_column(like: Series, values: FloatArray) -> Series:
    """Make a column of the same name and type with other values; nan becomes missing."""
    missing = np.isnan(values)
    dtype = dtype_of(like)
    if dtype == nw.Object:  # names are written by `Labels`
        return make_like(like, [None if np.isnan(v) else Decimal(repr(v)) for v in values.tolist()])
    kind = holds(like)
    if kind == "number":
        known = np.where(missing, 0.0, values)
        return make_like(like, cast(known, numpy_type(dtype)), missing)
    filled = np.where(missing, 0.0, values)
    filled = np.rint(filled) if dtype == nw.Date else filled
    tick = TICKS.get(getattr(dtype, "time_unit", "us"), 1.0)
    ticks = filled * (MICROSECONDS_PER_DAY if kind == "date" else MICROSECOND) / tick
    moment = (np.rint(ticks) * tick).astype(np.int64)
    unit = "datetime64[us]" if kind == "date" else "timedelta64[us]"
    return make_like(like, moment.astype(unit), missing)


def cast(values: FloatArray, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Bring values into a column's type: round for integers, split at one half for bool."""
    if dtype.kind == "b":
        return np.asarray(values > 0.5)
    if dtype.kind in "iu":
        return np.rint(values).astype(dtype)
    return values.astype(dtype, copy=False)


def numpy_type(dtype: Any) -> np.dtype[Any]:
    """Say which NumPy type rounds as this column type does."""
    if dtype == nw.Boolean:
        return np.dtype(bool)
    if dtype.is_integer():
        return np.dtype(str(dtype).lower().replace("128", "64"))
    return np.dtype(np.float32) if dtype == nw.Float32 else np.dtype(np.float64)


def round_as(dtype: Any, values: FloatArray) -> FloatArray:
    """Numbers as a column of this type holds them; nan stays."""
    missing = np.isnan(values)
    held = cast(np.where(missing, 0.0, values), numpy_type(dtype)).astype(np.float64)
    return np.where(missing, np.nan, held)


def keep_own(own: Series, made: Series, rows: BoolArray) -> Series:
    """Take these rows from a column as it was, bit by bit, and the others from a new one."""
    library = own.implementation
    if library.is_pandas_like():
        old = own.to_native().reset_index(drop=True)
        return nw.from_native(old.where(rows, made.to_native()), series_only=True)
    if library.is_pyarrow():
        import pyarrow as pa
        import pyarrow.compute as pc

        old, new = own.to_native(), made.to_native()
        if not pa.types.is_float16(old.type):
            chosen = pc.if_else(pa.array(rows), old, new)
        else:  # Arrow 18 chooses no half floats
            places = np.arange(len(rows)) + np.where(rows, 0, len(rows))
            chosen = pa.chunked_array([*old.chunks, *new.chunks]).take(pa.array(places))
        column: Series = nw.from_native(chosen, series_only=True)
        return column.alias(own.name)
    mask = nw.new_series("rows", rows, dtype=nw.Boolean, backend=library)
    return own.zip_with(mask, made)


def is_exact(column: Series, values: FloatArray) -> bool:
    """Tell whether a column holds these numbers and nothing besides: no finer ticks or digits."""
    if column.dtype not in NUMPY_TYPES:
        return False
    has_null = not isinstance(getattr(column.to_native(), "dtype", None), np.dtype)
    if has_null and np.any(np.isnan(values)):  # null or nan?
        return False
    wide = column.dtype in (nw.Int64, nw.UInt64)
    return not wide or bool(np.max(np.abs(values), initial=0.0) < MAX_EXACT_INTEGER)


def make_like(like: Series, values: Any, missing: BoolArray | None = None) -> Series:
    """Make a column of the same library, name and type."""
    missing = missing if missing is not None and missing.any() else None
    if like.implementation.is_pandas_like():
        # one of pandas' several types for the same values: NumPy, nullable, Arrow-backed
        pandas, dtype = like.implementation.to_native_namespace(), like.to_native().dtype
        zone = getattr(dtype_of(like), "time_zone", None)
        if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
            values = values.copy()
            if missing is not None:
                values[missing] = "NaT"
            column = pandas.Series(values)
            column = column.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else column
            return nw.from_native(column.astype(dtype).rename(like.name), series_only=True)
        if missing is not None:
            if dtype.kind == "f" and isinstance(dtype, np.dtype):
                values = np.where(missing, np.nan, values)
            else:
                values = [None if m else v for m, v in zip(missing, values.tolist(), strict=True)]
        column = pandas.Series(values, dtype=dtype, name=like.name)
        return nw.from_native(column, series_only=True)
    if like.implementation.is_polars() and like.dtype == nw.Decimal:
        # polars 1.32 truncates to the scale of the column: a quarter of a unit of the last digit,
        # added away from zero, makes truncation give the nearest decimal
        scale = like.to_native().dtype.scale
        ticks = np.rint(values * 10.0**scale)
        inside = (ticks + np.copysign(0.25, ticks)) / 10.0**scale
        values = np.where(np.abs(ticks) < MAX_EXACT_INTEGER, inside, values)
    if missing is not None:
        values = [None if m else v for m, v in zip(missing, values.tolist(), strict=True)]
    if like.implementation.is_pyarrow():
        # Arrow needs its exact type, dictionaries and time zones included
        import pyarrow as pa

        wanted = like.to_native().type
        array = pa.array(values)
        if pa.types.is_dictionary(wanted):
            array = array.cast(wanted.value_type).dictionary_encode()
        if pa.types.is_timestamp(wanted) and wanted.tz is not None:
            array = array.cast(pa.timestamp("us", tz=wanted.tz))
        found: Series = nw.from_native(pa.chunked_array([array.cast(wanted)]), series_only=True)
        return found.alias(like.name)
    zone = getattr(like.dtype, "time_zone", None)
    dtype = nw.Datetime("us") if zone else like.dtype
    column = nw.new_series(like.name, values, dtype=dtype, backend=like.implementation)
    if zone:
        column = column.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    native, wanted = column.to_native(), like.to_native().dtype  # knows more than narwhals
    made = native if native.dtype == wanted else native.cast(wanted)
    return nw.from_native(made, series_only=True)
