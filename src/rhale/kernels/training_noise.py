"""What differs between trainings: how much goes with their rows, and how much is the learner's own chance."""

from __future__ import annotations

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.overlap import Overlap

DOUBT = 6.0  # squares that the rows of trainings must tell before the curves are believed


def mean_factor(gram: FloatArray, overlap: Overlap) -> float:
    """Variance of the mean curve of the trainings, in squared deviations between them.

    Parameters
    ----------
    gram : ndarray of shape (n_trainings, n_trainings)
        Mean over the rows of the product of every two curves.
    overlap : Overlap
        Which rows the trainings share.

    Returns
    -------
    float
        `overlap.factor` where all that differs goes with the rows of the trainings, 1/m where it
        is chance of every training by itself (the steps of trees, seeds); nan if it is not known.
    """
    if overlap.is_same:
        return float("nan")
    share = row_share(gram, overlap)
    return share * overlap.factor + (1 - share) / overlap.n_trainings


def row_share(gram: FloatArray, overlap: Overlap) -> float:
    """Share of the squared deviations between trainings that goes with the rows they share, 0 to 1.

    Notes
    -----
    If an effect is a mean over the training rows, deviations of two trainings have products in
    proportion to those of their shares of rows: complementary halves deviate in opposite ways.
    Chance of every training by itself has products of zero, but for the mean that is taken off.
    The share a is that of least squares, D = a L + (1 - a) H, with D the products of the curves, L
    those of the rows and H those of chance alone, all with the same trace. Designs tell it more or
    less well: L - H has a sum of squares of 18 for ten pairs of halves, 4 for four rounds of five
    folds, below 1 for bootstraps, and 0 for one round of folds. It counts by that number beside
    `DOUBT`; where nothing is told, all goes with the rows, which makes intervals too wide rather
    than too narrow.

    Examples
    --------
    >>> halves = Overlap.of([np.arange(50), np.arange(50, 100)] * 5, 100)
    >>> apart = np.array([1.0, -1.0] * 5)  # what one half has more, the other has less
    >>> row_share(np.outer(apart, apart), halves)
    1.0
    """
    rows = _standardise(overlap.shared)
    curves = _standardise(gram)
    if rows is None or curves is None:
        return 1.0
    n_trainings = overlap.n_trainings
    chance = np.eye(n_trainings) - 1 / n_trainings
    apart = rows - chance
    told = float(np.sum(apart**2))
    missing = told - float(np.sum((curves - chance) * apart))
    return float(np.clip(1 - missing / (told + DOUBT), 0.0, 1.0))


def _standardise(products: FloatArray) -> FloatArray | None:
    """Products as deviations from their mean, with a mean square of one; None where nothing differs."""
    means = products.mean(axis=0)
    deviations = np.asarray(products - means - means[:, None] + means.mean())
    trace, scale = float(np.trace(deviations)), float(np.abs(products).max())
    if not np.isfinite(trace) or trace <= 1e-12 * scale:
        return None
    return deviations * ((len(products) - 1) / trace)
