"""Bins that are fixed before any effect is measured: of equal width, of equal count, given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Closed, Grid, distinct, require_closed, uniform_edges
from rhale.effects.binning.moments import Moments
from rhale.effects.binning.partition import Cuts, every_cell, require_count
from rhale.errors import BadSettingError
from rhale.output.times import as_numbers, kind_of
from rhale.stats.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class Fixed:
    """Bins of equal width.

    Parameters
    ----------
    n_bins : int
        Number of bins.
    closed : {"left", "right"}
        Which limit belongs to a bin.

    Examples
    --------
    >>> import rhale
    >>> x = np.linspace(0, 10, 201)
    >>> rhale.effect(x, np.ones(201), bins=rhale.Fixed(4)).edges
    array([ 0. ,  2.5,  5. ,  7.5, 10. ])
    """

    n_bins: int = 20
    closed: Closed = "left"

    def __post_init__(self) -> None:
        require_count("n_bins", self.n_bins)
        require_closed(self.closed)

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
        >>> Fixed(4).candidates(axis)
        array([0., 1., 2., 3., 4.])
        """
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

    Examples
    --------
    >>> import rhale
    >>> x = np.linspace(0, 10, 201)
    >>> rhale.effect(x, np.ones(201), bins=rhale.Quantile(2)).edges
    array([ 0.,  5., 10.])
    """

    n_bins: int = 20
    closed: Closed = "left"

    def __post_init__(self) -> None:
        require_count("n_bins", self.n_bins)
        require_closed(self.closed)

    def candidates(self, axis: FeatureAxis) -> FloatArray:
        """Values at equal steps of the cumulated weight.

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
        >>> Quantile(2).candidates(axis)
        array([0., 2., 4.])
        """
        inner = axis.quantiles(np.arange(1, self.n_bins) / self.n_bins)
        inner = inner[(inner > axis.low) & (inner < axis.high)]
        return np.append(distinct(np.append(axis.low, inner)), axis.high)

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

    Examples
    --------
    >>> import rhale
    >>> x = np.linspace(0, 10, 201)
    >>> rhale.effect(x, np.ones(201), bins=rhale.Edges([0, 3, 10])).edges
    array([ 0.,  3., 10.])
    """

    edges: tuple[float, ...]
    closed: Closed
    linear: bool | tuple[bool, ...]

    def __init__(
        self,
        edges: Iterable[Any],
        closed: Closed = "left",
        *,
        linear: bool | Sequence[bool] | BoolArray = False,
    ) -> None:
        given: object = edges
        if not isinstance(given, Iterable):
            msg = f"Edges({edges!r:.60}) has no list of limits; pass Edges([0, 3, 10])"
            raise BadSettingError(msg)
        limits = list(given)
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

    def candidates(self, axis: FeatureAxis) -> FloatArray:  # noqa: ARG002 - they are given
        """Return the limits as they were given.

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
        >>> Edges([0, 1, 4]).candidates(axis)
        array([0., 1., 4.])
        """
        return np.array(self.edges)

    def __call__(self, moments: Moments) -> Cuts:
        """Every cell is a bin."""
        given = Grid(np.array(self.edges), self.closed)
        linear = np.broadcast_to(np.asarray(self.linear), (given.n_cells,))
        place = given.locate(moments.grid.middles)  # limits may have moved or fallen together
        return Cuts(np.arange(moments.grid.n_cells + 1), linear[place])
