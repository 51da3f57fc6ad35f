"""Columns of values as the user's kind of data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

import numpy as np

from rhale.errors import BadSettingError, MissingExtraError
from rhale.output.labels import Captions
from rhale.stats.arrays import FloatArray

FRAMES = ("pandas", "polars", "pyarrow")


def add_labels(columns: dict[str, list[Any]], captions: Captions) -> dict[str, list[Any]]:
    """Add what people read for features and outputs, as the last columns.

    Examples
    --------
    >>> add_labels({"feature": ["x0"], "mean": [1.0]}, Captions({"x0": "Age"}))
    {'feature': ['x0'], 'mean': [1.0], 'feature_label': ['Age']}
    """
    known = {
        **dict.fromkeys(("feature", "first", "second"), captions.feature),
        "output": captions.output,
    }
    words = {
        f"{key}_label": [*map(read, columns[key])] for key, read in known.items() if key in columns
    }
    return {**columns, **words}


def stack_columns(
    parts: Sequence[tuple[dict[str, Any], dict[str, list[Any]]]],
) -> dict[str, list[Any]]:
    """Tables one below the other, each with columns that are alike in all of its rows."""
    columns: dict[str, list[Any]] = {}
    for named, table in parts:
        n_rows = len(next(iter(table.values()), ()))
        for name, value in named.items():
            columns.setdefault(name, []).extend([value] * n_rows)
        for name, values in table.items():
            columns.setdefault(name, []).extend(values)
    return columns


def as_frame(
    rows: Mapping[str, list[Any] | FloatArray], backend: str | None, usual: str | None = None
) -> Any:
    """Turn columns into a data frame: of the kind `backend`, else `usual`, else any installed.

    `usual` is the kind of the explained table, which need not be a data frame.
    """
    import narwhals.stable.v2 as nw

    if backend is not None and backend not in FRAMES:
        msg = f"backend={backend!r:.60} is not known; use one of {', '.join(FRAMES)}"
        raise BadSettingError(msg)
    wanted = backend or (usual if usual in FRAMES else None)
    chosen = wanted or next((name for name in FRAMES if find_spec(name)), None)
    if chosen is None or not find_spec(chosen):
        msg = f"a data frame needs {wanted or 'pandas, polars or pyarrow'}: pip install pandas"
        raise MissingExtraError(msg)
    shown = {
        _readable(name): values if isinstance(values, np.ndarray) else [*map(_readable, values)]
        for name, values in rows.items()
    }
    return nw.from_dict(shown, backend=cast(Any, chosen)).to_native()


def _readable(value: Any) -> Any:
    r"""A value as tables can hold it: halves of signs, which UTF-8 has not, as they are escaped."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode(errors="backslashreplace").decode()
