"""Whole fits: against effector's RHALE, PyALE and scikit-learn's partial dependence."""

import effector
import numpy as np
import pandas as pd
import pytest
from measuring import Counted, race, race_of_processor, seconds
from PyALE import ale
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor

import rhale

N_FEATURES = 5


def table(n_rows):
    return np.random.default_rng(0).uniform(-1, 1, (n_rows, N_FEATURES))


def function(x):
    return np.sin(4 * x[:, 0]) + x[:, 1] * x[:, 2] + x[:, 3] ** 2 + 0.5 * x[:, 4]


def derivative(x):
    return np.column_stack(
        [4 * np.cos(4 * x[:, 0]), x[:, 2], x[:, 1], 2 * x[:, 3], np.full(len(x), 0.5)]
    )


@pytest.mark.parametrize("n_cells", [20, 100])
@pytest.mark.parametrize("n_rows", [10_000, 100_000])
def test_rhale_equals_effector(benchmark, ledger, n_rows, n_cells):
    x, least = table(n_rows), n_rows // 20
    bins = rhale.Optimal(max_bins=n_cells, discount=0.3, min_points=least, ddof=0)
    binning = effector.axis_partitioning.DynamicProgramming(n_cells, least, 0.3)
    asked = {}

    def ours():
        model, slopes = asked["rhale"] = Counted(function), Counted(derivative)
        return rhale.explain(model, x, gradient=slopes, bins=bins)

    def theirs():
        model, slopes = asked["effector"] = Counted(function), Counted(derivative)
        peer = effector.RHALE(x, model, slopes, nof_instances="all")
        peer.fit("all", binning_method=binning, centering="zero_start")
        return peer

    found = race(benchmark, ours, theirs, rounds=5)

    for feature in range(N_FEATURES):
        effect = found.our_answer[feature]
        places = np.linspace(effect.edges[0], effect.edges[-1], 101)
        curve = found.other_answer.eval(feature, places, centering="zero_start")
        np.testing.assert_allclose(effect.curve(places, center="start"), curve, atol=1e-9)
    slopes_ours, slopes_theirs = asked["rhale"][1].n_rows, asked["effector"][1].n_rows
    ledger.add(
        "explain, against effector.RHALE",
        f"5 features, {n_rows:,} rows, {n_cells} cells",
        f"{seconds(found.ours)}, slopes of {slopes_ours:,} rows",
        f"{seconds(found.other)}, slopes of {slopes_theirs:,} rows",
        f"{found.speedup:.3g} times as fast",
    )


@pytest.mark.parametrize("n_rows", [10_000, 100_000])
def test_ale_equals_pyale(benchmark, ledger, n_rows):
    frame = pd.DataFrame(table(n_rows), columns=[f"x{i}" for i in range(N_FEATURES)])
    asked = {}

    def ours():
        asked["rhale"] = Counted(function)
        bins = rhale.Quantile(20, closed="right")
        return rhale.explain(asked["rhale"], frame, method="ale", bins=bins)

    def theirs():
        asked["PyALE"] = Counted(function)
        return [
            ale(frame, asked["PyALE"], [name], grid_size=20, include_CI=True, plot=False)
            for name in frame.columns
        ]

    found = race(benchmark, ours, theirs, rounds=3)

    for effect, other in zip(found.our_answer, found.other_answer, strict=True):
        if n_rows <= 20_000:  # beyond that our quantiles come from a bounded sample
            np.testing.assert_allclose(effect.edges, other.index, atol=1e-12)
            curve = effect.curve(other.index.to_numpy())
            np.testing.assert_allclose(curve, other["eff"], atol=1e-9)
        else:
            curve = effect.curve(np.clip(other.index, *effect.edges[[0, -1]]))
            np.testing.assert_allclose(curve, other["eff"], atol=0.02)
    ledger.add(
        "explain(method='ale'), against PyALE",
        f"5 features, {n_rows:,} rows",
        f"{seconds(found.ours)}, {asked['rhale'].asked}",
        f"{seconds(found.other)}, {asked['PyALE'].asked}",
        f"{found.speedup:.3g} times as fast",
    )


class Estimator(RegressorMixin, BaseEstimator):
    """A counted function that scikit-learn takes for a fitted model."""

    def __init__(self, counted=None):
        self.counted = counted
        self.fitted_ = True

    def fit(self, *_):
        return self

    def predict(self, rows):
        return self.counted(rows)


@pytest.mark.parametrize("n_rows", [2_000, 20_000])
@pytest.mark.parametrize(("method", "kind"), [("pdp", "average"), ("ice", "both")])
def test_profiles_equal_scikit_learn(ledger, method, kind, n_rows):
    """The rows that both ask about bound the ratio: their model is most of what scikit-learn takes."""
    x, grid = table(n_rows), np.linspace(-0.9, 0.9, 51)
    asked = {}

    def ours():
        asked["rhale"] = Counted(function)
        return rhale.explain(asked["rhale"], x, method=method, bins=rhale.Edges(grid))

    def theirs():
        asked["sklearn"] = Counted(function)
        model = Estimator(asked["sklearn"])
        return [
            partial_dependence(model, x, [i], custom_values={i: grid}, method="brute", kind=kind)
            for i in range(N_FEATURES)
        ]

    found = race_of_processor(ours, theirs, rounds=7)

    for feature, (profile, other) in enumerate(
        zip(found.our_answer, found.other_answer, strict=True)
    ):
        np.testing.assert_allclose(profile.mean, other["average"][0], atol=1e-9)
        if method == "ice":
            place = {value: row for row, value in enumerate(x[:, feature])}
            rows = [place[value] for value in profile.curve_x]
            np.testing.assert_allclose(profile.curves, other["individual"][0][rows], atol=1e-9)
    ledger.add(
        f"explain(method={method!r}), against scikit-learn",
        f"5 features, 51 points, {n_rows:,} rows",
        f"{seconds(found.ours)}, {asked['rhale'].asked}",
        f"{seconds(found.other)}, {asked['sklearn'].asked}",
        f"{found.speedup:.3g} times as fast",
        ">= 1.3 times",
        met=found.speedup >= 1.3,
    )


MODELS = {
    "LinearRegression": LinearRegression(),
    "MLPRegressor": MLPRegressor(hidden_layer_sizes=(20,), max_iter=10, random_state=0),
    "RandomForest as a black box": RandomForestRegressor(10, max_depth=6, random_state=0),
}


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("n_rows", [2_000, 20_000])
@pytest.mark.parametrize("kind", ["NumPy", "pandas"])
@pytest.mark.parametrize("name", MODELS)
def test_profiles_of_estimators_equal_scikit_learn(ledger, name, kind, n_rows):
    """A real estimator has a price for each call, and a data frame one for each copy of it."""
    array, grid, names = table(n_rows), np.linspace(-0.9, 0.9, 51), list("abcde")
    x = array if kind == "NumPy" else pd.DataFrame(array, columns=names)
    model = MODELS[name].fit(x, function(array))
    asked = rhale.models.wrap(model, walk=False)
    columns = range(N_FEATURES) if kind == "NumPy" else names

    def theirs():
        return [
            partial_dependence(model, x, [i], custom_values={i: grid}, method="brute")
            for i in columns
        ]

    found = race_of_processor(
        lambda: rhale.explain(asked, x, method="pdp", bins=rhale.Edges(grid)), theirs, rounds=3
    )

    for profile, other in zip(found.our_answer, found.other_answer, strict=True):
        np.testing.assert_allclose(profile.mean, other["average"][0], atol=1e-9)
    ledger.add(
        "explain(method='pdp') of an estimator, against scikit-learn",
        f"{name}, {kind}, 5 features, 51 points, {n_rows:,} rows",
        seconds(found.ours),
        seconds(found.other),
        f"{found.speedup:.3g} times as fast",
    )
