"""The first pass: look at all rows once, and say what each explained column is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rhale.errors import BadSettingError
from rhale.features.feature import (
    Feature,
    Reader,
    check_columns,
    has_no_order,
    read_categorical,
    require_rows,
)
from rhale.features.level_reader import Said
from rhale.features.survey import Survey, SurveyTask
from rhale.kernels.times import AxisKind, as_numbers
from rhale.names import find_feature
from rhale.settings import Settings
from rhale.tables import Chunk, Table
from rhale.tables.chunk import find_columns
from rhale.tables.open import require_two_rows

SURVEY_ROWS = 20_000  # distinct rows behind quantiles and windows
PROBE_ROWS = 32, 256  # rows that a model is asked about first, at least and at most


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
    """

    table: Table
    survey: Survey
    features: tuple[Feature, ...]

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
    """

    table: Table
    settings: Settings
    columns: list[int]
    beside: list[int]
    said: Mapping[int, Said]

    @classmethod
    def plan(cls, table: Table, settings: Settings) -> FirstPass:
        """Find the columns, and refuse those that cannot be explained."""
        columns = find_columns(table.names, settings.features)
        said = read_categorical(settings.categorical, table.names)
        check_columns(table, columns, said)
        unordered = any(has_no_order(table, c, said.get(c)) for c in columns)
        asked = set(columns)
        beside = [c for c in range(len(table.names)) if c not in asked] if unordered else []
        return cls(table, settings, columns, beside, said)

    @property
    def task(self) -> SurveyTask:
        """What is to be learned of every chunk."""
        return SurveyTask(
            columns=self.columns,
            names=self.table.names,
            sizes=(SURVEY_ROWS, PROBE_ROWS[1]),
            seed=self.settings.seed,
            beside=self.beside,
            counted=[c for c in self.columns if self.said.get(c)],
            is_pieced=not self.table.storage.is_memory,
        )

    def settle(self, survey: Survey) -> Columns:
        """Number the names of columns of names, and say what each feature is."""
        require_two_rows(survey.n_rows)
        table = self.table.settle(survey.facts)
        reader = Reader(table, survey, self.columns, self.beside, self.said, self.settings)
        table = table.label(reader.labels())
        probe = survey.probe.first(int(np.clip(survey.n_rows // 20, *PROBE_ROWS)))
        survey = replace(survey, probe=replace(probe, chunk=table.settle_chunk(probe.chunk)))
        return Columns(
            table, survey, tuple(list_features(replace(reader, table=table, survey=survey)))
        )


def list_features(reader: Reader) -> list[Feature]:
    """Gather what the first pass learned about each feature."""
    wanted = read_limits(reader.settings.limits, reader)
    features = []
    for place, column in enumerate(reader.columns):
        feature = reader.feature(place, wanted.get(column))
        axis = feature.axis
        require_rows(feature, axis.values.size, (axis.low, axis.high), reader.survey)
        features.append(feature)
    return features


def read_limits(limits: Any, reader: Reader) -> dict[int, tuple[float, float]]:
    """Turn limits into a mapping from column to (low, high)."""
    names, columns = reader.table.names, reader.columns
    if limits is None:
        return {}
    if not isinstance(limits, Mapping):
        limits = {_only_name(limits, names, columns): limits}
    found = {}
    for feature, pair in limits.items():
        column = find_feature(feature, names)
        found[column] = _read_pair(feature, pair, reader.axis_kind(column))
    return found


def _only_name(limits: Any, names: Sequence[str], columns: Sequence[int]) -> str:
    """The one feature whose limits can be meant without a name."""
    if len(columns) != 1:
        msg = f"limits={limits!r} for {len(columns)} features; pass a mapping from feature to (low, high)"
        raise BadSettingError(msg)
    return names[columns[0]]


def _read_pair(feature: Any, pair: Any, kind: AxisKind) -> tuple[float, float]:
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
