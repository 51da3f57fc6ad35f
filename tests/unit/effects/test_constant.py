"""Features with one value: no question, no curve, and a note that says why."""

import numpy as np
import pandas as pd
import pytest
from tests.unit.effects.askers import rows_of

from rhale.data import open_table
from rhale.effects.local.measure import (
    Constant,
    MeasureContext,
    MeasuredChunk,
    Questions,
    Replies,
    describe_constant,
)
from rhale.features.feature import FirstPass
from rhale.output.text import Note
from rhale.settings import Settings

NOTHING = Replies(np.empty((0, 0)), None, np.empty((0, 0, 0)))
DAY = np.datetime64("2024-01-01")
TABLES = {
    "number": ([2.5] * 9 + [np.nan], "constant: always 2.5"),
    "date": ([DAY] * 9 + [np.datetime64("NaT")], "constant: always 2024-01-01"),
    "name": (["Rome"] * 9 + [None], "constant: always 'Rome'"),
    "rare names": ([*"abcdefghi", None], "all 9 levels are rare"),
}


def settled(values, weights=None):
    table = open_table(pd.DataFrame({"f": values, "other": np.arange(10.0)}), weights)
    first = FirstPass.plan(table, Settings(features="f"))
    return first.resolve_columns(first.task(table.chunk(0, 10)))


def concluded(columns, *outputs, missing=()):
    about = MeasureContext(columns.survey, outputs, (), np.ones(0), np.uint64(0))
    return Constant(columns.features[0], missing).conclude(0, np.empty((0, 1)), about)


@pytest.mark.parametrize(("values", "words"), TABLES.values(), ids=TABLES)
def test_the_value_and_what_follows_from_it_are_said(values, words):
    (effect,) = concluded(settled(values), "y").results
    (note,) = effect.local_notes
    assert note.kind == "constant"
    assert note == f"{words}, so no effect can be measured"


@pytest.mark.parametrize("values", [v for v, _ in TABLES.values()], ids=TABLES)
def test_what_was_not_measured_is_undefined_and_not_zero(values):
    (effect,) = concluded(settled(values), "y").results
    assert np.isnan(effect.heterogeneity)


def test_rows_with_a_value_are_counted_and_weighed():
    weights = np.arange(1.0, 11.0)  # the last row has no value
    columns = settled(TABLES["number"][0], weights)
    effect = describe_constant(
        columns.features[0], "y", int(columns.survey.n_known[0]), columns.survey.known_weight[0]
    )
    assert effect.count.tolist() == [9]
    assert effect.weight == pytest.approx([45.0])
    assert effect.edges.tolist() == [2.5, 2.5]


def test_every_output_is_told_the_same_and_the_note_about_missing_values_comes_last():
    gone = Note("missing", "1 of 10 rows has no value")
    found = concluded(settled(TABLES["name"][0]), "cat", "dog", missing=(gone,)).results
    assert [effect.output for effect in found] == ["cat", "dog"]
    assert all(effect.local_notes[-1] is gone for effect in found)


def test_pooled_levels_are_kept_by_name():
    (effect,) = concluded(settled(TABLES["rare names"][0]), "y").results
    assert effect.pooled == tuple("abcdefghi")
    assert effect.level_count.tolist() == [9]


def test_a_constant_asks_nothing_and_keeps_the_value_of_sampled_rows():
    columns = settled(TABLES["number"][0])
    measure, chunk = Constant(columns.features[0]), columns.table.chunk(0, 10)
    rows = MeasuredChunk(chunk, np.arange(10, dtype=np.uint64), np.array([3, 7]))
    assert (measure.needs, measure.n_changes) == ("nothing", 0)
    assert list(measure.questions(rows_of(chunk)).changes) == []
    tally = measure.add_up(rows, Questions(), NOTHING)
    assert tally.kept.tolist() == [[2.5], [2.5]]
    assert tally.kept.shape[1] == measure.n_kept(n_outputs=5)
