import numpy as np
import pytest
from tests.unit.effects.refitted import N_ROWS, SLOPES, make_table, refit_lines

from rhale.stability.table import (
    find_correlated,
    part_rows,
    tabulate_refit_effects,
    tabulate_refit_pairs,
)


@pytest.fixture(scope="module")
def lines():
    return refit_lines(pairs="all")


def test_what_would_come_back_has_a_row_for_every_feature(lines):
    rows = tabulate_refit_effects(lines.effects, {"x0": ["x1"], "x1": []})
    first = lines["x0"]
    assert rows["feature"] == ["x0", "x1"]
    assert rows["comes_back"] == [True, False]
    assert rows["importance"][0] == first.importance
    assert (rows["importance_low"][0], rows["importance_high"][0]) == first.importance_ci()
    assert rows["correlated_with"] == ["x1", ""]


def test_nobody_knows_what_comes_back_of_the_same_rows():
    rx = refit_lines(train=[np.arange(9)] * SLOPES.size, pairs="all")
    rows = tabulate_refit_effects([rx["x0"]], {"x0": []})
    assert rows["comes_back"] == [None]
    assert np.isnan([rows["p_value"][0], rows["replicated"][0], rows["importance_low"][0]]).all()
    pair = tabulate_refit_pairs(rx.pairs)
    assert pair["comes_back"] == [None]
    assert np.isnan(pair["strength_low"][0])


def test_pairs_have_a_row_each(lines):
    rows = tabulate_refit_pairs(lines.pairs)
    assert (rows["first"], rows["second"]) == (["x0"], ["x1"])
    assert rows["strength"][0] == pytest.approx(0, abs=1e-9)
    assert rows["comes_back"] == [False]


def test_every_limit_has_a_row(lines):
    rows = part_rows(lines.effects)
    n_first = lines["x0"].axis.size
    assert rows["feature"] == ["x0"] * n_first + ["x1"] * lines["x1"].axis.size
    np.testing.assert_allclose(rows["x"][:n_first], lines["x0"].axis)
    np.testing.assert_allclose(rows["curve"][:n_first], lines["x0"].curve(lines["x0"].axis))
    assert {len(cells) for cells in rows.values()} == {len(rows["x"])}


def test_copies_are_named_whatever_their_scale_and_sign_and_others_are_not():
    x = make_table()
    sample = np.column_stack([x[:, 0], -np.exp(x[:, 0]), x[:, 1], np.ones(N_ROWS)])
    sample[::9, 1] = np.nan
    found = find_correlated(["a", "b", "c", "d"], sample, np.ones(N_ROWS))
    assert found == {"a": ["b"], "b": ["a"], "c": [], "d": []}


def test_rows_without_weight_and_without_values_do_not_count():
    x = make_table()
    weight = np.r_[np.ones(40), np.zeros(40)]
    second = np.r_[x[:40, 0], -x[40:, 0]]
    sample = np.column_stack([x[:, 0], second, np.full(N_ROWS, np.nan)])
    found = find_correlated(["a", "b", "c"], sample, weight)
    assert found == {"a": ["b"], "b": ["a"], "c": []}


def test_features_are_correlated_from_four_fifths_on():
    """Ranks of y differ from those of x by d² in all: Spearman's 1 - 6 d² / (n (n² - 1))."""
    x = np.arange(10.0)
    nearly = np.array([2.0, 1, 0, 3, 4, 5, 6, 9, 8, 7])  # d² = 16: .903
    hardly = np.array([5.0, 1, 2, 3, 4, 0, 6, 7, 8, 9])  # d² = 50: .697
    sample = np.column_stack([x, nearly, hardly])

    found = find_correlated(["x", "nearly", "hardly"], sample, np.ones(10))

    assert found == {"x": ["nearly"], "nearly": ["x"], "hardly": []}
