"""PairProfile: two-way partial dependence; sections of a surface at given values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rhale.effects.table import UNDEFINED
from rhale.interaction.moments import PairAxis, PairMoments
from rhale.interaction.pair_effect import (
    PairEffect,
    PairMethod,
    PairResult,
    PairSurface,
    as_read_only_view,
)
from rhale.interaction.strength import PairCellWeights
from rhale.output.labels import NO_CAPTIONS, NOT_WRITTEN, Captions
from rhale.output.storage.values import (
    BOTH_SIDES,
    NOTE_LIST,
    PAIR_FEATURE_NAMES,
    VARIANCE_NUMBER,
    Alone,
    Numbers,
    RecordUnion,
    Several,
    stored,
)
from rhale.stats.arrays import BoolArray, FloatArray, IntArray, freeze

PAIR_PROFILE_ROUNDING = 2.0**-42  # of the largest average: what differs by less does not differ


@dataclass(frozen=True, eq=False, repr=False)
class PairProfile(PairSurface):
    """Two-way partial dependence of one output: mean predictions with two features set.

    It leaves the data: every row is asked about at every node of the grid, whether such rows exist
    or not. `measured` tells where rows are; `PairEffect` stays there.

    Attributes
    ----------
    names : pair of str
        The features, the first along the first axis.
    output : str
        The output of the model.
    axes : pair of PairAxis
        The grid: limits of cells, or levels.
    moments : PairMoments
        Weights and positions of the rows; of no differences.
    dependence : ndarray of shape (n_nodes, n_nodes)
        Mean prediction of all rows with both features set to the values of the nodes.
    single : pair of ndarray of shape (n_nodes,)
        The same with one of the features set.
    variance : float
        Of the predictions.
    n_left_out : int
        Rows without a value of one of the two, or off the axes: averaged, but they have no cell.
    notes : tuple of Note
        What a reader should know.
    captions : Captions
        What people read for features and outputs.

    Notes
    -----
    The surface is F_jk - F_j - F_k, zero on average over the rows; the strength its deviation over
    the rows at their own positions, straight between nodes: the unnormalised H statistic of
    Friedman and Popescu, on a grid.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> half = np.random.default_rng(0).uniform(-1, 1, size=(100, 2))
    >>> x = np.vstack([half, -half])
    >>> model = lambda rows: rows[:, 0] * rows[:, 1]
    >>> ix = rhale.explain(model, x, features=[("x0", "x1")], method="pdp", bins=4)
    >>> pair = ix["x0", "x1"]
    >>> pair.dependence.shape, round(float(pair.dependence_at(0.5, 0.5)), 6)
    ((5, 5), 0.25)
    """

    names: tuple[str, str] = field(metadata=stored(PAIR_FEATURE_NAMES))
    output: str
    axes: tuple[PairAxis, PairAxis] = field(
        metadata=stored(Several(RecordUnion.of(PairAxis), BOTH_SIDES))
    )
    moments: PairMoments
    dependence: FloatArray = field(
        metadata=stored(Numbers.means("first nodes", "second nodes", unknown=False))
    )
    single: tuple[FloatArray, FloatArray] = field(
        metadata=stored(Several(Alone(Numbers.means("nodes", unknown=False)), BOTH_SIDES))
    )
    variance: float = field(metadata=stored(VARIANCE_NUMBER))
    n_left_out: int = 0
    notes: tuple[str, ...] = field(default=(), metadata=stored(NOTE_LIST))
    captions: Captions = field(default=NO_CAPTIONS, compare=False, metadata=NOT_WRITTEN)

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze(self.moments)
        first, second = map(as_read_only_view, self.single)
        object.__setattr__(self, "single", (first, second))

    @property
    def method(self) -> PairMethod:
        """Partial dependence, "pdp"."""
        return "pdp"

    @property
    def _cell_weights(self) -> PairCellWeights:
        levels = (self.axes[0].is_levels, self.axes[1].is_levels)
        return PairCellWeights(self.moments.weight, self.moments.places, levels)

    def _center(self, heights: FloatArray) -> FloatArray:
        """Take off the mean over the rows of heights that are bilinear in every cell."""
        cell_weights = self._cell_weights
        base, right, up, far = cell_weights.corners(heights)
        sums = (
            cell_weights.moment(0, 0) * base
            + cell_weights.moment(1, 0) * (up - base)
            + cell_weights.moment(0, 1) * (right - base)
            + cell_weights.moment(1, 1) * (far - up - right + base)
        )
        return np.asarray(heights - sums.sum() / cell_weights.total)

    @cached_property
    def heights(self) -> FloatArray:
        """What the two do together beyond each alone, at all nodes: F_jk - F_j - F_k, centred."""
        first, second = self.single
        both = self.dependence - first[:, None] - second
        both = both - both[0, 0]
        largest = max(float(np.abs(part).max()) for part in (self.dependence, first, second))
        if np.abs(both).max() <= PAIR_PROFILE_ROUNDING * largest:
            return np.zeros_like(both)
        return self._center(both)

    @cached_property
    def main(self) -> tuple[FloatArray, FloatArray]:
        """Partial dependence of each feature alone at the nodes, zero on average over the rows."""
        first, second = self.single
        rows = self._center(np.repeat(first[:, None], second.size, axis=1))
        columns = self._center(np.repeat(second[None], first.size, axis=0))
        return rows[:, 0], columns[0]

    @property
    def standard_error(self) -> FloatArray:
        """Nan at all nodes, shape (n_nodes, n_nodes): not known."""
        return np.full(self.dependence.shape, np.nan)

    def surface(self, first: Any, second: Any) -> FloatArray:
        return self._read_at(self.heights, first, second)

    def effect_at(self, first: Any, second: Any) -> FloatArray:
        rows, columns = self.main
        return self._read_at(self.heights + rows[:, None] + columns, first, second)

    def dependence_at(self, first: Any, second: Any) -> FloatArray:
        """Mean prediction with both features set, bilinear between nodes.

        Parameters
        ----------
        first, second : number, date, duration, level or array-like of these
            Values of both features, as in `surface`.

        Returns
        -------
        ndarray of the common shape, or a number for numbers
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> half = np.random.default_rng(0).uniform(-1, 1, size=(100, 2))
        >>> x = np.vstack([half, -half])
        >>> model = lambda rows: rows[:, 0] * rows[:, 1]
        >>> ix = rhale.explain(model, x, features=[("x0", "x1")], method="pdp", bins=4)
        >>> pair = ix["x0", "x1"]
        >>> pair.dependence_at([0.5, -0.5], 0.5).round(6)
        array([ 0.25, -0.25])
        """
        return self._read_at(self.dependence, first, second)

    def _read_at(self, heights: FloatArray, first: Any, second: Any) -> FloatArray:
        """Read heights at some values, also where no row is."""
        cell, place, shape = self._locate(first, second)
        return self._read(heights, cell, place).reshape(shape)[()]

    @cached_property
    def strength(self) -> float:
        """Deviation of the surface over the rows, in units of the output."""
        return float(np.sqrt(max(float(self._cell_weights.mean_square(self.heights)), 0.0)))

    @property
    def h2(self) -> float:
        """Nan: not measured."""
        return UNDEFINED

    def transposed(self) -> PairProfile:
        return replace(
            self,
            names=self.names[::-1],
            axes=self.axes[::-1],
            moments=self.moments.transposed(),
            dependence=self.dependence.T,
            single=self.single[::-1],
        )

    def _numbers(self, first: FloatArray, second: FloatArray) -> dict[str, FloatArray | BoolArray]:
        return {"dependence": self.dependence_at(first, second)}


# --- Sections of a surface: curves of one feature at values of the other, and their differences


# Of the rows below: the middles of low, middle and high thirds.
SECTION_SHARES = 1 / 6, 1 / 2, 5 / 6
MAX_SECTION_LEVELS = 4  # more curves cannot be told apart


class PairSection(NamedTuple):
    """The effect of the first feature of a pair where the second has one value."""

    cell_index: int  # cell or level of the second feature
    value: float  # the middle of the cell, or the place of the level
    # (n_nodes,): main effect of the first feature and the pair's surface; nan at nodes without rows.
    # The main effect of the second would only shift the curve, often far more than the pair bends it
    height: FloatArray
    error: FloatArray  # (n_nodes,): upper bound of the standard error of the surface there
    has_rows: BoolArray  # (n_cells,): cells or levels of the first feature that have rows


def with_surface(pairs: Iterable[PairResult]) -> list[PairSurface]:
    """Pairs that have a surface; others are numbers alone."""
    return [pair for pair in pairs if isinstance(pair, PairSurface)]


def lay_along(pair: PairSurface) -> PairSurface:
    """The pair with the better x axis first: numbers before levels, then the larger main effect."""
    levels = [axis.is_levels for axis in pair.axes]
    sizes = []  # mean squares of the main effects, read in the middle of cells
    for side, (axis, main) in enumerate(zip(pair.axes, pair.main, strict=True)):
        middle = main if axis.is_levels else (main[1:] + main[:-1]) / 2
        sizes.append(float(np.average(middle**2, weights=pair.weight.sum(axis=1 - side))))
    swap = levels[0] if levels[0] != levels[1] else sizes[1] > sizes[0]
    return pair.transposed() if swap else pair


def cut_sections(pair: PairSurface) -> tuple[PairSection, ...]:
    """Curves of the first feature at low, middle and high values, or at levels, of the second."""
    surface, error = pair.heights, pair.standard_error
    found = []
    for cell in choose_section_cells(pair.axes[1], pair.weight.sum(axis=0)).tolist():
        ends = [cell] if pair.axes[1].is_levels else [cell, cell + 1]
        has_rows = pair.measured[:, cell]
        # nodes with rows: levels themselves, or limits of a cell that has some
        padded = np.pad(has_rows, 1)
        beside = has_rows if pair.axes[0].is_levels else padded[1:] | padded[:-1]
        height = np.where(beside, pair.main[0] + surface[:, ends].mean(axis=1), np.nan)
        bound = np.where(beside, error[:, ends].mean(axis=1), np.nan)
        value = float(pair.axes[1].nodes[ends].mean())
        found.append(PairSection(cell, value, height, bound, has_rows))
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
    """Cells that hold low, middle and high values, or the levels with most rows, in order."""
    if axis.is_levels:
        most = np.argsort(-weight, kind="stable")[:MAX_SECTION_LEVELS]
        return np.sort(most[weight[most] > 0])
    wanted = np.array(SECTION_SHARES) * float(weight.sum())
    return np.unique(np.searchsorted(np.cumsum(weight), wanted * (1 - 1e-12)))


def change_apart(
    pair: PairEffect, along: tuple[float, float], by: tuple[float, float]
) -> tuple[float, float]:
    """The change along one feature at the second of two values of the other, less that at the first.

    Return it with its standard error; `along` and `by` are places on the two axes.
    """
    # Main effects cancel: the surface over the rectangle is the sum of the mean differences of
    # its steps, those that it holds in part in their share. So the error needs no bound.
    shares = []  # of every step between two places; negative on the way back
    for axis, (start, stop) in zip(pair.axes, (along, by), strict=True):
        low, high = min(start, stop), max(start, stop)
        inside = np.minimum(axis.nodes[1:], high) - np.maximum(axis.nodes[:-1], low)
        shares.append(np.sign(stop - start) * np.clip(inside, 0.0, None) / axis.widths)
    return pair.fit.combine(np.outer(*shares).ravel())
