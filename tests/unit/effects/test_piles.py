"""Piles: which values they are, what lies beside them, and how windows keep away."""

import numpy as np
import pytest

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.gaps import NO_PILES, find_point_masses
from rhale.effects.local.finite_difference import even_window, window


def axis_with(*piles, n=200, weight=100.0):
    """Values 0, 1, 2, ..., n with one row each, and piles at some of them."""
    values = np.arange(n + 1.0)
    held = np.where(np.isin(values, piles), weight, 1.0)
    return FeatureAxis(0.0, float(n), values, held, float(held.sum()))


def test_a_pile_at_an_end_has_one_stretch_and_one_inside_has_two():
    assert find_point_masses(axis_with(0)).stretches.tolist() == [[0, 5]]
    assert find_point_masses(axis_with(200)).stretches.tolist() == [[195, 200]]
    found = find_point_masses(axis_with(50))
    assert found.stretches.tolist() == [[45, 50], [50, 55]]
    assert found.divided.tolist() == found.values.tolist() == [50]


def test_piles_that_are_close_share_the_stretch_between_them():
    found = find_point_masses(axis_with(50, 58))
    assert found.stretches.tolist() == [[45, 50], [50, 58], [58, 63]]
    assert found.divided.tolist() == [50, 58]
    assert find_point_masses(axis_with(50, 51)).stretches.tolist() == [[45, 50], [50, 51], [51, 56]]


def test_stretches_that_only_touch_divide_nobody_there():
    found = find_point_masses(axis_with(50, 60))
    assert found.stretches.tolist() == [[45, 50], [50, 55], [55, 60], [60, 65]]
    assert found.divided.tolist() == [50, 60]


def test_many_rows_have_more_of_them_beside_a_pile():
    values = np.arange(10_001.0)
    axis = FeatureAxis(0.0, 1e4, values, np.where(values == 0, 10_000.0, 1.0), 20_000.0)
    assert find_point_masses(axis).stretches.tolist() == [[0, 40]]  # 0.2 % of 20,000


@pytest.mark.parametrize(
    "weight",
    [
        np.ones(200),  # no value has a twentieth
        np.where(np.arange(200) == 3, 10.0, 1.0),  # 4.8 %
        np.full(15, 7.0),  # all are heavy: few values, and no piles
        np.ones(1),
    ],
)
def test_where_no_value_stands_out_there_are_no_piles(weight):
    axis = FeatureAxis(0.0, weight.size - 1.0, np.arange(float(weight.size)), weight, weight.sum())
    assert find_point_masses(axis).stretches.size == 0


def test_rows_of_a_divided_pile_stand_on_the_side_that_their_key_says():
    piles, key = find_point_masses(axis_with(50)), np.arange(4, dtype=np.uint64)
    x = np.array([50.0, 50.0, 49.0, np.nan])
    moved = piles.split_ties(x, key)
    assert moved[0] < 50.0 < moved[1]
    assert moved[:2] == pytest.approx([50.0, 50.0], rel=1e-15)
    assert moved[2] == 49.0
    assert np.isnan(moved[3])
    assert x[0] == 50.0
    assert find_point_masses(axis_with(0)).split_ties(np.zeros(3), key[:3]).tolist() == [0, 0, 0]


def test_limits_between_and_right_before_stretches_give_way_to_their_ends():
    piles = find_point_masses(axis_with(50))
    limits = np.array([0.0, 43.5, 44.5, 45.5, 52.5, 55.5, 200.0])
    assert piles.add_limits(limits).tolist() == [0, 43.5, 45, 50, 55, 55.5, 200]
    assert NO_PILES.add_limits(limits) is limits


def test_rows_in_a_stretch_share_it_and_no_other_window_enters_one():
    axis = axis_with(50)
    piles = find_point_masses(axis)
    x = piles.split_ties(np.r_[axis.values, 50.0], np.r_[axis.values, 1.0].astype(np.uint64))
    for found in (
        window(axis, 0.1, point_masses=piles),
        even_window(axis, 0.1, 0.02, point_masses=piles),
        even_window(axis, 0.3, 0.15, point_masses=piles),
    ):
        a, b = found.ends(x)
        left, right = (x >= 45) & (x < 50), (x > 50) & (x < 55)
        assert np.all((a[left] == 45) & (b[left] == 50))
        assert np.all((a[right] == 50) & (b[right] == 55))
        free = ~(left | right)
        assert np.all((b[free] <= 45) | (a[free] >= 55))
        assert np.all((a <= x) & (x <= b) & (a < b))


def test_even_windows_stay_even_beside_a_pile():
    values = np.linspace(0.0, 10.0, 1001)
    axis = FeatureAxis(0.0, 10.0, values, np.where(values == 0, 500.0, 1.0), 1500.0)
    piles = find_point_masses(axis)
    x = np.array([1.0, 2.0, 5.0])
    a, b = even_window(axis, 0.1, 0.02, point_masses=piles).ends(x)
    assert x - a == pytest.approx(b - x)
    assert np.all(a >= piles.stretches[0, 1])


def test_a_gap_beside_a_pile_is_what_lies_beside_it():
    values = np.append(0.0, np.linspace(4.0, 10.0, 600))
    axis = FeatureAxis(0.0, 10.0, values, np.append(400.0, np.ones(600)), 1000.0)
    piles = find_point_masses(axis)
    assert piles.stretches.tolist() == [[0.0, 4.0]]
    a, b = even_window(axis, 0.1, 0.02, point_masses=piles).ends(np.array([0.0, 4.0]))
    assert (a[0], b[0]) == (0.0, 4.0)
    assert a[1] == 4.0
