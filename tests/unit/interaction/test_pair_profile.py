"""Two-way partial dependence as the user holds it: readings, strength, tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rhale.errors import BadSettingError
from rhale.interaction.moments import PairAxis, measure_pair
from rhale.interaction.pair_profile import PairProfile
from rhale.output.text import Note

RNG = np.random.default_rng(4)
ROWS = RNG.uniform(-1, 2, (300, 2))
LEFT, RIGHT = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([-1.0, 1.0, 1.5, 1.75, 2.0])


def stands(axes, rows, weights=None):
    where = (axes[0].locate(rows[:, 0]), axes[1].locate(rows[:, 1]))
    return measure_pair(axes, where, np.zeros((0, len(rows), 1)), weights)


def profile_of(function, rows=ROWS, axes=None, **fields):
    """The partial dependence of a function of two features alone, means over the same rows."""
    axes = axes or (PairAxis(LEFT), PairAxis(RIGHT))
    x, y = axes[0].nodes, axes[1].nodes
    return PairProfile(
        names=("a", "b"),
        output="y",
        axes=axes,
        moments=stands(axes, rows),
        dependence=function(x[:, None], y[None]) * np.ones((x.size, y.size)),
        single=(
            function(x[:, None], rows[:, 1]).mean(axis=1),
            function(rows[:, 0], y[:, None]).mean(axis=1),
        ),
        variance=float(function(*rows.T).var()),
        **fields,
    )


def product(x, y):
    return x * y + 3 * x - y + 7


def test_the_surface_of_a_product_is_the_product_of_deviations():
    found, (mean_x, mean_y) = profile_of(product), ROWS.mean(axis=0)
    both = (ROWS[:, 0] - mean_x) * (ROWS[:, 1] - mean_y)
    np.testing.assert_allclose(found.surface(*ROWS.T), both - both.mean(), atol=1e-12)
    assert found.strength == pytest.approx(both.std(), rel=1e-12)
    assert found.share == pytest.approx(both.var() / found.variance, rel=1e-12)


def test_dependence_is_read_straight_between_nodes():
    found = profile_of(product)
    np.testing.assert_allclose(found.dependence_at(*ROWS.T), product(*ROWS.T), atol=1e-12)
    assert found.dependence_at(0.5, 1.5) == pytest.approx(product(0.5, 1.5))


def test_main_effects_and_surface_add_up_to_the_dependence_less_its_mean():
    found = profile_of(product)
    expected = product(*ROWS.T) - product(*ROWS.T).mean()
    np.testing.assert_allclose(found.effect_at(*ROWS.T), expected, atol=1e-12)
    np.testing.assert_allclose(np.interp(ROWS[:, 0], LEFT, found.main[0]).mean(), 0.0, atol=1e-12)


def test_an_additive_function_has_exactly_no_strength():
    found = profile_of(lambda x, y: 1e6 + np.exp(x) + y**3)
    assert found.strength == 0.0
    assert found.share == 0.0
    assert not found.heights.any()


def test_the_surface_is_known_where_no_row_is_and_not_beyond_the_axes():
    rows = ROWS[~((ROWS[:, 0] > 0.5) & (ROWS[:, 1] < 1.0))]
    found = profile_of(product, rows)
    assert found.n_unmeasured == 1
    assert not found.measured[2, 0]
    assert np.isfinite(found.surface(1.0, 0.0))
    assert np.isnan(found.surface([3.0, np.nan], 0.0)).all()


def test_tables_have_no_surface_where_no_row_is():
    rows = ROWS[~((ROWS[:, 0] > 0.5) & (ROWS[:, 1] < 1.0))]
    table = profile_of(product, rows).table()
    empty = table["measured"].index(False)
    assert np.isnan(table["surface"][empty])
    assert table["dependence"][empty] == pytest.approx(product(1.25, 0.0))
    assert (table["first_left"][empty], table["second_right"][empty]) == (0.5, 1.0)
    assert np.isnan(table["surface"]).sum() == 1


def test_levels_are_read_by_name():
    axes = (PairAxis(np.arange(3.0), ("S", "M", "L")), PairAxis(np.arange(2.0), ("no", "yes")))
    rows = np.column_stack([RNG.integers(0, 3, 200), RNG.integers(0, 2, 200)]).astype(float)
    found = profile_of(product, rows, axes)
    centred = rows - rows.mean(axis=0)
    assert found.strength == pytest.approx(centred.prod(axis=1).std(), rel=1e-12)
    assert found.dependence_at("L", ["no", "yes"]) == pytest.approx([13, 14])
    with pytest.raises(BadSettingError, match="XL"):
        found.surface("XL", "no")


def test_a_side_with_one_value_does_nothing():
    axes = (PairAxis(LEFT), PairAxis(np.array([2.0]), ("2",)))
    rows = np.column_stack([ROWS[:, 0], np.full(len(ROWS), 2.0)])
    assert profile_of(product, rows, axes).strength == 0.0


def test_sides_can_be_exchanged():
    found = profile_of(product, notes=(Note("leaves the data", "it does"),))
    turned = found.transposed()
    assert turned.names == ("b", "a")
    assert turned.strength == pytest.approx(found.strength, rel=1e-14)
    np.testing.assert_allclose(turned.surface(1.2, 0.3), found.surface(0.3, 1.2), atol=1e-14)
    assert turned.transposed() == found
    assert turned != found


def test_it_says_what_it_is_and_what_is_not_known():
    found = profile_of(product, notes=(Note("leaves the data", "2 of 12 cells hold no row"),))
    assert found.method == "pdp"
    assert str(found).startswith(f"a \u00d7 b on y: strength {found.strength:.4g}")
    assert "two-way partial dependence; 2 of 12 cells hold no row" in str(found)
    assert np.isnan([found.strength_error, found.p_value, found.h2]).all()
    assert np.isnan(found.standard_error).all()
    assert found.standard_error.shape == found.heights.shape == (4, 5)


def test_arrays_cannot_be_written():
    found = profile_of(product)
    for array in (found.dependence, found.single[0], found.count):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@given(scale=st.floats(0.01, 100), shift=st.floats(-100, 100), seed=st.integers(0, 2**16))
@settings(max_examples=25, deadline=None)
def test_strength_follows_the_scale_and_no_function_of_one_feature(scale, shift, seed):
    heights = np.random.default_rng(seed).normal(size=(4, 5))
    axes = (PairAxis(LEFT), PairAxis(RIGHT))
    moments, zero = stands(axes, ROWS), (np.zeros(4), np.zeros(5))
    base = PairProfile(("a", "b"), "y", axes, moments, heights, zero, 1.0)
    first = shift * np.sin(LEFT)
    other = PairProfile(
        ("a", "b"), "y", axes, moments, scale * heights + first[:, None], (first, zero[1]), 1.0
    )
    assert other.strength == pytest.approx(scale * base.strength, rel=1e-9)


@pytest.mark.parametrize("kind", ["map", "lines"])
def test_it_is_drawn_as_other_pairs_are(kind):
    ax = profile_of(product).plot(kind=kind)
    assert ax.get_xlabel() in ("a", "b")
    ax.figure.clear()
