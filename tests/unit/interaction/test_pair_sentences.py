from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.report.pair_cases import (
    make_interactions,
    make_pair,
    with_a_hole,
    with_levels,
)

from rhale.interaction.moments import PairAxis
from rhale.interaction.pair_profile import cut_sections
from rhale.interaction.report import contrast, contrast_middle, shared_nodes, tell_pair


def made(function, n_rows=800, low=0.0, high=2.0, n_columns=3):
    rows = np.random.default_rng(1).uniform(low, high, size=(n_rows, n_columns))
    names = ["age", "income", "third"][:n_columns]
    return make_interactions({"y": function}, rows, names)["age", "income"]


def test_an_effect_that_grows_is_said_to_grow_by_how_much():
    pair = made(lambda r: r[:, 0] * r[:, 1])
    found = contrast(pair)
    low, high = found.values
    assert found.apart == pytest.approx((found.stop - found.start) * (high - low))
    text = tell_pair(pair, 3)
    assert text.startswith("The effect of age grows with income: from 0")
    assert "rises by" in text
    assert "(a difference of " in text


def test_an_effect_that_shrinks_or_turns_is_said_to():
    assert " shrinks with income" in tell_pair(made(lambda r: r[:, 0] * (3 - r[:, 1])), 3)
    turns = tell_pair(made(lambda r: r[:, 0] * r[:, 1], low=-1.0, high=1.0), 3)
    assert " changes its sign with income" in turns
    assert "falls by" in turns
    assert "and rises by" in turns


def test_an_effect_that_comes_and_goes_only_differs():
    pair = made(lambda r: r[:, 0] * np.cos(np.pi * r[:, 1]))
    assert "The effect of age depends on income" in tell_pair(pair, 3)


def test_categories_are_named():
    text = tell_pair(with_levels()["income", "region"], 3)
    assert text.startswith("The effect of income depends on region: from ")
    assert "falls by" in text
    assert "where region is “north”, and rises by" in text
    text = tell_pair(with_levels()["region", "owner"], 3)
    assert "from “north” to “south” the prediction" in text


def test_an_additive_pair_is_said_to_be_none():
    text = tell_pair(made(lambda r: r[:, 0] + r[:, 1]), 3)
    assert text == "On average there is no interaction of age and income."


def test_rounding_is_no_interaction():
    pair = made(lambda r: r[:, 0] + r[:, 1])
    tiny = replace(pair, square=type(pair.square)(1e-30, 0.0))
    assert "there is no interaction" in tell_pair(tiny, 3)


def test_what_chance_makes_is_hardly_ever_told_as_an_effect():
    # x * y * z: the mixed differences of rows are strong and have no mean
    claims = 0
    for seed in range(60):
        rows = np.random.default_rng(seed).normal(size=(300, 3))
        axes = [PairAxis(np.quantile(rows[:, i], np.linspace(0, 1, 8))) for i in range(2)]
        pair = make_pair(lambda r: r.prod(axis=1), rows, ["x", "y", "z"], (0, 1), axes)
        claims += tell_pair(pair, 1).startswith("The effect of")
    assert claims <= 2


@settings(max_examples=25, deadline=None)
@given(st.floats(-3, 3), st.floats(0.5, 5))
def test_adding_functions_of_single_features_changes_no_claim(slope, scale):
    def function(r):
        return r[:, 0] * r[:, 1] * (1 + 0.2 * r[:, 2])

    rows = np.random.default_rng(2).uniform(0, 2, size=(300, 3))
    axes = [PairAxis(np.linspace(0, 2, 8))] * 2
    names = ["x", "y", "z"]
    plain = make_pair(function, rows, names, (0, 1), axes)
    moved = make_pair(
        lambda r: scale * (function(r) + slope * r[:, 0] - np.sin(r[:, 1])),
        rows,
        names,
        (0, 1),
        axes,
    )
    one, other = contrast_middle(plain), contrast_middle(moved)
    assert other.apart == pytest.approx(scale * one.apart, rel=1e-9)
    assert other.error == pytest.approx(scale * one.error, rel=1e-6)


def test_a_claim_needs_more_where_more_pairs_were_searched():
    # a few standard errors: enough for one pair, not for very many
    pair = made(lambda r: r[:, 0] * r[:, 1] * (1 + 9.5 * (r[:, 2] - 1)), n_rows=1_200)
    found = contrast_middle(pair)
    assert 3.5 < abs(found.apart) / found.error < 7
    assert tell_pair(pair, 1).startswith("The effect of")
    assert not tell_pair(pair, 10**15).startswith("The effect of")


def test_lines_are_compared_where_both_have_rows():
    pair = with_a_hole()["long", "lat"]
    found = contrast(pair)
    sections = {s.value: s for s in cut_sections(pair)}
    both = [sections[value] for value in found.values]
    nodes = pair.axes[0].nodes[shared_nodes(both, is_levels=False)]
    assert nodes[0] <= found.start < found.stop <= nodes[-1]


def test_where_no_two_lines_have_rows_nothing_is_compared():
    x = np.repeat(np.arange(4.0), 30) + np.tile(np.linspace(0.01, 0.99, 30), 4)
    axes = [PairAxis(np.arange(5.0))] * 2
    pair = make_pair(lambda r: r[:, 0] * r[:, 1], np.column_stack([x, x]), ["x", "y"], (0, 1), axes)
    assert tell_pair(pair, 1).startswith("The lines cannot be compared")
