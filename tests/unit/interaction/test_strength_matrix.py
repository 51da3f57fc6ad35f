import pickle
from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from rhale.errors import UnknownOutputError
from rhale.interaction.plot_all import order_features, plot_matrix, plot_ranking
from rhale.output import colours
from rhale.plots import style

LONG = "the_income_of_the_household_before_taxes_in_thousands_of_usd"


def painted(mesh):
    return np.ma.filled(mesh.get_array(), np.nan)


def names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_tiles_are_strengths_and_the_diagonal_is_importance(make_pairs, one):
    ax = plot_matrix(make_pairs({"ab": 2.0, "bc": 1.0, "ac": 0.0}, importance=[5, 4, 3]))
    assert names(ax) == ["a", "b", "c"]  # the strongest pair, its more important feature first
    order = ["abc".index(name) for name in names(ax)]
    wanted = np.array([[5, 2, 0], [2, 4, 1], [0, 1, 3.0]])[np.ix_(order, order)]
    own = np.eye(3, dtype=bool)
    np.testing.assert_array_equal(painted(one(ax, "strengths")), np.where(own, np.nan, wanted))
    np.testing.assert_array_equal(painted(one(ax, "importance")), np.where(own, wanted, np.nan))


def test_strength_and_importance_have_scales_of_their_own(make_pairs, one):
    ax = plot_matrix(make_pairs({"ab": 2.0, "bc": 1.0}, importance=[50, 40, 30]))
    strengths, importance = one(ax, "strengths"), one(ax, "importance")
    assert strengths.get_clim() == (0, 2)
    assert importance.get_clim() == (0, 50)
    inks = [to_hex(mesh.cmap(1.0)) for mesh in (strengths, importance)]
    assert inks == [colours.STRENGTH_COLOUR.lower(), style.EFFECT.lower()]


def test_pairs_that_were_not_measured_are_hatched_and_zero_is_not(make_pairs, one, find, legend):
    ax = plot_matrix(make_pairs({"ab": 2.0, "bc": 0.0}))
    assert len(one(ax, "empty").get_paths()) == 2  # a and c, both ways
    assert "not measured" in legend(ax)
    assert [text.get_text() for text in find(ax, "numbers")].count("0") == 2
    assert "not measured" not in legend(plot_matrix(make_pairs({"ab": 2.0})))


def test_importance_that_is_not_known_has_no_colour_and_no_hatch(make_pairs, one):
    ax = plot_matrix(make_pairs({"ab": 2.0}, importance=[1, np.nan]))
    assert not one(ax, "empty").get_paths()
    assert np.isfinite(painted(one(ax, "importance"))).sum() == 1


def test_features_without_a_measured_pair_are_left_out_and_counted(make_pairs, find):
    ax = plot_matrix(make_pairs({"ab": 2.0}, importance=[1, 2, 3, 4]))
    assert sorted(names(ax)) == ["a", "b"]
    assert ax.get_legend().get_title().get_text() == "deviation of effects on y (2 of 4 features)"
    assert len(find(ax, "numbers")) == 4


def test_those_who_interact_stand_near_each_other():
    matrix = np.zeros((6, 6))
    for i, j, size in ((0, 5, 3.0), (1, 4, 5.0), (4, 2, 1.0)):
        matrix[i, j] = matrix[j, i] = size
    np.fill_diagonal(matrix, [1, 9, 1, 1, 1, 2])
    assert order_features(matrix).tolist() == [1, 4, 2, 5, 0, 3]


@given(hnp.arrays(float, (5, 5), elements=st.sampled_from([0.0, 1.0, 2.0, np.nan])))
def test_every_feature_of_a_measured_pair_stands_once(values):
    matrix = np.triu(values, 1) + np.triu(values, 1).T
    off = np.where(np.eye(5, dtype=bool), np.nan, matrix)
    wanted = np.flatnonzero(np.isfinite(off).any(axis=1))
    order = order_features(matrix)
    np.testing.assert_array_equal(np.sort(order), wanted)
    if wanted.size:
        assert np.nan_to_num(off)[order[0]].max() == np.nan_to_num(off).max()


@pytest.mark.parametrize(("n", "has_numbers"), [(2, True), (8, True), (12, True), (30, False)])
def test_few_features_have_numbers_and_many_have_scales(make_pairs, find, n, has_numbers):
    ax = plot_matrix(make_pairs(np.ones((n, n))))
    assert bool(find(ax, "numbers")) is has_numbers
    scales = [other for other in ax.figure.axes if other.get_gid() == "rhale:scale"]
    assert len(scales) == (0 if has_numbers else 2)
    assert len([name for name in names(ax) if name]) == n  # all of them have room


def test_names_of_thirty_features_do_not_touch(make_pairs):
    ax = plot_matrix(make_pairs(np.ones((30, 30)), names=[f"{LONG}{i}" for i in range(30)]))
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
    heights = sorted((box.y0, box.y1) for box in boxes)
    assert all(below[1] <= above[0] + 1 for below, above in pairwise(heights))


def test_of_too_many_features_those_who_interact_most_are_drawn(make_pairs):
    matrix = np.zeros((50, 50))
    matrix[3, 4] = matrix[4, 3] = 1.0
    ax = plot_matrix(make_pairs(matrix))
    assert ax.get_xlim() == (-0.5, 39.5)
    assert ax.get_title("left") == "deviation of effects on y (40 of 50 features)"
    assert set(names(ax)[:2]) == {"x3", "x4"}


def test_one_of_several_outputs_is_drawn(make_pairs, one):
    pairs = make_pairs({"ab": 2.0}, outputs=("y", "z"))
    for output, strength in (("y", 2.0), ("z", 4.0), (1, 4.0), (None, 2.0)):
        ax = plot_matrix(pairs, output=output)
        assert np.nanmax(painted(one(ax, "strengths"))) == strength
    with pytest.raises(UnknownOutputError):
        plot_matrix(pairs, output="w")


def test_other_definitions_are_named(make_pairs, legend):
    assert legend(plot_matrix(make_pairs({"ab": 2.0}, method="h")))[0] == "unnormalised H of pairs"


@pytest.mark.parametrize("size", [0.0, 1e-140, 1e140])
@pytest.mark.parametrize("n", [2, 13])
def test_any_size_is_drawn_without_a_warning(make_pairs, render, size, n):
    pairs = make_pairs(np.full((n, n), size), importance=np.full(n, size))
    assert render(plot_matrix(pairs))


@pytest.mark.parametrize("name", [LONG, "$\\frac{", "\U0001f995", "", "_"])
def test_any_name_is_drawn_without_a_warning(make_pairs, render, name):
    pairs = make_pairs({"ab": 1.0, "bc": 1.0}, names=[f"{name}{i}" for i in ("", 1, 2)])
    assert render(plot_matrix(replace(pairs, outputs=(name,))))


def test_given_axes_are_used_and_settings_stay(make_pairs, render):
    before = dict(mpl.rcParams)
    panels = Figure((6, 3)).subplots(1, 2)
    assert plot_matrix(make_pairs({"ab": 1.0}), ax=panels[1]) is panels[1]
    assert not panels[0].has_data()
    assert render(panels[1])
    assert dict(mpl.rcParams) == before


def test_a_picture_can_be_pickled(make_pairs):
    for n in (3, 20):
        assert pickle.loads(pickle.dumps(plot_matrix(make_pairs(np.ones((n, n)))).figure))  # noqa: S301


def test_features_and_outputs_are_called_what_people_read(make_pairs):
    pairs = make_pairs({"ab": 2.0}, importance=[5, 4])
    captions = {"features": {"a": "Age"}, "outputs": {"y": "price"}, "units": {"y": "$"}}
    pairs = replace(pairs, provenance={**pairs.provenance, "captions": captions})
    ax = plot_matrix(pairs)
    assert names(ax) == ["Age", "b"]
    assert ax.get_legend().get_title().get_text() == "deviation of effects on price ($)"
    ranking = plot_ranking(pairs)
    assert ranking.get_yticklabels()[0].get_text() == "Age \u00d7 b"
    assert ranking.get_xlabel().startswith("effect on price ($)")
