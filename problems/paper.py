"""Problems of the paper: its introduction, running example, cases and studies."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.polynomial import Polynomial

from problems.truth import (
    UNIFORM_STD,
    BrokenLine,
    FloatArray,
    Problem,
    Truth,
    normal_cumulative,
    normal_density,
    polynomial_truth,
    split_columns,
)

Weights = tuple[float, float]

RUNNING_NOISE = 0.01


def _with_ends(values: FloatArray, first: float, last: float) -> FloatArray:
    """Put the two end points that the authors force around their uniform draws."""
    return np.concatenate([[first], values, [last]])


def _legacy_state(seed: int) -> np.random.RandomState:
    """Make the old generator, whose stream the published figures come from."""
    return np.random.RandomState(seed)


# --- Introduction --------------------------------------------------------------------------------


def intro() -> Problem:
    """Pose two opposite slopes that cancel on average: figures 1 and 2.

    Returns
    -------
    Problem
        f = 0.2 x1 - 5 x2 + 10 x2 1{x3 > 0}, with x1, x2, x3 independent and uniform on (-1, 1).

    Notes
    -----
    x1: d = 0.2, so mu = 0.2, sigma = 0, curve 0.2 (z + 1). x2: d is -5 or 5, each with
    probability 1/2 and independent of x2, so mu = 0, sigma = 5, curve 0. x3: f is flat on both
    sides of 0, so d = 0: derivatives do not see the jump, and the jump 10 x2 has mean 0.

    Examples
    --------
    >>> intro().truths["x2"].std(np.array([-0.5, 0.5]))
    array([5., 5.])
    """
    limits = (-1.0, 1.0)
    truths = {
        "x1": polynomial_truth([0.2], 0.0, limits),
        "x2": polynomial_truth([0.0], 5.0, limits),
        "x3": polynomial_truth([0.0], 0.0, limits),
    }
    return Problem(
        "intro", _predict_intro, _differentiate_intro, _draw_intro, truths, _sample_intro
    )


def _predict_intro(rows: FloatArray) -> FloatArray:
    x1, x2, x3 = split_columns(rows)
    return 0.2 * x1 - 5 * x2 + 10 * x2 * (x3 > 0)


def _differentiate_intro(rows: FloatArray) -> FloatArray:
    x1, _, x3 = split_columns(rows)
    return np.column_stack([np.full_like(x1, 0.2), np.where(x3 > 0, 5.0, -5.0), 0 * x3])


def _draw_intro(rng: np.random.Generator, n_rows: int) -> FloatArray:
    return rng.uniform(-1, 1, size=(n_rows, 3))


def _sample_intro() -> FloatArray:
    """Draw the 100 rows of the figure: seed 21, each column with its ends -1 and 1."""
    state = _legacy_state(21)
    return np.column_stack([_with_ends(state.uniform(-1, 1, 98), -1, 1) for _ in range(3)])


# --- Running example -----------------------------------------------------------------------------


def running() -> Problem:
    """Pose few rows on one side and a nearly deterministic interaction: figures 3 and 4.

    Returns
    -------
    Problem
        f = sin(2 pi x1) (1{x1 < 0} - 2 1{x3 < 0}) + x1 x2 + x2. x1 is uniform on (-1/2, 0) with
        probability 5/6, else on (0, 1/2); x2 is normal with mean 0 and standard deviation 2;
        x3 = x1 + s e with e standard normal and s = 0.01.

    Notes
    -----
    x1: d = w cos(w x1) (1{x1 < 0} - 2 1{x3 < 0}) + x2 with w = 2 pi. Given x1 = z the second
    indicator is 1 with probability p(z) = Phi(-z / s), independently of x2. Hence
    mu = w cos(w z) (1{z < 0} - 2 p) and sigma^2 = 4 + 4 (w cos(w z))^2 p (1 - p).
    Integrating by parts, with n the density of s e, the curve is
    sin(w min(z, 0)) - 2 (sin(w z) p(z) + integral of sin(w t) n(t) up to z),
    which tends to -sin(w z) 1{z < 0} as s shrinks.

    x2: d = 1 + x1 is independent of x2; E[x1] = (1/6 - 5/6) / 4 = -1/6 and E[x1^2] = 1/12 give
    mu = 5/6 and sigma^2 = 1/12 - 1/36 = 1/18. x3: d = 0.

    At x1 = 0 and x3 = 0 the gradient takes the left side, as the published figure does.

    Examples
    --------
    >>> running().truths["x1"].curve(np.array([-0.25, 0.25])).round(6) + 0.0
    array([1., 0.])
    """
    truths = {
        "x1": Truth(_running_mean, _running_std, _running_curve, (-0.5, 0.5)),
        "x2": polynomial_truth([5 / 6], 1 / math.sqrt(18), (-5.0, 5.0)),
        "x3": polynomial_truth([0.0], 0.0, (-0.5, 0.5)),
    }
    return Problem(
        "running", _predict_running, _differentiate_running, _draw_running, truths, _sample_running
    )


def _predict_running(rows: FloatArray) -> FloatArray:
    x1, x2, x3 = split_columns(rows)
    return np.sin(2 * np.pi * x1) * (1.0 * (x1 < 0) - 2 * (x3 < 0)) + x1 * x2 + x2


def _differentiate_running(rows: FloatArray) -> FloatArray:
    x1, x2, x3 = split_columns(rows)
    wave = 2 * np.pi * np.cos(2 * np.pi * x1)
    return np.column_stack([wave * (1.0 * (x1 <= 0) - 2 * (x3 <= 0)) + x2, 1 + x1, 0 * x3])


def _running_mean(z: FloatArray) -> FloatArray:
    wave = 2 * np.pi * np.cos(2 * np.pi * z)
    return wave * ((z <= 0) - 2 * normal_cumulative(-z / RUNNING_NOISE))


def _running_std(z: FloatArray) -> FloatArray:
    below = normal_cumulative(-z / RUNNING_NOISE)
    wave = 2 * np.pi * np.cos(2 * np.pi * z)
    return np.sqrt(4 + 4 * wave**2 * below * (1 - below))


def _running_curve(z: FloatArray) -> FloatArray:
    first = np.sin(2 * np.pi * np.minimum(z, 0.0))
    second = np.sin(2 * np.pi * z) * normal_cumulative(-z / RUNNING_NOISE)
    return first - 2 * (second + _sine_integral(z / RUNNING_NOISE, 2 * np.pi * RUNNING_NOISE))


def _sine_integral(upper: FloatArray, frequency: float) -> FloatArray:
    """Integrate sin(frequency u) times the normal density from minus infinity to `upper`.

    The power series of the sine, term by term: the odd moment of order 2k + 1 up to u is
    2k times the one before minus u^(2k) times the density. Eight terms suffice below frequency 1.
    """
    moment, coefficient = -normal_density(upper), frequency
    total = coefficient * moment
    for k in range(1, 8):
        moment = 2 * k * moment - upper ** (2 * k) * normal_density(upper)
        coefficient *= -(frequency**2) / (2 * k * (2 * k + 1))
        total += coefficient * moment
    return total


def _draw_running(rng: np.random.Generator, n_rows: int) -> FloatArray:
    distance = rng.uniform(0, 0.5, n_rows)
    x1 = np.where(rng.random(n_rows) < 5 / 6, -distance, distance)
    x2 = rng.normal(0, 2, n_rows)
    return np.column_stack([x1, x2, x1 + rng.normal(0, RUNNING_NOISE, n_rows)])


def _sample_running() -> FloatArray:
    """Draw the 60 rows of the figure: seed 21, 50 rows below 0, 10 from 0 on, ends forced."""
    state = _legacy_state(21)
    below = _with_ends(state.uniform(-0.5, 0, 48), -0.5, -1e-5)
    x1 = np.concatenate([below, _with_ends(state.uniform(0, 0.5, 8), 0, 0.5)])
    x2 = state.normal(0, 2, 60)
    return np.column_stack([x1, x2, x1 + state.normal(0, RUNNING_NOISE, 60)])


# --- Section 4.1: three cases --------------------------------------------------------------------


def case_a(*, continuous: bool = False) -> Problem:
    """Pose two equal, fully dependent features without interaction (Section 4.1).

    Parameters
    ----------
    continuous : bool
        False: g falls as 1/2 - t, as in the authors' program; True: as 1 - t, as printed.

    Returns
    -------
    Problem
        f = g(x1 + x2), where g(t) is t up to 1/2, 1/2 - t (or 1 - t) on (1/2, 1) and 0 from 1 on.
        x1 is uniform on (0, 1), x2 = x1 exactly, x3 is normal with standard deviation 1/2.

    Notes
    -----
    Rows have x1 + x2 = 2 z, so g' is 1 below z = 1/4, -1 up to 1/2 and 0 beyond, whichever way
    g is written. mu for x1 and x2 is that step, sigma = 0, and the curve is z up to 1/4,
    1/2 - z up to 1/2, then 0. The jumps of the program's g lie in f alone: they change partial
    dependence, not derivatives. x3: d = 0.

    Examples
    --------
    >>> case_a().truths["x1"].curve(np.array([0.25, 0.5, 1.0]))
    array([0.25, 0.  , 0.  ])
    """
    return _case("case_a", weights=(1.0, 1.0), interaction=0.0, continuous=continuous, seed=21)


def case_b(*, continuous: bool = False) -> Problem:
    """Pose two fully dependent features of unequal weight, without interaction (Section 4.1).

    Parameters
    ----------
    continuous : bool
        As in `case_a`.

    Returns
    -------
    Problem
        f = g(2 x1 + x2 / 2), with g and the distribution of `case_a`.

    Notes
    -----
    Rows have 2 x1 + x2 / 2 = 5 z / 2, so g' is 1 below z = 1/5, -1 up to 2/5 and 0 beyond. The
    chain rule multiplies it by 2 for x1 and by 1/2 for x2; sigma = 0. The curve of x1 is 2 z,
    then 0.8 - 2 z, then 0, and that of x2 a quarter of it. x3: d = 0.

    Examples
    --------
    >>> case_b().truths["x2"].mean(np.array([0.1, 0.3, 0.7]))
    array([ 0.5, -0.5,  0. ])
    """
    return _case("case_b", weights=(2.0, 0.5), interaction=0.0, continuous=continuous, seed=21)


def case_c(*, continuous: bool = False) -> Problem:
    """Pose case a with an interaction of two independent features (Section 4.1).

    Parameters
    ----------
    continuous : bool
        As in `case_a`.

    Returns
    -------
    Problem
        f = g(x1 + x2) + x1 x3, with g and the distribution of `case_a`.

    Notes
    -----
    x1: the step of case a plus x3, which is independent with mean 0 and standard deviation 1/2:
    mu and curve as in case a, sigma = 1/2. x2: as in case a, sigma = 0. x3: d = x1, uniform on
    (0, 1) and independent of x3: mu = 1/2, sigma = 1/sqrt(12), curve (z + 2) / 2.

    Examples
    --------
    >>> case_c().truths["x3"].std(np.array([0.0])).round(4)
    array([0.2887])
    """
    return _case("case_c", weights=(1.0, 1.0), interaction=1.0, continuous=continuous, seed=23)


def _case(
    name: str, *, weights: Weights, interaction: float, continuous: bool, seed: int
) -> Problem:
    turn = 0.5 / sum(weights)
    spread = 0.5 * interaction
    return Problem(
        name,
        partial(
            _predict_case,
            weights=weights,
            interaction=interaction,
            top=1.0 if continuous else 0.5,
        ),
        partial(_differentiate_case, weights=weights, interaction=interaction),
        _draw_case,
        {
            "x1": _tent_truth(weights[0], turn, spread),
            "x2": _tent_truth(weights[1], turn, 0.0),
            "x3": polynomial_truth([0.5 * interaction], interaction * UNIFORM_STD, (-2.0, 2.0)),
        },
        partial(_sample_case, seed),
    )


def _tent_truth(slope: float, turn: float, std: float) -> Truth:
    """Truth of an effect that rises up to `turn`, falls as fast back to zero, and stays there."""
    tent = BrokenLine(kinks=(turn, 2 * turn), slopes=(slope, -slope, 0.0))
    return Truth(tent.slope, Polynomial([std]), tent.height, (0.0, 1.0))


def _predict_case(
    rows: FloatArray, *, weights: Weights, interaction: float, top: float
) -> FloatArray:
    x1, x2, x3 = split_columns(rows)
    total = weights[0] * x1 + weights[1] * x2
    falling = np.where(total < 1, top - total, 0.0)
    return interaction * x1 * x3 + np.where(total <= 0.5, total, falling)


def _differentiate_case(rows: FloatArray, *, weights: Weights, interaction: float) -> FloatArray:
    x1, x2, x3 = split_columns(rows)
    total = weights[0] * x1 + weights[1] * x2
    slope = np.where(total <= 0.5, 1.0, np.where(total < 1, -1.0, 0.0))
    return np.column_stack(
        [weights[0] * slope + interaction * x3, weights[1] * slope, interaction * x1]
    )


def _draw_case(rng: np.random.Generator, n_rows: int) -> FloatArray:
    x1 = rng.uniform(0, 1, n_rows)
    return np.column_stack([x1, x1, rng.normal(0, 0.5, n_rows)])


def _sample_case(seed: int) -> FloatArray:
    """Draw the 502 rows of the figures: x1 has its ends 0 and 1, x2 equals x1."""
    state = _legacy_state(seed)
    x1 = _with_ends(state.uniform(0, 1, 500), 0, 1)
    x2 = state.normal(x1, 0.0)  # No noise, but the stream moves on by 502 draws.
    return np.column_stack([x1, x2, state.normal(0, 0.5, 502)])


# --- Section 4.2: two studies of bins ------------------------------------------------------------

STUDY_KINKS = (0.2, 0.4, 0.45, 0.5)
STUDY_SLOPES = (2.0, -2.0, 5.0, -10.0, 0.5)


def study_1(std: float = 0.5, kinks: tuple[float, float, float, float] = STUDY_KINKS) -> Problem:
    """Pose five stretches of constant slope, correlated features (Section 4.2).

    Parameters
    ----------
    std : float
        Standard deviation of x2 around x1, positive. The published figures have 0.5.
    kinks : tuple of four floats
        Where the slope changes, increasing in (0, 1). The published ones lie on a grid of 1/20.

    Returns
    -------
    Problem
        f = h(x1) + x1 x2, where h is continuous with h(0) = 0 and slopes 2, -2, 5, -10, 1/2. x1 is
        uniform on (0, 1), x2 normal with mean x1 and standard deviation `std`.

    Notes
    -----
    x1: d = h'(x1) + x2 and x2 = x1 + std e, so mu = h'(z) + z, sigma = `std` and the curve is
    h(z) + z^2 / 2.

    x2: d = x1. Given x2 = z, x1 is normal around z, cut to (0, 1). With a = -z / std,
    b = (1 - z) / std, n the normal density and Z = Phi(b) - Phi(a),
    mu = z + std (n(a) - n(b)) / Z and
    sigma^2 = std^2 (1 + (a n(a) - b n(b)) / Z - ((n(a) - n(b)) / Z)^2).
    Because Z' = (n(a) - n(b)) / std, the curve is z^2 / 2 + std^2 log Z, less its value at the
    lower limit.

    Examples
    --------
    >>> study_1().truths["x1"].mean(np.array([0.1, 0.3, 0.75]))
    array([ 2.1 , -1.7 ,  1.25])
    """
    line = BrokenLine(kinks, STUDY_SLOPES)
    mean, curve = partial(_study_1_mean, line), partial(_study_1_curve, line)
    return Problem(
        "study_1",
        partial(_predict_study_1, line),
        partial(_differentiate_study_1, line),
        partial(_draw_study, std=std),
        {
            "x1": Truth(mean, Polynomial([std]), curve, (0.0, 1.0)),
            "x2": _second_feature_truth(std, slope=0.0),
        },
        partial(_sample_study, std),
    )


def study_2(std: float = 0.4) -> Problem:
    """Pose a parabola with correlated features (Section 4.2).

    Parameters
    ----------
    std : float
        Standard deviation of x2 around x1, positive. The published figures have 0.4.

    Returns
    -------
    Problem
        f = 4 x1^2 + x2^2 + x1 x2, with the distribution of `study_1`.

    Notes
    -----
    x1: d = 8 x1 + x2 and x2 = x1 + std e, so mu = 9 z, sigma = `std`, curve 4.5 z^2.
    x2: d = 2 x2 + x1, so mu is 2 z more than in `study_1`, sigma is the same, and the curve is
    z^2 more (less its value at the lower limit).

    Examples
    --------
    >>> study_2().truths["x1"].curve(np.array([0.0, 0.5, 1.0]))
    array([0.   , 1.125, 4.5  ])
    """
    return Problem(
        "study_2",
        _predict_study_2,
        _differentiate_study_2,
        partial(_draw_study, std=std),
        {
            "x1": polynomial_truth([0.0, 9.0], std, (0.0, 1.0)),
            "x2": _second_feature_truth(std, slope=2.0),
        },
        partial(_sample_study, std),
    )


def study_samples(std: float) -> Iterator[FloatArray]:
    """Yield, without end, the samples that the published studies use, in their order.

    Parameters
    ----------
    std : float
        Standard deviation of x2 around x1: 0.5 in study 1, 0.4 in study 2.

    Yields
    ------
    ndarray of shape (502, 2)
        First the sample that is plotted, then ten for each fixed number of bins, then ten for
        the automatic bins.

    Notes
    -----
    The stream (seed 23) begins with the million rows of the authors' simulated truth. They are
    drawn and dropped here: `Truth` is exact.

    Examples
    --------
    >>> next(study_samples(0.5)).shape
    (502, 2)
    """
    state = _legacy_state(23)
    _draw_study_with_ends(state, 1_000_000, std)
    while True:
        yield _draw_study_with_ends(state, 500, std)


def _draw_study_with_ends(state: np.random.RandomState, n_inner: int, std: float) -> FloatArray:
    x1 = _with_ends(state.uniform(0, 1, n_inner), 0, 1)
    return np.column_stack([x1, state.normal(x1, std)])


def _sample_study(std: float) -> FloatArray:
    return next(study_samples(std))


def _draw_study(rng: np.random.Generator, n_rows: int, *, std: float) -> FloatArray:
    x1 = rng.uniform(0, 1, n_rows)
    return np.column_stack([x1, rng.normal(x1, std)])


def _predict_study_1(line: BrokenLine, rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return line.height(x1) + x1 * x2


def _differentiate_study_1(line: BrokenLine, rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return np.column_stack([line.slope(x1) + x2, x1])


def _study_1_mean(line: BrokenLine, z: FloatArray) -> FloatArray:
    return line.slope(z) + z


def _study_1_curve(line: BrokenLine, z: FloatArray) -> FloatArray:
    return line.height(z) + 0.5 * z**2


def _predict_study_2(rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return 4 * x1**2 + x2**2 + x1 * x2


def _differentiate_study_2(rows: FloatArray) -> FloatArray:
    x1, x2 = split_columns(rows)
    return np.column_stack([8 * x1 + x2, 2 * x2 + x1])


def _second_feature_truth(std: float, *, slope: float) -> Truth:
    """Truth of x2 in a study whose derivative along x2 is slope x2 + x1."""
    limits = (-2 * std, 1 + 2 * std)
    return Truth(
        partial(_second_feature_mean, std=std, slope=slope),
        partial(_second_feature_std, std=std),
        partial(_second_feature_curve, std=std, slope=slope, start=limits[0]),
        limits,
    )


def _cut_normal(z: FloatArray, std: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give the two scaled ends of (0, 1) seen from z, and the normal mass between them."""
    lower, upper = -z / std, (1 - z) / std
    return lower, upper, normal_cumulative(upper) - normal_cumulative(lower)


def _second_feature_mean(z: FloatArray, *, std: float, slope: float) -> FloatArray:
    lower, upper, mass = _cut_normal(z, std)
    return (slope + 1) * z + std * (normal_density(lower) - normal_density(upper)) / mass


def _second_feature_std(z: FloatArray, *, std: float) -> FloatArray:
    lower, upper, mass = _cut_normal(z, std)
    shift = (normal_density(lower) - normal_density(upper)) / mass
    stretch = (lower * normal_density(lower) - upper * normal_density(upper)) / mass
    return std * np.sqrt(1 + stretch - shift**2)


def _second_feature_curve(z: FloatArray, *, std: float, slope: float, start: float) -> FloatArray:
    ends = np.array([start])
    mass, first_mass = _cut_normal(z, std)[2], _cut_normal(ends, std)[2]
    return 0.5 * (slope + 1) * (z**2 - start**2) + std**2 * np.log(mass / first_mass)
