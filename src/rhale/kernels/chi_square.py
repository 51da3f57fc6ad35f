"""The chi-square distribution: how likely a sum of squares is as large as it is."""

from __future__ import annotations

from math import exp, isinf, lgamma, log

CHI_SQUARE_TOLERANCE = 1e-15
CHI_SQUARE_MAX_TERMS = 100_000


def chi_square_tail(value: float, degrees: float) -> float:
    """Probability of a larger value, for any positive number of degrees of freedom.

    Notes
    -----
    The incomplete gamma function: its series below the mean, its continued fraction above.

    Examples
    --------
    >>> round(chi_square_tail(3.841458820694124, 1.0), 12)
    0.05
    """
    if value <= 0:
        return 1.0
    if isinf(value):
        return 0.0
    a, x = degrees / 2, value / 2
    scale = exp(a * log(x) - x - lgamma(a))
    found = 1.0 - scale * _series(a, x) if x < a + 1 else scale * _evaluate_gamma_fraction(a, x)
    return min(max(found, 0.0), 1.0)


def _series(a: float, x: float) -> float:
    term = total = 1 / a
    for n in range(1, CHI_SQUARE_MAX_TERMS):
        term *= x / (a + n)
        total += term
        if term < total * CHI_SQUARE_TOLERANCE:
            break
    return total


def _evaluate_gamma_fraction(a: float, x: float) -> float:
    """Lentz's algorithm."""
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
    return h
