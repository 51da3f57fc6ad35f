"""Student's t: how wide an interval must be where its error was estimated from few rows."""

from __future__ import annotations

from math import lgamma, log, pi
from statistics import NormalDist

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.f_tail import f_tail

EXPANDED = 1e-9  # of the expansion's last term: what follows it is then below 1e-10
SETTLED = 1e-9  # a step of Newton's method after which the next one is its square
MOST_STEPS = 50  # three to five are taken


def student_quantile(level: float, degrees: FloatArray) -> FloatArray:
    """Half-width of a two-sided interval, in standard errors.

    Parameters
    ----------
    level : float
        Probability inside, between 0 and 1.
    degrees : ndarray
        Degrees of freedom, any real numbers; below 1 they count as 1, infinite ones give the
        normal quantile.

    Returns
    -------
    ndarray of the same shape

    Notes
    -----
    Cornish and Fisher's expansion around the normal quantile where that is exact; else Newton's
    method from there. Why 1 at least: a variance is estimated by a sum of squares, which has one
    degree of freedom if it has any; formulas for rows with weights may tell less.

    Examples
    --------
    >>> student_quantile(0.95, np.array([1.0, 1.5, 10.0, np.inf])).round(4)
    array([12.7062,  6.0167,  2.2281,  1.96  ])
    """
    tail = 1 - level
    degrees = np.maximum(np.asarray(degrees, dtype=np.float64), 1.0)
    found, last_term = _expand(-NormalDist().inv_cdf(tail / 2), degrees)
    few = last_term > EXPANDED
    each, first, which = np.unique(degrees[few], return_index=True, return_inverse=True)
    found[few] = _improve(found[few][first], tail, each)[which]
    return found


def _expand(z: float, degrees: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Cornish and Fisher's expansion in 1 / degrees; and the size of its last term."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    found = np.asarray(z + sum(term / degrees**k for k, term in enumerate(terms, start=1)))
    return found, np.abs(terms[-1] / degrees ** len(terms))


def _improve(quantile: FloatArray, tail: float, degrees: FloatArray) -> FloatArray:
    """Newton's method for |t| to be larger with probability `tail`, in logarithms of both.

    Notes
    -----
    The logarithm of the probability falls ever faster with that of t (in the end like a straight
    line, -degrees), so that the method arrives from anywhere. The square of t is F with 1 and
    `degrees` degrees of freedom.
    """
    scales = [lgamma((n + 1) / 2) - lgamma(n / 2) - log(n * pi) / 2 for n in degrees.tolist()]
    for _ in range(MOST_STEPS):
        beyond = f_tail(quantile**2, np.ones_like(degrees), degrees)
        density = np.exp(scales - (degrees + 1) / 2 * np.log1p(quantile**2 / degrees))
        step = np.log(beyond / tail) * beyond / (2 * quantile * density)
        quantile = quantile * np.exp(step)
        if np.all(np.abs(step) < SETTLED):
            break
    return quantile
