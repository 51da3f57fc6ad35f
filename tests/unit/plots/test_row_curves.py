"""Curves of rows: what is drawn are the model's own curves, and nothing is claimed beyond."""

import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.effects.spread import NO_SHOWN_ROWS, ShownRows
from rhale.errors import BadSettingError, UnknownFeatureError
from rhale.plots import plot_effect
from rhale.plots.row_curves import color_levels, color_numbers, cut_path


def product(rows):
    """Every row has a straight line along x0, whose slope is its x1."""
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


@pytest.fixture(scope="module")
def fx():
    rows = np.random.default_rng(0).uniform(-1, 1, size=(600, 3))
    return rhale.explain(product, rows)


@pytest.fixture(scope="module")
def towns():
    """Unordered names, an ordered category, few whole numbers, long tails, missing values."""
    rng, n = np.random.default_rng(1), 600
    table = pd.DataFrame(
        {
            "town": rng.choice(["Bergen", "Lima", "Oslo"], n),
            "size": pd.Categorical(
                rng.choice(["s", "m", "l", "xl"], n), ["s", "m", "l", "xl"], ordered=True
            ),
            "rooms": rng.integers(1, 7, n),
            "area": rng.lognormal(4, 1.2, n),
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(0, 90, n)),
        }
    )

    def price(rows):
        oslo = (rows["town"] == "Oslo").to_numpy(dtype=float)
        size = np.asarray(pd.Categorical(rows["size"], ["s", "m", "l", "xl"]).codes, dtype=float)
        rooms, age = rows["rooms"].to_numpy(), rows["age"].fillna(50).to_numpy()
        return (
            size * (1 + oslo)
            + rooms * oslo
            + np.log(rows["area"].to_numpy()) * (1 + rooms / 6)
            + age / 50
        )

    return rhale.explain(price, table)


def drawn(ax, find, name="rows"):
    (lines,) = find(ax, name)
    return [np.asarray(path) for path in lines.get_segments()]


def test_curves_are_those_of_the_model_where_rows_were_moved(fx, find):
    ax = fx.plot("x0", kind="curve", rows=40, center="start")
    paths, own = drawn(ax, find), np.sort(fx.sample_x[:100, 1])
    assert len(paths) == 40
    for path in paths:
        slopes = np.diff(path[:, 1]) / np.diff(path[:, 0])
        np.testing.assert_allclose(slopes, slopes[0], atol=1e-9)  # a straight line
        assert np.abs(own - slopes[0]).min() < 1e-9  # of a row of the sample


def test_a_row_is_drawn_around_its_own_value_and_faintly_beyond(fx, find):
    ax = fx.plot("x0", kind="curve", rows=100)
    curves, places = fx["x0"].row_curves(), fx["x0"].row_spread.places
    ends = {(path[0, 0], path[-1, 0]) for path in drawn(ax, find)}
    known = zip(places[curves.first], places[curves.last], strict=True)
    assert ends == set(known)
    for path in drawn(ax, find, "rows-beyond"):
        assert path[0, 0] == places[0] or path[-1, 0] == places[-1]
    (solid,), (faint,) = find(ax, "rows"), find(ax, "rows-beyond")
    assert faint.get_alpha() < solid.get_alpha() / 3


def test_no_rows_are_drawn_unless_asked_for(fx, find):
    for options in ({}, {"rows": False}, {"rows": 0}, {"rows": None, "color": None}):
        assert not find(fx.plot("x0", kind="curve", **options), "rows")


def test_the_legend_says_how_many_rows_of_how_many(fx, legend):
    assert "50 of 100 rows" in legend(fx.plot("x0", kind="curve", rows=True))
    assert "7 of 100 rows" in legend(fx["x0"].plot(kind="curve", rows=7))
    assert "100 rows" in legend(plot_effect(fx["x0"], kind="curve", rows=5_000))
    assert "estimated, not measured" in legend(fx.plot("x0", kind="curve", rows=5))


def test_the_same_rows_are_drawn_again(fx, find):
    first, second = (drawn(fx.plot("x0", rows=20)[0], find) for _ in range(2))
    np.testing.assert_array_equal(np.concatenate(first), np.concatenate(second))


def test_rows_are_chosen_evenly_along_the_feature():
    x = np.random.default_rng(0).permutation(101).astype(float)
    every = ShownRows(np.arange(101), x, x[:, None], np.zeros(101, int), np.zeros(101, int))
    assert every.choose(5).x.tolist() == [0, 25, 50, 75, 100]
    assert every.choose(5).heights.ravel().tolist() == [0, 25, 50, 75, 100]
    assert every.choose(0).row.size == NO_SHOWN_ROWS.choose(3).row.size == 0
    assert every.choose(500).row.size == 101


def test_faint_parts_do_not_stretch_the_axis(fx, find):
    ax = fx.plot("x0", kind="curve", rows=100)
    solid = np.concatenate(drawn(ax, find))[:, 1]
    trace = fx["x0"].trace()
    top = max(solid.max(), (trace.curve + trace.spread).max())
    bottom = min(solid.min(), (trace.curve - trace.spread).min())
    low, high = ax.get_ylim()
    assert high <= top + 0.05 * (top - bottom)
    assert low >= bottom - 0.14 * (top - bottom)  # room for the strip of counts


def test_limits_cut_curves_and_do_not_move_them(fx, find):
    ax = fx.plot("x0", kind="curve", rows=30, limits=(-0.3, 0.4), center="start")
    whole = fx["x0"].row_curves(center="start")
    places = fx["x0"].row_spread.places
    for path in drawn(ax, find):
        assert -0.3 <= path[0, 0] < path[-1, 0] <= 0.4
        heights = [np.interp(path[:, 0], places, line) for line in whole.heights]
        assert np.abs(np.array(heights) - path[:, 1]).max(axis=1).min() < 1e-9


def test_what_lies_outside_of_a_curve_has_no_points():
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0])
    assert len(cut_path(x, y, 3.0, 4.0)) == 0
    np.testing.assert_allclose(cut_path(x, y, 0.5, 1.5), [[0.5, 0.5], [1, 1], [1.5, 0.5]])


def test_rows_stand_on_a_logarithmic_axis(towns, find, render):
    ax = towns.plot("area", kind="curve", rows=20)
    assert ax.get_xscale() == "log"
    assert len(drawn(ax, find)) == 20
    assert render(ax)


@pytest.mark.parametrize("feature", ["size", "rooms"])
def test_levels_with_an_order_have_joined_lines(towns, find, feature):
    ax = towns.plot(feature, kind="curve", rows=10)
    effect = towns[feature]
    lengths = {len(path) for path in drawn(ax, find)}
    most = effect.row_spread.last - effect.row_spread.first + 1
    assert 2 < max(lengths) <= most.max()


def test_levels_without_an_order_have_dashes_at_their_heights(towns, find):
    ax = towns.plot("town", rows=10)
    paths = drawn(ax, find)
    assert len(paths) == 10 * 3
    assert all(path[0, 1] == path[1, 1] for path in paths)
    curves = towns["town"].row_curves().heights
    heights = {round(path[0, 1], 9) for path in paths}
    assert heights <= set(curves.ravel().round(9))
    assert not find(ax, "rows-beyond") or not drawn(ax, find, "rows-beyond")


def test_levels_sorted_by_effect_are_not_joined(towns, find):
    ordered = towns["size"]
    heights = ordered.curve()
    assert np.all(np.diff(heights) > 0)  # so that sorting, the highest first, turns them round
    paths = drawn(towns.plot("size", sort="effect", rows=6), find)
    assert all(path[0, 1] == path[1, 1] for path in paths)


def test_turned_levels_are_drawn_along_y(towns, find, render):
    ax = towns.plot("town", rows=10, turned=True)
    assert all(path[0, 0] == path[1, 0] for path in drawn(ax, find))
    assert render(ax)


# ---- colours ----


def lightness(colours):
    return np.asarray(colours)[:, :3] @ [0.3, 0.6, 0.1]


def test_colours_follow_the_values_of_the_other_feature(fx, find):
    ax = fx.plot("x0", kind="curve", color="x1", center="start")
    (lines,) = find(ax, "rows")
    slopes = [np.diff(path[:, 1]).sum() / np.ptp(path[:, 0]) for path in lines.get_segments()]
    light = lightness(lines.get_colors())
    order = np.argsort(slopes)  # the slope of a row is its x1
    assert np.all(np.diff(light[order]) >= -1e-9)
    assert np.ptp(light) > 0.3


def test_colour_alone_draws_fifty_rows_and_true_takes_the_strongest_partner(fx, legend):
    words = [legend(fx.plot("x0", kind="curve", color=color)) for color in ("x1", 1, True)]
    assert words[0] == words[1] == words[2]
    assert "50 of 100 rows" in words[0]
    assert {"x1:", "middle", "high"} <= {word.split()[0] for word in words[0]}


def test_a_feature_that_goes_with_nobody_is_told_so(fx):
    with pytest.raises(BadSettingError, match=r"most of the spread of 'x2', and none does"):
        fx.plot("x2", color=True)


def test_names_have_a_colour_each_and_missing_values_one(towns, legend):
    for color, words in {
        "town": {"town: Bergen", "Lima", "Oslo"},
        "size": {"size: s", "m", "l", "xl"},
        "age": {"missing"},
    }.items():
        assert words <= set(legend(towns.plot("rooms", kind="curve", color=color)))


def test_many_names_share_a_colour(make_levels):
    result = make_levels(tuple("abcdefghij"), 1.0)
    ax = plot_effect(result, kind="curve")
    inks, told = color_levels(
        ax, result, np.repeat(np.arange(10.0), [9, 8, 7, 6, 5, 4, 3, 1, 1, 1])
    )
    assert [word for word, _ in told] == [*"abcdefg", "other levels"]
    assert len(set(inks)) == 8
    assert told[0][1] != ax.get_lines()[-1].get_color()  # which is that of the mean


def test_one_value_and_two_have_fewer_words(fx):
    ax = fx.plot("x0", kind="curve")
    for values, words in (
        ([2.0] * 5, ["only 2"]),
        ([0.0] * 5 + [1.0] * 5, ["low 0", "middle 0.5", "high 1"]),
    ):
        told = color_numbers(ax, fx["x1"], np.array(values), np.array(values))[1]
        assert [word for word, _ in told] == words


def test_dark_paper_has_light_colours(fx, find):
    dark = []
    for names in ((), ("dark",)):
        with rhale.style(*names):
            (lines,) = find(fx.plot("x0", kind="curve", color="x1"), "rows")
        dark.append(lightness(lines.get_colors()).min())
    assert dark[1] > dark[0] + 0.1


# ---- what cannot be had ----


def test_an_effect_alone_cannot_colour(fx):
    with pytest.raises(BadSettingError, match=r"use fx.plot\('x0', color='x1'\)"):
        fx["x0"].plot(rows=50, color="x1")


def test_a_colour_is_no_feature(fx):
    with pytest.raises(BadSettingError, match=r"colors='red' is the colour of the mean curve"):
        fx.plot("x0", color="red")
    with pytest.raises(UnknownFeatureError, match="x9"):
        fx.plot("x0", color="x9")


@pytest.mark.parametrize("rows", [-1, 2.5, "many"])
def test_what_is_no_number_of_rows_is_refused(fx, rows):
    with pytest.raises(
        BadSettingError, match=r"is no number of rows to draw; give one, such as 50"
    ):
        fx.plot("x0", rows=rows)


def test_options_that_contradict_each_other_are_refused(fx):
    with pytest.raises(BadSettingError, match="rows=False draws none"):
        fx.plot("x0", rows=False, color="x1")
    with pytest.raises(BadSettingError, match="kind='bins' has none"):
        fx.plot("x0", rows=5, kind="bins")


def test_without_a_model_there_are_no_curves_of_rows(effect, make_levels):
    for result in (effect, make_levels(("a", "b"), 1.0)):
        with pytest.raises(
            BadSettingError, match=r"no curves of single rows were kept.*rhale\.explain"
        ):
            result.plot(rows=50)


def test_a_constant_feature_has_no_rows_to_draw(find):
    rows = np.column_stack([np.ones(50), np.linspace(0, 1, 50)])
    fx = rhale.explain(lambda r: r[:, 0] + r[:, 1], rows)
    assert not find(fx.plot("x0", kind="curve", rows=10), "rows")


def test_rows_that_agree_lie_on_the_mean_curve_with_its_bends(find):
    rows = np.random.default_rng(0).normal(size=(400, 1))
    fx = rhale.explain(lambda r: np.sin(3 * r[:, 0]), rows)
    ax = fx.plot("x0", kind="curve", rows=10, limits="5%..95%")  # where the curve is well known
    (curve,) = find(ax, "curve")
    for path in drawn(ax, find):
        np.testing.assert_allclose(path[:, 1], np.interp(path[:, 0], *curve.get_data()), atol=0.05)


def test_rows_of_trees_have_the_steps_of_the_mean(find):
    ensemble = pytest.importorskip("sklearn.ensemble")
    rows = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    model = ensemble.GradientBoostingRegressor(n_estimators=5, max_depth=1, random_state=0)
    fx = rhale.explain(model.fit(rows, np.sign(rows[:, 0]) + rows[:, 1]), rows)  # no interaction
    ax = fx.plot("x0", kind="curve", rows=10)
    (curve,) = find(ax, "curve")
    known = set(zip(*np.round(curve.get_data(), 9), strict=True))
    for path in drawn(ax, find):
        assert set(map(tuple, np.round(path[1:-1], 9))) <= known
