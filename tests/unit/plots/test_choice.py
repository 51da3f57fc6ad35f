import numpy as np
import pytest

import rhale
from rhale.errors import BadSettingError
from rhale.plots import plot_effect, plot_profile
from rhale.plots.choice import choose_plot, draw, draw_pair

ROWS = np.linspace(0.0, 1.0, 60).reshape(30, 2)


def test_bins_and_levels_are_drawn_as_effects_and_points_as_profiles(make_levels):
    fx = rhale.explain(lambda rows: rows[:, 0], ROWS, method="pdp")
    assert choose_plot(rhale.effect(ROWS[:, 0], ROWS[:, 1])) is plot_effect
    assert choose_plot(make_levels(("a", "b"), 1.0)) is plot_effect
    assert choose_plot(fx["x0"]) is plot_profile


@pytest.mark.parametrize("feature", ["x0", ["x0"], None])
def test_an_unknown_option_is_refused_with_those_that_are_known(feature):
    fx = rhale.explain(lambda rows: rows[:, 0], ROWS)
    with pytest.raises(BadSettingError, match=r"no option 'levle'; did you mean 'level'.*center"):
        fx.plot(feature, levle=0.9)


@pytest.mark.parametrize(
    ("other", "ours"),
    [("palette", "colors"), ("max_features", "top"), ("xlim", "limits"), ("order", "sort")],
)
def test_words_of_other_libraries_are_answered_with_ours(other, ours):
    fx = rhale.explain(lambda rows: rows[:, 0], ROWS)
    with pytest.raises(BadSettingError, match=f"no option '{other}'; did you mean '{ours}'"):
        fx.plot(**{other: 1})


def test_rows_need_one_feature_and_one_output():
    fx = rhale.explain(lambda rows: rows, ROWS)
    for feature in ("x0", ["x0", "x1"], None):
        with pytest.raises(
            BadSettingError, match=r"rows= draws curves of single rows of one feature"
        ):
            fx.plot(feature, rows=10)
    with pytest.raises(BadSettingError, match="colors= is the colour of curves"):
        fx.plot(color="red")
    profile = rhale.explain(lambda rows: rows[:, 0], ROWS, method="ice")
    with pytest.raises(BadSettingError, match="did you mean 'max_curves'"):
        profile.plot("x0", rows=10)


def test_a_kind_needs_one_feature_and_one_output():
    fx = rhale.explain(lambda rows: rows, ROWS)
    for feature in ("x0", ["x0", "x1"], None):
        with pytest.raises(BadSettingError, match="one feature and one output"):
            fx.plot(feature, kind="curve")
    assert fx.plot("x0", output="y1", kind="curve").get_xlabel() == "x0"


def test_regions_are_an_option_of_single_effects(by_sex):
    ax = draw(choose_plot(by_sex), by_sex, ax=None, regions=True, center="start")
    assert ax.get_legend().get_title().get_text() == "sex explains 92 ± 1 % of the spread"
    top, _ = draw(choose_plot(by_sex), by_sex, ax=None, regions=False, spread=False)
    assert top.get_legend()


def test_the_plot_of_regions_has_options_of_its_own(by_sex):
    with pytest.raises(BadSettingError, match="plot_regions has no option 'violins'"):
        draw(choose_plot(by_sex), by_sex, regions=True, violins=True)


def test_regions_of_a_profile_or_of_an_effect_without_are_refused():
    fx = rhale.explain(lambda rows: rows[:, 0], ROWS, method="pdp")
    with pytest.raises(BadSettingError, match="profiles"):
        fx.plot("x0", regions=True)
    fx = rhale.explain(lambda rows: rows[:, 0], ROWS)
    with pytest.raises(BadSettingError, match="not requested"):
        fx.plot("x0", regions=True)


def test_a_pair_is_drawn_as_a_map_or_as_lines(product_pair, find, one):
    ax = product_pair.plot()
    assert one(ax, "map")
    assert len(find(product_pair.plot(kind="lines", by="a"), "curve")) == 3
    assert product_pair.plot("map", ax=ax) is ax


def test_an_unknown_kind_or_option_of_a_pair_is_refused(product_pair):
    with pytest.raises(BadSettingError, match=r"no kind 'line' of picture.*'lines'"):
        draw_pair(product_pair, "line")
    with pytest.raises(BadSettingError, match="plot_pair_map has no option 'by'"):
        product_pair.plot(by="a")
    with pytest.raises(BadSettingError, match="plot_pair_map has no option 'regions'"):
        product_pair.plot(regions=True)


def test_a_pair_without_a_surface_says_so(make_pairs):
    pair = make_pairs({"ab": 1.0})["a", "b"]
    with pytest.raises(BadSettingError, match=r"method 'h' gives 'a' and 'b' a number.*'ale'"):
        pair.plot()
