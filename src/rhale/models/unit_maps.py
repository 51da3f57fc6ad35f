"""UnitMap: from the units that a model computes in to those that people read, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rhale.errors import BadSettingError, excerpt
from rhale.stats.arrays import FloatArray

Map = Callable[[Any], Any]
LINE_TOLERANCE = 1e-9  # of the range: what differs less lies on a line
EPS = float(np.finfo(np.float64).eps)
# Of differences of fourth order, near the ends of a domain, too.
DERIVATIVE_STEP, MIN_STEP_SCALE = EPS**0.2 / 4, 0.1
STENCIL = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))


@dataclass(frozen=True, eq=False)
class UnitMap:
    """From a model's units to people's, number by number."""

    what: str  # what is mapped, for messages: "'age'"
    to_people: Map  # from the model's units to people's
    to_model: Map | None = None  # the way back; None where it is not known, or not needed
    # Of `to_people`, at numbers in the model's units; None to find it by differences
    derivative: Map | None = None
    # Size of these numbers, by which steps of differences are measured near zero
    scale: FloatArray | float = 1.0
    # Whether the functions take a table with a column for each mapped one, nan where values are
    # missing; else they take the known values of one column
    is_block: bool = False

    def people(self, values: FloatArray) -> FloatArray:
        """Numbers of the model, shape (n, n_columns) or any shape of one, as people read them."""
        return self._apply(self.to_people, values)

    def model(self, values: FloatArray) -> FloatArray:
        """Numbers of people as the model takes them."""
        assert self.to_model is not None  # noqa: S101 - callers know of an inverse
        return self._apply(self.to_model, values)

    def slope(self, values: FloatArray) -> FloatArray:
        """Derivative of `people` at numbers of the model: known, or by differences to 1e-10."""
        if self.derivative is not None:
            return self._apply(self.derivative, values)
        step = DERIVATIVE_STEP * np.maximum(np.abs(values), MIN_STEP_SCALE * np.asarray(self.scale))
        with np.errstate(invalid="ignore", over="ignore"):
            parts = [weight * self.people(values + at * step) for at, weight in STENCIL]
        return np.asarray(sum(parts) / step)

    def _apply(self, function: Map, values: FloatArray) -> FloatArray:
        if self.is_block:
            table = values if values.ndim == 2 else values.reshape(-1, 1)
            found = np.asarray(function(table), dtype=np.float64)
            self._require(found.shape == table.shape, found.shape, table.shape)
            return found.reshape(values.shape)
        known = ~np.isnan(values)
        mapped = np.full(values.shape, np.nan)
        found = np.asarray(function(values[known]), dtype=np.float64)
        self._require(found.shape == (int(known.sum()),), found.shape, (int(known.sum()),))
        mapped[known] = found
        return mapped

    def _require(self, good: bool, found: Any, wanted: Any) -> None:  # noqa: FBT001
        if not good:
            msg = (
                f"transform= of {self.what} gave an array of shape {found} for one of {wanted}; use "
                "functions that map each number separately"
            )
            raise BadSettingError(msg)


# functions that NumPy knows the way back of: that, and the derivative
KNOWN_INVERSES: dict[Any, tuple[Map, Map]] = {
    np.exp: (np.log, np.exp),
    np.expm1: (np.log1p, np.exp),
    np.exp2: (np.log2, lambda z: np.log(2.0) * np.exp2(z)),
    np.log: (np.exp, np.reciprocal),
    np.log1p: (np.expm1, lambda z: 1 / (1 + z)),
    np.log2: (np.exp2, lambda z: 1 / (z * np.log(2.0))),
    np.log10: (lambda x: 10.0**x, lambda z: 1 / (z * np.log(10.0))),
    np.sqrt: (np.square, lambda z: 0.5 / np.sqrt(z)),
    np.square: (np.sqrt, lambda z: 2 * z),
    np.cbrt: (lambda x: x**3, lambda z: 1 / (3 * np.cbrt(z) ** 2)),
    np.reciprocal: (np.reciprocal, lambda z: -1 / z**2),
    np.sinh: (np.arcsinh, np.cosh),
    np.arcsinh: (np.sinh, lambda z: 1 / np.sqrt(1 + z**2)),
    np.tanh: (np.arctanh, lambda z: 1 / np.cosh(z) ** 2),
    np.arctanh: (np.tanh, lambda z: 1 / (1 - z**2)),
}


def complete_unit_map(
    found: UnitMap, values: FloatArray, precision: FloatArray
) -> tuple[UnitMap, FloatArray]:
    """Try a map on all numbers of a table; straight lines are made exact, and get a way back.

    Shapes: values (n_rows, n_columns), precision (n_columns,), result (n_rows, n_columns).
    """
    people = try_map(found, values)
    line = find_line(found, values, people)
    if line is not None:
        settled = line
    elif found.to_model is None:
        msg = (
            f"transform= of {found.what} is a function whose inverse is not known; pass both, "
            "(to_original, to_model), such as (np.exp, np.log)"
        )
        raise BadSettingError(msg)
    else:
        settled = replace(found, scale=compute_column_scale(values))
    people = make_whole(people, precision)  # so that years stay years
    require_way_back(settled, values, people, precision)
    return settled, people


def try_map(found: UnitMap, values: FloatArray) -> FloatArray:
    """Map all numbers; what goes wrong is the user's function's."""
    try:
        with np.errstate(all="ignore"):
            people = found.people(values)
    except BadSettingError:
        raise
    except Exception as error:
        msg = f"transform= of {found.what} failed: {type(error).__name__}: {excerpt(error)}"
        raise BadSettingError(msg) from error
    lost = np.isfinite(values) & ~np.isfinite(people)
    if lost.any():
        first = values[lost][0]
        msg = (
            f"transform= of {found.what} turns {first:.6g} into "
            f"{people[lost][0]}; it maps the model's units to original units: np.exp for log(x)"
        )
        raise BadSettingError(msg)
    return people


def find_line(found: UnitMap, values: FloatArray, people: FloatArray) -> UnitMap | None:
    """The straight line that a map is in every column, with the line back; None if it is not."""
    low, high = _ends(values)
    ends = try_map(found, np.stack([low, high]))
    factor = (ends[1] - ends[0]) / (high - low)
    shift = ends[0] - factor * low
    digits = 64 * EPS * np.abs(ends).max(axis=0)
    room = np.maximum(LINE_TOLERANCE * np.abs(ends[1] - ends[0]), digits)
    with np.errstate(invalid="ignore"):
        off = np.abs(shift + factor * values - people) > room
        middle = np.abs(try_map(found, (low + high)[None] / 2)[0] - ends.mean(axis=0)) > room
    if off.any() or middle.any() or not np.all(np.isfinite(factor) & (factor != 0)):
        return None
    return UnitMap(
        found.what,
        partial(_line_to_people, factor, shift),
        partial(_line_back, factor, shift),
        partial(_line_slope, factor),
        is_block=True,
    )


def _ends(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest known number of each column; one apart where they are the same."""
    known = np.isfinite(values)
    low = np.where(known, values, np.inf).min(axis=0)
    high = np.where(known, values, -np.inf).max(axis=0)
    low = np.where(np.isfinite(low), low, 0.0)
    return low, np.where(high > low, high, low + 1.0)


def _line_to_people(factor: FloatArray, shift: FloatArray, values: FloatArray) -> FloatArray:
    return shift + factor * values


def _line_back(factor: FloatArray, shift: FloatArray, values: FloatArray) -> FloatArray:
    return (values - shift) / factor


def _line_slope(factor: FloatArray, values: FloatArray) -> FloatArray:
    return np.broadcast_to(factor, values.shape)


def compute_column_scale(values: FloatArray) -> FloatArray:
    """Root of the mean square of each column; 1 where there is none."""
    known = np.where(np.isfinite(values), values, np.nan)
    counted = np.isfinite(known).any(axis=0)
    size = np.sqrt(np.nanmean(np.where(counted, known, 1.0) ** 2, axis=0))
    return np.where(size > 0, size, 1.0)


def make_whole(people: FloatArray, precision: FloatArray) -> FloatArray:
    """Make columns whole whose numbers are, but for the rounding on their way to the model."""
    largest = np.nanmax(np.abs(people), axis=0, initial=0.0)
    room = 16 * precision * np.maximum(largest, 1.0)
    whole = np.rint(people)
    with np.errstate(invalid="ignore"):
        is_whole = ~np.any(np.abs(people - whole) > room, axis=0) & (room < 0.01)
    return np.where(is_whole, whole, people)


def require_way_back(
    settled: UnitMap, values: FloatArray, people: FloatArray, precision: FloatArray
) -> None:
    """Refuse maps that do not come back, or that change the order of numbers in a column."""
    with np.errstate(all="ignore"):
        back = settled.model(people)
        digits = 64 * EPS * np.abs(people / settled.slope(values))  # that people's numbers have
    room = np.fmax(
        np.sqrt(precision) * np.maximum(np.abs(values), compute_column_scale(values)), digits
    )
    lost = np.isfinite(values) & ~(np.abs(back - values) <= room)
    if lost.any():
        place = tuple(np.argwhere(lost)[0])
        msg = (
            f"transform= of {settled.what} is not undone by its inverse: {values[place]:.6g} becomes "
            f"{people[place]:.6g} in original units and {back[place]:.6g} for the model; pass "
            "functions that undo each other, (to_original, to_model)"
        )
        raise BadSettingError(msg)
    order = np.argsort(values, axis=0)
    steps = np.diff(np.take_along_axis(people, order, axis=0), axis=0)
    with np.errstate(invalid="ignore"):
        mixed = (steps > 0).any(axis=0) & (steps < 0).any(axis=0)
    if mixed.any():
        msg = (
            f"transform= of {settled.what} rises in places and falls in others; an axis needs a "
            "function that only rises, or only falls"
        )
        raise BadSettingError(msg)
