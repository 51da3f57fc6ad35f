"""Differences of pairs by brute force: predictions at the corners of every row's own steps."""

import numpy as np

from rhale.interaction.moments import PairAxis
from rhale.models.questions import PairQuestion, PairReply, PairSide


def cells_of(x, n_cells=5):
    """An axis of numbers with about as many rows in every cell."""
    known = x[np.isfinite(x)]
    return PairAxis(np.unique(np.quantile(known, np.linspace(0, 1, n_cells + 1), method="lower")))


def levels_of(x):
    """An axis of the distinct numbers of a column."""
    values = np.unique(x[np.isfinite(x)])
    return PairAxis(values, tuple(str(v) for v in values))


def ask_side(column, x, axis):
    """What is asked about one column."""
    positions = axis.locate(x)
    known, stand = positions.cell >= 0, np.maximum(positions.cell, 0)
    last = axis.nodes.size - 1
    below = np.maximum(stand - 1, 0) if axis.is_levels else stand
    low = np.where(known, axis.nodes[below], x)
    high = np.where(known, axis.nodes[np.minimum(stand + 1, last)], x)
    return PairSide(column, axis, positions, low, high)


def ask_pairs(sides, pairs=None):
    """All pairs of some sides, or some of them."""
    n = len(sides)
    every = [(a, b) for a in range(n) for b in range(a + 1, n)]
    pairs = np.array(every if pairs is None else pairs, dtype=np.int64).reshape(-1, 2)
    return PairQuestion(tuple(sides), pairs)


def ends_of(side, own):
    """From where to where each way of a side leads."""
    if side.axis.is_levels:
        return [(side.low, own), (own, side.high)]
    return [(side.low, side.high)]


def differences_by_hand(predict, own, question):
    """The reply; `predict(changes)` answers for rows with some columns replaced, `own(column)`
    gives their own values."""

    def at(*changes):
        return predict([(side.column, value) for side, value in changes])

    mixed, single = [], []
    for side in question.sides:
        ends = ends_of(side, own(side.column))
        ways = [at((side, high)) - at((side, low)) for low, high in ends]
        single.append(keep(np.stack(ways, -1), side))
    for j, k in question.pairs:
        one, two = question.sides[j], question.sides[k]
        ways = []
        for low, high in ends_of(one, own(one.column)):
            for left, right in ends_of(two, own(two.column)):
                above = at((one, high), (two, right)) - at((one, high), (two, left))
                below = at((one, low), (two, right)) - at((one, low), (two, left))
                ways.append(above - below)
        mixed.append(keep(np.stack(ways, -1), one, two))
    return PairReply(mixed, single)


def keep(ways, *sides):
    """Outputs first; nothing for rows that stand nowhere."""
    known = np.all([side.positions.cell >= 0 for side in sides], axis=0)
    return np.where(known[:, None, None], ways, 0.0).swapaxes(0, 1)


def assert_same_reply(found, expected, precision):
    """Equal up to a precision, of the largest number or of 1."""
    for name in ("mixed", "single"):
        pairs = list(zip(getattr(found, name), getattr(expected, name), strict=True))
        for one, other in pairs:
            assert one.shape == other.shape
            size = max(1.0, np.abs(other).max(initial=0.0))
            np.testing.assert_allclose(one, other, rtol=0, atol=precision * size)
