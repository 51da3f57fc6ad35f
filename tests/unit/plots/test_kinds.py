from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from rhale.errors import BadSettingError
from rhale.output.text import Note

LEVELS = ("north", "south", "west")


@pytest.fixture
def names(make_levels):
    """Levels in an order that means nothing; their heights are 0, 1 and -2 from the first."""
    made = make_levels(LEVELS, [1.0, -3.0], rows=[40, 10, 20])
    return replace(made, bin_notes=(Note("order", "levels are ordered by similarity"),))


def test_the_curve_alone_is_the_upper_panel(effect, one):
    top, _ = effect.plot()
    ax = effect.plot(kind="curve")
    for name in ("curve", "ci", "spread", "counts"):
        assert one(ax, name)
    np.testing.assert_array_equal(one(ax, "curve").get_xydata(), one(top, "curve").get_xydata())
    assert ax.get_xlabel() == "age"
    assert ax.get_ylabel() == top.get_ylabel()
    assert ax.figure.axes == [ax]


def test_the_bins_alone_are_the_lower_panel(effect, one, find):
    _, bottom = effect.plot()
    ax = effect.plot(kind="bins")
    drawn = [[p.vertices.tolist() for p in one(a, "bars").get_paths()] for a in (ax, bottom)]
    assert drawn[0] == drawn[1]
    assert ax.get_ylabel().split()[0] == bottom.get_ylabel().split()[0]
    assert ax.get_xlim() == pytest.approx(bottom.get_xlim())
    assert not find(ax, "curve")


@pytest.mark.parametrize("kind", ["curve", "bins"])
def test_one_given_panel_is_used_whole(effect, names, kind):
    for result in (effect, names):
        ax = Figure().subplots()
        assert result.plot(kind=kind, ax=ax) is ax
        assert ax.figure.axes == [ax]


def test_steps_of_levels_can_be_drawn_alone(names, one):
    ax = names.plot(kind="bins")
    np.testing.assert_allclose(one(ax, "steps").get_ydata(), [1.0, -3.0])
    assert "step to the next" in ax.get_ylabel()


def test_names_stand_by_their_effect_in_one_panel(names, one):
    ax = names.plot()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["south", "north", "west"]
    places = one(ax, "levels").get_offsets()
    heights = dict(zip(LEVELS, names.curve(), strict=True))
    np.testing.assert_allclose(places[np.argsort(places[:, 0]), 1], sorted(heights.values())[::-1])
    sizes = one(ax, "levels").get_sizes()
    np.testing.assert_allclose(sizes / sizes.max(), [1.0, 0.25, 0.5])  # in their own order


def test_intervals_and_truth_go_along_with_sorted_names(names, one):
    ax = names.plot(truth=lambda _: np.array([0.0, 1.0, -2.0]), center="start")
    strokes = np.array(one(ax, "ci").get_segments())
    np.testing.assert_allclose(strokes[:, 0, 0], [1, 0, 2])
    marks = one(ax, "truth").get_xydata()
    np.testing.assert_allclose(marks, [[1, 0], [0, 1], [2, -2]])


def test_the_measured_order_comes_with_its_steps(names):
    for options in ({"sort": "order"}, {"kind": "both"}, {"ax": Figure().subplots(2, 1)}):
        _, bottom = names.plot(**options)
        assert [text.get_text() for text in bottom.get_xticklabels()] == list(LEVELS)


def test_an_order_that_means_something_is_kept_unless_asked(make_levels):
    levels = make_levels(LEVELS, [1.0, -3.0])
    _, bottom = levels.plot()
    assert [text.get_text() for text in bottom.get_xticklabels()] == list(LEVELS)
    ax = levels.plot(sort="effect")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["south", "north", "west"]


def test_steps_of_sorted_levels_are_refused(names):
    for options in ({"kind": "both"}, {"kind": "bins"}, {"ax": Figure().subplots(2, 1)}):
        with pytest.raises(BadSettingError, match=r"another order; .*sort='order'"):
            names.plot(sort="effect", **options)


def test_an_unknown_kind_or_too_many_axes_are_refused(effect, make_profile):
    with pytest.raises(BadSettingError, match=r"kind='curv' is not known; did you mean 'curve'"):
        effect.plot(kind="curv")
    with pytest.raises(BadSettingError, match="draws one panel"):
        effect.plot(kind="curve", ax=Figure().subplots(2, 1))
    with pytest.raises(BadSettingError, match="has no bins"):
        make_profile().plot(kind="both")
    assert make_profile().plot(kind="curve")


def test_a_constant_feature_has_each_panel(make_effect, render):
    constant = make_effect(np.full(5, 3.0), np.ones(5), [3, 3])
    for kind in ("curve", "bins"):
        assert render(constant.plot(kind=kind))


def test_two_names_have_one_panel_whatever_their_order(make_levels, find):
    two = make_levels(("no", "yes"), [2.0], rows=[30, 20])
    ax = Figure().subplots()
    assert two.plot(ax=ax) is ax
    assert ax.figure.axes == [ax]
    assert not find(ax, "steps")
    assert len(two.plot(kind="both")) == 2


@pytest.mark.parametrize("names", [("no", "yes"), ("0", "1")])
def test_two_levels_have_one_panel_also_on_given_axes(make_levels, names):
    edges = [0.0, 1.0] if names[0] == "0" else None
    effect = make_levels(names, 1.0, edges=edges)
    figure = Figure()
    ax = figure.add_subplot()
    assert effect.plot(ax=ax) is ax
    assert figure.axes == [ax]
    assert len(effect.plot().figure.axes) == 1
