"""All bin rules in one list, and bins chosen for many axes in one search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rhale.effects.binning.adaptive import Adaptive
from rhale.effects.binning.gaps import BetweenStretches, Chooser, join_cuts
from rhale.effects.binning.moments import Moments
from rhale.effects.binning.optimal import Optimal
from rhale.effects.binning.partition import Cuts, Edges, Fixed, Partition, Quantile

__all__ = ["Adaptive", "Edges", "Fixed", "Optimal", "Quantile"]


class Entry(NamedTuple):
    """How a partition is asked for."""

    # Makes it from the numbers behind its name, `[50.0]` for the text "optimal:50"
    make: Callable[[Sequence[float]], Partition]
    call: str  # How it is written in Python, for messages
    texts: tuple[str, ...]  # How it is written on the command line, for messages


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


# --- Choose the bins of many axes, together where one search does for all of them


def choose_all(partitions: Sequence[Partition], batch: Sequence[Moments]) -> list[Cuts]:
    """Choose the bins of each axis, by its partition.

    They have the bits that each partition chooses alone.

    Examples
    --------
    >>> import numpy as np
    >>> from rhale.effects.binning.partition import Fixed
    >>> from rhale.effects.binning.cells import Grid
    >>> from rhale.effects.binning.moments import measure_moments
    >>> x = np.arange(12.0)
    >>> cells = measure_moments(Grid(np.linspace(0, 11, 4)), x, np.ones(12))
    >>> [cuts.limits.tolist() for cuts in choose_all([Adaptive(), Fixed(3)], [cells, cells])]
    [[0, 3], [0, 1, 2, 3]]
    """
    # parts of an axis between stretches are axes of their own
    parted = {
        at: partition.part(batch[at])
        for at, partition in enumerate(partitions)
        if isinstance(partition, BetweenStretches)
    }
    whole = [at for at in range(len(batch)) if at not in parted]
    every = [(partitions[at], batch[at]) for at in whole]
    chosen = iter(_choose(every + [piece for _, pieces in parted.values() for piece in pieces]))
    found = {at: next(chosen) for at in whole}
    for at, (starts, pieces) in parted.items():
        found[at] = join_cuts([next(chosen) for _ in pieces], starts)
    return [found[at] for at in range(len(batch))]


def _choose(pieces: Sequence[tuple[Chooser, Moments]]) -> list[Cuts]:
    """Let those who search in the same way search together."""
    found, alike = dict[int, Cuts](), dict[Adaptive, list[int]]()
    for at, (chooser, moments) in enumerate(pieces):
        if type(chooser) is Adaptive:  # a class made from it may choose in another way
            alike.setdefault(chooser, []).append(at)
        else:
            found[at] = chooser(moments)
    for searcher, places in alike.items():
        found |= zip(places, searcher.choose([pieces[at][1] for at in places]), strict=True)
    return [found[at] for at in range(len(pieces))]
