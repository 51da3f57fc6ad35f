"""What a feature of a pair does alone: sums of its own differences, and the curve they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rhale.kernels import FloatArray
from rhale.kernels.pair_axis import CellPositions, PairAxis
from rhale.kernels.pair_steps import DIRECTION_DOWN
from rhale.kernels.records import crosses_processes


class MainEffect(NamedTuple):
    """A feature's own effect at the nodes of its axis, zero on average, and its deviation over the rows."""

    heights: FloatArray
    importance: float


@crosses_processes
@dataclass(frozen=True, eq=False)
class MainMoments:
    """What rows say about one feature, by where they stand.

    Attributes
    ----------
    weight : ndarray of shape (n_stands,)
        Sum of the rows' weights.
    places : ndarray of shape (4, n_stands)
        Weighted sums of their places in the cell, and of the second to fourth powers of these.
    mean : ndarray of shape (n_outputs, n_stands, n_ways)
        Mean difference of the predictions over the steps that rows count for.

    Notes
    -----
    `a + b` describes the rows of both.
    """

    weight: FloatArray
    places: FloatArray
    mean: FloatArray

    def __add__(self, other: MainMoments) -> MainMoments:
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        return MainMoments(
            weight,
            self.places + other.places,
            self.mean + (other.mean - self.mean) * share[:, None],
        )

    def curve(self, axis: PairAxis, output: int) -> MainEffect:
        """Accumulate the differences of one output; steps that no row counts for are flat.

        Notes
        -----
        Averages over the rows read the curve inside cells of numbers as low + rise u + bend u(u - 1),
        with the bend that the slopes of the cells beside tell, and no more of it than the curve
        rises: the straight line through a wide outer cell would be off by it.
        """
        total, weight = np.zeros(axis.n_steps), np.zeros(axis.n_steps)
        for way in range(axis.n_ways):
            some = (
                slice(1, None)
                if axis.is_levels and way == DIRECTION_DOWN
                else slice(0, axis.n_steps)
            )
            weight += self.weight[some]
            total += self.weight[some] * self.mean[output, some, way]
        steps = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        heights = np.append(0.0, np.cumsum(steps))
        bend = np.zeros(axis.n_stands) if axis.is_levels else find_bends(axis.widths, steps)
        rise = np.append(steps, 0.0)[: axis.n_stands] - bend  # of u; the bend is that of u squared
        n_all, (u, u2, u3, u4) = self.weight.sum(), self.places
        low = heights[: axis.n_stands]
        heights -= np.sum(self.weight * low + u * rise + u2 * bend) / n_all
        low = heights[: axis.n_stands]
        square = self.weight * low**2 + 2 * u * low * rise + u2 * (rise**2 + 2 * low * bend)
        square += 2 * u3 * rise * bend + u4 * bend**2
        return MainEffect(heights, float(np.sqrt(max(square.sum() / n_all, 0.0))))


def find_bends(widths: FloatArray, steps: FloatArray) -> FloatArray:
    """Bends of a curve inside cells, from the slopes of the cells beside: exact for a parabola.

    Examples
    --------
    >>> edges = np.array([0.0, 1.0, 3.0, 4.0])
    >>> find_bends(np.diff(edges), np.diff(edges**2))
    array([1., 4., 1.])
    """
    if steps.size < 2:
        return np.zeros(steps.size)
    slopes, middles = steps / widths, np.cumsum(widths) - widths / 2
    before, after = np.arange(steps.size) - 1, np.arange(steps.size) + 1
    before[0], after[-1] = 0, steps.size - 1
    turning = (slopes[after] - slopes[before]) / (middles[after] - middles[before])
    bends = turning * widths**2 / 2
    return np.clip(bends, -np.abs(steps), np.abs(steps))


def measure_main(
    axis: PairAxis,
    standing: CellPositions,
    differences: FloatArray,
    weights: FloatArray | None = None,
) -> MainMoments:
    """Add up the differences of rows along one feature by where they stand.

    Parameters
    ----------
    axis : PairAxis
        The feature's axis.
    standing : CellPositions
        Where the rows stand; those that stand nowhere are left out.
    differences : ndarray of shape (n_outputs, n_rows, n_ways)
        Differences over the steps that each row counts for.
    weights : ndarray of shape (n_rows,), optional
        How much each row matters.
    """
    is_known = standing.stand >= 0
    known = slice(None) if is_known.all() else np.flatnonzero(is_known)  # a view costs nothing
    stand, place = standing.stand[known], standing.place[known]
    w = np.ones(stand.size) if weights is None else weights[known]

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(stand, values, axis.n_stands).astype(np.float64)

    weight = total(w)
    size = np.where(weight > 0, weight, 1.0)
    n_outputs, _, n_ways = differences.shape
    mean = [
        [total(w * differences[o, known, way]) / size for way in range(n_ways)]
        for o in range(n_outputs)
    ]
    means = np.array(mean).reshape(n_outputs, n_ways, axis.n_stands).transpose(0, 2, 1)
    square = place * place  # general powers take ten times as long
    powers = (place, square, square * place, square * square)
    places = np.stack([total(w * power) for power in powers])
    return MainMoments(weight, places, np.ascontiguousarray(means))
