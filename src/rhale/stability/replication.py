"""Replication: what the curves of several trainings have in common beyond chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rhale.stability.overlap import Overlap, as_deviations
from rhale.stats.arrays import FloatArray
from rhale.stats.distributions import f_tail

MAX_EFFECTIVE_RANK = 1e3
RANK_EXPONENT = 2.0  # with d degrees of freedom a rank of at most d^2 is believed
# more degrees are as good as infinitely many; floors keep ratios finite
MOST_DEGREES, MIN_CHANCE_RATIO, CHANCE_FLOOR = 1e5, 1e-6, 1e-300


class Replication(NamedTuple):
    """What trainings agree on.

    Attributes
    ----------
    square : float
        Importance squared, without what the learner took from chance; may be below zero.
    p_value : float
        How likely trainings would agree so well if the effect were none; nan where that cannot be
        told.
    """

    square: float
    p_value: float

    @property
    def size(self) -> float:
        """Root of the square, in units of the output; 0 where nothing comes back."""
        return float(np.sqrt(np.maximum(self.square, 0.0)))


NOT_KNOWN = Replication(float("nan"), float("nan"))


def replicate(gram: FloatArray, overlap: Overlap, drawn: float = 0.0) -> Replication:
    """Compare the mean curve of the trainings with what chance would make of it.

    `gram` (n_trainings, n_trainings) are mean products over the rows of every two curves; `drawn` is the
    mean square of what the draw of the explained rows adds to a curve. All trainings are explained on
    the same rows and have it in common, so their deviations do not show it.
    """
    scale = float(np.abs(gram).max())
    if scale == 0 and not overlap.is_same:
        return Replication(0.0, 1.0)
    if overlap.is_same or not np.isfinite(scale + drawn):
        return NOT_KNOWN
    # Without an effect the mean curve has a mean square over the rows of F S^2, with S^2 the mean square
    # of the deviations between trainings and F the factor of the overlap; with one it has the square of
    # the effect besides.
    deviations, found = as_deviations(gram / scale), float(gram.mean()) / scale
    between = max(float(np.trace(deviations)), 0.0) / (overlap.n_trainings - 1)
    chance = overlap.factor * between + np.array([0.0, drawn / scale])  # of trainings; rows, too
    rank = estimate_effective_rank(deviations, overlap.degrees) if between > 0 else 1.0
    # what rows add is known from all of them: it makes chance larger, and better known
    degrees = (
        overlap.degrees * (chance / max(chance[0], MIN_CHANCE_RATIO * chance[1], CHANCE_FLOOR)) ** 2
    )
    # The ratio of both mean squares is compared with Fisher's F: the effective rank above, and as many
    # times the degrees of freedom of the deviations below. For a straight line and complementary halves
    # that is exact. The larger p, with what rows add and without, counts.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(found > 0, found / chance, 0.0)
    tails = f_tail(ratio, np.full(2, rank), np.clip(rank * degrees, 1.0, MOST_DEGREES))
    return Replication((found - float(chance[1])) * scale, float(tails.max()))


def estimate_effective_rank(deviations: FloatArray, degrees: float) -> float:
    """In how many independent directions curves differ, from their products; 1 or more.

    `deviations` (n_trainings, n_trainings) are products of the centred curves, with so many degrees of
    freedom.
    """
    # (tr C)^2 / tr C^2, C the covariance of the curves, from the squared sum of the diagonal and the sum
    # of all squares of the products, both without their bias (moments of Wishart's distribution). With
    # one degree of freedom all deviations are multiples of one curve: rank 1. With a few, two or three
    # deviations that happen to be perpendicular look like a rank without end, and p would be nothing; so
    # the rank is limited to the square of the degrees. Without that, of effects that are none up to 24 of
    # 100 came back in 3 to 6 trainings, and up to 19 with p below .001; with it up to 8, and 1. It changes
    # nothing from 20 trainings on, but for ranks of 90 and more.
    most = float(min(degrees**RANK_EXPONENT, MAX_EFFECTIVE_RANK))
    if degrees <= 1:
        return 1.0
    sums, squares = float(np.trace(deviations)) ** 2, float(np.sum(deviations**2))
    of_square = (squares - sums / degrees) / (1 + 1 / degrees - 2 / degrees**2)
    of_sums = sums - 2 / degrees * of_square
    if of_square <= 0:
        return most
    return float(np.clip(of_sums / of_square, 1.0, most))
