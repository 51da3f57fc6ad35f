"""Does an effect come back? Curves of models that were trained on different rows, compared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.f_tail import f_tail
from rhale.kernels.overlap import Overlap

FEWEST_PAIRS = 2


class Replication(NamedTuple):
    """What two trainings without a common row agree on.

    Attributes
    ----------
    square : float
        Mean over the rows of the product of two such curves: importance squared, without what the
        learner took from chance; may be below zero.
    p_value : float
        How likely it would be as large if the effect were none; nan where that cannot be told.
    """

    square: float
    p_value: float

    @property
    def size(self) -> float:
        """Its root, in units of the output; 0 where nothing comes back."""
        return float(np.sqrt(max(self.square, 0.0)))


NOT_KNOWN = Replication(float("nan"), float("nan"))


def replicate(gram: FloatArray, overlap: Overlap) -> Replication:
    """Compare the curves of trainings without a common row.

    Parameters
    ----------
    gram : ndarray of shape (n_trainings, n_trainings)
        Mean over the rows of the product of every two curves.
    overlap : Overlap
        Which trainings share rows.

    Notes
    -----
    One-sided t test with R - 1 degrees of freedom for R pairs, whose mean has the variance
    S² (1/R + 1): all pairs are made of the same rows, so that drawing them again and again does
    not make the mean as sure as 1/R says.
    """
    if len(overlap.halves) < FEWEST_PAIRS:
        return NOT_KNOWN
    products = gram[tuple(overlap.halves.T)]
    square, n_pairs = float(products.mean()), len(products)
    error = float(products.std(ddof=1)) * np.sqrt(1 / n_pairs + 1)
    if error == 0:
        return Replication(square, 0.0 if square > 0 else 1.0)
    return Replication(square, student_tail(square / error, n_pairs - 1.0))


def student_tail(t: float, degrees: float) -> float:
    """Probability of larger values of Student's t.

    Examples
    --------
    >>> student_tail(0.0, 5.0), round(student_tail(2.015, 5.0), 4)
    (0.5, 0.05)
    """
    both = float(f_tail(np.array([t**2]), np.array([1.0]), np.array([degrees]))[0])
    return both / 2 if t >= 0 else 1 - both / 2
