"""Walked pairs behind a link, against answers at the four corners."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from tests.pair_corners import assert_same_reply
from tests.unit.models.trees.test_pair_walk import (
    ask,
    by_hand,
    grow_some,
    plainly,
    table,
    walked_sums,
)
from tests.unit.models.trees.test_walk import N_FEATURES

from rhale.models.trees import pair_walk as pair_links
from rhale.models.trees.forest import build_forest
from rhale.models.trees.pair_walk import walk_linked_pairs


def ask_linked(forest, rows, question, answering):
    values = np.array([v for s in question.sides for v in (s.low, s.high)])
    features = np.array([s.column for s in question.sides])
    return walk_linked_pairs(forest, (rows, values), question, features, answering)


@given(
    seed=st.integers(0, 10**6),
    link=st.sampled_from(["softmax", "sigmoid", "exponential", "mean_and_variance"]),
    chosen=st.sampled_from([(0, 1), (1, 0), (1,)]),
    leaf_size=st.sampled_from([1, 2]),
    levels=st.sets(st.integers(0, 2)),
)
def test_differences_are_those_of_linked_corners(seed, link, chosen, leaf_size, levels):
    rng = np.random.default_rng(seed)
    trees = grow_some(rng, 4, 4, leaf_size)
    if leaf_size == 1:
        trees = [replace(t, target=i % 2) for i, t in enumerate(trees)]
    forest, rows = build_forest(trees, N_FEATURES, n_outputs=2), table(rng, 30)
    question, answering = ask(rows, levels), plainly(2, link=link, chosen=chosen)
    found = ask_linked(forest, rows, question, answering)
    assert_same_reply(found, by_hand(walked_sums(forest), rows, question, answering), 1e-11)


@given(seed=st.integers(0, 10**6), levels=st.sets(st.integers(0, 2)))
def test_a_column_that_no_split_asks_for_has_pairs_of_exactly_nothing(seed, levels):
    rng = np.random.default_rng(seed)
    trees = [replace(t, feature=np.where(t.feature == 1, 2, t.feature)) for t in grow_some(rng, 6)]
    forest, rows = build_forest(trees, N_FEATURES), table(rng, 40)
    question = ask(rows, levels)
    found = ask_linked(forest, rows, question, plainly(1, link="sigmoid"))
    for pair, mixed in zip(question.pairs, found.mixed, strict=True):
        assert not (1 in pair and mixed.any())


def test_rows_and_pairs_of_several_blocks_are_answered_like_those_of_one(monkeypatch):
    rng = np.random.default_rng(4)
    forest, rows = build_forest(grow_some(rng, 8), N_FEATURES), table(rng, 100)
    question, answering = ask(rows, {2}), plainly(1, link="sigmoid")
    whole = ask_linked(forest, rows, question, answering)
    monkeypatch.setattr(pair_links, "PAIR_SUMS_AT_ONCE", 1)
    monkeypatch.setattr(pair_links, "LINKED_AT_ONCE", 1)
    pieces = ask_linked(forest, rows, question, answering)
    assert [m.tolist() for m in pieces.mixed] == [m.tolist() for m in whole.mixed]
    assert [s.tolist() for s in pieces.single] == [s.tolist() for s in whole.single]
