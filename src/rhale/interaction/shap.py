"""Pairs from SHAP interaction values that another program has computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rhale.errors import BadSettingError, WrongShapeError
from rhale.interaction.pair_effect import PairIndex
from rhale.output.text import Note
from rhale.stats.arrays import FloatArray

SHAP_SYMMETRY_TOLERANCE = (
    1e-4  # of the largest value: what the two halves may differ by, in single precision
)
SHAP_ROUNDING = 1e-10  # of the variance of the predictions: smaller squares are rounding


@dataclass(frozen=True, eq=False)
class ShapPairs:
    """Strengths of pairs from SHAP interaction values."""

    features: tuple[str, ...]
    outputs: tuple[str, ...]
    pairs: tuple[PairIndex, ...]  # pairs first, outputs within them
    # (n_features, n_outputs): deviation over the rows of the main effects, the diagonal
    importance: FloatArray
    # (n_outputs,): of the predictions, which the values of a row add up to but for a constant
    variance: FloatArray
    n_rows: int  # rows that were explained


def pairs_from_shap(
    values: Any, features: Sequence[str], outputs: Sequence[str] | None = None
) -> ShapPairs:
    """Read SHAP interaction values."""
    # The strength of a pair is the deviation over the rows of what it adds to a prediction, both
    # halves of it, 2 Φ_jk.
    names = check_shap_features(features)
    shap = read_shap_values(values, len(names))
    known = name_outputs(outputs, shap.shape[-1])
    centred = shap - shap[:1]
    centred -= centred.mean(axis=0)
    variance = np.asarray((centred.sum(axis=(1, 2)) ** 2).mean(axis=0))
    both = centred + np.swapaxes(centred, 1, 2)
    squares = np.asarray((both**2).mean(axis=0))
    strength = np.sqrt(np.where(squares < SHAP_ROUNDING * variance, 0.0, squares))
    places = np.arange(len(names))
    return ShapPairs(
        features=names,
        outputs=known,
        pairs=tuple(
            PairIndex(
                (names[j], names[k]), output, "shap", float(strength[j, k, o]), float(variance[o])
            )
            for j in places
            for k in places[j + 1 :]
            for o, output in enumerate(known)
        ),
        importance=strength[places, places] / 2,
        variance=variance,
        n_rows=len(shap),
    )


def note_shap(found: ShapPairs) -> tuple[Note, ...]:
    """What a reader should know about all of them."""
    text = (
        f"SHAP interaction values of {found.n_rows:,} rows, as they were given: they split the joint "
        "effect of several features evenly among their pairs, and depend on the background or the "
        "paths that they were computed with"
    )
    return (Note("shap", text),)


def check_shap_features(features: Any) -> tuple[str, ...]:
    """Check names of features: two at least, all different."""
    is_list = isinstance(features, Iterable) and not isinstance(features, str)
    names = tuple(map(str, features)) if is_list else (str(features),)
    if len(names) < 2:
        msg = f"features={features!r} makes no pair; give the names of all columns that were explained"
        raise BadSettingError(msg)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        msg = f"features= has {twice[0]!r} twice; every column needs a name of its own"
        raise BadSettingError(msg)
    return names


def name_outputs(outputs: Sequence[str] | None, n_outputs: int) -> tuple[str, ...]:
    """Check names of outputs, or give them some."""
    if outputs is None:
        return tuple(f"y{i}" for i in range(n_outputs))
    names = (outputs,) if isinstance(outputs, str) else tuple(map(str, outputs))
    if len(names) != n_outputs or len(set(names)) < n_outputs:
        msg = (
            f"outputs={outputs!r} are no {n_outputs} different names, and the values have "
            f"{n_outputs} outputs; name each, or leave outputs= out"
        )
        raise BadSettingError(msg)
    return names


def read_shap_values(values: Any, n_features: int) -> FloatArray:
    """Check interaction values; shape (n_rows, n_features, n_features, n_outputs)."""
    try:
        parts = (
            [np.asarray(v, dtype=np.float64) for v in values]
            if isinstance(values, list | tuple)
            else None
        )
        array = np.asarray(values if parts is None else np.stack(parts, axis=-1), dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = (
            f"values of type {type(values).__name__} are not interaction values; give the array that "
            "shap.TreeExplainer(model).shap_interaction_values(X) returns"
        )
        raise WrongShapeError(msg) from error
    array = array[..., None] if array.ndim == 3 else array
    if array.ndim != 4 or array.shape[1] != array.shape[2]:
        msg = (
            f"values have shape {np.shape(values)}; interaction values have shape (n_rows, "
            "n_features, n_features), with n_outputs behind where there are several. SHAP values "
            "of single features, (n_rows, n_features), say nothing about pairs"
        )
        raise WrongShapeError(msg)
    if array.shape[1] != n_features:
        is_bias = array.shape[1] == n_features + 1
        more = (
            "the last row and column look like the bias of XGBoost or CatBoost: give "
            "values[:, :-1, :-1]"
            if is_bias
            else "name every column that was explained, in its order"
        )
        msg = f"features= has {n_features} names, and the values have {array.shape[1]}; {more}"
        raise WrongShapeError(msg)
    require_shap_values(array)
    return array


def require_shap_values(array: FloatArray) -> None:
    """Refuse values of a single row, that are not finite, or whose two halves differ."""
    if len(array) < 2 or array.shape[-1] == 0:
        msg = f"values have {len(array)} rows; a deviation over the rows needs two at least"
        raise WrongShapeError(msg)
    if not np.all(np.isfinite(array)):
        row, j, k, _ = np.argwhere(~np.isfinite(array))[0]
        msg = f"the value of row {row}, features {j} and {k}, is {array[row, j, k].tolist()}; all must be finite"
        raise BadSettingError(msg)
    gaps = np.abs(array - np.swapaxes(array, 1, 2))
    if gaps.max() > SHAP_SYMMETRY_TOLERANCE * np.abs(array).max():
        row, j, k, o = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        msg = (
            f"the values of a row are not symmetric: in row {row} features {j} and {k} have "
            f"{array[row, j, k, o]:.6g}, and {k} and {j} have {array[row, k, j, o]:.6g}; interaction "
            "values hold half of each pair on both sides of the diagonal"
        )
        raise BadSettingError(msg)
