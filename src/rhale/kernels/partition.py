"""Which cells become one bin: the paper's dynamic programme, and bins given by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from rhale.errors import BadSettingError
from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.axis import Axis
from rhale.kernels.grid import Closed, Grid, require_closed, uniform_edges
from rhale.kernels.moments import Moments

ROUNDING = 1e-11  # relative deviation that a model's own arithmetic may cause
TIE = 1e-12  # prices that differ by less are equal


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
        require_closed(self.closed)
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
        Grid(np.array(self.edges), closed)  # refuses what cannot be bins

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


def run_sums(values: FloatArray) -> FloatArray:
    """Sum of the values of cells l to j, each run added up by itself; 0 where j < l.

    Examples
    --------
    >>> run_sums(np.array([1.0, 2.0]))
    array([[1., 3.],
           [0., 2.]])
    """
    runs = np.triu(np.broadcast_to(values, (values.size, values.size)))
    return np.cumsum(runs, axis=1, out=runs)


def run_weights(moments: Moments) -> tuple[FloatArray, FloatArray]:
    """Weight and effective rows of cells l to j; nothing above zero where j < l."""
    if np.array_equal(moments.weight, moments.weight_squares):  # counts: differences are exact
        reached = np.append(0.0, np.cumsum(moments.weight))
        weight = reached[None, 1:] - reached[:-1, None]
        return weight, weight
    weight, squares = run_sums(moments.weight), run_sums(moments.weight_squares)
    return weight, np.divide(weight**2, squares, out=np.zeros_like(weight), where=squares > 0)


def run_squares(moments: Moments) -> FloatArray:
    """Squared deviations of cells l to j about their mean.

    Notes
    -----
    Runs are merged, never taken from differences of prefix sums: those carry the rounding of the
    whole axis into a small bin. Blocks of cells double in size; a run that crosses the middle of
    a block is the tail of its left half and the head of its right half. O(n_cells²) in
    O(log n_cells) steps. Deviations far below the last digits of the mean are rounding and count
    as none, so that rounding makes no bins.
    """
    n_cells = moments.grid.n_cells
    size = 1 << (n_cells - 1).bit_length()  # filled up with empty cells
    head = np.zeros((3, size))
    head[:, :n_cells] = moments.weight, moments.mean[0], moments.sdd[0]
    tail, found, half = head.copy(), np.diag(without_rounding(*head)), 1
    while half < size:
        left = tail.reshape(3, -1, 2 * half)[:, :, :half]
        right = head.reshape(3, -1, 2 * half)[:, :, half:]
        weight, mean, sdd = _merged(left[..., None], right[:, :, None, :])
        n_blocks = size // (2 * half)
        square = found.reshape(n_blocks, 2 * half, n_blocks, 2 * half)
        blocks = np.einsum("aiaj->aij", square)  # the blocks on the diagonal, as a view
        blocks[:, :half, half:] = without_rounding(weight, mean, sdd)
        for part, whole in zip(left, (weight, mean, sdd), strict=True):
            part[:] = whole[..., -1]
        for part, whole in zip(right, (weight, mean, sdd), strict=True):
            part[:] = whole[:, 0]
        half *= 2
    return np.ascontiguousarray(found[:n_cells, :n_cells])


def without_rounding(weight: FloatArray, mean: FloatArray, sdd: FloatArray) -> FloatArray:
    """Squared deviations, those that are rounding set to none."""
    return np.where(sdd <= weight * (ROUNDING * mean) ** 2, 0.0, sdd)


def _merged(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weight, mean and squared deviations of both together (Chan, Golub and LeVeque)."""
    weight = left[0] + right[0]
    step = right[1] - left[1]
    shift = step * (right[0] / np.where(weight > 0, weight, 1.0))
    return weight, left[1] + shift, left[2] + right[2] + step * shift * left[0]


def cheapest_path(price: FloatArray) -> IntArray | None:
    """Find the limits of the cheapest partition, or None where every partition costs inf.

    Parameters
    ----------
    price : ndarray of shape (n_cells, n_cells)
        At [l, j]: the bin from edge l to edge j + 1.

    Notes
    -----
    T(j) = min over l of T(l) + B(l, j). A grid of n cells has at most n bins, so the paper's
    second index, the number of bins, is not needed: O(n_cells²). Ties go to the wider last bin.

    Examples
    --------
    >>> cheapest_path(np.array([[1.0, 3.0], [np.inf, 1.0]]))
    array([0, 1, 2])
    """
    n_cells, ending = len(price), np.ascontiguousarray(price.T)
    best = np.zeros(n_cells + 1)
    for j in range(1, n_cells + 1):
        best[j] = (best[:j] + ending[j - 1, :j]).min()
    if not np.isfinite(best[-1]):
        return None
    limits = [n_cells]
    while limits[-1] > 0:
        j = limits[-1]
        tied = best[:j] + ending[j - 1, :j] <= best[j] * (1 + TIE)
        limits.append(int(tied.argmax()))  # the first: the widest bin
    return np.array(limits[::-1], dtype=np.intp)
