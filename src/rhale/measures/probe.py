"""First questions: is the model smooth along a feature, and does it react at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rhale.kernels import BoolArray, FloatArray
from rhale.kernels.windows import Window
from rhale.measures.questions import BatchedModel
from rhale.measures.secant import known_ends
from rhale.tables import Chunk

ROUGH = (
    1 / 3
)  # smooth curves reach .28 (fast waves) and exponentials .03, forests and neighbours .39
PROBE_ROUNDING = (
    1e-6  # of the predictions: smaller changes are digits, of single precision at least
)


def probe_smoothness(
    asker: BatchedModel, probe: Chunk, columns: Sequence[int], windows: Sequence[Window]
) -> tuple[BoolArray, int]:
    """Tell along which features the model is smooth.

    Parameters
    ----------
    asker : BatchedModel
        The model.
    probe : Chunk
        Some rows.
    columns : sequence of int
        The features.
    windows : sequence of Window
        A narrow window for each.

    Returns
    -------
    smooth : ndarray of shape (n_features,)
    asked : int
        Rows that were predicted.

    Notes
    -----
    Compares the slopes l and r left and right of each row: |r - l| / (|l| + |r|), the mean over
    the rows that react. Along a smooth curve they nearly agree, also where it bends fast; a
    staircase has its step on one side (1), and many small ones at random. Each row counts alike:
    mean squares were those of the few rows in the tail of an exponential, whose windows are wide. A
    feature without any reaction counts as stepped: its steps may lie elsewhere, and wide windows
    find them.
    """
    base = asker.predictor.predict(probe.rows, probe.n_rows)
    changes, places = [], []
    for column, window in zip(columns, windows, strict=True):
        x = probe.column(column)
        a, b = (probe.representable(column, end) for end in known_ends(window, x))
        changes += [(column, a), (column, b)]
        places.append((a, x, b))
    answers = asker.ask(probe, changes)
    smooth = np.zeros(len(columns), dtype=np.bool_)
    for i, (a, x, b) in enumerate(places):
        inner = (x > a) & (x < b)
        if not inner.any():
            smooth[i] = True  # two values: the secant is the whole effect
            continue
        low, mid, high = answers[2 * i][inner], base[inner], answers[2 * i + 1][inner]
        left = (mid - low) / (x - a)[inner, None]
        right = (high - mid) / (b - x)[inner, None]
        smooth[i] = _mostly_agree(
            left, right, PROBE_ROUNDING * np.abs(mid).max() / (b - a)[inner, None]
        )
    return smooth, probe.n_rows * (1 + len(changes))


def probe_reactions(
    asker: BatchedModel, probe: Chunk, columns: Sequence[int], windows: Sequence[Window]
) -> tuple[BoolArray, int]:
    """Tell whether predictions differ between the ends of wide windows, feature by feature."""
    changes = [
        (column, probe.representable(column, end))
        for column, window in zip(columns, windows, strict=True)
        for end in known_ends(window, probe.column(column))
    ]
    answers = asker.ask(probe, changes)
    moved = np.any(answers[0::2] != answers[1::2], axis=(1, 2))
    return moved, probe.n_rows * len(changes)


def _mostly_agree(left: FloatArray, right: FloatArray, digits: FloatArray) -> bool:
    """Whether slopes on both sides of rows are alike on average, on every output that reacts."""
    with np.errstate(over="ignore", invalid="ignore"):  # infinite is refused later with its reason
        size = np.abs(left) + np.abs(right)
        reacts = size > digits
        share = np.divide(np.abs(right - left), size, out=np.zeros_like(size), where=reacts)
    n_rows = reacts.sum(axis=0)
    return bool(np.any(n_rows > 0) and np.all(share.sum(axis=0) <= ROUGH * n_rows))
