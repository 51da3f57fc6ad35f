"""How much of a model its curves tell: all rows by one curve, or each by that of its region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rhale.kernels import BoolArray, FloatArray
from rhale.results.region_tree import RegionTree
from rhale.results.result import Result, heights

VARIANCE_ROUNDING = 1e-12
UNDEFINED = float("nan")


@dataclass(frozen=True, eq=False)
class SampledCurves:
    """The curves of all features at sampled rows, and the predictions there.

    Attributes
    ----------
    effects : sequence of Result
        One for each feature, all of one output.
    x : ndarray of shape (n_rows, n_features)
        Feature values.
    predictions, weight : ndarray of shape (n_rows,)
        Predictions and weights of the rows.
    """

    effects: Sequence[Result]
    x: FloatArray
    predictions: FloatArray
    weight: FloatArray

    @cached_property
    def heights(self) -> FloatArray:
        """The common curves at all rows, shape (n_rows, n_features); nan where unknown."""
        found = np.empty(self.x.shape)
        for place, effect in enumerate(self.effects):
            found[:, place] = heights(effect, self.x[:, place])
        return found

    @cached_property
    def inside(self) -> BoolArray:
        """Rows at which all curves are known."""
        return np.asarray(np.isfinite(self.heights).all(axis=1))

    @cached_property
    def _shares(self) -> FloatArray:
        """Shares of the weight of the rows inside."""
        weight = self.weight[self.inside]
        return np.asarray(weight / weight.sum())

    @cached_property
    def _variance(self) -> float:
        """That of the predictions; nan where there is nothing to explain, up to rounding."""
        if self.inside.sum() < 2:
            return UNDEFINED
        found = self.predictions[self.inside]
        variance = float(self._shares @ (found - self._shares @ found) ** 2)
        is_constant = np.sqrt(variance) <= VARIANCE_ROUNDING * float(np.abs(found).max())
        return UNDEFINED if is_constant else variance

    @cached_property
    def _left(self) -> FloatArray:
        """What the common curves leave of the predictions."""
        return np.asarray(self.predictions[self.inside] - self.heights[self.inside].sum(axis=1))

    @property
    def _rest(self) -> FloatArray:
        """The same less its mean."""
        return np.asarray(self._left - self._shares @ self._left)

    def explained(self) -> float:
        """Share of the variance of the predictions that the sum of the common curves explains."""
        if np.isnan(self._variance):
            return UNDEFINED
        return 1.0 - float(self._shares @ self._rest**2) / self._variance

    @property
    def base(self) -> float:
        """What the common curves leave of the predictions on average: a constant; nan if unknown.

        The curves are zero on average over all rows that were explained, so this is the mean
        prediction of all of them, which a sample tells better so than by its own mean.
        """
        if not self.inside.any():
            return UNDEFINED
        return float(self._shares @ self._left)

    def explained_with_regions(self) -> float:
        """The same as `explained`, where rows may have the curves of their regions."""
        if np.isnan(self._variance):
            return UNDEFINED
        return 1.0 - float(self._shares @ self._choose_moved()[1] ** 2) / self._variance

    def moved(self) -> tuple[int, ...]:
        """Features whose rows have the curves of their regions, as that explains more."""
        return () if np.isnan(self._variance) else self._choose_moved()[0]

    def _choose_moved(self) -> tuple[tuple[int, ...], FloatArray]:
        """Places of these features, and what is left of the predictions then.

        Notes
        -----
        Of x1 x2 either feature has regions, and each of them tells the same: with both it would be
        counted twice. So features take the curves of their regions one by one, the one that
        explains most first, as long as more is explained. O(n_rows n_features) for each of them.
        """
        moves = {place: self._move(place) for place in range(len(self.effects))}
        known = {place: move for place, move in moves.items() if move is not None}
        rest, weight, chosen = self._rest, self._shares, list[int]()
        left = list(known)
        moved = np.column_stack([known[place] for place in left]) if left else np.empty((0, 0))
        moved = moved - weight @ moved if left else moved
        while left:
            gain = 2 * (weight * rest) @ moved - weight @ moved**2
            best = int(np.argmax(gain))
            if not gain[best] > VARIANCE_ROUNDING * self._variance:
                break
            rest, moved = rest - moved[:, best], np.delete(moved, best, axis=1)
            chosen.append(left.pop(best))
        return tuple(chosen), rest

    def _move(self, place: int) -> FloatArray | None:
        """How far the rows inside are moved from the common curve to that of their regions."""
        tree, x = self.effects[place].regions, self.x[:, place]
        if tree is None or len(tree) == 1 or tree.sampled.size != x.size:
            return None
        return regional_move(tree, x, self.heights[:, place], self.weight)[self.inside]


def regional_move(
    tree: RegionTree, x: FloatArray, common: FloatArray, weight: FloatArray
) -> FloatArray:
    """Difference between the curves of the regions of sampled rows and the common one.

    Parameters
    ----------
    tree : RegionTree
        The regions.
    x, common, weight : ndarray of shape (n_rows,)
        Feature values, the common curve there, and weights.

    Returns
    -------
    ndarray of shape (n_rows,)
        Zero on average over the rows of each region, as a curve is known up to a constant; zero
        where a row is in no region, or its curve not known.
    """
    moved = np.zeros(x.size)
    for number, region in enumerate(tree.regions):
        here = np.flatnonzero(tree.sampled == number)
        gap = heights(region.effect, x[here]) - common[here]
        known = np.isfinite(gap)
        here, gap = here[known], gap[known]
        if weight[here].sum() > 0:
            moved[here] = gap - np.average(gap, weights=weight[here])
    return moved
