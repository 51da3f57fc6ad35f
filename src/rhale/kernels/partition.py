"""Which cells become one bin: the paper's dynamic programme, and bins given by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from rhale.errors import BadSettingError
from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.axis import Axis
from rhale.kernels.grid import Closed, uniform_edges
from rhale.kernels.moments import Moments


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
    """

    limits: IntArray
    linear: BoolArray
    notes: tuple[str, ...] = ()


@runtime_checkable
class Partition(Protocol):
    """Settings of a way to choose bins; calling it with moments chooses them."""

    @property
    def closed(self) -> Closed:
        """Which limit belongs to a bin."""

    def candidates(self, axis: Axis) -> FloatArray:
        """Limits among which the bins are chosen, shape (n_cells + 1,)."""

    def __call__(self, moments: Moments) -> Cuts:
        """Choose bins from the moments of one series in the candidate cells."""


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
        if not 0 <= self.discount <= 1:
            msg = f"discount={self.discount} is not between 0 and 1"
            raise BadSettingError(msg)
        if self.min_points is not None and not self.min_points >= 0:
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
        """Price of every bin from edge l to edge j, Eq. (13); inf where it may not be."""
        weight, rows = run_weights(moments)
        sdd = run_squares(moments)
        sdd[sdd <= rounding_variance(moments) * weight] = 0.0
        needed = max(least, self.ddof + 1) * (1 - 1e-12)  # effective numbers carry rounding
        allowed = rows >= needed
        edges = moments.grid.edges
        width = edges[None, :] - edges[:, None]
        tau = 1 - self.discount * rows / moments.total_rows
        divisor = weight * (1 - self.ddof / np.where(allowed, rows, np.inf))
        price = np.divide(tau * width * sdd, divisor, out=np.full_like(sdd, np.inf), where=allowed)
        return np.maximum(price, 0.0, out=price)


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
    edges : sequence of float
        Limits, increasing.
    closed : {"left", "right"}
        Which limit belongs to a bin.
    """

    edges: tuple[float, ...]
    closed: Closed

    def __init__(self, edges: Sequence[float] | FloatArray, closed: Closed = "left") -> None:
        object.__setattr__(self, "edges", tuple(float(e) for e in edges))
        object.__setattr__(self, "closed", closed)
        if len(self.edges) < 2 or any(
            b < a for a, b in zip(self.edges, self.edges[1:], strict=False)
        ):
            msg = f"Edges needs at least two increasing limits; found {list(self.edges)}"
            raise BadSettingError(msg)

    def candidates(self, axis: Axis) -> FloatArray:  # noqa: ARG002 - they are given
        """Return the limits as they were given."""
        return np.array(self.edges)

    def __call__(self, moments: Moments) -> Cuts:
        """Every cell is a bin."""
        return every_cell(moments)


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


def rounding_variance(moments: Moments) -> float:
    """Variance below which local effects differ by rounding alone, relative to their squares."""
    weight = moments.weight
    squares = float(np.sum(moments.sdd + weight * moments.mean**2))
    return float(np.finfo(float).eps) * squares / float(weight.sum())


def run_weights(moments: Moments) -> tuple[FloatArray, FloatArray]:
    """Weight and effective rows of the cells from edge l to edge j, 0 where j <= l."""
    reached, squares = (
        np.append(0.0, np.cumsum(w)) for w in (moments.weight, moments.weight_squares)
    )
    weight = np.triu(reached[None, :] - reached[:, None])
    summed = np.triu(squares[None, :] - squares[:, None])
    return weight, np.divide(weight**2, summed, out=np.zeros_like(weight), where=summed > 0)


def run_squares(moments: Moments) -> FloatArray:
    """Squared deviations about their mean of the cells from edge l to edge j.

    Notes
    -----
    A run is merged from the run one cell shorter, never from a difference of prefix sums: those
    carry the rounding of the whole axis into a small bin. O(n_cells²).
    """
    n_cells = moments.grid.n_cells
    found = np.zeros((n_cells + 1, n_cells + 1))
    diagonals = found.reshape(-1)
    cell_weight, cell_mean, cell_sdd = moments.weight, moments.mean[0], moments.sdd[0]
    weight, mean, sdd = cell_weight, cell_mean, cell_sdd
    for size in range(1, n_cells + 1):
        diagonals[size : (n_cells + 1 - size) * (n_cells + 1) : n_cells + 2] = sdd
        step = cell_mean[size:] - mean[:-1]
        grown = weight[:-1] + cell_weight[size:]
        share = cell_weight[size:] / np.where(grown > 0, grown, 1.0)
        sdd = sdd[:-1] + cell_sdd[size:] + step * step * (weight[:-1] * share)
        mean = mean[:-1] + step * share
        weight = grown
    return found


def cheapest_path(cost: FloatArray) -> IntArray | None:
    """Find the limits of the cheapest partition, or None where every partition costs inf.

    Parameters
    ----------
    cost : ndarray of shape (n_cells + 1, n_cells + 1)
        Price of the bin from edge l to edge j.

    Notes
    -----
    T(j) = min over l of T(l) + B(l, j). A grid of n cells has at most n bins, so the paper's
    second index, the number of bins, is not needed: O(n_cells²). Ties go to the wider last bin.

    Examples
    --------
    >>> inf = np.inf
    >>> cheapest_path(np.array([[inf, 1.0, 3.0], [inf, inf, 1.0], [inf, inf, inf]]))
    array([0, 1, 2])
    """
    n_cells = cost.shape[0] - 1
    into = np.ascontiguousarray(cost.T)  # prices of the bins that end at j, side by side
    best, origin = np.full(n_cells + 1, np.inf), np.zeros(n_cells + 1, dtype=np.intp)
    best[0] = 0.0
    for j in range(1, n_cells + 1):
        reach = best[:j] + into[j, :j]
        origin[j] = np.argmin(reach)
        best[j] = reach[origin[j]]
    if not np.isfinite(best[-1]):
        return None
    limits = [n_cells]
    while limits[-1] > 0:
        limits.append(int(origin[limits[-1]]))
    return np.array(limits[::-1], dtype=np.intp)
