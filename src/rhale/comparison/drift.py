"""Data drift: how the distributions of a feature differ between two explanations."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np

from rhale.effects.alignment import can_be_named
from rhale.effects.curve import RowPlaces
from rhale.effects.result import Result
from rhale.stats.arrays import FloatArray

NOTABLE = 0.05  # of the rows: a smaller drift is not worth a word


class Standing(NamedTuple):
    """Distribution of rows along a feature: mean and quantiles, nan for categories.

    Attributes
    ----------
    mean, median : float
        Of the feature values of the rows.
    low, high : float
        Below and above which one row in twenty is.

    Examples
    --------
    >>> Standing(mean=1.0, low=0.0, median=1.0, high=2.0).median
    1.0
    """

    mean: float
    low: float  # 5 % of the rows are below
    median: float
    high: float  # 5 % of the rows are above


class Drift(NamedTuple):
    """Data drift of a feature: how the rows of a second explanation differ from those of a first.

    Attributes
    ----------
    before, after : Standing
        Distributions of both.
    apart : float
        Which part of the rows drifted, 0 to 1: the largest difference of the shares of
        rows up to some place (Kolmogorov and Smirnov); of levels without an order, half the sum of
        differences of their shares (total variation).
    by_chance : float
        What two draws from the same rows would hardly exceed.
    gained, lost : str
        Levels without an order whose shares grew and shrank most; nothing for numbers.

    Examples
    --------
    >>> import numpy as np, rhale
    >>> x = np.random.default_rng(0).uniform(0, 1, size=(200, 1))
    >>> before, after = (rhale.explain(lambda rows: rows[:, 0], x + shift) for shift in (0.0, 0.5))
    >>> drift = rhale.compare(before, after)["x0"].against().drift
    >>> drift.moved, round(drift.shift, 6), abs(drift.apart - 0.5) < 0.1
    (True, 0.5, True)
    """

    before: Standing
    after: Standing
    apart: float
    by_chance: float
    gained: str = ""
    lost: str = ""

    @property
    def moved(self) -> bool:
        """Whether the feature drifted: more than by chance, and for more than one row in twenty."""
        return self.apart > max(self.by_chance, NOTABLE)

    @property
    def shift(self) -> float:
        """Shift of the median, in units of the feature."""
        return self.after.median - self.before.median


NO_ROW_POSITIONS = Standing(*[float("nan")] * 4)


def measure_drift(
    first: Result,
    second: Result,
    chance: float = 0.05,
    rows: tuple[RowPlaces, RowPlaces] | None = None,
) -> Drift:
    """Compare where the rows of two results of one feature are, on one kind of axis.

    Two draws from the same rows are farther apart than `by_chance` with probability `chance`.
    `rows` are the feature values of known rows of both; without them the results' own places are
    used, which are rough where many rows share a value.
    """
    inverse = 1 / max(first.total_rows, 1.0) + 1 / max(second.total_rows, 1.0)
    if can_be_named(first):
        # total variation of the shares of levels, by name. Its bound is the mean of half the sum of
        # differences of shares (normal), and what single rows can add to it (McDiarmid).
        shares = [dict(zip(r.labels, r.level_rows().share, strict=True)) for r in (first, second)]
        names = list(dict.fromkeys([*first.labels, *second.labels]))
        own, other = (np.array([share.get(name, 0.0) for name in names]) for share in shares)
        both, change = (own + other) / 2, other - own
        usual = 0.5 * float(np.sum(np.sqrt(2 / pi * both * (1 - both) * inverse)))
        return Drift(
            NO_ROW_POSITIONS,
            NO_ROW_POSITIONS,
            0.5 * float(np.abs(change).sum()),
            usual + sqrt(log(1 / chance) / 2 * inverse),
            names[int(change.argmax())] if change.max() > 0 else "",
            names[int(change.argmin())] if change.min() < 0 else "",
        )
    if rows is None or (first.labels and second.labels):  # which are counted exactly
        before, after = first.rows_along(), second.rows_along()
    else:
        before, after = rows
        inverse = sum(
            1 / max(min(one.total_rows, effective_rows(known)), 1.0)
            for one, known in zip((first, second), rows, strict=True)
        )
    # the bound of Dvoretzky, Kiefer and Wolfowitz with Massart's constant, of two samples
    return Drift(
        summarize_row_positions(before),
        summarize_row_positions(after),
        largest_distance(before, after),
        sqrt(log(2 / chance) / 2 * inverse),
    )


def effective_rows(rows: RowPlaces) -> float:
    """Kish's effective number of rows, (sum w)² / sum w², were each place a row."""
    return float(rows.weight.sum() ** 2 / np.sum(rows.weight**2))


def summarize_row_positions(rows: RowPlaces) -> Standing:
    """Mean, and 5 %, 50 % and 95 % quantiles, of rows that places represent."""
    low, median, high = find_row_quantiles(rows, np.array([0.05, 0.5, 0.95])).tolist()
    return Standing(rows.mean(rows.x), low, median, high)


def find_row_quantiles(rows: RowPlaces, asked: FloatArray) -> FloatArray:
    """Weighted quantiles of the rows: places up to which there are the shares `asked`."""
    order = np.argsort(rows.x, kind="stable")
    passed = np.cumsum(rows.weight[order])
    at = np.searchsorted(passed, asked * passed[-1] - 1e-12)
    return np.asarray(rows.x[order][np.minimum(at, order.size - 1)])


def largest_distance(first: RowPlaces, second: RowPlaces) -> float:
    """Largest difference of the shares of rows up to any place (Kolmogorov and Smirnov)."""
    every, shares = np.unique(np.concatenate([first.x, second.x])), []
    for rows in (first, second):
        order = np.argsort(rows.x, kind="stable")
        passed = np.append(0.0, np.cumsum(rows.weight[order]))
        shares.append(passed[np.searchsorted(rows.x[order], every, "right")] / passed[-1])
    return float(np.abs(shares[0] - shares[1]).max())
