"""Partners of a feature: how much of the spread goes with each other feature, however it acts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.region_check import PRIOR, Common, compute_explained_share, fit_curves
from rhale.kernels.region_codes import CodedRows
from rhale.kernels.region_gains import Histogram, fill_one, squares
from rhale.kernels.residuals import EVERY, Residuals

SPLITTER_CHANCE_DEVIATIONS = (
    3.5  # deviations above what chance explains: a partner that counts beside others
)


@dataclass(frozen=True, eq=False)
class SplitterShares:
    """Shares of the spread that go with splitters.

    Attributes
    ----------
    share, error : ndarrays of shape (n_splitters,)
        Share that goes with each, and its error; nan where it cannot be looked at.
    unexplained : float
        Share that is left by all together.
    """

    share: FloatArray
    error: FloatArray
    unexplained: float


def find_partners(coded: CodedRows, residuals: Residuals, splitters: IntArray) -> SplitterShares:
    """Find the share of each splitter, and what all of them leave.

    Notes
    -----
    A curve for each of the splitter's coarse cells, or for
    each of its levels, and the honest formula of the check. O(n_effects n_splitters).
    """
    share, error = np.full((2, coded.n_splitters), np.nan)
    common = Common.of(residuals)
    histograms = {int(k): _fill(coded, residuals, int(k)) for k in splitters}
    for k, histogram in histograms.items():
        drop = common.drop(residuals, histogram, _groups(coded, k, residuals.halves[1].row))
        gain = compute_explained_share(residuals, residuals.checking, drop)
        share[k], error[k] = gain.share, gain.error
    return SplitterShares(share, error, _leave_all(coded, residuals, histograms))


def _groups(coded: CodedRows, splitter: int, rows: IntArray) -> IntArray:
    """The coarse cell of some rows, or their level; the last is that of missing values."""
    return np.asarray(coded.coarse.codes[splitter].take(rows), dtype=np.intp)


def _fill(coded: CodedRows, residuals: Residuals, splitter: int) -> Histogram:
    """Effects that are searched, by the groups of a splitter."""
    searched, n_groups = residuals.halves[0], int(coded.coarse.n_cells[splitter]) + 1
    return fill_one(searched, EVERY, _groups(coded, splitter, searched.row), n_groups)


def _leave_all(
    coded: CodedRows, residuals: Residuals, histograms: Mapping[int, Histogram]
) -> float:
    """Share of the spread that the sum of all partners leaves in rows that check.

    Each is fitted to what those before it left in rows that are searched, and counts where it
    explains more than chance there.
    """
    searched, checking = residuals.searched, residuals.checking
    total = float(residuals.spreads(checking).sum())
    if not total > 0 or searched.size == 0:
        return float("nan")
    prior = PRIOR * float(residuals.weight[searched].mean())
    zero = np.zeros((len(residuals.values), residuals.n_cells))
    one = _square_of_one(residuals)
    excess = {k: _excess(histogram, residuals, one) for k, histogram in histograms.items()}
    for k in sorted(excess, key=lambda k: (-excess[k], k)):
        if excess[k] <= 0:
            continue
        histogram = _fill(coded, residuals, k)
        if _excess(histogram, residuals, one) <= 0:
            continue
        curves = fit_curves(histogram, zero, residuals, prior)
        group = _groups(coded, k, residuals.row)
        residuals = replace(residuals, values=residuals.values - curves[:, group, residuals.cell])
        one = _square_of_one(residuals)
    explained = (1 - float(residuals.spreads(checking).sum()) / total) * residuals.given_back
    return float(np.clip(1 - explained, 0.0, 1.0))


def _square_of_one(residuals: Residuals) -> float:
    """What a group of effects that are searched explains by chance.

    Notes
    -----
    Without any dependence a group of weights w about the variance V explains V sum(w^2) / sum(w):
    as much as one row of mean weight.
    """
    searched = residuals.halves[0]
    weight = searched.weight
    spread = searched.measure(EVERY) * (searched.values**2).sum(axis=0)
    return float(spread.sum() / weight.sum() * np.mean(weight**2) / np.mean(weight))


def _excess(histogram: Histogram, residuals: Residuals, one: float) -> float:
    """Sum of squares that groups explain above chance: theirs adds up, and varies as chi-square does."""
    explained = float(squares(histogram, residuals.factor).sum())
    n_filled = int(np.count_nonzero(histogram.weight))
    return explained - one * (n_filled + SPLITTER_CHANCE_DEVIATIONS * float(np.sqrt(2 * n_filled)))
