"""Student's t: how wide an interval must be where its error was estimated from few rows."""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

import numpy as np

from rhale.kernels import FloatArray

MANY = 200.0  # from so many degrees of freedom on, the expansion around the normal quantile is exact to 1e-9


def student_quantile(level: float, degrees: FloatArray) -> FloatArray:
    """Half-width of a two-sided interval, in standard errors.

    Parameters
    ----------
    level : float
        Probability inside, between 0 and 1.
    degrees : ndarray
        Degrees of freedom; below 1 they count as 1, infinite ones give the normal quantile.

    Returns
    -------
    ndarray of the same shape

    Examples
    --------
    >>> student_quantile(0.95, np.array([1.0, 10.0, np.inf])).round(4)
    array([12.7062,  2.2281,  1.96  ])
    """
    degrees = np.maximum(np.asarray(degrees, dtype=np.float64), 1.0)
    found = _expand(NormalDist().inv_cdf(0.5 + level / 2), degrees)
    few = degrees < MANY
    # between two whole numbers the logarithm is nearly a straight line in 1 / degrees
    below = np.floor(degrees[few])
    lower, upper = (np.array([_exact(level, int(n)) for n in side]) for side in (below, below + 1))
    part = (1 / below - 1 / degrees[few]) * below * (below + 1)
    found[few] = lower * (upper / lower) ** part
    return found


def _expand(z: float, degrees: FloatArray) -> FloatArray:
    """Cornish and Fisher's expansion in 1 / degrees."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return np.asarray(z + sum(term / degrees**k for k, term in enumerate(terms, start=1)))


@lru_cache(maxsize=4096)
def _exact(level: float, degrees: int) -> float:
    """Quantile for a whole number of degrees of freedom, by bisection of the angle."""
    low, high = 0.0, np.pi / 2
    for _ in range(60):
        angle = 0.5 * (low + high)
        low, high = (low, angle) if _inside(angle, degrees) > level else (angle, high)
    return float(np.sqrt(degrees) * np.tan(low))


def _inside(angle: float, degrees: int) -> float:
    """Probability that |t| is below sqrt(degrees) tan(angle): a finite sum of powers of the cosine."""
    cosine, sine = float(np.cos(angle)), float(np.sin(angle))
    odd = degrees % 2
    term, total = (cosine if odd else 1.0), 0.0
    if odd and degrees == 1:
        return 2 * angle / np.pi
    for k in range(2 + odd, degrees + 1, 2):
        total += term
        term *= cosine**2 * (k - 1) / k
    if odd:
        return 2 / np.pi * (angle + sine * total)
    return sine * total
