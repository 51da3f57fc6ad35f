"""Results as rows, and rows as the user's kind of data frame."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, cast

from rhale.errors import MissingExtraError
from rhale.results.result import STATISTICS, Result, axis_kind, reach
from rhale.results.table_rows import NAN, Columns, name_places

FRAMES = ("pandas", "polars", "pyarrow")


def bin_rows(effects: Sequence[Result]) -> Columns:
    """One row per feature, output and bin (step between levels, or point of a profile).

    Notes
    -----
    `left`, `right` and `x` are numbers: days since 1970 for dates, seconds for durations, places
    of levels. `from`, `to` and `at` are the same as text: ISO dates, numbers, labels of levels.
    A step counts the rows of both its levels; a feature of one level has one row, from it to it.
    Where the removal of values was measured, one more row follows the bins: `from`, `to` or `at`
    is "missing", its places are nan, `mean` is the change of the prediction (of a profile: the
    prediction) without a value, `count` and `weight` are those of the rows that have none.
    """
    tables = [(effect, effect.table()) for effect in effects]
    sizes = [len(table["mean"]) for _, table in tables]
    named = {
        "feature": [e.name for e, size in zip(effects, sizes, strict=True) for _ in range(size)],
        "output": [e.output for e, size in zip(effects, sizes, strict=True) for _ in range(size)],
    }
    return named | {n: [v for _, table in tables for v in table[n]] for n in tables[0][1]}


def effect_rows(effects: Sequence[Result]) -> Columns:
    """One row per feature and output, in the given order.

    Notes
    -----
    `kind` is number, date, duration, steps (few whole numbers) or categories. `bins` counts the
    levels of the last two, and the points of profiles. `low` and `high` are numbers, `from` and
    `to` the same as text. `missing_share` and `missing_mean` are nan where not measured.
    """
    measured = [e.missing for e in effects]
    places = [name_places(e.axis, e.labels, axis_kind(e)) for e in effects]
    return {
        "feature": [e.name for e in effects],
        "output": [e.output for e in effects],
        "kind": [e.column_kind for e in effects],
        **{name: [read(e) for e in effects] for name, read in STATISTICS.items()},
        "bins": [e.n_parts for e in effects],
        "low": [reach(e)[0] for e in effects],
        "high": [reach(e)[1] for e in effects],
        "from": [names[0] for names in places],
        "to": [names[-1] for names in places],
        "missing_share": [float(m.share) if m else NAN for m in measured],
        "missing_mean": [float(m.mean) if m else NAN for m in measured],
        "notes": ["; ".join(e.notes) for e in effects],
    }


def as_frame(rows: Columns, backend: str | None) -> Any:
    """Turn rows into a data frame of the given kind, or of the first kind that is installed."""
    import narwhals.stable.v2 as nw

    known = backend if backend in FRAMES else None
    chosen = known or next((name for name in FRAMES if find_spec(name)), None)
    if chosen is None or not find_spec(chosen):
        msg = f"a data frame needs {backend or 'pandas, polars or pyarrow'}: pip install pandas"
        raise MissingExtraError(msg)
    shown = {name: [_readable(value) for value in values] for name, values in rows.items()}
    return nw.from_dict(shown, backend=cast(Any, chosen)).to_native()


def _readable(value: Any) -> Any:
    r"""A value as tables can hold it: halves of signs, which UTF-8 has not, as they are escaped."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode(errors="backslashreplace").decode()
