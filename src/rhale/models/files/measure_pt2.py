"""The size of what an operation makes, known before it makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from rhale.errors import UnsafeFileError
from rhale.models.files.graph_pt2 import MOST_ITEMS

ALONE, PER_ROW, ON_PROCESSOR = 2**28, 2**22, 2**32  # bytes of one tensor, at most
BY_VALUES = frozenset(  # no larger than their arguments; how large, only the values tell
    f"{name}.default"
    for name in ("nonzero", "argwhere", "masked_select", "where", "item", "_local_scalar_dense")
) | {"_assert_async.default", "_assert_async.msg"}
PIECES: dict[str, Callable[..., int]] = {
    "unbind.int": lambda tensor, dim=0: tensor.shape[dim],
    "split.Tensor": lambda tensor, size, dim=0: -(-tensor.shape[dim] // max(size, 1)),
    **dict.fromkeys(
        ["chunk.default", "tensor_split.sections", "hsplit.int", "vsplit.int"],
        lambda _, n_pieces, *__, **___: n_pieces,
    ),
}


def limit_for(n_rows: int, device: torch.device) -> int:
    """Bytes that one tensor may take for so many rows.

    Examples
    --------
    >>> limit_for(16, torch.device("cpu")) // 2**20
    320
    """
    limit = ALONE + n_rows * PER_ROW
    return min(limit, ON_PROCESSOR) if device.type == "cpu" else limit


class Limit(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Refuses tensors above a size, also those that an operation makes on its way.

    Parameters
    ----------
    most : int
        Bytes of one tensor.
    """

    def __init__(self, most: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.most = most

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run it, on tensors without values, and look at what comes out."""
        found = func(*args, **(kwargs or {}))
        for one in found if isinstance(found, (tuple, list)) else [found]:
            if isinstance(one, torch.Tensor) and one.numel() * one.element_size() > self.most:
                refuse_size(str(func), f"a tensor of {one.numel()} numbers")
        return found


def refuse_size(operation: str, what: str) -> None:
    """Refuse what would take the memory."""
    msg = (
        f"the exported program makes {what} in {operation}; rhale does not run that from a file, "
        "pass the module itself in Python"
    )
    raise UnsafeFileError(msg)


def measure(
    operation: Any, name: str, arguments: tuple[list[Any], dict[str, Any]], most: int
) -> None:
    """Run an operation on tensors without values first, and refuse what would be too large.

    Parameters
    ----------
    operation : callable
        Of torch.
    name : str
        Its name, with its overload.
    arguments : tuple of (list, dict)
        What it will be asked, by position and by name; tensors are replaced.
    most : int
        Bytes of one tensor.
    """
    by_position, by_name = arguments
    if name in PIECES and PIECES[name](*by_position, **by_name) > MOST_ITEMS:
        refuse_size(name, f"more than {MOST_ITEMS} pieces")
    if name in BY_VALUES or _is_mask(name, by_position, by_name):
        return
    named = {key: empty_of(value) for key, value in by_name.items()}
    if "device" in named:
        named["device"] = torch.device("meta")
    try:
        with torch.no_grad(), Limit(most):
            operation(*[empty_of(value) for value in by_position], **named)
    except NotImplementedError:  # of torch: it cannot tell, and nothing of the kind grows
        return


def _is_mask(name: str, by_position: list[Any], by_name: dict[str, Any]) -> bool:
    """Whether rows are chosen by a mask: then there are no more of them than before."""
    if name not in ("index.Tensor", "index_put.default", "index_put_.default"):
        return False
    indices = by_position[1] if len(by_position) > 1 else by_name["indices"]
    found = [i for i in indices if isinstance(i, torch.Tensor)]
    masks = [i for i in found if i.dtype in (torch.bool, torch.uint8)]
    if masks and len(found) > 1:
        refuse_size(name, "a choice by a mask and by numbers at once")
    return bool(masks)


def empty_of(value: Any) -> Any:
    """The same without values: shape, strides and kind of numbers of every tensor."""
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    return [empty_of(one) for one in value] if isinstance(value, list) else value
