import numpy as np

from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_question import PairQuestion, PairSide


def test_a_question_has_each_side_once_and_pairs_by_place():
    axis = PairAxis(np.array([0.0, 1.0]))
    x = np.array([0.25])
    sides = tuple(PairSide(c, axis, axis.locate(x), x * 0, x * 0 + 1) for c in (3, 5))
    asked = PairQuestion(sides, np.array([[0, 1]]))
    assert [asked.sides[i].column for i in asked.pairs[0]] == [3, 5]
