"""Regions by what people read: rules and partners name features by their captions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rhale.results.captions import Captions
from rhale.results.listing import shorten
from rhale.results.region_tree import Region, RegionTree, Split
from rhale.results.rules_in_words import LONGEST_NAME, rules_of, rules_of_groups


def speak_regions(tree: RegionTree, captions: Captions) -> RegionTree:
    """Name features by their captions, in rules and wherever else the tree has them.

    Parameters
    ----------
    tree : RegionTree
        By the keys of features; it stays as it is where there are no captions.
    captions : Captions
        What people read.

    Notes
    -----
    For words alone: the names of such a tree find no columns.
    """
    if not captions.features:
        return tree
    splits = _speak_splits(tree.splits, captions)
    groups = tree.groups and replace(tree.groups, feature=captions.feature(tree.groups.feature))
    rules = rules_of(splits) if splits else rules_of_groups(groups) if groups else ()
    return replace(
        tree,
        feature=captions.feature(tree.feature),
        splits=splits,
        groups=groups,
        doubtful=_speak_splits(tree.doubtful, captions),
        regions=_speak_rules(tree.regions, rules),
        thirds=_speak_thirds(tree, captions),
        gradual=tree.gradual and captions.feature(tree.gradual),
        partners=tuple(p._replace(feature=captions.feature(p.feature)) for p in tree.partners),
    )


def _speak_splits(splits: Sequence[Split], captions: Captions) -> tuple[Split, ...]:
    return tuple(replace(split, feature=captions.feature(split.feature)) for split in splits)


def _speak_rules(regions: Sequence[Region], rules: Sequence[str]) -> tuple[Region, ...]:
    """Give regions their rules; made ones, without splits, keep what they have."""
    if len(rules) != len(regions):
        return tuple(regions)
    return tuple(replace(r, rule=rule) for r, rule in zip(regions, rules, strict=True))


def _speak_thirds(tree: RegionTree, captions: Captions) -> tuple[Region, ...]:
    """Thirds are told by the one feature that they are thirds of, whose cuts are in the rules alone."""
    if tree.gradual is None:
        return tree.thirds
    key, name = (shorten(n, LONGEST_NAME) for n in (tree.gradual, captions.feature(tree.gradual)))
    return tuple(replace(third, rule=third.rule.replace(key, name, 1)) for third in tree.thirds)
