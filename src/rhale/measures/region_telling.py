"""Regions as they are told: rules by names, effects, and why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rhale.features.feature import Feature
from rhale.kernels import IntArray
from rhale.kernels.region_finding import Finding, Reason
from rhale.kernels.rules import Rule, depths_of
from rhale.measures.binned import without_moved
from rhale.measures.given_groups import UserGroups
from rhale.measures.measure import PartResult
from rhale.results.effect import Effect
from rhale.results.level_effect import LevelEffect
from rhale.results.region_tree import Groups, Partner, Region, RegionTree, Split
from rhale.results.rules_in_words import ALL_ROWS, rules_of, rules_of_groups

REASONS: dict[Reason, str] = {
    "": "all rows with a value of this feature are in one region",
    "no splitter": "no other feature to split by",
    "alike": "rows hardly differ",
    "itself": "the groups are made of this feature itself",
    "nothing found": "no split tells rows apart",
    "not confirmed": "no split holds in rows that the search did not see",
    "any direction": "splits on features that are mixed at random explain as much",
    "too little": "what splits explain in rows that the search did not see is too little to matter",
}


@dataclass(frozen=True, eq=False)
class Sketch:
    """Regions of one feature and output before their rows are measured.

    Attributes
    ----------
    finding : Finding
        What the search found.
    regions, thirds : int
        Which divisions of the third pass are theirs; -1 for none.
    third_groups : Groups or None
        What tells the thirds apart.
    splits : tuple of Split
        The rules by names, where regions were given that had been found before.
    n_searched : int
        Rows with a value that were searched, or checked what was found.
    """

    finding: Finding
    regions: int = -1
    thirds: int = -1
    third_groups: Groups | None = None
    splits: tuple[Split, ...] = ()
    n_searched: int = 0


@dataclass(frozen=True, eq=False)
class Telling:
    """One feature and output, whose regions are to be told.

    Attributes
    ----------
    sketch : Sketch
        What is known of its regions.
    splitters : tuple of Feature
        Features that rules look at.
    given : UserGroups or None
        Groups that the user named.
    whole : Effect or LevelEffect
        The effect in all rows.
    output : int
        The output.
    parts : tuple of PartResult
        What the third pass measured of the feature.
    """

    sketch: Sketch
    splitters: tuple[Feature, ...]
    given: UserGroups | None
    whole: Effect | LevelEffect
    output: int
    parts: tuple[PartResult, ...]

    def tree(self) -> RegionTree:
        """The regions, with their effects."""
        finding = self.sketch.finding
        tree = RegionTree(
            feature=self.whole.name,
            output=self.whole.output,
            state="none",
            why=self.why() if self.sketch.regions < 0 else "",
            regions=(self.all_rows(),),
            share=finding.share,
            standard_error=finding.error,
            partners=self.partners(),
            unexplained=finding.unexplained,
        )
        if self.sketch.regions < 0:
            return tree
        return self.found(tree) if self.given is None else self.named(tree, self.given)

    def found(self, tree: RegionTree) -> RegionTree:
        """Regions that the search found."""
        finding, thirds = self.sketch.finding, self.sketch.third_groups
        splits = write_splits(finding.rules, finding, self.splitters)
        regions = self.regions(self.sketch.regions, rules_of(splits))
        tree = replace(tree, state="found", regions=tuple(regions.values()), splits=splits)
        if thirds is None:
            return tree
        told = self.regions(self.sketch.thirds, rules_of_groups(thirds))
        gradual = self.splitters[finding.gradual].name
        return replace(tree, gradual=gradual, thirds=tuple(told.values()))

    def named(self, tree: RegionTree, given: UserGroups) -> RegionTree:
        """Groups that the user named, as far as they have rows."""
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
        """Effects in the groups of a division that have rows enough, by the group."""
        return {
            part.group: part.effect
            for part in self.parts
            if (part.division, part.output) == (division, self.output) and part.effect is not None
        }

    def all_rows(self) -> Region:
        """The one region where nothing was found."""
        count, weight = count_of(self.whole)
        return Region(ALL_ROWS, count, 1.0 if weight > 0 else 0.0, self.whole)

    def regions(self, division: int, rules: Sequence[str]) -> dict[int, Region]:
        """Regions of one division that have rows, by their places."""
        _, total = count_of(self.whole)
        found = {}
        for group, effect in self.measured(division).items():
            count, weight = count_of(effect)
            own = replace(without_moved(effect), local_notes=self.whole.local_notes)
            found[group] = Region(rules[group], count, weight / total, own)
        return found

    def partners(self) -> tuple[Partner, ...]:
        """Features with which the effect changes, the one that explains most first."""
        finding = self.sketch.finding
        shares = zip(self.splitters, finding.partner_share, finding.partner_error, strict=False)
        known = [
            Partner(feature.name, max(float(share), 0.0), float(error))
            for feature, share, error in shares
            if np.isfinite(share) and feature.name != self.whole.name
        ]
        return tuple(sorted(known, key=lambda partner: -partner.share))

    def why(self) -> str:
        """Why there are no regions."""
        finding, n_rows = self.sketch.finding, self.sketch.n_searched
        if finding.reason == "few rows":
            return f"too few rows for a check ({n_rows:,})"
        return REASONS[finding.reason]


def keep_groups(groups: Groups, places: Sequence[int], *, has_pooled: bool) -> Groups:
    """Leave out groups without rows: their levels are nobody's, and so are those that none names.

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
    told = []
    for place, rule in enumerate(rules):
        split = write_split(rule, splitters[rule.splitter], depth[place])
        if gains:
            gain = gains[place]
            split = replace(split, share=gain.share, standard_error=gain.error, rows=gain.rows)
        told.append(split)
    return tuple(told)


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
