"""Slopes of neighbouring cells of a pair, evened out: what is left of a jagged model is its course."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.pair_axis import PairAxis
from rhale.kernels.pair_steps import Filling, PairSteps, step_areas

PRICES = np.logspace(3, -5, 17)  # of roughness, beside rows that count 1 on average


@dataclass(frozen=True, eq=False)
class Smoothing:
    """Differences of all steps from those of the measured ones.

    Attributes
    ----------
    matrix : ndarray of shape (n_all, n_known)
        What every measured difference adds to each step.
    known : ndarray of shape (n_known,)
        Steps that rows count for.
    """

    matrix: FloatArray
    known: IntArray

    def fill(self, mean: FloatArray) -> FloatArray:
        """Differences with nothing left out, of the same shape."""
        return np.asarray((self.matrix @ mean.ravel()[self.known]).reshape(mean.shape))

    def gather(self, effects: FloatArray) -> FloatArray:
        """Effects of the measured steps, from effects of all: (n, n_all) to (n, n_known)."""
        return np.asarray(effects @ self.matrix)


def smooth_steps(
    axes: tuple[PairAxis, PairAxis], steps: PairSteps, filling: Filling
) -> Filling | Smoothing:
    """Even out the slopes of neighbouring cells, as much as the rows let one tell.

    Parameters
    ----------
    axes : pair of PairAxis
        The two sides. Levels keep their own slopes: only cells of numbers have neighbours.
    steps : PairSteps
        Of this pair alone.
    filling : Filling
        What stands in for steps without rows that no neighbour leads to.

    Notes
    -----
    The slopes t minimise sum w (y - t)^2 + price sum (t - t')^2 over neighbours, with w the rows
    of a cell and y their mean slope; the price by generalised cross-validation. Given the price
    the slopes are linear in the means, so errors follow. O(n_steps^6): a decomposition of one
    matrix serves all prices.
    """
    measured = steps.measured.ravel()
    rough = _roughness(axes)
    if not measured.any() or not rough.any():
        return filling
    reached = np.flatnonzero(_has_measured_neighbour(axes, steps).ravel())
    area = step_areas((axes[0].nodes, axes[1].nodes)).ravel()
    weight = steps.weight.ravel() / steps.weight.ravel()[measured].mean()
    slopes = steps.mean.ravel() / area
    evened = _even_out(weight[reached], rough[np.ix_(reached, reached)], slopes[reached])
    known = np.flatnonzero(measured)
    matrix = np.zeros((measured.size, known.size))
    matrix[reached] = evened[:, measured[reached]] * area[reached][:, None] / area[known]
    alone = np.flatnonzero(~np.isin(filling.step, reached))
    parts = matrix[filling.source[alone]] * filling.factor[alone][:, None]
    np.add.at(matrix, filling.step[alone], parts)
    return Smoothing(matrix, known)


def _roughness(axes: tuple[PairAxis, PairAxis]) -> FloatArray:
    """The sum of squared differences of neighbours, as a form of all steps: (n_all, n_all)."""
    change = [np.diff(np.eye(axis.n_steps), axis=0) for axis in axes]
    first, second = (
        np.zeros((axis.n_steps, axis.n_steps)) if axis.is_levels else d.T @ d
        for axis, d in zip(axes, change, strict=True)
    )
    return np.kron(first, np.eye(len(second))) + np.kron(np.eye(len(first)), second)


def _has_measured_neighbour(axes: tuple[PairAxis, PairAxis], steps: PairSteps) -> FloatArray:
    """Steps that neighbours lead to from a measured one."""
    along = tuple(side for side, axis in enumerate(axes) if not axis.is_levels)
    return np.broadcast_to(steps.measured.any(along, keepdims=True), steps.weight.shape)


def _even_out(weight: FloatArray, rough: FloatArray, slopes: FloatArray) -> FloatArray:
    """The matrix from slopes to smooth slopes, with the price that predicts left-out cells best."""
    # weights and roughness become diagonal at once: D and P are d and 1 - d in the basis U
    root = np.linalg.cholesky(np.diag(weight) + rough)
    half = np.linalg.solve(root, np.diag(np.sqrt(weight)))
    kept, turned = np.linalg.eigh(half @ half.T)
    kept = np.clip(kept, 0.0, 1.0)
    basis = np.linalg.solve(root.T, turned)
    parts, n_known = basis.T @ (weight * slopes), int(np.count_nonzero(weight))

    def misfit(price: float) -> float:
        share = 1 / (kept + price * (1 - kept))
        left = float(weight @ (slopes - basis @ (share * parts)) ** 2)
        free = n_known - float(np.sum(share * kept))
        return left / free**2 if free > 1e-9 * n_known else np.inf

    price = min(PRICES.tolist(), key=misfit)  # of equal ones the first, which is the smoothest
    return np.asarray((basis / (kept + price * (1 - kept))) @ basis.T * weight)
