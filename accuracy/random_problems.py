"""Random problems with known truth: bins of all kinds against the method of the paper's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from parts import FloatArray, Function, centred_gap, geometric_mean, read_at, write_part
from report import table

import rhale

SEEDS, N_PROBLEMS = (1, 2, 3, 4, 5), 400
SIZES = (60, 100, 200, 500, 1000, 5000)
N_POINTS, CUT_RUNS = 1500, 1000
LEAST, MOST = 1 / 50, 50.0  # one lucky problem must not decide a mean
TEXT = rhale.Optimal(max_bins=20)
WAYS: Mapping[str, Any] = {
    "`Adaptive()`": rhale.Adaptive(),
    "`Adaptive(spread_bins='mean')`": rhale.Adaptive(spread_bins="mean"),
    "`Adaptive(spread_bins='own')`": rhale.Adaptive(spread_bins="own"),
    "`Adaptive(linear=False)`": rhale.Adaptive(linear=False),
    "`Adaptive(penalty=1.5)`": rhale.Adaptive(penalty=1.5),
    "`Adaptive(penalty=3)`": rhale.Adaptive(penalty=3.0),
    "`Adaptive(weight='geometric')`": rhale.Adaptive(weight="geometric"),
    "`Adaptive(weight='width')`": rhale.Adaptive(weight="width"),
    "`Optimal()`": rhale.Optimal(),
    "`Fixed(20)`": rhale.Fixed(20),
    "`Quantile(20)`": rhale.Quantile(20),
}
ABOUT = """
## Random problems

`accuracy/random_problems.py`. Each problem draws a number of rows (60 to 5 000), a distribution of x
(uniform, normal, exponential, lognormal, t with 3 degrees of freedom, U-shaped, whole numbers, two
clusters), a true mean effect (constant, steps, waves, kinks, a sigmoid, a parabola), a true spread
(constant, rising, a jump, a wave) and a shape of the noise (normal, two-point, t with 5, skewed).
Errors are integrated over the 1-99 % range of x: *effect* of the mean effect, *spread* of the spread
between rows, *curve* of the centred curve. Numbers are ratios to the paper's text (20 equal cells,
discount 0.2, N/20 rows), geometric means over {n} problems; below 1 is better. The settings of
`Adaptive` were chosen on other problems.
"""
CUTS = """
How often a constant effect is cut, which it should not be, in {runs} runs:
"""
WEIGHT = """
Counting a bin's misfit by rows is the one choice that leaves a constant effect whole at any number of
rows. Width, the paper's choice, and the geometric mean of both reward cuts wherever the density of
rows changes, and the reward grows with N.
"""


@dataclass(frozen=True)
class Task:
    """One random problem: its rows and its truth on [low, high]."""

    x: FloatArray
    d: FloatArray
    mean: Function
    std: Function
    low: float
    high: float


def draw_x(rng: np.random.Generator, n: int, kind: int) -> FloatArray:
    """Draw feature values from one of eight distributions."""
    if kind == 7:
        first = rng.random(n) < 0.7
        return np.where(first, rng.normal(0.0, 0.3, n), rng.normal(2.0, 0.4, n))
    return np.asarray(
        [
            lambda: rng.random(n),
            lambda: rng.normal(size=n),
            lambda: rng.exponential(size=n),
            lambda: np.exp(0.8 * rng.normal(size=n)),
            lambda: rng.standard_t(3, n),
            lambda: rng.beta(0.5, 0.5, n),
            lambda: rng.integers(0, 20, n).astype(float),
        ][kind]()
    )


def draw_mean(rng: np.random.Generator) -> Function:
    """Draw a mean effect on the unit interval."""
    kind = rng.choice(6, p=[0.1, 0.25, 0.25, 0.15, 0.15, 0.1])
    if kind == 0:
        return lambda u: np.ones(u.shape)
    if kind == 1:
        cuts, levels = np.sort(rng.random(rng.integers(1, 6))), rng.normal(size=6)
        return lambda u: levels[np.searchsorted(cuts, u)]
    if kind == 2:
        order = np.arange(1, 5)[:, None]
        size, phase = rng.normal(size=(4, 1)) / order, 2 * np.pi * rng.random((4, 1))
        return lambda u: np.sum(size * np.sin(2 * np.pi * order * u + phase), axis=0)
    if kind == 3:
        knots, levels = np.sort(np.append(rng.random(3), [0.0, 1.0])), rng.normal(size=5)
        return lambda u: np.interp(u, knots, levels)
    if kind == 4:
        middle, steep = rng.random(), rng.uniform(3, 40)
        return lambda u: 1 + np.tanh(steep * (u - middle) / 2)
    linear, square = rng.normal(size=2)
    return lambda u: linear * u + square * u**2


def draw_std(rng: np.random.Generator) -> Function:
    """Draw a spread on the unit interval."""
    level, kind = (
        np.exp(rng.uniform(np.log(0.1), np.log(2.0))),
        rng.choice(4, p=[0.5, 0.2, 0.15, 0.15]),
    )
    if kind == 0:
        return lambda u: np.full(u.shape, level)
    if kind == 1:
        start = rng.uniform(0.1, 0.9)
        return lambda u: level * (start + 2 * (1 - start) * np.clip(u, 0, 1))
    if kind == 2:
        cut, factor = rng.uniform(0.2, 0.8), np.exp(rng.uniform(-1.5, 1.5))
        return lambda u: level * np.where(u < cut, 1.0, factor)
    waves = rng.uniform(0.5, 2)
    return lambda u: level * (1 + 0.7 * np.sin(2 * np.pi * waves * np.clip(u, 0, 1)))


def draw_noise(rng: np.random.Generator, n: int) -> FloatArray:
    """Draw noise of deviation one and some shape."""
    kind = rng.choice(4, p=[0.6, 0.1, 0.15, 0.15])
    if kind == 1:
        return rng.choice([-1.0, 1.0], n)
    if kind == 2:
        return rng.standard_t(5, n) / np.sqrt(5 / 3)
    return rng.normal(size=n) if kind == 0 else rng.exponential(size=n) - 1


def draw_task(seed: int, number: int, sizes: Sequence[int] = SIZES) -> Task:
    """Draw one problem, of one of these sizes."""
    rng = np.random.default_rng([seed, number])
    n, kind = int(rng.choice(sizes)), int(rng.integers(8))
    low, high = np.quantile(draw_x(rng, 20_000, kind), [0.01, 0.99])
    raw, std = draw_mean(rng), draw_std(rng)
    scale = float(np.std(raw(np.linspace(0, 1, 2000))))
    scale = scale if scale > 1e-9 else 1.0

    def mean_at(z: FloatArray) -> FloatArray:
        return raw((z - low) / (high - low)) / scale

    def std_at(z: FloatArray) -> FloatArray:
        return std((z - low) / (high - low))

    x = draw_x(rng, n, kind)
    d = mean_at(x) + std_at(x) * draw_noise(rng, n)
    return Task(x, d, mean_at, std_at, float(low), float(high))


def errors(task: Task, bins: Any) -> list[float]:
    """Errors of effect, spread and curve."""
    found = rhale.effect(task.x, task.d, bins=bins)
    z = np.linspace(task.low, task.high, N_POINTS + 1)
    z = 0.5 * (z[1:] + z[:-1])
    mean, std = read_at(found, z)
    std = np.interp(z, z[np.isfinite(std)], std[np.isfinite(std)])  # bins of one row have none
    truth = task.mean(z)
    curve = np.cumsum(truth) * (z[1] - z[0])
    return [
        float(np.abs(mean - truth).mean()),
        float(np.abs(std - task.std(z)).mean()),
        centred_gap(found.curve(z), curve) / (task.high - task.low),
    ]


def compare(
    seeds: tuple[int, ...], n_problems: int, ways: Mapping[str, Any]
) -> dict[str, FloatArray]:
    """Ratios to the paper's text, shape (n_seeds * n_problems, 3), for every way; and sizes."""
    found: dict[str, list[FloatArray]] = {name: [] for name in ways}
    sizes = []
    for seed in seeds:
        for number in range(n_problems):
            task = draw_task(seed, number)
            sizes.append(task.x.size)
            base = np.maximum(errors(task, TEXT), 1e-6)
            for name, bins in ways.items():
                ratio = np.maximum(errors(task, bins), 1e-6) / base
                found[name].append(np.clip(ratio, LEAST, MOST))
    return {name: np.array(rows) for name, rows in found.items()} | {"rows": np.array(sizes)}


def cut_shares(bins: Any, runs: int) -> list[str]:
    """How often a constant effect gets more than one bin."""
    cases = (
        ("uniform", 100, "normal"),
        ("uniform", 500, "normal"),
        ("uniform", 2000, "t3"),
        ("normal", 10_000, "normal"),
    )
    shares = []
    for place, n, noise in cases:
        rng, cut = np.random.default_rng([7, n]), 0
        for _ in range(runs):
            x = rng.random(n) if place == "uniform" else rng.normal(size=n)
            d = rng.normal(size=n) if noise == "normal" else rng.standard_t(3, n)
            cut += rhale.effect(x, 1 + d, bins=bins).mean.size > 1
        shares.append(f"{cut / runs:.1%}")
    return shares


def main() -> None:
    """Write the section."""
    found = compare(SEEDS, N_PROBLEMS, WAYS)
    rows = [[name, *(f"{v:.3f}" for v in geometric_mean(found[name]))] for name in WAYS]
    usual = found["`Adaptive()`"]
    by_rows = [
        [f"{n:,}", *(f"{v:.2f}" for v in geometric_mean(usual[found["rows"] == n]))] for n in SIZES
    ]
    worse = [f"{share:.0%}" for share in (usual > 1.02).mean(axis=0)]
    cut_ways = {name: WAYS[name] for name in list(WAYS)[:1] + list(WAYS)[4:8]}
    cuts = [[name, *cut_shares(bins, CUT_RUNS)] for name, bins in cut_ways.items()]
    head = ["bins", "effect", "spread", "curve"]
    write_part(
        "random_problems",
        ABOUT.format(n=f"{len(SEEDS) * N_PROBLEMS:,}"),
        table(head, rows),
        f"`Adaptive()` is worse than the text by more than 2 % in {worse[0]} (effect), {worse[1]} "
        f"(spread) and {worse[2]} (curve) of the problems. By number of rows:",
        table(["rows", *head[1:]], by_rows),
        CUTS.format(runs=CUT_RUNS),
        table(["bins", "N = 100", "N = 500", "N = 2,000, t3 noise", "N = 10,000, normal x"], cuts),
        WEIGHT,
    )


if __name__ == "__main__":
    main()
