"""A learner with the rows it learns from: trainings on part of them, one after the other or some at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rhale.kernels import IntArray
from rhale.models.fitting import Trainer, take_rows
from rhale.tables import TableInMemory


@dataclass(frozen=True, eq=False)
class Lesson:
    """What is learned from which rows.

    Attributes
    ----------
    trainer : Trainer
        Trains a new model.
    table : TableInMemory
        Rows, without what is learned.
    target : array-like
        What is learned, one entry a row.
    params : mapping
        Passed on to the learner; what has one entry a row goes with the rows.
    """

    trainer: Trainer
    table: TableInMemory
    target: Any
    params: Mapping[str, Any]

    @property
    def strata(self) -> Any:
        """Classes that every training should have its share of; None where none are learned."""
        values = np.asarray(self.target)
        return values if self.trainer.is_classifier and values.ndim == 1 else None

    def train(self, rows: IntArray) -> Any:
        """Train a new model on some of the rows."""
        part = self.table.take(rows)
        seen = part.chunk(0, part.n_rows).rows
        params = {name: self._cut(value, rows) for name, value in self.params.items()}
        return self.trainer.train(seen, take_rows(self.target, rows), params)

    def _cut(self, value: Any, rows: IntArray) -> Any:
        """Some rows of a parameter that has one entry a row; any other one as it is."""
        has_rows = hasattr(value, "__len__") and not isinstance(value, str | bytes | Mapping)
        return take_rows(value, rows) if has_rows and len(value) == self.table.n_rows else value


Training = tuple[int, Callable[[], Any]]


def train_ahead(lesson: Lesson, trainings: Sequence[IntArray], n_jobs: int) -> Generator[Training]:
    """Give the number of every training, and a function that waits for its model, in order.

    Parameters
    ----------
    lesson : Lesson
        What is learned.
    trainings : sequence of ndarray
        Rows of each training.
    n_jobs : int
        How many learn at a time; one learns when it is asked for.

    Notes
    -----
    With several jobs, as many models learn ahead of the one that is looked at. Closing the
    generator drops what has not begun.
    """
    if n_jobs == 1:
        for number, rows in enumerate(trainings):
            yield number, partial(lesson.train, rows)
        return
    pool = ThreadPoolExecutor(n_jobs, thread_name_prefix="rhale-training")
    waiting: list[Future[Any]] = []
    try:
        for number in range(len(trainings)):
            while len(waiting) < min(number + n_jobs, len(trainings)):
                waiting.append(pool.submit(lesson.train, trainings[len(waiting)]))
            yield number, waiting[number].result
            waiting[number] = Future()  # its model serves the caller alone
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
