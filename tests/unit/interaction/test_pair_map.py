import pickle
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import rhale
from rhale.interaction.moments import PairAxis
from rhale.interaction.plot import half_way, plot_pair_lines, plot_pair_map, tell_strength
from rhale.output import colours
from rhale.output.labels import Captions

LONG = "the_income_of_the_household_before_taxes_in_thousands_of_usd"
GRID = np.linspace(-1, 1, 5)


def painted(mesh):
    """Heights as they are painted, first feature first; nan where there is no colour."""
    return np.ma.filled(mesh.get_array(), np.nan).T


def scale(ax):
    return ax.findobj(lambda a: a.get_gid() == "rhale:map")[0].colorbar


def test_the_map_shows_the_surface(product_pair, one):
    heights = painted(one(plot_pair_map(product_pair), "map"))
    places = (np.arange(160) + 0.5) / 80 - 1
    np.testing.assert_allclose(heights, np.outer(places, places), atol=1e-12)


def test_cells_without_rows_have_no_colour_and_a_hatch(hollow_pair, one):
    ax = plot_pair_map(hollow_pair)
    blank = np.isnan(painted(one(ax, "map")))
    cells = blank.reshape(4, 40, 4, 40).transpose(0, 2, 1, 3).reshape(4, 4, -1)
    np.testing.assert_array_equal(cells.all(axis=-1), ~hollow_pair.measured)
    np.testing.assert_array_equal(cells.any(axis=-1), ~hollow_pair.measured)
    assert (~hollow_pair.measured).sum() == 6  # 2 x 2 above zero on both sides, 2 more at the end
    hatched = [path.vertices[:4].mean(axis=0) for path in one(ax, "empty").get_paths()]
    wanted = [GRID[:-1][place] + 0.25 for place in np.argwhere(~hollow_pair.measured)]
    np.testing.assert_allclose(hatched, wanted)


def test_nothing_is_hatched_where_all_cells_have_rows(product_pair, one):
    assert not one(plot_pair_map(product_pair), "empty").get_paths()


def test_colours_are_symmetric_about_zero(hollow_pair, one):
    mesh = one(plot_pair_map(hollow_pair), "map")
    low, high = mesh.get_clim()
    assert low == -high
    assert high == np.nanmax(np.abs(painted(mesh)))
    ends = [to_hex(mesh.cmap(mesh.norm(value))) for value in (low, high)]
    assert ends == [colours.BELOW_ZERO_COLOUR.lower(), colours.ABOVE_ZERO_COLOUR.lower()]


def test_several_maps_can_have_one_scale(product_pair, one):
    assert one(plot_pair_map(product_pair, limit=3.0), "map").get_clim() == (-3.0, 3.0)


def test_contours_pass_where_the_surface_has_their_height(product_pair, one, find):
    ax = plot_pair_map(product_pair)
    lines = one(ax, "contours")
    for height, path in zip(lines.levels, lines.get_paths(), strict=True):
        np.testing.assert_allclose(path.vertices.prod(axis=1), height, atol=0.01)
    for text in find(ax, "heights"):
        wanted = float(text.get_text().replace("\u2212", "-"))
        assert np.prod(text.get_position()) == pytest.approx(wanted, abs=0.02)
    assert len(find(ax, "heights")) >= 3


def test_contours_stay_where_rows_are(hollow_pair, one, find):
    ax = plot_pair_map(hollow_pair)
    points = np.concatenate([path.vertices for path in one(ax, "contours").get_paths()])
    points = np.concatenate([points, [text.get_position() for text in find(ax, "heights")]])
    assert np.isfinite(hollow_pair.surface(*points.T)).all()


def test_numbers_on_contours_do_not_touch(product_pair, find):
    ax = plot_pair_map(product_pair)
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in find(ax, "heights")]
    pairs = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i]]
    assert not any(a.overlaps(b) for a, b in pairs)


def test_contours_and_rows_can_be_left_out(product_pair, find):
    ax = plot_pair_map(product_pair, contours=False, rows=False)
    assert not find(ax, "contours")
    assert not find(ax, "counts")


def test_rows_are_told_at_both_edges(hollow_pair, find):
    along, across = find(plot_pair_map(hollow_pair), "counts")
    assert along.get_xy()[:, 1].min() > 1
    assert across.get_xy()[:, 0].min() > 1
    heights = along.get_xy()[1:-1:2, 1][:4] - along.get_xy()[:, 1].min()
    assert heights[3] == 0  # the last cell of the first feature is empty
    assert (heights[:3] > 0).all()


def test_a_pair_without_interaction_is_paper_and_says_so(make_pair, find, one):
    x = np.random.default_rng(0).uniform(-1, 1, (2, 500))
    axis = PairAxis(GRID)
    pair = make_pair(lambda a, b: 0.1 * a + b / 3, tuple(x), (axis, axis))
    ax = plot_pair_map(pair)
    assert one(ax, "nothing").get_text() == "no interaction"
    assert not find(ax, "contours")
    assert one(ax, "map").get_clim() == (-1, 1)
    assert ax.get_title("left") == "strength 0, 0 % of the variance"


def test_strength_its_error_and_its_share_stand_above(product_pair):
    words = plot_pair_map(product_pair).get_title("left")
    assert words == tell_strength(product_pair)[0]
    # a row stands in the middle of each of 40 parts: mean of a² is (1 - 1/1600)/3
    assert words.startswith("strength 0.333")
    assert words.endswith("11 % of the variance")


def test_partial_dependence_is_drawn_where_rows_are_and_says_its_name(one, find):
    x = np.random.default_rng(0).uniform(-1, 1, (400, 2))
    rows = x[(x[:, 0] < 0) | (x[:, 1] < 0)]
    pair = rhale.explain(lambda r: r[:, 0] * r[:, 1], rows, method="pdp", features=[("x0", "x1")])[
        "x0", "x1"
    ]
    ax = plot_pair_map(pair)
    mesh = one(ax, "map")
    x, y = (np.unique(mesh.get_coordinates()[..., side]) for side in (0, 1))
    middles = (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
    heights = painted(mesh)
    wanted = pair.surface(middles[0][:, None], middles[1][None])
    np.testing.assert_allclose(heights[np.isfinite(heights)], wanted[np.isfinite(heights)])
    # cells that reach from rows below 0 end before 0.3
    assert np.isnan(heights[np.ix_(middles[0] > 0.3, middles[1] > 0.3)]).all()
    assert "by partial dependence" in ax.get_title("left")
    assert len(find(pair.plot("lines"), "curve")) == 3


def test_in_small_axes_less_is_said(product_pair):
    ax = plot_pair_map(product_pair, ax=Figure((2, 2)).add_subplot())
    assert ax.get_title("left") in tell_strength(product_pair)[1:]


def test_tiles_of_levels_have_their_numbers(level_pair, find, one):
    ax = plot_pair_map(level_pair)
    wanted = np.outer([-1, 0, 1], [-0.5, 0.5])
    np.testing.assert_allclose(painted(one(ax, "map")), wanted, atol=1e-12)
    told = {
        text.get_position(): text.get_text().replace("\u2212", "-") for text in find(ax, "numbers")
    }
    assert {place: float(words) for place, words in told.items()} == {
        (i, j): wanted[i, j] for i in range(3) for j in range(2)
    }
    assert [text.get_text() for text in ax.get_xticklabels()] == ["low", "mid", "top"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["no", "yes"]
    assert ax.yaxis_inverted()  # the first level on top, as in a table
    assert not find(ax, "contours")


def test_numbers_are_not_written_into_tiles_that_are_too_small(level_pair, find):
    assert not find(plot_pair_map(level_pair, ax=Figure((0.8, 0.6)).add_subplot()), "numbers")


def test_levels_are_columns_or_rows_beside_numbers(mixed_pair, find, one):
    ax = plot_pair_map(mixed_pair)
    places = (np.arange(160) + 0.5) / 80 - 1
    wanted = np.outer(places, [-1, 0, 1])
    np.testing.assert_allclose(painted(one(ax, "map")), wanted, atol=1e-12)
    turned = plot_pair_map(mixed_pair.transposed())
    np.testing.assert_allclose(painted(one(turned, "map")), wanted.T, atol=1e-12)
    assert [text.get_text() for text in turned.get_xticklabels()] == ["low", "mid", "top"]
    assert not find(ax, "contours") + find(turned, "contours")


def test_axes_and_scale_say_what_they_show(product_pair):
    ax = plot_pair_map(replace(product_pair, output="price"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    assert scale(ax).ax.get_ylabel() == "joint effect on price\n(interaction only)"


def test_dates_are_dates_on_either_axis(make_pair):
    days = 18_000 + np.arange(400.0)
    axis = PairAxis(np.linspace(18_000, 18_399, 5), kind="date")
    other = PairAxis(GRID)
    numbers = np.random.default_rng(0).uniform(-1, 1, 400)
    pair = make_pair(lambda a, b: a * b, (days, numbers), (axis, other))
    for ax, side in ((plot_pair_map(pair), "x"), (plot_pair_map(pair.transposed()), "y")):
        ax.figure.draw_without_rendering()
        words = [text.get_text() for text in getattr(ax, f"get_{side}ticklabels")()]
        assert "2020" in words


def test_a_constant_feature_is_said(make_pair, one):
    axes = PairAxis(GRID), PairAxis(np.array([3.0]), ("three",))
    x = np.random.default_rng(0).uniform(-1, 1, 50)
    pair = make_pair(np.multiply, (x, np.full(50, 3.0)), axes)
    words = one(plot_pair_map(pair), "constant").get_text()
    assert words == "b is constant: three\nno interaction"


@pytest.mark.parametrize("name", [LONG, "$\\frac{", "\U0001f995", "", "_"])
def test_any_name_is_drawn_without_a_warning(product_pair, mixed_pair, render, name):
    for pair in (product_pair, mixed_pair):
        assert render(plot_pair_map(replace(pair, names=(name, name), output=name)))


@pytest.mark.parametrize("factor", [1e-60, 1e60])
def test_any_size_is_drawn_without_a_warning(make_pair, render, factor):
    x = np.random.default_rng(0).uniform(-1, 1, (2, 500))
    axis = PairAxis(GRID)
    pair = make_pair(lambda a, b: factor * a * b, tuple(x), (axis, axis))
    assert render(plot_pair_map(replace(pair, variance=factor**2)))


def test_given_axes_are_used_and_settings_stay(product_pair, render):
    before = dict(mpl.rcParams)
    panels = Figure((6, 3)).subplots(1, 2)
    assert plot_pair_map(product_pair, ax=panels[1]) is panels[1]
    assert not panels[0].has_data()
    assert render(panels[1])
    assert dict(mpl.rcParams) == before


def test_a_picture_can_be_pickled(hollow_pair, level_pair):
    for pair in (hollow_pair, level_pair):
        assert pickle.loads(pickle.dumps(plot_pair_map(pair).figure))  # noqa: S301


def test_half_way_is_measured_along_the_line():
    middle, length = half_way(np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 1.0]]))
    np.testing.assert_allclose(middle, [2, 0])
    assert length == 4


def test_axes_and_colours_are_called_what_people_read(product_pair):
    captions = Captions({"a": "Age"}, {"y": "price"}, {"a": "years", "y": "$"})
    pair = replace(product_pair, captions=captions)
    ax = plot_pair_map(pair)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Age (years)", "b")
    assert scale(ax).ax.get_ylabel().startswith("joint effect on price ($)\n")
    lines = plot_pair_lines(pair, by="a")
    assert lines.get_legend().get_title().get_text().startswith("Age held at")
    assert lines.get_ylabel() == "effect on price ($)\n(centred)"
