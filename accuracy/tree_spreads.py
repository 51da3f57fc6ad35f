"""Typical spread of walked trees, against centred curves of rows by brute force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from parts import FloatArray, write_part
from report import table
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

import rhale

SEEDS, SIZES, NOISE = (11, 12), (1_000, 4_000), 0.2
N_CURVES, N_PLACES = 300, 100
FUNCTIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "$x_1 x_2$": lambda x: x[:, 0] * x[:, 1],
    "$x_2$ where $x_1 > 0.3$": lambda x: (x[:, 0] > 0.3) * x[:, 1],
    "either $x_1 > 0$ or $x_2 > 0$": lambda x: 1.0 * ((x[:, 0] > 0) ^ (x[:, 1] > 0)),
    "$1 + x_2 / 2$ where $x_1 > 0.3$": lambda x: (x[:, 0] > 0.3) * (1 + x[:, 1] / 2),
    "$1 + 4 x_2 / 5$ where $x_1 > 0.3$": lambda x: (x[:, 0] > 0.3) * (1 + 0.8 * x[:, 1]),
    "$\\sin 2 x_1$, and the last": lambda x: (
        np.sin(2 * x[:, 0]) + (x[:, 0] > 0.3) * (1 + 0.8 * x[:, 1])
    ),
    "2 where $x_1 > 0.3$, and $x_2$": lambda x: 2.0 * (x[:, 0] > 0.3) + x[:, 1],
    "$\\sin 3 x_1 + x_2$": lambda x: np.sin(3 * x[:, 0]) + x[:, 1],
}
MODELS = {
    "HistGradientBoosting": lambda: HistGradientBoostingRegressor(max_iter=100, random_state=0),
    "RandomForest": lambda: RandomForestRegressor(50, min_samples_leaf=5, random_state=0),
}
ABOUT = """
## Spread of trees

`accuracy/tree_spreads.py`. Trees that learned a function of three columns, explained on their own
{sizes} rows: `typical_spread` of $x_1$ / the deviation of its centred curves, by predictions for {curves}
rows at {places} places (c-ICE), means over normal and uniform columns, sizes and {seeds} seeds. The last two
functions are additive: what curves differ there the trees learned by mistake.
"""


def deviation_of_curves(model: Any, rows: FloatArray) -> float:
    """Deviation of the centred curves of some rows, along the first column."""
    places = np.quantile(rows[:, 0], (np.arange(N_PLACES) + 0.5) / N_PLACES)
    asked = np.repeat(rows[:N_CURVES], N_PLACES, axis=0)
    asked[:, 0] = np.tile(places, N_CURVES)
    curves = model.predict(asked).reshape(N_CURVES, N_PLACES)
    curves -= curves.mean(axis=1, keepdims=True)
    return float(np.sqrt(curves.var(axis=0).mean()))


def compare(function: Callable[[FloatArray], FloatArray], make: Callable[[], Any]) -> FloatArray:
    """Typical spread and deviation of centred curves, on average."""
    found = []
    for seed in SEEDS:
        for n_rows in SIZES:
            for draw in ("normal", "uniform"):
                rng = np.random.default_rng([seed, n_rows])
                rows = (
                    rng.normal(size=(n_rows, 3))
                    if draw == "normal"
                    else rng.uniform(-1, 1, (n_rows, 3))
                )
                model = make().fit(rows, function(rows) + rng.normal(0, NOISE, n_rows))
                effect = rhale.explain(model, rows, features=[0], n_jobs=1)[0]
                found.append([effect.typical_spread, deviation_of_curves(model, rows)])
    return np.mean(found, axis=0)


def main() -> None:
    """Write the section."""
    lines = []
    for name, function in FUNCTIONS.items():
        pairs = (compare(function, make) for make in MODELS.values())
        lines.append([name, *(f"{ours:.2f} / {theirs:.2f}" for ours, theirs in pairs)])
    about = ABOUT.format(
        sizes=" and ".join(f"{n:,}" for n in SIZES),
        curves=N_CURVES,
        places=N_PLACES,
        seeds=len(SEEDS),
    )
    write_part("tree_spreads", about, table(["function", *MODELS], lines))


if __name__ == "__main__":
    main()
