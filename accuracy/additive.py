"""Models without interactions: rows do not differ, and the spread should say so."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from parts import FloatArray, Function, write_part
from report import table

import rhale

SIZES, SEEDS = (100, 1000, 10_000, 100_000), range(5)
ABOUT = """
## No interactions

`accuracy/additive.py`. Gradients of functions of one feature: every row at a place has the same local effect, so
the spread is zero. `typical_spread` divided by `importance`, the larger of uniform x on [-1, 1] and normal x,
mean of {n} draws of the rows:
"""
TAILS = """
The outermost rows of normal x lie radians of sin 10x apart: what they say of its spread is what a function
that does vary from row to row would make them say.
"""
SLOPES: Mapping[str, Function] = {
    "x²": lambda x: 2 * x,
    "sin 3x": lambda x: 3 * np.cos(3 * x),
    "sin 10x": lambda x: 10 * np.cos(10 * x),
    "tanh 20x": lambda x: 20 / np.cosh(20 * x) ** 2,
    "exp x": np.exp,
}


def draw_x(n: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Uniform and normal feature values."""
    rng = np.random.default_rng([seed, n])
    return rng.uniform(-1, 1, n), rng.normal(size=n)


def spread_share(x: FloatArray, slope: Function) -> float:
    """Spread as a share of the importance; both are of one sample."""
    found = rhale.effect(x, slope(x))
    return found.typical_spread / found.importance


def main() -> None:
    """Write the section."""
    rows = []
    for name, slope in SLOPES.items():
        shares = [
            np.mean([[spread_share(x, slope) for x in draw_x(n, seed)] for seed in SEEDS], axis=0)
            for n in SIZES
        ]
        rows.append([name, *(f"{max(share):.3f}" for share in shares)])
    write_part(
        "additive",
        ABOUT.format(n=len(SEEDS)),
        table(["f", *(f"N = {n:,}" for n in SIZES)], rows),
        TAILS,
    )


if __name__ == "__main__":
    main()
