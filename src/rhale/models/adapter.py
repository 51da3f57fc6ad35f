"""What an adapter must offer, and the one place where a model's answers are checked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from rhale.errors import (
    BadPredictionError,
    BadSettingError,
    ModelFailedError,
    NotDifferentiableError,
    RhaleError,
    WrongShapeError,
    excerpt,
)
from rhale.kernels import FloatArray
from rhale.names import find_output, list_asked
from rhale.results.note import Note
from rhale.tables.chunk import Change, Chunk

REPEATABLE = 1e-5  # relative; far above float32 rounding, far below dropout
FIRST_ROWS = 32
LONGEST = 1000  # letters of what a model says; its own error is the cause of ours
Answers = tuple[FloatArray, FloatArray]
STOP: ContextVar[Event | None] = ContextVar("STOP", default=None)  # ends work in other threads


class Walker(Protocol):
    """A model that can be read: it answers for many changed columns at once."""

    def walk(self, chunk: Chunk, changes: Sequence[Change]) -> FloatArray:
        """Answers of all outputs, shape (n_changes, n_rows, n_outputs)."""

    def sees(self, column: int) -> bool:
        """Whether changes of a column can be walked."""


if TYPE_CHECKING:
    default = property
else:

    class default:  # noqa: N801 - stands where `property` would
        """A property that an attribute of the same name replaces: of a class, or of one object."""

        def __init__(self, value: Callable[[Any], Any]) -> None:
            self.value, self.__doc__ = value, value.__doc__

        def __get__(self, instance: object, owner: type | None = None) -> Any:
            return self.value(instance)


@runtime_checkable
class Adapter(Protocol):
    """One kind of model, asked in its own way.

    What has all these members is taken for an adapter, whoever wrote it. A class that inherits
    them writes `kind` and `predict`, and of the others what it knows better: as an attribute, a
    field or a property.

    Examples
    --------
    >>> class Doubled(Adapter):
    ...     kind = "a function of mine"
    ...
    ...     def predict(self, rows):
    ...         return 2 * rows[:, 0]
    >>> isinstance(Doubled(), Adapter), Doubled().is_differentiable
    (True, False)
    """

    @property
    @abstractmethod
    def kind(self) -> str:
        """What the model is, for people."""

    @abstractmethod
    def predict(self, rows: Any) -> Any:
        """Answer for rows of the user's kind of table."""

    # --- what it answers, and about what

    @default
    def labels(self) -> tuple[str, ...] | None:
        """Names of all outputs, where the model has names for them."""
        return None

    @default
    def usual_outputs(self) -> tuple[int, ...] | None:
        """Outputs to explain when the user names none; None for all."""
        return None

    @default
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns that the model takes, in its order; None if it does not say."""
        return None

    @default
    def notes(self) -> tuple[Note, ...]:
        """What a reader should know about how the model is asked."""
        return ()

    def recognise(self, rows: Any, answer: Any) -> Adapter:  # noqa: ARG002
        """Give a better adapter, now that an answer has been seen; or this one."""
        return self

    # --- slopes

    @default
    def is_differentiable(self) -> bool:
        """Whether `gradient` may be called."""
        return False

    def gradient(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:  # noqa: ARG002
        """Answers of all outputs, and slopes (n_rows, n_chosen, n_columns) of the chosen ones."""
        msg = f"this {self.kind} has no derivative; pass gradient=, or use local='secant'"
        raise NotDifferentiableError(msg)

    # --- many changed columns at once

    @default
    def walker(self) -> Walker | None:
        """What answers for changed rows of all features at once; None if the model is asked."""
        return None

    @default
    def checked_rows(self) -> int:
        """Rows that were asked to see whether the walker gives the model's own answers."""
        return 0

    @default
    def n_threads(self) -> int:
        """How many chunks may be answered at a time."""
        return 1

    # --- where it computes

    def session(self) -> AbstractContextManager[None]:
        """Prepare the model, and leave it afterwards as it was."""
        return nullcontext()

    def answer_alone(self) -> AbstractContextManager[Adapter]:
        """Give the model to ask where every answer is to come from the thread that asks."""
        return nullcontext(self)

    @default
    def device(self) -> Any:
        """Where the model computes; None if it does not say."""
        return None

    @default
    def is_placed(self) -> bool:
        """Whether it computes there and nowhere else."""
        return True

    def move_to(self, device: Any) -> Adapter:
        """The model, or a copy of it, on a device."""
        msg = f"device={device!r} is for torch modules and JAX functions; this is a {self.kind}"
        raise BadSettingError(msg)

    @default
    def gives_tensors(self) -> bool:
        """Whether `differentiate` may be called: `device` is one of torch."""
        return False

    def differentiate(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:
        """As `gradient`, in tensors that stay where the model computes."""
        return self.gradient(rows, outputs)


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
    """

    adapter: Adapter
    outputs: tuple[str, ...]
    chosen: tuple[int, ...]
    n_all: int

    def predict(self, rows: Any, n_rows: int, question: object = "") -> FloatArray:
        """Answers of the chosen outputs, shape (n_rows, n_outputs)."""
        heed_stop()
        with blaming_the_model(n_rows, question):
            answer = self.adapter.predict(rows)
        return self._chosen(check_answer(answer, n_rows, question))

    @property
    def walker(self) -> Walker | None:
        """What answers for changed rows of all features at once; None if the model is asked."""
        return self.adapter.walker

    @property
    def walks(self) -> bool:
        """Whether there is such a walker."""
        return self.walker is not None

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

    def walk(
        self, walker: Walker, chunk: Chunk, changes: Sequence[Change], question: object
    ) -> FloatArray:
        """Answers of the chosen outputs for each change, shape (n_changes, n_rows, n_outputs)."""
        heed_stop()
        with blaming_the_model(chunk.n_rows, question):
            answers = walker.walk(chunk, changes)
        flat = answers.reshape(len(changes) * chunk.n_rows, -1)
        if has_bad_numbers(flat):
            check_answer(flat, len(flat), question)  # says where
        return self._chosen(flat).reshape(len(changes), chunk.n_rows, -1)

    def gradient(self, chunk: Chunk) -> Answers:
        """Answers (n_rows, n_outputs) and slopes (n_rows, n_outputs, n_columns)."""
        heed_stop()
        with blaming_the_model(chunk.n_rows, "asked for its gradient"):
            answer, slopes = self.adapter.gradient(chunk.rows, self.chosen)
        checked = np.asarray(slopes, dtype=np.float64)
        if has_bad_numbers(checked):
            checked = without_gaps(chunk, checked)
        if has_bad_numbers(checked):
            row, _, column = np.argwhere(~np.isfinite(checked))[0]
            msg = (
                f"the gradient is {checked[row, 0, column]} in row {chunk.row_numbers[row]}, column "
                f"{column}; a model without a finite derivative there needs local='secant'"
            )
            raise BadPredictionError(msg)
        return self._chosen(check_answer(answer, chunk.n_rows, "")), checked

    def _chosen(self, answer: FloatArray) -> FloatArray:
        if answer.shape[1] != self.n_all:
            msg = f"the model gave {self.n_all} outputs at first and {answer.shape[1]} later"
            raise WrongShapeError(msg)
        everything = self.chosen == tuple(range(self.n_all))
        return answer if everything else answer[:, list(self.chosen)]


def heed_stop() -> None:
    """End the work of a thread that nobody waits for any more, before its next question."""
    stop = STOP.get()
    if stop is not None and stop.is_set():
        raise CancelledError


def without_gaps(chunk: Chunk, slopes: FloatArray) -> FloatArray:
    """Slopes of rows along values that they do not have are none: they count for nothing."""
    bad = np.flatnonzero(~np.isfinite(slopes).all(axis=(0, 1)))
    filled = np.array(slopes)
    for column in bad.tolist():
        filled[np.isnan(chunk.key(column)), :, column] = 0.0
    return filled


class blaming_the_model:  # noqa: N801 - reads as a sentence at its call
    """Turn an exception of the model into one that says whose it is and what was asked."""

    def __init__(self, n_rows: int, question: object) -> None:
        self.n_rows, self.question = n_rows, question

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, RhaleError):
            asked = in_words(self.question)
            msg = (
                f"the model failed on {self.n_rows} rows{asked}: {type(error).__name__}: "
                f"{excerpt(error, LONGEST).rstrip('.')}"
            )
            failed = ModelFailedError(msg)
            failed.add_note("Its own traceback is above; nothing of the run is kept.")
            raise failed from error


def check_answer(answer: Any, n_rows: int, question: object = "") -> FloatArray:
    """Turn an answer into finite floats of shape (n_rows, n_outputs), or say what is wrong."""
    try:
        array = np.asarray(answer)
    except ValueError as error:  # a list of arrays of different lengths
        msg = f"the model answered with a {type(answer).__name__} that is no array{in_words(question)}: {error}"
        raise WrongShapeError(msg) from error
    if array.dtype.kind not in "fiub":
        try:
            array = np.array(array.tolist(), dtype=np.float64)
        except (TypeError, ValueError) as error:
            msg = (
                f"the model answered with {array.dtype} values such as {array.ravel()[:1]}{in_words(question)}; "
                "return numbers (for a classifier: response='predict_proba')"
            )
            raise BadPredictionError(msg) from error
    if array.ndim not in (1, 2) or array.shape[0] != n_rows or array.size == 0:
        msg = (
            f"predict returned shape {array.shape} for {n_rows} rows{in_words(question)}; "
            "return an array of shape (n_rows,) or (n_rows, n_outputs)"
        )
        raise WrongShapeError(msg)
    values = np.array(array, dtype=np.float64).reshape(n_rows, -1)
    if has_bad_numbers(values):
        bad = ~np.isfinite(values)
        row = int(np.argwhere(bad)[0, 0])
        msg = (
            f"the model answered nan or infinity for {int(bad.any(axis=1).sum())} of {n_rows} "
            f"rows{in_words(question)} (first: row {row} of the batch, {values[row]}); effects need finite "
            "predictions (does the model take the missing values of the table, if it has some?)"
        )
        raise BadPredictionError(msg)
    return values


def in_words(question: object) -> str:
    """The question as the end of a clause, or nothing."""
    return f" {question}" if question else ""


def has_bad_numbers(values: FloatArray) -> bool:
    """Tell whether any value is nan or infinite; one pass, where none is."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(values.sum())
    return suspicious and not bool(np.all(np.isfinite(values)))


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
    """
    first = probe.take(np.arange(min(FIRST_ROWS, probe.n_rows)))
    half = probe.take(np.arange((first.n_rows + 1) // 2))
    with blaming_the_model(first.n_rows, "at the first question"):
        raw = adapter.predict(first.rows)
        adapter = adapter.recognise(first.rows, raw)
        again = adapter.predict(half.rows)
    answer, repeated = check_answer(raw, first.n_rows), check_answer(again, half.n_rows)
    check_repeatable(answer[: half.n_rows], repeated)
    everything = Predictor(adapter, (), tuple(range(answer.shape[1])), answer.shape[1])
    return choose_outputs(everything, output), first.n_rows + half.n_rows


def check_repeatable(answer: FloatArray, again: FloatArray) -> None:
    """Refuse a model whose answer to a row is not always the same."""
    if answer.shape != again.shape:
        msg = f"the model gave {answer.shape[1]} outputs at first and {again.shape[1]} later"
        raise WrongShapeError(msg)
    gap, size = np.abs(answer - again), np.maximum(np.abs(answer), np.abs(again)).max(axis=0)
    excess = gap - REPEATABLE * size
    if excess.max() > 0:
        row, column = np.unravel_index(int(np.argmax(excess)), gap.shape)
        msg = (
            f"the model gave different answers to the same row: {answer[row, column]:.6g} and "
            f"{again[row, column]:.6g}. Either it is random (dropout or sampling switched on) or "
            "a row's answer depends on the other rows of the batch; make it repeatable first"
        )
        raise BadPredictionError(msg)


def choose_outputs(predictor: Predictor, output: Any) -> Predictor:
    """Name all outputs and keep those that were asked for."""
    labels, usual = predictor.adapter.labels, predictor.adapter.usual_outputs
    if labels is None or len(labels) != predictor.n_all:  # several labels at a time, own objectives
        labels, usual = tuple(f"y{i}" for i in range(predictor.n_all)), None
    if output is None:
        chosen = list(range(predictor.n_all)) if usual is None else list(usual)
    else:
        asked = list_asked(output, "output")
        chosen = [find_output(o, labels) for o in asked]
        if len(set(chosen)) < len(chosen):
            msg = f"output={output!r} names an output twice"
            raise BadSettingError(msg)
    return replace(predictor, outputs=tuple(labels[i] for i in chosen), chosen=tuple(chosen))
