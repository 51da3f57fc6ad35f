"""Any callable: rows in, numbers out; with or without a gradient of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.errors import WrongShapeError
from rhale.models.adapter import Adapter
from rhale.models.libraries import Answer
from rhale.models.questions import as_prediction_array
from rhale.output.text import Note


@dataclass(frozen=True, eq=False)
class FunctionModel(Adapter):
    """A function of a table."""

    # Takes rows of the user's kind of table; returns (n_rows,) or (n_rows, n_outputs)
    function: Callable[[Any], Any]
    # Takes the same rows; returns (n_rows, n_features) or (n_rows, n_outputs, n_features)
    derivative: Callable[[Any], Any] | None = None
    labels: tuple[str, ...] | None = None  # names of the outputs
    usual_outputs: tuple[int, ...] | None = None  # outputs to explain when none is named
    kind: str = "function"  # what to call it
    # Gives the context in which the function is called
    open_session: Callable[[], AbstractContextManager[None]] = nullcontext
    columns: tuple[str, ...] | None = None  # columns that it takes, in its order
    answers: Answer = "prediction"  # what the numbers are, for people
    notes: tuple[Note, ...] = ()  # what a reader should know of them

    @property
    def is_differentiable(self) -> bool:
        """Whether a gradient was given."""
        return self.derivative is not None

    def session(self) -> AbstractContextManager[None]:
        """Prepare the model behind the function, if there is one."""
        return self.open_session()

    @contextmanager
    def answer_alone(self) -> Iterator[Adapter]:
        """Answer in the thread that asks, for a while."""
        from rhale.models.boosters import limit_own_threads

        with limit_own_threads(self.function):
            yield self

    def predict(self, rows: Any) -> Any:
        """Call the function."""
        return self.function(rows)

    def gradient(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:
        """Call the function and the gradient that came with it."""
        if self.derivative is None:
            return super().gradient(rows, outputs)
        slopes, answer = (
            as_prediction_array(self.derivative(rows)),
            as_prediction_array(self.function(rows)),
        )
        n_outputs = answer.size // max(len(rows), 1)
        return answer, choose_slopes(slopes, rows, outputs, n_outputs)

    def slopes_alone(self, rows: Any, outputs: Sequence[int], n_outputs: int) -> Any:
        """Call the gradient that came with the function, and not the function."""
        assert self.derivative is not None  # noqa: S101 - our own mistake
        return choose_slopes(as_prediction_array(self.derivative(rows)), rows, outputs, n_outputs)

    def recognise(self, rows: Any, answer: Any) -> Adapter:
        """See from the answer whether the function is written in JAX."""
        is_jax = type(answer).__module__.partition(".")[0] in ("jax", "jaxlib")
        if is_jax and self.derivative is None and isinstance(rows, np.ndarray):
            from rhale.models.jax import JaxModel

            return JaxModel(self.function)
        return self


def choose_slopes(slopes: Any, rows: Any, outputs: Sequence[int], n_outputs: int) -> Any:
    """Slopes of the chosen outputs, shape (n_rows, n_chosen, n_columns); others are refused."""
    n_columns = np.shape(rows)[1]
    wanted = (len(rows), n_outputs, n_columns)
    if slopes.shape != wanted and (n_outputs > 1 or slopes.shape != wanted[::2]):
        msg = (
            f"gradient returned shape {slopes.shape} for {len(rows)} rows, {n_outputs} outputs "
            f"and {n_columns} columns; return (n_rows, n_features) or (n_rows, n_outputs, "
            "n_features)"
        )
        raise WrongShapeError(msg)
    slopes = slopes.reshape(wanted)
    is_all = list(outputs) == list(range(n_outputs))  # most models have one: no copy
    return slopes if is_all else slopes[:, list(outputs)]
