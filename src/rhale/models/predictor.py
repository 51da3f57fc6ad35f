"""A model that has been met: its outputs are known, its answers are checked."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import numpy as np

from rhale.data.table import Change, Chunk
from rhale.effects.jumps import JumpQuestion, JumpReply, JumpRows
from rhale.errors import BadPredictionError, BadSettingError, WrongShapeError
from rhale.models.adapter import Adapter, GivesSlopes, Walker
from rhale.models.libraries import word_class, word_number
from rhale.models.questions import (
    DependenceQuestion,
    Dependences,
    HeldPoints,
    PairQuestion,
    PairReply,
    check_answer,
    check_repeatable,
    format_query_clause,
    has_bad_numbers,
    wrap_model_errors,
)
from rhale.naming import find_output, list_asked
from rhale.output.text import Note
from rhale.stats.arrays import FloatArray

FIRST_ROWS = 32
Answers = tuple[FloatArray, FloatArray]
STOP: ContextVar[Event | None] = ContextVar("STOP", default=None)  # ends work in other threads


@dataclass(frozen=True, eq=False)
class Predictor:
    """A model that has been met: its outputs are known, its answers are checked.

    Attributes
    ----------
    adapter : Adapter
        The model.
    outputs : tuple of str
        Names of the chosen outputs.
    chosen : tuple of int
        Their positions.
    n_all : int
        Number of outputs of the model, chosen or not.

    Examples
    --------
    >>> from rhale.models import wrap
    >>> from rhale.data import open_table
    >>> x = np.arange(6.0).reshape(3, 2)
    >>> chunk = open_table(x).chunk(0, 3)
    >>> predictor, asked = meet(wrap(lambda rows: 2 * rows[:, 0]), chunk)
    >>> predictor.outputs, predictor.predict(x, 3).ravel()
    (('y0',), array([0., 4., 8.]))
    """

    adapter: Adapter
    outputs: tuple[str, ...]
    chosen: tuple[int, ...]
    n_all: int

    def predict(self, rows: Any, n_rows: int, question: object = "") -> FloatArray:
        """Answers of the chosen outputs, shape (n_rows, n_outputs).

        Parameters
        ----------
        rows : table
            Rows, as the model sees them.
        n_rows : int
            How many there are.
        question : object
            What was asked, for messages.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)

        Examples
        --------
        >>> from rhale.models import wrap
        >>> from rhale.data import open_table
        >>> x = np.arange(6.0).reshape(3, 2)
        >>> chunk = open_table(x).chunk(0, 3)
        >>> predictor, asked = meet(wrap(lambda rows: 2 * rows[:, 0]), chunk)
        >>> predictor.predict(x, 3).ravel()
        array([0., 4., 8.])
        """
        raise_if_cancelled()
        with wrap_model_errors(n_rows, question):
            answer = self.adapter.predict(rows)
        return self._choose(check_answer(answer, n_rows, question))

    @property
    def walker(self) -> Walker | None:
        """What answers for changed rows of all features at once; None if the model is asked."""
        return self.adapter.walker

    @property
    def walks(self) -> bool:
        """Whether there is such a walker."""
        return self.walker is not None

    @property
    def walks_pairs(self) -> bool:
        """Whether there is one that answers for pairs: those of others may be older than pairs."""
        return self.walker is not None and hasattr(self.walker, "walk_pairs")

    @property
    def checked_rows(self) -> int:
        """Rows that were asked to see whether the walker gives the model's own answers."""
        return self.adapter.checked_rows

    @property
    def n_threads(self) -> int:
        """How many chunks may be answered at a time."""
        return self.adapter.n_threads

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the adapter has to say about how the model is asked."""
        return self.adapter.notes

    def word(self, output: str, target: str = "") -> str:
        """What people read for one of the chosen outputs.

        Parameters
        ----------
        output : str
            Its label.
        target : str
            What the model was made to predict, where that is known.

        Returns
        -------
        str

        Examples
        --------
        >>> from rhale.models import wrap
        >>> from rhale.data import open_table
        >>> x = np.arange(6.0).reshape(3, 2)
        >>> chunk = open_table(x).chunk(0, 3)
        >>> predictor, asked = meet(wrap(lambda rows: 2 * rows[:, 0]), chunk)
        >>> predictor.word("y0"), predictor.word("y0", "price")
        ('prediction', 'price')
        """
        answers, labels = self.adapter.answers, self.adapter.labels
        if labels is not None and output in labels and len(labels) == self.n_all:
            return word_class(answers, output, target)
        place = self.chosen[self.outputs.index(output)]
        return word_number(answers, place, self.n_all, target)

    def walk(
        self, walker: Walker, chunk: Chunk, changes: Sequence[Change], question: object
    ) -> FloatArray:
        """Answers of the chosen outputs for each change, shape (n_changes, n_rows, n_outputs).

        Parameters
        ----------
        walker : Walker
            What answers, that of the adapter.
        chunk : Chunk
            The rows.
        changes : sequence of (int, ndarray of shape (n_rows,))
            Columns and their new values, one after the other.
        question : object
            What was asked, for messages.

        Returns
        -------
        ndarray of shape (n_changes, n_rows, n_outputs)

        Examples
        --------
        >>> from rhale.models import wrap
        >>> from rhale.data import open_table
        >>> x = np.arange(6.0).reshape(3, 2)
        >>> chunk = open_table(x).chunk(0, 3)
        >>> predictor, asked = meet(wrap(lambda rows: 2 * rows[:, 0]), chunk)
        >>> class Doubles:
        ...     def walk(self, chunk, changes):
        ...         return np.stack([2 * values for _, values in changes])[..., None]
        >>> predictor.walk(Doubles(), chunk, [(0, np.ones(3))], "with x0 changed").ravel()
        array([2., 2., 2.])
        """
        raise_if_cancelled()
        with wrap_model_errors(chunk.n_rows, question):
            answers = walker.walk(chunk, changes)
        flat = answers.reshape(len(changes) * chunk.n_rows, -1)
        if has_bad_numbers(flat):
            check_answer(flat, len(flat), question)  # says where
        return self._choose(flat).reshape(len(changes), chunk.n_rows, -1)

    def walk_curves(
        self, walker: Walker, chunk: Chunk, held: Sequence[HeldPoints], question: object
    ) -> list[FloatArray]:
        """Answers of the chosen outputs with one column held, (n_points, n_rows, n_outputs) each.

        Parameters
        ----------
        walker : Walker
            What answers, that of the adapter.
        chunk : Chunk
            The rows.
        held : sequence of HeldPoints
            Columns, each once, and their values in all rows.
        question : object
            What was asked, for messages.

        Returns
        -------
        list of ndarray of shape (n_points, n_rows, n_outputs)

        Examples
        --------
        >>> from rhale.models import wrap
        >>> from rhale.data import open_table
        >>> x = np.arange(6.0).reshape(3, 2)
        >>> chunk = open_table(x).chunk(0, 3)
        >>> predictor, asked = meet(wrap(lambda rows: 2 * rows[:, 0]), chunk)
        >>> class Doubles:
        ...     def walk_curves(self, chunk, held):
        ...         return [np.tile(2 * own.points, (chunk.n_rows, 1)).T[..., None] for own in held]
        >>> held = [HeldPoints(0, np.array([1.0, 5.0]))]
        >>> predictor.walk_curves(Doubles(), chunk, held, "with x0 held")[0][..., 0]
        array([[ 2.,  2.,  2.],
               [10., 10., 10.]])
        """
        raise_if_cancelled()
        with wrap_model_errors(chunk.n_rows, question):
            answers = walker.walk_curves(chunk, held)
        for own in answers:
            if has_bad_numbers(own):
                flat = own.reshape(own.shape[0] * own.shape[1], -1)
                check_answer(flat, len(flat), question)  # says where
        everything = self.chosen == tuple(range(self.n_all))
        return answers if everything else [own[..., list(self.chosen)] for own in answers]

    def walk_jumps(
        self,
        walker: Walker,
        chunk: Chunk,
        questions: Sequence[JumpQuestion],
        rows: JumpRows,
        question: object,
    ) -> list[JumpReply]:
        """Jumps of the chosen outputs, one reply for each question.

        Parameters
        ----------
        walker : Walker
            What answers, that of the adapter.
        chunk : Chunk
            The rows.
        questions : sequence of JumpQuestion
            What is asked about single columns.
        rows : JumpRows
            How rows count.
        question : object
            What was asked, for messages.

        Returns
        -------
        list of JumpReply

        Examples
        --------
        >>> from rhale.models import wrap
        >>> from rhale.data import open_table
        >>> x = np.arange(6.0).reshape(3, 2)
        >>> chunk = open_table(x).chunk(0, 3)
        >>> predictor, asked = meet(wrap(lambda rows: 2 * rows[:, 0]), chunk)
        >>> class Flat:
        ...     def walk_jumps(self, chunk, questions, rows, chosen):
        ...         return [JumpReply(None, np.zeros((4, 1, 3))) for _ in questions]
        >>> predictor.walk_jumps(Flat(), chunk, [], JumpRows(np.zeros(3, np.uint8), np.ones(3)), "")
        []
        """
        raise_if_cancelled()
        with wrap_model_errors(chunk.n_rows, question):
            replies = walker.walk_jumps(chunk, questions, rows, self.chosen)
        for asked, reply in zip(questions, replies, strict=True):
            if has_bad_numbers(reply.slopes):
                msg = (
                    f"the model's predictions change by nan or infinity{format_query_clause(question)} "
                    f"(column {asked.column}); effects need finite predictions"
                )
                raise BadPredictionError(msg)
        return replies

    def walk_pairs(
        self, walker: Walker, chunk: Chunk, asked: PairQuestion, question: object
    ) -> PairReply:
        """Mixed differences of all pairs, of the chosen outputs.

        Parameters
        ----------
        walker : Walker
            What answers, that of the adapter.
        chunk : Chunk
            The rows.
        asked : PairQuestion
            What is asked about pairs of columns.
        question : object
            What was asked, for messages.

        Returns
        -------
        PairReply

        Examples
        --------
        >>> from rhale.models import wrap
        >>> from rhale.data import open_table
        >>> x = np.arange(6.0).reshape(3, 2)
        >>> chunk = open_table(x).chunk(0, 3)
        >>> predictor, asked = meet(wrap(lambda rows: 2 * rows[:, 0]), chunk)
        >>> class Flat:
        ...     def walk_pairs(self, chunk, asked, chosen):
        ...         return PairReply([], [])
        >>> predictor.walk_pairs(Flat(), chunk, PairQuestion((), np.empty((0, 2), dtype=int)), "").mixed
        []
        """
        raise_if_cancelled()
        with wrap_model_errors(chunk.n_rows, question):
            reply = walker.walk_pairs(chunk, asked, self.chosen)
        for pair, mixed in zip(asked.pairs, reply.mixed, strict=True):
            if has_bad_numbers(mixed):
                columns = " and ".join(str(asked.sides[i].column) for i in pair)
                msg = (
                    f"the model's predictions change by nan or infinity{format_query_clause(question)} "
                    f"(columns {columns}); strengths of pairs need finite predictions"
                )
                raise BadPredictionError(msg)
        return reply

    def gradient(self, chunk: Chunk, rows: Any = None) -> Answers:
        """Answers (n_rows, n_outputs) and slopes (n_rows, n_outputs, n_columns).

        Parameters
        ----------
        chunk : Chunk
            The rows.
        rows : table, optional
            The same rows as the model is to see them, where something in them was replaced.

        Returns
        -------
        answers : ndarray of shape (n_rows, n_outputs)
        slopes : ndarray of shape (n_rows, n_outputs, n_columns)

        Examples
        --------
        >>> from rhale.models import wrap
        >>> from rhale.data import open_table
        >>> chunk = open_table(np.arange(6.0).reshape(3, 2)).chunk(0, 3)
        >>> model = wrap(lambda rows: 2 * rows[:, 0], gradient=lambda rows: rows * 0 + [2.0, 0.0])
        >>> predictor, _ = meet(model, chunk)
        >>> predictor.gradient(chunk)[1][0]
        array([[2., 0.]])
        """
        raise_if_cancelled()
        with wrap_model_errors(chunk.n_rows, "when computing its gradient"):
            seen = chunk.rows if rows is None else rows
            answer, slopes = self.adapter.gradient(seen, self.chosen)
        checked = check_slopes(chunk, slopes)
        return self._choose(check_answer(answer, chunk.n_rows, "")), checked

    @property
    def gives_slopes(self) -> bool:
        """Whether slopes cost less without answers: see `slopes_alone`."""
        return self.adapter.is_differentiable and isinstance(self.adapter, GivesSlopes)

    def slopes_alone(self, chunk: Chunk) -> FloatArray:
        """Slopes as of `gradient`, where they cost less than with answers (`gives_slopes`).

        Parameters
        ----------
        chunk : Chunk
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs, n_columns)

        Examples
        --------
        >>> from rhale.models import wrap
        >>> from rhale.data import open_table
        >>> chunk = open_table(np.arange(6.0).reshape(3, 2)).chunk(0, 3)
        >>> model = wrap(lambda rows: 2 * rows[:, 0], gradient=lambda rows: rows * 0 + [2.0, 0.0])
        >>> predictor, _ = meet(model, chunk)
        >>> predictor.gives_slopes, predictor.slopes_alone(chunk)[0]
        (True, array([[2., 0.]]))
        """
        raise_if_cancelled()
        assert isinstance(self.adapter, GivesSlopes)  # noqa: S101 - our own mistake
        with wrap_model_errors(chunk.n_rows, "when computing its gradient"):
            slopes = self.adapter.slopes_alone(chunk.rows, self.chosen, self.n_all)
        return check_slopes(chunk, slopes)

    def partial_dependences(self, chunk: Chunk, question: DependenceQuestion) -> Dependences | None:
        """Partial dependences of the chosen outputs at the rows; None if the model is to be asked.

        Parameters
        ----------
        chunk : Chunk
            The rows.
        question : DependenceQuestion
            Which columns and pairs.

        Returns
        -------
        Dependences or None

        Examples
        --------
        >>> from rhale.models import wrap
        >>> from rhale.data import open_table
        >>> x = np.arange(6.0).reshape(3, 2)
        >>> chunk = open_table(x).chunk(0, 3)
        >>> predictor, asked = meet(wrap(lambda rows: 2 * rows[:, 0]), chunk)
        >>> question = DependenceQuestion((0,), np.empty((0, 2), dtype=int), np.full(3, 1 / 3))
        >>> predictor.partial_dependences(chunk, question) is None  # a function is asked, not walked
        True
        """
        raise_if_cancelled()
        if self.walker is None:
            return None
        with wrap_model_errors(chunk.n_rows, "when computing partial dependences"):
            return self.walker.partial_dependences(chunk, question, self.chosen)

    def _choose(self, answer: FloatArray) -> FloatArray:
        if answer.shape[1] != self.n_all:
            msg = f"the model returned {self.n_all} outputs at first and {answer.shape[1]} later"
            raise WrongShapeError(msg)
        everything = self.chosen == tuple(range(self.n_all))
        return answer if everything else answer[:, list(self.chosen)]


def raise_if_cancelled() -> None:
    """Raise CancelledError in a thread whose result is not wanted any more."""
    stop = STOP.get()
    if stop is not None and stop.is_set():
        raise CancelledError


def check_slopes(chunk: Chunk, slopes: Any) -> FloatArray:
    """Slopes as numbers: 0 along missing values, and refused where they are not finite otherwise."""
    checked = np.asarray(slopes, dtype=np.float64)
    if not has_bad_numbers(checked):
        return checked
    # slopes of rows along values that they do not have count for nothing
    bad = np.flatnonzero(~np.isfinite(checked).all(axis=(0, 1)))
    checked = np.array(checked)
    for gap in bad.tolist():
        checked[np.isnan(chunk.key(gap)), :, gap] = 0.0
    if has_bad_numbers(checked):
        row, _, column = np.argwhere(~np.isfinite(checked))[0]
        msg = (
            f"the gradient is {checked[row, 0, column]} in row {chunk.row_numbers[row]}, column "
            f"{column}; a model without a finite derivative there needs local='secant'"
        )
        raise BadPredictionError(msg)
    return checked


def meet(adapter: Adapter, probe: Chunk, output: Any = None) -> tuple[Predictor, int]:
    """Ask a model a first question, twice, and choose the outputs.

    Parameters
    ----------
    adapter : Adapter
        The model.
    probe : Chunk
        Some rows.
    output : None, str, int or a sequence of these
        Outputs to explain.

    Returns
    -------
    predictor : Predictor
    asked : int
        Rows that were predicted.

    Examples
    --------
    >>> from rhale.models import wrap
    >>> from rhale.data import open_table
    >>> x = np.arange(6.0).reshape(3, 2)
    >>> chunk = open_table(x).chunk(0, 3)
    >>> predictor, asked = meet(wrap(lambda rows: 2 * rows[:, 0]), chunk)
    >>> predictor.outputs, asked  # three rows, and two of them again
    (('y0',), 5)
    """
    first = probe.take(np.arange(min(FIRST_ROWS, probe.n_rows)))
    half = probe.take(np.arange((first.n_rows + 1) // 2))
    with wrap_model_errors(first.n_rows, "on the first test call"):
        raw = adapter.predict(first.rows)
        adapter = adapter.recognise(first.rows, raw)
        again = adapter.predict(half.rows)
    answer, repeated = check_answer(raw, first.n_rows), check_answer(again, half.n_rows)
    check_repeatable(answer[: half.n_rows], repeated)
    everything = Predictor(adapter, (), tuple(range(answer.shape[1])), answer.shape[1])
    # Name all outputs, and keep those that were asked for
    labels, usual = everything.adapter.labels, everything.adapter.usual_outputs
    # several labels at a time, own objectives
    if labels is None or len(labels) != everything.n_all:
        labels, usual = tuple(f"y{i}" for i in range(everything.n_all)), None
    if output is None:
        chosen = list(range(everything.n_all)) if usual is None else list(usual)
    else:
        asked = list_asked(output, "output")
        chosen = [find_output(o, labels) for o in asked]
        if len(set(chosen)) < len(chosen):
            msg = f"output={output!r} names an output twice"
            raise BadSettingError(msg)
    names = tuple(labels[i] for i in chosen)
    return replace(everything, outputs=names, chosen=tuple(chosen)), first.n_rows + half.n_rows
