"""Partitions: settings that choose limits of bins; those whose limits are known, and the protocol of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.cells import Closed, Grid, distinct, require_closed, uniform_edges
from rhale.effects.binning.moments import Moments
from rhale.errors import BadSettingError
from rhale.output.number_format import as_numbers, kind_of
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

ENOUGH_SPREAD_ROWS = 150.0  # give a deviation to 6 %, whatever the number of all rows


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
    noise : ndarray of shape (n_followed,), optional
        Variance of a local effect in every cell that the curve may follow.
    followed : ndarray of shape (n_followed + 1,), optional
        Limits of these cells, those of the bins among them; all limits if not given.
    spread_limits : ndarray of shape (n_spread_bins + 1,), optional
        Bins of the spread where it has its own.
    spread_parts : ndarray of shape (n_parts + 1,), optional
        Some of the limits, between which the spread does not change: all rows of a part tell that
        of bins with few rows.
    is_searched : bool
        Whether limits were chosen by the local effects, whose noise is then in the choice.

    Examples
    --------
    >>> Cuts(limits=np.array([0, 2, 5]), linear=np.array([False, True])).linear
    array([False,  True])
    """

    limits: IntArray
    linear: BoolArray
    notes: tuple[str, ...] = ()
    trust: FloatArray | None = None
    noise: FloatArray | None = None
    spread_limits: IntArray | None = None
    spread_parts: IntArray | None = None
    is_searched: bool = False
    followed: IntArray | None = None


@runtime_checkable
class Partition(Protocol):
    """Settings of a way to choose bins; calling it with moments chooses them.

    What has these members is taken for a partition, whoever wrote it, and may be passed as `bins=`.
    It changes nothing and keeps nothing: the same moments give the same bins.

    Examples
    --------
    >>> import rhale
    >>> class Halves:
    ...     closed = "left"
    ...
    ...     def candidates(self, axis):
    ...         return np.array([axis.low, (axis.low + axis.high) / 2, axis.high])
    ...
    ...     def __call__(self, moments):
    ...         return constant_cuts(np.arange(moments.grid.n_cells + 1))
    >>> x = np.linspace(0, 10, 201)
    >>> isinstance(Halves(), Partition), rhale.effect(x, np.ones(201), bins=Halves()).edges
    (True, array([ 0.,  5., 10.]))
    """

    @property
    def closed(self) -> Closed:
        """Which limit belongs to a bin: "left" or "right"."""

    def candidates(self, axis: FeatureAxis) -> FloatArray:
        """Limits among which the bins are chosen, finite and increasing.

        The outermost are the range that is explained. Two equal ones stand for an axis with one
        value.

        Parameters
        ----------
        axis : FeatureAxis
            What is known of the feature: its range, values and their weights.

        Returns
        -------
        ndarray of shape (n_cells + 1,)
        """

    def __call__(self, moments: Moments) -> Cuts:
        """Choose bins from the moments in the candidate cells; the first series is the effect.

        There may be fewer cells than candidates: limits that fall together are one.
        """


def check_cuts(cuts: Cuts, n_cells: int, name: str) -> Cuts:
    """Give the bins that a partition chose; refuse what are no bins of these cells, by its name.

    Examples
    --------
    >>> check_cuts(constant_cuts(np.array([0, 2, 3])), 3, "Mine").limits
    array([0, 2, 3])
    """
    given: Any = cuts
    if not isinstance(given, Cuts):
        msg = f"bins={name} gave {given!r:.60} instead of Cuts"
        raise BadSettingError(msg)
    limits, linear = np.asarray(cuts.limits), np.asarray(cuts.linear)
    is_whole = limits.ndim == 1 and limits.dtype.kind in "iu"
    ends = limits[[0, -1]].tolist() if is_whole and limits.size else []
    if ends != [0, n_cells] or not np.all(np.diff(limits) > 0):
        msg = (
            f"bins={name} chose the limits {np.array2string(limits, threshold=9)}; Cuts.limits are "
            f"whole numbers that increase from 0 to {n_cells}, the number of cells"
        )
        raise BadSettingError(msg)
    if linear.shape != (limits.size - 1,):
        msg = f"bins={name} chose {limits.size - 1} bins, but Cuts.linear has shape {linear.shape}"
        raise BadSettingError(msg)
    return cuts


def is_number_setting(value: object) -> bool:
    """Tell a number from anything else a user may pass."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def require_count(name: str, value: object) -> None:
    """Refuse anything but a positive whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        msg = f"{name}={value!r} is not a positive whole number"
        raise BadSettingError(msg)


def constant_cuts(
    limits: IntArray, notes: tuple[str, ...] = (), *, is_searched: bool = False
) -> Cuts:
    """Bins with a constant effect each."""
    constant = np.zeros(limits.size - 1, dtype=np.bool_)
    return Cuts(limits, constant, notes, is_searched=is_searched)


def every_cell(moments: Moments) -> Cuts:
    """One bin per cell."""
    return constant_cuts(np.arange(moments.grid.n_cells + 1))


# --- Bins that are fixed before any effect is measured: of equal width, of equal count, given


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
