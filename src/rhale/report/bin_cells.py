"""Moments of few cells as a short text, from which the page finds other bins (`bins.js`)."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray
from rhale.report.chart_numbers import Bins, Numbers, bins_of, factor, known, slope_unit
from rhale.results.plain_bins import OtherBins, PlainCells
from rhale.results.result import Result

DIGITS = 7
SMALLEST = 1e-12  # of the mean effect: smaller differences are rounding


@dataclass(frozen=True)
class Choice:
    """Other bins of one feature and output: cells to find them in, or the bins themselves.

    Attributes
    ----------
    cells : str
        Numbers of the cells, column by column, each of four bytes, in base64; see `write_cells`.
    weighted : bool
        Whether rows have weights.
    start, range : float
        Where the axis starts as it is drawn, and its length.
    size, effect, level : float
        Units of the curve and of slopes, and what was taken off the slopes, in their unit.
    gaps : tuple of tuple of float
        Wide gaps: start, stop, and the lowest and highest slope that the rows beside it suggest.
    finished : tuple of Bins
        Bins where the curve does not depend on them.
    """

    cells: str = ""
    weighted: bool = False
    start: float = 0.0
    range: float = 0.0
    size: float = 0.0
    effect: float = 0.0
    level: float = 0.0
    gaps: tuple[Numbers, ...] = ()
    finished: tuple[Bins, ...] = ()


def write_choice(effect: Result, other: OtherBins | None) -> Choice | None:
    """Write down the cells, or the finished bins; None where bins stay."""
    if other is None:
        return None
    if other.cells is None:
        finished = tuple(bins_of(made) for made in other.finished)
        return Choice(finished=finished) if finished else None
    return write_cells(effect, other.cells)


def write_cells(effect: Result, plain: PlainCells) -> Choice:
    """Write cells down.

    Notes
    -----
    Columns are width, rows, mean of x, its deviation, smallest and largest x, mean effect, its
    deviation, mean product of deviations, root of the local noise; with weights: sum of these and
    of their squares, the largest weight of a cell being one. Widths are shares of the axis, places
    shares of their cell, and effects are multiples of the largest deviation from their mean, which
    is taken off: so four bytes keep seven digits of what differs, whatever the units.
    """
    m, edges = plain.moments, plain.moments.grid.edges
    wide, filled = np.diff(edges), m.weight > 0
    weight = np.where(filled, m.weight, 1.0)
    level = float(np.average(m.mean[0], weights=m.weight))
    step, noise = np.where(filled, m.mean[0] - level, 0.0), np.sqrt(plain.noise)
    std = np.sqrt(m.sdd[0] / weight)
    unit = max(float(np.max([np.abs(step), std, noise])), SMALLEST * abs(level)) or 1.0
    reach = float(edges[-1] - edges[0])
    columns = [
        wide / reach,
        m.count,
        np.where(filled, (m.mean_x - edges[:-1]) / wide, 0.0),
        np.sqrt(m.sxx / weight) / wide,
        np.where(filled, (m.low - edges[:-1]) / wide, 0.0),
        np.where(filled, (m.high - edges[:-1]) / wide, 0.0),
        step / unit,
        std / unit,
        m.sxd[0] / (weight * wide * unit),
        noise / unit,
    ]
    weighted = not np.array_equal(m.weight, m.count)
    if weighted:
        most = m.weight.max()
        columns += [m.weight / most, m.weight_squares / most**2]
    left, right = ((side - edges[0]) / reach for side in plain.sides[:2])
    low, high = ((side - level) / unit for side in plain.sides[2:])
    return Choice(
        cells=as_text(np.stack(columns)),
        weighted=weighted,
        start=factor(effect) * float(edges[0]),
        range=factor(effect) * reach,
        size=unit * reach,
        effect=unit * slope_unit(effect),
        level=level / unit,
        gaps=tuple(
            tuple(known(float(f"{v:.{DIGITS}g}")) for v in gap)
            for gap in zip(left, right, low, high, strict=True)
        ),
    )


def as_text(columns: FloatArray) -> str:
    """Four bytes for each number, the low one first, as text."""
    return base64.b64encode(columns.astype("<f4").tobytes()).decode("ascii")
