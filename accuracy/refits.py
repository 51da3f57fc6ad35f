"""Intervals between trainings, and what comes back, against learners trained anew: writes .parts/refits.md.

    python accuracy/refits.py [--full] [--jobs N] [--first SEED]

Quick by default: a few seeds. `--full` is what the targets are about. The learner's own effect is
the mean curve of trainings on rows that no table here has, over other rows still. The test and the
share of rows in intervals were chosen on seeds below 2,000; nothing was chosen with the seeds here.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import lightgbm
import numpy as np
from jumps import group, run_all
from parts import FloatArray, write_part
from report import table
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import rhale
from rhale.stability.splits import Scheme
from rhale.stats.distributions import student_quantile

FIRST = 8000  # seed
ELSEWHERE = 500_000  # seeds of the trainings that tell the truth
N_TRUE, N_POPULATION = 200, 10_000  # trainings, and rows that they are explained on
Row = dict[str, Any]


# --- problems and learners ---------------------------------------------------------------------


def draw(n_rows: int, rng: np.random.Generator) -> FloatArray:
    """Four normal features, two of them with correlation .5."""
    x = rng.normal(size=(n_rows, 4))
    x[:, 1] = 0.5 * x[:, 0] + np.sqrt(0.75) * x[:, 1]
    return x


def learned(x: FloatArray) -> FloatArray:
    """What is to be learned: a sine, a line, and a product."""
    return np.asarray(np.sin(2 * x[:, 0]) + 0.5 * x[:, 0] * x[:, 2] + 0.7 * x[:, 1])


def boosted(n_trees: int = 60, n_leaves: int = 8) -> Any:
    """LightGBM, small."""
    return lightgbm.LGBMRegressor(
        n_estimators=n_trees, num_leaves=n_leaves, min_child_samples=10, n_jobs=1, verbose=-1
    )


LEARNERS: dict[str, Callable[[], Any]] = {
    "splines": lambda: make_pipeline(SplineTransformer(6), Ridge(1.0)),
    "splines, knots at quantiles": lambda: make_pipeline(
        SplineTransformer(6, knots="quantile"), Ridge(1.0)
    ),
    "LightGBM": boosted,
    "line": LinearRegression,
}
TESTED: dict[str, Callable[[], Any]] = {
    "LightGBM 40 x 8": partial(boosted, 40, 8),
    "LightGBM 100 x 31": partial(boosted, 100, 31),
    "forest": lambda: RandomForestRegressor(50, min_samples_leaf=3, random_state=0, n_jobs=1),
    "splines": LEARNERS["splines"],
    "line": LinearRegression,
}
SCHEMES: dict[str, Scheme] = {
    "20 half-samples": Scheme(),
    "20 subsamples of 2/3": Scheme("subsamples"),
    "5 folds": Scheme("folds", n_refits=5),
    "5 folds, 4 rounds": Scheme("folds"),
    "20 bootstraps": Scheme("bootstraps"),
}
NOISE = {400: (0.7, 0.05), 2000: (0.7,)}  # by the number of rows
POINTS = np.quantile(np.random.default_rng(1).normal(size=200_000), np.linspace(0.05, 0.95, 10))


@cache
def population() -> FloatArray:
    """Rows that stand for all there are."""
    return draw(N_POPULATION, np.random.default_rng(2))


def curve_of(model: Any, rows: FloatArray) -> FloatArray:
    """The curve of x0 at ten points."""
    fx = rhale.explain(model, rows, features=["x0"], partners=False, n_jobs=1)
    return np.asarray(fx["x0"].curve(POINTS))


def train(learner: str, n_rows: int, noise: float, seed: int) -> Any:
    """Train on rows of its own."""
    rng = np.random.default_rng(seed)
    x = draw(n_rows, rng)
    return LEARNERS[learner]().fit(x, learned(x) + noise * rng.normal(size=n_rows))


@cache
def learner_effect(learner: str, n_rows: int, noise: float) -> FloatArray:
    """What the learner gives on average, trained on so many rows."""
    seeds = range(ELSEWHERE, ELSEWHERE + N_TRUE)
    return np.mean(
        [curve_of(train(learner, n_rows, noise, s), population()) for s in seeds], axis=0
    )


@cache
def true_effect() -> FloatArray:
    """The curve of the function itself."""
    return curve_of(learned, population())


# --- measuring ---------------------------------------------------------------------------------


def measure_truth(learner: str, n_rows: int, noise: float) -> list[Row]:
    """What the learner gives on average, for all tasks to know."""
    return [
        {
            "learner": learner,
            "n_rows": n_rows,
            "noise": noise,
            "curve": learner_effect(learner, n_rows, noise),
        }
    ]


def measure_intervals(learner: str, n_rows: int, noise: float, seed: int) -> list[Row]:
    """Intervals of all schemes on one table, and that of one model, which knows its rows alone."""
    rng = np.random.default_rng(seed)
    x = draw(n_rows, rng)
    y = learned(x) + noise * rng.normal(size=n_rows)
    told = {"learner": learner, "n_rows": n_rows, "noise": noise}
    alone = rhale.explain(LEARNERS[learner]().fit(x, y), x, features=["x0"], n_jobs=1)["x0"]
    low, high = alone.ci(POINTS)
    made = [
        {**told, "scheme": "one model, rows alone", "n_train": n_rows, "low": low, "high": high}
    ]
    for name, scheme in SCHEMES.items():
        rx = rhale.refit(
            LEARNERS[learner](),
            x,
            y,
            scheme=scheme.name,
            n_refits=scheme.n_refits,
            features=["x0"],
            seed=seed,
            n_jobs=1,
        )
        effect, sizes = rx["x0"], rx.overlap.n_train
        low, high = effect.ci(POINTS)
        n_train = int(sizes.mean()) if scheme.name != "bootstraps" else n_rows
        own = {**told, "n_train": n_train}
        made.append({**own, "scheme": name, "low": low, "high": high})
        left_out = n_rows - n_train or np.exp(-1) * n_rows
        known = n_train if n_train < n_rows else (1 - np.exp(-1)) * n_rows
        for rule, factor in (("naive", 0.0), ("Nadeau-Bengio", left_out / known)):
            error = np.sqrt(1 / rx.n_trainings + factor) * effect.between(POINTS)
            half = error * student_quantile(0.95, np.array([rx.n_trainings - 1.0]))[0]
            mean = effect.curve(POINTS)
            made.append(
                {**own, "scheme": f"{name}: {rule}", "low": mean - half, "high": mean + half}
            )
    return made


def measure_features(learner: str, n_rows: int, seed: int) -> list[Row]:
    """Which of six features come back: two real ones, a copy of the first, three without effect."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 6))
    x[:, 2] = 0.9 * x[:, 0] + np.sqrt(0.19) * x[:, 2]
    x[:, 4] = (x[:, 4] > 0).astype(float)
    x[:, 5] = rng.standard_t(3, size=n_rows)
    y = np.sin(2 * x[:, 0]) + 0.3 * x[:, 1] + 0.7 * rng.normal(size=n_rows)
    rx = rhale.refit(TESTED[learner](), x, y, seed=seed, n_jobs=1)
    found = {f"x{i}": rx[f"x{i}"].comes_back for i in range(6)}
    return [{"learner": learner, "n_rows": n_rows, **found}]


def measure_pairs(n_rows: int, seed: int) -> list[Row]:
    """Which of ten pairs come back: two real ones, one with a copy of a real partner, seven without."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 5))
    x[:, 4] = 0.8 * x[:, 1] + 0.6 * x[:, 4]
    y = x[:, 0] * x[:, 1] + 0.4 * x[:, 2] * x[:, 3] + x[:, 2] + 0.7 * rng.normal(size=n_rows)
    rx = rhale.refit(
        boosted(), x, y, pairs="all", features=["x0", "x1", "x2", "x3", "x4"], seed=seed, n_jobs=1
    )
    kinds = {("x0", "x1"): "x0 x1", ("x2", "x3"): ".4 x2 x3", ("x0", "x4"): "x0 with a copy of x1"}
    return [
        {
            "n_rows": n_rows,
            "kind": kinds.get(pair.names, "seven without effect"),
            "strength": pair.strength,
            "replicated": pair.replicated,
            "comes back": pair.comes_back,
        }
        for pair in rx.pairs
    ]


@dataclass(frozen=True)
class Plan:
    """How many seeds of each."""

    intervals: Mapping[int, int]  # number of rows -> seeds
    features: Mapping[int, int]
    pairs: Mapping[int, int]


FULL = Plan({400: 60, 2000: 60}, {300: 100, 600: 100}, {600: 60})
QUICK = Plan({400: 2}, {300: 2}, {600: 1})


def sizes_of(n_rows: int) -> list[int]:
    """Rows of a training by any of the schemes, and all of them."""
    shares = (1 / 2, 2 / 3, 4 / 5, 1)
    return sorted({round(share * n_rows) for share in shares} | {int(2 / 3 * n_rows)})


def list_tasks(plan: Plan, first: int) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    """Everything that is measured, one task at a time."""
    for n_rows, n_seeds in plan.intervals.items():
        for learner in LEARNERS:
            for noise in NOISE[n_rows]:
                for size in sizes_of(n_rows):
                    yield "truth", partial(measure_truth, learner, size, noise)
                for seed in range(first, first + n_seeds):
                    yield "intervals", partial(measure_intervals, learner, n_rows, noise, seed)
    for n_rows, n_seeds in plan.features.items():
        for learner in TESTED:
            for seed in range(first, first + n_seeds):
                yield "features", partial(measure_features, learner, n_rows, seed)
    for n_rows, n_seeds in plan.pairs.items():
        for seed in range(first, first + n_seeds):
            yield "pairs", partial(measure_pairs, n_rows, seed)


# --- writing -----------------------------------------------------------------------------------

ABOUT = """
## Refits

`accuracy/refits.py{option}`, seeds from {first} on; the test and how far the learner's own chance is believed were chosen on seeds below 2,000, nothing on these. sin 2x0 + x0 x2 / 2 + .7 x1 (correlation .5 of x0 and x1), noise .7 or .05; learners: additive
ridge splines, LightGBM 60 x 8, a straight line. What 95 % intervals of the curve of x0 cover at ten points: *the learner's effect*, the mean curve of {n_true} trainings on other rows, as many as a
refit has, explained on {population} other rows; *at all rows*: the same for trainings on as many rows as the table has; *the function*: which no interval between trainings is about, since a learner
errs the same way in all of them. *Naive* (S²/m) and *Nadeau-Bengio* (1/m + n2/n1) are other rules for the same trainings.
"""
FEATURES = """
What comes back at level .05, of 20 half-samples: sin 2x0 + .3 x1 + noise .7; x2 copies x0 with correlation .9, x3 (normal), x4 (two values) and x5 (Student's t, 3 degrees) do nothing.
Shares of {n_seeds} tables.
"""
PAIRS = """
Pairs of LightGBM (60 x 8) at level .05, of 20 half-samples: x0 x1 + .4 x2 x3 + x2 + noise .7; x4 copies x1 with correlation .8, and the learner uses it. *Strength*: in a single training.
"""


def covers(row: Row, truth: FloatArray) -> float:
    """Share of the points at which an interval holds the truth."""
    return float(np.mean((row["low"] <= truth) & (truth <= row["high"])))


def write(found: dict[str, list[Row]], plan: Plan, first: int) -> None:
    """Write the section."""
    truth = {(r["learner"], r["n_rows"], r["noise"]): r["curve"] for r in found["truth"]}
    intervals = []
    for (learner, n_rows, noise, scheme), some in group(
        found["intervals"], "learner", "n_rows", "noise", "scheme"
    ).items():
        at = truth[learner, some[0]["n_train"], noise], truth[learner, n_rows, noise], true_effect()
        shares = [f"{np.mean([covers(row, curve) for row in some]):.2f}" for curve in at]
        width = np.mean([np.mean(row["high"] - row["low"]) for row in some])
        intervals.append([learner, n_rows, noise, scheme, *shares, f"{width:.2f}"])
    names = [f"x{i}" for i in range(6)]
    features = [
        [learner, n_rows, *(f"{np.mean([row[name] for row in some]):.2f}" for name in names)]
        for (learner, n_rows), some in group(found["features"], "learner", "n_rows").items()
    ]
    pairs = [
        [
            kind,
            *(f"{np.mean([row[n] for row in some]):.3f}" for n in ("strength", "replicated")),
            f"{np.mean([row['comes back'] for row in some]):.2f}",
        ]
        for (kind,), some in group(found["pairs"], "kind").items()
    ]
    write_part(
        "refits",
        ABOUT.format(
            option=" --full" if plan is FULL else "",
            first=first,
            n_true=N_TRUE,
            population=f"{N_POPULATION:,}",
        ),
        table(
            [
                *("learner", "rows", "noise", "interval"),
                *("the learner's effect", "at all rows", "the function", "width"),
            ],
            intervals,
        ),
        FEATURES.format(n_seeds=max(plan.features.values())),
        table(
            ["", "rows", "x0", "x1", "x2, the copy", "x3, null", "x4, null", "x5, null"], features
        ),
        PAIRS,
        table(["", "strength", "replicated", "comes back"], pairs),
    )


def main() -> None:
    """Measure, and write the section of the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--first", type=int, default=FIRST)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)
    plan = FULL if asked.full else QUICK
    kinds = ("truth", "intervals", "features", "pairs")
    found: dict[str, list[Row]] = {kind: [] for kind in kinds}
    tasks = list(list_tasks(plan, asked.first))
    for done, (kind, rows) in enumerate(run_all(tasks, asked.jobs)):
        found[kind] += rows
        print(f"\r{done + 1} of {len(tasks)}", end="", file=sys.stderr)
    write(found, plan, asked.first)


if __name__ == "__main__":
    main()
