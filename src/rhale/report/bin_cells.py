"""Moments of few cells as a short text, from which the page finds other bins (`bins.js`)."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.moments import Moments
from rhale.report.chart_numbers import Bins, bins_of, factor, slope_unit
from rhale.results.plain_bins import OtherBins, PlainCells
from rhale.results.result import Result

DIGITS = 7
LARGEST = 1e38  # of numbers in four bytes
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
    gaps: tuple[tuple[float, ...], ...] = ()
    finished: tuple[Bins, ...] = ()


def write_choice(effect: Result, other: OtherBins | None) -> Choice | None:
    """Write down the cells, or the finished bins; None where bins stay."""
    if other is None:
        return None
    if other.cells is None:
        finished = tuple(bins_of(made) for made in other.finished)
        return Choice(finished=finished) if finished else None
    return write_cells(effect, other.cells)


def write_cells(effect: Result, plain: PlainCells) -> Choice | None:
    """Write cells down; None where numbers of a damaged file are too large for that.

    Notes
    -----
    Columns are width, rows, mean of x, its deviation, smallest and largest x; mean effect, its
    deviation, mean product of deviations; root of the local noise; with weights: sum of these and
    of their squares, the largest weight of a cell being one. Widths are shares of the axis, places
    shares of their cell, and effects are multiples of the largest deviation from their mean, which
    is taken off: so four bytes keep seven digits of what differs, whatever the units.
    """
    m, edges = plain.moments, plain.moments.grid.edges
    reach, level = float(edges[-1] - edges[0]), mean_effect(m)
    own, noise = series_columns(m), np.sqrt(plain.noise)
    unit = max(float(np.max(np.abs([*own[:2], noise]))), SMALLEST * abs(level)) or 1.0
    is_weighted = not np.array_equal(m.weight, m.count)
    columns = [*place_columns(m), *own / unit, noise / unit]
    if is_weighted:
        most = m.weight.max()
        columns += [m.weight / most, m.weight_squares / most**2]
    start, size = factor(effect) * float(edges[0]), unit * reach
    step, zero, drawn = unit * slope_unit(effect), level / unit, factor(effect) * reach
    numbers, gaps = np.stack(columns), gap_numbers(plain, level, unit)
    has_room = np.isfinite([start, drawn, size, step, zero, *np.ravel(gaps)]).all()
    if not (has_room and np.abs(numbers).max() < LARGEST):
        return None
    cells = base64.b64encode(numbers.astype("<f4").tobytes())  # the low byte first
    return Choice(
        cells=cells.decode("ascii"),
        weighted=is_weighted,
        start=start,
        range=drawn,
        size=size,
        effect=step,
        level=zero,
        gaps=gaps,
    )


def gap_numbers(plain: PlainCells, level: float, unit: float) -> tuple[tuple[float, ...], ...]:
    """Wide gaps as shares of the axis, and what the rows beside them suggest."""
    edges = plain.moments.grid.edges
    left, right = ((side - edges[0]) / (edges[-1] - edges[0]) for side in plain.sides[:2])
    low, high = ((side - level) / unit for side in plain.sides[2:])
    gaps = zip(left, right, low, high, strict=True)
    return tuple(tuple(float(f"{value:.{DIGITS}g}") for value in gap) for gap in gaps)


def place_columns(cells: Moments) -> list[FloatArray]:
    """Where the rows of every cell are."""
    edges = cells.grid.edges
    wide, filled = np.diff(edges), cells.weight > 0
    weight = np.where(filled, cells.weight, 1.0)
    middle, low, high = (
        np.where(filled, v - edges[:-1], 0.0) / wide for v in (cells.mean_x, cells.low, cells.high)
    )
    share, deviation = wide / (edges[-1] - edges[0]), np.sqrt(cells.sxx / weight) / wide
    return [share, cells.count.astype(np.float64), middle, deviation, low, high]


def series_columns(cells: Moments) -> FloatArray:
    """Mean of the first series less that of all rows, its deviation, mean product with places."""
    filled = cells.weight > 0
    weight = np.where(filled, cells.weight, 1.0)
    step = np.where(filled, cells.mean[0] - mean_effect(cells), 0.0)
    mixed = cells.sxd[0] / (weight * np.diff(cells.grid.edges))
    return np.stack([step, np.sqrt(cells.sdd[0] / weight), mixed])


def mean_effect(cells: Moments) -> float:
    """Mean of the first series over all rows."""
    return float(np.average(cells.mean[0], weights=cells.weight))
