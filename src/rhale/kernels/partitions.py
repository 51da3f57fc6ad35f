"""The partitions there are: one list, which the package, the command and messages read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rhale.kernels.adaptive import Adaptive
from rhale.kernels.fixed import Edges, Fixed, Quantile
from rhale.kernels.optimal import Optimal
from rhale.kernels.partition import Partition

__all__ = ["Adaptive", "Edges", "Fixed", "Optimal", "Quantile"]


class Entry(NamedTuple):
    """How a partition is asked for.

    Attributes
    ----------
    make : callable
        Makes it from the numbers behind its name, `[50.0]` for the text "optimal:50".
    call : str
        How it is written in Python, for messages.
    texts : tuple of str
        How it is written on the command line, for messages.
    """

    make: Callable[[Sequence[float]], Partition]
    call: str
    texts: tuple[str, ...]


def _count_or_default(numbers: Sequence[float], usual: int) -> int:
    return int(numbers[0]) if numbers else usual


PARTITIONS = {
    "adaptive": Entry(lambda _: Adaptive(), "Adaptive()", ("adaptive",)),
    "optimal": Entry(
        lambda n: Optimal(_count_or_default(n, Optimal.max_bins)),
        "Optimal(...)",
        ("optimal", "optimal:50"),
    ),
    "fixed": Entry(lambda n: Fixed(_count_or_default(n, Fixed.n_bins)), "Fixed(20)", ("fixed:20",)),
    "quantile": Entry(
        lambda n: Quantile(_count_or_default(n, Quantile.n_bins)), "Quantile(20)", ("quantile:20",)
    ),
    "edges": Entry(Edges, "Edges([...])", ("edges:0,10,50",)),
}
