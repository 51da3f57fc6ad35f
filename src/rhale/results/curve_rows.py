"""A curve on a grid as rows: its spread and its interval beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rhale.errors import BadSettingError
from rhale.kernels.curve import Center
from rhale.results.result import Result, Trace, find_result_axis_kind
from rhale.results.table_rows import MISSING_ROW_LABEL, Columns, name_places


def curve_rows(
    result: Result,
    n: int | None = None,
    *,
    center: Center | None = "mean",
    level: float = 0.95,
    smooth: bool = False,
) -> Columns:
    """One row for each place of a curve, and one for missing values, where they were measured.

    Parameters
    ----------
    result : Result
        Whose curve.
    n : int, optional
        So many places, evenly from end to end; by default wherever the curve bends, as it is
        drawn. Of levels all, whatever is asked.
    center, level, smooth
        As in `Result.trace`.

    Notes
    -----
    `x` is a number: days since 1970 for dates, seconds for durations, the place of a level; `at` is
    the same as text. `spread` is how rows differ, `low` and `high` how well the curve is known.
    """
    trace = result.trace(center, level, smooth=smooth)
    if n is not None and not result.labels:
        trace = _trace_at(result, n, {"center": center, "level": level, "smooth": smooth})
    named = (
        [result.labels[i] for i in np.searchsorted(result.axis, trace.x)] if result.labels else ()
    )
    columns: Columns = {
        "x": trace.x.tolist(),
        "at": name_places(trace.x, tuple(named), find_result_axis_kind(result)),
        **{name: getattr(trace, name).tolist() for name in Trace._fields[1:]},
    }
    gone = result.missing_trace(center, level)
    if gone is None:
        return columns
    last = {
        "at": MISSING_ROW_LABEL,
        **{name: float(getattr(gone, name)[0]) for name in Trace._fields},
    }
    return {name: [*held, last[name]] for name, held in columns.items()}


def _trace_at(result: Result, n: Any, asked: dict[str, Any]) -> Trace:
    """The curve at evenly spaced places."""
    is_count = isinstance(n, int | np.integer) and not isinstance(n, bool)
    if not is_count or n < 2:
        msg = f"n={n!r:.60} is no number of places; pass a whole number of two or more"
        raise BadSettingError(msg)
    x, center = np.linspace(result.axis[0], result.axis[-1], n), asked["center"]
    low, high = result.ci(x, **asked)
    curve = result.curve(x, center=center, smooth=asked["smooth"])
    return Trace(x, curve, result.spread(x, center=center), low, high)
