"""What each explained feature is: a number, a date, a few steps, or categories in some order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.errors import BadSettingError, BadTableError
from rhale.features.level_reader import LevelReader, Said, axis_kind, holds_names, plain_key
from rhale.features.levels import Levels
from rhale.features.survey import Survey
from rhale.kernels import FloatArray
from rhale.kernels.axis import Axis
from rhale.kernels.times import AxisKind, ColumnKind, as_axis_kind, written
from rhale.names import find_feature, list_asked
from rhale.results.note import Note
from rhale.settings import Settings
from rhale.tables import Chunk, Table
from rhale.tables.columns import Labels


@dataclass(frozen=True, eq=False)
class Feature:
    """One explained feature: where it is, and what is known of it.

    Attributes
    ----------
    name : str
        Its name.
    column, place : int
        Its column in the table, and its place among the explained ones.
    kind : {"number", "date", "duration", "steps", "categories"}
        How it is explained.
    axis : Axis
        Range and quantiles; of the levels' places, where there are levels.
    whole : bool
        Whether it takes whole numbers only.
    is_complete : bool
        Whether the axis knows every row.
    levels : Levels or None
        The levels of steps and categories, in order.
    n_missing : int
        Rows without a value.
    missing_share : float
        Their share of the weight.
    notes : tuple of Note
        What a reader should know.
    """

    name: str
    column: int
    place: int
    kind: ColumnKind
    axis: Axis
    whole: bool
    is_complete: bool
    levels: Levels | None = None
    n_missing: int = 0
    missing_share: float = 0.0
    notes: tuple[Note, ...] = ()

    @property
    def is_constant(self) -> bool:
        """Whether there is only one value."""
        return self.axis.low == self.axis.high if self.levels is None else self.levels.size == 1

    @property
    def axis_kind(self) -> AxisKind:
        """What its numbers are."""
        return as_axis_kind(self.kind)

    def stands(self, chunk: Chunk) -> FloatArray:
        """Where rows stand on its axis, shape (n_rows,); nan for rows without a value."""
        x = chunk.column(self.column)
        return x if self.levels is None else self.levels.stand(self.levels.locate(x))


# --- what the user says ------------------------------------------------------------------------


def read_categorical(categorical: Any, names: Sequence[str]) -> dict[int, Said]:
    """Turn `categorical=` into a mapping from column to yes, no or an order of levels.

    Examples
    --------
    >>> read_categorical({"size": ["S", "M", "L"], "zip": True}, ["zip", "size"])
    {1: ('S', 'M', 'L'), 0: True}
    """
    if categorical is None:
        return {}
    if not isinstance(categorical, Mapping):
        if isinstance(categorical, bool):
            msg = "categorical= goes by column: pass {'column': True}, or a list of columns"
            raise BadSettingError(msg)
        categorical = dict.fromkeys(list_asked(categorical, "categorical"), True)
    said: dict[int, Said] = {}
    for feature, value in categorical.items():
        if isinstance(value, bool | np.bool_):
            said[find_feature(feature, names)] = bool(value)
            continue
        said[find_feature(feature, names)] = _order(feature, value)
    return said


def _order(feature: Any, value: Any) -> tuple[Any, ...]:
    """Check an order of levels."""
    if isinstance(value, str | Mapping | AbstractSet) or not isinstance(value, Iterable):
        msg = (
            f"categorical={{{feature!r}: {value!r:.60}}} is neither True, False nor an order of "
            "levels (a list)"
        )
        raise BadSettingError(msg)
    order = tuple(value)
    try:
        n_levels = len({plain_key(v) for v in order})
    except TypeError as error:
        msg = f"categorical= lists what is no level of {feature!r} ({error}); list names or numbers"
        raise BadSettingError(msg) from error
    if n_levels < len(order):
        msg = f"categorical= names a level of {feature!r} twice: {list(order)}"
        raise BadSettingError(msg)
    return order


def check_columns(table: Table, columns: Sequence[int], said: Mapping[int, Any]) -> None:
    """Refuse columns that hold what cannot be explained."""
    for column in columns:
        name, held = table.names[column], table.holds(column)
        if held is None:
            msg = (
                f"column {name!r} holds neither numbers, dates nor names; name the columns to "
                "explain in features= (the model still gets all columns)"
            )
            raise BadTableError(msg)
        if holds_names(table, column) and said.get(column) is False:
            msg = f"categorical={{{name!r}: False}}, but the column holds no numbers; leave it out"
            raise BadSettingError(msg)


def has_no_order(table: Table, column: int, said: Said | None) -> bool:
    """Tell whether a column has levels without an order, given or declared."""
    if isinstance(said, tuple):
        return False
    return (holds_names(table, column) or said is True) and not table.has_order(column)


# --- what the rows say -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Reader:
    """Turn what a first pass learned into features.

    Attributes
    ----------
    table : Table
        The table.
    survey : Survey
        What was learned.
    columns, beside : sequence of int
        The explained columns, and others that were sampled with them.
    said : mapping of int to bool or tuple
        From `read_categorical`.
    settings : Settings
        What the user asked for: bins, limits, an order of levels.
    """

    table: Table
    survey: Survey
    columns: Sequence[int]
    beside: Sequence[int]
    said: Mapping[int, Said]
    settings: Settings

    def labels(self) -> dict[int, Labels]:
        """Names of the explained columns of names, numbered in the order of their texts."""
        found = {}
        for census, column in zip(self.survey.census, self.columns, strict=True):
            if self.is_named(column):
                values = [value for _, value in census.found]
                values.sort(key=lambda v: (str(v), str(type(v))))
                found[column] = Labels(tuple(values), self.table.missing_value(column))
        return found

    def is_named(self, column: int) -> bool:
        """Whether a column holds names."""
        return holds_names(self.table, column)

    def axis_kind(self, column: int) -> AxisKind:
        """What the numbers of a column are."""
        return axis_kind(self.table, column)

    def kind(self, place: int) -> ColumnKind:
        """How a feature is explained."""
        column = self.columns[place]
        held, said = self.table.holds(column), self.said.get(column)
        if self.is_named(column) or (said is not None and said is not False):
            return "categories"
        census = self.survey.census[place]
        few = len(census.found) > 1 and bool(self.survey.whole[place])  # none if there are many
        numbers = (
            held == "number"
            and said is None
            and not self.settings.wants_numbers(self.table.names[column])
        )
        if numbers and few:
            return "steps"
        return self.axis_kind(column)

    def feature(self, place: int, limits: tuple[float, float] | None) -> Feature:
        """Gather what is known of one feature."""
        column, seen = self.columns[place], self.survey
        name = self.table.names[column]
        if not seen.n_known[place]:
            msg = f"feature {name!r} has no value in any of {seen.n_rows:,} rows; leave it out"
            raise BadTableError(msg)
        kind, levels = self.kind(place), None
        notes: tuple[Note, ...] = ()
        if kind in ("steps", "categories"):
            if limits is not None:
                msg = f"limits= are for numbers, but {name!r} has levels; select rows instead"
                raise BadSettingError(msg)
            found = LevelReader(
                self.table,
                seen,
                self.columns,
                self.beside,
                self.said.get(column),
                self.settings.level_order(name),
            )
            levels, notes = found.steps(place) if kind == "steps" else found.categories(place)
            axis = Axis(0.0, levels.size - 1.0, levels.edges, np.ones(levels.size), 1.0)
        else:
            axis = seen.axis(place, limits)
        n_missing = seen.n_rows - int(seen.n_known[place])
        share = 1.0 - float(seen.known_weight[place]) / seen.weight if n_missing else 0.0
        return Feature(
            name=name,
            column=column,
            place=place,
            kind=kind,
            axis=axis,
            whole=bool(seen.whole[place]),
            is_complete=seen.sample.is_complete,
            levels=levels,
            n_missing=n_missing,
            missing_share=share,
            notes=notes,
        )


def require_rows(
    feature: Feature, n_rows: int, limits: tuple[float, float], survey: Survey
) -> None:
    """Refuse limits between which a feature has no rows."""
    if n_rows == 0:
        low, high = (written(v, feature.axis_kind) for v in limits)
        first, last = (
            written(float(v[feature.place]), feature.axis_kind) for v in (survey.low, survey.high)
        )
        msg = (
            f"feature {feature.name!r} has no rows within [{low}, {high}]; its values go from "
            f"{first} to {last}"
        )
        raise BadSettingError(msg)
