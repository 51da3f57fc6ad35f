"""A model's answers, checked: finite numbers, one row each, always the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.errors import BadPredictionError, ModelFailedError, RhaleError, WrongShapeError, excerpt
from rhale.stats.arrays import FloatArray

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
