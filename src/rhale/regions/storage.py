"""Saved regions: what must hold between the fields of their records."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan
from typing import Any

import numpy as np

from rhale.output.storage.values import (
    ArrayDimension,
    Kind,
    Maybe,
    Record,
    RecordUnion,
    Several,
    checks,
    refuse_file_content,
)
from rhale.regions.result import MAX_STORED_REGIONS, Groups, Region, RegionTree, Split

MOST_THIRDS = 4  # rows without a value may be one more


@checks(Split)
def _agree_split(split: Split, where: str) -> None:
    """A threshold is a number, and levels belong to splits without one, each to one side."""
    if split.threshold is not None and isnan(split.threshold):
        refuse_file_content(f"{where}threshold is unknown")
    if split.above is not None and not (
        split.threshold is not None and split.above < split.threshold
    ):
        refuse_file_content(f"{where}above is not below a threshold")
    if split.threshold is not None and (split.levels or split.others):
        refuse_file_content(f"{where}levels has entries beside a threshold")
    if not set(split.levels).isdisjoint(split.others):
        refuse_file_content(f"{where}others has a level that goes first")


@checks(Groups)
def _agree_groups(groups: Groups, where: str) -> None:
    """Cuts are numbers in order, and no level is in two groups."""
    ends = [end for group in groups.groups for end in (group.low, group.high)]
    known = [end for end in ends if end != inf]  # a group of missing values has no others
    if any(map(isnan, ends)) or known != sorted(known):
        refuse_file_content(f"{where}groups are not in the order of their cuts")
    levels = [level for group in groups.groups for level in group.levels]
    if len(set(levels)) < len(levels):
        refuse_file_content(f"{where}groups name a level twice")
    for what in ("missing", "rest"):
        if sum(getattr(group, what) for group in groups.groups) > 1:
            refuse_file_content(f"{where}groups hold {what} rows twice")


@checks(RegionTree)
def _agree_tree(tree: RegionTree, where: str) -> None:
    """Rules reach every region, which are as many as the state says, and rows are in them."""
    n_regions = len(tree.regions)
    if tree.groups is not None and (tree.splits or len(tree.groups.groups) != n_regions):
        refuse_file_content(f"{where}groups are not the regions")
    if tree.groups is None:
        _agree_splits(tree.splits, n_regions, f"{where}splits")
    _agree_splits(tree.doubtful, len(tree.doubtful) + 1, f"{where}doubtful")
    if tree.state in ("none", "doubtful") and n_regions > 1:
        refuse_file_content(f"{where}state is {tree.state!r} of {n_regions} regions")
    if np.any(tree.sampled >= n_regions) or (n_regions == 1 and tree.sampled.size):
        refuse_file_content(f"{where}sampled has rows of a region that is not there")
    for name in ("regions", "thirds"):
        for i, region in enumerate(getattr(tree, name)):
            # its effect is that of the tree's feature; that of all rows is left out where it is
            # alone
            effect: Any = region.effect
            if effect is None:
                if len(tree.regions) > 1 or region is not tree.regions[0]:
                    refuse_file_content(f"{where}{name}[{i}].effect is missing")
            elif (effect.name, effect.output) != (tree.feature, tree.output):
                refuse_file_content(
                    f"{where}{name}[{i}].effect is of another feature or output than the regions"
                )


def _agree_splits(splits: Sequence[Split], n_regions: int, where: str) -> None:
    """A tree: what a split names comes behind it, and everything is named once."""
    depths, ends = {0: 0}, set[int]()
    for place, split in enumerate(splits):
        for after in (split.first, split.second):
            if after in depths or after in ends or 0 <= after <= place:
                refuse_file_content(f"{where}[{place}] leads where another split leads, or back")
            if after < 0:
                ends.add(after)
            else:
                depths[after] = split.depth + 1
        if depths.get(place) != split.depth:
            refuse_file_content(
                f"{where}[{place}].depth is not that of its place, or no split leads there"
            )
    if not splits:
        ends = {-1}
    if ends != set(range(-n_regions, 0)) or len(depths) > max(len(splits), 1):
        refuse_file_content(f"{where} do not lead to the {n_regions} regions")


def agree_regions(effect: Any, where: str) -> None:
    """Regions are those of the effect that has them, and their effects are of its kind."""
    tree = effect.regions
    if tree is None:
        return
    if (tree.feature, tree.output) != (effect.name, effect.output):
        refuse_file_content(f"{where}regions are of another feature or output")
    for region in (*tree.regions, *tree.thirds):
        if region.effect is not None and type(region.effect) is not type(effect):
            refuse_file_content(f"{where}regions have effects of another kind")


def region_records(effects: Kind) -> tuple[Record, Record]:
    """Records of the regions of a feature, and of one of them, whose effects are these."""
    region = Record(Region, {"effect": Maybe(effects)})
    regions = RecordUnion.of(region)
    several = ArrayDimension("regions", least=1, most=MAX_STORED_REGIONS)
    tree = Record(
        RegionTree,
        {
            "regions": Several(regions, several),
            "thirds": Several(regions, ArrayDimension("thirds", most=MOST_THIRDS)),
        },
    )
    return tree, region
