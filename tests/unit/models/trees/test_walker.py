from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("numba")

from tests.jumps_by_hand import ask_about, count_some
from tests.pair_corners import ask_pairs, ask_side, cells_of

from rhale.data import open_table
from rhale.models.trees.forest import Tree, build_forest
from rhale.models.trees.reading import Reading
from rhale.models.trees.walker import TreeWalker

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
    return TreeWalker(
        Reading(build_forest([tree], 2), np.zeros(1), **other), "predict", is_pair=False
    )


def test_rows_and_their_changes_are_answered():
    chunk = open_table(ROWS).chunk(0, 3)
    assert stump().predict(ROWS).ravel().tolist() == [3.0, 5.0, 3.0]
    new = np.array([2.0, 0.0, 2.0])
    assert stump().walk(chunk, [(0, new), (1, new)])[..., 0].tolist() == [[5, 3, 5], [3, 5, 3]]


def test_answers_may_be_mapped_afterwards():
    mapped, chunk = replace(stump(), after=np.square), open_table(ROWS).chunk(0, 3)
    assert mapped.predict(ROWS).ravel().tolist() == [9.0, 25.0, 9.0]
    assert mapped.walk(chunk, [(0, np.full(3, 2.0))])[..., 0].tolist() == [[25, 25, 25]]
    answering = mapped.answering((0,))
    assert answering.link(np.array([[3.0]])).tolist() == [[9.0]]
    assert 25 - 9 <= answering.bound <= 32
    raw = replace(mapped, response="margin")
    assert raw.link(np.array([[4.0]])).tolist() == [[16.0]]


def test_a_value_may_stand_for_a_missing_one():
    assert stump(missing=2.0).predict(ROWS).ravel().tolist() == [3.0, 3.0, 3.0]


def test_columns_may_go_through_a_step_first():
    swapped = stump(columns=np.array([1, 0]), transform=lambda rows: rows[:, ::-1])
    assert swapped.predict(ROWS[:, ::-1]).ravel().tolist() == [3.0, 5.0, 3.0]
    assert swapped.sees(0)
    assert not stump(columns=np.array([-2, 0])).sees(0)


VALUES = np.array([0.0, 0.5, 2.0])


def test_places_are_thresholds_in_the_units_of_the_table():
    chunk = open_table(ROWS).chunk(0, 3)
    assert stump().places(0, chunk, VALUES).tolist() == [1.0]
    assert stump().places(1, chunk, VALUES).tolist() == []
    assert stump().places(0, chunk, np.empty(0)) is None


def test_places_follow_a_column_through_a_step():
    chunk = open_table(ROWS).chunk(0, 3)
    columns = np.arange(2)
    halved = stump(columns=columns, transform=lambda rows: rows / 2)
    assert halved.places(0, chunk, VALUES).tolist() == [2.0]
    assert stump(columns=columns, transform=lambda rows: -rows).places(0, chunk, VALUES) is None
    same = stump(columns=columns, transform=lambda rows: rows)
    assert same.places(0, chunk, VALUES).tolist() == [1.0]


@pytest.mark.parametrize("column", [-2, -1])
def test_columns_that_are_mixed_or_dropped_have_no_places(column):
    chunk = open_table(ROWS).chunk(0, 3)
    assert stump(columns=np.array([column, 0])).places(0, chunk, VALUES) is None


@pytest.mark.parametrize(("missing", "has_places"), [(0.5, False), (-99.0, True), (1.7, False)])
def test_a_value_within_the_range_that_stands_for_missing_has_no_place(missing, has_places):
    chunk = open_table(ROWS).chunk(0, 3)
    assert (stump(missing=missing).places(0, chunk, VALUES) is not None) == has_places


def test_too_many_thresholds_have_no_places(monkeypatch):
    monkeypatch.setattr("rhale.models.trees.walker.MOST_CUTS", 0)
    assert stump().places(0, open_table(ROWS).chunk(0, 3), VALUES) is None


def ask_stump(walker, chosen=(0,)):
    rows = np.linspace(0, 2, 40)[:, None] * [1.0, 0.0]
    question = ask_about(0, rows[:, 0], np.array([1.0]), share=1.0, wide=1.0)
    shares = count_some(40)
    (reply,) = walker.walk_jumps(open_table(rows).chunk(0, 40), [question], shares, chosen)
    first, last = question.marks.near
    near = (first == 0) & (last == 1) & (question.mark >= 0)
    return reply.sums.jumps.sum(axis=(0, 1)) * reply.sums.unit / shares.share[near].sum()


def odds(p):
    return np.log(p / (1 - p))


LOW, HIGH = 1 / (1 + np.exp(-3.0)), 1 / (1 + np.exp(-5.0))


def test_jumps_are_those_of_the_chosen_answers():
    assert ask_stump(stump()) == pytest.approx([2.0], rel=1e-12)
    raw = replace(stump(raw_factor=10.0, link="sigmoid"), response="margin")
    assert ask_stump(raw) == pytest.approx([20.0], rel=1e-12)
    assert ask_stump(stump(link="exponential")) == pytest.approx(np.exp(5) - np.exp(3), rel=1e-12)
    pair = replace(stump(link="sigmoid"), response="predict_proba", is_pair=True)
    assert ask_stump(pair, (1, 0)) == pytest.approx([HIGH - LOW, LOW - HIGH], rel=1e-9)
    logs = replace(pair, response="log_odds")
    assert ask_stump(logs, (1,)) == pytest.approx([odds(HIGH) - odds(LOW)], rel=1e-9)


def corner(**other):
    """Both columns at least 1 give 5, all else gives 3."""
    tree = Tree(
        feature=np.array([0, -1, 1, -1, -1]),
        threshold=np.ones(5),
        left=np.array([1, -1, 3, -1, -1]),
        right=np.array([2, -1, 4, -1, -1]),
        missing_left=np.ones(5, dtype=bool),
        value=np.array([[0.0], [3.0], [0.0], [3.0], [5.0]]),
    )
    return TreeWalker(
        Reading(build_forest([tree], 2), np.zeros(1), **other), "predict", is_pair=False
    )


def ask_corner(walker, chosen=(0,)):
    """The mixed difference of the first row; the last row has no second value."""
    rows = np.array([[0.0, 0.0], [2.0, 0.5], [2.0, 2.0], [0.5, np.nan]])
    sides = [ask_side(c, rows[:, c], cells_of(rows[:, c], 1)) for c in (0, 1)]
    chunk = open_table(rows).chunk(0, 4)
    (mixed,) = walker.walk_pairs(chunk, ask_pairs(sides), chosen).mixed
    assert not mixed[:, 3].any()
    assert mixed[:, :3].tolist() == mixed[:, [2, 1, 0]].tolist()
    return mixed[:, 0, 0]


def test_pairs_are_those_of_the_chosen_answers():
    assert ask_corner(corner()).tolist() == [2.0]
    raw = replace(corner(raw_factor=10.0, link="sigmoid"), response="margin")
    assert ask_corner(raw).tolist() == [20.0]
    assert ask_corner(corner(link="exponential")) == pytest.approx(np.exp(5) - np.exp(3), rel=1e-12)
    pair = replace(corner(link="sigmoid"), response="predict_proba", is_pair=True)
    assert ask_corner(pair, (1, 0)) == pytest.approx([HIGH - LOW, LOW - HIGH], rel=1e-9)
    logs = replace(pair, response="log_odds")
    assert ask_corner(logs, (1,)) == pytest.approx([odds(HIGH) - odds(LOW)], rel=1e-9)


def test_pairs_follow_columns_through_a_step():
    swapped = corner(columns=np.array([1, 0]), transform=lambda rows: rows[:, ::-1])
    assert ask_corner(swapped).tolist() == [2.0]
    dropped = corner(columns=np.array([0, -1]), transform=lambda rows: rows)
    assert ask_corner(dropped).tolist() == [0.0]
