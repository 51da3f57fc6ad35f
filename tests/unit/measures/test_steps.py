"""Rows moved one level down and one level up, and rows without a value."""

import numpy as np
import pandas as pd
import pytest

from rhale.features.levels import Levels
from rhale.measures.questions import ask
from rhale.measures.steps import (
    StepPlan,
    chances,
    questions,
    refuses_missing,
    row_steps,
    without_value,
)
from rhale.models import meet, wrap
from rhale.tables import open_table
from rhale.tables.columns import Labels

VALUE = {"low": 1.0, "mid": 10.0, "high": 100.0, "rare": 1000.0, "odd": 5000.0}
KEY = np.arange(6, dtype=np.uint64)
TABLE = pd.DataFrame(
    {"size": ["low", "mid", "high", None, "mid", "low"], "scale": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
)


def price(rows):
    """What a size is worth, times the row's own scale; no size is worth nothing."""
    return rows["size"].map(VALUE).fillna(0.0).to_numpy(dtype=float) * rows["scale"].to_numpy()


def asked(table, levels, names=("low", "mid", "high"), model=price, key=KEY):
    """Steps of the feature in the first column, and rows predicted."""
    opened = open_table(table).labelled({0: Labels(names)})
    chunk = opened.chunk(0, opened.n_rows)
    predictor, _ = meet(wrap(model), chunk, None)
    base = predictor.predict(chunk.rows, chunk.n_rows)
    level, changes = questions(chunk, StepPlan(0, levels), key)
    answers = ask(predictor, chunk, changes, opened.names, 1000)
    return row_steps(level, levels.size, base, answers), len(changes) * chunk.n_rows


THREE = Levels(("low", "mid", "high"), np.arange(3.0))


def test_rows_are_moved_to_both_neighbours_of_their_level():
    steps, n_asked = asked(TABLE, THREE)
    scale = TABLE["scale"].to_numpy()
    assert steps.level.tolist() == [0, 1, 2, -1, 1, 0]
    assert steps.down[0] == pytest.approx(np.array([0, 9, 90, 0, 9, 0]) * scale)
    assert steps.up[0] == pytest.approx(np.array([9, 90, 0, 0, 90, 9]) * scale)
    assert n_asked == 12


def test_rows_without_a_level_are_asked_about_as_they_are():
    seen = []

    def model(rows):
        seen.append(rows["size"].isna().to_numpy()[rows["scale"].to_numpy() == 4.0])
        return price(rows)

    asked(TABLE, THREE, model=model)
    assert all(empty.all() for empty in seen)
    assert sum(empty.size for empty in seen) > 3


def test_of_two_levels_only_the_other_one_is_asked_about():
    table = TABLE[TABLE["size"] != "high"].reset_index(drop=True)
    steps, n_asked = asked(
        table, Levels(("low", "mid"), np.arange(2.0)), ("low", "mid"), key=KEY[:5]
    )
    assert steps.down[0] == pytest.approx(np.array([0, 18, 0, 45, 0.0]))
    assert steps.up[0] == pytest.approx(np.array([9, 0, 0, 0, 54.0]))
    assert n_asked == 5


def test_the_order_of_the_levels_decides_who_is_beside_whom():
    steps, _ = asked(TABLE, Levels(("high", "low", "mid"), np.array([2.0, 0.0, 1.0])))
    assert steps.level.tolist() == [1, 2, 0, -1, 2, 1]
    assert steps.down[0, 0] == 1.0 - 100.0
    assert steps.up[0, 2] == 3 * (1.0 - 100.0)


def test_several_outputs_have_steps_of_their_own():
    steps, _ = asked(TABLE, THREE, model=lambda rows: np.column_stack([price(rows), -price(rows)]))
    assert steps.down.shape == steps.up.shape == (2, 6)
    assert np.array_equal(steps.down[1], -steps.down[0])


def test_a_row_beside_pooled_levels_becomes_one_of_them_as_its_key_says():
    levels = Levels(
        ("low", "other (2 levels)"),
        np.array([0.0, np.nan]),
        pooled=np.array([1.0, 2.0]),
        pooled_weight=np.array([1.0, 1.0]),
        pooled_names=("rare", "odd"),
    )
    table = pd.DataFrame({"size": ["low", "low", "rare", "odd"], "scale": [1.0, 1.0, 1.0, 1.0]})
    key = np.array([0, 2**64 - 1, 0, 0], dtype=np.uint64)
    steps, _ = asked(table, levels, ("low", "rare", "odd"), key=key)
    assert steps.up[0].tolist() == [999.0, 4999.0, 0.0, 0.0]
    assert steps.down[0].tolist() == [0.0, 0.0, 999.0, 4999.0]


def test_chances_fill_the_unit_interval_and_never_reach_one():
    largest = np.iinfo(np.uint64).max
    found = chances(np.array([0, 2**63, largest], dtype=np.uint64))
    assert found[:2].tolist() == [0.0, 0.5]
    assert found[2] < 1.0


def parts(model):
    opened = open_table(TABLE).labelled({0: Labels(("low", "mid", "high"))})
    chunk = opened.chunk(0, 6)
    predictor, _ = meet(wrap(model), chunk, None)
    return predictor, chunk, opened.names


def test_predictions_without_a_value_are_those_of_rows_that_miss_it():
    predictor, chunk, names = parts(price)
    answers = ask(predictor, chunk, [without_value(chunk, 0)], names, 1000)
    assert answers[0].tolist() == [[0.0]] * 6


@pytest.mark.parametrize("kind", ["answers", "raises", "answers nan"])
def test_a_model_without_an_answer_for_missing_values_is_recognised(kind):
    def model(rows):
        empty = rows["scale"].isna().to_numpy()
        if kind == "raises" and empty.any():
            msg = "no nan, please"
            raise ValueError(msg)
        return np.where(empty, np.nan if kind == "answers nan" else 0.0, rows["scale"])

    predictor, chunk, _ = parts(model)
    why = refuses_missing(predictor, chunk, 1)
    expected = {"answers": None, "answers nan": "its answer is no finite number"}
    assert why == expected.get(kind, why)
    assert (why is None) == (kind == "answers")
