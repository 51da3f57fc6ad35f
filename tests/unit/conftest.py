import numpy as np
import pytest

from rhale.kernels.level_moments import measure_levels
from rhale.results.level_effect import LevelEffect


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
