"""Bins of many limits: two looks, as `Adaptive` searches them, against one look at all limits."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from parts import FloatArray, geometric_mean, write_part
from random_problems import LEAST, MOST, Task, draw_task, errors
from report import table

import rhale
from rhale.effects.binning import segments

SEEDS, N_PROBLEMS = (11, 12, 13), 60
SIZES = (5_000, 10_000, 30_000, 100_000)
NOISE = {"as drawn": 1.0, "a fiftieth of it": 0.02}
ABOUT = """
## Coarse-to-fine search

`accuracy/two_looks.py`. Where there are more than 200 candidate limits, `Adaptive` looks at every second
one first, and then at those around the ones it chose. The same problems as above, of 5 000 to
100 000 rows, with their noise and with a fiftieth of it, against one look at all limits: how often the
bins are the same, and ratios of errors, geometric means over {n} problems each.
"""


def quieter(task: Task, share: float) -> Task:
    """The same problem with a share of its noise."""
    d = task.mean(task.x) + share * (task.d - task.mean(task.x))
    return Task(task.x, d, task.mean, lambda z: share * task.std(z), task.low, task.high)


def compare(task: Task) -> tuple[bool, FloatArray]:
    """Whether both ways have the same bins, and the ratio of their errors."""
    ways = []
    for few in (segments.MAX_EXHAUSTIVE_CELLS, np.inf):
        with patch.object(segments, "MAX_EXHAUSTIVE_CELLS", few):
            edges = rhale.effect(task.x, task.d).edges
            ways.append((edges, np.maximum(errors(task, None), 1e-6)))
    (two, ours), (one, theirs) = ways
    return np.array_equal(two, one), np.clip(ours / theirs, LEAST, MOST)


def main() -> None:
    """Write the section."""
    rows = []
    for name, share in NOISE.items():
        places = [(seed, number) for seed in SEEDS for number in range(N_PROBLEMS)]
        found = [compare(quieter(draw_task(*place, SIZES), share)) for place in places]
        same = np.mean([own for own, _ in found])
        ratios = geometric_mean([ratio for _, ratio in found])
        rows.append([name, f"{same:.0%}", *(f"{ratio:.3f}" for ratio in ratios)])
    n = f"{len(SEEDS) * N_PROBLEMS}"
    write_part(
        "two_looks",
        ABOUT.format(n=n),
        table(["noise", "same bins", "effect", "spread", "curve"], rows),
    )


if __name__ == "__main__":
    main()
