"""Levels: which number stands for which level, and which one a row has."""

import numpy as np
import pytest

from rhale.features.categories import Levels

POOLED = Levels(
    ("b", "other (3 levels)", "a"),
    np.array([4.0, np.nan, 1.0]),
    pooled=np.array([0.0, 3.0, 2.0]),
    pooled_weight=np.array([1.0, 2.0, 1.0]),
    pooled_names=("x", "y", "z"),
)


def test_rows_are_located_whatever_the_order_of_the_levels():
    levels = Levels(("c", "a", "b"), np.array([2.0, 0.0, 1.0]))
    assert levels.locate(np.array([0.0, 1.0, 2.0, 0.0])).tolist() == [1, 2, 0, 1]


def test_values_that_are_no_level_are_nowhere():
    levels = Levels(("1", "5"), np.array([1.0, 5.0]), is_number=True)
    assert levels.locate(np.array([0.0, 1.5, 9.0, np.nan, np.inf])).tolist() == [-1] * 5


def test_pooled_values_stand_together():
    assert POOLED.locate(np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan])).tolist() == [
        1,
        2,
        1,
        1,
        0,
        -1,
    ]


def test_the_number_of_a_level_leads_back_to_it():
    levels = Levels(("c", "a", "b"), np.array([2.0, 0.0, 1.0]))
    every = np.arange(3)
    assert levels.locate(levels.at(every, np.zeros(3))).tolist() == every.tolist()


def test_pooled_levels_are_drawn_as_often_as_they_are():
    chance = (np.arange(4000) + 0.5) / 4000
    drawn = POOLED.at(np.ones(4000, dtype=int), chance)
    assert [np.mean(drawn == v) for v in (0.0, 3.0, 2.0)] == pytest.approx([0.25, 0.5, 0.25])
    assert POOLED.at(np.zeros(2, dtype=int), chance[:2]).tolist() == [4.0, 4.0]


def test_any_chance_draws_one_of_the_pooled():
    largest = np.nextafter(1.0, 0.0)
    found = POOLED.at(np.array([1, 1]), np.array([0.0, largest]))
    assert found.tolist() == [0.0, 2.0]


def test_names_stand_one_apart_and_numbers_at_their_values():
    names = Levels(("b", "a"), np.array([1.0, 0.0]))
    numbers = Levels(("1", "5"), np.array([1.0, 5.0]), is_number=True)
    assert names.edges.tolist() == [0.0, 1.0]
    assert numbers.edges.tolist() == [1.0, 5.0]
    level = np.array([1, -1, 0])
    assert names.level_positions(level) == pytest.approx(np.array([1.0, np.nan, 0.0]), nan_ok=True)
    assert numbers.level_positions(level) == pytest.approx(
        np.array([5.0, np.nan, 1.0]), nan_ok=True
    )
