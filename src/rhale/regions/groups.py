"""Effects in groups of rows: the same sums region by region; groups given by the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from rhale.data import Chunk
from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.binning.fit import Unbinned
from rhale.effects.effect import Effect
from rhale.effects.jumps import JumpQuestion, join_marks
from rhale.effects.level_effect import LevelEffect
from rhale.effects.local.measure import (
    ChunkResult,
    Conclusion,
    Measure,
    MeasureContext,
    MeasuredChunk,
    MeasureSample,
    Needs,
    PartResult,
    Questions,
    Replies,
    SampleParts,
)
from rhale.errors import BadSettingError
from rhale.features.feature import Columns, Feature
from rhale.features.survey import Survey
from rhale.naming import near_names
from rhale.output.number_format import as_numbers
from rhale.regions.result import Group, Groups, RegionTree, Split
from rhale.regions.rules import Rule, locate_rows
from rhale.regions.settings import MOST_GROUPS, By, SearchRows
from rhale.stats.arrays import FloatArray, IntArray, crosses_processes

NOBODY = -1  # group of rows that are in none


class Divisible(Measure, Protocol):
    """A measure that can be restricted to groups of rows: the others are ignored."""

    def in_region(self, axis: FeatureAxis) -> Divisible:
        """The same measure for the rows of a region, whose axis is given."""

    def recall(self, rows: MeasureSample) -> Any:
        """Sums over rows, from what was kept of each; None where that is not enough."""

    def conclude_region(
        self, total: Any, kept: FloatArray, context: MeasureContext, output: int
    ) -> Effect | LevelEffect | Unbinned | None:
        """The effect on one output of rows that count; None where there are too few of them."""


@dataclass(frozen=True, eq=False)
class GroupingRules:
    """Rules that divide rows into groups."""

    rules: tuple[Rule, ...]  # a tree, see `locate_rows`; its splitters are places in `splitters`
    splitters: tuple[Feature, ...]  # what the rules look at
    n_groups: int  # groups that count: rows with larger numbers are in none

    def locate(self, chunk: Chunk) -> IntArray:
        """Group of every row of a chunk."""
        return self.locate_by(lambda k: self.splitters[k].axis_positions(chunk), chunk.n_rows)

    def locate_by(self, values: Callable[[int], FloatArray], n_rows: int) -> IntArray:
        """Group of every row, from the values of each splitter."""
        found = locate_rows(self.rules, values, n_rows)
        return np.where(found < self.n_groups, found, NOBODY)


class GroupMeasure(NamedTuple):
    """One group of one division, and how it is measured, for one output."""

    measure: Divisible
    division: int
    group: int
    output: int


@crosses_processes
@dataclass(frozen=True, eq=False)
class GroupTotals:
    """Sums of each part over some rows."""

    totals: tuple[Any, ...]

    def __add__(self, other: GroupTotals) -> GroupTotals:
        return GroupTotals(tuple(a + b for a, b in zip(self.totals, other.totals, strict=True)))


@dataclass(frozen=True, eq=False)
class Grouped:
    """A measure, taken apart by divisions of the rows."""

    base: Divisible  # the measure of all rows: rows are asked about as it does, once for all groups
    divisions: tuple[GroupingRules, ...]  # regions of each output, thirds of a feature
    parts: tuple[GroupMeasure, ...]
    n_points: ClassVar[int] = 1

    @property
    def feature(self) -> Feature:
        """Whose effect is measured."""
        return self.base.feature

    @property
    def needs(self) -> Needs:
        """What the measure needs."""
        return self.base.needs

    @property
    def n_changes(self) -> int:
        """Changes that the measure asks about."""
        return self.base.n_changes

    def n_kept(self, n_outputs: int) -> int:
        """What the measure keeps, and the groups."""
        return self.base.n_kept(n_outputs) + len(self.divisions)

    def questions(self, rows: MeasuredChunk) -> Questions:
        """The questions of the measure; about jumps, one for all parts of a division."""
        groups = [division.locate(rows.chunk) for division in self.divisions]
        asked = self.base.questions(rows)
        memory = groups, asked
        if not asked.jumps:
            return replace(asked, memory=memory)
        (whole,) = asked.jumps
        jumps = [self.divide(whole, rows, place, g) for place, g in enumerate(groups)]
        return Questions(memory=memory, jumps=jumps, subset_queries=asked.subset_queries)

    def divide(
        self, whole: JumpQuestion, rows: MeasuredChunk, division: int, group: IntArray
    ) -> JumpQuestion:
        """Ask about the jumps of all groups of a division: rows have neighbours in their own."""
        mark, marks = np.full(group.size, -1), [whole.marks]  # there may be no part at all
        for one in self.parts:
            if one.division != division:
                continue
            mine = replace(rows, counted=group == one.group)
            (asked,) = one.measure.questions(mine).jumps
            n_before = sum(some.n_marks for some in marks)
            np.add(asked.mark, n_before, out=mark, where=asked.mark >= 0, dtype=np.intp)
            marks.append(asked.marks.of_part(one.group))
        n_parts = self.divisions[division].n_groups
        return replace(whole, marks=join_marks(marks), mark=mark, n_parts=n_parts)

    def add_up(self, rows: MeasuredChunk, asked: Questions, replies: Replies) -> ChunkResult:
        """Add up part by part."""
        groups, base_asked = asked.memory
        chunk_results = []
        for part in self.parts:
            own = replies
            if replies.jumps:  # they come by division, and their sums by group
                reply = replies.jumps[part.division]
                own = replace(replies, jumps=(replace(reply, sums=reply.sums.of_part(part.group)),))
            some = replace(rows, counted=np.asarray(groups[part.division] == part.group))
            chunk_results.append(part.measure.add_up(some, base_asked, own))
        sampled = [group[rows.sampled] for group in groups]
        kept = np.column_stack([chunk_results[0].kept, *sampled])
        return ChunkResult(GroupTotals(tuple(result.total for result in chunk_results)), kept)

    def recall(
        self, rows: MeasureSample, times: IntArray, groups: Sequence[IntArray]
    ) -> GroupTotals | None:
        """Sums of each part, from what was kept of every row; None where that is not enough."""
        some = rows._replace(weight=rows.weight / times)
        totals = list[Any]()
        for part in self.parts:
            inside = np.repeat(np.arange(times.size), times * (groups[part.division] == part.group))
            own = MeasureSample(some.kept[inside], some.weight[inside], some.key[inside])
            totals.append(part.measure.recall(own))
        return None if any(total is None for total in totals) else GroupTotals(tuple(totals))

    def conclude(self, total: GroupTotals, kept: FloatArray, context: MeasureContext) -> Conclusion:
        """The effect in every group."""
        n_own = self.base.n_kept(len(context.outputs))
        own, groups = kept[:, :n_own], kept[:, n_own:]
        assert context.sampled is not None  # noqa: S101 - our own mistake
        sampled, parts = context.sampled, []
        for part, sums in zip(self.parts, total.totals, strict=True):
            inside = groups[:, part.division] == part.group
            every = sampled.kept[:, n_own + part.division] == part.group
            moved = MeasureSample(*(each[every] for each in sampled))
            moved = moved._replace(kept=moved.kept[:, :n_own])
            some = replace(context, weight=context.weight[inside], sampled=moved)
            found = part.measure.conclude_region(sums, own[inside], some, part.output)
            parts.append(PartResult(part.division, part.group, part.output, found))
        return Conclusion(parts=tuple(parts), groups=groups.astype(np.int64))


def take_parts(
    base: Divisible, division: int, output: int, axes: Sequence[FeatureAxis | None]
) -> list[GroupMeasure]:
    """One part for each group of a division; a group without an axis has no rows to measure."""
    return [
        GroupMeasure(base.in_region(axis), division, group, output)
        for group, axis in enumerate(axes)
        if axis is not None
    ]


class Recalled(NamedTuple):
    """Measures of regions whose sums follow from kept rows, without another pass."""

    # measures, totals: the measures, and their sums
    measures: Sequence[Grouped]
    totals: Sequence[GroupTotals]
    sampled: SampleParts  # what is kept of the rows
    left: tuple[Grouped, ...]  # measures that need a pass of their own


def recall_regions(
    measures: Sequence[Grouped],
    done: Sequence[tuple[Measure, Conclusion]],
    sampled: SampleParts,
    rows: SearchRows,
    columns: Columns,
) -> Recalled:
    """Add up regions from what was kept of the rows, where these are all rows of the table.

    `done` has the measures of all rows in the order of `sampled`.
    """
    times = count_alike(sampled, columns.survey)
    if times is None:
        return Recalled((), (), replace(sampled, kept=()), tuple(measures))
    place = {id(base): at for at, (base, _) in enumerate(done)}
    names = {splitter.name: at for at, splitter in enumerate(columns.splitters)}
    recalled, totals, kept = list[Grouped](), list[GroupTotals](), list[FloatArray]()
    left = list[Grouped]()
    for one in measures:
        own = sampled.of_measure(place[id(one.base)])
        groups = []
        for division in one.divisions:
            values = [rows.values[:, names[splitter.name]] for splitter in division.splitters]
            groups.append(division.locate_by(values.__getitem__, len(rows.values)))
        sums = one.recall(own, times, groups)
        if sums is None:
            left.append(one)
            continue
        recalled.append(one)
        totals.append(sums)
        kept.append(np.column_stack([own.kept, *groups]))
    return Recalled(recalled, totals, replace(sampled, kept=tuple(kept)), tuple(left))


def count_alike(sampled: SampleParts, survey: Survey) -> IntArray | None:
    """How often each row is in the table; None where some rows are not among these."""
    # Of rows that are alike one is kept, with the weight of all: their number where all weights are
    # one, and unknown elsewhere.
    times = np.ones(sampled.key.size, dtype=np.intp)
    if survey.weight == survey.weight_squares == survey.n_rows:  # the sum of (w - 1)² is zero
        times = sampled.weight.astype(np.intp)
    return times if int(times.sum()) == survey.n_rows else None


# --- Groups that the user names: the values of a column, stretches between cuts, united levels


@dataclass(frozen=True, eq=False)
class UserGroups:
    """Groups that the user named: how rows are assigned to them, and what describes them."""

    division: GroupingRules  # which group a row is in
    groups: Groups | None = None  # what describes them, where they are made of one column
    # what describes them, where they are regions that were found before
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
    described = Groups(feature.name, feature.column, tuple(groups), is_cut, feature.axis_kind)
    rules = chain(tests, has_missing=has_missing)
    return UserGroups(GroupingRules(rules, (feature,), len(groups)), described)


def chain(tests: Sequence[Rule], *, has_missing: bool) -> tuple[Rule, ...]:
    """A chain of rules: rows that pass a test are in its group, those that pass none in the last.

    Rows without a value are one more group, the last.
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
            f"are possible; unite levels, By({feature.name!r}, groups={{'name': [levels]}}), or "
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
                msg = f"By({feature.name!r}) has the level {member!r} in group {name!r}"
                if member in levels.names:
                    msg += " a second time; name it once"
                elif member in levels.pooled_names:
                    msg += ", which is rare and pooled with others; leave it out"
                else:
                    msg += f", which no row has; {near_names(member, list(levels.names))}"
                raise BadSettingError(msg)
            numbers.append(left.pop(member))
        groups.append(Group(levels=tuple(known), name=name))
        tests.append(Rule(0, levels=tuple(numbers)))
    if left:
        groups.append(Group(levels=tuple(left), name="all others", rest=True))
    if len(groups) > MOST_GROUPS:
        msg = f"By({feature.name!r}) has {len(groups)} groups; at most {MOST_GROUPS} are possible"
        raise BadSettingError(msg)
    return groups, tests if left else tests[:-1]


def read_tree(tree: RegionTree, columns: Columns) -> UserGroups:
    """Regions that were found before, in this table."""
    if tree.groups is not None:
        msg = "By(regions) takes regions that were found; name the column of given groups again"
        raise BadSettingError(msg)
    place = {feature.name: k for k, feature in enumerate(columns.splitters)}
    gone = [split.feature for split in tree.splits if split.feature not in place]
    if gone:
        msg = f"regions split by {gone[0]!r}, of which no row of this table has a value"
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
            f"regions split by levels of {split.feature!r}, which has none in this table: it holds "
            "numbers, or one value only"
        )
        raise BadSettingError(msg)
    unnamed = set(levels.names) - {*split.levels, *split.others}
    first = {*split.levels, *(unnamed if split.rest == "first" else ())}
    pairs = zip(levels.names, levels.edges.tolist(), strict=True)
    # no level at all would be read as a threshold
    return replace(rule, levels=tuple(at for name, at in pairs if name in first) or (-1,))
