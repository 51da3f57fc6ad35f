"""The cheapest bins among many limits, in two looks: at some of them, then around what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np

from rhale.kernels import IntArray

MAX_EXHAUSTIVE_CELLS = 200  # up to so many one look at all limits is cheap
REFINED_LIMITS_PER_SIDE = (
    3  # limits on each side of a chosen one that are looked at again, or fewer:
)
MOST_AGAIN = 1 / 2  # of all limits


class BinningSearch(Protocol):
    """A search for the cheapest bins of several axes."""

    @property
    def sizes(self) -> IntArray:
        """How many cells each axis has."""

    @property
    def gaps(self) -> Sequence[IntArray]:
        """Cells of each axis that stay cells."""

    def unite(self, limits: Sequence[IntArray]) -> Self:
        """The same search among fewer limits of each axis."""

    def cheapest_paths(self) -> list[IntArray | None]:
        """Limits of the cheapest bins of each axis; None where it may have none."""


def find_cheapest(asked: BinningSearch) -> list[IntArray | None]:
    """Find the cheapest bins of several axes; of many limits, bins that cost hardly more.

    Parameters
    ----------
    asked : BinningSearch
        Axes with about as many cells each.

    Returns
    -------
    list of ndarray of shape (n_bins + 1,) or None
        Limits of the bins of each axis; None where it may have none.

    Notes
    -----
    Up to 200 cells all runs of neighbouring cells are priced. Of more, the first look has every
    second limit, and the second one those around the limits that it chose, three on each side:
    a third of the runs. Where these would be more than half of all limits there are fewer on each
    side, one at least.
    """
    sizes = asked.sizes.tolist()
    if max(sizes) <= MAX_EXHAUSTIVE_CELLS:
        return asked.cheapest_paths()
    first = _look(asked, [np.arange(0, size, 2) for size in sizes])
    return _look(asked, list(map(_around, first, sizes)))


def _around(path: IntArray | None, size: int) -> IntArray:
    """Limits near chosen ones, and some that no axis has."""
    if path is None:
        return np.empty(0, dtype=np.intp)
    fit = (MOST_AGAIN * size / path.size - 1) / 2
    reach = int(np.clip(fit, 1, REFINED_LIMITS_PER_SIDE))
    return (path[:, None] + np.arange(-reach, reach + 1)).ravel()


def _look(asked: BinningSearch, limits: Sequence[IntArray]) -> list[IntArray | None]:
    """The cheapest bins among some limits, those of gaps, and both ends of each axis."""
    some = []
    for own, gaps, size in zip(limits, asked.gaps, asked.sizes.tolist(), strict=True):
        has = np.zeros(size + 1, dtype=np.bool_)
        has[np.clip(own, 0, size)] = True
        has[gaps] = has[gaps + 1] = has[0] = has[size] = True
        some.append(np.flatnonzero(has))
    paths = asked.unite(some).cheapest_paths()
    return [None if path is None else own[path] for own, path in zip(some, paths, strict=True)]
