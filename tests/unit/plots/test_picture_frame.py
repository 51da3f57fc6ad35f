import numpy as np
import pytest
from matplotlib.figure import Figure

import rhale
from rhale.errors import BadSettingError
from rhale.plots import plot_all
from rhale.plots.canvas import read_frame
from rhale.plots.choice import draw

X = np.linspace(0, 1, 101)


def test_a_title_stands_above_a_new_figure_letter_by_letter(effect, render):
    ax = effect.plot(kind="curve", title="$a_b$ <b>")
    assert ax.figure.get_suptitle() == "$a_b$ <b>"
    assert not ax.figure._suptitle.get_parse_math()
    assert render(ax)


def test_a_title_stands_above_one_given_panel(effect):
    ax = effect.plot(kind="curve", title="Age", ax=Figure().subplots())
    assert ax.get_title() == "Age"


def three_trainings():
    x = np.random.default_rng(0).normal(size=(180, 2))
    models = [lambda x, a=a: a * x[:, 0] for a in (1.0, 1.5, 1.25)]
    return rhale.refits(models, x, train=np.arange(180).reshape(3, 60))


def test_without_a_legend_no_room_is_kept_for_one():
    rx, axes = three_trainings(), Figure().subplots(1, 2)
    rx.plot("x0", ax=axes[0])
    rx.plot("x0", ax=axes[1], legend=False)
    (low, high), (low_without, high_without) = axes[0].get_ylim(), axes[1].get_ylim()
    assert low == low_without
    assert high > high_without


def test_a_title_stands_above_the_note_of_a_given_panel(render):
    rx = three_trainings()
    ax = rx.plot("x0", title="Age", ax=Figure(layout="constrained").subplots())
    render(ax)
    (note,) = ax.findobj(lambda artist: artist.get_gid() == "rhale:verdict")
    letters = ax.title.get_window_extent()
    above = letters.y1 - letters.height / 2  # of two lines the upper one is written
    assert ax.get_title().strip() == "Age"
    assert above > note.get_window_extent().y1


def test_a_title_is_refused_where_several_panels_are_given(effect):
    with pytest.raises(BadSettingError, match="ax= has 2"):
        effect.plot(title="Age", ax=Figure().subplots(2, 1))


def test_a_title_keeps_what_a_figure_says_already(make_effect):
    from rhale.plots import plot_outputs

    effects = [make_effect(X, X, output=output) for output in "ab"]
    panels = draw(plot_outputs, effects, axes=None, title="Classes")
    assert panels[0].figure.get_suptitle() == "Classes\nage"


def test_the_size_is_that_of_a_new_figure(effect, make_profile):
    for ax in (effect.plot(figsize=(5, 3))[0], make_profile().plot(figsize=(5, 3))):
        assert ax.figure.get_size_inches().tolist() == [5, 3]
    with pytest.raises(BadSettingError, match="figsize= is the size of a new figure"):
        effect.plot(figsize=(5, 3), ax=Figure().subplots())


def test_a_legend_can_be_left_out(effect, make_profile, by_sex, make_levels, make_refits):
    drawn = [
        *effect.plot(legend=False),
        make_profile().plot(legend=False),
        by_sex.plot(regions=True, legend=False),
        make_levels(("a", "b"), 1.0).plot(legend=False),
        *make_levels(tuple(f"quite a long name {i}" for i in range(20)), 1.0).plot(legend=False),
        make_refits([1.0, 2.0]).plot(legend=False),
        *draw(plot_all, [effect], legend=False),
        *draw(plot_all, [by_sex], legend=False, regions=True),
    ]
    assert [ax.get_legend() for ax in drawn] == [None] * len(drawn)
    assert [ax.figure.legends for ax in drawn] == [[]] * len(drawn)


def test_several_curves_take_the_colours_of_a_list(make_effect, find, by_sex):
    effects = [make_effect(X, X, output=output) for output in "abc"]
    (ax,) = draw(plot_all, effects, colors=["red", "blue"])
    assert [line.get_color() for line in find(ax, "curve")] == ["red", "blue", "red"]
    regions = by_sex.plot(regions=True, colors=["red", "blue"])
    assert [line.get_color() for line in find(regions, "curve")] == ["red", "blue"]


def test_what_is_no_flag_or_text_is_refused():
    with pytest.raises(BadSettingError, match="neither True nor False"):
        read_frame({"legend": "upper left"})
    with pytest.raises(BadSettingError, match="title=3 is no text"):
        read_frame({"title": 3})


def test_options_that_are_not_given_change_nothing():
    frame = read_frame({"legend": None, "figsize": None, "title": None, "colors": None})
    assert (frame.changes, frame.title) == ({}, None)
