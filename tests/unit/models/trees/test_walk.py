"""Flat trees and their walk, against trees walked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from rhale.models.trees import walk as tree_walk
from rhale.models.trees.forest import Categories, Tree, build_forest
from rhale.models.trees.walk import walk

N_FEATURES = 3
VALUES = np.array([-np.inf, -2.0, -1e-40, 0.0, 0.5, 1.0, 2.0, 7.0, 1e9, np.inf, np.nan])


def grow(rng, depth, leaf_size=1, *, category=False):
    """A random tree, its nodes in the order in which they are met."""
    rows, sets = [], {}

    def add(level):
        place = len(rows)
        rows.append(None)
        value = rng.normal(size=leaf_size)
        if level == depth or rng.random() < 0.2:
            rows[place] = (-1, 0.0, -1, -1, False, value)
            return place
        feature, threshold = int(rng.integers(N_FEATURES)), rng.choice([-2.0, 0.0, 0.5, 1.0, 7.0])
        missing = bool(rng.integers(2))
        if category and feature == 0:
            known = rng.permutation(70)
            sets[place] = Categories(known[:20], known[20:50], bool(rng.integers(2)))
        left = add(level + 1)
        rows[place] = (feature, threshold, left, add(level + 1), missing, 0 * value)
        return place

    add(0)
    return Tree(*(np.array(column) for column in zip(*rows, strict=True)), sets)


def leaf_by_hand(tree, row):
    node = 0
    while tree.feature[node] >= 0:
        x, known = row[tree.feature[node]], tree.sets.get(node)
        if np.isnan(x):
            is_left = tree.missing_left[node]
        elif known is not None:
            is_left = (int(x) in known.left) if x > -1 else known.other_left
            if x > -1 and int(x) not in known.left and int(x) not in known.right:
                is_left = known.other_left
        else:
            is_left = x < tree.threshold[node]
        node = tree.left[node] if is_left else tree.right[node]
    return tree.value[node]


def answers_by_hand(trees, rows, n_outputs):
    sums = np.zeros((len(rows), n_outputs))
    for tree in trees:
        for r, row in enumerate(rows):
            value = leaf_by_hand(tree, row)
            sums[r, tree.target : tree.target + len(value)] += value
    return sums


@given(
    seed=st.integers(0, 10**6),
    n_trees=st.integers(0, 5),
    depth=st.integers(0, 6),
    category=st.booleans(),
    n_changes=st.integers(1, 9),
)
def test_every_change_reaches_the_leaves_it_reaches_by_hand(
    seed, n_trees, depth, category, n_changes
):
    rng = np.random.default_rng(seed)
    trees = [grow(rng, depth, category=category) for _ in range(n_trees)]
    rows = rng.choice(VALUES, (40, N_FEATURES))
    features = rng.integers(N_FEATURES, size=n_changes)
    values = rng.choice(VALUES, (n_changes, 40))
    if category:
        rows[:, 0] = rng.choice([np.nan, *range(-3, 90)], 40)
        values[features == 0] = rng.choice([np.nan, *range(-3, 90)], 40)
    found = walk(build_forest(trees, N_FEATURES), rows, features, values, np.full(1, 5.0))
    for answer, feature, value in zip(found, features, values, strict=True):
        varied = rows.copy()
        varied[:, feature] = value
        assert answer == pytest.approx(5.0 + answers_by_hand(trees, varied, 1), abs=1e-12)


def test_rows_of_several_blocks_are_answered_like_rows_of_one(monkeypatch):
    rng = np.random.default_rng(4)
    trees = [grow(rng, 6, category=True) for _ in range(9)]
    rows, values = rng.choice(VALUES, (50, 3)), rng.choice(VALUES, (4, 50))
    rows[:, 0] = rng.integers(0, 70, 50)
    features = np.array([2, 1, 2, 1])
    whole = walk(build_forest(trees, 3), rows, features, values, np.zeros(1))
    monkeypatch.setattr(tree_walk, "MAX_WALK_BLOCK_ROWS", 17)
    pieces = walk(build_forest(trees, 3), rows, features, values, np.zeros(1))
    assert pieces.tolist() == whole.tolist()


@pytest.mark.parametrize("leaf_size", [1, 3])
def test_leaves_add_to_one_output_or_to_all(leaf_size):
    rng = np.random.default_rng(0)
    trees = [grow(rng, 4, leaf_size) for _ in range(6)]
    if leaf_size == 1:
        trees = [Tree(*list(vars(t).values())[:6], {}, i % 3) for i, t in enumerate(trees)]
    rows, values = rng.normal(size=(30, 3)), rng.normal(size=(1, 30))
    found = walk(build_forest(trees, 3, n_outputs=3), rows, np.array([1]), values, np.zeros(3))
    varied = np.column_stack([rows[:, 0], values[0], rows[:, 2]])
    assert found[0] == pytest.approx(answers_by_hand(trees, varied, 3), abs=1e-12)


def test_the_same_leaves_give_the_same_bits_whatever_the_path():
    rng = np.random.default_rng(1)
    trees = [grow(rng, 5) for _ in range(30)]
    forest, rows = build_forest(trees, 3), rng.normal(size=(50, 3))
    values = rng.normal(size=(3, 50))
    changed = walk(forest, rows, np.arange(3), values, np.zeros(1))
    for feature in range(3):
        varied = rows.copy()
        varied[:, feature] = values[feature]
        own = walk(forest, varied, np.zeros(1, int), varied[:, 0][None].copy(), np.zeros(1))
        assert changed[feature].tolist() == own[0].tolist()


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e250])
def test_leaves_of_any_size_add_up(scale):
    rng = np.random.default_rng(2)
    trees = [grow(rng, 4) for _ in range(9)]
    scaled = [Tree(*list(vars(t).values())[:5], t.value * scale) for t in trees]
    rows, values = rng.normal(size=(20, 3)), rng.normal(size=(1, 20))
    plain, found = (
        walk(build_forest(ts, 3), rows, np.array([2]), values, np.zeros(1))
        for ts in (trees, scaled)
    )
    assert found == pytest.approx(plain * scale, rel=1e-9, abs=1e-14 * scale)


def test_single_precision_rounds_rows_before_they_are_compared():
    threshold = float(np.float32(0.1))
    tree = Tree(
        np.array([0, -1, -1]), np.array([threshold, 0, 0]), np.array([1, -1, -1]),
        np.array([2, -1, -1]), np.zeros(3, bool), np.array([[0.0], [1.0], [2.0]]),
    )  # fmt: skip
    rows = np.array([[0.1], [0.2]])  # 0.1 < float32(0.1) as a double, equal to it in single
    for is_single, expected in ((False, 1.0), (True, 2.0)):
        forest = build_forest([tree], 1, is_single=is_single)
        found = walk(forest, rows, np.zeros(1, int), rows.T.copy(), np.zeros(1))
        assert found[0, 0, 0] == expected


def test_a_change_of_a_column_that_no_tree_sees_changes_nothing():
    rng = np.random.default_rng(3)
    forest, rows = build_forest([grow(rng, 4)], 3), rng.normal(size=(10, 3))
    found = walk(forest, rows, np.array([-1, 0]), np.zeros((2, 10)), np.zeros(1))
    own = walk(forest, rows, np.array([0]), rows[:, 0][None].copy(), np.zeros(1))
    assert found[0].tolist() == own[0].tolist()


def test_the_first_compilation_is_announced_to_whoever_listens(monkeypatch, caplog):
    monkeypatch.setattr(tree_walk, "will_compile", lambda _: True)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4, 3))
    walk(build_forest([grow(rng, 3)], 3), rows, np.array([0]), rows[:, :1].T.copy(), np.zeros(1))
    assert [r.name for r in caplog.records] == ["rhale"]
    assert "compiling the code for trees" in caplog.text
