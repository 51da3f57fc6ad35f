import pickle
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib.figure import Figure

from rhale.errors import UnknownFeatureError
from rhale.interaction.moments import PairAxis
from rhale.interaction.plot import (
    DrawnPairFeature,
    choose_levels,
    choose_percentiles,
    join_cells,
    plot_pair_lines,
)
from rhale.plots import style

LONG = "the_income_of_the_household_before_taxes_in_thousands_of_usd"
GRID = np.linspace(-1, 1, 5)


def side(weight, nodes=None, **fields):
    nodes = np.arange(len(weight) + 1.0) if nodes is None else nodes
    return DrawnPairFeature("age", PairAxis(nodes, **fields), np.asarray(weight, float), 0 * nodes)


def test_lines_are_the_effect_of_what_moves_and_the_joint_one(product_pair, find):
    lines = find(plot_pair_lines(product_pair), "curve")
    for line, held in zip(lines, (-0.8, 0.0, 0.8), strict=True):  # of even rows from -1 to 1
        x = line.get_xdata()
        np.testing.assert_allclose(x, GRID)
        np.testing.assert_allclose(line.get_ydata(), x + x * held, atol=1e-12)


def test_a_pair_that_no_row_has_is_a_sentence(make_pair, find):
    axis = PairAxis(GRID)
    pair = make_pair(np.multiply, (np.full(9, np.nan), np.ones(9)), (axis, axis))
    (note,) = find(plot_pair_lines(pair), "constant")
    assert note.get_text() == "no row has a value of both\nnothing is known"


def test_parallel_lines_do_not_interact(make_pair, find):
    x = np.random.default_rng(0).uniform(-1, 1, (2, 2000))
    axis = PairAxis(GRID)
    pair = make_pair(np.add, tuple(x), (axis, axis), main=(GRID**2, GRID))
    low, _, high = (line.get_ydata() for line in find(plot_pair_lines(pair), "curve"))
    assert np.ptp(high - low) < 1e-12


def test_lines_end_where_rows_end(hollow_pair, find):
    lines = find(plot_pair_lines(hollow_pair), "curve")
    reached = [line.get_xdata()[np.isfinite(line.get_ydata())].max() for line in lines]
    # low: the last cell of all has no rows; high: no rows above 0 on both sides
    assert reached == [0.5, 0.5, 0.0]


def test_a_line_is_broken_where_no_rows_are(make_pair, find):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, (2, 4000))
    kept = (a < -0.5) | (a > 0)
    axis = PairAxis(GRID)
    pair = make_pair(np.multiply, (a[kept], b[kept]), (axis, axis))
    for line in find(plot_pair_lines(pair, by="b"), "curve"):
        x, y = line.get_data()
        np.testing.assert_array_equal(x[np.isfinite(y)], [-1, -0.5, 0, 0.5, 1])
        assert np.isnan(y).sum() == 1


@given(hnp.arrays(bool, st.integers(1, 12)))
def test_stretches_cover_the_known_cells_and_no_others(known):
    nodes, gone = join_cells(known)
    drawn = ~gone[1:] & ~gone[:-1]
    steps = [
        (a, b) for a, b, is_drawn in zip(nodes[:-1], nodes[1:], drawn, strict=True) if is_drawn
    ]
    assert steps == [(cell, cell + 1) for cell in np.flatnonzero(known)]


def test_numbers_are_held_at_percentiles_of_the_weight():
    held = choose_percentiles(side([10, 0, 80, 10]))
    assert [one.label for one in held] == ["low: 1", "middle: 2.5", "high: 3"]
    assert [one.stand for one in held] == [0, 2, 2]  # never in a cell without rows


@given(hnp.arrays(float, st.integers(1, 12), elements=st.sampled_from([0.0, 1.0, 2.5])))
def test_values_that_are_held_have_rows(weight):
    if not weight.any():
        return
    for held, percent in zip(choose_percentiles(side(weight)), (10, 50, 90), strict=True):
        assert weight[held.stand] > 0
        assert held.shares.sum() == pytest.approx(1)
        below = np.interp(held.shares @ np.arange(weight.size + 1), np.arange(weight.size + 1),
                          np.append(0, np.cumsum(weight)))  # fmt: skip
        assert below / weight.sum() == pytest.approx(percent / 100)


def test_of_many_levels_the_five_with_the_most_rows_are_held_in_their_order():
    levels = side([5, 1, 9, 0, 7, 8, 6], np.arange(7.0), labels=tuple("abcdefg"))
    assert [one.label for one in choose_levels(levels)] == ["a", "c", "e", "f", "g"]
    assert [one.label for one in choose_levels(levels._replace(weight=np.eye(7)[1]))] == ["b"]


def test_numbers_go_along_x_and_levels_are_held(mixed_pair, find, legend):
    for pair in (mixed_pair, mixed_pair.transposed()):
        ax = plot_pair_lines(pair)
        assert ax.get_xlabel() == "age"
        assert legend(ax)[:3] == ["low", "mid", "top"]
        for line, slope in zip(find(ax, "curve"), (-1, 0, 1), strict=True):
            x, y = line.get_data()
            np.testing.assert_allclose(y, slope * x, atol=1e-12)


def test_the_feature_that_is_held_can_be_named(mixed_pair, find):
    ax = plot_pair_lines(mixed_pair, by="age")
    assert ax.get_xlabel() == "size"
    title = ax.get_legend().get_title().get_text()
    assert title == "age held at its 10th, 50th and 90th percentile"
    for line, held in zip(find(ax, "curve"), (-0.8, 0, 0.8), strict=True):
        np.testing.assert_allclose(line.get_ydata(), held * np.array([-1, 0, 1]), atol=1e-12)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["low", "mid", "top"]
    with pytest.raises(UnknownFeatureError, match="there is no feature 'agee'"):
        plot_pair_lines(mixed_pair, by="agee")


def test_the_feature_with_fewer_cells_is_held(make_pair):
    x = np.random.default_rng(0).uniform(-1, 1, (2, 500))
    pair = make_pair(np.multiply, tuple(x), (PairAxis(np.linspace(-1, 1, 4)), PairAxis(GRID)))
    assert plot_pair_lines(pair).get_xlabel() == "b"
    assert plot_pair_lines(pair.transposed()).get_xlabel() == "b"


def test_shades_tell_numbers_and_colours_tell_levels(product_pair, mixed_pair, find):
    shades = [line.get_color() for line in find(plot_pair_lines(product_pair), "curve")]
    assert shades == [look.colour for look in style.THIRDS]
    colours = {line.get_color() for line in find(plot_pair_lines(mixed_pair), "curve")}
    assert len(colours) == 3
    assert not colours & {style.SPREAD, style.UNCERTAINTY}


def test_ribbons_are_intervals_of_the_joint_effect(make_pair, find, legend):
    rng = np.random.default_rng(0)
    x, noise = rng.uniform(-1, 1, (2, 4000)), rng.normal(size=4000)
    axis = PairAxis(GRID)
    pair = make_pair(lambda a, b: (1 + noise) * a * b, tuple(x), (axis, axis))
    ax = plot_pair_lines(pair)
    assert len(find(ax, "ci")) == 3
    assert "95 % interval of the joint effect" in legend(ax)
    corners = find(ax, "ci")[1].get_paths()[0].vertices
    line = find(ax, "curve")[1]
    for place, height in zip(*line.get_data(), strict=True):
        ends = corners[np.isclose(corners[:, 0], place), 1]
        assert (ends.max() + ends.min()) / 2 == pytest.approx(height)
    bare = plot_pair_lines(pair, uncertainty=False)
    assert not find(bare, "ci")
    assert "95 % interval of the joint effect" not in legend(bare)


def test_lines_are_read_whatever_the_intervals(make_pair, find):
    rng = np.random.default_rng(0)
    x, noise = rng.uniform(-1, 1, (2, 400)), 1000 * rng.normal(size=400)
    axis = PairAxis(GRID)
    pair = make_pair(lambda a, b: (1 + noise) * a * b, tuple(x), (axis, axis))
    ax = plot_pair_lines(replace(pair, variance=1e-6))
    heights = np.concatenate([line.get_ydata() for line in find(ax, "curve")])
    assert np.ptp(ax.get_ylim()) < 2.5 * np.ptp(heights)
    assert ax.get_ylim()[0] < heights.min()
    assert ax.get_ylim()[1] > heights.max()


def test_where_nothing_is_uncertain_no_interval_is_explained(product_pair, find, legend):
    ax = plot_pair_lines(product_pair)
    assert not find(ax, "ci")
    assert [words.split(":")[0] for words in legend(ax)] == [
        "low",
        "middle",
        "high",
        "where rows are",
    ]


def test_levels_along_x_are_dots_beside_each_other(level_pair, find):
    ax = plot_pair_lines(level_pair)
    first, second = (line.get_xdata() for line in find(ax, "curve"))
    assert (first < second).all()
    np.testing.assert_allclose((first + second) / 2, [0, 1, 2])
    assert {line.get_marker() for line in find(ax, "curve")} == {"o", "s"}


def test_a_level_without_rows_beside_a_held_one_has_no_dot(make_pair, find):
    a, b = np.array([0.0, 1, 1, 2] * 9), np.array([0.0, 0, 1, 1] * 9)
    axes = PairAxis(np.arange(3.0), tuple("uvw")), PairAxis(np.arange(2.0), ("no", "yes"))
    lines = find(plot_pair_lines(make_pair(np.multiply, (a, b), axes)), "curve")
    known = [np.isfinite(line.get_ydata()).tolist() for line in lines]
    assert known == [[True, True, False], [False, True, True]]


def test_axes_say_what_heights_are(product_pair):
    ax = plot_pair_lines(replace(product_pair, output="price"))
    assert ax.get_ylabel() == "effect on price\n(centred)"


def test_dates_are_dates_along_x_and_in_the_legend(make_pair, legend):
    days = 18_000 + np.tile(np.arange(400.0), 5)
    numbers = np.random.default_rng(0).uniform(-1, 1, 2000)
    axes = PairAxis(np.linspace(18_000, 18_399, 5), kind="date"), PairAxis(GRID)
    pair = make_pair(np.multiply, (days, numbers), axes)
    ax = plot_pair_lines(pair, by="b")
    ax.figure.draw_without_rendering()
    assert "2020" in [text.get_text() for text in ax.get_xticklabels()]
    assert legend(plot_pair_lines(pair, by="a"))[0].startswith("low: 2019-0")


def test_a_constant_feature_is_said(make_pair, one):
    axes = PairAxis(GRID), PairAxis(np.array([3.0]), ("three",))
    x = np.random.default_rng(0).uniform(-1, 1, 50)
    pair = make_pair(np.multiply, (x, np.full(50, 3.0)), axes)
    assert "b is constant: three" in one(plot_pair_lines(pair), "constant").get_text()


@pytest.mark.parametrize("name", [LONG, "$\\frac{", "\U0001f995", "", "_"])
def test_any_name_is_drawn_without_a_warning(hollow_pair, mixed_pair, render, name):
    for pair in (hollow_pair, mixed_pair):
        assert render(plot_pair_lines(replace(pair, names=(name, name), output=name)))


def test_the_legend_in_given_axes_is_short(hollow_pair, legend):
    ax = plot_pair_lines(hollow_pair, ax=Figure((4, 3)).add_subplot())
    assert ax.get_legend().get_title().get_text() == "b"
    assert [words.split(":")[0] for words in legend(ax)] == ["low", "middle", "high"]


def test_given_axes_are_used_and_settings_stay(product_pair, render):
    before = dict(mpl.rcParams)
    panels = Figure((6, 3)).subplots(1, 2)
    assert plot_pair_lines(product_pair, ax=panels[1]) is panels[1]
    assert not panels[0].has_data()
    assert render(panels[1])
    assert dict(mpl.rcParams) == before


def test_a_picture_can_be_pickled(hollow_pair, level_pair):
    for pair in (hollow_pair, level_pair):
        assert pickle.loads(pickle.dumps(plot_pair_lines(pair).figure))  # noqa: S301
