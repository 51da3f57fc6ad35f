"""Stretches of an axis that are bins of their own: beside piles of rows, and where a curve jumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.axis import FeatureAxis
from rhale.kernels.grid import Closed
from rhale.kernels.moments import Moments
from rhale.kernels.partition import Cuts, Partition


@dataclass(frozen=True, eq=False)
class ReservedIntervals:
    """Parts of an axis that are not to be united with others.

    Attributes
    ----------
    ends : ndarray of shape (n_stretches, 2)
        Where they begin and end; in order, without overlap.
    before : ndarray of shape (n_stretches,)
        The last values before them, or their beginnings.
    """

    ends: FloatArray
    before: FloatArray

    def offer(self, limits: FloatArray) -> FloatArray:
        """Add the ends to limits of cells, and leave none between them, nor right before them."""
        if not self.ends.size:
            return limits
        inside = (limits[:, None] > self.before) & (limits[:, None] < self.ends[:, 1])
        return np.asarray(np.union1d(limits[~inside.any(axis=1)], self.ends))


Chooser = Callable[[Moments], Cuts]


class Parts(NamedTuple):
    """Parts of an axis: their first cells, and who chooses the bins of which cells."""

    starts: list[int]
    pieces: list[tuple[Chooser, Moments]]


@dataclass(frozen=True, eq=False)
class BetweenStretches:
    """A partition that chooses bins between stretches, and has one for each of these.

    Attributes
    ----------
    partition : Partition
        How bins are chosen elsewhere.
    stretches : ReservedIntervals
        The stretches.

    Notes
    -----
    What happens in a stretch is another matter than what happens around it. One search over both
    would take the difference for noise, and cut less on either side.
    """

    partition: Partition
    stretches: ReservedIntervals

    @property
    def closed(self) -> Closed:
        """Which limit belongs to a bin."""
        return self.partition.closed

    def candidates(self, axis: FeatureAxis) -> FloatArray:
        """Limits of the partition and ends of the stretches."""
        return self.stretches.offer(self.partition.candidates(axis))

    def __call__(self, moments: Moments) -> Cuts:
        """Choose bins part by part."""
        parts = self.part(moments)
        return join_cuts([choose(part) for choose, part in parts.pieces], parts.starts)

    def part(self, moments: Moments) -> Parts:
        """Cut the axis at the ends of the stretches."""
        edges = moments.grid.edges
        starts, stops = np.searchsorted(edges, self.stretches.ends.T)
        ends = np.unique(np.concatenate([[0], starts, stops, [edges.size - 1]])).tolist()
        parts = Parts([], [])
        for first, last in pairwise(ends):
            own = moments.between(first, last)
            is_one = first in starts or not np.any(own.weight > 0)
            parts.starts.append(first)
            parts.pieces.append((_one_bin if is_one else self.partition, own))
        return parts


def _one_bin(moments: Moments) -> Cuts:
    """One constant bin."""
    n_cells = moments.grid.n_cells
    noise = np.nan_to_num(moments.variance[0])
    return Cuts(np.array([0, n_cells]), np.zeros(1, dtype=np.bool_), (), np.zeros(1), noise)


def join_cuts(parts: Sequence[Cuts], starts: Sequence[int]) -> Cuts:
    """Put the bins of neighbouring parts of an axis in a row.

    Parameters
    ----------
    parts : sequence of Cuts
        Bins of each part, whose limits count from its own first cell.
    starts : sequence of int
        The first cell of each part.
    """
    shifted = [one.limits[:-1] + at for one, at in zip(parts, starts, strict=False)]
    ends = [parts[-1].limits[-1:] + starts[len(parts) - 1]]
    trust = [np.zeros(one.linear.size) if one.trust is None else one.trust for one in parts]
    followed, noise = [np.zeros(1, dtype=np.intp)], []
    for one, at in zip(parts, starts, strict=False):
        own = np.arange(one.limits[-1] + 1) if one.followed is None else one.followed
        followed.append(own[1:] + at)
        noise.append(np.zeros(own.size - 1) if one.noise is None else one.noise)
    return Cuts(
        limits=np.concatenate(shifted + ends),
        linear=np.concatenate([one.linear for one in parts]),
        notes=tuple(dict.fromkeys(note for one in parts for note in one.notes)),
        trust=np.concatenate(trust),
        noise=np.concatenate(noise),
        followed=np.concatenate(followed),
        spread_limits=_join_limits([one.spread_limits for one in parts], parts, starts),
        spread_parts=_join_limits([one.spread_parts for one in parts], parts, starts),
        is_searched=any(one.is_searched for one in parts),
    )


def _join_limits(
    own: Sequence[IntArray | None], parts: Sequence[Cuts], starts: Sequence[int]
) -> IntArray | None:
    """Limits of the spread, where a part has some; other parts are one."""
    if all(one is None for one in own):
        return None
    known = [c.limits[[0, -1]] if one is None else one for one, c in zip(own, parts, strict=True)]
    return np.unique(np.concatenate([some + at for some, at in zip(known, starts, strict=False)]))
