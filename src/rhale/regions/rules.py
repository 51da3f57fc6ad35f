"""Rules: a small tree of splits, and the region of every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from rhale.stats.arrays import BoolArray, FloatArray, IntArray

Read = Callable[[int], FloatArray]
AnyRule = TypeVar("AnyRule", bound=Any)  # a dataclass with `first` and `second`, as `Rule` has them


@dataclass(frozen=True)
class Rule:
    """One split of some rows into two."""

    splitter: int  # which splitter is looked at
    threshold: float = float("nan")  # values up to this one go first; nan where levels do
    levels: tuple[int, ...] = ()  # levels that go first, where the splitter has levels
    missing_first: bool = False  # whether rows without a value go first
    # first, second: what comes next on either side: the place of a further rule, or -1 - region
    first: int = -1
    second: int = -2
    # values up to this one do not go first: with a finite one, those between two limits do
    above: float = float("-inf")

    def goes_first(self, values: FloatArray) -> BoolArray:
        """Find which rows go first."""
        within = (values > self.above) & (values <= self.threshold)
        known = np.isin(values, self.levels) if self.levels else within
        return known | np.isnan(values) if self.missing_first else known


def locate_rows(rules: Sequence[Rule], read: Read, n_rows: int) -> IntArray:
    """Region of every row, (n_rows,); the first one where there are no rules.

    `rules` are a tree: the first looks at all rows, and those that it names come behind it. `read`
    gives the values of a splitter in all rows, or numbers of levels, nan where missing.
    """
    place = np.zeros(n_rows, dtype=np.int64)
    if not rules:
        return place
    for number, rule in enumerate(rules):
        here = np.flatnonzero(place == number)
        goes = rule.goes_first(read(rule.splitter)[here])
        place[here] = np.where(goes, rule.first, rule.second)
    return -1 - place


@dataclass(frozen=True)
class Branch:
    """A rule, and what comes next on either side of it: a further branch, or a region."""

    rule: Rule
    first: Branch | None = None
    second: Branch | None = None

    @property
    def n_rules(self) -> int:
        """How many rules there are, with those below."""
        return 1 + sum(side.n_rules for side in (self.first, self.second) if side is not None)


def list_rules(tree: Branch | None) -> tuple[Rule, ...]:
    """Write a tree as `locate_rows` reads it."""
    rules: list[Rule] = []
    n_regions = 0

    def write(branch: Branch | None) -> int:
        nonlocal n_regions
        if branch is None:
            n_regions += 1
            return -n_regions
        place = len(rules)
        rules.append(branch.rule)
        first, second = write(branch.first), write(branch.second)
        rules[place] = replace(branch.rule, first=first, second=second)
        return place

    if tree is not None:
        write(tree)
    return tuple(rules)


def without_regions(
    rules: Sequence[AnyRule], kept: Sequence[bool]
) -> tuple[tuple[AnyRule, ...], list[int]]:
    """Prune regions: the other side of their rule takes its place.

    Returns the rules that are left, with regions in the same order, and where each of them was. Any
    records that are linked like rules will do.
    """
    made, places, n_regions = list[AnyRule](), list[int](), 0

    def leads_to(place: int) -> int | None:
        if place < 0:
            return place if kept[-1 - place] else None
        first, second = leads_to(rules[place].first), leads_to(rules[place].second)
        if first is None or second is None:
            return second if first is None else first
        return place

    def write(place: int) -> int:
        nonlocal n_regions
        if place < 0:
            n_regions += 1
            return -n_regions
        at = len(made)
        made.append(rules[place])
        places.append(place)
        ways = [leads_to(way) for way in (rules[place].first, rules[place].second)]
        first, second = (write(way) for way in ways if way is not None)
        made[at] = replace(rules[place], first=first, second=second)
        return at

    root = leads_to(0) if rules else None
    if root is not None:
        write(root)
    return tuple(made), places


def depths_of(rules: Sequence[AnyRule]) -> list[int]:
    """Count the rules before each."""
    depths = [0] * len(rules)
    for place, rule in enumerate(rules):
        for below in (rule.first, rule.second):
            if below >= 0:
                depths[below] = depths[place] + 1
    return depths
