from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import rhale
from rhale.effects.alignment import offset
from rhale.effects.table import Missing
from rhale.errors import BadSettingError
from rhale.plots import plot_compare, style


def test_every_item_has_its_curve_and_interval(effect, make_profile, find):
    items = {"rhale": effect, "pdp": make_profile("pdp")}
    ax = plot_compare(items, center="start")
    for line, item in zip(find(ax, "curve"), items.values(), strict=True):
        expected = item.curve(line.get_xdata(), center="start")
        np.testing.assert_allclose(line.get_ydata(), expected)
    assert len(find(ax, "ci")) == 2


def test_eight_items_differ_in_colour_and_in_dash(effect, find):
    lines = find(plot_compare({f"model {i}": effect for i in range(8)}), "curve")
    assert len({line.get_color() for line in lines}) == 8
    assert len({line._unscaled_dash_pattern for line in map(undashed, lines)}) == 8


def undashed(line):
    offset, dashes = line._unscaled_dash_pattern
    line._unscaled_dash_pattern = (offset, tuple(dashes) if dashes else None)
    return line


def test_looks_stay_different_past_eight():
    assert len({style.line_style(index) for index in range(64)}) == 64


def test_the_legend_shows_names_as_they_are(effect, legend):
    assert legend(plot_compare({"_hidden": effect, "$x$": effect}))[:2] == ["_hidden", "$x$"]


def test_the_counts_are_those_of_the_first(effect, make_effect, one):
    other = make_effect(np.linspace(2, 3, 20), np.ones(20))
    ax = plot_compare({"first": effect, "second": other})
    x = one(ax, "counts").get_paths()[0].vertices[:, 0]
    assert (x.min(), x.max()) == (effect.edges[0], effect.edges[-1])


def test_a_constant_item_is_left_out_of_the_curves(effect, make_effect, find):
    constant = make_effect(np.full(5, 3.0), np.ones(5), [3, 3])
    assert len(find(plot_compare({"a": constant, "b": effect}), "curve")) == 1


def test_different_names_are_both_shown(effect, make_effect):
    other = make_effect([0, 1], [1, 1], [0, 1], name="x0", output="price")
    ax = plot_compare({"a": effect, "b": other})
    assert ax.get_xlabel() == "age / x0"
    assert ax.get_ylabel() == "effect on y0 / price\n(centred)"


def test_given_axes_come_back(effect):
    ax = Figure().subplots()
    assert plot_compare({"a": effect}, ax=ax) is ax


def test_nothing_to_compare_is_refused():
    with pytest.raises(BadSettingError, match="nothing to compare"):
        plot_compare({})


def test_levels_are_dots_side_by_side(make_levels, find, legend):
    first = make_levels(("a", "b"), 1.0)
    ax = plot_compare({"first": first, "second": make_levels(("b", "c"), 2.0)}, center="start")
    left, right = (np.asarray(dots.get_offsets()) for dots in find(ax, "levels"))
    np.testing.assert_allclose(left[:, 1], [0, 1])
    np.testing.assert_allclose(right[:, 1], [0, 2])
    np.testing.assert_array_equal(np.rint(left[:, 0]), [0, 1])
    np.testing.assert_array_equal(np.rint(right[:, 0]), [1, 2])
    assert left[1, 0] < 1 < right[0, 0]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "c"]
    assert legend(ax)[:2] == ["first", "second"]


def test_levels_that_are_numbers_can_be_compared_with_numbers(make_levels, make_effect, find):
    steps = make_levels(("0", "1"), 1.0, edges=[0.0, 1.0])
    ax = plot_compare({"steps": steps, "slopes": make_effect([0, 0.5, 1], [1, 1, 1], [0, 1])})
    assert len(find(ax, "curve")) == 2


def test_categories_cannot_be_compared_with_numbers(make_levels, effect):
    with pytest.raises(BadSettingError, match="categories in one result and numbers"):
        plot_compare({"a": make_levels(("a", "b"), 1.0), "b": effect})


def test_one_model_on_two_periods_is_one_curve(find):
    """A8: incomes 20 % higher put the same curve 30 to 40 units lower."""
    rng = np.random.default_rng(0)
    old = np.column_stack([rng.lognormal(3.5, 0.5, 2_000), rng.normal(size=2_000)])
    new = np.column_stack([1.2 * rng.lognormal(3.5, 0.5, 2_000), rng.normal(size=2_000)])

    def model(rows):
        return 5 * rows[:, 0] + rows[:, 1]

    first, second = (rhale.explain(model, rows) for rows in (old, new))
    ax = first.compare({"2024": second}, "x0", name="2023")
    before, after = find(ax, "curve")
    x = np.linspace(15, 100, 50)
    at = [np.interp(x, line.get_xdata(), line.get_ydata()) for line in (before, after)]
    np.testing.assert_allclose(at[0], first["x0"].curve(x), rtol=1e-9)
    np.testing.assert_allclose(at[1], at[0], rtol=0, atol=1e-6)
    apart = np.abs(first["x0"].curve(x) - second["x0"].curve(x))
    assert apart.min() > 25  # 5 times 20 % of the mean income, as each is centred by itself


def test_intervals_and_missing_values_move_along(make_effect, find):
    x = np.linspace(0, 1, 50)
    slopes = 1 + 0.1 * np.sin(40 * x)
    first = make_effect(x, slopes, [0, 1])
    moved = replace(
        make_effect(x + 0.5, slopes, [0.5, 1.5]), missing=Missing(9, 0.1, 2.0, 0.5, 400.0)
    )
    ax = plot_compare({"first": first, "second": moved})
    up = offset(first, moved)
    assert up == pytest.approx(0.5, abs=0.05)
    ribbon = find(ax, "ci")[1].get_paths()[0].vertices
    low, high = moved.ci(np.array([0.5, 1.0, 1.5]))
    assert ribbon[:, 1].min() == pytest.approx(low.min() + up, abs=1e-6)
    assert ribbon[:, 1].max() == pytest.approx(high.max() + up, abs=1e-6)
    (point,) = find(ax, "missing")
    assert np.asarray(point.get_offsets())[0, 1] == pytest.approx(2.0 + up)


@pytest.mark.parametrize("center", ["start", "uniform"])
def test_other_zeros_stay_each_curve_s_own(make_effect, find, center):
    x = np.linspace(0, 1, 50)
    items = {str(a): make_effect(x + a, np.ones(50), [a, a + 1]) for a in (0.0, 0.5)}
    ax = plot_compare(items, center=center)
    for line, item in zip(find(ax, "curve"), items.values(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), item.curve(line.get_xdata(), center=center))


@pytest.mark.parametrize("smooth", [False, True])
def test_curves_are_compared_smooth_or_as_they_are(stepped, make_profile, find, smooth):
    ax = plot_compare({"trees": stepped, "profile": make_profile()}, smooth=smooth, center="start")
    line = find(ax, "curve")[0]
    expected = stepped.curve(line.get_xdata(), center="start", smooth=smooth)
    np.testing.assert_array_equal(line.get_ydata(), expected)
