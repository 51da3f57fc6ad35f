"""Refits: what they cost beside as many trainings and explanations, one after the other."""

from functools import cache

import numpy as np
import pytest
from measuring import Counted, race_of_processor, seconds

import rhale
from rhale.stability.splits import Scheme

N_REFITS = 6


@cache
def rows_and_target(n_rows, n_features):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (n_rows, n_features))
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.3 * rng.normal(size=n_rows)
    return x, y


def learner():
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("numba")
    pytest.importorskip("treelite")
    return lightgbm.LGBMRegressor(n_estimators=100, num_leaves=31, n_jobs=1, verbose=-1)


def one_by_one(x, y, **options):
    """What a user would write without refits: the same trainings, each explained by itself."""
    halves = Scheme(n_refits=N_REFITS).draw(len(x), seed=0)
    models = [learner().fit(x[rows], y[rows]) for rows in halves]
    return [rhale.explain(model, x, n_jobs=1, **options) for model in models]


@pytest.mark.parametrize(("n_rows", "n_features"), [(2_000, 8), (20_000, 8), (20_000, 30)])
def test_refits_cost_as_much_as_their_trainings_and_explanations(ledger, n_rows, n_features):
    x, y = rows_and_target(n_rows, n_features)
    one_by_one(x[:500], y[:500])  # compiled, if it was not

    found = race_of_processor(
        lambda: rhale.refit(learner(), x, y, n_refits=N_REFITS, n_jobs=1),
        lambda: one_by_one(x, y, partners=False),
        rounds=3,
    )

    rx, alone = found.our_answer, found.other_answer
    at = np.linspace(-0.9, 0.9, 50)
    for name in ("x0", "x1", f"x{n_features - 1}"):
        curves = np.array([fx[name].curve(at) for fx in alone])
        np.testing.assert_allclose(rx[name].curves(at), curves, rtol=0, atol=1e-12)
    ledger.add(
        f"refit, {N_REFITS} half-samples, against as many fits and explanations",
        f"LightGBM 100 x 31, {n_features} features, {n_rows:,} rows",
        seconds(found.ours),
        seconds(found.other),
        f"{found.cost:.3g}",
        "<= 1.05",
        met=found.cost <= 1.05,
    )


def test_refits_of_a_function_ask_no_more_than_its_explanations(ledger):
    x, y = rows_and_target(5_000, 6)
    counted = []

    def learn(rows, target):
        slopes = np.linalg.lstsq(rows, target, rcond=None)[0]
        counted.append(Counted(lambda seen: np.tanh(seen @ slopes)))
        return counted[-1]

    rhale.refit(learn, x, y, n_refits=N_REFITS)
    asked = sum(model.n_rows for model in counted)
    alone = [Counted(model.function) for model in counted]
    for model in alone:
        rhale.explain(model, x)
    explained = sum(model.n_rows for model in alone)

    ledger.add(
        "rows evaluated by refit, against as many explanations",
        f"a function, 6 features, 5,000 rows, {N_REFITS} half-samples",
        f"{asked:,} rows",
        f"{explained:,} rows",
        f"{asked / explained:.3f}",
        "<= 1.05",
        met=asked <= 1.05 * explained,
    )
    assert asked <= 1.05 * explained
