"""Several axes, one after the other: what looks at the cells of one bin at a time looks at all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.cells import Cells, MergedCells
from rhale.kernels.moments import Moments

Scalar = TypeVar("Scalar", bound=np.generic)
FAINT = 0.05  # effective rows: a cell of less weight says nothing, as if it were empty
MERGE_BATCH_AXES = 64  # axes that are united together: their cells stay in a fast cache
OF_ROWS = ("count", "weight", "weight_squares", "mean_x", "sxx", "low", "high")
OF_SERIES = ("mean", "sxd", "sdd")


@dataclass(frozen=True, eq=False)
class CellRow(Cells):
    """Cells of several axes, one axis after the other.

    Attributes
    ----------
    left, right : ndarray of shape (n_cells,)
        Limits of each cell.
    """

    left: FloatArray
    right: FloatArray

    def runs(self, limits: IntArray, axis: int = 0) -> MergedCells:  # noqa: ARG002 - all are in one row
        """Tell which cells become one; every axis begins at a limit."""
        return MergedCells(slice(None), limits[:-1], limits[1:] - limits[:-1])

    def unite(self, limits: IntArray, axis: int = 0) -> CellRow:  # noqa: ARG002
        """Unite the cells between the chosen limits."""
        return CellRow((), self.left[limits[:-1]], self.right[limits[1:] - 1])


@dataclass(frozen=True, eq=False)
class BatchedCells:
    """Several axes, one axis after the other.

    Attributes
    ----------
    cells : Moments
        Of all cells.
    sizes : ndarray of shape (n_axes,)
        How many of them each axis has.
    each : ndarray of shape (n_axes,)
        Effective rows of an axis, for a unit of weight.
    """

    cells: Moments
    sizes: IntArray
    each: FloatArray

    @classmethod
    def of(cls, batch: Sequence[Moments], n_series: int | None = 1) -> BatchedCells:
        """Put axes in a row, with their first series; with all, which are then the same ones."""
        edges = [moments.grid.edges for moments in batch]
        left, right = (
            np.concatenate([e[part] for e in edges]) for part in (slice(-1), slice(1, None))
        )
        joined: dict[str, Any] = {
            n: np.concatenate([getattr(m, n) for m in batch]) for n in OF_ROWS
        }
        joined |= {
            n: np.concatenate([getattr(m, n)[:n_series] for m in batch], axis=1) for n in OF_SERIES
        }
        stepped = batch[0].is_stepped
        cells = Moments(cells=CellRow((), left, right), is_stepped=stepped, **joined)
        sizes = np.array([moments.weight.size for moments in batch])
        return cls(cells, sizes, np.array([m.rows_of_weight for m in batch]))

    @property
    def counts(self) -> BoolArray:
        """Whether the mean of a cell counts by itself, shape (n_cells,)."""
        return self.cells.weight * np.repeat(self.each, self.sizes) > FAINT

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Limits of each cell."""
        row = cast(CellRow, self.cells.cells)
        return row.left, row.right

    @property
    def spans(self) -> FloatArray:
        """How wide each axis is, shape (n_axes,)."""
        last, (left, right) = np.cumsum(self.sizes), self.ends
        return np.asarray(right[last - 1] - left[last - self.sizes])

    def join(self, limits: Sequence[IntArray]) -> IntArray:
        """Limits of each axis among the cells of all."""
        return join_batch_limits(limits, self.sizes)

    def slices(self) -> list[slice]:
        """Where the cells of each axis stand among all."""
        return slices(self.sizes)

    def split(self, values: npt.NDArray[Scalar]) -> list[npt.NDArray[Scalar]]:
        """What was found for the cells of all axes, axis by axis."""
        return np.split(values, np.cumsum(self.sizes)[:-1])

    def unite(self, limits: Sequence[IntArray]) -> BatchedCells:
        """Unite the cells of each axis between limits."""
        united = self.cells.unite(self.join(limits))
        return replace(self, cells=united, sizes=np.array([one.size - 1 for one in limits]))


def join_batch_limits(limits: Sequence[IntArray], sizes: IntArray) -> IntArray:
    """Limits of axes of so many cells, among the cells of all.

    Examples
    --------
    >>> join_batch_limits([np.array([0, 1, 3]), np.array([0, 2])], np.array([3, 2]))
    array([0, 1, 3, 5])
    """
    starts = np.cumsum(sizes) - sizes
    own = [one[:-1] + start for one, start in zip(limits, starts, strict=True)]
    return np.concatenate([*own, [sizes.sum()]])


def pad_batch_values(values: FloatArray, sizes: IntArray) -> FloatArray:
    """What stands in a row, axis by axis, shape (..., n_axes, most cells); 0 behind the last cell.

    Examples
    --------
    >>> pad_batch_values(np.array([1.0, 2.0, 3.0]), np.array([2, 1]))
    array([[1., 2.],
           [3., 0.]])
    """
    is_cell = np.arange(sizes.max()) < sizes[:, None]
    whole = np.zeros((*values.shape[:-1], *is_cell.shape))
    whole[..., is_cell] = values
    return whole


def unite_averages(values: FloatArray, weight: FloatArray, limits: IntArray) -> FloatArray:
    """Averages of cells as those of all cells between limits; 0 where nothing has weight.

    Examples
    --------
    >>> unite_averages(np.array([1.0, 4.0, 9.0]), np.array([2.0, 1.0, 0.0]), np.array([0, 2, 3]))
    array([2., 0.])
    """
    total, summed = (np.add.reduceat(own, limits[:-1]) for own in (weight, weight * values))
    return np.divide(summed, total, out=np.zeros(total.size), where=total > 0)


def slices(sizes: IntArray) -> list[slice]:
    """Where parts of so many numbers stand, one after another."""
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for size, end in zip(sizes.tolist(), ends, strict=True)]


def unite_all(batch: Sequence[Moments], limits: Sequence[IntArray]) -> list[Moments]:
    """Unite the cells of each axis between its limits, as `Moments.unite` does, for all together.

    Examples
    --------
    >>> from rhale.kernels.grid import Grid
    >>> from rhale.kernels.moments import measure_moments
    >>> x = np.arange(4.0)
    >>> cells = [measure_moments(Grid(np.arange(0.0, 4.0, step)), x, x) for step in (1.0, 1.5)]
    >>> [m.count.tolist() for m in unite_all(cells, [np.array([0, 1, 3]), np.array([0, 2])])]
    [[1, 3], [4]]
    """
    found, alike = dict[int, Moments](), dict[tuple[object, ...], list[int]]()
    for at, moments in enumerate(batch):
        alike.setdefault((len(moments.mean), moments.is_stepped), []).append(at)
    for places in alike.values():
        for first in range(0, len(places), MERGE_BATCH_AXES):
            some = places[first : first + MERGE_BATCH_AXES]
            row = BatchedCells.of([batch[at] for at in some], n_series=None)
            row = row.unite([limits[at] for at in some])
            for at, part in zip(some, row.slices(), strict=True):
                sums: dict[str, Any] = {
                    n: getattr(row.cells, n)[..., part] for n in OF_ROWS + OF_SERIES
                }
                cells = batch[at].cells.unite(limits[at])
                found[at] = Moments(cells=cells, is_stepped=batch[at].is_stepped, **sums)
    return [found[at] for at in range(len(batch))]
