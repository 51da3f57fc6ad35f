"""JAX functions: gradients of all features by one reverse pass per output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rhale.errors import NotDifferentiableError
from rhale.models.base import Adapter
from rhale.tables import as_matrix


@dataclass(frozen=True, eq=False)
class JaxModel:
    """A function of a matrix (n_rows, n_features), written in JAX."""

    function: Callable[[Any], Any]

    kind = "JAX function"
    is_differentiable = True
    labels = None
    usual_outputs = None

    def session(self) -> AbstractContextManager[None]:
        """Nothing to prepare."""
        return nullcontext()

    def predict(self, rows: Any) -> Any:
        """Call the function on a matrix."""
        return np.asarray(self.function(self._matrix(rows)))

    def gradient(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:
        """One forward pass, and one reverse pass per output."""
        try:
            answer, pull = jax.vjp(self.function, self._matrix(rows))
        except (jax.errors.JAXTypeError, TypeError) as error:
            msg = (
                "JAX cannot differentiate this function (NumPy calls or Python branches on its "
                f"values?): {type(error).__name__}; use jax.numpy throughout, or local='secant'"
            )
            raise NotDifferentiableError(msg) from error
        table = answer.reshape(len(answer), -1)
        slopes = []
        for output in outputs:
            seed = jnp.zeros_like(table).at[:, output].set(1.0).reshape(answer.shape)
            slopes.append(np.asarray(pull(seed)[0], dtype=np.float64))
        return np.asarray(answer), np.stack(slopes, axis=1)

    def recognise(self, rows: Any, answer: Any) -> Adapter:  # noqa: ARG002
        """Nothing more to learn."""
        return self

    def _matrix(self, rows: Any) -> jax.Array:
        """Bring rows to the floating type that JAX is set to."""
        return jnp.asarray(as_matrix(rows), dtype=jnp.result_type(float))
