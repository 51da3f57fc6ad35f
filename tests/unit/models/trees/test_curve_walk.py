"""Curves along features of trees, against trees walked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba")

from tests.unit.models.trees.test_walk import N_FEATURES, VALUES, grow, leaf_by_hand

from rhale.models.trees import curve_walk
from rhale.models.trees.curve_walk import CurveQuestion, walk_curves
from rhale.models.trees.forest import build_forest
from rhale.models.trees.walk import walk


def by_hand(trees, rows, feature, points):
    """Sums of leaves of all rows with a feature held, shape (n_rows, n_points, leaf_size)."""
    answers = []
    for point in points:
        held = rows.copy()
        held[:, feature] = point
        answers.append([sum(leaf_by_hand(tree, row) for tree in trees) for row in held])
    return np.array(answers).transpose(1, 0, 2)


@given(seed=st.integers(0, 10**6), n_points=st.integers(1, 12), leaf_size=st.integers(1, 2))
def test_curves_are_those_of_trees_walked_by_hand(seed, n_points, leaf_size):
    rng = np.random.default_rng(seed)
    trees = [grow(rng, int(rng.integers(1, 6)), leaf_size) for _ in range(3)]
    rows = rng.choice(VALUES, (9, N_FEATURES))
    points = [rng.choice(VALUES, n_points), rng.normal(0, 3, 2 * n_points), np.array([0.5])]
    base = rng.normal(size=leaf_size)
    features = rng.permutation(N_FEATURES)
    forest = build_forest(trees, 3, n_outputs=leaf_size)
    found = walk_curves(forest, rows, CurveQuestion(features, points), base)
    for curves, feature, own in zip(found, features, points, strict=True):
        expected = by_hand(trees, rows, feature, own) + base
        np.testing.assert_allclose(curves, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_points", [5, 63, 64, 65, 150])
def test_points_in_sets_of_categories_are_followed_however_many(n_points):
    rng = np.random.default_rng(n_points)
    trees = [grow(rng, 4, category=True) for _ in range(4)]
    rows = np.column_stack([rng.integers(-1, 60, 20), rng.normal(size=(20, 2))]).astype(float)
    points = [rng.integers(-1, 75, n_points).astype(float), np.linspace(-3, 8, n_points)]
    found = walk_curves(
        build_forest(trees, 3), rows, CurveQuestion(np.array([0, 2]), points), np.zeros(1)
    )
    for curves, feature, own in zip(found, (0, 2), points, strict=True):
        np.testing.assert_allclose(curves, by_hand(trees, rows, feature, own), atol=1e-12)


def test_the_numbers_are_those_of_the_other_walk_to_the_last_bit(monkeypatch):
    monkeypatch.setattr(curve_walk, "MAX_CURVE_BLOCK_ROWS", 7)
    rng = np.random.default_rng(1)
    forest, rows = build_forest([grow(rng, 6) for _ in range(20)], 3), rng.normal(0, 3, (40, 3))
    points = [np.sort(rng.normal(0, 3, 11)) for _ in range(3)]
    base = rng.normal(size=1)
    found = walk_curves(forest, rows, CurveQuestion(np.arange(3), points), base)
    for feature, (curves, own) in enumerate(zip(found, points, strict=True)):
        values = np.repeat(own[:, None], len(rows), axis=1)
        other = walk(forest, rows, np.full(own.size, feature), values, base)
        assert np.array_equal(curves, other.transpose(1, 0, 2))


def test_a_feature_that_no_tree_sees_has_flat_curves():
    rng = np.random.default_rng(3)
    forest, rows = build_forest([grow(rng, 4)], 3), rng.normal(size=(10, 3))
    points = [np.array([-1.0, 5.0]), rows[:1, 0]]
    flat, own = walk_curves(forest, rows, CurveQuestion(np.array([-1, 0]), points), np.zeros(1))
    assert np.array_equal(flat[:, 0], flat[:, 1])
    assert flat[0, 0] == own[0, 0]


def test_the_first_compilation_is_announced_to_whoever_listens(monkeypatch, caplog):
    monkeypatch.setattr(curve_walk, "will_compile", lambda _: True)
    ask_something()
    assert [r.name for r in caplog.records] == ["rhale"]
    assert "compiling the code for tree curves" in caplog.text


def test_a_walk_that_is_in_the_cache_is_not_announced(caplog):
    ask_something()
    caplog.clear()
    ask_something()
    assert not caplog.text


def ask_something():
    rng = np.random.default_rng(0)
    question = CurveQuestion(np.array([0]), [np.zeros(1)])
    walk_curves(build_forest([grow(rng, 3)], 3), rng.normal(size=(4, 3)), question, np.zeros(1))
