"""Groups that the user names: the values of a column, stretches between cuts, united levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from rhale.errors import BadSettingError
from rhale.features.feature import Feature
from rhale.features.first_pass import Columns
from rhale.kernels.regions import MOST_GROUPS, By
from rhale.kernels.rules import Rule
from rhale.kernels.times import as_numbers
from rhale.measures.grouped import GroupingRules
from rhale.names import near_names
from rhale.results.region_tree import Group, Groups, RegionTree, Split


@dataclass(frozen=True, eq=False)
class UserGroups:
    """Groups of rows, as they are located and as they are told.

    Attributes
    ----------
    division : GroupingRules
        Which group a row is in.
    groups : Groups or None
        What tells them apart, where they are made of one column.
    splits : tuple of Split
        What tells them apart, where they are regions that were found before.
    """

    division: GroupingRules
    groups: Groups | None = None
    splits: tuple[Split, ...] = ()


def parse_user_groups(by: By, columns: Columns) -> UserGroups:
    """Turn what the user names into rules, or say why that cannot be."""
    if isinstance(by.column, RegionTree):
        return read_tree(by.column, columns)
    if not isinstance(by.column, str | int):
        msg = f"By({by.column!r:.60}) is neither a column nor regions that were found before"
        raise BadSettingError(msg)
    if not columns.splitters:
        msg = f"By({by.column!r}) makes no groups: no row has a value there; name another column"
        raise BadSettingError(msg)
    (feature,) = columns.splitters
    if by.cuts is not None:
        groups, tests = cut_column(feature, by.cuts)
    elif by.groups is not None:
        groups, tests = unite_levels(feature, by.groups)
    else:
        groups, tests = take_values(feature)
    has_missing = feature.n_missing > 0
    if has_missing:
        groups = [*groups, Group(inf, inf, missing=True)]
    is_cut = not groups[0].levels
    told = Groups(feature.name, feature.column, tuple(groups), is_cut, feature.axis_kind)
    rules = chain(tests, has_missing=has_missing)
    return UserGroups(GroupingRules(rules, (feature,), len(groups)), told)


def chain(tests: Sequence[Rule], *, has_missing: bool) -> tuple[Rule, ...]:
    """One rule after the other: who passes a test is in its group, and who passes none in the last.

    Rows without a value are a group behind all others.
    """
    n_groups = len(tests) + 1
    if not tests and not has_missing:
        return ()
    first = [Rule(0, inf, first=1 if tests else -1, second=-1 - n_groups)] if has_missing else []
    last = len(first) + len(tests) - 1
    rules = [
        replace(test, first=-1 - group, second=-n_groups if place == last else place + 1)
        for group, (place, test) in enumerate(enumerate(tests, start=len(first)))
    ]
    return (*first, *rules)


def cut_column(feature: Feature, cuts: Sequence[Any]) -> tuple[list[Group], list[Rule]]:
    """Stretches between cuts of a column of numbers or dates."""
    if feature.levels is not None and not feature.levels.is_number:
        msg = (
            f"By({feature.name!r}, cuts=...) cuts numbers, but the column has levels; unite them "
            "with groups={'name': [levels]}"
        )
        raise BadSettingError(msg)
    limits = np.unique(as_numbers(list(cuts), feature.axis_kind))
    if not limits.size or limits.size > MOST_GROUPS - 1:
        msg = f"By({feature.name!r}) has {limits.size} cuts; pass 1 to {MOST_GROUPS - 1} of them"
        raise BadSettingError(msg)
    if not np.all(np.isfinite(limits)):
        msg = f"By({feature.name!r}) has a cut that is missing or infinite: {list(cuts)}; leave it out"
        raise BadSettingError(msg)
    ends = [-inf, *limits.tolist(), inf]
    groups = [Group(low, high) for low, high in pairwise(ends)]
    return groups, [Rule(0, cut) for cut in limits.tolist()]


def take_values(feature: Feature) -> tuple[list[Group], list[Rule]]:
    """One group for each value of a column."""
    levels, values = feature.levels, feature.axis.values
    n_values = values.size if levels is None else levels.size
    if n_values > MOST_GROUPS or (levels is None and not feature.is_complete):
        msg = (
            f"By({feature.name!r}) has {n_values:,} values or more, and at most {MOST_GROUPS} groups "
            f"can be told apart; unite levels, By({feature.name!r}, groups={{'name': [levels]}}), or "
            f"cut numbers, By({feature.name!r}, cuts=[...])"
        )
        raise BadSettingError(msg)
    if levels is None:
        middles = (values[1:] + values[:-1]) / 2
        if not middles.size:
            return [Group()], []
        return cut_column(feature, middles.tolist())
    pooled = np.isnan(levels.places)  # rare levels: one that nobody names is most like them
    groups = [
        Group(levels=(name,), rest=bool(rare))
        for name, rare in zip(levels.names, pooled, strict=True)
    ]
    tests = [Rule(0, levels=(place,)) for place in levels.edges.tolist()]
    return groups, tests[:-1]


def unite_levels(feature: Feature, asked: Any) -> tuple[list[Group], list[Rule]]:
    """Groups of levels that the user names, and one of all others."""
    levels = feature.levels
    if levels is None:
        msg = f"By({feature.name!r}, groups=...) unites levels, but the column has none; use cuts=[...]"
        raise BadSettingError(msg)
    left = dict(zip(levels.names, levels.edges.tolist(), strict=True))
    groups, tests = list[Group](), list[Rule]()
    for name, members in asked.items():
        known = [str(member) for member in members]
        numbers = []
        for member in known:
            if member not in left:
                raise BadSettingError(_about_level(feature, member, name))
            numbers.append(left.pop(member))
        groups.append(Group(levels=tuple(known), name=name))
        tests.append(Rule(0, levels=tuple(numbers)))
    if left:
        groups.append(Group(levels=tuple(left), name="all others", rest=True))
    if len(groups) > MOST_GROUPS:
        msg = f"By({feature.name!r}) has {len(groups)} groups; at most {MOST_GROUPS} can be told apart"
        raise BadSettingError(msg)
    return groups, tests if left else tests[:-1]


def _about_level(feature: Feature, level: str, group: str) -> str:
    """Say why a level cannot be in a group."""
    levels = feature.levels
    assert levels is not None  # noqa: S101 - our own mistake
    said = f"By({feature.name!r}) has the level {level!r}"
    if level in levels.names:
        return f"{said} in group {group!r} a second time; name it once"
    if level in levels.pooled_names:
        return f"{said} in group {group!r}, which is rare and pooled with others; leave it out"
    return f"{said} in group {group!r}, which no row has; {near_names(level, list(levels.names))}"


def read_tree(tree: RegionTree, columns: Columns) -> UserGroups:
    """Regions that were found before, in this table."""
    if tree.groups is not None:
        msg = "By(regions) takes regions that were found; name the column of given groups again"
        raise BadSettingError(msg)
    place = {feature.name: k for k, feature in enumerate(columns.splitters)}
    gone = [split.feature for split in tree.splits if split.feature not in place]
    if gone:
        msg = f"regions look at {gone[0]!r}, which no row of this table has a value of"
        raise BadSettingError(msg)
    rules = tuple(
        split_to_rule(split, place[split.feature], columns.splitters) for split in tree.splits
    )
    return UserGroups(GroupingRules(rules, columns.splitters, len(tree)), splits=tree.splits)


def split_to_rule(split: Split, place: int, splitters: Sequence[Feature]) -> Rule:
    """A split by names as a rule by numbers."""
    feature, levels = splitters[place], splitters[place].levels
    rule = Rule(
        place,
        missing_first=split.missing == "first",
        first=split.first,
        second=split.second,
    )
    if split.threshold is not None:
        if feature.axis_kind != split.kind or not (levels is None or levels.is_number):
            held = "levels" if levels is not None else f"{feature.axis_kind}s"
            msg = (
                f"regions cut {split.feature!r} as a {split.kind}, and the column has {held} in this "
                "table"
            )
            raise BadSettingError(msg)
        above = -inf if split.above is None else split.above
        return replace(rule, threshold=split.threshold, above=above)
    if levels is None:
        msg = (
            f"regions look at levels of {split.feature!r}, which has none in this table: it holds "
            "numbers, or one value only"
        )
        raise BadSettingError(msg)
    unnamed = set(levels.names) - {*split.levels, *split.others}
    first = {*split.levels, *(unnamed if split.rest == "first" else ())}
    pairs = zip(levels.names, levels.edges.tolist(), strict=True)
    # no level at all would be read as a threshold
    return replace(rule, levels=tuple(at for name, at in pairs if name in first) or (-1,))
