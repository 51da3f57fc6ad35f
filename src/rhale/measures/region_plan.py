"""Between two passes: search for rows whose effect differs, and say what to measure of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import cast

import numpy as np

from rhale.features.feature import Feature
from rhale.features.first_pass import Columns
from rhale.kernels import FloatArray, IntArray
from rhale.kernels.axis import FeatureAxis
from rhale.kernels.region_codes import CodedRows, round_between
from rhale.kernels.region_find import check_groups, find_joint, find_regions
from rhale.kernels.region_finding import Finding, SearchRows, Target
from rhale.kernels.regions import By, Regions
from rhale.kernels.rules import Rule, depths_of, locate_rows, without_regions
from rhale.measures.binned import MIN_REGION_ROWS
from rhale.measures.given_groups import UserGroups, chain, parse_user_groups
from rhale.measures.grouped import Divisible, Grouped, GroupingRules, GroupMeasure, take_parts
from rhale.measures.measure import Conclusion, Measure, SampleParts
from rhale.measures.region_telling import Sketch, Telling
from rhale.results.effect import Effect
from rhale.results.level_effect import LevelEffect
from rhale.results.region_tree import Group, Groups

Done = tuple[Measure, Conclusion]
ABOUT = 0.02  # of the rows, around a third of them
HALF_BIT = np.uint64(5)  # of a row's key: smaller ones are taken by groups of rows


@dataclass(frozen=True, eq=False)
class RegionSearchPlan:
    """What is known of regions after the second pass.

    Attributes
    ----------
    columns : Columns
        What the first pass learned.
    sketches : dict of str to list of Sketch
        By feature, one for each output.
    measures : tuple of Grouped
        What to measure in the third pass.
    given : UserGroups or None
        Groups that the user named.
    """

    columns: Columns
    sketches: Mapping[str, list[Sketch]] = field(default_factory=dict)
    measures: tuple[Grouped, ...] = ()
    given: UserGroups | None = None

    def attach(
        self, result: Effect | LevelEffect, output: int, third: Conclusion | None
    ) -> Effect | LevelEffect:
        """Give an effect its regions."""
        own = self.sketches.get(result.name)
        sketch = Sketch(Finding(reason="alike")) if own is None else own[output]
        parts = () if third is None else third.parts
        told = Telling(sketch, self.columns.splitters, self.given, result, output, parts)
        tree = told.tree()
        if third is not None and third.groups is not None and len(tree) > 1:
            groups = third.groups[:, sketch.regions]
            tree = replace(tree, sampled=told.locate_sampled(groups))
        return replace(result, regions=tree)


def search_regions(
    asked: Regions | By,
    columns: Columns,
    done: Sequence[Done],
    sampled: SampleParts,
    rows: SearchRows,
) -> RegionSearchPlan:
    """Search the rows that were kept for regions of every feature and output.

    Parameters
    ----------
    asked : Regions or By
        What the user wants.
    columns : Columns
        What the first pass learned.
    done : sequence of (Measure, Conclusion)
        What the second pass measured.
    sampled : SampleParts
        What it kept of the rows.
    rows : SearchRows
        These rows, with the features that regions may be told by.
    """
    given = parse_user_groups(asked, columns) if isinstance(asked, By) else None
    settings = Regions() if isinstance(asked, By) else asked
    place = {feature.name: k for k, feature in enumerate(columns.splitters)}
    spreads = spreads_of(sampled)
    targets = {
        measure.feature.name: [
            aim(target, rows, spread, place.get(measure.feature.name, -1))
            for target, spread in zip(one.targets, spreads, strict=True)
        ]
        for measure, one in done
        if one.targets
    }
    seeker = Seeker(columns, settings, CodedRows(rows), given)
    findings = seeker.find(targets)
    sketches, measures = dict[str, list[Sketch]](), list[Grouped]()
    for measure, one in done:
        name = measure.feature.name
        if one.targets:
            base = cast(Divisible, measure)
            sketches[name], grouped = seeker.plan(base, findings[name], targets[name])
            measures += [] if grouped is None else [grouped]
    return RegionSearchPlan(columns, sketches, tuple(measures), given)


def read_search_rows(columns: Columns, done: Sequence[Done], sampled: SampleParts) -> SearchRows:
    """Values of the splitters in the rows that were kept, and who of them checks."""
    stands = dict[int, FloatArray]()
    for (measure, one), kept in zip(done, sampled.kept, strict=True):
        if kept.shape[1] and (one.targets or not one.results):  # a constant keeps no missing values
            stands[measure.feature.column] = kept[:, 0]
    splitters, n_rows = columns.splitters, sampled.weight.size
    return SearchRows(
        values=np.stack([stands[f.column] for f in splitters]).T  # they are read one by one
        if splitters
        else np.empty((n_rows, 0)),
        n_levels=np.array([count_levels(feature) for feature in splitters], dtype=np.int64),
        weight=sampled.weight,
        checks=(sampled.key >> HALF_BIT & np.uint64(1)).astype(np.bool_),
        n_features=len(columns.table.names),
    )


def count_levels(feature: Feature) -> int:
    """Levels of a splitter that have no order; 0 where values are ordered."""
    levels = feature.levels
    return 0 if levels is None or levels.has_order else levels.size


def spreads_of(sampled: SampleParts) -> list[float]:
    """Standard deviation of the predictions of each output."""
    spreads = []
    for predictions in sampled.predictions.T:
        told = np.isfinite(predictions)  # of the rows that the result keeps, at least
        spreads.append(weighted_deviation(predictions[told], sampled.weight[told]))
    return spreads


def aim(target: Target, rows: SearchRows, spread: float, own: int) -> Target:
    """Tell a target which splitter it is itself, and how its units compare with predictions."""
    spread_x = weighted_deviation(target.x, rows.weight[target.row])
    scale = spread_x / spread if spread > 0 else 0.0
    is_all = target.step is None and own >= 0 and target.row.size == rows.weight.size
    return replace(target, own=own, scale=scale, order=rows.orders[own] if is_all else None)


def weighted_deviation(values: FloatArray, weight: FloatArray) -> float:
    """Weighted standard deviation, divisor n; 0 where there are no rows."""
    total = float(weight.sum())
    if not total > 0:
        return 0.0
    mean = float(weight @ values) / total
    return float(np.sqrt(weight @ (values - mean) ** 2 / total))


@dataclass(frozen=True, eq=False)
class Seeker:
    """Rows to search, and how."""

    columns: Columns
    settings: Regions
    coded: CodedRows
    given: UserGroups | None

    @property
    def rows(self) -> SearchRows:
        """The rows."""
        return self.coded.rows

    def find(self, targets: Mapping[str, list[Target]]) -> dict[str, list[Finding]]:
        """What the search finds for every feature and output."""
        if self.given is not None:
            alone = {feature.name for feature in self.given.division.splitters}
            return {
                name: [Finding(reason="itself") if {name} == alone else self.check(t) for t in own]
                for name, own in targets.items()
            }
        if self.settings.joint:
            shared = [
                find_joint(self.coded, list(of_output), self.settings)
                for of_output in zip(*targets.values(), strict=True)
            ]
            return {
                name: [self.share_out(one, t) for one, t in zip(shared, own, strict=True)]
                for name, own in targets.items()
            }
        return {
            name: [find_regions(self.coded, target, self.settings) for target in own]
            for name, own in targets.items()
        }

    def check(self, target: Target) -> Finding:
        """How much the groups that the user named explain."""
        division = cast(UserGroups, self.given).division
        return self.share_out(Finding(rules=division.rules), target)

    def share_out(self, finding: Finding, target: Target) -> Finding:
        """How much regions that were not found for a feature alone explain of its spread."""
        if not finding.rules:
            return finding
        gain = check_groups(self.rows, self.locate(finding.rules), target, self.settings)
        return replace(finding, share=max(gain.share, 0.0), error=gain.error)

    def locate(self, rules: Sequence[Rule]) -> IntArray:
        """Groups of the searched rows."""
        values = self.rows.values
        return locate_rows(rules, lambda k: values[:, k], len(values))

    def plan(
        self, base: Divisible, findings: Sequence[Finding], targets: Sequence[Target]
    ) -> tuple[list[Sketch], Grouped | None]:
        """What to measure in a third pass for one feature, and what is known before."""
        divisions, parts, sketches = list[GroupingRules](), list[GroupMeasure](), list[Sketch]()

        def divide(division: GroupingRules, output: int) -> int:
            if division not in divisions:
                divisions.append(division)
            axes = self.list_axes(base.feature, targets[output], division)
            parts.extend(take_parts(base, divisions.index(division), output, axes))
            return divisions.index(division)

        for output, finding in enumerate(findings):
            sketch = self.sketch(finding, targets[output])
            known = sketch.finding
            if known.rules:
                regions = divide(self.division_of(known), output)
                sketch = replace(sketch, regions=regions)
            if known.gradual >= 0:
                groups, thirds = self.thirds_of(known.gradual, targets[output])
                sketch = replace(sketch, thirds=divide(thirds, output), third_groups=groups)
            sketches.append(sketch)
        return sketches, Grouped(base, tuple(divisions), tuple(parts)) if parts else None

    def sketch(self, finding: Finding, target: Target) -> Sketch:
        """What is known of the regions of a feature: those in which rows have a value of it.

        Regions that all features share, or that were found in another table, may have none.
        """
        splits = () if self.given is None else self.given.splits
        rows = rows_with_effect(target)
        known = Sketch(finding, splits=splits, n_searched=rows.size)
        if not finding.rules or (self.given is not None and self.given.groups is not None):
            return known
        group = self.locate(finding.rules)[rows]
        filled = np.bincount(group, minlength=len(finding.rules) + 1) >= MIN_REGION_ROWS
        rules, places = without_regions(finding.rules, filled.tolist())
        if not rules:
            nothing = replace(finding, rules=(), gains=(), share=0.0, error=np.nan, gradual=-1)
            return replace(known, finding=nothing)
        gains = tuple(finding.gains[k] for k in places) if finding.gains else ()
        left, _ = without_regions(splits, filled.tolist())
        named = tuple(replace(s, depth=d) for s, d in zip(left, depths_of(left), strict=True))
        return replace(known, finding=replace(finding, rules=rules, gains=gains), splits=named)

    def division_of(self, finding: Finding) -> GroupingRules:
        """Regions that were found, or groups that were named."""
        if self.given is not None and self.given.groups is not None:
            return self.given.division
        return GroupingRules(finding.rules, self.columns.splitters, len(finding.rules) + 1)

    def thirds_of(self, splitter: int, target: Target) -> tuple[Groups, GroupingRules]:
        """Thirds of the rows by the values of a splitter."""
        rows = rows_with_effect(target)
        values, weight = self.rows.values[rows, splitter], self.rows.weight[rows]
        known = ~np.isnan(values)
        cuts = cut_in_thirds(values[known], weight[known])
        feature = self.columns.splitters[splitter]
        groups = stretches_between(feature, cuts)
        tests = [Rule(0, cut) for cut in cuts]
        rules = chain(tests, has_missing=feature.n_missing > 0)
        is_cut = not groups[0].levels
        told = Groups(feature.name, feature.column, groups, is_cut, feature.axis_kind)
        return told, GroupingRules(rules, (feature,), len(groups))

    def list_axes(
        self, feature: Feature, target: Target, division: GroupingRules
    ) -> list[FeatureAxis]:
        """What is known of a feature in every group, from the searched rows."""
        values, place = self.rows.values, {f.name: k for k, f in enumerate(self.columns.splitters)}
        of = [place[f.name] for f in division.splitters]
        group = locate_rows(division.rules, lambda k: values[:, of[k]], len(values))[target.row]
        weight = self.rows.weight[target.row]
        return [
            axis_of_rows(feature.axis, target.x[group == g], weight[group == g], weight.sum())
            for g in range(division.n_groups)
        ]


def rows_with_effect(target: Target) -> IntArray:
    """The rows that have an effect, each once, in order."""
    return np.flatnonzero(np.bincount(target.row))


def axis_of_rows(
    whole: FeatureAxis, x: FloatArray, weight: FloatArray, total: float
) -> FeatureAxis:
    """The axis of some rows, as far as they tell; that of all where they do not."""
    if np.unique(x).size < 2:
        return whole
    values, place = np.unique(x, return_inverse=True)
    held = np.bincount(place, weight, values.size).astype(np.float64)
    n_rows = whole.rows * float(weight.sum()) / total
    return FeatureAxis(float(values[0]), float(values[-1]), values, held, n_rows)


def stretches_between(feature: Feature, cuts: Sequence[float]) -> tuple[Group, ...]:
    """What lies between cuts: values, or levels in their order."""
    ends, levels = [-np.inf, *cuts, np.inf], feature.levels
    if levels is None or levels.is_number:
        return tuple(Group(low, high) for low, high in pairwise(ends))
    found = []
    for low, high in pairwise(ends):
        inside = np.flatnonzero((levels.edges > low) & (levels.edges <= high))
        pooled = bool(np.isnan(levels.places[inside]).any())
        found.append(Group(levels=tuple(levels.names[k] for k in inside), rest=pooled))
    return tuple(found)


def cut_in_thirds(values: FloatArray, weight: FloatArray) -> list[float]:
    """Two values up to which a third and two thirds of the rows are; fewer where they are the same."""
    found, place = np.unique(values, return_inverse=True)
    reached = np.cumsum(np.bincount(place, weight, found.size))
    cuts = set()
    for third in (1 / 3, 2 / 3):
        # a rounder number is worth a few rows
        low, high = np.searchsorted(reached / reached[-1], [third - ABOUT, third + ABOUT])
        low, high = int(low), int(max(low + 1, high))
        if high < found.size:
            cuts.add(round_between(float(found[low]), float(found[high])))
    return sorted(cuts)
