"""Sections of a pair's surface: curves of one feature at values of the other, and how far apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.pair_axis import PairAxis
from rhale.results.pair_effect import PairEffect, PairResult
from rhale.results.pair_profile import PairProfile

PairSurface = PairEffect | PairProfile

SHARES = (1 / 6, 1 / 2, 5 / 6)  # of the rows below: the middles of low, middle and high thirds
MAX_SECTION_LEVELS = 4  # more curves cannot be told apart


class PairSection(NamedTuple):
    """The effect of the first feature of a pair where the second has one value.

    Attributes
    ----------
    stand : int
        Cell or level of the second feature.
    value : float
        Its middle, or the place of the level.
    height : ndarray of shape (n_nodes,)
        Main effect of the first feature and the pair's surface; nan where no row stands beside.
        That of the second would but move the whole curve, often far beyond what the pair does.
    error : ndarray of shape (n_nodes,)
        At most the standard error of the surface there.
    has_rows : ndarray of shape (n_stands,)
        Cells or levels of the first feature in which rows stand.
    """

    stand: int
    value: float
    height: FloatArray
    error: FloatArray
    has_rows: BoolArray


def with_surface(pairs: Iterable[PairResult]) -> list[PairSurface]:
    """Pairs that have a surface; others are numbers alone."""
    return [pair for pair in pairs if isinstance(pair, PairEffect | PairProfile)]


def with_errors(pair: PairSurface) -> PairEffect | None:
    """The pair, if its surface comes with errors; those of partial dependence are not known."""
    return pair if isinstance(pair, PairEffect) else None


def lay_along(pair: PairSurface) -> PairSurface:
    """The side that is followed first: numbers before levels, then the larger main effect."""
    levels = [axis.is_levels for axis in pair.axes]
    sizes = [_main_square(pair, side) for side in (0, 1)]
    swap = levels[0] if levels[0] != levels[1] else sizes[1] > sizes[0]
    return pair.transposed() if swap else pair


def _main_square(pair: PairSurface, side: int) -> float:
    """Mean square of a main effect, read in the middle of cells."""
    axis, main = pair.axes[side], pair.main[side]
    middle = main if axis.is_levels else (main[1:] + main[:-1]) / 2
    return float(np.average(middle**2, weights=pair.weight.sum(axis=1 - side)))


def cut_sections(pair: PairSurface) -> tuple[PairSection, ...]:
    """Curves of the first feature at low, middle and high values, or at levels, of the second."""
    surface, error = pair.heights, pair.standard_error
    found = []
    for stand in choose_section_cells(pair.axes[1], pair.weight.sum(axis=0)).tolist():
        ends = [stand] if pair.axes[1].is_levels else [stand, stand + 1]
        has_rows = pair.measured[:, stand]
        beside = _find_nodes_beside_rows(pair.axes[0], has_rows)
        height = np.where(beside, pair.main[0] + surface[:, ends].mean(axis=1), np.nan)
        bound = np.where(beside, error[:, ends].mean(axis=1), np.nan)
        value = float(pair.axes[1].nodes[ends].mean())
        found.append(PairSection(stand, value, height, bound, has_rows))
    return tuple(found)


def read_surface_cells(pair: PairSurface) -> tuple[FloatArray, FloatArray]:
    """The surface in the middle of every cell, or at levels, and at most its error; nan where no row is."""
    known = pair.measured
    found = []
    for nodes in (pair.heights, pair.standard_error):
        at = nodes
        for side, axis in enumerate(pair.axes):
            if not axis.is_levels:
                at = (np.delete(at, 0, side) + np.delete(at, -1, side)) / 2
        found.append(np.where(known, at, np.nan))
    return found[0], found[1]


def choose_section_cells(axis: PairAxis, weight: FloatArray) -> IntArray:
    """Cells that hold low, middle and high values, or the levels with most rows, in order.

    Examples
    --------
    >>> choose_section_cells(PairAxis(np.linspace(0.0, 1.0, 11)), np.ones(10))
    array([1, 4, 8])
    """
    if axis.is_levels:
        most = np.argsort(-weight, kind="stable")[:MAX_SECTION_LEVELS]
        return np.sort(most[weight[most] > 0])
    wanted = np.array(SHARES) * float(weight.sum())
    return np.unique(np.searchsorted(np.cumsum(weight), wanted * (1 - 1e-12)))


def _find_nodes_beside_rows(axis: PairAxis, has_rows: BoolArray) -> BoolArray:
    """Nodes that rows stand on, or in a cell beside."""
    if axis.is_levels:
        return has_rows
    ends = np.pad(has_rows, 1)
    return np.asarray(ends[1:] | ends[:-1])


def change_apart(
    pair: PairEffect, along: tuple[float, float], by: tuple[float, float]
) -> tuple[float, float]:
    """How differently a prediction changes along one feature at two values of the other.

    Parameters
    ----------
    pair : PairEffect
        The pair.
    along : pair of float
        From where to where on the first axis.
    by : pair of float
        The two values on the second.

    Returns
    -------
    size, error : float
        The change at the second value less that at the first, and its standard error.

    Notes
    -----
    Main effects cancel: the surface over the rectangle is the sum of the mean differences of its
    steps, those that it holds in part in their share. So the error needs no bound.
    """
    parts = (_parts(axis, *ends) for axis, ends in zip(pair.axes, (along, by), strict=True))
    return pair.fit.combine(np.outer(*parts).ravel())


def _parts(axis: PairAxis, start: float, stop: float) -> FloatArray:
    """Share of every step that lies between two places; negative on the way back."""
    low, high = min(start, stop), max(start, stop)
    inside = np.minimum(axis.nodes[1:], high) - np.maximum(axis.nodes[:-1], low)
    return np.asarray(np.sign(stop - start) * np.clip(inside, 0.0, None) / axis.widths)
