"""Regions of trees and networks: thresholds, intervals, and effects that are the same for all rows.

    python accuracy/tree_regions.py [intervals] [networks]

Names of parts print these alone; without any, all is measured and written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from parts import FloatArray, write_part
from report import table
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
says what the trees do there.
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
    trees = [effect.regions for effect in effects.values()]
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
    return [effect.regions is not None and len(effect.regions) > 1 for effect in effects.values()]


def count_flags() -> list[tuple[str, str]]:
    """How often either flag is split."""
    found = []
    for model, make in MODELS.items():
        split = [one for n in SIZES for seed in FLAG_SEEDS for one in split_flags(make, n, seed)]
        found.append((model, f"{sum(split)} of {len(split)}"))
    return found


# --- Intervals -----------------------------------------------------------------------------------

INTERVALS = {"years 2008-12 of 2000-19": (2000, 2020, 2008, 2012), "hours 6-21": (0, 24, 6, 21)}
ABOUT_INTERVALS = """
**Intervals.** The effect of $x_1$ is 1 within the interval of $x_2$ and -1 outside; {n:,} rows, seeds from {first} on
(nothing was chosen on them). *Right*: two regions, the interval and all others, with both limits exact, not "gradually".
"""


def find_interval(model: Any, span: tuple[int, int, int, int], seed: int) -> tuple[bool, float]:
    """Whether the interval is told, and the share of the spread that it explains."""
    start, stop, low, high = span
    rng = np.random.default_rng([seed, start])
    rows = rng.normal(size=(3_000, 5))
    rows[:, 1] = rng.integers(start, stop, 3_000)

    def gate(x: FloatArray) -> FloatArray:
        inside = (x[:, 1] >= low) & (x[:, 1] <= high)
        return np.asarray(x[:, 0] * np.where(inside, 1.0, -1.0) + x[:, 2])

    learned = gate if model is None else model().fit(rows, gate(rows) + rng.normal(0, 0.4, 3_000))
    tree = rhale.explain(learned, rows, regions=True, n_jobs=1)[0].regions
    told = [(split.column, split.above, split.threshold) for split in tree.splits]
    return told == [(1, low - 1, high)] and tree.gradual is None, tree.share


def intervals() -> str:
    """The table of intervals."""
    lines = []
    for kind, model in {"the function": None, **MODELS}.items():
        for name, span in INTERVALS.items():
            found = [find_interval(model, span, seed) for seed in SEEDS]
            shares = [share for _, share in found]
            right = sum(one for one, _ in found)
            lines.append((name, kind, f"{right} of {len(found)}", f"{np.mean(shares):.2f}"))
    about = ABOUT_INTERVALS.format(n=3_000, first=SEEDS[0])
    return about + "\n" + table(("interval", "model", "right", "share"), lines)


# --- Networks ------------------------------------------------------------------------------------

TABLES: dict[str, Callable[[np.random.Generator, FloatArray], FloatArray]] = {
    "even, independent": lambda rng, z: rng.uniform(-1, 1, z.shape),
    "normal, correlated by .6": lambda _, z: z,
    "log-normal": lambda _, z: np.exp(0.8 * z),
    "whole numbers beside others": lambda _, z: np.where(np.arange(6) % 2, z, np.round(2 * z)),
}
SHAPES: tuple[Callable[[FloatArray], FloatArray], ...] = (
    np.sin,
    np.tanh,
    np.abs,
    np.square,
    lambda z: 1.0 * (z > 0.3),
    lambda z: z,
)
ABOUT_NETWORKS = """
**Networks.** Two layers of 32 units with early stopping that learned from {n:,} rows an additive response, one shape for each
of six columns, with noise of .3 deviations, and the same response permuted; seeds from {first} on. How many columns are split.
"""


def split_falsely(make: Callable[..., FloatArray], seed: int, *, permuted: bool) -> list[bool]:
    """Which columns of a network that was taught no interaction have regions."""
    rng = np.random.default_rng([seed, 6])
    correlation = 0.6 ** np.abs(np.subtract.outer(range(6), range(6)))
    rows = make(rng, rng.normal(size=(2_000, 6)) @ np.linalg.cholesky(correlation).T)
    scaled = np.clip(StandardScaler().fit_transform(rows), -3, 3)
    parts = [shape(z) for shape, z in zip(SHAPES, scaled.T, strict=True)]
    response = sum(part / part.std() for part in parts)
    response = response / response.std() + rng.normal(0, 0.3, len(rows))
    response = rng.permutation(response) if permuted else response
    net = MLPRegressor(
        hidden_layer_sizes=(32, 32), early_stopping=True, max_iter=500, random_state=seed
    )
    model = make_pipeline(StandardScaler(), net).fit(rows, response)
    return [len(e.regions) > 1 for e in rhale.explain(model, rows, regions=True, n_jobs=1).values()]


def networks() -> str:
    """The table of networks."""
    lines = []
    for name, make in TABLES.items():
        counts = []
        for permuted in (False, True):
            found = [one for s in SEEDS for one in split_falsely(make, s, permuted=permuted)]
            counts.append(f"{sum(found)} of {len(found)}")
        lines.append((name, *counts))
    about = ABOUT_NETWORKS.format(n=2_000, first=SEEDS[0])
    return about + "\n" + table(("table", "additive", "permuted"), lines)


PARTS = {"intervals": intervals, "networks": networks}


def main() -> None:
    """Write the section."""
    if asked := sys.argv[1:]:
        print(*(PARTS[name]() for name in asked), sep="\n")
        return
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
    parts = (make() for make in PARTS.values())
    write_part("tree_regions", about, table(head, lines) + "\n" + flags, *parts)


if __name__ == "__main__":
    main()
