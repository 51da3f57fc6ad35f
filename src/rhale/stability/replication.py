"""Replication: what curves of several trainings share beyond chance, given the rows they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rhale.output.storage.values import MAX_SHARE, TRAININGS, Numbers, stored
from rhale.stats.arrays import FloatArray, IntArray, freeze, same_fields
from rhale.stats.distributions import f_tail

OVERLAP_ROUNDING = 1e-12  # of the shared squares: what is left below that is nothing


@dataclass(frozen=True, eq=False)
class Overlap:
    """How much the rows of every two trainings have in common.

    Attributes
    ----------
    shared : ndarray of shape (n_trainings, n_trainings)
        Sum over all units of the products of their shares in both trainings. Units are rows, or
        groups of rows that belong together; shares of a training add up to one.
    n_train : ndarray of shape (n_trainings,)
        Rows of each training.
    n_rows : int
        Rows of the table.

    Notes
    -----
    Let an effect be the mean over the training rows of what each row adds to it, which holds for
    many learners as long as rows are many. With A the shares, the mean of the trainings has the
    variance M² v, M being the length of the mean of A and v the variance of one unit, and their
    squared deviation S² is on average the sum of the squared lengths of A_i less that mean, times
    v / (n - 1). So the variance of the mean is `factor` S². The known cases
    follow: 1/m + n1/n2 for m random subsets that leave n2 of the rows out (delete-d jackknife),
    (1 - 1/K) n1/n2 for K folds, 1 + 1/m for bootstraps, 1/m where trainings share nothing.
    """

    shared: FloatArray = field(metadata=stored(Numbers((TRAININGS, TRAININGS), 0, MAX_SHARE)))
    n_train: IntArray = field(metadata=stored(Numbers.counts(TRAININGS)))
    n_rows: int

    def __post_init__(self) -> None:
        freeze(self)

    def __eq__(self, other: object) -> bool:
        return same_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def of(cls, train: Sequence[IntArray], n_rows: int, units: IntArray | None = None) -> Overlap:
        """Count what trainings have in common.

        `units` (n_rows,) number the group of each row, where rows of a group belong together.
        """
        n_units = n_rows if units is None else int(units.max()) + 1
        shares = np.empty((len(train), n_units))
        for own, rows in zip(shares, train, strict=True):
            who = rows if units is None else units[rows]
            own[:] = np.bincount(who, minlength=n_units) / rows.size
        sizes = np.array([rows.size for rows in train], dtype=np.intp)
        return cls(shares @ shares.T, sizes, n_rows)

    @classmethod
    def independent(cls, n_trainings: int) -> Overlap:
        """Trainings that have nothing in common, on rows that nobody counted."""
        return cls(np.eye(n_trainings), np.zeros(n_trainings, dtype=np.intp), 0)

    @property
    def n_trainings(self) -> int:
        """How many trainings there are."""
        return len(self.shared)

    @cached_property
    def _deviations(self) -> FloatArray:
        """Products of the shares as deviations from their mean over the trainings."""
        return as_deviations(self.shared)

    @cached_property
    def is_same(self) -> bool:
        """Whether all trainings have the same rows, so that they say nothing about other ones."""
        return float(np.trace(self._deviations)) <= OVERLAP_ROUNDING * float(np.trace(self.shared))

    @cached_property
    def factor(self) -> float:
        """Variance of the mean of the trainings, in squared deviations between them; nan if unknown."""
        if self.is_same:
            return float("nan")
        between = float(np.trace(self._deviations)) / (self.n_trainings - 1)
        return float(self.shared.mean()) / between

    @cached_property
    def degrees(self) -> float:
        """Degrees of freedom of the deviation between trainings (Satterthwaite)."""
        if self.is_same:
            return float("nan")
        return float(np.trace(self._deviations) ** 2 / np.sum(self._deviations**2))

    def take(self, kept: Sequence[int]) -> Overlap:
        """Some of the trainings."""
        places = np.asarray(kept, dtype=np.intp)
        return Overlap(self.shared[np.ix_(places, places)], self.n_train[places], self.n_rows)


def as_deviations(products: FloatArray) -> FloatArray:
    """Products (n, n) of every two vectors, centred: as if each were its deviation from their mean."""
    means = products.mean(axis=0)
    return np.asarray(products - means - means[:, None] + means.mean())


# --- Variance between trainings: the part that comes from their rows, and the learner's own randomness


# A prior for the share of the rows: as if designs with a sum of squares of 6 had shown a share of 1.
ROW_SHARE_PRIOR = 6.0


def mean_factor(gram: FloatArray, overlap: Overlap) -> float:
    """Variance of the mean curve of the trainings, in squared deviations between them.

    `gram` (n_trainings, n_trainings) are mean products over the rows of every two curves. The result is
    `overlap.factor` where all deviations come from the rows of the trainings, 1/m where they are each
    training's own randomness (the steps of trees, seeds); nan if it is not known.
    """
    if overlap.is_same:
        return float("nan")
    share = row_share(gram, overlap)
    return share * overlap.factor + (1 - share) / overlap.n_trainings


def row_share(gram: FloatArray, overlap: Overlap) -> float:
    """Share of the squared deviations between trainings that comes from the rows they share, 0 to 1."""
    # If an effect is a mean over the training rows, deviations of two trainings have products in
    # proportion to those of their shares of rows: complementary halves deviate in opposite ways.
    # Randomness of every training by itself has products of zero, but for the mean that is taken off.
    # The share a is that of least squares, D = a L + (1 - a) H, with D the products of the curves, L
    # those of the rows and H those of randomness alone, all with the same trace.
    rows = _standardise(overlap.shared)
    curves = _standardise(gram)
    if rows is None or curves is None:
        return 1.0
    n_trainings = overlap.n_trainings
    chance = np.eye(n_trainings) - 1 / n_trainings
    apart = rows - chance
    # Designs identify a more or less well: L - H has a sum of squares of 18 for ten pairs of halves, 4
    # for four rounds of five folds, below 1 for bootstraps, and 0 for one round of folds. The estimate
    # is shrunk towards 1 accordingly, which makes intervals too wide rather than too narrow.
    information = float(np.sum(apart**2))
    missing = information - float(np.sum((curves - chance) * apart))
    return float(np.clip(1 - missing / (information + ROW_SHARE_PRIOR), 0.0, 1.0))


def _standardise(products: FloatArray) -> FloatArray | None:
    """Products as deviations from their mean, with a mean square of one; None where nothing differs."""
    deviations = as_deviations(products)
    trace, scale = float(np.trace(deviations)), float(np.abs(products).max())
    if not np.isfinite(trace) or trace <= 1e-12 * scale:
        return None
    return deviations * ((len(products) - 1) / trace)


# --- Replication: what the curves of several trainings have in common beyond chance


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
