"""Strengths of pairs against known ones: writes .parts/pairs.md.

    python accuracy/pairs.py [--full] [--jobs N]

Quick by default: a few seeds. `--full` is what the targets are about. Cells whose outermost are
halved were chosen on the product with correlation .9, seeds 0 to 39; bars of partners on seeds below
520. Nothing was chosen with the seeds here. Of intervals 200 draws were measured first; there are
more since one of nine lay outside of its target, and the first ones are among them.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import lightgbm
import numpy as np
from jumps import group, run_all
from parts import FloatArray, write_part
from report import table

import problems
import rhale
from problems import PairedProblem
from rhale.interaction.pair_effect import can_be_ranked

FIRST = 7000  # seed
Row = dict[str, Any]
NOISE = 0.1  # of what models learn from, in deviations of the function
LEARNED = 1500  # rows
EQUAL = rhale.Quantile(20)  # cells as in R's packages
CELLS = (10, 20, 40)  # of trees, where features go together
TRAININGS = 12  # on half-samples

PROBLEMS: dict[str, PairedProblem] = {
    **{(problem := make()).name: problem for make in problems.PAIRED},
    (correlated := problems.two_factors(0.9)).name: correlated,
}


def product_and_lines(rows: FloatArray) -> FloatArray:
    """x0 x1 + x2 + x3 / 2: nothing beside the product is bent."""
    return rows[:, 0] * rows[:, 1] + rows[:, 2] + rows[:, 3] / 2


REFITTED = {
    "product, lines, correlation 0.9": replace(correlated, function=product_and_lines),
    correlated.name: correlated,
    "additive": PROBLEMS["additive"],
}


def noisy(level: float, rows: FloatArray) -> FloatArray:
    """x0 x1 (level + x2): a pair of strength `level`, and rows that differ."""
    return rows[:, 0] * rows[:, 1] * (level + rows[:, 2])


@dataclass(frozen=True)
class Plan:
    """How many seeds of each."""

    exact: Mapping[int, int]  # number of rows -> seeds
    trees: int
    refits: int
    intervals: Mapping[int, int]


FULL = Plan({2000: 20, 10_000: 10}, 10, 6, {500: 1000, 1000: 1000, 2000: 1000})
QUICK = Plan({2000: 3}, 2, 1, {500: 20})


# --- measuring ---------------------------------------------------------------------------------


def measure_exact(name: str, n_rows: int, seed: int) -> list[Row]:
    """One function as it is: by slopes, and the true pair as a black box."""
    problem = PROBLEMS[name]
    rows = problem.draw(n_rows, seed)
    ix = rhale.interactions(problem.function, rows, gradient=problem.gradient)
    found = {tuple(map(ix.features.index, p.names)): p.strength for p in ix.values()}
    null = max((s for pair, s in found.items() if pair not in problem.strengths), default=np.nan)
    told = {"problem": name, "n_rows": n_rows, "null": null / np.sqrt(ix.variance[0])}
    order = sorted(problem.strengths, key=lambda pair: -problem.strengths[pair])
    ranked = sorted(found, key=lambda pair: -found[pair])[: len(order)]
    told["right"] = ranked == order if order else np.nan
    for score in ("by slopes", "as a black box", "in the middle", "error"):
        told[score] = np.nan
    if order:
        a, b = order[0]
        names = (f"x{a}", f"x{b}")
        asked = rhale.interactions(problem.function, rows, pairs=[names])[names]
        middle = rhale.interactions(
            problem.function,
            rows,
            pairs=[names],
            reading="cells",
            cells=dict.fromkeys(names, EQUAL),
        )[names]
        truth = problem.strengths[order[0]]
        told["in the middle"] = middle.strength_raw / truth
        told["by slopes"], told["as a black box"] = found[order[0]] / truth, asked.strength / truth
        told["error"] = surface_error(problem, rows, ix[names])
    return [told]


def surface_error(problem: PairedProblem, rows: FloatArray, pair: Any) -> float:
    """Root mean square of surface less truth at the rows; where the truth is a product."""
    products: dict[str, Callable[[FloatArray], FloatArray]] = {
        "product": lambda z: z[:, 0] * z[:, 1],
        "log product": lambda z: np.log(z[:, 0]) * z[:, 1],
        "product, correlation 0.9": lambda z: (
            z[:, 0] * z[:, 1] - 0.9 * (z[:, 0] ** 2 + z[:, 1] ** 2) / 2
        ),
    }
    if problem.name not in products:
        return float("nan")
    truth = products[problem.name](rows)
    found = pair.surface(rows[:, 0], rows[:, 1])
    return float(np.sqrt(np.nanmean((found - truth + truth.mean()) ** 2)))


def measure_trees(name: str, seed: int) -> list[Row]:
    """Boosted trees that learned a function, all pairs by one walk; H for comparison."""
    problem = PROBLEMS[name]
    rows = problem.draw(LEARNED, seed)
    answers = problem.function(rows)
    noise = NOISE * answers.std() * np.random.default_rng(seed + 1).normal(size=LEARNED)
    model = lightgbm.LGBMRegressor(n_estimators=100, num_leaves=15, n_jobs=1, verbose=-1)
    model.fit(rows, answers + noise)
    made = []
    ways: dict[str, dict[str, Any]] = {"usual cells": {}, "30 cells": {"cells": 30}}
    if problem.correlated:
        ways |= {f"{n} cells": {"cells": n} for n in CELLS}
    for label, settings in {**ways, "H": {"method": "h"}}.items():
        ix = rhale.interactions(model, rows, **settings)
        found = {tuple(map(ix.features.index, p.names)): p.strength for p in ix.values()}
        true = [found[pair] for pair in problem.strengths]
        others = [s for pair, s in found.items() if pair not in problem.strengths]
        auc = (
            np.mean([[float(t > o) + (t == o) / 2 for o in others] for t in true])
            if true
            else np.nan
        )
        first = max(found, key=lambda pair: found[pair]) in problem.strengths if true else np.nan
        made.append(
            {
                "problem": name,
                "way": label,
                "auc": auc,
                "first": first,
                "null": max(others) / answers.std(),
                "ratio": true[0] / max(problem.strengths.values()) if true else np.nan,
            }
        )
    return made


def measure_refits(name: str, seed: int) -> list[Row]:
    """Pairs of one model, and of trainings on half of the rows: what ranks them, and which p is small."""
    problem = REFITTED[name]
    rows = problem.draw(LEARNED, seed)
    answers = problem.function(rows)
    noise = NOISE * answers.std() * np.random.default_rng(seed + 1).normal(size=LEARNED)
    learner = lightgbm.LGBMRegressor(n_estimators=100, num_leaves=15, n_jobs=1, verbose=-1)
    truth = {tuple(f"x{i}" for i in pair) for pair in problem.strengths}
    one = rhale.interactions(learner.fit(rows, answers + noise), rows).ranked()
    many = rhale.refit(learner, rows, answers + noise, n_refits=TRAININGS, pairs="all", seed=seed)
    frame = many.replication(pairs=True, backend="pandas")
    back = list(zip(frame["first"], frame["second"], strict=True))
    nulls = [pair not in truth for pair in back]
    own = [pair for pair in one if pair.names not in truth]
    before = one[: next((i for i, pair in enumerate(one) if pair.names in truth), 0)]
    return [
        {
            "problem": name,
            "first, one model": one[0].names in truth if truth else np.nan,
            "before it": len(before) if truth else np.nan,
            "of these marked": sum(not can_be_ranked(pair) for pair in before) if truth else np.nan,
            "marked": sum(not can_be_ranked(pair) for pair in one),
            "first, replicated": back[0] in truth if truth else np.nan,
            "replicated": frame["replicated"][~np.array(nulls)].max() if truth else np.nan,
            "null": frame["replicated"][nulls].max(),
            "p below .05, one model": np.mean([pair.p_value < 0.05 for pair in own]),
            "p below .001, one model": np.mean([pair.p_value < 0.001 for pair in own]),
            "p below .05, replicated": (frame["p_value"][nulls] <= 0.05).mean(),
        }
    ]


def measure_intervals(n_rows: int, seed: int) -> list[Row]:
    """Intervals of x0 x1 (level + x2): whether they hold the truth, and what is found where it is 0."""
    rows = np.random.default_rng(seed).normal(size=(n_rows, 3))
    made = []
    for level in (0.0, 0.2, 1.0):
        pair = rhale.interactions(partial(noisy, level), rows, pairs=[("x0", "x1")])["x0", "x1"]
        low, high = pair.strength_ci()
        made.append(
            {
                "level": level,
                "n_rows": n_rows,
                "strength": pair.strength,
                "raw": pair.strength_raw,
                "covers": low <= level <= high,
                "found": pair.p_value < 0.05,
            }
        )
    return made


def measure_partners(name: str, seed: int) -> list[Row]:
    """Who goes with the spread of x0, by an explanation alone."""
    problem = PROBLEMS[name]
    rows = problem.draw(2000, seed)
    found = rhale.explain(problem.function, rows, gradient=problem.gradient).partners("x0")
    shares = {partner.feature: partner.share for partner in found}
    proxies = {partner.feature: partner.is_proxy_of for partner in found}
    return [
        {
            "problem": name,
            "x1": shares.get("x1", np.nan),
            "x2": shares.get("x2", np.nan),
            "x1 as a proxy": proxies.get("x1") is not None,
            "x2 as a proxy": proxies.get("x2") == "x1",
            "unexplained": found.unexplained,
        }
    ]


def list_tasks(plan: Plan) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    """Everything that is measured, one task at a time."""
    for name in PROBLEMS:
        for n_rows, n_seeds in plan.exact.items():
            for seed in range(FIRST, FIRST + n_seeds):
                yield "exact", partial(measure_exact, name, n_rows, seed)
        for seed in range(FIRST, FIRST + plan.trees):
            yield "trees", partial(measure_trees, name, seed)
        for seed in range(FIRST, FIRST + plan.exact[2000]):
            yield "partners", partial(measure_partners, name, seed)
    for name in REFITTED:
        for seed in range(FIRST, FIRST + plan.refits):
            yield "refits", partial(measure_refits, name, seed)
    for n_rows, n_seeds in plan.intervals.items():
        for seed in range(FIRST, FIRST + n_seeds):
            yield "intervals", partial(measure_intervals, n_rows, seed)


# --- writing -----------------------------------------------------------------------------------

ABOUT = """
## Pairs

`accuracy/pairs.py{option}`, seeds from {first} on; cells were chosen on seeds 0 to 39, bars of partners on seeds below 520, nothing on these. Functions of `problems.PAIRED`, ten features. *Ratio*: strength by the true one, of the
strongest pair; *read in the middle*: of 20 equal cells, as R's packages do. *Null*: the largest strength of a pair that does not act together, in deviations of the predictions. *Surface*: root mean
square error at the rows.
"""
TREES = """
LightGBM (100 trees of 15 leaves) that learned the same functions from {learned} rows with noise of {noise} deviations. *AUC*: of pairs that act together
against others. The model has learned part of a product only (its tails are missing), so nobody's ratio is 1; pairs of the model's own making are nulls here.
"""
REFITS = """
One LightGBM model, and {trainings} of the same learner on half-samples of the same {learned} rows; {seeds} seeds, at which nothing was chosen (that .8 is near was said before). *First*: the true pair comes first, by
strength in the one model, and by `replicated`. *Before it*: pairs that stand before the true one in the one model, and how many of them are marked as pairs that it cannot rank, of all that are marked (of 45).
*Null*: the largest `replicated` of a false pair. Shares of the false pairs with a small p: of one model p is of "no interaction in this model", and a learned one has them; of trainings it is of what comes back.
*Lines*: x0 x1 + x2 + x3 / 2.
"""
INTERVALS = """
x0 x1 (level + x2) as a black box: what the interval of the strength, 95 %, covers, and how often p is below .05; 1,000 draws each with `--full`.
"""
PARTNERS = """
Partners of x0, from `rhale.explain` alone (2,000 rows, slopes): share of its spread that goes with x1 and with x2, how often either is taken for a
proxy, and what goes with nobody.
"""


def average(rows: list[Row], name: str) -> float:
    """Mean of one score, where it is defined."""
    values = np.array([row[name] for row in rows], dtype=float)
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def as_cell(value: float, digits: int = 2) -> str:
    """A number, or nothing."""
    return "" if np.isnan(value) else f"{value:.{digits}f}"


def write_refits(found: list[Row]) -> list[str]:
    """What one model and what trainings say of the same pairs."""
    small = ("replicated", "null")
    names = [name for name in found[0] if name != "problem"]
    lines = [
        [problem, *(as_cell(average(some, name), 3 if name in small else 2) for name in names)]
        for (problem,), some in group(found, "problem").items()
    ]
    seeds = max(len(some) for some in group(found, "problem").values())
    about = REFITS.format(trainings=TRAININGS, learned=f"{LEARNED:,}", seeds=seeds)
    return [about, table(["", *names], lines)]


def write(found: dict[str, list[Row]], plan: Plan) -> None:
    """Write the section."""
    scores = ("by slopes", "as a black box", "in the middle", "null", "right", "error")
    exact = [
        [
            name,
            n,
            *(
                as_cell(average(some, score), 3 if score in ("null", "error") else 2)
                for score in scores
            ),
        ]
        for (name, n), some in group(found["exact"], "problem", "n_rows").items()
    ]
    trees = [
        [name, way, *(as_cell(average(some, score)) for score in ("auc", "first", "ratio", "null"))]
        for (name, way), some in group(found["trees"], "problem", "way").items()
    ]
    intervals = [
        [
            level,
            n,
            *(as_cell(average(some, score), 3) for score in ("strength", "raw", "covers", "found")),
        ]
        for (level, n), some in group(found["intervals"], "level", "n_rows").items()
    ]
    scores = ("x1", "x2", "x1 as a proxy", "x2 as a proxy", "unexplained")
    partners = [
        [name, *(as_cell(average(some, score)) for score in scores)]
        for (name,), some in group(found["partners"], "problem").items()
    ]
    option = " --full" if plan is FULL else ""
    write_part(
        "pairs",
        ABOUT.format(option=option, first=FIRST),
        table(
            [
                "",
                "rows",
                "ratio, slopes",
                "ratio, black box",
                "read in the middle",
                "null",
                "ranked right",
                "surface",
            ],
            exact,
        ),
        TREES.format(learned=f"{LEARNED:,}", noise=NOISE),
        table(["", "", "AUC", "a true one first", "ratio", "null"], trees),
        *write_refits(found["refits"]),
        INTERVALS,
        table(["level", "rows", "strength", "with noise", "covered", "p < .05"], intervals),
        PARTNERS,
        table(["", "x1", "x2", "x1 a proxy", "x2 a proxy of x1", "unexplained"], partners),
    )


KINDS = ("exact", "trees", "refits", "intervals", "partners")


def main() -> None:
    """Measure, and write the section of the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)
    plan = FULL if asked.full else QUICK
    found: dict[str, list[Row]] = {kind: [] for kind in KINDS}
    tasks = list(list_tasks(plan))
    for done, (kind, rows) in enumerate(run_all(tasks, asked.jobs)):
        found[kind] += rows
        print(f"\r{done + 1} of {len(tasks)}", end="", file=sys.stderr)
    write(found, plan)


if __name__ == "__main__":
    main()
