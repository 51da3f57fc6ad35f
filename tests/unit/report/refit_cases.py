"""Refits of functions that are known in closed form: nothing is trained."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

import rhale
from rhale.output.text import as_notes
from rhale.stability.refit_effect import RefitPair
from rhale.stability.result import Failure

SLOPES = np.array([2.0, 2.2, 1.8, 2.1, 1.9, 2.0])
CHANCE = np.array([0.3, -0.3, 0.2, -0.2, 0.1, -0.1])
X = np.linspace(0.0, 1.0, 101)


def halves(n_rows, n_trainings, seed=0):
    """Complementary halves of the rows, drawn again and again."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(n_trainings // 2):
        order = rng.permutation(n_rows)
        found += [np.sort(order[: n_rows // 2]), np.sort(order[n_rows // 2 :])]
    return found


@cache
def straight(**options):
    """Two features: `age` with a slope of about 2 in six trainings, `noise` with one about 0."""
    table = pd.DataFrame({"age": X, "noise": np.random.default_rng(0).permutation(X)})
    models = [
        lambda rows, a=a, b=b: a * np.asarray(rows)[:, 0] + b * np.asarray(rows)[:, 1]
        for a, b in zip(SLOPES, CHANCE, strict=True)
    ]
    own = (lambda rows: 2.5 * np.asarray(rows)[:, 0]) if options.get("own") else None
    return rhale.refits(models, table, train=halves(X.size, len(models)), model=own)


@cache
def with_levels():
    """Numbers, dates and names of levels, with an own model."""
    rng, n_rows = np.random.default_rng(1), 240
    table = pd.DataFrame(
        {
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows), "D"),
            "city": rng.choice(["north", "south", "east"], n_rows),
            "rooms": rng.integers(1, 7, n_rows),
            "one": np.ones(n_rows),
        }
    )

    def model(slope):
        def predict(rows):
            days = (rows["day"] - pd.Timestamp("2024-01-01")).dt.days
            return (
                slope * (days / 300 + (rows["city"] == "south") + 0.1 * rows["rooms"])
            ).to_numpy()

        return predict

    models = [model(slope) for slope in SLOPES]
    return rhale.refits(models, table, train=halves(n_rows, len(models)), model=model(2.5))


@cache
def two_outputs():
    """Two outputs of two features."""
    rows = np.random.default_rng(2).uniform(size=(120, 2))
    models = [lambda r, a=a: np.column_stack([a * r[:, 0], r[:, 1] / a]) for a in SLOPES]
    return rhale.refits(models, rows, train=halves(120, len(models)))


@cache
def with_missing():
    """A quarter of one feature is missing, where the models answer as they do at 3; of levels, too."""
    x = np.linspace(0.0, 1.0, 80)
    x[::4] = np.nan
    city = np.array(["north", "south", None, "south"] * 20, dtype=object)
    models = [
        lambda rows, a=a: a * (rows["x"].fillna(3.0) + (rows["city"] == "south")).to_numpy()
        for a in SLOPES
    ]
    table = pd.DataFrame({"x": x, "city": city})
    return rhale.refits(models, table, train=halves(80, len(models)))


def with_pairs(rx):
    """The same with one pair that comes back and one that does not, and a training that failed."""
    same, chance = np.outer(SLOPES, SLOPES), np.outer(CHANCE, CHANCE)
    pairs = (
        RefitPair(("noise", "age"), rx.outputs[0], np.abs(CHANCE), chance, rx.overlap),
        RefitPair(("age", "noise"), rx.outputs[0], SLOPES, same, rx.overlap),
    )
    return replace(rx, pairs=pairs, failures=(Failure(3, "it <b>broke</b>"),))


def renamed(rx, names):
    """The same with hostile names of features, outputs, levels, learner, notes and reasons."""

    def hostile(fx):
        effects = []
        for i, effect in enumerate(fx.effects):
            changed = {"name": names[i // len(fx.outputs)], "output": names[-1]}
            changed["local_notes"] = as_notes(names)
            if effect.parts == "levels":
                changed["levels"] = tuple(f"{names[0]} {label}" for label in effect.labels)
            effects.append(replace(effect, **changed))
        named = tuple(names[: len(fx.features)])
        return replace(fx, features=named, outputs=(names[-1],), effects=tuple(effects))

    return replace(
        rx,
        explanations=tuple(map(hostile, rx.explanations)),
        own=None if rx.own is None else hostile(rx.own),
        failures=(Failure(1, names[0]),),
        provenance={**rx.provenance, "learner": names[1], "scheme": names[2]},
        notes=tuple(names),
    )
