"""Columns that are no features: target, groups, weights, rows to train and to explain on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from rhale.data import open_table
from rhale.data.columns import column_at
from rhale.data.files.table import names_files
from rhale.data.open import find_weights
from rhale.data.table import TableInMemory, find_columns
from rhale.errors import BadSettingError, BadTableError, UnknownFeatureError
from rhale.execution import open_on_engine
from rhale.features.feature import FirstPass
from rhale.features.naming import name_columns
from rhale.naming import list_asked, near_names
from rhale.settings import Settings
from rhale.stability.splits import as_units
from rhale.stats.arrays import IntArray


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Rows that are explained, and what is known of them beside their features."""

    table: TableInMemory  # all rows, with the columns that models see
    asked: Settings  # what is asked of every model; weights are numbers
    # target, groups: what is learned, and which rows belong together, one entry a row
    target: Any = None
    groups: Any = None

    @property
    def units(self) -> IntArray | None:
        """Number of the group of each row; None without groups."""
        return None if self.groups is None else as_units(self.groups, self.table.n_rows)[0]


def read_explained_rows(
    data: Any, asked: Settings, *, target: Any = None, groups: Any = None
) -> ExplainedRows:
    """Open the table, and take columns out of it that are no features: target, groups, weights."""
    table = open_in_memory(data)
    given = {"target": target, "groups": groups, "weights": asked.weights}
    taken = {
        use: find_column(use, name, table) for use, name in given.items() if isinstance(name, str)
    }
    given |= {use: read_column(table, place) for use, place in taken.items()}
    kept = keep_features(table.names, taken, asked)
    asked = replace(asked, weights=given["weights"], columns=None)
    table = table if kept is None else table.select(kept)
    # refuse what no training could answer, before one is paid for
    weighed = name_columns(open_table(table, asked.weights), asked)
    FirstPass.plan(weighed, asked.by_name(weighed.names))
    return ExplainedRows(table, asked, given["target"], given["groups"])


def open_in_memory(data: Any) -> TableInMemory:
    """Open rows that are in memory, since trainings have part of them."""
    if names_files(data) or open_on_engine(data) is not None:
        msg = (
            "each retraining uses a part of the rows, which must be in memory; read the table first. Models "
            f"that share no row do without: rhale.refits(models, data, scheme='independent'). Found "
            f"{data!r:.200}"
        )
        raise BadTableError(msg)
    return open_table(data)


def find_column(use: str, name: str, table: TableInMemory) -> int:
    """Find the column that holds something else than a feature."""
    if name not in table.names:
        msg = f"{use}={name!r} is not a column of the table; {near_names(name, table.names)}"
        raise UnknownFeatureError(msg)
    return find_weights(name, table) if use == "weights" else table.names.index(name)


def read_column(table: TableInMemory, place: int) -> Any:
    """One column, in the user's kind of table."""
    rows = table.select([place]).chunk(0, table.n_rows).rows
    if isinstance(rows, np.ndarray):
        return rows[:, 0]
    return column_at(nw.from_native(rows, eager_only=True), 0).to_native()


def keep_features(
    names: Sequence[str], taken: Mapping[str, int], asked: Settings
) -> list[int] | None:
    """Columns that models see, None for all; refuse those that are taken for something else."""
    if asked.columns is None:
        kept = [place for place in range(len(names)) if place not in taken.values()]
    else:
        kept = find_columns(names, asked.columns)
    named = [] if asked.features is None else list_asked(asked.features, "features")
    for use, place in taken.items():
        wrong = "features" if names[place] in named else "columns" if place in kept else None
        if wrong is not None:
            msg = (
                f"{wrong}= names {names[place]!r}, which is the {use} and no feature; leave it out"
            )
            raise BadSettingError(msg)
    if not kept:
        msg = f"the table has no column beside {', '.join(taken)}; a model needs features"
        raise BadTableError(msg)
    return None if kept == list(range(len(names))) else kept
