"""Adaptive bins against the best number of equal bins, chosen by somebody who knows the truth."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from parts import FloatArray, Function, geometric_mean, read_at, write_part
from report import table

import rhale

SIZES, SEEDS = (1000, 10_000, 100_000), (101, 102)
N_BINS = (5, 7, 10, 14, 20, 28, 40, 56, 80, 110, 150, 200)
N_POINTS, FINE = 400, 40_001
LEAST = 1e-4  # of the deviation of the true effect: below that an error is none
ABOUT = """
## Against an oracle

`accuracy/oracle.py`. {means} mean effects on {places} distributions of x (among them clusters with
gaps between them, heavy tails, whole numbers and piles of zeros), each pair with one of {spreads} spreads,
{levels} sizes of noise and {noises} shapes of it. Errors are mean absolute ones at the 1-99 % quantiles of
the rows. The oracle takes, for each problem and each of effect, spread and curve by itself, the better of
`Fixed(K)` and `Quantile(K)` with the best K of {bins}, knowing the truth. Ratios to it, geometric
means, on seeds that no setting was chosen on; below 1 is better than the oracle.
"""
PLACE = """
"Lost" are the problems in which the oracle is better by more than 1.3. By distribution of x, effect / spread /
curve:
"""


MEANS: Mapping[str, Function] = {
    "zero": np.zeros_like,
    "line": np.positive,
    "parabola": lambda u: (u - 0.4) ** 2,
    "cubic": lambda u: (u - 0.5) ** 3 - 0.1 * u,
    "sine": lambda u: np.sin(2 * np.pi * u),
    "waves": lambda u: np.sin(6 * np.pi * u + 1),
    "fast waves": lambda u: np.sin(20 * np.pi * u),
    "chirp": lambda u: np.sin(3 / (0.15 + np.clip(u, 0, 1))),
    "growing waves": lambda u: u * np.sin(8 * np.pi * u),
    "step": lambda u: (u > 0.37) * 1.0,
    "stairs": lambda u: np.floor(np.clip(5 * u, 0, 4.99)),
    "box": lambda u: ((u > 0.82) & (u < 0.9)) * 1.0,
    "two signs": lambda u: np.sign(u - 0.2) * np.sign(u - 0.7),
    "kink": lambda u: np.where(u < 0.6, -u, 3 * u - 2.4),
    "hinge": lambda u: np.maximum(u - 0.7, 0),
    "sigmoid": lambda u: np.tanh(15 * (u - 0.5)),
    "bump": lambda u: np.exp(-((u - 0.3) ** 2) / 0.002),
    "growth": lambda u: np.exp(3 * np.minimum(u, 2)),
    "decay": lambda u: np.exp(-7 * np.maximum(u, -0.2)),
    "saw": lambda u: (4 * u) % 1.0,
}


def clusters(rng: np.random.Generator, n: int, centres: tuple[float, ...], size: float) -> Any:
    """Draw rows around some centres, and one in a hundred between them."""
    lone = rng.random(n) < 0.01
    x = rng.choice(centres, n) + rng.normal(0, size, n)
    return np.where(lone, rng.uniform(min(centres), max(centres), n), x)


PLACES: Mapping[str, Any] = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
    "t2": lambda rng, n: rng.standard_t(2, n),
    "u-shaped": lambda rng, n: rng.beta(0.5, 0.5, n),
    "two clusters": lambda rng, n: clusters(rng, n, (0.0, 3.0), 0.3),
    "four clusters": lambda rng, n: clusters(rng, n, (0.0, 1.0, 2.5, 6.0), 0.12),
    "whole numbers": lambda rng, n: rng.poisson(12, n) * 1.0,
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.4, 0.0, rng.gamma(2, size=n)),
}
SPREADS: Mapping[str, Function] = {
    "constant": np.ones_like,
    "rising": lambda u: 0.2 + 1.6 * np.clip(u, 0, 1),
    "jump": lambda u: np.where(u < 0.6, 1.5, 0.4),
    "wave": lambda u: 1 + 0.8 * np.sin(4 * np.pi * u),
    "V": lambda u: 0.2 + 2 * np.abs(np.clip(u, 0, 1) - 0.5),
    "patch": lambda u: np.where((u > 0.4) & (u < 0.55), 2.5, 0.7),
    "effect": np.zeros_like,
}
LEVELS = (0.05, 0.3, 1.0)
NOISES: Mapping[str, Any] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t5": lambda rng, n: rng.standard_t(5, n) / np.sqrt(5 / 3),
    "two-point": lambda rng, n: rng.choice([-1.0, 1.0], n),
    "skewed": lambda rng, n: rng.exponential(size=n) - 1,
}


@dataclass(frozen=True)
class Problem:
    """Rows with a known truth."""

    place: str
    x: FloatArray
    d: FloatArray
    mean: Function
    std: Function


class Reading(NamedTuple):
    """Effect, spread and curve at some places."""

    effect: FloatArray
    spread: FloatArray
    curve: FloatArray


def draw(seed: int, number: int, n: int) -> Problem:
    """Draw one problem: mean and place by its number, the rest by number and seed."""
    rng = np.random.default_rng([seed, number, n])
    place = list(PLACES)[number % len(PLACES)]
    raw = list(MEANS.values())[number // len(PLACES) % len(MEANS)]
    shape, level = rng.choice(list(SPREADS)), rng.choice(LEVELS)
    low, high = np.quantile(PLACES[place](rng, 20_000), [0.01, 0.99])
    size = float(np.std(raw(np.linspace(0, 1, 2001)))) or 1.0

    def mean(z: FloatArray) -> FloatArray:
        return raw((z - low) / (high - low)) / size

    def std(z: FloatArray) -> FloatArray:
        if shape == "effect":  # larger effects differ more
            return level * (0.1 + np.abs(mean(z)))
        return level * SPREADS[shape]((z - low) / (high - low))

    x = PLACES[place](rng, n)
    noise = NOISES[rng.choice(list(NOISES), p=[0.55, 0.15, 0.15, 0.15])]
    return Problem(place, x, mean(x) + std(x) * noise(rng, n), mean, std)


def truth(problem: Problem, z: FloatArray) -> Reading:
    """What is true at z."""
    fine = np.linspace(z[0], z[-1], FINE)
    middle = 0.5 * (fine[1:] + fine[:-1])
    curve = np.append(0.0, np.cumsum(problem.mean(middle) * np.diff(fine)))
    return Reading(problem.mean(z), problem.std(z), np.interp(z, fine, curve))


def read_equal(edges: FloatArray, x: FloatArray, d: FloatArray, z: FloatArray) -> Reading:
    """Constant bins at z, from rows in the order of x; empty bins are interpolated."""
    edges = np.unique(edges)
    cut = np.append(np.searchsorted(x, edges[:-1]), x.size)
    sums = np.diff(
        np.vstack([np.zeros(2), np.cumsum(np.column_stack([d, d**2]), axis=0)])[cut], axis=0
    )
    count, middle = np.diff(cut), 0.5 * (edges[1:] + edges[:-1])
    some, more = count > 0, count > 1
    level = np.interp(middle, middle[some], sums[some, 0] / count[some])
    squares = np.maximum(sums[more, 1] - sums[more, 0] ** 2 / count[more], 0) / (count[more] - 1)
    spread = np.interp(middle, middle[more], np.sqrt(squares))
    place = np.clip(np.searchsorted(edges, z, "right") - 1, 0, middle.size - 1)
    curve = np.append(0.0, np.cumsum(level * np.diff(edges)))
    return Reading(level[place], spread[place], np.interp(z, edges, curve))


def read_rhale(bins: Any, x: FloatArray, d: FloatArray, z: FloatArray) -> Reading:
    """Bins of rhale at z."""
    found = rhale.effect(x, d, bins=bins)
    effect, spread = read_at(found, z)
    return Reading(
        effect, np.interp(z, z[np.isfinite(spread)], spread[np.isfinite(spread)]), found.curve(z)
    )


def errors(found: Reading, true: Reading) -> list[float]:
    """Mean absolute errors of effect, spread and curve, the curve up to a constant."""
    gap = found.curve - true.curve
    gap -= gap.mean()
    return [
        float(np.abs(e).mean())
        for e in (found.effect - true.effect, found.spread - true.spread, gap)
    ]


def ratios(problem: Problem, bins: Any) -> FloatArray:
    """Errors of rhale divided by the oracle's, of effect, spread and curve."""
    order = np.argsort(problem.x, kind="stable")
    x, d = problem.x[order], problem.d[order]
    z = np.quantile(x, np.linspace(0.01, 0.99, N_POINTS))
    true = truth(problem, z)
    least = LEAST * np.array([1.0, 1.0, z[-1] - z[0]])
    oracle = [
        errors(read_equal(edges, x, d, z), true)
        for k in N_BINS
        for edges in (np.linspace(x[0], x[-1], k + 1), np.quantile(x, np.linspace(0, 1, k + 1)))
    ]
    best = np.maximum(np.min(oracle, axis=0), least)
    return np.maximum(errors(read_rhale(bins, x, d, z), true), least) / best


def compare(n: int, seeds: tuple[int, ...], every: int, bins: Any) -> tuple[FloatArray, list[str]]:
    """Ratios of all problems of a size, and their distributions of x."""
    numbers = range(seeds[0] % every, len(MEANS) * len(PLACES), every)
    made = [draw(seed, number, n) for seed in seeds for number in numbers]
    return np.array([ratios(problem, bins) for problem in made]), [p.place for p in made]


def main() -> None:
    """Write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--every", type=int, default=1, help="take each so many-th problem")
    asked = parser.parse_args()
    rows, by_place = [], {place: [place] for place in PLACES}
    for n in asked.sizes:
        found, places = compare(n, tuple(asked.seeds), asked.every, rhale.Adaptive())
        lost = (found > 1.3).mean(axis=0)
        rows.append(
            [f"{n:,}", *(f"{v:.2f}" for v in geometric_mean(found)), *(f"{v:.0%}" for v in lost)]
        )
        for place in PLACES:
            mine = geometric_mean(found[np.array(places) == place])
            by_place[place] += [" / ".join(f"{v:.2f}" for v in mine)]
    counts = {"means": len(MEANS), "places": len(PLACES), "spreads": len(SPREADS)}
    shapes = {"levels": len(LEVELS), "noises": len(NOISES), "bins": ", ".join(map(str, N_BINS))}
    head = ["effect", "spread", "curve"]
    write_part(
        "oracle",
        ABOUT.format(**counts, **shapes),
        table(["rows", *head, *(f"{name}, lost" for name in head)], rows),
        PLACE,
        table(["x", *(f"N = {n:,}" for n in asked.sizes)], list(by_place.values())),
    )


if __name__ == "__main__":
    main()
