"""Cells: half-open intervals of an axis, several axes together, and the cell of every value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod
from operator import and_
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from rhale.errors import BadSettingError
from rhale.stats.arrays import BoolArray, FloatArray, IntArray, as_frozen, crosses_processes

if TYPE_CHECKING:
    from rhale.output.storage.values import Numbers

# --- Cells of one axis, and which cell a value falls into


Closed = Literal["left", "right"]
Number = TypeVar("Number", np.float64, np.intp)
CellArray = npt.NDArray[np.signedinteger[Any]]
BUCKETS_PER_CELL, MOST_BUCKETS = 128, 2**15  # the table stays in the nearest caches
MIN_GRID_WIDTH = 1e-300  # an axis that is shorter has more buckets to a unit than numbers can hold
BUCKETS_PER_SEARCH = 3  # of the table are made in the time that one value takes to be searched


@crosses_processes
@dataclass(frozen=True, eq=False)
class Grid:
    """Neighbouring cells that cover an axis.

    Examples
    --------
    >>> Grid(np.array([0.0, 1.0, 3.0])).locate(np.array([0.0, 1.0, 3.0]))
    array([0, 1, 1], dtype=int16)
    """

    # (n_cells + 1,): cell limits, increasing; two equal edges stand for an axis with one value
    edges: Annotated[FloatArray, Numbers.limits("cells")]
    # Which limit belongs to a cell. The outermost limits always belong to the grid
    closed: Closed = "left"

    def __post_init__(self) -> None:
        edges = np.array(self.edges, dtype=np.float64)
        require_closed(self.closed)
        one_value = edges.shape == (2,) and edges[0] == edges[1]
        increasing = edges.ndim == 1 and edges.size >= 2 and bool((edges[1:] > edges[:-1]).all())
        # between finite ones that increase there are no others
        if not (increasing or one_value) or not np.isfinite(edges[[0, -1]]).all():
            msg = f"bin limits must be finite and increasing, at least two; found {edges}"
            raise BadSettingError(msg)
        edges.flags.writeable = False
        object.__setattr__(self, "edges", edges)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grid):
            return NotImplemented
        return self.closed == other.closed and np.array_equal(self.edges, other.edges)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        """What travels; the table of buckets is made anew where values are looked for."""
        return {"edges": self.edges, "closed": self.closed}

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.edges.size - 1

    @property
    def widths(self) -> FloatArray:
        """Cell widths, shape (n_cells,)."""
        return np.diff(self.edges)

    @property
    def middles(self) -> FloatArray:
        """Cell middles, shape (n_cells,)."""
        return self.edges[:-1] + 0.5 * np.diff(self.edges)

    def keep(self, limits: IntArray | slice) -> Grid:
        """Keep some of the limits, two at least and in order: these need no second look."""
        kept = object.__new__(Grid)
        object.__setattr__(kept, "edges", as_frozen(self.edges[limits]))
        object.__setattr__(kept, "closed", self.closed)
        return kept

    def covers(self, x: FloatArray) -> BoolArray:
        """Whether each value lies between the outermost limits."""
        return np.asarray((x >= self.edges[0]) & (x <= self.edges[-1]))

    def covers_all(self, x: FloatArray) -> bool:
        """Whether every value does; there is at least one."""
        return bool(x.min() >= self.edges[0] and x.max() <= self.edges[-1])

    def locate(self, x: FloatArray) -> CellArray:
        """Find the cell of every value; values outside go to the outermost cells."""
        return self.locate_covered(np.clip(x, self.edges[0], self.edges[-1]))

    def locate_covered(self, x: FloatArray) -> CellArray:
        """Find the cell of every value; all of them must lie on the grid."""
        # O(n_rows). A table of narrow equal buckets knows the cell of most values; only values in
        # a bucket with a limit in it need a binary search. Making the table costs as much as
        # searching a third as many values; it is made once.
        buckets = self.buckets_for(x.size)
        if not buckets.size:
            return self._search(x)
        scale = buckets.size / (self.edges[-1] - self.edges[0])
        bucket = x * scale
        bucket -= self.edges[0] * scale
        cell: CellArray = buckets.take(bucket.astype(np.int32), mode="clip")
        unsure = np.flatnonzero(cell < 0)
        if unsure.size:
            cell[unsure] = self._search(x[unsure])
        return cell

    def buckets_for(self, n_values: int) -> CellArray:
        """Cell of all values in each of many equal buckets; none where they cost more than they save.

        Where a bucket holds a limit, it is below 0, and `~` of it is the first cell in it.
        """
        is_dear = BUCKETS_PER_SEARCH * n_values < self._n_buckets
        if (is_dear and "_bucket_cells" not in self.__dict__) or self._is_too_fine:
            return np.empty(0, dtype=self._dtype)
        return self._bucket_cells

    @cached_property
    def _is_too_fine(self) -> bool:
        """Whether the limits are so close that a bucket's number would be lost to rounding."""
        low, high = self.edges[0], self.edges[-1]
        rounding = np.spacing(max(abs(low), abs(high)))
        return bool(high - low <= max(1e9 * rounding * self._n_buckets, MIN_GRID_WIDTH))

    def count_in_order(self, x: FloatArray) -> IntArray:
        """Count the values of each cell; those of a cell stand side by side, cell after cell."""
        # O(n_cells log n_rows): a binary search needs no more of the order than that all values
        # below a limit come before all above it.
        side: Literal["left", "right"] = "left" if self.closed == "left" else "right"
        ends = np.empty(self.n_cells + 1, dtype=np.intp)
        ends[0], ends[-1] = 0, x.size
        ends[1:-1] = x.searchsorted(self.edges[1:-1], side=side)
        return ends[1:] - ends[:-1]

    def _search(self, x: FloatArray) -> CellArray:
        side: Literal["left", "right"] = "right" if self.closed == "left" else "left"
        return self.edges[1:-1].searchsorted(x, side=side).astype(self._dtype)

    @property
    def _n_buckets(self) -> int:
        return max(min(MOST_BUCKETS, BUCKETS_PER_CELL * self.n_cells), 8 * self.n_cells)

    @cached_property
    def _bucket_cells(self) -> CellArray:
        """Cell of all values of each bucket, see `buckets_for`."""
        n_buckets, inner = self._n_buckets, self.edges[1:-1]
        place = (inner - self.edges[0]) * (n_buckets / (self.edges[-1] - self.edges[0]))
        slack = 1e-6  # far above the rounding of a bucket's number
        after = np.ceil(place + slack).astype(np.intp)
        within = np.maximum(place - slack, 0.0).astype(np.intp)
        ends = np.concatenate([[0], np.minimum(after, n_buckets), [n_buckets]])
        cells: CellArray = np.arange(self.n_cells, dtype=self._dtype)
        first = cells.repeat(np.diff(ends))
        unsure = np.concatenate([within, after - 1])  # one bucket, or two neighbours
        unsure = unsure[unsure < n_buckets]
        first[unsure] = ~first[unsure]
        return first

    @property
    def _dtype(self) -> type[np.int16 | np.intp]:
        """Small integers where they suffice: they sort in linear time."""
        return np.int16 if self.n_cells < 2**15 else np.intp


def uniform_edges(low: float, high: float, n_cells: int) -> FloatArray:
    """Limits of equally wide cells; one cell of no width where low equals high."""
    if low == high:
        return np.array([low, high], dtype=np.float64)
    return distinct(np.linspace(low, high, n_cells + 1))


def distinct(ordered: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Drop repeated numbers from increasing ones: `np.unique` without its sort.

    Examples
    --------
    >>> distinct(np.array([1.0, 2.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    is_new = ordered[1:] != ordered[:-1]
    return ordered if is_new.all() else ordered[np.append(True, is_new)]


def require_closed(closed: str) -> None:
    """Refuse anything but a side."""
    if closed not in get_args(Closed):
        msg = f"closed={closed!r} is not known; use 'left' or 'right'"
        raise BadSettingError(msg)


@crosses_processes
@dataclass(frozen=True)
class Cells:
    """Every cell of one axis with every cell of the others.

    Examples
    --------
    >>> halves = Grid(np.array([0.0, 1.0, 2.0]))
    >>> pairs = Cells((halves, halves))
    >>> pairs.n_cells, pairs.locate(np.array([[0.5, 1.5], [1.5, 1.5]]))
    (4, array([1, 3], dtype=int16))
    """

    # The cells of each axis. Cells of several are numbered row by row: those of the last axis
    # stand side by side
    grids: tuple[Grid, ...]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of cells of each axis."""
        return tuple(grid.n_cells for grid in self.grids)

    def covers(self, x: FloatArray) -> BoolArray:
        """Whether each row lies on every axis.

        `x` (n_rows,) or (n_axes, n_rows): the value of every row on each axis.
        """
        columns = np.atleast_2d(x)
        return reduce(and_, (g.covers(v) for g, v in zip(self.grids, columns, strict=True)))

    def covers_all(self, x: FloatArray) -> bool:
        """Whether every row does; there is at least one."""
        if len(self.grids) == 1:
            return self.grids[0].covers_all(x)
        columns = np.atleast_2d(x)
        return all(g.covers_all(v) for g, v in zip(self.grids, columns, strict=True))

    def locate(self, x: FloatArray) -> CellArray:
        """Find the cell of every row; all of them must be covered."""
        columns = np.atleast_2d(x)
        first, *others = (g.locate_covered(v) for g, v in zip(self.grids, columns, strict=True))
        if not others:
            return first
        place = np.ravel_multi_index((first, *others), self.shape)
        # small integers where they suffice, as in Grid: they sort in linear time
        return place.astype(np.int16) if self.n_cells < 2**15 else place

    def arrange(self, x: FloatArray) -> Arranged:
        """Put rows, all of them covered, side by side where they share a cell."""
        is_alone = len(self.grids) == 1
        cell = self.grids[0].locate_covered(x) if is_alone else self.locate(x)
        order = cell.argsort(kind="stable")  # in linear time
        x = x.take(order, axis=-1)
        if is_alone:
            return Arranged(order, x, self.grids[0].count_in_order(x))
        return Arranged(order, x, np.bincount(cell, minlength=self.n_cells))

    def unite(self, limits: IntArray, axis: int = 0) -> Cells:
        """Unite the cells of an axis between the chosen limits."""
        wide = self.grids[axis].keep(limits)
        return Cells((*self.grids[:axis], wide, *self.grids[axis + 1 :]))

    def runs(self, limits: IntArray, axis: int = 0) -> MergedCells:
        """Which cells become one when those of an axis are united."""
        sizes = np.diff(limits)
        if len(self.grids) == 1:
            return MergedCells(slice(None), limits[:-1], sizes)
        bins = np.repeat(np.arange(sizes.size), sizes)
        places = list(np.indices(self.shape))
        places[axis] = bins[places[axis]]
        united = np.ravel_multi_index(tuple(places), self.unite(limits, axis).shape).ravel()
        sizes = np.bincount(united)  # no run is empty: limits increase
        return MergedCells(np.argsort(united, kind="stable"), np.cumsum(sizes) - sizes, sizes)


class Arranged(NamedTuple):
    """Rows in the order of their cells."""

    order: IntArray  # (n_rows,)
    x: FloatArray  # (n_rows,) or (n_axes, n_rows): their values, in this order
    sizes: IntArray  # (n_cells,): how many each cell has


class MergedCells(NamedTuple):
    """Cells that become one."""

    order: slice | IntArray  # (n_cells,): the cells, those of a run side by side
    # starts, sizes (n_runs,): where each run begins in this order, and how many cells it has
    starts: IntArray
    sizes: IntArray


def as_axis_cells(cells: Grid | Cells) -> Cells:
    """Take a grid for the cells of its one axis."""
    return Cells((cells,)) if isinstance(cells, Grid) else cells
