from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from rhale.errors import BadSettingError
from rhale.interaction.pair_effect import CORRELATED_NOTE_KIND, PAIR_NAME_SEPARATOR
from rhale.interaction.plot_all import fit_pair_name, plot_ranking
from rhale.output import colours
from rhale.output.text import Note

LONG = "the_income_of_the_household_before_taxes_in_thousands_of_usd"


def names(ax):
    return ["".join(text.get_text().split(PAIR_NAME_SEPARATOR)) for text in ax.get_yticklabels()]


def test_the_strongest_pair_is_on_top(make_pairs, find):
    ax = plot_ranking(make_pairs({"ab": 1.0, "bc": 3.0, "ac": 0.0}))
    assert names(ax) == ["bc", "ab", "ac"]
    assert [bar.get_width() for bar in find(ax, "bars")] == [3, 1, 0]
    assert ax.yaxis_inverted()
    assert find(ax, "bars")[0].get_facecolor()[:3] == pytest.approx(
        [int(colours.STRENGTH_COLOUR[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    )


def test_shares_of_the_variance_stand_beside_bars(make_pairs, find):
    ax = plot_ranking(make_pairs({"ab": 1.0, "bc": 3.0}))  # of a variance of 100
    assert [text.get_text() for text in find(ax, "shares")] == ["9 %", "1 %"]


def test_only_so_many_are_drawn_and_the_others_are_counted(make_pairs, find):
    ax = plot_ranking(make_pairs(np.ones((5, 5))), top=3)
    assert len(find(ax, "bars")) == 3
    assert ax.get_legend().get_title().get_text() == "3 of 10 pairs"
    with pytest.raises(BadSettingError, match="top"):
        plot_ranking(make_pairs({"ab": 1.0}), top=0)


def test_whiskers_are_errors_where_they_are_known(hollow_pair, make_pairs, one, find, legend):
    pairs = make_pairs({"ab": 1.0})
    ax = plot_ranking(replace(pairs, pairs=(hollow_pair,)))
    (ends,) = one(ax, "whiskers").get_segments()
    wanted = hollow_pair.strength + hollow_pair.strength_error * np.array([-1, 1])
    np.testing.assert_allclose(ends[:, 0], wanted)
    assert "± standard error" in legend(ax)
    bare = plot_ranking(pairs)  # H has no error
    assert not find(bare, "whiskers")


def test_a_whisker_does_not_pass_zero(hollow_pair, make_pairs, one):
    weak = replace(hollow_pair, square=hollow_pair.square._replace(noise=hollow_pair.square.raw))
    ax = plot_ranking(replace(make_pairs({"ab": 1.0}), pairs=(weak,)))
    (ends,) = one(ax, "whiskers").get_segments()
    assert ends[0, 0] == 0
    assert ends[1, 0] == pytest.approx(weak.strength_error)


def test_one_of_several_outputs_is_ranked(make_pairs, find):
    pairs = make_pairs({"ab": 1.0, "bc": 3.0}, outputs=("y", "z"))
    ax = plot_ranking(pairs, output="z")
    assert [bar.get_width() for bar in find(ax, "bars")] == [6, 2]
    assert ax.get_xlabel().startswith("effect on z\n")
    assert plot_ranking(pairs).get_xlabel().startswith("effect on y\n")


def test_few_bars_stand_on_top_of_high_axes(make_pairs):
    ax = plot_ranking(make_pairs({"ab": 1.0}), ax=Figure((5, 9)).add_subplot())
    assert ax.get_ylim()[0] > 10


@given(st.text("abc", max_size=60), st.text("abc", max_size=60), st.integers(11, 40))
def test_names_of_a_pair_fit(one, two, length):
    words = fit_pair_name((one, two), length)
    assert len(words) <= length
    if len(one) + len(two) + 3 <= length:
        assert words == PAIR_NAME_SEPARATOR.join((one, two))


@pytest.mark.parametrize("size", [0.0, 1e-140, 1e140])
def test_any_size_is_drawn_without_a_warning(make_pairs, render, size):
    assert render(plot_ranking(make_pairs({"ab": size, "bc": size})))


@pytest.mark.parametrize("name", [LONG, "$\\frac{", "\U0001f995", "", "_"])
def test_any_name_is_drawn_without_a_warning(make_pairs, render, name):
    pairs = make_pairs({"ab": 1.0, "bc": 1.0}, names=[f"{name}{i}" for i in ("", 1, 2)])
    assert render(plot_ranking(replace(pairs, outputs=("y",))))
    panels = Figure((3, 2)).subplots(1, 2)
    assert render(plot_ranking(pairs, ax=panels[0]))


def test_pairs_that_one_model_cannot_rank_have_a_star_that_the_axis_explains(make_pairs):
    ix = make_pairs({"ab": 1.0, "bc": 3.0})
    assert "*" not in plot_ranking(ix).get_xlabel()
    note = Note(CORRELATED_NOTE_KIND, "a copy")
    marked = [replace(p, notes=(note,)) if p.names == ("b", "c") else p for p in ix.pairs]
    ax = plot_ranking(replace(ix, pairs=tuple(marked)))
    assert names(ax) == ["bc *", "ab"]
    assert ax.get_xlabel().endswith("\n* cannot be ranked by this model")
