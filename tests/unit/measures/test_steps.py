"""Rows moved one level down and one level up."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.unit.measures.askers import asker_for, replies_to, rows_of

from rhale.features.levels import Levels
from rhale.kernels.level_moments import measure_levels
from rhale.kernels.sample import collect
from rhale.measures.measure import MeasureTask, Rows
from rhale.measures.steps import (
    LevelSums,
    Moved,
    Steps,
    chances,
    last_moved,
    measure_moved,
    row_steps,
)
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
    opened = open_table(table).label({0: Labels(names)})
    chunk = opened.chunk(0, opened.n_rows)
    asker = asker_for(model, chunk, opened.names, 1000)
    questions = Steps(SimpleNamespace(column=0, levels=levels)).questions(rows_of(chunk, key))
    replies = replies_to(questions, asker, chunk)
    steps = row_steps(questions.memory.level, levels.size, replies.predictions, replies.changed)
    return steps, len(questions.changes) * chunk.n_rows


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


# --- levels without an order -------------------------------------------------------------------

FREE = Levels(("low", "mid", "high"), np.arange(3.0), has_order=False)


def moved(key, sampled, last_key=2**64 - 1, weights=None):
    """Questions about rows some of which are sampled, and what was made of the answers."""
    opened = open_table(TABLE, weights).label({0: Labels(("low", "mid", "high"))})
    chunk = opened.chunk(0, opened.n_rows)
    steps = Steps(SimpleNamespace(column=0, levels=FREE), last_key=np.uint64(last_key))
    rows = Rows(chunk, np.array(key, dtype=np.uint64), np.array(sampled))
    task = MeasureTask(asker_for(price, chunk, opened.names), (steps,), np.uint64(0), 0)
    asked = steps.questions(rows)
    base, _ = task.as_they_are(rows)
    (reply,) = task.replies(rows, [asked], base)
    return asked, steps.add_up(rows, asked, reply).total.curves


def test_sampled_rows_that_have_a_level_are_moved_to_every_level():
    asked, curves = moved(KEY, [0, 2, 3, 5])
    assert asked.aside.rows.tolist() == [0, 2, 5]
    assert asked.n_asked(6) == 2 * 6 + 3 * 3
    scale = np.array([1.0, 3.0, 6.0])[:, None]
    expected = scale * np.array([0.0, 9.0, 99.0])
    assert curves.mean[0] == pytest.approx(expected.mean(axis=0))
    assert curves.covariance[0] == pytest.approx(np.cov(expected.T), rel=1e-12)


def test_rows_with_larger_keys_are_not_moved_and_equal_rows_once():
    asked, curves = moved([4, 4, 9, 1, 2, 2], np.arange(6), last_key=4)
    assert asked.aside.rows.tolist() == [4, 0]  # rows of one key are alike; one has no level
    assert curves.weight == curves.weight_squares == 4.0
    steps = np.array([5.0, 5.0, 1.0, 1.0])[:, None] * np.array([0.0, 9.0, 99.0])
    assert curves.mean[0] == pytest.approx(steps.mean(axis=0))
    assert curves.covariance[0] == pytest.approx(np.cov(steps.T), rel=1e-12)


def test_a_chunk_without_sampled_rows_adds_nothing():
    _, curves = moved(KEY, np.empty(0, dtype=int))
    assert curves.weight == 0.0
    assert not curves.products.any()


def test_levels_in_order_and_two_levels_move_nobody_everywhere():
    for levels in (THREE, Levels(("low", "mid"), np.arange(2.0), has_order=False)):
        steps = Steps(SimpleNamespace(column=0, levels=levels))
        chunk = open_table(TABLE).label({0: Labels(("low", "mid", "high"))}).chunk(0, 6)
        assert steps.questions(Rows(chunk, KEY, np.arange(6))).aside is None


def test_many_answers_move_fewer_rows_those_with_the_smallest_keys():
    sample = collect(
        np.arange(5_000, dtype=np.uint64), np.zeros((5_000, 1)), np.ones(5_000), size=9_000
    )
    assert last_moved(sample, 8, 1) == 1_999
    assert last_moved(sample, 64, 2) == 2**16 // 128 - 1
    assert last_moved(sample, 50, 1_000) == 199


def test_chances_fill_the_unit_interval_and_never_reach_one():
    largest = np.iinfo(np.uint64).max
    found = chances(np.array([0, 2**63, largest], dtype=np.uint64))
    assert found[:2].tolist() == [0.0, 0.5]
    assert found[2] < 1.0


# --- regions -------------------------------------------------------------------------------------


def region(levels, level, down, up, **about):
    """The effect in some rows, from their steps."""
    feature = SimpleNamespace(name="size", column=0, levels=levels, notes=())
    total = LevelSums(measure_levels(level, down, up, levels.size))
    known = {"outputs": ("y0",), "notes": (), "weight": np.empty(0), "last_key": KEY[0]}
    kept = np.empty((0, 3))
    return Steps(feature).conclude_region(total, kept, SimpleNamespace(**known | about), 0)


FIVE = Levels(("XS", "S", "M", "L", "XL"), np.arange(5.0))


def test_a_region_goes_from_the_first_to_the_last_of_its_levels():
    level = np.array([1, 1, 2, 3])
    found = region(FIVE, level, np.full((1, 4), 2.0), np.full((1, 4), 4.0))
    assert found.levels == ("S", "M", "L")
    assert found.level_count.tolist() == [2, 1, 1]
    assert found.edges.tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_allclose(
        found.mean, [(4 + 4 + 2) / 3, (4 + 2) / 2]
    )  # of the rows on both sides
    assert not found.bin_notes


def test_a_step_without_rows_on_either_side_is_flat_and_told_of():
    found = region(FIVE, np.array([0, 0, 3, 4]), np.full((1, 4), 2.0), np.full((1, 4), 4.0))
    assert found.count.tolist() == [2, 0, 1, 2]
    np.testing.assert_array_equal(found.mean, [4.0, 0.0, 2.0, 3.0])
    (note,) = found.bin_notes
    assert note == "no row on either side of 1 steps (after 'S'): flat there"


def test_one_row_is_no_region_and_one_level_has_no_steps():
    one = np.ones((1, 1))
    assert region(FIVE, np.array([2]), one, one) is None
    alone = region(FIVE, np.array([2, 2]), np.ones((1, 2)), np.ones((1, 2)))
    assert (alone.levels, alone.mean.size) == (("M",), 0)


def test_regions_are_to_tell_the_steps_of_every_row_apart():
    levels = Levels(("low", "mid", "high"), np.array([1.0, 5.0, 9.0]), is_number=True)
    searched = np.array(
        [[1.0, 0, 0, 10, 20], [5, 11, 21, 12, 22], [np.nan, 0, 0, 0, 0], [9, 13, 23, 0, 0]]
    )
    first, second = Steps(SimpleNamespace(column=0, levels=levels)).targets(searched, 2)
    told = sorted(zip(first.row, first.x, first.step, first.effects, strict=True))
    assert told == [(0, 0, 0, 10), (1, 1, 0, 11), (1, 1, 1, 12), (3, 2, 1, 13)]
    assert sorted(second.effects.tolist()) == [20, 21, 22, 23]
    assert not first.shared.any()
    assert first.noise is None


def test_only_rows_that_count_are_moved():
    moved = Moved(np.array([0, 2, 3]), np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 9.0]))
    answers = np.arange(9.0).reshape(3, 3, 1) ** 2
    some = measure_moved(moved, answers, np.array([True, True, False, True]))
    alone = Moved(moved.rows[[0, 2]], moved.weight[[0, 2]], moved.squares[[0, 2]])
    wanted = measure_moved(alone, answers[:, [0, 2]])
    assert (some.weight, some.weight_squares) == (4.0, 10.0)
    np.testing.assert_allclose(some.mean, wanted.mean)
    np.testing.assert_allclose(some.products, wanted.products)
