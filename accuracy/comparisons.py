"""How often curves that are the same are said to differ, and how often a change is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from parts import FloatArray, write_part
from report import table
from sklearn.ensemble import RandomForestRegressor
from sklearn.neural_network import MLPRegressor
from spreads import TREES, fit, real_tables

import rhale

N_RUNS, SEED, FEATURES = 40, 9000, 4
ROWS = (1_000, 1_300)
Draw = Callable[[np.random.Generator, int], FloatArray]
Question = Callable[[FloatArray], FloatArray]
ABOUT = """
## Comparisons

`accuracy/comparisons.py`. The same model is explained on two draws of 1,000 and 1,300 rows and compared by
`rhale.compare`: share of 4 features in {runs} runs whose curves are said to differ, which should be at most 5 %.
*Drifted* rows of the second draw have their third feature, which has no partner, moved by half a deviation.
*Changed* is a model whose first feature acts a fifth more strongly: share of {runs} runs in which that feature
is said to differ, and of the other three. Four features, two of them correlated; seeds from {seed} on, on which nothing was chosen.
"""
WHAT = """
A curve is an average over the other features, so where features act together it moves with the rows of the
partner; the drifted feature has none, but learned models have small interactions of their own making. A
model that was trained again on a changed target has other curves of *all* features: what is told of the
other three is no mistake there, and only for the two functions should the last column be near zero.
"""

TABLES = ("Computers", "VietNamH", "diamonds", "California", "SLID", "HI", "OFP", "DoctorContacts")
TABLE_ROWS, TABLE_DRAWS, TABLE_SEED = 20_000, 6, 20270501
ABOUT_TABLES = """
*Real tables.* LightGBM learns a table of up to {rows:,} rows and is explained on two parts of it, 1,000 and 1,300
rows that are drawn and have none in common: share of all features in {draws} draws that are said to differ, and of
p-values below .01. Nothing was chosen on these draws.
"""
WHAT_BIAS_COSTS = """
Intervals of trees count the bias of their curves. The bias that both curves have in common is no difference and is
taken off; the rest makes a comparison cautious: a forest that is compared with itself differs less often than in
5 % of the cases, and a change of a fifth is found less often than in a function.
"""


def differ_on_tables() -> str:
    """The same model on two parts of real tables."""
    lines, told = list[list[str]](), list[tuple[bool, bool]]()
    for name, frame in real_tables():
        if name not in TABLES:
            continue
        frame = frame.dropna().sample(frac=1, random_state=2)[:TABLE_ROWS].astype(float)
        rows = frame.to_numpy()[:, :-1]
        model = fit(TREES["LightGBM"], rows, frame.to_numpy()[:, -1])
        found: list[tuple[bool, bool]] = []
        for draw in range(TABLE_DRAWS):
            order = np.random.default_rng([TABLE_SEED, draw]).permutation(len(rows))
            parts = rows[order[: ROWS[0]]], rows[order[ROWS[0] : sum(ROWS)]]
            pairs = rhale.compare(*(rhale.explain(model, part, n_jobs=1) for part in parts))
            every = [one for pair in pairs.values() for one in pair.differences]
            found += [(one.differs, one.p_value < 0.01) for one in every]
        told += found
        lines.append([name, f"{len(found)}", *(f"{share:.1%}" for share in np.mean(found, axis=0))])
        print(lines[-1], flush=True)
    if not told:
        return "No table was at hand."
    lines.append(["all", f"{len(told)}", *(f"{share:.1%}" for share in np.mean(told, axis=0))])
    return table(["table", "curves", "differ", "p < .01"], lines)


def alike(rng: np.random.Generator, n: int) -> FloatArray:
    """Normal rows; the first two features have a correlation of one half."""
    rows = rng.normal(size=(n, FEATURES))
    rows[:, 1] = 0.5 * rows[:, 0] + np.sqrt(0.75) * rows[:, 1]
    return rows


def drifted(rng: np.random.Generator, n: int) -> FloatArray:
    """The same, with the third feature, which has no partner, moved by half a deviation."""
    rows = alike(rng, n)
    rows[:, 2] += 0.5
    return rows


def linear(x: FloatArray, strength: float = 1.0) -> FloatArray:
    """A straight line in every feature."""
    return strength * x[:, 0] + x @ np.array([0.0, 0.5, -1.0, 0.2])


def product(x: FloatArray, strength: float = 1.0) -> FloatArray:
    """Curves, and a product of the first two features."""
    return strength * x[:, 0] + np.sin(x[:, 1]) + x[:, 0] * x[:, 1] + 0.5 * x[:, 2] ** 2


def learned(make: Callable[[], Any]) -> Callable[[float], Question]:
    """Models of 2,000 noisy rows of `product`, trained once for each strength."""
    rng = np.random.default_rng(SEED - 1)
    rows, noise = alike(rng, 2_000), rng.normal(size=2_000)

    def train(strength: float) -> Question:
        answer: Question = make().fit(rows, product(rows, strength) + noise)
        return answer

    return train


MODELS: Mapping[str, Callable[[float], Any]] = {
    "linear": lambda strength: lambda x: linear(x, strength),
    "product and curves": lambda strength: lambda x: product(x, strength),
    "forest": learned(
        lambda: RandomForestRegressor(n_estimators=30, min_samples_leaf=5, random_state=0)
    ),
    "network": learned(
        lambda: MLPRegressor(hidden_layer_sizes=(16,), alpha=0.01, max_iter=2_000, random_state=0)
    ),
}


def differ(first: Any, second: Any, draw: Draw, runs: int = N_RUNS) -> FloatArray:
    """Share of runs in which each feature is said to differ."""
    told = np.zeros(FEATURES)
    for run in range(runs):
        rng = np.random.default_rng([SEED, run])
        one = rhale.explain(first, alike(rng, ROWS[0]))
        other = rhale.explain(second, draw(rng, ROWS[1]))
        told += [pair.differs for pair in rhale.compare(one, other).values()]
    return told / runs


def main() -> None:
    """Write the section."""
    rows = []
    for name, make in MODELS.items():
        same, changed = make(1.0), make(1.2)
        other = differ(same, changed, alike)
        rows.append(
            [
                name,
                f"{differ(same, same, alike).mean():.1%}",
                f"{differ(same, same, drifted).mean():.1%}",
                f"{other[0]:.0%}",
                f"{other[1:].mean():.1%}",
            ]
        )
    head = ["model", "same model", "drifted rows", "changed: found", "changed: the others"]
    known = table(head, rows)
    about = ABOUT_TABLES.format(rows=TABLE_ROWS, draws=TABLE_DRAWS)
    parts = (
        ABOUT.format(runs=N_RUNS, seed=SEED),
        known,
        WHAT,
        about,
        differ_on_tables(),
        WHAT_BIAS_COSTS,
    )
    write_part("comparisons", *parts)


if __name__ == "__main__":
    main()
