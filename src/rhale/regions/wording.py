"""Rules as text: which rows are in a region, in tables, labels and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

from rhale.effects.table import write_place
from rhale.output.labels import Captions
from rhale.output.number_format import AxisKind, write_short
from rhale.output.text import shorten_name, text_width
from rhale.regions.result import Groups, RegionTree, Side, Split

ALL_ROWS, OTHER_LEVELS, OR_MISSING = "all rows", "other levels", " or missing"
MAX_LEVELS_IN_RULE = 4  # levels in one rule
MAX_RULE_NAME_LENGTH = 60
LABEL_WIDTH = 32  # letters beside a curve
LARGEST_WHOLE = 1e15  # whole numbers beyond have more digits than anyone reads


class Brevity(NamedTuple):
    """How short a rule is: levels that it names, letters of a name, all digits or few."""

    named: int = MAX_LEVELS_IN_RULE
    longest: int = MAX_RULE_NAME_LENGTH
    in_full: bool = True


AT_LENGTH = Brevity()


@dataclass(frozen=True)
class Condition:
    """What a rule says about one feature."""

    feature: str
    kind: AxisKind = "number"  # what its values are
    # where values lie, from low to high: above one number and up to the other
    ranges: tuple[tuple[float, float], ...] = ((-inf, inf),)
    # levels, others: levels that rows have, and levels that they do not have; none where values are
    # numbers
    levels: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    missing: bool = True  # whether rows without a value are among them
    tells_missing: bool = False  # whether there are such rows at all

    def between(self, *ranges: tuple[float, float]) -> Condition:
        """The same where values lie in one of these ranges, too."""
        both = [(max(a, low), min(b, high)) for a, b in self.ranges for low, high in ranges]
        return replace(self, ranges=tuple((low, high) for low, high in both if low < high))


def rules_of(splits: Sequence[Split]) -> tuple[str, ...]:
    """The rule of each region in words, in the order of the regions."""
    return tuple(_in_words(conditions) for conditions in _conditions_of(splits))


def rules_of_groups(groups: Groups) -> tuple[str, ...]:
    """The rule of each group that the user named, in words."""
    return tuple(_in_words([condition]) for condition in _conditions_of_groups(groups))


def call_features(tree: RegionTree, captions: Captions) -> RegionTree:
    """Replace the keys of features by their captions, in rules too."""
    call = captions.feature
    if not captions.features:
        return tree
    splits, doubtful = (
        tuple(replace(split, feature=call(split.feature)) for split in some)
        for some in (tree.splits, tree.doubtful)
    )
    groups = tree.groups and replace(tree.groups, feature=call(tree.groups.feature))
    rules = [region.rule for region in tree.regions]
    if tree.regions and (splits or groups):
        rules = list(rules_of(splits) if groups is None else rules_of_groups(groups))
    return replace(
        tree,
        splits=splits,
        doubtful=doubtful,
        groups=groups,
        gradual=None if tree.gradual is None else call(tree.gradual),
        partners=tuple(p._replace(feature=call(p.feature)) for p in tree.partners),
        regions=tuple(replace(r, rule=rule) for r, rule in zip(tree.regions, rules, strict=True)),
        thirds=tuple(
            replace(t, rule=_replace_caption(t.rule, tree.gradual, captions)) for t in tree.thirds
        ),
    )


def _replace_caption(rule: str, feature: str | None, captions: Captions) -> str:
    """Write the caption of the only feature of a rule: "3 < 3 ≤ 30" becomes "3 < Age ≤ 30"."""
    key, words = (
        shorten_name(name, MAX_RULE_NAME_LENGTH)
        for name in (feature or "", captions.feature(feature or ""))
    )
    if rule.startswith((f"{key} ≤ ", f"{key} > ")):
        return words + rule.removeprefix(key)
    return rule.replace(f" < {key} ≤ ", f" < {words} ≤ ", 1)


def short_rules(tree: RegionTree, width: int = LABEL_WIDTH) -> tuple[str, ...]:
    """Say which rows are in each region in at most `width` columns of text, for labels in pictures."""
    if tree.splits:
        every = _conditions_of(tree.splits)
    elif tree.groups is not None:
        every = [[condition] for condition in _conditions_of_groups(tree.groups)]
    else:
        return tuple(shorten_name(region.rule, width) for region in tree.regions)
    # ever shorter wordings; the first that fits is the longest
    tries = [AT_LENGTH, Brevity(in_full=False), Brevity(2, in_full=False)]
    tries += [Brevity(1, longest, in_full=False) for longest in range(MAX_RULE_NAME_LENGTH, 3, -1)]
    labels = list[str]()
    for conditions in every:
        for brevity in tries:
            text = _in_words(conditions, brevity)
            if text_width(text) <= width:
                break
        else:
            text = shorten_name(text, width)
        labels.append(text)
    return tuple(labels)


def find_paths(splits: Sequence[Split]) -> dict[int, tuple[tuple[Split, Side], ...]]:
    """The splits on the way to each region, and the sides taken there."""
    found: dict[int, tuple[tuple[Split, Side], ...]] = {}
    ahead: list[tuple[int, tuple[tuple[Split, Side], ...]]] = [(0 if splits else -1, ())]
    while ahead:
        place, path = ahead.pop()
        if place < 0:
            found[-1 - place] = path
            continue
        split = splits[place]
        ahead.append((split.first, (*path, (split, "first"))))
        ahead.append((split.second, (*path, (split, "second"))))
    return found


def _conditions_of(splits: Sequence[Split]) -> list[list[Condition]]:
    """What the rule of each region says, one condition for each feature on the way to it."""
    with_missing = {split.feature for split in splits if split.missing != "none"}
    paths = find_paths(splits)
    regions = []
    for region in sorted(paths):
        found: dict[tuple[str, bool], Condition] = {}
        for split, side in paths[region]:
            key = split.feature, split.threshold is None
            before = found.get(key) or Condition(
                split.feature,
                split.kind,
                levels=split.levels + split.others if split.threshold is None else (),
                tells_missing=split.feature in with_missing,
            )
            found[key] = _narrow_condition(before, split, side)
        regions.append(list(found.values()))
    return regions


def _narrow_condition(before: Condition, split: Split, side: Side) -> Condition:
    """Add one more split on the same feature."""
    goes = "second" if split.missing == "none" else split.missing
    after = replace(before, missing=before.missing and goes == side)
    if split.threshold is not None:
        above = -inf if split.above is None else split.above
        if side == "first":
            return after.between((above, split.threshold))
        return after.between((-inf, above), (split.threshold, inf))
    sides = dict.fromkeys(split.levels, "first") | dict.fromkeys(split.others, "second")
    kept = tuple(level for level in before.levels if sides.get(level, split.rest) == side)
    dropped = tuple(level for level in before.levels if level not in kept)
    return replace(after, levels=kept, others=before.others + dropped)


def _conditions_of_groups(groups: Groups) -> list[Condition]:
    """What the rule of each group says; a name that the user gave replaces its levels."""
    has_missing = any(group.missing for group in groups.groups)
    every = tuple(level for group in groups.groups for level in group.levels)
    conditions = []
    for group in groups.groups:
        base = Condition(
            groups.feature, groups.kind, missing=group.missing, tells_missing=has_missing
        )
        if groups.is_cut:
            conditions.append(base.between((group.low, group.high)))
            continue
        named = (group.name,) if group.name else group.levels
        others = tuple(level for level in every if level not in group.levels)
        if group.rest and not named:
            named = (OTHER_LEVELS,)
        elif any(one.rest and not one.levels for one in groups.groups):
            others += (OTHER_LEVELS,)
        conditions.append(replace(base, levels=named, others=others))
    return conditions


def _in_words(conditions: Sequence[Condition], brevity: Brevity = AT_LENGTH) -> str:
    """Join what is said about each feature; nothing is said about all rows."""
    pairs = [(c, text) for c in conditions if (text := _say(c, brevity))]
    if len(pairs) == 1:
        return pairs[0][1]
    said = [
        f"({text})" if len(c.ranges) > 1 or (OR_MISSING in text and " = " not in text) else text
        for c, text in pairs
    ]
    return " and ".join(said) or ALL_ROWS


def _say(condition: Condition, brevity: Brevity) -> str:
    """Say one condition: "hour ≤ 5 or > 21", "sex = female"; nothing where all rows have it."""
    name = shorten_name(condition.feature, brevity.longest)
    with_missing = condition.missing and condition.tells_missing
    if not condition.ranges or (condition.others and not condition.levels):  # no known value
        return f"{name} missing" if with_missing else f"no {name}"
    if condition.ranges == ((-inf, inf),) and not condition.others:  # every known value
        return "" if condition.missing or not condition.tells_missing else f"{name} known"
    if condition.levels:
        return f"{name} = {_say_levels(condition, with_missing, brevity)}"
    write = write_threshold if brevity.in_full else write_short
    texts = list[str]()
    for ends in condition.ranges:
        low, high = (write(end, condition.kind) if abs(end) < inf else "" for end in ends)
        if low and high:
            texts.append(f"{low} < {name} ≤ {high}")
        else:
            only = f"≤ {high}" if high else f"> {low}"
            texts.append(only if texts else f"{name} {only}")
    return join_words(texts, "or") + OR_MISSING * with_missing


def _say_levels(condition: Condition, with_missing: bool, brevity: Brevity) -> str:  # noqa: FBT001
    """Name the levels; where they are many, those that are left out, or how many there are."""
    levels = [shorten_name(level, brevity.longest) for level in condition.levels]
    others = [shorten_name(level, brevity.longest) for level in condition.others]
    if len(levels) <= brevity.named:
        return join_words([*levels, *(["missing"] * with_missing)], "or")
    tail = f",{OR_MISSING}" * with_missing
    if len(others) <= brevity.named:
        return f"all but {join_words(others, 'and')}{tail}"
    named = levels[: max(brevity.named - 2, 1)]
    count = f"{len(levels) - len(named)} more" + " levels" * brevity.in_full
    return f"{', '.join(named)} and {count}{tail}"


def join_words(words: Sequence[str], last: str) -> str:
    """List words as people do."""
    *before, end = words
    return f"{', '.join(before)} {last} {end}" if before else end


def write_threshold(value: float, kind: AxisKind) -> str:
    """Write a threshold with all of its digits, and no more."""
    if kind == "date":
        return write_place(value, kind).replace("T", " ")
    is_whole = abs(value) < LARGEST_WHOLE and value == int(value)
    return f"{int(value) if is_whole else float(value)!r}" + " s" * (kind == "duration")
