"""Curves of known effects: the mix of fits and cells, against each of them alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from parts import FloatArray, Function, centred_gap, write_part
from report import table

import problems
import rhale

SIZES, SEEDS = (100, 1000, 10_000), range(200, 212)
ABOUT = """
## Curves

`accuracy/curves.py`. The accumulated curve needs bins less than the mean effect does: with 200 cells
instead of bins its variance hardly grows where rows are evenly spread, and it has no bias; where the fit
of the bins is right, the fit is better. `Adaptive` measures, bin by bin, how much of the difference
between the two curves is more than noise, and follows the cells that far. Mean absolute error of the
centred curve over the 2-98 % range, mean of {n} seeds, divided by the better of "bin fits alone" and "200
cells alone"; the seeds are not those the rule was chosen on.
"""
GAP_SEEDS = range(400, 440)
ABOUT_GAPS = """
*Across gaps.* Models with a known function of x, plus r z / 10 with r = x / max |x| and an independent normal z,
and 2,000 rows; {n} draws, the rule was looked at on other seeds. *Importance* is the mean over the
draws beside the mean deviation of the function over the rows. *Rise* is that of the curve across the widest
stretch without rows less the function's: root of its mean square, and how often ± 1.96 errors cover.
The draws are the same for all clusters, so these rows are not independent. In the tails of Cauchy's
distribution the widest stretch is at times not twice as wide as what thirty values before it cover: then
it is bridged by slopes, as any tail is.
"""


@dataclass(frozen=True)
class Case:
    """Rows with a known curve: how x is drawn, mean effect, spread, and the curve."""

    x: Function
    mean: Function
    std: Function
    curve: Function

    def draw(self, n: int, seed: int) -> tuple[FloatArray, FloatArray, Function]:
        """Draw feature values and local effects."""
        rng = np.random.default_rng([seed, n])
        x = self.x(rng.random((n, 2)) if self.x is uniform else rng.normal(size=(n, 2)))
        return x, self.mean(x) + self.std(x) * rng.normal(size=n), self.curve


def uniform(u: FloatArray) -> FloatArray:
    """Values between 0 and 1."""
    return u[:, 0]


def normal(g: FloatArray) -> FloatArray:
    """Standard normal values."""
    return g[:, 0]


def lognormal(g: FloatArray) -> FloatArray:
    """Values whose logarithm is normal with deviation 0.8."""
    return np.exp(0.8 * g[:, 0])


def constant(value: float) -> Function:
    """The same everywhere."""
    return lambda x: np.full(x.shape, value)


CASES: Mapping[str, Case] = {
    "log x, lognormal x, noise 0.3/x": Case(lognormal, lambda x: 1 / x, lambda x: 0.3 / x, np.log),
    "log x, lognormal x, noise 1/x": Case(lognormal, lambda x: 1 / x, lambda x: 1 / x, np.log),
    "sine, uniform x": Case(
        uniform,
        lambda x: 2 * np.pi * np.cos(2 * np.pi * x),
        constant(1.0),
        lambda x: np.sin(2 * np.pi * x),
    ),
    "constant, uniform x": Case(uniform, constant(1.0), constant(1.0), lambda x: x),
    "constant, normal x": Case(normal, constant(1.0), constant(1.0), lambda x: x),
    "kink, uniform x": Case(
        uniform,
        lambda x: np.where(x < 0.6, -1.0, 2.0),
        constant(0.5),
        lambda x: np.where(x < 0.6, -x, 2 * x - 1.8),
    ),
    "exp x, normal x, noise 0.3 exp x": Case(normal, np.exp, lambda x: 0.3 * np.exp(x), np.exp),
}


def draw(name: str, n: int, seed: int) -> tuple[FloatArray, FloatArray, Function]:
    """Feature values, local effects and true curve of one case."""
    if name in CASES:
        return CASES[name].draw(n, seed)
    running = problems.running()
    rows = running.draw(n, seed)
    return rows[:, 0], running.gradient(rows)[:, 0], running.truths["x1"].curve


def errors(x: FloatArray, d: FloatArray, truth: Function) -> list[float]:
    """Curve error of fits alone, of cells alone, and of both as they come."""
    found = rhale.effect(x, d)
    limits = np.concatenate(
        [np.linspace(x.min(), x.max(), 101), np.quantile(x, np.linspace(0, 1, 101))]
    )
    values = np.unique(x)
    between = 0.5 * (values[1:] + values[:-1])
    inner = np.unique(between[np.clip(np.searchsorted(between, limits), 0, between.size - 1)])
    cells = rhale.effect(x, d, bins=rhale.Edges([values[0], *inner, values[-1]]))
    z = np.linspace(*np.quantile(x, [0.02, 0.98]), 1001)
    return [centred_gap(e.curve(z), truth(z)) for e in (replace(found, cells=None), cells, found)]


def clusters(rng: np.random.Generator, far: float) -> FloatArray:
    """Two clusters of rows."""
    return np.where(rng.random(2000) < 0.5, rng.normal(size=2000), rng.normal(far, 1, 2000))


def replaced(rng: np.random.Generator, far: float, share: float) -> FloatArray:
    """Normal values, a share of them replaced by one far away; one at least."""
    x = np.where(rng.random(2000) < share, far, rng.normal(size=2000))
    x[0] = far
    return x


GAPS: Mapping[str, tuple[Callable[[np.random.Generator], FloatArray], Function]] = {
    "tanh x, one x of 1e6": (lambda rng: replaced(rng, 1e6, 0), np.tanh),
    "tanh x, 1 % of 9,999": (lambda rng: replaced(rng, 9999, 0.01), np.tanh),
    "logistic between clusters at 0 and 10": (
        lambda rng: clusters(rng, 10),
        lambda x: 3 / (1 + np.exp(-2 * (x - 5))),
    ),
    "step between clusters at 0 and 100": (
        lambda rng: clusters(rng, 100),
        lambda x: (x > 50) * 1.0,
    ),
    "sine, clusters at 0 and 100": (lambda rng: clusters(rng, 100), lambda x: 0.39 * np.sin(x)),
    "log(1 + abs x), Cauchy x": (
        lambda rng: rng.standard_cauchy(2000),
        lambda x: np.log1p(np.abs(x)),
    ),
}


def across(name: str, seed: int, *, by_gradient: bool) -> list[float]:
    """Importance found and true, error of the rise across the widest gap, and whether it is covered."""
    draw_x, curve = GAPS[name]
    rng = np.random.default_rng(seed)
    rows = np.column_stack([draw_x(rng), rng.normal(size=2000)])
    reach = np.maximum(np.abs(rows[:, :1]), 1).max()  # together they move the answers by a tenth

    def model(rows: FloatArray) -> FloatArray:
        return curve(rows[:, 0]) + rows[:, 0] / reach * rows[:, 1] / 10

    def gradient(rows: FloatArray) -> FloatArray:
        step = np.maximum(np.abs(rows[:, 0]), 1) * 1e-6
        ends = (np.column_stack([rows[:, 0] + s, rows[:, 1]]) for s in (step, -step))
        rise = np.subtract(*map(model, ends)) / (2 * step)
        return np.column_stack([rise, rows[:, 0] / reach / 10])

    how = {"gradient": gradient} if by_gradient else {}
    found = rhale.explain(model, rows, features=[0], n_jobs=1, **how)["x0"]
    x = np.unique(rows[:, 0])
    k = int(np.argmax(np.diff(x)))
    rise = found.difference(x[k], x[k + 1])
    error = rise.size - float(curve(x[k + 1]) - curve(x[k]))
    return [
        found.importance,
        float(curve(rows[:, 0]).std()),
        error**2,
        float(abs(error) <= 1.96 * rise.error + 1e-9),
    ]


def gaps() -> str:
    """A table of models with gaps."""
    rows = []
    for name in GAPS:
        for way, by_gradient in (("gradient", True), ("predictions", False)):
            found = [across(name, seed, by_gradient=by_gradient) for seed in GAP_SEEDS]
            size, true, square, covered = np.mean(found, axis=0)
            off = f"{np.sqrt(square):.3f}"
            rows.append([name, way, f"{size:.3f} / {true:.3f}", off, f"{covered:.0%}"])
    return table(["function and x", "by", "importance / true", "rise", "covered"], rows)


def main() -> None:
    """Write the section."""
    rows, worst = [], 0.0
    for name in [*CASES, "running example of the paper, x1"]:
        for n in SIZES:
            fits, cells, ours = np.mean([errors(*draw(name, n, s)) for s in SEEDS], axis=0)
            best = min(fits, cells)
            worst = max(worst, ours / best)
            rows.append([name, f"{n:,}", *(f"{v / best:.2f}" for v in (fits, cells, ours))])
    write_part(
        "curves",
        ABOUT.format(n=len(SEEDS)),
        table(["effect", "rows", "fits alone", "cells alone", "`Adaptive()`"], rows),
        f"The largest ratio is {worst:.2f}.",
        ABOUT_GAPS.format(n=len(GAP_SEEDS)),
        gaps(),
    )


if __name__ == "__main__":
    main()
