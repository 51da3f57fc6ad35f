"""Ranks and correlations are those of SciPy."""

import numpy as np
import pytest

from rhale.stats.arrays import correlate, rank_values


def test_ranks_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    values = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 1.0])
    np.testing.assert_allclose(rank_values(values), stats.rankdata(values) - 1)


def test_correlations_of_ranks_are_spearmans():
    stats = pytest.importorskip("scipy.stats")
    first, other = np.random.default_rng(1).normal(size=(2, 80))
    second = first**3 + other
    found = correlate(rank_values(first), rank_values(second), np.ones(80))
    assert found == pytest.approx(stats.spearmanr(first, second).statistic)
