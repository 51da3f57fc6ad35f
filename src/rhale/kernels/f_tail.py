"""The F distribution: how likely a ratio of mean squares is as large as it is."""

from __future__ import annotations

from collections.abc import Iterator
from math import lgamma

import numpy as np

from rhale.kernels import FloatArray

F_TAIL_TOLERANCE, LENTZ_FLOOR = 1e-14, 1e-300
TERMS = 10  # of the fraction that are found together
F_TAIL_MAX_TERMS = 2_000  # about the root of the larger number of degrees is needed


def f_tail(ratio: FloatArray, over: FloatArray, under: FloatArray) -> FloatArray:
    """Probability of larger ratios.

    Parameters
    ----------
    ratio : ndarray of shape (n,)
        Mean squares over mean squares; zero or more, or infinite.
    over, under : ndarrays of shape (n,)
        Degrees of freedom of both, positive.

    Returns
    -------
    ndarray of shape (n,)

    Notes
    -----
    The incomplete beta function by its continued fraction, on the side where that converges.

    Examples
    --------
    >>> f_tail(np.array([0.0, 3.0, np.inf]), np.full(3, 2.0), np.full(3, 2.0))
    array([1.  , 0.25, 0.  ])
    """
    with np.errstate(invalid="ignore"):
        x = np.where(np.isinf(ratio), 0.0, under / (under + over * ratio))
    a, b = under / 2, over / 2
    inside = (x > 0) & (x < 1)
    tail = np.where(x >= 1, 1.0, 0.0)
    tail[inside] = _beta(a[inside], b[inside], x[inside])
    return tail


def _beta(a: FloatArray, b: FloatArray, x: FloatArray) -> FloatArray:
    """The regularised incomplete beta function inside its range."""
    is_low = x < (a + 1) / (a + b + 2)
    p, q, z = np.where(is_low, a, b), np.where(is_low, b, a), np.where(is_low, x, 1 - x)
    scale = np.array([lgamma(m + n) - lgamma(m) - lgamma(n) for m, n in zip(a, b, strict=True)])
    part = np.exp(scale + a * np.log(x) + b * np.log1p(-x)) / p * _evaluate_beta_fraction(p, q, z)
    return np.clip(np.where(is_low, part, 1 - part), 0.0, 1.0)


def _evaluate_beta_fraction(a: FloatArray, b: FloatArray, x: FloatArray) -> FloatArray:
    """Lentz's algorithm, for all at once."""
    c, d = np.ones_like(x), 1 / _away(1 - (a + b) * x / (a + 1))
    h = d.copy()
    for even, odd in _terms(a, b, x):
        for term in (even, odd):
            d, c = 1 / _away(1 + term * d), _away(1 + term / c)
            h *= c * d
        if np.all(np.abs(c * d - 1) < F_TAIL_TOLERANCE):
            break
    return h


def _terms(a: FloatArray, b: FloatArray, x: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Terms of the fraction, two by two; some are found together, which is faster."""
    for first in range(1, F_TAIL_MAX_TERMS, TERMS):
        m = np.arange(first, first + TERMS)[:, None]
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        yield from zip(even, odd, strict=True)


def _away(value: FloatArray) -> FloatArray:
    """Keep off zero, through which the fraction may pass."""
    return np.where(np.abs(value) < LENTZ_FLOOR, LENTZ_FLOOR, value)
