import numpy as np

from rhale.effects.binning.cells import Grid
from rhale.effects.binning.gaps import NO_GAPS, find_gaps
from rhale.effects.binning.moments import measure_moments

LEFT, RIGHT = np.linspace(0.0, 2.0, 21), np.linspace(6.0, 8.0, 21)
X = np.concatenate([LEFT, RIGHT])


def found(effect, curve, x=X, n_cells=16):
    cells = measure_moments(Grid(np.linspace(0.0, 8.0, n_cells + 1)), x, effect(x))
    return find_gaps(cells, curve)


def test_a_gap_reaches_from_the_last_row_before_it_to_the_next_one():
    gaps = found(np.zeros_like, np.zeros_like)
    assert (gaps.left.tolist(), gaps.right.tolist()) == ([2.0], [6.0])
    assert gaps.variance.tolist() == [0.0]
    np.testing.assert_allclose(gaps.reach(np.array([1.0, 3.5, 7.0])), [[0], [1.5], [4]])


def test_between_two_levels_it_is_a_uniform_variable():
    """0 and 6 beside it, 3 drawn between: (6 - 0)² / 12."""
    step = lambda x: np.where(x < 4, 0.0, 6.0)
    gaps = found(step, lambda x: 3.0 * x)
    np.testing.assert_allclose(gaps.variance, 36 / 12)


def test_a_line_across_it_leaves_what_is_drawn_at_its_ends_open():
    """Slope 2 on both sides, drawn as 8, what it is in the middle: 4 and 12 at the limits."""
    gaps = found(lambda x: 2 * x, lambda x: x**2)
    np.testing.assert_allclose(gaps.variance, 4.0**2 / 3)


def test_lines_that_meet_above_suggest_a_hump():
    """x and 8 - x meet at 4 in the middle; 2 is drawn."""
    gaps = found(lambda x: np.where(x < 4, x, 8 - x), lambda x: 2.0 * x)
    np.testing.assert_allclose(gaps.variance, 2.0**2 / 3)


def test_a_few_rows_beside_it_are_no_gap():
    assert found(np.sin, np.sin, X[6:36:3]) is NO_GAPS


def test_values_of_a_ladder_have_no_gaps_between_them_but_where_some_are_missing():
    whole = np.repeat(np.arange(9.0), 20)
    assert found(np.sin, np.sin, whole, 32) is NO_GAPS
    some = whole[(whole < 2) | (whole > 5)]
    assert found(np.sin, np.sin, some, 32).left.tolist() == [1.0]


def test_narrow_gaps_and_axes_of_one_value_have_none():
    even = np.linspace(0.0, 8.0, 100)
    assert found(np.sin, np.sin, even, 400) is NO_GAPS
    one = measure_moments(Grid(np.array([3.0, 3.0])), np.full(4, 3.0), np.ones(4))
    assert find_gaps(one, np.sin) is NO_GAPS
