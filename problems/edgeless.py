"""Problems in which no rule has an edge: gradual changes, sums, waves too fine, many partners."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from problems.known_regions import (
    LINE,
    LOGARITHM,
    SIZE,
    SQUARE,
    Part,
    RegionalProblem,
    draw_even,
    draw_normal,
    ones,
    power,
    sign_of_x2,
)
from problems.truth import FloatArray


def gradual_product() -> RegionalProblem:
    """Pose a slope that is another feature: f = x0 x1 + x2, five even features.

    One rule on x1 explains 3/4 of the spread, and there is no edge anywhere.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0.5, 0, 0, 0], [0., -0.5, 0, 0, 0]])
    >>> gradual_product().gradient(rows)[:, 0]
    array([ 0.5, -0.5])
    """
    return RegionalProblem(
        "gradual_product",
        partial(draw_even, n_features=5),
        {2: LINE},
        target=0,
        gate=_second,
        gate_slopes={1: ones},
        splitters=(1,),
        n_regions=2,
        alike=(2, 3, 4),
        is_gradual=True,
    )


def _second(rows: FloatArray) -> FloatArray:
    return rows[:, 1].copy()


def soft_gate() -> RegionalProblem:
    """Pose a gate without an edge: f = 2 x0 s(4 x1) + x2 with the logistic function s.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, 0, 0, 0], [0., 9, 0, 0, 0]])
    >>> soft_gate().gradient(rows)[:, 0]
    array([1., 2.])
    """
    return RegionalProblem(
        "soft_gate",
        partial(draw_even, n_features=5),
        {2: LINE},
        target=0,
        own=power(1, 2.0),
        gate=_logistic,
        gate_slopes={1: _logistic_slope},
        splitters=(1,),
        n_regions=2,
        alike=(2, 3, 4),
        is_gradual=True,
    )


def _logistic(rows: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-4 * rows[:, 1]))


def _logistic_slope(rows: FloatArray) -> FloatArray:
    share = _logistic(rows)
    return 4 * share * (1 - share)


def additive_curves() -> RegionalProblem:
    """Pose curves that add up, of features correlated by 0.9: nobody differs.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> additive_curves().target is None, additive_curves().splitters
    (True, ())
    """
    parts = {
        0: power(3, 1 / 3),
        1: _wave_of(2.0),
        2: Part(_half_exponential, _half_exponential_slope),
        3: SQUARE,
        4: LINE,
    }
    draw = partial(draw_normal, n_features=5, rho=0.9)
    return RegionalProblem("additive_curves", draw, parts, alike=(0, 1, 2, 3, 4))


def additive_tails() -> RegionalProblem:
    """Pose curves that add up, of log-normal features whose logarithms are correlated by 0.8.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> additive_tails().gradient(np.ones((1, 5)))[0, :3]  # log x0, the root of x1, 0.2 x2
    array([1. , 0.5, 0.2])
    """
    parts = {0: LOGARITHM, 1: Part(np.sqrt, _root_slope), 2: power(1, 0.2), 4: Part(np.sin, np.cos)}
    return RegionalProblem("additive_tails", _draw_skewed, parts, alike=(0, 1, 2, 3, 4))


def additive_steps() -> RegionalProblem:
    """Pose a kink, a step, a wave, a line and a cube that add up, of features correlated by 0.5.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> additive_steps().gradient(-np.ones((1, 7)))[0, :2]  # a kink and a step
    array([-1.,  0.])
    """
    parts = {0: SIZE, 1: Part(_step, np.zeros_like), 2: _wave_of(3.0), 3: LINE, 4: power(3, 0.3)}
    draw = partial(draw_normal, n_features=7, rho=0.5)
    return RegionalProblem("additive_steps", draw, parts, alike=tuple(range(7)))


def ripple() -> RegionalProblem:
    """Pose rows that differ by a wave too fine for any rule.

    f = x0 sin(40 x1 + 37 x2) + x3; ten even features.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> ripple().target, ripple().splitters
    (0, ())
    """
    return RegionalProblem(
        "ripple",
        partial(draw_even, n_features=10),
        {3: LINE},
        target=0,
        gate=partial(_fine_wave, first=1, second=2),
        gate_slopes={
            1: partial(_fine_wave_slope, first=1, second=2, rate=40.0),
            2: partial(_fine_wave_slope, first=1, second=2, rate=37.0),
        },
        alike=tuple(range(3, 10)),
    )


def _fine_wave(rows: FloatArray, *, first: int, second: int) -> FloatArray:
    return np.sin(40 * rows[:, first] + 37 * rows[:, second])


def _fine_wave_slope(rows: FloatArray, *, first: int, second: int, rate: float) -> FloatArray:
    return rate * np.cos(40 * rows[:, first] + 37 * rows[:, second])


def ten_partners() -> RegionalProblem:
    """Pose an effect that ten features change a little each: a list of partners, and no tree.

    f = x0 (1 + (x1 + ... + x10) / sqrt(10)); one rule explains 7.5 % of the spread at most.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> len(ten_partners().partners), ten_partners().gradient(np.zeros((1, 12)))[:, 0]
    (10, array([1.]))
    """
    others = tuple(range(1, 11))
    return RegionalProblem(
        "ten_partners",
        partial(draw_even, n_features=12),
        {0: LINE},
        target=0,
        gate=_tenth_of_each,
        gate_slopes=dict.fromkeys(others, _tenth),
        alike=(11,),
        partners=others,
    )


def _tenth_of_each(rows: FloatArray) -> FloatArray:
    return np.asarray(rows[:, 1:11].sum(axis=1) / math.sqrt(10))


def _tenth(rows: FloatArray) -> FloatArray:
    return np.full(len(rows), 1 / math.sqrt(10))


def rippled_gate(share: float = 0.3) -> RegionalProblem:
    """Pose a gate that explains a given share of the spread; a wave too fine for rules the rest.

    Parameters
    ----------
    share : float
        What the rule on x2 explains, between 0 and 1.

    Returns
    -------
    RegionalProblem

    Notes
    -----
    f = x0 (1 + a sign(x2) + b sin(40 x3 + 37 x4)) + x1, with a² = share and b² = 2 (1 - share):
    the factor has a variance of 1, but for the wave not being whole. The wave is no step, so
    rows have no kinds here, and the gate of x2 is one place of it.

    Examples
    --------
    >>> rows = np.zeros((2, 10))
    >>> rows[:, 2] = 1.0, -1.0
    >>> rippled_gate(share=0.25).gradient(rows)[:, 0]  # 1 plus or minus the root of the share
    array([1.5, 0.5])
    """
    edge, wave = math.sqrt(share), math.sqrt(2 * (1 - share))
    return RegionalProblem(
        "rippled_gate",
        partial(draw_even, n_features=10),
        {0: LINE, 1: LINE},
        target=0,
        gate=partial(_rippled, edge=edge, wave=wave),
        gate_slopes={
            3: partial(_rippled_slope, rate=40.0, wave=wave),
            4: partial(_rippled_slope, rate=37.0, wave=wave),
        },
        splitters=(2,),
        n_regions=2,
        alike=(1, 5, 6, 7, 8, 9),
    )


def _rippled(rows: FloatArray, *, edge: float, wave: float) -> FloatArray:
    return edge * sign_of_x2(rows) + wave * _fine_wave(rows, first=3, second=4)


def _rippled_slope(rows: FloatArray, *, rate: float, wave: float) -> FloatArray:
    return wave * _fine_wave_slope(rows, first=3, second=4, rate=rate)


# --- Parts and rows ------------------------------------------------------------------------------


def _wave_of(rate: float) -> Part:
    return Part(partial(_wave, rate=rate), partial(_wave_slope, rate=rate))


def _wave(x: FloatArray, *, rate: float) -> FloatArray:
    return np.sin(rate * x)


def _wave_slope(x: FloatArray, *, rate: float) -> FloatArray:
    return rate * np.cos(rate * x)


def _half_exponential(x: FloatArray) -> FloatArray:
    return np.exp(0.5 * x)


def _half_exponential_slope(x: FloatArray) -> FloatArray:
    return 0.5 * np.exp(0.5 * x)


def _root_slope(x: FloatArray) -> FloatArray:
    return 0.5 / np.sqrt(x)


def _step(x: FloatArray) -> FloatArray:
    return np.where(x > 0.4, 1.5, 0.0)


def _draw_skewed(rng: np.random.Generator, n_rows: int) -> FloatArray:
    return np.exp(draw_normal(rng, n_rows, n_features=5, rho=0.8))
