"""From one result per training to a RefitEffect, its regions included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rhale.effects.effect import NO_SAMPLE, Effect
from rhale.effects.level_effect import LevelEffect
from rhale.effects.profile import Profile
from rhale.effects.result import Result, heights, normal_quantile, reach
from rhale.effects.table import Columns, write_place
from rhale.output.number_format import AxisKind
from rhale.regions.result import RegionTree, Split
from rhale.stability.refit_effect import RefitEffect, deviation_over_refits, mean_over_refits
from rhale.stability.replication import Overlap
from rhale.stats.arrays import BoolArray, FloatArray

ERROR_INTERVAL_LEVEL, N_ERROR_POINTS = 0.95, 33  # of the intervals by which errors are read


class AxisSample(NamedTuple):
    """Values of one feature and weights of some rows, both of shape (n_sample,)."""

    x: FloatArray
    weight: FloatArray

    def take(self, kept: BoolArray) -> AxisSample:
        """Some of the rows."""
        return AxisSample(self.x[kept], self.weight[kept])


def compare_trainings(
    results: Sequence[Result], overlap: Overlap, rows: AxisSample, own: Result | None = None
) -> RefitEffect:
    """Compare one effect in several trainings, and in each group of rows if groups were given."""
    # the rows where the importance has them: marginal profiles at their points, and partial dependence
    # with those beyond its grid at the nearest end
    counted, first = rows, results[0]
    if isinstance(first, Profile):
        counted = AxisSample(first.grid, first.share)
        if first.row_places is not None:
            counted = AxisSample(np.clip(rows.x, *reach(first)), rows.weight)
    # the same inside the groups that the user named; nothing where there are none
    inside: list[RefitEffect] = []
    compared = [*results] if own is None else [*results, own]
    trees = [tree for one in compared if (tree := one.regions) is not None]
    if len(trees) == len(compared) and have_same_groups(trees):
        sampled = trees[0].sampled
        for number, alike in enumerate(zip(*trees, strict=True)):
            effects = [region.effect for region in alike]
            own_effect = None if own is None else effects.pop()
            here = rows.take(sampled == number) if sampled.size else rows
            inside.append(compare_trainings(effects, overlap, here, own_effect))
    return RefitEffect(
        effects=tuple(results),
        overlap=overlap,
        gram=multiply_curves(results, counted),
        own=own,
        drawn=mean_square_error(results, counted),
        inside=tuple(inside),
    )


def have_same_groups(trees: Sequence[RegionTree]) -> bool:
    """Whether all trainings have the same groups of rows, since the user named them."""
    rules = {tuple(region.rule for region in tree) for tree in trees}
    return len(rules) == 1 and all(tree.state == "given" for tree in trees)


def multiply_curves(results: Sequence[Result], rows: AxisSample) -> FloatArray:
    """Mean over some rows of the product of every two curves, (n_curves, n_curves).

    Rows count that have a value, as in the importance, and at which all curves are known; nan where
    there are none.
    """
    curves = np.stack([heights(result, rows.x) for result in results])
    known = np.isfinite(rows.x) & np.isfinite(curves).all(axis=0) & (rows.weight > 0)
    if not known.any():
        return np.full((len(results), len(results)), np.nan)
    share = rows.weight[known] / rows.weight[known].sum()
    return np.asarray((curves[:, known] * share) @ curves[:, known].T)


def mean_square_error(results: Sequence[Result], rows: AxisSample) -> float:
    """Mean square of what the draw of the rows adds to a curve: of its standard error, at the rows.

    Nan where no error is known.
    """
    known = np.isfinite(rows.x) & (rows.weight > 0)
    if not known.any():
        return float("nan")
    squares = []
    for result in results:
        trace = result.trace("mean", ERROR_INTERVAL_LEVEL, N_ERROR_POINTS)
        error = (trace.high - trace.low) / (2 * normal_quantile(ERROR_INTERVAL_LEVEL))
        has_error = np.isfinite(error)
        if not has_error.any():
            return float("nan")
        at = np.interp(rows.x[known], trace.x[has_error], error[has_error])
        squares.append(np.average(at**2, weights=rows.weight[known]))
    return float(np.mean(squares))


def lighten_result(result: Result) -> Result:
    """Leave out what only one training by itself needs: single rows, digits of what chance does."""
    tree = result.regions
    if isinstance(result, Effect | LevelEffect):
        result = replace(result, sample=NO_SAMPLE)
        if tree is not None:
            kept = tuple(replace(one, effect=lighten_result(one.effect)) for one in tree)
            result = replace(result, regions=replace(tree, regions=kept))
    if isinstance(result, Effect) and result.stairs is not None:
        result = replace(result, stairs=result.stairs.rounded())
    return result


# --- Rules of regions that replicate: those that every training found for itself, compared


RULE_COLUMNS = (
    *("feature", "output", "splitter", "found_in"),
    *("at", "threshold", "threshold_between", "share"),
)


def tabulate_rules(effects: Sequence[RefitEffect]) -> Columns:
    """One row per feature, output and splitter: in how many trainings it splits the rows."""
    columns: Columns = {name: [] for name in RULE_COLUMNS}
    for effect in effects:
        found = find_splits(effect)
        for splitter in sorted(found, key=lambda name: -len(found[name])):
            splits = found[splitter]
            thresholds = np.array([s.threshold for s in splits if s.threshold is not None])
            above = np.array([s.above for s in splits if s.above is not None])
            shares = np.array([split.share for split in splits])
            known = shares[np.isfinite(shares)]
            # the mean threshold in words; the mean limits where most trainings found an interval; or
            # the levels that go first in most of them
            at = write_mean(thresholds, splits[0].kind) if thresholds.size else name_levels(splits)
            if thresholds.size and 2 * above.size > thresholds.size:
                at = f"{write_mean(above, splits[0].kind)} to {at}"
            row = {
                "feature": effect.name,
                "output": effect.output,
                "splitter": splitter,
                "found_in": len(splits) / effect.n_trainings,
                "at": at,
                "threshold": float(mean_over_refits(thresholds)) if thresholds.size else np.nan,
                # a deviation between trainings needs two thresholds
                "threshold_between": float(deviation_over_refits(thresholds))
                if thresholds.size > 1
                else np.nan,
                "share": float(known.mean()) if known.size else np.nan,
            }
            for name, cells in columns.items():
                cells.append(row[name])
    return columns


def find_splits(effect: RefitEffect) -> dict[str, list[Split]]:
    """By splitter: its first rule in every training that has one."""
    found: dict[str, list[Split]] = {}
    for result in effect.effects:
        tree = result.regions
        first: dict[str, Split] = {}
        for split in sorted(() if tree is None else tree.splits, key=lambda one: one.depth):
            first.setdefault(split.feature, split)
        for name, split in first.items():
            found.setdefault(name, []).append(split)
    return found


def write_mean(thresholds: FloatArray, kind: AxisKind) -> str:
    """Write where rows part on average."""
    return write_place(float(mean_over_refits(thresholds)), kind)


def name_levels(splits: Sequence[Split]) -> str:
    """Name the levels that go first in most of the trainings, whichever side is called first."""
    sides = Counter(min(s.levels, s.others, key=lambda side: (len(side), side)) for s in splits)
    return ", ".join(sides.most_common(1)[0][0])
