"""Query a model about changed rows, many changes in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rhale.data import Chunk
from rhale.data.table import Change, HeldColumn
from rhale.effects.jumps import JumpQuestion, JumpReply, JumpRows
from rhale.errors import BadPredictionError, ModelFailedError
from rhale.models import Predictor
from rhale.models.predictor import Answers
from rhale.models.questions import HeldPoints, PairQuestion, PairReply
from rhale.stats.arrays import FloatArray, IntArray

Reason = str
Curves = Callable[[IntArray], FloatArray]  # of some rows: (n_points, n_some, n_outputs)
STACKED_ROWS, STACKED_NUMBERS = 2**15, 2**20  # of one call: more only costs fresh memory
WALKED_CHANGES = 5  # of a feature, so that one walk answers for all of them
WALKED_ANSWERS, FEWEST_WALKED = 2**23, 2**9  # of one walk at most; rows of one at least


@dataclass(frozen=True, eq=False)
class BatchedModel:
    """A model whose queries are stacked into batches."""

    predictor: Predictor
    names: tuple[str, ...]  # column names, for messages
    batch_rows: int  # rows in one call, at most; a chunk may hold several batches
    n_threads: int = 1  # chunks that may be asked about at a time in this process
    n_probed: int = 0  # rows that it was asked about at first, to know it

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs that are explained."""
        return self.predictor.outputs

    def batches(self, chunk: Chunk) -> list[IntArray]:
        """Which rows of a chunk are asked about in one call after the other."""
        return np.split(
            np.arange(chunk.n_rows), range(self.batch_rows, chunk.n_rows, self.batch_rows)
        )

    def differentiate(self, chunk: Chunk) -> Answers:
        """Answers (n_rows, n_outputs) and slopes (n_rows, n_outputs, n_columns) of a chunk."""
        if chunk.n_rows <= self.batch_rows:
            return self.predictor.gradient(chunk)
        found = (self.predictor.gradient(chunk.take(rows)) for rows in self.batches(chunk))
        answers, slopes = zip(*found, strict=True)
        return np.concatenate(answers), np.concatenate(slopes)

    def slopes_alone(self, chunk: Chunk) -> FloatArray:
        """Slopes (n_rows, n_outputs, n_columns) of a chunk, of a model that `gives_slopes`."""
        if chunk.n_rows <= self.batch_rows:
            return self.predictor.slopes_alone(chunk)
        parts = (self.predictor.slopes_alone(chunk.take(rows)) for rows in self.batches(chunk))
        return np.concatenate(list(parts))

    def ask(self, chunk: Chunk, changes: Sequence[Change]) -> FloatArray:
        """Predict one copy of the rows for each change, shape (n_changes, n_rows, n_outputs)."""
        walker = self.predictor.walker
        if walker is None:
            return self.ask_stacked(chunk, changes)
        answers = np.empty((len(changes), chunk.n_rows, len(self.predictor.chosen)))
        seen = [walker.sees(column) for column, _ in changes]
        for can_walk in sorted(set(seen)):
            mine = [i for i, s in enumerate(seen) if s == can_walk]
            part = [changes[i] for i in mine]
            if can_walk:
                question = Question(part, self.names, chunk)
                answers[mine] = self.predictor.walk(walker, chunk, part, question)
            else:
                answers[mine] = self.ask_stacked(chunk, part)
        return answers

    def ask_curves(self, chunk: Chunk, held: Sequence[HeldPoints]) -> list[Curves]:
        """Functions that predict rows with one column held at each of its points.

        One for each column: it takes numbers of rows and returns their curves, (n_points, n_some,
        n_outputs). Without a walk of trees the model is queried only then, so that the curves of
        all rows are never in memory together; several columns in one query are few rows, and
        answered at once.
        """
        walker, answers = self.predictor.walker, dict[int, Curves]()
        seen = [one for one in held if walker is not None and walker.sees(one.column)]
        if seen and walker is not None:
            words = Question([(one.column, one.points) for one in seen], self.names, chunk)
            walked = self.predictor.walk_curves(walker, chunk, seen, words)
            answers = {one.column: in_hand(own) for one, own in zip(seen, walked, strict=True)}
        rest = [one for one in held if one.column not in answers]
        if len(rest) == 1:
            answers[rest[0].column] = partial(self.ask_about, chunk, rest[0])
        elif rest:
            every = (HeldColumn(one.column, one.points, chunk.n_rows) for one in rest)
            changes = [change for one in every for change in one]
            ends = np.cumsum([one.points.size for one in rest])[:-1]
            asked = np.split(self.ask_stacked(chunk, changes), ends)
            answers |= {one.column: in_hand(own) for one, own in zip(rest, asked, strict=True)}
        return [answers[one.column] for one in held]

    def ask_about(self, chunk: Chunk, held: HeldPoints, rows: IntArray) -> FloatArray:
        """Predict some of the rows with one column held, shape (n_points, n_some, n_outputs)."""
        return self.ask_stacked(chunk.take(rows), HeldColumn(held.column, held.points, rows.size))

    def ask_jumps(
        self, chunk: Chunk, questions: Sequence[JumpQuestion], rows: JumpRows
    ) -> list[JumpReply]:
        """Walk trees for the jumps of the rows: one reply for each question on its column."""
        walker = self.predictor.walker
        assert walker is not None  # noqa: S101 - our own mistake
        windows = [(q.column, np.concatenate(q.marks.window)) for q in questions]
        words = Question(windows, self.names, chunk)
        return self.predictor.walk_jumps(walker, chunk, questions, rows, words)

    def ask_pairs(self, chunk: Chunk, asked: PairQuestion) -> PairReply:
        """Have trees walked for the mixed differences of all pairs; all sides must be seen."""
        walker = self.predictor.walker
        assert walker is not None  # noqa: S101 - our own mistake
        changes = [(s.column, np.concatenate([s.low, s.high])) for s in asked.sides]
        words = Question(changes, self.names, chunk)
        return self.predictor.walk_pairs(walker, chunk, asked, words)

    def changes_at_once(self, n_rows: int, n_features: int) -> int:
        """Changes of some rows whose answers fit into memory: one call, or one walk of trees."""
        if self.predictor.walks:  # chunks are small enough for that
            fit = WALKED_ANSWERS // (n_rows * self.predictor.n_all)
            return max(WALKED_CHANGES * n_features, fit)
        return self.copies_at_once(n_rows)

    def fit_rows(self, n_changes: int) -> BatchedModel:
        """The same in smaller batches, where one walk is to answer for so many changes of rows."""
        if not self.predictor.walks:
            return self
        fit = WALKED_ANSWERS // (max(n_changes, 1) * self.predictor.n_all)
        return replace(self, batch_rows=min(self.batch_rows, max(fit, FEWEST_WALKED)))

    def copies_at_once(self, n_rows: int) -> int:
        """Copies of the rows that are stacked for one call: more would only cost memory."""
        most = min(self.batch_rows, STACKED_ROWS, STACKED_NUMBERS // len(self.names))
        return max(1, most // n_rows)

    def ask_stacked(self, chunk: Chunk, changes: Sequence[Change]) -> FloatArray:
        """Predict one copy of the rows per change, as many in one call as the batch holds."""
        if chunk.n_rows > self.batch_rows:
            parts = [
                self.ask_stacked(chunk.take(rows), [(at, values[rows]) for at, values in changes])
                for rows in self.batches(chunk)
            ]
            return np.concatenate(parts, axis=1)
        at_once = self.copies_at_once(chunk.n_rows)
        if 1 <= len(changes) <= at_once:
            return self.ask_once(chunk, changes)
        answers = np.empty((len(changes), chunk.n_rows, len(self.predictor.chosen)))
        for start in range(0, len(changes), at_once):
            some = slice(start, start + at_once)
            answers[some] = self.ask_once(chunk, changes[some])
        return answers

    def ask_once(self, chunk: Chunk, changes: Sequence[Change]) -> FloatArray:
        """Predict one copy of the rows per change in one call."""
        n_rows, question = chunk.n_rows, Question(changes, self.names, chunk)
        try:
            answer = self.predictor.predict(chunk.vary(changes), n_rows * len(changes), question)
        except (ModelFailedError, BadPredictionError) as error:
            self.raise_blame(chunk, changes, error)
            raise
        return answer.reshape(len(changes), n_rows, -1)

    def raise_blame(
        self,
        chunk: Chunk,
        changes: Sequence[Change],
        error: ModelFailedError | BadPredictionError,
    ) -> None:
        """Find one row and one value that the model rejects, and say so; nothing if there is none.

        O(log n_rows) calls of the model: half of the rows, and half of those.
        """
        for column, values in changes:

            def fails(
                rows: IntArray, column: int = column, values: FloatArray = values
            ) -> Reason | None:
                part = chunk.take(rows)
                return self.reason(part.substitute([(column, values[rows])]), rows.size)

            rows = np.arange(chunk.n_rows)
            if fails(rows) is None:
                continue
            while rows.size > 1:
                half = rows[: rows.size // 2]
                rows = half if fails(half) else rows[rows.size // 2 :]
            why = fails(rows)
            if why is None or self.reason(chunk.take(rows).rows, 1):
                return  # it takes several rows to fail, or the row fails as it is
            old = chunk.write_value(column, float(chunk.column(column)[rows[0]]))
            new = chunk.write_value(column, float(values[rows[0]]))
            msg = (
                f"the model rejects row {chunk.row_numbers[rows[0]]} when {self.names[column]!r} is "
                f"changed from {old} to {new}, although it takes the row as it is: {why}. Leave the "
                "feature out of features=, or make the model take such values"
            )
            raise type(error)(msg) from error

    def reason(self, rows: Any, n_rows: int) -> Reason | None:
        """Why the model has no answer for some rows; None if it has."""
        try:
            self.predictor.predict(rows, n_rows)
        except ModelFailedError as error:
            cause = error.__cause__
            return f"{type(cause).__name__}: {cause}" if cause is not None else str(error)
        except BadPredictionError:
            return "its prediction is not a finite number"
        return None


def in_hand(answers: FloatArray) -> Curves:
    """Curves of some rows, where those of all (n_points, n_rows, n_outputs) were asked for."""
    by_row = answers.transpose(1, 0, 2)  # in memory, too, where trees were walked
    return lambda rows: by_row[rows].transpose(1, 0, 2)


@dataclass(frozen=True, eq=False)
class Question:
    """What a model was asked, put into words only if something goes wrong."""

    changes: Sequence[Change]
    names: Sequence[str]
    chunk: Chunk

    def __str__(self) -> str:
        columns = dict.fromkeys(index for index, _ in self.changes)
        parts = []
        for column in list(columns)[:3]:
            values = np.concatenate([v for index, v in self.changes if index == column])
            low, high = (
                self.chunk.write_value(column, end(values))
                for end in (np.fmin.reduce, np.fmax.reduce)
            )
            between = f"between {low} and {high}" if low != high else f"set to {low}"
            parts.append(f"{self.names[column]!r} {between}")
        more = f" and {len(columns) - 3} more features" if len(columns) > 3 else ""
        return f"with {', '.join(parts)}{more}"
