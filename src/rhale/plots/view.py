"""The visible part of an axis, its scale, and the order of levels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rhale.effects.result import Result, find_result_axis_kind, is_constant, reach
from rhale.effects.support import (
    find_shown_part,
    has_free_order,
    is_skewed,
    row_quantiles,
    row_weights,
)
from rhale.errors import BadSettingError
from rhale.naming import near_names
from rhale.output.number_format import as_numbers, format_axis_value
from rhale.output.picture_options import Limits, Sort
from rhale.stats.arrays import BoolArray, FloatArray

EVERYTHING = "all"  # as limits
SCALES, SORTS = ("auto", "linear", "log"), ("effect", "order")
QUANTILE_LIMITS_PATTERN = re.compile(r"\s*([\d.]+)\s*%\s*\.\.\s*([\d.]+)\s*%\s*")
N_VIEW_POINTS, N_CELLS = 401, 80  # of a curve, of the strip of counts
VIEW_MARGIN = 0.02  # of the axis, beside all values


class AxisView(NamedTuple):
    """How the axis of one feature is shown."""

    limits: tuple[float, float] | None = None  # the part that is shown; all of it if None
    is_log: bool = False  # whether the axis is logarithmic
    # levels in the order in which they stand; none where they stand as they were measured.
    order: tuple[str, ...] = ()
    beyond: str = ""  # what far values are not shown, in words, where no limits were given.
    cut: tuple[bool, bool] = (False, False)  # whether there are some on the left, and on the right

    @property
    def is_plain(self) -> bool:
        """Whether all of the axis is shown, and evenly."""
        return self.limits is None and not self.is_log

    def places(self, result: Result) -> FloatArray:
        """Where the curve of a result is drawn: wherever it bends, inside the limits."""
        x, (low, high) = result.places(), self.ends(result)
        if result.parts != "points":  # which has its points, and straight lines between them
            x = np.union1d(x, self.evenly(low, high, N_VIEW_POINTS) if low < high else [])
        return np.asarray(x[(x >= low) & (x <= high)])

    @property
    def margins(self) -> tuple[float, float]:
        """Room on either side of what is shown, in shares of it: none where the axis is cut."""
        if self.limits is not None and not self.beyond:
            return 0.0, 0.0
        left, right = (0.0 if cut else VIEW_MARGIN for cut in self.cut)
        return left, right

    def ends(self, result: Result) -> tuple[float, float]:
        """First and last value of the feature that is shown; the wrong way round where none is."""
        low, high = reach(result)
        return (low, high) if self.limits is None else self.clip(low, high)

    def clip(self, low: Any, high: Any) -> tuple[Any, Any]:
        """Cut intervals to what is shown."""
        if self.limits is None:
            return low, high
        return np.maximum(low, self.limits[0]), np.minimum(high, self.limits[1])

    def scaled(self, x: FloatArray) -> FloatArray:
        """Turn values into distances along the axis."""
        return np.log(x) if self.is_log else x

    def unscaled(self, distance: FloatArray) -> FloatArray:
        """Turn distances along the axis into values."""
        return np.exp(distance) if self.is_log else distance

    def shows(self, x: FloatArray) -> BoolArray:
        """Tell which values are shown."""
        if self.limits is None:
            return np.ones(x.shape, dtype=np.bool_)
        return np.asarray((x >= self.limits[0]) & (x <= self.limits[1]))

    def evenly(self, low: float, high: float, n_places: int) -> FloatArray:
        """Values at equal distances along the axis, both ends exactly."""
        if not self.is_log:
            return np.linspace(low, high, n_places)
        values = np.geomspace(low, high, n_places)
        values[[0, -1]] = low, high
        return values

    def count_rows(self, result: Result) -> tuple[FloatArray, FloatArray]:
        """Limits of cells, and the weight of their rows by their length along the axis."""
        values, limits, density, _ = result.support()
        if self.is_plain:
            return limits, density
        low, high = self.ends(result)
        if not low < high:
            return limits, np.zeros(density.size)
        if values.size:
            limits = self.evenly(low, high, N_CELLS + 1)
            rows, counts = row_weights(result)
            weight = np.histogram(rows, limits, weights=counts)[0]
        else:
            cells = np.union1d(limits[(limits > low) & (limits < high)], [low, high])
            place = np.searchsorted(limits, cells[:-1], "right") - 1
            limits, weight = cells, density[place] * np.diff(cells)
        return limits, weight / np.diff(self.scaled(limits))


PLAIN_VIEW = AxisView()


def read_view(
    results: Sequence[Result],
    limits: Limits = None,
    xscale: Any = "auto",
    sort: Sort | None = None,
    *,
    alone: bool = True,
) -> AxisView:
    """Read how the axis of one feature is to be shown.

    Levels are ordered by the effect of the first result. If the feature is `alone` in the picture, an
    option that it cannot have is an error; among others the option is left out, as it is given for
    all of them.
    """
    first = results[0]
    limits, xscale = of_feature(limits, first.name, None), of_feature(xscale, first.name, "auto")
    require_choice("xscale", xscale, SCALES)
    if sort is not None:
        require_choice("sort", sort, SORTS)
    show_all = isinstance(limits, str) and limits.strip() == EVERYTHING
    limits = None if show_all else limits
    if is_constant(first):
        return PLAIN_VIEW
    if first.labels:
        if alone:
            # Refuse to cut or to bend an axis of levels.
            asked = f"limits={limits!r}" if limits is not None else f"xscale={xscale!r}"
            if limits is not None or xscale == "log":
                msg = (
                    f"{asked} needs an axis of numbers, and {first.name!r} has levels; leave it out"
                )
                raise BadSettingError(msg)
        return AxisView(order=order_levels_by_effect(first, sort, alone=alone))
    if alone and sort is not None:
        msg = f"sort={sort!r} orders levels, and {first.name!r} has none; leave it out"
        raise BadSettingError(msg)
    if limits is None and not show_all:
        return usual_view([first], xscale)
    ends = read_axis_limits(first, limits)
    return AxisView(ends, is_log=choose_log(first, xscale, ends))


def usual_view(results: Sequence[Result], xscale: Any = "auto") -> AxisView:
    """Show all of the axis, but for far values that would take most of it."""
    if xscale == "log":
        choose_log(results[0], xscale, None)  # which refuses it where it cannot be
    low, high, is_log, beyond = find_shown_part(*results, scale=xscale)
    if not beyond:
        return AxisView(is_log=is_log)
    first, last = min(reach(r)[0] for r in results), max(reach(r)[1] for r in results)
    return AxisView((low, high), is_log, beyond=beyond, cut=(first < low, last > high))


def read_common_view(results: Sequence[Result]) -> AxisView:
    """Show all that any of some results of one feature shows, on a plain axis."""
    curved = [result for result in results if not is_constant(result)]
    return usual_view(curved, "linear") if curved else PLAIN_VIEW


def of_feature(setting: Any, name: str, otherwise: Any) -> Any:
    """Give the setting of one feature, where there is one for each."""
    return setting.get(name, otherwise) if isinstance(setting, Mapping) else setting


def require_known(setting: Any, option: str, names: Sequence[str]) -> None:
    """Refuse settings of features that are not drawn."""
    for name in setting if isinstance(setting, Mapping) else ():
        if name not in names:
            msg = f"{option}= names {name!r}, which is not drawn; {near_names(str(name), names)}"
            raise BadSettingError(msg)


def require_choice(option: str, chosen: Any, known: Sequence[str]) -> None:
    """Refuse what is none of a few words."""
    if chosen not in known:
        msg = f"{option}={chosen!r} is not known; {near_names(str(chosen), known)}"
        raise BadSettingError(msg)


def read_axis_limits(result: Result, limits: Any) -> tuple[float, float] | None:
    """Read which part of the axis is shown: quantiles of the rows, or two values."""
    if limits is None:
        return None
    low, high = reach(result)
    if isinstance(limits, str):
        start, stop = row_quantiles(result, read_shares(limits))
    else:
        start, stop = read_axis_ends(result, limits)
    if not (start < stop and start < high and stop > low):
        first, last = (format_axis_value(end, find_result_axis_kind(result)) for end in (low, high))
        msg = (
            f"limits={limits!r} leave nothing of {result.name!r}, which goes from {first} to {last}"
        )
        raise BadSettingError(msg)
    return float(start), float(stop)


def read_axis_ends(result: Result, limits: Any) -> tuple[float, float]:
    """Read two values of the feature; None is the end of the data."""
    ends, known = list(limits) if isinstance(limits, Sequence | np.ndarray) else [], reach(result)
    if len(ends) != 2:
        msg = (
            f"limits={limits!r} are no limits of {result.name!r}; give two values, such as "
            f"({known[0]:.4g}, {known[1]:.4g}), or shares of the rows, such as '1%..99%'"
        )
        raise BadSettingError(msg)
    kind = find_result_axis_kind(result)
    low, high = (
        end if given is None else float(as_numbers(given, kind))
        for given, end in zip(ends, known, strict=True)
    )
    return low, high


def read_shares(text: str) -> tuple[float, float]:
    """Read shares of the rows."""
    found = QUANTILE_LIMITS_PATTERN.fullmatch(text)
    try:
        low, high = (float(share) / 100 for share in found.groups()) if found else (1.0, 0.0)
    except ValueError:  # 1.2.3
        low, high = 1.0, 0.0
    if not 0 <= low < high <= 1:
        msg = f"limits={text!r} are no shares of the rows, the lower first, such as '1%..99%'"
        raise BadSettingError(msg)
    return low, high


def choose_log(result: Result, xscale: str, ends: tuple[float, float] | None) -> bool:
    """Tell whether the axis is logarithmic; refuse it where it cannot be."""
    if xscale != "log":
        return xscale == "auto" and is_skewed(result, ends)
    low, kind = (reach(result) if ends is None else ends)[0], find_result_axis_kind(result)
    if kind != "number":
        msg = f"xscale='log' needs numbers, and {result.name!r} has {kind}s; leave it out"
        raise BadSettingError(msg)
    if not low > 0:
        msg = (
            f"xscale='log' needs values above 0, and {result.name!r} begins at {low:g}; use "
            "xscale='linear', or show a part of it: limits=(low, high)"
        )
        raise BadSettingError(msg)
    return True


def order_levels_by_effect(
    result: Result, sort: Sort | None, *, alone: bool = True
) -> tuple[str, ...]:
    """Order levels by their effect, the highest first; nothing where they stand as measured."""
    is_number = result.column_kind == "steps"
    if alone and is_number and sort == "effect":
        msg = f"sort='effect' is for names, and the levels of {result.name!r} are numbers"
        raise BadSettingError(msg)
    if is_number or (sort or ("effect" if has_free_order(result) else "order")) == "order":
        return ()
    return by_height(result.labels, result.height(result.axis))


def by_height(labels: Sequence[str], heights: FloatArray) -> tuple[str, ...]:
    """Order levels, the highest first; those that are not known come last.

    Examples
    --------
    >>> by_height(("a", "b", "c"), np.array([1.0, np.nan, 2.0]))
    ('c', 'a', 'b')
    """
    order = np.argsort(-np.nan_to_num(heights, nan=-np.inf), kind="stable")
    return tuple(labels[i] for i in order)
