"""Rules that tell rows apart: a small tree of splits, and the region of every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rhale.kernels import BoolArray, FloatArray, IntArray

Read = Callable[[int], FloatArray]


@dataclass(frozen=True)
class Rule:
    """One split of some rows into two.

    Attributes
    ----------
    splitter : int
        Which splitter is looked at.
    threshold : float
        Values up to this one go first; nan where levels do.
    levels : tuple of int
        Levels that go first, where the splitter has levels.
    missing_first : bool
        Whether rows without a value go first.
    first, second : int
        What comes next on either side: the place of a further rule, or -1 - region.
    """

    splitter: int
    threshold: float = float("nan")
    levels: tuple[int, ...] = ()
    missing_first: bool = False
    first: int = -1
    second: int = -2

    def goes_first(self, values: FloatArray) -> BoolArray:
        """Tell which rows go first.

        Examples
        --------
        >>> Rule(0, 2.0).goes_first(np.array([1.0, 2.0, 3.0, np.nan]))
        array([ True,  True, False, False])
        >>> Rule(0, levels=(0, 2), missing_first=True).goes_first(np.array([1.0, 2.0, np.nan]))
        array([False,  True,  True])
        """
        known = np.isin(values, self.levels) if self.levels else values <= self.threshold
        return known | np.isnan(values) if self.missing_first else known


def locate_rows(rules: Sequence[Rule], read: Read, n_rows: int) -> IntArray:
    """Find the region of every row; all are in the first where there are no rules.

    Parameters
    ----------
    rules : sequence of Rule
        A tree: the first rule looks at all rows, and whatever it names comes behind it.
    read : callable
        The values of a splitter in all rows: numbers, or numbers of levels; nan where missing.
    n_rows : int
        How many rows there are.
    """
    place = np.zeros(n_rows, dtype=np.int64)
    if not rules:
        return place
    for number, rule in enumerate(rules):
        here = np.flatnonzero(place == number)
        goes = rule.goes_first(read(rule.splitter)[here])
        place[here] = np.where(goes, rule.first, rule.second)
    return -1 - place
