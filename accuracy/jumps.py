"""Curves and intervals of walked trees against the models' own ALE: writes .parts/jumps.md.

    python accuracy/jumps.py [--full] [--jobs N] [--keep FOLDER]

Quick by default: a few cases, a minute or two. `--full` measures all models and problems; `--keep`
names a folder for the truths, so that a second run does not ask for them again.
"""

from __future__ import annotations

import argparse
import inspect
import multiprocessing
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from own_ale import N_HALVES, SHARE, OwnAle, keep_ale, measure_ale
from parts import FloatArray, Function, geometric_mean, write_part
from report import table
from stepped import MODELS, PROBLEMS, Case, train

import rhale

SEED = 10  # of the models
ALE_BINS = (20, 40, 100)
SHARES = np.linspace(0.02, 0.98, 17)
LEAST_RATIO = 0.02  # a smaller one counts as this: luck, not accuracy
SAME = 1 - 1e-6  # ratios above differ from 1 by rounding
FIRST = "HistGradientBoosting"
Row = dict[str, Any]

CURVES: tuple[Case, ...] = (
    ("additive", 0),
    ("additive", 1),
    ("additive", 2),
    ("sine_product", 0),
    ("jump", 0),
    ("jump, rho .9", 0),
    ("threshold", 0),
    ("clusters", 0),
    ("gap", 0),
    ("skewed", 0),
    ("heavy tails", 0),
    ("exp", 0),
    ("correlated, rho .5", 0),
    ("correlated, rho .9", 0),
    ("correlated, rho .99", 0),
    ("kink", 0),
    ("friedman", 0),
    ("friedman", 3),
    ("ladder", 0),
)
MANY_ROWS = ("jump", "sine_product", "clusters", "correlated, rho .9", "skewed", "friedman")
ABRUPT = ("jump", "gap", "clusters", "ladder")
COVERED: tuple[Case, ...] = (
    ("sine_product", 0),
    ("jump", 0),
    ("threshold", 0),
    ("clusters", 0),
    ("correlated, rho .5", 0),
    ("correlated, rho .9", 0),
    ("skewed", 0),
    ("friedman", 0),
    ("exp", 0),
    ("ladder", 0),
)
COVERED_TOO: tuple[Case, ...] = (("gap", 0), ("kink", 0), ("additive", 1), ("friedman", 3))
ABOUT = """
## Jumps of trees

`accuracy/jumps.py{option}`. Models learn from 5000 rows with noise and are explained on other rows. The truth is the
*model's own* ALE: for each of its thresholds, the mean over {share:.0%} of {rows:,} fresh rows around it of what predictions
above it are more than below it, in {halves} halves that tell its noise. *Windows* is `walk=False`: the same model
asked as a black box, by windows of rows; *jumps* is what walking its trees gives. *ALE\\** is quantile ALE with {bins} bins, whichever is best in that case, chosen
with the truth in hand. Errors are means over the rows of the centred curve; *tail* is the outer 2 % of x on each side, even in
x; *function* is the error against the function that the model learned. Means of ratios are geometric, a ratio below
{least} counting as that.
"""
WHAT = """
The staircase is nearer to the model; the function that was learned is smooth in most of these problems, so that the
drawn curve (`smooth=True`) is nearer to it. Coverage is that of the 95 % interval at {places} places from the 2 % to the
98 % quantile, against the curve centred over the population, and over the rows in hand; in brackets the lowest case.
"""


@dataclass(frozen=True)
class Plan:
    """What is measured."""

    kinds: Sequence[str]
    curves: Sequence[Case]
    runs: dict[int, int]  # number of rows -> draws of them
    covered: Sequence[Case]
    cover_runs: dict[int, int]
    truth_rows: int


@dataclass(frozen=True)
class Truths:
    """Where truths are kept, and from how many rows they are."""

    folder: Path
    n_rows: int


FULL = Plan(
    tuple(MODELS),
    CURVES,
    {500: 4, 2000: 2, 10_000: 1},
    COVERED + COVERED_TOO,
    {300: 100, 2000: 50},
    600_000,  # with 200,000 the noise is up to two fifths of the smallest errors
)
QUICK = Plan(
    (FIRST, "LightGBM"),
    tuple((name, 0) for name in ("sine_product", "correlated, rho .9", "additive", *ABRUPT)),
    {500: 2, 2000: 1},
    (("sine_product", 0), ("jump", 0), ("correlated, rho .9", 0)),
    {300: 20, 2000: 10},
    200_000,
)


# --- Measuring -----------------------------------------------------------------------------------


def truth_of(kind: str, case: Case, truths: Truths) -> OwnAle:
    """The model's own ALE, kept under the answers that the model gives to a few rows."""
    name, column = case
    draw, model = PROBLEMS[name].draw, train(kind, name, SEED)
    words = f"{kind} {name} {column} {truths.n_rows}".replace(",", "").replace(" ", "_")
    return keep_ale(
        truths.folder / f"{words}.npz",
        np.asarray(model.predict(draw(200, 8000))),
        partial(measure_ale, model, draw, column, truths.n_rows),
    )


def measure_curves(kind: str, case: Case, plan: Plan, truths: Truths) -> list[Row]:
    """Errors of all curves of one model and feature, a row for each draw of the rows."""
    (name, column), exact = case, truth_of(kind, case, truths)
    learned = list(PROBLEMS[name].truths.values())[column].curve
    found = []
    for n_rows, runs in plan.runs.items():
        if n_rows > 5000 and (name not in MANY_ROWS or column > 0):
            continue
        for run in range(runs):
            rows = PROBLEMS[name].draw(n_rows, seed=8200 + run)
            x = rows[:, column]
            curves = explain_all(train(kind, name, SEED), rows, column)
            own = {label: errors(curve, exact.curve, x) for label, curve in curves.items()}
            function = {label: errors(curve, learned, x) for label, curve in curves.items()}
            about = {"kind": kind, "problem": name, "column": column, "n_rows": n_rows}
            scores = {
                "model": {label: e[0] for label, e in own.items()},
                "tail": {label: e[1] for label, e in own.items()},
                "function": {label: e[0] for label, e in function.items()},
            }
            found.append({**about, **scores, "noise": exact.noise(x)})
    return found


def explain_all(model: Any, rows: FloatArray, column: int) -> dict[str, Function]:
    """The curves to compare."""
    jumps, windows = explain_both(model, rows, column)
    asked = rhale.models.wrap(model, walk=False)
    ale = {
        f"ale {k}": rhale.explain(
            asked, rows, features=[column], method="ale", bins=rhale.Quantile(k)
        )[0].curve
        for k in ALE_BINS
    }
    return {"jumps": jumps.curve, "drawn": drawn_curve(jumps), "windows": windows.curve, **ale}


def explain_both(model: Any, rows: FloatArray, column: int) -> tuple[rhale.Effect, rhale.Effect]:
    """What walking the trees gives, and what asking does."""
    asked = rhale.models.wrap(model, walk=False)
    return (
        rhale.explain(model, rows, features=[column])[0],
        rhale.explain(asked, rows, features=[column])[0],
    )


def drawn_curve(effect: rhale.Effect) -> Function:
    """The curve with small steps evened out, where there is one."""
    if "smooth" in inspect.signature(effect.curve).parameters:
        curve: Callable[..., FloatArray] = effect.curve
        return partial(curve, smooth=True)
    return effect.curve


def errors(curve: Function, exact: Function, x: FloatArray) -> tuple[float, float]:
    """Mean error over the rows of the centred curve, and over the tails, even in x."""
    gap = curve(x) - exact(x)
    low, high = np.quantile(x, [0.02, 0.98])
    tails = np.concatenate([np.linspace(x.min(), low, 100), np.linspace(high, x.max(), 100)])
    far = curve(tails) - exact(tails) - gap.mean()
    return float(np.abs(gap - gap.mean()).mean()), float(np.abs(far).mean())


def measure_cover(case: Case, draws: tuple[int, range], truths: Truths) -> list[Row]:
    """Whether intervals cover the model's own curve, centred over the population and the rows."""
    (name, column), exact, (n_rows, runs) = case, truth_of(FIRST, case, truths), draws
    found = []
    for run in runs:
        rows = PROBLEMS[name].draw(n_rows, seed=90_000 + run)
        x = rows[:, column]
        places = np.quantile(x, SHARES)
        row: Row = {"problem": name, "column": column, "n_rows": n_rows}
        both = explain_both(train(FIRST, name, SEED), rows, column)
        for label, effect in zip(("jumps", "windows"), both, strict=True):
            low, high = effect.ci(places)
            slack = 1e-9 * np.ptp(exact.curve(x))  # an exact curve has no width to spare
            for centre, level in (("population", 0.0), ("rows", exact.curve(x).mean())):
                curve = exact.curve(places) - level
                row[f"{label}, {centre}"] = (low - slack <= curve) & (curve <= high + slack)
        found.append(row)
    return found


# --- Working in parallel -------------------------------------------------------------------------


def tasks_of(plan: Plan, folder: Path) -> list[tuple[str, Callable[[], list[Row]]]]:
    """What there is to do, the longest first; a case is one task, intervals are several."""
    truths = Truths(folder, plan.truth_rows)
    curves = [
        ("curves", partial(measure_curves, kind, case, plan, truths))
        for kind in reversed(plan.kinds)  # forests take longest
        for case in plan.curves
    ]
    covers = [
        ("covers", partial(measure_cover, case, (n_rows, range(begin, begin + 10)), truths))
        for n_rows, runs in plan.cover_runs.items()
        for begin in range(0, runs, 10)
        for case in plan.covered
    ]
    return curves + covers  # intervals find the truths of the curves


def run_task(task: tuple[str, Callable[[], list[Row]]]) -> tuple[str, list[Row]]:
    """Do one of them, wherever."""
    return task[0], task[1]()


def measure(plan: Plan, folder: Path, jobs: int) -> dict[str, list[Row]]:
    """Do everything, in several processes."""
    found: dict[str, list[Row]] = {"curves": [], "covers": []}
    tasks = tasks_of(plan, folder)
    for number, (name, rows) in enumerate(run_all(tasks, jobs), start=1):
        found[name] += rows
        print(f"\r{number} of {len(tasks)}", end="", file=sys.stderr, flush=True)
    return found


def run_all(
    tasks: Sequence[tuple[str, Callable[[], list[Row]]]], jobs: int
) -> Iterator[tuple[str, list[Row]]]:
    """Results in the order of the tasks."""
    if jobs == 1:
        yield from map(run_task, tasks)
        return
    context = multiprocessing.get_context("spawn")  # OpenMP does not survive a fork
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from pool.map(run_task, tasks)


# --- Writing -------------------------------------------------------------------------------------


def group(rows: Iterable[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows with the same values of some fields, in the order of their first one."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def mean_of(rows: Sequence[Row], score: str, label: str) -> float:
    """Mean error of a curve; of the best ALE for "ALE*"."""
    if label == "ALE*":
        return min(mean_of(rows, score, f"ale {k}") for k in ALE_BINS)
    return float(np.mean([row[score][label] for row in rows]))


def ratio(rows: Iterable[Row], score: str, label: str, to: str) -> float:
    """Geometric mean over the cases of the error of one curve to that of another."""
    cases = group(rows, "kind", "problem", "column", "n_rows").values()
    found = [mean_of(some, score, label) / mean_of(some, score, to) for some in cases]
    return float(geometric_mean(np.maximum(found, LEAST_RATIO)))


def worst_ratio(rows: Iterable[Row], label: str) -> float:
    """Largest ratio to the best ALE among shared jumps, gaps and few values, model by model."""
    cases = group((r for r in rows if r["problem"] in ABRUPT), "kind", "problem").values()
    return max(ratio(some, "model", label, "ALE*") for some in cases)


def coverage(rows: Iterable[Row], label: str) -> tuple[float, float]:
    """Mean over the cases of the share that is covered, and the lowest case."""
    cases = [
        np.mean([r[label] for r in some]) for some in group(rows, "problem", "column").values()
    ]
    return float(np.mean(cases)), float(np.min(cases))


def targets(found: dict[str, list[Row]]) -> str:
    """One line for each target."""
    curves, both = found["curves"], ("windows", "jumps")
    lines = [
        ["curve / ALE*", *(ratio(curves, "model", w, "ALE*") for w in both), "<= .45"],
        ["worst of jump, gap, clusters, ladder", *(worst_ratio(curves, w) for w in both), "<= 1.1"],
        ["tail / windows", *(ratio(curves, "tail", w, "windows") for w in both), "<= .35"],
        ["drawn, function / windows", 1.0, ratio(curves, "function", "drawn", "windows"), "<= .8"],
    ]
    for (n_rows,), some in group(found["covers"], "n_rows").items():
        shares = [coverage(some, f"{w}, population") for w in both]
        shown = [f"{mean:.1%} ({low:.0%})" for mean, low in shares]
        lines.append([f"95 % intervals cover, N = {n_rows:,}", *shown, "92-97 %, none below 88 %"])
    return table(("what", "windows", "jumps", "target"), [[two(c) for c in line] for line in lines])


def two(cell: Any) -> str:
    """A number with two digits behind the point."""
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


COLUMNS = {
    "model / windows": ("model", "jumps", "windows"),
    "model / ALE*": ("model", "jumps", "ALE*"),
    "tail / windows": ("tail", "jumps", "windows"),
    "function / windows": ("function", "jumps", "windows"),
    "drawn: model / windows": ("model", "drawn", "windows"),
    "drawn: function / windows": ("function", "drawn", "windows"),
    "drawn: function / ALE*": ("function", "drawn", "ALE*"),
    "windows: model / ALE*": ("model", "windows", "ALE*"),
    "windows: function / ALE*": ("function", "windows", "ALE*"),
}


def share_better(rows: Iterable[Row], score: str, label: str) -> str:
    """Share of the cases in which a curve is nearer than that of windows."""
    cases = group(rows, "kind", "problem", "column", "n_rows").values()
    found = [mean_of(some, score, label) / mean_of(some, score, "windows") for some in cases]
    return f"{np.mean(np.array(found) < SAME):.0%}"


def by(rows: Sequence[Row], *keys: str) -> str:
    """Ratios of the curves for each value of some fields, and the noise of the truth."""
    lines = []
    for values, some in group(rows, *keys).items():
        noise = np.median([row["noise"] / row["model"]["jumps"] for row in some])
        name = ", x".join(
            str(v + 1 if key == "column" else v) for key, v in zip(keys, values, strict=True)
        )
        better = [share_better(some, "model", "jumps"), share_better(some, "function", "drawn")]
        ratios = [two(ratio(some, *c)) for c in COLUMNS.values()]
        lines.append([name, *ratios, *better, f"{noise:.0%}"])
    better = ["better: model", "better: drawn, function"]
    head = [keys[0].replace("_", " "), *COLUMNS, *better, "noise of the truth / error"]
    return table(head, lines)


def by_cover(rows: Sequence[Row]) -> str:
    """Coverage of each case."""
    labels = [f"{w}, {c}" for w in ("jumps", "windows") for c in ("population", "rows")]
    lines = [
        [
            f"{name}, x{column + 1}",
            f"{n_rows:,}",
            *(f"{np.mean([r[label] for r in some]):.1%}" for label in labels),
            f"{np.mean([r['jumps, population'] for r in some], axis=0).min():.0%}",
        ]
        for (name, column, n_rows), some in group(rows, "problem", "column", "n_rows").items()
    ]
    return table(("case", "rows", *labels, "worst place"), lines)


def section(found: dict[str, list[Row]], plan: Plan) -> Iterator[str]:
    """The paragraphs of the section."""
    yield ABOUT.format(
        option=" --full" if plan is FULL else "",
        share=SHARE,
        rows=plan.truth_rows,
        halves=N_HALVES,
        bins=", ".join(map(str, ALE_BINS)),
        least=LEAST_RATIO,
    )
    yield targets(found)
    yield WHAT.format(places=SHARES.size)
    for keys in (("kind",), ("n_rows",), ("problem", "column")):
        yield by(found["curves"], *keys)
    yield "Intervals, case by case:"
    yield by_cover(found["covers"])


def main() -> None:
    """Measure, and write the section."""
    parser = argparse.ArgumentParser(description="Measure walked trees against their own ALE.")
    parser.add_argument("--full", action="store_true", help="all models and problems")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--keep", type=Path, help="folder for the truths; none by default")
    given = parser.parse_args()
    plan = FULL if given.full else QUICK
    with tempfile.TemporaryDirectory() as scratch:
        found = measure(plan, given.keep or Path(scratch), given.jobs)
    write_part("jumps", *section(found, plan))


if __name__ == "__main__":
    main()
