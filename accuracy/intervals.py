"""How often 95 % intervals of the curve cover the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from curves import CASES, Case, constant, draw, normal, uniform
from parts import write_part
from report import table

import rhale

SIZES, N_RUNS, LEVEL = (200, 5000), 400, 0.95
SHARES = np.linspace(0.02, 0.98, 17)
# bins that hold the truth: what remains is the draw of the rows, which is what intervals promise
GIVEN: Mapping[str, Any] = {
    "constant, normal x": lambda x: rhale.Edges([x.min(), x.max()]),
    "sine, uniform x": lambda x: rhale.Fixed(50 if x.size > 1000 else 20),
    "kink, uniform x": lambda x: rhale.Edges([x.min(), 0.6, x.max()]),
    "parabola, normal x": lambda x: rhale.Edges([x.min(), x.max()], linear=True),
    "line with a fan, uniform x": lambda x: rhale.Edges(
        [x.min(), *np.linspace(0.1, 0.9, 9), x.max()], linear=True
    ),
}
MORE = {
    "parabola, normal x": Case(normal, lambda x: 2 * x, constant(1.0), lambda x: x**2),
    "line with a fan, uniform x": Case(
        uniform, lambda x: 3 * x, lambda x: 0.2 + 2 * x, lambda x: 1.5 * x**2
    ),
}
SEARCHED = (
    *GIVEN,
    "exp x, normal x, noise 0.3 exp x",
    "log x, lognormal x, noise 0.3/x",
    "running",
)
ABOUT = """
## Intervals

`accuracy/intervals.py`. Share of {runs} simulated data sets in which the 95 % interval covers the true
curve (zero on average over the same rows), mean and range over 17 points from the 2 % to the 98 %
quantile of x. *Given bins* hold the truth, so that only the draw of the rows is left: here the intervals
must keep their word. *Searched bins* are those of `Adaptive()`, looked for in the same rows: what the
search gets wrong, and what a bin's fit cannot follow, is not part of the interval.
"""
WHAT = """
So an interval says how far the curve would move with other rows from the same source, for this model
and these bins. It does not say how the model would differ after other training data, and it is a little
too narrow where bins were searched in few rows. The bootstrap (`ci(method="bootstrap")`) refits the same
bins and covers the same thing; its mean width relative to the formula is in the last column.
"""


def covered(name: str, n: int, bins: Any, runs: int = N_RUNS) -> np.ndarray[Any, Any]:
    """Share of runs in which the interval covers the truth, at each point."""
    hits = np.zeros(SHARES.size)
    for seed in range(runs):
        x, d, truth = take(name, n, 10_000 + seed)
        effect = rhale.effect(x, d, bins=bins(x) if bins else None)
        z = np.quantile(x, SHARES)
        low, high = effect.ci(z, level=LEVEL)
        true = truth(z) - truth(x).mean()
        hits += (low <= true) & (true <= high)
    return hits / runs


def take(name: str, n: int, seed: int) -> Any:
    """Rows of one of the cases here or of those of `curves`."""
    return MORE[name].draw(n, seed) if name in MORE else draw(name, n, seed)


def bootstrap_width(name: str, n: int) -> float:
    """Mean width of bootstrap intervals relative to those of the formula, few runs."""
    ratios = []
    for seed in range(5):
        x, d, _ = take(name, n, 10_000 + seed)
        effect = rhale.effect(x, d)
        z = np.quantile(x, SHARES)
        widths = [np.ptp(effect.ci(z, method=m), axis=0).mean() for m in ("bootstrap", "formula")]
        ratios.append(widths[0] / widths[1])
    return float(np.mean(ratios))


def shown(shares: np.ndarray[Any, Any]) -> str:
    """Mean and range."""
    return f"{shares.mean():.1%} ({shares.min():.0%} to {shares.max():.0%})"


def main() -> None:
    """Write the section."""
    known = {*CASES, *MORE}
    rows = []
    for name in SEARCHED:
        for n in SIZES:
            given = shown(covered(name, n, GIVEN[name])) if name in GIVEN else ""
            searched = shown(covered(name, n, None, N_RUNS // 2))
            label = name if name in known else "running example of the paper, x1"
            rows.append([label, f"{n:,}", given, searched, f"{bootstrap_width(name, n):.2f}"])
    head = ["effect", "rows", "given bins", "searched bins", "bootstrap / formula"]
    write_part("intervals", ABOUT.format(runs=N_RUNS), table(head, rows), WHAT)


if __name__ == "__main__":
    main()
