"""ALE statistics by hand, and percentiles by counting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.effects.statistics import (
    HalfPercentiles,
    read_cells,
    read_levels,
    size_up,
    summarise_ale_bins,
    summarise_ale_steps,
)

numbers = st.integers(-6, 6).map(float)


def percentile_by_hand(a, y):
    """The definition, read aloud."""
    off = [v - float(np.median(y)) for v in y]
    low = max((c for c in off if c < 0), default=-np.inf)
    high = min((c for c in off if c > 0), default=np.inf)
    if low <= a <= high:
        return 0.0
    if a < 0:
        half = [c for c in off if c <= 0]
        return -50.0 * sum(c >= a for c in half) / len(half)
    half = [c for c in off if c >= 0]
    return 50.0 * sum(c <= a for c in half) / len(half)


def test_sizes_are_means_over_the_rows():
    found = size_up(np.array([-3.0, 1.0, 99.0]), np.array([1.0, 3.0, 0.0]))
    assert found == pytest.approx((6 / 4, np.sqrt(12 / 4)))


def test_without_rows_there_is_no_size():
    assert size_up(np.array([5.0]), np.zeros(1)) == (0.0, 0.0)


def test_bins_are_read_in_their_middles_and_their_range_at_the_limits():
    found = summarise_ale_bins(np.array([-1.0, 3.0, 1.0]), np.array([2.0, 5.0]))
    assert found.values.tolist() == [1.0, 2.0]
    assert (found.low, found.high) == (-1.0, 3.0)
    assert found.weight.tolist() == [2.0, 5.0]


def test_levels_without_rows_are_not_in_the_range():
    found = read_levels(np.array([-9.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0]))
    assert (found.low, found.high) == (1.0, 2.0)
    assert read_levels(np.array([3.0]), np.zeros(1))[2:] == (3.0, 3.0)


def test_the_range_of_stairs_is_between_the_first_and_the_last_row():
    found = summarise_ale_steps(
        np.array([-9.0, 1.0, 7.0, 2.0, 50.0]), np.array([0.0, 0.5, 0.0, 0.5, 0.0])
    )
    assert (found.low, found.high) == (1.0, 7.0)
    rising = summarise_ale_steps(np.array([-9.0, 1.0, 7.0, 50.0]), np.array([0.0, 0.5, 0.5, 0.0]))
    assert (rising.low, rising.high) == (1.0, 7.0)
    assert summarise_ale_steps(np.array([1.0, 2.0]), np.zeros(2))[2:] == (1.0, 2.0)


def test_cells_are_read_at_two_corners():
    surface = np.array([[0.0, 1.0, 5.0], [2.0, 4.0, 9.0]])
    found = read_cells(surface, np.array([[3.0, 4.0]]))
    assert found.values.tolist() == [(0 + 4) / 2, (1 + 9) / 2]
    assert found.weight.tolist() == [3.0, 4.0]
    assert (found.low, found.high) == (2.0, 5.0)


def test_levels_of_a_pair_are_read_at_the_levels():
    surface = np.array([[0.0, 1.0, 5.0], [2.0, 4.0, 9.0]])
    along = read_cells(surface, np.ones((2, 2)), (True, False))
    assert along.values.tolist() == [0.5, 3.0, 3.0, 6.5]
    both = read_cells(surface, np.ones((2, 3)), (True, True))
    assert both.values.tolist() == surface.ravel().tolist()


def test_percentiles_of_an_odd_number_of_values():
    percentile = HalfPercentiles.of(np.array([5.0, 1.0, 3.0, 2.0, 9.0]))  # c: -2, -1, 0, 2, 6
    asked = np.array([-7.0, -2.0, -1.5, -1.0, 0.0, 2.0, 2.1, 6.0, 8.0])
    thirds = [-150, -150, -100, 0, 0, 0, 100, 150, 150]
    assert percentile(asked) == pytest.approx(np.array(thirds) / 3)


def test_percentiles_of_an_even_number_of_values():
    percentile = HalfPercentiles.of(np.array([0.0, 2.0, 4.0, 10.0]))  # c: -3, -1, 1, 7
    asked = np.array([-3.0, -2.9, -1.0, -0.5, 1.0, 1.1, 7.0])
    assert percentile(asked).tolist() == [-50, -25, 0, 0, 0, 25, 50]


def test_values_at_the_median_count_in_both_halves():
    percentile = HalfPercentiles.of(np.array([0.0, 1.0, 1.0, 1.0, 2.0]))
    assert percentile(np.array([-1.0, 1.0])).tolist() == [0.0, 0.0]
    assert percentile(np.array([-1.1, 1.1])).tolist() == [-50.0, 50.0]
    far = HalfPercentiles.of(np.array([-9.0, 0.0, 1.0, 1.0, 1.0, 2.0]))  # c: -10, -1, 0, 0, 0, 1
    assert far(np.array([-5.0])).tolist() == [-50 * 4 / 5]


def test_a_side_without_values_has_no_percentiles():
    percentile = HalfPercentiles.of(np.array([1.0, 1.0, 1.0, 4.0]))
    assert percentile(np.array([-100.0, 3.0, 3.5])).tolist() == [0.0, 0.0, 50.0]
    constant = HalfPercentiles.of(np.array([7.0]))
    assert constant(np.array([-1.0, 0.0, 1.0])).tolist() == [0.0, 0.0, 0.0]


@given(st.lists(numbers, min_size=1, max_size=12), st.lists(numbers, min_size=1, max_size=6))
def test_percentiles_are_those_of_the_definition(y, asked):
    halves = np.array(asked) / 2  # medians of two whole numbers end in a half
    found = HalfPercentiles.of(np.array(y))(halves)
    assert found == pytest.approx([percentile_by_hand(a, y) for a in halves])


@given(st.lists(numbers, min_size=1, max_size=12), st.lists(numbers, min_size=2, max_size=6))
def test_percentiles_rise_with_the_effect(y, asked):
    found = HalfPercentiles.of(np.array(y))(np.sort(asked))
    assert np.all(np.diff(found) >= 0)
    assert np.all(np.abs(found) <= 50)
