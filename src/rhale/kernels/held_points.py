"""Held points: a question in which one column has the same value in all rows."""

from __future__ import annotations

from dataclasses import dataclass

from rhale.kernels import FloatArray


@dataclass(frozen=True, eq=False)
class HeldPoints:
    """One column, held at each of some points in all rows.

    Attributes
    ----------
    column : int
        The column in the table.
    points : ndarray of shape (n_points,)
        Its values, increasing.
    """

    column: int
    points: FloatArray
