"""Rows that all effects of an explanation stand on: held once, and written once."""

from __future__ import annotations

from typing import Any

import numpy as np

from rhale.kernels import FloatArray, IntArray
from rhale.kernels.records import as_frozen
from rhale.kernels.row_places import RowPlaces
from rhale.results.effect import LocalEffects


def share_sample_fields(
    effect: Any, first: Any, column: FloatArray, weight: FloatArray
) -> dict[str, Any]:
    """Fields of an effect that others hold, too: the rows, and where they stand for all outputs.

    Parameters
    ----------
    effect, first : result
        The effect, and that on the first output.
    column, weight : ndarray of shape (n_rows,)
        As in `share_sample`.
    """
    if effect.parts != "bins":
        return {}
    places = first if same_places(effect.row_places, first.row_places) else effect
    return {
        "sample": share_sample(effect, column, weight) or effect.sample,
        "row_places": places.row_places,
    }


def share_sample(effect: Any, column: FloatArray, weight: FloatArray) -> LocalEffects | None:
    """The sample of an effect, on these rows instead of its own; None if they differ in a bit.

    Parameters
    ----------
    effect : Effect or LevelEffect
        The effect.
    column, weight : ndarray of shape (n_rows,)
        Values of its feature in the sampled rows, nan where missing, and their weights.
    """
    x, known = effect.locate_sample(column)
    sample, weight = effect.sample, take(weight, known)
    if (x.tobytes(), weight.tobytes()) != (sample.x.tobytes(), sample.weight.tobytes()):
        return None
    return LocalEffects(x, sample.local_effects, weight)


def hold_once(sample_x: FloatArray, sample_weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sampled rows as effects may share them: columns side by side in memory, nothing to change."""
    columns, weight = np.array(sample_x, order="F"), sample_weight.view()
    weight.flags.writeable = False
    return as_frozen(columns), weight


def take(array: FloatArray, rows: IntArray) -> FloatArray:
    """Some rows of an array; the array itself where these are all of them, in order.

    Examples
    --------
    >>> weight = np.ones(3)
    >>> take(weight, np.arange(3)) is weight, take(weight, np.array([0, 2])).size
    (True, 2)
    """
    is_all = rows.size == array.size and bool(np.all(rows == np.arange(rows.size)))
    return array if is_all else array[rows]


def same_places(one: Any, other: Any) -> bool:
    """Whether row places are the same to the bit."""
    if not (isinstance(one, RowPlaces) and isinstance(other, RowPlaces)):
        return False
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))
