"""Codes of splitters, and numbers in as few digits as can be."""

import numpy as np
import pytest
from tests.effects_by_hand import rows_of

from rhale.regions.residuals import (
    FINE,
    N_COARSE_CELLS,
    CodedRows,
    cut_evenly,
    cut_in_order,
    round_between,
)


def test_cells_hold_about_as_many_rows_and_end_at_values():
    x = np.random.default_rng(0).permutation(6_400).astype(float)
    ends = cut_evenly(np.sort(x), 64)
    assert ends.tolist() == list(np.arange(1, 64) * 100 - 1.0)


def test_few_values_have_a_cell_each_and_one_value_has_one():
    assert cut_evenly(np.array([1.0, 1, 2, 5, 5]), 8).tolist() == [1, 2]
    assert cut_evenly(np.array([3.0, 3, 3]), 8).size == 0
    assert cut_evenly(np.empty(0), 8).size == 0


def test_a_value_that_most_rows_share_is_one_cell():
    ends = cut_evenly(np.sort(np.concatenate([np.zeros(900), np.arange(1.0, 101)])), 8)
    assert ends.tolist() == [0]


def test_values_up_to_an_end_have_its_code_and_missing_ones_have_the_last():
    values = np.array([[1.0, 2], [2, np.nan], [3, 0], [np.nan, 1]])
    coded = CodedRows(rows_of(values, n_levels=[0, 3]))
    assert coded.fine.codes.tolist() == [[0, 1, 2, 3], [2, 3, 0, 1]]
    assert coded.fine.n_cells.tolist() == [3, 3]
    assert coded.fine.ends[0].tolist() == [1, 2]
    assert coded.missing.tolist() == [True, True]
    assert coded.n_splitters == 2


@pytest.mark.parametrize("n_cells", [1, 2, 12, 64])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_cells_from_an_order_are_those_between_the_ends(n_cells, digits):
    rng = np.random.default_rng(n_cells)
    x = rng.normal(size=800).round(digits)
    x[rng.random(800) < 0.1] = np.nan
    order, known = np.argsort(x), ~np.isnan(x)
    cell, ends = cut_in_order(x[order], order, n_cells)
    np.testing.assert_array_equal(ends, cut_evenly(np.sort(x[known]), n_cells))
    np.testing.assert_array_equal(cell[known], [np.sum(ends < value) for value in x[known]])
    assert set(cell[~known]) == {ends.size + 1}


def test_there_are_many_fine_cells_and_few_coarse_ones():
    coded = CodedRows(rows_of(np.random.default_rng(0).normal(size=(5_000, 1))))
    assert (coded.fine.n_cells[0], coded.coarse.n_cells[0]) == (FINE, N_COARSE_CELLS)


def test_the_rank_of_a_row_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(500, 4))
    order = rng.permutation(500)
    rank, moved = (CodedRows(rows_of(v)).rank for v in (values, values[order]))
    assert np.array_equal(np.argsort(rank)[:100], order[np.argsort(moved)[:100]])


@pytest.mark.parametrize(
    ("low", "high", "round_one"),
    [
        (0.3298, 0.3312, 0.33),
        (3.0, 4.0, 3.0),
        (9.0, 12.5, 10.0),
        (-0.2, 0.1, 0.0),
        (0.0, 1.0, 0.0),
        (-1.0, 0.0, -1.0),
        (-12.6, -9.0, -10.0),
        (0.2, 0.9, 0.6),
        (12345.6, 12399.0, 12370.0),
        (1e-9, 3e-9, 2e-9),
        (1_000_000_001.25, 1_000_000_001.5, 1_000_000_001.4),
        (0.1, np.nextafter(0.1, 1), 0.1),
        (5.0, np.inf, 5.0),
    ],
)
def test_thresholds_have_few_digits(low, high, round_one):
    assert low <= round_between(low, high) < high
    assert round_between(low, high) == round_one
