from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import rc_context
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from rhale.errors import BadSettingError
from rhale.output.labels import NO_CAPTIONS, Captions
from rhale.plots import plot_replication, style
from rhale.stability.plot import name_line

SURE, CHANCE = [1.0, 1.2, 0.9, 1.1], [1.0, -1.1, 0.9, -0.8]


@pytest.fixture
def two(make_refits):
    return [make_refits(SURE, name="age"), make_refits(CHANCE, name="noise")]


def words(ax):
    return [text.get_text() for text in ax.figure.legends[0].get_texts()]


def test_one_line_a_feature_in_the_given_order(two, one, find):
    ax = plot_replication(two)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["age", "noise"]
    np.testing.assert_allclose(one(ax, "importance").get_xdata(), [e.importance for e in two])
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in find(ax, "between")]
    np.testing.assert_allclose(ends, [e.importance_ci() for e in two])
    assert ax.yaxis_inverted()


def test_diamonds_are_full_where_effects_come_back_and_hollow_elsewhere(two, one):
    ax = plot_replication(two)
    full, hollow = one(ax, "replicated"), one(ax, "chance")
    np.testing.assert_allclose(full.get_xdata(), two[0].replicated)
    np.testing.assert_allclose(hollow.get_xdata(), two[1].replicated)
    assert full.get_markerfacecolor() == style.TRUTH
    assert hollow.get_markerfacecolor() == "none"
    assert "corrected for chance, significant" in words(ax)
    assert "corrected for chance, not significant" in words(ax)


def test_names_of_what_does_not_come_back_are_grey(two):
    inks = [to_rgb(text.get_color()) for text in plot_replication(two).get_yticklabels()]
    assert inks == [to_rgb(style.TRUTH), to_rgb(style.SINGLE_ROW)]


def test_p_values_stand_beside(two, one):
    side = one(plot_replication(two), "p")
    told = [text.get_text() for text in side.get_yticklabels()]
    assert told[0] == f"p = {two[0].p_value:.2g}" or told[0] == "p < 0.001"
    assert told[1].startswith("p = ")


def test_nothing_is_claimed_where_all_trainings_had_the_same_rows(make_refits, find):
    ax = plot_replication([make_refits(SURE, same_rows=True)])
    assert not any(find(ax, name) for name in ("replicated", "chance", "between", "p"))
    assert to_rgb(ax.get_yticklabels()[0].get_color()) == to_rgb(style.TRUTH)
    assert "same rows" in ax.figure.legends[0].get_title().get_text()


def test_only_so_many_are_drawn_and_the_others_are_counted(make_refits, find):
    effects = [make_refits(SURE, name=f"x{i}") for i in range(5)]
    ax = plot_replication(effects, most=3)
    assert len(find(ax, "between")) == 3
    assert ax.figure.legends[0].get_title().get_text() == "3 of 5 effects"
    for wrong in (0, -1):
        with pytest.raises(BadSettingError, match="most"):
            plot_replication(effects, most=wrong)
    with pytest.raises(BadSettingError, match="no effects"):
        plot_replication([])


def test_very_wide_intervals_are_cut_and_it_is_said(make_refits):
    effect = make_refits([1.0, 1.5, 0.6])
    ax = plot_replication([effect], level=0.999)
    assert ax.get_xlim()[1] < effect.importance_ci(0.999)[1]
    assert ax.get_xlim()[1] > effect.importance
    assert any(label.endswith(", cut") for label in words(ax))


def test_several_outputs_are_named(make_refits):
    effects = [make_refits(SURE, name="age", output=output) for output in ("low", "high")]
    ax = plot_replication(effects)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["age on low", "age on high"]
    assert ax.get_xlabel() == "importance: effect on low / high\n(deviation over the rows)"


@given(
    st.text("abc", min_size=1, max_size=60),
    st.text("xyz", min_size=1, max_size=60),
    st.integers(15, 40),
)
def test_names_fit(feature, output, length):
    class Named:
        pass

    Named.name, Named.output, Named.captions = feature, output, NO_CAPTIONS
    assert len(name_line(Named, length, several=True)) <= length
    assert len(name_line(Named, length, several=False)) <= length
    if len(feature) + len(output) + 4 <= length:
        assert name_line(Named, length, several=True) == f"{feature} on {output}"


def test_given_axes_are_used_and_have_room_for_the_legend(two, render):
    ax = Figure((4, 3)).add_subplot()
    assert plot_replication(two, ax=ax) is ax
    assert ax.get_ylim()[1] < -1  # room above the first line
    assert not ax.figure.legends
    assert render(ax)


@pytest.mark.parametrize("n_lines", [1, 40])
def test_any_number_of_lines_is_drawn(make_refits, render, n_lines):
    effects = [make_refits(SURE, name=f"x{i}") for i in range(n_lines)]
    assert render(plot_replication(effects, most=40))


@pytest.mark.parametrize("size", [0.0, 1e-60, 1e60])
@pytest.mark.parametrize("name", ["$\\frac{", "\U0001f995", "", "long " * 40])
def test_any_size_and_name_is_drawn_without_a_warning(make_refits, render, size, name):
    assert render(plot_replication([make_refits(size * np.array(SURE), name=name, output=name)]))


def test_the_figure_grows_with_its_letters(two):
    usual = plot_replication(two).figure.get_size_inches()
    with rc_context({"font.size": 20}):
        np.testing.assert_allclose(plot_replication(two).figure.get_size_inches(), 2 * usual)


def test_features_and_outputs_are_called_what_people_read(make_refits):
    captions = Captions({"age": "Age"}, {"y0": "price"}, {"y0": "$"})
    effect = make_refits(SURE)
    effect = replace(effect, effects=tuple(replace(e, captions=captions) for e in effect.effects))
    ax = plot_replication([effect])
    assert [name.get_text() for name in ax.get_yticklabels()] == ["Age"]
    assert ax.get_xlabel().startswith("importance: effect on price ($)")
