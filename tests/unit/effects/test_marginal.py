"""The marginal plot: predictions of the rows as they are, bin by bin."""

import numpy as np
import pytest

import rhale
from rhale.effects.local.profiles import surround

N = 400
X = np.random.default_rng(3).normal(size=(N, 2))
X[:, 1] += 0.9 * X[:, 0]
WEIGHTS = np.random.default_rng(4).uniform(0, 2, N)


def model(rows):
    return rows[:, 0] ** 2 + 3 * rows[:, 0] * rows[:, 1]


def test_the_marginal_plot_averages_predictions_of_the_rows_of_each_bin():
    edges = np.array([-1.0, 0.0, 1.0])
    found = rhale.explain(model, X, features=0, method="mplot", bins=rhale.Edges(edges))[0]
    for k, (low, high) in enumerate(((-1, 0), (0, 1))):
        inside = (X[:, 0] >= low) & ((X[:, 0] < high) | ((k == 1) & (X[:, 0] == high)))
        assert found.grid[k] == pytest.approx(X[inside, 0].mean(), rel=1e-12)
        assert found.mean[k] == pytest.approx(model(X[inside]).mean(), rel=1e-12)
        assert found.std[k] == pytest.approx(model(X[inside]).std(ddof=1), rel=1e-12)
        assert found.rows[k] == inside.sum()
    out = np.sum(np.abs(X[:, 0]) > 1)
    assert any(f"{out} of {N} rows" in note for note in found.notes)


def test_the_marginal_plot_mixes_correlated_features_where_partial_dependence_does_not():
    fx = {m: rhale.explain(lambda r: r[:, 1], X, features=0, method=m)[0] for m in ("mplot", "pdp")}
    assert fx["pdp"].importance == pytest.approx(0, abs=1e-12)
    assert fx["mplot"].importance > 0.7


def test_batches_do_not_change_a_marginal_plot():
    whole, pieces = (
        rhale.explain(model, X, method="mplot", batch_size=size, weights=WEIGHTS)[0]
        for size in (None, 90)
    )
    for name in ("mean", "std", "share", "importance", "typical_spread"):
        assert getattr(whole, name) == pytest.approx(getattr(pieces, name), rel=1e-10)


def test_zero_is_the_mean_prediction_and_importance_the_deviation_of_the_bins():
    found = rhale.explain(model, X, features=0, method="mplot", bins=7, weights=WEIGHTS)[0]
    mean = np.average(model(X), weights=WEIGHTS)
    assert found.curve(found.grid) == pytest.approx(found.mean - mean, abs=1e-10)
    edges = np.linspace(X[:, 0].min(), X[:, 0].max(), 8)
    bins = np.minimum(np.searchsorted(edges, X[:, 0], side="right") - 1, 6)
    held = np.bincount(bins, WEIGHTS)
    means = np.bincount(bins, WEIGHTS * model(X)) / held
    size = np.sqrt(np.average((means - mean) ** 2, weights=held))
    assert found.importance == pytest.approx(size, rel=1e-12)


def test_the_interval_covers_the_shift_of_the_mean_prediction():
    """One bin more or less full: the variance of (bin mean - mean), by influence of the rows."""
    found = rhale.explain(model, X, features=0, method="mplot", bins=rhale.Quantile(2))[0]
    first = X[:, 0] < np.quantile(X[:, 0], 0.5, method="inverted_cdf")
    y, n = model(X), first.sum()
    gaps = np.where(first, y - y[first].mean(), 0.0) * N / n - (y - y.mean())
    low, high = found.ci(found.grid[0])
    assert (high - low) / 2 / 1.97 == pytest.approx(np.sqrt((gaps**2).sum()) / N, rel=0.01)


def test_every_value_has_a_cell_of_its_own():
    grid = surround(np.array([0.0, 1.0, 5.0]))
    assert grid.edges.tolist() == [0, 0.5, 3, 5]
    assert grid.locate(np.array([0.0, 1.0, 5.0])).tolist() == [0, 1, 2]
    assert surround(np.array([4.0])).edges.tolist() == [4, 4]


def test_a_constant_feature_has_a_note_and_no_importance():
    rows = np.column_stack([X, np.full(N, 4.0)])
    found = rhale.explain(model, rows, method="mplot")["x2"]
    assert (found.grid.tolist(), found.importance, found.importance_error) == ([4.0], 0, 0)
    assert found.notes == ("constant: always 4, so no effect can be measured",)
