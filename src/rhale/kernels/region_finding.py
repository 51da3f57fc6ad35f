"""What a search for regions is given, and what it finds: numbers only, no names."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray
from rhale.kernels.rules import Rule

Reason = Literal[
    "",
    "few rows",
    "no splitter",
    "itself",
    "alike",
    "nothing found",
    "not confirmed",
    "too little",
    "any direction",
]


@dataclass(frozen=True, eq=False)
class SearchRows:
    """Rows that are searched, and rows that check.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_splitters)
        Values of the features that may tell regions apart: numbers, or numbers of levels from 0;
        nan where missing.
    n_levels : ndarray of shape (n_splitters,)
        How many levels without an order a splitter has; 0 for numbers and for levels in order.
    weight : ndarray of shape (n_rows,)
        Weights, all positive.
    checks : ndarray of shape (n_rows,)
        Whether a row checks what was found in the others.
    n_features : int
        How many features the model has; as many as there are splitters, if that is not said.
    """

    values: FloatArray
    n_levels: IntArray
    weight: FloatArray
    checks: BoolArray
    n_features: int = 0

    @cached_property
    def orders(self) -> tuple[IntArray | None, ...]:
        """Rows along each splitter, those without a value last; None for levels without an order.

        Cells of any number, lines and neighbours all need it: it is sorted once.
        """
        columns = zip(self.values.T, self.n_levels, strict=True)
        return tuple(None if levels else np.argsort(column) for column, levels in columns)


@dataclass(frozen=True, eq=False)
class Target:
    """The local effects of one feature, which regions are to tell apart.

    Attributes
    ----------
    row : ndarray of shape (n_effects,)
        The row that each belongs to: a row has none where its value is missing, one where the
        feature has bins, and up to two, the steps to its neighbours, where it has levels.
    x : ndarray of shape (n_effects,)
        Where it stands on the axis of the feature.
    effects : ndarray of shape (n_effects,)
        Local effects.
    shared : ndarray of shape (n_effects,)
        What all rows share at this place, as far as it is known beforehand; zeros otherwise.
    roughness : float
        Of secants over wide windows, as of a model with steps: mean square of the steps that they
        are made of, over that of the secants. 1 where the steps of a row have nothing to do with
        each other, 0 for slopes.
    step : ndarray of shape (n_effects,) or None
        Of a feature with levels: which step each is about.
    own : int
        The splitter that is the feature itself; -1 where it is none.
    scale : float
        Deviation of the feature over the rows, of that of the predictions.
    order : ndarray of shape (n_effects,) or None
        Effects in the order of `x`, where it is known; see `along`.
    """

    row: IntArray
    x: FloatArray
    effects: FloatArray
    shared: FloatArray
    roughness: float = 0.0
    step: IntArray | None = None
    own: int = -1
    scale: float = 1.0
    order: IntArray | None = None

    @cached_property
    def along(self) -> IntArray:
        """Effects in the order in which they stand on the axis."""
        return np.argsort(self.x) if self.order is None else self.order


@dataclass(frozen=True, eq=False)
class Gain:
    """What a rule, with those below it, explains in rows that check: share, error, their number."""

    share: float
    error: float
    rows: int


@dataclass(frozen=True, eq=False)
class Finding:
    """What a search found for one feature.

    Attributes
    ----------
    rules : tuple of Rule
        The tree, as `locate_rows` reads it; none where nothing was found.
    gains : tuple of Gain
        One for each rule.
    share, error : float
        Share of the spread that the tree explains in rows that check, and its error.
    reason : str
        Why there are no rules; empty where there are.
    gradual : int
        The splitter with which the effect changes gradually; -1 where it does not.
    partner_share, partner_error : ndarray of shape (n_splitters,)
        Share of the spread that goes with each splitter, however it acts; nan for the feature
        itself and for splitters that cannot be looked at.
    unexplained : float
        Share that no splitter explains, nor all together.
    """

    rules: tuple[Rule, ...] = ()
    gains: tuple[Gain, ...] = ()
    share: float = 0.0
    error: float = float("nan")
    reason: Reason = ""
    gradual: int = -1
    partner_share: FloatArray = field(default_factory=lambda: np.empty(0))
    partner_error: FloatArray = field(default_factory=lambda: np.empty(0))
    unexplained: float = float("nan")
