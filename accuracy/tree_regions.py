"""Regions of walked trees whose effects are steps at a threshold, or curves, or the same for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from parts import FloatArray, write_part
from report import table
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

import rhale

SEEDS, SIZES, NOISE = range(500, 503), (1_000, 4_000), 0.2
N_COLUMNS = 4
FUNCTIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "$x_1 x_2$": lambda x: x[:, 0] * x[:, 1],
    "$x_2$ where $x_1 > 0.3$": lambda x: (x[:, 0] > 0.3) * x[:, 1],
    "either $x_1 > 0$ or $x_2 > 0$": lambda x: 1.0 * ((x[:, 0] > 0) ^ (x[:, 1] > 0)),
    "$1 + x_2 / 2$ where $x_1 > 0.3$": lambda x: (x[:, 0] > 0.3) * (1 + x[:, 1] / 2),
    "$1 + 4 x_2 / 5$ where $x_1 > 0.3$": lambda x: (x[:, 0] > 0.3) * (1 + 0.8 * x[:, 1]),
    "$\\sin 2 x_1$, and the last": lambda x: (
        np.sin(2 * x[:, 0]) + (x[:, 0] > 0.3) * (1 + 0.8 * x[:, 1])
    ),
    "2 where $x_1 > 0.3$, and $x_2$": lambda x: 2.0 * (x[:, 0] > 0.3) + x[:, 1],
    "$\\sin 3 x_1 + x_2$": lambda x: np.sin(3 * x[:, 0]) + x[:, 1],
}
MODELS = {
    "HistGradientBoosting": lambda: HistGradientBoostingRegressor(max_iter=100, random_state=0),
    "RandomForest": lambda: RandomForestRegressor(50, min_samples_leaf=5, random_state=0),
}
ADDITIVE = tuple(FUNCTIONS)[-2:]
ABOUT = """
## Regions of trees

`accuracy/tree_regions.py`. Trees that learned a function of two of {columns} columns, explained on their own {sizes}
rows, normal and uniform, {seeds} seeds each: in how many runs $x_1$ has regions told by $x_2$ alone, and $x_2$ by
$x_1$ alone; and how many of the other columns, whose effect is the same in all rows, are split. The
last two functions are additive.
"""
SHARE = 0.45  # of the rows have the flag, and of these the other one
FLAG_SEEDS = range(500, 506)
FLAGS = """
**Combinations without rows.** Two flags of which one needs the other, as a multimedia kit needs a CD drive; trees learned
a function that is additive, {seeds} seeds each. Steps are not measured at rows without the other flag, since nothing
says what the trees do there. Measured from every row, as before, 3 and 4 of these 24 are split.
"""


def split_columns(
    function: Callable[[FloatArray], FloatArray],
    make: Callable[[], Any],
    kind: str,
    n_rows: int,
    seed: int,
) -> list[set[int]]:
    """Columns that tell the regions of each column apart."""
    rng = np.random.default_rng([seed, n_rows])
    shape = n_rows, N_COLUMNS
    rows = rng.normal(size=shape) if kind == "normal" else rng.uniform(-1, 1, shape)
    model = make().fit(rows, function(rows) + rng.normal(0, NOISE, n_rows))
    effects = rhale.explain(model, rows, regions=True, n_jobs=1)
    trees = [effect.regions for effect in effects]
    return [set() if tree is None else {split.column for split in tree.splits} for tree in trees]


def count(name: str, make: Callable[[], Any], seeds: Sequence[int]) -> tuple[str, str, str]:
    """How often the first two columns are told apart by each other, and how often others are split."""
    found = [
        split_columns(FUNCTIONS[name], make, kind, n_rows, seed)
        for seed in seeds
        for n_rows in SIZES
        for kind in ("normal", "uniform")
    ]
    first = 0 if name in ADDITIVE else 2
    false = [bool(own) for run in found for own in run[first:]]
    by_other = [[run[column] == {1 - column} for run in found] for column in range(first)]
    right = [f"{sum(own)} of {len(own)}" for own in by_other] or ["-", "-"]
    return right[0], right[1], f"{sum(false)} of {len(false)}"


def split_flags(make: Callable[[], Any], n_rows: int, seed: int) -> list[bool]:
    """Whether two flags of an additive function are split, one of which needs the other."""
    rng = np.random.default_rng([seed, n_rows, 1])
    flag, x = rng.random(n_rows) < SHARE, rng.normal(size=n_rows)
    needs = flag & (rng.random(n_rows) < SHARE)
    rows = np.column_stack([needs, flag, x, x + rng.normal(size=n_rows)])
    truth = rows @ rng.normal(size=N_COLUMNS) + np.sin(3 * x)
    model = make().fit(rows, truth + rng.normal(0, NOISE, n_rows))
    effects = rhale.explain(model, rows, features=[0, 1], regions=True, n_jobs=1)
    return [effect.regions is not None and len(effect.regions) > 1 for effect in effects]


def count_flags() -> list[tuple[str, str]]:
    """How often either flag is split."""
    found = []
    for model, make in MODELS.items():
        split = [one for n in SIZES for seed in FLAG_SEEDS for one in split_flags(make, n, seed)]
        found.append((model, f"{sum(split)} of {len(split)}"))
    return found


def main() -> None:
    """Write the section."""
    lines = [
        (name, model, *count(name, make, SEEDS))
        for name in FUNCTIONS
        for model, make in MODELS.items()
    ]
    about = ABOUT.format(
        columns=N_COLUMNS, sizes=" and ".join(f"{n:,}" for n in SIZES), seeds=len(SEEDS)
    )
    head = ("function", "model", "$x_1$ by $x_2$", "$x_2$ by $x_1$", "split falsely")
    flags = table(("model", "split falsely"), count_flags())
    flags = FLAGS.format(seeds=len(FLAG_SEEDS)) + "\n" + flags
    write_part("tree_regions", about, table(head, lines) + "\n" + flags)


if __name__ == "__main__":
    main()
