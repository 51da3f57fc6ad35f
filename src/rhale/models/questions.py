"""Questions to a model about pairs and partial dependences, and its answers, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rhale.errors import BadPredictionError, ModelFailedError, RhaleError, WrongShapeError, excerpt
from rhale.interaction.moments import CellPositions, PairAxis
from rhale.stats.arrays import FloatArray, IntArray

REPEATABLE = 1e-5  # relative; far above float32 rounding, far below dropout
MAX_MODEL_MESSAGE = 1000  # letters of what a model says; its own error is the cause of ours


class wrap_model_errors:  # noqa: N801 - reads as a sentence at its call
    """Turn an exception of the model into one that says whose it is and what was asked."""

    def __init__(self, n_rows: int, question: object) -> None:
        self.n_rows, self.question = n_rows, question

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, RhaleError):
            asked = format_query_clause(self.question)
            msg = (
                f"the model failed on {self.n_rows} rows{asked}: {type(error).__name__}: "
                f"{excerpt(error, MAX_MODEL_MESSAGE).rstrip('.')}"
            )
            failed = ModelFailedError(msg)
            failed.add_note("The traceback of the model is above; nothing of the run is kept.")
            raise failed from error


def as_prediction_array(answer: Any) -> npt.NDArray[Any]:
    """An answer as an array; of a tensor that knows its gradient, or lies elsewhere, its values."""
    if hasattr(answer, "detach"):
        answer = answer.detach().cpu()
    return np.asarray(answer)


def check_answer(answer: Any, n_rows: int, question: object = "") -> FloatArray:
    """Turn an answer into finite floats of shape (n_rows, n_outputs), or say what is wrong."""
    try:
        array = as_prediction_array(answer)
    except ValueError as error:  # a list of arrays of different lengths
        msg = f"the model returned a {type(answer).__name__} that is not an array{format_query_clause(question)}: {error}"
        raise WrongShapeError(msg) from error
    if array.dtype.kind not in "fiub":
        try:
            array = np.array(array.tolist(), dtype=np.float64)
        except (TypeError, ValueError) as error:
            msg = (
                f"the model returned {array.dtype} values such as {array.ravel()[:1]}{format_query_clause(question)}; "
                "return numbers (for a classifier: response='predict_proba')"
            )
            raise BadPredictionError(msg) from error
    if array.ndim not in (1, 2) or array.shape[0] != n_rows or array.size == 0:
        msg = (
            f"predict returned shape {array.shape} for {n_rows} rows{format_query_clause(question)}; "
            "return an array of shape (n_rows,) or (n_rows, n_outputs)"
        )
        raise WrongShapeError(msg)
    values = np.array(array, dtype=np.float64).reshape(n_rows, -1)
    if has_bad_numbers(values):
        bad = ~np.isfinite(values)
        row = int(np.argwhere(bad)[0, 0])
        msg = (
            f"the model returned nan or infinity for {int(bad.any(axis=1).sum())} of {n_rows} "
            f"rows{format_query_clause(question)} (first: row {row} of the batch, {values[row]}); effects need finite "
            "predictions (does the model take the missing values of the table, if it has some?)"
        )
        raise BadPredictionError(msg)
    return values


def format_query_clause(question: object) -> str:
    """The question as the end of a clause, or nothing."""
    return f" {question}" if question else ""


def has_bad_numbers(values: FloatArray) -> bool:
    """Tell whether any value is nan or infinite; one pass, where none is."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(values.sum())
    return suspicious and not bool(np.all(np.isfinite(values)))


def check_repeatable(answer: FloatArray, again: FloatArray) -> None:
    """Refuse a model whose answer to a row is not always the same."""
    if answer.shape != again.shape:
        msg = f"the model returned {answer.shape[1]} outputs at first and {again.shape[1]} later"
        raise WrongShapeError(msg)
    gap, size = np.abs(answer - again), np.maximum(np.abs(answer), np.abs(again)).max(axis=0)
    excess = gap - REPEATABLE * size
    if excess.max() > 0:
        row, column = np.unravel_index(int(np.argmax(excess)), gap.shape)
        msg = (
            f"the model returned different predictions for the same row: {answer[row, column]:.6g} and "
            f"{again[row, column]:.6g}. Either it is random (dropout or sampling switched on) or "
            "the prediction of a row depends on the other rows of the batch; make it repeatable first"
        )
        raise BadPredictionError(msg)


# --- Questions to a model about pairs and partial dependences, and the predictions that answer them


@dataclass(frozen=True, eq=False)
class PairSide:
    """One feature, as rows are asked about it."""

    column: int
    axis: PairAxis  # its cells or levels
    positions: CellPositions  # where the rows stand
    # low, high: (n_rows,): what its value is replaced by, as `Chunk.column` has values: the limits
    # of the row's cell; of levels the one below and the one above, or the row's own where there is
    # none. Rows that stand nowhere keep their own value.
    low: FloatArray
    high: FloatArray

    @cached_property
    def width(self) -> FloatArray:
        """Width of each row's cell, of numbers; 0 for rows that stand nowhere."""
        stand = self.positions.cell
        return np.where(stand >= 0, self.axis.widths[np.maximum(stand, 0)], 0.0)


class PairReply(NamedTuple):
    """Differences of rows."""

    # (n_outputs, n_rows, n_ways): for each pair, the mixed differences over the steps that each
    # row counts for. Between numbers one: f(high, high) - f(high, low) - f(low, high) + f(low,
    # low). A side with levels has two ways, DOWN (0: from the level below to the row's own) and UP
    # (1: from its own to the one above); ways of two such sides are numbered way of the first * 2
    # + way of the second. 0 where there is no such step, and for rows that stand nowhere on either
    # side.
    mixed: Sequence[FloatArray]
    # (n_outputs, n_rows, n_ways): for each side, the differences along it alone, the other
    # features as they are
    single: Sequence[FloatArray]
    # (n_rows, n_outputs): answers for the rows as they are; None where they are not known on the
    # way
    answers: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class PairQuestion:
    """What is asked about a chunk: sides, and which of them make pairs."""

    sides: tuple[PairSide, ...]  # each feature once
    pairs: IntArray  # (n_pairs, 2): places among the sides


# --- Partial dependences at the rows that they are averaged over: one feature, two, all but one


@dataclass(frozen=True, eq=False)
class HeldPoints:
    """One column, held at each of some points in all rows: what curves along it are made of."""

    column: int  # the column in the table
    points: FloatArray  # (n_points,): its values, increasing


@dataclass(frozen=True, eq=False)
class DependenceQuestion:
    """Which partial dependences are asked for."""

    columns: tuple[int, ...]  # the features, by their columns in the table
    pairs: IntArray  # (n_pairs, 2): which two of them, by their places in `columns`
    shares: FloatArray  # (n_rows,): what each row counts for; they add up to 1

    def in_blocks(self, n_pairs: int) -> list[DependenceQuestion]:
        """The same question, some pairs at a time; at least one."""
        starts = range(0, max(len(self.pairs), 1), n_pairs)
        return [replace(self, pairs=self.pairs[start : start + n_pairs]) for start in starts]


@dataclass(frozen=True, eq=False)
class Dependences:
    """Partial dependences of some features and pairs, read at the rows themselves."""

    # (n_columns, n_outputs, n_rows): mean answer with one feature held at the row's value, less
    # its mean over the rows
    single: FloatArray
    rest: FloatArray  # (n_columns, n_outputs, n_rows): the same with all other features held
    pairs: IntArray  # (n_pairs, 2): which two of the columns, by their places in `single`
    # (n_pairs, n_outputs, n_rows): mean answer with both held, less the two of `single` and its
    # mean: what additive features lack
    pure: FloatArray


def normalise_row_weights(n_rows: int, weights: FloatArray | None) -> FloatArray:
    """What every row counts for in an average.

    Examples
    --------
    >>> normalise_row_weights(2, np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    return np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()


def centre(values: FloatArray, shares: FloatArray) -> FloatArray:
    """Take the mean over the rows, the last axis, off; what is constant becomes exactly 0.

    Examples
    --------
    >>> centre(np.array([0.1, 0.1, 0.1]), np.full(3, 1 / 3)).tolist()
    [0.0, 0.0, 0.0]
    """
    first = values - values[..., :1]
    return np.asarray(first - (first @ shares)[..., None])
