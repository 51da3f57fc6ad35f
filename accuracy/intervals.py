"""How often 95 % intervals cover the curve over the population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from parts import FloatArray, Function, write_part
from report import table

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
    write_part("intervals", ABOUT.format(runs=N_RUNS), table(head, rows), WHAT)


if __name__ == "__main__":
    main()
