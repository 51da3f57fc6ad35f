import numpy as np
import pytest

pytest.importorskip("numba")

from rhale.models.trees.forest import Tree
from rhale.models.trees.plant import plant
from rhale.models.trees.reading import Reading
from rhale.models.trees.walker import TreeWalker
from rhale.tables import open_table

ROWS = np.array([[0.0, 9.0], [2.0, 9.0], [np.nan, 9.0]])


def stump(**other):
    """Column 0 below 1 gives 3, all else gives 5."""
    tree = Tree(
        feature=np.array([0, -1, -1]),
        threshold=np.array([1.0, 0.0, 0.0]),
        left=np.array([1, -1, -1]),
        right=np.array([2, -1, -1]),
        missing_left=np.array([True, False, False]),
        value=np.array([[0.0], [3.0], [5.0]]),
    )
    return TreeWalker(Reading(plant([tree], 2), np.zeros(1), **other), "predict", is_pair=False)


def test_rows_and_their_changes_are_answered():
    chunk = open_table(ROWS).chunk(0, 3)
    assert stump().predict(ROWS).ravel().tolist() == [3.0, 5.0, 3.0]
    new = np.array([2.0, 0.0, 2.0])
    assert stump().walk(chunk, [(0, new), (1, new)])[..., 0].tolist() == [[5, 3, 5], [3, 5, 3]]


def test_a_value_may_stand_for_a_missing_one():
    assert stump(missing=2.0).predict(ROWS).ravel().tolist() == [3.0, 3.0, 3.0]


def test_columns_may_go_through_a_step_first():
    swapped = stump(columns=np.array([1, 0]), transform=lambda rows: rows[:, ::-1])
    assert swapped.predict(ROWS[:, ::-1]).ravel().tolist() == [3.0, 5.0, 3.0]
    assert swapped.sees(0)
    assert not stump(columns=np.array([-2, 0])).sees(0)
