"""Walked jumps against predictions on both sides of every threshold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from tests.jumps_by_hand import ask_about, assert_same_jumps, count_some, jumps_by_hand
from tests.unit.models.trees.test_walk import N_FEATURES, grow

from rhale.effects.jumps import N_JUMP_GROUPS, JumpRows
from rhale.errors import BadPredictionError
from rhale.models.trees import jump_walk
from rhale.models.trees.forest import Tree, build_forest
from rhale.models.trees.jump_walk import walk_jumps
from rhale.models.trees.links import LINKS, OutputTransform
from rhale.models.trees.walk import walk

N_ROWS = 60
THRESHOLDS = np.array([-2.0, -1.5, -1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0])


def table(rng, *, category=False):
    """Three columns; some values are missing, many lie on thresholds."""
    rows = np.where(
        rng.random((N_ROWS, N_FEATURES)) < 0.5,
        rng.choice(THRESHOLDS, (N_ROWS, N_FEATURES)),
        rng.normal(size=(N_ROWS, N_FEATURES)),
    )
    rows[rng.random(rows.shape) < 0.1] = np.nan
    if category:
        rows[:, 0] = rng.choice([np.nan, *range(-3, 90)], N_ROWS)
    return rows


def spread_thresholds(rng, tree):
    """The same tree with more different thresholds."""
    return replace(tree, threshold=rng.choice(THRESHOLDS, len(tree.threshold)))


def cuts_of(forest, feature):
    return forest.cuts[forest.cut_starts[feature] : forest.cut_starts[feature + 1]]


def plainly(forest, *, link=None, factor=1.0, chosen=None):
    """How sums become answers: as they are, or through a link that stays below 1."""
    chosen = tuple(range(forest.n_outputs)) if chosen is None else chosen
    bound = 1.0 if link else 2 * forest.largest_sum * factor
    function = None if link is None else (lambda sums: LINKS[link](sums, 1.0))
    return OutputTransform(np.full(forest.n_outputs, 0.25), function, factor, chosen, bound)


def predict_by_walk(forest, rows, feature, answering):
    """A function of new values of one column, by the other walk."""

    def predict(values):
        sums = walk(forest, rows, np.array([feature]), values[None], answering.base)[0]
        answers = sums * answering.factor if answering.link is None else answering.link(sums)
        return answers[:, list(answering.chosen)]

    return predict


def check(forest, rows, answering, features=(1, 2), **windows):
    questions = [ask_about(f, rows[:, f], cuts_of(forest, f), **windows) for f in features]
    shares = count_some(len(rows))
    replies = walk_jumps(forest, rows, questions, np.array(features), shares, answering)
    for feature, question, reply in zip(features, questions, replies, strict=True):
        predict = predict_by_walk(forest, rows, feature, answering)
        jumps = jumps_by_hand(predict, question, cuts_of(forest, feature))
        assert_same_jumps(reply, question, shares, jumps, 1e-11)


@given(
    seed=st.integers(0, 10**6),
    n_trees=st.integers(0, 5),
    depth=st.integers(0, 6),
    category=st.booleans(),
    most=st.sampled_from([1000, 6, 2]),
)
def test_jumps_and_slopes_are_differences_of_predictions(seed, n_trees, depth, category, most):
    rng = np.random.default_rng(seed)
    trees = [grow(rng, depth, category=category) for _ in range(n_trees)]
    forest = build_forest([spread_thresholds(rng, t) for t in trees], N_FEATURES)
    features = (1, 2) if category else (2, 0, 1)
    rows = table(rng, category=category)
    check(forest, rows, plainly(forest, factor=3.0), features, most=most, share=0.3)


@given(
    seed=st.integers(0, 10**6),
    link=st.sampled_from([None, "softmax", "sigmoid"]),
    chosen=st.sampled_from([(0, 1, 2), (2, 0), (1,)]),
    leaf_size=st.sampled_from([1, 3]),
)
def test_several_outputs_are_linked_together(seed, link, chosen, leaf_size):
    rng = np.random.default_rng(seed)
    trees = [spread_thresholds(rng, grow(rng, 4, leaf_size)) for _ in range(6)]
    if leaf_size == 1:
        trees = [replace(t, target=i % 3) for i, t in enumerate(trees)]
    forest = build_forest(trees, N_FEATURES, n_outputs=3)
    check(forest, table(rng), plainly(forest, link=link, chosen=chosen), (0, 1, 2), wide=0.6)


@given(seed=st.integers(0, 10**6), wide=st.floats(0, 1))
def test_windows_of_any_width_are_answered(seed, wide):
    rng = np.random.default_rng(seed)
    forest = build_forest([spread_thresholds(rng, grow(rng, 5)) for _ in range(4)], N_FEATURES)
    check(forest, table(rng), plainly(forest), (0, 1, 2), wide=wide, most=4)


def big_case(seed=0, n_trees=12):
    rng = np.random.default_rng(seed)
    forest = build_forest(
        [spread_thresholds(rng, grow(rng, 6)) for _ in range(n_trees)], N_FEATURES
    )
    rows = np.vstack([table(rng) for _ in range(10)])
    questions = [ask_about(f, rows[:, f], cuts_of(forest, f)) for f in range(3)]
    return forest, rows, questions, count_some(len(rows))


def take(question, rows):
    """The same question about some of the rows."""
    return replace(question, mark=question.mark[rows])


@pytest.mark.parametrize("link", [None, "sigmoid"])
def test_chunks_in_any_order_add_up_to_the_same_bits(link):
    forest, rows, questions, shares = big_case()
    answering, features = plainly(forest, link=link), np.arange(3)
    whole = walk_jumps(forest, rows, questions, features, shares, answering)
    order = np.array_split(np.random.default_rng(1).permutation(len(rows)), 7)
    parts = [
        walk_jumps(
            forest,
            rows[mine],
            [take(q, mine) for q in questions],
            features,
            JumpRows(shares.group[mine], shares.share[mine]),
            answering,
        )
        for mine in order
    ]
    for i, reply in enumerate(whole):
        added = parts[0][i].sums
        for part in parts[1:]:
            added = added + part[i].sums
        for name in ("jumps", "near", "row_shares"):
            assert getattr(added, name).tolist() == getattr(reply.sums, name).tolist()
        slopes = np.concatenate([part[i].slopes for part in parts], axis=1)
        assert slopes.tolist() == reply.slopes[:, np.concatenate(order)].tolist()


def test_rows_of_several_blocks_are_answered_like_rows_of_one(monkeypatch):
    forest, rows, questions, shares = big_case(3)
    results = []
    for most in (512, 17):
        monkeypatch.setattr(jump_walk, "MAX_JUMP_BLOCK_ROWS", most)
        answering = plainly(forest)
        results.append(walk_jumps(forest, rows, questions, np.arange(3), shares, answering))
    for one, other in zip(*results, strict=True):
        assert one.sums.jumps.tolist() == other.sums.jumps.tolist()
        assert one.slopes.tolist() == other.slopes.tolist()


def full_tree(depth):
    """A tree of 2 ** depth leaves: thresholds on feature 2 at its root, on any below."""
    rng, n_splits = np.random.default_rng(depth), 2**depth - 1
    feature = np.concatenate([[2], rng.integers(0, 3, n_splits - 1), np.full(n_splits + 1, -1)])
    child = np.where(feature >= 0, 2 * np.arange(feature.size) + 1, -1)
    value = rng.normal(size=(feature.size, 1))
    threshold, missing = rng.choice(THRESHOLDS, feature.size), rng.random(feature.size) < 0.5
    return Tree(feature, threshold, child, np.where(child >= 0, child + 1, -1), missing, value)


@pytest.mark.parametrize("link", [None, "sigmoid"])
def test_rows_that_are_sorted_for_large_trees_are_answered_like_any(monkeypatch, link):
    forest = build_forest([full_tree(6)] * 3, N_FEATURES)
    rows = np.vstack([table(np.random.default_rng(seed)) for seed in range(4)])
    questions = [ask_about(f, rows[:, f], cuts_of(forest, f)) for f in range(3)]
    results, orders = [], []
    for most in (512, 126):  # of the 127 nodes of a tree
        monkeypatch.setattr(jump_walk, "MAX_JUMP_BLOCK_ROWS", most)
        orders.append(jump_walk.order_rows(forest, rows))
        asked = forest, rows, questions, np.arange(3), count_some(len(rows))
        results.append(walk_jumps(*asked, plainly(forest, link=link)))
    assert orders[0] is None
    sorted_rows = rows[orders[1], 2]
    assert np.all(np.diff(sorted_rows[~np.isnan(sorted_rows)]) >= 0)
    for one, other in zip(*results, strict=True):
        assert one.sums.jumps.tolist() == other.sums.jumps.tolist()
        assert one.sums.row_shares.tolist() == other.sums.row_shares.tolist()
        assert one.slopes.any()
        assert one.slopes.tolist() == other.slopes.tolist()


@pytest.mark.parametrize(("depth", "n_rows"), [(5, 240), (6, 126)])
def test_rows_of_small_trees_and_of_one_block_stay_in_order(monkeypatch, depth, n_rows):
    monkeypatch.setattr(jump_walk, "MAX_JUMP_BLOCK_ROWS", 126)
    forest = build_forest([full_tree(depth)] * 3, N_FEATURES)
    assert jump_walk.order_rows(forest, np.zeros((n_rows, N_FEATURES))) is None


def test_lists_that_are_too_short_are_made_longer(monkeypatch):
    forest, rows, questions, shares = big_case(4)
    results = []
    for places in (32, 1):
        monkeypatch.setattr(jump_walk, "PARTS_OF_A_ROW", places)
        monkeypatch.setattr(jump_walk, "ENTRIES", places)
        answering = plainly(forest)
        results.append(walk_jumps(forest, rows, questions, np.arange(3), shares, answering))
    for one, other in zip(*results, strict=True):
        assert one.sums.jumps.tolist() == other.sums.jumps.tolist()
        assert one.slopes.tolist() == other.slopes.tolist()


def test_more_questions_than_one_walk_takes_are_answered(monkeypatch):
    forest, rows, questions, shares = big_case(5)
    results = []
    for most in (2047, 2):
        monkeypatch.setattr(jump_walk, "MOST_QUESTIONS", most)
        results.append(walk_jumps(forest, rows, questions, np.arange(3), shares, plainly(forest)))
    for one, other in zip(*results, strict=True):
        assert one.sums.jumps.tolist() == other.sums.jumps.tolist()


def stump(low, high):
    """Feature 0 below 0 gives `low`, all else gives `high`."""
    return Tree(
        np.array([0, -1, -1]), np.array([0.0, 0, 0]), np.array([1, -1, -1]),
        np.array([2, -1, -1]), np.zeros(3, bool), np.array([[0.0], [low], [high]]),
    )  # fmt: skip


@pytest.mark.parametrize("n_trees", [1, 7])
def test_the_largest_jumps_of_a_million_rows_do_not_overflow(n_trees):
    forest = build_forest([stump(-(2.0**40), 2.0**40)] * n_trees, 1)
    rows = np.linspace(-1, 1, 64)[:, None]
    question = ask_about(0, rows[:, 0], cuts_of(forest, 0), share=1.0, wide=1.0)
    # as if each of the 64 rows stood for 2**14 others in one group
    shares = JumpRows(np.zeros(64, np.uint8), np.full(64, 1 / 64))
    reply = walk_jumps(forest, rows, [question], np.array([0]), shares, plainly(forest))[0]
    first, last = question.marks.near
    counted = (first == 0) & (last == 1) & (question.mark >= 0)
    expected = n_trees * 2.0**41 * counted.sum() / 64
    assert reply.sums.jumps.shape == (N_JUMP_GROUPS, 1, 1)
    assert reply.sums.jumps[0, 0, 0] * reply.sums.unit == pytest.approx(expected, rel=1e-12)
    full = 2 * forest.largest_sum / reply.sums.unit  # a sum of shares of 1 of the largest jump
    assert full < 2**62


def test_a_column_that_no_tree_sees_has_no_jumps():
    forest = build_forest([stump(1.0, 2.0)], 2)
    rows = np.random.default_rng(0).normal(size=(40, 2))
    questions = [ask_about(1, rows[:, 1], np.empty(0)), ask_about(0, rows[:, 0], np.zeros(1))]
    shares = count_some(40)
    for features in ([1, 0], [-1, 0]):
        replies = walk_jumps(forest, rows, questions, np.array(features), shares, plainly(forest))
        assert replies[0].sums.jumps.shape == (N_JUMP_GROUPS, 0, 1)
        assert not replies[0].slopes.any()
        assert replies[0].sums.row_shares.sum() > 0
        assert replies[1].sums.jumps.sum() > 0


def test_jumps_that_cancel_are_exactly_zero():
    forest = build_forest([stump(0.1, 0.7), stump(0.7, 0.1)], 1)
    rows = np.random.default_rng(0).normal(size=(40, 1))
    question = ask_about(0, rows[:, 0], np.zeros(1), wide=1.0)
    reply = walk_jumps(forest, rows, [question], np.array([0]), count_some(40), plainly(forest))[0]
    assert not reply.sums.jumps.any()
    assert not reply.slopes.any()


@pytest.mark.parametrize(("high", "words"), [(720.0, "nan or infinity"), (30.0, "jumps by 1.07e")])
def test_answers_beyond_all_bounds_are_refused(high, words):
    forest = build_forest([stump(0.0, high)], 1)
    rows = np.random.default_rng(0).normal(size=(40, 1))
    question = ask_about(0, rows[:, 0], np.zeros(1), wide=1.0)

    def link(sums):
        return LINKS["exponential"](sums, 1.0)

    answering = OutputTransform(np.zeros(1), link, 1.0, (0,), 2.0**20)
    with pytest.raises(BadPredictionError, match=words):
        walk_jumps(forest, rows, [question], np.array([0]), count_some(40), answering)


def walk_little():
    forest = build_forest([stump(1.0, 2.0)], 1)
    rows = np.random.default_rng(0).normal(size=(40, 1))
    question = ask_about(0, rows[:, 0], np.zeros(1))
    walk_jumps(forest, rows, [question], np.array([0]), count_some(40), plainly(forest))


def test_the_first_compilation_is_announced_to_whoever_listens(monkeypatch, caplog):
    monkeypatch.setattr(jump_walk, "will_compile", lambda _: True)
    walk_little()
    assert "compiling the code for tree jumps" in caplog.text
