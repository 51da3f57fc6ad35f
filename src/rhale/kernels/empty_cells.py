"""Wide stretches without rows: where they are, once all rows were measured, as cells of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.axis import GAP_SHARE
from rhale.kernels.cells import Cells
from rhale.kernels.grid import Grid
from rhale.kernels.moments import SUMS, Moments

EMPTY_CELL_MARGIN = 0.05  # of a gap, left to the cells beside it
EMPTY_CELL_VALUES = {"low": np.inf, "high": -np.inf}  # of a cell without rows; all else is 0


def locate_gaps(moments: Moments) -> FloatArray:
    """Locate the wide stretches between neighbouring rows.

    Parameters
    ----------
    moments : Moments
        Of one axis.

    Returns
    -------
    ndarray of shape (n_gaps, 2)
        Where the cell of each gap starts and stops: a margin inside the gap.

    Notes
    -----
    A gap is a twentieth of the range, or wider. Cells know their smallest and largest x, so
    that gaps between the rows of different cells are found exactly, whatever the number of rows.
    """
    filled = moments.count > 0
    behind, beyond = moments.high[filled][:-1], moments.low[filled][1:]
    edges = moments.grid.edges
    wide = beyond - behind >= GAP_SHARE * (edges[-1] - edges[0])
    behind, beyond = behind[wide], beyond[wide]
    margin = EMPTY_CELL_MARGIN * (beyond - behind)
    return np.column_stack([behind + margin, beyond - margin])


def cut_gaps(moments: Moments, gaps: FloatArray) -> Moments:
    """Give every gap a cell of its own, in place of the limits inside it.

    Parameters
    ----------
    moments : Moments
        Of one axis.
    gaps : ndarray of shape (n_gaps, 2)
        As `locate_gaps` gives them.

    Notes
    -----
    No row changes its neighbours: cells end earlier or start later, where they have no rows.
    """
    if not len(gaps):
        return moments
    filled = np.flatnonzero(moments.count > 0)
    left = filled[np.searchsorted(moments.high[filled], gaps[:, 0]) - 1]
    right = filled[np.searchsorted(moments.low[filled], gaps[:, 1])]
    starts, stops = np.append(0, right), np.append(left + 1, moments.grid.n_cells)
    # cells from one gap to the next stay; the empty ones in a gap become one, called -1
    runs = [np.append(np.arange(a, b), -1) for a, b in zip(starts, stops, strict=True)]
    order: IntArray = np.concatenate(runs)[:-1]
    inner = [moments.grid.edges[a + 1 : b] for a, b in zip(starts, stops, strict=True)]
    outer = moments.grid.edges[[0, -1]]
    edges = np.sort(np.concatenate([outer, gaps.ravel(), *inner]))
    parts: dict[str, Any] = {name: getattr(moments, name).take(order, axis=-1) for name in SUMS}
    for name, values in parts.items():
        values[..., order < 0] = EMPTY_CELL_VALUES.get(name, 0)
    return replace(moments, cells=Cells((Grid(edges, moments.grid.closed),)), **parts)


def are_gaps(count: IntArray, width: FloatArray, span: float | FloatArray) -> BoolArray:
    """Tell which cells of so many rows and such widths, on axes of such spans, are wide gaps."""
    # limits stand a margin inside a gap: what is left of the narrowest one is this wide
    least = (1 - 2 * EMPTY_CELL_MARGIN) * GAP_SHARE * span
    return np.asarray((count == 0) & (width >= least * (1 - 1e-9)))
