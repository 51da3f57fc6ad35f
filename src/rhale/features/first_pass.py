"""The first pass: look at all rows once, and say what each explained column is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rhale.errors import BadSettingError, UnknownFeatureError
from rhale.features.feature import (
    Feature,
    Reader,
    check_columns,
    has_no_order,
    read_categorical,
    require_rows_in_limits,
)
from rhale.features.level_reader import Said
from rhale.features.survey import Survey, SurveyTask
from rhale.kernels.regions import Regions
from rhale.kernels.times import AxisKind, as_numbers
from rhale.names import find_feature
from rhale.settings import Settings
from rhale.tables import Chunk, Table
from rhale.tables.chunk import find_columns
from rhale.tables.open import require_two_rows

SURVEY_ROWS = 20_000  # distinct rows behind quantiles and windows
PROBE_ROW_RANGE = 32, 256  # rows that a model is asked about first, at least and at most
MOST_COMBINED = 100  # columns of a table whose combinations of levels are looked at


@dataclass(frozen=True, eq=False)
class Columns:
    """What the first pass learned.

    Attributes
    ----------
    table : Table
        The table, as it is read from now on: names have numbers.
    survey : Survey
        Facts about all rows.
    features : tuple of Feature
        The explained features, in order.
    splitters : tuple of Feature
        Features that regions may be told by, in the order of the table.
    sampled : tuple of int
        Columns of the table that the sample has values of, as they stand there.
    """

    table: Table
    survey: Survey
    features: tuple[Feature, ...]
    splitters: tuple[Feature, ...] = ()
    sampled: tuple[int, ...] = ()

    @property
    def probe(self) -> Chunk:
        """A few rows, to ask a model first questions with."""
        return self.survey.probe.chunk


@dataclass(frozen=True, eq=False)
class FirstPass:
    """Which columns are looked at, and what the user says about them.

    Attributes
    ----------
    table : Table
        The table.
    settings : Settings
        What the user asked for.
    columns, beside : list of int
        The explained columns, and others that are sampled with them.
    said : mapping of int to bool or tuple
        What the user says of columns: categories or not, an order of levels.
    splitters : list of int
        Columns that regions may be told by.
    """

    table: Table
    settings: Settings
    columns: list[int]
    beside: list[int]
    said: Mapping[int, Said]
    splitters: list[int] = field(default_factory=list)

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
        beside = [c for c in range(len(table.names)) if c not in surveyed] if looks else []
        return cls(table, settings, columns, beside, said, splitters)

    @property
    def task(self) -> SurveyTask:
        """What is to be learned of every chunk."""
        return SurveyTask(
            columns=self.surveyed,
            names=self.table.names,
            sizes=(SURVEY_ROWS, PROBE_ROW_RANGE[1]),
            seed=self.settings.seed,
            beside=self.beside,
            counted=[c for c in self.surveyed if self.said.get(c)],
            unchecked=self.offered,
            is_pieced=not self.table.storage.is_memory,
        )

    def settle(self, survey: Survey) -> Columns:
        """Number the names of columns of names, and say what each feature is."""
        require_two_rows(survey.n_rows)
        table = self.table.settle(survey.facts)
        reader = Reader(table, survey, self.surveyed, self.beside, self.said, self.settings)
        table = table.label(reader.labels())
        probe = survey.probe.first(int(np.clip(survey.n_rows // 20, *PROBE_ROW_RANGE)))
        survey = replace(survey, probe=replace(probe, chunk=table.settle_chunk(probe.chunk)))
        reader = replace(reader, table=table, survey=survey)
        features = list_features(reader, len(self.columns))
        splitters, sampled = self.list_splitters(reader, features), (*self.surveyed, *self.beside)
        return Columns(table, survey, tuple(features), splitters, sampled)

    def list_splitters(self, reader: Reader, features: Sequence[Feature]) -> tuple[Feature, ...]:
        """Features that regions may be told by: those that some row has a value of."""
        known = {feature.column: feature for feature in features}
        for place, column in enumerate(reader.columns):
            if column in known or not reader.survey.n_known[place]:
                continue
            if column not in self.offered or reader.is_readable(place):
                known[column] = reader.feature(place, None)
        return tuple(known[column] for column in self.splitters if column in known)


def find_splitters(table: Table, settings: Settings, said: Mapping[int, Said]) -> list[int]:
    """Columns that regions may be told by: those that the user names, or all that can be read."""
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
        msg = f"regions are to be told by a column that is not there: {error}"
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


def list_features(reader: Reader, n_features: int) -> list[Feature]:
    """Gather what the first pass learned about each feature: they are the first columns."""
    wanted = parse_limits_setting(reader.settings.limits, reader, n_features)
    features = []
    for place in range(n_features):
        column = reader.columns[place]
        feature = reader.feature(place, wanted.get(column))
        axis = feature.axis
        require_rows_in_limits(feature, axis.values.size, (axis.low, axis.high), reader.survey)
        features.append(feature)
    return features


def parse_limits_setting(
    limits: Any, reader: Reader, n_features: int
) -> dict[int, tuple[float, float]]:
    """Turn limits into a mapping from column to (low, high)."""
    names, columns = reader.table.names, reader.columns[:n_features]
    if limits is None:
        return {}
    if not isinstance(limits, Mapping):
        limits = {_only_name(limits, names, columns): limits}
    found = {}
    for feature, pair in limits.items():
        column = find_feature(feature, names)
        found[column] = _parse_limit_pair(feature, pair, reader.axis_kind(column))
    return found


def _only_name(limits: Any, names: Sequence[str], columns: Sequence[int]) -> str:
    """The one feature whose limits can be meant without a name."""
    if len(columns) != 1:
        msg = f"limits={limits!r} for {len(columns)} features; pass a mapping from feature to (low, high)"
        raise BadSettingError(msg)
    return names[columns[0]]


def _parse_limit_pair(feature: Any, pair: Any, kind: AxisKind) -> tuple[float, float]:
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
