"""Which cells become one bin: the paper's dynamic programme, and bins given by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from rhale.errors import BadSettingError
from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.axis import Axis
from rhale.kernels.grid import Closed, Grid, require_closed, uniform_edges
from rhale.kernels.moments import Moments
from rhale.kernels.segments import cheapest_path, run_squares, run_weights
from rhale.kernels.times import as_numbers, kind_of


@dataclass(frozen=True, eq=False)
class Cuts:
    """The bins that a partition chose.

    Attributes
    ----------
    limits : ndarray of shape (n_bins + 1,)
        Indices into the edges of the cells, from 0 to n_cells.
    linear : ndarray of shape (n_bins,)
        Whether the bin's effect is a straight line instead of a constant.
    notes : tuple of str
        What a reader should know about the choice.
    trust : ndarray of shape (n_bins,), optional
        How far the curve follows the means of the cells instead of the bin's fit, 0 to 1; it
        follows the fit if not given.
    noise : ndarray of shape (n_cells,), optional
        Variance of a local effect in every cell, where `trust` is given.
    spread_limits : ndarray of shape (n_spread_bins + 1,), optional
        Bins of the spread where it has its own.
    """

    limits: IntArray
    linear: BoolArray
    notes: tuple[str, ...] = ()
    trust: FloatArray | None = None
    noise: FloatArray | None = None
    spread_limits: IntArray | None = None


@runtime_checkable
class Partition(Protocol):
    """Settings of a way to choose bins; calling it with moments chooses them."""

    @property
    def closed(self) -> Closed:
        """Which limit belongs to a bin."""

    def candidates(self, axis: Axis) -> FloatArray:
        """Limits among which the bins are chosen, shape (n_cells + 1,)."""

    def __call__(self, moments: Moments) -> Cuts:
        """Choose bins from the moments in the candidate cells; the first series counts."""


@dataclass(frozen=True)
class Optimal:
    """Variable-size bins by dynamic programming, exactly the paper's Eq. (13).

    Parameters
    ----------
    max_bins : int
        Number of equally wide cells, K_max of the paper.
    discount : float
        How much a bin with many rows is favoured, alpha of the paper, between 0 and 1.
    min_points : float, optional
        Smallest number of rows in a bin; a twentieth of all rows if not given.
    ddof : int
        Divisor of the variance is n - ddof.

    Notes
    -----
    Minimises the sum over bins of (1 - discount n_k / N) s_k² width_k. O(max_bins²), whatever
    the number of rows. Ties go to the wider last bin.

    Examples
    --------
    >>> import rhale
    >>> x = np.linspace(0, 1, 400)
    >>> rhale.effect(x, np.where(x < 0.25, 1.0, -1.0), bins=Optimal(max_bins=20)).edges
    array([0.  , 0.25, 1.  ])
    """

    max_bins: int = 100
    discount: float = 0.2
    min_points: float | None = None
    ddof: int = 1
    closed: Closed = "left"

    def __post_init__(self) -> None:
        require_count("max_bins", self.max_bins)
        require_closed(self.closed)
        if not (is_number(self.discount) and 0 <= self.discount <= 1):
            msg = f"discount={self.discount} is not between 0 and 1"
            raise BadSettingError(msg)
        if self.min_points is not None and not (
            is_number(self.min_points) and self.min_points >= 0
        ):
            msg = f"min_points={self.min_points} is not a number of rows"
            raise BadSettingError(msg)
        if self.ddof not in (0, 1):
            msg = f"ddof={self.ddof}: the divisor n - ddof is known for 0 and 1 only"
            raise BadSettingError(msg)

    def candidates(self, axis: Axis) -> FloatArray:
        """Equally wide cells."""
        return uniform_edges(axis.low, axis.high, self.max_bins)

    def __call__(self, moments: Moments) -> Cuts:
        """Find the cheapest union of cells."""
        total = moments.total_rows
        least = total / 20 if self.min_points is None else self.min_points
        limits = cheapest_path(self.price(moments, least))
        if limits is None:
            note = f"no bin can have {least:g} rows out of {total:g}: one bin"
            return constant_cuts(np.array([0, moments.grid.n_cells]), (note,))
        return constant_cuts(limits)

    def price(self, moments: Moments, least: float) -> FloatArray:
        """Price of every bin, Eq. (13); inf where a bin may not be.

        Parameters
        ----------
        moments : Moments
            Of one series.
        least : float
            Fewest rows in a bin.

        Returns
        -------
        ndarray of shape (n_cells, n_cells)
            At [l, j]: the bin from edge l to edge j + 1.
        """
        weight, rows = run_weights(moments)
        price = run_squares(moments)
        edges = moments.grid.edges
        price *= edges[None, 1:] - edges[:-1, None]
        price *= 1 - self.discount / moments.total_rows * rows
        needed = max(least, self.ddof + 1) * (1 - 1e-12)  # effective numbers carry rounding
        allowed = rows >= needed
        divisor = weight if self.ddof == 0 else weight * (1 - 1 / np.where(allowed, rows, 2.0))
        np.divide(price, divisor, out=price, where=allowed)
        price[~allowed] = np.inf
        return price


@dataclass(frozen=True)
class Fixed:
    """Bins of equal width.

    Parameters
    ----------
    n_bins : int
        Number of bins.
    closed : {"left", "right"}
        Which limit belongs to a bin.
    """

    n_bins: int = 20
    closed: Closed = "left"

    def __post_init__(self) -> None:
        require_count("n_bins", self.n_bins)
        require_closed(self.closed)

    def candidates(self, axis: Axis) -> FloatArray:
        """Equally wide cells."""
        return uniform_edges(axis.low, axis.high, self.n_bins)

    def __call__(self, moments: Moments) -> Cuts:
        """Every cell is a bin."""
        return every_cell(moments)


@dataclass(frozen=True)
class Quantile:
    """Bins of equal count: limits are data values, as in R's ALEPlot.

    Parameters
    ----------
    n_bins : int
        Number of bins; fewer come out where values repeat.
    closed : {"left", "right"}
        Which limit belongs to a bin.
    """

    n_bins: int = 20
    closed: Closed = "left"

    def __post_init__(self) -> None:
        require_count("n_bins", self.n_bins)
        require_closed(self.closed)

    def candidates(self, axis: Axis) -> FloatArray:
        """Values at equal steps of the cumulated weight."""
        inner = axis.quantiles(np.arange(1, self.n_bins) / self.n_bins)
        inner = inner[(inner > axis.low) & (inner < axis.high)]
        return np.append(np.unique(np.append(axis.low, inner)), axis.high)

    def __call__(self, moments: Moments) -> Cuts:
        """Every cell is a bin."""
        return every_cell(moments)


@dataclass(frozen=True, init=False)
class Edges:
    """Bins with given limits.

    Parameters
    ----------
    edges : sequence of float, dates or durations
        Limits, increasing. Dates become days since 1970, durations seconds.
    closed : {"left", "right"}
        Which limit belongs to a bin.
    linear : bool or sequence of bool
        Whether the effect of a bin, or of each bin, is a straight line instead of a constant.
    """

    edges: tuple[float, ...]
    closed: Closed
    linear: bool | tuple[bool, ...]

    def __init__(
        self,
        edges: Sequence[Any] | npt.NDArray[Any],
        closed: Closed = "left",
        *,
        linear: bool | Sequence[bool] | BoolArray = False,
    ) -> None:
        limits = list(edges)
        numbers = as_numbers(limits, kind_of(limits)) if limits else np.empty(0)
        object.__setattr__(self, "edges", tuple(numbers.tolist()))
        object.__setattr__(self, "closed", closed)
        Grid(np.array(self.edges), closed)  # refuses what cannot be bins
        kinds, n_bins = np.asarray(linear, dtype=np.bool_), len(self.edges) - 1
        if kinds.ndim and kinds.shape != (n_bins,):
            msg = (
                f"linear has shape {kinds.shape} for {n_bins} bins; pass one for each, or one bool"
            )
            raise BadSettingError(msg)
        object.__setattr__(self, "linear", tuple(kinds.tolist()) if kinds.ndim else bool(linear))

    def candidates(self, axis: Axis) -> FloatArray:  # noqa: ARG002 - they are given
        """Return the limits as they were given."""
        return np.array(self.edges)

    def __call__(self, moments: Moments) -> Cuts:
        """Every cell is a bin."""
        given = Grid(np.array(self.edges), self.closed)
        linear = np.broadcast_to(np.asarray(self.linear), (given.n_cells,))
        place = given.locate(moments.grid.middles)  # limits may have moved or fallen together
        return Cuts(np.arange(moments.grid.n_cells + 1), linear[place])


def is_number(value: object) -> bool:
    """Tell a number from anything else a user may pass."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def require_count(name: str, value: object) -> None:
    """Refuse anything but a positive whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        msg = f"{name}={value!r} is not a positive whole number"
        raise BadSettingError(msg)


def constant_cuts(limits: IntArray, notes: tuple[str, ...] = ()) -> Cuts:
    """Bins with a constant effect each."""
    return Cuts(limits, np.zeros(limits.size - 1, dtype=np.bool_), notes)


def every_cell(moments: Moments) -> Cuts:
    """One bin per cell."""
    return constant_cuts(np.arange(moments.grid.n_cells + 1))
