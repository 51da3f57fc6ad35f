"""Gaps: stretches of the axis without rows, and how far the curve may be off across them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from rhale.effects.binning.axis import GAP_SHARE
from rhale.effects.binning.cells import Cells, Grid
from rhale.effects.binning.moments import SUMS, Moments
from rhale.stats.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from rhale.output.storage.values import ArrayDimension, Numbers

MIN_GAP_WIDTH_RATIO = 3.0  # times the usual way from one cell's rows to the next one's
GAP_LINE_ROUNDING = 1e-9  # of the effect: a smaller difference of lines is rounding
MIN_ROWS_NEXT_TO_GAP = 10.0  # beside a gap: where rows are so few, the next one is always far


class Crossings(NamedTuple):
    """Stretches that rows were moved across: empty ones, and those right beside them.

    Attributes
    ----------
    left, right : ndarray of shape (n_stretches,)
        Their ends, in order; none begins before the one before it ends.
    rise : ndarray of shape (n_stretches,)
        What the predictions of the rows beside each do across it, on average.
    covariance : ndarray of shape (n_stretches, n_stretches)
        Of the rises, over rows drawn from the same population.
    empty : ndarray of shape (n_empty,)
        Which of them have no rows inside.
    """

    left: Annotated[FloatArray, Numbers.places(ArrayDimension("stretches", least=1), rising=True)]
    right: Annotated[FloatArray, Numbers.places("stretches", rising=True)]
    rise: Annotated[FloatArray, Numbers.means("stretches", unknown=False)]
    covariance: Annotated[FloatArray, Numbers.products("stretches", "stretches")]
    empty: Annotated[
        IntArray, Numbers.counts(ArrayDimension("empty stretches", least=1), rising=True)
    ]

    def position(self, x: FloatArray) -> FloatArray:
        """How far x is into each stretch, from 0 to 1, shape (n_x, n_stretches)."""
        return np.asarray(np.clip((x[:, None] - self.left) / (self.right - self.left), 0.0, 1.0))


class Gaps(NamedTuple):
    """Stretches without rows, with rows on both sides.

    Attributes
    ----------
    left, right : ndarray of shape (n_gaps,)
        The last value before each gap, and the first one behind it.
    variance : ndarray of shape (n_gaps,)
        Of the mean effect inside the gap about what is drawn there.
    """

    left: Annotated[FloatArray, Numbers.places("gaps")]
    right: Annotated[FloatArray, Numbers.places("gaps")]
    variance: Annotated[FloatArray, Numbers.sizes("gaps")]

    def apart(self, crossings: Crossings) -> Gaps:
        """Those that no row was moved across."""
        left, right = crossings.left[crossings.empty], crossings.right[crossings.empty]
        meets = (self.left[:, None] < right) & (self.right[:, None] > left)
        return Gaps(*(part[~meets.any(axis=1)] for part in self))

    def reach(self, x: FloatArray) -> FloatArray:
        """How far into each gap the way from the left end to x leads, shape (n_x, n_gaps)."""
        return np.asarray(np.clip(x[:, None], self.left, self.right) - self.left)


NO_GAPS = Gaps(np.empty(0), np.empty(0), np.empty(0))


def find_gaps(cells: Moments, curve: Callable[[FloatArray], FloatArray]) -> Gaps:
    """List the wide gaps, and guess what they may hide from the rows beside them.

    `cells`: of one output; the first series counts; `curve`: the curve that is drawn across the
    gaps, called only where there are some.
    """
    filled, edges = np.flatnonzero(cells.weight > 0), cells.grid.edges
    left, right = cells.high[filled[:-1]], cells.low[filled[1:]]
    width = right - left
    wide = width >= GAP_SHARE * (edges[-1] - edges[0])
    if not wide.any():
        return NO_GAPS
    from statistics import median  # which `import rhale` should not wait for

    # a feature of few values has an empty stretch after each of them, which is no gap
    wide &= width >= MIN_GAP_WIDTH_RATIO * median(width.tolist())
    # Lines through the rows on either side that are nearer than the width of the gap, ten at least;
    # each is read at the limit of the gap on its side and in the middle.
    read = []
    for k in np.flatnonzero(wide).tolist():
        start, stop = float(left[k]), float(right[k])
        away = stop - start
        middle = start + away / 2
        near = filled[(cells.high[filled] >= start - away) & (cells.low[filled] <= stop + away)]
        before = slice(int(near[0]), int(filled[k]) + 1)
        behind = slice(int(filled[k + 1]), int(near[-1]) + 1)
        at_left = _fit_line_next_to_gap(cells, before, np.array([start, middle]))
        at_right = _fit_line_next_to_gap(cells, behind, np.array([middle, stop]))
        read.append(np.concatenate([at_left, at_right]))
    suggested = np.array(read).reshape(-1, 4)
    known = np.isfinite(suggested).all(axis=1)
    left, right, suggested = left[wide][known], right[wide][known], suggested[known]
    if not left.size:
        return NO_GAPS
    # The mean effect in the gap is anything between what is drawn there and the farthest of what
    # these lines suggest: uniform on both sides of the former, a third of that squared distance.
    # Noise of the lines is not taken off: the less the rows beside a gap say, the wider it is.
    lowest, highest = suggested.min(axis=1), suggested.max(axis=1)
    drawn = (curve(right) - curve(left)) / (right - left)
    farthest = np.maximum(np.abs(lowest - drawn), np.abs(highest - drawn))
    size = np.max(np.abs([lowest, highest, drawn]), axis=0)
    return Gaps(left, right, np.where(farthest <= GAP_LINE_ROUNDING * size, 0.0, farthest**2 / 3))


def _fit_line_next_to_gap(cells: Moments, part: slice, x: FloatArray) -> FloatArray:
    """The line through the rows of some cells at x; nan where they are few."""
    weight = cells.weight[part]
    total = float(weight.sum())
    if total**2 < MIN_ROWS_NEXT_TO_GAP * float(cells.weight_squares[part].sum()):
        return np.full(x.size, np.nan)
    # the first cell has rows: from its means, so that equal ones stay exactly equal
    first_x, first_d = cells.mean_x[part.start], cells.mean[0, part.start]
    share, some = weight / total, weight > 0
    dx = np.where(some, cells.mean_x[part] - first_x, 0.0)
    dd = np.where(some, cells.mean[0, part] - first_d, 0.0)
    mean_x, mean_d = float(share @ dx), float(share @ dd)
    sxx = float(cells.sxx[part].sum() + weight @ (dx - mean_x) ** 2)
    sxd = float(cells.sxd[0, part].sum() + weight @ ((dx - mean_x) * (dd - mean_d)))
    slope = sxd / sxx if sxx > 0 else 0.0
    return np.asarray(first_d + mean_d + slope * (x - (first_x + mean_x)))


# --- Wide stretches without rows: where they are, once all rows were measured, as cells of their own


EMPTY_CELL_MARGIN = 0.05  # of a gap, left to the cells beside it
EMPTY_CELL_VALUES = {"low": np.inf, "high": -np.inf}  # of a cell without rows; all else is 0


def locate_gaps(moments: Moments) -> FloatArray:
    """Locate the wide stretches between neighbouring rows.

    Returns (n_gaps, 2): where the cell of each gap starts and stops: a margin inside the gap.
    """
    # A gap is a twentieth of the range, or wider. Cells know their smallest and largest x, so
    # that gaps between the rows of different cells are found exactly, whatever the number of rows.
    filled = moments.count > 0
    behind, beyond = moments.high[filled][:-1], moments.low[filled][1:]
    edges = moments.grid.edges
    wide = beyond - behind >= GAP_SHARE * (edges[-1] - edges[0])
    behind, beyond = behind[wide], beyond[wide]
    margin = EMPTY_CELL_MARGIN * (beyond - behind)
    return np.column_stack([behind + margin, beyond - margin])


def cut_gaps(moments: Moments, gaps: FloatArray) -> Moments:
    """Give every gap a cell of its own, in place of the limits inside it.

    `gaps` (n_gaps, 2): as `locate_gaps` gives them.
    """
    # No row changes its neighbours: cells end earlier or start later, where they have no rows.
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
    """Whether cells of so many rows and such widths, on axes of such spans, are wide gaps."""
    # limits lie a margin inside a gap: what is left of the narrowest one is this wide
    least = (1 - 2 * EMPTY_CELL_MARGIN) * GAP_SHARE * span
    return np.asarray((count == 0) & (width >= least * (1 - 1e-9)))
