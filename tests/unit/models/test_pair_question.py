import numpy as np

from rhale.interaction.moments import PairAxis
from rhale.models.questions import PairQuestion, PairSide


def test_a_question_has_each_side_once_and_pairs_by_place():
    axis = PairAxis(np.array([0.0, 1.0]))
    x = np.array([0.25])
    sides = tuple(PairSide(c, axis, axis.locate(x), x * 0, x * 0 + 1) for c in (3, 5))
    asked = PairQuestion(sides, np.array([[0, 1]]))
    assert [asked.sides[i].column for i in asked.pairs[0]] == [3, 5]


def test_cells_are_as_wide_as_their_limits_are_apart_and_rows_without_one_have_no_width():
    axis = PairAxis(np.array([0.0, 1.0, 4.0]))
    x = np.array([0.5, 3.0, 9.0, np.nan, 4.0])
    side = PairSide(0, axis, axis.locate(x), x, x)
    assert side.width.tolist() == [1, 3, 0, 0, 3]
