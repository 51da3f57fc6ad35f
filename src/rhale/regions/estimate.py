"""Regions within a call: the search between two passes, and results with rules by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np

from rhale.effects.binning.axis import FeatureAxis
from rhale.effects.effect import Effect
from rhale.effects.level_effect import LevelEffect
from rhale.effects.local.binned import MIN_REGION_ROWS, without_moved
from rhale.effects.local.measure import Conclusion, Measure, PartResult, SampleParts
from rhale.features.feature import Columns, Feature
from rhale.regions.find import check_groups, find_joint, find_regions
from rhale.regions.groups import (
    Divisible,
    Grouped,
    GroupingRules,
    GroupMeasure,
    UserGroups,
    chain,
    parse_user_groups,
    take_parts,
)
from rhale.regions.partner_shares import code_partners, find_chances, measure_partners
from rhale.regions.partners import PartnerMatrix
from rhale.regions.residuals import CodedRows, round_between
from rhale.regions.result import Group, Groups, Partner, Region, RegionTree, Split
from rhale.regions.rules import Rule, depths_of, locate_rows, without_regions
from rhale.regions.settings import By, Finding, Reason, Regions, SearchRows, Target
from rhale.regions.wording import ALL_ROWS, rules_of, rules_of_groups
from rhale.stats.arrays import FloatArray, IntArray

# --- Results: rules by names, effects, and why there are none


REASONS: dict[Reason, str] = {
    "": "all rows with a value of this feature are in one region",
    "no splitter": "there is no other feature to split by",
    "alike": "rows hardly differ",
    "itself": "the groups are made of this feature itself",
    "nothing found": "no split separates rows with different effects",
    "not confirmed": "no split was confirmed on held-out rows",
    "any direction": "splits on random combinations of features explain as much",
    "too little": "splitting the rows explains almost none of the spread (checked on held-out rows)",
}


@dataclass(frozen=True, eq=False)
class Sketch:
    """Regions of one feature and output before their rows are measured."""

    finding: Finding  # what the search found
    # regions, thirds: which divisions of the third pass are theirs; -1 for none
    regions: int = -1
    thirds: int = -1
    third_groups: Groups | None = None  # what describes the thirds
    # the rules by names, where regions were given that had been found before
    splits: tuple[Split, ...] = ()
    n_searched: int = 0  # rows with a value that were searched, or checked what was found


@dataclass(frozen=True, eq=False)
class RegionTreeBuilder:
    """Builds the regions of one feature and output from what the third pass measured."""

    sketch: Sketch  # what the search found
    splitters: tuple[Feature, ...]  # features that rules look at
    given: UserGroups | None  # groups that the user named
    whole: Effect | LevelEffect  # the effect in all rows
    output: int
    parts: tuple[PartResult, ...]  # what the third pass measured of the feature

    def tree(self) -> RegionTree:
        """The regions, with their effects."""
        sketch, finding, whole = self.sketch, self.sketch.finding, self.whole
        count, weight = count_of(whole)
        why = REASONS.get(
            finding.reason, f"there are too few rows to check a split ({sketch.n_searched:,})"
        )
        # features with which the effect changes, the one that explains most first
        shares = zip(self.splitters, finding.partner_share, finding.partner_error, strict=False)
        partners = [
            Partner(feature.name, max(float(share), 0.0), float(error))
            for feature, share, error in shares
            if np.isfinite(share) and feature.name != whole.name
        ]
        tree = RegionTree(
            feature=whole.name,
            output=whole.output,
            state="none",
            why=why if sketch.regions < 0 else "",
            regions=(Region(ALL_ROWS, count, 1.0 if weight > 0 else 0.0, whole),),
            share=finding.share,
            standard_error=finding.error,
            partners=tuple(sorted(partners, key=lambda partner: -partner.share)),
            unexplained=finding.unexplained,
        )
        if sketch.regions < 0:
            return tree
        if self.given is not None:
            return self.with_user_groups(tree, self.given)
        splits = write_splits(finding.rules, finding, self.splitters)
        regions = self.regions(sketch.regions, rules_of(splits))
        tree = replace(tree, state="found", regions=tuple(regions.values()), splits=splits)
        if sketch.third_groups is None:
            return tree
        thirds = self.regions(sketch.thirds, rules_of_groups(sketch.third_groups))
        gradual = self.splitters[finding.gradual].name
        return replace(tree, gradual=gradual, thirds=tuple(thirds.values()))

    def with_user_groups(self, tree: RegionTree, given: UserGroups) -> RegionTree:
        """Put the groups that the user named into a tree, as far as they have rows."""
        groups, splits = given.groups, self.sketch.splits
        rules = rules_of(splits) if groups is None else rules_of_groups(groups)
        regions = self.regions(self.sketch.regions, rules)
        if groups is not None:
            levels = given.division.splitters[0].levels
            has_pooled = levels is not None and bool(levels.pooled_names)
            groups = keep_groups(groups, list(regions), has_pooled=has_pooled)
        return replace(
            tree,
            state="given",
            regions=tuple(regions.values()) or tree.regions,
            splits=splits,
            groups=groups if regions else None,
        )

    def locate_sampled(self, groups: IntArray) -> IntArray:
        """Regions of sampled rows, by the groups that they are in; -1 where a group has none."""
        place = {group: at for at, group in enumerate(self.measured(self.sketch.regions))}
        return np.array([place.get(group, -1) for group in groups.tolist()], dtype=np.int64)

    def measured(self, division: int) -> dict[int, Effect | LevelEffect]:
        """Effects in the groups of a division that have enough rows, by the group."""
        return {
            part.group: part.effect
            for part in self.parts
            if (part.division, part.output) == (division, self.output) and part.effect is not None
        }

    def regions(self, division: int, rules: Sequence[str]) -> dict[int, Region]:
        """Regions of one division that have rows, by the group."""
        _, total = count_of(self.whole)
        found = {}
        for group, effect in self.measured(division).items():
            count, weight = count_of(effect)
            own = replace(without_moved(effect), local_notes=self.whole.local_notes)
            found[group] = Region(rules[group], count, weight / total, own)
        return found


def keep_groups(groups: Groups, places: Sequence[int], *, has_pooled: bool) -> Groups:
    """Leave out groups without rows: their levels are in no group, as those that no group names.

    Rare levels that are pooled stay where they are: they are known by no name of their own.
    """
    left = [groups.groups[place] for place in places]
    gone = any(group.levels for group in groups.groups if group not in left)
    if gone and not has_pooled:
        left = [group._replace(rest=False) for group in left]
    return replace(groups, groups=tuple(left))


def count_of(effect: Effect | LevelEffect) -> tuple[int, float]:
    """Rows of an effect, and their weight."""
    found: Any = effect
    if effect.parts == "levels":
        return int(found.level_count.sum()), float(found.level_weight.sum())
    return int(found.count.sum()), float(found.weight.sum())


def write_splits(
    rules: Sequence[Rule], finding: Finding, splitters: Sequence[Feature]
) -> tuple[Split, ...]:
    """Rules by numbers as splits by names."""
    depth = depths_of(rules)
    gains = finding.gains if rules is finding.rules else ()
    splits = []
    for place, rule in enumerate(rules):
        split = write_split(rule, splitters[rule.splitter], depth[place])
        if gains:
            gain = gains[place]
            split = replace(split, share=gain.share, standard_error=gain.error, rows=gain.rows)
        splits.append(split)
    return tuple(splits)


def write_split(rule: Rule, feature: Feature, depth: int) -> Split:
    """One rule by the name of its feature, and of its levels."""
    split = Split(
        depth=depth,
        feature=feature.name,
        column=feature.column,
        threshold=rule.threshold,
        missing=("first" if rule.missing_first else "second") if feature.n_missing else "none",
        first=rule.first,
        second=rule.second,
        kind=feature.axis_kind,
        above=rule.above if np.isfinite(rule.above) else None,
    )
    levels = feature.levels
    if levels is None or (levels.is_number and not is_truth(levels.names)):
        return split
    goes = rule.goes_first(levels.edges)
    names = np.array(levels.names, dtype=object)
    pooled = np.isnan(levels.places) & goes
    return replace(
        split,
        threshold=None,
        above=None,
        levels=tuple(names[goes]),
        others=tuple(names[~goes]),
        rest="first" if pooled.any() else "second",
    )


def is_truth(names: Sequence[str]) -> bool:
    """Whether levels are truth values."""
    return set(names) <= {"True", "False"}


Done = tuple[Measure, Conclusion]
ABOUT = 0.02  # of the rows, around a third of them
HALF_BIT = np.uint64(5)  # of a row's key: smaller ones are taken by groups of rows


@dataclass(frozen=True, eq=False)
class RegionSearchPlan:
    """What is known of regions after the second pass."""

    columns: Columns  # what the first pass learned
    # by feature, one for each output
    sketches: Mapping[str, list[Sketch]] = field(default_factory=dict)
    measures: tuple[Grouped, ...] = ()  # what to measure in the third pass
    given: UserGroups | None = None  # groups that the user named

    def attach(
        self, result: Effect | LevelEffect, output: int, third: Conclusion | None
    ) -> Effect | LevelEffect:
        """Give an effect its regions."""
        own = self.sketches.get(result.name)
        sketch = Sketch(Finding(reason="alike")) if own is None else own[output]
        parts = () if third is None else third.parts
        builder = RegionTreeBuilder(
            sketch, self.columns.splitters, self.given, result, output, parts
        )
        tree = builder.tree()
        if third is not None and third.groups is not None and len(tree) > 1:
            groups = third.groups[:, sketch.regions]
            tree = replace(tree, sampled=builder.locate_sampled(groups))
        return replace(result, regions=tree)


def search_regions(
    asked: Regions | By,
    columns: Columns,
    done: Sequence[Done],
    sampled: SampleParts,
    rows: SearchRows,
) -> RegionSearchPlan:
    """Search the rows that were kept for regions of every feature and output.

    `sampled` is what the second pass kept of the rows, `rows` the same rows with their splitters.
    """
    given = parse_user_groups(asked, columns) if isinstance(asked, By) else None
    settings = Regions() if isinstance(asked, By) else asked
    place = {feature.name: k for k, feature in enumerate(columns.splitters)}
    spreads = prediction_deviations(sampled)
    targets = {
        measure.feature.name: [
            scale_target(target, rows, spread, place.get(measure.feature.name, -1))
            for target, spread in zip(one.targets, spreads, strict=True)
        ]
        for measure, one in done
        if one.targets
    }
    search = RegionSearch(columns, settings, CodedRows(rows), given)
    findings = search.find(targets)
    sketches, measures = dict[str, list[Sketch]](), list[Grouped]()
    for measure, one in done:
        name = measure.feature.name
        if one.targets:
            base = cast(Divisible, measure)
            sketches[name], grouped = search.plan(base, findings[name], targets[name])
            measures += [] if grouped is None else [grouped]
    return RegionSearchPlan(columns, sketches, tuple(measures), given)


def read_search_rows(columns: Columns, done: Sequence[Done], sampled: SampleParts) -> SearchRows:
    """Values of the splitters in the rows that were kept, and which of them are the holdout."""
    positions = dict[int, FloatArray]()
    for (measure, one), kept in zip(done, sampled.kept, strict=True):
        if kept.shape[1] and (one.targets or not one.results):  # a constant keeps no missing values
            positions[measure.feature.column] = kept[:, 0]
    splitters, n_rows = columns.splitters, sampled.weight.size
    return SearchRows(
        values=np.stack([positions[f.column] for f in splitters]).T  # they are read one by one
        if splitters
        else np.empty((n_rows, 0)),
        n_levels=np.array([count_levels(feature) for feature in splitters], dtype=np.int64),
        weight=sampled.weight,
        is_holdout=(sampled.key >> HALF_BIT & np.uint64(1)).astype(np.bool_),
        n_features=len(columns.table.names),
    )


def count_levels(feature: Feature) -> int:
    """Levels of a splitter that have no order; 0 where values are ordered."""
    levels = feature.levels
    return 0 if levels is None or levels.has_order else levels.size


def prediction_deviations(sampled: SampleParts) -> list[float]:
    """Standard deviation of the predictions of each output."""
    spreads = []
    for predictions in sampled.predictions.T:
        known = np.isfinite(predictions)  # of the rows that the result keeps, at least
        spreads.append(weighted_deviation(predictions[known], sampled.weight[known]))
    return spreads


def scale_target(target: Target, rows: SearchRows, spread: float, own: int) -> Target:
    """Add to a target which splitter it is, and the scale of its units in the predictions."""
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
class RegionSearch:
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
                if self.given is not None and self.given.groups is not None:
                    division = self.given.division
                else:
                    n_regions = len(known.rules) + 1
                    division = GroupingRules(known.rules, self.columns.splitters, n_regions)
                sketch = replace(sketch, regions=divide(division, output))
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

    def thirds_of(self, splitter: int, target: Target) -> tuple[Groups, GroupingRules]:
        """Thirds of the rows by the values of a splitter."""
        rows = rows_with_effect(target)
        values, weight = self.rows.values[rows, splitter], self.rows.weight[rows]
        known = ~np.isnan(values)
        cuts = cut_in_thirds(values[known], weight[known])
        feature = self.columns.splitters[splitter]
        stretches = stretches_between(feature, cuts)
        tests = [Rule(0, cut) for cut in cuts]
        rules = chain(tests, has_missing=feature.n_missing > 0)
        is_cut = not stretches[0].levels
        groups = Groups(feature.name, feature.column, stretches, is_cut, feature.axis_kind)
        return groups, GroupingRules(rules, (feature,), len(stretches))

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
    """The axis of some rows, where they have several values; that of all elsewhere."""
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
    """Values up to which a third and two thirds of the rows are; one where they are the same."""
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


# --- Partners of every feature, from the rows that were kept in the second pass


NO_EFFECTS = Target(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0), np.empty(0))


@dataclass(frozen=True, eq=False)
class PartnerSearch:
    """All that partners are measured from, when they are first read."""

    names: tuple[str, ...]
    rows: SearchRows  # their values in the rows that were kept
    # local effects of all features and outputs in these rows, each with the deviation of the
    # predictions and the place of its feature among the partners, as `scale_target` takes them
    targets: tuple[tuple[Target, float, int], ...]

    def measure(self) -> PartnerMatrix:
        """Measure the partners of all features and outputs."""
        partners = code_partners(self.rows)
        aimed = (
            scale_target(target, self.rows, spread, own) for target, spread, own in self.targets
        )
        found = [measure_partners(partners, target) for target in aimed]
        return PartnerMatrix(
            names=self.names,
            share=np.stack([one.share for one in found]),
            standard_error=np.stack([one.error for one in found]),
            p_value=find_chances(found),
            own_share=np.stack([one.own_share for one in found]),
            proxy_of=np.stack([one.proxy_of for one in found]),
            size=np.stack([one.size for one in found]),
            unexplained=np.array([one.unexplained for one in found]),
            rows=np.array([one.rows for one in found], dtype=np.int64),
        )


def plan_partners(
    columns: Columns, done: Sequence[Done], sampled: SampleParts, rows: SearchRows
) -> PartnerSearch:
    """Gather what the partners of all features and outputs are measured from.

    Partners are the splitters of `columns` where regions were searched, the explained features
    otherwise; `done` has the local effects of the rows that were kept, `rows` their splitters.
    """
    targets = {m.feature.name: one.targets for m, one in done if one.targets}
    explained = tuple(f for f in columns.features if f.name in targets)
    looked = columns.splitters or explained
    if not columns.splitters:
        rows = read_search_rows(replace(columns, splitters=looked), done, sampled)
    place, spreads = {f.name: k for k, f in enumerate(looked)}, prediction_deviations(sampled)
    aimed = tuple(
        (target, spread, place.get(feature.name, -1))
        for feature in columns.features
        for target, spread in zip(
            targets.get(feature.name, (NO_EFFECTS,) * len(spreads)), spreads, strict=True
        )
    )
    return PartnerSearch(tuple(feature.name for feature in looked), rows, aimed)
