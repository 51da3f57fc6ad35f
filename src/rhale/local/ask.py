"""Ask a model about varied rows, many variants in one stacked call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray
from rhale.models import Predictor
from rhale.tables import Chunk
from rhale.tables.chunk import Change


def ask(
    predictor: Predictor,
    chunk: Chunk,
    changes: Sequence[Change],
    names: Sequence[str],
    batch_rows: int,
) -> FloatArray:
    """Predict one copy of the rows per change.

    Parameters
    ----------
    predictor : Predictor
        The model.
    chunk : Chunk
        The rows.
    changes : sequence of (column, values)
        What to replace in each copy.
    names : sequence of str
        Column names, for messages.
    batch_rows : int
        Rows in one call, at most (but always a whole copy).

    Returns
    -------
    ndarray of shape (n_changes, n_rows, n_outputs)
    """
    if predictor.walker is not None:
        return predictor.walk(predictor.walker, chunk, changes, Question(changes, names))
    n_rows, at_once = chunk.n_rows, max(1, batch_rows // chunk.n_rows)
    answers = np.empty((len(changes), n_rows, len(predictor.chosen)))
    for start in range(0, len(changes), at_once):
        part = changes[start : start + at_once]
        question = Question(part, names)
        answer = predictor.predict(chunk.varied(part), n_rows * len(part), question)
        answers[start : start + at_once] = answer.reshape(len(part), n_rows, -1)
    return answers


@dataclass(frozen=True, eq=False)
class Question:
    """What a model was asked, put into words only if something goes wrong."""

    changes: Sequence[Change]
    names: Sequence[str]

    def __str__(self) -> str:
        columns = dict.fromkeys(index for index, _ in self.changes)
        parts = []
        for column in list(columns)[:3]:
            values = np.concatenate([v for index, v in self.changes if index == column])
            parts.append(f"{self.names[column]!r} between {values.min():g} and {values.max():g}")
        more = f" and {len(columns) - 3} more features" if len(columns) > 3 else ""
        return f"with {', '.join(parts)}{more}"
