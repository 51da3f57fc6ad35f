"""Choose the bins of many axes, together where one search does for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from rhale.kernels.adaptive import Adaptive
from rhale.kernels.moments import Moments
from rhale.kernels.partition import Cuts, Partition
from rhale.kernels.stretches import BetweenStretches, Chooser, join_cuts


def choose_all(partitions: Sequence[Partition], batch: Sequence[Moments]) -> list[Cuts]:
    """Choose the bins of each axis, by its partition.

    Parameters
    ----------
    partitions : sequence of Partition
        One for each axis.
    batch : sequence of Moments
        What was measured in the cells of each axis.

    Returns
    -------
    list of Cuts
        To the bit those that each partition chooses alone.

    Examples
    --------
    >>> import numpy as np
    >>> from rhale.kernels.fixed import Fixed
    >>> from rhale.kernels.grid import Grid
    >>> from rhale.kernels.moments import measure_moments
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
    chosen = iter(_choose(every + [piece for one in parted.values() for piece in one.pieces]))
    found = {at: next(chosen) for at in whole}
    for at, one in parted.items():
        found[at] = join_cuts([next(chosen) for _ in one.pieces], one.starts)
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
