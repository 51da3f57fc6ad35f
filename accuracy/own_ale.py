"""A tree model's own ALE along one feature, from nothing but its predictions on very many rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from parts import FloatArray

from rhale.models.trees.ensemble import reader_of
from rhale.stats.arrays import IntArray

N_HALVES = 2  # of the rows: what they differ by is the noise
SHARE, LEAST = 0.02, 25  # of the rows around a threshold, and how many on each side at least
MOST_CELLS = 1000  # the thresholds of a forest are grouped
BATCH = 200_000  # rows that are predicted at once
SEED = 777_000

Draw = Callable[[int, int], FloatArray]
Predict = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class OwnAle:
    """What the predictions do at the thresholds of a feature, on average over the rows near them.

    Attributes
    ----------
    first, last : ndarray of shape (n_cells,)
        First and last threshold of each cell; the same where a cell is one threshold.
    changes : ndarray of shape (n_halves, n_cells)
        Mean change of the prediction from below the first to above the last.
    level : ndarray of shape (n_halves,)
        Mean of the accumulated changes over the rows of that half.
    """

    first: FloatArray
    last: FloatArray
    changes: FloatArray
    level: FloatArray

    def curve(self, z: FloatArray) -> FloatArray:
        """Accumulated effect, zero on average over the population."""
        return self.of_halves(z).mean(axis=0)

    def of_halves(self, z: FloatArray) -> FloatArray:
        """The same from each half of the rows, of shape (n_halves, n_places)."""
        return np.stack(
            [
                accumulate(self.first, self.last, changes, z) - level
                for changes, level in zip(self.changes, self.level, strict=True)
            ]
        )

    def noise(self, z: FloatArray) -> float:
        """Mean absolute error of the curve, as the two halves tell it."""
        gap = np.subtract(*self.of_halves(z))
        return float(np.abs(gap - gap.mean()).mean() / 2)


def accumulate(
    first: FloatArray, last: FloatArray, changes: FloatArray, z: FloatArray
) -> FloatArray:
    """Sum of the changes of the cells at or below z; inside a cell that share of its change."""
    below = np.searchsorted(last, z, side="right")
    here = np.minimum(below, last.size - 1)
    width = np.where(last > first, last - first, 1.0)[here]
    inside = np.clip((z - first[here]) / width, 0.0, 1.0) * (
        (below < last.size) & (z > first[here])
    )
    return np.asarray(np.concatenate([[0.0], np.cumsum(changes)])[below] + inside * changes[here])


def thresholds_of(model: Any, column: int) -> FloatArray:
    """Thresholds of a feature as rhale reads them: values at or above one are on its far side."""
    reader = reader_of(model)
    if reader is None:
        msg = f"{type(model).__name__} has no trees to read"
        raise TypeError(msg)
    forest = reader(model).forest
    begin, end = (int(v) for v in forest.cut_starts[column : column + 2])
    return forest.cuts[begin:end]


def group_thresholds(cuts: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First and last threshold of every cell; with too many, cells of evenly many sorted rows."""
    if cuts.size <= MOST_CELLS:
        return cuts, cuts
    cell = MOST_CELLS * np.searchsorted(x, cuts) // x.size
    begins = np.flatnonzero(np.diff(cell, prepend=-1))
    return cuts[begins], cuts[np.append(begins[1:], cuts.size) - 1]


def find_neighbours(
    x: FloatArray, first: FloatArray, last: FloatArray
) -> tuple[IntArray, IntArray]:
    """Where the rows near each cell begin and end among the sorted values.

    Notes
    -----
    Half of the share on each side, fewer towards the ends of the axis, the same on both sides;
    values that tie with the outermost one are in.
    """
    low, high = np.searchsorted(x, first), np.searchsorted(x, last)
    reach = np.clip(np.minimum(low, x.size - high), LEAST, SHARE * x.size / 2).astype(np.int64)
    begin, end = np.maximum(low - reach, 0), np.minimum(high + reach, x.size)
    return np.searchsorted(x, x[begin]), np.searchsorted(x, x[end - 1], side="right")


def mean_changes(
    predict: Predict, rows: FloatArray, column: int, cells: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Mean over the rows near each cell of the prediction above it less that below it.

    Parameters
    ----------
    predict : callable
        The model.
    rows : ndarray of shape (n_rows, n_features)
        In the order of the feature.
    column : int
        The feature.
    cells : pair of ndarray of shape (n_cells,)
        First and last threshold of each cell.
    """
    first, last = cells
    begin, end = find_neighbours(rows[:, column], first, last)
    # between two thresholds nothing changes: one place serves the cells on both of its sides
    places = np.concatenate([[first[0] - 1.0], (last[:-1] + first[1:]) / 2, [last[-1] + 1.0]])
    starts, stops = np.append(begin[0], begin), np.append(end, end[-1])
    below, above = np.zeros(first.size), np.zeros(first.size)
    for k, answer in _answers(predict, rows, column, (places, starts, stops)):
        if k > 0:
            above[k - 1] = answer[begin[k - 1] - starts[k] : end[k - 1] - starts[k]].mean()
        if k < first.size:
            below[k] = answer[begin[k] - starts[k] : end[k] - starts[k]].mean()
    return above - below


def _answers(
    predict: Predict,
    rows: FloatArray,
    column: int,
    asked: tuple[FloatArray, IntArray, IntArray],
) -> Iterator[tuple[int, FloatArray]]:
    """Predictions of rows starts[k] to stops[k] with places[k] as the feature, place by place."""
    places, starts, stops = asked
    batch = np.cumsum(stops - starts) // BATCH
    for number in np.unique(batch):
        some = np.flatnonzero(batch == number)
        table = np.concatenate([rows[starts[k] : stops[k]] for k in some])
        table[:, column] = np.repeat(places[some], (stops - starts)[some])
        limits = np.cumsum((stops - starts)[some])[:-1]
        yield from zip(some, np.split(np.asarray(predict(table), np.float64), limits), strict=True)


def measure_ale(model: Any, draw: Draw, column: int, n_rows: int) -> OwnAle:
    """Ask the model about fresh rows, in halves of which each would do."""
    cells, changes, level = None, [], []
    for half in range(N_HALVES):
        rows = draw(n_rows // N_HALVES, SEED + half)
        rows = rows[np.argsort(rows[:, column], kind="stable")]
        if cells is None:
            cells = group_thresholds(thresholds_of(model, column), rows[:, column])
        changes.append(mean_changes(model.predict, rows, column, cells))
        level.append(accumulate(*cells, changes[-1], rows[:, column]).mean())
    assert cells is not None  # noqa: S101
    return OwnAle(*cells, np.stack(changes), np.array(level))


def keep_ale(path: Path, answers: FloatArray, ask: Callable[[], OwnAle]) -> OwnAle:
    """Read a truth that was kept, if its model gave the same answers; ask and keep it otherwise."""
    if path.exists():
        with np.load(path) as kept:
            if np.array_equal(kept["answers"], answers):
                return OwnAle(kept["first"], kept["last"], kept["changes"], kept["level"])
    found = ask()
    path.parent.mkdir(parents=True, exist_ok=True)
    half_done = path.with_name(f"{os.getpid()} {path.name}")  # another process may ask for it, too
    np.savez(half_done, answers=answers, **vars(found))
    half_done.replace(path)
    return found
