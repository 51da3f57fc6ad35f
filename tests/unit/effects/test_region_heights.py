import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhale
from rhale.effects.alignment import align

X = np.linspace(0.0, 4.0, 801)


@given(st.floats(0.0, 3.0), st.floats(0.5, 4.0), st.integers(-4, 4))
def test_a_region_where_nothing_differs_lies_on_the_common_line(start, width, slope):
    """Curves k (x - 2) and k (x - m) over the region's rows, whose mean is m."""
    rows = X[np.abs(X - start - width / 2) <= width / 2]
    common = rhale.effect(X, np.full(X.size, float(slope)))
    region = rhale.effect(rows, np.full(rows.size, float(slope)))
    moved = region.height(rows) + align(region, common)
    np.testing.assert_allclose(moved, common.height(rows), atol=1e-9)


@pytest.mark.parametrize("slope", [-3.0, 0.0, 2.0])
def test_the_mean_difference_over_the_rows_of_the_region_is_zero(slope):
    """Common slope 1; a region of rows on [1, 4] whose own slope is another one.

    Rows are counted in 80 cells, so zero to a thousandth of how far the curves come apart.
    """
    rows = X[X >= 1]
    common, region = rhale.effect(X, np.ones(801)), rhale.effect(rows, np.full(rows.size, slope))
    gap = region.height(rows) + align(region, common) - common.height(rows)
    assert np.mean(gap) == pytest.approx(0.0, abs=1e-3 * 3 * abs(slope - 1))


def test_levels_are_aligned_by_name(make_levels):
    """Levels a, b, c at -1, 0, 1; a region has b and c only, one row for three: -1.5, 0.5 there."""
    common = make_levels(["a", "b", "c"], 1.0)
    region = make_levels(["c", "b"], -2.0, rows=[30, 10])
    # c and b at 0.5 and -1.5; the common curve is on average (30 * 1 + 10 * 0) / 40 there
    assert align(region, common) == pytest.approx(0.75)


def test_a_region_of_one_value_stands_on_the_common_curve():
    table = np.column_stack([np.full(50, 3.0), np.arange(50.0)])
    region = rhale.explain(lambda r: r[:, 0], table)["x0"]
    common = rhale.effect(X, np.ones(801))
    assert align(region, common) == pytest.approx(1.0)
    assert align(region, region) == 0.0
