"""torch modules: gradients of all features in one backward pass, the module left as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from rhale.errors import NotDifferentiableError, WrongShapeError
from rhale.models.base import Adapter
from rhale.tables import as_matrix

CPU_ROWS = 2**12  # activations of so many rows stay in the processor's cache


@dataclass(frozen=True, eq=False)
class TorchModel:
    """A module that maps (n_rows, n_features) to (n_rows,) or (n_rows, n_outputs)."""

    module: torch.nn.Module

    kind = "torch module"
    is_differentiable = True
    labels = None
    usual_outputs = None

    def session(self) -> AbstractContextManager[None]:
        """Switch to evaluation, and afterwards every part back to what it was."""
        return evaluating(self.module)

    def predict(self, rows: Any) -> Any:
        """Answer without keeping a graph."""
        with torch.no_grad():
            answers = [self._answer(part) for part in self._parts(rows)]
            return torch.cat(answers).cpu().double().numpy()

    def gradient(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:
        """One forward pass, and one backward pass per output."""
        answers, slopes = [], []
        with torch.inference_mode(mode=False), torch.enable_grad():
            for part in self._parts(rows):
                tensor = part.requires_grad_()
                answer = self._answer(tensor)
                if not answer.requires_grad:
                    msg = "the module's output does not depend on its input in a differentiable way"
                    raise NotDifferentiableError(msg)
                answers.append(answer.detach())
                found = [self._slope(answer, tensor, o, o == outputs[-1]) for o in outputs]
                slopes.append(torch.stack(found, dim=1))
        return torch.cat(answers).cpu().double().numpy(), torch.cat(slopes).cpu().double().numpy()

    def recognise(self, rows: Any, answer: Any) -> Adapter:  # noqa: ARG002
        """Nothing more to learn."""
        return self

    def _slope(
        self,
        answer: torch.Tensor,
        tensor: torch.Tensor,
        output: int,
        last: bool,  # noqa: FBT001
    ) -> torch.Tensor:
        column = answer.reshape(len(tensor), -1)[:, output]
        found: tuple[torch.Tensor | None, ...] = torch.autograd.grad(
            column.sum(), tensor, retain_graph=not last, allow_unused=True
        )
        return torch.zeros_like(tensor) if found[0] is None else found[0]

    def _answer(self, tensor: torch.Tensor) -> torch.Tensor:
        """Ask, and refuse anything but one answer per row."""
        answer: object = self.module(tensor)
        if not isinstance(answer, torch.Tensor):
            msg = (
                f"the module returned {type(answer).__name__}; wrap it so that it returns a tensor"
            )
            raise WrongShapeError(msg)
        if answer.ndim not in (1, 2) or len(answer) != len(tensor):
            msg = (
                f"the module returned shape {tuple(answer.shape)} for {len(tensor)} rows; "
                "return a tensor of shape (n_rows,) or (n_rows, n_outputs)"
            )
            raise WrongShapeError(msg)
        return answer

    def _parts(self, rows: Any) -> Iterator[torch.Tensor]:
        """Bring rows to the module's own device and precision, in batches that suit the device."""
        weight = next((p for p in self.module.parameters() if p.is_floating_point()), None)
        dtype = torch.get_default_dtype() if weight is None else weight.dtype
        device = torch.device("cpu") if weight is None else weight.device
        matrix = as_matrix(rows)
        size = CPU_ROWS if device.type == "cpu" else len(matrix)
        for start in range(0, len(matrix), size):
            # a copy: the module must not be able to write into the user's table
            yield torch.tensor(matrix[start : start + size], dtype=dtype, device=device)


@contextmanager
def evaluating(module: torch.nn.Module) -> Iterator[None]:
    """Put a module into evaluation mode, and each of its parts back afterwards."""
    before = [(part, part.training) for part in module.modules()]
    try:
        module.eval()
        yield
    finally:
        for part, training in before:
            part.training = training
