import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhale.effects.binning.cells import Grid
from rhale.effects.binning.gaps import are_gaps, cut_gaps, locate_gaps
from rhale.effects.binning.moments import SUMS, measure_moments


def wide_empty_cells(moments):
    """Gaps among the cells of one axis."""
    edges = moments.grid.edges
    return np.flatnonzero(are_gaps(moments.count, np.diff(edges), np.ptp(edges)))


def test_empty_cells_are_wide_from_a_twentieth_of_the_range_less_its_margins():
    """Empty cells of 4.4 %, 4.5 % and 20 % of the range; what is filled is no gap."""
    edges = np.array([0.0, 0.3, 0.344, 0.5, 0.545, 0.7, 0.9, 1.0])
    x = np.array([0.1, 0.4, 0.6, 0.95])
    assert wide_empty_cells(measure_moments(Grid(edges), x, x)).tolist() == [3, 5]


@pytest.mark.parametrize(("share", "n_gaps"), [(0.049, 0), (0.051, 1)])
def test_a_gap_is_a_twentieth_of_the_range(share, n_gaps):
    x = np.concatenate([np.linspace(0, 0.5 - share / 2, 50), np.linspace(0.5 + share / 2, 1, 50)])
    assert len(locate_gaps(measure_moments(Grid(np.linspace(0, 1, 3)), x, x))) == n_gaps


def test_a_gap_leaves_a_twentieth_of_itself_to_each_side():
    """Rows up to 4 and from 6 on; limits at 3, 5 and 5.5 say nothing of that."""
    x = np.concatenate([np.linspace(0, 4, 80), np.linspace(6, 10, 80)])
    moments = measure_moments(Grid(np.array([0.0, 3.0, 5.0, 5.5, 8.0, 10.0])), x, x)
    gaps = locate_gaps(moments)
    np.testing.assert_allclose(gaps, [[4.1, 5.9]])
    found = cut_gaps(moments, gaps)
    np.testing.assert_allclose(found.grid.edges, [0, 3, 4.1, 5.9, 8, 10])
    assert found.count.tolist() == [60, 20, 0, 40, 40]
    assert wide_empty_cells(found).tolist() == [2]


def test_a_cell_of_one_value_at_its_own_limit_stays_one():
    x = np.repeat([0.0, 2.0, 5.0, 6.0], 3)
    moments = measure_moments(Grid(np.array([0.0, 2.0, 5.0, 5.5, 6.0])), x, x)
    found = cut_gaps(moments, locate_gaps(moments))
    np.testing.assert_allclose(found.grid.edges, [0, 0.1, 1.9, 2.15, 4.85, 5.05, 5.95, 6])
    assert found.count.tolist() == [3, 0, 3, 0, 3, 0, 3]


def test_without_gaps_nothing_changes():
    x = np.linspace(0, 1, 50)
    moments = measure_moments(Grid(np.linspace(0, 1, 6)), x, x)
    assert cut_gaps(moments, locate_gaps(moments)) is moments


@given(st.integers(0, 10_000), st.sampled_from(["left", "right"]))
def test_cells_cut_at_gaps_are_those_of_a_grid_with_the_gaps_in_it(seed, closed):
    """The same numbers as measuring the rows again on the new limits."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(0, 10, rng.integers(2, 6))
    x = np.round(rng.choice(centres, 60) + rng.normal(0, 0.2, 60), 2)
    d = rng.normal(size=(2, 60))
    limits = np.unique(np.concatenate([[x.min(), x.max()], rng.choice(x, 8), rng.uniform(0, 9, 4)]))
    limits = limits[(limits >= x.min()) & (limits <= x.max())]
    moments = measure_moments(Grid(limits, closed), x, d)
    found = cut_gaps(moments, locate_gaps(moments))
    again = measure_moments(found.grid, x, d)
    for name in SUMS:
        np.testing.assert_allclose(
            getattr(found, name), getattr(again, name), rtol=1e-9, atol=1e-12, err_msg=name
        )
