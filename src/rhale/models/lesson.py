"""A learner with the rows it learns from: trainings on part of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.errors import ModelFailedError
from rhale.kernels import IntArray
from rhale.kernels.splits import as_units, read_labels
from rhale.models.fitting import Trainer, take_params, take_training_rows
from rhale.tables import TableInMemory


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What is learned from which rows.

    Attributes
    ----------
    trainer : Trainer
        Trains a new model.
    table : TableInMemory
        Rows, without what is learned.
    target : array-like
        What is learned, one entry a row.
    params : mapping or None
        Passed on to the learner; what has one entry a row goes with the rows.
    """

    trainer: Trainer
    table: TableInMemory
    target: Any
    params: Mapping[str, Any] | None = None

    @property
    def strata(self) -> npt.NDArray[Any] | None:
        """Classes that every training should have its share of; None where none are learned."""
        values = read_labels(self.target) if self.trainer.is_classifier else None
        return values if values is not None and values.ndim == 1 else None

    @cached_property
    def _classes(self) -> tuple[npt.NDArray[Any], IntArray]:
        """Every class once, and the number of each row's class; none where none are learned."""
        labels = self.strata
        if labels is None:
            return np.empty(0), np.empty(0, dtype=np.intp)
        unit, _ = as_units(labels, self.table.n_rows, argument="target")
        return labels[np.unique(unit, return_index=True)[1]], unit

    def train(self, rows: IntArray) -> Any:
        """Train a new model on some of the rows; refuse to if a class has none among them.

        Parameters
        ----------
        rows : ndarray of shape (n_trained,)
            Row numbers; they may repeat.

        Notes
        -----
        A learner that never sees a class answers other outputs than the others, or fails with
        words of its own.
        """
        self._require_classes(rows)
        part = self.table.take(rows)
        seen = part.chunk(0, part.n_rows).rows
        params = take_params(self.params, rows, self.table.n_rows)
        return self.trainer.train(seen, take_training_rows(self.target, rows), params)

    def _require_classes(self, rows: IntArray) -> None:
        labels, unit = self._classes
        if not len(labels):
            return
        lacking = labels[np.bincount(unit[rows], minlength=len(labels)) == 0]
        if len(lacking):
            names = ", ".join(repr(str(label)) for label in lacking[:3])
            msg = f"none of its {rows.size} rows is of class {names}; give more rows of it, or leave it out"
            raise ModelFailedError(msg)
