"""Two-way partial dependence as files hold it: no cells without rows."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_moments import POWERS, PairMoments
from rhale.results.pair_profile import PairProfile
from rhale.results.plain_values import written_fields


@dataclass(frozen=True, eq=False)
class FilledProfileCells:
    """Where rows stand: the cells that have some.

    Attributes
    ----------
    stands : ndarray of shape (n_filled,)
        Which cells they are, numbered row by row.
    count : ndarray of shape (n_filled,)
        Rows.
    weight, weight_squares : ndarray of shape (n_filled,), or None
        Of `PairMoments`; None where they are the counts, as rows without weights have them.
    places : ndarray of shape (n_filled, 8)
        Of `PairMoments`.
    """

    stands: IntArray
    count: IntArray
    weight: FloatArray | None
    weight_squares: FloatArray | None
    places: FloatArray


@dataclass(frozen=True, eq=False)
class StoredProfile:
    """The fields of a `PairProfile`, but for cells without rows."""

    names: tuple[str, str]
    output: str
    axes: tuple[PairAxis, PairAxis]
    moments: FilledProfileCells
    dependence: FloatArray
    single: tuple[FloatArray, FloatArray]
    variance: float
    n_left_out: int
    notes: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Where rows can stand on both sides."""
        return self.axes[0].n_stands, self.axes[1].n_stands

    @property
    def n_numbers(self) -> int:
        """Numbers that it takes in memory."""
        return self.shape[0] * self.shape[1] * (3 + len(POWERS)) + self.dependence.size


def store_profile(pair: PairProfile) -> StoredProfile:
    """Leave out cells without rows."""
    named = {name: getattr(pair, name) for name in written_fields(pair)}
    return StoredProfile(**{**named, "moments": list_stands(pair.moments)})


def restore_profile(stored: StoredProfile) -> PairProfile:
    """Make a profile of what is stored, whose stands fit its axes."""
    named = {f.name: getattr(stored, f.name) for f in fields(stored)}
    return PairProfile(**{**named, "moments": fill_stands(stored.moments, stored.shape)})


def list_stands(moments: PairMoments) -> FilledProfileCells:
    """List the cells in which rows stand."""
    stands = np.flatnonzero(moments.count)
    count = moments.count.ravel()[stands]
    weight, squares = (sums.ravel()[stands] for sums in (moments.weight, moments.weight_squares))
    return FilledProfileCells(
        stands=stands,
        count=count,
        weight=None if np.array_equal(weight, count) else weight,
        weight_squares=None if np.array_equal(squares, count) else squares,
        places=np.ascontiguousarray(moments.places.reshape(len(POWERS), -1).T[stands]),
    )


def fill_stands(cells: FilledProfileCells, shape: tuple[int, int]) -> PairMoments:
    """Give the cells their places among all; nobody stands in the others.

    Parameters
    ----------
    cells : FilledProfileCells
        What is known.
    shape : pair of int
        Where rows can stand on both sides.
    """
    known = cells.count.astype(np.float64)
    sums = np.zeros((2 + len(POWERS), shape[0] * shape[1]))
    sums[0, cells.stands] = known if cells.weight is None else cells.weight
    sums[1, cells.stands] = known if cells.weight_squares is None else cells.weight_squares
    sums[2:, cells.stands] = cells.places.T
    count = np.zeros(shape, dtype=np.int64)
    count.ravel()[cells.stands] = cells.count
    weight, squares, *places = sums.reshape(-1, *shape)
    nothing = np.zeros((0, *shape, 1))
    return PairMoments(count, weight, squares, np.stack(places), nothing, nothing[..., None])
