"""How often 95 % intervals cover the curve over the population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from parts import FloatArray, Function, write_part
from report import table
from spreads import TREES, fit, real_tables

import rhale

SIZES, N_RUNS, SEED = (200, 2000), 200, 2027
SHARES = np.linspace(0.02, 0.98, 17)
POPULATION = 400_000  # rows that stand for it
ABOUT = """
## Intervals

`accuracy/intervals.py`. Share of {runs} draws of the rows in which the 95 % interval covers the true curve,
which is zero on average over the *population* the rows come from: mean over 17 points from the 2 % to the
98 % quantile of x, and the worst of them. *Searched bins* are those of `Adaptive()`, looked for in the same
rows. *Given bins* are one line, or 20 constant bins. *Size* is how often importance ± 1.96 errors covers the
deviation of the true curve. The draws are not those that anything was chosen on.
"""
WHAT = """
An interval says where the curve of this model lies over the population. The variance of the centring, gaps
and the search for bins are part of it; how the model would differ after training on other data is not. With
the tails of t with two degrees of freedom the deviation of x itself is infinite, and nothing estimated from
rows can cover what it does to a mean; with three, sizes are covered too rarely. Where a gap hides a rise
that nothing beside it tells, the interval behind it is as wide as what could be there.
"""

REAL_SIZES, REAL_DRAWS, REAL_SEED = (300, 1_000), 8, 20270401
REAL_ROWS, N_REFERENCE, NEAREST, MOST_NEAR = 20_000, 80, 0.015, 500
TOO_BAD = 1.3  # times the error of ALE with 40 bins
REAL: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "diamonds": ("LightGBM", ("x", "y", "carat")),
    "Computers": ("LightGBM", ("hd",)),
    "DoctorContacts": ("LightGBM", ("linc", "age")),
    "California": ("LightGBM", ("longitude", "median_income", "population")),
    "SLID": ("HistGradientBoosting", ("age", "education")),
    "HI": ("XGBoost", ("husby", "experience")),
    "BudgetFood": ("HistGradientBoosting", ("totexp", "age")),
}
ABOUT_REAL = f"""
**Trees on real tables.** Models learn from up to {REAL_ROWS:,} rows of a table and are explained on {REAL_DRAWS} draws of 300 and
of 1,000 of these rows, and on all of them: how often the 95 % interval covers the curve of the whole table (between
its quantiles of 2 and 98 %; increments between {N_REFERENCE} places, each of the nearest {NEAREST:.1%} of the rows, by predictions),
half its width and the mean error of the curve, both over the deviation of that curve, and the same error of ALE
with 20 and 40 quantile bins. *Predictions* is the same model as a function that can only be asked: jumps become
ramps as wide as a window there, which its intervals do not count. Four of the features
were the worst of 108 in a review (diamonds x and y, Computers hd, DoctorContacts linc), so their mean is no estimate
for tables at large. Nothing was chosen on these features.
"""


@dataclass(frozen=True)
class Shape:
    """Rows with a known curve: how x is drawn, mean effect, spread, the curve, and bins to give."""

    x: Any
    mean: Function
    std: Function
    curve: Function
    bins: Any = None


def clusters(rng: np.random.Generator, n: int) -> FloatArray:
    """Two clusters, and nothing between them."""
    return np.where(rng.random(n) < 0.5, rng.normal(-2, 0.3, n), rng.normal(2, 0.3, n))


def uniform(rng: np.random.Generator, n: int) -> FloatArray:
    """Values between 0 and 1."""
    return rng.random(n)


def normal(rng: np.random.Generator, n: int) -> FloatArray:
    """Standard normal values."""
    return rng.normal(size=n)


def even(size: float) -> Function:
    """Noise of one size."""
    return lambda x: np.full(x.shape, size)


def line(x: FloatArray) -> Any:
    """One linear bin."""
    return rhale.Edges([x.min(), x.max()], linear=True)


SHAPES: Mapping[str, Shape] = {
    "line, uniform": Shape(uniform, even(3.0), even(0.2), lambda x: 3 * x, line),
    "parabola, u-shaped": Shape(
        lambda rng, n: rng.beta(0.5, 0.5, n), lambda x: 4 * x, even(0.5), lambda x: 2 * x**2, line
    ),
    "parabola, normal, fan": Shape(
        normal, lambda x: 2 * x, lambda x: 0.1 + np.abs(x), np.square, line
    ),
    "sine, uniform": Shape(
        uniform, lambda x: np.cos(8 * x), even(0.4), lambda x: np.sin(8 * x) / 8, lambda _: 20
    ),
    "sine, lognormal": Shape(
        lambda rng, n: np.exp(0.8 * rng.normal(size=n)),
        lambda x: np.cos(2 * x),
        even(0.4),
        lambda x: np.sin(2 * x) / 2,
    ),
    "V, normal": Shape(normal, np.sign, even(0.7), np.abs),
    "step, uniform": Shape(
        uniform,
        lambda x: np.where(x < 0.4, 0.0, 2.0),
        even(0.8),
        lambda x: 2 * np.maximum(x - 0.4, 0),
    ),
    "hump in a gap": Shape(
        clusters, lambda x: 1 / np.cosh(x / 2) ** 2, even(0.5), lambda x: 2 * np.tanh(x / 2)
    ),
    "rise in a gap": Shape(
        clusters,
        lambda x: 1 / (1 + np.exp(-3 * x)),
        even(0.3),
        lambda x: np.logaddexp(0, 3 * x) / 3,
    ),
    "line, 60 % zeros": Shape(
        lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.normal(size=n)),
        even(2.0),
        even(0.5),
        lambda x: 2 * x,
        line,
    ),
    "decay, exponential": Shape(
        lambda rng, n: rng.exponential(size=n),
        lambda x: np.exp(-x),
        even(0.3),
        lambda x: -np.exp(-x),
    ),
    "waves, 30 whole numbers": Shape(
        lambda rng, n: rng.integers(0, 30, n) * 1.0,
        lambda x: np.sin(x / 5),
        even(0.6),
        lambda x: -5 * np.cos(x / 5),
    ),
    "tanh, t3": Shape(
        lambda rng, n: rng.standard_t(3, n),
        lambda x: 2 * np.tanh(x),
        lambda x: 0.5 + 0.1 * np.abs(x),
        lambda x: 2 * np.logaddexp(x, -x),
    ),
    "tanh, t2": Shape(
        lambda rng, n: rng.standard_t(2, n),
        lambda x: 2 * np.tanh(x),
        even(0.5),
        lambda x: 2 * np.logaddexp(x, -x),
    ),
}


def cover(shape: Shape, n: int, bins: Any, runs: int = N_RUNS) -> tuple[FloatArray, float]:
    """Share of draws whose intervals cover the truth, at each point; and the same of importance."""
    everyone = shape.curve(x := shape.x(np.random.default_rng(SEED), POPULATION))
    places = np.unique(np.quantile(x, SHARES))
    truth, size = shape.curve(places) - everyone.mean(), everyone.std()
    hits, sizes = np.zeros(places.size), 0
    for run in range(runs):
        rng = np.random.default_rng([SEED, n, run])
        x = shape.x(rng, n)
        d = shape.mean(x) + shape.std(x) * rng.normal(size=n)
        found = rhale.effect(x, d, bins=bins(x) if bins else None)
        low, high = found.ci(places)
        hits += (low <= truth) & (truth <= high)
        sizes += abs(found.importance - size) <= 1.96 * found.importance_error
    return hits / runs, sizes / runs


def curve_of_table(
    predict: Function, rows: FloatArray, s: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Curve of a table by brute force: places, shares of the rows nearest to each, and heights."""
    order = np.argsort(rows[:, s], kind="stable")
    x, half = rows[order, s], int(NEAREST * len(rows) / 2)
    ranks = np.linspace(0, x.size - 1, N_REFERENCE + 1).round().astype(int)
    places = np.unique(x[ranks])
    rises = np.empty(places.size - 1)
    for k, (low, high) in enumerate(pairwise(places)):
        first, last = np.searchsorted(x, low), np.searchsorted(x, high, "right")
        middle = (first + last) // 2
        near = order[min(first, max(middle - half, 0)) : max(last, middle + half)]
        asked = rows[near if near.size <= MOST_NEAR else rng.choice(near, MOST_NEAR, replace=False)]
        ends = np.vstack([asked, asked])
        ends[:, s] = np.repeat([low, high], len(asked))
        before, behind = np.split(np.asarray(predict(ends), dtype=float), 2)
        rises[k] = np.mean(behind - before)
    own = np.searchsorted((places[1:] + places[:-1]) / 2, x)
    share, curve = np.bincount(own, minlength=places.size) / x.size, np.append(0, np.cumsum(rises))
    return places, share, curve - share @ curve


def cover_tables() -> Iterator[list[Any]]:
    """Table and feature, rows; covered, width and error of what is walked and asked; errors of ALE."""
    for name, frame in real_tables():
        if name not in REAL:
            continue
        kind, features = REAL[name]
        frame = frame.dropna().sample(frac=1, random_state=1)[:REAL_ROWS].astype(float)
        rows, columns = frame.to_numpy()[:, :-1], list(frame.columns)
        model = fit(TREES[kind], rows, frame.to_numpy()[:, -1])
        asked = [columns.index(feature) for feature in features]
        rng = np.random.default_rng(REAL_SEED)
        truths = [curve_of_table(model.predict, rows, s, rng) for s in asked]
        for n in (*REAL_SIZES, len(rows)):
            found = np.zeros((REAL_DRAWS if n < len(rows) else 1, len(asked), 8))
            for draw in range(len(found)):
                rng = np.random.default_rng([REAL_SEED, n, draw])
                some = rows[rng.choice(len(rows), n, replace=False)]
                # a function of its own hides whose predictions it gives
                ways: list[tuple[Any, Any]] = [
                    (model, None),
                    (lambda z, m=model: m.predict(z), None),
                ]
                ways += [(model.predict, rhale.Quantile(k)) for k in (20, 40)]
                for way, (f, bins) in enumerate(ways):
                    more = {"method": "ale", "bins": bins} if bins else {}
                    effects = rhale.explain(f, some, features=asked, n_jobs=1, **more)
                    for k, (effect, s) in enumerate(zip(effects.values(), asked, strict=True)):
                        places, share, curve = truths[k]
                        below = np.cumsum(share)
                        inside = (below > 0.02) & (below < 0.98)
                        inside &= (places >= some[:, s].min()) & (places <= some[:, s].max())
                        at, size = places[inside], np.sqrt(share @ curve**2)
                        error = np.abs(effect.curve(at) - curve[inside]).mean() / size
                        if bins:
                            found[draw, k, 4 + way] = error
                            continue
                        low, high = effect.ci(at)
                        covered = np.mean((low <= curve[inside]) & (curve[inside] <= high))
                        found[draw, k, 3 * way : 3 * way + 3] = (
                            covered, np.mean(high - low) / 2 / size, error,
                        )  # fmt: skip
            for feature, numbers in zip(features, found.mean(axis=0), strict=True):
                print(name, feature, n, numbers.round(3), flush=True)
                yield [f"{name} {feature}", n, *numbers]


def show_tables() -> tuple[str, str]:
    """The table, and what it comes to."""
    found = list(cover_tables())
    head = ["table and feature", "rows", "covered", "width", "error", "ALE 20", "ALE 40"]
    head += ["predictions: covered", "width", "error"]
    lines, told = [], []
    for case, n, *numbers in found:
        walked, asked, ale = numbers[:3], numbers[3:6], numbers[6:]
        lines.append([case, f"{n:,}", f"{walked[0]:.0%}", *(f"{v:.2f}" for v in walked[1:])])
        lines[-1] += [f"{v:.2f}" for v in ale]
        lines[-1] += [f"{asked[0]:.0%}", *(f"{v:.2f}" for v in asked[1:])]
    for n in (*REAL_SIZES, None):
        some = np.array([v for _, rows, *v in found if rows == n or (n is None and rows > 1_000)])
        ratio, worse = (
            np.median(some[:, 2] / some[:, 6]),
            np.mean(some[:, 2] > TOO_BAD * some[:, 7]),
        )
        told.append(
            f"{f'Of {n:,} rows' if n else 'Of all rows'}: error {ratio:.2f} of ALE with 20 bins "
            f"(median), more than {TOO_BAD} times that of ALE with 40 in {worse:.0%}"
        )
        if n is not None:  # the curve of all rows is no draw
            told[-1] += (
                f"; covered {some[:, 0].mean():.1%} (least {some[:, 0].min():.0%}), by predictions "
                f"{some[:, 3].mean():.1%} (least {some[:, 3].min():.0%})"
            )
        told[-1] += "."
    return table(head, lines), "\n".join(told)


def shown(shares: FloatArray) -> str:
    """Mean and worst."""
    return f"{shares.mean():.1%} ({shares.min():.0%})"


def main() -> None:
    """Write the section."""
    rows = []
    for name, shape in SHAPES.items():
        for n in SIZES:
            searched, sizes = cover(shape, n, None)
            given = shown(cover(shape, n, shape.bins)[0]) if shape.bins else ""
            rows.append([name, f"{n:,}", shown(searched), given, f"{sizes:.0%}"])
    head = ["effect and x", "rows", "searched bins", "given bins", "size"]
    known = table(head, rows)
    write_part("intervals", ABOUT.format(runs=N_RUNS), known, WHAT, ABOUT_REAL, *show_tables())


if __name__ == "__main__":
    main()
