"""PairEffect: what two features do together beyond what each does alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_moments import PairMoments
from rhale.kernels.pair_steps import read_steps
from rhale.kernels.pair_strength import PairFit, Reading, Square
from rhale.kernels.records import freeze, same_fields
from rhale.results.note import as_notes

PairMethod = Literal["ale", "pdp", "h", "greenwell", "shap"]


class PairResult(Protocol):
    """What tables, pictures and files ask of a pair, whatever it was measured by."""

    @property
    def names(self) -> tuple[str, str]:
        """The two features."""

    @property
    def output(self) -> str:
        """The output of the model."""

    @property
    def method(self) -> PairMethod:
        """What it was measured by."""

    @property
    def strength(self) -> float:
        """How strongly the two interact, in units of the output."""

    @property
    def strength_error(self) -> float:
        """Standard error of the strength; nan where it is not known."""

    @property
    def p_value(self) -> float:
        """Chance of as large a strength if there were none; nan where it is not known."""

    @property
    def share(self) -> float:
        """Squared strength, of the variance of the predictions."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""

    def transposed(self) -> PairResult:
        """The same pair, sides exchanged."""


@dataclass(frozen=True, eq=False, repr=False)
class PairEffect:
    """The pure second-order effect of two features on one output: a surface.

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
        Whether rows count where they stand, or in the middle of their cells, as in R's packages.
    smooth : bool
        Whether the slopes of neighbouring cells were evened out.
    way : {"corners", "gradient", "walk"}
        How mixed differences were found.
    notes : tuple of Note
        What a reader should know.
    """

    names: tuple[str, str]
    output: str
    axes: tuple[PairAxis, PairAxis]
    moments: PairMoments
    main: tuple[FloatArray, FloatArray]
    square: Square
    variance: float
    n_left_out: int = 0
    reading: Reading = "rows"
    smooth: bool = False
    way: Literal["corners", "gradient", "walk"] = "corners"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self.moments)
        object.__setattr__(self, "notes", as_notes(self.notes))

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def method(self) -> PairMethod:
        """Accumulated local effects of second order."""
        return "ale"

    @cached_property
    def fit(self) -> PairFit:
        """The surface, from sums."""
        return PairFit(self.axes, self.moments, self.reading, self.smooth)

    @property
    def edges(self) -> tuple[FloatArray, FloatArray]:
        """Limits of the cells of both features, or places of their levels."""
        return self.axes[0].nodes, self.axes[1].nodes

    @property
    def count(self) -> IntArray:
        """Rows by where they stand, (n_stands, n_stands)."""
        return self.moments.count

    @property
    def weight(self) -> FloatArray:
        """Their weights."""
        return self.moments.weight

    @property
    def measured(self) -> BoolArray:
        """Where rows stand: nothing is shown or counted elsewhere."""
        return np.asarray(self.moments.weight > 0)

    @property
    def heights(self) -> FloatArray:
        """The surface at all nodes, (n_nodes, n_nodes); nan where no row stands beside a node."""
        return np.where(self._beside_rows, self.fit.surface, np.nan)

    @property
    def standard_error(self) -> FloatArray:
        """Its standard error, the same shape."""
        return np.where(self._beside_rows, self.fit.node_error, np.nan)

    @property
    def _beside_rows(self) -> BoolArray:
        """Nodes that some row stands on, or in a cell beside."""
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
    def mean(self) -> FloatArray:
        """Mean mixed slope of every step, nan where no row counts for it."""
        steps = read_steps(self.axes, self.moments)
        area = np.outer(self.axes[0].widths, self.axes[1].widths)
        return np.where(steps.measured, steps.mean[0] / area, np.nan)

    def surface(self, first: Any, second: Any) -> FloatArray:
        """The pure effect at some places, bilinear in a cell; nan where no row is.

        Parameters
        ----------
        first, second : array-like
            Values of both features, which broadcast: [30, 40] and [[1], [2]] give a grid.
        """
        x, y = np.broadcast_arrays(np.asarray(first, float), np.asarray(second, float))
        (a, u), (b, v) = (
            axis.locate(np.ravel(values)) for axis, values in zip(self.axes, (x, y), strict=True)
        )
        base, right, up, far = (
            corner[a, b] for corner in self.fit.ground.corners(self.fit.surface)
        )
        height = (base * (1 - v) + right * v) * (1 - u) + (up * (1 - v) + far * v) * u
        known = (a >= 0) & (b >= 0)
        known &= self.measured[np.maximum(a, 0), np.maximum(b, 0)]
        return np.where(known, height, np.nan).reshape(x.shape)

    @property
    def strength(self) -> float:
        """Deviation of the surface over the rows, noise removed, in units of the output."""
        return float(np.sqrt(max(self.square.raw - self.square.noise, 0.0)))

    @property
    def strength_raw(self) -> float:
        """The same with its noise."""
        return float(np.sqrt(self.square.raw))

    @cached_property
    def strength_error(self) -> float:
        """Standard error of the strength; 0 where rows do not differ at all."""
        error = self.fit.square_error
        return error / (2 * self.strength) if self.strength > 0 else float(np.sqrt(error))

    @cached_property
    def p_value(self) -> float:
        """Chance of as large a strength if the two did not interact in this model."""
        return self.fit.p_value

    @property
    def share(self) -> float:
        """Squared strength, of the variance of the predictions."""
        return self.strength**2 / self.variance if self.variance > 0 else 0.0

    def transposed(self) -> PairEffect:
        """The same pair, sides exchanged."""
        return replace(
            self,
            names=self.names[::-1],
            axes=self.axes[::-1],
            moments=self.moments.transposed(),
            main=self.main[::-1],
        )


@dataclass(frozen=True, repr=False)
class PairIndex:
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
    notes : tuple of Note
        What a reader should know.
    """

    names: tuple[str, str]
    output: str
    method: PairMethod
    strength: float
    variance: float
    h2: float = float("nan")
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", as_notes(self.notes))

    @property
    def strength_error(self) -> float:
        """Not known."""
        return float("nan")

    @property
    def p_value(self) -> float:
        """Not known."""
        return float("nan")

    @property
    def share(self) -> float:
        """Squared strength, of the variance of the predictions."""
        return self.strength**2 / self.variance if self.variance > 0 else 0.0

    def transposed(self) -> PairIndex:
        """The same pair, names exchanged."""
        return replace(self, names=self.names[::-1])
