"""Regions against known ones: who is told apart, who is split falsely: writes .parts/regions.md.

    python accuracy/regions.py [--full] [--jobs N] [--tuned]

Quick by default: a few seeds and models. `--full` is what the targets are about. Rules and settings
were chosen with seeds 0 to 9; others are measured unless `--tuned` asks for these.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import lightgbm
import numpy as np
import numpy.typing as npt
import xgboost
from jumps import group, run_all
from parts import FloatArray, write_part
from report import table
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import problems
import rhale
from problems import RegionalProblem

TUNED, FRESH = 0, 300  # first seeds
NOISE = 0.3  # of what models learn from, in deviations of the function
LEARNED = 5000  # rows
N_JUDGED, JUDGED = 20_000, 10**6  # rows that judge a tree, and their seed
MOST_ALIKE = 5  # features without regions that are tried in one run
N_CELLS = 20  # of the axis, about whose means rows differ
GRADIENT, NETWORK = "gradient", "tanh network"
Row = dict[str, Any]
IntArray = npt.NDArray[np.int64]

PROBLEMS: dict[str, RegionalProblem] = {
    **{make.__name__: make() for make in problems.REGIONAL},
    "near_copy, 30 features": problems.near_copy(30),
    "either_or, 30 features": problems.either_or(30),
}
UNTUNED = (  # of the rules, only the bars on what predictions do were chosen with these, too
    "level_gate",
    "missing_gate",
    "category_or",
    "year_gate",
    "weighted_gate",
)
LONG_TAILS = ("skewed_gate",)  # parts of the axis are too wide to tell the true share
NO_STEPS = ("ripple", "ten_partners", "rippled_gate")  # too fine, or too little, to be learned
MODELS: dict[str, Callable[[int], Any]] = {
    "HistGradientBoosting": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    "XGBoost": lambda seed: xgboost.XGBRegressor(
        n_estimators=150, max_depth=5, learning_rate=0.1, n_jobs=1, random_state=seed
    ),
    "LightGBM": lambda seed: lightgbm.LGBMRegressor(
        n_estimators=150, n_jobs=1, verbose=-1, random_state=seed
    ),
    "forest": lambda seed: RandomForestRegressor(
        60, min_samples_leaf=5, random_state=seed, n_jobs=1
    ),
    NETWORK: lambda seed: make_pipeline(
        StandardScaler(),
        MLPRegressor(
            hidden_layer_sizes=(32,),
            activation="tanh",
            solver="lbfgs",
            alpha=0.01,
            max_iter=500,
            random_state=seed,
        ),
    ),
}
BOOSTED = ("HistGradientBoosting", "XGBoost", "LightGBM")
ABOUT = """
## Regions

`accuracy/regions.py{option}`, seeds from {first} on (settings were chosen with 0 to 9). Functions of `problems.REGIONAL`, explained
through `rhale.explain(..., regions=True)`: with their own gradients, or as models that learned from {learned} rows
with noise of {noise} deviations and are explained on these. *Right*: the features in the rules are the true ones, no more and no fewer.
*Rows in a wrong region*: of {judged} other rows, those whose kind is not that of most rows of their region. *True share*: of the spread of the
function in these rows, about the means of {cells} parts of the axis, whatever the tree. *Split falsely*: features with the
same effect in all rows. Problems with a star had a part in
choosing two thresholds.
"""


@dataclass(frozen=True)
class Plan:
    """What is measured: how many seeds of each."""

    gradients: Mapping[int, int]  # number of rows -> seeds
    models: Mapping[str, int]
    learned: Sequence[str]
    network_rows: int
    power: Mapping[int, int]
    shares: Sequence[float] = (0.15, 0.3, 0.6)
    first: int = FRESH


FULL = Plan(
    {2000: 20, 10_000: 10},
    {"HistGradientBoosting": 10, "XGBoost": 10, "LightGBM": 10, "forest": 4, NETWORK: 5},
    tuple(name for name in PROBLEMS if name not in NO_STEPS),
    2000,
    {500: 40, 1000: 40, 2000: 40},
)
QUICK = Plan(
    {2000: 3, 10_000: 1},
    {"HistGradientBoosting": 2, "XGBoost": 2, NETWORK: 1},
    ("both_gates", "two_levels", "year_gate", "gradual_product", "additive_curves"),
    2000,
    {500: 5, 1000: 5, 2000: 5},
)


# --- What is true --------------------------------------------------------------------------------


def local_effects(problem: RegionalProblem, rows: FloatArray) -> tuple[IntArray, ...]:
    """Rows, cells of the axis and local effects of the target; two steps a row where it has levels."""
    assert problem.target is not None  # noqa: S101 - only asked where there is one
    x, number = rows[:, problem.target], np.arange(len(rows))
    if problem.target not in problem.categorical:
        cell = np.searchsorted(np.quantile(x, np.arange(1, N_CELLS) / N_CELLS), x)
        return number, cell, problem.gradient(rows)[:, problem.target]
    found = []
    for low in range(int(x.max())):
        near = number[(x == low) | (x == low + 1)]
        ends = [replace_column(rows[near], problem.target, v) for v in (low, low + 1)]
        change = problem.predict(ends[1]) - problem.predict(ends[0])
        found.append((near, np.full(near.size, low), change))
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


def replace_column(rows: FloatArray, column: int, value: float) -> FloatArray:
    """The same rows with one value in a column."""
    rows = rows.copy()
    rows[:, column] = value
    return rows


def true_share(problem: RegionalProblem, rows: FloatArray, region: IntArray) -> float:
    """Share of the spread of the target's local effects that lies between regions."""
    number, cell, effects = local_effects(problem, rows)
    weight = np.ones(len(rows)) if problem.weigh is None else problem.weigh(rows)
    left = [
        spread_about(cell + shift, effects, weight[number]) for shift in (0, 1000 * region[number])
    ]
    return 1 - left[1] / left[0] if left[0] > 0 else 0.0


def spread_about(key: IntArray, effects: FloatArray, weight: FloatArray) -> float:
    """Sum of squares about the means of the rows with the same key."""
    place = np.unique(key, return_inverse=True)[1]
    total = np.bincount(place, weight)
    mean = np.bincount(place, weight * effects) / total
    return float(weight @ (effects - mean[place]) ** 2)


def wrong_rows(problem: RegionalProblem, rows: FloatArray, region: IntArray) -> float:
    """Share of the rows, by weight, whose kind is not that of most rows in their region."""
    labels = problem.labels(rows)
    weight = np.ones(len(rows)) if problem.weigh is None else problem.weigh(rows)
    kept = 0.0
    for one in np.unique(region):
        kept += np.bincount(labels[region == one], weight[region == one]).max()
    return float(1 - kept / weight.sum())


# --- Measuring -----------------------------------------------------------------------------------


@cache
def judged_rows(name: str) -> FloatArray:
    """Rows that no search sees."""
    return PROBLEMS[name].draw(N_JUDGED, seed=JUDGED)


def explain_run(
    name: str, kind: str, n_rows: int, seed: int
) -> tuple[rhale.Explanation, list[int]]:
    """Explain one function or model, and say which columns must not be split."""
    problem = PROBLEMS[name]
    rows = problem.draw(n_rows, seed=seed)
    alike = [c for c in problem.alike if kind == GRADIENT or c not in problem.entangled]
    alike = alike[:MOST_ALIKE]
    asked: dict[str, Any] = {"categorical": list(problem.categorical) or None}
    if kind == GRADIENT:
        model: Any = problem.predict
        asked["gradient"] = problem.gradient
    else:
        model = learn(problem, kind, rows, seed)
    if problem.weigh is not None:
        asked["weights"] = problem.weigh(rows)
    features = alike if problem.target is None else [problem.target, *alike]
    return rhale.explain(model, rows, features=features, regions=True, n_jobs=1, **asked), alike


def learn(problem: RegionalProblem, kind: str, rows: FloatArray, seed: int) -> Any:
    """Train a model on the very rows that it is explained on, with noise."""
    answer = problem.predict(rows)
    noise = np.random.default_rng(seed).normal(0, NOISE * answer.std(), len(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a network that stops before it has converged
        return MODELS[kind](seed).fit(rows, answer + noise)


def measure_run(name: str, kind: str, n_rows: int, seed: int) -> list[Row]:
    """Explain, and compare with what is true."""
    problem = PROBLEMS[name]
    fx, alike = explain_run(name, kind, n_rows, seed)
    false = [is_split(fx[f"x{column}"].regions) for column in alike]
    row: Row = {"problem": name, "kind": kind, "n_rows": n_rows, "seed": seed}
    row |= {"false": sum(false), "alike": len(alike), "has_target": problem.target is not None}
    if problem.target is None:
        return [row]
    tree = fx[f"x{problem.target}"].regions
    assert tree is not None  # noqa: S101 - regions were asked for
    return [{**row, **judged(problem, tree, judged_rows(name))}]


def is_split(tree: rhale.RegionTree | None) -> bool:
    """Whether there is more than one region, or a gradual change is told."""
    return tree is not None and (len(tree) > 1 or tree.gradual is not None)


def judged(problem: RegionalProblem, tree: rhale.RegionTree, rows: FloatArray) -> Row:
    """What a tree says about the target, beside the truth."""
    region = tree.locate(rows)
    used = {split.column for split in tree.splits}
    partners = {one.feature for one in tree.partners[: len(problem.partners)]}
    wanted = [f"x{column}" for column in problem.splitters]
    return {
        "state": tree.state,
        "right": used == set(problem.splitters),
        "leaves": len(tree),
        "wanted": problem.n_regions,
        "wrong": wrong_rows(problem, rows, region) if problem.factors else float("nan"),
        "share": tree.share,
        "error": tree.standard_error,
        "true": np.nan if problem.name in LONG_TAILS else true_share(problem, rows, region),
        "gradual": tree.gradual in wanted if problem.is_gradual else tree.gradual is None,
        "partners": partners == {f"x{column}" for column in problem.partners},
    }


def measure_power(share: float, n_rows: int, seed: int) -> list[Row]:
    """Whether a gate that explains a given share is found, and by the right feature."""
    problem = problems.rippled_gate(share)
    fx = rhale.explain(
        problem.predict,
        problem.draw(n_rows, seed=seed),
        features=[0],
        gradient=problem.gradient,
        regions=True,
        n_jobs=1,
    )
    tree = fx["x0"].regions
    assert tree is not None  # noqa: S101 - regions were asked for
    row: Row = {"gate": share, "n_rows": n_rows, "seed": seed}
    row |= judged(problem, tree, problem.draw(N_JUDGED, seed=JUDGED))
    return [{**row, "other": any(split.column != 2 for split in tree.splits)}]


def tasks_of(plan: Plan) -> list[tuple[str, Callable[[], list[Row]]]]:
    """What there is to do."""
    tasks: list[tuple[str, Callable[[], list[Row]]]] = []
    for kind, n_seeds in plan.models.items():
        names = plan.learned if kind != NETWORK else networks_learn(plan.learned)
        n_rows = plan.network_rows if kind == NETWORK else LEARNED
        for seed in range(plan.first, plan.first + n_seeds):
            tasks += [("models", partial(measure_run, name, kind, n_rows, seed)) for name in names]
    for n_rows, n_seeds in plan.gradients.items():
        for seed in range(plan.first, plan.first + n_seeds):
            names = [name for name in PROBLEMS if name != "rippled_gate"]
            tasks += [
                ("gradients", partial(measure_run, name, GRADIENT, n_rows, seed)) for name in names
            ]
    for n_rows, n_seeds in plan.power.items():
        for seed in range(plan.first, plan.first + n_seeds):
            tasks += [("power", partial(measure_power, s, n_rows, seed)) for s in plan.shares]
    return tasks


def networks_learn(names: Sequence[str]) -> list[str]:
    """Problems without missing values: networks have no answer for them."""
    return [name for name in names if name != "missing_gate"]


def measure(plan: Plan, jobs: int) -> dict[str, list[Row]]:
    """Do everything, in several processes."""
    found: dict[str, list[Row]] = {"gradients": [], "models": [], "power": []}
    tasks = tasks_of(plan)
    for number, (name, rows) in enumerate(run_all(tasks, jobs), start=1):
        found[name] += rows
        print(f"\r{number} of {len(tasks)}", end="", file=sys.stderr, flush=True)
    return found


# --- Writing -------------------------------------------------------------------------------------


def mean_of(rows: Sequence[Row], field: str) -> float:
    """Mean over the runs that have a number."""
    values = [row[field] for row in rows if np.isfinite(row.get(field, float("nan")))]
    return float(np.mean(values)) if values else float("nan")


def counted(rows: Sequence[Row], field: str) -> str:
    """How many of how many."""
    told = [row[field] for row in rows if field in row]
    return f"{sum(told)} of {len(told)}" if told else "-"


def false_of(rows: Sequence[Row]) -> str:
    """Features that were split although all rows are alike."""
    return f"{sum(row['false'] for row in rows)} of {sum(row['alike'] for row in rows)}"


def number(value: float, digits: int = 2) -> str:
    """A number, or a line where there is none."""
    return f"{value:.{digits}f}" if np.isfinite(value) else "-"


def covered(rows: Sequence[Row]) -> str:
    """How often the true share lies within two errors of the one that is told.

    The spread of a model that learned is not that of the function: it has none.
    """
    found = [r for r in rows if r.get("state") == "found" and np.isfinite(r["true"])]
    found = [r for r in found if r.get("kind", GRADIENT) == GRADIENT]
    inside = [abs(r["share"] - r["true"]) <= 2 * r["error"] for r in found]
    return f"{sum(inside)} of {len(inside)}" if inside else "-"


def starred(name: str) -> str:
    """A problem that came later, and had little part in choosing rules, has a star."""
    return f"{name}*" if name in UNTUNED else name


def by_problem(rows: Sequence[Row], *keys: str) -> str:
    """One line for each problem, and each value of some fields."""
    lines = []
    for (name, *values), some in group(rows, "problem", *keys).items():
        has_target = some[0]["has_target"]
        lines.append(
            (
                starred(name),
                *(f"{v:,}" if isinstance(v, int) else v for v in values),
                counted(some, "right"),
                f"{number(mean_of(some, 'leaves'), 1)} ({some[0]['wanted']})"
                if has_target
                else "-",
                number(100 * mean_of(some, "wrong")),
                f"{number(mean_of(some, 'share'))}, {number(mean_of(some, 'true'))}",
                covered(some),
                counted(some, "gradual"),
                false_of(some),
            )
        )
    head = ("problem", *(key.replace("n_rows", "rows") for key in keys), "right splitters")
    head += ("regions (true)", "rows in a wrong region, %", "share: told, true")
    return table((*head, "true one within 2 errors", "gradual or not", "split falsely"), lines)


def by_power(rows: Sequence[Row]) -> str:
    """How often a gate is found, by its share and by the rows."""
    sizes = list(dict.fromkeys(row["n_rows"] for row in rows))
    lines = []
    for (share,), some in group(rows, "gate").items():
        cells = group(some, "n_rows")
        found = [f"{np.mean([r['right'] for r in cells[size,]]):.0%}" for size in sizes]
        told = [number(mean_of(cells[sizes[-1],], field)) for field in ("share", "true")]
        lines.append((f"{share:.0%}", *found, counted(some, "other"), covered(some), *told))
    head = ("share", *(f"{size:,} rows" for size in sizes), "another splitter")
    return table((*head, "true share within 2 errors", "told, most rows", "true"), lines)


def targets(found: Mapping[str, Sequence[Row]]) -> str:
    """One line for each target: what is right, false, wrong, gradual; shares."""
    columns = {
        f"gradients, {n_rows:,} rows": some
        for (n_rows,), some in group(found["gradients"], "n_rows").items()
    }
    columns["boosted trees"] = [row for row in found["models"] if row["kind"] in BOOSTED]
    lines = [(what, *map(score, columns.values()), target) for what, score, target in TARGETS]
    return table(("what", *columns, "target"), lines)


def with_edges(rows: Sequence[Row]) -> list[Row]:
    """Runs of problems that have regions with an edge."""
    return [r for r in rows if PROBLEMS[r["problem"]].factors]


def worst(rows: Sequence[Row], score: Callable[[Sequence[Row]], float]) -> str:
    """The worst of the problems, and which it is."""
    scores = {name: score(some) for (name,), some in group(rows, "problem").items()}
    scores = {name: value for name, value in scores.items() if np.isfinite(value)}
    if not scores:
        return "-"
    name = max(scores, key=lambda name: scores[name])
    return f"{scores[name]:.3g} ({starred(name)})"


def missed(rows: Sequence[Row]) -> float:
    """Share of the runs with other splitters than the true ones, or another number of regions."""
    return float(np.mean([not (r["right"] and r["leaves"] == r["wanted"]) for r in rows]))


def biased(rows: Sequence[Row]) -> float:
    """Distance of the mean share from the mean of the true ones, where there are true ones."""
    return abs(mean_of(rows, "share") - mean_of(rows, "true"))


TARGETS: tuple[tuple[str, Callable[[Sequence[Row]], str], str], ...] = (
    (
        "runs with wrong splitters or number of regions, worst problem",
        lambda rows: worst(with_edges(rows), missed),
        "<= .05 / .1",
    ),
    (
        "rows in a wrong region, %, worst problem",
        lambda rows: worst(with_edges(rows), lambda some: 100 * mean_of(some, "wrong")),
        "<= .2 / .3; exclusive or <= .3 / 1",
    ),
    (
        "gradual changes called so",
        lambda rows: counted([r for r in rows if PROBLEMS[r["problem"]].is_gradual], "gradual"),
        ">= 19 of 20 / 9 of 10",
    ),
    ("features split falsely", false_of, "0 of 100 / <= 1 of 50"),
    (
        "no tree where no rule helps",
        lambda rows: counted(
            [r for r in rows if r["problem"] in ("ripple", "ten_partners")], "right"
        ),
        ">= 18 of 20",
    ),
    (
        "ten partners come first",
        lambda rows: counted([r for r in rows if r["problem"] == "ten_partners"], "partners"),
        "all",
    ),
    (
        "share, distance of its mean from the true one, worst problem",
        lambda rows: worst([r for r in with_edges(rows) if r["kind"] == GRADIENT], biased),
        "<= .06 (.02 of 10,000 rows)",
    ),
)


def section(found: Mapping[str, Sequence[Row]], plan: Plan) -> Iterator[str]:
    """The paragraphs of the section."""
    yield ABOUT.format(
        option=" --full" if len(plan.models) == len(FULL.models) else "",
        first=plan.first,
        learned=f"{LEARNED:,}",
        noise=NOISE,
        judged=f"{N_JUDGED:,}",
        cells=N_CELLS,
    )
    yield targets(found)
    yield "### With gradients"
    yield by_problem(found["gradients"], "n_rows")
    yield "### Models that learned"
    yield by_problem(found["models"], "kind")
    yield (
        "### How small a difference is found\n\nA gate that explains a share of the spread, beside a wave that "
        "no rule explains; ten features, gradients."
    )
    yield by_power(found["power"])


def main() -> None:
    """Measure, and write the section."""
    parser = argparse.ArgumentParser(description="Measure regions against known ones.")
    parser.add_argument("--full", action="store_true", help="all models and problems")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--tuned", action="store_true", help="seeds that settings were chosen with")
    given = parser.parse_args()
    plan = replace(FULL if given.full else QUICK, first=TUNED if given.tuned else FRESH)
    write_part("regions", *section(measure(plan, given.jobs), plan))


if __name__ == "__main__":
    main()
