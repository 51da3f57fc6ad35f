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

from rhale.kernels.pair_axis import PairAxis
from rhale.report.pair_sentences import contrast, shared_nodes, tell_pair
from rhale.results.pair_sections import cut_sections


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
    assert "apart)." in text


def test_an_effect_that_shrinks_or_turns_is_said_to():
    assert " shrinks with income" in tell_pair(made(lambda r: r[:, 0] * (3 - r[:, 1])), 3)
    turns = tell_pair(made(lambda r: r[:, 0] * r[:, 1], low=-1.0, high=1.0), 3)
    assert " turns with income" in turns
    assert "falls by" in turns
    assert "and rises by" in turns


def test_an_effect_that_comes_and_goes_only_differs():
    pair = made(lambda r: r[:, 0] * np.cos(np.pi * r[:, 1]))
    assert "The effect of age differs with income" in tell_pair(pair, 3)


def test_categories_are_named():
    text = tell_pair(with_levels()["income", "region"], 3)
    assert text.startswith("The effect of income differs with region: from ")
    assert "falls by" in text
    assert "where region is “north”, and rises by" in text
    text = tell_pair(with_levels()["region", "owner"], 3)
    assert "from “north” to “south” the prediction" in text


def test_an_additive_pair_is_said_to_be_none():
    text = tell_pair(made(lambda r: r[:, 0] + r[:, 1]), 3)
    assert text == "age and income do not work together in this model: each has one effect."


def test_rounding_is_no_interaction():
    pair = made(lambda r: r[:, 0] + r[:, 1])
    tiny = replace(pair, square=type(pair.square)(1e-30, 0.0))
    assert "do not work together" in tell_pair(tiny, 3)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_what_chance_makes_is_not_told_as_an_effect(seed):
    # x * y * z: the mixed differences of rows are strong and have no mean
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(300, 3))
    axes = [PairAxis(np.quantile(rows[:, i], np.linspace(0, 1, 8))) for i in range(2)]
    pair = make_pair(lambda r: r.prod(axis=1), rows, ["x", "y", "z"], (0, 1), axes)
    text = tell_pair(pair, 3)
    assert text.startswith(("Chance could make", "x and y do not", "No stretch"))


def test_a_claim_needs_more_where_more_pairs_were_searched():
    # the change is found to be 5.6 standard errors: enough for one pair, not for very many
    pair = made(lambda r: r[:, 0] * r[:, 1] * (1 + 9.5 * (r[:, 2] - 1)), n_rows=1_200)
    found = contrast(pair)
    times = abs(found.apart) / found.error
    assert 4.5 < times < 6.5
    assert tell_pair(pair, 1).startswith("The effect of")
    assert tell_pair(pair, 10**12).startswith("Chance could make")


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
    assert tell_pair(pair, 1).startswith("No stretch has rows")
