import numpy as np
import pytest

from rhale.regions.partner_shares import (
    MAX_JOINT_PARTNERS,
    add_up_cells,
    code_partners,
    cut_own,
    order_partners,
)
from rhale.regions.settings import SearchRows, Target


def order_of(values, effects, share, weight=None):
    n_rows, n_partners = values.shape
    weight = np.ones(n_rows) if weight is None else weight
    rows = SearchRows(values, np.zeros(n_partners, int), weight, np.zeros(n_rows, bool))
    partners = code_partners(rows)
    own = cut_own(Target(np.arange(n_rows), values[:, 0], effects, np.zeros(n_rows)), weight)
    sums = add_up_cells(own, partners)
    total = float(own.factor @ (own.sums.powers[0] - own.sums.values[0] ** 2 / own.sums.weight))
    told = order_partners(own, partners, sums, share, np.zeros(n_partners), total)
    return told, own, partners


def adjusted_share(own, codes):
    """What dummies of cells explain inside the cells of the feature: least squares, cell by cell."""
    left = total = 0.0
    for a in range(own.n_cells):
        here, y = own.cell == a, own.values[0][own.cell == a]
        dummies = [np.eye(code.max() + 1)[code][here] for code in codes]
        matrix = np.hstack([np.ones((y.size, 1)), *dummies])
        fitted, _, rank, _ = np.linalg.lstsq(matrix, y, rcond=None)
        rest = y - matrix @ fitted
        total += np.sum((y - y.mean()) ** 2)
        left += rest @ rest * (y.size - 1) / (y.size - rank)
    return 1 - left / total


def test_what_partners_add_is_that_of_least_squares():
    values = np.random.default_rng(0).normal(size=(1_000, 4))
    values[:, 2] += values[:, 1]
    effects = values[:, 1] + 0.5 * values[:, 2] + 0.3 * values[:, 3]
    told, own, partners = order_of(values, effects, np.array([np.nan, 0.9, 0.7, 0.1]))
    codes = partners.codes - partners.starts[:-1, None]
    alone = adjusted_share(own, codes[[1]])
    two = adjusted_share(own, codes[[1, 2]])
    three = adjusted_share(own, codes[[1, 2, 3]])
    assert 1 - told.unexplained == pytest.approx(three, abs=1e-6)
    assert told.own_share[1] == pytest.approx(alone, abs=0.02)
    assert told.own_share[2] == pytest.approx(two - alone, abs=0.02)
    assert told.own_share[3] == pytest.approx(three - two, abs=0.02)
    assert np.isnan(told.own_share[0])


def test_the_one_that_takes_it_over_is_named():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(3_000, 5))
    values[:, 3] = values[:, 1] + 0.4 * values[:, 3]
    values[:, 4] = values[:, 2] + 0.4 * values[:, 4]
    effects = np.sign(values[:, 1]) + 0.9 * np.sign(values[:, 2])
    told, *_ = order_of(values, effects, np.array([np.nan, 0.55, 0.45, 0.35, 0.3]))
    assert told.proxy_of.tolist() == [-1, -1, -1, 1, 2]


def test_a_copy_adds_nothing_and_does_no_harm():
    values = np.random.default_rng(2).normal(size=(1_000, 3))
    values[:, 2] = values[:, 1]
    told, *_ = order_of(values, values[:, 1], np.array([np.nan, 0.95, 0.95]))
    assert told.proxy_of.tolist() == [-1, -1, 1]
    assert told.own_share[2] < 0.01
    assert told.unexplained < 0.1


def test_nobody_worth_it_leaves_everything():
    values = np.random.default_rng(3).normal(size=(500, 3))
    effects = np.random.default_rng(4).normal(size=500)
    told, *_ = order_of(values, effects, np.array([np.nan, 0.01, np.nan]))
    assert told.unexplained == 1
    assert np.isnan(told.own_share).all()
    assert (told.proxy_of == -1).all()


def test_some_are_looked_at_together_and_no_more_than_rows_allow():
    values = np.random.default_rng(5).normal(size=(4_000, 10))
    effects = values[:, 1:].sum(axis=1)
    share = np.array([np.nan, *np.full(9, 0.1)])
    told, *_ = order_of(values, effects, share)
    assert np.count_nonzero(~np.isnan(told.own_share)) == MAX_JOINT_PARTNERS
    assert told.unexplained == pytest.approx(1 - MAX_JOINT_PARTNERS / 9, abs=0.06)
    few, *_ = order_of(values[:120], effects[:120], share)
    assert few.unexplained > 1 - MAX_JOINT_PARTNERS / 9 + 0.1


def test_uneven_weights_are_heard():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(3_000, 3))
    weight = np.where(values[:, 2] > 0, 1.0, 1e-6)
    effects = np.where(values[:, 2] > 0, np.sign(values[:, 1]), rng.normal(size=3_000))
    told, *_ = order_of(values, effects, np.array([np.nan, 0.9, np.nan]), weight)
    assert told.own_share[1] > 0.85


def test_many_levels_are_fitted_two_at_a_time():
    rng = np.random.default_rng(7)
    values = rng.integers(50, size=(6_000, 4)).astype(float)
    height = rng.normal(size=50)
    effects = sum(height[values[:, k].astype(int)] for k in (1, 2, 3))
    rows = SearchRows(values, np.full(4, 50), np.ones(6_000), np.zeros(6_000, bool))
    target = Target(
        np.arange(6_000), values[:, 0], effects, np.zeros(6_000), step=values[:, 0].astype(int)
    )
    partners, own = code_partners(rows), cut_own(target, np.ones(6_000))
    sums, share = add_up_cells(own, partners), np.array([np.nan, 0.3, 0.33, 0.3])
    told = order_partners(own, partners, sums, share, np.zeros(4), float(np.sum(own.values**2)))
    assert np.count_nonzero(~np.isnan(told.own_share)) == 2
