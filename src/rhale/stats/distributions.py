"""Quantiles and tails of Student's t, F and chi-square, without SciPy."""

from __future__ import annotations

from math import exp, isinf, lgamma, log, pi
from statistics import NormalDist

import numpy as np

from rhale.stats.arrays import FloatArray

# Of intervals, and the normal quantile that belongs to it.
CONFIDENCE_LEVEL, Z_SCORE_95 = 0.95, 1.96

# --- The F distribution: how likely a ratio of mean squares is as large as it is


F_TAIL_TOLERANCE, LENTZ_FLOOR = 1e-14, 1e-300
TERMS = 10  # of the fraction that are found together
F_TAIL_MAX_TERMS = 2_000  # about the root of the larger number of degrees is needed


def f_tail(ratio: FloatArray, over: FloatArray, under: FloatArray) -> FloatArray:
    """Probability of larger ratios.

    `ratio` (n,): mean squares over mean squares; zero or more, or infinite; `over`, `under` (n,):
    degrees of freedom of both, positive. Returns (n,).

    Examples
    --------
    >>> f_tail(np.array([0.0, 3.0, np.inf]), np.full(3, 2.0), np.full(3, 2.0))
    array([1.  , 0.25, 0.  ])
    """
    # The incomplete beta function by its continued fraction, on the side where that converges.
    with np.errstate(invalid="ignore"):
        x = np.where(np.isinf(ratio), 0.0, under / (under + over * ratio))
    a, b = under / 2, over / 2
    inside = (x > 0) & (x < 1)
    tail = np.where(x >= 1, 1.0, 0.0)
    a, b, x = a[inside], b[inside], x[inside]
    # I_x(a, b) = 1 - I_1-x(b, a): the fraction converges fast on one of the two sides
    is_low = x < (a + 1) / (a + b + 2)
    p, q, z = np.where(is_low, a, b), np.where(is_low, b, a), np.where(is_low, x, 1 - x)
    scale = np.array([lgamma(m + n) - lgamma(m) - lgamma(n) for m, n in zip(a, b, strict=True)])
    part = np.exp(scale + a * np.log(x) + b * np.log1p(-x)) / p * _evaluate_beta_fraction(p, q, z)
    tail[inside] = np.clip(np.where(is_low, part, 1 - part), 0.0, 1.0)
    return tail


def _evaluate_beta_fraction(a: FloatArray, b: FloatArray, x: FloatArray) -> FloatArray:
    """The continued fraction of the incomplete beta function, for all at once."""
    # Lentz's algorithm (modified: Thompson and Barnett, 1986). Some terms are computed together,
    # which is faster.
    c, d = np.ones_like(x), 1 / _away(1 - (a + b) * x / (a + 1))
    h = d.copy()
    for first in range(1, F_TAIL_MAX_TERMS, TERMS):
        m = np.arange(first, first + TERMS)[:, None]
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for pair in zip(even, odd, strict=True):
            for term in pair:
                d, c = 1 / _away(1 + term * d), _away(1 + term / c)
                h *= c * d
            if np.all(np.abs(c * d - 1) < F_TAIL_TOLERANCE):
                return h
    return h


def _away(value: FloatArray) -> FloatArray:
    """Keep off zero, through which the fraction may pass."""
    return np.where(np.abs(value) < LENTZ_FLOOR, LENTZ_FLOOR, value)


EXPANDED = 1e-9  # of the expansion's last term: what follows it is then below 1e-10
SETTLED = 1e-9  # a step of Newton's method after which the next one is its square
MOST_STEPS = 50  # three to five are taken


def student_quantile(level: float, degrees: FloatArray) -> FloatArray:
    """Half-width of a two-sided interval, in standard errors.

    `level`: probability inside, between 0 and 1; `degrees`: degrees of freedom, any real numbers;
    below 1 they count as 1, infinite ones give the normal quantile.

    Examples
    --------
    >>> student_quantile(0.95, np.array([1.0, 1.5, 10.0, np.inf])).round(4)
    array([12.7062,  6.0167,  2.2281,  1.96  ])
    """
    # Cornish and Fisher's expansion around the normal quantile where that is exact; else Newton's
    # method from there. Why 1 at least: a variance is estimated by a sum of squares, which has one
    # degree of freedom if it has any; formulas for rows with weights may tell less.
    tail = 1 - level
    degrees = np.maximum(np.asarray(degrees, dtype=np.float64), 1.0)
    # 1. The expansion in 1 / degrees, and the size of its last term.
    z = -NormalDist().inv_cdf(tail / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    found = np.asarray(z + sum(term / degrees**k for k, term in enumerate(terms, start=1)))
    few = np.abs(terms[-1] / degrees ** len(terms)) > EXPANDED
    # 2. Where that is not exact, Newton's method for P(|t| > quantile) = tail, in logarithms of
    # both. The logarithm of the probability falls ever faster with that of t (in the end like a
    # straight line, -degrees), so that the method arrives from anywhere. The square of t is F with
    # 1 and `degrees` degrees of freedom.
    each, first, which = np.unique(degrees[few], return_index=True, return_inverse=True)
    quantile = found[few][first]
    scales = [lgamma((n + 1) / 2) - lgamma(n / 2) - log(n * pi) / 2 for n in each.tolist()]
    for _ in range(MOST_STEPS):
        beyond = f_tail(quantile**2, np.ones_like(each), each)
        density = np.exp(scales - (each + 1) / 2 * np.log1p(quantile**2 / each))
        step = np.log(beyond / tail) * beyond / (2 * quantile * density)
        quantile = quantile * np.exp(step)
        if np.all(np.abs(step) < SETTLED):
            break
    found[few] = quantile[which]
    return found


# --- The chi-square distribution: how likely a sum of squares is as large as it is


CHI_SQUARE_TOLERANCE = 1e-15
CHI_SQUARE_MAX_TERMS = 100_000


def chi_square_tail(value: float, degrees: float) -> float:
    """Probability of a larger value, for any positive number of degrees of freedom.

    Examples
    --------
    >>> round(chi_square_tail(3.841458820694124, 1.0), 12)
    0.05
    """
    # The incomplete gamma function: its series below the mean, its continued fraction above.
    if value <= 0:
        return 1.0
    if isinf(value):
        return 0.0
    a, x = degrees / 2, value / 2
    scale = exp(a * log(x) - x - lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for n in range(1, CHI_SQUARE_MAX_TERMS):
            term *= x / (a + n)
            total += term
            if term < total * CHI_SQUARE_TOLERANCE:
                break
        return min(max(1.0 - scale * total, 0.0), 1.0)
    # Lentz's algorithm
    b = x + 1 - a
    c, d = float("inf"), 1 / b
    h = d
    for n in range(1, CHI_SQUARE_MAX_TERMS):
        up = -n * (n - a)
        b += 2
        d = 1 / (up * d + b)
        c = b + up / c
        h *= d * c
        if abs(d * c - 1) < CHI_SQUARE_TOLERANCE:
            break
    return min(max(scale * h, 0.0), 1.0)
