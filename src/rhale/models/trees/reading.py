"""The result of reading an ensemble: a forest, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.data import as_matrix
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
