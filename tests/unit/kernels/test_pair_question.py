import numpy as np

from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_question import PairQuestion, PairReply, PairSide


def test_a_question_has_each_side_once_and_pairs_by_their_places():
    axis, x = PairAxis(np.array([0.0, 1.0, 2.0])), np.array([0.5, 1.5])
    standing = axis.locate(x)
    low, high = axis.nodes[standing.stand], axis.nodes[standing.stand + 1]
    sides = tuple(PairSide(column, axis, standing, low, high) for column in (3, 1))
    asked = PairQuestion(sides, np.array([[0, 1]]))
    assert [asked.sides[place].column for place in asked.pairs[0]] == [3, 1]
    reply = PairReply([np.zeros((1, 2, 1))], [np.zeros((1, 2, 1))] * 2)
    assert len(reply.mixed) == len(asked.pairs)
    assert len(reply.single) == len(asked.sides)
