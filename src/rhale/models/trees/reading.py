"""The result of reading an ensemble: a forest, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.data import as_matrix
from rhale.errors import BadTableError
from rhale.models.trees.forest import Forest
from rhale.stats.arrays import FloatArray, IntArray

CLASS_LABEL = "class label"  # in place of a link


class CannotReadError(Exception):
    """These trees cannot be walked; the message says why. The model is asked instead."""


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read from a model."""

    forest: Forest  # the trees; averaging is already in the leaves
    base: FloatArray  # (n_outputs,): what is added to the sum of the leaves
    link: str = "identity"  # how sums become the library's usual answer, in treelite's words
    alpha: float = 1.0  # factor inside a sigmoid link
    missing: float = np.nan  # a marker of a missing value, besides nan
    raw_factor: float = 1.0  # what a raw answer is multiplied by: LightGBM averages after it
    # (n_columns,): feature of each column of the table, where `transform` changes their order
    columns: IntArray | None = None
    # Turns the user's rows into the matrix that the trees see
    transform: Callable[[Any], Any] | None = None
    # Columns of the training table, where the model knows them
    names: tuple[str, ...] | None = None
    adds_in_single: bool = False  # whether the library adds leaves in float32
    # Turns sums (..., n_sums) into the answers that were asked for, instead of a link
    combine: Callable[[FloatArray], FloatArray] | None = None


# --- Categories of a data frame as the numbers that trees know them by


def recode(rows: Any, *, categories: list[list[Any] | None]) -> FloatArray:
    """Read a pandas table as numbers, categories as their places in lists."""
    if not hasattr(rows, "iloc"):
        return as_matrix(rows)
    matrix = np.empty(rows.shape)
    for i, known in enumerate(categories):
        column = rows.iloc[:, i]
        if known is not None:
            column = column.astype("category").cat.set_categories(known)
        if hasattr(column, "cat"):
            matrix[:, i] = np.where(column.cat.codes < 0, np.nan, column.cat.codes)
        else:
            matrix[:, i] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return matrix


def lightgbm_categories(booster: Any) -> list[list[Any] | None] | None:
    """Categories of each column of the data frame in training; None where that is not known.

    LightGBM lists the categories of columns, and apart from that which columns these were; of
    ordered categories, which it takes for numbers, it does not say which.
    """
    named = getattr(booster, "pandas_categorical", None)
    if not named:
        return None
    text = booster.model_to_string(num_iteration=1)
    places = re.search(r"^\[categorical_feature: ([\d,]+)\]", text, re.MULTILINE)
    columns = [int(place) for place in places[1].split(",")] if places else []
    if len(columns) != len(named):
        return None
    by_column = dict(zip(columns, named, strict=True))
    return [by_column.get(i) for i in range(booster.num_feature())]


def with_categories(rows: Any, categories: list[list[Any] | None]) -> Any:
    """A pandas table whose columns have the categories of the training, where it has others.

    Rows of files have text or numbers there, which the libraries refuse or misread.
    """
    changed = {}
    for i, known in enumerate(categories):
        column = rows.iloc[:, i]
        if known is None or hasattr(column, "cat"):
            continue
        made = column.astype("category").cat.set_categories(known)
        is_lost = made.isna() & column.notna()
        if is_lost.any() and (is_lost.all() or column.dtype.kind == "f"):
            msg = (
                f"the column {str(column.name)!r} holds {column[is_lost].iloc[0]!r:.60}, and the "
                f"model was trained with the categories {', '.join(map(repr, known[:6]))}"
                f"{', ...' if len(known) > 6 else ''}; write the column as these, and say "
                f"categorical={{{str(column.name)!r}: True}} where they are numbers"
            )
            raise BadTableError(msg)
        changed[column.name] = made
    return rows.assign(**changed) if changed else rows
