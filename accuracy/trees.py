"""How well curve and spread of models without derivatives are found: writes .parts/trees.md.

Models learn known functions from 5000 rows with noise and are explained on other rows. The truth
is that of the function, not of the model. The rival is quantile ALE with the best of five numbers
of bins, chosen case by case with the truth in hand.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from parts import write_part
from report import table
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import problems
import rhale
from problems import Problem, Truth

LEARNED, NOISE, EXPLAINED = 5000, 0.1, 1000
ALE_BINS = (10, 20, 50, 100, 200)
SEEDS = tuple(range(30, 38))  # the windows were chosen on others
Row = dict[str, Any]
Function = Callable[[Any], Any]


# --- Problems besides those of rhale -------------------------------------------------------------


def truth(mean: Function, std: Function, curve: Function) -> Truth:
    """Exact answer that holds everywhere."""
    return Truth(mean, std, curve, (-math.inf, math.inf))


def always(value: float) -> Function:
    """Give a function that does not depend on its argument."""
    return lambda z: np.full_like(z, value)


def pose(name: str, predict: Function, draw: Function, *truths: Truth) -> Problem:
    """Make a problem of named features; its derivative is not asked for."""
    answers = {f"x{i + 1}": t for i, t in enumerate(truths)}
    return Problem(name, predict, always(math.nan), draw, answers)


def draw_normal(rng: np.random.Generator, n_rows: int, rho: float) -> np.ndarray:
    """Two standard normal features with a correlation."""
    first, noise = rng.normal(size=(2, n_rows))
    return np.column_stack([first, rho * first + math.sqrt(1 - rho**2) * noise])


def draw_skewed(rng: np.random.Generator, n_rows: int, rho: float) -> np.ndarray:
    """The same, the first one as logarithm of the feature."""
    rows = draw_normal(rng, n_rows, rho)
    return np.column_stack([np.exp(rows[:, 0]), rows[:, 1]])


def draw_beside(first: Function) -> Function:
    """Draw a feature as told, and beside it an independent normal one with deviation 1/2."""
    return lambda rng, n: np.column_stack([first(rng, n), rng.normal(0, 0.5, n)])


def draw_clusters(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Two clusters of unequal width."""
    left = rng.random(n_rows) < 0.5
    return np.where(left, rng.normal(-2, 0.4, n_rows), rng.normal(1.5, 0.6, n_rows))


def kink(rho: float = 0.7) -> Problem:
    """Pose |x1| + x1 x2 / 2 with correlated normal features."""
    std = math.sqrt(1 - rho**2) / 2
    return pose(
        "kink",
        lambda rows: np.abs(rows[:, 0]) + rows[:, 0] * rows[:, 1] / 2,
        lambda rng, n: draw_normal(rng, n, rho),
        truth(
            lambda z: np.sign(z) + rho * z / 2,
            always(std),
            lambda z: np.abs(z) + rho * z**2 / 4,
        ),
        truth(lambda z: rho * z / 2, always(std), lambda z: rho * z**2 / 4),
    )


def skewed(rho: float = 0.8) -> Problem:
    """Pose log x1 (1 + x2 / 2), log x1 being normal and correlated with x2."""
    std = math.sqrt(1 - rho**2) / 2
    return pose(
        "skewed",
        lambda rows: np.log(rows[:, 0]) * (1 + rows[:, 1] / 2),
        lambda rng, n: draw_skewed(rng, n, rho),
        truth(
            lambda z: (1 + rho * np.log(z) / 2) / z,
            lambda z: std / z,
            lambda z: np.log(z) + rho * np.log(z) ** 2 / 4,
        ),
        truth(lambda z: rho * z / 2, always(std), lambda z: rho * z**2 / 4),
    )


def heavy_tails() -> Problem:
    """Pose tanh(2 x1) + 0.3 x1 x2, with x1 from Student's t with 3 degrees of freedom."""
    return pose(
        "heavy tails",
        lambda rows: np.tanh(2 * rows[:, 0]) + 0.3 * rows[:, 0] * rows[:, 1],
        draw_beside(lambda rng, n: rng.standard_t(3, n)),
        truth(lambda z: 2 / np.cosh(2 * z) ** 2, always(0.15), lambda z: np.tanh(2 * z)),
    )


def clusters() -> Problem:
    """Pose cos(2 x1) + x1 x2 with rows in two clusters and few between."""
    return pose(
        "clusters",
        lambda rows: np.cos(2 * rows[:, 0]) + rows[:, 0] * rows[:, 1],
        draw_beside(draw_clusters),
        truth(lambda z: -2 * np.sin(2 * z), always(0.5), lambda z: np.cos(2 * z)),
    )


def friedman() -> Problem:
    """Pose Friedman's first function: 10 sin(pi x1 x2) + 20 (x3 - 1/2)² + 10 x4 + 5 x5."""
    other = (np.arange(2000) + 0.5) / 2000

    def slopes(z: np.ndarray) -> np.ndarray:
        return 10 * np.pi * other * np.cos(np.pi * np.outer(z, other))

    wave = truth(
        lambda z: slopes(z).mean(axis=1),
        lambda z: slopes(z).std(axis=1),
        lambda z: 10 * np.sin(np.pi * np.outer(z, other)).mean(axis=1),
    )
    return pose(
        "friedman",
        lambda rows: (
            10 * np.sin(np.pi * rows[:, 0] * rows[:, 1])
            + 20 * (rows[:, 2] - 0.5) ** 2
            + 10 * rows[:, 3]
            + 5 * rows[:, 4]
        ),
        lambda rng, n: rng.uniform(size=(n, 7)),
        wave,
        wave,
        truth(lambda z: 40 * z - 20, always(0.0), lambda z: 20 * (z - 0.5) ** 2),
        truth(always(10.0), always(0.0), lambda z: 10 * z),
    )


def jump() -> Problem:
    """Pose 2 · 1{x1 > 0.3} + x2² + x1 x2: a jump that all rows share."""
    return pose(
        "jump",
        lambda rows: 2.0 * (rows[:, 0] > 0.3) + rows[:, 1] ** 2 + rows[:, 0] * rows[:, 1],
        draw_beside(lambda rng, n: rng.uniform(size=n)),
        truth(always(0.0), always(0.5), lambda z: 2.0 * (z > 0.3)),
        truth(lambda z: 2 * z + 0.5, always(1 / math.sqrt(12)), lambda z: z**2 + z / 2),
    )


def named(name: str, problem: Problem) -> Problem:
    """Give a problem another name."""
    return Problem(name, problem.predict, problem.gradient, problem.sampler, problem.truths)


CHOSEN_ON = (
    problems.sine_product(),
    problems.study_1(),
    problems.square(),
    problems.product(),
    problems.threshold(),
    problems.lognormal(),
    named("correlated, rho .5", problems.correlated(0.5)),
    named("correlated, rho .9", problems.correlated(0.9)),
    clusters(),
)
HELD_OUT = (
    problems.study_2(),
    problems.additive(),
    named("correlated, rho 0", problems.correlated(0.0)),
    named("correlated, rho .99", problems.correlated(0.99)),
    kink(),
    skewed(),
    heavy_tails(),
    friedman(),
    jump(),
)
BY_NAME = {problem.name: problem for problem in CHOSEN_ON + HELD_OUT}
NO_DERIVATIVE = (("threshold", "x1"), ("jump", "x1"))  # their spread depends on the width

TREES: dict[str, Callable[[int], Any]] = {
    "HistGradientBoosting": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    "GradientBoosting": lambda seed: GradientBoostingRegressor(
        n_estimators=300, max_depth=4, random_state=seed
    ),
    "RandomForest": lambda seed: RandomForestRegressor(60, random_state=seed, n_jobs=1),
}
OTHERS: dict[str, Callable[[int], Any]] = {
    "k-NN": lambda _: make_pipeline(StandardScaler(), KNeighborsRegressor(10)),
    "SVR": lambda _: make_pipeline(StandardScaler(), SVR(C=10, epsilon=0.05)),
    "Gaussian process": lambda _: make_pipeline(
        StandardScaler(),
        GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.01), normalize_y=True),
    ),
    "MLP (predict only)": lambda seed: make_pipeline(
        StandardScaler(),
        MLPRegressor(hidden_layer_sizes=(64, 64), early_stopping=True, random_state=seed),
    ),
}
OVERFITTED = {"learning_rate": 0.3, "min_child_weight": 1, "reg_lambda": 0, "n_jobs": 1}
N_DRAWN, DRAWS = 11_250, range(5)  # of Heiß et al.: 1,250 rows to learn from; their first draws
FEWER_ROWS = {"SVR": 2000, "Gaussian process": 500}  # to learn from, for time


# --- Measuring -----------------------------------------------------------------------------------


@cache
def fitted(name: str, kind: str, seed: int) -> Any:
    """Train a model on rows with noise."""
    problem, n_rows = BY_NAME[name], FEWER_ROWS.get(kind, LEARNED)
    rows = problem.draw(n_rows, seed=1000 + seed)
    noise = np.random.default_rng(seed).normal(0, NOISE, n_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a network that stopped early, a kernel at its bound
        return {**TREES, **OTHERS}[kind](seed).fit(rows, problem.predict(rows) + noise)


def curve_error(effect: rhale.Effect, exact: Truth, x: np.ndarray) -> float:
    """Mean absolute error of the centred curve between the 2 % and 98 % quantiles."""
    z = np.linspace(*np.quantile(x, [0.02, 0.98]), 200)
    return float(np.mean(np.abs(effect.curve(z) - exact.curve(z) + exact.curve(x).mean())))


def measure_run(problem: Problem, kind: str, seed: int, n_rows: int = EXPLAINED) -> list[Row]:
    """Explain one model and compare with the truth, a row for each feature."""
    model, rows = fitted(problem.name, kind, seed), problem.draw(n_rows, seed=5000 + seed)
    asked = list(range(len(problem.truths)))

    def predict(some: np.ndarray) -> np.ndarray:  # no more than predictions, whatever the model
        return np.asarray(model.predict(some))

    ours = rhale.explain(predict, rows, features=asked)
    rivals = {
        n_bins: rhale.explain(
            predict, rows, features=asked, method="ale", bins=rhale.Quantile(n_bins)
        )
        for n_bins in ALE_BINS
    }
    found = []
    for place, (name, exact) in enumerate(problem.truths.items()):
        x = rows[:, place]
        ale = {n_bins: curve_error(fx[place], exact, x) for n_bins, fx in rivals.items()}
        found.append(
            {
                "problem": problem.name,
                "feature": name,
                "model": kind,
                "seed": seed,
                "rows": n_rows,
                "held_out": problem in HELD_OUT,
                "error": curve_error(ours[place], exact, x),
                "ale": list(ale.values()),
                "std": ours[place].heterogeneity,
                "true_std": float(np.sqrt(np.mean(exact.std(x) ** 2))),
                "smooth": "(smooth)" in ours[place].notes[0],
            }
        )
    return found


def measure(seeds: Sequence[int] = SEEDS) -> list[Row]:
    """Measure all problems and tree models, a row for each run and feature."""
    return [
        row
        for problem in CHOSEN_ON + HELD_OUT
        for kind in TREES
        for seed in seeds
        for row in measure_run(problem, kind, seed)
    ]


def measure_sizes(seed: int = SEEDS[0]) -> list[Row]:
    """Measure boosted trees that are explained on fewer and on more rows."""
    return [
        row
        for problem in CHOSEN_ON + HELD_OUT
        for n_rows in (300, 5000)
        for row in measure_run(problem, "HistGradientBoosting", seed, n_rows)
    ]


def measure_others(seed: int = SEEDS[0]) -> list[Row]:
    """Measure other model families on some problems of both kinds."""
    some = (CHOSEN_ON[0], CHOSEN_ON[5], *HELD_OUT[:6])
    return [row for p in some for kind in OTHERS for row in measure_run(p, kind, seed)]


# --- Writing -------------------------------------------------------------------------------------


def ratios(rows: Sequence[Row], *keys: str) -> dict[tuple[Any, ...], float]:
    """Mean error over that of the best ALE, for every combination of some fields."""
    cases: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        cases.setdefault(tuple(row[k] for k in keys), []).append(row)
    return {
        case: float(
            np.mean([r["error"] for r in some]) / np.mean([r["ale"] for r in some], axis=0).min()
        )
        for case, some in cases.items()
    }


def in_words(values: Sequence[float]) -> str:
    """Geometric mean, largest value and how many are above 1.6."""
    mean, high = np.exp(np.mean(np.log(values))), sum(v > 1.6 for v in values)
    return f"{mean:.2f} | {max(values):.2f} | {high} of {len(values)}"


def summary(rows: Sequence[Row], field: str) -> str:
    """Lay out one line for each value of a field, separately for held-out problems."""
    lines = []
    for value in dict.fromkeys(r[field] for r in rows):
        for held_out in (False, True):
            some = [r for r in rows if r[field] == value and r["held_out"] == held_out]
            cases = list(ratios(some, "problem", "feature").values())
            kind = "held out" if held_out else "chosen on"
            lines.append((f"{value}", kind, *in_words(cases).split(" | ")))
    return table((field, "problems", "geometric mean", "largest", "above 1.6"), lines)


def by_case(rows: Sequence[Row]) -> str:
    """Lay out curve error against the best ALE, and spread with the truth in brackets."""
    found = ratios(rows, "problem", "feature", "model")
    lines = []
    for problem, feature in dict.fromkeys((r["problem"], r["feature"]) for r in rows):
        some = [r for r in rows if (r["problem"], r["feature"]) == (problem, feature)]
        curve = [f"{found[problem, feature, kind]:.2f}" for kind in TREES]
        spread = [
            f"{np.mean([r['std'] for r in some if r['model'] == kind]):.2f}" for kind in TREES
        ]
        exact = f"{np.mean([r['true_std'] for r in some]):.2f}"
        if (problem, feature) in NO_DERIVATIVE:
            spread, exact = ["-"] * len(TREES), "-"
        lines.append((f"{problem}, {feature}", *curve, *spread, exact))
    curves, spreads = [f"curve, {k}" for k in TREES], [f"spread, {k}" for k in TREES]
    return table(("case", *curves, *spreads, "true spread"), lines)


def families(rows: Sequence[Row]) -> str:
    """Lay out curve error and the verdict of the probe for other model families."""
    lines = []
    for kind in OTHERS:
        some = [r for r in rows if r["model"] == kind]
        smooth = sum(r["smooth"] for r in some)
        cases = list(ratios(some, "problem", "feature").values())
        lines.append((kind, f"{smooth} of {len(some)}", *in_words(cases).split(" | ")))
    return table(("model", "called smooth", "geometric mean", "largest", "above 1.6"), lines)


def section(rows: Sequence[Row], sizes: Sequence[Row], others: Sequence[Row]) -> str:
    """Put everything into one section."""
    return f"""## Models without derivatives

`accuracy/trees.py`. Each model learns a function from {LEARNED} rows with noise of {NOISE} and is explained on
{EXPLAINED} other rows, by predictions alone. Curve error is the mean absolute error of the centred
curve between the 2 % and 98 % quantiles of the feature, against the exact curve of the function.
It is divided by the error of quantile ALE with {", ".join(map(str, ALE_BINS))} bins, whichever is
best for that model and feature. Nobody can choose like that without the truth; below 1 is better even so. The windows were chosen on the problems marked so,
with other seeds.

### Tree models

{summary(rows, "model")}

Case by case, means over {len(dict.fromkeys(r["seed"] for r in rows))} seeds: curve error against
the best ALE, then root of the row-weighted mean of std²: of the model's own secants over the bins, where the
truth is of the function's slopes. Flat tails of trees make it smaller, steps that they learned by mistake larger.

{by_case(rows)}

A jump that all rows share (jump, x1) is the weak point: a window draws it as a ramp as wide as
itself, narrow ALE bins do not. Beside a wide gap (clusters, x1) the curve is a ramp too. Where the
jump differs between rows (threshold, x1), only the rows whose windows hold it tell its mean, for ALE
as for windows. Trees show some spread where the truth has none.

### Fewer and more rows (HistGradientBoosting)

{summary(sizes, "rows")}

### Other models

The probe calls a model smooth along a feature or stepped. Smooth ones get narrow windows.

{families(others)}

### Jumps of black boxes

Two ways to see jumps by more answers were measured and left alone: blending windows with ALE of 100 bins, and
changes over 60 quantile cells. Both take six answers a row and feature instead of four. They are nearer to the model
(.91 and .84 of the error of windows) and no nearer to the function (.98 and 1.00), and are worse outside of jumps, gaps
and few values. Trees that are walked need none of them.

### Trees deeper than the rows can carry

The overfitted XGBoost of Heiß et al. (2026; 1,000 trees of depth 14, no penalty, 1,250 rows of Friedman 1, noise as there),
explained on the rows it learned from. Squared errors against the world, not the model, means over their draws
{DRAWS.start} to {DRAWS.stop - 1}; nothing was chosen on these.

{overfitted(DRAWS)}

Such a model remembers its rows: beside each of them it jumps as that row's target does, and a mean over the
nearest rows sees all of it. Halves of the rows do not agree about jumps that one row makes, so nearest rows
count for less, and a note says so. What is left on x1 is no noise that smoothing could take off: bins over rows that a
model learned from are there nearer to the world than its own curve over fresh rows.
"""


def measure_overfitted(draws: Sequence[int]) -> np.ndarray:
    """Squared errors against the world, shape (n_draws, 3 ways, 7 features), as Heiß et al. draw it."""
    from xgboost import XGBRegressor  # this part alone needs it

    z, found = np.linspace(0.0001, 0.9999, 100)[1:-1], []
    product = 10 * (1 - np.cos(np.pi * z)) / (np.pi * z)
    truth = [product, product, 20 * (z - 0.5) ** 2, 10 * z, 5 * z, 0 * z, 0 * z]
    for draw in draws:
        rng = np.random.RandomState(draw)
        rows = 0.5 * np.vectorize(math.erfc)(-rng.standard_normal((N_DRAWN, 7)) / math.sqrt(2))
        target = 10 * np.sin(np.pi * rows[:, 0] * rows[:, 1]) + 20 * (rows[:, 2] - 0.5) ** 2
        target += 10 * rows[:, 3] + 5 * rows[:, 4] + 0.9761 * rng.standard_normal(N_DRAWN)
        rows, _, target, _ = train_test_split(rows, target, test_size=10_000, random_state=42)
        model = XGBRegressor(n_estimators=1000, max_depth=14, random_state=42, **OVERFITTED)
        ours = rhale.explain(model.fit(rows, target), rows)
        bins = rhale.explain(model, rows, method="ale", bins=rhale.Quantile(20))
        ways = [
            [e.curve(z), e.curve(z, smooth=True), q.curve(z)]
            for e, q in zip(ours.values(), bins.values(), strict=True)
        ]
        off = np.array(ways) - np.array(truth)[:, None]
        found.append(off.var(axis=2).T)
    return np.array(found)


def overfitted(draws: Sequence[int]) -> str:
    """Tell of trees that are deeper than the rows can carry."""
    means = measure_overfitted(draws).mean(axis=0)
    ways = ("default", "`smooth=True`", "`ale`, `Quantile(20)`")
    rows = [[way, *(f"{v:.3f}" for v in own)] for way, own in zip(ways, means, strict=True)]
    return table(["", *(f"x{k}" for k in range(1, 8))], rows)


def main() -> None:
    """Measure everything and write the page."""
    write_part("trees", section(measure(), measure_sizes(), measure_others()))


if __name__ == "__main__":
    main()
