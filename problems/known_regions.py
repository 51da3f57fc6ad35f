"""Problems whose regions are known: who differs, by which features, and who must not be split."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Polynomial

from problems.truth import FloatArray

Function = Callable[[FloatArray], FloatArray]
Sampler = Callable[[np.random.Generator, int], FloatArray]


@dataclass(frozen=True)
class Part:
    """A function of one feature, and its derivative.

    Attributes
    ----------
    height : callable
        Maps values of the feature, shape (n,), to what it adds.
    slope : callable
        Maps them to its derivative.

    Examples
    --------
    >>> power(2).slope(np.array([3.0]))
    array([6.])
    """

    height: Function
    slope: Function


@dataclass(frozen=True)
class RegionalProblem:
    """A function in which one feature acts differently in some rows, and its rows.

    Parameters
    ----------
    name : str
        Name of the problem.
    sampler : callable
        Maps a random generator and a number of rows to rows; `draw` calls it with a seed.
    parts : mapping of int to Part
        What single features add to the function, by column.
    target : int or None
        The feature whose effect differs between rows; None where no effect does.
    own : Part
        How the target acts: the function holds own(x_target) times the gate.
    gate : callable
        Maps rows, shape (n_rows, n_features), to the factor of `own`, shape (n_rows,).
    gate_slopes : mapping of int to callable
        Derivatives of a gate that is no step, by column.
    splitters : tuple of int
        Features whose rules tell the regions apart; none where no rule can, or is worth it.
    factors : tuple of float
        Values of the gate, increasing, one for each kind of row; none where it is no step.
    n_regions : int
        Leaves of the smallest tree that tells them apart.
    alike : tuple of int
        Features with the same effect in all rows, which must not be split.
    entangled : tuple of int
        Those of them that a model which learns from rows can hardly tell from others.
    is_gradual : bool
        Whether the effect changes gradually along the splitter.
    partners : tuple of int
        Features that share the interaction, where there are too many for a tree.
    categorical : tuple of int
        Columns that hold numbers of levels without an order.
    weigh : callable or None
        Maps rows to weights, where they count unequally.

    Notes
    -----
    Every callable is a module-level function, a polynomial or a partial, so a problem pickles.
    Jumps of a gate are jumps of the function along the splitters. The gradient does not have
    them, and splitters are among neither the targets nor those that are alike.

    Examples
    --------
    >>> from problems import both_gates
    >>> problem = both_gates()
    >>> rows = np.array([[0.5, 0.9, 0.9, 0, 0], [0.5, 0.9, -0.9, 0, 0]])
    >>> problem.gradient(rows)[:, 0], problem.labels(rows)
    (array([ 2., -1.]), array([1, 0]))
    """

    name: str
    sampler: Sampler
    parts: Mapping[int, Part]
    target: int | None = None
    own: Part = field(default_factory=lambda: power(1))
    gate: Function = field(default_factory=lambda: ones)
    gate_slopes: Mapping[int, Function] = field(default_factory=dict)
    splitters: tuple[int, ...] = ()
    factors: tuple[float, ...] = ()
    n_regions: int = 1
    alike: tuple[int, ...] = ()
    entangled: tuple[int, ...] = ()
    is_gradual: bool = False
    partners: tuple[int, ...] = ()
    categorical: tuple[int, ...] = ()
    weigh: Function | None = None

    def draw(self, n_rows: int, seed: int = 0) -> FloatArray:
        """Draw independent rows, one column per feature; the seed alone decides them.

        Parameters
        ----------
        n_rows : int
            How many rows to draw.
        seed : int
            Of a fresh generator.

        Returns
        -------
        ndarray of shape (n_rows, n_features)

        Examples
        --------
        >>> from problems import both_gates
        >>> both_gates().draw(5, seed=1).shape
        (5, 5)
        """
        return self.sampler(np.random.default_rng(seed), n_rows)

    def predict(self, rows: FloatArray) -> FloatArray:
        """Values of the function, shape (n_rows,).

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            Some rows.

        Returns
        -------
        ndarray of shape (n_rows,)

        Examples
        --------
        >>> from problems import both_gates
        >>> rows = np.array([[0.5, 1, 1, 0, 0], [0.5, 1, -1, 0, 0]])
        >>> both_gates().predict(rows)
        array([ 1. , -0.5])
        """
        value = np.zeros(len(rows))
        for column, part in self.parts.items():
            value = value + part.height(rows[:, column])
        if self.target is None:
            return value
        return value + self.own.height(rows[:, self.target]) * self.gate(rows)

    def gradient(self, rows: FloatArray) -> FloatArray:
        """Derivatives, shape (n_rows, n_features); at a kink or a jump those of one side.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            Some rows.

        Returns
        -------
        ndarray of shape (n_rows, n_features)

        Examples
        --------
        >>> from problems import both_gates
        >>> rows = np.array([[0.5, 1, 1, 0, 0], [0.5, 1, -1, 0, 0]])
        >>> both_gates().gradient(rows)[:, 0]
        array([ 2., -1.])
        """
        slopes = np.zeros(rows.shape)
        for column, part in self.parts.items():
            slopes[:, column] += part.slope(rows[:, column])
        if self.target is None:
            return slopes
        x = rows[:, self.target]
        slopes[:, self.target] += self.own.slope(x) * self.gate(rows)
        for column, change in self.gate_slopes.items():
            slopes[:, column] += self.own.height(x) * change(rows)
        return slopes

    def labels(self, rows: FloatArray) -> npt.NDArray[np.int64]:
        """Kind of every row: the place of its gate among `factors`; all alike without any.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            Some rows.

        Returns
        -------
        ndarray of shape (n_rows,)

        Examples
        --------
        >>> from problems import both_gates
        >>> rows = np.array([[0.5, 1, 1, 0, 0], [0.5, 1, -1, 0, 0]])
        >>> both_gates().labels(rows)
        array([1, 0])
        """
        if not self.factors:
            return np.zeros(len(rows), dtype=np.int64)
        return np.searchsorted(self.factors, self.gate(rows)).astype(np.int64)


def power(exponent: int, size: float = 1.0) -> Part:
    """A power of a feature, times a number."""
    line = Polynomial([0.0] * exponent + [size])
    return Part(line, line.deriv())


def ones(rows: FloatArray) -> FloatArray:
    """One for every row."""
    return np.ones(len(rows))


def sign_of_x2(rows: FloatArray) -> FloatArray:
    """1 where x2 is positive, else -1."""
    return np.where(rows[:, 2] > 0, 1.0, -1.0)


LINE, SQUARE = power(1), power(2)
LOGARITHM = Part(np.log, np.reciprocal)
SIZE = Part(np.abs, np.sign)


def draw_even(rng: np.random.Generator, n_rows: int, *, n_features: int) -> FloatArray:
    """Draw independent features, even on (-1, 1)."""
    return rng.uniform(-1, 1, (n_rows, n_features))


def draw_normal(
    rng: np.random.Generator, n_rows: int, *, n_features: int, rho: float
) -> FloatArray:
    """Draw normal features, any two of them with the same correlation."""
    shared = rng.normal(size=(n_rows, 1))
    return math.sqrt(rho) * shared + math.sqrt(1 - rho) * rng.normal(size=(n_rows, n_features))
