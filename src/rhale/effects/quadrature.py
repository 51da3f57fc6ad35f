"""Row places: a few places with weights that stand for the rows, wherever averages over these are taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rhale.effects.binning.moments import Moments
from rhale.stats.arrays import FloatArray

NODES = np.sqrt(1.8) * np.array([-1.0, 0.0, 1.0])  # Gauss's three points, for deviation one
OF_ANY = 0.4  # t² for rows that hardly vary
NODE_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0


class RowPlaces(NamedTuple):
    """Places on an axis and how much of the data stands there.

    Attributes
    ----------
    x : ndarray of shape (n_places,)
        The places.
    weight : ndarray of shape (n_places,)
        Their shares, which add up to one.
    """

    x: FloatArray
    weight: FloatArray

    def mean(self, values: FloatArray) -> float:
        """Average over the rows of what was read at the places."""
        return float(self.weight @ values)

    def deviation(self, values: FloatArray) -> float:
        """Standard deviation over the rows of what was read at the places."""
        return float(np.sqrt(self.weight @ (values - self.weight @ values) ** 2))


def build_quadrature(cells: Moments) -> RowPlaces:
    """Let three places of every cell stand for its rows.

    Examples
    --------
    >>> from rhale.effects.binning.cells import Grid
    >>> from rhale.effects.binning.moments import measure_moments
    >>> x = np.array([0.0, 0.0, 0.0, 3.0])
    >>> build_quadrature(measure_moments(Grid(np.array([0.0, 3.0])), x, x))
    RowPlaces(x=array([0.  , 0.75, 3.  ]), weight=array([0.75, 0.  , 0.25]))
    """
    # With a and b the distances of the mean from the smallest and the largest x and v the variance,
    # r = v / (a b) is at most one (Bhatia and Davis). Places at the mean less t a and plus t b have
    # the mean and the deviation of the rows with the shares r / t² of b / (a + b) and a / (a + b),
    # and the mean keeps the rest. t² = .4 + .6 r makes them the rows themselves where these have
    # one or two values (r = 1), and Gauss's three points where they are evenly spread (r = 1 / 3),
    # so that averages of parabolas are exact and those of their squares nearly so. No place lies
    # where no row can be. Files of format 10 hold the cells and not the places: they are read by
    # this.
    (places,) = place_rows_apart(cells, [slice(0, cells.weight.size)])
    return places


def place_rows_apart(cells: Moments, axes: Sequence[slice]) -> list[RowPlaces]:
    """The same for axes that stand one after the other, each with some of the cells."""
    filled = cells.weight > 0
    weight, low, high = cells.weight[filled], cells.low[filled], cells.high[filled]
    middle = np.clip(cells.mean_x[filled], low, high)  # a mean may be off by rounding
    below, above = middle - low, high - middle
    inside = (below > 0) & (above > 0)
    product = np.where(inside, below * above, 1.0)
    ratio = np.clip(np.where(inside, cells.sxx[filled] / weight / product, 0.0), 0.0, 1.0)
    reach = np.sqrt(OF_ANY + (1 - OF_ANY) * ratio)
    shares = [ratio / reach**2 * d / np.where(inside, high - low, 1.0) for d in (above, below)]
    held = np.stack([shares[0], np.maximum(1.0 - shares[0] - shares[1], 0.0), shares[1]], axis=1)
    left, right = np.maximum(middle - reach * below, low), np.minimum(middle + reach * above, high)
    places = np.stack([left, middle, right], axis=1)
    # one value needs one place; ends are exact, so that any chunks of rows give as many places
    kept = np.stack([low < high, np.ones(low.size, dtype=np.bool_), low < high], axis=1)
    x, parts = places[kept], (held * weight[:, None])[kept]
    before = np.zeros(filled.size + 1, dtype=np.intp)
    before[1:][filled] = kept.sum(axis=1)
    before = np.cumsum(before)
    own = [slice(before[axis.start], before[axis.stop]) for axis in axes]
    return [RowPlaces(x[some], parts[some] / parts[some].sum()) for some in own]


def spread_evenly(edges: FloatArray, weight: FloatArray) -> RowPlaces:
    """Let three places stand for rows that are evenly spread over each bin."""
    start, width = edges[:-1], np.diff(edges)
    return scatter_rows(start + 0.5 * width, width / np.sqrt(12.0), weight)


def scatter_rows(middle: FloatArray, deviation: FloatArray, weight: FloatArray) -> RowPlaces:
    """Let three places stand for rows of which mean and deviation are known, bin by bin."""
    total = weight.sum()
    share = weight / total if total > 0 else np.full(weight.size, 1.0 / weight.size)
    places = middle[:, None] + deviation[:, None] * NODES
    return RowPlaces(places.ravel(), np.outer(share, NODE_WEIGHTS).ravel())
