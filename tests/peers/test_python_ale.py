"""ALE as PyALE and alibi compute it, written here as plain loops over rows and bins."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor

import rhale

pytestmark = pytest.mark.peer

RNG = np.random.default_rng(3)
X = RNG.normal(size=(400, 3))
X[:, 1] += 0.8 * X[:, 0]
X[:, 2] = np.round(X[:, 2], 1)  # ties
Y = np.sin(2 * X[:, 0]) + X[:, 0] * X[:, 1] + X[:, 2] ** 2
MODELS = {
    "smooth": lambda rows: np.sin(2 * rows[:, 0]) + rows[:, 0] * rows[:, 1] + rows[:, 2] ** 2,
    "trees": GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, Y).predict,
}

each_model = pytest.mark.parametrize("predict", MODELS.values(), ids=MODELS)
each_feature = pytest.mark.parametrize("feature", [0, 1, 2])


def changes(predict, feature, low, high):
    """Change of each row's prediction when one feature goes from low to high."""
    below, above = X.copy(), X.copy()
    below[:, feature], above[:, feature] = low, high
    return predict(above) - predict(below)


def pyale_bins(x, n_bins):
    """Right-closed bins, the lowest value included, at the quantiles of PyALE 1.2.

    Rank (n - 1) q from 0, rounded down, and one less where it is whole: up to one below type 1.
    """
    place = (x.size - 1) * np.linspace(0, 1, n_bins + 1)[1:-1]
    rank = np.where(place == np.floor(place), place - 1, np.floor(place)).astype(int)
    limits = np.unique([x.min(), *np.sort(x)[rank], x.max()])
    return limits, pd.cut(x, limits, include_lowest=True, labels=False)


def pyale_curve(predict, feature, n_bins):
    """Mean differences per bin, cumulated; centred by the size-weighted mean of bin midpoints."""
    limits, place = pyale_bins(X[:, feature], n_bins)
    values, sizes = [0.0], []
    for k in range(limits.size - 1):
        change = changes(predict, feature, limits[k], limits[k + 1])[place == k]
        values.append(values[-1] + change.mean())
        sizes.append(change.size)
    midpoints = [(a + b) / 2 for a, b in pairwise(values)]
    level = sum(m * n for m, n in zip(midpoints, sizes, strict=True)) / sum(sizes)
    return limits, np.array(values) - level, np.array(sizes)


def alibi_curve(predict, feature, n_bins):
    """alibi 0.9: interpolated quantiles; a row's bin by searchsorted, minimum in the first; centred
    by weighted mid-values.
    """
    x = X[:, feature]
    limits = np.unique(np.quantile(x, np.linspace(0, 1, n_bins + 1)))
    place = np.maximum(np.searchsorted(limits, x, side="left"), 1)
    steps, sizes = [], []
    for k in range(1, limits.size):
        steps.append(changes(predict, feature, limits[k - 1], limits[k])[place == k].mean())
        sizes.append(np.sum(place == k))
    accumulated = np.cumsum([0.0, *steps])
    mid_values = 0.5 * (accumulated[1:] + accumulated[:-1])
    return limits, accumulated - np.average(mid_values, weights=sizes), np.array(sizes)


def ours(predict, feature, limits):
    bins = rhale.Edges(limits, closed="right")
    return rhale.explain(predict, X, features=feature, method="ale", bins=bins)[0]


@each_model
@each_feature
def test_ale_on_the_limits_of_pyale_equals_its_formula(predict, feature):
    limits, curve, sizes = pyale_curve(predict, feature, n_bins=12)
    effect = ours(predict, feature, limits)
    assert effect.count.tolist() == sizes.tolist()
    assert effect.curve(limits) == pytest.approx(curve, abs=1e-10)


@each_model
@each_feature
def test_ale_on_the_limits_of_alibi_equals_its_formula(predict, feature):
    limits, curve, sizes = alibi_curve(predict, feature, n_bins=10)
    effect = ours(predict, feature, limits)
    assert effect.count.tolist() == sizes.tolist()
    assert effect.curve(limits) == pytest.approx(curve, abs=1e-10)


@each_feature
def test_bins_closed_on_the_left_give_the_mirrored_answer(feature):
    limits, curve, sizes = alibi_curve(lambda rows: MODELS["smooth"](-rows), feature, n_bins=10)
    mirrored = rhale.explain(
        lambda rows: MODELS["smooth"](-rows * np.where(np.arange(3) == feature, -1, 1)),
        X * np.where(np.arange(3) == feature, -1, 1),
        features=feature,
        method="ale",
        bins=rhale.Edges(-limits[::-1], closed="left"),
    )[0]
    assert mirrored.count.tolist() == sizes[::-1].tolist()
    assert mirrored.curve(-limits) == pytest.approx(curve, abs=1e-10)
