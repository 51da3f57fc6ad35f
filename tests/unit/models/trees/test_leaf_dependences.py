"""Partial dependences counted in leaves, against the mean answers of all combinations of rows."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from tests.unit.models.trees.test_walk import VALUES, grow

from rhale.models.questions import centre, normalise_row_weights
from rhale.models.trees import leaf_dependences
from rhale.models.trees.forest import Tree, build_forest
from rhale.models.trees.leaf_dependences import (
    LeafQuestion,
    add_ranks,
    compute_leaf_dependences,
    count_bits,
    fill_bits,
    lowest_bit,
)
from rhale.models.trees.walk import walk

PAIRS = np.array(list(combinations(range(3), 2)))
EVERYTHING = LeafQuestion(np.arange(3), PAIRS, (0,))


def answer(forest, rows):
    nothing_new = np.ascontiguousarray(rows[:, 0])[None]
    base = np.zeros(forest.n_outputs)
    return walk(forest, rows, np.zeros(1, np.int64), nothing_new, base)[0].T


def mean_held(forest, rows, held, shares):
    """Centred mean answers with some columns of each row put into all rows."""
    n = len(rows)
    mixed = np.tile(rows, (n, 1))
    mixed[:, held] = np.repeat(rows[:, held], n, axis=0)
    return centre(answer(forest, mixed).reshape(-1, n, n) @ shares, shares)


def by_hand(forest, rows, shares):
    single = [mean_held(forest, rows, [j], shares) for j in range(3)]
    rest = [mean_held(forest, rows, [k for k in range(3) if k != j], shares) for j in range(3)]
    pure = [mean_held(forest, rows, [j, k], shares) - single[j] - single[k] for j, k in PAIRS]
    return np.array(single), np.array(rest), np.array(pure)


def assert_equal(found, expected):
    for ours, theirs in zip((found.single, found.rest, found.pure), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@given(
    seed=st.integers(0, 10**6),
    n_trees=st.integers(0, 5),
    depth=st.integers(0, 7),
    category=st.booleans(),
    weighted=st.booleans(),
    n_rows=st.sampled_from([1, 5, 30, 64, 70]),
)
@settings(max_examples=60)
def test_leaves_give_the_means_of_all_combinations(
    seed, n_trees, depth, category, weighted, n_rows
):
    rng = np.random.default_rng(seed)
    forest = build_forest([grow(rng, depth, category=category) for _ in range(n_trees)], 3)
    rows = rng.choice([*VALUES, *rng.normal(size=5)], (n_rows, 3))
    if category:
        rows[:, 0] = rng.choice([np.nan, *range(-3, 90)], n_rows)
    shares = normalise_row_weights(n_rows, rng.uniform(0.1, 2, n_rows) if weighted else None)
    assert_equal(
        compute_leaf_dependences(forest, rows, EVERYTHING, shares), by_hand(forest, rows, shares)
    )


def test_more_codes_than_a_word_holds_are_told_apart():
    rng = np.random.default_rng(1)
    trees = [grow(rng, 8) for _ in range(20)]
    trees = [
        Tree(t.feature, t.threshold + rng.normal(size=len(t.feature)), *list(vars(t).values())[2:])
        for t in trees
    ]
    rows, shares = rng.normal(0, 3, (130, 3)), normalise_row_weights(130, None)
    forest = build_forest(trees, 3)
    assert np.diff(forest.cut_starts).min() > 64
    assert_equal(
        compute_leaf_dependences(forest, rows, EVERYTHING, shares), by_hand(forest, rows, shares)
    )


@pytest.mark.parametrize("leaf_size", [1, 3])
def test_outputs_are_chosen_and_scaled(leaf_size):
    rng = np.random.default_rng(0)
    trees = [grow(rng, 4, leaf_size) for _ in range(6)]
    if leaf_size == 1:
        trees = [Tree(*list(vars(t).values())[:6], {}, i % 3) for i, t in enumerate(trees)]
    forest, rows, shares = (
        build_forest(trees, 3, n_outputs=3),
        rng.normal(size=(20, 3)),
        normalise_row_weights(20, None),
    )
    question = LeafQuestion(np.arange(3), PAIRS, (2, 0), factor=10.0)
    expected = [10 * part[:, [2, 0]] for part in by_hand(forest, rows, shares)]
    assert_equal(compute_leaf_dependences(forest, rows, question, shares), expected)


def test_some_columns_and_pairs_are_some_of_all():
    rng = np.random.default_rng(2)
    forest = build_forest([grow(rng, 5) for _ in range(9)], 3)
    rows, shares = rng.normal(size=(25, 3)), normalise_row_weights(25, None)
    single, rest, pure = by_hand(forest, rows, shares)
    question = LeafQuestion(np.array([2, -1, 0]), np.array([[2, 0], [0, 1]]), (0,))
    nothing, total = np.zeros((1, 25)), centre(answer(forest, rows), shares)
    expected = (
        np.array([single[2], nothing, single[0]]),
        np.array([rest[2], total, rest[0]]),
        np.array([pure[1], nothing]),
    )
    assert_equal(compute_leaf_dependences(forest, rows, question, shares), expected)


def test_trees_of_one_feature_each_have_exactly_no_pairs():
    rng = np.random.default_rng(3)
    trees = [grow(rng, 1) for _ in range(30)]
    found = compute_leaf_dependences(
        build_forest(trees, 3),
        rng.normal(size=(40, 3)),
        EVERYTHING,
        normalise_row_weights(40, None),
    )
    assert not found.pure.any()
    assert found.single.any()


@given(st.integers(1, 2**64 - 1))
def test_bits_are_counted_and_found(number):
    word = np.uint64(number)
    assert int(count_bits(word)) == number.bit_count()
    assert int(lowest_bit(word)) == (number & -number).bit_length() - 1


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_an_amount_goes_to_all_ranks_of_a_set(members):
    octets = np.packbits(members, bitorder="little")
    words = np.pad(octets, (0, -len(octets) % 8)).view(np.uint64)
    steps = np.zeros(len(members) + 1)
    add_ranks(steps, words, 2.5)
    assert np.cumsum(steps)[:-1].tolist() == [2.5 * m for m in members]


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 128])
def test_the_first_bits_are_filled(n):
    words = np.full(2, 7, dtype=np.uint64)
    fill_bits(words, n)
    assert int(words[0]) + (int(words[1]) << 64) == 2**n - 1


def test_the_first_compilation_is_announced_and_later_runs_are_not(monkeypatch, caplog):
    forest, shares = (
        build_forest([grow(np.random.default_rng(0), 2)], 3),
        normalise_row_weights(4, None),
    )
    compute_leaf_dependences(forest, np.zeros((4, 3)), EVERYTHING, shares)
    caplog.clear()
    compute_leaf_dependences(forest, np.zeros((4, 3)), EVERYTHING, shares)
    assert not caplog.text
    monkeypatch.setattr(leaf_dependences, "will_compile", lambda _: True)
    compute_leaf_dependences(forest, np.zeros((4, 3)), EVERYTHING, shares)
    assert "compiling the code for tree leaves" in caplog.text
