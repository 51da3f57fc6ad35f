"""JAX functions: gradients of all features by one reverse pass per output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rhale.data import as_matrix
from rhale.errors import BadSettingError, NotDifferentiableError
from rhale.models.adapter import Adapter


@dataclass(frozen=True, eq=False)
class JaxModel(Adapter):
    """A function of a matrix (n_rows, n_features), written in JAX."""

    function: Callable[[Any], Any]
    device: Any = None  # where it computes; None for JAX's usual device

    kind = "JAX function"
    is_differentiable = True

    def move_to(self, device: Any) -> JaxModel:
        """The function on a device, or the name of one."""
        return JaxModel(self.function, find_jax_device(device))

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

    def _matrix(self, rows: Any) -> jax.Array:
        """Bring rows to the floating type that JAX is set to."""
        return jnp.asarray(as_matrix(rows), dtype=jnp.result_type(float), device=self.device)


def find_jax_device(name: Any) -> Any:
    """The device of that name, or what there is instead."""
    if not isinstance(name, str):
        return name
    platform, _, number = name.partition(":")
    try:
        return jax.devices(platform)[int(number or 0)]
    except (RuntimeError, IndexError, ValueError) as error:
        found = ", ".join(f"{d.platform}:{d.id}" for d in jax.devices())
        msg = f"device={name!r} was requested, but JAX finds {found} here; leave device= out"
        raise BadSettingError(msg) from error
