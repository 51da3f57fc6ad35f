"""Rows moved one level down and one level up."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.unit.measures.askers import asker_for, no_sampled, replies_to, rows_of

import rhale
from rhale.features.levels import Levels
from rhale.kernels.level_moments import measure_levels
from rhale.measures.measure import MeasureTask, Rows, SampledRows
from rhale.measures.nearby import Nearby, place_levels
from rhale.measures.steps import Steps, row_steps
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


def steps_of(levels, n_outputs=1, **nearby):
    """Steps of a feature in the first column, which has as many rows at every level."""
    feature = SimpleNamespace(name="size", column=0, levels=levels, notes=(), axis=None)
    codes = np.arange(float(levels.size))
    places = place_levels(levels, codes, np.ones(levels.size))
    return Steps(feature, Nearby(feature, places, n_outputs, **nearby))


def asked(table, levels, names=("low", "mid", "high"), model=price, key=KEY):
    """Steps of the feature in the first column, and rows predicted."""
    opened = open_table(table).label({0: Labels(names)})
    chunk = opened.chunk(0, opened.n_rows)
    asker = asker_for(model, chunk, opened.names, 1000)
    questions = steps_of(levels).questions(rows_of(chunk, key))
    replies = replies_to(questions, asker, chunk)
    steps = row_steps(questions.memory, levels.size, replies.predictions, replies.changed)
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
    """Questions about rows some of which are sampled, and what is kept of how they were moved."""
    opened = open_table(TABLE, weights).label({0: Labels(("low", "mid", "high"))})
    chunk = opened.chunk(0, opened.n_rows)
    steps = steps_of(FREE, last_key=np.uint64(last_key))
    rows = Rows(chunk, np.array(key, dtype=np.uint64), np.array(sampled))
    task = MeasureTask(asker_for(price, chunk, opened.names), (steps,), np.uint64(0), 0)
    asked = steps.questions(rows)
    base, _ = task.as_they_are(rows)
    (reply,) = task.replies(rows, [asked], base)
    return asked, steps.add_up(rows, asked, reply).kept[:, 3:]


def test_sampled_rows_are_moved_to_every_level_and_those_without_one_stay():
    asked, increments = moved(KEY, [0, 2, 3, 5])
    assert asked.asides[0].rows.tolist() == [0, 2, 3, 5]
    assert asked.n_asked(6) == 2 * 6 + 3 * 4
    scale = np.array([1.0, 3.0, 0.0, 6.0])[:, None]
    np.testing.assert_array_equal(increments, scale * np.array([9.0, 90.0]))


def test_rows_with_larger_keys_are_not_moved_and_equal_rows_once():
    asked, increments = moved([4, 4, 9, 1, 2, 2], np.arange(6), last_key=4)
    assert asked.asides[0].rows.tolist() == [0, 3, 4]  # rows of one key are alike
    scale = np.array([1.0, 1.0, np.nan, 0.0, 5.0, 5.0])[:, None]
    np.testing.assert_array_equal(increments, scale * np.array([9.0, 90.0]))


def test_a_chunk_without_sampled_rows_keeps_nothing():
    asked, increments = moved(KEY, np.empty(0, dtype=int))
    assert asked.n_asked(6) == 2 * 6
    assert increments.shape == (0, 2)


def test_how_rows_differ_at_levels_without_an_order_is_centred_ice():
    rng = np.random.default_rng(0)
    names, scale = rng.choice(["low", "mid", "high"], 90), rng.uniform(1, 2, 90)
    table = pd.DataFrame({"size": names, "scale": scale})
    effect = rhale.explain(price, table, features=["size"])["size"]
    assert not effect.has_order
    curves = table["scale"].to_numpy()[:, None] * [VALUE[name] for name in effect.levels]
    shares = table["size"].value_counts(normalize=True)[list(effect.levels)].to_numpy()
    centred = curves - (curves @ shares)[:, None]
    np.testing.assert_allclose(effect.spread(), centred.std(axis=0, ddof=1), rtol=1e-9)


# --- regions -------------------------------------------------------------------------------------


def region(levels, level, down, up, **about):
    """The effect in some rows, from their steps."""
    steps, total = steps_of(levels), measure_levels(level, down, up, levels.size)
    none = no_sampled(steps)
    known = {"outputs": ("y0",), "notes": (), "weight": none.weight, "last_key": KEY[0]}
    known |= {"sampled": none, "survey": None}
    return steps.conclude_region(total, none.kept, SimpleNamespace(**known | about), 0)


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
    kept = np.array(
        [[1.0, 0, 0, 10, 20], [5, 11, 21, 12, 22], [np.nan, 0, 0, 0, 0], [9, 13, 23, 0, 0]]
    )
    searched = SampledRows(np.hstack([kept, np.zeros((4, 4))]), np.ones(4), KEY[:4])
    first, second = steps_of(levels, 2).targets(searched, 2)
    told = sorted(zip(first.row, first.x, first.step, first.effects, strict=True))
    assert told == [(0, 0, 0, 10), (1, 1, 0, 11), (1, 1, 1, 12), (3, 2, 1, 13)]
    assert sorted(second.effects.tolist()) == [20, 21, 22, 23]
    assert not first.shared.any()
    assert first.roughness == 0.0
