"""Explanations side by side whose differences are known, for the tests of comparisons."""

from functools import cache

import numpy as np
import pandas as pd

import rhale


def explained(slopes=(1.0, 1.0), *, shift=0.0, names=("x0", "x1"), n=400):
    """A sum of lines over rows evenly on [0, 1], the first feature moved."""
    grid = np.linspace(0, 1, n)
    order = np.random.default_rng(0).permutation(n)
    rows = np.column_stack([grid + shift, grid[order]])

    def model(table):
        return np.asarray(table, dtype=float) @ np.array(slopes)

    return rhale.explain(model, pd.DataFrame(rows, columns=list(names)))


@cache
def straight(**settings):
    """Slopes 1 and 1, then 1 and 3: the second feature differs by 2 (x - 1/2)."""
    pair = {"old": explained(), "new": explained((1.0, 3.0))}
    return rhale.compare(pair, **settings)


@cache
def drifted():
    """The same model, and rows of the first feature moved up by a half."""
    return rhale.compare({"2023": explained(), "2024": explained(shift=0.5)})


@cache
def with_everything(word="city"):
    """Three explanations with levels, dates, a constant, and a level that only one has."""

    def rows(cities, seed):
        rng = np.random.default_rng(seed)
        day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 100, 300), unit="D")
        return pd.DataFrame(
            {"x": rng.uniform(size=300), word: rng.choice(cities, 300), "day": day, "one": 1.0}
        )

    def model(height):
        def predict(table):
            day = (table["day"] - pd.Timestamp("2024-01-01")).dt.days.to_numpy()
            return table["x"].to_numpy() + height * (table[word] == "Oslo").to_numpy() + day / 100

        return predict

    return rhale.compare(
        {
            "base": rhale.explain(model(1.0), rows(["Bonn", "Oslo", "Rome"], 0)),
            "next": rhale.explain(model(3.0), rows(["Bonn", "Oslo", "Rome"], 1)),
            "last": rhale.explain(model(1.0), rows(["Bonn", "Oslo", "Paris"], 2)),
        }
    )
