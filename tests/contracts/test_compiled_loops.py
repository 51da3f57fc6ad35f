"""Whether loops are compiled changes times, never a bit of what users see."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import rhale
from rhale.stats import jit

pytest.importorskip("numba")
X = np.random.default_rng(3).normal(size=(4_000, 4))
WEIGHT = np.random.default_rng(4).uniform(0.5, 2, len(X))


def model(rows):
    return np.sin(3 * rows[:, 0]) + rows[:, 1] * (rows[:, 2] > 0) + 0.5 * rows[:, 3]


def slopes(rows):
    above = rows[:, 2] > 0
    half = np.full(len(rows), 0.5)
    return np.column_stack([3 * np.cos(3 * rows[:, 0]), above, np.zeros(len(rows)), half])


TREES = HistGradientBoostingRegressor(max_iter=20).fit(X, model(X))
CALLS = {
    "gradients": lambda: rhale.explain(model, X, gradient=slopes),
    "gradients with weights": lambda: rhale.explain(model, X, gradient=slopes, weights=WEIGHT),
    "constant bins": lambda: rhale.explain(
        model, X, gradient=slopes, bins=rhale.Adaptive(linear=False, spread_bins="own")
    ),
    "secants": lambda: rhale.explain(model, X),
    "walked trees, with regions": lambda: rhale.explain(TREES, X, regions=True),
}


@pytest.mark.parametrize("call", CALLS)
def test_compiled_loops_change_no_bit(monkeypatch, call):
    found = []
    for pays_from in (np.inf, 0):
        monkeypatch.setattr(jit, "PAYS_FROM", pays_from)
        found.append(CALLS[call]())
    by_numpy, by_loops = found
    assert by_loops.effects == by_numpy.effects
    of_numpy = {**by_numpy.provenance, "created": by_loops.provenance["created"]}
    assert by_loops == replace(by_numpy, provenance=of_numpy)
