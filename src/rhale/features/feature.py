"""What each feature is (number, date, steps, categories), and the first pass that finds out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from rhale.data import Chunk, Table
from rhale.data.columns import Labels
from rhale.data.open import require_two_rows
from rhale.data.table import find_columns
from rhale.effects.binning.axis import FeatureAxis
from rhale.errors import BadSettingError, BadTableError, UnknownFeatureError
from rhale.features.categories import (
    LevelReader,
    Levels,
    Said,
    column_axis_kind,
    describe_numbers,
    holds_names,
    plain_key,
)
from rhale.features.survey import (
    MAX_FEATURE_VALUE,
    Census,
    Survey,
    SurveyTask,
    check_exact,
    check_range,
)
from rhale.naming import find_feature, list_asked
from rhale.output.number_format import (
    AxisKind,
    ColumnKind,
    as_axis_kind,
    as_numbers,
    format_axis_value,
)
from rhale.output.text import Note
from rhale.regions.settings import Regions
from rhale.settings import Settings
from rhale.stats.arrays import FloatArray

FEW_STEPS = 20  # whole numbers up to here are steps however many rows they have
STEP_ROWS = 10  # more of them need so many rows on the two sides of every step
FEWEST_EFFECTIVE = 2  # rows, by their weights: fewer do not tell how rows differ


@dataclass(frozen=True, eq=False)
class Feature:
    """One explained feature: where it is, and what is known of it."""

    name: str
    # column, place: its column in the table, and its place among the explained ones
    column: int
    place: int
    kind: ColumnKind  # how it is explained: "number", "date", "duration", "steps", "categories"
    axis: FeatureAxis  # range and quantiles; of the levels' places, where there are levels
    whole: bool  # whether it takes whole numbers only
    is_complete: bool  # whether the axis knows every row
    levels: Levels | None = None  # the levels of steps and categories, in order
    n_missing: int = 0  # rows without a value
    missing_share: float = 0.0  # their share of the weight
    notes: tuple[Note, ...] = ()  # what a reader should know

    @property
    def is_constant(self) -> bool:
        """Whether there is only one value."""
        return self.axis.low == self.axis.high if self.levels is None else self.levels.size == 1

    @property
    def axis_kind(self) -> AxisKind:
        """What its numbers are."""
        return as_axis_kind(self.kind)

    def axis_positions(self, chunk: Chunk) -> FloatArray:
        """Positions of rows on its axis, shape (n_rows,); nan for rows without a value."""
        x = chunk.column(self.column)
        return x if self.levels is None else self.levels.level_positions(self.levels.locate(x))


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
            msg = f"categorical= lists a value that is not a level of {feature!r} ({error}); list names or numbers"
            raise BadSettingError(msg) from error
        if n_levels < len(order):
            msg = f"categorical= names a level of {feature!r} twice: {list(order)}"
            raise BadSettingError(msg)
        said[find_feature(feature, names)] = order
    return said


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
    """Tell whether the values of a column of numbers are few enough to be levels."""
    # Two values are two levels, whatever they are. Whole numbers are levels up to 20 of them; up
    # to 60 (hours, days of the month, minutes) where each pair of neighbours has 10 rows or more.
    # A step is measured from the rows of both its levels: with fewer it is mostly chance, and
    # bins, which share rows, are better. A pair may hold a rare value beside a frequent one.
    values = sorted(census.found)
    if len(values) <= 2 or not whole:
        return len(values) == 2
    count = np.array([census.found[value][0] for value in values])
    return len(values) <= FEW_STEPS or bool(np.all(count[1:] + count[:-1] >= STEP_ROWS))


@dataclass(frozen=True, eq=False)
class Reader:
    """Turn what a first pass learned into features."""

    table: Table
    survey: Survey  # what was learned
    # columns, auxiliary_columns: the explained columns, and others that were sampled with them
    columns: Sequence[int]
    auxiliary_columns: Sequence[int]
    said: Mapping[int, Said]  # from `read_categorical`
    settings: Settings  # what the user asked for: bins, limits, an order of levels

    def labels(self) -> dict[int, Labels]:
        """Names of the explained columns of names, numbered in the order of their texts."""
        found = {}
        for census, column in zip(self.survey.census, self.columns, strict=True):
            if holds_names(self.table, column):
                values = [value for _, value in census.found]
                values.sort(key=lambda v: (str(v), str(type(v))))
                found[column] = Labels(tuple(values), self.table.missing_value(column))
        return found

    def is_readable(self, place: int) -> bool:
        """Whether a column that the user did not name has values that can split rows."""
        seen, column = self.survey, self.columns[place]
        low, high, name = float(seen.low[place]), float(seen.high[place]), self.table.names[column]
        if holds_names(self.table, column):
            return not seen.census[place].is_many
        try:
            if self.holds_integers(column):
                check_exact(name, low, high)
            check_range(name, low, high)
        except BadTableError:
            return False
        return max(-low, high) <= MAX_FEATURE_VALUE

    def kind(self, place: int) -> ColumnKind:
        """How a feature is explained."""
        column = self.columns[place]
        held, said = self.table.holds(column), self.said.get(column)
        if holds_names(self.table, column) or (said is not None and said is not False):
            return "categories"
        few = are_steps(self.survey.census[place], whole=bool(self.survey.whole[place]))
        is_open = few and held == "number" and said is None
        if is_open and not self.settings.wants_numbers(self.table.names[column]):
            return "steps"
        return column_axis_kind(self.table, column)

    def holds_integers(self, column: int) -> bool:
        """Whether a column's own type holds whole numbers only: it cannot hold one half."""
        probe = self.survey.probe.chunk
        half = np.full(probe.n_rows, 0.5)
        return not np.array_equal(probe.representable(column, half), half)

    def describe_weights(self, place: int) -> tuple[Note, ...]:
        """Say that one row has nearly all the weight, or that two rows are uneven."""
        seen = self.survey
        n_rows = float(seen.known_weight[place] ** 2 / seen.known_squares[place])
        return describe_few_rows(int(seen.n_known[place]), n_rows)

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
        if not holds_names(self.table, column) and self.holds_integers(column):
            check_exact(name, float(seen.low[place]), float(seen.high[place]))
        if kind in ("steps", "categories"):
            if limits is not None:
                msg = f"limits= are for numbers, but {name!r} has levels; select rows instead"
                raise BadSettingError(msg)
            found = LevelReader(
                self.table,
                seen,
                self.columns,
                self.auxiliary_columns,
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


def describe_few_rows(n_rows: int, n_effective: float) -> tuple[Note, ...]:
    """Say that the rows count, by their weights, like less than two."""
    if n_effective >= FEWEST_EFFECTIVE or n_rows < FEWEST_EFFECTIVE:
        return ()
    text = (
        f"with their weights, {n_rows:,} rows count like {n_effective:.3g}: too few to estimate the "
        "spread and the interval"
    )
    return (Note("weights", text),)


def require_rows_in_limits(
    feature: Feature, n_rows: int, limits: tuple[float, float], survey: Survey
) -> None:
    """Refuse limits between which a feature has no rows."""
    if n_rows == 0:
        reach = (float(survey.low[feature.place]), float(survey.high[feature.place]))
        refuse_empty_limits(feature.name, feature.axis_kind, limits, reach)


def refuse_empty_limits(
    name: str, kind: AxisKind, limits: tuple[float, float], reach: tuple[float, float]
) -> NoReturn:
    """Say that no row lies within the limits, and from where to where the rows go."""
    low, high, first, last = (format_axis_value(value, kind) for value in (*limits, *reach))
    msg = (
        f"feature {name!r} has no rows within [{low}, {high}]; its values go from "
        f"{first} to {last}; if other features are meant, name them: {{'age': ...}}"
    )
    raise BadSettingError(msg)


# --- The first pass: look at all rows once, and say what each explained column is


SURVEY_ROWS = 20_000  # distinct rows behind quantiles and windows
PROBE_ROW_RANGE = 32, 256  # rows that a model is asked about first, at least and at most
MOST_COMBINED = 100  # columns of a table whose combinations of levels are looked at


@dataclass(frozen=True, eq=False)
class Columns:
    """What the first pass learned."""

    table: Table  # the table, as it is read from now on: names have numbers
    survey: Survey  # facts about all rows
    features: tuple[Feature, ...]  # the explained features, in order
    # features that may split rows into regions, in the order of the table
    splitters: tuple[Feature, ...] = ()
    # columns of the table whose values the sample has, in its order
    sampled: tuple[int, ...] = ()

    @property
    def probe(self) -> Chunk:
        """A few rows, to ask a model first questions with."""
        return self.survey.probe.chunk


@dataclass(frozen=True, eq=False)
class FirstPass:
    """Which columns are looked at, and what the user says about them."""

    table: Table
    settings: Settings  # what the user asked for
    # columns, auxiliary_columns: the explained columns, and others that are sampled with them
    columns: list[int]
    auxiliary_columns: list[int]
    # What the user says of columns: categories or not, an order of levels
    said: Mapping[int, Said]
    splitters: list[int] = field(default_factory=list)  # columns that may split rows into regions

    @property
    def surveyed(self) -> list[int]:
        """The explained columns, then those of the splitters that are not explained."""
        return self.columns + [c for c in self.splitters if c not in self.columns]

    @property
    def offered(self) -> list[int]:
        """Columns that the user did not name: what cannot be read of them tells nothing apart."""
        return [] if self.settings.splitters else self.surveyed[len(self.columns) :]

    @classmethod
    def plan(cls, table: Table, settings: Settings) -> FirstPass:
        """Find the columns, and refuse those that cannot be explained."""
        columns = find_columns(table.names, settings.features)
        said = read_categorical(settings.categorical, table.names)
        check_columns(table, columns, said)
        splitters = find_splitters(table, settings, said)
        surveyed = {*columns, *splitters}
        # levels are put in order by the other columns, and only moved to where these have rows
        looks = len(table.names) <= MOST_COMBINED
        looks = looks or any(has_no_order(table, c, said.get(c)) for c in surveyed)
        auxiliary = [c for c in range(len(table.names)) if c not in surveyed] if looks else []
        return cls(table, settings, columns, auxiliary, said, splitters)

    @property
    def task(self) -> SurveyTask:
        """What is to be learned of every chunk."""
        return SurveyTask(
            columns=self.surveyed,
            names=self.table.names,
            sizes=(SURVEY_ROWS, PROBE_ROW_RANGE[1]),
            seed=self.settings.seed,
            auxiliary_columns=self.auxiliary_columns,
            counted=[c for c in self.surveyed if self.said.get(c)],
            unchecked=self.offered,
            is_pieced=not self.table.storage.is_memory,
        )

    def resolve_columns(self, survey: Survey) -> Columns:
        """Number the names of columns of names, and say what each feature is."""
        require_two_rows(survey.n_rows)
        table = self.table.with_column_types(survey.facts)
        reader = Reader(
            table, survey, self.surveyed, self.auxiliary_columns, self.said, self.settings
        )
        table = table.label(reader.labels())
        probe = survey.probe.first(int(np.clip(survey.n_rows // 20, *PROBE_ROW_RANGE)))
        survey = replace(survey, probe=replace(probe, chunk=table.settle_chunk(probe.chunk)))
        reader = replace(reader, table=table, survey=survey)
        # the explained features are the first columns of the survey
        wanted = parse_limits_setting(reader.settings.limits, reader, len(self.columns))
        features = []
        for place, column in enumerate(self.columns):
            feature = reader.feature(place, wanted.get(column))
            ends = feature.axis.low, feature.axis.high
            require_rows_in_limits(feature, feature.axis.values.size, ends, reader.survey)
            features.append(feature)
        known = {feature.column: feature for feature in features}
        for place, column in enumerate(reader.columns):
            if column in known or not reader.survey.n_known[place]:
                continue
            if column not in self.offered or reader.is_readable(place):
                known[column] = reader.feature(place, None)
        splitters = tuple(known[column] for column in self.splitters if column in known)
        sampled = (*self.surveyed, *self.auxiliary_columns)
        return Columns(table, survey, tuple(features), splitters, sampled)


def find_splitters(table: Table, settings: Settings, said: Mapping[int, Said]) -> list[int]:
    """Columns that may split rows into regions: those that the user names, or all that can be read."""
    named = settings.splitters
    if named is None:
        return []
    if named == ():
        return [c for c in range(len(table.names)) if table.holds(c) is not None]
    columns = name_splitters(table.names, settings)
    check_columns(table, columns, said)
    return columns


def name_splitters(names: Sequence[str], settings: Settings) -> list[int]:
    """Columns of the splitters that the user names; refuse those that cannot tell anything apart."""
    try:
        columns = sorted({find_feature(name, names) for name in settings.splitters or ()})
    except UnknownFeatureError as error:
        msg = f"a splitter of regions is not a column of the table: {error}"
        raise BadSettingError(msg) from error
    if isinstance(settings.regions, Regions) and columns:
        explained = find_columns(names, settings.features)
        if columns == explained:
            msg = (
                f"splitters={[names[c] for c in columns]} of regions is the explained feature "
                "itself; name others, or leave splitters out"
            )
            raise BadSettingError(msg)
    return columns


def parse_limits_setting(
    limits: Any, reader: Reader, n_features: int
) -> dict[int, tuple[float, float]]:
    """Turn limits into a mapping from column to (low, high)."""
    names, columns = reader.table.names, reader.columns[:n_features]
    if limits is None:
        return {}
    if not isinstance(limits, Mapping):
        if len(columns) != 1:
            msg = f"limits={limits!r} for {len(columns)} features; pass a mapping from feature to (low, high)"
            raise BadSettingError(msg)
        limits = {names[columns[0]]: limits}
    found = {}
    for feature, pair in limits.items():
        column = find_feature(feature, names)
        found[column] = parse_limit_pair(feature, pair, column_axis_kind(reader.table, column))
    return found


def parse_limit_pair(feature: Any, pair: Any, kind: AxisKind) -> tuple[float, float]:
    """Read two limits of one feature as numbers; refuse what is not (low, high)."""
    try:
        low, high = (float(as_numbers(v, kind)) for v in pair)
    except (TypeError, ValueError) as error:
        what = "dates" if kind == "date" else "numbers"
        msg = f"limits of {feature!r} must be two {what} (low, high); found {pair!r}"
        raise BadSettingError(msg) from error
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        msg = f"limits of {feature!r} must be finite with low < high; found ({low}, {high})"
        raise BadSettingError(msg)
    return low, high
