from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import rhale
from rhale.errors import UnknownFeatureError
from rhale.plots import plot_all, plot_effect, plot_outputs

TABLE = np.random.default_rng(0).normal(size=(80, 2))
OUTPUTS = ("cat", "dog", "cow")


@pytest.fixture(scope="module")
def fx():
    return rhale.explain(lambda rows: rows @ np.array([[1.0, 2, 3], [0, 1, -1]]), TABLE)


def test_every_output_has_a_panel_with_spread(effect, one):
    effects = [replace(effect, output=output) for output in OUTPUTS]
    panels = plot_outputs(effects)
    assert [ax.get_title("left") for ax in panels] == list(OUTPUTS)
    for ax in panels:
        assert one(ax, "spread")
        assert one(ax, "ci")
    assert len({ax.get_ylim() for ax in panels}) == 1
    assert panels[0].figure.get_suptitle() == "age"


def test_levels_have_a_panel_for_each_output_too(make_levels, one, render):
    effects = [make_levels(("a", "b"), 1.0, output=output) for output in OUTPUTS]
    panels = plot_outputs(effects)
    assert all(one(ax, "levels") for ax in panels)
    assert render(panels[0])


def test_one_given_axes_has_a_colour_for_each_output(effect, make_levels, find):
    ax = Figure().subplots()
    plot_outputs([replace(effect, output=output) for output in OUTPUTS], axes=ax)
    assert [line.get_label() for line in find(ax, "curve")] == list(OUTPUTS)
    ax = Figure().subplots()
    plot_outputs([make_levels(("a", "b"), 1.0, output=o) for o in OUTPUTS], axes=ax)
    dots = find(ax, "levels")
    assert [d.get_label() for d in dots] == list(OUTPUTS)
    assert len({tuple(d.get_facecolor()[0]) for d in dots}) == 3
    assert len({float(d.get_offsets()[0, 0]) for d in dots}) == 3  # side by side


def test_given_axes_come_back(effect):
    axes = Figure().subplots(1, 3)
    panels = plot_outputs([replace(effect, output=output) for output in OUTPUTS], axes=axes)
    assert list(panels) == list(axes)
    assert axes[2].get_xlabel() == "age"


def test_an_explanation_draws_all_outputs_of_a_feature_or_the_one_asked_for(fx):
    panels = fx.plot("x1")
    names = ["prediction 1", "prediction 2", "prediction 3"]
    assert [ax.get_title("left") for ax in panels] == names
    assert len(fx.plot("x1", output="y1")) == 2
    assert [ax.get_title("left") for ax in fx.plot(0)] == names
    with pytest.raises(UnknownFeatureError):
        fx.plot("x7")


def test_an_explanation_draws_every_kind_of_result(fx, make_levels, find):
    levels = tuple(make_levels(("a", "b"), 1.0, name="x1", output=o) for o in fx.outputs)
    mixed = replace(fx, effects=fx.effects[:3] + levels)
    assert find(mixed.plot("x1", output="y0"), "levels")
    assert len(mixed.plot("x1")) == 3
    assert len(mixed.plot()) == 2
    ax = mixed.compare({"other": mixed}, "x1", output="y2")
    assert len(find(ax, "levels")) == 2


def test_the_label_says_what_every_panel_shows(effect, make_profile):
    effects = [replace(effect, output=output) for output in OUTPUTS]
    assert plot_outputs(effects)[0].figure.get_supylabel() == "effect on each output (centred)"
    profiles = [replace(make_profile("pdp"), output=output) for output in OUTPUTS]
    label = plot_all(profiles)[0].figure.get_supylabel()
    assert label == "prediction of each output (centred)"


def test_one_output_alone_is_drawn_as_before(effect):
    assert len(plot_effect(effect)) == 2


@pytest.mark.parametrize("smooth", [False, True])
def test_outputs_are_drawn_smooth_or_as_they_are(stepped, one, smooth):
    other = replace(stepped, output="y1")
    for ax in plot_outputs([stepped, other], smooth=smooth):
        line = one(ax, "curve")
        expected = stepped.curve(line.get_xdata(), smooth=smooth)
        np.testing.assert_array_equal(line.get_ydata(), expected)


def test_regions_of_every_output_are_drawn_in_its_panel(by_sex, find):
    panels = plot_outputs([replace(by_sex, output=name) for name in "ab"], regions=True)
    assert [len(find(ax, "curve")) for ax in panels] == [2, 2]
    assert [text.get_text() for text in panels[1].get_legend().get_texts()] == [
        "sex = f, 48 %",
        "sex = m, 52 %",
    ]
