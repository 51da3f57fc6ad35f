"""Real jumps of a staircase: narrow, large, alone and shared by the rows; other steps are small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.staircase import Staircase

MIN_JUMP_SIZE = 0.1  # of the range of the curve
ROWS_INSIDE, MAX_JUMP_WIDTH = 0.01, 0.03  # at most: of the rows, and of the axis
JUMP_REFERENCE_SHARE = 0.1  # of the rows, on each side: what a jump is compared with
MIN_ROWS_NEXT_TO_JUMP, SHARE_BESIDE = 10, 0.04  # rows behind it and before it: an end is no jump
ALONE = 2.0  # times any other change as narrow beside it
BETWEEN_LINES = 0.5  # of it remains between lines through the curve on both sides
TRIMMED = 0.1  # of a jump: steps at its ends that are smaller do not belong to it
DIFFER = 0.5  # of it is the deviation between rows at most


class Jump(NamedTuple):
    """A stretch over which the curve of all rows jumps.

    Attributes
    ----------
    start, stop : float
        Its first and its last place, which may be the same.
    size : float
        How far the curve moves from before the first to behind the last.
    """

    start: float
    stop: float
    size: float


class _Steps(NamedTuple):
    """A staircase, step by step: heights before, between and behind places, and rows before these."""

    stairs: Staircase
    height: FloatArray
    middle: FloatArray
    before: FloatArray
    last: IntArray  # last place of the longest narrow stretch that begins at each
    size: FloatArray  # of these


def find_jumps(stairs: Staircase, n_rows: float) -> list[Jump]:
    """Find the real jumps of a curve, in the order of their places.

    Parameters
    ----------
    stairs : Staircase
        The curve.
    n_rows : float
        Effective number of rows.

    Notes
    -----
    Trees learn smooth functions as stairs, and jumps as several steps close together. A jump is a
    stretch of places with hardly any rows between them, over which the curve moves by a tenth of
    its range or more, twice as far as over any such stretch beside it, and not as the lines
    through the curve on both sides would; and rows agree about it.
    """
    return sorted(
        jump
        for jump, own in _look_for_alone(stairs, n_rows)
        if _differ(stairs, own, n_rows) <= DIFFER * abs(jump.size)
    )


def _look_for_alone(stairs: Staircase, n_rows: float) -> Iterator[tuple[Jump, slice]]:
    """Stretches that move the curve farther than others, and their places: the largest first."""
    span = float(np.ptp(stairs.heights))
    if not span > 0:
        return
    steps = _list_steps(stairs, n_rows)
    free = np.ones(stairs.n_places, dtype=np.bool_)
    least = MIN_JUMP_SIZE * span
    for place in np.argsort(-np.abs(steps.size), kind="stable"):
        if abs(steps.size[place]) < least:
            break
        first, last = _trim(steps, int(place))
        size = float(steps.height[last + 1] - steps.height[first])
        if not free[first : last + 1].all() or abs(size) < least:
            continue
        # what is as near as the steps of a jump are to each other is no other one
        near = slice(int(np.searchsorted(steps.last, first)), int(steps.last[last]) + 1)
        free[near] = False
        if _is_alone(steps, first, last, n_rows):
            jump = Jump(float(stairs.places[first]), float(stairs.places[last]), size)
            yield jump, slice(first, last + 1)


def _list_steps(stairs: Staircase, n_rows: float) -> _Steps:
    """Read the staircase step by step."""
    places, before = stairs.places, np.cumsum(stairs.row_shares)[:-1]
    height = np.append(0.0, np.cumsum(stairs.jumps))
    few = max(ROWS_INSIDE, 1.5 / n_rows)
    last = np.minimum(
        np.searchsorted(before, before + few, "right"),
        np.searchsorted(places, places + MAX_JUMP_WIDTH * (stairs.high - stairs.low), "right"),
    )
    limits = np.concatenate([[stairs.low], places, [stairs.high]])
    middle = limits[:-1] + np.diff(limits) / 2
    last = np.maximum(last - 1, np.arange(places.size))
    return _Steps(stairs, height, middle, before, last, height[last + 1] - height[:-1])


def _trim(steps: _Steps, place: int) -> tuple[int, int]:
    """First and last place of a stretch, without small steps at its ends."""
    own = np.arange(place, steps.last[place] + 1)
    size = steps.size[place]
    large = own[steps.stairs.jumps[own] * np.sign(size) >= TRIMMED * abs(size)]
    return (int(large[0]), int(large[-1])) if large.size else (place, place)


def _is_alone(steps: _Steps, first: int, last: int, n_rows: float) -> bool:
    """Whether a stretch moves the curve farther than what is beside it, and lines there, do."""
    before, size = steps.before, float(steps.height[last + 1] - steps.height[first])
    least = max(SHARE_BESIDE, MIN_ROWS_NEXT_TO_JUMP / n_rows)
    if min(before[first], 1 - before[last]) < least:
        return False
    every = np.arange(before.size)
    left = (steps.last < first) & (before[first] - before < JUMP_REFERENCE_SHARE)
    right = (every > last) & (before - before[last] < JUMP_REFERENCE_SHARE)
    if ALONE * np.abs(steps.size[left | right]).max(initial=0.0) > abs(size):
        return False
    ends = np.append(before, 1.0)
    every = np.arange(ends.size)
    left = (every <= first) & (before[first] - ends < JUMP_REFERENCE_SHARE)
    right = (every > last) & (np.append(0.0, before) - before[last] < JUMP_REFERENCE_SHARE)
    start = _read_line(steps, np.flatnonzero(left), float(steps.stairs.places[first]))
    stop = _read_line(steps, np.flatnonzero(right), float(steps.stairs.places[last]))
    return bool((stop - start) * np.sign(size) >= BETWEEN_LINES * abs(size))


def _read_line(steps: _Steps, some: IntArray, at: float) -> float:
    """The line through some steps, each counting with its rows, at one place."""
    weight = steps.stairs.row_shares[some]
    weight = weight / weight.sum()
    away, height = steps.middle[some] - at, steps.height[some]
    middle, level = weight @ away, weight @ height
    scatter = weight @ (away - middle) ** 2
    if np.count_nonzero(weight) <= 3 or not scatter > 0:
        return float(level)
    slope = weight @ ((away - middle) * (height - level)) / scatter
    return float(level - slope * middle)


def _differ(stairs: Staircase, own: slice, n_rows: float) -> float:
    """Deviation between rows of what they do over some places, told by that of their groups."""
    variance = float(np.sum(stairs.between_rows[:, own].sum(axis=1) ** 2))
    return float(np.sqrt(variance * stairs.near_shares[own].mean() * n_rows))
