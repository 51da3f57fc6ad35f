import numpy as np
import pytest
from matplotlib.figure import Figure

import rhale
from rhale.plots import plot_compare
from rhale.plots.axes import (
    CategoricalAxis,
    ContinuousAxis,
    make_plot_axis,
    open_plot_axis,
    read_item,
)
from rhale.plots.categorical_axis import OrientedAxes

X = np.linspace(0.0, 4.0, 41)


@pytest.fixture
def curve():
    return rhale.effect(X, np.ones(41), bins=2, name="age")


@pytest.fixture
def levels(make_levels):
    return make_levels(("a", "b", "c"), 1.0, noise=0.5)


@pytest.fixture
def steps(make_levels):
    return make_levels(("1", "2", "4"), 1.0, edges=[1.0, 2.0, 4.0])


@pytest.fixture
def oriented():
    return OrientedAxes(Figure().add_subplot())


def gids(ax):
    found = {artist.get_gid() for artist in ax.get_children()}
    return {gid for gid in found if gid and gid.startswith("rhale:")}


def test_levels_stand_in_slots_and_numbers_along_a_line(oriented, curve, levels, steps):
    assert isinstance(make_plot_axis(oriented, [curve]), ContinuousAxis)
    assert isinstance(make_plot_axis(oriented, [levels]), CategoricalAxis)
    assert isinstance(make_plot_axis(oriented, [curve, steps]), ContinuousAxis)
    assert isinstance(open_plot_axis([steps], None), CategoricalAxis)


def test_both_kinds_of_fields_draw_the_same_layers(curve, levels):
    for result, mean in ((curve, "rhale:curve"), (levels, "rhale:levels")):
        field = open_plot_axis([result], None)
        field.begin()
        explained = field.draw_one(read_item(result, "mean", 0.95), "mean effect", 0.95)
        explained += field.draw_gaps(result) + field.draw_counts(result)
        drawn = [artist.get_gid() for artist in explained]
        assert drawn == [mean, "rhale:spread", "rhale:ci", "rhale:counts"]
        assert "rhale:zero" in gids(field.oriented.ax)


def test_layers_can_be_left_out(curve, levels):
    for result in (curve, levels):
        field, item = open_plot_axis([result], None), read_item(result, "mean", 0.95)
        (mean,) = field.draw_one(item, "mean", 0.95, spread=False, uncertainty=False)
        assert mean.get_label() == "mean"


def test_one_among_several_stands_a_little_aside(levels, steps):
    for result, room in ((levels, 0.7), (steps, 0.4)):
        field, item = open_plot_axis([result], None), read_item(result, "mean", 0.95)
        places = [
            field.draw_among(item, "", 0.95, index, 2)[0].get_offsets()[:, 0] for index in (0, 1)
        ]
        np.testing.assert_allclose(places[1] - places[0], 0.5 * room)
        np.testing.assert_allclose(np.mean(places, axis=0), result.edges)


def test_a_constant_feature_has_no_curve(oriented, make_levels):
    only = make_levels(("only",), ())
    item = read_item(only, "mean", 0.95)
    assert item.path.x.size == 0
    make_plot_axis(oriented, [only]).draw_constant([item], 0.95)
    assert gids(oriented.ax) == {"rhale:constant"}


def test_intervals_of_several_results_have_one_entry(curve, levels):
    for result in (curve, levels):
        (entry,) = open_plot_axis([result], None).explain_intervals(0.9)
        assert entry.get_label() == "90 % interval of the mean"


def test_an_item_is_read_smooth_or_as_it_is(stepped):
    for smooth in (False, True):
        path = read_item(stepped, "start", 0.9, smooth=smooth).path
        np.testing.assert_array_equal(path, stepped.trace("start", 0.9, smooth=smooth))


def test_numbers_whose_dots_would_touch_are_drawn_as_a_line_with_a_ribbon(make_levels, find):
    names = [f"{i}" for i in range(60)]
    effect = make_levels(names, 1.0, edges=np.arange(60.0), noise=0.1)
    ax = plot_compare({"a": effect, "b": effect, "c": effect})
    assert not find(ax, "levels")
    lines = find(ax, "curve")
    assert len(lines) == len(find(ax, "ci")) == 3
    np.testing.assert_allclose(lines[1].get_xdata(), np.arange(60.0))
    np.testing.assert_allclose(lines[1].get_ydata(), effect.curve(), atol=1e-9)
    few = make_levels(names[:20], 1.0, edges=np.arange(20.0), noise=0.1)
    assert find(plot_compare({"a": few}), "levels")


def test_close_numbers_are_a_line_and_a_band_with_ticks_that_have_names(make_levels, find):
    names = [f"{i}" for i in range(52)]
    effect = make_levels(names, 1.0, edges=np.arange(52.0), noise=0.1)
    top, bottom = effect.plot()
    assert not find(top, "levels")
    (line,) = find(top, "curve")
    np.testing.assert_allclose(line.get_ydata(), effect.curve(), atol=1e-9)
    assert all(label.get_text() for label in bottom.get_xticklabels())
    assert len(bottom.get_xticks()) < 30
    # bars of single steps leave room between them
    (bars,) = find(bottom, "whiskers")
    slot = 72 * bottom.get_window_extent().width / bottom.figure.dpi / 52
    assert bars.get_linewidth()[0] < 0.5 * slot
