"""Histograms of residuals, and what cuts of them explain."""

import numpy as np
import pytest
from tests.effects_by_hand import rows_of, target_of, uniform

from rhale.regions.residuals import CodedRows, take_residuals
from rhale.regions.search import Histogram, fill, fill_one, gain_between, squares


@pytest.fixture
def weighed():
    values = uniform(400, 3)
    values[::7, 1] = np.nan
    values[:, 2] = np.arange(400) % 3
    rng = np.random.default_rng(0)
    rows = CodedRows(rows_of(values, n_levels=[0, 0, 3], weight=rng.uniform(0.5, 2, 400)))
    own = rng.normal(size=400)
    return rows, take_residuals(rows.rows, [target_of(values[:, 0], own)])


def test_histograms_are_sums_over_rows(weighed):
    rows, residuals = weighed
    some, splitters = residuals.searched, np.array([1, 2])
    filled = fill(residuals, some, rows.fine, splitters)
    assert filled.weight.shape == (2, 65, 12)
    code = rows.fine.codes[2]
    for level, cell in ((0, 0), (2, 5)):
        here = some[(code[some] == level) & (residuals.cell[some] == cell)]
        assert filled.weight[1, level, cell] == pytest.approx(residuals.weight[here].sum())
        sums = (residuals.weight * residuals.values)[:, here].sum(axis=1)
        np.testing.assert_allclose(filled.sums[:, 1, level, cell], sums)
    empty = some[np.isnan(rows.rows.values[some, 1])]
    assert filled.weight[0, -1].sum() == pytest.approx(residuals.weight[empty].sum())
    assert filled.weight[1, -1].sum() == 0
    np.testing.assert_allclose(filled.total().weight.sum(axis=-1), [1, 1])


def test_a_gain_is_what_two_means_explain(weighed):
    rows, residuals = weighed
    some = residuals.searched
    goes = (rows.rows.values[some, 2] > 0).astype(int)
    filled = fill_one(residuals, some, goes, 2)
    gain = gain_between(filled[0], filled.total(), residuals.factor)
    explained = 0.0
    (values,) = residuals.values[:, some]
    for cell in range(residuals.n_cells):
        here = residuals.cell[some] == cell
        w = residuals.weight[some][here]
        mean = np.average(values[here], weights=w)
        for side in (0, 1):
            on = goes[here] == side
            own = np.average(values[here][on], weights=w[on])
            explained += w[on].sum() * (own - mean) ** 2
    assert gain == pytest.approx(explained)
    parts = squares(filled, residuals.factor).sum() - squares(filled.total(), residuals.factor)
    assert gain == pytest.approx(parts)


def test_an_empty_side_gains_nothing():
    total = Histogram(np.array([2.0, 0.0]), np.array([[1.0, 0.0]]))
    none = Histogram(np.zeros(2), np.zeros((1, 2)))
    for first in (none, total):
        assert gain_between(first, total, np.ones(2)) == 0
