"""Problems in which rows differ by a rule: gates with an edge, one or two of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.polynomial import Polynomial

from problems.known_regions import (
    LINE,
    LOGARITHM,
    SIZE,
    SQUARE,
    Part,
    RegionalProblem,
    draw_even,
    draw_normal,
    power,
    sign_of_x2,
)
from problems.truth import FloatArray


def opposite_slopes() -> RegionalProblem:
    """Pose the introduction of the paper: x1 falls, or rises where x2 is positive.

    f = 0.2 x0 + 5 x1 (1 where x2 > 0, else -1); features even on (-1, 1).

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, 1], [0., 0, -1]])
    >>> opposite_slopes().gradient(rows)[:, 1]
    array([ 5., -5.])
    """
    return RegionalProblem(
        "opposite_slopes",
        partial(draw_even, n_features=3),
        {0: power(1, 0.2)},
        target=1,
        own=power(1, 5.0),
        gate=sign_of_x2,
        splitters=(2,),
        factors=(-1.0, 1.0),
        n_regions=2,
        alike=(0,),
    )


def near_copy(n_features: int = 3) -> RegionalProblem:
    """Pose a tutorial of effector: x0 falls or rises by x2, and x1 is x0 but for a little noise.

    f = 3 x0 (1 where x2 > 0, else -1) + x2. Further features do nothing.

    Parameters
    ----------
    n_features : int
        How many columns there are.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, 1], [0., 0, -1]])
    >>> near_copy().gradient(rows)[:, 0]
    array([ 3., -3.])
    """
    return RegionalProblem(
        "near_copy",
        partial(_draw_near_copy, n_features=n_features),
        {2: LINE},
        target=0,
        own=power(1, 3.0),
        gate=sign_of_x2,
        splitters=(2,),
        factors=(-1.0, 1.0),
        n_regions=2,
        alike=(1, *range(3, n_features)),
        entangled=(1,),
    )


def both_gates() -> RegionalProblem:
    """Pose a slope that turns where two conditions hold: x1 > 0.33 and x2 > -0.16.

    f = x0 (2 where both hold, else -1) + x3²; five even features.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 1, 1, 0, 0], [0., 1, -1, 0, 0]])
    >>> both_gates().gradient(rows)[:, 0]
    array([ 2., -1.])
    """
    return RegionalProblem(
        "both_gates",
        partial(draw_even, n_features=5),
        {3: SQUARE},
        target=0,
        gate=_both,
        splitters=(1, 2),
        factors=(-1.0, 2.0),
        n_regions=3,
        alike=(3, 4),
    )


def _both(rows: FloatArray) -> FloatArray:
    return np.where((rows[:, 1] > 0.33) & (rows[:, 2] > -0.16), 2.0, -1.0)


def either_or(n_features: int = 5) -> RegionalProblem:
    """Pose the exclusive or of two signs, of which neither alone explains anything.

    f = 3 x0 sign(x1) sign(x2) + x3; even features, all but the first four without effect.

    Parameters
    ----------
    n_features : int
        How many columns there are.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 1, 1, 0, 0], [0., 1, -1, 0, 0]])
    >>> either_or().gradient(rows)[:, 0]
    array([ 3., -3.])
    """
    return RegionalProblem(
        "either_or",
        partial(draw_even, n_features=n_features),
        {3: LINE},
        target=0,
        own=power(1, 3.0),
        gate=_either_or,
        splitters=(1, 2),
        factors=(-1.0, 1.0),
        n_regions=4,
        alike=tuple(range(3, n_features)),
    )


def _either_or(rows: FloatArray) -> FloatArray:
    return np.where((rows[:, 1] > 0) == (rows[:, 2] > 0), 1.0, -1.0)


def copied_splitter() -> RegionalProblem:
    """Pose a gate on x2 > 0.5 beside features that are correlated with x2 by 0.95 and 0.8.

    f = x0 (3 beyond the gate, else 1) + x3 + x4²; normal features.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, 1, 0, 0, 0], [0., 0, 0, 0, 0, 0]])
    >>> copied_splitter().gradient(rows)[:, 0]
    array([3., 1.])
    """
    return RegionalProblem(
        "copied_splitter",
        _draw_copies,
        {3: LINE, 4: SQUARE},
        target=0,
        gate=_beyond_half,
        splitters=(2,),
        factors=(1.0, 3.0),
        n_regions=2,
        alike=(3, 4, 5),
        entangled=(3, 4),
    )


def _beyond_half(rows: FloatArray) -> FloatArray:
    return np.where(rows[:, 2] > 0.5, 3.0, 1.0)


def two_levels() -> RegionalProblem:
    """Pose a category of six levels, two of which differ from the others.

    f = x0 (2 where x2 is 1 or 4, else -1) + x1.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, 4, 0, 0], [0., 0, 3, 0, 0]])
    >>> two_levels().gradient(rows)[:, 0]
    array([ 2., -1.])
    """
    return RegionalProblem(
        "two_levels",
        partial(_draw_whole, columns={2: (0, 5)}),
        {1: LINE},
        target=0,
        gate=_two_of_six,
        splitters=(2,),
        factors=(-1.0, 2.0),
        n_regions=2,
        alike=(1, 3, 4),
        categorical=(2,),
    )


def _two_of_six(rows: FloatArray) -> FloatArray:
    return np.where(np.isin(rows[:, 2], (1, 4)), 2.0, -1.0)


def small_group() -> RegionalProblem:
    """Pose one row in twenty that differs: x2 > 0.9.

    f = x0 (5 in the group, else 1) + x1²; five even features.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, 0.95, 0, 0], [0., 0, 0, 0, 0]])
    >>> small_group().gradient(rows)[:, 0]
    array([5., 1.])
    """
    return RegionalProblem(
        "small_group",
        partial(draw_even, n_features=5),
        {1: SQUARE},
        target=0,
        gate=_one_in_twenty,
        splitters=(2,),
        factors=(1.0, 5.0),
        n_regions=2,
        alike=(1, 3, 4),
    )


def _one_in_twenty(rows: FloatArray) -> FloatArray:
    return np.where(rows[:, 2] > 0.9, 5.0, 1.0)


def skewed_gate() -> RegionalProblem:
    """Pose long tails: slopes like 1 / x0, and a gate far below the middle of the range of x2.

    f = log x0 (1.8 where log x2 > 0.5, else 0.2) + x1; log x0 and log x2 are normal with
    deviation 1.5.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[1., 0, 2, 0, 0], [1., 0, 1, 0, 0]])
    >>> skewed_gate().gradient(rows)[:, 0]
    array([1.8, 0.2])
    """
    return RegionalProblem(
        "skewed_gate",
        _draw_tails,
        {1: LINE},
        target=0,
        own=LOGARITHM,
        gate=_beyond_root_e,
        splitters=(2,),
        factors=(0.2, 1.8),
        n_regions=2,
        alike=(1, 3, 4),
    )


def _beyond_root_e(rows: FloatArray) -> FloatArray:
    return np.where(np.log(rows[:, 2]) > 0.5, 1.8, 0.2)


def local_gate() -> RegionalProblem:
    """Pose rows that differ in the last quarter of x0 only.

    f = x0 + x1 + max(x0 - 0.5, 0) (2 where x2 > 0, else 0); five even features.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0.75, 0, 1, 0, 0], [0.75, 0, -1, 0, 0]])
    >>> local_gate().gradient(rows)[:, 0]
    array([3., 1.])
    """
    return RegionalProblem(
        "local_gate",
        partial(draw_even, n_features=5),
        {0: LINE, 1: LINE},
        target=0,
        own=Part(_hinge, _hinge_slope),
        gate=_twice_beyond_zero,
        splitters=(2,),
        factors=(0.0, 2.0),
        n_regions=2,
        alike=(1, 3, 4),
    )


def _twice_beyond_zero(rows: FloatArray) -> FloatArray:
    return np.where(rows[:, 2] > 0, 2.0, 0.0)


def corner_gate() -> RegionalProblem:
    """Pose one row in ten that differs, by two features that are correlated with the rest.

    f = x0 (2.2 where x4 > 0.37 and x5 < -0.2, else 1) + abs(x1) + x2; normal, correlated by 0.3.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, 0, 0, 1, -1, 0, 0], [0., 0, 0, 0, 1, 0, 0, 0]])
    >>> corner_gate().gradient(rows)[:, 0]
    array([2.2, 1. ])
    """
    return RegionalProblem(
        "corner_gate",
        partial(draw_normal, n_features=8, rho=0.3),
        {1: SIZE, 2: LINE},
        target=0,
        gate=_corner,
        splitters=(4, 5),
        factors=(1.0, 2.2),
        n_regions=3,
        alike=(1, 2, 3, 6, 7),
    )


def _corner(rows: FloatArray) -> FloatArray:
    return np.where((rows[:, 4] > 0.37) & (rows[:, 5] < -0.2), 2.2, 1.0)


def level_gate() -> RegionalProblem:
    """Pose a category whose steps turn round: levels are explained, and a number splits.

    f = (1.5 x0 - 0.3 x0²) (1 where x2 > 0.25, else -1) + x1, with levels x0 = 0, ..., 4.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[1.0, 0, 1, 0, 0], [1.0, 0, 0, 0, 0]])
    >>> level_gate().predict(rows)
    array([ 1.2, -1.2])
    """
    arch = Polynomial([0.0, 1.5, -0.3])
    return RegionalProblem(
        "level_gate",
        partial(_draw_whole, columns={0: (0, 4)}),
        {1: LINE},
        target=0,
        own=Part(arch, arch.deriv()),
        gate=_sign_beyond_quarter,
        splitters=(2,),
        factors=(-1.0, 1.0),
        n_regions=2,
        alike=(1, 3, 4),
        categorical=(0,),
    )


def _sign_beyond_quarter(rows: FloatArray) -> FloatArray:
    return np.where(rows[:, 2] > 0.25, 1.0, -1.0)


def missing_gate() -> RegionalProblem:
    """Pose rows that differ because a value is missing: x2 is not there in three of ten.

    f = x0 (2 where x2 is missing, else -1) + x1².

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, np.nan, 0, 0], [0., 0, 0, 0, 0]])
    >>> missing_gate().gradient(rows)[:, 0]
    array([ 2., -1.])
    """
    return RegionalProblem(
        "missing_gate",
        _draw_missing,
        {1: SQUARE},
        target=0,
        gate=_where_missing,
        splitters=(2,),
        factors=(-1.0, 2.0),
        n_regions=2,
        alike=(1, 3, 4),
    )


def _where_missing(rows: FloatArray) -> FloatArray:
    return np.where(np.isnan(rows[:, 2]), 2.0, -1.0)


def category_or() -> RegionalProblem:
    """Pose the exclusive or of two categories of two levels each.

    f = 2 x0 (1 where x2 and x3 are the same, else -1) + x1.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, 1, 1, 0], [0., 0, 1, 0, 0]])
    >>> category_or().gradient(rows)[:, 0]
    array([ 2., -2.])
    """
    return RegionalProblem(
        "category_or",
        partial(_draw_whole, columns={2: (0, 1), 3: (0, 1)}),
        {1: LINE},
        target=0,
        own=power(1, 2.0),
        gate=_same_level,
        splitters=(2, 3),
        factors=(-1.0, 1.0),
        n_regions=4,
        alike=(1, 4),
        categorical=(2, 3),
    )


def _same_level(rows: FloatArray) -> FloatArray:
    return np.where(rows[:, 2] == rows[:, 3], 1.0, -1.0)


def year_gate() -> RegionalProblem:
    """Pose an effect that grows in one year: x2 holds whole numbers from 1980 to 2020.

    f = x0 (2.5 from x2 = 2003 on, else 1) + x1² + 0.02 x2.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, 2003, 0, 0], [0., 0, 2002, 0, 0]])
    >>> year_gate().gradient(rows)[:, 0]
    array([2.5, 1. ])
    """
    return RegionalProblem(
        "year_gate",
        partial(_draw_whole, columns={2: (1980, 2020)}),
        {1: SQUARE, 2: power(1, 0.02)},
        target=0,
        gate=_from_2003,
        splitters=(2,),
        factors=(1.0, 2.5),
        n_regions=2,
        alike=(1, 3, 4),
    )


def _from_2003(rows: FloatArray) -> FloatArray:
    return np.where(rows[:, 2] >= 2003, 2.5, 1.0)


def weighted_gate() -> RegionalProblem:
    """Pose rows that hardly count beside rows that do, and that differ by something else.

    f = x0 (2 or -1) + x1: 2 beyond x2 = 0 where x3 > 0, rows of weight 1; 2 beyond x4 = 0 in the
    others, rows of weight 0.001. By weight the splitter is x2 alone.

    Returns
    -------
    RegionalProblem

    Examples
    --------
    >>> rows = np.array([[0., 0, 1, 1, 0, 0], [0., 0, -1, 1, 0, 0]])
    >>> weighted_gate().gradient(rows)[:, 0]
    array([ 2., -1.])
    """
    return RegionalProblem(
        "weighted_gate",
        partial(draw_even, n_features=6),
        {1: LINE},
        target=0,
        gate=_by_weight,
        splitters=(2,),
        factors=(-1.0, 2.0),
        n_regions=2,
        alike=(1, 5),
        weigh=_mostly_beyond_zero,
    )


def _by_weight(rows: FloatArray) -> FloatArray:
    decides = np.where(rows[:, 3] > 0, rows[:, 2], rows[:, 4])
    return np.where(decides > 0, 2.0, -1.0)


def _mostly_beyond_zero(rows: FloatArray) -> FloatArray:
    return np.where(rows[:, 3] > 0, 1.0, 0.001)


# --- Parts and rows ------------------------------------------------------------------------------


def _hinge(x: FloatArray) -> FloatArray:
    return np.maximum(x - 0.5, 0.0)


def _hinge_slope(x: FloatArray) -> FloatArray:
    return np.where(x > 0.5, 1.0, 0.0)


def _draw_near_copy(rng: np.random.Generator, n_rows: int, *, n_features: int) -> FloatArray:
    rows = rng.uniform(-1, 1, (n_rows, n_features))
    rows[:, 1] = rows[:, 0] + rng.normal(0, 0.01, n_rows)
    return rows


def _draw_copies(rng: np.random.Generator, n_rows: int) -> FloatArray:
    """Draw normal features; x3 and x4 are correlated with x2 by 0.95 and 0.8."""
    rows = rng.normal(size=(n_rows, 6))
    rows[:, 3] = 0.95 * rows[:, 2] + math.sqrt(1 - 0.95**2) * rows[:, 3]
    rows[:, 4] = 0.8 * rows[:, 2] + 0.6 * rows[:, 4]
    return rows


def _draw_tails(rng: np.random.Generator, n_rows: int) -> FloatArray:
    rows = rng.normal(size=(n_rows, 5))
    rows[:, [0, 2]] = np.exp(1.5 * rows[:, [0, 2]])
    return rows


def _draw_whole(
    rng: np.random.Generator, n_rows: int, *, columns: Mapping[int, tuple[int, int]]
) -> FloatArray:
    """Draw even features, and whole numbers from the first to the last in some columns."""
    rows = rng.uniform(-1, 1, (n_rows, 5))
    for column, (first, last) in columns.items():
        rows[:, column] = rng.integers(first, last + 1, n_rows)
    return rows


def _draw_missing(rng: np.random.Generator, n_rows: int) -> FloatArray:
    rows = rng.uniform(-1, 1, (n_rows, 5))
    rows[rng.random(n_rows) < 0.3, 2] = np.nan
    return rows
