"""Problems for models without derivatives, and others whose answer is short algebra."""

import math
from functools import partial

import numpy as np
from numpy.polynomial import Polynomial

from problems.truth import (
    UNIFORM_STD,
    FloatArray,
    Limits,
    Problem,
    Truth,
    polynomial_truth,
    split_columns,
)

SECOND_STD = 0.5
SECOND_LIMITS = (-1.0, 1.0)


def _draw_pair(rng: np.random.Generator, n_rows: int, *, limits: Limits) -> FloatArray:
    """Draw x1 uniform on the limits and, independently, x2 normal around 0."""
    return np.column_stack([rng.uniform(*limits, n_rows), rng.normal(0, SECOND_STD, n_rows)])


def sine_product() -> Problem:
    """Pose a wave with a mild interaction.

    Returns
    -------
    Problem
        f = sin(2 pi x1) + x1 x2, with x1 uniform on (0, 1) and x2 independent, normal with mean 0
        and standard deviation 1/2.

    Notes
    -----
    x1: d = 2 pi cos(2 pi x1) + x2, so mu = 2 pi cos(2 pi z), sigma = 1/2, curve sin(2 pi z).
    x2: d = x1, so mu = 1/2, sigma = 1/sqrt(12), curve (z + 1) / 2.

    Examples
    --------
    >>> sine_product().truths["x1"].curve(np.array([0.25, 0.75]))
    array([ 1., -1.])
    """
    limits = (0.0, 1.0)
    truths = {
        "x1": Truth(_wave_slope, Polynomial([SECOND_STD]), _wave, limits),
        "x2": polynomial_truth([0.5], UNIFORM_STD, SECOND_LIMITS),
    }
    draw = partial(_draw_pair, limits=limits)
    return Problem("sine_product", _predict_sine_product, _differentiate_sine_product, draw, truths)


def _wave(z: FloatArray) -> FloatArray:
    return np.sin(2 * np.pi * z)


def _wave_slope(z: FloatArray) -> FloatArray:
    return 2 * np.pi * np.cos(2 * np.pi * z)


def _predict_sine_product(rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return _wave(x1) + x1 * x2


def _differentiate_sine_product(rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return np.column_stack([_wave_slope(x1) + x2, x1])


def square() -> Problem:
    """Pose a parabola without interaction: any spread that is found is false.

    Returns
    -------
    Problem
        f = x1^2 + x2, with x1 uniform on (-3/2, 3/2), so that slopes span 6, and x2 independent,
        normal with mean 0 and standard deviation 1/2.

    Notes
    -----
    x1: d = 2 x1, so mu = 2 z, sigma = 0, curve z^2 - 9/4. x2: d = 1, curve z + 1.

    Examples
    --------
    >>> square().truths["x1"].curve(np.array([-1.5, 0.0]))
    array([ 0.  , -2.25])
    """
    limits = (-1.5, 1.5)
    truths = {
        "x1": polynomial_truth([0.0, 2.0], 0.0, limits),
        "x2": polynomial_truth([1.0], 0.0, SECOND_LIMITS),
    }
    draw = partial(_draw_pair, limits=limits)
    return Problem("square", _predict_square, _differentiate_square, draw, truths)


def _predict_square(rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return x1**2 + x2


def _differentiate_square(rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return np.column_stack([2 * x1, np.ones_like(x2)])


def product() -> Problem:
    """Pose nothing but interaction.

    Returns
    -------
    Problem
        f = 3 x1 x2, with x1 uniform on (0, 1) and x2 independent, normal with mean 0 and standard
        deviation 1/2.

    Notes
    -----
    x1: d = 3 x2, so mu = 0, sigma = 3/2, curve 0.
    x2: d = 3 x1, so mu = 3/2, sigma = 3/sqrt(12), curve 3 (z + 1) / 2.

    Examples
    --------
    >>> product().truths["x1"].std(np.array([0.3]))
    array([1.5])
    """
    limits = (0.0, 1.0)
    truths = {
        "x1": polynomial_truth([0.0], 3 * SECOND_STD, limits),
        "x2": polynomial_truth([1.5], 3 * UNIFORM_STD, SECOND_LIMITS),
    }
    draw = partial(_draw_pair, limits=limits)
    return Problem("product", _predict_product, _differentiate_product, draw, truths)


def _predict_product(rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return 3 * x1 * x2


def _differentiate_product(rows: FloatArray) -> FloatArray:
    return 3 * rows[:, ::-1]


def threshold() -> Problem:
    """Pose an interaction that switches on at a point, which derivatives cannot see.

    Returns
    -------
    Problem
        f = x1 + 2 x2 1{x1 > 1/2}, with x1 uniform on (0, 1) and x2 independent, normal with mean
        0 and standard deviation 1/2.

    Notes
    -----
    x1: d = 1 except at 1/2, so mu = 1, sigma = 0. The jump 2 x2 has mean 0, so the accumulated
    curve is z for derivatives and for secants alike. Its spread is another matter: the change of
    f over any interval around 1/2 has standard deviation 1, which a secant of width h reports as
    1 / h and a derivative as 0. x2: d = 2 1{x1 > 1/2} is 0 or 2 with equal probability, so
    mu = 1, sigma = 1, curve z + 1.

    Examples
    --------
    >>> problem = threshold()
    >>> rows = problem.draw(10_000, seed=0)
    >>> left, right = (np.column_stack([0 * rows[:, 0] + x, rows[:, 1]]) for x in (0.4, 0.6))
    >>> float((problem.predict(right) - problem.predict(left)).std().round(1))
    1.0
    """
    limits = (0.0, 1.0)
    truths = {
        "x1": polynomial_truth([1.0], 0.0, limits),
        "x2": polynomial_truth([1.0], 1.0, SECOND_LIMITS),
    }
    draw = partial(_draw_pair, limits=limits)
    return Problem("threshold", _predict_threshold, _differentiate_threshold, draw, truths)


def _predict_threshold(rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return x1 + 2 * x2 * (x1 > 0.5)


def _differentiate_threshold(rows: FloatArray) -> FloatArray:
    x1 = rows[:, 0]
    return np.column_stack([np.ones_like(x1), 2.0 * (x1 > 0.5)])


# --- Problems for laws ---------------------------------------------------------------------------


def additive() -> Problem:
    """Pose a smooth sum of functions of one feature each: no spread, however correlated.

    Returns
    -------
    Problem
        f = sin(2 pi x1) + exp(x2) + x3^2, with x1 uniform on (0, 1), x2 normal with mean x1 and
        standard deviation 0.1, x3 standard normal.

    Notes
    -----
    Each derivative depends on its own feature only, so mu is that derivative and sigma = 0. The
    curves are sin(2 pi z), exp(z) - 1 (from 0) and z^2 - 4 (from -2).

    Examples
    --------
    >>> additive().truths["x3"].mean(np.array([-1.0, 2.0]))
    array([-2.,  4.])
    """
    none = Polynomial([0.0])
    truths = {
        "x1": Truth(_wave_slope, none, _wave, (0.0, 1.0)),
        "x2": Truth(np.exp, none, np.expm1, (0.0, 1.0)),
        "x3": polynomial_truth([0.0, 2.0], 0.0, (-2.0, 2.0)),
    }
    return Problem("additive", _predict_additive, _differentiate_additive, _draw_additive, truths)


def _predict_additive(rows: FloatArray) -> FloatArray:
    x1, x2, x3 = split_columns(rows)
    return _wave(x1) + np.exp(x2) + x3**2


def _differentiate_additive(rows: FloatArray) -> FloatArray:
    x1, x2, x3 = split_columns(rows)
    return np.column_stack([_wave_slope(x1), np.exp(x2), 2 * x3])


def _draw_additive(rng: np.random.Generator, n_rows: int) -> FloatArray:
    x1 = rng.uniform(0, 1, n_rows)
    return np.column_stack([x1, rng.normal(x1, 0.1), rng.normal(0, 1, n_rows)])


def lognormal() -> Problem:
    """Pose a skewed feature whose effect is steepest where the rows are.

    Returns
    -------
    Problem
        f = log x1, where log x1 is standard normal.

    Notes
    -----
    d = 1 / x1, so mu = 1 / z, sigma = 0 and, from the lower limit exp(-2), the curve is
    log z + 2.

    Examples
    --------
    >>> lognormal().truths["x1"].curve(np.exp([-2.0, 0.0]))
    array([0., 2.])
    """
    limits = (math.exp(-2), math.exp(2))
    truths = {"x1": Truth(np.reciprocal, Polynomial([0.0]), _log_curve, limits)}
    return Problem("lognormal", _predict_lognormal, np.reciprocal, _draw_lognormal, truths)


def _log_curve(z: FloatArray) -> FloatArray:
    return np.log(z) + 2


def _predict_lognormal(rows: FloatArray) -> FloatArray:
    return np.log(rows[:, 0])


def _draw_lognormal(rng: np.random.Generator, n_rows: int) -> FloatArray:
    return rng.lognormal(0, 1, size=(n_rows, 1))


def correlated(rho: float = 0.5) -> Problem:
    """Pose the product of two correlated normal features.

    Parameters
    ----------
    rho : float
        Correlation of x1 and x2, from -1 to 1.

    Returns
    -------
    Problem
        f = x1 x2, with x1 and x2 standard normal.

    Notes
    -----
    For either feature d is the other one, which given z is normal with mean rho z and variance
    1 - rho^2: mu = rho z, sigma = sqrt(1 - rho^2) and, from the lower limit -2, the curve is
    rho (z^2 - 4) / 2. Partial dependence is 0 everywhere.

    Examples
    --------
    >>> correlated(0.6).truths["x1"].std(np.array([1.0]))
    array([0.8])
    """
    truth = polynomial_truth([0.0, rho], math.sqrt(1 - rho**2), (-2.0, 2.0))
    return Problem(
        "correlated",
        _predict_correlated,
        _differentiate_correlated,
        partial(_draw_correlated, rho=rho),
        {"x1": truth, "x2": truth},
    )


def _predict_correlated(rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return x1 * x2


def _differentiate_correlated(rows: FloatArray) -> FloatArray:
    return rows[:, ::-1].copy()


def _draw_correlated(rng: np.random.Generator, n_rows: int, *, rho: float) -> FloatArray:
    x1, noise = rng.normal(0, 1, size=(2, n_rows))
    return np.column_stack([x1, rho * x1 + math.sqrt(1 - rho**2) * noise])
