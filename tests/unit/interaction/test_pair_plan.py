import numpy as np
import pandas as pd
import pytest

import rhale
from rhale.data import open_table
from rhale.errors import UnknownFeatureError
from rhale.features.feature import FirstPass
from rhale.features.survey import rows_keys
from rhale.interaction.plan import (
    PairPlan,
    choose_axis,
    every_pair,
    list_requested_pairs,
    make_sides,
)
from rhale.interaction.settings import PairSettings
from rhale.settings import Settings


def survey(data, **settings):
    """Features of a table, and its rows."""
    table = open_table(data)
    asked = Settings(**settings)
    first = FirstPass.plan(table, asked)
    found = first.resolve_columns(first.task(table.chunk(0, table.n_rows)))
    return found.features, found.table.chunk(0, found.table.n_rows), asked


def test_cells_hold_equal_counts():
    x = np.random.default_rng(0).exponential(size=(400, 2))
    features, _, asked = survey(x)
    axis = choose_axis(features[0], asked, 4)
    counts, _ = np.histogram(x[:, 0], axis.nodes)
    assert counts.tolist() == [100, 100, 100, 100] or np.ptp(counts) <= 2
    assert axis.nodes[[0, -1]].tolist() == [x[:, 0].min(), x[:, 0].max()]


def test_limits_of_whole_numbers_are_whole():
    x = np.random.default_rng(0).integers(0, 500, (400, 2))
    features, _, asked = survey(x, bins={"x0": rhale.Fixed(7)})
    nodes = choose_axis(features[0], asked, 20).nodes
    assert np.array_equal(nodes, np.round(nodes))
    assert nodes.size == 8


def test_given_edges_stay():
    x = np.random.default_rng(0).normal(size=(400, 2))
    features, _, asked = survey(x, bins={"x0": rhale.Edges([-1, 0.25, 1], closed="right")})
    axis = choose_axis(features[0], asked, 20)
    assert (axis.nodes.tolist(), axis.closed) == ([-1, 0.25, 1], "right")


def test_rows_are_asked_at_the_limits_of_their_cell():
    x = np.array([[0.0, 1.0], [1.0, 2.0], [2.5, 3.5], [np.nan, 4.5]])
    features, chunk, asked = survey(x, bins={"x0": rhale.Edges([0, 1, 3])})
    side = make_sides(features, asked, PairSettings(), 4)[0].ask(chunk, rows_keys(chunk, 0))
    assert side.positions.cell.tolist() == [0, 1, 1, -1]
    assert side.low[:3].tolist() == [0, 1, 1]
    assert side.high[:3].tolist() == [1, 3, 3]
    assert np.isnan(side.low[3])  # nothing is asked instead of what is not there
    assert np.isnan(side.high[3])


def test_rows_with_levels_are_asked_one_below_and_one_above():
    table = pd.DataFrame({"size": list("smlsml"), "x": np.arange(6.0) ** 2})
    features, chunk, asked = survey(table, categorical={"size": ["s", "m", "l"]})
    side = make_sides(features, asked, PairSettings(), 6)[0].ask(chunk, rows_keys(chunk, 0))
    assert side.axis.labels == ("s", "m", "l")
    assert side.positions.cell.tolist() == [0, 1, 2, 0, 1, 2]
    own = chunk.column(0)
    assert np.array_equal(side.low, own[[0, 0, 1, 0, 0, 1]])
    assert np.array_equal(side.high, own[[1, 2, 2, 1, 2, 2]])


def test_a_feature_with_one_value_has_one_level():
    features, _, asked = survey(np.column_stack([np.ones(5), np.arange(5.0)]))
    assert choose_axis(features[0], asked, 20).n_steps == 0


def test_pairs_are_named_once_in_either_order():
    names = ["a", "b", "c"]
    assert list_requested_pairs(names, PairSettings([("c", "a"), ("a", "c"), (0, 1)])).tolist() == [
        [0, 2],
        [0, 1],
    ]
    assert list_requested_pairs(names, PairSettings("all")).tolist() == every_pair(3).tolist()
    assert list_requested_pairs(names, PairSettings()) is None
    assert list_requested_pairs(names, PairSettings(2)) is None
    with pytest.raises(UnknownFeatureError, match="aa"):
        list_requested_pairs(names, PairSettings([("aa", "b")]))


def test_a_plan_knows_which_pairs_are_found_in_which_way():
    features, chunk, asked = survey(np.random.default_rng(0).normal(size=(30, 3)))
    sides = make_sides(features, asked, PairSettings(), 30)
    plan = PairPlan(sides, every_pair(3), ("walk", "corners", "walk"))
    assert plan.places("walk").tolist() == [0, 2]
    assert plan.axes(1) == (sides[0].axis, sides[2].axis)
    assert len(plan.question(chunk, rows_keys(chunk, 0)).sides) == 3
