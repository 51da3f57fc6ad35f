"""Refits of functions that are written down, of every kind of result, small and fast."""

import numpy as np
import pandas as pd

import rhale

N_ROWS = 60
HALVES = (np.arange(0, 30), np.arange(30, 60), np.arange(0, 60, 2), np.arange(1, 60, 2))


def curve(rows):
    return rows[:, 0] ** 2 + rows[:, 1] * rows[:, 0]


def two(rows):
    return np.column_stack([curve(rows), -curve(rows)])


def of_frame(rows):
    total = (rows["city"] == "a").to_numpy() * 1.0 + rows["took"].dt.total_seconds() / 3e4
    return total.to_numpy() + np.nan_to_num(rows["gap"].to_numpy(), nan=2.0) * total.to_numpy()


def make_frame(rng, n_rows=N_ROWS):
    days = pd.to_timedelta(rng.integers(0, 900, n_rows), "D")
    return pd.DataFrame(
        {
            "city": rng.choice([*"abc", "größe", "<b>"], n_rows),
            "took": pd.to_timedelta(rng.uniform(0, 9e4, n_rows), "s"),
            "day": pd.Timestamp("2020-01-01") + days,
            "gap": np.where(rng.random(n_rows) < 0.3, np.nan, rng.normal(size=n_rows)),
            "constant": 1.5,
        }
    )


def scale(model, factor):
    """What another training might give."""
    return lambda rows: factor * model(rows) + np.sin(factor * model(rows))


def make_refits(model, table, *, factors=(1.0, 1.1, 0.9, 1.2), train=HALVES, **options):
    """One training for each factor, and the model itself."""
    models = [scale(model, factor) for factor in factors]
    return rhale.refits(models, table, train=train, model=model, **options)


def refits_of_every_kind(seed=0):
    """By name."""
    rng = np.random.default_rng(seed)
    table, frame = rng.normal(size=(N_ROWS, 2)), make_frame(rng)
    weights = rng.uniform(0.1, 2, N_ROWS)
    made = {
        "outputs": make_refits(two, table, pairs=[("x0", "x1")]),
        "frame": make_refits(of_frame, frame, weights=weights),
        "regions": make_refits(curve, table, regions=rhale.By("x1", cuts=[0.0])),
    }
    parted = rng.normal(size=(400, 2))
    thirds = [np.arange(400) % 3 != part for part in range(3)]
    made["search"] = make_refits(
        lambda r: r[:, 0] * np.sign(r[:, 1]), parted, factors=(1.0, 1.1, 0.9), train=thirds,
        regions=True,
    )  # fmt: skip
    for method in ("ale", "pdp", "ice", "mplot"):
        made[method] = make_refits(of_frame, frame, method=method)
    return made
