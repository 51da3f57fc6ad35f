"""torch modules: gradients of all features in one backward pass, the module left as it was."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import torch

from rhale.data import as_matrix
from rhale.errors import BadSettingError, NotDifferentiableError, WrongShapeError
from rhale.models.adapter import Adapter

Found = TypeVar("Found")
# Bytes of a batch, and of what all layers make of it, that a processor's cache holds.
CACHED = 2**21
# Rows: every batch has its price, too.
FEWEST_CACHED, USUAL_CACHED, MOST_CACHED = 2**9, 2**12, 2**14
DEVICE_ROWS, DEVICE_NUMBERS, MIN_DEVICE_ROWS = 2**19, 2**23, 2**10  # many rows keep a GPU busy


@dataclass(frozen=True, eq=False)
class TorchModel(Adapter):
    """A module that maps (n_rows, n_features) to (n_rows,) or (n_rows, n_outputs)."""

    module: torch.nn.Module
    # Where a module without weights computes; others compute where their weights are
    where: torch.device | None = None

    kind = "torch module"
    is_differentiable = True
    gives_tensors = True

    @property
    def device(self) -> torch.device:
        """Where the module computes."""
        weight = self._weight
        return self.where or torch.device("cpu") if weight is None else weight.device

    @property
    def is_placed(self) -> bool:
        """Whether it computes there and nowhere else."""
        return self._weight is not None or self.where is not None

    def move_to(self, device: Any) -> TorchModel:
        """The module, or a copy of it, on a device."""
        found = find_torch_device(device)
        if self._weight is None or self.device == found:
            return TorchModel(self.module, found)
        return TorchModel(deepcopy(self.module).to(found))

    def session(self) -> AbstractContextManager[None]:
        """Switch to evaluation, and afterwards every part back to what it was."""
        return evaluation_mode(self.module)

    def predict(self, rows: Any) -> Any:
        """Answer without keeping a graph."""
        with torch.no_grad():
            answers = self._work_in_parts(rows, self._answer)
            return torch.cat(answers).cpu().double().numpy()

    def gradient(self, rows: Any, outputs: Sequence[int]) -> tuple[Any, Any]:
        """One forward pass, and one backward pass per output."""
        answer, slopes = self.differentiate(rows, outputs)
        return answer.cpu().double().numpy(), slopes.cpu().double().numpy()

    def differentiate(self, rows: Any, outputs: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """Answers, and slopes (n_rows, n_chosen, n_columns), where the module computes them."""

        def work(part: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            tensor = part.requires_grad_()
            answer = self._answer(tensor)
            if not answer.requires_grad:
                msg = "the module's output does not depend on its input in a differentiable way"
                raise NotDifferentiableError(msg)
            found = [self._slope(answer, tensor, o, o == outputs[-1]) for o in outputs]
            slopes = found[0][:, None] if len(found) == 1 else torch.stack(found, dim=1)
            return answer.detach(), slopes

        with torch.inference_mode(mode=False), torch.enable_grad():
            answers, slopes = zip(*self._work_in_parts(rows, work), strict=True)
        return torch.cat(answers), torch.cat(slopes)

    def _slope(
        self,
        answer: torch.Tensor,
        tensor: torch.Tensor,
        output: int,
        last: bool,  # noqa: FBT001
    ) -> torch.Tensor:
        asked = torch.zeros_like(answer)
        asked.reshape(len(tensor), -1)[:, output] = 1
        found: tuple[torch.Tensor | None, ...] = torch.autograd.grad(
            answer, tensor, asked, retain_graph=not last, allow_unused=True
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

    @property
    def _weight(self) -> torch.Tensor | None:
        """A parameter that tells device and precision; None if there is none."""
        return next((p for p in self.module.parameters() if p.is_floating_point()), None)

    def _work_in_parts(self, rows: Any, work: Callable[[torch.Tensor], Found]) -> list[Found]:
        """Do some work on rows in the module's own precision, in batches that suit its device."""
        matrix = rows if isinstance(rows, torch.Tensor) else as_matrix(rows)
        weight, device = self._weight, self.device
        dtype = torch.get_default_dtype() if weight is None else weight.dtype
        like = torch.empty(0, dtype=dtype, device=device)
        size, found = self._batch_rows(device, matrix.shape[1]), list[Found]()
        for start in range(0, len(matrix), size):
            found += _work_if_it_fits(matrix[start : start + size], work, like)
        return found

    def _batch_rows(self, device: torch.device, n_columns: int) -> int:
        """Rows of a batch: many keep a GPU busy, and few stay in the cache of a processor."""
        if device.type != "cpu":
            return max(MIN_DEVICE_ROWS, min(DEVICE_ROWS, DEVICE_NUMBERS // max(n_columns, 1)))
        weights = [w for w in self.module.parameters() if w.ndim > 1]
        if not weights:  # whose layers are not known
            return USUAL_CACHED
        n_bytes = (n_columns + sum(map(len, weights))) * weights[0].element_size()
        return int(np.clip(2 ** round(math.log2(CACHED / n_bytes)), FEWEST_CACHED, MOST_CACHED))


def _work_if_it_fits(
    rows: Any, work: Callable[[torch.Tensor], Found], like: torch.Tensor
) -> list[Found]:
    """Do some work on a batch, in halves where the device has not enough memory."""
    try:
        return [work(_copy_to_tensor(rows, like))]
    except torch.cuda.OutOfMemoryError:
        if len(rows) <= MIN_DEVICE_ROWS:
            raise
    torch.cuda.empty_cache()
    half = len(rows) // 2
    return _work_if_it_fits(rows[:half], work, like) + _work_if_it_fits(rows[half:], work, like)


def _copy_to_tensor(rows: Any, like: torch.Tensor) -> torch.Tensor:
    """A copy in the module's precision: it must not be able to write into the user's table."""
    if isinstance(rows, torch.Tensor):
        return rows.detach().to(like.device, like.dtype, copy=True)
    return torch.tensor(rows, dtype=like.dtype, device=like.device)


def find_torch_device(name: Any) -> torch.device:
    """The device of that name, or what there is instead."""
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError) as error:
        msg = f"device={name!r} is not a device of torch; pass 'cpu', 'cuda' or 'cuda:1'"
        raise BadSettingError(msg) from error
    if device.type != "cuda":
        return device
    n_found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    known: int | None = device.index
    if (known or 0) >= n_found:
        found = {0: "no CUDA device", 1: "one CUDA device"}.get(n_found, f"{n_found} CUDA devices")
        msg = f"device={str(name)!r} was requested, but torch finds {found} here; leave device= out"
        raise BadSettingError(msg)
    return torch.device("cuda", torch.cuda.current_device() if known is None else known)


@contextmanager
def evaluation_mode(module: torch.nn.Module) -> Iterator[None]:
    """Put a module into evaluation mode, and each of its parts back afterwards.

    Several threads may explain one module, or modules with common parts. The last of them to end
    puts a part back: no other is answered in training mode, and what the first one found is kept.
    """
    parts = list(module.modules())
    with MODES_LOCK:
        for part in parts:
            MODES.setdefault(part, Mode(part.training)).users += 1
    try:
        with MODES_LOCK:
            module.eval()
        yield
    finally:
        with MODES_LOCK:
            for part in parts:
                MODES[part].users -= 1
                if not MODES[part].users:
                    part.training = MODES.pop(part).training


@dataclass
class Mode:
    """The mode of a part before it was put into evaluation mode, and how many need that now."""

    training: bool
    users: int = 0


MODES: dict[torch.nn.Module, Mode] = {}
MODES_LOCK = Lock()
