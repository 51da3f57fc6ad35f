"""Bins of R's package ale: rows at the minimum stand apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rhale.errors import BadSettingError
from rhale.kernels import FloatArray
from rhale.kernels.axis import Axis
from rhale.kernels.fixed import Edges, Quantile
from rhale.kernels.grid import Closed, Grid
from rhale.kernels.moments import Moments
from rhale.kernels.partition import Cuts, require_count

USUAL = 10  # max_num_bins of the package


@dataclass(frozen=True, init=False)
class Ceilings:
    """Bins of R's package ale, for `method="ale"` alone: equal count, rows at the minimum apart.

    Parameters
    ----------
    ceilings : int, or sequence of float, dates or durations
        How many ceilings (`max_num_bins` of the package): the smallest value and as many quantiles
        as make that number, so one bin less. Or the ceilings themselves, the smallest value first.

    Notes
    -----
    A bin holds its upper limit. Rows that have the smallest value count in the first bin, wherever
    rows are averaged over, but what they do there does not enter its mean: only the rows above
    them move over it. In ALEPlot and iml, and with `Quantile(9, closed="right")`, they do.

    R rounds some ranks up by one, depending on its version; where the last digit matters, pass the
    ceilings that it printed.

    An explanation whose bins are taken over (`bins=explanation`) gives their limits alone: ask for
    `Ceilings` again, with these.

    Examples
    --------
    >>> Ceilings(3).candidates(Axis(0.0, 4.0, np.arange(5.0), np.ones(5), 5.0))
    array([0., 2., 4.])
    """

    ceilings: int | tuple[float, ...]

    def __init__(self, ceilings: int | Sequence[Any] | npt.NDArray[Any] = USUAL) -> None:
        if isinstance(ceilings, str) or not isinstance(ceilings, Iterable):
            require_count("ceilings", ceilings)
            number = int(ceilings)
            if number < 2:
                msg = "ceilings=1 is the smallest value alone; bins need at least 2"
                raise BadSettingError(msg)
            object.__setattr__(self, "ceilings", number)
        else:
            object.__setattr__(self, "ceilings", Edges(ceilings, self.closed).edges)

    @property
    def closed(self) -> Closed:
        """A bin holds its upper limit."""
        return "right"

    def candidates(self, axis: Axis) -> FloatArray:
        """The ceilings.

        Parameters
        ----------
        axis : Axis
            What is known of the feature: its range, values and their weights.

        Returns
        -------
        ndarray of shape (n_cells + 1,)
            Increasing, in units of the feature.

        Examples
        --------
        >>> from rhale.kernels.axis import Axis
        >>> axis = Axis(0.0, 4.0, np.arange(5.0), np.ones(5), 5.0)
        >>> Ceilings(3).candidates(axis)
        array([0., 2., 4.])
        """
        if isinstance(self.ceilings, tuple):
            return np.array(self.ceilings)
        return Quantile(self.ceilings - 1).candidates(axis)

    def __call__(self, moments: Moments) -> Cuts:  # noqa: ARG002
        """Refuse: what rows at the minimum do can be told apart only where rows are measured."""
        raise BadSettingError(only_for_ale(self))


def only_for_ale(bins: Ceilings) -> str:
    """Say where these bins belong."""
    return (
        f"bins={bins!r:.60} keep rows at the minimum apart, as R's package ale does; that goes with "
        "explain(..., method='ale') alone: use Quantile or Edges"
    )


def set_minimum_apart(grid: Grid) -> Grid:
    """Give the smallest value a cell of its own, as narrow as numbers allow.

    Examples
    --------
    >>> set_minimum_apart(Grid(np.array([1.0, 2.0]), "right")).locate(np.array([1.0, 1.1, 2.0]))
    array([0, 1, 1], dtype=int16)
    """
    first = grid.edges[0]
    return Grid(np.union1d(grid.edges, np.nextafter(first, np.inf)), grid.closed)


def borrow_effects(cells: Moments) -> Moments:
    """Let the rows of the first cell say what those of the second do, and count no more than these.

    Parameters
    ----------
    cells : Moments
        The first cell holds the rows at the minimum, the second the others of the first bin.

    Notes
    -----
    Weight is added without information: mean and deviation of both cells together are those of
    the second, and so are its effective rows, on which errors rest. Where one of the two has no
    rows, nothing changes.
    """
    lone, others = cells.weight[0], cells.weight[1]
    if lone == 0 or others == 0:
        return cells
    mean, sdd, squares = cells.mean.copy(), cells.sdd.copy(), cells.weight_squares.copy()
    mean[:, 0], sdd[:, 0] = mean[:, 1], sdd[:, 1] * (lone / others)
    squares[0] = squares[1] * ((1 + lone / others) ** 2 - 1)
    return replace(cells, mean=mean, sdd=sdd, weight_squares=squares)
