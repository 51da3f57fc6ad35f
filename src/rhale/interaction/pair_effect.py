"""PairEffect: what two features do together beyond what each does alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

import numpy as np

from rhale.effects.levels import DIRECTION_DOWN
from rhale.effects.result import FrozenResult, are_numbers, normal_quantile
from rhale.effects.statistics import Size, Statistics, gather_statistics, read_cells, read_levels
from rhale.effects.table import UNDEFINED, Columns, name_places
from rhale.errors import BadSettingError
from rhale.interaction.moments import PairAxis, PairMoments, average_mixed_differences
from rhale.interaction.strength import PairCellWeights, PairFit, Reading, Square
from rhale.naming import find_level
from rhale.output.doors import draw_surface_lazily, show_pair
from rhale.output.labels import NO_CAPTIONS, NOT_WRITTEN, Captions
from rhale.output.number_format import ColumnKind, as_numbers, write_share, write_with_error
from rhale.output.picture_options import PairOptions, with_options
from rhale.output.storage.values import (
    BOTH_SIDES,
    NOTE_LIST,
    PAIR_FEATURE_NAMES,
    VARIANCE_NUMBER,
    Alone,
    Number,
    Numbers,
    RecordUnion,
    Several,
    Text,
    stored,
)
from rhale.output.text import as_notes, shorten_name
from rhale.stats.arrays import BoolArray, FloatArray, IntArray, correlate, freeze

PairMethod = Literal["ale", "pdp", "h", "greenwell", "shap"]
PairKind = ColumnKind | Literal["unknown"]
Way = Literal["corners", "gradient", "walk", "still"]
ESTIMATOR_NAMES = {  # strengths were found, by way or by method
    "corners": "four predictions a row and pair",
    "gradient": "two gradients a row and feature",
    "walk": "all splits of the trees",
    "still": "",  # nothing was asked: one of the two has one value
    "h": "unnormalised H",
    "greenwell": "Greenwell's index",
    "shap": "SHAP interaction values",
    "pdp": "two-way partial dependence",
}
PAIR_NAME_SEPARATOR = " \u00d7 "  # between the names of a pair
CORRELATED_NOTE_KIND = "correlated"  # kind of the note of pairs that one model cannot rank


class PairResult(FrozenResult):
    """How two features interact: what every method of measuring it has.

    Attributes
    ----------
    names : pair of str
        The two features.
    output : str
        The output of the model.
    captions : Captions
        What people read for features and outputs; `names` and `output` are keys.
    notes : tuple of Note
        What a reader should know.
    n_left_out : int
        Rows without a value of one of the two, or off the axes.
    method, strength
        What it was measured by, and how strongly the two interact, in units of the output.
    h2 : float
        The normalised H²; nan where it is not known. Nothing is ranked by it.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).choice([-1.0, 1.0], size=(400, 2))
    >>> pair = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x)["x0", "x1"]
    >>> pair.kind, round(pair.strength, 1)
    (('steps', 'steps'), 1.0)
    """

    names: tuple[str, str]
    output: str
    captions: Captions
    notes: tuple[str, ...]
    n_left_out: int
    if TYPE_CHECKING:  # fields of some, properties of others

        @property
        def method(self) -> PairMethod:
            """What it was measured by."""

        @property
        def strength(self) -> float:
            """How strongly the two interact, in units of the output."""

        @property
        def h2(self) -> float:
            """The normalised H²."""

    def __str__(self) -> str:
        return "; ".join([write_head(self), self.how, *self.notes])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """A small page, for notebooks."""
        return show_pair(self)

    @property
    def kind(self) -> tuple[PairKind, PairKind]:
        """What the values of both features are: "number", "date", "duration", "steps", "categories".

        "unknown" of methods that give a number and no surface.
        """
        return "unknown", "unknown"

    @property
    def strength_error(self) -> float:
        """Standard error of the strength; nan where it is not known."""
        return UNDEFINED

    @property
    def p_value(self) -> float:
        """Chance of so large a strength if this model had none here; nan where not known."""
        return UNDEFINED

    @property
    def share(self) -> float:
        """Squared strength, of the variance of the predictions."""
        raise NotImplementedError

    @property
    def how(self) -> str:
        """How the strength was found, in words; none where nothing was asked."""
        return ESTIMATOR_NAMES[self.method]

    @property
    def n_cells(self) -> int:
        """Cells of the surface, a level being one of its feature; 0 without a surface."""
        return 0

    @property
    def n_unmeasured(self) -> int:
        """Cells without rows."""
        return 0

    def table(self) -> Columns:
        """One row for each cell, or combination with levels, of the first feature first.

        Returns
        -------
        dict of str to list

        Notes
        -----
        `left` and `right` are numbers, `from` and `to` the same as text; both are the level where
        a feature has levels. `surface` is read in the middle of the cell. `mean` and `std` are
        those of the mixed slope in the cell; of levels, over the step to the one above.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
        >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x, cells=4)
        >>> pair = ix["x0", "x1"]
        >>> len(pair.table()["surface"]), sum(pair.table()["count"])
        (16, 400)
        """
        raise NotImplementedError

    @with_options(PairOptions)
    def plot(self, kind: str = "map", *, ax: Any = None, **options: Unpack[PairOptions]) -> Any:
        """Draw the surface as a map, or as lines that people can read.

        Parameters
        ----------
        kind : {"map", "lines"}
            The surface alone, blank where no row is; or the curve of one feature at low, middle
            and high values of the other, main effects included.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **options

        Returns
        -------
        Axes

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
        >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x, cells=4)
        >>> pair = ix["x0", "x1"]
        >>> ax = pair.plot("lines")
        >>> ax.get_xlabel()
        'x0'
        >>> import matplotlib.pyplot as plt
        >>> plt.close(ax.figure)
        """
        raise NotImplementedError

    def transposed(self) -> Self:
        """The same pair, sides exchanged.

        Returns
        -------
        PairEffect, PairProfile or PairIndex

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.tile([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], (100, 1))
        >>> pair = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x)["x0", "x1"]
        >>> pair.transposed().names, pair.transposed().strength == pair.strength
        (('x1', 'x0'), True)
        """
        raise NotImplementedError


class PairSurface(PairResult):
    """A pair that is known as a surface: `PairEffect` and `PairProfile`.

    Attributes
    ----------
    axes : pair of PairAxis
        Where the surface is known: limits of cells, or levels.
    moments : PairMoments
        What all rows say, of this output.
    variance : float
        Of the predictions.
    main, heights, standard_error : pair of ndarray, ndarray, ndarray
        Main effects of both features at the nodes; the surface there, and its error.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.tile([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], (100, 1))
    >>> pair = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x)["x0", "x1"]
    >>> pair.count.tolist(), pair.n_cells
    ([[100, 100], [100, 100]], 4)
    """

    axes: tuple[PairAxis, PairAxis]
    moments: PairMoments
    variance: float
    if TYPE_CHECKING:

        @property
        def main(self) -> tuple[FloatArray, FloatArray]:
            """Main effects of both features."""

        @property
        def heights(self) -> FloatArray:
            """The surface at the nodes."""

        @property
        def standard_error(self) -> FloatArray:
            """Standard errors of the heights."""

    @property
    def kind(self) -> tuple[PairKind, PairKind]:
        """What the values of both features are: "number", "date", "duration", "steps", "categories"."""
        first, second = map(kind_of_axis, self.axes)
        return first, second

    @property
    def edges(self) -> tuple[FloatArray, FloatArray]:
        """Limits of the cells of both features, or places of their levels: two arrays."""
        return self.axes[0].nodes, self.axes[1].nodes

    @property
    def count(self) -> IntArray:
        """Rows in every cell, shape (n_cells, n_cells)."""
        return self.moments.count

    @property
    def weight(self) -> FloatArray:
        """Weight of the rows in every cell, shape (n_cells, n_cells)."""
        return self.moments.weight

    @property
    def measured(self) -> BoolArray:
        """Which cells have rows, bools of shape (n_cells, n_cells): all that is shown."""
        return np.asarray(self.moments.weight > 0)

    @property
    def n_cells(self) -> int:
        """Number of cells, a level being one of its feature."""
        return self.moments.count.size

    @property
    def n_unmeasured(self) -> int:
        """How many of these have no row."""
        return int(np.sum(~self.measured))

    @property
    def share(self) -> float:
        """Squared strength, of the variance of the predictions; rows left out have none of it."""
        return share_of_rows(self) * _share_of(self.strength, self.variance)

    def surface(self, first: Any, second: Any) -> FloatArray:
        """The pure effect at some places, bilinear in a cell.

        Parameters
        ----------
        first, second : number, date, duration, level or array-like of these
            Values of both features, which broadcast: [30, 40] and [[1], [2]] give a grid. Levels
            go by name; a number is a place in `edges`.

        Returns
        -------
        ndarray of the common shape, or a number for numbers
            nan where the cell or the levels have no row, beyond the axes, and for missing
            values.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.tile([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], (100, 1))
        >>> pair = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x)["x0", "x1"]
        >>> pair.surface([[-1.0], [1.0]], [-1.0, 1.0]).round(1)  # a grid: rows of x0, columns of x1
        array([[ 1., -1.],
               [-1.,  1.]])
        """
        raise NotImplementedError

    def effect_at(self, first: Any, second: Any) -> FloatArray:
        """What both features do together: both main effects, and the surface.

        Parameters
        ----------
        first, second : number, date, duration, level or array-like of these
            Values of both features, as in `surface`; nan at the same places.

        Returns
        -------
        ndarray of the common shape, or a number for numbers
            In units of the output.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
        >>> ix = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x, cells=4)
        >>> pair = ix["x0", "x1"]
        >>> corners = pair.effect_at([0.9, 0.9], [0.9, -0.9])
        >>> bool(abs(np.diff(corners)[0] + 1.62) < 0.2)  # from 0.81 to -0.81
        True
        """
        raise NotImplementedError

    @property
    def _cell_weights(self) -> PairCellWeights:
        """Weights and positions of the rows, for averages over them."""
        raise NotImplementedError

    def _locate(
        self, first: Any, second: Any
    ) -> tuple[list[IntArray], list[FloatArray], tuple[int, ...]]:
        """Cells and positions of values on both sides, and their common shape."""
        values = [
            read_places(*side) for side in zip(self.names, self.axes, (first, second), strict=True)
        ]
        x, y = np.broadcast_arrays(*values)
        found = [self.axes[0].locate(x.ravel()), self.axes[1].locate(y.ravel())]
        return [one.cell for one in found], [one.place for one in found], x.shape

    def _read(
        self, heights: FloatArray, cell: Sequence[IntArray], place: Sequence[FloatArray]
    ) -> FloatArray:
        """Heights in cells, bilinear between the four corners; nan where a cell is not known."""
        (a, b), (u, v) = cell, place
        base, right, up, far = (corner[a, b] for corner in self._cell_weights.corners(heights))
        height = (base * (1 - v) + right * v) * (1 - u) + (up * (1 - v) + far * v) * u
        return np.where(self._is_known(cell), height, np.nan)

    def _is_known(self, cell: Sequence[IntArray]) -> BoolArray:
        """Whether values are on the axes."""
        return np.asarray((cell[0] >= 0) & (cell[1] >= 0))

    def _numbers(self, first: FloatArray, second: FloatArray) -> dict[str, FloatArray | BoolArray]:
        """What a method knows of all cells, by name, beside the surface in their middles."""
        raise NotImplementedError

    def table(self) -> Columns:
        sides, middles = Columns(), []
        for side, (which, axis) in enumerate(zip(("first", "second"), self.axes, strict=True)):
            index, ends = np.indices(self.count.shape)[side].ravel(), cell_ends(axis)
            for name, values in ends.items():
                sides[f"{which}_{name}"] = [values[i] for i in index]
            middles.append(np.array(ends["left"]) / 2 + np.array(ends["right"]) / 2)
        first, second = middles[0][:, None], middles[1][None]
        numbers = {
            "count": self.count,
            "weight": self.weight,
            "surface": np.where(self.measured, self.surface(first, second), np.nan),
            **self._numbers(first, second),
            "measured": self.measured,
        }
        return sides | {name: values.ravel().tolist() for name, values in numbers.items()}

    @with_options(PairOptions)
    def plot(self, kind: str = "map", *, ax: Any = None, **options: Unpack[PairOptions]) -> Any:
        return draw_surface_lazily(self, kind, {"ax": ax, **options})


@dataclass(frozen=True, eq=False, repr=False)
class PairEffect(PairSurface):
    """The pure second-order effect of two features on one output: a surface.

    Rows lie in a **cell** of numbers, or on a level. The surface is known at **nodes**: limits
    of cells, or levels. A **step** leads from a node to the next: a cell, or from a level to the
    one above. Nothing is shown or counted where no row is.

    Attributes
    ----------
    names : pair of str
        The features, the first along the first axis.
    output : str
        The output of the model.
    axes : pair of PairAxis
        Where the surface is known: limits of cells, or levels.
    moments : PairMoments
        What all rows say, of this output.
    main : pair of ndarray of shape (n_nodes,)
        Main effects of both features at the nodes, zero on average over the rows.
    square : Square
        Mean square of the surface over the rows, and the noise in it.
    variance : float
        Of the predictions.
    n_left_out : int
        Rows without a value of one of the two, or off the axes.
    reading : {"rows", "cells"}
        Whether rows count at their own positions, or in the middle of their cells, as in R's packages.
    smooth : bool
        Whether the slopes of neighbouring cells were evened out.
    way : {"corners", "gradient", "walk", "still"}
        How mixed differences were found.
    notes : tuple of Note
        What a reader should know.
    captions : Captions
        What people read for features and outputs.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.tile([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], (100, 1))
    >>> pair = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x)["x0", "x1"]
    >>> round(pair.strength, 1), round(pair.share, 1), pair.p_value < 0.001
    (1.0, 1.0, True)
    >>> pair.surface([1.0, 1.0], [1.0, -1.0]).round(1)
    array([ 1., -1.])
    """

    names: tuple[str, str] = field(metadata=stored(PAIR_FEATURE_NAMES))
    output: str
    axes: tuple[PairAxis, PairAxis] = field(
        metadata=stored(Several(RecordUnion.of(PairAxis), BOTH_SIDES))
    )
    moments: PairMoments
    main: tuple[FloatArray, FloatArray] = field(
        metadata=stored(Several(Alone(Numbers.means("nodes", unknown=False)), BOTH_SIDES))
    )
    square: Square
    variance: float = field(metadata=stored(VARIANCE_NUMBER))
    n_left_out: int = 0
    reading: Reading = "rows"
    smooth: bool = False
    way: Way = "corners"
    notes: tuple[str, ...] = field(default=(), metadata=stored(NOTE_LIST))
    captions: Captions = field(default=NO_CAPTIONS, compare=False, metadata=NOT_WRITTEN)

    def __post_init__(self) -> None:
        freeze(self.moments)
        object.__setattr__(
            self, "main", (as_read_only_view(self.main[0]), as_read_only_view(self.main[1]))
        )
        super().__post_init__()

    def __str__(self) -> str:
        parts = [f"{self.n_cells:,} cells, {self.n_unmeasured:,} without rows"]
        kinds = {note.kind for note in as_notes(self.notes)}
        if self.n_left_out and "missing" not in kinds:
            parts.append(f"{self.n_left_out:,} rows left out")
        return "; ".join([write_head(self), *parts, *self.notes])

    @property
    def method(self) -> PairMethod:
        """Accumulated local effects of second order, "ale"."""
        return "ale"

    @property
    def h2(self) -> float:
        """Nan: not measured."""
        return UNDEFINED

    @property
    def how(self) -> str:
        """How mixed differences were found, in words; empty where nothing was asked."""
        return ESTIMATOR_NAMES[self.way]

    @cached_property
    def fit(self) -> PairFit:
        """The surface, from sums: a record of the method."""
        return PairFit(self.axes, self.moments, self.reading, self.smooth)

    @property
    def heights(self) -> FloatArray:
        """The surface at all nodes, (n_nodes, n_nodes); nan at nodes without rows."""
        return np.where(self._beside_rows, self.fit.surface, np.nan)

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of `heights`, shape (n_nodes, n_nodes), in units of the output."""
        return np.where(self._beside_rows, self.fit.standard_error, np.nan)

    @property
    def _beside_rows(self) -> BoolArray:
        """Nodes that are levels with rows, or limits of a cell with rows."""
        known = self.measured
        for side, axis in enumerate(self.axes):
            if not axis.is_levels:
                ends = [(0, 0), (0, 0)]
                ends[side] = (1, 1)
                padded = np.pad(known, ends)
                low = np.delete(padded, -1, side)
                known = low | np.delete(padded, 0, side)
        return known

    @property
    def rank_correlation(self) -> float:
        """Rank correlation of the two features over the rows, -1 to 1; 0 if one has one value.

        Notes
        -----
        Spearman's, of the rows by cell: those of one cell, or of one level, share a rank. Levels
        are ranked in their order.
        """
        sides = (self.weight.sum(axis=1), self.weight.sum(axis=0))
        ranks = np.meshgrid(*(np.cumsum(own) - own / 2 for own in sides), indexing="ij")
        return correlate(ranks[0].ravel(), ranks[1].ravel(), self.weight.ravel())

    @property
    def mean(self) -> FloatArray:
        """Mean mixed slope of every step, (n_steps, n_steps); nan where no row counts for it."""
        steps = average_mixed_differences(self.axes, self.moments)
        return np.where(steps.measured, steps.mean[0] / self._areas, np.nan)

    @property
    def std(self) -> FloatArray:
        """Deviation of the rows' own mixed slopes in every step; nan for fewer than two rows.

        Notes
        -----
        The divisor is n - 1, of weighted rows their effective number less one. Rows with levels
        count for the step below and the step above.
        """
        center = average_mixed_differences(self.axes, self.moments).mean[0]
        count, weight, rows, squares = (np.zeros(center.shape) for _ in range(4))
        moments = self.moments
        for way, ways in enumerate(product(*(range(axis.n_ways) for axis in self.axes))):
            # cells whose rows count for step 0, 1, ... in this direction
            some = tuple(
                slice(1, None)
                if axis.is_levels and direction == DIRECTION_DOWN
                else slice(0, axis.n_steps)
                for axis, direction in zip(self.axes, ways, strict=True)
            )
            here, off = moments.weight[some], moments.mean[0][(*some, way)] - center
            count += moments.count[some]
            weight += here
            rows += moments.weight_squares[some]
            squares += moments.products[0][(*some, way, way)] + here * off**2
        free = weight - np.divide(rows, weight, out=np.zeros_like(rows), where=weight > 0)
        known = (count > 1) & (free > 0)
        variance = np.divide(squares, free, out=np.full_like(squares, np.nan), where=known)
        return np.asarray(np.sqrt(variance) / self._areas)

    @property
    def _areas(self) -> FloatArray:
        """Areas of the steps; nan for a column of one value, which has no slopes."""
        areas = np.outer(self.axes[0].widths, self.axes[1].widths)
        return np.where(areas > 0, areas, np.nan)

    def surface(self, first: Any, second: Any) -> FloatArray:
        cell, place, shape = self._locate(first, second)
        return self._read(self.fit.surface, cell, place).reshape(shape)[()]

    def effect_at(self, first: Any, second: Any) -> FloatArray:
        cell, place, shape = self._locate(first, second)
        height = self._read(self.fit.surface, cell, place)
        for main, a, u in zip(self.main, cell, place, strict=True):
            above = np.minimum(a + 1, main.size - 1)  # no row is above the last level
            height = height + main[a] * (1 - u) + main[above] * u
        return height.reshape(shape)[()]

    @property
    def _cell_weights(self) -> PairCellWeights:
        return self.fit.cell_weights

    def _is_known(self, cell: Sequence[IntArray]) -> BoolArray:
        return super()._is_known(cell) & self.measured[cell[0], cell[1]]

    @property
    def strength(self) -> float:
        """Deviation of the surface over the rows, noise removed, in units of the output."""
        return float(np.sqrt(max(self.square.raw - self.square.noise, 0.0)))

    @property
    def strength_raw(self) -> float:
        """The strength with its noise, in units of the output."""
        return float(np.sqrt(max(self.square.raw, 0.0)))

    @cached_property
    def _strength_uncertainty(self) -> tuple[float, float]:
        """Standard error of the squared strength and p-value; the matrices are not kept."""
        if not (self.moments.mean.any() or self.moments.products.any()):
            return 0.0, 1.0  # no row has a difference at all
        exponent = self.moments.exponent  # fourth powers of differences near 1 fit into numbers
        fit = PairFit(self.axes, self.moments.scaled(-exponent), self.reading, self.smooth)
        plain = replace(fit, smooth=False)  # slopes that were evened out have no p-value
        error = float(np.ldexp(fit.square_error, 2 * exponent))
        return error, (plain if self.smooth else fit).p_value

    @property
    def strength_error(self) -> float:
        """Standard error of the strength, in its units; 0 where rows do not differ at all.

        Notes
        -----
        It and `p_value` are found together when the first of them is asked for, which takes some
        40 ms with 20 cells a side.
        """
        error = self._strength_uncertainty[0]
        return error / (2 * self.strength) if self.strength > 0 else float(np.sqrt(error))

    def strength_ci(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the strength.

        Parameters
        ----------
        level : float
            Probability that it covers the strength over the population of the rows.

        Returns
        -------
        low, high : float
            In units of the output.

        Notes
        -----
        It is that of the squared strength, whose estimate is nearly normal, below 0 cut off.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.tile([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], (100, 1))
        >>> pair = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x)["x0", "x1"]
        >>> low, high = pair.strength_ci()
        >>> low <= pair.strength <= high
        True
        """
        reach = normal_quantile(level) * self._strength_uncertainty[0]
        square = self.square.raw - self.square.noise
        low, high = (np.sqrt(max(square + sign * reach, 0.0)) for sign in (-1, 1))
        return float(low), float(high)

    @property
    def p_value(self) -> float:
        """How likely so large a strength is, 0 to 1, if this model had no interaction here.

        Notes
        -----
        It is about this model: would other rows, drawn anew, show its interaction again? A model
        that learned an additive world from few rows has interactions by chance, and they are real
        in it: p is small for nearly all of its pairs. Whether a pair would come back in a model
        that is trained on other rows is told by `rhale.refit(..., pairs=)`.
        """
        return self._strength_uncertainty[1]

    def statistics(self, y: Any = None) -> Statistics:
        """ALED, ALER and the same in percentiles of the target, of the surface.

        Parameters
        ----------
        y : array-like of shape (n_values,), optional
            Observed values of the target, for NALED and NALER; any number of them.

        Returns
        -------
        Statistics
            Its importance is `strength_raw`, and `strength` the one without noise.

        Notes
        -----
        Deviations are over the rows at their own positions, and so is the range; three places a side
        represent the rows of a cell. With `reading="cells"` the surface is read as R's package ale
        does: at two of the four corners of a cell, its range over all cells, those without rows
        included. Such numbers are neither means of the cells nor values at the rows; the package
        also counts rows at the minimum in cells of their own, which surfaces here do not.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.tile([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], (100, 1))
        >>> pair = rhale.interactions(lambda rows: rows[:, 0] * rows[:, 1], x)["x0", "x1"]
        >>> [round(end, 1) for end in pair.statistics().aler]
        [-1.0, 1.0]
        """
        size = Size(self.strength_raw, self.strength)
        if self.reading == "cells":
            levels = self.axes[0].is_levels, self.axes[1].is_levels
            heights = read_cells(self.fit.surface, self.weight, levels)
            return gather_statistics(self.names, self.output, "cells", heights, size, y)
        heights = read_levels(*self.fit.cell_weights.read_scattered(self.fit.surface))
        found = gather_statistics(self.names, self.output, "rows", heights, size, y)
        return replace(found, aled_sd=size.raw)  # a mean square is known exactly

    def transposed(self) -> PairEffect:
        return replace(
            self,
            names=self.names[::-1],
            axes=self.axes[::-1],
            moments=self.moments.transposed(),
            main=self.main[::-1],
        )

    def _numbers(self, first: FloatArray, second: FloatArray) -> dict[str, FloatArray | BoolArray]:  # noqa: ARG002
        shape = self.count.shape
        return {"mean": _padded(self.mean, shape), "std": _padded(self.std, shape)}


@dataclass(frozen=True, eq=False, repr=False)
class PairIndex(PairResult):
    """How strongly two features interact by another definition, without a surface.

    Attributes
    ----------
    names, output
        As in `PairEffect`.
    method : {"h", "greenwell", "shap"}
        What it was measured by.
    strength : float
        In units of the output: unnormalised H, Greenwell's index, deviation of SHAP interactions.
    variance : float
        Of the predictions.
    h2 : float
        The normalised H², where it is defined; nan elsewhere. Nothing is ranked by it.
    n_left_out : int
        Rows without a value of one of the two.
    notes : tuple of Note
        What a reader should know.
    captions : Captions
        What people read for features and outputs.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.tile([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], (100, 1))
    >>> model = lambda rows: rows[:, 0] * rows[:, 1]
    >>> pair = rhale.interactions(model, x, method="h")["x0", "x1"]
    >>> round(pair.strength, 1), pair.how
    (1.0, 'unnormalised H')
    """

    names: tuple[str, str] = field(metadata=stored(PAIR_FEATURE_NAMES))
    output: str
    method: PairMethod = field(metadata=stored(Text(("h", "greenwell", "shap"))))
    strength: float = field(metadata=stored(VARIANCE_NUMBER))
    variance: float = field(metadata=stored(VARIANCE_NUMBER))
    h2: float = field(default=UNDEFINED, metadata=stored(Number(unknown=True)))
    n_left_out: int = 0
    notes: tuple[str, ...] = field(default=(), metadata=stored(NOTE_LIST))
    captions: Captions = field(default=NO_CAPTIONS, compare=False, metadata=NOT_WRITTEN)

    def surface(self, first: Any, second: Any) -> FloatArray:  # noqa: ARG002
        """There is no surface: an error says how to get one.

        Parameters
        ----------
        first, second : number, date, duration, level or array-like of these
            Values of both features.

        Raises
        ------
        BadSettingError
            Always.

        Examples
        --------
        >>> import numpy as np, rhale
        >>> x = np.tile([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], (100, 1))
        >>> model = lambda rows: rows[:, 0] * rows[:, 1]
        >>> pair = rhale.interactions(model, x, method="h")["x0", "x1"]
        >>> try:
        ...     pair.surface(1.0, 1.0)
        ... except rhale.RhaleError as error:
        ...     print("no surface" in str(error))
        True
        """
        msg = (
            f"method {self.method!r} gives {self.names[0]!r} and {self.names[1]!r} a number and no "
            "surface; use interactions(..., method='ale')"
        )
        raise BadSettingError(msg)

    @with_options(PairOptions)
    def plot(
        self,
        kind: str = "map",  # noqa: ARG002
        *,
        ax: Any = None,  # noqa: ARG002
        **options: Unpack[PairOptions],  # noqa: ARG002
    ) -> Any:
        first, second = self.names
        msg = (
            f"method {self.method!r} gives {first!r} and {second!r} a number and no surface to draw; "
            "use Interactions.plot, or interactions(..., method='ale')"
        )
        raise BadSettingError(msg)

    def table(self) -> Columns:
        return {}

    @property
    def share(self) -> float:
        """Squared strength, of the variance of the predictions; nan of Greenwell's index.

        That index is no deviation of an effect, and has no share.
        """
        return UNDEFINED if self.method == "greenwell" else _share_of(self.strength, self.variance)

    def transposed(self) -> PairIndex:
        return replace(self, names=self.names[::-1])


def kind_of_axis(axis: PairAxis) -> PairKind:
    """What the values on one side of a pair are."""
    if not axis.is_levels:
        return axis.kind
    return "steps" if are_numbers(axis.labels, axis.nodes) else "categories"


def read_places(name: str, axis: PairAxis, values: Any) -> FloatArray:
    """Read values of a feature as places on its side of a pair."""
    if not axis.is_levels:
        return as_numbers(values, axis.kind)
    array = np.asarray(values)
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    places = []
    for value in array.ravel().tolist():
        if value is None or value != value:  # noqa: PLR0124 - missing: nan, NaT
            places.append(UNDEFINED)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            places.append(float(value))
        else:
            places.append(float(axis.nodes[find_level(name, value, axis.labels)]))
    return np.array(places, dtype=np.float64).reshape(array.shape)


def cell_ends(axis: PairAxis) -> Columns:
    """Where each cell begins and ends, as text and as numbers; a level does both at once."""
    names = name_places(axis.nodes, axis.labels, axis.kind)
    nodes = axis.nodes.tolist()
    low, high = (slice(None), slice(None)) if axis.is_levels else (slice(-1), slice(1, None))
    return {"from": names[low], "to": names[high], "left": nodes[low], "right": nodes[high]}


def _padded(steps: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Numbers of steps by cell: nan above the last level."""
    ends = [(0, n - m) for n, m in zip(shape, steps.shape, strict=True)]
    return np.pad(steps, ends, constant_values=np.nan)


def as_read_only_view(array: FloatArray) -> FloatArray:
    """Give a view that cannot be written; the caller's array stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def share_of_rows(pair: Any) -> float:
    """Share of the rows that have a value of both features, of a pair with cells."""
    n_known = int(pair.count.sum())
    return n_known / (n_known + pair.n_left_out) if n_known else 0.0


def can_be_ranked(pair: PairResult) -> bool:
    """Whether one model can tell how strong a pair is beside others: no feature of it has a copy."""
    return all(note.kind != CORRELATED_NOTE_KIND for note in as_notes(pair.notes))


def _share_of(strength: float, variance: float) -> float:
    """Squared strength, of the variance: 0 where nothing varies, nan where that is not known."""
    return 0.0 if variance == 0 else strength**2 / variance


def write_strength_with_error(pair: PairResult) -> str:
    """Write a strength, with its error where that is known.

    Examples
    --------
    >>> write_strength_with_error(PairIndex(("a", "b"), "y", "h", 0.25, 1.0))
    '0.25'
    """
    return write_with_error(pair.strength, pair.strength_error)


def write_p(p_value: float) -> str:
    """Write a p-value; nothing where it is not known.

    Examples
    --------
    >>> write_p(0.0123), write_p(1e-9), write_p(float("nan"))
    ('0.012', '< 0.001', '')
    """
    if np.isnan(p_value):
        return ""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.2g}"


def write_head(pair: PairResult) -> str:
    """Name a pair, and say how strongly it interacts."""
    names = PAIR_NAME_SEPARATOR.join(
        shorten_name(pair.captions.feature(name)) for name in pair.names
    )
    output = shorten_name(pair.captions.output(pair.output))
    head = f"{names} on {output}: strength {write_strength_with_error(pair)}"
    p = write_p(pair.p_value)
    told = (
        f", p {p if p.startswith('<') else '= ' + p} of no interaction in this model" if p else ""
    )
    share = write_share(pair.share)
    return f"{head}{f', {share} of the variance' if share else ''}{told}"
