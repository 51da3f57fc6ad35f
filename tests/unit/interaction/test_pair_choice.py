import logging

import numpy as np
import pytest
from tests.unit.interaction.test_pair_plan import survey

from rhale.effects.local.queries import BatchedModel
from rhale.errors import BadSettingError
from rhale.interaction.plan import (
    PairEstimation,
    choose_pair_estimation,
    count_pair_queries,
    describe_rows,
    describe_screen,
    every_pair,
    has_too_many_pairs,
    limit_pairs,
    make_sides,
    require_two,
    warn_of_cost,
)
from rhale.interaction.settings import PairSettings
from rhale.models import meet, wrap


def sides_of(rows):
    features, _, asked = survey(rows)
    return make_sides(features, asked, PairSettings(), len(rows))


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return np.column_stack(
        [rng.normal(size=(60, 2)), rng.integers(0, 3, 60), rng.integers(0, 2, 60), np.ones(60)]
    )


def test_slopes_need_one_side_of_numbers(rows):
    ways = PairEstimation("gradient").ways(sides_of(rows), every_pair(5))
    found = dict(zip(map(tuple, every_pair(5).tolist()), ways, strict=True))
    assert found[0, 1] == found[0, 2] == found[1, 3] == "gradient"
    assert found[2, 3] == "corners"  # levels have no slope
    assert found[0, 4] == found[3, 4] == "still"


def test_two_features_whose_slope_says_nothing_are_asked(rows):
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    ways = PairEstimation("gradient", frozenset([0])).ways(sides_of(rows), pairs)
    assert ways == ("gradient", "corners", "gradient")


def test_columns_that_mix_before_trees_are_asked(rows):
    pairs = np.array([[0, 1], [1, 2]])
    assert PairEstimation("walk", frozenset([0])).ways(sides_of(rows), pairs) == ("corners", "walk")


def manner_of(model, rows, gradient=None):
    features, chunk, asked = survey(rows)
    asker = BatchedModel(meet(wrap(model, gradient=gradient), chunk)[0], ("x0", "x1", "x2"), 1_000)
    table = type("Seen", (), {"probe": chunk, "features": features})
    return choose_pair_estimation(table, asker, asked)


def test_a_function_is_asked_and_a_gradient_taken():
    rows = np.random.default_rng(0).normal(size=(100, 2))

    def model(z):
        return z[:, 0] * z[:, 1]

    assert manner_of(model, rows).usual == "corners"
    assert manner_of(model, rows, lambda z: z[:, ::-1]).usual == "gradient"


def test_a_gradient_of_nothing_is_not_taken():
    rows = np.random.default_rng(0).normal(size=(100, 2))
    found = manner_of(lambda z: (z[:, 0] > 0) * (z[:, 1] > 0) * 1.0, rows, np.zeros_like)
    assert found.usual == "corners"
    assert "zero everywhere" in found.notes[0]


@pytest.mark.parametrize(
    ("way", "pairs", "n_features", "limit"),
    [
        ("corners", None, 30, 10),
        ("corners", None, 5, None),  # ten pairs are all
        ("corners", "all", 30, None),
        ("corners", 20, 30, 20),
        ("walk", None, 30, None),
        ("gradient", 3, 30, None),  # all have one price
        ("gradient", 3, 40, 3),
        ("corners", 10, 5, None),
    ],
)
def test_pairs_are_chosen_where_each_has_its_price(way, pairs, n_features, limit):
    assert limit_pairs(n_features, PairEstimation(way), PairSettings(pairs)) == limit


def test_more_than_500_pairs_are_measured_only_if_asked_for():
    assert not has_too_many_pairs(32, PairSettings())
    assert has_too_many_pairs(33, PairSettings())
    assert not has_too_many_pairs(33, PairSettings("all"))


def test_the_price_of_all_pairs_is_told_before_it_is_paid(caplog):
    with caplog.at_level(logging.WARNING, "rhale"):
        warn_of_cost(PairEstimation("corners"), 435, 10_000, PairSettings("all"))
        warn_of_cost(PairEstimation("walk"), 435, 10_000, PairSettings("all"))
        warn_of_cost(PairEstimation("corners"), 435, 10_000, PairSettings())
    assert [r.getMessage() for r in caplog.records] == [
        "pairs='all' evaluates the model on 4 x 435 pairs x 10,000 rows = 17,400,000 rows"
    ]


def test_what_was_left_out_is_told():
    (screened,) = describe_screen(10, 435, 1_740_000)
    assert "10 of 435 pairs" in screened
    assert "1,740,000 rows" in screened
    (cheap,) = describe_screen(10, 435, 0)
    assert cheap.endswith("pairs='all' measures every pair")
    assert describe_screen(3, 3, 600) == ()


def test_few_rows_are_told_and_their_cells_where_there_are_any():
    (few,) = describe_rows(20, PairSettings())
    assert (few.kind, few) == (
        "few rows",
        "20 rows are few to measure pairs: 5 cells a side are used",
    )
    for asked in (PairSettings(cells=3), PairSettings(method="h")):
        assert describe_rows(20, asked) == ("20 rows are few to measure pairs",)
    assert describe_rows(50, PairSettings()) == ()


def test_only_corners_have_a_price_for_each_pair():
    assert count_pair_queries(PairEstimation("corners"), 435, 1_000, PairSettings()) == 1_740_000
    assert count_pair_queries(PairEstimation("walk"), 435, 1_000, PairSettings()) == 0
    assert count_pair_queries(PairEstimation("corners"), 435, 1_000, PairSettings(method="h")) == 0


def test_one_feature_makes_no_pair():
    features, *_ = survey(np.random.default_rng(0).normal(size=(20, 2)))
    require_two(features)
    with pytest.raises(BadSettingError, match="'x0'"):
        require_two(features[:1])
