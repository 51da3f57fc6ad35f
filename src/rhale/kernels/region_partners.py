"""Partners of a feature: how much of the spread goes with each other feature, however it acts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.region_check import PRIOR, Common, drop_by_groups, fit_curves, share_of
from rhale.kernels.region_codes import CodedRows
from rhale.kernels.region_gains import fill_one, squares
from rhale.kernels.residuals import Residuals

CHANCE = 3.5  # deviations above what chance explains: a partner that counts beside others


@dataclass(frozen=True, eq=False)
class Partners:
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


def find_partners(coded: CodedRows, residuals: Residuals, splitters: IntArray) -> Partners:
    """Find the share of each splitter, and what all of them leave.

    Notes
    -----
    A curve for each of the splitter's coarse cells, or for
    each of its levels, and the honest formula of the check. O(n_effects n_splitters).
    """
    share, error = np.full((2, coded.n_splitters), np.nan)
    common = Common.of(residuals)
    for k in splitters:
        drop = drop_by_groups(residuals, *_groups(coded, int(k)), common)
        gain = share_of(residuals, residuals.checking, drop)
        share[k], error[k] = gain.share, gain.error
    return Partners(share, error, _leave_all(coded, residuals, splitters))


def _groups(coded: CodedRows, splitter: int) -> tuple[IntArray, int]:
    codes = coded.coarse
    return codes.codes[splitter].astype(np.intp), int(codes.n_cells[splitter]) + 1


def _leave_all(coded: CodedRows, residuals: Residuals, splitters: IntArray) -> float:
    """Share of the spread that the sum of all partners leaves in rows that check.

    Each is fitted to what those before it left in rows that are searched, and counts where it
    explains more than chance there.
    """
    searched, checking = residuals.searched, residuals.checking
    total = float(residuals.spreads(checking).sum())
    if not total > 0 or searched.size == 0:
        return float("nan")
    excess = {int(k): _excess(coded, residuals, int(k)) for k in splitters}
    for k in sorted(excess, key=lambda k: (-excess[k], k)):
        if excess[k] <= 0 or _excess(coded, residuals, k) <= 0:
            continue
        group, n_groups = _groups(coded, k)
        histogram = fill_one(residuals, searched, group[residuals.row[searched]], n_groups)
        prior = PRIOR * float(residuals.weight[searched].mean())
        zero = np.zeros((len(residuals.values), residuals.n_cells))
        curves = fit_curves(histogram, zero, residuals, prior)
        mine = group[residuals.row], residuals.cell
        values = residuals.values - curves[:, mine[0], mine[1]]
        residuals = replace(residuals, values=values)
    explained = (1 - float(residuals.spreads(checking).sum()) / total) * residuals.given_back
    return float(np.clip(1 - explained, 0.0, 1.0))


def _excess(coded: CodedRows, residuals: Residuals, splitter: int) -> float:
    """Sum of squares that a splitter explains in rows that are searched, above chance.

    Notes
    -----
    Without any dependence a group of weights w about the variance V explains V sum(w^2) / sum(w):
    as much as one row of mean weight. Groups add up, and vary as chi-square does.
    """
    searched = residuals.searched
    group, n_groups = _groups(coded, splitter)
    mine = group[residuals.row[searched]]
    histogram = fill_one(residuals, searched, mine, n_groups)
    explained = float(squares(histogram, residuals.factor).sum())
    spread = residuals.measure(searched) * (residuals.values[:, searched] ** 2).sum(axis=0)
    weight = residuals.weight[searched]
    one = float(spread.sum() / weight.sum() * np.mean(weight**2) / np.mean(weight))
    n_filled = int(np.count_nonzero(histogram.weight))
    return explained - one * (n_filled + CHANCE * float(np.sqrt(2 * n_filled)))
