"""Levels of a column: names, pooled rare levels, order; text that holds numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rhale.data import Table
from rhale.data.columns import NAME_KINDS, hashed, make_distinct_texts
from rhale.effects.level_effect import name_others
from rhale.effects.levels import level_distances, order_levels_by_distance
from rhale.errors import BadSettingError
from rhale.features.survey import Survey
from rhale.output.number_format import (
    AxisKind,
    as_axis_kind,
    as_numbers,
    format_axis_value,
    in_full,
)
from rhale.output.text import Note
from rhale.stats.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of a feature in order, some of them perhaps pooled into one."""

    names: tuple[str, ...]  # what to call them
    # (n_levels,): the number that `Chunk.column` has for each; nan for the pooled ones together
    places: FloatArray
    is_number: bool = False  # whether these numbers are values
    has_order: bool = True  # whether the order means something: declared, given or that of numbers
    # pooled, pooled_weight: (n_pooled,): numbers and weights of the levels that stand together as
    # one
    pooled: FloatArray | None = None
    pooled_weight: FloatArray | None = None
    pooled_names: tuple[str, ...] = ()  # what to call those

    @property
    def size(self) -> int:
        """Number of levels."""
        return len(self.names)

    @property
    def edges(self) -> FloatArray:
        """Positions of the levels on the axis."""
        return self.places if self.is_number else np.arange(self.size, dtype=np.float64)

    @cached_property
    def _table(self) -> tuple[FloatArray, IntArray]:
        """All numbers in increasing order, and the level of each."""
        level = np.arange(self.size)
        places = self.places
        if self.pooled is not None:
            other = int(np.flatnonzero(np.isnan(places))[0])
            places = np.concatenate([places, self.pooled])
            level = np.concatenate([level, np.full(self.pooled.size, other)])
        order = np.argsort(places)  # nan comes last
        order = order[: int(np.sum(~np.isnan(places)))]
        return places[order], level[order]

    def locate(self, x: FloatArray) -> IntArray:
        """Level of every value; -1 where it is missing or none of them.

        Examples
        --------
        >>> Levels(("b", "a"), np.array([1.0, 0.0])).locate(np.array([0.0, 1.0, np.nan]))
        array([ 1,  0, -1])
        """
        places, level = self._table
        found = np.minimum(np.searchsorted(places, x), places.size - 1)
        return np.where(places[found] == x, level[found], -1)

    def level_positions(self, level: IntArray) -> FloatArray:
        """Positions of some levels on the axis; nan for -1."""
        return np.where(level < 0, np.nan, self.edges[level])

    def at(self, level: IntArray, chance: FloatArray) -> FloatArray:
        """Numbers of the table for some levels; a pooled level draws one of its own, by weight.

        Shapes: level (n_rows,), chance (n_rows,).
        """
        places = self.places[level]
        if self.pooled is None or self.pooled_weight is None:
            return places
        up_to = np.cumsum(self.pooled_weight) / self.pooled_weight.sum()
        drawn = self.pooled[
            np.minimum(np.searchsorted(up_to, chance, "right"), self.pooled.size - 1)
        ]
        return np.where(np.isnan(places), drawn, places)


# --- Levels of a feature: what they are called, which are pooled, in which order they stand


Said = bool | tuple[Any, ...]
# Levels in no order of their own beyond that are pooled.
MAX_UNORDERED_LEVELS, MIN_ROWS_PER_LEVEL = 50, 5


def holds_names(table: Table, column: int) -> bool:
    """Tell whether a column holds names."""
    return table.holds(column) in NAME_KINDS


def column_axis_kind(table: Table, column: int) -> AxisKind:
    """Say what the numbers of a column are."""
    return as_axis_kind(table.holds(column))


@dataclass(frozen=True, eq=False)
class LevelReader:
    """Find the levels of a feature."""

    table: Table
    survey: Survey  # what a first pass learned
    # columns, auxiliary_columns: the explained columns, and others that were sampled with them
    columns: Sequence[int]
    auxiliary_columns: Sequence[int]
    said: Said | None  # what the user said about this feature: an order is a tuple
    # The levels in the order in which another explanation has them; none if there is no other
    wanted: tuple[str, ...] = ()

    def steps(self, place: int) -> tuple[Levels, tuple[Note, ...]]:
        """Few whole numbers or truth values, in their own order."""
        column, values = self.columns[place], np.array(sorted(self.survey.census[place].found))
        return Levels(self._texts(column, values.tolist()), values, is_number=True), ()

    def categories(self, place: int) -> tuple[Levels, tuple[Note, ...]]:
        """Categories in the order that was given or declared, or else by similarity."""
        column, found = self.columns[place], self.survey.census[place].found
        keys = (
            [(type(v), v) for v in self.table.labels_of(column).values]
            if holds_names(self.table, column)
            else sorted(found)
        )
        order = self.said if isinstance(self.said, tuple) else self.table.declared_order(column)
        if order is None:
            return self._in_no_order(place, keys)
        chosen = self._declared(column, keys, order)
        places, texts = self._places(column, keys)[chosen], self._texts(column, keys)
        increasing = not holds_names(self.table, column) and bool(np.all(np.diff(places) > 0))
        return Levels(tuple(texts[i] for i in chosen), places, increasing), ()

    def _places(self, column: int, keys: Sequence[Any]) -> FloatArray:
        """What `Chunk.column` reads for each of these keys."""
        if holds_names(self.table, column):
            return np.arange(len(keys), dtype=np.float64)
        return np.array(keys, dtype=np.float64)

    def _texts(self, column: int, keys: Sequence[Any]) -> tuple[str, ...]:
        """What to call the levels."""
        if holds_names(self.table, column):
            return make_distinct_texts([value for _, value in keys])
        kind = column_axis_kind(self.table, column)
        if kind == "number":
            is_truth = self.table.is_truth(column)
            return tuple(str(bool(k)) if is_truth else write_number_in_full(k) for k in keys)
        texts = tuple(format_axis_value(k, kind) for k in keys)
        return texts if len(set(texts)) == len(keys) else tuple(in_full(k, kind) for k in keys)

    def _declared(self, column: int, keys: Sequence[Any], order: Sequence[Any]) -> list[int]:
        """Positions of the levels that have rows, in the declared order."""
        at: dict[Any, int]
        wanted: list[Any]
        if holds_names(self.table, column):
            at = {plain_key(v): i for i, (_, v) in enumerate(keys)}
            wanted = [plain_key(v) for v in order]
        else:
            at = {key: i for i, key in enumerate(keys)}
            wanted = self._as_numbers(column, order)
        chosen = [at.get(v) for v in wanted]
        left = set(range(len(keys))) - set(chosen)
        if left:
            texts = self._texts(column, keys)
            shown = ", ".join(sorted(repr(texts[i]) for i in left)[:5])
            msg = (
                f"the order given for {self.table.names[column]!r} leaves out {len(left)} of its "
                f"levels: {shown}; list every level that the rows have"
            )
            raise BadSettingError(msg)
        return [i for i in chosen if i is not None]

    def _as_numbers(self, column: int, order: Sequence[Any]) -> list[float]:
        """Levels of a column of numbers or dates, as the user listed them."""
        try:
            return list(as_numbers(list(order), column_axis_kind(self.table, column)).tolist())
        except BadSettingError as error:
            msg = f"the order given for {self.table.names[column]!r}: {error}"
            raise BadSettingError(msg) from error

    def _in_no_order(self, place: int, keys: Sequence[Any]) -> tuple[Levels, tuple[Note, ...]]:
        """Pool rare levels, and order the rest as another explanation has them or by similarity."""
        column, found = self.columns[place], self.survey.census[place].found
        places, texts = self._places(column, keys), self._texts(column, keys)
        rows, weight = (np.array([found[key][i] for key in keys]) for i in (0, 1))
        kept, pooled = split_rare(rows, weight)
        names = [texts[i] for i in kept]
        if pooled.size:
            name = name_others(pooled.size)  # none of the levels may have it
            while name in texts:
                name += " "
            names.append(name)
        order, how = self._ordered(place, keys, kept, names)
        spots = np.append(places[kept], [np.nan] if pooled.size else [])[order]
        notes: tuple[Note, ...] = ()
        if len(names) > 2:
            notes = (Note("order", f"levels are ordered {how}"),)
        levels = Levels(tuple(names[i] for i in order), spots, has_order=False)
        if not pooled.size:
            return levels, notes
        rare = tuple(texts[i] for i in pooled)
        more = ", ..." if pooled.size > 3 else ""
        text = f"{pooled.size} rare levels are pooled: {', '.join(rare[:3])}{more}"
        notes += (Note("pooled", text),)
        return replace(
            levels, pooled=places[pooled], pooled_weight=weight[pooled], pooled_names=rare
        ), notes

    def _ordered(
        self, place: int, keys: Sequence[Any], kept: IntArray, names: Sequence[str]
    ) -> tuple[IntArray, str]:
        """Order of the levels, and how it was found."""
        feature = self.table.names[self.columns[place]]
        if self.wanted:
            new = [name for name in names if name not in self.wanted]
            if new:
                msg = (
                    f"the other explanation has no levels {', '.join(map(repr, new[:5]))} of {feature!r}; "
                    f"give their order with categorical={{{feature!r}: [...]}}"
                )
                raise BadSettingError(msg)
            ordered = sorted(range(len(names)), key=lambda i: self.wanted.index(names[i]))
            return np.array(ordered), "as in the other explanation"
        group = np.full(len(keys), len(kept))
        group[kept] = np.arange(len(kept))
        is_named = holds_names(self.table, self.columns[place])
        own = {hashed(k[1]) if is_named else k: g for k, g in zip(keys, group, strict=True)}
        sampled = self.survey.sample.values[:, place]
        level = np.array([own.get(v, -1) for v in sampled], dtype=np.int64)
        # By similarity: distances between levels in the other columns of the sampled rows
        n_levels = len(names)
        rows, sample = level >= 0, self.survey.sample
        numbers, codes = list[FloatArray](), list[IntArray]()  # columns of numbers, and of names
        for i, column in enumerate((*self.columns, *self.auxiliary_columns)):
            values = self.survey.sample.values[rows, i]
            if i == place or self.table.holds(column) is None:
                continue
            if holds_names(self.table, column):
                codes.append(np.unique(values, return_inverse=True)[1])
            else:
                numbers.append(values)
        if not (numbers or codes):
            return np.arange(
                n_levels
            ), "by name, because there are no other columns to compare them by"
        if not rows.any():
            return np.arange(n_levels), "by name, because none of their rows are in the sample"
        found, group = np.unique(level[rows], return_inverse=True)
        lacking = np.setdiff1d(np.arange(n_levels), found)
        weight = sample.weight[rows] * (self.survey.weight / self.survey.weight_squares)
        order = order_levels_by_distance(level_distances(group, found.size, numbers, codes, weight))
        how = "by similarity of the other columns"
        if not sample.is_complete:
            how += f" in a sample of {len(level):,} rows"
        if lacking.size:
            are = (
                "level without sampled rows comes"
                if lacking.size == 1
                else "levels without sampled rows come"
            )
            how += f"; {lacking.size} {are} last"
        return np.concatenate([found[order], lacking]), how


def split_rare(rows: IntArray, weight: FloatArray) -> tuple[IntArray, IntArray]:
    """Positions of the levels to keep, and of those to pool; one alone is not pooled."""
    rank = np.empty(rows.size, dtype=np.int64)
    rank[np.argsort(-weight, kind="stable")] = np.arange(rows.size)
    rare = (rows < MIN_ROWS_PER_LEVEL) | (rank >= MAX_UNORDERED_LEVELS)
    if rare.sum() < 2:
        rare[:] = False
    return np.flatnonzero(~rare), np.flatnonzero(rare)


def plain_key(value: Any) -> tuple[type, Any]:
    """Tell values apart as a model does, but NumPy's from Python's not."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    return type(value), value


def write_number_in_full(value: float) -> str:
    """Write a number in full."""
    return str(int(value)) if value == int(value) else repr(float(value))


# --- Text that reads as numbers: probably a number that was stored as text


FEW_TEXT_LEVELS = 2  # so many texts may well be two names
CASTS = {
    "pandas": "X[{name!r}] = X[{name!r}].astype(float)",
    "polars": "X = X.with_columns(pl.col({name!r}).cast(pl.Float64))",
    "pyarrow": (
        "X = X.set_column(X.column_names.index({name!r}), {name!r}, X[{name!r}].cast(pa.float64()))"
    ),
    "spark": "X = X.withColumn({name!r}, X[{name!r}].cast('double'))",
    "dask": "X[{name!r}] = X[{name!r}].astype(float)",
}


def describe_numbers(name: str, levels: Sequence[Any], table: str) -> tuple[Note, ...]:
    """Say how to make numbers of a column whose levels all read as numbers.

    Examples
    --------
    >>> describe_numbers("bmi", ["21.5", "30", "18.25"], "pandas")[0].rpartition(": ")[2]
    "X['bmi'] = X['bmi'].astype(float)"
    >>> describe_numbers("zip", ["01067", "99084", "10115"], "pandas")
    ()
    """
    if len(levels) <= FEW_TEXT_LEVELS or not all(reads_as_number(level) for level in levels):
        return ()
    cast = CASTS.get(table, "store column {name!r} as numbers").format(name=name)
    what = "text" if all(isinstance(level, str) for level in levels) else "of type object"
    text = (
        f"{name!r} is {what} but reads as numbers, and each of its {len(levels):,} values is a "
        f"category; to explain it as a number: {cast}"
    )
    return (Note("text", text),)


def reads_as_number(level: Any) -> bool:
    """Tell whether a value is a finite number or writes one; codes with leading zeros do not.

    Examples
    --------
    >>> [reads_as_number(v) for v in ("1.5", " -2e3", "007", "n/a", "nan", True, 3)]
    [True, True, False, False, False, False, True]
    """
    if isinstance(level, bool | np.bool_):
        return False
    if isinstance(level, str):
        digits = level.strip().lstrip("+-")
        if digits[:1] == "0" and digits[1:2].isdigit():
            return False
    try:
        return bool(np.isfinite(float(level)))
    except (TypeError, ValueError, OverflowError):
        return False
