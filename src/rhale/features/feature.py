"""What each explained feature is: a number, a date, a few steps, or categories in some order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.errors import BadSettingError, BadTableError
from rhale.features.level_reader import LevelReader, Said, column_axis_kind, holds_names, plain_key
from rhale.features.levels import Levels
from rhale.features.survey import MAX_FEATURE_VALUE, Census, Survey, check_exact, check_range
from rhale.features.text_numbers import describe_numbers
from rhale.kernels import FloatArray
from rhale.kernels.axis import FeatureAxis
from rhale.kernels.times import AxisKind, ColumnKind, as_axis_kind, format_axis_value
from rhale.names import find_feature, list_asked
from rhale.results.note import Note
from rhale.settings import Settings
from rhale.tables import Chunk, Table
from rhale.tables.columns import Labels

FEW_STEPS = 20  # whole numbers up to here are steps however many rows they have
STEP_ROWS = 10  # more of them need so many rows on the two sides of every step
FEWEST_EFFECTIVE = 2  # rows, by their weights: fewer do not tell how rows differ


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
    axis : FeatureAxis
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
    axis: FeatureAxis
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


def are_steps(census: Census, *, whole: bool) -> bool:
    """Tell whether the values of a column of numbers are few enough to be levels.

    Parameters
    ----------
    census : Census
        The distinct values and their rows; none where there are many.
    whole : bool
        Whether all of them are whole numbers.

    Notes
    -----
    Two values are two levels, whatever they are. Whole numbers are levels up to 20 of them; up to
    60 (hours, days of the month, minutes) where each pair of neighbours has 10 rows or more. A
    step is measured from the rows of both its levels: with fewer it is mostly chance, and bins,
    which share rows, are better. A pair may hold a rare value beside a frequent one.

    Examples
    --------
    >>> are_steps(Census({-1.5: (3, 3.0), 1.5: (1, 1.0)}, most=60), whole=False)
    True
    """
    values = sorted(census.found)
    if len(values) <= 2 or not whole:
        return len(values) == 2
    count = np.array([census.found[value][0] for value in values])
    return len(values) <= FEW_STEPS or bool(np.all(count[1:] + count[:-1] >= STEP_ROWS))


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

    def is_readable(self, place: int) -> bool:
        """Whether a column that nobody asked for holds what can be told apart."""
        seen, column = self.survey, self.columns[place]
        low, high, name = float(seen.low[place]), float(seen.high[place]), self.table.names[column]
        if self.is_named(column):
            return not seen.census[place].is_many
        try:
            if self.holds_integers(column):
                check_exact(name, low, high)
            check_range(name, low, high)
        except BadTableError:
            return False
        return max(-low, high) <= MAX_FEATURE_VALUE

    def is_named(self, column: int) -> bool:
        """Whether a column holds names."""
        return holds_names(self.table, column)

    def axis_kind(self, column: int) -> AxisKind:
        """What the numbers of a column are."""
        return column_axis_kind(self.table, column)

    def kind(self, place: int) -> ColumnKind:
        """How a feature is explained."""
        column = self.columns[place]
        held, said = self.table.holds(column), self.said.get(column)
        if self.is_named(column) or (said is not None and said is not False):
            return "categories"
        few = are_steps(self.survey.census[place], whole=bool(self.survey.whole[place]))
        is_open = few and held == "number" and said is None
        if is_open and not self.settings.wants_numbers(self.table.names[column]):
            return "steps"
        return self.axis_kind(column)

    def holds_integers(self, column: int) -> bool:
        """Whether a column's own type holds whole numbers only: it cannot hold one half."""
        probe = self.survey.probe.chunk
        half = np.full(probe.n_rows, 0.5)
        return not np.array_equal(probe.representable(column, half), half)

    def describe_weights(self, place: int) -> tuple[Note, ...]:
        """Say that one row has nearly all the weight, or that two rows are uneven."""
        seen = self.survey
        n_rows = float(seen.known_weight[place] ** 2 / seen.known_squares[place])
        if n_rows >= FEWEST_EFFECTIVE or seen.n_known[place] < FEWEST_EFFECTIVE:
            return ()
        text = (
            f"by their weights, {seen.n_known[place]:,} rows count like {n_rows:.3g}: too few to "
            "tell how rows differ and how sure the curve is"
        )
        return (Note("weights", text),)

    def describe_text(self, place: int) -> tuple[Note, ...]:
        """Say that text could be numbers, unless the user calls it categories."""
        column = self.columns[place]
        if self.table.holds(column) not in ("name", "object") or column in self.said:
            return ()
        values = [value for _, value in self.survey.census[place].found]
        return describe_numbers(self.table.names[column], values, self.table.kind)

    def feature(self, place: int, limits: tuple[float, float] | None) -> Feature:
        """Gather what is known of one feature."""
        column, seen = self.columns[place], self.survey
        name = self.table.names[column]
        if not seen.n_known[place]:
            msg = f"feature {name!r} has no value in any of {seen.n_rows:,} rows; leave it out"
            raise BadTableError(msg)
        kind, levels = self.kind(place), None
        notes = self.describe_weights(place)
        if not self.is_named(column) and self.holds_integers(column):
            check_exact(name, float(seen.low[place]), float(seen.high[place]))
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
            levels, told = found.steps(place) if kind == "steps" else found.categories(place)
            notes += told + self.describe_text(place)
            axis = FeatureAxis(0.0, levels.size - 1.0, levels.edges, np.ones(levels.size), 1.0)
        else:
            axis = seen.axis(place, limits)
            check_range(name, axis.low, axis.high)
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


def require_rows_in_limits(
    feature: Feature, n_rows: int, limits: tuple[float, float], survey: Survey
) -> None:
    """Refuse limits between which a feature has no rows."""
    if n_rows == 0:
        low, high = (format_axis_value(v, feature.axis_kind) for v in limits)
        first, last = (
            format_axis_value(float(v[feature.place]), feature.axis_kind)
            for v in (survey.low, survey.high)
        )
        msg = (
            f"feature {feature.name!r} has no rows within [{low}, {high}]; its values go from "
            f"{first} to {last}; if other features are meant, name them: {{'age': ...}}"
        )
        raise BadSettingError(msg)
