"""Optimal bins: the dynamic programme of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Closed, require_closed, uniform_edges
from rhale.effects.binning.moments import Moments
from rhale.effects.binning.partition import Cuts, constant_cuts, is_number_setting, require_count
from rhale.effects.binning.segments import (
    MAX_UNBLOCKED_CELLS,
    cheapest_path,
    runs_by_end,
    weights_of,
)
from rhale.errors import BadSettingError
from rhale.stats.arrays import FloatArray


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
    closed : {"left", "right"}
        Which limit belongs to a bin.

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
        if not (is_number_setting(self.discount) and 0 <= self.discount <= 1):
            msg = f"discount={self.discount} is not between 0 and 1"
            raise BadSettingError(msg)
        if self.min_points is not None and not (
            is_number_setting(self.min_points) and self.min_points >= 0
        ):
            msg = f"min_points={self.min_points} is not a number of rows"
            raise BadSettingError(msg)
        if self.ddof not in (0, 1):
            msg = f"ddof={self.ddof}: the divisor n - ddof is known for 0 and 1 only"
            raise BadSettingError(msg)

    def candidates(self, axis: FeatureAxis) -> FloatArray:
        """Equally wide cells.

        Parameters
        ----------
        axis : FeatureAxis
            What is known of the feature: its range, values and their weights.

        Returns
        -------
        ndarray of shape (n_cells + 1,)
            Increasing, in units of the feature.

        Examples
        --------
        >>> from rhale.effects.binning.axis import FeatureAxis
        >>> axis = FeatureAxis(0.0, 4.0, np.arange(5.0), np.ones(5), 5.0)
        >>> Optimal(max_bins=2).candidates(axis)
        array([0., 2., 4.])
        """
        return uniform_edges(axis.low, axis.high, self.max_bins)

    def __call__(self, moments: Moments) -> Cuts:
        """Find the cheapest union of cells."""
        total = moments.total_rows
        least = total / 20 if self.min_points is None else self.min_points
        limits = cheapest_path(self._prices(moments, least))
        if limits is None:
            note = f"no bin can have {least:g} rows out of {total:g}: one bin"
            return constant_cuts(np.array([0, moments.grid.n_cells]), (note,))
        return constant_cuts(limits, is_searched=True)

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

        Examples
        --------
        >>> from rhale.effects.binning.cells import Grid
        >>> from rhale.effects.binning.moments import measure_moments
        >>> grid, x = Grid(np.array([0.0, 1.0, 2.0])), np.array([0.2, 0.4, 1.2, 1.4])
        >>> cells = measure_moments(grid, x, np.array([1.0, 1.0, 3.0, 3.0]))
        >>> Optimal(discount=0.0).price(cells, least=1.0).round(2)  # variance 4/3 times width 2
        array([[0.  , 2.67],
               [ inf, 0.  ]])
        """
        price = np.full((moments.grid.n_cells,) * 2, np.inf)
        first = 0
        for block in self._prices(moments, least):
            n_ends, n_starts = block.shape
            price[:n_starts, first : first + n_ends] = block.T
            first += n_ends
        return price

    def _prices(self, moments: Moments, least: float) -> Iterator[FloatArray]:
        """Prices of bins by the cells in which they end, as in `CellRuns`."""
        weights, edges = np.stack(weights_of([moments])), moments.grid.edges
        needed = max(least, self.ddof + 1) * (1 - 1e-12)  # effective numbers carry rounding
        at_once = moments.grid.n_cells <= MAX_UNBLOCKED_CELLS
        for runs in runs_by_end(weights, moments.mean[:1], moments.sdd[:1], at_once=at_once):
            rows = runs.rows(weighted=len(weights) > 1)
            # runs are written over, prices are kept
            price = runs.products[0] * runs.spans(edges[:-1], edges[1:])
            price *= 1 - self.discount / moments.total_rows * rows
            few = rows < needed
            divisor = np.where(few, 1.0, runs.sums[0])
            if self.ddof:
                divisor *= 1 - 1 / np.where(few, 2.0, rows)
            price /= divisor
            np.copyto(price, np.inf, where=few)
            yield price
