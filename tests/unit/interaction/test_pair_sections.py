import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.report.pair_cases import make_pair, three_numbers, with_a_hole, with_levels

from rhale.interaction.moments import PairAxis
from rhale.interaction.pair_effect import PairIndex
from rhale.interaction.pair_profile import (
    change_apart,
    choose_section_cells,
    cut_sections,
    lay_along,
    read_surface_cells,
    with_surface,
)

PRODUCT = three_numbers()["age", "income"]
places = st.floats(0.1, 1.9)


@given(places, places, places, places)
def test_what_a_product_does_over_a_rectangle_is_its_area(a, b, c, d):
    size, error = change_apart(PRODUCT, (a, b), (c, d))
    assert size == pytest.approx((b - a) * (d - c), abs=1e-9)
    assert error == pytest.approx(0.0, abs=1e-6)  # all rows agree


def test_the_error_of_a_change_is_that_of_simulated_surfaces():
    rng, rows = np.random.default_rng(3), 400
    ends = (0.35, 0.8), (0.2, 0.65)
    sizes, errors = [], []
    for _ in range(60):
        pair = _noisy(rng, rows)
        size, error = change_apart(pair, *ends)
        sizes.append(size)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(sizes), rel=0.3)


def _noisy(rng, n_rows):
    """x * y * (1 + z): the mixed difference of a row has a factor that other rows lack."""
    rows = np.column_stack([rng.uniform(size=(n_rows, 2)), rng.normal(size=n_rows)])
    axes = [PairAxis(np.linspace(0, 1, 6))] * 2
    return make_pair(
        lambda r: r[:, 0] * r[:, 1] * (1 + r[:, 2]), rows, ["x", "y", "z"], (0, 1), axes
    )


def test_curves_of_a_product_have_the_slope_of_the_other_feature():
    sections = cut_sections(PRODUCT)
    assert len(sections) == 3
    for section in sections:
        known = np.isfinite(section.height)
        assert known.all()
        slope = np.diff(section.height) / PRODUCT.axes[0].widths
        np.testing.assert_allclose(slope, slope.mean(), atol=0.1)
        assert slope.mean() == pytest.approx(section.value, abs=0.05)


def test_curves_end_where_rows_end():
    pair = with_a_hole()["long", "lat"]
    for section in cut_sections(pair):
        has = pair.measured[:, section.cell_index]
        np.testing.assert_array_equal(section.has_rows, has)
        beside = np.append(has, False) | np.append(False, has)
        np.testing.assert_array_equal(np.isfinite(section.height), beside)
        np.testing.assert_array_equal(np.isfinite(section.error), beside)
        assert not has.all()


def test_levels_have_a_curve_each():
    pair = with_levels()["income", "region"]
    sections = cut_sections(pair)
    assert [s.cell_index for s in sections] == [0, 1, 2]
    for section, slope in zip(sections, (-1, 0, 1), strict=True):
        known = np.isfinite(section.height)
        found = np.polyfit(pair.axes[0].nodes[known], section.height[known], 1)[0]
        assert found == pytest.approx(slope, abs=0.1)


def test_two_categories_are_cut_as_well():
    pair = with_levels()["region", "owner"]
    size, _ = change_apart(pair, (0.0, 2.0), (0.0, 1.0))
    assert size == pytest.approx(2.0)
    assert [s.value for s in cut_sections(pair)] == [0.0, 1.0]


def test_the_levels_with_most_rows_are_chosen_in_their_order():
    axis = PairAxis(np.arange(6.0), tuple("abcdef"))
    weight = np.array([1.0, 5.0, 0.0, 9.0, 2.0, 3.0])
    assert choose_section_cells(axis, weight).tolist() == [1, 3, 4, 5]


def test_low_middle_and_high_are_by_the_rows():
    axis = PairAxis(np.arange(5.0))
    assert choose_section_cells(axis, np.array([97.0, 1.0, 1.0, 1.0])).tolist() == [0]
    assert choose_section_cells(axis, np.array([1.0, 1.0, 1.0, 1.0])).tolist() == [0, 1, 3]


def test_numbers_are_followed_before_levels_and_larger_effects_before_smaller():
    levels = with_levels()
    assert lay_along(levels["region", "income"]).names == ("income", "region")
    assert lay_along(levels["income", "region"]).names == ("income", "region")
    pair = three_numbers()["age", "income"]
    first = lay_along(pair)
    assert lay_along(pair.transposed()).names == first.names


def test_an_index_has_no_surface():
    index = PairIndex(("a", "b"), "y", "h", 1.0, 2.0)
    assert with_surface([index, PRODUCT]) == [PRODUCT]


def test_a_map_has_heights_where_rows_stand_and_nowhere_else():
    pair = with_a_hole()["long", "lat"]
    heights, errors = read_surface_cells(pair)
    np.testing.assert_array_equal(np.isfinite(heights), pair.measured)
    np.testing.assert_array_equal(np.isfinite(errors), pair.measured)
    middle = [(axis.nodes[1:] + axis.nodes[:-1]) / 2 for axis in pair.axes]
    np.testing.assert_allclose(heights, pair.surface(middle[0][:, None], middle[1]))


def test_two_levels_a_side_have_the_surface_of_a_two_way_table():
    # independent 2 x 2, difference 1: (a - P(a)) (b - P(b)), by hand
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 20, dtype=float)
    axes = [PairAxis(np.arange(2.0), ("no", "yes"))] * 2
    pair = make_pair(lambda r: r[:, 0] * r[:, 1], rows, ["a", "b"], (0, 1), axes)
    heights, _ = read_surface_cells(pair)
    np.testing.assert_allclose(heights, [[0.25, -0.25], [-0.25, 0.25]], atol=1e-12)
