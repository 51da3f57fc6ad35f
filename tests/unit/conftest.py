from dataclasses import replace

import numpy as np
import pytest

import rhale
from rhale.effects.level_effect import LevelEffect
from rhale.effects.level_moments import measure_levels
from rhale.effects.staircase import Staircase


def make(levels, step, *, name="city", output="y0", rows=10, noise=0.0, edges=None, **fields):
    """Rows of every level (a number, or one for each) whose steps scatter by `noise`."""
    n_levels, rng = len(levels), np.random.default_rng(7)
    count = np.broadcast_to(rows, n_levels)
    level = np.repeat(np.arange(n_levels), count)
    step = np.append(np.broadcast_to(step, n_levels - 1), 0.0)
    down = np.append(0.0, step[:-1])[level] + noise * rng.normal(size=level.size)
    up = step[level] + noise * rng.normal(size=level.size)
    found = measure_levels(
        level, np.where(level > 0, down, 0.0)[None], np.where(level < n_levels - 1, up, 0.0)[None],
        n_levels,
    )  # fmt: skip
    steps, places = found.steps, np.arange(float(n_levels)) if edges is None else np.array(edges)
    gap = np.diff(places)
    return LevelEffect(
        name, output, tuple(levels), found.count, found.weight, places, steps.count, steps.rows,
        steps.weight, steps.mean[0] / gap, steps.std[0] / gap, steps.correlation[0],
        is_number=edges is not None, **fields,
    )  # fmt: skip


@pytest.fixture
def make_levels():
    return make


def make_stepped():
    """Rows evenly on [0, 4], of a model that jumps up by 2 at 1 and down by 1 at 3.

    Zero on average over the rows, of which 1/4, 1/2 and 1/4 stand before, between and behind, the
    curve is -1.25, 0.75, -0.25. Of two groups of rows one has the first jump higher by 0.1, the
    other lower: its standard error is 0.1 times the root of 2.
    """
    x = np.linspace(0.0, 4.0, 401)
    stairs = Staircase(
        places=np.array([1.0, 3.0]),
        jumps=np.array([2.0, -1.0]),
        near_shares=np.array([0.1, 0.1]),
        row_shares=np.array([0.25, 0.5, 0.25]),
        influence=np.array([[0.1, 0.0], [-0.1, 0.0]]),
        drawn=np.zeros((2, 2)),
        group_shares=np.array([0.5, 0.5]),
        low=0.0,
        high=4.0,
    )
    effect = rhale.effect(x, np.zeros(x.size), bins=rhale.Fixed(4), name="age")
    return replace(effect, stairs=stairs)


@pytest.fixture
def stepped():
    return make_stepped()
