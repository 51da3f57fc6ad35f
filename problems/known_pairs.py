"""Problems whose pairs are known: which features act together, and how strongly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from problems.truth import FloatArray

Function = Callable[[FloatArray], FloatArray]
N_COLUMNS = 10
XOR = 0.7451667  # mean of tanh(3 z)² over a standard normal z


@dataclass(frozen=True)
class PairedProblem:
    """A function of standard normal features, its slopes, and its true pairs.

    Parameters
    ----------
    name : str
        Name of the problem.
    function, gradient : callable
        Map rows, shape (n_rows, n_columns), to answers and to slopes.
    strengths : mapping of (int, int) to float
        Deviation of the pure second-order effect of every pair that has one.
    correlated : tuple of (int, int, float)
        Columns that go together: the second is made of the first, with this correlation.
    shape : callable or None
        What becomes of the first column, before anything else sees it.

    Examples
    --------
    >>> problem = two_factors()
    >>> problem.function(np.array([[2.0, 3.0, 0, 0, 0, 0, 0, 0, 0, 0]]))
    array([6.])
    """

    name: str
    function: Function
    gradient: Function
    strengths: Mapping[tuple[int, int], float] = field(default_factory=dict)
    correlated: tuple[tuple[int, int, float], ...] = ()
    shape: Function | None = None

    def draw(self, n_rows: int, seed: int) -> FloatArray:
        """Rows of the problem.

        Parameters
        ----------
        n_rows : int
            How many rows to draw.
        seed : int
            Of a fresh generator.

        Returns
        -------
        ndarray of shape (n_rows, 10)

        Examples
        --------
        >>> two_factors().draw(5, seed=0).shape
        (5, 10)
        """
        rows = np.random.default_rng(seed).normal(size=(n_rows, N_COLUMNS))
        for first, second, r in self.correlated:
            rows[:, second] = r * rows[:, first] + np.sqrt(1 - r**2) * rows[:, second]
        if self.shape is not None:
            rows[:, 0] = self.shape(rows[:, 0])
        return rows


def two_factors(correlation: float = 0.0) -> PairedProblem:
    """x0 x1 + x2 + x3²/2; with correlation r its strength is 1 - r².

    Parameters
    ----------
    correlation : float
        Of x0 and x1.

    Returns
    -------
    PairedProblem

    Examples
    --------
    >>> two_factors(correlation=0.6).strengths
    {(0, 1): 0.64}
    """
    slopes: dict[int, Function] = {
        0: partial(_column, 1),
        1: partial(_column, 0),
        2: _one,
        3: partial(_column, 3),
    }
    together = ((0, 1, correlation),) if correlation else ()
    name = f"product, correlation {correlation:g}" if correlation else "product"
    strengths = {(0, 1): 1 - correlation**2}
    return PairedProblem(name, _two_factors, partial(_slopes, slopes), strengths, together)


def gated_slope() -> PairedProblem:
    """2 x0 where x1 > 0, and x2 / 2: a jump along x1, which no slope tells.

    Returns
    -------
    PairedProblem

    Examples
    --------
    >>> rows = np.zeros((2, 10))
    >>> rows[:, 0], rows[:, 1] = 1.0, (1.0, -1.0)
    >>> gated_slope().function(rows)
    array([2., 0.])
    """
    slopes: dict[int, Function] = {0: _twice_above, 2: partial(_constant, 0.5)}
    return PairedProblem("gate", _gated_slope, partial(_slopes, slopes), {(0, 1): 1.0})


def smooth_or() -> PairedProblem:
    """Tanh 3x0 tanh 3x1 + x2: neither does anything alone.

    Returns
    -------
    PairedProblem

    Examples
    --------
    >>> list(smooth_or().strengths)
    [(0, 1)]
    """
    slopes: dict[int, Function] = {
        0: partial(_smooth_slope, 0),
        1: partial(_smooth_slope, 1),
        2: _one,
    }
    return PairedProblem("smooth XOR", _smooth_or, partial(_slopes, slopes), {(0, 1): XOR})


def nothing_together() -> PairedProblem:
    """Sin 2x0 + x1²/2 + abs(x2) + x3/2: no pair.

    Returns
    -------
    PairedProblem

    Examples
    --------
    >>> nothing_together().strengths
    {}
    """
    slopes: dict[int, Function] = {
        0: _waves,
        1: partial(_column, 1),
        2: _sign,
        3: partial(_constant, 0.5),
    }
    return PairedProblem("additive", _nothing_together, partial(_slopes, slopes))


def copied_factor() -> PairedProblem:
    """x0 x1 + x3, and x2 goes with x1: (x0, x2) is no pair.

    Returns
    -------
    PairedProblem

    Examples
    --------
    >>> copied_factor().strengths, copied_factor().correlated
    ({(0, 1): 1.0}, ((1, 2, 0.9),))
    """
    slopes: dict[int, Function] = {0: partial(_column, 1), 1: partial(_column, 0), 3: _one}
    return PairedProblem(
        "proxy", _copied_factor, partial(_slopes, slopes), {(0, 1): 1.0}, ((1, 2, 0.9),)
    )


def three_factors() -> PairedProblem:
    """x0 x1 x2 + x3: no two of them act together on average.

    Returns
    -------
    PairedProblem

    Examples
    --------
    >>> three_factors().function(np.arange(1.0, 11.0)[None])  # 1 x 2 x 3 + 4
    array([10.])
    """
    slopes: dict[int, Function] = {**{k: partial(_others, k) for k in range(3)}, 3: _one}
    return PairedProblem("three-way", _three_factors, partial(_slopes, slopes))


def four_products() -> PairedProblem:
    """Products of weight 1, 1/2, 1/4 and 1/8, and x8.

    Returns
    -------
    PairedProblem

    Examples
    --------
    >>> four_products().strengths
    {(0, 1): 1.0, (2, 3): 0.5, (4, 5): 0.25, (6, 7): 0.125}
    """
    slopes: dict[int, Function] = {8: _one}
    for k in range(4):
        slopes[2 * k] = partial(_scaled, 2.0**-k, 2 * k + 1)
        slopes[2 * k + 1] = partial(_scaled, 2.0**-k, 2 * k)
    strengths = {(2 * k, 2 * k + 1): 2.0**-k for k in range(4)}
    return PairedProblem("four products", _four_products, partial(_slopes, slopes), strengths)


def skewed_factor() -> PairedProblem:
    """Log x0 x1 + x2 with a lognormal x0: wide cells where rows are few.

    Returns
    -------
    PairedProblem

    Examples
    --------
    >>> rows = np.zeros((1, 10))
    >>> rows[0, :2] = np.e, 2.0
    >>> skewed_factor().function(rows)
    array([2.])
    """
    slopes: dict[int, Function] = {0: _by_first, 1: _log_first, 2: _one}
    return PairedProblem(
        "log product", _skewed_factor, partial(_slopes, slopes), {(0, 1): 1.0}, shape=np.exp
    )


def _slopes(known: Mapping[int, Function], rows: FloatArray) -> FloatArray:
    found = np.zeros_like(rows)
    for column, slope in known.items():
        found[:, column] = slope(rows)
    return found


def _column(column: int, rows: FloatArray) -> FloatArray:
    return rows[:, column]


def _scaled(factor: float, column: int, rows: FloatArray) -> FloatArray:
    return factor * rows[:, column]


def _constant(value: float, rows: FloatArray) -> FloatArray:
    return np.full(len(rows), value)


def _one(rows: FloatArray) -> FloatArray:
    return np.ones(len(rows))


def _two_factors(rows: FloatArray) -> FloatArray:
    return rows[:, 0] * rows[:, 1] + rows[:, 2] + rows[:, 3] ** 2 / 2


def _twice_above(rows: FloatArray) -> FloatArray:
    return np.where(rows[:, 1] > 0, 2.0, 0.0)


def _gated_slope(rows: FloatArray) -> FloatArray:
    return np.asarray(rows[:, 0] * _twice_above(rows) + rows[:, 2] / 2)


def _smooth_or(rows: FloatArray) -> FloatArray:
    return np.tanh(3 * rows[:, 0]) * np.tanh(3 * rows[:, 1]) + rows[:, 2]


def _smooth_slope(column: int, rows: FloatArray) -> FloatArray:
    return 3 * (1 - np.tanh(3 * rows[:, column]) ** 2) * np.tanh(3 * rows[:, 1 - column])


def _waves(rows: FloatArray) -> FloatArray:
    return 2 * np.cos(2 * rows[:, 0])


def _sign(rows: FloatArray) -> FloatArray:
    return np.sign(rows[:, 2])


def _nothing_together(rows: FloatArray) -> FloatArray:
    return np.sin(2 * rows[:, 0]) + rows[:, 1] ** 2 / 2 + np.abs(rows[:, 2]) + rows[:, 3] / 2


def _copied_factor(rows: FloatArray) -> FloatArray:
    return rows[:, 0] * rows[:, 1] + rows[:, 3]


def _others(column: int, rows: FloatArray) -> FloatArray:
    return np.asarray(np.prod(np.delete(rows[:, :3], column, 1), axis=1))


def _three_factors(rows: FloatArray) -> FloatArray:
    return np.asarray(np.prod(rows[:, :3], axis=1) + rows[:, 3])


def _four_products(rows: FloatArray) -> FloatArray:
    pairs = rows[:, 0:8:2] * rows[:, 1:8:2]
    return np.asarray(pairs @ 2.0 ** -np.arange(4) + rows[:, 8])


def _by_first(rows: FloatArray) -> FloatArray:
    return rows[:, 1] / rows[:, 0]


def _log_first(rows: FloatArray) -> FloatArray:
    return np.log(rows[:, 0])


def _skewed_factor(rows: FloatArray) -> FloatArray:
    return np.log(rows[:, 0]) * rows[:, 1] + rows[:, 2]
