"""Walked pairs against predictions at the four corners."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from tests.pair_corners import (
    ask_pairs,
    ask_side,
    assert_same_reply,
    cells_of,
    differences_by_hand,
    levels_of,
)
from tests.unit.models.trees.test_walk import N_FEATURES, answers_by_hand, grow

from rhale.models.trees import pair_walk
from rhale.models.trees.forest import Tree, build_forest
from rhale.models.trees.links import LINKS, OutputTransform
from rhale.models.trees.pair_walk import walk_pairs
from rhale.models.trees.walk import walk

N_ROWS = 14
THRESHOLDS = np.array([-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0])


def table(rng, n_rows=N_ROWS, *, category=False):
    """Three columns; some values are missing, many lie on thresholds."""
    shape = n_rows, N_FEATURES
    rows = np.where(rng.random(shape) < 0.4, rng.choice(THRESHOLDS, shape), rng.normal(size=shape))
    rows[rng.random(shape) < 0.1] = np.nan
    rows[0] = rng.normal(size=N_FEATURES)
    if category:
        rows[:, 0] = rng.choice([np.nan, *range(-1, 75)], n_rows)
        rows[0, 0] = 3
    return rows


def grow_some(rng, n_trees, depth=5, leaf_size=1, *, category=False):
    """Trees with more different thresholds than `grow` has."""
    trees = [grow(rng, depth, leaf_size, category=category) for _ in range(n_trees)]
    return [replace(t, threshold=rng.choice(THRESHOLDS, len(t.threshold))) for t in trees]


def ask(rows, levels=(), n_cells=3, columns=(0, 1, 2), pairs=None):
    """Questions about columns, some as levels."""
    axes = [
        levels_of(rows[:, c]) if c in levels else cells_of(rows[:, c], n_cells) for c in columns
    ]
    sides = [ask_side(c, rows[:, c], a) for c, a in zip(columns, axes, strict=True)]
    return ask_pairs(sides, pairs)


def plainly(n_outputs, *, link=None, factor=1.0, chosen=None):
    """How sums become answers."""
    chosen = tuple(range(n_outputs)) if chosen is None else chosen
    function = None if link is None else (lambda sums: LINKS[link](sums, 1.0))
    return OutputTransform(np.full(n_outputs, 0.25), function, factor, chosen, 1.0)


def ask_forest(forest, rows, question, answering):
    """The walk under test."""
    values = np.array([v for s in question.sides for v in (s.low, s.high)])
    features = np.array([s.column for s in question.sides])
    return walk_pairs(forest, (rows, values), question, features, answering)


def by_hand(sums_of, rows, question, answering):
    """Corners of sums (n_rows, n_outputs) of rows."""

    def predict(changes):
        varied = rows.copy()
        for column, values in changes:
            varied[:, column] = values
        sums = sums_of(varied)
        if answering.link is None:
            return (sums * answering.factor)[:, list(answering.chosen)]
        return answering.link(sums + answering.base)[:, list(answering.chosen)]

    return differences_by_hand(predict, lambda column: rows[:, column], question)


@given(
    seed=st.integers(0, 10**6),
    n_trees=st.integers(0, 4),
    depth=st.integers(0, 6),
    category=st.booleans(),
    levels=st.sets(st.integers(0, 2)),
    n_cells=st.integers(1, 4),
)
def test_differences_are_those_of_the_corners_by_hand(
    seed, n_trees, depth, category, levels, n_cells
):
    rng = np.random.default_rng(seed)
    trees = grow_some(rng, n_trees, depth, category=category)
    rows, answering = table(rng, category=category), plainly(1, factor=3.0)
    question = ask(rows, levels, n_cells)
    found = ask_forest(build_forest(trees, N_FEATURES), rows, question, answering)
    expected = by_hand(lambda z: answers_by_hand(trees, z, 1), rows, question, answering)
    assert_same_reply(found, expected, 1e-12)
    own = 3.0 * (answers_by_hand(trees, rows, 1) + answering.base)
    assert found.answers == pytest.approx(own, abs=1e-12)


def walked_sums(forest):
    """Sums of rows by the other walk."""

    def sums_of(rows):
        zeros = np.zeros(forest.n_outputs)
        return walk(forest, rows, np.zeros(1, int), rows[:, 0][None].copy(), zeros)[0]

    return sums_of


@given(
    seed=st.integers(0, 10**6),
    chosen=st.sampled_from([(0, 1, 2), (2, 0), (1,)]),
    leaf_size=st.sampled_from([1, 3]),
)
def test_leaves_add_to_one_output_or_to_all(seed, chosen, leaf_size):
    rng = np.random.default_rng(seed)
    trees = grow_some(rng, 6, 4, leaf_size)
    if leaf_size == 1:
        trees = [replace(t, target=i % 3) for i, t in enumerate(trees)]
    forest, rows = build_forest(trees, N_FEATURES, n_outputs=3), table(rng, 60)
    question, answering = ask(rows, {1}), plainly(3, chosen=chosen)
    found = ask_forest(forest, rows, question, answering)
    expected = by_hand(walked_sums(forest), rows, question, answering)
    assert_same_reply(found, expected, 1e-11)
    own = (walked_sums(forest)(rows) + answering.base)[:, list(chosen)]
    assert found.answers == pytest.approx(own, abs=1e-11)


@given(seed=st.integers(0, 10**6), n_cells=st.integers(1, 9))
def test_trees_of_one_split_have_no_pairs_at_all(seed, n_cells):
    rng = np.random.default_rng(seed)
    forest, rows = build_forest(grow_some(rng, 40, 1), N_FEATURES), table(rng, 50)
    question = ask(rows, {2}, n_cells)
    found = ask_forest(forest, rows, question, plainly(1))
    assert not any(mixed.any() for mixed in found.mixed)


@given(seed=st.integers(0, 10**6))
def test_what_two_other_columns_do_together_changes_nothing_of_a_pair(seed):
    rng = np.random.default_rng(seed)
    trees = grow_some(rng, 5)
    others = [replace(t, feature=np.where(t.feature == 0, 2, t.feature)) for t in grow_some(rng, 5)]
    rows = table(rng, 50)
    question = ask(rows, n_cells=4)
    alone, beside = (
        ask_forest(build_forest(some, N_FEATURES), rows, question, plainly(1))
        for some in (trees, [*trees, *others])
    )
    for pair, one, other in zip(question.pairs, alone.mixed, beside.mixed, strict=True):
        if 0 in pair:
            assert one == pytest.approx(other, abs=1e-14)


def test_only_the_pairs_that_are_asked_for_are_answered_either_way_round():
    rng = np.random.default_rng(5)
    forest, rows = build_forest(grow_some(rng, 9), N_FEATURES), table(rng, 80)
    every = ask_forest(forest, rows, ask(rows, {1}), plainly(1))
    some = ask_forest(forest, rows, ask(rows, {1}, pairs=[(2, 0), (1, 0)]), plainly(1))
    assert len(some.mixed) == 2
    assert some.mixed[0].tolist() == every.mixed[1].tolist()
    assert some.mixed[1].tolist() == every.mixed[0].tolist()
    assert np.abs(some.mixed[0]).max() > 0


def test_two_sides_with_levels_number_their_ways_first_side_first():
    rng = np.random.default_rng(6)
    forest, rows = (
        build_forest(grow_some(rng, 9), N_FEATURES),
        rng.integers(-2, 3, (80, 3)).astype(float),
    )
    one = ask_forest(forest, rows, ask(rows, {0, 1}, pairs=[(0, 1)]), plainly(1)).mixed[0]
    other = ask_forest(forest, rows, ask(rows, {0, 1}, pairs=[(1, 0)]), plainly(1)).mixed[0]
    assert one.tolist() == other[..., [0, 2, 1, 3]].tolist()
    assert (np.abs(one).max(axis=(0, 1)) > 0).all()


def test_rows_of_several_blocks_are_answered_like_rows_of_one(monkeypatch):
    rng = np.random.default_rng(4)
    forest = build_forest(grow_some(rng, 12, category=True), N_FEATURES)
    rows = table(rng, 150, category=True)
    question = ask(rows, {0}, n_cells=4)
    whole = ask_forest(forest, rows, question, plainly(1))
    monkeypatch.setattr(pair_walk, "MAX_PAIR_BLOCK_ROWS", 17)
    pieces = ask_forest(forest, rows, question, plainly(1))
    assert [m.tolist() for m in pieces.mixed] == [m.tolist() for m in whole.mixed]
    assert [s.tolist() for s in pieces.single] == [s.tolist() for s in whole.single]


def test_chunks_that_are_walked_at_a_time_do_not_disturb_each_other():
    rng = np.random.default_rng(8)
    forest = build_forest(grow_some(rng, 30), N_FEATURES)
    tables = [table(rng, 400) for _ in range(4)]

    def work(rows):
        reply = ask_forest(forest, rows, ask(rows, {1}, n_cells=6), plainly(1))
        return [m.tolist() for m in (*reply.mixed, *reply.single)]

    with ThreadPoolExecutor(4) as pool:
        at_a_time = list(pool.map(work, tables * 3))
    assert at_a_time == [work(rows) for rows in tables] * 3


def test_rows_that_cannot_be_written_are_walked_without_compiling_anew():
    rng = np.random.default_rng(9)
    forest, rows = build_forest(grow_some(rng, 5), N_FEATURES), table(rng, 40)
    question = ask(rows)
    before = ask_forest(forest, rows, question, plainly(1))
    n_compiled = len(pair_walk.walk_pair_rows.signatures)
    locked = rows.copy(order="F")
    locked.flags.writeable = False
    found = ask_forest(forest, locked, question, plainly(1))
    assert [m.tolist() for m in found.mixed] == [m.tolist() for m in before.mixed]
    assert len(pair_walk.walk_pair_rows.signatures) == n_compiled


def test_more_features_than_a_word_has_bits_are_answered():
    rng = np.random.default_rng(7)
    n = 130
    trees = [
        replace(t, feature=np.where(t.feature < 0, -1, rng.integers(0, n, len(t.feature))))
        for t in grow_some(rng, 60, 6)
    ]
    forest, rows = build_forest(trees, n), rng.normal(size=(40, n))
    question = ask(rows, {5, 100}, columns=tuple(range(n)))
    found = ask_forest(forest, rows, question, plainly(1))
    touched = [p for p, m in enumerate(found.mixed) if m.any()]
    assert len(touched) > 20
    some = ask_pairs(question.sides, question.pairs[[*touched[:8], *touched[-8:], 0, 1]])
    expected = by_hand(walked_sums(forest), rows, some, plainly(1))
    for (j, k), mixed in zip(some.pairs.tolist(), expected.mixed, strict=True):
        place = question.pairs.tolist().index([j, k])
        assert found.mixed[place] == pytest.approx(mixed, abs=1e-12)


def corner(value):
    """Adds a value where columns 0 and 1 are both at least 0; nothing elsewhere."""
    return Tree(
        np.array([0, -1, 1, -1, -1]),
        np.zeros(5),
        np.array([1, -1, 3, -1, -1]),
        np.array([2, -1, 4, -1, -1]),
        np.zeros(5, bool),
        np.array([[0.0], [0.0], [0.0], [0.0], [value]]),
    )


@pytest.mark.parametrize("size", [1.0, 1e-300, 1e250])
def test_differences_of_sums_that_are_as_large_as_can_be_do_not_overflow(size):
    rows = np.array([[-1.0, -1.0], [0.0, 1.0]])
    question = ask(rows, n_cells=1, columns=(0, 1))
    # 1 in one corner, -1 beside it, 1 opposite: four sums of full size add up
    trees = [corner(size)] * 3
    flipped = replace(corner(0.0), value=np.array([[0.0], [size], [0], [-size], [size]]))
    found = ask_forest(build_forest([*trees, flipped], 2), rows, question, plainly(1))
    sums = np.array([[size, size], [-size, 4 * size]])
    expected = sums[1, 1] - sums[1, 0] - sums[0, 1] + sums[0, 0]
    assert found.mixed[0].ravel() / size == pytest.approx([expected / size] * 2, rel=1e-9)


def test_a_side_that_no_tree_sees_changes_nothing():
    rng = np.random.default_rng(3)
    forest, rows = build_forest(grow_some(rng, 4), N_FEATURES), table(rng, 30)
    question = ask(rows)
    values = np.array([v for s in question.sides for v in (s.low, s.high)])
    features = np.array([0, -1, 2])
    found = walk_pairs(forest, (rows, values), question, features, plainly(1))
    own = ask_forest(forest, rows, question, plainly(1))
    assert not found.mixed[0].any()
    assert not found.single[1].any()
    assert found.mixed[1].tolist() == own.mixed[1].tolist()


def test_no_rows_have_no_differences():
    forest = build_forest(grow_some(np.random.default_rng(0), 3), N_FEATURES)
    rows = table(np.random.default_rng(1), 30)
    question = ask(rows)
    none = ask_pairs([ask_side(s.column, np.empty(0), s.axis) for s in question.sides])
    found = ask_forest(forest, rows[:0], none, plainly(1))
    assert [m.shape for m in found.mixed] == [(1, 0, 1)] * 3


def test_the_first_compilation_is_announced_to_whoever_listens(monkeypatch, caplog):
    monkeypatch.setattr(pair_walk, "will_compile", lambda _: True)
    rng = np.random.default_rng(0)
    rows = table(rng, 5)
    ask_forest(build_forest(grow_some(rng, 1), N_FEATURES), rows, ask(rows), plainly(1))
    assert [r.name for r in caplog.records] == ["rhale"]
    assert "compiling the code for tree pairs" in caplog.text
